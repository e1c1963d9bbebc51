#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each function over tensors with named dimensions on every engine that needs no device, compared with the reference:

    loops.py FT-RUN FILE

All names get 1, 2 and 7, or the least that the function's bounds allow.
"""

import re
import subprocess
import sys

ENGINES = (["--engine=cpu"], ["--engine=interpret", "--order=declared", "--to=storage", "--seed=3"],
           ["--engine=cpu", "--schedule-for=sm_90a", "--order=random", "--seed=4"], ["--engine=emulate"])
ft_run, path = sys.argv[1:]
programs = runs = failures = 0
for match in re.finditer(r"(?m)^func\.func @(\w+)\((.*?)\{$", open(path, encoding="utf-8").read(), re.S):
    name, head = match[1], match[2]
    programs += 1
    names = sorted({n for dims in re.findall(r"etdg\.dims = \[([^\]]*)\]", head) for n in re.findall(r"[A-Z]\w*", dims)})
    least = {n: int(value) for n, value in re.findall(r'"(\w+) >= (\d+)"', head)}
    for length in (1, 2, 7) if names else (0,):
        dims = [part for n in names for part in ("--dim", f"{n}={max(length, least.get(n, 0))}")]
        for engine in ENGINES:
            command = [ft_run, path, f"--entry={name}", "--compare=interpret", *engine, *dims]
            done = subprocess.run(command, capture_output=True, text=True)
            runs += 1
            if done.returncode or not re.search(r"(?m)^equal$", done.stdout):
                failures += 1
                print(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[-500:]}{done.stderr[:1500]}")
print(f"{programs} programs, {runs} runs, {failures} failures")
sys.exit(1 if failures else 0)
