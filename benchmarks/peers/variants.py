#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Schedules of one program beside each other on one GPU, in one process:

    variants.py FOLDER [--seconds=6] [--keep=1.3] [--json=FILE]

FOLDER is what benchmarks/run.py dataflow-gpu packed. Every result is compared with the same program in float64; what differs is
no variant and is said. All are timed in turn, round after round, with the L2 cache evicted before each call; medians. Those
within `--keep` of the best, and the two choices, are then timed again for longer: their medians there count. `of best` is chosen
over the best of all others.
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

CHOICES = ("chosen", "cost model")


def load(library, folder, lines, inputs, count, reference):
    """Name to call of what gives the reference's results; what does not, with the reason."""
    calls, wrong = {}, {}
    for name, bundle in lines:
        try:
            program = runtime.Program(library, folder / "bundles" / (bundle + ".ftb"))
            outputs, call = program.bind(inputs, count, torch.float32)
            call()
            torch.cuda.synchronize()
            error = peers.error_of(outputs, reference)
            if error > peers.TOLERANCE["f32"]:
                wrong[name] = f"error {error:.1e}"
            else:
                calls[name] = call
        except RuntimeError as error:
            wrong[name] = str(error)[:200]
    return calls, wrong


def compare(library, folder, program, lengths, lines, options):
    case = programs.sized(program, lengths)
    inputs = [tensor.float() for tensor in case.inputs]
    exact = getattr(case, "exact", case.plain)
    reference = exact(*[tensor.double() for tensor in inputs])
    calls, wrong = load(library, folder, lines, inputs, case.outputs, reference)
    if "chosen" in wrong:
        raise RuntimeError("chosen: " + wrong["chosen"])
    medians = peers.time_all(calls, options.seconds / 2)
    best = min(medians.values())
    again = {name: call for name, call in calls.items() if medians[name] <= options.keep * best or name in CHOICES}
    medians.update(peers.time_all(again, options.seconds))
    others = {name: value for name, value in medians.items() if name != "chosen"}
    first = min(others, key=others.get)
    return dict(program=program, lengths=lengths, chosen=medians["chosen"], cost_model=medians.get("cost model"), best=first,
                best_us=others[first], of_best=medians["chosen"] / others[first], variants=len(others), wrong=wrong,
                medians=dict(sorted(medians.items(), key=lambda item: item[1])))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--keep", type=float, default=1.3)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    library = runtime.load_library(options.folder / "lib/libFractalTensorRuntime.so")
    by_program = {}
    for line in (options.folder / "variants.txt").read_text().splitlines():
        program, lengths, name, bundle = line.split("|")
        by_program.setdefault((program, lengths), []).append((name, bundle))
    print(torch.cuda.get_device_name(), flush=True)
    rows = []
    for (program, lengths), lines in by_program.items():
        sizes = {word.split("=")[0]: int(word.split("=")[1]) for word in lengths.split()}
        row = compare(library, options.folder, program, sizes, lines, options)
        rows.append(row)
        print(f"{program} {lengths}: chosen {row['chosen']:.1f} us, cost model {row['cost_model']:.1f}, best of {row['variants']} others "
              f"{row['best_us']:.1f} ({row['best']}): {row['of_best']:.3f} of best; {len(row['wrong'])} without a result", flush=True)
        for name, value in list(row["medians"].items())[:12]:
            print(f"    {value:9.1f}  {name}")
        for name, why in row["wrong"].items():
            print(f"    no result: {name}: {why}")
        torch.cuda.empty_cache()
        if options.json:
            options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
