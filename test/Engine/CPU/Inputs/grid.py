# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the loops of GPU schedules on the CPU, a core for each thread block, compared with the interpreter:

    grid.py [--forms=FORM,...] [--threads=N] FT-RUN FILE[:FUNCTION,...] LENGTH...

At each LENGTH, which all lengths of a function get where its bounds allow (else the least that they do, and 12 where a
comment `lengths: L % 4 == 0` before it does not), and at those that a comment `also: L=9 K=4; L=3 K=1` gives, in each form that kernels have: as the host would choose, in steps of the grid, without, and a plan drawn by a seed ("any"). Cores
run one at a time in an order that a seed gives, each until it waits, and fresh memory is all ones: a sync that is missing,
an iteration that is left out, an index that points elsewhere gives wrong values.
"""

import itertools
import os
import re
import subprocess
import sys

words = sys.argv[1:]
forms, threads = ["generic", "steps", "blocks", "any"], "5"
while words[0].startswith("--"):
    name, _, value = words.pop(0).partition("=")
    if name == "--forms":
        forms = value.split(",")
    elif name == "--threads":
        threads = value
    else:
        sys.exit(f"grid.py: unknown option {name}")
ft_run, where, *lengths = words
path, _, chosen = where.partition(":")
source = open(path).read()
bad = runs = programs = 0

for match in re.finditer(r"(?m)^(?:func\.func|etdg\.graph) @(\w+)\((.*?)\{$", source, re.S):
    name, head = match[1], match[2]
    if chosen and name not in chosen.split(","):
        continue
    names = sorted({n for t in re.findall(r"(?:list|buffer)<\[([^\]]*)\]", head) for n in re.findall(r"[A-Z]\w*", t)})
    least = {n: int(value) for n, value in re.findall(r'"(\w+) >= (\d+)"', head)}
    comment = source[: match.start()].rsplit("\n\n", 1)[-1]
    only, also = re.search(r"lengths: (.*)", comment), re.search(r"also: (.*)", comment)
    cases = [{n: max(int(length), least.get(n, 0)) for n in names} for length in lengths]
    if only:
        cases = [case if eval(only[1], {}, case) else {n: 12 for n in names} for case in cases]
    if also:
        cases += [{n: int(v) for n, v in re.findall(r"(\w+)=(\d+)", case)} for case in also[1].split(";")]
    programs += 1
    ran = 0
    for number, (sizes, form) in enumerate(itertools.product(cases, forms)):
        command = [ft_run, path, f"--entry={name}", "--schedule-for=" + ("sm_80" if number % 3 == 2 else "sm_90a"),
                   "--order=random", f"--seed={6 + 2 * number}", "--compare=interpret", f"--multiprocessors={2 + 5 * (number % 3)}"]
        command += [f"--plan-seed={number + 1}"] if form == "any" else [f"--variant={form}"]
        for n in names:
            command += ["--dim", f"{n}={sizes[n]}"]
        done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "FT_NUM_THREADS": threads})
        if done.returncode == 1 and re.search("do not satisfy the bound|bounds demand", done.stderr):
            continue
        ran += 1
        if done.returncode:
            bad += 1
            print(f"status {done.returncode}\n{' '.join(command)}\n{done.stdout}{done.stderr[:2000]}")
    if not ran:
        bad += 1
        print(f"{name}: never ran")
    runs += ran
print(f"{programs} programs, {runs} runs, {bad} failures")
sys.exit(1 if bad else 0)
