# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling a traced program, and what comes out: entries that can be called, text of any phase, remarks."""

from __future__ import annotations

import ctypes
import hashlib
import os
import re
import threading
import time
from ctypes import byref, c_int32, c_size_t, c_void_p
from typing import Callable, Dict, List, Optional, Sequence, Tuple

from . import cache
from . import library as lib
from .errors import CompileCancelled, CompileError, DeviceError, Error, InternalError
from .program import Program
from .source import Frame, of_function


class Module:
    """Compiled code, loaded for a device. `entry` is the program's; `arguments` is what it takes.

    `owns`: whether the handle is released with this object, also where it cannot be made.
    """

    def __init__(self, handle: c_void_p, name: Optional[str], keep=(), owns: bool = True):
        self.handle, self.keep = handle, keep
        #: Of the code, where it is a bundle: two requests with one digest run the same.
        self.digest: Optional[bytes] = None
        self.library = lib.library()
        self.process = os.getpid() if owns else -1
        self.entry = c_void_p()
        encoded = None if name is None else name.encode()
        lib.check(self.library.ft_module_entry(handle, encoded, byref(self.entry)), name or "the bundle")
        info = lib.EntryInfo()
        lib.check(self.library.ft_entry_info(self.entry, byref(info)))
        self.name, self.target = info.name.decode(), (info.target or b"").decode()
        self.arguments: List[lib.ArgumentInfo] = []
        for index in range(info.num_arguments):
            argument = lib.ArgumentInfo()
            lib.check(self.library.ft_entry_argument(self.entry, index, byref(argument)))
            self.arguments.append(argument)
        self.variants = [self.library.ft_entry_variant(self.entry, i).decode() for i in range(info.num_variants)]

    def select(self, variant: str) -> None:
        """Takes another of the schedules that were compiled."""
        lib.check(self.library.ft_entry_select_variant(self.entry, variant.encode()), variant)

    def synchronize(self, stream: int = 0) -> None:
        """Waits, and raises what went wrong on the device since the last time."""
        status = self.library.ft_synchronize(self.handle, stream or None)
        if status:
            text = (self.library.ft_last_error() or b"").decode(errors="replace")
            raise DeviceError(f"{self.name}: an earlier call failed: {lib.readable(text)}")

    def __del__(self):
        if not getattr(self, "handle", None):
            return
        try:
            # A child of fork does not own what its parent loaded.
            if os.getpid() == getattr(self, "process", -1):
                self.library.ft_module_release(self.handle)
        except Exception:  # noqa: BLE001 - the interpreter may be going down: even `os` may be None
            pass


# -- diagnostics to exceptions --------------------------------------------------------------------------------


def _frames(places, program: Program, table) -> Tuple[Frame, ...]:
    for place in places:
        found = table.get(place)
        if found:
            return found
    for file, line, column in places:
        if line > 0:
            return (Frame(file, line, column, 0, program.name),)
    return ()


def compile_error(program: Program, table, messages: Sequence[lib.Message], fallback: str, status: int) -> Error:
    """The compiler's diagnostics as an exception that points into the user's program."""
    found = [m for m in messages if m.severity == "error"]
    if status == lib.CANCELLED:
        return CompileCancelled(f"{program.name}: the compile was cancelled")
    if not found:
        kind = lib._EXCEPTIONS.get(status, InternalError)
        return (CompileError if kind is Error else kind)(f"{program.name}: {fallback}", of_function(program.signature.function))
    first = found[0]
    notes = [(note.text, _frames(note.places, program, table)) for note in first.notes if not any(skip in note.text for skip in ("see current operation", "has no ft.bounds"))]
    for more in found[1:4]:
        notes.append((f"also: {more.text}", _frames(more.places, program, table)))
    error = CompileError(f"{program.name}: {_friendly(first.text)}", _frames(first.places, program, table), notes)
    return error


def _friendly(text: str) -> str:
    """The compiler speaks of its text; a person writes @ft.jit."""
    text = re.sub(r"needs (.*): add it to ft\.bounds of the function", r"needs \1: state it, @ft.jit(bounds=['\1'])", text)
    return re.sub(r"^'ft\.\w+' op (\([A-Z]\d+\) )?", "", text)


# -- compiling ---------------------------------------------------------------------------------------------------


class Request:
    """What to compile a program for. Hashable; `target` is one that the compiler names."""

    __slots__ = ("target", "skip", "candidate", "variants", "machine", "threads", "lengths", "strided", "variant")

    def __init__(self, target="cpu", skip="", candidate=0, variants=False, machine="", threads=0, lengths=(), variant="", strided=()):
        self.target, self.skip, self.candidate, self.variants = target, skip, candidate, variants
        self.machine, self.threads, self.lengths = machine, threads, tuple(sorted(dict(lengths).items()))
        #: For each argument the number of outermost dimensions whose strides the call gives; none: all is dense.
        self.strided = tuple(strided)
        #: Of the forms of kernels that were compiled, the one to run; it changes no code.
        self.variant = variant

    @property
    def is_chosen(self) -> bool:
        """Whether it asks for another schedule than the compiler's choice."""
        return bool(self.skip or self.candidate or self.variant)

    @property
    def schedule(self) -> str:
        """The schedule, in words."""
        order = f"order {self.candidate}" if self.candidate else "loops as written" if self.skip else "the compiler's choice"
        return f"{order}, {self.variant}" if self.variant else order

    def with_strides(self, strided: Sequence[int]) -> "Request":
        """The same for arguments that lie by strides."""
        if not any(strided):
            return self
        fields = {name: getattr(self, name) for name in self.__slots__}
        return Request(**{**fields, "strided": strided})

    def without_strides(self) -> "Request":
        """The same for dense arguments."""
        return Request(**{**{name: getattr(self, name) for name in self.__slots__}, "strided": ()})

    def key(self) -> str:
        return repr([getattr(self, name) for name in self.__slots__ if name != "variant"])

    def options(self, program: Program, cancel=None) -> lib.CompileOptions:
        from .printer import symbol

        schedule = lib.ScheduleOptions(cpu_candidate=self.candidate, variants=int(self.variants))
        options = lib.CompileOptions(
            target=self.target.encode(), entry=symbol(program.name).encode(), threads=self.threads, schedule=ctypes.pointer(schedule),
            skip=self.skip.encode() or None, machine=self.machine.encode() or None, rounding=program.rounding.encode(),
        )
        if self.lengths:
            table = (lib.LengthValue * len(self.lengths))(*[(n.encode(), v) for n, v in self.lengths])
            options.lengths, options.num_lengths = table, len(self.lengths)
            options._table = table
        if cancel is not None:
            options.cancel = ctypes.pointer(cancel)
        options._schedule = schedule
        return options


_lock = threading.Lock()
_modules: Dict[Tuple, Module] = {}
_making: Dict[Tuple, threading.Lock] = {}


def _forget_after_fork() -> None:
    global _lock
    _lock = threading.Lock()
    _making.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)


def processor() -> str:
    """What code for "cpu" depends on: a line that differs between kinds of processors."""
    global _processor
    if _processor is None:
        lines = {}
        try:
            with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
                for line in file:
                    name, _, value = line.partition(":")
                    if name.strip() in ("vendor_id", "cpu family", "model", "stepping", "flags", "Features"):
                        lines.setdefault(name.strip(), value.strip())
        except OSError:
            pass
        _processor = hashlib.sha256(repr(sorted(lines.items())).encode()).hexdigest()[:16] + f"/{os.cpu_count()}"
    return _processor


_processor: Optional[str] = None


def key_of(program: Program, request: Request) -> bytes:
    """Everything that compiled code depends on."""
    parts = ["fractaltensor-program-1", lib.compiler_identity(), request.key(), program.rounding, program.text()]
    if request.target == "cpu":
        parts.append(processor())
    return "\0".join(parts).encode()


def module(program: Program, request: Request, device: Tuple[int, int]) -> Module:
    """The program's code on a device: from memory, from the cache on disk, or compiled now."""
    key = (key_of(program, request), device, os.getpid())
    found = _modules.get(key)
    if found is not None:
        return found
    with _lock:
        own = _making.setdefault(key, threading.Lock())
    with own:
        found = _modules.get(key)
        if found is None:
            begin = time.perf_counter()
            found, seconds = _make(program, request, device, key[0])
            log("%s for %s: %s, ready in %.3f s", program.name, request.target,
                "from the cache" if seconds is None else f"compiled in {seconds:.3f} s, {request.schedule}", time.perf_counter() - begin)
            if request.variant in found.variants:
                found.select(request.variant)
            _modules[key] = found
    with _lock:
        _making.pop(key, None)
    return found


def log(text: str, *values) -> None:
    """A line of level INFO for the logger "fractaltensor", which is silent until the program gives it a handler and that level."""
    import logging  # (not what importing the package should pay for)

    logging.getLogger("fractaltensor").info(text, *values)


def _load(data: bytes, program_name: str, device: Tuple[int, int]) -> Module:
    options = lib.LoadOptions(device_type=device[0], device_id=device[1])
    handle = c_void_p()
    lib.check(lib.library().ft_module_load_bytes(data, len(data), byref(options), byref(handle)), program_name)
    module = Module(handle, program_name)
    module.digest = hashlib.sha256(data).digest()
    return module


def _make(program: Program, request: Request, device: Tuple[int, int], key: bytes) -> Tuple[Module, Optional[float]]:
    """The code, and seconds of compiling; none where it was in the cache."""
    from .printer import symbol

    name = symbol(program.name)
    stored = request.target != "interpret"

    made: List[float] = []

    def compile_bytes() -> Optional[bytes]:
        begin = time.perf_counter()
        handle = compile_now(program, request)
        made.append(time.perf_counter() - begin)
        try:
            data, size = c_void_p(), c_size_t()
            status = lib.library().ft_program_bytes(handle, byref(data), byref(size))
            if status == lib.OK:
                return ctypes.string_at(data, size.value)
            loaded.append(_load_program(handle, name, device))
            return None
        finally:
            lib.library().ft_program_release(handle)

    loaded: List[Module] = []
    if stored and cache.enabled():
        data = cache.get_or_make(key, compile_bytes)
        if data is not None:
            try:
                return _load(data, name, device), made[0] if made else None
            except Error:
                # Sound by its checksum and refused all the same, such as code for another processor.
                cache.remove(key)
                loaded.clear()
                data = compile_bytes()
                if data is not None:
                    return _load(data, name, device), made[0]
        if loaded:
            return loaded[0], made[0]
    data = compile_bytes()
    return _load(data, name, device) if data is not None else loaded[0], made[0]


def _load_program(handle: c_void_p, name: str, device: Tuple[int, int]) -> Module:
    options = lib.LoadOptions(device_type=device[0], device_id=device[1])
    loaded = c_void_p()
    lib.check(lib.library().ft_program_load(handle, byref(options), byref(loaded)), name)
    return Module(loaded, name)


def _with_source(program: Program, remarks: bool, use: Callable, strided: Sequence[int] = ()):
    """Parses a program's text and gives the source to `use`; a failure becomes an exception."""
    text, table = program.text(locations=True, strided=strided)
    data = text.encode()
    library = lib.library()
    file = program.signature.function.__code__.co_filename if hasattr(program.signature.function, "__code__") else program.name
    with lib.collecting() as messages:
        source = c_void_p()
        status = library.ft_source_parse(lib.compiler(remarks), data, len(data), file.encode(), byref(source))
        if status == lib.OK:
            try:
                status, result = use(source)
            finally:
                library.ft_source_release(source)
        if status != lib.OK:
            fallback = (library.ft_last_error() or b"").decode(errors="replace")
            raise compile_error(program, table, messages, fallback, status)
        return result, list(messages), table


def compile_now(program: Program, request: Request, remarks: bool = False, report: Optional[list] = None) -> c_void_p:
    """Compiles, in a thread of its own so that an interrupt (Ctrl-C) reaches the compiler."""
    cancel = c_int32(0)

    def use(source):
        handle = c_void_p()
        options = request.options(program, cancel)
        status = lib.library().ft_compile(source, byref(options), byref(handle))
        return status, handle

    def work():
        return _with_source(program, remarks, use, request.strided)

    handle, messages, table = interruptible(work, cancel)
    if report is not None:
        report.append((messages, table))
    return handle


def interruptible(work: Callable, cancel: c_int32):
    """Runs `work` so that KeyboardInterrupt sets `cancel` and is raised when the work has ended."""
    if threading.current_thread() is not threading.main_thread():
        return work()
    outcome: List = []
    done = threading.Event()

    def run():
        try:
            outcome.append((True, work()))
        except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
            outcome.append((False, error))
        finally:
            done.set()

    thread = threading.Thread(target=run, name="fractaltensor-compile", daemon=True)
    interrupted = None
    thread.start()
    while not done.is_set():
        try:
            done.wait()
        except KeyboardInterrupt as error:
            cancel.value = 1
            interrupted = error
    if interrupted is not None:
        good, result = outcome[0]
        if good and isinstance(result, tuple) and isinstance(result[0], c_void_p):
            lib.library().ft_program_release(result[0])
        raise interrupted
    good, result = outcome[0]
    if not good:
        raise result
    return result


# -- looking ----------------------------------------------------------------------------------------------------------


def text_after(program: Program, to: str, request: Request) -> str:
    """The program as it is after a phase, or as code ("llvm", "ptx")."""
    def use(source):
        statuses = []
        options = request.options(program)

        def call(write):
            statuses.append(lib.library().ft_print(source, byref(options), to.encode(), write, None))

        text = lib.read_text(call)
        return statuses[0], text

    return _with_source(program, False, use, request.strided)[0]


def remarks_of(program: Program, request: Request):
    """The remarks of a compile, and where each place is in the user's program."""
    report: list = []
    handle = compile_now(program, request, remarks=True, report=report)
    lib.library().ft_program_release(handle)
    return report[0]
