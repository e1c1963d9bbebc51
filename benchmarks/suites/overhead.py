#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What calls of imperative programs cost beside the computation.

It prints the time of a call with small tensors (those of python/tests/script_programs.py). Of that it prints how much is inside compiled functions and
inside library steps; the rest is the runner's own. Beside it stand eager PyTorch, and how many functions a call enters in Python and how many of C. With
PyTorch's tensors as storages it also has the number of PyTorch's operators that a call dispatches (each is a launch on a GPU).

    python3 benchmarks/run.py overhead [--only yolact,fcos] [--memory numpy|torch] [--blocks 60] [--json FILE]

`--memory torch` runs on the processor what runs on a GPU: PyTorch's tensors as storages, its operators as steps. Times are the least of all blocks
of 10 calls, in microseconds of the calling thread: other programs of the machine take least from these. One thread computes (FT_NUM_THREADS=1).
"""

import argparse
import json
import os
import pathlib
import sys
import time

os.environ.setdefault("FT_NUM_THREADS", "1")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "python"), str(ROOT / "python/tests"), str(ROOT / "benchmarks/suites")]

import imperative  # noqa: E402
import script_programs as programs  # noqa: E402
import torch  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from fractaltensor import library as lib  # noqa: E402
from fractaltensor import torch as ftt  # noqa: E402
from fractaltensor.torch.runtime import device_steps, engines, library, memory  # noqa: E402

CALLS = 10


class Clock:
    """The time inside of functions that it stands around, once it is on."""

    def __init__(self):
        self.total, self.count, self.is_on = 0.0, 0, False

    def around(self, function):
        def timed(*args, **kwargs):
            if not self.is_on:
                return function(*args, **kwargs)
            begun = time.thread_time()
            try:
                return function(*args, **kwargs)
            finally:
                self.total += time.thread_time() - begun
                self.count += 1

        timed.__name__, timed.__module__ = function.__name__, getattr(function, "__module__", "")
        return timed


class Operators(TorchDispatchMode):
    """Counts what PyTorch dispatches but what makes views and memory."""

    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        schema = function._schema
        is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in schema.returns)
        self.count += not is_view and not schema.name.startswith(("aten::empty", "aten::new_empty", "aten::detach"))
        return function(*args, **(kwargs or {}))


def least(call, blocks):
    """Microseconds of a call: of the calling thread, the least of some blocks."""
    found = []
    for _ in range(blocks):
        begun = time.thread_time()
        for _ in range(CALLS):
            call()
        found.append((time.thread_time() - begun) / CALLS * 1e6)
    return min(found)


def shares(call, clocks, blocks):
    """The least time of a call inside of what each clock stands around, in microseconds."""
    found = [[] for _ in clocks]
    for _ in range(blocks):
        for clock in clocks:
            clock.total, clock.is_on = 0.0, True
        for _ in range(CALLS):
            call()
        for clock, times in zip(clocks, found):
            clock.is_on = False
            times.append(clock.total / CALLS * 1e6)
    return list(map(min, found))


def entered(call):
    """How many functions a call enters: of Python, of C."""
    counts = {"call": 0, "c_call": 0}

    def note(_frame, event, _argument):
        if event in counts:
            counts[event] += 1

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return counts["call"], counts["c_call"]


def dispatched(call):
    with Operators() as operators:
        call()
    return operators.count


def clocked(names_of_steps):
    """Clocks around compiled functions and around steps, for programs that are made from here on."""
    compiled, steps = Clock(), Clock()
    runtime = lib.library()
    runtime.ft_call = compiled.around(runtime.ft_call)
    for name in names_of_steps:
        if name not in ("require", "require_equal"):
            library.register(name, steps.around(library.step(name)))
            device_steps.register(name, steps.around(device_steps.step(name, "cpu")), "cpu")
    return compiled, steps


def measure(name, options):
    function, values = getattr(programs, name), programs.inputs(name)
    plain, theirs, ours = ftt.script(function), imperative.fresh(values, "cpu"), imperative.fresh(values, "cpu")
    call = lambda: plain(*ours)  # noqa: E731
    call()
    call()
    row = {"program": name, "us": least(call, options.blocks), "eager_us": least(lambda: function(*theirs), options.blocks)}
    row["python_calls"], row["c_calls"] = entered(call)
    if options.memory == "torch":
        row["operators"], row["eager_operators"] = dispatched(call), dispatched(lambda: function(*theirs))
    row["report"] = repr(plain.report())
    return row


def add_shares(row, clocks, options):
    """The same program with clocks in it: these cost time themselves, so what they show is taken from a call without them."""
    name = row["program"]
    script, ours = ftt.script(getattr(programs, name)), imperative.fresh(programs.inputs(name), "cpu")
    script(*ours)
    script._direct = None
    row["compiled_us"], row["steps_us"] = shares(lambda: script(*ours), clocks, options.blocks)
    row["own_us"] = row["us"] - row["compiled_us"] - row["steps_us"]


def describe(row):
    text = f"{row['program']:20} {row['us']:8.1f} us, compiled {row['compiled_us']:7.1f}, steps {row['steps_us']:7.1f}, own {row['own_us']:7.1f}; eager {row['eager_us']:8.1f}"
    text += f"; enters {row['python_calls']} of Python, {row['c_calls']} of C"
    if "operators" in row:
        text += f"; {row['operators']} operators, eager {row['eager_operators']}"
    return text + f"  {row['report']}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(programs.NAMES))
    parser.add_argument("--memory", default="numpy", choices=("numpy", "torch"))
    parser.add_argument("--blocks", type=int, default=60)
    parser.add_argument("--json")
    options = parser.parse_args()
    torch.set_num_threads(1)
    imperative.install_suppression()
    if options.memory == "torch":
        engines.make = lambda name, device: engines.CompiledEngine("cuda", "cpu", memory.TorchMemory("cpu"))
    with torch.no_grad():
        rows = [measure(name, options) for name in options.only.split(",")]
        clocks = clocked(library.names())
        for row in rows:
            add_shares(row, clocks, options)
            print(describe(row), flush=True)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
