# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a divided program: segments on an engine, library steps, and the control flow around them.

Names of storage are NumPy views while a program runs, so that control flow can merge them as Python does.
"""

from __future__ import annotations

from typing import Any, Dict, List, Sequence, Tuple

import numpy as np

from . import dtypes, engines, library
from .arrays import overlap
from .ir import Op, Value
from .problems import RunError, RunIndexError
from .segments import Control, Division, Segment, SegmentText, Step, aliased_text

Env = Dict[Value, Any]


def apply_step(x: np.ndarray, step: str, numbers: Sequence) -> np.ndarray:
    """A view by one step; the same storage."""
    if step == "open":
        return x
    if step == "select":
        d, i = numbers
        if not -x.shape[d] <= i < x.shape[d]:
            raise RunIndexError(f"index {i} of dimension {d} is out of range: its size is {x.shape[d]}")
        return np.moveaxis(x, d, 0)[i, ...]
    if step in ("slice", "narrow"):
        d, start, last, by = numbers
        if step == "narrow" and not (0 <= start and (last == 0 or start + (last - 1) * by < x.shape[d])):
            raise RunIndexError(f"{last} elements from {start} on are out of range in dimension {d} of size {x.shape[d]}")
        stop = None if last == "_" else start + last * by if step == "narrow" else last
        return x[(slice(None),) * d + (slice(start, stop, by),)]
    if step == "permute":
        return x.transpose(numbers)
    if step == "reshape":
        made = x.view()
        made.shape = tuple(numbers)
        return made
    if step == "unsqueeze":
        return np.expand_dims(x, numbers[0])
    if step == "expand":
        skip = len(numbers) - x.ndim
        return np.broadcast_to(x, [x.shape[d - skip] if n == -1 else n for d, n in enumerate(numbers)])
    if step == "diagonal":
        return _diagonal(x, *numbers)
    strided = np.lib.stride_tricks.as_strided
    if step == "unfold":
        d, n, by = numbers
        count = (x.shape[d] - n) // by + 1
        sizes = [*x.shape[:d], count, *x.shape[d + 1 :], n]
        return strided(x, sizes, [*x.strides[:d], x.strides[d] * by, *x.strides[d + 1 :], x.strides[d]])
    rank = (len(numbers) - 1) // 2
    flat = x.reshape(-1)
    return strided(flat[numbers[0] :], numbers[1 : 1 + rank], [n * x.itemsize for n in numbers[1 + rank :]])


def _diagonal(x: np.ndarray, offset: int, d0: int, d1: int) -> np.ndarray:
    made = np.diagonal(x, offset, d0, d1)
    strided = np.lib.stride_tricks.as_strided
    # NumPy's is read-only.
    start = x[tuple(slice(max(0, -offset), None) if d == d0 else slice(max(0, offset), None) if d == d1 else slice(None) for d in range(x.ndim))]
    return strided(start, made.shape, made.strides) if made.size else np.empty(made.shape, x.dtype)


class Runner:
    """A program that is compiled for an engine; `run` takes the top block's arguments and gives its results."""

    def __init__(self, division: Division, engine: "engines.Engine"):
        self.division, self.engine = division, engine

    def run(self, arguments: Sequence[Any]) -> List[Any]:
        env: Env = dict(zip(self.division.top.args, arguments))
        self._nodes(self.division.plan, env)
        return [self.get(env, v) for v in self.division.top.yields]

    def get(self, env: Env, value: Value):
        """What a value is now; views and constants are made from what is there."""
        if value in env:
            return env[value]
        op = value.op
        if op is not None and op.attributes.get("role") == "view":
            numbers = [self.get(env, n) if isinstance(n, Value) else n for n in op.attributes["numbers"]]
            try:
                return apply_step(self.get(env, op.operands[0]), op.attributes["step"], numbers)
            except RunError as error:
                raise error.at(op.frames)
        if op is not None and "constant" in op.attributes:
            return op.attributes["constant"]
        raise RunError("a value is missing: please report this program")

    def _nodes(self, nodes: List, env: Env) -> None:
        for node in nodes:
            if isinstance(node, Segment):
                self._segment(node, env)
            elif isinstance(node, Step):
                self._step(node.op, env)
            else:
                getattr(self, "_" + node.op.kind)(node, env)

    # -- control flow -----------------------------------------------------------------------------------------------

    def _bind(self, values: Sequence[Value], found: Sequence[Any], env: Env) -> None:
        env.update(zip(values, found))

    def _if(self, node: Control, env: Env) -> None:
        op = node.op
        at = 0 if self.get(env, op.operands[0]) else 1
        self._nodes(node.plans[at], env)
        self._bind(op.results, [self.get(env, v) for v in op.blocks[at].yields], env)

    def _for(self, node: Control, env: Env) -> None:
        op, block = node.op, node.op.blocks[0]
        start, stop, step, *carried = (self.get(env, v) for v in op.operands)
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
            if not self.get(env, before.condition):
                break
            self._bind(after.args, carried, env)
            self._nodes(node.plans[1], env)
            carried = [self.get(env, v) for v in after.yields]
        self._bind(node.op.results, carried, env)

    # -- library steps --------------------------------------------------------------------------------------------------

    def _step(self, op: Op, env: Env) -> None:
        operands = [_plain(self.get(env, v), v) for v in op.operands]
        try:
            found = library.step(op.attributes["name"])(*operands, **op.attributes["parameters"])
        except RunError as error:
            raise error.at(op.frames)
        for value, result in zip(op.results, found):
            env[value] = _kept(result, value) if value.type.kind == "tensor" else int(result)

    # -- segments -----------------------------------------------------------------------------------------------------------

    def _segment(self, segment: Segment, env: Env) -> None:
        groups = self._overlapping(segment, env)
        if groups:
            self._aliased(segment, env, groups)
            return
        writer = segment.compiled.get("writer")
        if writer is None:
            writer = segment.compiled["writer"] = SegmentText(segment)
        inputs = [_to_array(self.get(env, v), v) for v in writer.inputs()]
        found = self.engine.run(segment, writer.text, inputs)
        self._store(segment.outputs, found, env)
        for value, new in zip(segment.written, found[len(segment.outputs) :]):
            np.copyto(self.get(env, value), new)

    def _store(self, values: Sequence[Value], found: Sequence[np.ndarray], env: Env) -> None:
        for value, array in zip(values, found):
            if value.type.kind == "scalar":
                env[value] = array.item()
            else:
                env[value] = array

    def _overlapping(self, segment: Segment, env: Env) -> List[List[Tuple]]:
        """Groups of storages that come in and share memory, where one of the group is written."""
        if not segment.written:
            return []
        names = [v for v in segment.inputs if v.type.kind == "mutable"]
        arrays = {v: self.get(env, v) for v in names}
        written = set(segment.written)
        groups: List[List[Value]] = []
        for v in names:
            # Groups that a name touches become one with it.
            touched = [g for g in groups if any((v in written or w in written) and overlap(arrays[v], arrays[w]) for w in g)]
            groups = [g for g in groups if g not in touched] + [[v, *(w for g in touched for w in g)]]
        result = []
        for group in groups:
            if len(group) < 2:
                continue
            base = _base(arrays[group[0]])
            start = base.__array_interface__["data"][0]
            members = []
            for v in group:
                a = arrays[v]
                offset = (a.__array_interface__["data"][0] - start) // a.itemsize
                members.append((v, offset, a.shape, [s // a.itemsize for s in a.strides]))
            result.append(members)
        return result

    def _aliased(self, segment: Segment, env: Env, groups: List[List[Tuple]]) -> None:
        members = {m[0] for group in groups for m in group}
        bases = [_base(self.get(env, group[0][0])) for group in groups]
        key = repr([[(m[0].number, m[1], tuple(m[2]), tuple(m[3])) for m in group] for group in groups])
        inputs = [b.reshape(-1) for b in bases]
        inputs += [_to_array(self.get(env, v), v) for v in segment.inputs if v not in members]
        found = self.engine.run(segment, lambda: aliased_text(segment, groups), inputs, key)
        self._store(segment.outputs, found, env)
        at = len(segment.outputs)
        for value in segment.written:
            if value not in members:
                np.copyto(self.get(env, value), found[at])
                at += 1
        for base, new in zip(bases, found[at:]):
            np.copyto(base.reshape(-1), new)


def _base(array: np.ndarray) -> np.ndarray:
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def _to_array(value, v: Value) -> np.ndarray:
    if v.type.kind == "scalar":
        return np.array(value, (v.type.dtype or dtypes.int64).numpy)
    # Not `ascontiguousarray`, which gives a dimension to what has none.
    return np.asarray(value, order="C")


def _plain(value, v: Value):
    """A value as a step takes it: bfloat16 as float32."""
    if v.type.kind == "tensor" and v.type.dtype is dtypes.bfloat16:
        return (value.astype(np.uint32) << 16).view(np.float32)
    return value


def _kept(result, v: Value) -> np.ndarray:
    """What a step gives, in the element type of the program."""
    if v.type.dtype is dtypes.bfloat16:
        # What a step gives back are elements that it took, so nothing is rounded.
        return (np.ascontiguousarray(result, np.float32).view(np.uint32) >> 16).astype(np.uint16)
    return np.ascontiguousarray(result, v.type.dtype.numpy).reshape(np.shape(result))
