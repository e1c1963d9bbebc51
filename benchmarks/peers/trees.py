#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The bundles of several trees beside each other on one GPU, in one process:

    trees.py FOLDER FOLDER... [--only=NAME,...] [--types=f32,f16,bf16] [--json=FILE]

Each FOLDER is what scripts/gpu.sh packed in a tree; the first one's runtime calls them all. The same inputs go to each, results are compared with
those of the first FOLDER, and all are timed in turn (peers.py). The last column is a tree's time as a part of the first one's. The status is 1
where results differ by more than the type's rounding allows, or a bundle is missing.
"""

import argparse
import datetime
import json
import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402
import programs  # noqa: E402
import runtime  # noqa: E402


def calls_of(library, folders, name, element, case):
    """A call for each tree that has the bundle, and its largest difference from the first tree's results."""
    dtype = peers.TYPES[element]
    inputs = [t.to(dtype) if t.is_floating_point() else t for t in case.inputs]
    suffix = "" if element == "f32" else "_" + element
    calls, differences, first = {}, {}, None
    for folder in folders:
        path = folder / "bundles" / f"bench_{name}{suffix}.sm_90a.ftb"
        if not path.exists():
            continue
        program = runtime.Program(library, path)
        outputs, call = program.bind(inputs, case.outputs, dtype)
        call()
        torch.cuda.synchronize()
        first = first or [out.double() for out in outputs]
        calls[folder] = call
        differences[folder] = peers.error_of(outputs, first)
    return calls, differences


def row(library, folders, name, element, case, seconds):
    """What is printed of one program, or nothing where no tree has its bundle."""
    calls, differences = calls_of(library, folders, name, element, case)
    if not calls:
        return None
    medians = peers.time_all(calls, seconds)
    first = medians[next(iter(calls))]
    times = [dict(tree=str(f), microseconds=medians[f], of_first=medians[f] / first, difference=differences[f]) for f in calls]
    ok = len(calls) == len(folders) and max(differences.values()) <= peers.TOLERANCE[element]
    return dict(program=name, type=element, times=times, ok=ok)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folders", type=pathlib.Path, nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--types", default="f32,f16,bf16")
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    library = runtime.load_library(options.folders[0] / "lib/libFractalTensorRuntime.so")
    only = [n for n in options.only.split(",") if n]
    print(f"{torch.cuda.get_device_name()}, {datetime.date.today()}; microseconds a call")
    rows = []
    for name, make in programs.all_cases().items():
        if only and name not in only:
            continue
        for element in options.types.split(","):
            found = row(library, options.folders, name, element, make(), options.seconds)
            torch.cuda.empty_cache()
            if found:
                rows.append(found)
                print(f"{name:24} {element:5}" + "".join(f" {t['microseconds']:9.1f} ({t['of_first']:.3f})" for t in found["times"]) +
                      ("" if found["ok"] else "   WRONG"), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if rows and all(r["ok"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
