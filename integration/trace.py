#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks traced calls on a machine with a GPU:

    python3 integration/trace.py [--engine=cpu]

The package has to be installed, or its folder on PYTHONPATH. PyTorch makes the arrays. Of each program the trace parses, and its file has the
events that `f.trace` returns. The result is that of an untraced call. Kernels have names of the plan.

On the GPU's stream they lie inside of the call, in the order in which the host enqueued them, and one after the other. On a CPU tasks and waits
lie inside of their kernels. Each member of a region waits at all of its barriers, which are as many as the plan has.

Prints a line for each program; status 1 if a check fails.
"""

import argparse
import json
import pathlib
import re
import tempfile

import torch

import fractaltensor as ft

# Times are rounded to nanoseconds; an event's own resolution is half a microsecond.
SLACK = {"cpu": 0.002, "cuda": 1.0}


@ft.jit(lengths={"N": 48})
def product(xs: ft.List["N", ft.f32[64, 64]], w: ft.f32[64, 64]):
    return xs.map(lambda x: ft.relu(x @ w))


@ft.jit(lengths={"N": 48})
def running(xs: ft.List["N", ft.f32[64, 64]], w: ft.f32[64, 64]):
    return xs.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(64, 64))


@ft.jit(lengths={"N": 48, "D": 4})
def layers(xs: ft.List["N", ft.f32[64, 64]], ws: ft.List["D", ft.f32[64, 64]]):
    return ws.scanl(lambda seq, w: seq.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(64, 64)), xs)


def inside(inner, outer, slack):
    return outer["ts"] - slack <= inner["ts"] and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + slack


def of(events, category):
    return [event for event in events if event.get("cat") == category]


def check_device(events, call, slack):
    steps = [event for event in events if event["ph"] == "X" and event["pid"] == 2]
    enqueued = of(events, "host")
    assert [f"enqueue {step['name']}" for step in steps] == [event["name"] for event in enqueued], (steps, enqueued)
    assert all(inside(event, call, slack) for event in steps + enqueued), call
    for first, second in zip(steps, steps[1:]):
        assert first["ts"] + first["dur"] <= second["ts"] + slack, (first, second)
    for kernel in of(events, "kernel"):
        assert min(kernel["args"]["grid"] + kernel["args"]["block"]) >= 1 and kernel["dur"] > 0, kernel
    # Events see launches alone.
    assert not of(events, "task") and not of(events, "barrier")
    return 0


def check_threads(events, slack):
    kernels, waits = of(events, "kernel"), of(events, "barrier")
    for piece in of(events, "task") + waits:
        assert any(inside(piece, kernel, slack) for kernel in kernels if kernel["name"] == piece["args"]["kernel"]), piece
    seen = {(wait["args"]["region"], wait["args"]["member"], wait["args"]["part"]) for wait in waits}
    assert len(seen) == len(waits), "two waits at one barrier"
    barriers = {(region, part) for region, _, part in seen}
    for region, member in {(region, member) for region, member, _ in seen}:
        assert all((region, member, part) in seen for own, part in barriers if own == region), (region, member)
    return len(barriers)


def check(program, device, *arguments):
    arguments = [argument.to(device) for argument in arguments]
    expected, slack = program(*arguments), SLACK[device]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.json"
        trace = program.trace(*arguments, path=path)
        assert json.loads(path.read_text())["traceEvents"] == trace.events
    assert torch.equal(trace.result, expected), "the traced call has another result"
    (call,) = of(trace.events, "call")
    kernels = of(trace.events, "kernel")
    ran, plan = {kernel["name"] for kernel in kernels}, program.explain()
    assert ran and ran <= set(re.findall(rf"^  ({program.__name__}_\w+): ", plan, re.M)), (ran, plan)
    assert all(inside(kernel, call, slack) for kernel in kernels)
    barriers = check_device(trace.events, call, slack) if device == "cuda" else check_threads(trace.events, slack)
    assert trace.about["barriers"] == barriers, (trace.about, barriers)
    if device == "cpu":
        planned = sum(int(number) for name, number in re.findall(r"^  (\w+): .*?(\d+) barriers?,", plan, re.M) if name in ran)
        assert planned == barriers, (plan, barriers)
    print(f"ok {program.__name__} on {trace.about['target'].partition(':')[0]}: {len(kernels)} kernels, {barriers} barriers, {call['dur']:.1f} us")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("cuda", "cpu"), default="cuda")
    device = parser.parse_args().engine
    torch.manual_seed(1)
    xs, ws = torch.randn(48, 64, 64), torch.randn(4, 64, 64) / 16
    check(product, device, xs, ws[0])
    check(running, device, xs, ws[0])
    check(layers, device, xs, ws)


if __name__ == "__main__":
    main()
