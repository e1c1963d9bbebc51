# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs @f of a file with each engine at lengths around a share's, and asks for the same bits from 1, 2, 3 and 5 threads.

Usage: cut-by-hand.py FT-RUN FILE.mlir PREFIX
"""
import os, subprocess, sys

ft_run, path, prefix = sys.argv[1:]
ENGINES = [["--engine=cpu"], ["--engine=cpu", "--order=random", "--seed=7"], ["--engine=cpu", "--schedule-for=sm_90a", "--order=random"],
           ["--engine=emulate"]]
runs = failures = 0


def run(options, threads):
    global runs, failures
    runs += 1
    done = subprocess.run([ft_run, path, *options], capture_output=True, text=True, env={**os.environ, "FT_NUM_THREADS": str(threads)})
    if done.returncode != 0:
        failures += 1
        print(threads, options, done.stderr[-400:] or done.stdout[-400:])


for length in (0, 1, 99, 100, 101, 200, 1009):
    for engine in ENGINES:
        run([*engine, "--compare=interpret", f"--dim=L={length}"], 3)
results = set()
for threads in (1, 2, 3, 5):
    out = f"{prefix}-{threads}.npy"
    run(["--engine=cpu", "--dim=L=1009", "--out=" + out], threads)
    results.add(open(out, "rb").read())
if len(results) != 1:
    failures += 1
    print("the result depends on the number of threads")
print(runs, "runs,", failures, "failures")
