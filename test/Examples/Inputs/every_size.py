#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every example with a float type, as large as it is and with other element sizes,
compared with the interpreter: what depends on shapes and types is in a program's aliases.

    every_size.py FT-RUN EXAMPLES-FOLDER ENGINE f64|f32|f16|bf16

Extents of 16, 32 and 64 become 12, 24 and 40: neither powers of two nor of a
vector's width.
"""

import pathlib
import re
import subprocess
import sys

ft_run, folder, engine, element = sys.argv[1:]
other = {"16": "12", "32": "24", "64": "40"}
bad = runs = 0
for path in sorted(pathlib.Path(folder).glob("*.mlir")):
    source = path.read_text()
    aliases = re.findall(r"^!(\w+) = tensor<([0-9x]*)(f32|i1|i64)>", source, re.M)
    names = re.findall(r"(\w+) = \d+ : i64", re.search(r"ft\.lengths = \{([^}]*)\}", source)[1])
    for resized in (False, True):
        command = [ft_run, str(path), f"--engine={engine}", "--compare=interpret"]
        for name, extents, old in aliases:
            if resized:
                extents = "".join(other.get(e, e) + "x" for e in extents.split("x") if e)
            command += ["--type", f"{name}=tensor<{extents}{element if old == 'f32' else old}>"]
        for name in names:
            command += ["--dim", f"{name}=3"]
        done = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        if done.returncode:
            bad += 1
            print(f"{path.name}: status {done.returncode}\n{' '.join(command)}\n{done.stdout}{done.stderr[:1500]}")
print(f"{runs} runs, {bad} failures")
sys.exit(1 if bad else 0)
