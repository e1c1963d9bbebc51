# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the GPU kernels of functions thread by thread on this machine, compared with the interpreter:

    emulate.py [--multiprocessors=M,...] [--machine=FILE] [--skip=PHASE,...] [--interpret-tile] FT-RUN FILE[:FUNCTION,...] LENGTH...

At each LENGTH, which all lengths of a function get where its bounds allow (else the least that they do),
in each form that kernels have: as the host would choose, in steps of the grid, and without; and with few
and with many SMs, which changes how work is divided; where their numbers are named, with each
of them; with `--interpret-tile`, operations on tiles by their definitions, and how many functions have some. A race, a read of what nothing wrote, an
access out of bounds, a barrier that not all threads reach is an error of ft-run.
"""

import itertools
import re
import subprocess
import sys

words = sys.argv[1:]
named = words.pop(0).partition("=")[2].split(",") if words[0].startswith("--multiprocessors=") else []
machine = [words.pop(0)] if words[0].startswith("--machine=") else []
machine += [words.pop(0)] if words[0].startswith("--skip=") else []
engine = words.pop(0)[2:] if words[0] == "--interpret-tile" else "emulate"
ft_run, where, *lengths = words
path, _, chosen = where.partition(":")
source = open(path).read()
bad = runs = programs = tiled = 0

for match in re.finditer(r"(?m)^ *(?:func\.func|etdg\.graph) @(\w+)\((.*?)\{$", source, re.S):
    name, head = match[1], match[2]
    if chosen and name not in chosen.split(","):
        continue
    names = sorted({n for t in re.findall(r"(?:list|buffer)<\[([^\]]*)\]", head) for n in re.findall(r"[A-Z]\w*", t)})
    least = {n: int(value) for n, value in re.findall(r'"(\w+) >= (\d+)"', head)}
    programs += 1
    ran = operations = 0
    for length, variant, multiprocessors in itertools.product(lengths, ("generic", "steps", "blocks"), named or (2, 12)):
        if not named and (variant != "generic" or length != lengths[0]) and multiprocessors == 2:
            continue
        command = [ft_run, path, f"--entry={name}", f"--engine={engine}", "--compare=interpret", f"--variant={variant}",
                   f"--multiprocessors={multiprocessors}", f"--seed={ran}", *machine]
        command += ["--json"] if engine != "emulate" else []
        for n in names:
            command += ["--dim", f"{n}={max(int(length), least.get(n, 0))}"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 1 and re.search("do not satisfy the bound|bounds demand", done.stderr):
            continue
        ran += 1
        operations += int((re.search(r'"tile_operations":\s*(\d+)', done.stdout) or [0, 0])[1])
        if done.returncode:
            bad += 1
            print(f"status {done.returncode}\n{' '.join(command)}\n{done.stdout}{done.stderr[:2000]}")
    if ran < min(4, 3 * len(lengths)):
        bad += 1
        print(f"{name}: ran {ran} times only")
    runs += ran
    tiled += operations > 0
if engine != "emulate":
    print(f"{tiled} of them on tiles")
print(f"{programs} programs, {runs} runs, {bad} failures")
sys.exit(1 if bad else 0)
