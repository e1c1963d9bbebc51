# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ragged programs as compiled code, which takes values and, for each ragged level, lists of indices made from offsets.

The lists are those of the pass ``ft-pad-ragged``; ``ft_ragged_fill`` of the runtime makes them. Their size is the
number of lists times the longest one's length, and the work is that of lists that long.
"""

from __future__ import annotations

import ctypes
from ctypes import byref, c_int32, c_int64, c_void_p
from typing import Any, Dict, List, Sequence, Tuple

from . import arrays, compiled
from . import library as lib
from .arrays import CPU, ArrayInfo, DLTensor, code_of
from .binding import RaggedArray
from .errors import ArgumentError, ArgumentValueError
from .types import DType, ListType, i64


class _Level:
    """The lists of one ragged level: index, lengths, positions, lists and places."""

    def __init__(self, name: str, what: str, offsets: ArrayInfo, elements: int, is_nested: bool):
        library = lib.library()
        count = offsets.shape[0]
        numbers = ctypes.cast(offsets.pointer, ctypes.POINTER(c_int64))
        longest = c_int64()
        if library.ft_ragged_longest(numbers, count, elements, byref(longest)) != lib.OK:
            reason = (library.ft_last_error() or b"").decode(errors="replace")
            raise ArgumentValueError(f"{what}: the offsets of {name}: {reason}")
        lists, self.total, most = count - 1, int(numbers[count - 1]), longest.value
        shapes = [(lists, most), (lists,), (most,), (self.total,), (self.total,)] if is_nested else [(most,), (), (most,), (self.total,), (self.total,)]
        sizes = (lists * most, max(1, lists), most, self.total, self.total)
        self.arrays = [(c_int64 * max(1, size))() for size in sizes]
        lib.check(library.ft_ragged_fill(numbers, count, most, *self.arrays), what)
        self.tensors = [(i64, shape, ctypes.addressof(memory)) for shape, memory in zip(shapes, self.arrays)]


def _struct(dtype: DType, shape: Sequence[int], pointer: int, keep: List) -> DLTensor:
    code, bits = code_of(dtype)
    tensor = DLTensor(data=pointer, device_type=CPU, ndim=len(shape), code=code, bits=bits, lanes=1)
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


def module_for(jit, program):
    """The program's code for this processor.

    Raises:
      CompileError: the program does what has no meaning over padded lists, such as a scan over a ragged level.
    """
    request = compiled.Request("cpu")
    key = (id(program), "cpu")
    module = jit._ragged_modules.get(key)
    if module is None:
        module = jit._ragged_modules[key] = compiled.module(program, request, (CPU, 0))
    return module, request


def call(jit, program, module, inputs: Sequence[ArrayInfo], offsets: Dict[str, Tuple[Any, ArrayInfo, str]], lengths: Dict[str, int]):
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
    for level in levels.values():
        tensors += level.tensors
    return _results(program, module, tensors, levels, offsets, inputs[0].kind)


def _results(program, module, tensors, levels: Dict[str, _Level], offsets, kind: str):
    keep: List = []
    structs = [_struct(*tensor, keep) for tensor in tensors]
    count = len(module.arguments)
    if len(structs) + len(program.result_types) != count:
        raise lib.errors.InternalError(f"{program.name}: the compiled program has {count} arguments, the call {len(structs)}")
    pointers = (c_void_p * count)(*[ctypes.addressof(s) for s in structs])
    made, first = [], len(structs)
    for at, type_ in enumerate(program.result_types, first):
        argument = module.arguments[at]
        extents, rank = (c_int64 * max(1, argument.ndim))(), c_int32(argument.ndim)
        lib.check(module.library.ft_output_shape(module.entry, pointers, count, at, extents, byref(rank)), program.name)
        dtype = type_.element.dtype if isinstance(type_, ListType) else type_.dtype
        shape = tuple(extents[: rank.value])
        array = arrays.allocator(kind, dtype, shape, CPU, 0)()
        made.append((array, arrays.describe(array)))
        structs.append(_struct(dtype, shape, made[-1][1].pointer, keep))
        pointers[at] = ctypes.addressof(structs[-1])
    status = module.library.ft_call(module.entry, pointers, count, None)
    if status:
        text = (module.library.ft_last_error() or b"").decode(errors="replace")
        kind_of = lib._EXCEPTIONS.get(status, lib.errors.InternalError)
        raise kind_of(f"{program.name}: {lib.readable(text)}")
    leaves = [_leaf(type_, array, offsets, kind) for type_, (array, _) in zip(program.result_types, made)]
    return leaves[0] if program.structure == 0 else program.unflatten(leaves)


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
