# ft-run executes what ft-opt prints: each phase of each example, for each target.
#
# RUN: %python %s %t %ft_bin %examples
"""Compares the phases that `ft-run --dump` writes with those of `ft-opt --ft-compile="dump=..."`.

A GPU's phases are written before ft-run asks for a device, so that none is needed here.
"""

import filecmp
import os
import pathlib
import shutil
import subprocess
import sys

work, tools, examples = (pathlib.Path(argument) for argument in sys.argv[1:])
ENGINES = {"cpu": "cpu", "sm_80": "cuda", "sm_90a": "cuda"}


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def check(example, target):
    printed, executed = fresh(work / "printed"), fresh(work / "executed")
    opt = subprocess.run([tools / "ft-opt", f"--ft-compile=target={target} dump={printed}", example, "-o", os.devnull],
                         capture_output=True, text=True, check=False)
    if opt.returncode:
        sys.exit(f"{example.name}, {target}: ft-opt failed\n{opt.stderr}")
    # (Without a device it fails, after the phases.)
    run = subprocess.run([tools / "ft-run", example, f"--engine={ENGINES[target]}", f"--target={target}", f"--dump={executed}"],
                         capture_output=True, text=True, check=False)
    if run.returncode and target == "cpu":
        sys.exit(f"{example.name}, {target}: ft-run failed\n{run.stderr}")
    names = sorted(path.name for path in printed.iterdir())
    if names != sorted(path.name for path in executed.iterdir()) or not any("target" in name for name in names):
        sys.exit(f"{example.name}, {target}: other phases: {names}\n{run.stderr}")
    different = [name for name in names if not filecmp.cmp(printed / name, executed / name, shallow=False)]
    if different:
        sys.exit(f"{example.name}, {target}: differ in {', '.join(different)}")


sources = sorted(examples.glob("*.mlir"))
for number, source in enumerate(sources):
    # (The targets of GPUs have one list: the older one is run for some.)
    for target in ("cpu", "sm_90a") + ("sm_80",) * (number % 6 == 0):
        check(source, target)
assert sources
