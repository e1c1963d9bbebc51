#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the forms that benchmarks/run.py prices packed, on one GPU, in one process:

    prices.py FOLDER [--json=FILE] [--kernels=FILE] [--seconds=0.15] [--only=NAME,...] [--once=FILE]

All variants of a program are timed in turn at the same lengths, with the L2 cache evicted before each call; medians. A variant whose results
differ from those of most is reported, and has no time.

With --kernels the profiler gives the time of each launch, with its registers, threads and blocks. With --once each bundle of a file's lines,
`bundle|lengths`, is called once, between the profiler's start and stop.
"""
import argparse
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402
import programs  # noqa: E402
import runtime  # noqa: E402

SLOW = 0.03  # seconds of a call that is not repeated


def case_of(line, lengths):
    d = {word.split("=")[0]: int(word.split("=")[1]) for word in lengths}
    width = int(line["width"] or 64)
    makers = {
        "stacked_rnn": lambda: programs.stacked_rnn(d["N"], d["D"], d["L"], width),
        "stacked_lstm": lambda: programs.stacked_lstm(d["N"], d["D"], d["L"], width),
        "gru": lambda: programs.gru(d["N"], d["L"], width),
        "grid_rnn": lambda: programs.grid_rnn(d["N"], d["D"], d["S"], d["T"], width),
        "dilated_lstm": lambda: programs.dilated_lstm(d["N"], d["L"], width),
    }
    return makers[line["program"]]() if line["program"] in makers else programs.sized(line["program"], d)


def inputs_of(line, lengths):
    case, dtype = case_of(line, lengths), peers.TYPES[line["element"]]
    return case, [t.to(dtype) if t.is_floating_point() else t for t in case.inputs], dtype


def bind(library, folder, line, inputs, count, dtype):
    program = runtime.Program(library, folder / "bundles" / (line["bundle"] + ".ftb"))
    outputs, call = program.bind(inputs, count, dtype)
    call()
    torch.cuda.synchronize()
    return program, outputs, call


def seconds_of(call):
    first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    first.record()
    call()
    last.record()
    torch.cuda.synchronize()
    return first.elapsed_time(last) / 1e3


def differs(outputs, others, element):
    scale = {"f32": 1e-3, "f16": 5e-2, "bf16": 3e-1, "f64": 1e-9}[element]
    return any(((a.float() - b.float()).abs().max() > scale * (b.float().abs().max() + 1e-6)).item() or not torch.isfinite(a).all()
               for a, b in zip(outputs, others))


def time_case(library, folder, lines, lengths, seconds, kernels, flush):
    key = " ".join(lengths)
    case, inputs, dtype = inputs_of(lines[0], lengths)
    bound, calls, times, reference = [], {}, {}, None
    for line in lines:
        try:
            program, outputs, call = bind(library, folder, line, inputs, case.outputs, dtype)
        except RuntimeError as error:
            print(f"{line['bundle']} {key}: {str(error)[:200]}", flush=True)
            continue
        if reference is None:
            reference = outputs
        elif differs(outputs, reference, line["element"]):
            print(f"{line['bundle']} {key}: other results", flush=True)
            continue
        bound.append((line, program, outputs))
        once = seconds_of(call)
        if once > SLOW:
            times[line["bundle"]] = once * 1e6
        else:
            calls[line["bundle"]] = call
        if kernels is not None:
            kernels.append((line["bundle"], key, call))
    times.update(peers.time_all(calls, seconds) if calls else {})
    if kernels is not None:
        profile(kernels, flush)
    print(f"{lines[0]['case']} {key}: {len(times)} forms, {min(times.values()):.1f} to {max(times.values()):.1f} us", flush=True)
    return key, times


def call_once(library, folder, lines, path):
    for entry in path.read_text().splitlines():
        bundle, lengths = entry.split("|")
        line = next(line for line in lines if line["bundle"] == bundle)
        case, inputs, dtype = inputs_of(line, lengths.split())
        _, _, call = bind(library, folder, line, inputs, case.outputs, dtype)
        print("once", entry, flush=True)
        torch.cuda.profiler.start()
        call()
        torch.cuda.synchronize()
        torch.cuda.profiler.stop()


def profile(kernels, flush):
    """Replaces each call by the launches that it made."""
    from torch.profiler import ProfilerActivity, profile as record
    todo = [i for i, entry in enumerate(kernels) if callable(entry[2])]
    with record(activities=[ProfilerActivity.CUDA]) as told:
        for i in todo:
            flush.amax()
            kernels[i][2]()
        flush.amax()
        torch.cuda.synchronize()
    events = sorted((e for e in told.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start)
    groups = []
    for event in events:
        if "reduce_kernel" in event.name:
            groups.append([])
        elif groups and "Mem" not in event.name:
            groups[-1].append((event.name, round(event.time_range.elapsed_us(), 1)))
    for i, group in zip(todo, groups):
        kernels[i] = (*kernels[i][:2], group)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--kernels", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=0.15)
    parser.add_argument("--only", default="")
    parser.add_argument("--once", type=pathlib.Path)
    options = parser.parse_args()
    torch.manual_seed(1)
    library = runtime.load_library(options.folder / "lib/libFractalTensorRuntime.so")
    lines = json.loads((options.folder / "forms.json").read_text())
    if options.once:
        return call_once(library, options.folder, lines, options.once)
    print(torch.cuda.get_device_name(), flush=True)
    only = [name for name in options.only.split(",") if name]
    result, flush = {}, torch.randn(64 << 20, device="cuda")
    kernels = [] if options.kernels else None
    for name in dict.fromkeys(line["case"] for line in lines):
        own = [line for line in lines if line["case"] == name]
        if only and own[0]["program"] not in only:
            continue
        for lengths in own[0]["lengths"]:
            try:
                key, times = time_case(library, options.folder, own, lengths, options.seconds, kernels, flush)
            except Exception as error:  # one program must not cost the others
                print(f"{name} {lengths}: {type(error).__name__}: {str(error)[:300]}", flush=True)
                continue
            for bundle, value in times.items():
                result.setdefault(bundle, {})[key] = value
            torch.cuda.empty_cache()
            if options.json:
                options.json.write_text(json.dumps(result, indent=1))
            if options.kernels:
                options.kernels.write_text(json.dumps([entry for entry in kernels if not callable(entry[2])], indent=1))


if __name__ == "__main__":
    main()
