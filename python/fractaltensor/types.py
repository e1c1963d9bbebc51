# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Types of a program: elements (static tensors) and nested lists of them.

Written as annotations::

    ft.f32[1, "H"]                           # a tensor of 1 x H floats; H is bound at the call
    ft.List["N, L", ft.f32[1, "H"]]          # N lists of L of these
    ft.List["N", ft.List["L - 2", ft.i64]]   # nested brackets say the same; ft.i64 has rank 0
    ft.List["N, ragged(len)", ft.f32[8]]     # N lists, each with a length of its own
    ft.any["T", 1, "H"]                      # element type T, bound at the call

Names in list lengths are symbols of the compiled program: one compile serves all values. Names in
element shapes and element types are bound at the call; each combination of values is compiled once.
"""

from __future__ import annotations

from typing import Dict, Mapping, Optional, Sequence, Tuple, Union

from .errors import DTypeError, Error, LengthError, ShapeError
from .lengths import Length, LengthLike, parse_dims
from .source import here

MAX_DEPTH = 16


class DType:
    """The type of the numbers in an element: ``ft.f32``. ``ft.f32[1, "H"]`` is a tensor of them.

    Attributes:
      name: as the compiler prints it: ``"f32"``, ``"i64"``; ``"i1"`` for booleans.
      kind: ``"f"`` float, ``"i"`` integer, ``"b"`` boolean, ``"?"`` not bound yet.
      bits: width of one number as the compiler sees it.
    """

    __slots__ = ("name", "kind", "bits")

    def __init__(self, name: str, kind: str, bits: int):
        self.name, self.kind, self.bits = name, kind, bits

    def __getitem__(self, shape) -> "TensorType":
        try:
            return TensorType(self, _shape(shape))
        except Error as error:
            raise error.at(here())

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_integer(self) -> bool:
        return self.kind == "i"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def is_bound(self) -> bool:
        return self.kind != "?"

    @property
    def itemsize(self) -> int:
        """Bytes of one number in memory."""
        return max(1, self.bits // 8)

    def __eq__(self, other):
        return isinstance(other, DType) and self.name == other.name and self.kind == other.kind

    def __hash__(self):
        return hash((self.name, self.kind))

    def __str__(self):
        return "bool" if self.is_bool else self.name

    def __repr__(self):
        return f"ft.{self}" if self.is_bound else f"<element type {self.name}>"

    def mlir(self) -> str:
        return self.name


f16 = DType("f16", "f", 16)
bf16 = DType("bf16", "f", 16)
f32 = DType("f32", "f", 32)
f64 = DType("f64", "f", 64)
i8 = DType("i8", "i", 8)
i16 = DType("i16", "i", 16)
i32 = DType("i32", "i", 32)
i64 = DType("i64", "i", 64)
bool_ = DType("i1", "b", 1)

DTYPES: Dict[str, DType] = {str(d): d for d in (f16, bf16, f32, f64, i8, i16, i32, i64, bool_)}
_ALIASES = {
    "float16": f16, "half": f16, "bfloat16": bf16, "float32": f32, "float": f32, "float64": f64,
    "double": f64, "int8": i8, "int16": i16, "int32": i32, "int": i64, "int64": i64, "i1": bool_,
}


def dtype_of(value) -> DType:
    """The element type that a name, one of ours, or one of NumPy, PyTorch or JAX says."""
    if isinstance(value, DType):
        return value
    if value is float:
        return f32
    if value is int:
        return i64
    if value is bool:
        return bool_
    name = value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", None)
    if not isinstance(name, str):
        name = str(value)
    name = name.rsplit(".", 1)[-1]
    found = DTYPES.get(name) or _ALIASES.get(name)
    if found is None:
        raise DTypeError(f"no element type {value!r}; there are {', '.join(DTYPES)}")
    return found


class _AnyDType:
    """``ft.any["T", 1, "H"]``: a tensor whose element type is a name. ``ft.any(x)`` asks whether any number is not 0."""

    def __call__(self, x, *args, **kwargs):
        from .reductions import any_ as function

        return function(x, *args, **kwargs)

    def __getitem__(self, items) -> "TensorType":
        items = items if isinstance(items, tuple) else (items,)
        if items and isinstance(items[0], Length) and items[0].single_name:
            items = (items[0].single_name, *items[1:])
        if not items or not isinstance(items[0], str):
            raise DTypeError("ft.any begins with the name of the element type: ft.any['T', 1, 'H']")
        if items[0] in DTYPES or items[0] in _ALIASES:
            raise DTypeError(f"'{items[0]}' is an element type, no name for one: write ft.{dtype_of(items[0])}[...]")
        return TensorType(DType(items[0], "?", 0), _shape(items[1:]))

    def __repr__(self):
        return "ft.any"


any_ = _AnyDType()

Extent = Union[int, Length]


def _shape(items) -> Tuple[Extent, ...]:
    items = items if isinstance(items, tuple) else (items,)
    shape = []
    for item in items:
        length = Length.of(item)
        if length.ragged is not None:
            raise ShapeError(f"an element has a shape of its own, '{length}' is for lists: ft.List['{length}', ...]")
        if length.constant is not None and length.constant < 0:
            raise ShapeError(f"an extent is not negative, found {length.constant}")
        shape.append(extent_of(length))
    return tuple(shape)


def extent_of(length: LengthLike) -> Extent:
    """A number where there is one, else the expression."""
    length = Length.of(length)
    return length if length.constant is None else length.constant


class TensorType:
    """An element: a tensor of static shape.

    Attributes:
      dtype: the :class:`DType`.
      shape: extents; integers, or expressions over names that a call binds.
    """

    __slots__ = ("dtype", "shape")

    def __init__(self, dtype: DType, shape: Sequence[Extent] = ()):
        self.dtype, self.shape = dtype, tuple(shape)

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def is_static(self) -> bool:
        return self.dtype.is_bound and all(isinstance(extent, int) for extent in self.shape)

    def __getitem__(self, _):
        name = f'any["{self.dtype.name}", ' if not self.dtype.is_bound else f"{self.dtype}["
        raise ShapeError(f"{self} has its shape: give all of it at once, ft.{name}1, \"H\"]", here())

    def names(self) -> Tuple[str, ...]:
        """Names in the shape."""
        found = {}
        for extent in self.shape:
            if isinstance(extent, Length):
                found.update(dict.fromkeys(extent.names()))
        return tuple(found)

    def substitute(self, extents: Mapping[str, int], dtypes: Mapping[str, DType]) -> "TensorType":
        shape = [e.substitute(extents) if isinstance(e, Length) else e for e in self.shape]
        dtype = self.dtype if self.dtype.is_bound else dtypes.get(self.dtype.name, self.dtype)
        return TensorType(dtype, [extent_of(e) for e in shape])

    def with_shape(self, shape: Sequence[Extent]) -> "TensorType":
        return TensorType(self.dtype, shape)

    def with_dtype(self, dtype: DType) -> "TensorType":
        return TensorType(dtype, self.shape)

    def mlir(self) -> str:
        return f"tensor<{''.join(f'{e}x' for e in self.shape)}{self.dtype.mlir()}>"

    def __eq__(self, other):
        return isinstance(other, TensorType) and self.dtype == other.dtype and self.shape == other.shape

    def __hash__(self):
        return hash((self.dtype, self.shape))

    def __str__(self):
        return str(self.dtype) + (f"[{', '.join(map(str, self.shape))}]" if self.shape else "")

    def __repr__(self):
        if not self.dtype.is_bound:
            return f"ft.any[{', '.join(repr(x) for x in (self.dtype.name, *map(_plain, self.shape)))}]"
        return f"ft.{self.dtype}" + (f"[{', '.join(repr(_plain(e)) for e in self.shape)}]" if self.shape else "")


def _plain(extent: Extent):
    return extent if isinstance(extent, int) else str(extent)


class ListType:
    """A nested list: lengths (the *programmable dimensions*, outermost first) over an element."""

    __slots__ = ("lengths", "element")

    def __init__(self, lengths: Sequence[Length], element: TensorType):
        self.lengths, self.element = tuple(lengths), element
        if len(self.lengths) > MAX_DEPTH:
            raise LengthError(f"a list has at most {MAX_DEPTH} programmable dimensions, found {len(self.lengths)}")

    @property
    def depth(self) -> int:
        return len(self.lengths)

    @property
    def length(self) -> Length:
        """The outermost length."""
        return self.lengths[0]

    @property
    def peeled(self) -> "ValueType":
        """What an operator passes to its function: a list with one level less, or the element."""
        return ListType(self.lengths[1:], self.element) if self.depth > 1 else self.element

    @property
    def is_ragged(self) -> bool:
        return any(length.ragged is not None for length in self.lengths)

    @property
    def is_static(self) -> bool:
        return self.element.is_static

    def substitute(self, extents: Mapping[str, int], dtypes: Mapping[str, DType]) -> "ListType":
        return ListType([n.substitute(extents) for n in self.lengths], self.element.substitute(extents, dtypes))

    def mlir(self) -> str:
        return f"!ft.list<[{', '.join(map(str, self.lengths))}], {self.element.mlir()}>"

    def __eq__(self, other):
        return isinstance(other, ListType) and self.lengths == other.lengths and self.element == other.element

    def __hash__(self):
        return hash((self.lengths, self.element))

    def __str__(self):
        return f"List[{', '.join(map(str, self.lengths))}; {self.element}]"

    def __repr__(self):
        return f"ft.List[{', '.join(map(str, self.lengths))!r}, {self.element!r}]"


ValueType = Union[TensorType, ListType]


def wrap(length: Length, value: ValueType) -> ListType:
    """The list of `length` values of a type."""
    if isinstance(value, ListType):
        return ListType((length, *value.lengths), value.element)
    return ListType((length,), value)


class _OfValues(type):
    """Methods of traced lists, so that ``help(ft.List.scanl)`` finds what the values of a program have."""

    def __getattr__(cls, name: str):
        if not name.startswith("_"):
            from .lists import ListValue

            method = getattr(ListValue, name, None)
            if method is not None:
                return method
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")


class List(metaclass=_OfValues):
    """``ft.List["N, L", ft.f32[1, "H"]]``: the type of a nested list. Not a container of values."""

    def __class_getitem__(cls, items) -> ListType:
        if not isinstance(items, tuple) or len(items) < 2:
            raise LengthError("a list has lengths and an element: ft.List['N, L', ft.f32[1, 'H']]", here())
        try:
            return cls._make(items)
        except Error as error:
            raise error.at(here())

    @classmethod
    def _make(cls, items) -> ListType:
        *dims, element = items
        element = as_type(element)
        if element is None:
            raise LengthError(
                f"the element of a list is a tensor type such as ft.f32[1, 'H'], or a list type; found {items[-1]!r}"
            )
        lengths = []
        for dim in dims:
            lengths += parse_dims(dim) if isinstance(dim, str) else [Length.of(dim)]
        for length in lengths:
            if length.constant is not None and length.constant < 0:
                raise LengthError(f"a length is not negative, found {length.constant}")
        if isinstance(element, ListType):
            return ListType((*lengths, *element.lengths), element.element)
        return ListType(lengths, element)

    def __new__(cls, *_, **__):
        raise LengthError(
            "ft.List is a type, not a container: pass arrays to the program, "
            "and make lists in it with ft.repeat, ft.iota or ft.const"
        )


def as_type(annotation) -> Optional[ValueType]:
    """The type that an annotation says, or None if it is not one of ours."""
    if isinstance(annotation, (TensorType, ListType)):
        return annotation
    if isinstance(annotation, DType):
        return TensorType(annotation)
    return None
