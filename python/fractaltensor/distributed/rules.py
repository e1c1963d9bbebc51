# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How the lengths of a program can be divided over ranks, as the compiler derives it from the program's accesses."""

from __future__ import annotations

import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from .. import compiled
from ..compiled import Request
from ..errors import ArgumentError
from ..program import Program
from ..source import here

FORMATS = ("json",)


class Rule(NamedTuple):
    """A length that ranks can divide: each runs the program on its shards.

    Attributes:
      length: its name.

      least: how many elements a shard has at least.

      arguments: of each argument the dimension that is divided; None where each rank has all of it.

      results: of each result the dimension, or None; and "sum", "product", "max" or "min" where ranks have parts, or None.

      before, after: how many elements of the neighbours' shards a rank needs beside its own; of what it computes then, it keeps its
        own part.
    """

    length: str
    least: int
    arguments: Tuple[Optional[int], ...]
    results: Tuple[Tuple[Optional[int], Optional[str]], ...]
    before: int = 0
    after: int = 0

    @property
    def has_halo(self) -> bool:
        return bool(self.before or self.after)

    def fits(self, shapes, ranks: int) -> bool:
        """Whether shards of arguments with these shapes are large enough on each of so many ranks, cut as by ``torch.chunk``."""
        sizes = {shapes[i][dim] for i, dim in enumerate(self.arguments) if dim is not None}
        return all(max(0, size - -(-size // ranks) * (ranks - 1)) >= self.least for size in sizes)


def _graph(program: Program) -> Dict[str, Any]:
    return json.loads(compiled.text_after(program, "json", Request("cpu")))["graphs"][0]


def rules_of(program: Program) -> List[Rule]:
    """The rules that hold for a program; none where its lengths can only be divided with messages inside."""
    return [_rule(found) for found in _graph(program)["shardingRules"]]


def _rule(found: Dict[str, Any]) -> Rule:
    return Rule(
        found["length"], found["least"], tuple(a.get("shard") for a in found["arguments"]),
        tuple((r.get("shard"), r.get("partial")) for r in found["results"]), found.get("before", 0), found.get("after", 0),
    )


def table(program: Program, form: str) -> str:
    """The text of :meth:`Jit.rule`."""
    if form not in FORMATS:
        raise ArgumentError(f"rule({form!r}): there are {', '.join(map(repr, FORMATS))}", here())
    graph = _graph(program)
    names = [p.name for p in program.parameters]
    buffers = {b["id"]: b for b in graph["buffers"]}
    lengths = [_length(one, buffers, names) for one in graph["sharding"]]
    rules = [{**rule, "arguments": dict(zip(names, rule["arguments"]))} for rule in graph["shardingRules"]]
    return json.dumps({"format": 1, "program": program.name, "lengths": lengths, "rules": rules}, indent=2)


def _length(one: Dict[str, Any], buffers: Dict[int, Any], names: List[str]) -> Dict[str, Any]:
    found: Dict[str, Any] = {"length": one["length"], "kind": one["kind"], "arguments": [], "results": []}
    for member in one["members"]:
        buffer = buffers.get(member.get("buffer"), {})
        if "argument" in buffer:
            found["arguments"].append({"argument": names[buffer["argument"]], "dim": member["dim"]})
        elif "result" in buffer:
            found["results"].append({"result": buffer["result"], "dim": member["dim"]})
    return {**found, "reasons": one["reasons"], "joins": one["joins"], "indices": one["indices"]}
