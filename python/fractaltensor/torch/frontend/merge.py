# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a name means where paths meet: a description of both values, and how each becomes results of control flow."""

from __future__ import annotations

import math
from typing import Callable, Iterator, List, Optional, Sequence

from ..ir import dtypes
from ..ir.builder import Builder
from ..ir.views import same
from ..ir.dtypes import DType
from ..ir.operations import INDEX, Type, Value
from ..problems import Problem
from .grown import Rows
from .values import UNSET, Complex, NamedResult, Num, Poison, PyDict, PyList, Size, Tensor, Unset, dense_strides, is_number, kind_of, lies_densely, open_strides

_NUMBER_ORDER = {"bool": 0, "int": 1, "float": 2}
_TYPES = {"int": INDEX}
_DEFAULTS = {"bool": dtypes.bool_, "int": dtypes.int64, "float": dtypes.float32}


def _called(name: str) -> str:
    """A name as errors have it: that of an expression's value is the program's no more than ours."""
    return "its value" if name == "$chosen" else f"'{name}'"


class Spec:
    """Describes values. `flat` are the types of the results that carry one."""

    def flat(self) -> List[Type]:
        return []


class Static(Spec):
    """The same on all paths: nothing is carried."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, Static) and same_value(self.value, other.value)


class Number(Spec):
    def __init__(self, kind: str):
        self.kind = kind

    def __eq__(self, other):
        return isinstance(other, Number) and self.kind == other.kind

    def flat(self) -> List[Type]:
        from ..ir.builder import _SCALAR

        return [_SCALAR[self.kind]]


class Array(Spec):
    """A tensor; sizes that differ between paths are None, and are carried beside it. `width`: elements of so many numbers follow each other."""

    def __init__(self, dtype: DType, sizes: Sequence, strides=None, own=None, repeats: bool = False, width: int = 0):
        self.dtype, self.sizes, self.strides, self.own, self.repeats, self.width = dtype, list(sizes), strides, own, repeats, width

    @staticmethod
    def of(dtype: DType, sizes: Sequence, tensors: Sequence[Tensor]) -> "Array":
        """What tensors have in common."""
        first, *rest = tensors
        strides = first.strides if all(x.strides == first.strides for x in rest) else None
        own = first.own if all(x.own == first.own for x in rest) else None
        width = next((n for n in (1, 2) if all(lies_densely(x.sizes, x.strides, n) for x in tensors)), 0)
        return Array(dtype, sizes, strides, own, any(x.repeats for x in tensors), width)

    def __eq__(self, other):
        return (
            isinstance(other, Array) and self.dtype is other.dtype and len(self.sizes) == len(other.sizes) and self.repeats == other.repeats
            and all(a is None and b is None or a is not None and b is not None and same(a, b) for a, b in zip(self.sizes, other.sizes))
            and self.strides == other.strides and self.own == other.own and self.width == other.width
        )

    def flat(self) -> List[Type]:
        shape = [n if isinstance(n, int) else None for n in self.sizes]
        return [Type("mutable", self.dtype, shape)] + [INDEX] * sum(n is None for n in self.sizes)


class Sequence_(Spec):
    """A tuple or a list."""

    def __init__(self, like, items: Sequence[Spec]):
        self.like, self.items = like, list(items)

    def __eq__(self, other):
        return isinstance(other, Sequence_) and type(self.like) is type(other.like) and self.items == other.items

    def flat(self) -> List[Type]:
        return [t for item in self.items for t in item.flat()]


class Mapping_(Spec):
    def __init__(self, keys, items: Sequence[Spec]):
        self.keys, self.items = list(keys), list(items)

    def __eq__(self, other):
        return isinstance(other, Mapping_) and self.keys == other.keys and self.items == other.items

    def flat(self) -> List[Type]:
        return [t for item in self.items for t in item.flat()]


def same_value(a, b) -> bool:
    """Whether two values are one, so that nothing has to be carried."""
    if a is b:
        return True
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return a.value is b.value
    if isinstance(a, Complex) and isinstance(b, Complex):
        return all(map(same_value, a.parts, b.parts))
    if isinstance(a, Num) and isinstance(b, Num):
        return a.value is b.value
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same_value(a[k], b[k]) for k in a)
    if isinstance(a, float):
        return a == b or a != a and b != b
    if isinstance(a, (bool, int, str, slice, type(None), type(Ellipsis), DType)):
        return a == b
    return False


def describe(value) -> str:
    if isinstance(value, Tensor):
        return f"a tensor {value.describe()}"
    if isinstance(value, Complex):
        return f"a {value.describe()}"
    if isinstance(value, Num):
        return f"a number ({value.kind})"
    if isinstance(value, Unset):
        return "no value"
    if is_number(value) or value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, (tuple, list)):
        return f"a {'list' if isinstance(value, list) else 'tuple'} of {len(value)}"
    return f"an object of type {type(value).__name__}"


class Merger:
    """Joins values of one name. `outside(value)` says whether a number is known before the paths part."""

    def __init__(self, b: Builder, outside: Callable[[Value], bool]):
        self.b, self.outside = b, outside

    def spec_of(self, value) -> Spec:
        """The description of one value that will be carried."""
        if isinstance(value, Tensor):
            sizes = [n if isinstance(n, int) or self.outside(n.value) else None for n in value.sizes]
            return Array.of(value.dtype, sizes, [value])
        if isinstance(value, Num) or is_number(value):
            return Number(kind_of(value))
        if isinstance(value, Complex):
            return Sequence_(value, [self.spec_of(x) for x in value.parts])
        if isinstance(value, Rows) and not all(self.outside(column.value) for column in value.columns):
            raise Problem("a list that a loop fills is used outside of where it is made")
        if isinstance(value, (PyList, tuple)) and not isinstance(value, Size):
            return Sequence_(value, [self.spec_of(x) if self._moves(x) else Static(x) for x in value])
        if isinstance(value, PyDict):
            return Mapping_(value, [self.spec_of(x) if self._moves(x) else Static(x) for x in value.values()])
        return Static(value)

    def _moves(self, value) -> bool:
        return isinstance(value, (Tensor, Complex, Num, tuple, list, PyDict))

    def join_branches(self, a, c, name: str) -> Spec:
        """As `join`; a number beside a tensor without dimensions, whose type can hold it, is such a tensor."""
        for tensor, number in ((a, c), (c, a)):
            if isinstance(tensor, Tensor) and tensor.rank == 0 and (isinstance(number, Num) or is_number(number)):
                kind = kind_of(number)
                if tensor.dtype is _DEFAULTS[kind] or is_number(number) and _is_exact(number, kind, tensor.dtype):
                    return self.spec_of(tensor)
        return self.join(a, c, name)

    def join(self, a, c, name: str) -> Spec:
        """What two values have in common; a problem where they have too little."""
        if isinstance(a, Poison) or isinstance(c, Poison):
            return Static(a if isinstance(a, Poison) else c)
        if same_value(a, c):
            if not isinstance(a, (Tensor, Num)) or self.outside(a.value):
                return Static(a)
            return self.spec_of(a)
        if isinstance(a, Unset) or isinstance(c, Unset):
            return self.spec_of(c if isinstance(a, Unset) else a)
        if isinstance(a, Tensor) and isinstance(c, Tensor):
            return self._join_tensors(a, c, name)
        if isinstance(a, Complex) and isinstance(c, Complex):
            return Sequence_(c, [self.join(x, y, name) for x, y in zip(a.parts, c.parts)])
        if all(isinstance(x, Num) or is_number(x) for x in (a, c)):
            kinds = (kind_of(a), kind_of(c))
            return Number(max(kinds, key=_NUMBER_ORDER.__getitem__))
        if isinstance(a, (tuple, list)) and type(a) is type(c):
            if len(a) != len(c):
                raise Problem(f"{_called(name)} has {len(a)} items on one path and {len(c)} on another")
            return Sequence_(c, [self.join(x, y, f"{name}[{i}]") for i, (x, y) in enumerate(zip(a, c))])
        if isinstance(a, dict) and isinstance(c, dict) and list(a) == list(c):
            return Mapping_(list(a), [self.join(a[k], c[k], f"{name}[{k!r}]") for k in a])
        raise Problem(f"{_called(name)} is {describe(a)} on one path and {describe(c)} on another")

    def _join_tensors(self, a: Tensor, c: Tensor, name: str) -> Spec:
        if a.dtype is not c.dtype or a.rank != c.rank:
            raise Problem(f"{_called(name)} is {describe(a)} on one path and {describe(c)} on another: element type and rank must be the same", "shape")
        sizes = [n if same(n, m) and (isinstance(n, int) or self.outside(n.value)) else None for n, m in zip(a.sizes, c.sizes)]
        return Array.of(a.dtype, sizes, [a, c])

    def widen(self, spec: Spec, value, name: str, dummy) -> Spec:
        """A description that holds what `spec` holds, and `value`; `dummy` is a value that `spec` describes."""
        if isinstance(spec, Static):
            if isinstance(spec.value, Unset) and not isinstance(value, Unset):
                return self.spec_of(value)
            return spec if same_value(spec.value, value) else self.join(spec.value, value, name)
        joined = self.join(dummy, value, name)
        if isinstance(joined, Static):
            return spec
        return _union(spec, joined)

    # -- to results and back ---------------------------------------------------------------------------------

    def flatten(self, spec: Spec, value) -> Iterator[Value]:
        """The results that carry a value; made in the current block."""
        if isinstance(spec, Static):
            return
        if isinstance(value, (Unset, Poison)):
            value = self.placeholder(spec)
        if isinstance(spec, Number):
            yield self.b.scalar(value, spec.kind)
        elif isinstance(spec, Array):
            if not isinstance(value, Tensor):
                value = self.b.constant_tensor(value, spec.dtype)
            yield self._opened(value, spec)
            for wanted, size in zip(spec.sizes, value.sizes):
                if wanted is None:
                    yield self.b.scalar(size)
        else:
            items = value.parts if isinstance(value, Complex) else value if isinstance(spec, Sequence_) else [value[k] for k in spec.keys]
            for part, item in zip(spec.items, items):
                yield from self.flatten(part, item)

    def _opened(self, value: Tensor, spec: Array) -> Value:
        """The tensor by a type whose carried sizes are open."""
        wanted = spec.flat()[0]
        if value.value.type == wanted:
            return value.value
        numbers = [n.value if isinstance(n, Num) else n for n in value.sizes]
        return self.b.text(["tssa.view ", value.value, f"[] : {value.value.type.text()} -> {wanted.text()}"], [wanted], role="view", step="open", numbers=numbers).results[0]

    def placeholder(self, spec: Spec):
        """Any value that fits: what a name without a value carries; nothing reads it."""
        if isinstance(spec, Static):
            return spec.value
        if isinstance(spec, Number):
            return {"bool": False, "int": 0, "float": 0.0}[spec.kind]
        if isinstance(spec, Array):
            return self.b.constant_tensor(0, spec.dtype, [0 if n is None else n for n in spec.sizes])
        if isinstance(spec, Sequence_):
            return tuple(self.placeholder(s) for s in spec.items)
        return {k: self.placeholder(s) for k, s in zip(spec.keys, spec.items)}

    def rebuild(self, spec: Spec, values: Iterator[Value], block=None):
        """The value that results carry."""
        if isinstance(spec, Static):
            return spec.value
        if isinstance(spec, Number):
            return Num(spec.kind, next(values))
        if isinstance(spec, Array):
            value = next(values)
            sizes = [Num("int", next(values)) if n is None else n for n in spec.sizes]
            known = None not in spec.sizes
            strides = spec.strides if known and spec.strides is not None else dense_strides(sizes, spec.width) if spec.width else open_strides(len(sizes), True)
            return Tensor(value, spec.dtype, sizes, strides, (spec.own if known else None) or dense_strides(sizes), spec.repeats)
        items = [self.rebuild(s, values, block) for s in spec.items]
        if isinstance(spec, Mapping_):
            return PyDict(zip(spec.keys, items), block)
        if isinstance(spec.like, Complex):
            return Complex(*items)
        if isinstance(spec.like, NamedResult):
            return NamedResult(items, spec.like.names, spec.like.kind)
        if isinstance(spec.like, PyList):
            return PyList(items, block)
        return type(spec.like)(items)


def _is_exact(number, kind: str, dtype: DType) -> bool:
    """Whether a tensor computes with a number as PyTorch does with the number itself, which is rounded to f32 beside halves."""
    if kind == "bool" or dtype.is_bool or kind == "float" and not dtype.is_float:
        return False
    if not dtype.is_float or dtype.bits > 16 or not math.isfinite(number):
        return True
    return dtypes.rounded(number, dtype) == dtypes.rounded(number, dtypes.float32)


def _union(a: Spec, c: Spec) -> Spec:
    if isinstance(a, Static) and isinstance(c, Static):
        return a
    if isinstance(a, Static) or isinstance(c, Static):
        return c if isinstance(a, Static) else a
    if isinstance(a, Number) and isinstance(c, Number):
        return Number(max((a.kind, c.kind), key=_NUMBER_ORDER.__getitem__))
    if isinstance(a, Array) and isinstance(c, Array):
        sizes = [n if n is not None and m is not None and same(n, m) else None for n, m in zip(a.sizes, c.sizes)]
        strides = a.strides if a.strides == c.strides else None
        own = a.own if a.own == c.own else None
        return Array(a.dtype, sizes, strides, own, a.repeats or c.repeats, a.width if a.width == c.width else 0)
    if isinstance(a, Sequence_) and isinstance(c, Sequence_):
        return Sequence_(c.like, [_union(x, y) for x, y in zip(a.items, c.items)])
    if isinstance(a, Mapping_) and isinstance(c, Mapping_):
        return Mapping_(a.keys, [_union(x, y) for x, y in zip(a.items, c.items)])
    return c


def widens_sizes(old: Optional[Spec], new: Spec, dummy) -> bool:
    """Whether a size that was known is one no more."""
    if isinstance(new, Array):
        before = old.sizes if isinstance(old, Array) else dummy.sizes if isinstance(dummy, Tensor) else None
        return before is not None and any(isinstance(n, int) and m is None for n, m in zip(before, new.sizes))
    if isinstance(new, Sequence_):
        parts = old.items if isinstance(old, Sequence_) else [None] * len(new.items)
        values = dummy.parts if isinstance(dummy, Complex) else dummy if isinstance(dummy, (tuple, list)) else [UNSET] * len(new.items)
        return any(widens_sizes(o, n, d) for o, n, d in zip(parts, new.items, values))
    if isinstance(new, Mapping_):
        parts = old.items if isinstance(old, Mapping_) else [None] * len(new.items)
        values = dummy.values() if isinstance(dummy, dict) else [UNSET] * len(new.items)
        return any(widens_sizes(o, n, d) for o, n, d in zip(parts, new.items, values))
    return False
