#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example at each of its lengths in turn at 7 and at 127, in every element
type, against the same program in float64 on the device (programs.py):

    check.py FOLDER [TARGET …]

FOLDER is what scripts/gpu.sh packed; lengths.txt in it names the examples.
"""

import pathlib
import sys

import torch

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import peers  # noqa: E402
import programs  # noqa: E402
import runtime  # noqa: E402

# f16 and bf16: what rounding each state to its type adds up to over 127 steps.
TOLERANCE = {"f32": 1e-4, "f16": 3e-2, "bf16": 0.25, "f64": 1e-10}


def sizes(lengths):
    for name in lengths:
        for value in (7, 127):
            yield {n: value if n == name else ODD.get(n, 3) for n in lengths}


ODD = {"N": 3, "L": 7, "D": 2, "B": 1, "H": 3, "M": 3, "K": 3, "Q": 3, "R": 1, "S": 5, "T": 3, "F": 3}


def main():
    folder, targets = pathlib.Path(sys.argv[1]), sys.argv[2:] or ["sm_90a", "sm_80"]
    torch.manual_seed(7)
    library = runtime.load_library(folder / "lib/libFractalTensorRuntime.so")
    good, bad, worst = 0, 0, {}
    for line in (folder / "lengths.txt").read_text().split("\n"):
        if not line:
            continue
        name, *lengths = line.split()
        loaded = {}
        for dims in sizes(lengths):
            case = programs.sized(name, dims)
            exact = getattr(case, "exact", case.plain)
            for kind, dtype in peers.TYPES.items():
                inputs = [t.to(dtype) if t.is_floating_point() else t for t in case.inputs]
                reference = exact(*[t.double() if t.is_floating_point() else t for t in inputs])
                for target in targets:
                    suffix = "" if kind == "f32" else f"_{kind}"
                    path = folder / "bundles" / f"{name}{suffix}.{target}.ftb"
                    if not path.exists():
                        print(f"no {path.name}")
                        continue
                    if path not in loaded:
                        loaded[path] = runtime.Program(library, path)
                    try:
                        outputs, call = loaded[path].bind(inputs, case.outputs, dtype)
                        call()
                        torch.cuda.synchronize()
                        error = peers.error_of(outputs, reference)
                        problem = "" if error <= TOLERANCE[kind] else f"error {error:.2e}"
                    except RuntimeError as failed:
                        error, problem = 0.0, str(failed)[:200]
                    worst[kind] = max(worst.get(kind, 0.0), error)
                    good, bad = (good, bad + 1) if problem else (good + 1, bad)
                    if problem:
                        print(f"FAIL {target} {name} {kind} {dims}: {problem}", flush=True)
    print(f"lengths and types: {good} equal to float64, {bad} not; worst "
          + ", ".join(f"{k} {v:.1e}" for k, v in worst.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
