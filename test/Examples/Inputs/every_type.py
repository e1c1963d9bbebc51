#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every example is legal for every float type, and prints as it parses:

    every_type.py FT-OPT EXAMPLES-FOLDER
"""

import pathlib
import re
import subprocess
import sys

ft_opt, folder = sys.argv[1:]
bad = 0
for path in sorted(pathlib.Path(folder).glob("*.mlir")):
    aliases = re.findall(r"^!(\w+) = tensor<([0-9x]*)f32>", path.read_text(), re.M)
    for element in ("f64", "f32", "f16", "bf16"):
        command = [ft_opt, str(path), "--verify-roundtrip", "-o", "/dev/null"]
        for name, extents in aliases:
            command += ["--type", f"{name}=tensor<{extents}{element}>"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode or not aliases:
            bad += 1
            print(f"{path.name} with {element}: {done.stderr[:2000]}")
print(f"{bad} failures")
