# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is prepared once for each signature of a call, so that the calls after the first cost little.

A *signature* is the shapes, strides, element types and devices of the arguments. Its plan holds the
runtime's tensor structs, filled but for the data's addresses, and functions that make the results.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int64, c_void_p
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from . import arrays
from . import library as lib
from .arrays import CPU, ArrayInfo, DLTensor, code_of
from .binding import device_text, found_text, result_shape
from .compiled import Module
from .errors import ArgumentError, ArgumentValueError
from .program import Program
from .types import DType, ListType


class _Frame:
    """The structs of one call in flight. Threads that call at once have one each."""

    __slots__ = ("tensors", "pointers", "keep")

    def __init__(self, specs: Sequence[Tuple]):
        self.tensors: List[DLTensor] = []
        self.keep: List = []
        for dtype, shape, strides, device in specs:
            code, bits = code_of(dtype)
            tensor = DLTensor(
                device_type=device[0], device_id=device[1], ndim=len(shape), code=code, bits=bits, lanes=1,
            )
            if shape:
                extents = (c_int64 * len(shape))(*shape)
                tensor.shape = extents
                self.keep.append(extents)
                if strides is not None:
                    steps = (c_int64 * len(shape))(*strides)
                    tensor.strides = steps
                    self.keep.append(steps)
            self.tensors.append(tensor)
        self.pointers = (c_void_p * len(self.tensors))(*[ctypes.addressof(t) for t in self.tensors])


class Plan:
    """One signature of calls of one compiled program."""

    def __init__(self, program: Program, module: Module, infos: Sequence[ArrayInfo], lengths: Dict[str, int], kind: str):
        self.program, self.module, self.kind = program, module, kind
        self.device = (infos[0].device_type, infos[0].device_id)
        self.call = module.library.ft_call
        self.entry = module.entry
        self.inputs = [
            # Without elements there is nothing to step over, and libraries write what they like.
            (_bits_dtype(type_), info.shape, None if 0 in info.shape else info.strides, self.device) for type_, info in zip(program.types, infos)
        ]
        self.results = []
        for index, type_ in enumerate(program.result_types):
            shape = result_shape(type_, lengths)
            if shape is None:
                raise ArgumentError(f"{program.name}: result {index} is {type_}, whose lengths are data: give it by out=")
            self.results.append((type_.element.dtype if isinstance(type_, ListType) else type_.dtype, shape))
        specs = self.inputs + [(dtype, shape, None, self.device) for dtype, shape in self.results]
        if len(specs) != len(module.arguments):
            raise lib.errors.InternalError(
                f"{program.name}: the compiled program has {len(module.arguments)} arguments, the traced one {len(specs)}"
            )
        self.allocators = [arrays.allocator(kind, dtype, shape, *self.device) for dtype, shape in self.results]
        self.result_pointer = _pointer_of(kind)
        self.argument_pointers = [_pointer_of(info.kind, _address) for info in infos]
        #: Arguments that compiled code cannot read as they lie are copied before each call.
        self.copied = [
            index for index, (info, argument) in enumerate(zip(infos, module.arguments))
            if not fits(info, argument.strided_dims)
        ]
        for index in self.copied:
            dtype, shape, _, device = specs[index]
            specs[index] = (dtype, shape, None, device)
            self.argument_pointers[index] = _pointer_of(_copy_kind(infos[index].kind))
        #: Arguments whose address comes from a description, which DLPack or a buffer makes.
        self.described = [i for i, pointer in enumerate(self.argument_pointers) if pointer is _address]
        self.specs = specs
        self.frames: List[_Frame] = [_Frame(specs)]
        self.count = len(specs)
        self.num_inputs = len(self.inputs)
        self.single = program.structure == 0
        #: Where code reads arguments by strides: makes the plan for copies of them, which it falls back to.
        self.dense: Optional[Callable[[], Plan]] = None
        self.finish = None if kind in ("numpy", "torch", "buffer", "cupy") else kind

    def refusal(self) -> str:
        """Why the code takes no arguments of these shapes and strides, wherever they lie; "" where it does."""
        bytes_needed = ctypes.c_uint64(0)
        status = self.module.library.ft_workspace_bytes(self.entry, self.frames[0].pointers, self.count, byref(bytes_needed))
        return str(self.error(status)) if status == lib.INVALID_ARGUMENT else ""

    def run(self, values: Sequence[Any], stream: Optional[int], flags: int = 0, flat: bool = False):
        """Calls with new results; `flat`: as a list, whatever the structure of the function's result."""
        given = values
        if self.copied:
            values = self._copies(values)
        if self.described:
            values, keep = self._hold(values)  # noqa: F841 - what describes data keeps it alive until the call is over
        frame = self.frames.pop() if self.frames else _Frame(self.specs)
        tensors = frame.tensors
        at = 0
        for value, pointer in zip(values, self.argument_pointers):
            tensors[at].data = pointer(value)
            at += 1
        outputs = []
        for make in self.allocators:
            output = make()
            outputs.append(output)
            tensors[at].data = self.result_pointer(output)
            at += 1
        try:
            self._launch(frame, stream, flags)
        except ArgumentValueError:
            if self.dense is not None:
                return self.dense().run(self._compact(given), stream, flags, flat)
            moved = self._moved(values)
            if moved is None:
                raise
            return self.run(moved, stream, flags, flat)
        if self.finish is not None:
            outputs = [arrays.finish(self.finish, o) for o in outputs]
        if flat:
            return outputs
        return outputs[0] if self.single else self.program.unflatten(outputs)

    def run_into(self, values: Sequence[Any], pointers: Sequence[int], stream: Optional[int], flags: int = 0) -> None:
        """Calls with results in memory of the caller, dense."""
        given = values
        if self.copied:
            values = self._copies(values)
        if self.described:
            values, keep = self._hold(values)  # noqa: F841
        frame = self.frames.pop() if self.frames else _Frame(self.specs)
        for tensor, value, pointer in zip(frame.tensors, values, self.argument_pointers):
            tensor.data = pointer(value)
        for tensor, address in zip(frame.tensors[self.num_inputs :], pointers):
            tensor.data = address
        try:
            self._launch(frame, stream, flags)
        except ArgumentValueError:
            if self.dense is None:
                raise
            self.dense().run_into(self._compact(given), pointers, stream, flags)

    def _moved(self, values: Sequence[Any]) -> Optional[List[Any]]:
        """Copies in the place of tensors on a device whose addresses the code cannot use; None where all are fine."""
        if self.device[0] == CPU:
            return None
        moved = [
            v.clone() if hasattr(v, "data_ptr") and hasattr(v, "clone") and v.data_ptr() % _ALIGNMENT else v for v in values
        ]
        return moved if any(a is not b for a, b in zip(moved, values)) else None

    def _compact(self, values: Sequence[Any]) -> List[Any]:
        """Copies of all arguments: dense as the program takes them, at addresses that any code can use."""
        return [arrays.dense_copy(v.swapaxes(-1, -2) if i in self.program.transposed else v, always=True) for i, v in enumerate(values)]

    def _hold(self, values: Sequence[Any]) -> Tuple[List[Any], List[ArrayInfo]]:
        """Addresses in the place of arrays that are known by a description, and the descriptions."""
        values, keep = list(values), []
        for index in self.described:
            info = arrays.describe(values[index])
            keep.append(info)
            values[index] = info.pointer
        return values, keep

    def _copies(self, values: Sequence[Any]) -> List[Any]:
        values = list(values)
        for index in self.copied:
            values[index] = arrays.dense_copy(values[index])
        return values

    def _launch(self, frame: _Frame, stream: Optional[int], flags: int) -> None:
        if stream is None and not flags:
            status = self.call(self.entry, frame.pointers, self.count, None)
        else:
            options = lib.CallOptions(stream=stream, flags=flags)
            status = self.call(self.entry, frame.pointers, self.count, byref(options))
        if status == lib.INVALID_ARGUMENT:
            status = self._retry_aligned(frame, stream, flags, status)
        self.frames.append(frame)
        if status:
            raise self.error(status)

    def _retry_aligned(self, frame: _Frame, stream: Optional[int], flags: int, status: int) -> int:
        """Once more where data on the host lies at an address that the code cannot use: with copies of it."""
        if self.device[0] != CPU:
            return status
        moved = []
        for index, (tensor, (dtype, shape, strides, _)) in enumerate(zip(frame.tensors, self.specs)):
            size = dtype.itemsize * _count(shape)
            if tensor.data and tensor.data % _ALIGNMENT and strides in (None, _dense_strides(shape)):
                memory = (ctypes.c_char * (size + _ALIGNMENT))()
                address = -(-ctypes.addressof(memory) // _ALIGNMENT) * _ALIGNMENT
                ctypes.memmove(address, tensor.data, size)
                moved.append((index, tensor.data, address, size, memory))
                tensor.data = address
        if not moved:
            return status
        options = lib.CallOptions(stream=stream, flags=flags)
        status = self.call(self.entry, frame.pointers, self.count, byref(options))
        for index, home, address, size, _ in moved:
            if index >= self.num_inputs and status == lib.OK:
                ctypes.memmove(home, address, size)
        return status

    def error(self, status: int):
        """The exception for a status of the runtime, with its message."""
        library = self.module.library
        text = (library.ft_last_error() or b"").decode(errors="replace")
        kind = lib._EXCEPTIONS.get(status, lib.errors.InternalError)
        return kind(f"{self.program.name}: {lib.readable(text)}{lib._HINTS.get(status, '')}")


#: What the runtime asks of addresses, in bytes.
_ALIGNMENT = 16


def fits(info: ArrayInfo, strided_dims: int) -> bool:
    """Whether code that reads `strided_dims` leading dimensions by strides can read an array."""
    if info.strides is None or 0 in info.shape:
        return True
    expected = 1
    for axis in range(len(info.shape) - 1, -1, -1):
        if info.shape[axis] != 1 and axis >= strided_dims and info.strides[axis] != expected:
            return False
        expected *= info.shape[axis]
    return True


def _row_alignment(type_, strided_dims: int) -> int:
    """What a GPU's code relies on: rows of a list by strides are as aligned as rows one after the other. In elements."""
    if isinstance(type_, ListType):
        element, lengths = type_.element, list(type_.lengths[strided_dims:])
    else:
        element, lengths = type_, []
    size = element.dtype.itemsize
    for extent in reversed([*lengths, *element.shape]):
        number = extent if isinstance(extent, int) else extent.constant
        if not number:
            break
        size *= number
    return max(1, min(_ALIGNMENT, size & -size) // element.dtype.itemsize)


def stride_classes(types: Sequence, infos: Sequence[ArrayInfo], target: str) -> Tuple[int, ...]:
    """For each argument the number of outermost list dimensions that do not follow each other in memory."""
    if target == "interpret":
        return ()
    classes = []
    for type_, info in zip(types, infos):
        depth = type_.depth if isinstance(type_, ListType) else 0
        strided = next((k for k in range(depth + 1) if fits(info, k)), 0)
        if strided and target != "cpu":
            rows = _row_alignment(type_, strided)
            if any(n > 1 and s % rows for n, s in zip(info.shape[:strided], info.strides)):
                strided = 0
        classes.append(strided)
    return tuple(classes)


def _copy_kind(kind: str) -> str:
    return kind if kind in ("numpy", "torch", "cupy") else "numpy"


def _dense_strides(shape) -> Tuple[int, ...]:
    strides: List[int] = []
    step = 1
    for extent in reversed(shape):
        strides.insert(0, step)
        step *= extent
    return tuple(strides)


def _bits_dtype(type_) -> DType:
    return type_.element.dtype if isinstance(type_, ListType) else type_.dtype


def _torch_pointer(value) -> int:
    return value.data_ptr()


def _described_pointer(value) -> int:
    return arrays.describe(value).pointer


def _address(value) -> int:
    """Of an argument that is an address already."""
    return value


def _cupy_pointer(value) -> int:
    return value.data.ptr


def _pointer_of(kind: str, other: Callable[[Any], int] = _described_pointer) -> Callable[[Any], int]:
    if kind == "numpy":
        return arrays.numpy_pointer()
    if kind == "torch":
        return _torch_pointer
    if kind == "cupy":
        return _cupy_pointer
    return other


# -- results that the caller gives ------------------------------------------------------------------------------


def check_outputs(plan: Plan, out) -> Tuple[Tuple[Any, ...], List[int]]:
    """``out=``: as many arrays as results, of their shapes and element types, dense and writable."""
    program = plan.program
    given = tuple(out) if isinstance(out, (tuple, list)) else (out,)
    if len(given) != len(plan.results):
        raise ArgumentError(f"{program.name}: out= gives {len(given)} arrays, there are {len(plan.results)} results")
    pointers = []
    for index, (array, (dtype, shape), type_) in enumerate(zip(given, plan.results, program.result_types)):
        what = f"{program.name}: out" + (f"[{index}]" if len(given) > 1 else "")
        info = arrays.describe(array)
        if info is None:
            raise ArgumentError(f"{what} is {type_}, found {type(array).__name__}: pass an array")
        expected = f"{dtype} {_shape_text(shape)}"
        if info.shape != shape or (info.dtype != dtype and not (dtype.name == "bf16" and info.dtype_text == "uint16")):
            raise ArgumentValueError(f"{what} must be {expected} for {type_}, found {found_text(info)}")
        if info.readonly:
            raise ArgumentError(f"{what} ({found_text(info)}) is read-only: pass an array that can be written")
        if (info.device_type, info.device_id) != plan.device:
            raise ArgumentError(f"{what} is on {device_text(info.device_type, info.device_id)}, the arguments are on {device_text(*plan.device)}")
        if info.strides is not None and not arrays.is_dense(info):
            raise ArgumentError(f"{what} ({found_text(info)}) is not contiguous, its strides are {info.strides}: pass a dense array")
        pointers.append(info.pointer)
    return given, pointers


def check_overlaps(plan: Plan, infos: Sequence[ArrayInfo], pointers: Sequence[int]) -> None:
    """Results share memory with no argument and with no other result."""
    spans = []
    for parameter, info in zip(plan.program.parameters, infos):
        low, high = 0, 1
        for extent, stride in zip(info.shape, info.strides or ()):
            reach = (extent - 1) * stride
            low, high = low + min(reach, 0), high + max(reach, 0)
        if info.strides is None:
            high = _count(info.shape)
        size = (info.dtype.itemsize if info.dtype else 2) if 0 not in info.shape else 0
        spans.append((info.pointer + low * size, info.pointer + high * size, f"argument '{parameter.name}'"))
    for index, ((dtype, shape), pointer) in enumerate(zip(plan.results, pointers)):
        end = pointer + dtype.itemsize * _count(shape)
        name = "out" + (f"[{index}]" if len(pointers) > 1 else "")
        for begin, stop, other in spans:
            if pointer < stop and begin < end:
                raise ArgumentValueError(f"{plan.program.name}: {name} overlaps {other}: pass memory of its own")
        spans.append((pointer, end, name))


def _count(shape: Sequence[int]) -> int:
    total = 1
    for extent in shape:
        total *= extent
    return total


def _shape_text(shape) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"
