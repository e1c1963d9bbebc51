# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes operations: numbers, element-wise results, reductions and copies of any sizes. What is inside of an element is `bodies.py`, views are `views.py`."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Dict, List, Optional, Sequence, Set, Tuple, Union

from . import at_data, dtypes, varying
from .bodies import Body, Scalar
from .dtypes import DType
from .operations import INDEX, Block, Op, Type, Value, next_number, views_of
from .linear import least, linear
from ..problems import Problem
from ..frontend.values import Device, Num, SizeLike, Tensor, kind_of
from .views import is_found, loop, row_at, same, select, squeeze

NOTHING = at_data.NOTHING

_SCALAR = {"int": INDEX, "float": Type("scalar", dtypes.float64), "bool": Type("scalar", dtypes.bool_)}
Number = Union[bool, int, float, Num]


class Builder:
    """Appends operations to the current block."""

    def __init__(self):
        self.top = Block()
        self.block = self.top
        self.frames: Callable[[], Sequence] = lambda: ()
        self.known: List[Dict] = [{}]
        #: The least and the greatest value of loops' counters.
        self.ranges: Dict[Value, Tuple[int, int]] = {}
        self.stack: List[Block] = [self.top]

        #: Whether what compiled code does not notice itself (an index out of range, a division by 0) is looked for.
        self.checked = False
        #: Where the program's tensors lie: a ``torch.device``, or a :class:`Device`.
        self.device: Any = Device("cpu")
        #: Copies that stand for views (plan/copies.py).
        self.copies: List = []
        #: What was noticed: (tensor, message, places); the tensor holds NOTHING until there is something.
        self.sites: Dict[Tuple, Tuple[Tensor, str, Tuple]] = {}
        #: What makes these tensors.
        self.site_ops: List[Op] = []
        #: Lengths that counters stay below.
        self.limits: Dict[Value, SizeLike] = {}
        #: Counters that begin at 0 or above.
        self.naturals: Set[Value] = set()
        #: Counters of loops of the program whose length is known, and whether that is short enough to unroll the loop for speed alone.
        self.counters: Dict[Value, bool] = {}
        #: Counters with which sizes may change (`varying.py`), and of which of them numbers are made.
        self.varying: Set[Value] = set()
        self.made_of: Dict[Value, Optional[Tuple[Value, ...]]] = {}
        #: Whether such sizes are a kind of their own, and whether there has been one; also of writes at data (`at_data.py`).
        self.goes_by_parts, self.is_by_parts = True, False
        #: Whether an index in a loop that is data is noted where it is out of range, and whether there has been one that could be.
        self.notes_indices, self.has_indices = False, False
        #: How many indices nothing has been known of.
        self.unproven = 0
        #: Whether operators may be loops over blocks: of graphs, which are whole models and have no gradients.
        self.has_blocks = False
        #: Of tensors of places, below what these are.
        self.below: Dict[Value, SizeLike] = {}
        #: What has been changed in place, in order: the numbers of lists, and of tensors that operations make; of other ones 0.
        self.changes: List[int] = []

    # -- what goes wrong while it runs --------------------------------------------------------------------

    def notice(self, values: Tensor, message: str) -> None:
        """Notes the numbers in `values` that are not NOTHING; the call fails with `message` when it has run."""
        frames = tuple(self.frames())
        key = (message, frames[:1])
        if key not in self.sites:
            # It comes before all else, so nothing that is known here may be used.
            home, known = Block(), self.known
            self.known = [{}]
            with self.inside(home):
                tensor = self.constant_tensor(NOTHING, dtypes.int64)
            tensor.value.op.attributes["notes"] = True
            self.known = known
            for op in home.ops:
                op.block = self.top
            self.top.ops[:0] = home.ops
            self.site_ops += home.ops
            self.sites[key] = (tensor, message, frames)
        site = self.sites[key][0]
        larger = lambda body, p, q: body.op("arith.maxsi", p, q)  # noqa: E731
        most = self.reduce(values, list(range(values.rank)), dtypes.int64, NOTHING, larger) if values.rank else values
        self.write(site, self.read(self.pointwise(dtypes.int64, [site, most], larger)))

    def inside_range(self, index: SizeLike, size: SizeLike) -> bool:
        """Whether an index is known to be in a dimension."""
        if isinstance(index, int) and isinstance(size, int):
            return True
        limit = self.limits.get(index.value) if isinstance(index, Num) else None
        if limit is not None and same(limit, size):
            return True
        below = self.least_apart(index, size)
        if below is None or below < 1:
            return False
        # From the end as well: -1 is the last one.
        first, last = self._ends(index)[0], self._ends(size)[0]
        from_end = least(linear(index).plus(linear(size)), self.naturals, self.limits, self.ranges)
        lows = (self.least_apart(0, index), from_end, None if first is None or last is None else first + last)
        return any(low is not None and low >= 0 for low in lows)

    def least_apart(self, a: SizeLike, b: SizeLike) -> Optional[int]:
        """What `b - a` is at least, as far as loops and lengths say."""
        found = least(linear(b).plus(linear(a), -1), self.naturals, self.limits, self.ranges)
        # What a number is made of may say less than what is known of itself.
        low, high = self._ends(b)[0], self._ends(a)[1]
        known = [n for n in (found, None if low is None or high is None else low - high) if n is not None]
        return max(known, default=None)

    def _ends(self, number: SizeLike) -> Tuple[Optional[int], Optional[int]]:
        return (number, number) if isinstance(number, int) else self.ranges.get(number.value, (None, None))

    def is_least(self, number: SizeLike, other: SizeLike) -> bool:
        """Whether a number is known to be at most another one."""
        found = self.least_apart(number, other)
        return found is not None and found >= 0

    # -- blocks ---------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def inside(self, block: Block):
        outer = self.block
        self.block = block
        self.stack.append(block)
        self.known.append({})
        try:
            yield block
        finally:
            self.block = outer
            self.stack.pop()
            self.known.pop()

    def in_loop(self) -> bool:
        """Whether a loop of the program, or of an operation, is around what is made now."""
        return any(block.args and block.args[0] in self.limits for block in self.stack)

    def is_known_outside(self, value: Value) -> bool:
        """Whether a value is defined in a block that is open now."""
        home = value.op.block if value.op is not None else value.block
        return any(home is b for b in self.stack)

    def append(self, op: Op) -> Op:
        op.block = self.block
        if not op.frames:
            op.frames = tuple(self.frames())
        self.block.ops.append(op)
        return op

    def text(self, pieces: Sequence, results: Sequence[Type], pure: bool = True, **attributes) -> Op:
        operands = [p for p in pieces if isinstance(p, Value)]
        self._need_values(operands)
        return self.append(Op("text", operands, results, pieces=pieces, pure=pure, **attributes))

    def _need_values(self, operands: Sequence[Value]) -> None:
        """That no operand is there by its parts alone."""
        for value in operands:
            if isinstance(value, varying.Parts):
                raise varying.refuse(self, value, "an operation needs a whole tensor,")

    def remember(self, key, make: Callable):
        """The value of `key` if it was made where it is still known, else a new one."""
        for table in reversed(self.known):
            if key in table:
                return table[key]
        made = make()
        self.known[-1][key] = made
        return made

    def step(self, name: str, operands: Sequence[Value], results: Sequence[Type], **parameters) -> List[Value]:
        """A library step; it runs between compiled code."""
        self._need_values(operands)
        return self.append(Op("step", operands, results, name=name, parameters=parameters)).results

    # -- numbers -----------------------------------------------------------------------------------------

    def scalar(self, number: Number, kind: Optional[str] = None) -> Value:
        """A number as a value of `kind` (by default its own)."""
        own = kind_of(number)
        kind = kind or own
        if isinstance(number, Num):
            return self._convert(number, kind).value
        if kind == "int":
            dtypes.check_long(int(number))
            text = f"arith.constant {int(number)} : index"
        elif kind == "float":
            text = f"arith.constant {dtypes.literal(number, dtypes.float64)}"
        else:
            text = f"arith.constant {'true' if number else 'false'}"
        return self.remember(text, lambda: self.text([text], [_SCALAR[kind]], constant=number).results[0])

    def _convert(self, number: Num, kind: str) -> Num:
        if number.kind == kind:
            return number
        value = number.value
        if kind == "bool":
            if number.kind == "int":
                return self.compare("ne", number, 0)  # type: ignore[return-value]
            zero = self.scalar(0.0)
            return Num("bool", self.text(["arith.cmpf une, ", value, ", ", zero, " : f64"], [_SCALAR["bool"]]).results[0])
        if number.kind == "bool":
            wide = self.text(["arith.extui ", value, " : i1 to i64"], [Type("scalar", dtypes.int64)]).results[0]
        elif kind == "float":
            wide = self.text(["arith.index_cast ", value, " : index to i64"], [Type("scalar", dtypes.int64)]).results[0]
        else:
            wide = self.text(["arith.fptosi ", value, " : f64 to i64"], [Type("scalar", dtypes.int64)]).results[0]
        if kind == "int":
            return Num("int", self.text(["arith.index_cast ", wide, " : i64 to index"], [INDEX]).results[0])
        return Num("float", self.text(["arith.sitofp ", wide, " : i64 to f64"], [_SCALAR["float"]]).results[0])

    def number_op(self, name: str, kind: str, *operands: Number, result: Optional[str] = None) -> Num:
        values = [self.scalar(o, kind) for o in operands]
        type_ = _SCALAR[kind]
        pieces: List = [name + " "]
        for index, value in enumerate(values):
            pieces += [", " if index else "", value]
        pieces.append(f" : {type_.text()}")
        key = (name, *values)
        return Num(result or kind, self.remember(key, lambda: self.text(pieces, [_SCALAR[result or kind]]).results[0]))

    def add(self, a: SizeLike, b: SizeLike) -> SizeLike:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if isinstance(a, int) and a == 0:
            return b
        if isinstance(b, int) and b == 0:
            return a
        return self._ranged(self.number_op("arith.addi", "int", a, b), a, b, lambda x, y: x + y)

    def _ranged(self, made: Num, a: SizeLike, b: SizeLike, function: Callable) -> Num:
        """Notes between which numbers a result lies, where that is known of its operands."""
        ends = [(x, x) if isinstance(x, int) else self.ranges.get(x.value) for x in (a, b)]
        if ends[0] is not None and ends[1] is not None:
            found = [function(x, y) for x in ends[0] for y in ends[1]]
            self.ranges[made.value] = (min(found), max(found))
        return made

    def sub(self, a: SizeLike, b: SizeLike) -> SizeLike:
        if isinstance(a, int) and isinstance(b, int):
            return a - b
        if isinstance(b, int):
            return self.add(a, -b)
        return 0 if same(a, b) else self._ranged(self.number_op("arith.subi", "int", a, b), a, b, lambda x, y: x - y)

    def mul(self, a: SizeLike, b: SizeLike) -> SizeLike:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        for x, y in ((a, b), (b, a)):
            if isinstance(x, int) and x in (0, 1):
                return 0 if x == 0 else y
        return self._ranged(self.number_op("arith.muli", "int", a, b), a, b, lambda x, y: x * y)

    def floordiv(self, a: SizeLike, b: SizeLike) -> SizeLike:
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        if isinstance(b, int) and b == 1:
            return a
        made = self.number_op("arith.floordivsi", "int", a, b)
        return self._ranged(made, a, b, lambda x, y: x // y) if isinstance(b, int) and b > 0 else made

    def modulo(self, a: SizeLike, b: SizeLike) -> SizeLike:
        """The remainder as Python has it, with the sign of `b`."""
        made = self.sub(a, self.mul(self.floordiv(a, b), b))
        if isinstance(made, Num) and isinstance(b, int) and b > 0:
            self.ranges[made.value] = (0, b - 1)
        return made

    def ceildiv(self, a: SizeLike, b: SizeLike) -> SizeLike:
        if isinstance(a, int) and isinstance(b, int):
            return -(-a // b)
        return a if isinstance(b, int) and b == 1 else self.number_op("arith.ceildivsi", "int", a, b)

    def minimum(self, a: SizeLike, b: SizeLike) -> SizeLike:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        if self.is_least(a, b):
            return a
        return b if self.is_least(b, a) else self._ranged(self.number_op("arith.minsi", "int", a, b), a, b, min)

    def maximum(self, a: SizeLike, b: SizeLike) -> SizeLike:
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        if self.is_least(a, b):
            return b
        return a if self.is_least(b, a) else self._ranged(self.number_op("arith.maxsi", "int", a, b), a, b, max)

    def ranged_ceildiv(self, a: SizeLike, by: int) -> SizeLike:
        """A quotient by a number above 0, rounded up."""
        made = self.ceildiv(a, by)
        return self._ranged(made, a, by, lambda x, y: -(-x // y)) if isinstance(made, Num) and by != 1 else made

    def product(self, sizes: Sequence[SizeLike]) -> SizeLike:
        result: SizeLike = 1
        for size in sizes:
            result = self.mul(result, size)
        return result

    def decided(self, what: str, a: Number, b: Number) -> Optional[bool]:
        """The truth of a comparison of integers that loops and lengths decide; None where they don't."""
        if any(isinstance(x, bool) or kind_of(x) != "int" for x in (a, b)):
            return None
        if what in ("gt", "ge"):
            return self.decided({"gt": "lt", "ge": "le"}[what], b, a)
        up, down = self.least_apart(a, b), self.least_apart(b, a)  # type: ignore[arg-type]
        at_least = {"lt": 1, "le": 0, "eq": None, "ne": None}[what]
        if at_least is not None:
            if up is not None and up >= at_least:
                return True
            return False if down is not None and down > -at_least else None
        if up is not None and up > 0 or down is not None and down > 0:
            return what == "ne"
        return what == "eq" if up == 0 and down == 0 else None

    def compare(self, what: str, a: Number, b: Number) -> Union[bool, Num]:
        """`what`: eq, ne, lt, le, gt, ge."""
        kinds = {kind_of(a), kind_of(b)}
        if "float" in kinds:
            predicate = "une" if what == "ne" else "o" + what
            operands = [self.scalar(x, "float") for x in (a, b)]
            return Num("bool", self.text([f"arith.cmpf {predicate}, ", operands[0], ", ", operands[1], " : f64"], [_SCALAR["bool"]]).results[0])
        predicate = what if what in ("eq", "ne") else "s" + what
        operands = [self.scalar(x, "int") for x in (a, b)]
        return Num("bool", self.text([f"arith.cmpi {predicate}, ", operands[0], ", ", operands[1], " : index"], [_SCALAR["bool"]]).results[0])

    def choice(self, truth: Union[bool, Num], a: Number, b: Number) -> Number:
        """One of two numbers, of the wider kind of both."""
        if isinstance(truth, bool):
            return a if truth else b
        kind = "float" if "float" in (kind_of(a), kind_of(b)) else "int"
        values = [self.scalar(x, kind) for x in (a, b)]
        made = self.text(["arith.select ", truth.value, ", ", values[0], ", ", values[1], f" : {_SCALAR[kind].text()}"], [_SCALAR[kind]])
        return Num(kind, made.results[0])

    def logical(self, name: str, a, b):
        """`and`, `or` of truths, both of which are evaluated."""
        for x, y in ((a, b), (b, a)):
            if isinstance(x, bool):
                return (y if x else False) if name == "and" else (True if x else y)
        return self.number_op("arith.andi" if name == "and" else "arith.ori", "bool", a, b)

    def invert(self, a):
        return (not a) if isinstance(a, bool) else self.number_op("arith.xori", "bool", a, True)

    # -- tensors and values -------------------------------------------------------------------------------

    def type_of(self, dtype: DType, sizes: Sequence[SizeLike], kind: str = "tensor") -> Type:
        return Type(kind, dtype, [n if isinstance(n, int) else None for n in sizes])

    def new(self, value: Value, sizes: Sequence[SizeLike]) -> Tensor:
        """A tensor of its own that holds a value."""
        if isinstance(value, varying.Parts):
            return varying.store(self, value, sizes)
        type_ = Type("mutable", value.type.dtype, value.type.shape)
        value.sizes = [n.value if isinstance(n, Num) else n for n in sizes]
        made = self.text(["tssa.new ", value, f" : {value.type.text()}"], [type_], pure=True, role="new").results[0]
        made.sizes = value.sizes
        return Tensor(made, value.type.dtype, sizes)

    def read(self, tensor: Tensor) -> Value:
        """What a tensor holds now."""
        if varying.is_varying(tensor.value):
            return varying.read(self, tensor)
        row = at_data.read(self, tensor)
        if row is not None:
            row.sizes = [n.value if isinstance(n, Num) else n for n in tensor.sizes]
            return row
        type_ = tensor.value.type
        made = self.text(["tssa.read ", tensor.value, f" : {type_.text()}"], [type_.value()], pure=True, role="read").results[0]
        made.sizes = [n.value if isinstance(n, Num) else n for n in tensor.sizes]
        return made

    def write(self, dest: Tensor, value: Value) -> None:
        root = views_of(dest.value)[1]
        self.changes.append(root.number if root.op is not None and root.op.attributes.get("role") == "new" else 0)
        if at_data.writes_all(self, dest, value):
            return
        if varying.is_varying(dest.value):
            varying.write(self, dest, value)
            return
        pieces = ["tssa.mutate ", dest.value, ", ", value, f" : {dest.value.type.text()}, {value.type.text()}"]
        self.text(pieces, [], pure=False, role="write")

    def unchanged(self) -> Callable[[], bool]:
        """Says whether nothing that is there now has been changed in place since."""
        count, number = len(self.changes), next_number()
        return lambda: all(n > number for n in self.changes[count:])

    def view(self, tensor: Tensor, step: str, numbers: Sequence, sizes: Sequence[SizeLike], strides, own, repeats=False, proven=True) -> Tensor:
        """A view by one step; numbers are ints, `Num`s, or "_" for an end that is open. `proven`: it is within bounds."""
        pieces: List = ["tssa.view ", tensor.value, f"[{step}("]
        for index, number in enumerate(numbers):
            pieces += [", " if index else "", self.scalar(number) if isinstance(number, Num) else str(number)]
        type_ = self.type_of(tensor.dtype, sizes, "mutable")
        pieces.append(f")] : {tensor.value.type.text()} -> {type_.text()}")
        numbers = [n.value if isinstance(n, Num) else n for n in numbers]
        proven = step not in ("select", "narrow") or proven
        made = self.text(pieces, [type_], role="view", step=step, numbers=numbers, proven=proven).results[0]
        if varying.is_varying(tensor.value) or varying.dims_that_vary(self, sizes):
            made.op.attributes["varying"] = True  # type: ignore[union-attr]
        made.sizes = [n.value if isinstance(n, Num) else n for n in sizes]
        return Tensor(made, tensor.dtype, sizes, strides, own, repeats or tensor.overlaps)

    def empty(self, dtype: DType, sizes: Sequence[SizeLike]) -> Value:
        type_ = self.type_of(dtype, sizes)
        if varying.dims_that_vary(self, sizes):
            return varying.filled(self, type_, sizes, lambda left: self.empty(dtype, left))
        pieces: List = ["tensor.empty("]
        for index, size in enumerate(n for n in sizes if isinstance(n, Num)):
            pieces += [", " if index else "", size.value]
        return self.text([*pieces, f") : {type_.text()}"], [type_]).results[0]

    def fill(self, number: Number, dtype: DType, sizes: Sequence[SizeLike]) -> Value:
        """A value of `sizes` that is `number` everywhere."""
        if varying.dims_that_vary(self, sizes):
            return varying.filled(self, self.type_of(dtype, sizes), sizes, lambda left: self.fill(number, dtype, left))
        scalar = self.element(number, dtype)
        out = self.empty(dtype, sizes)
        text = ["linalg.fill ins(", scalar, f" : {dtype.mlir}) outs(", out, f" : {out.type.text()}) -> {out.type.text()}"]
        return self.text(text, [out.type]).results[0]

    def element(self, number: Number, dtype: DType) -> Value:
        """A number as a scalar of an element type."""
        if not isinstance(number, Num):
            text = f"arith.constant {dtypes.literal(number, dtype)}"
            return self.remember(("element", text), lambda: self.text([text], [Type("scalar", dtype)]).results[0])
        body, names = Body(), {}
        last: Value = self._element_in(body, number, dtype).name
        for result, parts in body.lines:
            pieces = [names.get(p, p) if isinstance(p, str) else p for p in parts]
            last = names[result.name] = self.text(pieces, [Type("scalar", result.dtype)]).results[0]
        return last

    def _element_in(self, body: Body, number: Number, dtype: DType) -> Scalar:
        if not isinstance(number, Num):
            return body.constant(number, dtype)
        if number.kind == "int":
            wide = body.emit(dtypes.int64, "arith.index_cast ", number.value, " : index to i64")
        else:
            wide = Scalar(number.value, _SCALAR[number.kind].dtype)
        return body.cast(wide, dtype)

    def broadcast(self, shapes: Sequence[Sequence[SizeLike]]) -> Tuple[SizeLike, ...]:
        """The common sizes of operands; sizes that are data are checked when the program runs."""
        rank = max((len(s) for s in shapes), default=0)
        result: List[SizeLike] = [1] * rank
        for shape in shapes:
            for d, size in enumerate(shape, rank - len(shape)):
                old = result[d]
                if isinstance(size, int) and size == 1 or same(old, size):
                    continue
                if isinstance(old, int) and old == 1:
                    result[d] = size
                    continue
                if isinstance(old, int) and isinstance(size, int):
                    found = " and ".join("[" + ", ".join("?" if isinstance(n, Num) else str(n) for n in s) + "]" for s in shapes)
                    raise Problem(f"sizes {found} cannot be broadcast: {old} and {size} in dimension {d - rank}", "shape")
                self.require_equal(old, size)
                result[d] = old if isinstance(old, int) else size
        return tuple(result)

    def require_equal(self, a: SizeLike, b: SizeLike, what: str = "") -> None:
        """Two sizes, one of them data, are equal: checked when the program runs. `what` says why, where it is not for broadcasting."""
        for size in (a, b):
            if varying.varies(self, size):
                raise varying.refuse_size(self, size, "is it equal to another size? A number")
        more = {"what": what} if what else {}
        key = ("equal", *sorted(n.value.number if isinstance(n, Num) else -1 - n for n in (a, b)))
        self.remember(key, lambda: self.step("require_equal", [self.scalar(a), self.scalar(b)], [], **more) or True)

    def operand(self, tensor: Tensor, sizes: Sequence[SizeLike]) -> Tuple[Value, List[int]]:
        """A value and its dimensions among those of `sizes`; what is broadcast has gone from it."""
        dims, skip = [], len(sizes) - tensor.rank
        for d in range(tensor.rank - 1, -1, -1):
            if isinstance(tensor.sizes[d], int) and tensor.sizes[d] == 1 and not (isinstance(sizes[d + skip], int) and sizes[d + skip] == 1):
                tensor = squeeze(self, tensor, d)
            else:
                dims.append(d + skip)
        return self.read(tensor), dims[::-1]

    def pointwise(self, out: DType, inputs: Sequence, function: Callable, compute: Optional[DType] = None,
                  sizes: Optional[Sequence[SizeLike]] = None, common: Sequence[Optional[DType]] = ()) -> Tensor:
        """One result element for each element of the operands' common sizes.

        `function(body, *scalars)` gives it; operands are cast to `compute` before, the result to `out` after. `common` has the types to which operands
        are rounded first.
        """
        shapes = [t.sizes for t in inputs if isinstance(t, Tensor)]
        sizes = self.broadcast(shapes) if sizes is None else tuple(sizes)
        body, values, maps, scalars = Body(), [], [], []
        for at, item in enumerate(inputs):
            rounded = common[at] if at < len(common) else None
            if isinstance(item, Tensor):
                value, dims = self.operand(item, sizes)
                scalar = Scalar(f"%a{len(values)}", item.dtype)
                values.append(value)
                maps.append(dims)
            else:
                scalar = self._element_in(body, item, rounded or compute or dtypes.of_number(item))
            scalar = body.cast(scalar, rounded) if rounded else scalar
            scalars.append(body.cast(scalar, compute) if compute else scalar)
        result = body.cast(function(body, *scalars), out)
        made = self.generic(values, maps, [self.empty(out, sizes)], [list(range(len(sizes)))], len(sizes), (), body, [result])
        return self.new(made[0], sizes)

    def generic(self, values, maps, outs, out_maps, rank: int, reduced: Sequence[int], body: Body, results: Sequence[Scalar]) -> List[Value]:
        """A `linalg.generic`: `maps` has the loops of each operand's dimensions, or expressions of them; arguments are %a0, %a1, ... and %o0, ..."""
        if any(isinstance(v, varying.Parts) for v in (*values, *outs)):
            return varying.generic(self, values, maps, outs, out_maps, rank, reduced, body, results)
        loops = ", ".join(f"d{i}" for i in range(rank))
        affine = ", ".join(
            f"affine_map<({loops}) -> ({', '.join(d if isinstance(d, str) else f'd{d}' for d in m)})>" for m in [*maps, *out_maps])
        kinds = ", ".join('"reduction"' if i in reduced else '"parallel"' for i in range(rank))
        pieces: List = [f"linalg.generic {{indexing_maps = [{affine}], iterator_types = [{kinds}]}}"]

        def listed(word, items):
            if items:
                pieces.append(f" {word}(")
                for index, item in enumerate(items):
                    pieces.extend([", " if index else "", item])
                pieces.append(" : " + ", ".join(v.type.text() for v in items) + ")")

        listed("ins", values)
        listed("outs", outs)
        arguments = [f"%a{i}: {v.type.dtype.mlir}" for i, v in enumerate(values)] + [f"%o{i}: {v.type.dtype.mlir}" for i, v in enumerate(outs)]
        pieces.append(" {\n^bb0(" + ", ".join(arguments) + "):\n")
        pieces += body.pieces
        pieces.append("  linalg.yield ")
        for index, result in enumerate(results):
            pieces += [", " if index else "", result.name]
        types = ", ".join(v.type.text() for v in outs)
        pieces.append(" : " + ", ".join(r.dtype.mlir for r in results) + "\n} -> " + (f"({types})" if len(outs) > 1 else types))
        made = self.text(pieces, [v.type for v in outs])
        if not reduced and len(results) == 1:
            made.attributes["body"] = body.lines, results[0].name, body.divisors
        return made.results

    def reduce(self, x: Tensor, dims: Sequence[int], out: DType, start: Number, function: Callable, compute: Optional[DType] = None) -> Tensor:
        """Folds `dims` by `function(body, accumulator, element)`; the result has the other dimensions."""
        kept = [d for d in range(x.rank) if d not in dims]
        sizes = [x.sizes[d] for d in kept]
        counted = [d for d in dims if is_found(x.sizes[d])]
        if self.checked and len(counted) == 1 and all(isinstance(n, int) for d, n in enumerate(x.sizes) if d not in counted):
            return self.folded([x], counted[0], [d for d in dims if d not in counted], out, start, lambda body, acc, _, e: function(body, acc, body.cast(e, compute or out)))
        init = self.fill(start, out, sizes)
        body = Body()
        element = Scalar("%a0", x.dtype)
        result = function(body, Scalar("%o0", out), body.cast(element, compute or out))
        made = self.generic([self.read(x)], [list(range(x.rank))], [init], [kept], x.rank, list(dims), body, [result])
        return self.new(made[0], sizes)

    def folded(self, tensors: Sequence[Tensor], d: int, dims: Sequence[int], out: DType, start: Number, function: Callable) -> Tensor:
        """Folds dimension `d`, whose size is data, in a loop, and the dimensions `dims` beside it: `function(body, accumulator, place, elements...)`.
        The first tensor has all of the dimensions, others those that are kept. Rows of open size are no place for a sum over these."""
        first = tensors[0]
        total = self.constant_tensor(start, out, [n for i, n in enumerate(first.sizes) if i != d and i not in dims])

        def step(at: Num) -> None:
            row = row_at(self, first, d, at)
            reduced = [i - (i > d) for i in dims]
            kept = [i for i in range(row.rank) if i not in reduced]
            body = Body()
            place = self._element_in(body, at, dtypes.int64)
            elements = [Scalar(f"%a{i}", t.dtype) for i, t in enumerate(tensors)]
            result = function(body, Scalar("%o0", out), place, *elements)
            values = [self.read(t) for t in (row, *tensors[1:])]
            maps = [list(range(row.rank)), *([kept] * (len(tensors) - 1))]
            self.write(total, self.generic(values, maps, [self.read(total)], [kept], row.rank, reduced, body, [result])[0])

        loop(self, 0, first.sizes[d], step, fold=True)
        return total

    # -- copies ----------------------------------------------------------------------------------------------

    def copy(self, x: Tensor, dtype: Optional[DType] = None) -> Tensor:
        """A tensor of its own with the same elements."""
        if dtype is None or dtype is x.dtype:
            return self.new(self.read(x), x.sizes)
        return self.pointwise(dtype, [x], lambda b, a: a)

    def constant_tensor(self, number: Number, dtype: DType, sizes: Sequence[SizeLike] = ()) -> Tensor:
        return self.new(self.fill(number, dtype, sizes), sizes)

    def _note_below(self, number: Num, root: Value) -> None:
        """Notes of a number that it is a place, where it comes from a tensor of places that nothing has written since."""
        from ..ops.places import is_as_made

        size = self.below.get(root)
        if size is None or not is_as_made(self, root):
            return
        self.naturals.add(number.value)
        self.limits[number.value] = size
        last = self._ends(size)[1]
        if last is not None:
            self.ranges[number.value] = (0, max(0, last - 1))

    def item(self, x: Tensor) -> Num:
        """The number in a tensor of one element."""
        if any(isinstance(n, int) and n != 1 for n in x.sizes):
            raise Problem(f"a number is a tensor of one element, found {x.describe()}", "shape")
        for d in range(x.rank - 1, -1, -1):
            if not isinstance(x.sizes[d], int):
                self.require_equal(x.sizes[d], 1, "a number is a tensor of one element")
            x = select(self, x, d, 0)
        value = self.read(x)
        scalar = self.text(["tensor.extract ", value, f"[] : {value.type.text()}"], [Type("scalar", x.dtype)]).results[0]
        if x.dtype.is_bool:
            return Num("bool", scalar)
        if x.dtype.is_int:
            if x.dtype is not dtypes.int64:
                scalar = self.text(["arith.extsi ", scalar, f" : {x.dtype.mlir} to i64"], [Type("scalar", dtypes.int64)]).results[0]
            made = Num("int", self.text(["arith.index_cast ", scalar, " : i64 to index"], [INDEX]).results[0])
            self._note_below(made, views_of(x.value)[1])
            return made
        if x.dtype is not dtypes.float64:
            scalar = self.text(["arith.extf ", scalar, f" : {x.dtype.mlir} to f64"], [_SCALAR["float"]]).results[0]
        return Num("float", scalar)
