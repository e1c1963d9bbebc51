# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts in a file: compiled parts for targets, and the plan by which calls go through them, with the library steps by name.

A file (``.fts``) is a zip archive: `plan.json`, one bundle for each compiled part, and the values of tensors from outside of the function.
Anyone who loads it needs neither the function's source nor the compiler; the steps that the plan names must be known there.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import sys
import zipfile
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from .. import library as lib
from ..bundles import Bundle, _read, program_bytes, targets_for
from ..errors import ArgumentError, ArgumentValueError, BundleError, CompileError, DeviceError, DTypeError
from ..source import Frame
from .runtime import arrays, library
from .plan import written
from .runtime.engines import Code, Engine, types_in
from .ir.operations import Block, Type
from .runtime.memory import HOST, TorchMemory
from .problems import RunError
from .program import Program
from .runtime.runnable import Leaf, Runnable
from .runtime.running import Runner
from .plan.segments import Division, Segment, SegmentText, may_roots
from .frontend.values import Complex, ListOfRows, NamedResult

_FORMAT = 1


class Exported:
    """What :meth:`Script.export` has written: `path`, the `targets`, and the names of the library `steps` that calls of it need."""

    def __init__(self, path: str, targets: Sequence[str], steps: Sequence[str]):
        self.path, self.targets, self.steps = path, tuple(targets), tuple(steps)

    def __repr__(self):
        steps = f"steps {', '.join(self.steps)}" if self.steps else "no library steps"
        return f"<{self.path} for {', '.join(self.targets)}; {steps}>"


# -- writing ----------------------------------------------------------------------------------------------------------


def export(program: Program, name: str, parameters: Optional[Sequence[str]], args, kwargs, path, targets, torch_like: bool) -> Exported:
    """Writes a program, compiled for `targets`, to a file."""
    wanted = targets_for(targets, None)
    segments = program.division.segments
    for at, segment in enumerate(segments):
        _check_aliases(segment, at)
    texts = [SegmentText(segment).text() for segment in segments]
    parts = [_compiled(segment, text, wanted, at) for at, (segment, text) in enumerate(zip(segments, texts))]
    if program.rebound:
        raise ArgumentError(f"export: the function assigns the attribute '{program.rebound[0][0].attribute}' of an object, which no file can hold")
    writer = written.Writer()
    plan = writer.plan(program.division.plan, segments)
    description: Dict[str, Any] = {
        "format": _FORMAT,
        "name": name,
        "targets": wanted,
        "steps": program.steps(),
        "torch": torch_like,
        "parameters": None if parameters is None else list(parameters),
        "arguments": [_call_out(a) for a in args],
        "keywords": {k: _call_out(v) for k, v in kwargs.items()},
        "names": program.root_names,
        "types": [_array_out(program, at) for at in range(len(program.roots))],
        "outside": len(program.captured),
        "dims": {k: list(v) for k, v in program.dims.items()},
        "bounds": {k: list(v) for k, v in program.bounds.items()},
        "least": {k: number.value.least for k, number in program.length_names.items()},
        "lengths": [[k, *place] for k, place in zip(program.length_names, program.lengths)],
        "sources": [list(source) for source in program.sources],
        "written": program.written,
        "sites": [[message, [list(f) for f in frames]] for message, frames in program.sites],
        "site_values": [writer.value(v) for v in program.site_values],
        "results": [writer.value(v) for v in program.division.top.yields],
        "inputs": [writer.value(v) for v in program.division.top.args],
        "structure": _structure_out(program.structure),
        "parts": [{**writer.segment(s), "types": types_in(text)} for s, text in zip(segments, texts)],
        "plan": plan,
        **writer.tables(),
    }
    _write(os.fspath(path), description, parts, [c.getter() for c in program.captured])
    return Exported(os.fspath(path), wanted, program.steps())


def _place(segment: Segment) -> str:
    frames = segment.ops[0].frames if segment.ops else ()
    return f"{frames[0].file}:{frames[0].line}:{frames[0].column}: error: " if frames else ""


def _check_aliases(segment: Segment, at: int) -> None:
    """That no two storages of a part can be one, where it writes: where they overlap, only the call knows, and then it compiles."""
    memo: Dict = {}
    names = [v for v in segment.inputs if v.type.kind == "mutable"]
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            if (first in segment.written or second in segment.written) and may_roots(first, memo) & may_roots(second, memo):
                raise CompileError(f"{_place(segment)}export: part {at} writes one of several views of one storage that may overlap: such code is made when it is called, and an exported script has no compiler")


def _compiled(segment: Segment, text: str, targets: Sequence[str], at: int) -> bytes:
    try:
        return program_bytes(text, ",".join(targets), segment.name, segment.name)
    except CompileError as error:
        raise CompileError(f"{_place(segment)}export: the compiler refuses part {at}, and there is no interpreter in an exported script: {error.reason}") from None


def _array_out(program: Program, at: int) -> Dict:
    """What a call's array must be."""
    tensor = program.roots[at]
    return {"dtype": tensor.dtype.name, "sizes": [n if isinstance(n, int) else None for n in tensor.sizes]}


def _call_out(value) -> Any:
    """The form of an argument; what is no array is compiled in."""
    if arrays.is_array(value):
        if arrays.is_complex(value):
            raise ArgumentError("export: an argument is complex: pass torch.view_as_real(x), and call torch.view_as_complex in the function")
        return {"array": "torch" if arrays.is_torch(value) else "numpy"}
    if isinstance(value, (tuple, list)):
        return {"list" if isinstance(value, list) else "tuple": [_call_out(x) for x in value]}
    if isinstance(value, dict):
        return {"dict": [[k, _call_out(x)] for k, x in value.items()]}
    if value is None or isinstance(value, (bool, int, float, str)):
        return {"value": repr(value)}
    return {"object": type(value).__name__}


def _structure_out(structure) -> Any:
    again = _structure_out
    if isinstance(structure, Leaf):
        return {"leaf": structure.kind, "at": structure.at, "dtype": None if structure.dtype is None else structure.dtype.name}
    if isinstance(structure, Complex):
        return {"complex": [again(x) for x in structure.parts]}
    if isinstance(structure, NamedResult):
        return {"named": [again(x) for x in structure], "fields": list(structure.names)}
    if isinstance(structure, ListOfRows):
        raise ArgumentError("export: the function returns a list whose length is data: stack its items and return the tensor")
    if isinstance(structure, (tuple, list)):
        return {"list" if isinstance(structure, list) else "tuple": [again(x) for x in structure]}
    if isinstance(structure, dict):
        return {"dict": [[written.plain(k), again(x)] for k, x in structure.items()]}
    try:
        return {"plain": written.plain(structure)}
    except TypeError:
        raise ArgumentError(f"export: the function returns an object of type {type(structure).__name__}, which no file can hold") from None


def _write(path: str, description: Dict, parts: Sequence[bytes], outside: Sequence) -> None:
    """All or nothing: under another name first."""
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with zipfile.ZipFile(beside, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("plan.json", json.dumps(description))
            for at, data in enumerate(parts):
                archive.writestr(f"part{at}.ftb", data)
            for at, array in enumerate(outside):
                data = io.BytesIO()
                np.save(data, arrays.as_numpy(array.cpu() if arrays.is_torch(array) else array), allow_pickle=False)
                archive.writestr(f"outside{at}.npy", data.getvalue())
        os.replace(beside, path)
    except OSError as error:
        raise BundleError(f"export to {path}: {error.strerror}") from None
    finally:
        if os.path.exists(beside):
            os.unlink(beside)


# -- loading ----------------------------------------------------------------------------------------------------------


class _StoredText:
    """A part of which the text has gone."""

    def __init__(self, segment: Segment):
        self._segment = segment

    def inputs(self) -> List:
        return self._segment.inputs

    def text(self) -> str:
        return ""


class _StoredEngine(Engine):
    """Runs parts from bundles on storages in a memory."""

    def __init__(self, memory, codes: Dict[Segment, Code]):
        super().__init__()
        self.memory, self._codes = memory, codes
        self.name = "cpu" if memory is HOST else "cuda"

    def is_compiled(self, segment: Segment) -> bool:
        return True

    def code(self, segment: Segment) -> Optional[Code]:
        return self._codes[segment]

    def run(self, segment: Segment, text: Callable[[], str], inputs: Sequence, key: str = "") -> List:
        if key:
            raise RunError("arguments overlap here as they did not when the script was exported, and there is no code for that: clone one of them")
        return self._codes[segment].call(inputs)


class _Outside:
    """A tensor from outside of the function, as it was when the script was exported; calls that write it, write it here."""

    def __init__(self, array, name: str):
        self.array, self.name = array, name

    def getter(self):
        return self.array


class StoredProgram(Runnable):
    """An exported program on a device."""

    def __init__(self, description: Dict, bundles: Sequence[Bundle], outside: Sequence[np.ndarray], device: str):
        memory = HOST if device == "cpu" else TorchMemory(device)
        reader = written.Reader(description)
        segments = [reader.segment(part) for part in description["parts"]]
        codes = {}
        for segment, part, bundle in zip(segments, description["parts"], bundles):
            segment.compiled["writer"] = _StoredText(segment)
            kinds, outputs = part["types"]
            types = [Type("tensor", written.again({"dtype": d}), shape) for d, shape in outputs]
            codes[segment] = Code.stored(bundle._module(bundle.entries[0], memory.device), [written.again({"dtype": d}) for d in kinds], types, memory)
        division = Division.__new__(Division)
        division.segments, division.plan = segments, reader.plan(description["plan"], segments)
        division.top = _top(reader, description)
        self.engine = _StoredEngine(memory, codes)
        self.root_names, self.dims, self.written = description["names"], description["dims"], description["written"]
        self.lengths = [(root, d) for _, root, d in description["lengths"]]
        self.length_names = {name: None for name, *_ in description["lengths"]}
        self.bounds = description.get("bounds", {})
        self.sources = [tuple(source) for source in description["sources"]]
        self.sites = [(message, tuple(Frame(*f) for f in frames)) for message, frames in description["sites"]]
        self.site_values = [reader.values[v] for v in description["site_values"]]
        self.structure = _structure_in(description["structure"])
        self.rebound = []
        types_outside = description["types"][len(description["types"]) - len(outside) :]
        names = self.root_names[len(self.root_names) - len(outside) :]
        self.captured = [_Outside(memory.from_host(a, written.again({"dtype": t["dtype"]})), n) for a, t, n in zip(outside, types_outside, names)]
        self.runner = Runner(division, self.engine, self.site_values, self._look_at)


def _top(reader: written.Reader, description: Dict):
    top = Block()
    top.args = [reader.values[v] for v in description["inputs"]]
    top.yields = [reader.values[v] for v in description["results"]]
    return top


def _structure_in(data) -> Any:
    again = _structure_in
    if "leaf" in data:
        return Leaf(data["leaf"], data["at"], None if data["dtype"] is None else written.again({"dtype": data["dtype"]}))
    if "complex" in data:
        return Complex(*map(again, data["complex"]))
    if "named" in data:
        return NamedResult([again(x) for x in data["named"]], data["fields"])
    if "list" in data or "tuple" in data:
        items = [again(x) for x in data.get("list", data.get("tuple"))]
        return items if "list" in data else tuple(items)
    if "dict" in data:
        return {written.again(k): again(x) for k, x in data["dict"]}
    return written.again(data["plain"])


class StoredScript:
    """A script that was loaded from a file: call it as the function that it was made from.

    `steps` are the library steps that it needs; those that no one has registered are refused when it is loaded.
    """

    def __init__(self, path, in_place: bool = True):
        self.path, self._in_place = os.fspath(path), in_place
        self._description, parts, self._outside = _parts_of(self.path)
        self.__name__ = self._description["name"]
        self.steps: Tuple[str, ...] = tuple(self._description["steps"])
        unknown = [step for step in self.steps if not library.is_known(step)]
        if unknown:
            raise BundleError(f"{self.path} needs the library step{'s' * (len(unknown) > 1)} {', '.join(unknown)}: fractaltensor.torch.register_step(name, function) makes one known")
        self.targets: Tuple[str, ...] = tuple(self._description["targets"])
        self._bundles = [Bundle(f"{self.path}/part{at}.ftb", data) for at, data in enumerate(parts)]
        self._programs: Dict[str, StoredProgram] = {}

    def __call__(self, *args, **kwargs):
        given = self._leaves(args, kwargs)
        device = next((str(x.device) for x in given if arrays.is_torch(x)), "cpu")
        self._check(given, device)
        program = self._programs.get(device)
        if program is None:
            program = self._programs[device] = self._on(device)
        done = program.run(given, device, self._in_place, self._description["torch"] and not given and "torch" in sys.modules)
        program.check(done)
        return program.result(done)

    def _on(self, device: str) -> StoredProgram:
        try:
            return StoredProgram(self._description, self._bundles, self._outside, device)
        except lib.errors.Error as error:
            if isinstance(error, DeviceError):
                raise DeviceError(f"{self.path} is for {', '.join(self.targets)}, the arguments are on {device}: {error}") from None
            raise

    def _leaves(self, args, kwargs) -> List:
        """The arrays of a call, each once; the rest must be what was compiled in."""
        names, forms = self._description["parameters"], self._description["arguments"]
        named = self._description["keywords"]
        if names is not None:
            args, kwargs = _by_position(self.__name__, names, len(forms), args, kwargs)
        if len(args) != len(forms) or set(kwargs) != set(named):
            raise ArgumentError(f"{self.__name__} was exported for {len(forms)} arguments{_and(named)}, found {len(args)}{_and(kwargs)}")
        found: List = []
        for at, (value, form) in enumerate(zip(args, forms)):
            _collect(value, form, names[at] if names and at < len(names) else f"argument {at}", found)
        for name, form in named.items():
            _collect(kwargs[name], form, name, found)
        return list({id(x): x for x in found}.values())

    def _check(self, given: List, device: str) -> None:
        names, types = self._description["names"], self._description["types"]
        own = len(types) - self._description["outside"]
        if len(given) != own:
            raise ArgumentError(f"{self.__name__} was exported for {own} different arrays, found {len(given)}")
        sizes: Dict[str, int] = {}
        for at, (array, type_) in enumerate(zip(given, types)):
            arrays.check(array, names[at], device)
            dtype = arrays.dtype_of(array).name
            if dtype != type_["dtype"]:
                raise DTypeError(f"argument '{names[at]}' has elements {dtype}, the script was exported for {type_['dtype']}")
            wanted = type_["sizes"]
            if len(wanted) != len(array.shape) or any(n not in (None, m) for n, m in zip(wanted, array.shape)):
                shape = ", ".join("any" if n is None else str(n) for n in wanted)
                raise ArgumentValueError(f"argument '{names[at]}' has sizes {list(array.shape)}, the script was exported for [{shape}]")
            for length, size in zip(self._description["dims"].get(names[at], ()), array.shape):
                if length:
                    sizes.setdefault(length, size)
        for length, least in self._description["least"].items():
            if sizes.get(length, least) < least:
                raise ArgumentValueError(f"{self.__name__} was exported for sizes from {least} on where it has {sizes[length]}")

    def __repr__(self):
        return f"<script {self.__name__} of {self.path}>"


def load(path, *, in_place: bool = True) -> StoredScript:
    """Loads a script that :meth:`Script.export` wrote. ``in_place=False``: a call that fails leaves its arguments as they were, at the cost of copies.

    Raises:
      BundleError: the file is missing, damaged or of another version, or needs library steps that no one has registered.
    """
    return StoredScript(path, in_place)


def _parts_of(path: str):
    try:
        with zipfile.ZipFile(io.BytesIO(_read(path))) as archive:
            description = json.loads(archive.read("plan.json"))
            if description["format"] != _FORMAT:
                raise BundleError(f"{path} is of format {description['format']}, expected {_FORMAT}")
            parts = [archive.read(f"part{at}.ftb") for at in range(len(description["parts"]))]
            outside = [np.load(io.BytesIO(archive.read(f"outside{at}.npy")), allow_pickle=False) for at in range(description["outside"])]
            return description, parts, outside
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
        raise BundleError(f"{path} is no exported script, or damaged: {error}") from None


def _by_position(name: str, names: Sequence[str], count: int, args, kwargs):
    """Arguments by name among those by position, where the function was called by position when it was exported."""
    left, found = dict(kwargs), list(args)
    while len(found) < min(count, len(names)) and names[len(found)] in left:
        found.append(left.pop(names[len(found)]))
    return found, left


def _and(named) -> str:
    return f" and {', '.join(named)}" if named else ""


def _collect(value, form: Dict, name: str, found: List) -> None:
    if "array" in form:
        if not arrays.is_array(value):
            raise ArgumentError(f"argument '{name}' is {type(value).__name__}, expected an array")
        found.append(value)
    elif "list" in form or "tuple" in form:
        items = form.get("list", form.get("tuple"))
        if not isinstance(value, (tuple, list)) or len(value) != len(items):
            raise ArgumentError(f"argument '{name}' must have {len(items)} items")
        for at, (x, item) in enumerate(zip(value, items)):
            _collect(x, item, f"{name}[{at}]", found)
    elif "dict" in form:
        if not isinstance(value, dict) or list(value) != [k for k, _ in form["dict"]]:
            raise ArgumentError(f"argument '{name}' must be a dictionary of {', '.join(str(k) for k, _ in form['dict'])}")
        for key, item in form["dict"]:
            _collect(value[key], item, f"{name}[{key!r}]", found)
    elif "value" in form and repr(value) != form["value"]:
        raise ArgumentValueError(f"argument '{name}' is {value!r}; the script was exported with {form['value']}, which is compiled in")


def parameters_of(signature: Optional[inspect.Signature]) -> Optional[List[str]]:
    """The names of parameters that are given by position."""
    if signature is None:
        return None
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [p.name for p in signature.parameters.values() if p.kind in kinds]
