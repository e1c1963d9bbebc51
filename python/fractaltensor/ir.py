# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tracing builds: operations with operands, attributes and regions, before they are printed.

Small on purpose, since the compiler has the real verifiers. Here is only what the tracer needs to print
text that reads like a hand-written program: capture checks, constants made once, dead code left out.
"""

from __future__ import annotations

from typing import Dict, List, Optional, Sequence, Tuple

from .source import Frame, here
from .types import ValueType


class Region:
    """A list of operations with arguments. `parent` is the region around it."""

    __slots__ = ("parent", "arguments", "ops", "what", "frames")

    def __init__(self, parent: Optional["Region"], what: str):
        self.parent, self.what = parent, what
        self.arguments: List[Value] = []
        self.ops: List[Op] = []
        self.frames: Tuple[Frame, ...] = ()

    def add_argument(self, type_: ValueType, name: str) -> "Value":
        value = Value(type_, self, None, name)
        self.arguments.append(value)
        return value

    def encloses(self, other: "Region") -> bool:
        """Whether `other` is this region or lies in it."""
        walk: Optional[Region] = other
        while walk is not None:
            if walk is self:
                return True
            walk = walk.parent
        return False


class Value:
    """A result of an operation or an argument of a region."""

    __slots__ = ("type", "region", "op", "name", "uses")

    def __init__(self, type_: ValueType, region: Region, op: Optional["Op"], name: str = ""):
        self.type, self.region, self.op, self.name = type_, region, op, name
        self.uses = 0


class Op:
    """One operation. `kind` says how it is printed (see :mod:`fractaltensor.printer`)."""

    __slots__ = ("kind", "operands", "attributes", "regions", "results", "frames", "region", "dead")

    def __init__(self, kind: str, operands: Sequence[Value], attributes: Dict, regions: Sequence[Region], region: Region):
        self.kind, self.operands, self.attributes = kind, list(operands), attributes
        self.regions, self.region = list(regions), region
        self.results: List[Value] = []
        self.frames: Tuple[Frame, ...] = ()
        self.dead = False


class Function:
    """A traced program."""

    __slots__ = ("name", "body", "results", "attributes", "argument_attributes", "frames")

    def __init__(self, name: str):
        self.name = name
        self.body = Region(None, "the program")
        self.results: List[Value] = []
        self.attributes: Dict = {}
        self.argument_attributes: List[Dict] = []
        self.frames: Tuple[Frame, ...] = ()


def make_op(region: Region, kind: str, operands: Sequence[Value], results: Sequence[ValueType], attributes=None, regions=(), frames=None) -> Op:
    """Appends an operation to a region, at the user's current line."""
    op = Op(kind, operands, attributes or {}, regions, region)
    op.frames = here() if frames is None else frames
    op.results = [Value(type_, region, op) for type_ in results]
    region.ops.append(op)
    return op


# -- clean-up -------------------------------------------------------------------------------------------


def count_uses(function: Function) -> None:
    """Sets `uses` of each value: how many operands it is."""

    def clear(region: Region) -> None:
        for value in region.arguments:
            value.uses = 0
        for op in region.ops:
            for value in op.results:
                value.uses = 0
            for inner in op.regions:
                clear(inner)

    def count(region: Region) -> None:
        for op in region.ops:
            for operand in op.operands:
                operand.uses += 1
            for inner in op.regions:
                count(inner)

    clear(function.body)
    count(function.body)
    for value in function.results:
        value.uses += 1


def remove_dead_results(function: Function) -> None:
    """Leaves out operations whose results nothing reads. All operations are pure."""

    def sweep(region: Region) -> bool:
        kept, changed = [], False
        for op in region.ops:
            if op.kind != "yield" and all(value.uses == 0 for value in op.results):
                changed = True
                continue
            for inner in op.regions:
                changed |= sweep(inner)
            kept.append(op)
        region.ops = kept
        return changed

    count_uses(function)
    while sweep(function.body):
        count_uses(function)


def accumulate_in_products(function: Function) -> None:
    """``x @ w + h`` as one product that starts from `h`, the form in which the paper writes a cell.

    In a chain of products each starts from the one before, and the first from zero. The chain takes the other
    side of an addition as its start: ``x @ w + h @ u + b`` becomes two products that start from `b`. The chain moves
    to the addition, where that side is there. Each product has one reader and lies in the same region.
    """
    count_uses(function)
    _accumulate(function.body)


def _accumulate(region: Region) -> None:
    for op in list(region.ops):
        for inner in op.regions:
            _accumulate(inner)
        if op.kind != "elementwise" or op.attributes["name"] not in ("arith.addf", "arith.addi"):
            continue
        chains = [_chain(value, region) for value in op.operands]
        if op.operands[0] is op.operands[1]:
            continue
        # Of two products the second one continues the first, as the text is read.
        side = 1 if chains[1] else 0 if chains[0] else None
        if side is None:
            continue
        chain, start = chains[side], op.operands[1 - side]
        for product in chain:
            region.ops.remove(product)
        at = region.ops.index(op)
        region.ops[at : at + 1] = chain
        chain[0].operands[-1] = start
        chain[0].attributes["from_zero"] = False
        chain[-1].results[0].uses = 0
        chain[-1].results = op.results
        op.results[0].op = chain[-1]


def _chain(value: Value, region: Region) -> List[Op]:
    """The products that make a value, the first from zero; empty where there is something else between."""
    chain: List[Op] = []
    while True:
        op = value.op
        if op is None or op.kind != "product" or op.region is not region or value.uses != 1:
            return []
        chain.insert(0, op)
        if op.attributes["from_zero"]:
            return chain
        value = op.operands[-1]
