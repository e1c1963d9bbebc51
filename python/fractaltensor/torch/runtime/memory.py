# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What holds storages while a program runs: NumPy's arrays on the processor, or PyTorch's tensors on any device.

The runner and the engines speak to a `Memory`: views by steps, copies, numbers, library steps.
"""

from __future__ import annotations

import math
import sys
from typing import Callable, Collection, Dict, Optional, Sequence, Tuple

import numpy as np

from ...arrays import CPU, CUDA
from ... import direct, host_memory
from ...jit import _calls, current_stream
from . import arrays, library
from ..ir import dtypes
from .arrays import address_of
from ..ir.dtypes import DType
from ..ir.operations import Value
from ..problems import RunIndexError
from ..frontend.values import Device

#: Bytes at multiples of which compiled code takes tensors.
ALIGNMENT = 64

#: Bytes up to which nothing is asked whether the machine has them: a question takes longer than a small allocation.
MOST_UNASKED = 1 << 30

_NUMPY: Dict[DType, np.dtype] = {}

#: Of a tensor: address, sizes, strides in elements.
Place = Tuple[int, Tuple[int, ...], Tuple[int, ...]]


def bytes_(count: int) -> np.ndarray:
    """That many bytes, which nothing has written; `MemoryError` where the machine can't have them."""
    if count > MOST_UNASKED:
        host_memory.check(count)
    return np.empty(count, np.uint8)


class Memory:
    """NumPy's arrays."""

    #: How calls of compiled parts are written (:mod:`part_code`).
    style = "numpy"

    #: Of the runtime's struct.
    device = (CPU, 0)

    #: Whether the host reads numbers without waiting for a device.
    knows_numbers = True

    # -- arguments and results ------------------------------------------------------------------------------------------

    def adopt(self, value):
        """An argument's memory."""
        return arrays.as_numpy(value)

    def is_dense(self, array) -> bool:
        return array.flags.c_contiguous

    def copy(self, array):
        return array.copy()

    def is_read_only(self, array) -> bool:
        return not array.flags.writeable

    def repeats(self, array) -> bool:
        """Whether several elements are one and the same."""
        return arrays.repeats(array.shape, array.strides)

    def result(self, array, dtype: DType, torch_like: bool):
        """A result in the caller's library."""
        return arrays.result(array, dtype, torch_like)

    # -- compiled code --------------------------------------------------------------------------------------------------

    def address(self, array) -> int:
        return address_of(array)

    def empty(self, shape, dtype: DType):
        """Memory for a result of compiled code, and its address."""
        type_ = _NUMPY.get(dtype) or _NUMPY.setdefault(dtype, np.dtype(dtype.numpy))
        memory = bytes_(math.prod(shape) * type_.itemsize + ALIGNMENT)
        address = address_of(memory)
        lead = -address % ALIGNMENT
        return np.ndarray(shape, type_, memory, lead), address + lead

    def aligned(self, array, dtype: DType):
        """Dense memory at an address that compiled code takes, and that address."""
        array = np.asarray(array, order="C")
        address = address_of(array)
        if address % ALIGNMENT == 0:
            return array, address
        made, address = self.empty(array.shape, dtype)
        made[...] = array
        return made, address

    @staticmethod
    def realigned(array: np.ndarray):
        """A dense array's copy at an address that compiled code takes, and that address."""
        memory = np.empty(array.nbytes + ALIGNMENT, np.uint8)
        lead = -address_of(memory) % ALIGNMENT
        made = np.ndarray(array.shape, array.dtype, memory, lead)
        made[...] = array
        return made, address_of(made)

    def device_object(self):
        """What a tensor says of where it lies."""
        torch = sys.modules.get("torch")
        return Device("cpu") if torch is None else torch.device("cpu")

    def stream(self) -> Optional[int]:
        """The stream that calls go to."""
        return None

    def when_known(self, numbers: Sequence, use: Callable[[Sequence[int]], None]) -> None:
        """Calls `use` with what a program counted: at once, or when a device has counted."""
        use([int(n) for n in numbers])

    def to_host(self, array) -> np.ndarray:
        return array

    def from_host(self, array: np.ndarray, dtype: DType):
        return array

    # -- while a program runs -------------------------------------------------------------------------------------------

    def view(self, x, step: str, numbers: Sequence):
        """A view by one step; the same storage."""
        return apply_step(x, step, numbers)

    def write(self, target, source) -> None:
        """Everything of an array is overwritten."""
        np.copyto(target, source)

    def number(self, value, v: Value):
        """A Python number; from a device it has to be waited for."""
        return value.item() if isinstance(value, np.ndarray) else value

    def input(self, value, v: Value):
        """A value as compiled code takes it: dense."""
        if v.type.kind == "scalar":
            made, _ = self.empty((), v.type.dtype or dtypes.int64)
            made[...] = value
            return made
        # Not `ascontiguousarray`, which gives a dimension to what has none.
        return np.asarray(value, order="C")

    def output(self, array, v: Value):
        """What compiled code gave, as the runner keeps it."""
        return array.item() if v.type.kind == "scalar" else array

    def place(self, array) -> Place:
        return address_of(array), array.shape, tuple(s // array.itemsize for s in array.strides)

    def extent(self, array) -> Optional[Tuple[int, int]]:
        """First and last byte of an array's memory; nothing where it has no elements."""
        return arrays.extent(array)

    def overlap(self, a, b) -> bool:
        return arrays.overlap(a, b)

    def base(self, array):
        """All of the storage that an array is a view of, as one dimension."""
        first, dtype = address_of(array), array.dtype
        flat = _flat(_root(array))
        if flat.dtype == dtype:
            return flat
        # Results of compiled code lie in bytes (`empty`), from the first one that an element begins with.
        data = flat.view(np.uint8)
        lead = (first - address_of(data)) % dtype.itemsize
        return data[lead : lead + (data.size - lead) // dtype.itemsize * dtype.itemsize].view(dtype)

    def step(self, name: str) -> Callable:
        return library.step(name)

    def steps(self) -> Tuple[Dict[str, Callable], Collection[Callable]]:
        """The steps by name as they are registered, now and later; and those that are ours."""
        return library.table(), library.OURS

    def step_operand(self, value, v: Value):
        """A value as a step takes it: bfloat16 as float32."""
        if v.type.kind != "scalar" and v.type.dtype is dtypes.bfloat16:
            return (value.astype(np.uint32) << 16).view(np.float32)
        return value

    def step_result(self, result, v: Value):
        """What a step gives, in the element type of the program."""
        if v.type.kind != "tensor":
            return int(result)
        if v.type.dtype is dtypes.bfloat16:
            return _as_bfloat16(np.asarray(result, np.float32))
        if type(result) is not np.ndarray or not result.flags.c_contiguous or result.dtype != v.type.dtype.numpy:
            result = np.ascontiguousarray(result, v.type.dtype.numpy).reshape(np.shape(result))
        return result


class TorchMemory(Memory):
    """PyTorch's tensors on a device. Numbers that compiled code gives stay there until something asks for them."""

    style = "torch"

    def __init__(self, device):
        self.torch = sys.modules["torch"]
        self.place_of = self.torch.device(device)
        is_cpu = self.place_of.type == "cpu"
        self.device = (CPU, 0) if is_cpu else (CUDA, self.place_of.index or 0)
        self.knows_numbers = is_cpu

    def adopt(self, value):
        return (self.torch.view_as_real(value) if value.is_complex() else value).detach()

    def is_dense(self, array) -> bool:
        return array.is_contiguous()

    def copy(self, array):
        return array.clone(memory_format=self.torch.contiguous_format)

    def is_read_only(self, array) -> bool:
        return False

    def repeats(self, array) -> bool:
        return arrays.repeats(array.shape, array.stride())

    def result(self, array, dtype: DType, torch_like: bool):
        return array

    def address(self, array) -> int:
        return array.data_ptr()

    def empty(self, shape, dtype: DType):
        made = self.torch.empty(tuple(shape), dtype=self.dtype(dtype), device=self.place_of)
        return made, made.data_ptr()

    def like(self, shape, dtype: DType):
        """What memory for a result is made like: one number that stands for all takes PyTorch less time than a shape and a type."""
        return self.torch.empty((1,) * len(shape), dtype=self.dtype(dtype), device=self.place_of).expand(shape)

    def aligned(self, array, dtype: DType):
        return array, array.data_ptr()

    def device_object(self):
        return self.place_of

    def stream(self) -> Optional[int]:
        return None if self.device[0] == CPU else current_stream("torch", self.device, None)

    def when_known(self, numbers: Sequence, use: Callable[[Sequence[int]], None]) -> None:
        """Nothing waits for a device here: what went wrong is said by the next call, or by `fractaltensor.synchronize`."""
        if self.device[0] == CPU:
            return super().when_known(numbers, use)
        cuda = self.torch.cuda
        # What is being captured has not run; each replay would need a look of its own.
        if not cuda.is_current_stream_capturing():
            there = self.torch.stack([n.reshape(()) for n in numbers])
            here = self.torch.empty(len(numbers), dtype=there.dtype, pin_memory=True)
            here.copy_(there, non_blocking=True)
            event = cuda.Event()
            event.record()
            _calls.later.append((event, lambda: use(here.tolist())))
            direct.epoch.value += 1  # calls that are made in C look, too

    def to_host(self, array) -> np.ndarray:
        return arrays.as_numpy(array.cpu())

    def from_host(self, array: np.ndarray, dtype: DType):
        return arrays.result(array, dtype, True).to(self.place_of)

    def dtype(self, dtype: DType):
        return getattr(self.torch, dtype.name)

    def view(self, x, step: str, numbers: Sequence):
        if step == "open":
            return x
        if step == "select":
            d, i = numbers
            if not -x.shape[d] <= i < x.shape[d]:
                raise RunIndexError(f"index {i} of dimension {d} is out of range: its size is {x.shape[d]}")
            return x.select(d, i)
        if step in ("slice", "narrow"):
            return self._slice(x, step, *numbers)
        if step == "permute":
            return x.permute(*numbers)
        if step == "reshape":
            return x.view(*numbers) if numbers else x.view(())
        if step == "unsqueeze":
            return x.unsqueeze(numbers[0])
        if step == "expand":
            return x.expand(*numbers)
        if step == "diagonal":
            return x.diagonal(*numbers)
        if step == "unfold":
            return x.unfold(*numbers)
        rank = (len(numbers) - 1) // 2
        return x.as_strided(numbers[1 : 1 + rank], numbers[1 + rank :], x.storage_offset() + numbers[0])

    def _slice(self, x, step: str, d: int, start: int, last, by: int):
        check_narrow(x.shape, step, d, start, last, by)
        stop = None if last == "_" else start + last * by if step == "narrow" else last
        return x[(slice(None),) * d + (slice(start, stop, by),)]

    def write(self, target, source) -> None:
        target.copy_(source)

    def number(self, value, v: Value):
        return value.item() if isinstance(value, self.torch.Tensor) else value

    def input(self, value, v: Value):
        if v.type.kind == "scalar" and not isinstance(value, self.torch.Tensor):
            return self.torch.full((), value, dtype=self.dtype(v.type.dtype or dtypes.int64), device=self.place_of)
        # `clone` of an aligned tensor's view: compiled code wants 16 bytes, a view may begin anywhere.
        dense = value.contiguous()
        return dense if dense.data_ptr() % 16 == 0 else dense.clone(memory_format=self.torch.contiguous_format)

    def output(self, array, v: Value):
        return array

    def place(self, array) -> Place:
        return array.data_ptr(), tuple(array.shape), tuple(array.stride())

    def extent(self, array) -> Optional[Tuple[int, int]]:
        return extent_of(array)

    def overlap(self, a, b) -> bool:
        first, second = extent_of(a), extent_of(b)
        return first is not None and second is not None and first[0] < second[1] and second[0] < first[1]

    def base(self, array):
        count = array.untyped_storage().nbytes() // array.element_size()
        return array.as_strided((count,), (1,), 0)

    def step(self, name: str) -> Callable:
        from . import device_steps

        return device_steps.step(name, self.place_of.type)

    def steps(self) -> Tuple[Dict[str, Callable], Collection[Callable]]:
        from . import device_steps

        return device_steps.table(self.place_of.type), device_steps.OURS

    def step_operand(self, value, v: Value):
        return self.number(value, v) if v.type.kind == "scalar" else value

    def step_result(self, result, v: Value):
        if v.type.kind != "tensor":
            return int(result)
        return result.to(self.dtype(v.type.dtype)).contiguous()


def _root(array: np.ndarray) -> np.ndarray:
    """The array that all views of a storage are views of."""
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):  # `as_strided` puts an object of its own between
            base = getattr(base, "base", None)
        if not isinstance(base, np.ndarray):
            return array
        array = base


def _flat(array: np.ndarray) -> np.ndarray:
    """All from the first to the last element in memory, as one dimension of the same memory."""
    if array.flags.c_contiguous:
        return array.reshape(-1)
    array = array[tuple(slice(None, None, -1) if s < 0 else slice(None) for s in array.strides)]
    reach = sum((n - 1) * s for n, s in zip(array.shape, array.strides)) if array.size else -array.itemsize
    return np.lib.stride_tricks.as_strided(array, (reach // array.itemsize + 1,), (array.itemsize,))


def extent_of(tensor) -> Optional[Tuple[int, int]]:
    """First and last byte of a tensor's memory."""
    if not tensor.numel():
        return None
    reach = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride()))
    return tensor.data_ptr(), tensor.data_ptr() + (reach + 1) * tensor.element_size()


def _as_bfloat16(x: np.ndarray) -> np.ndarray:
    """Floats as bfloat16, to nearest and ties to even; NaN stays NaN."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    rounded = np.where(np.isnan(x), bits >> 16 | 0x40, bits + (0x7FFF + (bits >> 16 & 1)) >> 16)
    return rounded.astype(np.uint16).reshape(x.shape)


def check_narrow(shape: Sequence[int], step: str, d: int, start: int, last, by: int) -> None:
    if step == "narrow" and not (0 <= start and (last == 0 or start + (last - 1) * by < shape[d])):
        raise RunIndexError(f"{last} elements from {start} on are out of range in dimension {d} of size {shape[d]}")


def is_inside(shape: Sequence, step: str, numbers: Sequence) -> bool:
    """Whether a view by a step is known to lie inside of a tensor of these sizes (None where one is not known)."""
    if step == "unsqueeze":
        return True
    if step not in ("select", "slice", "narrow") or shape[numbers[0]] is None:
        return False
    if step == "select":
        return -shape[numbers[0]] <= numbers[1] < shape[numbers[0]]
    try:
        check_narrow(shape, step, *numbers)
    except RunIndexError:
        return False
    return True


def apply_step(x: np.ndarray, step: str, numbers: Sequence) -> np.ndarray:
    """A view by one step; the same storage."""
    if step == "open":
        return x
    if step == "select":
        d, i = numbers
        if not -x.shape[d] <= i < x.shape[d]:
            raise RunIndexError(f"index {i} of dimension {d} is out of range: its size is {x.shape[d]}")
        return np.moveaxis(x, d, 0)[i, ...]
    if step in ("slice", "narrow"):
        d, start, last, by = numbers
        check_narrow(x.shape, step, d, start, last, by)
        stop = None if last == "_" else start + last * by if step == "narrow" else last
        return x[(slice(None),) * d + (slice(start, stop, by),)]
    if step == "permute":
        return x.transpose(numbers)
    if step == "reshape":
        made = x.view()
        made.shape = tuple(numbers)
        return made
    if step == "unsqueeze":
        return np.expand_dims(x, numbers[0])
    if step == "expand":
        skip = len(numbers) - x.ndim
        return np.broadcast_to(x, [x.shape[d - skip] if n == -1 else n for d, n in enumerate(numbers)])
    if step == "diagonal":
        return _diagonal(x, *numbers)
    strided = np.lib.stride_tricks.as_strided
    if step == "unfold":
        d, n, by = numbers
        count = (x.shape[d] - n) // by + 1
        sizes = [*x.shape[:d], count, *x.shape[d + 1 :], n]
        return strided(x, sizes, [*x.strides[:d], x.strides[d] * by, *x.strides[d + 1 :], x.strides[d]])
    rank = (len(numbers) - 1) // 2
    flat = x.reshape(-1)
    return strided(flat[numbers[0] :], numbers[1 : 1 + rank], [n * x.itemsize for n in numbers[1 + rank :]])


def _diagonal(x: np.ndarray, offset: int, d0: int, d1: int) -> np.ndarray:
    made = np.diagonal(x, offset, d0, d1)
    strided = np.lib.stride_tricks.as_strided
    # NumPy's is read-only.
    start = x[tuple(slice(max(0, -offset), None) if d == d0 else slice(max(0, offset), None) if d == d1 else slice(None) for d in range(x.ndim))]
    return strided(start, made.shape, made.strides) if made.size else np.empty(made.shape, x.dtype)


HOST = Memory()

