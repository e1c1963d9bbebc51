# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every program of a file with its reductions cut at random, compared with the interpreter, at lengths around those of the shares.

Usage: cut-reductions.py FT-OPT FT-RUN FILE.mlir
"""
import os, re, subprocess, sys

ft_opt, ft_run, path = sys.argv[1:]
source = open(path).read()
programs = re.findall(r"(?m)^func\.func @(\w+)\((.*?)\{$", source, re.S)
VALUES = [0, 1, 2, 3, 7, 12, 13, 127]
ENGINES = [["--engine=cpu"], ["--engine=cpu", "--order=random", "--seed=5"], ["--engine=emulate"]]
SEEDS = (2, 3, 4)
runs = failures = number = 0
reordered = subprocess.run([ft_opt, path, "--ft-compile=to=reorder"], capture_output=True, text=True, check=True).stdout
cut = set()
for seed in SEEDS:
    passes = f"builtin.module(etdg.graph(etdg-apply-schedule,etdg-schedule-for-cpu{{plan-seed={seed}}}))"
    graphs = subprocess.run([ft_opt, "--pass-pipeline=" + passes], input=reordered, capture_output=True, text=True, check=True).stdout
    cut |= {graph.split("(")[0] for graph in graphs.split("etdg.graph @")[1:] if "etdg.cut" in graph}
for name, head in programs:
    names = sorted({n for t in re.findall(r"list<\[([^\]]*)\]", head) for n in t.split(", ") if re.fullmatch(r"[A-Z]\w*", n)})
    for value in VALUES:
        for seed in SEEDS:
            number += 1
            engine = ENGINES[number % 5 if number % 5 < 2 else 2 if number % 15 == 4 else 0]
            threads = str(1 + number % 3)
            command = [ft_run, path, "--entry=" + name, *engine, "--compare=interpret", f"--plan-seed={seed}"]
            for i, n in enumerate(names):
                command += ["--dim", f"{n}={value if i == (number % len(names)) else number % 4}"]
            done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "FT_NUM_THREADS": threads})
            if done.returncode == 1 and "do not satisfy the bound" in done.stderr:
                continue
            runs += 1
            if done.returncode != 0:
                failures += 1
                print("FT_NUM_THREADS=" + threads, " ".join(command), done.stderr[-800:] or done.stdout[-800:])
    if name not in cut:
        failures += 1
        print(name, "is never cut")
print(len(programs), "programs,", runs, "runs,", failures, "failures")
