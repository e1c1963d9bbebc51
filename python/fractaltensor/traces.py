# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""When the pieces of a call ran: a Chrome trace by thread, task, barrier and kernel."""

from __future__ import annotations

import copy
import ctypes
import json
import os
from typing import Any, Dict, List, Optional, Union

from . import library as lib
from .binding import Binder, check_bounds
from .errors import ArgumentError
from .names import counted


class Trace:
    """One call of a program, with the times of its pieces.

    A kernel is a step of the launch plan. On the CPU a task is a piece of a parallel loop, or what a thread of a region does between
    two barriers. On a GPU the times are those of events around each launch, without CUDA graphs.

    Attributes:
      events: the trace's events in the format of Chrome. `cat` is "call", "kernel", "task", "barrier" or "move" (a copy or a fill).
        Times `ts` and durations `dur` are microseconds. `tid` is the thread, 0 the caller.
      about: the entry, its target, the number of threads and of barriers.
      result: what the call returned.
      path: where it was written last.
    """

    def __init__(self, name: str, text: str, result: Any):
        data = json.loads(text)
        self.name, self.text, self.result = name, text, result
        self.path: Optional[str] = None
        self.events: List[Dict[str, Any]] = data["traceEvents"]
        self.about: Dict[str, Any] = data["otherData"]

    def save(self, path: Union[str, os.PathLike[str]]) -> None:
        """Writes the trace as JSON, which https://ui.perfetto.dev and chrome://tracing open.

        Raises:
          OSError: the file cannot be written; nothing is left of it.
        """
        temporary = f"{os.fspath(path)}.{os.getpid()}.part"
        try:
            with open(temporary, "w", encoding="utf-8") as file:
                file.write(self.text)
            os.replace(temporary, path)
        except OSError as error:
            # The caller knows the file by its own name.
            raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
        finally:
            if os.path.exists(temporary):
                os.unlink(temporary)
        self.path = os.fspath(path)

    def _of(self, category: str) -> List[Dict[str, Any]]:
        return [event for event in self.events if event.get("cat") == category]

    def __repr__(self) -> str:
        call = self._of("call")[0]
        # What follows a colon tells one processor's code from another's.
        target = self.about["target"].partition(":")[0]
        numbers = f"{counted(self.about['threads'], 'thread')}, {counted(self.about['barriers'], 'barrier')}"
        lines = [f"{self.name} on {target}: {call['dur']:.1f} us, {numbers}"]
        kernels: Dict[str, List[float]] = {}
        for event in self._of("kernel"):
            kernels.setdefault(event["name"], []).append(event["dur"])
        for name, times in kernels.items():
            tasks = [e for e in self._of("task") if e["args"]["kernel"] == name]
            waits = [e for e in self._of("barrier") if e["args"]["kernel"] == name]
            text = f"  {sum(times):10.1f} us {100 * sum(times) / max(call['dur'], 1e-9):4.0f} %  {name}"
            if len(times) > 1:
                text += f", {len(times)} launches"
            if tasks:
                busy, waited = sum(e["dur"] for e in tasks), sum(e["dur"] for e in waits)
                text += f": {counted(len(tasks), 'task')}, {100 * waited / max(busy + waited, 1e-9):.0f} % of the threads' time at barriers"
            lines.append(text)
        where = f"written to {self.path}: open it at" if self.path else ".save('trace.json') writes it for"
        return "\n".join(lines + [f"  {where} https://ui.perfetto.dev"])


def trace(jit, args, kwargs, path: Optional[Union[str, os.PathLike[str]]]) -> Trace:
    """Calls a function once, its pieces timed; see :meth:`Jit.trace`."""
    from .jit import current_stream, target_of

    engine = kwargs.pop("engine", None) or jit._engine
    values, statics = jit._arrange(args, kwargs)
    bound = Binder(jit.signature, jit.__name__).bind(values)
    target = target_of(engine, bound.device, jit.__name__)
    if target == "interpret":
        raise ArgumentError(f"{jit.__name__}: the interpreter runs no kernels that could be timed: trace with engine='cpu' or 'cuda'")
    check_bounds(jit.signature, jit._options.bounds, jit.__name__, {**bound.lengths, **bound.extents})
    plan, bound = jit._make_plan(values, statics, engine)[:2]
    stream = current_stream(bound.infos[0].kind, bound.device, None)
    plan.run(values, stream)  # the first call pays for pages and threads
    text = ctypes.c_char_p()
    # Of its own: other calls of the plan go on as before.
    traced = copy.copy(plan)
    traced.frames, traced.dense = [], None
    traced.call = lambda entry, pointers, count, options: plan.module.library.ft_call_traced(entry, pointers, count, options, ctypes.byref(text))
    result = traced.run(values, stream)
    if text.value is None:
        raise lib.errors.InternalError(f"{jit.__name__}: the call left no trace")
    made = Trace(jit.__name__, text.value.decode(), result)
    if path is not None:
        made.save(path)
    return made
