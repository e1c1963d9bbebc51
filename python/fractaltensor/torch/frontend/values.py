# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a name of the program stands for while it is compiled: tensors, numbers that are data, and Python objects."""

from __future__ import annotations

import itertools
from typing import List, Optional, Sequence, Tuple, Union

from ..ir.dtypes import DType
from ..ir.operations import Value, next_number


class Num:
    """A number that is known when the program runs. `kind`: "int", "float" or "bool"."""

    __slots__ = ("kind", "value")

    def __init__(self, kind: str, value: Value):
        self.kind, self.value = kind, value


SizeLike = Union[int, Num]


class Mono:
    """A product of a number and of sizes that are data: a stride, or a count of elements."""

    __slots__ = ("factor", "atoms")

    def __init__(self, factor: int, atoms: Tuple[int, ...] = ()):
        self.factor, self.atoms = factor, atoms if factor else ()

    @staticmethod
    def of(size: SizeLike) -> "Mono":
        return Mono(1, (size.value.number,)) if isinstance(size, Num) else Mono(size)

    def __mul__(self, other: "Mono") -> "Mono":
        return Mono(self.factor * other.factor, tuple(sorted(self.atoms + other.atoms)))

    def __eq__(self, other):
        return isinstance(other, Mono) and self.factor == other.factor and self.atoms == other.atoms

    def __hash__(self):
        return hash((self.factor, self.atoms))


def dense_strides(sizes: Sequence[SizeLike], width: int = 1) -> Tuple[Mono, ...]:
    """Strides of elements of so many numbers that follow each other."""
    strides, step = [], Mono(width)
    for size in reversed(sizes):
        strides.append(step)
        step = step * (Mono(1) if size == 0 else Mono.of(size))
    return tuple(reversed(strides))


class Tensor:
    """A tensor: a name of storage. `sizes` are numbers, or :class:`Num` where they are data.

    `strides` are those that PyTorch's tensor would have (they decide whether `reshape` is a view), `own` those of our
    storage. `repeats`: some elements are one and the same (an `expand`), so nothing may be written through it.
    """

    __slots__ = ("value", "dtype", "sizes", "strides", "own", "overlaps", "weak")

    def __init__(self, value: Value, dtype: DType, sizes: Sequence[SizeLike], strides=None, own=None, repeats: bool = False):
        self.value, self.dtype, self.sizes = value, dtype, tuple(sizes)
        value.sizes = [n.value if isinstance(n, Num) else n for n in self.sizes]
        self.strides = tuple(strides) if strides is not None else dense_strides(self.sizes)
        self.own = tuple(own) if own is not None else self.strides
        self.overlaps = repeats
        self.weak = False

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def repeats(self) -> bool:
        return self.overlaps or any(s.factor == 0 and n != 1 for n, s in zip(self.sizes, self.strides))

    def is_contiguous(self) -> Optional[bool]:
        """Whether it is dense; None where it may be."""
        return lies_densely(self.sizes, self.strides)

    def again(self) -> "Tensor":
        """Another object for the same tensor."""
        return Tensor(self.value, self.dtype, self.sizes, self.strides, self.own, self.overlaps)

    def describe(self) -> str:
        sizes = ", ".join("?" if isinstance(n, Num) else str(n) for n in self.sizes)
        return f"{self.dtype}[{sizes}]"


class Complex:
    """A complex tensor: two tensors of one size and type. Their `strides` are those of PyTorch's views of the parts: each element is two numbers.
    `whole`: the tensor of whose last dimension the parts are the elements, where there is one."""

    __slots__ = ("real", "imag", "whole")

    def __init__(self, real: Tensor, imag: Tensor, whole: Optional[Tensor] = None):
        self.real, self.imag, self.whole = real, imag, whole

    @property
    def parts(self) -> Tuple[Tensor, Tensor]:
        return self.real, self.imag

    @property
    def rank(self) -> int:
        return self.real.rank

    def is_contiguous(self) -> Optional[bool]:
        return lies_densely(self.real.sizes, self.real.strides, 2)

    def describe(self) -> str:
        return f"complex {self.real.describe()}"


_unknown = itertools.count(1)


def open_strides(rank: int, may_be_view: bool = False) -> Tuple[Mono, ...]:
    """Strides of which nothing is known; a new tensor of one dimension is dense."""
    return tuple(Mono(1, (-next(_unknown),)) for _ in range(rank)) if rank > 1 or may_be_view else (Mono(1),) * rank


def lies_densely(sizes, strides, width: int = 1) -> Optional[bool]:
    """Whether elements of so many numbers follow each other; None where that is not known."""
    if any(isinstance(n, int) and n == 0 for n in sizes):
        return True
    if any(atom < 0 for size, stride in zip(sizes, strides) if size != 1 for atom in stride.atoms):
        return None
    return is_dense(sizes, strides, width)


def is_dense(sizes, strides, width: int = 1) -> bool:
    """Whether elements of so many numbers follow each other."""
    step = Mono(width)
    for size, stride in zip(reversed(sizes), reversed(strides)):
        if size == 0:
            return True
        if size != 1:
            if stride != step:
                return False
            step = step * Mono.of(size)
    return True


#: Where lists and dictionaries that are arguments were made.
ARGUMENT = "an argument"
#: Where one was made that has other names on some of the paths that lead to it (`sharing.py`).
SHARED = "several paths"


class PyList(list):
    """A list of the program. `block` is where it was made: control flow that is data must not change it from inside. `number`: when.
    `has_versions`: on some paths another list has taken its place."""

    def __init__(self, items=(), block=None):
        super().__init__(items)
        self.block, self.number, self.has_versions = block, next_number(), False


class PyDict(dict):
    """A dictionary of the program, as :class:`PyList`."""

    def __init__(self, items=(), block=None):
        super().__init__(items)
        self.block, self.number = block, next_number()


class Generated(tuple):
    """What a generator, `map` or `filter` gives. Its items are evaluated where it is made, and Python evaluates each where it is asked for: `is_current`
    says whether that is the same. `taken`: so many items have been given."""

    def __new__(cls, items, block, is_current=lambda: True):
        made = super().__new__(cls, items)
        made.block, made.taken, made.is_current = block, 0, is_current
        return made


class Size(tuple):
    """The shape of a tensor."""

    def __repr__(self):
        return f"torch.Size([{', '.join(map(str, self))}])"


class Device:
    """Where tensors lie, as ``torch.device`` where PyTorch is not imported."""

    def __init__(self, type: str, index: Optional[int] = None):
        kind, _, number = type.partition(":")
        self.type, self.index = kind, int(number) if number else index

    def __repr__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __eq__(self, other):
        return isinstance(other, Device) and repr(self) == repr(other)

    def __hash__(self):
        return hash(repr(self))


class Poison:
    """What a wrong expression gives, so that the rest of the function is still looked at."""

    def __repr__(self):
        return "<unknown>"


POISON = Poison()


class Unset:
    """A name without a value on this path; `reason` says on which paths it has one."""

    def __init__(self, reason: str = ""):
        self.reason = reason


UNSET = Unset()


class NamedResult(tuple):
    """Several results with names, as `x.max(1)` gives: `.values`, `.indices`. `kind` is the program's own class of named tuples."""

    def __new__(cls, items, names, kind=None):
        made = super().__new__(cls, items)
        made.names, made.kind = tuple(names), kind
        return made


class ListOfRows:
    """A list whose length is data, as a call gives it: an item of the form of `like` for each row of `columns`, then `tail`. Of tensors of no dimension
    `are_numbers` says which are Python's numbers."""

    def __init__(self, like, columns: List, are_numbers: List[bool], tail: List):
        self.like, self.columns, self.are_numbers, self.tail = like, columns, are_numbers, tail


def view_strides(sizes: Sequence[SizeLike], strides: Sequence[Mono], wanted: Sequence[SizeLike]) -> Optional[List[Mono]]:
    """The strides of a view of other sizes on the same elements (ATen's computeStride); None where there is none."""
    if any(n == 0 for n in sizes):
        return list(dense_strides(wanted))
    if not sizes:
        return [Mono(1)] * len(wanted)
    if list(strides) == list(dense_strides(sizes)):
        return list(dense_strides(wanted))
    result: List[Optional[Mono]] = [None] * len(wanted)
    at, base = len(wanted) - 1, strides[-1]
    count, seen = Mono(1), Mono(1)
    for d in range(len(sizes) - 1, -1, -1):
        count = count * Mono.of(sizes[d])
        if d == 0 or (sizes[d - 1] != 1 and strides[d - 1] != count * base):
            while at >= 0 and (seen != count or wanted[at] == 1):
                result[at] = seen * base
                seen = seen * Mono.of(wanted[at])
                at -= 1
                if not seen.atoms and not count.atoms and seen.factor > count.factor:
                    return None
            if seen != count:
                return None
            if d > 0:
                base, count, seen = strides[d - 1], Mono(1), Mono(1)
    return result if at == -1 else None  # type: ignore[return-value]


def type_name(value) -> str:
    """What a person calls the type of a value."""
    names = {PyList: "list", PyDict: "dict", Generated: "generator", NamedResult: "tuple", Complex: "complex tensor"}
    if isinstance(value, Num):
        return value.kind
    return "int" if isinstance(value, int) and not isinstance(value, bool) else names.get(type(value), type(value).__name__)


def is_number(value) -> bool:
    return isinstance(value, (bool, int, float)) and not isinstance(value, DType)


def kind_of(value) -> str:
    """"bool", "int" or "float" of a number that is known or data."""
    if isinstance(value, Num):
        return value.kind
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "float"
