# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls with ragged lists. They run as compiled code (:mod:`fractaltensor.padded_calls`). A program that the compiler refuses,
such as a slice of a ragged list, runs on the CPU in the reference interpreter, which is slow, and a warning says so.

An argument with ragged levels is ``ft.ragged(values, offsets)``: its elements one after the other, and for each
ragged level where its lists begin, one more number than there are lists. Results have the same form.
"""

from __future__ import annotations

import ctypes
import sys
import warnings
from ctypes import c_int64, c_void_p
from typing import Any, Dict, List, Tuple

from . import arrays, compiled, padded_calls
from . import library as lib
from .arrays import CPU, ArrayInfo
from .binding import Binder, RaggedArray, check_bounds, found_text
from .errors import ArgumentError, ArgumentValueError, CompileError
from .lengths import Length
from .padded_calls import module_for
from .torch_tracking import refuse
from .types import ListType, i64


def _levels(type_) -> List[str]:
    return [n.ragged for n in type_.lengths if n.ragged is not None] if isinstance(type_, ListType) else []


class _Arguments:
    """The arguments of one call: what names stand for, and the arrays that the interpreter takes."""

    def __init__(self, jit, values):
        self.jit, self.binder = jit, Binder(jit.signature, jit.__name__, copies=False)
        self.offsets: Dict[str, Tuple[Any, ArrayInfo, str]] = {}
        self.inputs: List[ArrayInfo] = []
        self.binder.found = {}
        plain = []
        for parameter, value in zip(jit.signature.traced, values):
            if _levels(parameter.type):
                info = self._ragged(parameter, value)
                self.inputs.append(_dense(value.values, info))
            else:
                info = self.binder._describe(parameter, value)
                self.binder.found[parameter.name] = info
                self.binder._check_form(parameter, info)
                self.inputs.append(_dense(value, info))
                plain.append((parameter, info))
        for parameter, info in plain:
            self.binder._bind_names(parameter, info)
        for parameter, info in plain:
            self.binder._check_expressions(parameter, info)
        self.device = self.binder._device(self.inputs)

    def _ragged(self, parameter, value) -> ArrayInfo:
        type_, names = parameter.type, _levels(parameter.type)
        if not isinstance(value, RaggedArray):
            raise self.binder.fail(parameter.name, f"is {type_}, found {type(value).__name__}: use ft.ragged(values, offsets)")
        if len(value.offsets) != len(names):
            raise self.binder.fail(parameter.name, f"is {type_} with {len(names)} ragged levels, found offsets of {len(value.offsets)}")
        info = arrays.describe(value.values)
        if info is None:
            raise self.binder.fail(parameter.name, f"has values of type {type(value.values).__name__}: pass an array")
        element = type_.element
        self.binder.found[parameter.name] = info
        shape = info.shape[len(info.shape) - element.rank :] if len(info.shape) == element.rank + 1 else None
        if shape is None or info.dtype is None or (element.dtype.is_bound and info.dtype != element.dtype):
            raise self.binder.fail(parameter.name, f"is {type_}: its values are an array of elements, rank {element.rank + 1} of {element.dtype}; found {found_text(info)}")
        if not element.dtype.is_bound:
            self.binder._bind(self.binder.dtypes, element.dtype.name, info.dtype, parameter.name, "element types")
        for extent, found in zip(element.shape, shape):
            name = extent.single_name if isinstance(extent, Length) else None
            if name is not None:
                self.binder._bind(self.binder.lengths, name, found, parameter.name, "extents")
                self.binder.extents[name] = self.binder.lengths[name]
            elif isinstance(extent, int) and extent != found:
                raise self.binder.fail(parameter.name, f"is {type_}, found values {found_text(info)}: an extent of the element is {found}, not {extent}", ArgumentValueError)
        for name, offsets in zip(names, value.offsets):
            self._take_offsets(parameter, name, offsets)
        return info

    def _take_offsets(self, parameter, name: str, offsets) -> None:
        info = arrays.describe(offsets)
        if info is None and isinstance(offsets, (list, tuple)):
            import numpy as np

            offsets = np.asarray(offsets, np.int64)
            info = arrays.describe(offsets)
        if info is None or info.dtype != i64 or len(info.shape) != 1 or info.shape[0] < 1:
            raise self.binder.fail(parameter.name, f"has offsets of {name} that are no array of i64 with one number more than there are lists")
        numbers = offsets
        if info.device_type != CPU:
            # Shapes depend on them, so the host has to know them: this waits for the device.
            numbers = offsets.cpu() if hasattr(offsets, "cpu") else offsets.get()
            info = arrays.describe(numbers)
        info = _dense(numbers, info)
        known = self.offsets.get(name)
        if known is None:
            self.offsets[name] = (offsets, info, parameter.name)
        elif _numbers(known[1]) != _numbers(info):
            raise self.binder.fail(parameter.name, f"has other offsets of {name} than '{known[2]}': levels of one name have the same lists", ArgumentValueError, known[2])


def _numbers(info: ArrayInfo) -> List[int]:
    return list((c_int64 * info.shape[0]).from_address(info.pointer))


def _tensor(info: ArrayInfo, keep: List) -> arrays.DLTensor:
    code, bits = arrays.code_of(info.dtype)
    shape = (c_int64 * len(info.shape))(*info.shape)
    tensor = arrays.DLTensor(data=info.pointer, device_type=CPU, ndim=len(info.shape), code=code, bits=bits, lanes=1, shape=shape)
    keep += [shape, tensor, info]
    return tensor


def call_ragged(jit, values, statics, engine, out, stream):
    """Binds, traces, and runs as compiled code, else in the interpreter; gives results in the first argument's library."""
    from .jit import current_stream, target_of

    if out is not None:
        raise ArgumentError(f"{jit.__name__}: the results of ragged programs have shapes that are data: out= is not possible")
    plain = [v.values if isinstance(v, RaggedArray) else v for v in values]
    refuse(jit.__name__, plain, "programs with lists of several lengths have no derivatives: call it within torch.no_grad()")
    given = _Arguments(jit, values)
    binder, device = given.binder, given.device
    target = target_of(engine, device, jit.__name__)
    run_on = current_stream(given.inputs[0].kind, device, stream)
    lengths = {n: v for n, (v, _) in binder.lengths.items()}
    check_bounds(jit.signature, jit._options.bounds, jit.__name__, lengths)
    program = jit._program({n: v for n, (v, _) in binder.extents.items()}, {n: d for n, (d, _) in binder.dtypes.items()}, statics)
    if target != "interpret":
        try:
            module, request = module_for(jit, program, target, device)
        except CompileError as error:
            if engine == "cpu" or device[0] != CPU:
                raise
            _warn(jit, error)
        else:
            jit._latest = (program, request)
            return _run(jit, program, module, given, lengths, run_on, stream is not None)
    return _interpret(jit, program, given)


def _run(jit, program, module, given: _Arguments, lengths, stream, is_given: bool):
    """Compiled code on a stream, which may be another than the library's current one."""
    from .jit import _calls, _keep_for_stream, _on_stream

    with _on_stream(stream if is_given else None, given.device):
        results, holder = padded_calls.call(jit, program, module, given.inputs, given.offsets, lengths, given.device, stream)
    if is_given:
        _keep_for_stream([info.holder for info in given.inputs] + [holder], stream, given.device)
    _calls.note(module, stream, given.device)
    return results


def _interpret(jit, program, given: _Arguments):
    from .printer import symbol

    jit._latest = (program, compiled.Request("interpret"))
    keep: List = []
    order = dict.fromkeys(name for type_ in program.types for name in _levels(type_))
    tensors = [_tensor(info, keep) for info in (*given.inputs, *(given.offsets[name][1] for name in order))]
    found = _evaluate(program, symbol(program.name), tensors)
    return _results(program, found, given.inputs[0].kind)


def _warn(jit, error: CompileError) -> None:
    """Says, once a program, why it does not run as compiled code."""
    if jit._warned_ragged:
        return
    jit._warned_ragged = True
    warnings.warn(
        f"{jit.__name__} has ragged lists and runs in the interpreter, which is slow: {error.reason}; "
        "engine='interpret' says that this is meant", RuntimeWarning, stacklevel=6,
    )


def _dense(array, info: ArrayInfo) -> ArrayInfo:
    """The description of an array, or of a copy of it where numbers do not follow each other."""
    return info if arrays.is_dense(info) else arrays.describe(arrays.dense_copy(array))


def _evaluate(program, name: str, tensors) -> List:
    """The results' arrays, as NumPy's."""
    import numpy as np

    found: List = []
    pointers = (c_void_p * len(tensors))(*[ctypes.addressof(t) for t in tensors])

    @lib.ArrayFn
    def take(tensor, _user):
        t = tensor.contents
        shape = tuple(t.shape[i] for i in range(t.ndim))
        array = np.empty(shape, arrays._numpy_of(arrays._CODES[(t.code, t.bits)]))
        if array.nbytes:
            ctypes.memmove(array.ctypes.data, t.data, array.nbytes)
        found.append(array)

    failures: List[str] = []

    def use(source):
        status = lib.library().ft_evaluate(source, name.encode(), pointers, len(tensors), take, None)
        if status == lib.INVALID_ARGUMENT:
            failures.append((lib.library().ft_last_error() or b"").decode(errors="replace"))
            status = lib.OK
        return status, None

    compiled._with_source(program, False, use)
    if failures:
        raise ArgumentValueError(f"{program.name}: {failures[0]}")
    return found


def _results(program, found: List, kind: str):
    """Values and offsets as the function's results; ragged ones as :class:`RaggedArray`."""
    count = len(program.result_types)
    names = list(dict.fromkeys(name for type_ in program.result_types for name in _levels(type_)))
    offsets = dict(zip(names, found[count:]))

    def convert(array):
        if kind == "torch":
            return sys.modules["torch"].from_numpy(array)
        return arrays.finish(kind, array)

    leaves = []
    for type_, array in zip(program.result_types, found):
        levels = _levels(type_)
        leaves.append(RaggedArray(convert(array), tuple(convert(offsets[n]) for n in levels)) if levels else convert(array))
    return leaves[0] if program.structure == 0 else program.unflatten(leaves)
