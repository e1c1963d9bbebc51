# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An order of a block's operations in which what runs between segments stands together.

A detector takes the same steps for each of its feature maps: scores, topk, boxes, ... As the program has them, each map's steps
cut the segments of all others. Nothing of one map waits for another one, so all maps' scores are one segment, then come all
topk, then all boxes.
"""

from __future__ import annotations

from typing import Callable, Collection, Dict, Iterable, Iterator, List, Set

from ..ir.operations import Block, Op, Value, walk


def _behind_views(values: Iterable[Value]) -> Iterator[Value]:
    """Values, and what they are views of and at. A view that the runner makes stands in no block any more, and is made where it is used."""
    work, seen = list(values), set()
    while work:
        value = work.pop()
        if value in seen:
            continue
        seen.add(value)
        yield value
        if value.op is not None and value.op.attributes.get("role") == "view":
            work.extend(value.op.operands)


class _Waits:
    """For which operations of a block each one waits: for its operands, for the writes and reads of its storages, and for
    the checks of its tensors' sizes. After these checks, equal sizes are one.
    """

    def __init__(self, block: Block, roots: Callable[[Value], Set[Value]]):
        self.roots = roots
        self.before: List[Set[int]] = []
        self._home: Dict[Value, int] = {}
        self._written: Dict[Value, int] = {}
        self._read: Dict[Value, List[int]] = {}
        self._checked: Dict[Value, int] = {}
        for at, op in enumerate(block.ops):
            self.before.append(self._of(at, op))
            self.before[at].discard(at)
            for inner in walk([op]):
                self._home.update((value, at) for value in inner.results)
            if op.kind == "step" and not op.results:
                self._checked.update((size, at) for size in op.operands)

    def _of(self, at: int, op: Op) -> Set[int]:
        waits: Set[int] = set()
        writes: Set[Value] = set()
        reads: Set[Value] = set()
        for inner in walk([op]):
            for value in _behind_views(inner.uses()):
                if value in self._home:
                    waits.add(self._home[value])
                if value in self._checked:
                    waits.add(self._checked[value])
                if value.type.kind == "mutable" and inner.attributes.get("role") != "view":
                    reads |= self.roots(value)
            for value in (*inner.uses(), *inner.results):
                waits.update(self._checked[size] for size in value.sizes if isinstance(size, Value) and size in self._checked)
            if inner.attributes.get("role") == "write":
                writes |= self.roots(inner.operands[0])
        for root in reads | writes:
            if root in self._written:
                waits.add(self._written[root])
        for root in writes:
            waits.update(self._read.pop(root, ()))
            self._written[root] = at
        for root in reads - writes:
            self._read.setdefault(root, []).append(at)
        return waits


def _earliest(waits: List[Set[int]], runs_alone: List[bool]) -> List[int]:
    """The level of each operation: level k of what is compiled stands before level k of what is not."""
    levels: List[int] = []
    for at, before in enumerate(waits):
        levels.append(max((levels[b] + (runs_alone[b] and not runs_alone[at]) for b in before), default=0))
    return levels


def levelled(block: Block, apart: Collection[Op], roots: Callable[[Value], Set[Value]]) -> List[Op]:
    """The operations in an order that puts those that run by themselves together, as early as they can. Compiled ones come as late
    as these and their other users allow: sizes, reads and storages of a value stand with its use.
    """
    runs_alone = [op in apart for op in block.ops]
    if sum(runs_alone) < 2:
        return block.ops
    waits = _Waits(block, roots).before
    levels = _earliest(waits, runs_alone)
    last = max(levels)
    latest = [level if alone else last for level, alone in zip(levels, runs_alone)]
    for at in reversed(range(len(waits))):
        for before in waits[at]:
            if not runs_alone[before]:
                latest[before] = min(latest[before], latest[at])
    return [block.ops[at] for at in sorted(range(len(waits)), key=lambda at: (latest[at], runs_alone[at], at))]
