#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Bundles beside PyTorch on one GPU, in one process:

    peers.py FOLDER [--only=NAME,…] [--type=f32] [--json=FILE]

FOLDER is what scripts/gpu.sh packed. Every result is compared with the same
program in float64 on the device, of the rounded inputs. Then all of a row's
candidates are timed in turn, round after round, with events around each call and
the L2 cache evicted by reading another buffer before it; medians. Peers run as
CUDA graphs where they can, so that their launches cost what ours do.
"""

import argparse
import datetime
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import programs  # noqa: E402
import runtime  # noqa: E402

TYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "f64": torch.float64}
# Halves are rounded after every step of a recurrence and every state, as in PyTorch's plain forms. The bound is
# 40 times half the distance of two numbers (check.py has the same).
TOLERANCE = {"f32": 1e-4, "f16": 3e-2, "bf16": 0.25, "f64": 1e-11}
ROOT = pathlib.Path(__file__).resolve().parent


def machine():
    for path in (ROOT / "h200.json", ROOT.parent.parent / "machine/h200.json"):
        if path.exists():
            return json.loads(path.read_text())
    return None


def graphed(function):
    """The function as a CUDA graph, or as it is where it can't be captured."""
    try:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            function()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            function()

        def replay():
            graph.replay()

        replay.of = function  # a graph reads memory that its function owns: weights, states, results
        return replay
    except Exception as error:
        torch.cuda.synchronize()
        print(f"  (not captured: {str(error)[:100]})", flush=True)
        return function


def error_of(results, reference):
    worst = 0.0
    for got, want in zip(results, reference):
        got = got.double().reshape(want.shape)
        scale = want.square().mean().sqrt()
        worst = max(worst, ((got - want).abs() / (want.abs() + scale + 1e-30)).max().item())
        if not torch.isfinite(got).all():
            worst = float("inf")
    return worst


def time_all(candidates, seconds):
    flush = torch.randn(64 << 20, device="cuda")
    events = {name: [] for name in candidates}
    for call in candidates.values():
        for _ in range(2):
            call()
    torch.cuda.synchronize()
    rounds, spent = 0, 0.0
    while rounds < 5 or (spent < seconds and rounds < 60):
        start = torch.cuda.Event(enable_timing=True)
        start.record()
        for name, call in candidates.items():
            flush.amax()
            first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            first.record()
            call()
            last.record()
            events[name].append((first, last))
        end = torch.cuda.Event(enable_timing=True)
        end.record()
        torch.cuda.synchronize()
        spent += start.elapsed_time(end) / 1e3
        rounds += 1
    medians = {}
    for name, pairs in events.items():
        times = sorted(a.elapsed_time(b) * 1e3 for a, b in pairs)
        medians[name] = times[len(times) // 2]
    return medians


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--type", default="f32", choices=TYPES)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--compile", default="", help="names whose plain form torch.compile gets, too")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    torch.manual_seed(datetime.datetime.now().microsecond)
    library = runtime.load_library(options.folder / "lib/libFractalTensorRuntime.so")
    dtype, model = TYPES[options.type], machine()
    only = [n for n in options.only.split(",") if n]
    rows, failed = [], 0
    print(f"{torch.cuda.get_device_name()}, {options.type}, {datetime.date.today()}; microseconds a call")
    for name, make in programs.all_cases().items():
        suffix = "" if options.type == "f32" else f"_{options.type}"
        path = options.folder / "bundles" / f"bench_{name}{suffix}.sm_90a.ftb"
        if not path.exists() or (only and name not in only):
            continue
        try:
            case = make()
            inputs = [t.to(dtype) if t.is_floating_point() else t for t in case.inputs]
            exact = getattr(case, "exact", case.plain)
            reference = exact(*[t.double() if t.is_floating_point() else t for t in inputs])
            candidates, errors = {}, {}
            program = runtime.Program(library, path)
            outputs, call = program.bind(inputs, case.outputs, dtype)
            for variant in program.variants():
                label = "ours" if variant == "generic" else f"ours, {variant}"
                program.select(variant)
                for out in outputs:
                    out.fill_(float("nan"))
                call()
                torch.cuda.synchronize()
                errors[label] = error_of(outputs, reference)
                candidates[label] = lambda v=variant: (program.select(v), call())
            plain = lambda: case.plain(*inputs)  # noqa: E731
            with torch.no_grad():
                errors["PyTorch"] = error_of(plain(), reference)
                candidates["PyTorch"] = graphed(plain)
                if name in options.compile.split(","):
                    compiled = torch.compile(case.plain, dynamic=False)
                    errors["torch.compile"] = error_of(compiled(*inputs), reference)
                    candidates["torch.compile"] = graphed(lambda: compiled(*inputs))
                for label, peer in case.peers.items():
                    run, part = peer(*inputs)
                    errors[label] = error_of([run()], [part(reference)])
                    candidates[label] = graphed(run)
                medians = time_all(candidates, options.seconds)
            moved = sum(t.numel() * t.element_size() for t in inputs + outputs)
            floor = 0.0
            if model:
                rate = "f64" if options.type == "f64" else "f32"
                floor = 1e6 * max(moved / model["memory"][-1]["copy_bytes_per_second"],
                                  case.flops / model["rates"][f"{rate}_flop_per_second"])
            for label, micros in medians.items():
                ok = errors[label] <= TOLERANCE[options.type] * (1 if label.startswith("ours") else 1e9)
                failed += not ok
                rows.append(dict(program=name, shape=case.shape, type=options.type, what=label,
                                 microseconds=micros, error=errors[label], floor=floor, ok=ok))
                print(f"{name:24} {case.shape:22} {label:18} {micros:10.1f}   floor {floor:8.1f}"
                      f"   error {errors[label]:.1e}{'' if ok else '   WRONG'}", flush=True)
            del candidates, outputs, reference, inputs, case, program
        except Exception as error:  # one row must not cost the others
            failed += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:300]}", flush=True)
        torch.cuda.empty_cache()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
