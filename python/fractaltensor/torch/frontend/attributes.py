# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Attributes of values of the program, and what they are: types, devices, identity. What is not known here is an error, not a guess."""

from __future__ import annotations

import ast
import sys
import types
from typing import Any, Tuple

import numpy as np

from ..ir import dtypes
from . import objects
from ..ir.views import permute
from ..ir.lengths import ArgumentSize
from ..ops import complex_numbers
from ..ops.views import last_dims_transposed
from ..problems import Problem
from .grown import Rows
from .values import POISON, UNSET, Complex, Device, NamedResult, Num, Poison, PyDict, PyList, Size, Tensor

_KINDS = {"int": int, "float": float, "bool": bool}
#: Methods of tensors that are refused where they are called, with reasons of their own.
_CALLS_PYTHON = ("apply_", "map_")
#: Attributes that are as these say for every tensor that a program can hold.
_ALWAYS = {
    "grad": None, "requires_grad": False, "is_sparse": False, "is_quantized": False, "is_meta": False, "is_nested": False, "is_mkldnn": False,
    "is_mps": False, "is_xpu": False, "is_sparse_csr": False,
}
#: Classes of PyTorch that are tensors of one element type.
_CLASSES = {
    "FloatTensor": "float32", "DoubleTensor": "float64", "HalfTensor": "float16", "BFloat16Tensor": "bfloat16", "LongTensor": "int64",
    "IntTensor": "int32", "ShortTensor": "int16", "CharTensor": "int8", "BoolTensor": "bool",
}


def of_torch(name: str):
    """An object of PyTorch, where it is imported."""
    return getattr(sys.modules.get("torch"), name, None)


def type_of(value) -> Any:
    """`type(value)` as the program sees it."""
    if isinstance(value, (Tensor, Size, dtypes.DType, Device)):
        name = {Tensor: "Tensor", Size: "Size", dtypes.DType: "dtype", Device: "device"}[type(value)]
        found = of_torch(name)
        if found is None:
            raise Problem(f"type() of a {name} of PyTorch's, which is not imported: use isinstance")
        return found
    if isinstance(value, Num):
        return _KINDS[value.kind]
    if isinstance(value, ArgumentSize):
        return int
    if isinstance(value, Rows):
        return tuple if value.block is None else list
    if isinstance(value, (PyList, PyDict)):
        return list if isinstance(value, list) else dict
    if isinstance(value, objects.LocalFunction):
        return types.FunctionType
    if isinstance(value, NamedResult) and value.kind is not None:
        return value.kind
    if isinstance(value, (NamedResult, objects.OpRef, objects.BoundMethod, objects.Namespace, Poison)):
        raise Problem("type() of this value is not supported: use isinstance")
    return type(value)


def text_of(value) -> str:
    """`str(value)`."""
    return f"torch.{value.name}" if isinstance(value, dtypes.DType) else str(value)


class Attributes:
    """Part of the evaluator."""

    def eval_Attribute(self, node):
        owner = self.eval(node.value)
        return self.attribute(owner, node.attr)

    def attribute(self, owner, name: str):
        if isinstance(owner, Poison):
            return POISON
        if name == "__class__":
            return type_of(owner)
        if isinstance(owner, Tensor):
            return self.tensor_attribute(owner, name)
        if isinstance(owner, Complex):
            return self._complex_attribute(owner, name)
        if isinstance(owner, NamedResult) and name in owner.names:
            return owner[owner.names.index(name)]
        if isinstance(owner, (PyList, PyDict, tuple, str, Num, Rows)):
            return self._method(owner, name)
        if isinstance(owner, (types.ModuleType, objects.Namespace)):
            try:
                return self.adopt(objects.of_module(owner, name), (owner, name)) if isinstance(owner, types.ModuleType) else objects.of_module(owner, name)
            except AttributeError as error:
                raise Problem(str(error)) from None
        if isinstance(owner, dtypes.DType):
            return self._dtype_attribute(owner, name)
        if isinstance(owner, objects.OpRef) and owner.path.startswith("aten."):
            return objects.OpRef(f"{owner.path}.{name}", f"{owner.shown}.{name}")
        if isinstance(owner, (objects.OpRef, objects.BoundMethod, objects.LocalFunction)):
            raise Problem(f"attribute '{name}' of a function is not supported")
        bound = self.rebound.of(self.frame.env, owner, name)
        return self.adopt_from(owner, name, attribute=True) if bound is UNSET else bound

    def _complex_attribute(self, x: Complex, name: str):
        if name in ("real", "imag"):
            return getattr(x, name)
        if name == "dtype":
            return dtypes.COMPLEX["complex128" if x.real.dtype.bits == 64 else "complex64"]
        if name in ("shape", "ndim", "device", "is_cuda", "is_cpu", "requires_grad"):
            return self.tensor_attribute(x.real, name)
        if name in ("T", "mT"):
            return Complex(*(self.tensor_attribute(part, name) for part in x.parts))
        if name in ("H", "mH"):
            return complex_numbers.conj(self.b, Complex(*(self.tensor_attribute(part, name) for part in x.parts)))
        if not objects.is_listed(f"Tensor.{name}"):
            raise Problem(f"Tensor.{name} of complex numbers is not supported")
        return objects.BoundMethod(x, name)

    def _method(self, owner, name: str):
        kind = _KINDS[owner.kind] if isinstance(owner, Num) else type_of(owner) if isinstance(owner, Rows) else list if isinstance(owner, list) else dict if isinstance(owner, dict) else tuple if isinstance(owner, tuple) else str
        extra = {Num: ("item",), Size: ("numel",), NamedResult: ("_replace", "_asdict")}.get(type(owner), ())
        if not hasattr(kind, name) and name not in extra:
            raise Problem(f"'{'Size' if isinstance(owner, Size) else kind.__name__}' object has no attribute '{name}'")
        return objects.BoundMethod(owner, name)

    def _dtype_attribute(self, owner: dtypes.DType, name: str):
        found = {"is_floating_point": owner.is_float, "is_complex": False, "is_signed": not owner.is_bool, "itemsize": max(1, owner.bits // 8)}.get(name)
        if found is None:
            raise Problem(f"attribute '{name}' of an element type is not supported")
        return found

    def tensor_attribute(self, x: Tensor, name: str):
        if name == "shape":
            return Size(x.sizes)
        if name in ("ndim", "dtype", "device"):
            return x.rank if name == "ndim" else x.dtype if name == "dtype" else self.b.device
        if name in ("T", "H") and x.rank <= 2 or name == "T":
            return permute(self.b, x, list(range(x.rank))[::-1])
        if name in ("mT", "mH"):
            return last_dims_transposed(self.b, x)
        if name in ("data", "real"):
            return x if name == "real" else x.again()
        if name in ("is_cuda", "is_cpu"):
            return self.b.device.type == name[3:]
        if name in ("itemsize", "nbytes"):
            size = max(1, x.dtype.bits // 8)
            return size if name == "itemsize" else self.b.mul(self.b.product(x.sizes), size)
        if name == "layout" and of_torch("strided") is not None:
            return of_torch("strided")
        if name in _ALWAYS:
            return _ALWAYS[name]
        if not objects.is_listed(f"Tensor.{name}") and name not in _CALLS_PYTHON:
            raise Problem(f"Tensor.{name} is not supported{objects.similar('Tensor.' + name)}")
        return objects.BoundMethod(x, name)

    # -- what values are ----------------------------------------------------------------------------------------------

    def is_same(self, op, left, right) -> bool:
        """`is` and `==` of functions: an operator is the function of PyTorch that it stands for."""
        if isinstance(left, objects.BoundMethod) and isinstance(right, objects.BoundMethod):
            return not isinstance(op, (ast.Is, ast.IsNot)) and left.owner is right.owner and left.name == right.name
        first, second = (objects.function_of(x) if isinstance(x, objects.OpRef) else x for x in (left, right))
        return first is second

    def builtin_type(self, x):
        return type_of(x)

    def builtin_str(self, x=""):
        return text_of(self.static(x, "what str() takes"))

    def builtin_isinstance(self, x, kinds):
        return any(self._is_a(x, k) for k in _each(kinds))

    def _is_a(self, x, kind) -> bool:
        name = getattr(kind, "__name__", getattr(kind, "name", "")).rsplit(".", 1)[-1]
        if isinstance(x, Complex):
            return kind is of_torch("Tensor")
        if isinstance(x, Tensor):
            if name == "Parameter":
                return any(c.tensor is x and isinstance(c.array, kind) for c in self.captured.values())
            if name in _CLASSES or name in ("Tensor", "ndarray"):
                return name not in _CLASSES or x.dtype.name == _CLASSES[name]
            # (Whether it can be gone over, say.)
            return isinstance(kind, type) and issubclass(of_torch("Tensor") or np.ndarray, kind)
        if isinstance(x, NamedResult) and x.kind is not None:
            return issubclass(x.kind, kind)
        if isinstance(x, (Size, dtypes.DType, Device)) and name in ("Size", "dtype", "device"):
            return name == {Size: "Size", dtypes.DType: "dtype", Device: "device"}[type(x)]
        if isinstance(x, Num):
            return isinstance(kind, type) and issubclass(_KINDS[x.kind], kind)
        if isinstance(x, (objects.LocalFunction, objects.OpRef, objects.BoundMethod)):
            return kind in (object, types.FunctionType) if isinstance(x, objects.LocalFunction) else kind is object
        return isinstance(kind, type) and isinstance(x, kind)

    def builtin_callable(self, x):
        return isinstance(x, (objects.LocalFunction, objects.OpRef, objects.BoundMethod)) or callable(x) and not isinstance(x, (Tensor, Num))

    def builtin_hasattr(self, x, name: str):
        if isinstance(x, Tensor):
            # What PyTorch's have and these have not is refused where it is used.
            return hasattr(of_torch("Tensor"), name) if of_torch("Tensor") is not None else self._has(x, name)
        return self._has(x, name) if isinstance(x, (PyList, PyDict, tuple, str, Num, dtypes.DType)) else hasattr(x, name)

    def _has(self, x, name: str) -> bool:
        try:
            self.attribute(x, name)
        except Problem:
            return False
        return True

    def builtin_getattr(self, x, name: str, *default):
        if default and not self.builtin_hasattr(x, name):
            return default[0]
        return self.attribute(x, name)


def _each(kinds) -> Tuple:
    if isinstance(kinds, tuple):
        return tuple(k for part in kinds for k in _each(part))
    return kinds.__args__ if isinstance(kinds, getattr(types, "UnionType", ())) else (kinds,)
