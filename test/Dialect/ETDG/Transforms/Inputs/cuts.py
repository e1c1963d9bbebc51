# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs graphs whose schedules cut scans and reductions, as they are and with joined iterations: cuts.py FT-RUN FILE JOINED-FILE

On a CPU, threads as they come and one at a time in any order, and as a GPU's kernels thread by thread; each compared with the interpreter's result of the
first file, to the last bit.
"""

import os
import subprocess
import sys
import tempfile

ft_run, *paths = sys.argv[1:]
runs = bad = 0
with tempfile.TemporaryDirectory() as folder:
    for path, name, length in [(p, n, l) for n, p in (("sums", paths[0]), ("total", paths[1])) for l in (0, 1, 4, 5, 12, 23, 61)]:
        dims = ["--dim=N=3", f"--dim=L={length}", f"--entry={name}", "--seed=4"]
        right = os.path.join(folder, f"{name}{length}.npy")
        subprocess.run([ft_run, paths[0], "--engine=interpret", "--skip=coarsen,reorder", *dims, f"--out={right}"], check=True)
        for options in (["--threads=2"], ["--order=random"], ["--engine=emulate", "--multiprocessors=3"]):
            found = os.path.join(folder, f"{runs}.npy")
            command = [ft_run, path, "--skip=coarsen,reorder", f"--out={found}", *options, *dims]
            done = subprocess.run(command, capture_output=True, text=True)
            runs += 1
            if done.returncode or open(found, "rb").read() != open(right, "rb").read():
                bad += 1
                print(" ".join(command), done.stdout[-400:], done.stderr[:800])
print(f"{runs} runs, {bad} failures")
