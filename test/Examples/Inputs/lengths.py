#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one example at the smallest lengths that its bounds allow, with each length
in turn at 7 and at 127 (the others smallest), compared with the interpreter; and
one below each bound, which must be refused with a located error:

    lengths.py FT-RUN EXAMPLES-FOLDER NAME ENGINE [--largest=127] [OTHER-OPTIONS...]

The same again with the others at least 1, where something is computed; there
--largest bounds what the interpreter has to do.
"""

import pathlib
import re
import subprocess
import sys

ft_run, folder, name, engine, *options = sys.argv[1:]
largest = next((int(o.split("=")[1]) for o in options if o.startswith("--largest=")), 127)
options = [o for o in options if not o.startswith("--largest=")]
path = pathlib.Path(folder) / f"{name}.mlir"
source = path.read_text()
names = re.findall(r"(\w+) = \d+ : i64", re.search(r"ft\.lengths = \{([^}]*)\}", source)[1])
bounds = {m[1]: int(m[2]) for m in re.finditer(r'"(\w+) >= (\d+)"', source)}
smallest = {n: bounds.get(n, 0) for n in names}
bad = 0


def run(dims):
    command = [ft_run, str(path), f"--engine={engine}", "--compare=interpret", *options]
    for n, value in dims.items():
        command += ["--dim", f"{n}={value}"]
    return command, subprocess.run(command, capture_output=True, text=True)


cases = [smallest] + [{**smallest, n: value} for n in names for value in (7, 127)]
cases.append({n: max(1, smallest[n]) for n in names})
cases += [{**cases[-1], n: value} for n in names for value in (7, largest)]
for dims in cases:
    command, done = run(dims)
    if done.returncode:
        bad += 1
        print(f"{dims}: status {done.returncode}\n{' '.join(command)}\n{done.stdout}{done.stderr}")
for n, bound in bounds.items():
    command, done = run({**smallest, n: bound - 1})
    located = re.search(r"(?m)^.*\.mlir:\d+:\d+: error: .*", done.stderr)
    if done.returncode != 1 or not located:
        bad += 1
        print(f"{n} below its bound: status {done.returncode}\n{' '.join(command)}\n{done.stderr}")
print(f"{name}: {len(cases)} runs, {bad} failures")
sys.exit(1 if bad else 0)
