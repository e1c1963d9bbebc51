# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeated calls in one C function (``ft-c/Python.h``), which takes the place of what Python would do for each.

The function reads arrays of NumPy and PyTorch where these libraries keep them, so a call costs about as much as
one of their own operations. What it does not know (other libraries, subclasses, gradients that are tracked, a new
signature) it leaves to :mod:`fractaltensor.jit`, which also says what is wrong with a call.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_int32, c_int64, c_size_t, c_void_p, py_object
from typing import Any, Callable, Dict, List, Optional, Sequence

from . import arrays
from . import library as lib
from .arrays import CPU, code_of

EXCHANGE, NUMPY_FIELDS = 0, 1
_LIBRARIES = {"numpy": 0, "torch": 1}

# -- structs of ft-c/Python.h -----------------------------------------------------------------------------------

_FUNCTIONS = (
    "PyObject_Type", "Py_IncRef", "Py_DecRef", "PyEval_SaveThread", "PyEval_RestoreThread", "PyObject_CallObject",
    "PyObject_CallFunctionObjArgs", "PyObject_CallMethodObjArgs", "PyObject_GetAttr", "PyLong_FromLongLong",
    "PyLong_AsVoidPtr", "PyTuple_New", "PyTuple_SetItem", "PyErr_Clear",
)


class _Api(lib.Sized):
    _fields_ = [("struct_size", c_size_t)] + [(name, c_void_p) for name in (*_FUNCTIONS, "none", "true", "false")]


class _Reader(lib.Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("kind", c_int32), ("library", c_int32), ("type", c_void_p), ("exchange", c_void_p),
        ("header_bytes", c_size_t), ("tracks_name", c_void_p), ("tracks_now", c_void_p), ("negated_name", c_void_p),
        ("level_owner", c_void_p), ("level_name", c_void_p), ("level_none", c_void_p),
        ("modes_count", c_void_p), ("modes_none", c_void_p),
    ]


class _PlanStruct(lib.Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("entry", c_void_p), ("tensors", c_void_p), ("num_inputs", c_int32),
        ("num_outputs", c_int32), ("library", c_int32), ("makers", c_void_p), ("single", c_int32), ("on_stream", c_int32),
        ("note", c_void_p), ("epoch", POINTER(c_int64)), ("failed", c_void_p),
    ]


class _Method(ctypes.Structure):
    """Python's ``PyMethodDef``."""

    _fields_ = [("name", c_char_p), ("function", c_void_p), ("flags", c_int), ("doc", c_char_p)]


_METH_FASTCALL = 0x80

# -- what is read ---------------------------------------------------------------------------------------------------

_kept: List[Any] = []  # what C knows by its address
_readers: Dict[str, bool] = {}
_method: Optional[_Method] = None


def _address(obj) -> int:
    _kept.append(obj)
    return id(obj)


def _start() -> bool:
    """Gives the library Python's functions. False where this Python has no C interface like CPython's."""
    global _method
    if _method is not None:
        return True
    if sys.implementation.name != "cpython":
        return False
    functions = {name: ctypes.cast(getattr(ctypes.pythonapi, name), c_void_p).value for name in _FUNCTIONS}
    api = _Api(none=id(None), true=id(True), false=id(False), **functions)
    library = lib.library()
    lib.check(library.ft_python_start(byref(api)), "Python's interface")
    call = ctypes.cast(library.ft_python_call, c_void_p).value
    _method = _Method(b"call", call, _METH_FASTCALL, b"A call whose signature is prepared; None for any other.")
    return True


def _add_torch() -> bool:
    import torch
    from torch.autograd import forward_ad

    capsule = getattr(torch.Tensor, "__dlpack_c_exchange_api__", None)
    if capsule is None:  # before PyTorch 2.10
        return False
    get = ctypes.PYFUNCTYPE(c_void_p, py_object, c_char_p)(("PyCapsule_GetPointer", ctypes.pythonapi))
    table = get(capsule, b"dlpack_exchange_api")
    for kind in (torch.Tensor, torch.nn.Parameter):
        reader = _Reader(
            kind=EXCHANGE, library=_LIBRARIES["torch"], type=_address(kind), exchange=table,
            tracks_name=_address("requires_grad"), tracks_now=_address(torch.is_grad_enabled), negated_name=_address("is_neg"),
            level_owner=_address(forward_ad), level_name=_address("_current_level"), level_none=_address(-1),
            modes_count=_address(torch._C._len_torch_dispatch_stack), modes_none=_address(0),
        )
        if lib.library().ft_python_reader_add(byref(reader)) != lib.OK:
            return False
    return True


class _NumpyFields(ctypes.Structure):
    _fields_ = [
        ("data", c_void_p), ("ndim", c_int32), ("shape", POINTER(c_int64)), ("strides", POINTER(c_int64)), ("base", c_void_p),
        ("dtype", c_void_p), ("flags", c_int32),
    ]


def _numpy_is_as_known() -> bool:
    """Whether an ndarray's fields lie where NumPy 1 and 2 have them; checked, not believed."""
    import numpy as np

    frozen = np.arange(3, dtype=np.int16)
    frozen.flags.writeable = False
    for sample in (np.zeros(3), np.zeros((2, 5), np.int8)[:, 1:], np.arange(6.0)[::-1], frozen, np.zeros((4, 0, 2), "f4")):
        fields = _NumpyFields.from_address(id(sample) + object.__basicsize__)
        if (
            (fields.data or 0) != sample.__array_interface__["data"][0]
            or fields.ndim != sample.ndim
            or tuple(fields.shape[: sample.ndim]) != sample.shape
            or tuple(fields.strides[: sample.ndim]) != sample.strides
            or fields.dtype != id(sample.dtype)
            or bool(fields.flags & 0x400) != sample.flags.writeable
        ):
            return False
    return True


def _add_numpy() -> bool:
    import numpy as np

    if not _numpy_is_as_known():
        return False
    reader = _Reader(kind=NUMPY_FIELDS, library=_LIBRARIES["numpy"], type=_address(np.ndarray), header_bytes=object.__basicsize__)
    if lib.library().ft_python_reader_add(byref(reader)) != lib.OK:
        return False
    for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "bool"):
        dtype = np.dtype(name)
        code, bits = code_of(arrays.numpy_dtype(dtype))
        lib.library().ft_python_dtype_add(_address(dtype), code, bits)
    return True


def _reads(kind: str) -> bool:
    """Whether arrays of a library are read here."""
    found = _readers.get(kind)
    if found is None:
        try:
            add = {"numpy": _add_numpy, "torch": _add_torch}.get(kind)
            found = add is not None and _start() and add()
        except (AttributeError, lib.errors.Error):
            found = False
        _readers[kind] = found
    return found


# -- dispatchers ------------------------------------------------------------------------------------------------------

#: Counts waits: a call notes its stream again after each.
epoch = c_int64(0)


class Dispatcher:
    """Prepared calls of one program. :attr:`call` takes arrays and gives results, or None."""

    def __init__(self):
        self._handle = c_void_p()
        lib.check(lib.library().ft_python_dispatcher_create(byref(self._handle)), "a dispatcher")
        self._release = lib.library().ft_python_dispatcher_release
        make = ctypes.pythonapi.PyCFunction_NewEx
        make.restype, make.argtypes = py_object, [c_void_p, py_object, c_void_p]
        self.call: Callable = make(ctypes.addressof(_method), self._handle.value, None)

    def add(self, plan, makers: Optional[Sequence[Callable]], single: bool, note: Optional[Callable]) -> bool:
        """Prepares calls of a plan's signature; `makers` make the results, or the caller gives them."""
        tensors = plan.frames[0].pointers
        made = None if makers is None else (c_void_p * len(makers))(*[id(m) for m in makers])
        failed = functools.partial(_failed, plan)
        struct = _PlanStruct(
            entry=plan.entry, tensors=ctypes.addressof(tensors), num_inputs=plan.num_inputs,
            num_outputs=plan.count - plan.num_inputs, library=_LIBRARIES[plan.kind],
            makers=None if made is None else ctypes.addressof(made), single=int(single),
            on_stream=int(plan.device[0] != CPU), note=None if note is None else id(note), epoch=ctypes.pointer(epoch),
            failed=id(failed),
        )
        return lib.library().ft_python_dispatcher_add(self._handle, byref(struct)) == lib.OK

    def clear(self) -> None:
        lib.library().ft_python_dispatcher_clear(self._handle)

    def __del__(self):
        if getattr(self, "_handle", None):
            self._release(self._handle)


def _failed(plan, status: int) -> None:
    """What a caller can mend, or the slower way does, is tried that way; everything else is raised here."""
    if status != lib.INVALID_ARGUMENT:
        raise plan.error(status)


def is_possible(plan, kinds: Sequence[str]) -> bool:
    """Whether calls of a plan can be prepared: arrays of these libraries, none of which has to be copied."""
    return not plan.copied and plan.kind in _LIBRARIES and all(_reads(kind) for kind in dict.fromkeys((plan.kind, *kinds)))
