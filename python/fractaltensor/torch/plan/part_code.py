# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The call of a compiled part, as lines of a plan's function (:mod:`plan_code`), for NumPy's arrays and for PyTorch's tensors.

What the runtime is told of arguments and results stands in structs that a function keeps: of most only the address is written at a
call. What is dense, aligned and memory of its own because the runner has made it is not looked at again.
"""

from __future__ import annotations

import math
from typing import Any, Dict, List, NamedTuple, Optional, Sequence

import numpy as np

from ...arrays import CPU
from ..runtime import engines
from ..ir.dtypes import bfloat16, int64
from ..ir.operations import Value
from ..runtime.memory import ALIGNMENT, is_inside
from .segments import Segment, SegmentText
from ..runtime.structs import Structs

#: Results up to so many bytes lie in one piece of memory, which lives as long as one of them does.
_SHARED = 4096


class Scope:
    """Values that are known in a block, with their names. A function of its own takes what it uses from outside: `free`."""

    def __init__(self, is_function: bool = False):
        self.names: Dict[Any, str] = {}
        self.free: Optional[Dict[str, None]] = {} if is_function else None


class _Place(NamedTuple):
    """What is known of where a value is: `origins` are the storages that it may be a part of, None where any."""

    origins: Optional[frozenset]
    is_dense: bool = False
    is_aligned: bool = False


class Places:
    """What is known of the values of a plan."""

    def __init__(self):
        self._found: Dict[Value, _Place] = {}
        self._numbers: set = set()

    def argument(self, value: Value) -> None:
        self._found[value] = _Place(frozenset([value]), is_dense=True)
        if value.type.kind == "scalar":
            self._numbers.add(value)

    def made(self, value: Value, is_aligned: bool = True, is_number: bool = False) -> None:
        """Memory of its own: a result."""
        self._found[value] = _Place(frozenset([value]), True, is_aligned)
        if is_number:
            self._numbers.add(value)

    def number(self, value: Value) -> None:
        self._numbers.add(value)

    def same(self, value: Value, source: Value) -> None:
        self._found[value] = self._of(source)._replace(origins=frozenset([value]))

    def view(self, value: Value, base: Value) -> None:
        self._found[value] = _Place(self._of(base).origins)

    def merge(self, value: Value, sources: Sequence[Value]) -> None:
        found = list(map(self._of, sources))
        origins = None if any(p.origins is None for p in found) else frozenset().union(*(p.origins for p in found))
        self._found[value] = _Place(origins, all(p.is_dense for p in found), all(p.is_aligned for p in found))
        if all(v in self._numbers or _is_constant(v) for v in sources):
            self._numbers.add(value)

    def unknown(self, value: Value) -> None:
        self._found[value] = _Place(None)

    def _of(self, value: Value) -> _Place:
        return self._found.get(value, _Place(None))

    def is_dense(self, value: Value) -> bool:
        return self._of(value).is_dense

    def is_aligned(self, value: Value) -> bool:
        return self._of(value).is_aligned

    def is_number(self, value: Value) -> bool:
        """Whether it is a number of Python's, whatever the memory."""
        return value in self._numbers or _is_constant(value)

    def are_apart(self, first: Value, second: Value) -> bool:
        a, b = self._of(first).origins, self._of(second).origins
        return a is not None and b is not None and not a & b


def _is_constant(value: Value) -> bool:
    return value.op is not None and "constant" in value.op.attributes


class HostStyle:
    """Of NumPy's arrays."""

    knows_numbers = True

    def __init__(self, code):
        self.code = code

    def begin(self) -> None:
        """What stands before all else in the function."""

    options = "None"

    def operand(self, value: Value, name: str) -> str:
        """A value as a step takes it."""
        if value.type.kind != "scalar" and value.type.dtype is bfloat16:
            return f"step_operand({name}, {self.code.object(value)})"
        return name

    def result(self, value: Value, name: str) -> None:
        """What a step gave, as the program has it."""
        if value.type.kind != "tensor":
            self.code.line(f"if type({name}) is not int: {name} = int({name})")
            self.code.places.made(value, is_number=True)
            return
        line, again = self.code.line, f"{name} = step_result({name}, {self.code.object(value)})"
        is_used = self.code.is_asked(value, "part")
        if value.type.dtype is bfloat16:
            line(again)
        else:
            type_ = self.code.object(np.dtype(value.type.dtype.numpy))
            line(f"if type({name}) is not array or {name}.dtype is not {type_} or not {name}.flags.c_contiguous: {again}")
        if is_used:
            # Once, not at each use.
            address = self.code.bind_address(value)
            line(f"{address} = {self.address(name)}")
            line(f"if {address} & {ALIGNMENT - 1} and {name}.size: {name}, {address} = realigned({name})")
        self.code.places.made(value, is_used)

    def address(self, name: str) -> str:
        return self.code.runner.address_text.format(name)

    def view(self, shape, step: str, numbers: Sequence) -> Optional[str]:
        """How an array is indexed for a view at places that are known to lie inside."""
        if any(isinstance(n, Value) for n in numbers) or not is_inside(shape, step, numbers):
            return None
        if step == "select":
            key = (slice(None),) * numbers[0] + (numbers[1], ...)
        elif step in ("slice", "narrow"):
            d, start, last, by = numbers
            stop = None if last == "_" else start + last * by if step == "narrow" else last
            key = (slice(None),) * d + (slice(start, stop, by),)
        elif step == "unsqueeze":
            key = (slice(None),) * numbers[0] + (None,)
        else:
            return None
        return f"[{self.code.object(key)}]"

    # -- a part's call ------------------------------------------------------------------------------------------------

    def take(self, part: "PartCode", at: int, value: Value, name: str) -> None:
        line, places = self.code.line, self.code.places
        if value.type.kind == "scalar":
            line(f"{part.cell(at, value.type.dtype or int64)}[()] = {name}")
            return
        if places.is_dense(value) and places.is_aligned(value):
            address = self.code.find(("address", value))
            if address is None:
                address = self.code.bind_address(value)
                line(f"{address} = {self.address(name)}")
            part.take(at, name, address)
        else:
            line(f"a{at} = {name}")
            if not places.is_dense(value):
                line(f"if not {name}.flags.c_contiguous: a{at} = dense(c, {name})")
            line(f"p{at} = {self.address(f'a{at}')}")
            line(f"if p{at} & {ALIGNMENT - 1}: a{at}, p{at} = aligned(a{at}, {self.code.object(value.type.dtype)})")
            part.take(at, f"a{at}", f"p{at}")
        part.put(at, part.addresses[at], f"{part.arrays[at]}.shape", value.type.shape)

    def make(self, part: "PartCode", results: List["_Result"]) -> None:
        """Memory for results."""
        line = self.code.line
        small = [r for r in results if r.shape is not None and r.value is not None and r.value.type.kind == "tensor" and r.bytes <= _SHARED]
        if sum(r.bytes for r in small) > _SHARED:
            small = []
        for group in [small, *([r] for r in results if r not in small)]:
            if not group:
                continue
            if group[0].is_number:
                part.cell(group[0].at, group[0].dtype)
                continue
            self.code.mark(part.frames_of(group[0]))
            if group[0].shape is None:
                result = group[0]
                line(f"z = {part.open_shape(result)}")
                line(f"{result.name}, q = empty(z, {self.code.object(result.dtype)})")
                part.put(result.at, "q", "z", (None,))
            else:
                self._make(part, group)

    def _make(self, part: "PartCode", group: List["_Result"]) -> None:
        line, offset = self.code.line, 0
        line(f"m = bytes_({sum(r.bytes for r in group) + ALIGNMENT})")
        line(f"q = {self.address('m')}")
        line(f"l = -q & {ALIGNMENT - 1}")
        for result in group:
            type_ = self.code.object(np.dtype(result.dtype.numpy))
            line(f"{result.name} = array({result.shape}, {type_}, m, {f'l + {offset}' if offset else 'l'})")
            address = f"q + l + {offset}" if offset else "q + l"
            if result.value is not None and self.code.is_asked(result.value, "part"):
                line(f"{self.code.bind_address(result.value)} = {address}")
                address = self.code.bind_address(result.value)
            part.put(result.at, address, "", result.shape)
            offset += result.bytes

    def called(self, part: "PartCode") -> None:
        pass

    def given(self, part: "PartCode", result: "_Result") -> None:
        """After the call."""
        if result.is_number:
            self.code.line(f"{result.name} = {part.cell(result.at, result.dtype)}.item()")


class DeviceStyle:
    """Of PyTorch's tensors on a device: numbers that compiled code gives stay there."""

    knows_numbers = False

    def __init__(self, code):
        self.code = code
        self._on_device = code.memory.device[0] != CPU

    @property
    def options(self) -> str:
        return "o" if self._on_device else "None"

    def begin(self) -> None:
        if self._on_device:
            # The stream is asked for once in a call.
            self.code.opening += [" own_options = options()", " o = byref(own_options)"]
            self.code.line("own_options.stream = stream()")

    def operand(self, value: Value, name: str) -> str:
        return f"number({name}, None)" if value.type.kind == "scalar" and not self.code.places.is_number(value) else name

    def result(self, value: Value, name: str) -> None:
        if value.type.kind != "tensor":
            self.code.line(f"if type({name}) is not int: {name} = int({name})")
            self.code.places.made(value, is_number=True)
            return
        type_ = self.code.object(self.code.memory.dtype(value.type.dtype))
        self.code.line(f"if {name}.dtype is not {type_}: {name} = {name}.to({type_})")
        self.code.line(f"{name} = {name}.contiguous()")
        self.code.places.made(value, is_aligned=False)

    def view(self, shape, step: str, numbers: Sequence) -> Optional[str]:
        return None

    # -- a part's call ------------------------------------------------------------------------------------------------

    def take(self, part: "PartCode", at: int, value: Value, name: str) -> None:
        line, places = self.code.line, self.code.places
        own, address = f"a{at}", f"p{at}"
        if value.type.kind == "scalar":
            line(f"{own} = tensor({name}, {self.code.object(value)})")
            line(f"{address} = {own}.data_ptr()")
        elif places.is_dense(value) and places.is_aligned(value):
            own, address = name, self.code.find(("address", value))
            if address is None:
                address = self.code.bind_address(value)
                line(f"{address} = {name}.data_ptr()")
        else:
            line(f"{own} = {name}{'' if places.is_dense(value) else '.contiguous()'}")
            line(f"{address} = {own}.data_ptr()")
            line(f"if {address} & 15: {own}, {address} = aligned_clone({own})")
            line(f"if {own} is not {name}: c.copied({own})")
        part.take(at, own, address)
        part.put(at, address, f"{own}.shape", value.type.shape)

    def make(self, part: "PartCode", results: List["_Result"]) -> None:
        line = self.code.line
        for result in results:
            if result.shape is None:
                line(f"z = {part.open_shape(result)}")
                line(f"{result.name}, q = empty(z, {self.code.object(result.dtype)})")
                part.put(result.at, "q", "z", (None,))
                continue
            line(f"{result.name} = empty_like({self.code.object(self.code.memory.like(result.shape, result.dtype))}, memory_format=contiguous)")
            part.put(result.at, f"{result.name}.data_ptr()", "", result.shape)

    def called(self, part: "PartCode") -> None:
        if self._on_device:
            self.code.line(f"note({self.code.object(part.compiled.module)}, own_options.stream, {self.code.object(self.code.memory.device)})")

    def given(self, part: "PartCode", result: "_Result") -> None:
        pass


class _Result(NamedTuple):
    """A result of compiled code: its place among arguments and results, its variable, its sizes where they are known."""

    at: int
    value: Optional[Value]
    name: str
    dtype: object
    shape: Optional[tuple]
    is_number: bool

    @property
    def bytes(self) -> int:
        """Up to where the next result may begin."""
        size = math.prod(self.shape or ()) * np.dtype(self.dtype.numpy).itemsize  # type: ignore[attr-defined]
        return -(-size // ALIGNMENT) * ALIGNMENT


class PartCode:
    """Writes the call of one part into a plan's function."""

    def __init__(self, code, segment: Segment):
        self.code, self.segment, self.style = code, segment, code.style
        self.compiled = code.engine.code(segment)
        writer = segment.compiled.get("writer")
        if writer is None:
            writer = segment.compiled["writer"] = SegmentText(segment)
        self.writer = writer
        self.number = -1
        #: Of arguments: the variables that have what was taken, and its address.
        self.arrays: Dict[int, str] = {}
        self.addresses: Dict[int, str] = {}
        self._fields: Dict[int, str] = {}
        self._cells: Dict[int, object] = {}
        self._shapes: Dict[int, tuple] = {}

    def write(self) -> None:
        code, segment = self.code, self.segment
        inputs = [code.get(v, "part") for v in self.writer.inputs()]
        written = [code.get(v, "part") for v in segment.written]
        depth, may_overlap = code.depth, self._may_overlap()
        if may_overlap:
            everything = [code.get(v, "part") for v in segment.inputs]
            known = code.object(segment)
            code.line(f"g = overlapping({known}, ({''.join(n + ', ' for n in everything)}))")
            code.line("if g:")
            code.line(f" r = aliased(c, {known}, g, ({''.join(n + ', ' for n in everything)}))")
            self._unpack(1)
            code.line("else:")
            code.depth += 1
            code.scopes.append(Scope())
        if self.compiled is None:
            code.line(f"r = plainly(c, {code.object(segment)}, [{', '.join(inputs)}], [{', '.join(written)}])")
            self._unpack(0)
        else:
            self._call(inputs, written)
        code.depth = depth
        if may_overlap:
            code.scopes.pop()  # addresses that were read where nothing overlaps are known there alone
        for value in segment.outputs:
            code.bind(value)
            code.places.made(value, self.compiled is not None, value.type.kind == "scalar" and self.style.knows_numbers)

    def _unpack(self, indent: int) -> None:
        for at, value in enumerate(self.segment.outputs):
            self.code.line(f"{' ' * indent}v{value.number} = r[{at}]")
        self.code.line(f"{' ' * indent}pass")

    def _may_overlap(self) -> bool:
        """Whether storages that come in may share memory where one of them is written."""
        names, written, places = [v for v in self.segment.inputs if v.type.kind == "mutable"], set(self.segment.written), self.code.places
        pairs = ((v, w) for i, v in enumerate(names) for w in names[i + 1 :])
        return any((v in written or w in written) and not places.are_apart(v, w) for v, w in pairs)

    # -- through structs ----------------------------------------------------------------------------------------------

    def _call(self, inputs: Sequence[str], written: Sequence[str]) -> None:
        code, segment, compiled = self.code, self.segment, self.compiled
        self.number = len(code.parts)
        code.parts.append(self)
        values = self.writer.inputs()
        for at, (value, name) in enumerate(zip(values, inputs)):
            self.style.take(self, at, value, name)
        results, homes = self._results(len(values))
        self.style.make(self, results)
        for at, home in homes:
            self.put(at, self.addresses[home], f"{self.arrays[home]}.shape", compiled.outputs[at - len(values)].shape)
        entry, count = code.object(compiled.module.entry), len(values) + len(compiled.outputs)
        code.line(f"i = ft_call({entry}, w{self.number}, {count}, {self.style.options})")
        code.line(f"if i: {code.object(compiled.fail)}(i)")
        self.style.called(self)
        for result in results:
            self.style.given(self, result)
        by_place, first = dict(homes), len(values) + len(segment.outputs)
        for at, target in enumerate(written, first):
            new = self.arrays[by_place[at]] if at in by_place else f"b{at}"
            if new != target:
                code.line(f"if {new} is not {target}: write(c, {target}, {new})")
        code.opening += self._opening()

    def _results(self, first: int):
        """Results that need memory, and (place, argument) of those that an argument's memory holds."""
        results, homes = [], []
        for at, (type_, home) in enumerate(zip(self.compiled.outputs, self.compiled.homes)):
            value = self.segment.outputs[at] if at < len(self.segment.outputs) else None
            if home >= 0:
                homes.append((first + at, home))
                if value is not None:
                    raise AssertionError("only what is written has a home")
                continue
            is_number = value is not None and value.type.kind == "scalar" and self.style.knows_numbers
            name = f"b{first + at}" if value is None else f"v{value.number}"
            results.append(_Result(first + at, value, name, type_.dtype, None if None in type_.shape else tuple(type_.shape), is_number))
        return results, homes

    def frames_of(self, result: _Result) -> tuple:
        """The place in the program of what makes a result."""
        op = result.value.op if result.value is not None else None
        while op is not None and not op.frames and op.operands:
            op = op.operands[0].op  # what is returned is read where nothing is written
        return op.frames if op is not None else ()

    def open_shape(self, result: _Result) -> str:
        """The sizes of a result, by numbers that the plan has, or else as the runtime says."""
        sizes = [] if result.value is None else [self._size(n) for n in result.value.sizes]
        if sizes and None not in sizes:
            return f"({', '.join(sizes)},)"
        return f"{self.code.object(self.compiled.shape_of)}(s{self.number}, {result.at})"

    def _size(self, size) -> Optional[str]:
        if isinstance(size, int):
            return str(size)
        if size is None or self.code.find(size) is None or not (self.style.knows_numbers or self.code.places.is_number(size)):
            return None
        return self.code.find(size)

    def take(self, at: int, array: str, address: str) -> None:
        """What an argument is taken from."""
        self.arrays[at], self.addresses[at] = array, address

    def put(self, at: int, address: str, shape: str, sizes: Sequence) -> None:
        """Where a tensor lies, and its sizes where they differ from call to call."""
        if None in sizes:
            self.code.line(f"s{self.number}.put({at}, {address}, {shape})")
            return
        self._shapes[at] = tuple(sizes)
        self._fields[at] = f"t{self.number}_{at}"
        self.code.line(f"{self._fields[at]}.data = {address}")

    def cell(self, at: int, dtype) -> str:
        """The array of a number, whose memory stays."""
        self._cells[at], self._shapes[at] = dtype, ()
        return f"c{self.number}_{at}"

    def _opening(self) -> List[str]:
        """What a plan's function keeps of this part."""
        k = self.number
        lines = [f" s{k} = fresh({k})", f" w{k} = s{k}.pointers"]
        lines += [f" {name} = s{k}.tensors[{at}]" for at, name in self._fields.items()]
        return lines + [f" c{k}_{at} = s{k}.cells[{at}]" for at in self._cells]

    def fresh(self) -> Structs:
        """Structs for one function."""
        compiled = self.compiled
        kinds = [*compiled.kinds, *(t.dtype for t in compiled.outputs)]
        ranks = [*(len(v.type.shape) for v in self.writer.inputs()), *(len(t.shape) for t in compiled.outputs)]
        made = engines.Structs(self.code.memory, kinds, ranks, len(compiled.kinds))
        for at, shape in self._shapes.items():
            made.put(at, 0, shape)
        for at, dtype in self._cells.items():
            made.keep(at, dtype)
        return made


def style_of(code):
    return HostStyle(code) if code.memory.style == "numpy" else DeviceStyle(code)
