# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeated calls of a program that is one compiled function, made in C (:mod:`fractaltensor.direct`): PyTorch's tensors in, new ones out.

What else a call may have to do (write an argument, look at numbers that the program read or noticed, run steps) is the runner's.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import List, Optional

from ... import direct
from ...arrays import CPU
from ...jit import _calls
from ..plan.segments import Segment, SegmentText
from .structs import Structs


class Plan:
    """What a dispatcher asks of a prepared call."""

    kind, copied = "torch", ()

    def __init__(self, code, structs: Structs, makers: List, single: bool, order: List[int], kind: str = "torch"):
        self.kind = kind
        self.single, self.device = single, code.memory.device
        #: Which result of compiled code each of the program's is; None where they come in order.
        self.order = None if order == sorted(order) else order
        self.code = code  # as long as its entry may be called
        self.entry, self.frames, self.makers = code.module.entry, [structs], makers
        self.num_inputs, self.count = len(code.kinds), len(code.kinds) + len(makers)

    def error(self, status: int):
        return self.code.error(status)

    def note(self):
        """What a call that goes to another stream than the one before calls first, and each one while something has to be looked at."""
        if self.device[0] == CPU:
            return None
        module, device = self.code.module, self.device

        def note(stream: int) -> None:
            _calls.note(module, stream, device)
            if _calls.later:
                direct.epoch.value += 1  # the next call looks again
                _calls.look()

        return note


class DirectCalls:
    """Of one script: `call` gives results, or None where the signature is not prepared."""

    def __init__(self):
        self._dispatcher = direct.Dispatcher()
        self.call = self._dispatcher.call
        #: As `Plan.order`, the same for all.
        self.order: Optional[List[int]] = None
        #: A child of fork makes its own.
        self.process = os.getpid()
        self._kept: List[Plan] = []

    def add(self, plan: Plan) -> None:
        if not self._kept:
            self.order = plan.order
        if plan.order == self.order and self._dispatcher.add(plan, plan.makers, plan.single, plan.note()):
            self._kept.append(plan)


def _may_be_direct(program, args) -> bool:
    """What is soon seen: dense tensors of PyTorch, and nothing to do beside the computation."""
    torch = sys.modules.get("torch")
    if torch is None or not args or not all(type(a) in (torch.Tensor, torch.nn.Parameter) and a.is_contiguous() and a.numel() and not a.is_complex() for a in args):
        return False
    if program.captured or program.guards or program.written or program.rebound or program.sites or program.lengths or program.engine.name == "interpret":
        return False
    return direct.is_possible(Plan, ["torch"])


def plan_of(program, args) -> Optional[Plan]:
    """How a call is made in C; None where there is more to do."""
    if not _may_be_direct(program, args):
        return None
    torch = sys.modules["torch"]
    nodes = program.division.plan
    if len(nodes) != 1 or not isinstance(nodes[0], Segment):
        return None
    segment = nodes[0]
    code = segment.compiled.get(("code", ""))
    yields, roots = program.division.top.yields, [root.value for root in program.roots]
    leaves = program.structure if type(program.structure) is tuple else (program.structure,)
    if isinstance(code, (str, type(None))) or SegmentText(segment).inputs() != roots or len(roots) != len(args):
        return None
    if any(getattr(leaf, "kind", "") != "tensor" or yields[leaf.at] not in segment.outputs for leaf in leaves):
        return None
    order = [segment.outputs.index(yields[leaf.at]) for leaf in leaves]
    if sorted(order) != list(range(len(code.outputs))):
        return None
    if any(None in t.shape for t in code.outputs) or any(home >= 0 for home in code.homes):
        return None
    shapes = [*(tuple(a.shape) for a in args), *(t.shape for t in code.outputs)]
    structs = Structs(program.engine.memory, [*code.kinds, *(t.dtype for t in code.outputs)], list(map(len, shapes)), len(args))
    for at, shape in enumerate(shapes):
        structs.put(at, 0, shape)
    makers = [maker_of(torch, t.dtype, t.shape, args[0].device) for t in code.outputs]
    return Plan(code, structs, makers, leaves[0] is program.structure, order)


def maker_of(torch, dtype, shape, device):
    """What makes memory for a result."""
    # (Like one number that stands for all: it takes PyTorch less time than a shape and a type.)
    like = torch.empty((1,) * len(shape), dtype=getattr(torch, dtype.name), device=device).expand(shape)
    return functools.partial(torch.empty_like, like, memory_format=torch.contiguous_format)
