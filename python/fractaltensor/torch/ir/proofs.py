# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Between which numbers indices lie that are data: a token that `argmax` has found, carried from iteration to iteration.

A name or a value holds constants, places that a reduction finds, and elements of these. The analysis looks at all that is ever written into a
storage, and at all that comes into a loop, so that its result holds at any point. A view at an index that surely lies within its dimension needs
no check. Where such a view is only read, elements at a tensor of indices are read instead, which compiled code takes in any loop.
"""

from __future__ import annotations

import re
from typing import Dict, List, Optional, Set, Tuple

from .dtypes import int64
from .operations import Block, Op, Type, Value, walk
from ..plan.segments import may_roots, sources

Range = Tuple[float, float]

_ALL: Range = (float("-inf"), float("inf"))
#: Of what only comes from itself.
_NONE: Range = (float("inf"), float("-inf"))
#: An index that comes from more values than this is not looked at further.
_MOST_VALUES = 10000

_CONSTANT = re.compile(r"arith\.constant (-?\d+) : ")


def prove_places(top: Block) -> None:
    """Marks views at data that surely lie within bounds, and reads by index those that are only read."""
    views = [op for op in walk(top.ops) if op.attributes.get("role") == "view" and op.attributes.get("proven") is False and op.attributes["step"] == "select"]
    if not views:
        return
    ranges, users = _Ranges(top), _users(top)
    found: List[Op] = []
    for op in views:
        d, index = op.attributes["numbers"]
        size = op.operands[0].type.shape[d]
        if size is None or not isinstance(index, Value):
            continue
        ranges.left = _MOST_VALUES
        low, high = ranges.of(index)
        if -size <= low and high < size:
            op.attributes["proven"] = True
            found.append(op)
    # (The first one of a chain takes the others with it.)
    for op in found:
        if op in op.block.ops:
            _read_by_index(op, set(found), users)
    for op in found:
        if op in op.block.ops and op.block is not top and not any(ranges.writes.get(root) for root in may_roots(op.operands[0], ranges.memo)):
            _keep_by_index(op)


def _union(a: Range, b: Range) -> Range:
    return min(a[0], b[0]), max(a[1], b[1])


class _Ranges:
    """The least and the greatest number that a value, or anything that is ever in a storage, can be."""

    def __init__(self, top: Block):
        self.memo: Dict[Value, Set[Value]] = {}
        self.pending: Set[Value] = set()
        self.left = _MOST_VALUES
        self.writes: Dict[Value, List[Value]] = {}
        for op in walk(top.ops):
            if op.attributes.get("role") == "write":
                for root in may_roots(op.operands[0], self.memo):
                    self.writes.setdefault(root, []).append(op.operands[1])

    def of(self, value: Value) -> Range:
        if value in self.pending:
            return _NONE
        self.left -= 1
        if self.left < 0 or value.type.dtype is not None and not value.type.dtype.is_int:
            return _ALL
        self.pending.add(value)
        try:
            return self._of_names(value) if value.type.kind == "mutable" else self._of_value(value)
        finally:
            self.pending.discard(value)

    def _all_of(self, values) -> Range:
        found = _NONE
        for value in values:
            found = _union(found, self.of(value))
        return found

    def _of_names(self, name: Value) -> Range:
        found = _NONE
        for root in may_roots(name, self.memo):
            if root.op is None or root.op.attributes.get("role") != "new":
                return _ALL  # the caller's
            values = [root.op.operands[0], *self.writes.get(root, ())]
            if any(v.type.dtype is not root.type.dtype for v in values):
                return _ALL  # a write may wrap
            found = _union(found, self._all_of(values))
        return found

    def _of_value(self, value: Value) -> Range:
        op = value.op
        if op is None or op.blocks:
            parent = value.block.parent if op is None and value.block is not None else None
            if parent is not None and parent.kind == "for" and value is value.block.args[0]:
                return _ALL  # its counter
            comes_from = sources(value)
            return self._all_of(comes_from) if comes_from else _ALL
        constant = op.attributes.get("constant")
        if isinstance(constant, int) and not isinstance(constant, bool):
            return constant, constant
        if op.attributes.get("places") is not None:
            return 0, op.attributes["places"] - 1
        if op.attributes.get("role") in ("read", "index"):
            return self.of(op.operands[0])
        if op.attributes.get("body") is not None:
            return self._of_body(op)
        return self._of_text(op)

    def _of_text(self, op: Op) -> Range:
        text = op.pieces[0] if op.pieces and isinstance(op.pieces[0], str) else ""
        known = _CONSTANT.match(text)
        if known:
            return int(known[1]), int(known[1])
        if text.startswith(("arith.index_cast ", "arith.extsi ", "tensor.extract ", "linalg.fill ")):
            return self.of(op.operands[0])
        if text.startswith("arith.select "):
            return self._all_of(op.operands[1:])
        return _ALL

    def _of_body(self, op: Op) -> Range:
        """Of what is computed element by element: selections, and what keeps a number within others."""
        lines, result, divisors = op.attributes["body"]
        found: Dict[str, Range] = {}

        def of(part) -> Range:
            if isinstance(part, Value):
                return self.of(part)
            if part not in found and part.startswith("%a"):
                found[part] = self.of(op.operands[int(part[2:])])
            return found.get(part, _ALL)

        for line, parts in lines:
            known = _CONSTANT.match(parts[0])
            operands = [part for part in parts[1:] if isinstance(part, Value) or part.startswith("%")]
            if known:
                found[line.name] = int(known[1]), int(known[1])
            elif line.name in divisors:
                low, high = of(divisors[line.name])
                found[line.name] = (0, high - 1) if low > 0 else _ALL
            elif parts[0].startswith(("arith.index_cast ", "arith.extsi ")):
                found[line.name] = of(operands[0])
            elif parts[0].startswith("arith.select "):
                found[line.name] = _union(of(operands[1]), of(operands[2]))
            elif parts[0].startswith(("arith.maxsi ", "arith.minsi ")):
                # (What only comes from itself may still grow by these: nothing is known of it.)
                ends = [r if r != _NONE else _ALL for r in map(of, operands[:2])]
                which = max if "max" in parts[0] else min
                found[line.name] = which(e[0] for e in ends), which(e[1] for e in ends)
        return of(result)


def _users(top: Block) -> Dict[Value, List[Optional[Op]]]:
    """Who uses a value; None: the end of a block."""
    found: Dict[Value, List[Optional[Op]]] = {}
    for op in walk(top.ops):
        for value in op.operands:
            found.setdefault(value, []).append(op)
        for block in op.blocks:
            for value in [*block.yields, *([block.condition] if block.condition is not None else [])]:
                found.setdefault(value, []).append(None)
    for value in top.yields:
        found.setdefault(value, []).append(None)
    return found


def _read_by_index(view: Op, found: Set[Op], users: Dict[Value, List[Optional[Op]]]) -> None:
    """Where a view at an index in a tensor, and what is selected of it, is only read: reads of the element at that tensor."""
    chains = _chains(view, found, users)
    if chains is None:
        return
    for read, chain in chains:
        _index(read, chain)
    for op in {op: None for _, chain in chains for op in reversed(chain)}:
        op.block.ops.remove(op)


def _keep_by_index(view: Op) -> None:
    """Makes a view in a loop a tensor of its own where nothing ever writes the viewed storage: a token that is an element, and is carried."""
    if _tensor_of(view.attributes["numbers"][1]) is None:
        return
    made = view.results[0]
    read = Op("text", [], [made.type.value()], pieces=[], frames=view.frames, pure=True)
    read.block, read.results[0].sizes = view.block, made.sizes
    view.block.ops.insert(view.block.ops.index(view), read)
    _index(read, [view])
    view.pieces, view.operands = ["tssa.new ", read.results[0], f" : {read.results[0].type.text()}"], [read.results[0]]
    view.attributes = {"role": "new"}


def _chains(view: Op, found: Set[Op], users: Dict[Value, List[Optional[Op]]]) -> Optional[List[Tuple[Op, List[Op]]]]:
    """The reads after a view, each with the selections that lead to it; None where it is used otherwise."""
    is_known = view not in found or _tensor_of(view.attributes["numbers"][1]) is not None
    if view.attributes["step"] != "select" or view.attributes.get("proven") is False or not is_known:
        return None
    chains: List[Tuple[Op, List[Op]]] = []
    for user in users.get(view.results[0], []):
        role = user.attributes.get("role") if user is not None else None
        inner = [(user, [])] if role == "read" else _chains(user, found, users) if role == "view" else None
        if inner is None:
            return None
        chains += [(read, [view, *chain]) for read, chain in inner]
    return chains


def _index(read: Op, chain: List[Op]) -> None:
    """A read of selections: of the elements at tensors, of what is selected at other places first."""
    name, tensors = chain[0].operands[0], {}
    places = list(range(len(name.sizes)))
    fixed = []
    for op in chain:
        d, number = op.attributes["numbers"]
        tensor = _tensor_of(number) if isinstance(number, Value) else None
        if tensor is None:
            fixed.append((places.pop(d), number))
        else:
            tensors[places.pop(d)] = tensor

    def put(type_, pieces, **attributes) -> Op:
        made = Op("text", [p for p in pieces if isinstance(p, Value)], [type_], pieces=pieces, frames=read.frames, pure=True, **attributes)
        made.block = read.block
        read.block.ops.insert(read.block.ops.index(read), made)
        return made

    for at, (place, number) in enumerate(fixed):
        d = place - sum(before < place for before, _ in fixed[:at])
        sizes = [n for k, n in enumerate(name.sizes) if k != d]
        type_ = Type("mutable", name.type.dtype, [n for k, n in enumerate(name.type.shape) if k != d])
        pieces = ["tssa.view ", name, f"[select({d}, ", number if isinstance(number, Value) else str(number), f")] : {name.type.text()} -> {type_.text()}"]
        name = put(type_, pieces, role="view", step="select", numbers=[d, number], proven=True).results[0]
        name.sizes = sizes
    whole = put(name.type.value(), ["tssa.read ", name, f" : {name.type.text()}"], role="read").results[0]
    whole.sizes = name.sizes
    order = sorted(tensors)
    dims = ", ".join(str(place - sum(before < place for before, _ in fixed)) for place in order)
    pieces = ["tssa.index ", whole, f"[{dims}] by "]
    for at, place in enumerate(order):
        pieces += [", " if at else "", tensors[place]]
    types = ", ".join(v.type.text() for v in (whole, *(tensors[place] for place in order)))
    read.pieces = [*pieces, f" : {types} -> {read.results[0].type.text()}"]
    read.operands = [whole, *(tensors[place] for place in order)]
    read.attributes["role"] = "index"


def _tensor_of(index: Value) -> Optional[Value]:
    """The tensor without dimensions whose number an index is."""
    op = index.op
    while op is not None and op.kind == "text" and op.pieces and op.pieces[0] in ("arith.index_cast ", "arith.extsi "):
        op = op.operands[0].op
    if op is None or op.kind != "text" or not op.pieces or op.pieces[0] != "tensor.extract ":
        return None
    tensor = op.operands[0]
    return tensor if tensor.type.dtype is int64 and not tensor.type.shape else None
