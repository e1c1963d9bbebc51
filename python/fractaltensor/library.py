# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The compiler and the runtime, through their C interfaces (``ft-c/Compiler.h``, ``ft-c/Runtime.h``).

The library is loaded when it is first needed, so importing this package costs nothing and works where
there is none.
"""

from __future__ import annotations

import ctypes
import os
import re
import threading
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint8, c_uint64, c_void_p
from typing import Callable, List, NamedTuple, Optional, Tuple

from . import errors
from .arrays import DLTensor
from .locks import ForkLock

ABI_VERSION = 1

# -- statuses -----------------------------------------------------------------------------------------------

OK, INVALID_ARGUMENT, NOT_FOUND, IO_ERROR, CORRUPT, UNSUPPORTED_FORMAT, OUT_OF_MEMORY = range(7)
NO_DRIVER, NO_DEVICE, NOT_RESIDENT, DRIVER_ERROR, CONTEXT_LOST, FORKED, INTERNAL, INVALID_PROGRAM, CANCELLED = range(7, 16)

_EXCEPTIONS = {
    INVALID_ARGUMENT: errors.ArgumentValueError,
    NOT_FOUND: errors.BundleError,
    IO_ERROR: errors.CacheError,
    CORRUPT: errors.BundleError,
    UNSUPPORTED_FORMAT: errors.BundleError,
    OUT_OF_MEMORY: errors.OutOfMemoryError,
    NO_DRIVER: errors.DeviceError,
    NO_DEVICE: errors.DeviceError,
    NOT_RESIDENT: errors.DeviceError,
    DRIVER_ERROR: errors.DeviceError,
    CONTEXT_LOST: errors.DeviceError,
    FORKED: errors.DeviceError,
    INVALID_PROGRAM: errors.CompileError,
    CANCELLED: errors.CompileCancelled,
}

_HINTS = {
    NO_DRIVER: "; is an NVIDIA driver installed? engine='cpu' needs none",
    FORKED: "; start processes before the GPU is used, or with multiprocessing's 'spawn'",
    CONTEXT_LOST: "; restart the process",
    OUT_OF_MEMORY: "; free memory and call again",
}

# -- structs --------------------------------------------------------------------------------------------------


class Sized(ctypes.Structure):
    """A struct that begins with its size."""

    def __init__(self, **fields):
        super().__init__(**fields)
        self.struct_size = ctypes.sizeof(self)


class Place(ctypes.Structure):
    _fields_ = [("file", c_char_p), ("line", c_int32), ("column", c_int32)]


class Diagnostic(ctypes.Structure):
    pass


Diagnostic._fields_ = [
    ("struct_size", c_size_t), ("severity", c_int32), ("message", c_char_p),
    ("places", POINTER(Place)), ("num_places", c_int32),
    ("notes", POINTER(Diagnostic)), ("num_notes", c_int32),
    ("category", c_char_p), ("name", c_char_p), ("function", c_char_p), ("remark_kind", c_int32),
]

DiagnosticFn = ctypes.CFUNCTYPE(None, POINTER(Diagnostic), c_void_p)
ArrayFn = ctypes.CFUNCTYPE(None, POINTER(DLTensor), c_void_p)
TextFn = ctypes.CFUNCTYPE(None, c_void_p, c_size_t, c_void_p)


class CompilerOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("diagnostic", DiagnosticFn), ("user", c_void_p), ("remarks", c_int32),
        ("max_nesting", c_int32), ("max_bytes", c_uint64),
    ]


class LengthValue(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("value", c_int64)]


class ScheduleOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("gpu_steps", c_char_p), ("gpu_step_threads", c_int32),
        ("gpu_barrier_limit", c_int64), ("variants", c_int32), ("cpu_plan_seed", c_uint64), ("cpu_candidate", c_int64),
    ]


class CompileOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("target", c_char_p), ("entry", c_char_p), ("machine", c_char_p), ("skip", c_char_p),
        ("from_", c_char_p), ("lengths", POINTER(LengthValue)), ("num_lengths", c_int32), ("threads", c_int32),
        ("no_validation", c_int32), ("schedule", POINTER(ScheduleOptions)), ("cancel", POINTER(c_int32)),
        ("rounding", c_char_p),
    ]


class LoadOptions(Sized):
    _fields_ = [("struct_size", c_size_t), ("device_type", c_int32), ("device_id", c_int32)]


class HeldInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("dtype", c_char_p), ("ndim", c_int32), ("shape", POINTER(c_int64)),
        ("is_derived", c_int32), ("is_bound", c_int32), ("not_finite", c_int64),
    ]


class EntryInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("num_arguments", c_int32), ("num_variants", c_int32),
        ("target", c_char_p), ("variant", c_char_p),
    ]


class ArgumentInfo(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("name", c_char_p), ("dtype", c_char_p), ("ndim", c_int32), ("is_output", c_int32),
        ("writeback", c_int32), ("strided_dims", c_int32),
    ]


class CallOptions(Sized):
    _fields_ = [
        ("struct_size", c_size_t), ("stream", c_void_p), ("workspace", c_void_p), ("workspace_bytes", c_uint64), ("flags", c_uint64),
    ]


CALL_GRAPH, CALL_DIRECT = 1, 2

_PROTOTYPES = {
    "ft_abi_version": (c_int32, []),
    "ft_last_error": (c_char_p, []),
    "ft_status_name": (c_char_p, [c_int32]),
    "ft_device_count": (c_int32, [c_int32, POINTER(c_int32)]),
    "ft_module_load": (c_int32, [c_char_p, c_void_p, POINTER(c_void_p)]),
    "ft_module_load_bytes": (c_int32, [c_char_p, c_size_t, c_void_p, POINTER(c_void_p)]),
    "ft_module_release": (None, [c_void_p]),
    "ft_module_num_entries": (c_int32, [c_void_p]),
    "ft_module_entry_name": (c_char_p, [c_void_p, c_int32]),
    "ft_module_num_held": (c_int32, [c_void_p]),
    "ft_module_held": (c_int32, [c_void_p, c_int32, POINTER(HeldInfo)]),
    "ft_module_bind": (c_int32, [c_void_p, c_void_p, c_void_p, c_int32]),
    "ft_module_bind_file": (c_int32, [c_void_p, c_char_p]),
    "ft_module_entry": (c_int32, [c_void_p, c_char_p, POINTER(c_void_p)]),
    "ft_entry_info": (c_int32, [c_void_p, POINTER(EntryInfo)]),
    "ft_entry_argument": (c_int32, [c_void_p, c_int32, POINTER(ArgumentInfo)]),
    "ft_entry_variant": (c_char_p, [c_void_p, c_int32]),
    "ft_entry_select_variant": (c_int32, [c_void_p, c_char_p]),
    "ft_output_shape": (c_int32, [c_void_p, c_void_p, c_int32, c_int32, POINTER(c_int64), POINTER(c_int32)]),
    "ft_workspace_bytes": (c_int32, [c_void_p, c_void_p, c_int32, POINTER(c_uint64)]),
    "ft_call": (c_int32, [c_void_p, c_void_p, c_int32, c_void_p]),
    "ft_call_traced": (c_int32, [c_void_p, c_void_p, c_int32, c_void_p, POINTER(c_char_p)]),
    "ft_synchronize": (c_int32, [c_void_p, c_void_p]),
    "ft_ragged_longest": (c_int32, [POINTER(c_int64), c_int64, c_int64, POINTER(c_int64)]),
    "ft_ragged_fill": (c_int32, [POINTER(c_int64), c_int64, c_int64] + [POINTER(c_int64)] * 5),
    "ft_python_start": (c_int32, [c_void_p]),
    "ft_python_reader_add": (c_int32, [c_void_p]),
    "ft_python_dtype_add": (c_int32, [c_void_p, c_uint8, c_uint8]),
    "ft_python_dispatcher_create": (c_int32, [POINTER(c_void_p)]),
    "ft_python_dispatcher_release": (None, [c_void_p]),
    "ft_python_dispatcher_add": (c_int32, [c_void_p, c_void_p]),
    "ft_python_dispatcher_clear": (None, [c_void_p]),
    "ft_python_call": (c_void_p, [c_void_p, c_void_p, ctypes.c_ssize_t]),
    "ft_compiler_create": (c_int32, [c_void_p, POINTER(c_void_p)]),
    "ft_compiler_release": (None, [c_void_p]),
    "ft_compiler_version": (c_char_p, []),
    "ft_phase_name": (c_char_p, [c_int32]),
    "ft_target_name": (c_char_p, [c_int32]),
    "ft_source_parse": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, POINTER(c_void_p)]),
    "ft_source_release": (None, [c_void_p]),
    "ft_source_differentiate": (c_int32, [c_void_p, c_char_p, TextFn, c_void_p]),
    "ft_evaluate": (c_int32, [c_void_p, c_char_p, c_void_p, c_int32, ArrayFn, c_void_p]),
    "ft_print": (c_int32, [c_void_p, c_void_p, c_char_p, TextFn, c_void_p]),
    "ft_compile": (c_int32, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "ft_compile_text": (c_int32, [c_void_p, c_char_p, c_size_t, c_char_p, c_void_p, POINTER(c_void_p)]),
    "ft_program_release": (None, [c_void_p]),
    "ft_program_load": (c_int32, [c_void_p, c_void_p, POINTER(c_void_p)]),
    "ft_program_bytes": (c_int32, [c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "ft_program_export": (c_int32, [c_void_p, c_char_p]),
    "ft_program_hold": (c_int32, [c_void_p, c_char_p, c_size_t]),
    "ft_program_figure": (c_int32, [c_void_p, c_char_p, POINTER(c_double)]),
}

def _is_runtime(name: str) -> bool:
    return not name.startswith(("ft_compile", "ft_evaluate", "ft_phase", "ft_target", "ft_source", "ft_print", "ft_program"))


class Library:
    """The runtime's functions; the compiler's, too, which is loaded when one of them is first used.

    Programs that come from the cache or from a bundle need the runtime alone.
    """

    def __init__(self):
        self.path, handle = _open("libFractalTensorRuntime.so", "libFractalTensor.so")
        self._bind(handle, _is_runtime)
        found = self.ft_abi_version()
        if found != ABI_VERSION:
            raise errors.NotBuiltError(f"{self.path} has ABI version {found}, this package needs {ABI_VERSION}")

    def _bind(self, handle: ctypes.CDLL, wanted: Callable[[str], bool]) -> None:
        # What handles Python's objects needs its lock, which a call through CDLL gives up.
        locked = ctypes.PyDLL(handle._name, handle=handle._handle)
        for name, (result, arguments) in _PROTOTYPES.items():
            if not wanted(name):
                continue
            try:
                function = getattr(locked if name.startswith("ft_python_") else handle, name)
            except AttributeError:
                raise errors.NotBuiltError(f"{handle._name} has no '{name}': it is of another version than this package") from None
            function.restype, function.argtypes = result, arguments
            setattr(self, name, function)

    def __getattr__(self, name: str):
        if name not in _PROTOTYPES:
            raise AttributeError(name)
        with _lock:
            if name not in self.__dict__:
                _, handle = _open("libFractalTensor.so")
                self._bind(handle, lambda n: not _is_runtime(n))
        return self.__dict__[name]


def _folders() -> List[str]:
    here = os.path.dirname(os.path.abspath(__file__))
    own = os.environ.get("FT_LIBRARY")
    if own:
        return [os.path.dirname(own) if own.endswith(".so") or os.path.isfile(own) else own]
    # In a wheel; and where a Debian package puts them: lib/python3/dist-packages/fractaltensor and lib.
    folders = [os.path.join(here, "lib"), os.path.dirname(os.path.dirname(os.path.dirname(here)))]
    # A checkout: the package lies in python/, the library in build/lib.
    folders.append(os.path.join(os.path.dirname(os.path.dirname(here)), "build", "lib"))
    return folders


def _find(*names: str) -> Optional[str]:
    for folder in _folders():
        for name in names:
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
    return None


def _open(*names: str) -> Tuple[str, ctypes.CDLL]:
    """Loads the first of these that is there: in our folders, else where the system's loader looks."""
    tried = []
    found = _find(*names)
    for path in [found] if found else names:
        try:
            return path, ctypes.CDLL(path)
        except OSError as error:
            tried.append(str(error))
    where = ", ".join(_folders())
    if any("libMLIR" in t or "libLLVM" in t for t in tried):
        hint = "it needs LLVM's shared libraries: install libmlir-22, or take the wheel, which has its own"
    elif "FT_LIBRARY" in os.environ:
        hint = "FT_LIBRARY names no folder with it"
    else:
        hint = "build it (scripts/build.sh), install the package, or set FT_LIBRARY to its folder"
    raise errors.NotBuiltError(f"{names[0]} was not found in {where}: {hint}\n  " + "\n  ".join(tried))


def compiler_identity() -> str:
    """What says that two compilers are the same build, without loading one."""
    global _identity
    if _identity is None:
        path = _find("libFractalTensor.so")
        if path is None:
            _identity = library().ft_compiler_version().decode()
        else:
            info = os.stat(path)
            _identity = f"{os.path.realpath(path)} {info.st_size} {info.st_mtime_ns}"
    return _identity


_identity: Optional[str] = None
_lock = ForkLock()
_library: Optional[Library] = None


def library() -> Library:
    """The library, loaded at the first use."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                _library = Library()
    return _library


def raise_status(status: int, what: str = "", frames=(), notes=()) -> None:
    """Raises the exception for a status that is not OK."""
    text = library().ft_last_error()
    message = text.decode(errors="replace") if text else f"status {status}"
    kind = _EXCEPTIONS.get(status, errors.InternalError)
    raise kind((f"{what}: " if what else "") + message + _HINTS.get(status, ""), frames, notes)


def readable(text: str) -> str:
    """A message of the runtime as a person reads it who knows of no entries and kernels."""
    text = re.sub(
        r"(?:kernel \S+: )?an index was out of range \((-?\d+), (\d+)[^)]*\)",
        r"an index that is data is out of range: \1 in a list of \2 elements", text,
    )
    text = re.sub(r': index (-?\d+) is out of range \[0, (\d+)\), in entry "[^"]*"$', r": error: index \1 is out of range: there are \2 elements", text)
    return re.sub(r'^entry "[^"]*"[,:] ', "", text)


def check(status: int, what: str = "") -> None:
    if status != OK:
        raise_status(status, what)


# -- diagnostics ---------------------------------------------------------------------------------------------------


class Message(NamedTuple):
    """A diagnostic or a remark of the compiler. Places are (file, line, column), the innermost first."""

    severity: str
    text: str
    places: Tuple[Tuple[str, int, int], ...]
    notes: Tuple["Message", ...]
    category: str
    name: str
    function: str
    remark: str


_SEVERITIES = {0: "note", 1: "warning", 2: "error", 3: "remark"}
_REMARKS = {0: "", 1: "passed", 2: "missed", 3: "failed", 4: "analysis"}


def _text(raw: Optional[bytes]) -> str:
    return raw.decode(errors="replace") if raw else ""


def _message(d: Diagnostic) -> Message:
    places = tuple((_text(d.places[i].file), d.places[i].line, d.places[i].column) for i in range(d.num_places))
    notes = tuple(_message(d.notes[i]) for i in range(d.num_notes))
    return Message(
        _SEVERITIES.get(d.severity, "error"), _text(d.message), places, notes,
        _text(d.category), _text(d.name), _text(d.function), _REMARKS.get(d.remark_kind, ""),
    )


class _Collected(threading.local):
    def __init__(self):
        self.messages: Optional[List[Message]] = None


_collected = _Collected()


@DiagnosticFn
def _collect(diagnostic, _user):
    # Called by C: nothing may leave it.
    try:
        if _collected.messages is not None:
            _collected.messages.append(_message(diagnostic.contents))
    except BaseException:  # noqa: BLE001
        pass


class collecting:
    """Collects the messages of this thread's calls of the compiler within a `with`."""

    def __enter__(self) -> List[Message]:
        self.outer = _collected.messages
        _collected.messages = []
        return _collected.messages

    def __exit__(self, *_):
        _collected.messages = self.outer


_compilers = {}


def compiler(remarks: bool = False) -> c_void_p:
    """A compiler that reports to :class:`collecting`; one for all threads of this process."""
    key = (os.getpid(), remarks)
    with _lock:
        found = _compilers.get(key)
        if found is None:
            options = CompilerOptions(diagnostic=_collect, remarks=int(remarks))
            found = c_void_p()
            check(library().ft_compiler_create(byref(options), byref(found)), "the compiler cannot start")
            _compilers[key] = found
        return found


def read_text(call: Callable) -> str:
    """What a function that writes through an ``FtTextFn`` writes."""
    parts: List[bytes] = []

    @TextFn
    def write(text, size, _user):
        parts.append(ctypes.string_at(text, size))

    call(write)
    return b"".join(parts).decode(errors="replace")


def phase_names() -> List[str]:
    """The names of the phases of a compile, in order."""
    return _names(library().ft_phase_name)


def target_names() -> List[str]:
    """What programs can be compiled for."""
    return _names(library().ft_target_name)


def _names(function) -> List[str]:
    names: List[str] = []
    while True:
        name = function(len(names))
        if not name:
            return names
        names.append(name.decode())


#: The runtime's tensor struct is DLPack's.
FtTensor = DLTensor
