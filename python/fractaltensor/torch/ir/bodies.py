# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The text of element-wise bodies: numbers, and operations on them."""

from __future__ import annotations

from typing import Dict, List, Optional, Tuple

from . import dtypes
from .dtypes import DType


class Scalar:
    """A number inside of an element-wise body."""

    __slots__ = ("name", "dtype")

    def __init__(self, name, dtype: DType):
        self.name, self.dtype = name, dtype


class Body:
    """The text of a body: one operation a line."""

    def __init__(self):
        self.lines: List[Tuple[Scalar, List]] = []
        #: Of what is a remainder with the divisor's sign, the divisor.
        self.divisors: Dict[str, str] = {}

    @property
    def pieces(self) -> List:
        found: List = []
        for result, parts in self.lines:
            found += [f"  {result.name} = ", *parts, "\n"]
        return found

    def emit(self, dtype: DType, *parts) -> Scalar:
        result = Scalar(f"%b{len(self.lines)}", dtype)
        self.lines.append((result, [part.name if isinstance(part, Scalar) else part for part in parts]))
        return result

    def constant(self, value, dtype: DType) -> Scalar:
        return self.emit(dtype, f"arith.constant {dtypes.literal(value, dtype)}")

    def op(self, name: str, *operands: Scalar, dtype: Optional[DType] = None) -> Scalar:
        """`arith.addf` and the like: operands and result of one type."""
        own = dtype or operands[0].dtype
        parts: List = [f"{name} "]
        for index, operand in enumerate(operands):
            parts += [", " if index else "", operand]
        return self.emit(own, *parts, f" : {own.mlir}")

    def binary(self, float_name: str, int_name: str, a: Scalar, b: Scalar) -> Scalar:
        return self.op(float_name if a.dtype.is_float else int_name, a, b)

    def compare(self, what: str, a: Scalar, b: Scalar) -> Scalar:
        """`what`: eq, ne, lt, le, gt, ge; false on NaN but for `ne`."""
        if a.dtype.is_float:
            predicate = "une" if what == "ne" else "o" + what
            return self.emit(dtypes.bool_, f"arith.cmpf {predicate}, ", a, ", ", b, f" : {a.dtype.mlir}")
        sign = "" if what in ("eq", "ne") else "u" if a.dtype.is_bool else "s"
        predicate = what if not sign else sign + what
        return self.emit(dtypes.bool_, f"arith.cmpi {predicate}, ", a, ", ", b, f" : {a.dtype.mlir}")

    def is_nan(self, a: Scalar) -> Scalar:
        return self.emit(dtypes.bool_, "arith.cmpf uno, ", a, ", ", a, f" : {a.dtype.mlir}")

    def select(self, c: Scalar, a: Scalar, b: Scalar) -> Scalar:
        return self.emit(a.dtype, "arith.select ", c, ", ", a, ", ", b, f" : {a.dtype.mlir}")

    def index(self, dim: int, dtype: DType) -> Scalar:
        at = self.emit(dtype, f"linalg.index {dim} : index")
        return self.emit(dtype, "arith.index_cast ", at, f" : index to {dtype.mlir}")

    def cast(self, a: Scalar, to: DType) -> Scalar:
        """As `x.to(dtype)`: to bool by `!= 0`, floats to integers toward zero."""
        if a.dtype is to:
            return a
        arrow = f" : {a.dtype.mlir} to {to.mlir}"
        if to.is_bool:
            return self.compare("ne", a, self.constant(0, a.dtype))
        if a.dtype.is_bool:
            return self.emit(to, "arith.uitofp " if to.is_float else "arith.extui ", a, arrow)
        if a.dtype.is_int and to.is_int:
            return self.emit(to, "arith.extsi " if to.bits > a.dtype.bits else "arith.trunci ", a, arrow)
        if a.dtype.is_int:
            return self.emit(to, "arith.sitofp ", a, arrow)
        if to.is_int:
            return self.emit(to, "arith.fptosi ", a, arrow)
        if a.dtype.bits == to.bits:
            return self.cast(self.cast(a, dtypes.float32), to)
        return self.emit(to, "arith.extf " if to.bits > a.dtype.bits else "arith.truncf ", a, arrow)


def arithmetic_type(dtype: DType) -> DType:
    """The type in which PyTorch computes on elements of `dtype`."""
    return dtypes.float32 if dtype.is_float and dtype.bits == 16 else dtype
