# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types: their names in PyTorch, NumPy and MLIR, and type promotion as ``torch.result_type``."""

from __future__ import annotations

import struct
from typing import Dict, Optional, Sequence

from ..problems import Problem


class DType:
    """An element type. `rank` orders types of one kind by what they can hold."""

    __slots__ = ("name", "mlir", "kind", "bits", "rank", "numpy", "code")

    def __init__(self, name: str, mlir: str, kind: str, bits: int, rank: int, numpy: str, code: int):
        self.name, self.mlir, self.kind, self.bits, self.rank, self.numpy, self.code = name, mlir, kind, bits, rank, numpy, code

    def __repr__(self):
        return self.name

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def is_bool(self) -> bool:
        return self.kind == "b"

    @property
    def is_int(self) -> bool:
        return self.kind == "i"


# The last number is DLPack's type code.
bool_ = DType("bool", "i1", "b", 1, 0, "bool", 6)
int8 = DType("int8", "i8", "i", 8, 1, "int8", 0)
int16 = DType("int16", "i16", "i", 16, 2, "int16", 0)
int32 = DType("int32", "i32", "i", 32, 3, "int32", 0)
int64 = DType("int64", "i64", "i", 64, 4, "int64", 0)
float16 = DType("float16", "f16", "f", 16, 5, "float16", 2)
bfloat16 = DType("bfloat16", "bf16", "f", 16, 5, "uint16", 4)
float32 = DType("float32", "f32", "f", 32, 6, "float32", 2)
float64 = DType("float64", "f64", "f", 64, 7, "float64", 2)

ALL: Dict[str, DType] = {
    d.name: d for d in (bool_, int8, int16, int32, int64, float16, bfloat16, float32, float64)
}
ALIASES: Dict[str, DType] = {
    **ALL, "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
}


class ComplexType:
    """A type of complex numbers by that of their parts."""

    __slots__ = ("name", "part")

    def __init__(self, name: str, part: DType):
        self.name, self.part = name, part

    def __repr__(self):
        return self.name


#: Types of complex numbers by what PyTorch calls them.
COMPLEX: Dict[str, ComplexType] = {}
for _part, _names in ((float32, ("complex64", "cfloat")), (float64, ("complex128", "cdouble"))):
    COMPLEX.update(dict.fromkeys(_names, ComplexType(_names[0], _part)))


def part_of(text: str) -> Optional[DType]:
    """The type of the parts of an array's complex elements, by the name that its library gives them; None for others."""
    found = COMPLEX.get(text.rsplit(".", 1)[-1])
    return None if found is None else found.part


def of_object(value) -> Optional[DType]:
    """The element type that an object of PyTorch, NumPy, Python or this module means; None for another object."""
    if isinstance(value, DType):
        return value
    if value is float:
        return float32
    if value is int:
        return int64
    if value is bool:
        return bool_
    if isinstance(value, str):
        return None
    name = getattr(value, "name", None) or getattr(value, "__name__", None) or str(value)
    return ALIASES.get(name.rsplit(".", 1)[-1]) if isinstance(name, str) else None


def named(text: str) -> DType:
    """The element type of an array, by the name that its library gives it."""
    found = ALL.get(text.rsplit(".", 1)[-1])
    if found is None:
        raise Problem(f"elements of type {text} are not supported; there are {', '.join(ALL)}", "dtype")
    return found


def of_number(value) -> DType:
    """The element type of ``torch.tensor(value)``."""
    return bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else float32


def _higher(a: Optional[DType], b: DType) -> DType:
    if a is None or a is b:
        return b
    if a.is_float and b.is_float and a.bits == 16 and b.bits == 16:
        return float32
    return a if a.rank >= b.rank else b


def _category(dtype: DType) -> int:
    return {"b": 0, "i": 1, "f": 2}[dtype.kind]


def result_type(dimensioned: Sequence[DType], scalars: Sequence[DType], numbers: Sequence[DType]) -> DType:
    """Promotion over tensors with dimensions, tensors without, and Python numbers, in this priority.

    An operand of a lower priority counts only where its category (bool, integer, float) is higher than all before it.
    """
    found: Optional[DType] = None
    for index, group in enumerate((dimensioned, scalars, numbers)):
        own: Optional[DType] = None
        for dtype in group:
            own = _higher(own, dtype)
        if own is None:
            continue
        if found is None or _category(own) > _category(found):
            found = own
    assert found is not None
    return found


def literal(value, dtype: DType) -> str:
    """A number as MLIR's attribute, exact for every float."""
    check_long(value)
    if dtype.is_bool:
        return "true" if value else "false"
    if dtype.is_int:
        wrapped = (int(value) + (1 << (dtype.bits - 1))) % (1 << dtype.bits) - (1 << (dtype.bits - 1))
        return f"{wrapped} : {dtype.mlir}"
    return f"0x{float_bits(float(value), dtype):0{dtype.bits // 4}X} : {dtype.mlir}"


def check_long(value) -> None:
    """That a number which becomes elements can be one: PyTorch's own are of 64 bits."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise Problem(f"the number {value} is not one of 64 bits", "dtype")


def check_fits(value, dtype: DType, what: str, by_tensor: bool = False) -> None:
    """That a number which is written into elements can be one of them; of what is data nothing is known. `by_tensor`: PyTorch
    makes a tensor of the number first, and what is too large for floats of 16 bits is infinite."""
    if dtype.is_bool or not isinstance(value, (int, float)) or by_tensor and dtype.is_float and dtype.bits == 16:
        return
    if dtype.is_int:
        whole = value == value and abs(value) != float("inf")
        if not whole or not -(1 << (dtype.bits - 1)) <= int(value) < 1 << (dtype.bits - 1):
            raise Problem(f"{what}: {value} does not fit into elements of type {dtype}", "dtype")
    elif value == value and abs(value) != float("inf") and abs(value) > finfo(dtype)[1]:
        raise Problem(f"{what}: {value} does not fit into elements of type {dtype}", "dtype")


def float_bits(value: float, dtype: DType) -> int:
    """The bits of a float, rounded to nearest, ties to even."""
    if dtype is float64:
        return struct.unpack("<Q", struct.pack("<d", value))[0]
    if dtype is float16:
        try:
            return struct.unpack("<H", struct.pack("<e", value))[0]
        except OverflowError:
            return 0xFC00 if value < 0 else 0x7C00
    try:
        single = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        single = 0xFF800000 if value < 0 else 0x7F800000
    if dtype is float32:
        return single
    if value != value:
        return 0x7FC0
    return (single + 0x7FFF + (single >> 16 & 1)) >> 16 & 0xFFFF


def rounded(value: float, dtype: DType) -> float:
    """The float of a type that is nearest to a number."""
    bits = float_bits(float(value), dtype)
    if dtype is bfloat16:
        bits, dtype = bits << 16, float32
    return struct.unpack("<" + {16: "e", 32: "f", 64: "d"}[dtype.bits], struct.pack("<" + {16: "H", 32: "I", 64: "Q"}[dtype.bits], bits))[0]


def lowest(dtype: DType):
    """The number below all others: the start of a maximum."""
    return float("-inf") if dtype.is_float else False if dtype.is_bool else -(1 << (dtype.bits - 1))


def highest(dtype: DType):
    """The number above all others: the start of a minimum."""
    return float("inf") if dtype.is_float else True if dtype.is_bool else (1 << (dtype.bits - 1)) - 1


def finfo(dtype: DType):
    """(smallest normal, largest, machine epsilon) of a float type."""
    digits, least = {"float16": (10, -14), "bfloat16": (7, -126), "float32": (23, -126), "float64": (52, -1022)}[dtype.name]
    largest = (2 - 2.0**-digits) * 2.0 ** (1 - least)
    return 2.0**least, largest, 2.0**-digits
