#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the emitters write for all programs of the tree, so that two trees can be compared.

    emitted.py write FOLDER [--bin=build/bin] [--jobs=N] [FILE...]
    emitted.py compare BEFORE AFTER

`write` leaves, for each program (all of examples/, integration/ and test/Programs/ by default), the PTX for two
targets and the loops of the CPU (`to=target`); of a program that is refused, the errors. `compare` names what differs
and fails then. A change that only moves a decision from an emitter into an attribute must leave all of it the same.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FORMS = {
    "sm_80.ptx": ["ft-translate", "--mlir-to-ptx", "--target=sm_80"],
    "sm_90a.ptx": ["ft-translate", "--mlir-to-ptx", "--target=sm_90a"],
    "cpu.mlir": ["ft-opt", "--ft-compile=to=target target=cpu machine=cpu"],
}


def emit(task):
    bin, source, command, target = task
    done = subprocess.run([bin / command[0], *command[1:], source], capture_output=True, text=True, errors="replace")
    target.write_text(done.stdout if done.returncode == 0 else f"status {done.returncode}\n{done.stderr}")
    return done.returncode == 0


def write(options):
    sources = [pathlib.Path(f) for f in options.files] or [
        path for folder in ("examples", "integration", "test/Programs") for path in sorted((ROOT / folder).glob("*.mlir"))]
    options.folder.mkdir(parents=True, exist_ok=True)
    tasks = [(options.bin, source, command, options.folder / f"{source.parent.name}-{source.stem}.{form}")
             for source in sources for form, command in FORMS.items()]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        good = sum(pool.map(emit, tasks))
    print(f"{len(tasks)} written, {len(tasks) - good} of them errors")
    return 0


def compare(options):
    names = sorted({p.name for folder in (options.before, options.after) for p in folder.iterdir()})
    texts = lambda folder, name: (folder / name).read_bytes() if (folder / name).exists() else None
    different = [name for name in names if texts(options.before, name) != texts(options.after, name)]
    for name in different:
        print(f"differs: {name}")
    print(f"{len(names)} compared, {len(different)} differ")
    return 1 if different or not names else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("write")
    first.add_argument("folder", type=pathlib.Path)
    first.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    first.add_argument("--jobs", type=int, default=os.cpu_count())
    first.add_argument("files", nargs="*")
    second = commands.add_parser("compare")
    second.add_argument("before", type=pathlib.Path)
    second.add_argument("after", type=pathlib.Path)
    options = parser.parse_args()
    return write(options) if options.command == "write" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
