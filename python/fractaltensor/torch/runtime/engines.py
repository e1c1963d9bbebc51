# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What runs a segment: the heap interpreter, or compiled code with the interpreter where the compiler refuses."""

from __future__ import annotations

import ctypes
import json
import re
from ctypes import byref, c_int32, c_int64, c_void_p
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Sequence, Set, Tuple

import numpy as np

from ... import library as lib
from ...arrays import CPU, DLTensor
from ...compiled import interruptible
from ...errors import CompileError, Error, OutOfMemoryError
from ...jit import _calls
from ...locks import ForkLock
from ...source import Frame
from ..ir.dtypes import ALL, DType
from ..ir.operations import Block, Op, Type, Value, enclosing, walk
from .memory import HOST, Memory, TorchMemory
from ..problems import RunError, RunIndexError, RunShapeError
from ..ir.proofs import prove_places
from ..plan.segments import Division, Segment, SegmentText, may_roots
from ..plan.stretches import is_stretch, stretched
from .structs import Structs


class Remark:
    """What an engine did otherwise than asked, and why."""

    def __init__(self, segment: str, text: str, frames=()):
        self.segment, self.text, self.frames = segment, text, tuple(frames)

    def __repr__(self):
        place = f"{self.frames[0].file}:{self.frames[0].line}: " if self.frames else ""
        return f"{place}{self.segment}: {self.text}"


def tensor_of(array, dtype: DType, keep: List, memory: Memory = HOST) -> DLTensor:
    """The runtime's struct for a dense array."""
    shape = (c_int64 * max(1, array.ndim))(*array.shape)
    made = DLTensor(
        data=memory.address(array), device_type=memory.device[0], device_id=memory.device[1], ndim=array.ndim, code=dtype.code, bits=8 if dtype.is_bool else dtype.bits, lanes=1, shape=shape,
    )
    keep += [shape, made, array]
    return made


_BY_CODE = {(d.code, 8 if d.is_bool else d.bits): d for d in ALL.values()}


#: What a segment's text is called in places.
_TEXT = "program"


class _Source:
    """A parsed text, kept while its segment is."""

    def __init__(self, text: str):
        data = text.encode()
        self.handle = c_void_p()
        with lib.collecting() as messages:
            status = lib.library().ft_source_parse(lib.compiler(False), data, len(data), _TEXT.encode(), byref(self.handle))
        if status:
            raise CompileError("the text of a segment was refused: " + "; ".join(m.text for m in messages) + "\n" + text)

    def __del__(self):
        try:
            lib.library().ft_source_release(self.handle)
        except Exception:  # noqa: BLE001 - the interpreter may be going down
            pass


#: What a segment says of its lengths.
_BOUNDS = re.compile(r'ft\.bounds = #ft\.bounds<(?:"[^"]*"|[^">])*>(, )?')


def _said_of_step(step: Op) -> str:
    """Why a loop with a step is no compiled one, in the program's terms."""
    name = step.attributes["name"]
    if name == "require_equal":
        where = f" in line {step.frames[0].line}" if step.frames else ""
        return f"two sizes that change from one iteration to the next meet in it{where}, and are compared each time"
    return f"the library step '{name}' stands in it"


class Engine:
    """Runs segments by the heap interpreter: slow, and the meaning of all others."""

    name = "interpret"

    #: What holds storages between segments.
    memory = HOST

    def __init__(self):
        self.remarks: List[Remark] = []
        self._lock = ForkLock()

    def is_compiled(self, segment: Segment) -> bool:
        return False

    def code(self, segment: Segment) -> "Optional[Code]":
        """A segment's compiled code, where there is one."""
        return None

    def divide(self, top: Block) -> Division:
        """How a program is divided for this engine."""
        return Division(top)

    def run(self, segment: Segment, text: Callable[[], str], inputs: Sequence[np.ndarray], key: str = "") -> List[np.ndarray]:
        with self._lock:
            source = segment.compiled.get(("source", key))
            if source is None:
                source = segment.compiled["source", key] = _Source(_BOUNDS.sub("", text()))  # whose lengths have no names here
            kinds = segment.compiled.get(("kinds", key)) or self._kinds(segment, text, key)
        try:
            return self._evaluate(segment, source, inputs, kinds)
        except Error as error:
            error.frames, ops = _in_the_program(segment, text(), error.frames)
            raise error.of_dimensions(_said(error.reason, ops)) if isinstance(error, RunError) else error

    def _kinds(self, segment: Segment, text, key: str) -> List[DType]:
        head = text().split("\n", 1)[0]
        found = _argument_types(head)
        segment.compiled["kinds", key] = found
        return found

    def _evaluate(self, segment: Segment, source: _Source, inputs, kinds) -> List[np.ndarray]:
        keep: List = []
        tensors = [tensor_of(np.asarray(a, order="C"), d, keep) for a, d in zip(inputs, kinds)]
        pointers = (c_void_p * max(1, len(tensors)))(*[ctypes.addressof(t) for t in tensors])
        found: List[np.ndarray] = []

        @lib.ArrayFn
        def take(tensor, _user):
            t = tensor.contents
            array = np.empty(tuple(t.shape[i] for i in range(t.ndim)), _BY_CODE[t.code, t.bits].numpy)
            if array.nbytes:
                ctypes.memmove(array.ctypes.data, t.data, array.nbytes)
            found.append(array)

        with lib.collecting() as messages:
            status = lib.library().ft_evaluate(source.handle, segment.name.encode(), pointers, len(tensors), take, None)
        if status:
            text = (lib.library().ft_last_error() or b"").decode(errors="replace")
            raise run_error(text, messages)
        return found


#: The place that an operation's text ends with.
_PLACE = re.compile(r'loc\("([^"]*)":(\d+):(\d+)\)$')


def _in_the_program(segment: Segment, text: str, frames: Sequence[Frame]) -> Tuple[Tuple[Frame, ...], List[Op]]:
    """A place that the interpreter says, with the calls that lead there, and the operations of that place. What has none of its own, as a
    body's operations, is in the one around it."""
    if not frames:
        return (), []
    file, line, column = frames[0][:3]
    if file == _TEXT:
        ends = map(_PLACE.search, text.split("\n")[line - 1 :])
        found = next(filter(None, ends), None)
        if found is None:
            return (), []
        file, line, column = found[1], int(found[2]), int(found[3])
    ops = [op for op in walk(segment.ops) if op.frames and op.frames[0][:3] == (file, line, column)]
    return (ops[0].frames if ops else (Frame(file, line, column, 0, ""),)), ops


def _said(reason: str, ops: Sequence[Op]) -> Optional[Dict[int, int]]:
    """What the program calls the dimension that a failed index names; nothing where several indices of one place may be meant."""
    found = re.search(r"of dimension (\d+) is out of range: its size is (\d+)", reason)
    d, size = (int(found[1]), int(found[2])) if found else (-1, -1)
    views = [op for op in ops if op.attributes.get("step") == "select" and op.attributes["numbers"][0] == d]
    own = [op for op in views if op.operands[0].type.shape[d] in (None, size)]
    own += [op for op in ops if op.attributes.get("role") in ("index", "index_put") and d in op.attributes["said"]]
    return own[0].attributes.get("said") if len(own) == 1 else None


def text_after(text: str, phase: str, target: str = "cpu") -> str:
    """A segment's text as it is after a phase of the compiler."""
    source = _Source(text)
    options, statuses = lib.CompileOptions(target=target.encode()), []
    with lib.collecting() as messages:
        found = lib.read_text(lambda write: statuses.append(lib.library().ft_print(source.handle, byref(options), phase.encode(), write, None)))
    if statuses[0]:
        raise CompileError("; ".join(dict.fromkeys(m.text for m in messages if m.severity in ("error", "warning"))))
    return found


#: Where the plan of launches stands after phase `threads` of a GPU.
_PLAN = re.compile(r'tile\.plan = "([^"]*)"')


def launches_of(text: str, target: str) -> int:
    """How many kernels a segment launches on a GPU, by its plan: both sides of a condition are counted, a loop once."""
    def count(found) -> int:
        if isinstance(found, dict):
            return (found.get("step") == "launch") + sum(map(count, found.values()))
        return sum(map(count, found)) if isinstance(found, list) else 0

    plans = _PLAN.findall(text_after(text, "threads", target))
    return sum(count(json.loads(re.sub(r"\\([0-9A-F]{2})", lambda m: chr(int(m[1], 16)), plan))) for plan in plans)


def run_error(text: str, messages) -> Exception:
    """A failure while a program ran, as an exception with its place."""
    frames = []
    for message in messages:
        if message.severity == "error":
            text = re.sub(r"^'\w+': ", "", message.text)
            frames = [Frame(f, line, column, 0, "") for f, line, column in message.places if line > 0][:1]
            break
    kind = RunShapeError if text.startswith("cannot broadcast") else RunIndexError if "out of range" in text else OutOfMemoryError if text.startswith("cannot allocate") else RunError
    return kind(text, frames)


def types_in(text: str) -> List:
    """Element types of the arguments of a function, and element types and sizes of its results, as names and numbers."""
    head = text.split("\n", 1)[0]
    return [[d.name for d in _argument_types(head)], [[t.dtype.name, list(t.shape)] for t in _result_types(head)]]


def _argument_types(head: str) -> List[DType]:
    """Element types of the arguments in a function's first line."""
    inner = head[head.index("(") + 1 : head.index(") -> (") if ") -> (" in head else head.rindex(")")]
    found = []
    for part in inner.split("%")[1:]:
        type_ = part[part.index("tensor<") + 7 :]
        type_ = type_[: type_.index(">")]
        found.append(_BY_MLIR[type_.split("x")[-1]])
    return found


def _result_types(head: str) -> List[Type]:
    """Types of the results in a function's first line."""
    found = []
    for part in head.split(") -> (", 1)[1].split("tensor<")[1:] if ") -> (" in head else ():
        *sizes, element = part[: part.index(">")].split("x")
        found.append(Type("tensor", _BY_MLIR[element], [None if n == "?" else int(n) for n in sizes]))
    return found


_BY_MLIR = {d.mlir: d for d in ALL.values()}


#: Why a function is divided where it reads at data.
_BY_DATA = "it indexes by data, and nothing says that these lie within bounds: each index is looked at"
#: What remarks call control flow.
_CONTROL = {"for": "a loop", "while": "a loop", "if": "a condition"}


class _Marks:
    """How a program is to be divided, as far as that is known, and why."""

    def __init__(self):
        #: Control flow that is gone through from outside, and operations that are functions of their own, with the reasons.
        self.apart: Dict[Op, str] = {}
        self.alone: Dict[Op, str] = {}
        self.cuts: Set[Op] = set()
        self.places: Set[Op] = set()
        #: Loops over stretches that are tried, by the loop of a stretch; how many were taken back.
        self.stretches: Dict[Op, Callable[[], None]] = {}
        self.taken_back = 0

    def count(self) -> int:
        return len(self.apart) + len(self.alone) + len(self.cuts) + len(self.places) + self.taken_back

    def set_alone(self, ops: Iterable[Op], reason: str) -> None:
        for op in ops:
            self.alone.setdefault(op, reason)

    def refuse(self, ops: Iterable[Op], reason: str) -> None:
        """Control flow that is not compiled whole: a `while` may be, a stretch at a time."""
        for op in ops:
            if is_stretch(op):
                self.stretches.pop(op)()
                self.taken_back += 1
            elif op not in self.apart:
                self.apart[op] = reason
                take_back = stretched(op) if op.kind == "while" else None
                if take_back is not None:
                    self.stretches[op.blocks[1].ops[-1]] = take_back


#: Writes of parts of a tensor, one after the other, that are one function; where there are more, how many each function has.
_MOST_WRITES, _WRITES_OF_ONE = 48, 24


def _cuts_of_long(top: Block) -> List[Op]:
    """Where a long stretch of writes of parts of one storage is divided. Each write is a copy of what has changed, and the time that
    LLVM takes for one function grows with the square of their number."""
    memo: Dict[Value, Set[Value]] = {}
    writes: Dict[frozenset, List[Op]] = {}
    for op in top.ops:
        if op.attributes.get("role") == "write" and op.operands[0].op is not None and op.operands[0].op.attributes.get("role") == "view":
            writes.setdefault(frozenset(may_roots(op.operands[0], memo)), []).append(op)
    return [op for own in writes.values() if len(own) > _MOST_WRITES for op in own[_WRITES_OF_ONE::_WRITES_OF_ONE]]


class CompiledEngine(Engine):
    """Runs code compiled for a target on storages in a memory; segments that the compiler refuses go to the interpreter, with a remark."""

    def __init__(self, name: str, target: str, memory: Memory = HOST):
        super().__init__()
        self.name, self.target, self.memory = name, target, memory
        self._codes: Dict[str, Any] = {}

    def divide(self, top: Block) -> Division:
        """Compiles, and divides further what the compiler refuses: first loops and conditions, then what makes
        parts of open size, and single operations."""
        prove_places(top)
        marks = _Marks()
        marks.cuts.update(_cuts_of_long(top))
        while True:
            division = Division(top, set(marks.apart), set(marks.alone), marks.cuts, marks.places)
            found = marks.count()
            for segment in division.segments:
                unproven, overlaps = segment.unproven(), segment.overlaps(division.roots_of)
                marks.refuse((op for op in unproven if op.blocks), _BY_DATA)
                marks.set_alone((op for op in unproven if not op.blocks), _BY_DATA)
                marks.cuts.update(overlaps)
                if unproven or overlaps:
                    continue
                reason = self._code(segment, SegmentText(segment).text, "")
                open_places = set(segment.of_open_size()) - marks.places if isinstance(reason, str) else set()
                if open_places:
                    marks.places |= open_places
                elif isinstance(reason, str):
                    parts = segment.parts()
                    folds = [op for op in parts if op.attributes.get("fold")]
                    marks.refuse((op for op in parts if not op.attributes.get("fold")), reason)
                    alone = folds or ([] if parts else segment.cuts())
                    marks.set_alone(alone, reason)
                    if not parts and not alone:
                        marks.cuts.update(segment.parts_at_data())
            if marks.count() == found:
                break
        self._say(division, {**marks.apart, **marks.alone})
        return division

    def _say(self, division: Division, reasons: Mapping[Op, str]) -> None:
        """Remarks on what is divided, and on what the interpreter runs, with the reasons."""
        for op in walk(division.top.ops):
            if op.blocks and op in division.hosted:
                steps = (_said_of_step(inner) for inner in walk([op]) if inner.kind == "step")
                reason = reasons.get(op) or next(steps, "what it chooses is written elsewhere")
                # (What follows a `return` under a condition stands in one that the program does not write.)
                frames = op.frames or next((inner.frames for inner in walk([op]) if inner.frames), ())
                self.remarks.append(Remark(_CONTROL[op.kind], f"is gone through from outside: {reason}", frames))
            elif op in reasons and not any(reasons.get(outer) == reasons[op] for outer in enclosing(op)):
                self.remarks.append(Remark("an operation", f"is a function of its own: {reasons[op]}", op.frames))
        for segment in division.segments:
            reason = segment.compiled["code", ""]
            if isinstance(reason, str):
                frames = segment.ops[0].frames if segment.ops else ()
                self.remarks.append(Remark(segment.name, f"runs in the interpreter: {reason}", frames))

    def is_compiled(self, segment: Segment) -> bool:
        return not isinstance(segment.compiled.get(("code", "")), str)

    def code(self, segment: Segment) -> "Optional[Code]":
        found = segment.compiled.get(("code", ""))
        return None if isinstance(found, str) else found

    def run(self, segment, text, inputs, key: str = ""):
        code = self._code(segment, text, key)
        if not isinstance(code, str):
            return code.call(inputs)
        found = super().run(segment, text, [self.memory.to_host(a) for a in inputs], key)
        return [self.memory.from_host(a, t.dtype) for a, t in zip(found, _result_types(text().split("\n", 1)[0]))]

    def _code(self, segment: Segment, text: Callable[[], str], key: str):
        """A segment's code, or why there is none."""
        code = segment.compiled.get(("code", key))
        if code is None:
            with self._lock:
                written = text()
                if written not in self._codes:
                    try:
                        self._codes[written] = Code(written, segment, self.target, self.memory)
                    except CompileError as error:
                        self._codes[written] = error.reason
                code = segment.compiled["code", key] = self._codes[written]
        return code


class Code:
    """A segment's code, loaded."""

    def __init__(self, text: str, segment: Segment, target: str, memory: Memory):
        library = lib.library()
        data = text.encode()
        cancel = c_int32(0)
        options = lib.CompileOptions(target=target.encode(), entry=segment.name.encode(), cancel=ctypes.pointer(cancel))

        def compile_text():
            made = c_void_p()
            with lib.collecting() as messages:
                status = library.ft_compile_text(lib.compiler(False), data, len(data), b"program", byref(options), byref(made))
            return made, status, messages

        program, status, messages = interruptible(compile_text, cancel)
        if status:
            found = [m.text for m in messages if m.severity in ("error", "warning")]
            raise CompileError("; ".join(dict.fromkeys(found)) or (library.ft_last_error() or b"").decode(errors="replace"))
        try:
            from ...compiled import _load_program

            self.memory, self.module = memory, _load_program(program, segment.name, memory.device)
        finally:
            library.ft_program_release(program)
        head = text.split("\n", 1)[0]
        # Not the segment's results: where storages overlap, several are one.
        self._bind(_argument_types(head), _result_types(head))

    @classmethod
    def stored(cls, module, kinds: List[DType], outputs: List[Type], memory: Memory) -> "Code":
        """Code that was compiled before, with the types of its arguments and results."""
        made = cls.__new__(cls)
        made.memory, made.module = memory, module
        made._bind(kinds, outputs)
        return made

    def _bind(self, kinds: List[DType], outputs: List[Type]) -> None:
        self.kinds, self.outputs = kinds, outputs
        count = len(self.kinds)
        #: Of each result, the argument in whose memory it is left, or -1.
        self.homes = [self.module.arguments[count + at].writeback for at in range(len(self.outputs))]
        self._made = [(type_, home, None in type_.shape) for type_, home in zip(self.outputs, self.homes)]
        #: Structs that no call uses now; calls in several threads take one each.
        self._structs: List[Structs] = []

    def call(self, inputs) -> List:
        try:
            structs = self._structs.pop()
        except IndexError:
            ranks = [*(a.ndim for a in inputs), *(len(t.shape) for t in self.outputs)]
            structs = Structs(self.memory, [*self.kinds, *(t.dtype for t in self.outputs)], ranks, len(inputs))
        try:
            return self._call(structs, inputs)
        finally:
            self._structs.append(structs)

    def _call(self, structs: Structs, inputs) -> List:
        library, memory, count = lib.library(), self.memory, len(inputs)
        taken = list(map(memory.aligned, inputs, self.kinds))
        for at, (array, address) in enumerate(taken):
            structs.put(at, address, array.shape)
        results = []
        for at, (type_, home, is_open) in enumerate(self._made, count):
            if home >= 0:
                array, address = taken[home]
                shape = array.shape
            else:
                shape = self.shape_of(structs, at) if is_open else type_.shape
                array, address = memory.empty(shape, type_.dtype)
            results.append(array)
            structs.put(at, address, shape)
        stream = memory.stream()
        options = None if stream is None else byref(lib.CallOptions(stream=stream))
        status = library.ft_call(self.module.entry, structs.pointers, count + len(results), options)
        if status:
            self.fail(status)
        if stream is not None:
            _calls.note(self.module, stream, memory.device)
        return results

    def error(self, status: int) -> Exception:
        """What went wrong in the last call."""
        text = lib.readable((lib.library().ft_last_error() or b"").decode(errors="replace"))
        if status == lib.OUT_OF_MEMORY or self.memory.device[0] != CPU and status in lib._EXCEPTIONS:
            return lib._EXCEPTIONS[status](text + lib._HINTS.get(status, ""))
        return run_error(text, ())

    def fail(self, status: int) -> None:
        raise self.error(status)

    def shape_of(self, structs: Structs, at: int) -> Tuple[int, ...]:
        """The sizes of a result, of which some are known by the arguments only."""
        if at in structs.known:
            return structs.known[at]
        shape, rank = (c_int64 * 32)(), c_int32(32)
        lib.check(lib.library().ft_output_shape(self.module.entry, structs.arguments, len(self.kinds) + len(self.outputs), at, shape, byref(rank)))
        structs.known[at] = tuple(shape[: rank.value])
        return structs.known[at]


def make(name: str, device: str = "cpu") -> Engine:
    """An engine for arguments on a device."""
    if name == "interpret":
        return Engine()
    if name == "cpu":
        return CompiledEngine(name, "cpu")
    from ...devices import cuda_target

    memory = TorchMemory(device)
    return CompiledEngine(name, cuda_target(memory.device[1]), memory)
