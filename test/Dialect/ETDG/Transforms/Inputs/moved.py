"""Runs every graph of a file with pieces split by `// -----` at several sizes on the CPU
engine against the interpreter, and makes PTX of it.

moved.py TOOLS TMP FILE SIZE...: prints one line for each graph; a size is `N,L`.
"""

import os
import re
import subprocess
import sys

tools, tmp, file, sizes = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
os.makedirs(tmp, exist_ok=True)
with open(file) as f:
    pieces = f.read().split("// -----")
for i, piece in enumerate(pieces):
    path = f"{tmp}/{i}.mlir"
    with open(path, "w") as f:
        f.write(piece)
    name = re.search(r"etdg.graph @(\w+)", piece).group(1)
    used = [s for s in ("N", "L") if re.search(rf"[\[ ]{s}[\],]", piece)]
    ran = 0
    for size in sizes:
        lengths = dict(zip(("N", "L"), size.split(",")))
        if "L >=" in piece and int(lengths["L"]) < 2:
            continue
        dims = [f"--dim={d}={lengths[d]}" for d in used]
        for options in (["--engine=cpu", "--compare=interpret"], ["--engine=interpret", "--order=declared", "--to=tile", "--compare=interpret"]):
            done = subprocess.run([f"{tools}/ft-run", path, *dims, *options], capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{name} {dims} {options}: {done.stdout}{done.stderr}")
        ran += 1
    ptx = subprocess.run([f"{tools}/ft-translate", "--mlir-to-ptx", "--target=sm_90a", path], capture_output=True, text=True)
    kernels = ptx.stdout.count(".entry")
    print(f"{name}: equal at {ran} sizes, {'PTX' if ptx.returncode == 0 and kernels else 'no PTX: ' + ptx.stderr}")
