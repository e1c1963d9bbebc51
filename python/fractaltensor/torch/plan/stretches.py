# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Unbounded loops that end on data, a stretch of iterations at a time.

A graph's loops have lengths, and `while x.max() > 1` has none. But a fixed number of its iterations is a bounded loop. The program's loop goes over
such stretches, each one call, and between two of them looks whether the last one has come to the end.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Set

from ..ir.builder import NOTHING
from ..ir.dtypes import bool_, int64
from ..ir.operations import INDEX, Block, Op, Type, Value, walk
from .segments import may_roots

#: Iterations of a stretch. After the end of the loop, those that are left copy what the loop carries.
_ITERATIONS = 32
#: Elements that a loop may change at most: 32 copies of so many take as long as a few looks at a condition from outside.
_MOST_ELEMENTS = 4096

_TRUTH = Type("scalar", bool_)


def stretched(op: Op) -> Optional[Callable[[], None]]:
    """Makes a `while` go over stretches, the loop of each of which is `is_stretch`; gives what takes that back. None: as it is."""
    elements = _changed_elements(op)
    if elements is None or elements > _MOST_ELEMENTS:
        return None
    operands, results, blocks = list(op.operands), list(op.results), list(op.blocks)
    going = Op("text", [], [_TRUTH], pieces=["arith.constant true"], pure=True, frames=op.frames, constant=True)
    going.block = op.block
    op.block.ops.insert(op.block.ops.index(op), going)
    before, after = Block(op), Block(op)
    for value in results:
        before.add_argument(value.type)
        after.add_argument(value.type)
    before.condition = before.add_argument(_TRUTH)
    after.add_argument(_TRUTH)
    before.yields = list(before.args)
    inner = _bounded(op, after)
    after.yields = inner.results[:-1]
    op.operands, op.results, op.blocks = [*operands, going.results[0]], [*results, Value(_TRUTH, op, None)], [before, after]

    def take_back() -> None:
        op.operands, op.results, op.blocks = operands, results, blocks

    return take_back


def is_stretch(op: Op) -> bool:
    return "stretch" in op.attributes


def _sites(op: Op) -> List[Value]:
    """The storages in which a loop notes what goes wrong."""
    memo: Dict[Value, Set[Value]] = {}
    found: Dict[Value, None] = {}
    for inner in walk([op]):
        if inner.attributes.get("role") == "write":
            found.update((root, None) for root in may_roots(inner.operands[0], memo) if root.op is not None and "notes" in root.op.attributes)
    return list(found)


def _changed_elements(op: Op) -> Optional[int]:
    """How many elements the loop carries and writes; None where that is not known."""
    memo: Dict[Value, Set[Value]] = {}
    types = [v.type for v in op.results if v.type.kind != "scalar"]
    written = set().union(*(may_roots(w.operands[0], memo) for w in walk([op]) if w.attributes.get("role") == "write"), set())
    inside = set(walk([op]))
    types += [root.type for root in written if root.op is None or root.op not in inside]
    count = 0
    for type_ in types:
        elements = 1
        for size in type_.shape:
            if size is None:
                return None
            elements *= size
        count += elements
    return count


def _bounded(op: Op, home: Block) -> Op:
    """At most so many iterations of a loop, from what a block takes: values, whether it goes on, and how many there were."""
    count = len(op.results)
    types = [*(v.type for v in op.results), _TRUTH, INDEX]

    def text(block: Block, result: Type, *pieces, **attributes) -> Value:
        made = Op("text", [p for p in pieces if isinstance(p, Value)], [result], pieces=pieces, pure=True, frames=op.frames, **attributes)
        made.block = block
        block.ops.append(made)
        return made.results[0]

    zero = text(home, INDEX, "arith.constant 0 : index", constant=0)
    before, after = Block(), Block()
    for type_ in types:
        before.add_argument(type_)
        after.add_argument(type_)
    most = text(before, INDEX, f"arith.constant {_ITERATIONS} : index", constant=_ITERATIONS)
    left = text(before, _TRUTH, "arith.cmpi slt, ", before.args[-1], ", ", most, " : index")
    before.condition = text(before, _TRUTH, "arith.andi ", before.args[count], ", ", left, " : i1")
    # What has gone wrong on data is noted, and the program's loop ends by that: no iteration comes after it.
    for site in _sites(op):
        value = text(before, site.type.value(), "tssa.read ", site, f" : {site.type.text()}", role="read")
        number = text(before, Type("scalar", int64), "tensor.extract ", value, f"[] : {value.type.text()}")
        nothing = text(before, Type("scalar", int64), f"arith.constant {NOTHING} : i64", constant=NOTHING)
        fine = text(before, _TRUTH, "arith.cmpi eq, ", number, ", ", nothing, " : i64")
        before.condition = text(before, _TRUTH, "arith.andi ", before.condition, ", ", fine, " : i1")
    before.yields = list(before.args)

    # An iteration: the condition with what it does, and the body where that holds.
    copies: Dict[Value, Value] = dict(zip(op.blocks[0].args, after.args))
    _copy(op.blocks[0].ops, after, copies)
    passed = [copies.get(v, v) for v in op.blocks[0].yields]
    goes_on = copies.get(op.blocks[0].condition, op.blocks[0].condition)
    taken, ended = Block(), Block()
    copies.update(zip(op.blocks[1].args, passed))
    _copy(op.blocks[1].ops, taken, copies)
    taken.yields, ended.yields = [copies.get(v, v) for v in op.blocks[1].yields], list(passed)
    step = Op("if", [goes_on], types[:count], blocks=[taken, ended], frames=op.frames)
    step.block = after
    after.ops.append(step)
    one = text(after, INDEX, "arith.constant 1 : index", constant=1)
    after.yields = [*step.results, goes_on, text(after, INDEX, "arith.addi ", after.args[-1], ", ", one, " : index")]
    inner = Op("while", [*home.args, zero], types, blocks=[before, after], frames=op.frames, stretch=True)
    inner.block = home
    home.ops.append(inner)
    return inner


def _copy(ops: List[Op], home: Block, copies: Dict[Value, Value]) -> None:
    """Copies operations to the end of a block; `copies` has what stands for their values."""
    def of(item: Any) -> Any:
        if isinstance(item, Value):
            return copies.get(item, item)
        if isinstance(item, (list, tuple)) and not hasattr(item, "_fields"):
            return type(item)(of(x) for x in item)
        return {k: of(v) for k, v in item.items()} if isinstance(item, dict) else item

    for op in ops:
        blocks = [Block() for _ in op.blocks]
        made = Op(op.kind, [], [r.type for r in op.results], blocks=blocks, frames=op.frames, pure=op.pure)
        made.block = home
        for old, new in zip(op.results, made.results):
            copies[old] = new
        for old, new in zip(op.blocks, blocks):
            for value in old.args:
                copies[value] = new.add_argument(value.type, value.name)
            _copy(old.ops, new, copies)
            new.yields, new.condition = of(old.yields), of(old.condition)
        made.operands, made.pieces, made.attributes = of(op.operands), of(op.pieces), of(op.attributes)
        for old, new in zip(op.results, made.results):
            new.sizes, new.name, new.least = of(old.sizes), old.name, old.least
        home.ops.append(made)
