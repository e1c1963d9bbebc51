# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies that stand for views of PyTorch. A program that writes to one of the two and uses the other one afterwards is refused."""

from __future__ import annotations

from typing import Dict, List, NamedTuple, Sequence, Set, Tuple

from ..ir.operations import Op, Value, walk
from ..problems import Problem
from ...source import Frame
from .segments import may_roots


class Copy(NamedTuple):
    """`made` is a copy of `parts`, which the operator `what` makes at `frames`; `last` is the last operation of it.
    `advice` is what to do where a program can tell."""

    what: str
    made: Value
    parts: Sequence[Value]
    last: Op
    frames: Tuple[Frame, ...]
    advice: str


class _Uses:
    """Which operations write and use each storage, and in which order."""

    def __init__(self, ops: Sequence[Op]):
        self.order: Dict[Op, int] = {op: at for at, op in enumerate(walk(ops))}
        self.writes: Dict[Value, List[Op]] = {}
        self.reads: Dict[Value, List[Op]] = {}
        memo: Dict[Value, Set[Value]] = {}
        for op in self.order:
            role = op.attributes.get("role")
            if role == "view":
                continue
            for at, value in enumerate(op.operands):
                into = self.writes if role == "write" and at == 0 else self.reads
                for root in may_roots(value, memo):
                    into.setdefault(root, []).append(op)
        self.memo = memo

    def roots(self, value: Value) -> Set[Value]:
        return may_roots(value, self.memo)

    def follows(self, first: Op, later: Op, roots: Sequence[Value]) -> bool:
        """Whether an operation may come after another one, in a later iteration of a loop that makes none of these storages, too."""
        if self.order[later] > self.order[first]:
            return True
        inside = set(_loops_around(first)) & set(_loops_around(later))
        return any(all(root.op is None or loop not in _loops_around(root.op) for root in roots) for loop in inside)

    def is_seen(self, made: Sequence["Copy"], written: Value, used: Value) -> bool:
        """Whether a storage is written after the copies were made, and then the other one is used: by the caller, where it is an argument."""
        roots = (written, used)
        return any(
            all(self.follows(copy.last, write, roots) for copy in made)
            and (used.op is None or any(self.follows(write, read, roots) for read in self.reads.get(used, ())))
            for write in self.writes.get(written, ())
        )


def _loops_around(op: Op) -> List[Op]:
    found = []
    block = op.block
    while block is not None and block.parent is not None:
        if block.parent.kind in ("for", "while"):
            found.append(block.parent)
        block = block.parent.block
    return found


def check(ops: Sequence[Op], copies: Sequence[Copy]) -> None:
    """Raises what is wrong with the first copy that a program can tell from a view."""
    uses = _Uses(ops) if copies else None
    there = [copy for copy in copies if uses is not None and copy.last in uses.order]
    if uses is None or not there:
        return
    made: Dict[Value, List[Copy]] = {}
    for copy in there:
        for own in uses.roots(copy.made):
            made.setdefault(own, []).append(copy)
    same = _classes(uses, there)
    for copy in there:
        for own in sorted(uses.roots(copy.made), key=lambda value: value.number):
            for other in sorted(same[own] - {own}, key=lambda value: value.number):
                both = made[own] + made.get(other, [])
                if uses.is_seen(both, own, other) or uses.is_seen(both, other, own):
                    raise Problem(
                        f"{copy.what} gives a copy here, where PyTorch gives a view: the program writes to one of the two and uses the other one "
                        f"afterwards; {copy.advice}",
                        frames=copy.frames,
                    )


def _classes(uses: _Uses, copies: Sequence[Copy]) -> Dict[Value, Set[Value]]:
    """Storages that are one in PyTorch: a copy, what it is of, copies of the same, and copies of copies."""
    same: Dict[Value, Set[Value]] = {}
    for copy in copies:
        whole: Set[Value] = set()
        for root in uses.roots(copy.made).union(*map(uses.roots, copy.parts)):
            whole |= same.get(root, {root})
        same.update(dict.fromkeys(whole, whole))
    return same
