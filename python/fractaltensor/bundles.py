# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles (``.ftb``): programs compiled ahead of time, and running them from Python."""

from __future__ import annotations

import ctypes
import functools
import os
import warnings
from ctypes import byref, c_int64, c_int32, c_void_p
from typing import Any, Callable, Dict, List, Mapping, NamedTuple, Optional, Tuple, Union

from . import arrays, compiled, direct
from . import library as lib
from .arrays import CPU, CUDA
from .compiled import Module, Request
from .binding import contiguous_hint, found_text
from .errors import ArgumentError, ArgumentValueError, BundleError, CompileError
from .direct import Dispatcher
from .plan import _Frame, fits
from .program import Program
from .torch_tracking import refuse
from .types import DTYPES, DType

_CPU_CLASSES = ("x86-64-v3", "x86-64-v4")


def export(program: Program, path, targets, request: Optional[Request] = None) -> None:
    """Compiles for targets and writes one file. By default for classes of processors, and the last call's GPU."""
    handle = compiled.compile_now(program, Request(",".join(targets_for(targets, request))))
    try:
        lib.check(lib.library().ft_program_export(handle, os.fsencode(path)), f"export to {os.fspath(path)}")
    finally:
        lib.library().ft_program_release(handle)


def targets_for(targets, request: Optional[Request] = None) -> List[str]:
    """The compiler's targets for what a user asks: names of theirs, "cpu" and "cuda"; None as for `export`."""
    known = lib.target_names()
    if targets is None:
        wanted = [t for t in _CPU_CLASSES if t in known] or ["cpu"]
        if request is not None and request.target.startswith("sm_"):
            wanted.append(request.target)
    else:
        wanted = []
        for target in [targets] if isinstance(targets, str) else targets:
            if target == "cuda":
                wanted += [t for t in known if t.startswith("sm_")]
            elif target == "cpu":
                wanted += [t for t in _CPU_CLASSES if t in known] or ["cpu"]
            else:
                wanted.append(target)
    for target in wanted:
        if target not in known or target == "interpret":
            raise ArgumentError(f"export: there is no target '{target}'; there are {', '.join(t for t in known if t != 'interpret')}, 'cpu' and 'cuda'")
    return list(dict.fromkeys(wanted))


class _EntryPlan:
    """One signature of calls of an entry, as :class:`fractaltensor.direct.Dispatcher` takes it."""

    copied = ()

    def __init__(self, name: str, module: Module, specs, num_inputs: int, kind: str, device: Tuple[int, int]):
        self.name, self.module, self.entry = name, module, module.entry
        self.num_inputs, self.count, self.kind, self.device = num_inputs, len(specs), kind, device
        self.frames = [_Frame(specs)]
        self.allocators = [arrays.allocator(kind, dtype, shape, *device) for dtype, shape, *_ in specs[num_inputs:]]

    def error(self, status: int):
        """The exception for a status of the runtime, with its message."""
        text = (self.module.library.ft_last_error() or b"").decode(errors="replace")
        return lib._EXCEPTIONS.get(status, lib.errors.InternalError)(f"{self.name}: {text}{lib._HINTS.get(status, '')}")


class _Prepared:
    """The calls of one entry that are made in C: those that make their results, and those that are given them."""

    def __init__(self):
        self.making: Optional[Dispatcher] = None
        self.given: Optional[Dispatcher] = None

    def add(self, plan: _EntryPlan, given: Optional[List[str]]) -> None:
        """Has later calls of a plan's signature made in C; `given`: the libraries of results that callers bring."""
        from .jit import _calls

        if not direct.is_possible(plan, [plan.kind, *(given or ())]):
            return
        if self.making is None:
            self.given, self.making = Dispatcher(), Dispatcher()
        note = None if plan.device[0] == CPU else functools.partial(_calls.note, plan.module, device=plan.device)
        single = plan.count - plan.num_inputs == 1
        if given is None:
            self.making.add(plan, plan.allocators, single, note)
        else:
            self.given.add(plan, None, single, note)


class BundleEntry:
    """A function of a bundle; call it with arrays, inputs in order. Results are in the first one's library."""

    def __init__(self, bundle: "Bundle", name: str):
        self.bundle, self.name = bundle, name
        self.__name__ = name
        self._prepared = bundle._prepared.setdefault(name, _Prepared())

    @property
    def arguments(self) -> List[Tuple[str, str, int]]:
        """Inputs: name, element type, rank."""
        module = self.bundle._module(self.name, self.bundle._any_device())
        return [(a.name.decode(), a.dtype.decode(), a.ndim) for a in module.arguments if not a.is_output]

    def __call__(self, *args: Any, out: Any = None, stream: Any = None) -> Any:
        if stream is None and self._prepared.making is not None:
            if out is None:
                result = self._prepared.making.call(*args)
            else:
                result = self._prepared.given.call(*args, *(out if type(out) in (tuple, list) else (out,)))
            if result is not None:
                return result
        return self._call(args, out, stream)

    def _call(self, args, out, stream):
        from .jit import _calls, current_stream

        if not args:
            raise ArgumentError(f"{self.name} takes arrays, found none")
        refuse(self.name, args, "a bundle computes forward only: call it within torch.no_grad()")
        infos = []
        for index, value in enumerate(args):
            info = arrays.describe(value)
            if info is None:
                raise ArgumentError(f"{self.name}: argument {index} is {type(value).__name__}: pass an array")
            infos.append(info)
        device = (infos[0].device_type, infos[0].device_id)
        module = self.bundle._module(self.name, device)
        inputs = [a for a in module.arguments if not a.is_output]
        outputs = [a for a in module.arguments if a.is_output]
        if len(args) != len(inputs):
            raise ArgumentError(f"{self.name} takes {len(inputs)} arrays ({', '.join(a.name.decode() for a in inputs)}), found {len(args)}")
        for argument, info in zip(inputs, infos):
            if not fits(info, argument.strided_dims):
                raise ArgumentError(
                    f"{self.name}: argument '{argument.name.decode()}' is dense in this bundle, found {found_text(info)} with strides "
                    f"{info.strides}: " + contiguous_hint(info.kind)
                )
        tensors, keep = [], []
        for argument, info in zip(inputs, infos):
            tensors.append(_tensor(_dtype(argument), info.shape, info.strides, device, info.pointer, keep, info))
        pointers = (c_void_p * len(module.arguments))(*[ctypes.addressof(t) for t in tensors])
        shapes = [_output_shape(module, pointers, len(inputs) + i, a) for i, a in enumerate(outputs)]
        results = self._results(out, outputs, shapes, infos[0].kind, device)
        for i, (argument, shape, result) in enumerate(zip(outputs, shapes, results)):
            info = arrays.describe(result)
            tensor = _tensor(_dtype(argument), info.shape, info.strides, device, info.pointer, keep, info)
            tensors.append(tensor)
            pointers[len(inputs) + i] = ctypes.addressof(tensor)
        run_on = current_stream(infos[0].kind, device, stream)
        options = lib.CallOptions(stream=run_on)
        lib.check(module.library.ft_call(module.entry, pointers, len(pointers), byref(options)), self.name)
        _calls.note(module, run_on, device)
        if stream is None and all(info.dtype == _dtype(a) and info.kind == infos[0].kind for a, info in zip(inputs, infos)):
            specs = [(_dtype(a), i.shape, None if 0 in i.shape else i.strides, device) for a, i in zip(inputs, infos)]
            specs += [(_dtype(a), shape, None, device) for a, shape in zip(outputs, shapes)]
            self._prepared.add(
                _EntryPlan(self.name, module, specs, len(inputs), infos[0].kind, device),
                None if out is None else [arrays.describe(r).kind for r in results],
            )
        if out is None:
            results = [arrays.finish(infos[0].kind, r) for r in results]
        return results[0] if len(results) == 1 else tuple(results)

    def _results(self, out, outputs, shapes, kind, device):
        if out is None:
            return [arrays.allocator(kind, _dtype(a), s, *device)() for a, s in zip(outputs, shapes)]
        given = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(given) != len(outputs):
            raise ArgumentError(f"{self.name}: out= gives {len(given)} arrays, there are {len(outputs)} results")
        for index, (array, shape) in enumerate(zip(given, shapes)):
            info = arrays.describe(array)
            if info is None or info.readonly:
                raise ArgumentError(f"{self.name}: out[{index}] must be an array that can be written")
            if info.shape != shape:
                raise ArgumentValueError(f"{self.name}: out[{index}] must have the shape {shape}, found {info.shape}")
        return given

    def __repr__(self):
        return f"<entry {self.name} of {self.bundle.path}>"


def _dtype(argument: lib.ArgumentInfo) -> DType:
    name = argument.dtype.decode()
    return DTYPES.get(name) or DTYPES["bool" if name == "i1" else name]


def _tensor(dtype, shape, strides, device, pointer, keep, info):
    code, bits = arrays.code_of(info.dtype if info.dtype is not None else dtype)
    if info.dtype is None and not (dtype.name == "bf16" and info.dtype_text == "uint16"):
        raise ArgumentError(f"an argument has numbers of {info.dtype_text}, expected {dtype}")
    tensor = arrays.DLTensor(data=pointer, device_type=device[0], device_id=device[1], ndim=len(shape), code=code, bits=bits, lanes=1)
    if shape:
        extents = (c_int64 * len(shape))(*shape)
        tensor.shape = extents
        keep.append(extents)
        if strides is not None:
            steps = (c_int64 * len(shape))(*strides)
            tensor.strides = steps
            keep.append(steps)
    return tensor


def _output_shape(module: Module, pointers, index: int, argument) -> Tuple[int, ...]:
    shape = (c_int64 * max(1, argument.ndim))()
    rank = c_int32(argument.ndim)
    lib.check(module.library.ft_output_shape(module.entry, pointers, len(pointers), index, shape, byref(rank)), module.name)
    return tuple(shape[: rank.value])


class Held(NamedTuple):
    """A parameter that a bundle holds: its name, element type ("f32") and shape, and whether it has a value."""

    name: str
    dtype: str
    shape: Tuple[int, ...]
    is_bound: bool


class Bundle:
    """A loaded file. Its entries are attributes and items: ``bundle.stacked_rnn(x, w)``; with one entry call the bundle."""

    def __init__(self, path: Union[str, os.PathLike[str]], data: Optional[bytes] = None):
        self.path = os.fspath(path)
        self._bytes = _read(self.path) if data is None else data
        self._handles: Dict[Tuple[int, int, int], c_void_p] = {}
        self._modules: Dict[Tuple, Module] = {}
        self._prepared: Dict[str, _Prepared] = {}
        #: Values that were bound, in order: what a module for another device gets, too.
        self._bound: List[Callable[[c_void_p], int]] = []
        handle = self._handle(self._any_device())
        library = lib.library()
        self.entries = [library.ft_module_entry_name(handle, i).decode() for i in range(library.ft_module_num_entries(handle))]

    def _any_device(self) -> Tuple[int, int]:
        for key in self._handles:
            return key[:2]
        try:
            self._handle((CPU, 0))
            return CPU, 0
        except BundleError:
            raise
        except lib.errors.Error:
            self._handle((CUDA, 0))
            return CUDA, 0

    def _handle(self, device: Tuple[int, int]) -> c_void_p:
        key = (*device, os.getpid())
        found = self._handles.get(key)
        if found is None:
            found = c_void_p()
            options = lib.LoadOptions(device_type=device[0], device_id=device[1])
            lib.check(lib.library().ft_module_load_bytes(self._bytes, len(self._bytes), byref(options), byref(found)), self.path)
            for bind in self._bound:
                lib.check(bind(found), self.path)
            self._handles[key] = found
        return found

    def _module(self, name: str, device: Tuple[int, int]) -> Module:
        key = (name, *device, os.getpid())
        found = self._modules.get(key)
        if found is None:
            found = Module(self._handle(device), name, owns=False)
            self._modules[key] = found
        return found

    @property
    def held(self) -> Dict[str, Held]:
        """The parameters that the bundle's entries hold from call to call, by name."""
        handle, library = self._handle(self._any_device()), lib.library()
        found = {}
        for at in range(library.ft_module_num_held(handle)):
            info = lib.HeldInfo()
            lib.check(library.ft_module_held(handle, at, byref(info)), self.path)
            if not info.is_derived:
                found[info.name.decode()] = Held(info.name.decode(), info.dtype.decode(), tuple(info.shape[: info.ndim]), bool(info.is_bound))
        return found

    def bind(self, values: Union[str, os.PathLike[str], Mapping[str, Any]]) -> None:
        """Gives parameters their values, or others: arrays by name, or the path of a safetensors file that has all of them.

        The values are copied. What depends on parameters alone is computed here, once all have values. Calls that have begun use what was
        bound before; after an error everything is what it was.

        Raises:
          ArgumentError: a name that is no parameter, a value of another type or shape.
          BundleError: a file that is damaged, or lacks a parameter.
        """
        if isinstance(values, (str, os.PathLike)):
            path = os.fsencode(values)
            self._bind(lambda handle: lib.library().ft_module_bind_file(handle, path))
            return
        names, tensors, keep = [], [], []
        for name, value in values.items():
            info = arrays.describe(value)
            if info is None:
                raise ArgumentError(f"{self.path}: parameter '{name}' is {type(value).__name__}: pass an array")
            names.append(str(name).encode())
            device = (info.device_type, info.device_id)
            tensors.append(_tensor(info.dtype or DTYPES["bf16"], info.shape, info.strides, device, info.pointer, keep, info))
            keep.append(value)
        all_names = (ctypes.c_char_p * max(1, len(names)))(*names)
        pointers = (c_void_p * max(1, len(tensors)))(*[ctypes.addressof(t) for t in tensors])
        keep += [tensors]
        self._bind(lambda handle, _keep=keep: lib.library().ft_module_bind(handle, all_names, pointers, len(names)))

    def _bind(self, bind: Callable[[c_void_p], int]) -> None:
        self._any_device()
        for (*_, process), handle in self._handles.items():
            if process == os.getpid():
                lib.check(bind(handle), self.path)
        self._bound.append(bind)
        self._warn()

    def _warn(self) -> None:
        """Of parameters that are no finite numbers."""
        library = lib.library()
        for handle in list(self._handles.values())[:1]:
            for at in range(library.ft_module_num_held(handle)):
                info = lib.HeldInfo()
                lib.check(library.ft_module_held(handle, at, byref(info)), self.path)
                if info.not_finite > 0:
                    warnings.warn(f"{self.path}: parameter '{info.name.decode()}' has {info.not_finite} elements that are not finite", stacklevel=4)

    def __getitem__(self, name: str) -> BundleEntry:
        if name not in self.entries:
            raise BundleError(f"{self.path} has no entry '{name}'; there are {', '.join(self.entries)}")
        return BundleEntry(self, name)

    def __getattr__(self, name: str) -> BundleEntry:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.entries:
            raise AttributeError(f"{self.path} has no entry '{name}'; there are {', '.join(self.entries)}")
        return BundleEntry(self, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(self.entries) != 1:
            raise ArgumentError(f"{self.path} has {len(self.entries)} entries: call one of them, bundle.{self.entries[0]}(...)")
        return BundleEntry(self, self.entries[0])(*args, **kwargs)

    def __del__(self):
        for (*_, process), handle in getattr(self, "_handles", {}).items():
            try:
                if process == os.getpid():
                    lib.library().ft_module_release(handle)
            except Exception:  # noqa: BLE001 - the interpreter may be going down: even `os` may be None
                pass

    def __repr__(self):
        return f"<bundle {self.path}: {', '.join(self.entries)}>"


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise BundleError(f"{path}: {error.strerror}") from None


def load(path: Union[str, os.PathLike[str]], target: str = "cpu") -> Bundle:
    """``ft.load("x.ftb")``: a bundle that :meth:`Jit.export` or the command line wrote.

    A file that ends in ``.mlir`` is a program in text; it is compiled for `target`.

    Raises:
      BundleError: the file is missing, damaged or of another version.
      CompileError: the compiler refuses the text.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        raise BundleError(f"{name} is a folder; expected a file: a bundle (.ftb) or a program (.mlir)")
    return compile_text(_read(name), target, name) if name.endswith(".mlir") else Bundle(name)


def compile_text(text: Union[str, bytes], target: str = "cpu", name: str = "-") -> Bundle:
    """Compiles a program that is written in the compiler's own text; `name` stands for its file in messages.

    Raises:
      CompileError: the compiler refuses the text; the message has its diagnostics, each with line and column.
    """
    return Bundle(name, program_bytes(text, target, name))


def program_bytes(text, target: str, name: str, entry: str = "", held: bytes = b"") -> bytes:
    """A bundle of a program in the compiler's own text, for targets with commas between them; `entry`: of one function alone.
    `held` is the content of a safetensors file with its parameters."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    library = lib.library()
    cancel = c_int32(0)
    options = lib.CompileOptions(target=target.encode(), entry=entry.encode() or None, cancel=ctypes.pointer(cancel))

    def compile_text():
        made = c_void_p()
        with lib.collecting() as messages:
            status = library.ft_compile_text(lib.compiler(), data, len(data), name.encode(), byref(options), byref(made))
        return made, status, messages

    handle, status, messages = compiled.interruptible(compile_text, cancel)
    if status != lib.OK:
        errors = [m for m in messages if m.severity == "error"]
        if errors and status != lib.CANCELLED:
            places = "".join(f"{file}:{line}:{column}: error: " for file, line, column in errors[0].places[:1])
            raise CompileError(places + errors[0].text, (), [(n.text, ()) for n in errors[0].notes])
        lib.raise_status(status, name)
    try:
        if held:
            lib.check(library.ft_program_hold(handle, held, len(held)), name)
        bytes_, size = c_void_p(), ctypes.c_size_t()
        lib.check(library.ft_program_bytes(handle, byref(bytes_), byref(size)), name)
        return ctypes.string_at(bytes_, size.value)
    finally:
        library.ft_program_release(handle)
