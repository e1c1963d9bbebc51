# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A traced list, and the operators that say which elements are read (FractalTensor, §4.2).

Access operators cost nothing: they become the index maps of the operators that read the list.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, Iterator, Optional, Sequence, Tuple, Union

from . import compute
from .errors import BoundsError, LengthError, MissingError, ShapeError, TraceError
from .lengths import Length, LengthLike, parse_dims
from .names import did_you_mean, public
from .source import here
from .trace import Trace, Traced, current, decide
from .traversal import Traversal
from .types import DType, ListType, TensorType, i64, wrap


def length_in_program(trace: Trace, value: LengthLike, what: str) -> Length:
    """A length that a program writes: its names are those of the arguments."""
    try:
        length = Length.of(value).substitute(trace.extents)
    except LengthError as error:
        raise error.at(here())
    if length.ragged is not None:
        raise LengthError(f"{what}: a ragged level has no single length", here())
    for name in length.names():
        if name not in trace.length_names and not (trace.checking and name in getattr(trace, "extent_names", ())):
            known = ", ".join(trace.length_names) or "none"
            raise LengthError(
                f"{what}: the length '{name}' is not bound: no argument has a dimension that is just {name} "
                f"(bound here: {known})",
                here(),
            )
    return length


class ListValue(Traced, Traversal):
    """A nested list, known by type only while a program is traced.

    Operators that compute: :meth:`map`, :meth:`reduce`, :meth:`fold`, :meth:`foldl`, :meth:`foldr`,
    :meth:`scan`, :meth:`scanl`, :meth:`scanr`. They traverse the outermost level.

    Operators that select: ``xs[1:]``, ``xs[::2]``, ``xs[::-1]``, ``xs[-1]``, ``xs[indices]``, and the
    methods :meth:`shift`, :meth:`window`, :meth:`split`, :meth:`concat`, :meth:`flatten`,
    :meth:`transpose`, :meth:`stride`, :meth:`reverse`, :meth:`gather`, :meth:`cast`.
    """

    __slots__ = ()

    if TYPE_CHECKING:  # `ft.List[N, ...]` is a ListValue to a type checker
        def __class_getitem__(cls, item: Any) -> Any: ...

    @property
    def length(self) -> Length:
        """How many elements the outermost level has: an expression over the names of the arguments."""
        if self.type.length.ragged is not None:
            raise LengthError(f"'{self.type.length}' has no single length: each list there has its own", here())
        return self.type.length.for_user()

    @property
    def lengths(self) -> Tuple[Length, ...]:
        """The lengths of all levels, outermost first."""
        return tuple(n.for_user() for n in self.type.lengths)

    @property
    def depth(self) -> int:
        """How many levels the list has."""
        return self.type.depth

    @property
    def element(self) -> TensorType:
        """The type of the innermost elements."""
        return self.type.element

    @property
    def dtype(self) -> DType:
        """The element type of the innermost elements."""
        return self.type.element.dtype

    def __repr__(self) -> str:
        return f"<traced {self.type}>"

    def __len__(self) -> int:
        number = self.type.length.constant
        if number is None:
            raise LengthError(
                f"len() needs a number, but the length '{self.type.length}' is known at the call only: use .length",
                here(),
            )
        return number

    def __iter__(self) -> Iterator[Any]:
        if self.type.length.constant is None:
            raise TraceError(
                f"a Python loop over a list of {self.type.length} elements cannot be unrolled, its length is known "
                "at the call only: use .map, .scanl or .reduce",
                here(),
            )
        return (self[i] for i in range(len(self)))

    def _traversed(self) -> Sequence[ListValue]:
        return (self,)

    # -- access ---------------------------------------------------------------------------------------------

    def _access(self, kind: str, result, operands: Sequence = (), **attributes):
        (value,) = self._trace.emit(kind, [self, *operands], [result], **attributes)
        return value

    def _with_length(self, length: Length) -> ListType:
        return wrap(length, self.type.peeled)

    def _plain_length(self, what: str) -> Length:
        n = self.type.length
        if n.ragged is not None:
            raise LengthError(f"{what}: each list of the level '{n}' has a length of its own; traverse it instead", here())
        return n

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            return self._index_levels(key)
        if isinstance(key, slice):
            return self._slice(key)
        if isinstance(key, Traced):
            return self.gather(key)
        return self.at(key)

    def _index_levels(self, key: tuple):
        if not key:
            return self
        if len(key) > self.type.depth:
            raise ShapeError(
                f"{len(key)} indices for a list of depth {self.type.depth} ({self.type}); "
                "an element is indexed by itself, xs[i][0, :]",
                here(),
            )
        first, rest = key[0], key[1:]
        part = self if isinstance(first, slice) and first == slice(None) else self[first]
        if not rest:
            return part
        if isinstance(first, slice) or (isinstance(first, ListValue)):
            return part.map(lambda inner: inner[rest])
        return part[rest]

    def _slice(self, key: slice):
        if key.start is None and key.stop is None and key.step in (None, 1):
            return self
        n = self._plain_length("a slice")
        step = 1 if key.step is None else key.step
        try:
            step = operator.index(step)
        except (TypeError, LengthError):
            raise ShapeError(f"the step of a slice is an integer, found {step!r}", here()) from None
        if step == 0:
            raise ShapeError("the step of a slice is not 0", here())
        if step < 0:
            if key.start is not None or key.stop is not None:
                raise ShapeError("a slice with a negative step takes the whole list: xs[1:][::-1]", here())
            result = self.reverse()
            return result if step == -1 else result.stride(-step)
        result = self
        if key.stop is not None:
            lo = Length.of(0) if key.start is None else length_in_program(self._trace, key.start, "a slice")
            result = self._cut(lo, length_in_program(self._trace, key.stop, "a slice"))
        elif key.start is not None:
            start = length_in_program(self._trace, key.start, "a slice")
            if step > 1 and start.constant is not None and start.constant >= 0:
                return self.stride(step, start.constant)
            if start.constant != 0:
                result = self._cut(start, n)
        return result if step == 1 else result.stride(step)

    def _cut(self, lo: Length, hi: Length):
        n = self.type.length
        begin = n + lo if lo.constant is not None and lo.constant < 0 else lo
        end = n + hi if hi.constant is not None and hi.constant < 0 else hi
        size = end - begin
        if n.constant is not None and (
            (begin.constant is not None and not 0 <= begin.constant <= n.constant)
            or (end.constant is not None and not 0 <= end.constant <= n.constant)
        ):
            raise BoundsError(f"the slice {begin}:{end} is not within a list of {n} elements", here())
        if size.constant is not None and size.constant < 0:
            raise BoundsError(f"the slice {begin}:{end} ends before it begins", here())
        return self._access("slice", self._with_length(size), lo=lo, hi=hi)

    def at(self, index: LengthLike) -> Any:
        """One element; negative constants count from the end."""
        n = self._plain_length("an index")
        if not isinstance(index, (str, Length)) and not hasattr(index, "__index__"):
            raise ShapeError(f"an index of a list is an integer, a length, a slice or data, found {index!r}", here())
        if getattr(index, "shape", ()):
            raise ShapeError(
                f"an index of a list is an integer, a length, a slice or data, found an array of shape {tuple(index.shape)}: "
                "pass the indices as an argument, ft.List['M', ft.i64], and gather, xs[indices]",
                here(),
            )
        at = length_in_program(self._trace, index, "an index")
        if n.constant is not None and at.constant is not None and not -n.constant <= at.constant < n.constant:
            raise BoundsError(f"index {at} is out of range for a list of {n} elements", here())
        return self._access("at", self.type.peeled, index=at)

    @property
    def last(self) -> Any:
        """The last element."""
        return self.at(-1)

    def reverse(self) -> "ListValue":
        """The list from its end: ``xs[::-1]``."""
        return self._access("reverse", self.type)

    def stride(self, step: int, start: int = 0) -> "ListValue":
        """Every `step`-th element from `start`: ``xs[start::step]``; ceildiv(n - start, step) of them."""
        n = self._plain_length("a stride")
        step, start = _whole(step, "stride"), _whole(start, "stride")
        if step < 1 or start < 0:
            raise ShapeError(f"stride: step is at least 1 and start at least 0, found {step} and {start}", here())
        if n.constant is not None and start > n.constant:
            raise BoundsError(f"stride: start {start} is beyond a list of {n} elements", here())
        return self._access("stride", self._with_length((n - start).ceildiv(step)), start=start, step=step)

    def shift(self, offset: LengthLike, fill: Any = 0) -> "ListValue":
        """Element i is element i - `offset` of the list where there is one, else `fill`. The offset is a
        number or a length, of any sign."""
        offset = _length_or_number(self._trace, offset, "shift")
        value = compute.as_value(fill, self.type.peeled, "shift's fill")
        if value.type != self.type.peeled:
            decide(value.type, self.type.peeled)
            raise ShapeError(f"shift: fill is {value.type}, the elements are {self.type.peeled}", here())
        return self._access("shift", self.type, [value], offset=offset)

    def window(self, size: LengthLike, step: int = 1, dilation: LengthLike = 1, boundary: Optional[str] = None) -> "ListValue":
        """Overlapping windows: a level more, `size` elements each.

        Without `boundary` only whole windows: floordiv(n - dilation·(size - 1) - 1, step) + 1 of them,
        place w of window i being element i·step + w·dilation. With one ("zero", "clamp", "mirror",
        "wrap") windows are centred and there are ceildiv(n, step). Size or dilation may be a length: that it
        is at least 1 must follow from the bounds.
        """
        n = self._plain_length("a window")
        size, dilation = (_length_or_number(self._trace, v, "window") for v in (size, dilation))
        step = _whole(step, "window")
        if any(isinstance(v, int) and v < 1 for v in (size, step, dilation)):
            raise ShapeError(f"window: size, step and dilation are at least 1, found {size}, {step} and {dilation}", here())
        if boundary not in (None, "none", "zero", "clamp", "mirror", "wrap"):
            raise ShapeError(f"window: boundary is 'zero', 'clamp', 'mirror', 'wrap' or None, found {boundary!r}", here())
        boundary = None if boundary == "none" else boundary
        extent = Length.of(dilation) * (Length.of(size) - 1) + 1
        if boundary is None and n.constant is not None and extent.constant is not None and n.constant < extent.constant:
            raise BoundsError(f"window: {extent} elements do not fit a list of {n}", here())
        count = n.ceildiv(step) if boundary else (n - extent) // step + 1
        result = wrap(count, wrap(Length.of(size), self.type.peeled))
        return self._access("window", result, size=size, step=step, dilation=dilation, boundary=boundary)

    def gather(self, indices: Traced) -> Any:
        """Elements at indices that are data: an integer element of rank 0, or a list of such."""
        self._plain_length("a gather")
        element = indices.type.element if isinstance(indices, ListValue) else getattr(indices, "type", None)
        if not isinstance(element, TensorType) or element.shape or not element.dtype.is_integer:
            found = getattr(indices, "type", type(indices).__name__)
            raise ShapeError(f"an index by data is an integer of rank 0 (ft.i64), or a list of such; found {found}", here())
        result = self.type.peeled
        if isinstance(indices, ListValue):
            for length in reversed(indices.type.lengths):
                result = wrap(length, result)
        return self._access("gather", result, [indices])

    def concat(self, *others: ListValue) -> ListValue:
        """This list, then the others."""
        return concat(self, *others)

    def flatten(self) -> "ListValue":
        """The two outermost levels as one."""
        if self.type.depth < 2 or self.type.is_ragged:
            raise ShapeError(f"flatten needs two levels, none of them ragged; found {self.type}", here())
        a, b = self.type.lengths[:2]
        return self._access("flatten", ListType((a * b, *self.type.lengths[2:]), self.type.element))

    def split(self, inner: LengthLike) -> "ListValue":
        """Pieces of `inner` elements, the inverse of :meth:`flatten`; that it divides is checked at the call."""
        n = self._plain_length("a split")
        length = length_in_program(self._trace, inner, "split")
        if length.constant is not None and length.constant < 1:
            raise ShapeError(f"split: the inner length is at least 1, found {length}", here())
        if n.constant is not None and length.constant is not None and n.constant % length.constant:
            raise LengthError(f"split: {length} does not divide a list of {n} elements", here())
        result = ListType((n // length, length, *self.type.lengths[1:]), self.type.element)
        return self._access("split", result, inner=length)

    def transpose(self, *permutation: int) -> "ListValue":
        """The levels permuted; the two outermost exchanged unless a permutation is given."""
        order = permutation[0] if len(permutation) == 1 and isinstance(permutation[0], (tuple, list)) else permutation
        order = tuple(order) or (1, 0)
        if len(order) > self.type.depth or sorted(order) != list(range(len(order))):
            raise ShapeError(
                f"transpose of {self.type}: {order} is no permutation of 0 … {max(self.type.depth, 1) - 1}"
                + ("; for elements, xs.map(lambda x: x.T)" if self.type.depth < 2 else ""),
                here(),
            )
        if self.type.is_ragged:
            raise LengthError(f"transpose: a list with a ragged level cannot be transposed: {self.type}", here())
        lengths = list(self.type.lengths)
        for to, source in enumerate(order):
            lengths[to] = self.type.lengths[source]
        return self._access("transpose_list", ListType(lengths, self.type.element), permutation=order)

    @property
    def T(self) -> ListValue:  # noqa: N802
        """The two outermost levels exchanged."""
        return self.transpose()

    def cast(self, *lengths: LengthLike) -> "ListValue":
        """The same list under other lengths, checked at the call: ``xs.cast("2 * M")``."""
        dims = []
        for item in lengths:
            dims += parse_dims(item) if isinstance(item, str) else [Length.of(item)]
        dims = [length_in_program(self._trace, d, "cast") for d in dims]
        if len(dims) > self.type.depth:
            raise ShapeError(f"cast: {len(dims)} lengths for a list of depth {self.type.depth}", here())
        dims += self.type.lengths[len(dims) :]
        return self._access("cast_list", ListType(dims, self.type.element))

    def enumerate(self) -> ZippedLists:
        """Pairs of an index (i64) and an element: ``xs.enumerate().map(lambda i, x: ...)``."""
        return zip_(iota(self.type.length), self)

    # -- what lists do not have ---------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # which knows of each attribute whether it is there

        def __getattr__(self, name: str):
            from .tensors import Tensor

            if not name.startswith("_") and hasattr(Tensor, name):
                raise MissingError(
                    f"a list has no '{name}': it is for elements; traverse the list, xs.map(lambda x: x.{name}(...))", here()
                )
            if name.startswith("__"):
                raise AttributeError(name)
            near = did_you_mean(name, public(ListValue)) or "; help(ft.ListValue) shows its operators"
            raise MissingError(f"a list has no '{name}'{near}", here())


def _refuse_operator(sign: str):
    def method(self, *_):
        raise TraceError(
            f"'{sign}' is for elements, this is a list ({self.type}): traverse it, "
            f"ft.zip(xs, ys).map(lambda x, y: x {sign} y)" + ("; ft.concat joins lists" if sign == "+" else ""),
            here(),
        )

    return method


for _name, _sign in {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "matmul": "@", "pow": "**", "mod": "%", "floordiv": "//",
}.items():
    setattr(ListValue, f"__{_name}__", _refuse_operator(_sign))
    setattr(ListValue, f"__r{_name}__", _refuse_operator(_sign))
for _name, _sign in {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!="}.items():
    setattr(ListValue, f"__{_name}__", _refuse_operator(_sign))
ListValue.__hash__ = Traced.__hash__
ListValue.__neg__ = _refuse_operator("-")


def _length_or_number(trace: Trace, value: LengthLike, what: str):
    """A number where it is known while tracing, else the length."""
    if not isinstance(value, (str, Length)):
        return _whole(value, what)
    length = length_in_program(trace, value, what)
    return length if length.constant is None else length.constant


def _whole(value, what: str) -> int:
    try:
        return operator.index(value)
    except (TypeError, LengthError):
        raise ShapeError(f"{what} takes an integer that is known while tracing, found {value!r}", here()) from None


# -- several lists --------------------------------------------------------------------------------------------


class ZippedLists(Traversal):
    """Lists traversed together: ``ft.zip(xs, ys).map(lambda x, y: ...)``. Indexing acts on each of them."""

    __slots__ = ("lists",)

    def __init__(self, lists: Sequence[ListValue]):
        self.lists = tuple(lists)

    def _traversed(self) -> Sequence[ListValue]:
        return self.lists

    def __repr__(self) -> str:
        return f"<zip of {', '.join(str(xs.type) for xs in self.lists)}>"

    def __iter__(self) -> Iterator[Tuple[Any, ...]]:
        return zip(*self.lists)

    @property
    def length(self) -> Length:
        """The outermost length, which the lists have in common."""
        return self.lists[0].length

    def __getitem__(self, key: Any) -> Any:
        parts = [xs[key] for xs in self.lists]
        return ZippedLists(parts) if all(isinstance(p, ListValue) for p in parts) else tuple(parts)

    def enumerate(self) -> ZippedLists:
        """An index (i64) before the elements: ``ft.zip(xs, ys).enumerate().map(lambda i, x, y: ...)``."""
        return zip_(iota(self.lists[0].type.length), *self.lists)

    if TYPE_CHECKING:

        def shift(self, offset: LengthLike, fill: Any = 0) -> ZippedLists: ...
        def window(self, size: LengthLike, step: int = 1, dilation: LengthLike = 1, boundary: Optional[str] = None) -> ZippedLists: ...
        def split(self, inner: LengthLike) -> ZippedLists: ...
        def reverse(self) -> ZippedLists: ...
        def stride(self, step: int, start: int = 0) -> ZippedLists: ...
        def flatten(self) -> ZippedLists: ...
        def transpose(self, *permutation: int) -> ZippedLists: ...

    else:

        def __getattr__(self, name: str):
            if name.startswith("__"):
                raise AttributeError(name)
            if name not in ("shift", "window", "split", "reverse", "stride", "flatten", "transpose"):
                raise MissingError(f"zipped lists have no '{name}': take their elements apart in map, or name one list before ft.zip", here())
            return lambda *args, **kwargs: ZippedLists([getattr(xs, name)(*args, **kwargs) for xs in self.lists])


def zip_(*lists: Union[ListValue, ZippedLists]) -> ZippedLists:
    """Lists of equal length, to be traversed together."""
    flat = []
    for xs in lists:
        flat += xs.lists if isinstance(xs, ZippedLists) else [xs]
    compute.check_lists(flat, "zip")
    return ZippedLists(flat)


def concat(*lists: Any) -> ListValue:
    """One list after another; their elements have one type."""
    if len(lists) == 1 and isinstance(lists[0], (tuple, list)):
        lists = tuple(lists[0])
    compute.check_lists(lists, "concat", same_length=False)
    total = Length.of(0)
    for xs in lists:
        if xs.type.peeled != lists[0].type.peeled:
            decide(xs.type.peeled, lists[0].type.peeled)
            raise ShapeError(f"concat of {lists[0].type} and {xs.type}: the elements differ", here())
        total = total + xs._plain_length("concat")
    if len(lists) == 1:
        return lists[0]
    (value,) = lists[0]._trace.emit("concat", lists, [wrap(total, lists[0].type.peeled)])
    return value


def repeat(value: Any, count: LengthLike) -> ListValue:
    """A list of `count` times one value (an element, a list or a number)."""
    trace = current("repeat")
    if not isinstance(value, Traced):
        from .elementwise import as_tensor

        value = as_tensor(value, "repeat")
    length = length_in_program(trace, count, "repeat")
    if length.constant is not None and length.constant < 0:
        raise LengthError(f"repeat: the count is not negative, found {length}", here())
    (result,) = trace.emit("repeat", [value], [wrap(length, value.type)], count=length)
    return result


def iota(length: LengthLike, dtype: Any = i64) -> ListValue:
    """The list 0, 1, …: `length` integers of rank 0."""
    from .types import dtype_of

    trace = current("iota")
    n = length_in_program(trace, length, "iota")
    if n.constant is not None and n.constant < 0:
        raise LengthError(f"iota: the length is not negative, found {n}", here())
    dtype = dtype_of(dtype)
    if not dtype.is_integer:
        raise ShapeError(f"iota counts in integers, found {dtype}: use .map(lambda i: i.to(ft.{dtype}))", here())
    (value,) = trace.emit("iota", [], [ListType((n,), TensorType(dtype))])
    return value


def dim(length: LengthLike) -> Length:
    """A length of the program's arguments, to compute with: ``ft.dim("L") - 2``."""
    return length_in_program(current("dim"), length, "dim").for_user()
