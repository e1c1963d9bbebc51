# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeated calls of a program that is one compiled function, where :mod:`.direct_calls` alone is not enough.

Numbers may stand among the arguments, tensors come from outside, arguments be written, arrays be NumPy's. Python looks at these; C makes the call."""

from __future__ import annotations

import functools
import os
import sys
from types import SimpleNamespace
from typing import List, Optional, Sequence, Tuple

import numpy as np

from ... import direct
from . import arrays
from ..ir.builder import NOTHING
from .direct_calls import Plan, maker_of
from ..program import is_still
from ..plan.segments import Segment, SegmentText
from .structs import Structs

#: No prepared call: the runner's.
MISSED = object()
#: Prepared calls that a script keeps; each is tried in turn.
MOST = 4


class PreparedCall:
    """Calls whose arguments are as those of the call that it was made of."""

    def __init__(self, program, plan: Plan, args: Sequence, order: List[int], makers: List, results: List[Tuple[bool, int]], sites: List[int]):
        self._dispatcher = direct.Dispatcher()
        self._call, self._plan, self.process = self._dispatcher.call, plan, os.getpid()
        self._count = len(args)
        self._tensors = [at for at, a in enumerate(args) if arrays.is_array(a)]
        #: Arguments that are compiled in, as texts where equal numbers may be others (-0.0).
        self._numbers = [(at, type(a), repr(a)) for at, a in enumerate(args) if not arrays.is_array(a)]
        self._captured = [(c.getter, c.array) for c in program.captured]
        self._guards = list(program.guards)
        #: Of each result, the argument that it is left in, or what makes memory for it.
        self._outputs = [(home, make) for home, make in zip(plan.code.homes, makers)]
        #: What code takes, among the arguments and what comes from outside.
        self._order = None if order == sorted(order) else order
        self._written = list(program.written)
        #: Numbers that say what went wrong on data.
        self._sites = sites
        self._look = program._look_late
        self._results, self._is_single = results, type(program.structure) is not tuple

    def is_kept(self) -> bool:
        return self._dispatcher.add(self._plan, None, False, self._plan.note())

    def __call__(self, args: Sequence):
        if len(args) != self._count:
            return MISSED
        for at, kind, text in self._numbers:
            if type(args[at]) is not kind or repr(args[at]) != text:
                return MISSED
        given = [args[at] for at in self._tensors]
        for getter, array in self._captured:
            if getter() is not array:
                return MISSED
            given.append(array)
        for getter, value in self._guards:
            now = getter()
            if now is not value and not is_still(now, value):
                return MISSED
        if self._written and not self._are_apart(given):
            return MISSED
        inputs = given if self._order is None else [given[at] for at in self._order]
        outputs = [inputs[home] if home >= 0 else make() for home, make in self._outputs]
        if self._call(*inputs, *outputs) is None:
            return MISSED
        if self._sites:
            numbers = [int(outputs[at]) for at in self._sites]
            if any(n != NOTHING for n in numbers):
                self._look(numbers)
        found = [outputs[at] if is_output else given[at] for is_output, at in self._results]
        return found[0] if self._is_single else tuple(found)

    def _are_apart(self, given: Sequence) -> bool:
        """Whether no written tensor shares memory with another one. (All are dense.)"""
        if len(given) == 1:
            return True
        extents = [(a.ctypes.data, a.nbytes) if isinstance(a, np.ndarray) else (a.data_ptr(), a.nbytes) for a in given]
        for at in self._written:
            low, size = extents[at]
            if any(i != at and low < first + count and first < low + size for i, (first, count) in enumerate(extents)):
                return False
        return True


def _kind_of(values: Sequence) -> Optional[str]:
    """The library that all values are of, dense and plain; None where they differ."""
    torch = sys.modules.get("torch")
    if torch is not None and all(type(v) in (torch.Tensor, torch.nn.Parameter) and v.is_contiguous() and v.numel() and not v.is_complex() for v in values):
        return "torch"
    if all(type(v) is np.ndarray and v.flags.c_contiguous and v.size and v.dtype.kind in "biuf" for v in values):
        return "numpy"
    return None


def _results_of(program, segment: Segment) -> Optional[List[Tuple[bool, int]]]:
    """Where each result is: (whether among the outputs, its place). None where something else is returned."""
    yields = program.division.top.yields

    def place(leaf) -> Optional[Tuple[bool, int]]:
        kind = getattr(leaf, "kind", "")
        if kind == "argument":
            return False, leaf.at
        if kind == "tensor" and yields[leaf.at] in segment.outputs:
            return True, segment.outputs.index(yields[leaf.at])
        return None

    found = list(map(place, program.structure if type(program.structure) is tuple else (program.structure,)))
    return None if None in found or not found else found


def prepared_of(program, args: Sequence, in_place: bool) -> Optional[PreparedCall]:
    """How calls like this one are made; None where there is still more to do."""
    if any(not arrays.is_array(a) and type(a) not in (bool, int, float, str, type(None)) for a in args):
        return None
    if program.rebound or program.sites and program.engine.name != "cpu" or program.lengths or program.engine.name == "interpret" or program.written and not in_place:
        return None
    given = [*(a for a in args if arrays.is_array(a)), *(c.array for c in program.captured)]
    kind = _kind_of(given) if given and len({id(a) for a in given}) == len(given) else None
    nodes = program.division.plan
    if kind is None or not direct.is_possible(SimpleNamespace(kind=kind, copied=()), [kind]) or len(nodes) != 1 or not isinstance(nodes[0], Segment):
        return None
    segment = nodes[0]
    code = segment.compiled.get(("code", ""))
    if isinstance(code, (str, type(None))) or len(program.roots) != len(given):
        return None
    # (What code does not take may still say sizes.)
    inputs, roots = SegmentText(segment).inputs(), [root.value for root in program.roots]
    if len(inputs) != len(roots) or set(inputs) != set(roots):
        return None
    order = [roots.index(value) for value in inputs]
    # (What is written and has no output in its own memory is copied there by the runner.)
    if not {order[home] for home in code.homes if home >= 0}.issuperset(program.written):
        return None
    results = _results_of(program, segment)
    if results is None or any(None in t.shape for t in code.outputs) or kind == "numpy" and any(t.dtype.name == "bfloat16" for t in code.outputs):
        return None
    sites = [segment.outputs.index(value) for value in program.site_values if value in segment.outputs]
    if len(sites) != len(program.site_values) or any(at >= len(code.outputs) for at in sites):
        return None
    if any(is_output and at >= len(code.outputs) for is_output, at in results):
        return None
    shapes = [*(tuple(given[at].shape) for at in order), *(t.shape for t in code.outputs)]
    structs = Structs(program.engine.memory, [*code.kinds, *(t.dtype for t in code.outputs)], list(map(len, shapes)), len(given))
    for at, shape in enumerate(shapes):
        structs.put(at, 0, shape)
    if kind == "torch":
        makers = [maker_of(sys.modules["torch"], t.dtype, t.shape, given[0].device) for t in code.outputs]
    else:
        makers = [functools.partial(np.empty, t.shape, t.dtype.numpy) for t in code.outputs]
    plan = Plan(code, structs, makers, False, list(range(len(makers))), kind)
    made = PreparedCall(program, plan, args, order, makers, results, sites)
    return made if made.is_kept() else None
