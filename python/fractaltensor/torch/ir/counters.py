# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counters of `while` loops: numbers that grow by a constant in each iteration.

Where the compiler takes such a loop whole, it knows them as functions of the iteration and proves that indices
made of them lie within bounds, or refuses the loop. So such indices need no check of the program's own. Of a loop that
the runner goes through the compiler knows nothing: there the counter is a number like others.
"""

from __future__ import annotations

from typing import Callable, Collection, Dict, Optional, Set

from .dtypes import bool_
from .operations import INDEX, Block, Op, Value, walk


def prove_counters(top: Block, hosted: Collection[Op] = ()) -> None:
    """Marks views at counters as proven, but for those of `hosted` loops."""
    known: Set[Value] = set()
    for op in walk(top.ops):
        if op in hosted:
            continue
        if op.kind == "while":
            known.update(_counters(op))
        elif op.kind == "for":
            known.add(op.blocks[0].args[0])
    memo: Dict[Value, bool] = {}
    for op in walk(top.ops):
        if op.attributes.get("proven") is False or "by_counters" in op.attributes:
            op.attributes["by_counters"] = True
            # (One that the loop's own condition lets exceed its dimension, in each iteration, is looked at.)
            exceeds = "exceeds" in op.attributes and op.block.parent is not None and op.block.parent.kind == "while"
            op.attributes["proven"] = not exceeds and all(_is_affine(v, known, memo) for v in op.operands[1:])


def _counters(op: Op) -> Set[Value]:
    before, after = op.blocks
    found: Set[Value] = set()
    for at, value in enumerate(before.yields):
        if value in before.args and before.args.index(value) == at and _steps(after.yields[at], after.args[at]):
            found.update((value, after.args[at]))
    return found


def _steps(value: Value, counter: Value) -> bool:
    if value.op is not None and value.op.kind == "if":
        # Of an iteration that may end the loop the counter is what it was.
        sides = [block.yields[value.op.results.index(value)] for block in value.op.blocks]
        return any(v is not counter for v in sides) and all(v is counter or _steps(v, counter) for v in sides)
    if not _is(value, "arith.addi "):
        return False
    operands = value.op.operands
    return counter in operands and all(v is counter or _constant(v) is not None for v in operands)


def _is_affine(value: Value, known: Set[Value], memo: Dict[Value, bool]) -> bool:
    """Whether an index is made of counters and constants, in ways that the compiler knows as functions of these."""
    if value in known or _constant(value) is not None:
        return True
    if value not in memo:
        memo[value] = False
        memo[value] = value.op is not None and _is_made_of(value, lambda v: _is_affine(v, known, memo))
    return memo[value]


def _is_made_of(value: Value, is_known: Callable[[Value], bool]) -> bool:
    """Whether a number is a sum, a product with a constant, an extreme or a choice of known ones."""
    op = value.op
    if _is(value, "arith.addi ", "arith.subi ", "arith.minsi ", "arith.maxsi "):
        return all(map(is_known, op.operands))
    if _is(value, "arith.muli "):
        return any(_constant(v) is not None for v in op.operands) and all(map(is_known, op.operands))
    if _is(value, "arith.floordivsi ", "arith.ceildivsi "):
        return (_constant(op.operands[1]) or 0) > 0 and is_known(op.operands[0])
    if _is(value, "arith.select "):
        return value.type == INDEX and _is_condition(op.operands[0], is_known) and all(map(is_known, op.operands[1:]))
    if op.kind == "if" and value.type == INDEX:
        at = op.results.index(value)
        return _is_condition(op.operands[0], is_known) and all(is_known(block.yields[at]) for block in op.blocks)
    return False


def _is_condition(value: Value, is_known: Callable[[Value], bool]) -> bool:
    """Whether a truth is one about known numbers."""
    op = value.op
    if op is None or op.kind != "text" or not op.pieces or value.type.dtype is not bool_:
        return False
    text = str(op.pieces[0])
    if text.startswith("arith.cmpi "):
        return all(map(is_known, op.operands))
    if text in ("arith.andi ", "arith.ori ", "arith.xori "):
        return all(_is_condition(v, is_known) for v in op.operands)
    return text.startswith("arith.constant ")


def _is(value: Value, *names: str) -> bool:
    op = value.op
    return op is not None and op.kind == "text" and bool(op.pieces) and op.pieces[0] in names


def _constant(value: Value) -> Optional[int]:
    found = value.op.attributes.get("constant") if value.op is not None else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None
