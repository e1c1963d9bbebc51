#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs the modules of benchmarks/peers/models.py for a machine with a GPU:

    models.py FOLDER [--partition=MODE,…] [NAME…]

Needs PyTorch, which the modules are read with, and the build folder (FT_BUILD, default
build). FOLDER/models gets for each module and type a bundle and the names of what it
takes; FOLDER gets the runtime, and what compares them there: `./run.sh models`. For each
mode of the phase `partition` a bundle of its own is beside the one without a mode.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

root = pathlib.Path(__file__).resolve().parent.parent
build = root / os.environ.get("FT_BUILD", "build")
sys.path[:0] = [str(root / "python"), str(root / "benchmarks/peers")]
import fractaltensor as ft  # noqa: E402
import torch  # noqa: E402
import models  # noqa: E402


def pack(name, element, out, modes):
    module, x = models.make(name, models.TYPES[element], "cpu")
    program = ft.torch.from_exported(torch.export.export(module, (x,))).lower(x)
    texts = program.segments()
    if len(texts) != 1:
        raise RuntimeError(f"{name}: expected one function, found {len(texts)}")
    known = {value.data_ptr(): path for path, value in models.values_of(module).items()}
    names = {root.value: None for root in program.roots}
    names.update({c.tensor.value: known[c.array.data_ptr()] for c in program.captured})
    inputs = [names[value] for value in program.division.segments[0].inputs]
    text = out / f"{name}.{element}.mlir"
    text.write_text(texts[0])
    translate = [build / "bin/ft-translate", "--mlir-to-bundle", "--target=sm_90a", text]
    subprocess.run([*translate, "-o", out / f"{name}.{element}.ftb"], check=True)
    for mode in modes:
        subprocess.run([*translate, f"--partition={mode}", "-o", out / f"{name}.{element}.{mode}.ftb"], check=True)
    (out / f"{name}.{element}.json").write_text(json.dumps({"inputs": inputs}, indent=1) + "\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    out = folder / "models"
    out.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(folder / "lib", ignore_errors=True)
    (folder / "lib").mkdir()
    for file in (build / "lib").glob("libFractalTensorRuntime.so*"):
        shutil.copy(file, folder / "lib", follow_symlinks=False)
    shutil.copy(build / "bin/ft-run-bundle", folder)
    shutil.copy(root / "integration/run.sh", folder)
    for file in (root / "benchmarks/peers").glob("*.py"):
        shutil.copy(file, folder)
    names, modes = sys.argv[2:], []
    if names and names[0].startswith("--partition="):
        modes = names.pop(0).partition("=")[2].split(",")
    for name in names or models.CASES:
        for element in ("f16", "f32"):
            pack(name, element, out, modes)
    print(f"packed {out}")


if __name__ == "__main__":
    main()
