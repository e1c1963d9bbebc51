#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Assembles the kernels of every example and reads what ptxas says of them:

    ptxas.py FT-TRANSLATE EXAMPLES-FOLDER TARGET PART PARTS

for every PARTS-th example, from the PART-th on, so that tests share the work.
Kernels of both kinds: that run in steps of the whole grid, and that do not.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

translate, folder, target, part, parts = sys.argv[1:]
failures = 0
kernels = 0
with tempfile.TemporaryDirectory() as scratch:
    for path in sorted(pathlib.Path(folder).glob("*.mlir"))[int(part) - 1 :: int(parts)]:
        ptx = pathlib.Path(scratch) / "kernels.ptx"
        done = subprocess.run([translate, "--mlir-to-ptx", f"--target={target}", path, "-o", ptx],
                              capture_output=True, text=True)
        problem = done.stderr
        if done.returncode == 0:
            kernels += ptx.read_text().count(".visible .entry")
            done = subprocess.run(["ptxas", "-v", f"-arch={target}", ptx, "-o", f"{scratch}/kernels.cubin"],
                                  capture_output=True, text=True)
            text = done.stdout + done.stderr
            problem = "" if done.returncode == 0 else text
            problem += " ".join(re.findall(r"C75\d\d[^\n]*", text))
            problem += " ".join(re.findall(r"[1-9]\d* bytes spill [a-z]+", text))
        if problem:
            failures += 1
            print(f"{path.name} for {target}: {problem[:1000]}")
print(f"{failures} failures in {kernels} kernels")
