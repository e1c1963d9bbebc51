# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a divided program: segments on an engine, library steps, and the control flow around them.

Names of storage are views of the engine's memory while a program runs, so that control flow can merge them as Python does.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Tuple

from . import engines
from .ir import Op, Value
from .problems import RunError
from .segments import Adoption, Control, Division, Segment, SegmentText, Step, aliased_text

Env = Dict[Value, Any]


class Counts:
    """What a call did: segments (and those that the interpreter ran), library steps, and copies between them, in bytes."""

    def __init__(self):
        self.segments = self.interpreted = self.steps = self.copies = self.bytes = 0

    def copied(self, array) -> None:
        self.copies += 1
        self.bytes += array.nbytes


class Runner:
    """A program that is compiled for an engine; `run` takes the top block's arguments and gives its results."""

    def __init__(self, division: Division, engine: "engines.Engine", sites: Sequence[Value] = (), look: Callable = lambda _: None):
        self.division, self.engine, self.memory = division, engine, engine.memory
        #: Where compiled code notes what goes wrong, and who fails with it.
        self.sites, self.look = list(sites), look

    def run(self, arguments: Sequence[Any]) -> List[Any]:
        env: Env = dict(zip(self.division.top.args, arguments))
        self.counts = Counts()
        self._nodes(self.division.plan, env)
        return [self.get(env, v) for v in self.division.top.yields]

    def get(self, env: Env, value: Value):
        """What a value is now; views and constants are made from what is there."""
        if value in env:
            return env[value]
        op = value.op
        if op is not None and op.attributes.get("role") == "view":
            numbers = [self.number(env, n) if isinstance(n, Value) else n for n in op.attributes["numbers"]]
            try:
                return self.memory.view(self.get(env, op.operands[0]), op.attributes["step"], numbers)
            except RunError as error:
                raise error.at(op.frames)
        if op is not None and "constant" in op.attributes:
            return op.attributes["constant"]
        raise RunError("a value is missing: please report this program")

    def number(self, env: Env, value: Value):
        """What the host has to know."""
        return self.memory.number(self.get(env, value), value)

    def _nodes(self, nodes: List, env: Env) -> None:
        for node in nodes:
            if isinstance(node, Segment):
                self._segment(node, env)
            elif isinstance(node, Step):
                self._step(node.op, env)
            elif isinstance(node, Adoption):
                env[node.op.results[0]] = self.get(env, node.op.operands[0])
            else:
                getattr(self, "_" + node.op.kind)(node, env)

    # -- control flow -----------------------------------------------------------------------------------------------

    def _bind(self, values: Sequence[Value], found: Sequence[Any], env: Env) -> None:
        env.update(zip(values, found))

    def _if(self, node: Control, env: Env) -> None:
        op = node.op
        at = 0 if self.number(env, op.operands[0]) else 1
        self._nodes(node.plans[at], env)
        self._bind(op.results, [self.get(env, v) for v in op.blocks[at].yields], env)

    def _for(self, node: Control, env: Env) -> None:
        op, block = node.op, node.op.blocks[0]
        start, stop, step = (self.number(env, v) for v in op.operands[:3])
        carried = [self.get(env, v) for v in op.operands[3:]]
        for i in range(start, stop, step):
            self._bind(block.args, [i, *carried], env)
            self._nodes(node.plans[0], env)
            carried = [self.get(env, v) for v in block.yields]
        self._bind(op.results, carried, env)

    def _while(self, node: Control, env: Env) -> None:
        before, after = node.op.blocks
        carried = [self.get(env, v) for v in node.op.operands]
        while True:
            self._bind(before.args, carried, env)
            self._nodes(node.plans[0], env)
            carried = [self.get(env, v) for v in before.yields]
            if not self.number(env, before.condition):
                break
            self._bind(after.args, carried, env)
            self._nodes(node.plans[1], env)
            carried = [self.get(env, v) for v in after.yields]
            # What went wrong may be what would have ended the loop.
            known = [v for v in self.sites if v in env]
            if known and self.memory.knows_numbers:
                self.look(known, [self.number(env, v) for v in known])
        self._bind(node.op.results, carried, env)

    # -- library steps --------------------------------------------------------------------------------------------------

    def _step(self, op: Op, env: Env) -> None:
        operands = [self.memory.step_operand(self.get(env, v), v) for v in op.operands]
        self.counts.steps += 1
        try:
            found = self.memory.step(op.attributes["name"])(*operands, **op.attributes["parameters"])
        except RunError as error:
            raise error.at(op.frames)
        for value, result in zip(op.results, found):
            env[value] = self.memory.step_result(result, value)

    # -- segments -----------------------------------------------------------------------------------------------------------

    def _segment(self, segment: Segment, env: Env) -> None:
        self.counts.segments += 1
        self.counts.interpreted += not self.engine.is_compiled(segment)
        groups = self._overlapping(segment, env)
        if groups:
            self._aliased(segment, env, groups)
            return
        writer = segment.compiled.get("writer")
        if writer is None:
            writer = segment.compiled["writer"] = SegmentText(segment)
        inputs = self._inputs(writer.inputs(), env)
        found = self.engine.run(segment, writer.text, inputs)
        self._store(segment.outputs, found, env)
        for value, new in zip(segment.written, found[len(segment.outputs) :]):
            self._write(self.get(env, value), new)

    def _inputs(self, values: Sequence[Value], env: Env) -> List:
        found = []
        for v in values:
            value = env[v] if v in env else self.get(env, v)
            dense = self.memory.input(value, v)
            if dense is not value and v.type.kind != "scalar" and self.memory.place(dense)[0] != self.memory.place(value)[0]:
                self.counts.copied(dense)
            found.append(dense)
        return found

    def _write(self, target, new) -> None:
        if new is target or self.memory.place(new)[0] == self.memory.place(target)[0]:
            return  # compiled code has written there
        self.counts.copied(new)
        self.memory.write(target, new)

    def _store(self, values: Sequence[Value], found: Sequence[np.ndarray], env: Env) -> None:
        for value, array in zip(values, found):
            env[value] = self.memory.output(array, value)

    def _overlapping(self, segment: Segment, env: Env) -> List[List[Tuple]]:
        """Groups of storages that come in and share memory, where one of the group is written."""
        if not segment.written:
            return []
        names = [v for v in segment.inputs if v.type.kind == "mutable"]
        arrays = {v: self.get(env, v) for v in names}
        if self._are_apart(arrays.values()):
            return []
        written = set(segment.written)
        groups: List[List[Value]] = []
        for v in names:
            # Groups that a name touches become one with it.
            touched = [g for g in groups if any((v in written or w in written) and self.memory.overlap(arrays[v], arrays[w]) for w in g)]
            groups = [g for g in groups if g not in touched] + [[v, *(w for g in touched for w in g)]]
        result = []
        for group in groups:
            if len(group) < 2:
                continue
            first = arrays[group[0]]
            start, size = self.memory.place(self.memory.base(first))[0], first.itemsize
            members = []
            for v in group:
                address, shape, strides = self.memory.place(arrays[v])
                members.append((v, (address - start) // size, shape, strides))
            result.append(members)
        return result

    def _are_apart(self, arrays) -> bool:
        """Whether no byte lies between the first and the last one of two arrays: mostly so, and soon seen."""
        extents = sorted(filter(None, map(self.memory.extent, arrays)))
        return all(before[1] <= after[0] for before, after in zip(extents, extents[1:]))

    def _aliased(self, segment: Segment, env: Env, groups: List[List[Tuple]]) -> None:
        members = {m[0] for group in groups for m in group}
        bases = [self.memory.base(self.get(env, group[0][0])) for group in groups]
        key = repr([[(m[0].number, m[1], tuple(m[2]), tuple(m[3])) for m in group] for group in groups])
        inputs = [*bases, *self._inputs([v for v in segment.inputs if v not in members], env)]
        found = self.engine.run(segment, lambda: aliased_text(segment, groups), inputs, key)
        self._store(segment.outputs, found, env)
        at = len(segment.outputs)
        for value in segment.written:
            if value not in members:
                self._write(self.get(env, value), found[at])
                at += 1
        for base, new in zip(bases, found[at:]):
            self._write(base, new)
