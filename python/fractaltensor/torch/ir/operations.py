# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs between Python and MLIR's text: operations in blocks, structured control flow, library steps.

An operation of kind "text" is one of MLIR's, whose text has values in between. The others are `for`, `if` and
`while`, and `step`, a call of a function of the library that is no tensor expression (sort, nonzero, NMS).
"""

from __future__ import annotations

import itertools
from typing import Dict, Iterable, Iterator, List, Optional, Sequence, Set, Tuple, Union

from .dtypes import DType
from ...source import Frame

Size = Union[int, None]
_numbers = itertools.count()


def next_number() -> int:
    """A number between those of values that are there and of values that are made later."""
    return next(_numbers)


class Type:
    """`kind` is "mutable" (a name of storage), "tensor" (a value), or "scalar" ("index" where `dtype` is None)."""

    __slots__ = ("kind", "dtype", "shape")

    def __init__(self, kind: str, dtype: Optional[DType], shape: Sequence[Size] = ()):
        self.kind, self.dtype, self.shape = kind, dtype, tuple(shape)

    def text(self) -> str:
        if self.kind == "scalar":
            return self.dtype.mlir if self.dtype else "index"
        dims = "".join(("?" if n is None else str(n)) + "x" for n in self.shape)
        return f"{'!tssa.tensor' if self.kind == 'mutable' else 'tensor'}<{dims}{self.dtype.mlir}>"

    def value(self) -> "Type":
        return Type("tensor", self.dtype, self.shape)

    def __eq__(self, other):
        return (self.kind, self.dtype, self.shape) == (other.kind, other.dtype, other.shape)

    def __hash__(self):
        return hash((self.kind, self.dtype, self.shape))


INDEX = Type("scalar", None)


class Value:
    """What an operation gives, or a block takes. `op` is the operation, or None for a block's."""

    __slots__ = ("type", "op", "block", "number", "name", "sizes", "least", "carried")

    def __init__(self, type_: Type, op: Optional["Op"], block: Optional["Block"], name: str = ""):
        self.type, self.op, self.block, self.name, self.number = type_, op, block, name, next(_numbers)
        #: Of a tensor: its sizes, numbers or values.
        self.sizes: Sequence = type_.shape
        #: Of a length: what it is at least.
        self.least = 0
        #: Whether a loop carries it, and changes it otherwise than by a constant in each iteration.
        self.carried = False

    def text(self) -> str:
        return f"%v{self.number}"


class Block:
    """Operations in order. `parent` is the operation that encloses it."""

    __slots__ = ("args", "ops", "parent", "yields", "condition")

    def __init__(self, parent: Optional["Op"] = None):
        self.args: List[Value] = []
        self.ops: List[Op] = []
        self.parent = parent
        self.yields: List[Value] = []
        self.condition: Optional[Value] = None  # of the first region of `while`

    def add_argument(self, type_: Type, name: str = "") -> Value:
        value = Value(type_, None, self, name)
        self.args.append(value)
        return value


class Op:
    """One operation. `pieces` is the text of a "text" operation: strings, and values where operands stand."""

    __slots__ = ("kind", "pieces", "operands", "results", "blocks", "block", "frames", "attributes", "pure")

    def __init__(self, kind: str, operands: Sequence[Value], result_types: Sequence[Type], pieces=(), blocks=(), frames=(), pure=False, **attributes):
        self.kind, self.pieces, self.blocks, self.frames, self.pure = kind, list(pieces), list(blocks), tuple(frames), pure
        self.operands: List[Value] = list(operands)
        self.results = [Value(t, self, None) for t in result_types]
        self.block: Optional[Block] = None
        self.attributes = attributes
        for block in self.blocks:
            block.parent = self

    def uses(self) -> Iterator[Value]:
        """Operands, and what the ends of its regions use."""
        yield from self.operands
        for block in self.blocks:
            yield from block.yields
            if block.condition is not None:
                yield block.condition


def walk(ops: Iterable[Op]) -> Iterator[Op]:
    """All operations, outer ones first."""
    for op in ops:
        yield op
        for block in op.blocks:
            yield from walk(block.ops)


def defined_in(ops: Iterable[Op]) -> Set[Value]:
    """What operations and the blocks inside of them define."""
    found: Set[Value] = set()
    for op in walk(ops):
        found.update(op.results)
        for block in op.blocks:
            found.update(block.args)
    return found


# -- MLIR's text --------------------------------------------------------------------------------------------------


class Printer:
    """Writes operations. `numbered`: values are %0, %1, ... in their order, for people to read."""

    def __init__(self, locations: bool = True, numbered: bool = False):
        self.names: Optional[Dict[Value, str]] = {} if numbered else None
        self.locations, self.lines = locations, []

    def name(self, value: Value) -> str:
        return value.text() if self.names is None else self.names.setdefault(value, f"%{len(self.names)}")

    def _location(self, op: Op) -> str:
        if not self.locations or not op.frames:
            return ""
        frame: Frame = op.frames[0]
        file = frame.file.replace("\\", "\\\\").replace('"', '\\"')
        return f' loc("{file}":{frame.line}:{frame.column})'

    def line(self, indent: int, text: str) -> None:
        self.lines.append("  " * indent + text)

    def ops(self, ops: Sequence[Op], indent: int) -> None:
        for op in ops:
            getattr(self, "_" + op.kind)(op, indent)

    def _results(self, op: Op) -> str:
        return ", ".join(self.name(v) for v in op.results) + " = " if op.results else ""

    def _text(self, op: Op, indent: int) -> None:
        body = "".join(p if isinstance(p, str) else self.name(p) for p in op.pieces)
        self.line(indent, self._results(op) + body.replace("\n", "\n" + "  " * indent) + self._location(op))

    def _yield(self, block: Block, indent: int) -> None:
        if block.yields:
            types = ", ".join(v.type.text() for v in block.yields)
            self.line(indent, f"scf.yield {', '.join(self.name(v) for v in block.yields)} : {types}")

    def _types(self, values: Sequence[Value]) -> str:
        return "(" + ", ".join(v.type.text() for v in values) + ")"

    def _for(self, op: Op, indent: int) -> None:
        lower, upper, step, *inits = (self.name(v) for v in op.operands)
        block = op.blocks[0]
        head = f"{self._results(op)}scf.for {self.name(block.args[0])} = {lower} to {upper} step {step}"
        if inits:
            pairs = ", ".join(f"{self.name(a)} = {i}" for a, i in zip(block.args[1:], inits))
            head += f" iter_args({pairs}) -> {self._types(op.results)}"
        self.line(indent, head + " {")
        self.ops(block.ops, indent + 1)
        self._yield(block, indent + 1)
        self.line(indent, "}" + self._location(op))

    def _if(self, op: Op, indent: int) -> None:
        arrow = f" -> {self._types(op.results)}" if op.results else ""
        self.line(indent, f"{self._results(op)}scf.if {self.name(op.operands[0])}{arrow} {{")
        self.ops(op.blocks[0].ops, indent + 1)
        self._yield(op.blocks[0], indent + 1)
        if op.blocks[1].ops or op.results:
            self.line(indent, "} else {")
            self.ops(op.blocks[1].ops, indent + 1)
            self._yield(op.blocks[1], indent + 1)
        self.line(indent, "}" + self._location(op))

    def _while(self, op: Op, indent: int) -> None:
        before, after = op.blocks
        pairs = ", ".join(f"{self.name(a)} = {self.name(i)}" for a, i in zip(before.args, op.operands))
        types = self._types(op.results)
        self.line(indent, f"{self._results(op)}scf.while ({pairs}) : {types} -> {types} {{")
        self.ops(before.ops, indent + 1)
        tail = f" {', '.join(self.name(v) for v in before.yields)} : {', '.join(v.type.text() for v in before.yields)}" if before.yields else ""
        self.line(indent + 1, f"scf.condition({self.name(before.condition)}){tail}")
        self.line(indent, "} do {")
        if after.args:
            self.line(indent, "^bb0(" + ", ".join(f"{self.name(a)}: {a.type.text()}" for a in after.args) + "):")
        self.ops(after.ops, indent + 1)
        self._yield(after, indent + 1)
        if not after.yields:
            self.line(indent + 1, "scf.yield")
        self.line(indent, "}" + self._location(op))

    def _step(self, op: Op, indent: int) -> None:
        operands = ", ".join(self.name(v) for v in op.operands)
        types = self._types(op.operands), self._types(op.results)
        attributes = ", ".join(f"{k} = {v!r}" for k, v in op.attributes["parameters"].items())
        self.line(indent, f"{self._results(op)}step {op.attributes['name']}({operands}) {{{attributes}}} : {types[0]} -> {types[1]}")


def text_of(ops: Sequence[Op], indent: int = 0) -> str:
    """Operations as text; library steps, which are no MLIR, as `step`."""
    printer = Printer(locations=False, numbered=True)
    printer.ops(ops, indent)
    return "\n".join(printer.lines)


def remove_dead(block: Block) -> None:
    """Removes pure operations whose results nothing uses."""
    counts: Dict[Value, int] = {}
    for op in walk(block.ops):
        for value in op.uses():
            counts[value] = counts.get(value, 0) + 1
    for value in block.yields:
        counts[value] = counts.get(value, 0) + 1

    def sweep(b: Block) -> None:
        kept = []
        for op in reversed(b.ops):
            if op.pure and not any(counts.get(r) for r in op.results):
                for value in op.uses():
                    counts[value] -= 1
                continue
            for inner in reversed(op.blocks):
                sweep(inner)
            kept.append(op)
        b.ops = kept[::-1]

    sweep(block)


def sink(block: Block, ops: Sequence[Op]) -> None:
    """Moves operations of a block, which read no storage, to just before their first uses in it."""
    own, moved = set(ops), set(ops)
    made = {result: op for op in ops for result in op.results}
    kept: List[Op] = []

    def need(values: Iterable[Value]) -> None:
        for value in values:
            op = made.get(value)
            if op in moved:
                moved.discard(op)
                need(op.uses())
                kept.append(op)

    for op in block.ops:
        if op not in own:
            for inner in walk([op]):
                need(inner.uses())
            kept.append(op)
    need(block.yields)
    block.ops = kept


def forward_new(block: Block) -> None:
    """A storage of which nothing but its whole content is ever read is its value."""
    users: Dict[Value, List[Op]] = {}
    ends: Set[Value] = set(block.yields)
    for op in walk(block.ops):
        for value in op.operands:
            users.setdefault(value, []).append(op)
        for inner in op.blocks:
            ends.update(inner.yields)
    replaced: Dict[Value, Value] = {}
    for op in walk(block.ops):
        if op.attributes.get("role") != "new" or op.results[0] in ends:
            continue
        uses = users.get(op.results[0], [])
        if all(u.attributes.get("role") == "read" for u in uses):
            op.pure = True
            for use in uses:
                use.pure = True
                replaced[use.results[0]] = op.operands[0]
    if replaced:
        replace_uses(block, replaced)


def replace_uses(block: Block, replaced: Dict[Value, Value]) -> None:
    def last(value: Value) -> Value:
        while value in replaced:
            value = replaced[value]
        return value

    for op in walk(block.ops):
        op.operands = [last(v) for v in op.operands]
        op.pieces = [p if isinstance(p, str) else last(p) for p in op.pieces]
        for inner in op.blocks:
            inner.yields = [last(v) for v in inner.yields]
            if inner.condition is not None:
                inner.condition = last(inner.condition)
    block.yields = [last(v) for v in block.yields]


def enclosing(op: Op) -> Iterator[Op]:
    """The operations around an operation, innermost first."""
    block = op.block
    while block is not None and block.parent is not None:
        yield block.parent
        block = block.parent.block


def views_of(value: Value) -> Tuple[List[Op], Value]:
    """The chain of views that a name is, from its root on, and the root."""
    chain: List[Op] = []
    while value.op is not None and value.op.attributes.get("role") == "view":
        chain.append(value.op)
        value = value.op.operands[0]
    return chain[::-1], value


def most_of(size) -> Optional[int]:
    """The most that a size can be, where that is known: of what a library step finds, as many as it looks at."""
    if not isinstance(size, Value):
        return size
    op = size.op
    if op is None:
        return None
    if op.kind == "step":
        return op.attributes.get("most")
    if op.kind != "text" or not op.pieces:
        return None
    if "constant" in op.attributes:
        return op.attributes["constant"]
    found = [most_of(v) for v in op.operands]
    if op.pieces[0] == "arith.minsi ":
        return min((n for n in found if n is not None), default=None)
    if op.pieces[0] not in ("arith.addi ", "arith.maxsi ") or None in found:
        return None
    return sum(found) if op.pieces[0] == "arith.addi " else max(found)
