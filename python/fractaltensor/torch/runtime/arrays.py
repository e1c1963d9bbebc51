# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays of the caller: what they are, as NumPy views, and results in the caller's library."""

from __future__ import annotations

import sys
from ctypes import c_void_p
from typing import Any, Dict, Optional, Tuple

import numpy as np

from ...errors import ArgumentError, DeviceError, GradientError
from ...torch_tracking import has_tangent, is_tracked
from ..ir import dtypes
from ..ir.dtypes import DType
from ..problems import Problem


def _asked_address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


#: Where an array's struct has its address: after the object's head, as NumPy's C interface lays it down.
HEAD = object.__basicsize__
_at = c_void_p.from_address


def _read_address(array: np.ndarray) -> int:
    return _at(id(array) + HEAD).value or 0


def _is_read_right() -> bool:
    """Whether this Python keeps objects at their ids and heads of that size (a tenth of the time of asking)."""
    whole = np.zeros(7, np.int16)
    return sys.implementation.name == "cpython" and all(_read_address(a) == _asked_address(a) for a in (whole, whole[3:], whole[::2].reshape(2, 2)))


#: Whether the address of an array's first element is read where its struct has it.
is_address_read = _is_read_right()

#: The address of an array's first element.
address_of = _read_address if is_address_read else _asked_address


def is_torch(value) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def is_array(value) -> bool:
    return isinstance(value, np.ndarray) or is_torch(value)


class NumberArgument(np.ndarray):
    """A Python float that calls pass with other values: data of a call, of which the program sees a number."""

    @staticmethod
    def of(value: float) -> "NumberArgument":
        return np.asarray(value, np.float64).view(NumberArgument)


#: Element types by what a library calls them: asked at each call, of each argument.
_DTYPES: Dict[Any, DType] = {}


def dtype_of(value) -> DType:
    found = _DTYPES.get(value.dtype)
    if found is None:
        try:
            found = dtypes.part_of(str(value.dtype)) or dtypes.named(str(value.dtype))
        except Problem as problem:
            raise ArgumentError(problem.message) from None
        _DTYPES[value.dtype] = found
    return found


def strides_of(value) -> Tuple[int, ...]:
    """Strides in elements."""
    if is_torch(value):
        return tuple(value.stride())
    return tuple(s // value.itemsize for s in value.strides)


def is_dense(value) -> bool:
    step = 1
    for size, stride in zip(reversed(value.shape), reversed(strides_of(value))):
        if size == 0:
            return True
        if size != 1:
            if stride != step:
                return False
            step *= size
    return True


def is_complex(value) -> bool:
    return dtypes.part_of(str(value.dtype)) is not None


def describe(value):
    """Element type, sizes, and strides where the array is not dense. A complex array has its parts in a last dimension."""
    if is_complex(value):
        strides = None if is_dense(value) else (*(2 * s for s in strides_of(value)), 1)
        return dtype_of(value), (*(int(n) for n in value.shape), 2), strides
    return dtype_of(value), tuple(int(n) for n in value.shape), None if is_dense(value) else strides_of(value)


def check(value, name: str, device: str = "cpu") -> None:
    """That a tensor can be an argument of code for a device."""
    try:
        dtype_of(value)
    except ArgumentError as error:
        raise ArgumentError(f"argument '{name}': {error.reason}") from None
    if not is_torch(value):
        if device != "cpu":
            raise DeviceError(f"argument '{name}' is an array of NumPy: the engine 'cuda' takes tensors of PyTorch on {device}; torch.from_numpy(x).to('{device}')")
        return
    torch = sys.modules["torch"]
    if str(value.device) != device:
        if device == "cpu":
            raise DeviceError(f"argument '{name}' is on {value.device}: the engines 'interpret' and 'cpu' take tensors on the CPU; x.cpu()")
        raise DeviceError(f"argument '{name}' is on {value.device}: this call computes on {device}; x.to('{device}')")
    if value.is_conj() or value.is_neg():
        raise ArgumentError(f"argument '{name}' is a conjugate that has not been computed: x.resolve_conj().resolve_neg()")
    if value.layout is not torch.strided or value.is_quantized:
        raise ArgumentError(f"argument '{name}' is no plain dense tensor: layout {value.layout}, type {value.dtype}")
    if is_tracked(value):
        found = "has a tangent" if has_tangent(value) else "requires a gradient"
        raise GradientError(f"argument '{name}' {found}, and compiled functions compute forward only: call within torch.no_grad()")
    if type(value) is not torch.Tensor and type(value) is not torch.nn.Parameter:
        raise ArgumentError(f"argument '{name}' is a {type(value).__name__}: subclasses of Tensor may mean something else by their operators")


class _Memory:
    """Describes memory to NumPy and keeps its owner."""

    def __init__(self, array: np.ndarray, owner):
        self.__array_interface__ = dict(array.__array_interface__)
        self.owner = owner


def parts_of(array: np.ndarray) -> np.ndarray:
    """The elements of an array; of complex ones the parts, in a last dimension."""
    if array.dtype.kind != "c":
        return array
    real = array.real
    return np.lib.stride_tricks.as_strided(real, (*array.shape, 2), (*array.strides, real.itemsize), writeable=array.flags.writeable)


def joined(parts, torch_like: bool):
    """A complex result of the two parts."""
    if torch_like:
        return sys.modules["torch"].complex(*parts)
    real, imag = map(np.asarray, parts)
    made = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    made.real, made.imag = real, imag
    return made


def as_numpy(value) -> np.ndarray:
    """A NumPy array on the same memory, of which it is the owner as far as NumPy can tell."""
    array, torch = value, sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        try:
            array = value.numpy()
        except (RuntimeError, TypeError):  # it tracks gradients, or NumPy has no such elements
            value = value.detach()
            array = value.view(torch.int16).numpy().view(np.uint16) if value.dtype is torch.bfloat16 else value.numpy()
        if value.dtype is not torch.bfloat16:
            # The tensor is the array's base. (Of none there are elements anywhere.)
            array = parts_of(array)
            return array if array.size else np.empty(array.shape, array.dtype)
    array = parts_of(array)
    if not array.size:
        return np.empty(array.shape, array.dtype)
    return np.asarray(_Memory(array, value))


def result(array: np.ndarray, dtype: DType, torch_like: bool):
    """A result in the caller's library."""
    if not torch_like:
        return array
    torch = sys.modules["torch"]
    if dtype is dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def extent(array: np.ndarray) -> Optional[Tuple[int, int]]:
    """First and last byte of an array's memory."""
    if not array.size:
        return None
    start = address_of(array)
    if array.flags.c_contiguous:
        return start, start + array.nbytes
    low = high = 0
    for size, stride in zip(array.shape, array.strides):
        reach = (size - 1) * stride
        low, high = low + min(0, reach), high + max(0, reach)
    return start + low, start + high + array.itemsize


def overlap(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether two arrays share an element."""
    first, second = extent(a), extent(b)
    if first is None or second is None or first[1] <= second[0] or second[1] <= first[0]:
        return False
    try:
        return np.shares_memory(a, b, max_work=100000)
    except Exception:  # noqa: BLE001 - too hard to tell: then it may
        return True


def repeats(shape, strides) -> bool:
    """Whether several elements are one and the same."""
    if 0 in shape:
        return False
    if len(shape) < 2 or all(a > b * n > 0 or a == b * n > 0 for a, b, n in zip(strides, strides[1:], shape[1:])):
        return bool(shape) and shape[-1] > 1 and strides[-1] == 0  # rows after rows
    seen = 0
    for size, stride in sorted(zip(shape, strides), key=lambda pair: abs(pair[1])):
        if size > 1:
            if abs(stride) <= seen:
                return True
            seen += (size - 1) * abs(stride)
    return False


def kind_of(values) -> Any:
    return "torch" if any(is_torch(v) for v in values) else "numpy"
