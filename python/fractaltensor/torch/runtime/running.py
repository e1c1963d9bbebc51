# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a divided program: segments on an engine, library steps, and the control flow around them.

All of it is one function of Python (:mod:`plan_code`), made when the program is first run. Here is what that function calls where
something has to be looked at: arguments that are not dense, storages that overlap, parts that the interpreter runs.
"""

from __future__ import annotations

from ctypes import byref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import numpy as np

from ... import library as lib
from ...jit import _calls
from . import engines
from ..plan import plan_code
from .arrays import HEAD, address_of, is_address_read
from ..ir.operations import Op, Value
from .memory import bytes_
from ..problems import RunError, RunShapeError
from ..plan.segments import Division, Segment, SegmentText, aliased_text


class Counts:
    """What a call did: segments (and those that the interpreter ran), library steps, and copies between them, in bytes."""

    def __init__(self):
        self.segments = self.interpreted = self.steps = self.copies = self.bytes = 0

    def copied(self, array) -> None:
        self.copies += 1
        self.bytes += array.nbytes


class Runner:
    """A program that is compiled for an engine; `run` takes the top block's arguments and gives its results."""

    #: How a plan's function writes the address of an array whose name stands for {0}.
    address_text = f"(at(id({{0}}) + {HEAD}).value or 0)" if is_address_read else "address_of({0})"

    def __init__(self, division: Division, engine: "engines.Engine", sites: Sequence[Value] = (), look: Callable = lambda _: None):
        self.division, self.engine, self.memory = division, engine, engine.memory
        #: Where compiled code notes what goes wrong, and who fails with it.
        self.sites, self.look = list(sites), look
        self.steps, self.own_steps = self.memory.steps()
        self.counts = Counts()
        self._make: Optional[Callable] = None
        #: The lines of the plan's function where parts and steps begin, and their places in the program.
        self.places: Dict[int, Tuple] = {}
        #: Functions that no call uses now; calls in several threads take one each.
        self._idle: List[Callable] = []

    def run(self, arguments: Sequence[Any]) -> List[Any]:
        try:
            function = self._idle.pop()
        except IndexError:
            function = self._new()
        counts = Counts()
        try:
            return function(counts, arguments)
        finally:
            self.counts = counts
            self._idle.append(function)

    def place_of(self, error: BaseException) -> Tuple:
        """The place in the program of the part or step in which Python failed."""
        trace, line = error.__traceback__, 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename.startswith(plan_code.FILE):
                line = trace.tb_lineno
            trace = trace.tb_next
        return self.places.get(max((at for at in self.places if at <= line), default=0), ())

    def _new(self) -> Callable:
        make = self._make
        if make is None:
            make = self._make = plan_code.function_of(self)
        return make()

    def helpers(self) -> Dict[str, Any]:
        """What a plan's function calls."""
        memory = self.memory
        found = {
            "missing": _missing, "number": memory.number, "steps": self.steps, "step": memory.step, "ours": self.own_steps,
            "strange": self._strange, "step_operand": memory.step_operand, "step_result": memory.step_result, "look": self.look,
            "overlapping": self._overlapping, "aliased": self._aliased, "plainly": self._plainly, "write": self._write,
            "aligned": memory.aligned, "empty": memory.empty, "ft_call": lib.library().ft_call,
        }
        if memory.style == "numpy":
            from ctypes import c_void_p

            found.update(at=c_void_p.from_address, address_of=address_of, array=np.ndarray, bytes_=bytes_, dense=self._dense, realigned=memory.realigned)
        else:
            torch = memory.torch
            found.update(
                empty_like=torch.empty_like, contiguous=torch.contiguous_format, tensor=memory.input, aligned_clone=_aligned_clone,
                options=lib.CallOptions, byref=byref, stream=memory.stream, note=_calls.note,
            )
        return found

    # -- library steps ------------------------------------------------------------------------------------------------

    def _strange(self, op: Op, found: Sequence) -> List:
        """Results of a step that is not ours: of the sizes that the program expects, and memory of its own."""
        made = []
        for value, result in zip(op.results, found):
            if value.type.kind == "tensor":
                sizes = tuple(result.shape)
                if len(sizes) != len(value.type.shape) or any(n is not None and n != m for n, m in zip(value.type.shape, sizes)):
                    expected = ", ".join("?" if n is None else str(n) for n in value.type.shape)
                    raise RunShapeError(f"step '{op.attributes['name']}' gave a tensor of sizes {list(sizes)}, expected [{expected}]")
                result = self.memory.copy(result)
            made.append(result)
        return made

    # -- segments -----------------------------------------------------------------------------------------------------

    def _dense(self, counts: Counts, array: np.ndarray) -> np.ndarray:
        made = np.asarray(array, order="C")
        counts.copied(made)
        return made

    def _plainly(self, counts: Counts, segment: Segment, values: Sequence, targets: Sequence) -> List:
        """A part through its engine: the interpreter's, or one whose code has no structs here."""
        writer = _writer(segment)
        inputs = self._inputs(counts, writer.inputs(), values)
        found = self.engine.run(segment, writer.text, inputs)
        for target, new in zip(targets, found[len(segment.outputs) :]):
            self._write(counts, target, new)
        return [self.memory.output(array, value) for value, array in zip(segment.outputs, found)]

    def _inputs(self, counts: Counts, names: Sequence[Value], values: Sequence) -> List:
        found = []
        for v, value in zip(names, values):
            dense = self.memory.input(value, v)
            if dense is not value and v.type.kind != "scalar" and self.memory.place(dense)[0] != self.memory.place(value)[0]:
                counts.copied(dense)
            found.append(dense)
        return found

    def _write(self, counts: Counts, target, new) -> None:
        if new is target or self.memory.place(new)[0] == self.memory.place(target)[0]:
            return  # compiled code has written there
        counts.copied(new)
        self.memory.write(target, new)

    def _overlapping(self, segment: Segment, values: Sequence) -> List[List[Tuple]]:
        """Groups of storages that come in and share memory, where one of the group is written."""
        arrays = {v: value for v, value in zip(segment.inputs, values) if v.type.kind == "mutable"}
        if self._are_apart(arrays.values()):
            return []
        written = set(segment.written)
        groups: List[List[Value]] = []
        for v in arrays:
            # Groups that a name touches become one with it.
            touched = [g for g in groups if any((v in written or w in written) and self.memory.overlap(arrays[v], arrays[w]) for w in g)]
            groups = [g for g in groups if g not in touched] + [[v, *(w for g in touched for w in g)]]
        groups = [group for group in groups if len(group) > 1]
        placed = self._placed(groups, arrays)
        # Names of one place each are written where they lie; of what overlaps in part the whole storage is.
        return placed if _same_places(placed) is not None else self._placed(self._by_storage(groups, arrays, written), arrays)

    def _placed(self, groups: List[List[Value]], arrays) -> List[List[Tuple]]:
        """Groups with the places of their members in the storage: where each begins, its sizes and strides."""
        result = []
        for group in groups:
            first = arrays[group[0]]
            start, size = self.memory.place(self.memory.base(first))[0], first.itemsize
            members = []
            for v in group:
                address, shape, strides = self.memory.place(arrays[v])
                members.append((v, (address - start) // size, shape, strides))
            result.append(members)
        return result

    def _by_storage(self, groups: List[List[Value]], arrays, written) -> List[List[Value]]:
        """Groups of one storage as one, with all else of it that is written: each is taken, and written back, as the whole storage."""
        taken = written.union(*groups)
        homes = {v: self.memory.place(self.memory.base(arrays[v]))[0] for v in arrays if v in taken}
        return [[v for v in homes if homes[v] == home] for home in dict.fromkeys(homes[group[0]] for group in groups)]

    def _are_apart(self, arrays) -> bool:
        """Whether no byte lies between the first and the last one of two arrays: mostly so, and soon seen."""
        extents = sorted(filter(None, map(self.memory.extent, arrays)))
        return all(before[1] <= after[0] for before, after in zip(extents, extents[1:]))

    def _aliased(self, counts: Counts, segment: Segment, groups: List[List[Tuple]], values: Sequence) -> List:
        """A part where groups of storages overlap; the results that are no storages that came in."""
        at_hand = dict(zip(segment.inputs, values))
        same = _same_places(groups)
        if same is not None:
            return self._with_names(counts, segment, same, at_hand)
        members = {m[0] for group in groups for m in group}
        bases = [self.memory.base(at_hand[group[0][0]]) for group in groups]
        key = repr([[(m[0].number, m[1], tuple(m[2]), tuple(m[3])) for m in group] for group in groups])
        rest = [v for v in segment.inputs if v not in members]
        inputs = [*bases, *self._inputs(counts, rest, [at_hand[v] for v in rest])]
        found = self.engine.run(segment, lambda: aliased_text(segment, groups), inputs, key)
        self._note_interpreted(counts, segment, key)
        at = len(segment.outputs)
        for value in segment.written:
            if value not in members:
                self._write(counts, at_hand[value], found[at])
                at += 1
        for base, new in zip(bases, found[at:]):
            self._write(counts, base, new)
        return [self.memory.output(array, value) for value, array in zip(segment.outputs, found)]

    def _with_names(self, counts: Counts, segment: Segment, same: Dict[Value, Value], at_hand: Dict[Value, Any]) -> List:
        """A part where some storages are others: names of those, wherever they lie."""
        key = repr([(v.number, w.number) for v, w in same.items()])
        writer = segment.compiled.get(("writer", key))
        if writer is None:
            writer = segment.compiled["writer", key] = SegmentText(segment, same=same)
        inputs = self._inputs(counts, writer.inputs(), [at_hand[v] for v in writer.inputs()])
        found = self.engine.run(segment, writer.text, inputs, key)
        self._note_interpreted(counts, segment, key)
        for value, new in zip(writer.storages(), found[len(segment.outputs) :]):
            self._write(counts, at_hand[value], new)
        return [self.memory.output(array, value) for value, array in zip(segment.outputs, found)]

    def _note_interpreted(self, counts: Counts, segment: Segment, key: str) -> None:
        """That a part which is compiled ran in the interpreter, since storages overlap."""
        reason = segment.compiled.get(("code", key))
        if isinstance(reason, str) and self.engine.is_compiled(segment):
            counts.interpreted += 1
            if not segment.compiled.get("overlapped"):
                segment.compiled["overlapped"] = True
                frames = segment.ops[0].frames if segment.ops else ()
                self.engine.remarks.append(engines.Remark(segment.name, f"runs in the interpreter where its storages overlap in part: {reason}", frames))


def _same_places(groups: Sequence[Sequence[Tuple]]) -> Optional[Dict[Value, Value]]:
    """Of members of groups that lie in one place each, the first one; None where some overlap in part."""
    same: Dict[Value, Value] = {}
    for group in groups:
        first, *place = group[0]
        for value, *other in group[1:]:
            if list(map(_listed, other)) != list(map(_listed, place)) or value.type != first.type or list(value.sizes) != list(first.sizes):
                return None
            same[value] = first
    return same


def _listed(numbers):
    return numbers if isinstance(numbers, int) else list(numbers)


def _writer(segment: Segment) -> SegmentText:
    writer = segment.compiled.get("writer")
    if writer is None:
        writer = segment.compiled["writer"] = SegmentText(segment)
    return writer


def _missing() -> None:
    raise RunError("a value is missing: please report this program")


def _aligned_clone(tensor):
    """A copy that begins where compiled code takes tensors, and its address: a view may begin anywhere."""
    made = tensor.clone()
    return made, made.data_ptr()
