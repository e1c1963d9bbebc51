#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the modules of benchmarks/peers/models.py for a machine with a GPU:

    models.py FOLDER [--partition=MODE,…] [NAME…]

Needs PyTorch, which the modules are read with, and the build folder (FT_BUILD, default
build). FOLDER/models gets for each module and type a bundle and the names of the
parameters that it holds; FOLDER gets the runtime, and what compares them there: `./run.sh models`. For each
mode of the phase `partition` a bundle of its own is beside the one without a mode.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

root = pathlib.Path(__file__).resolve().parent.parent
build = root / os.environ.get("FT_BUILD", "build")
sys.path[:0] = [str(root / "python"), str(root / "benchmarks/peers")]
import fractaltensor as ft  # noqa: E402
import torch  # noqa: E402
import models  # noqa: E402
from fractaltensor.torch.held_bundles import _leaves  # noqa: E402
from fractaltensor.torch.plan.segments import SegmentText  # noqa: E402


#: Phases that ft-opt runs first, by the name of a bundle: nothing is merged, and each nest is a kernel.
BEFORE = {"unmerged": "--ft-compile=to=partition target=sm_90a partition=boundary skip=coarsen"}


def pack(name, element, out, modes):
    """Bundles of a module, one for each mode (without any: as it is compiled); the seconds that each step took."""
    module, x = models.make(name, models.TYPES[element], "cpu")
    begin = time.monotonic()
    program = ft.torch.from_exported(torch.export.export(module, (x,))).lower(x)
    segment = program.division.segments[0]
    seconds = {"import": time.monotonic() - begin}
    if len(program.division.segments) != 1:
        raise RuntimeError(f"{name}: expected one function, found {len(program.division.segments)}")
    known = {value.data_ptr(): path for path, value in models.values_of(module).items()}
    held = {c.tensor.value: known[c.array.data_ptr()] for c in program.captured if c.tensor.value in set(segment.inputs)}
    # Parameters are bound once, as a bundle of a model has them.
    text = out / f"{name}.{element}.mlir"
    writer = SegmentText(segment, held=held)
    text.write_text(writer.text())
    # Beside what the module returns a function may give what its caller has to look at, such as the largest index of a table.
    yields = program.division.top.yields
    returned = [segment.outputs.index(yields[leaf.at]) for leaf in _leaves(program.structure)]
    results = [re.search(r"(\w+)>$", kind).group(1).rpartition("x")[2] for _, kind in writer.results]
    for mode in modes or [None]:
        begin = time.monotonic()
        file = out / ".".join(filter(None, (name, element, mode, "ftb")))
        source, options = text, [f"--partition={mode}"] if mode else []
        if mode in BEFORE:
            source, options = out / f"{name}.{element}.{mode}.mlir", []
            subprocess.run([build / "bin/ft-opt", BEFORE[mode], text, "-o", source], check=True)
        subprocess.run([build / "bin/ft-translate", "--mlir-to-bundle", "--target=sm_90a", source, *options, "-o", file], check=True)
        seconds[mode or "bundle"] = time.monotonic() - begin
    (out / f"{name}.{element}.json").write_text(json.dumps({"held": sorted(held.values()), "results": results, "returned": returned}, indent=1) + "\n")
    return seconds


def pack_runtime(folder):
    """The runtime, and what compares bundles with their modules."""
    shutil.rmtree(folder / "lib", ignore_errors=True)
    (folder / "lib").mkdir(parents=True)
    for file in (build / "lib").glob("libFractalTensorRuntime.so*"):
        shutil.copy(file, folder / "lib", follow_symlinks=False)
    shutil.copy(build / "bin/ft-run-bundle", folder)
    shutil.copy(root / "integration/run.sh", folder)
    for file in (root / "benchmarks/peers").glob("*.py"):
        shutil.copy(file, folder)


def main():
    folder = pathlib.Path(sys.argv[1])
    out = folder / "models"
    out.mkdir(parents=True, exist_ok=True)
    pack_runtime(folder)
    names, modes = sys.argv[2:], []
    if names and names[0].startswith("--partition="):
        modes = names.pop(0).partition("=")[2].split(",")
    for name in names or models.CASES:
        for element in ("f16", "f32"):
            pack(name, element, out, [])
            if modes:
                pack(name, element, out, modes)
    print(f"packed {out}")


if __name__ == "__main__":
    main()
