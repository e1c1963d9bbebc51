# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ragged programs as compiled code, which takes values and, for each ragged level, lists of indices made from offsets.

The lists are those of the pass ``ft-pad-ragged``; ``ft_ragged_fill`` of the runtime makes them on the host, and one copy
brings all of them to a GPU. Their size is the number of lists times the longest one's length, and the work is that of
lists that long.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import byref, c_int32, c_int64, c_void_p
from typing import Any, Dict, List, Optional, Sequence, Tuple

from . import arrays, compiled
from . import library as lib
from .arrays import CPU, ArrayInfo, DLTensor, code_of
from .binding import RaggedArray
from .errors import ArgumentError, ArgumentValueError
from .types import DType, ListType, i64

#: Where each list begins, in numbers: 32 bytes, which is more than any load of several numbers asks for.
_STEP = 4


class _Level:
    """The lists of one ragged level: index, lengths, positions, lists and places."""

    def __init__(self, name: str, what: str, offsets: ArrayInfo, elements: int, is_nested: bool):
        self.what, self.count = what, offsets.shape[0]
        self.numbers = ctypes.cast(offsets.pointer, ctypes.POINTER(c_int64))
        longest = c_int64()
        library = lib.library()
        if library.ft_ragged_longest(self.numbers, self.count, elements, byref(longest)) != lib.OK:
            reason = (library.ft_last_error() or b"").decode(errors="replace")
            raise ArgumentValueError(f"{what}: the offsets of {name}: {reason}")
        lists, self.total, self.longest = self.count - 1, int(self.numbers[self.count - 1]), longest.value
        most = self.longest
        self.shapes = [(lists, most) if is_nested else (most,), (lists,) if is_nested else (), (most,), (self.total,), (self.total,)]
        self.sizes = [lists * most, max(1, lists), most, self.total, self.total]

    def fill(self, memory) -> None:
        """Writes the lists to where :func:`_place` put them."""
        begins = (ctypes.cast(ctypes.addressof(memory) + 8 * at, ctypes.POINTER(c_int64)) for at in self.begins)
        lib.check(lib.library().ft_ragged_fill(self.numbers, self.count, self.longest, *begins), self.what)


def _place(levels: Sequence[_Level]) -> int:
    """Gives each list of each level its place in one piece of memory; how many numbers that has."""
    end = 0
    for level in levels:
        level.begins = []
        for size in level.sizes:
            level.begins.append(end)
            end += -(-max(1, size) // _STEP) * _STEP
    return end


def _lists(levels: Sequence[_Level], device: Tuple[int, int]) -> Tuple[List[Tuple[DType, Tuple[int, ...], int]], Any]:
    """Element type, shape and address of each list on a device, and what keeps them alive."""
    memory = (c_int64 * max(1, _place(levels)))()
    for level in levels:
        level.fill(memory)
    base, holder = (ctypes.addressof(memory), memory) if device[0] == CPU else _upload(memory, device)
    return [(i64, shape, base + 8 * at) for level in levels for shape, at in zip(level.shapes, level.begins)], holder


def _upload(memory, device: Tuple[int, int]) -> Tuple[int, Any]:
    """A copy on a GPU, in the order of the current stream."""
    if "torch" in sys.modules:
        import torch

        copy = torch.frombuffer(memory, dtype=torch.int64).to(torch.device("cuda", device[1]))
        return copy.data_ptr(), copy
    if "cupy" in sys.modules:
        import cupy
        import numpy as np

        with cupy.cuda.Device(device[1]):
            copy = cupy.asarray(np.frombuffer(memory, np.int64))
        return copy.data.ptr, copy
    raise ArgumentError("ragged lists on a GPU need PyTorch or CuPy, which hold what is made from the offsets")


def _struct(dtype: DType, shape: Sequence[int], pointer: int, device: Tuple[int, int], keep: List) -> DLTensor:
    code, bits = code_of(dtype)
    tensor = DLTensor(data=pointer, device_type=device[0], device_id=device[1], ndim=len(shape), code=code, bits=bits, lanes=1)
    if shape:
        extents = (c_int64 * len(shape))(*shape)
        tensor.shape = extents
        keep.append(extents)
    return tensor


def _ragged_depth(type_) -> int:
    """How many dimensions lie above the ragged one, or -1."""
    if isinstance(type_, ListType):
        for depth, length in enumerate(type_.lengths):
            if length.ragged is not None:
                return depth
    return -1


def module_for(jit, program, target: str, device: Tuple[int, int]):
    """The program's code for a device.

    Raises:
      CompileError: the program does what has no meaning over padded lists, such as cutting a list of a ragged level.
    """
    request = compiled.Request(target)
    key = (id(program), target, device)
    module = jit._ragged_modules.get(key)
    if module is None:
        module = jit._ragged_modules[key] = compiled.module(program, request, device)
    return module, request


def call(
    jit, program, module, inputs: Sequence[ArrayInfo], offsets: Dict[str, Tuple[Any, ArrayInfo, str]], lengths: Dict[str, int],
    device: Tuple[int, int], stream: Optional[int],
):
    """Runs compiled code; results as :func:`fractaltensor.ragged_calls.call_ragged` gives them."""
    levels: Dict[str, _Level] = {}
    tensors: List[Tuple[DType, Tuple[int, ...], int]] = []
    for type_, info in zip(program.types, inputs):
        depth = _ragged_depth(type_)
        dtype = type_.element.dtype if isinstance(type_, ListType) else type_.dtype
        if depth < 0:
            tensors.append((dtype, info.shape, info.pointer))
            continue
        name, below = type_.lengths[depth].ragged, [length.substitute(lengths).constant for length in type_.lengths[depth + 1 :]]
        each = 1
        for extent in below:
            each *= extent
        elements = info.shape[0] // each if each else 0
        if name not in levels:
            levels[name] = _Level(name, program.name, offsets[name][1], elements, depth > 0)
        elif levels[name].total > elements:
            raise ArgumentValueError(f"{program.name}: the offsets of {name}: there are fewer elements than the offsets say")
        tensors.append((dtype, (levels[name].total, *below, *info.shape[1:]), info.pointer))
    lists, holder = _lists(list(levels.values()), device)
    results = _results(program, module, tensors + lists, inputs[0].kind, device, stream)
    leaves = [_leaf(type_, array, offsets, inputs[0].kind) for type_, array in zip(program.result_types, results)]
    return (leaves[0] if program.structure == 0 else program.unflatten(leaves)), holder


def _results(program, module, tensors, kind: str, device: Tuple[int, int], stream: Optional[int]) -> List[Any]:
    """Makes the results' arrays and calls the code."""
    keep: List = []
    structs = [_struct(*tensor, device, keep) for tensor in tensors]
    count = len(module.arguments)
    if len(structs) + len(program.result_types) != count:
        raise lib.errors.InternalError(f"{program.name}: the compiled program has {count} arguments, the call {len(structs)}")
    pointers = (c_void_p * count)(*[ctypes.addressof(s) for s in structs])
    made = []
    for at, type_ in enumerate(program.result_types, len(structs)):
        argument = module.arguments[at]
        extents, rank = (c_int64 * max(1, argument.ndim))(), c_int32(argument.ndim)
        lib.check(module.library.ft_output_shape(module.entry, pointers, count, at, extents, byref(rank)), program.name)
        dtype = type_.element.dtype if isinstance(type_, ListType) else type_.dtype
        shape = tuple(extents[: rank.value])
        made.append(arrays.allocator(kind, dtype, shape, *device)())
        structs.append(_struct(dtype, shape, arrays.describe(made[-1]).pointer, device, keep))
        pointers[at] = ctypes.addressof(structs[-1])
    status = module.library.ft_call(module.entry, pointers, count, byref(lib.CallOptions(stream=stream)))
    if status:
        text = (module.library.ft_last_error() or b"").decode(errors="replace")
        kind_of = lib._EXCEPTIONS.get(status, lib.errors.InternalError)
        raise kind_of(f"{program.name}: {lib.readable(text)}{lib._HINTS.get(status, '')}")
    return made


def _leaf(type_, array, offsets, kind: str):
    """A result in the first argument's library; a ragged one is its elements one after the other."""
    if _ragged_depth(type_) < 0:
        return arrays.finish(kind, array)
    element = type_.element.shape
    if not hasattr(array, "reshape"):
        raise ArgumentError("ragged results of plain buffers need NumPy")
    flat = array.reshape((-1, *element)) if 0 not in array.shape else array[:0].reshape((0, *element))
    own = []
    for length in type_.lengths:
        if length.ragged is not None:
            given = offsets[length.ragged][0]
            own.append(given.clone() if hasattr(given, "clone") else given.copy() if hasattr(given, "copy") else given)
    return RaggedArray(arrays.finish(kind, flat), tuple(own))
