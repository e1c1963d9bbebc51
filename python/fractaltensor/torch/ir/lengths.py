# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Which sizes of arguments become lengths: those that a loop ranges over, once a second size of them has come.

A first call compiles its sizes in. Each of them knows from which dimension of which argument it comes, through arithmetic as
well (`range(x.shape[0] - 1)`). So the loops of the program tell which dimensions they range over. A call in which some of
these differ is compiled with lengths in their place; dimensions that changed alike (`x` and `h` of `T` rows) are one length.
A variant with lengths is for sizes of 2 and more: 0 and 1 mean something else to PyTorch (nothing to do, broadcasting).
"""

from __future__ import annotations

import operator
from typing import Any, Callable, Dict, FrozenSet, List, Mapping, Optional, Sequence, Tuple

from ..plan.segments import Control

#: The least size that a length found so stands for.
LEAST = 2

#: An argument's dimension: the argument's number among the arrays of a call, and the dimension.
Origin = Tuple[int, int]
#: Names of lengths by an argument's name, None where a size is compiled in.
Dims = Mapping[str, Sequence[Optional[str]]]


class ArgumentSize(int):
    """A number made of sizes of arguments; `origins` says of which."""

    origins: FrozenSet[Origin]

    def __new__(cls, value: int, origins):
        made = super().__new__(cls, value)
        made.origins = frozenset(origins)
        return made

    # (Types of Python's integers are asked by isinstance alone.)
    def __reduce__(self):
        return int, (int(self),)


def origins_of(value) -> FrozenSet[Origin]:
    return getattr(value, "origins", frozenset())


def _carrying(function: Callable) -> Callable:
    def operation(a, b):
        made = function(a, b)
        return ArgumentSize(made, origins_of(a) | origins_of(b)) if type(made) is int else made

    return operation


def _carry_origins() -> None:
    for name in ("add", "sub", "mul", "floordiv", "mod"):
        plain = getattr(int, f"__{name}__")
        mirrored = getattr(int, f"__r{name}__")
        setattr(ArgumentSize, f"__{name}__", _carrying(plain))
        setattr(ArgumentSize, f"__r{name}__", _carrying(mirrored))
    ArgumentSize.__neg__ = lambda self: ArgumentSize(operator.neg(int(self)), self.origins)  # type: ignore[method-assign]


_carry_origins()


def lengths_for(program, sizes: Mapping[str, Sequence[int]]) -> Optional[Dims]:
    """How a call with `sizes` is compiled, seen from `program`, which is one for other sizes of the same arguments. The result names
    the dimensions that a loop of it ranges over and that differ, and those that differ alike. None where there are none."""
    changed: Dict[Tuple[str, int], Tuple[int, int]] = {}
    for name, old in program.sizes.items():
        changed.update({(name, d): (m, n) for d, (m, n) in enumerate(zip(old, sizes[name])) if m != n})
    ranged = {(program.root_names[root], d) for root, d in program.ranged if root < len(program.sizes)}
    pairs = [pair for place, pair in changed.items() if place in ranged and min(pair) >= LEAST]
    if not pairs:
        return None
    names = {pair: f"size{at}" for at, pair in enumerate(dict.fromkeys(pairs))}
    found: Dict[str, List[Optional[str]]] = {}
    for (name, d), pair in changed.items():
        if pair in names:
            found.setdefault(name, [None] * len(sizes[name]))[d] = names[pair]
    return found


def fits(dims: Dims, sizes: Mapping[str, Sequence[int]]) -> bool:
    """Whether lengths that were found can have these sizes: each is one number, and not too small."""
    values: Dict[str, int] = {}
    for name, lengths in dims.items():
        own = sizes.get(name, ())
        if len(own) != len(lengths):
            return False
        for length, size in zip(lengths, own):
            if length and (size < LEAST or values.setdefault(length, size) != size):
                return False
    return True


def united(asked: Dims, found: Dims) -> Dims:
    """The lengths of `dims=`, and those that were found."""
    made = {**found}
    for name, lengths in asked.items():
        own = found.get(name, [None] * len(lengths))
        made[name] = [a or b for a, b in zip(lengths, own)] if len(own) == len(lengths) else lengths
    return made


def costs(program) -> Dict[str, int]:
    """What calls of a program pay for, beside the computation."""
    segments = program.division.segments
    return {
        "parts in the interpreter": sum(not program.engine.is_compiled(s) for s in segments),
        "loops and conditions from outside": _controls(program.division.plan),
        "compiled functions": len(segments),
        "library steps": sum(op.kind == "step" for op in program.all_ops()),
        "checks of data": len(program.sites),
    }


def outside(program) -> Tuple[int, int]:
    """How many parts of a program run outside of compiled code: in the interpreter, and as loops and conditions of the runner."""
    if program.engine.name == "interpret":
        return 0, 0
    found = costs(program)
    return found["parts in the interpreter"], found["loops and conditions from outside"]


def dearer(program, than) -> str:
    """What calls of `program` pay more for than those of `than`; "" where nothing. The interpreter compiles nothing."""
    if program.engine.name == "interpret":
        return ""
    mine, others = costs(program), costs(than)
    found = [f"{count} {what} ({others[what]} with the sizes compiled in)" for what, count in mine.items() if count > others[what]]
    return f"with lengths there would be {', '.join(found)}" if found else ""


def _controls(nodes: Sequence[Any]) -> int:
    return sum(1 + sum(map(_controls, node.plans)) for node in nodes if isinstance(node, Control))
