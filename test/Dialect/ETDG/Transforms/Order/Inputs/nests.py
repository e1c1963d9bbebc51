#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the optimiser makes of each function of a file, and that it computes the same:

    nests.py FT-OPT FT-RUN FILE

`// steps: A; B` before a function are the steps of its nests, worked out by hand: those of
each order that etdg-reorder gives or leaves, in the order of its remarks (a kernel's once for
all of its nests). Each function runs at two sets of lengths, all different from the ones that
the orders were ranked for: on the CPU, and by the interpreter in declared order after the last
phase, each compared with the interpreter of lists.
"""

import re
import subprocess
import sys

ft_opt, ft_run, path = sys.argv[1:]
source = open(path).read()
bad = runs = 0


def get_steps():
    """The steps of each function by its remarks, in order."""
    done = subprocess.run([ft_opt, path, "--ft-compile=to=reorder target=sm_80", "--remarks-filter=reorder", "-o", "/dev/null"],
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    lines = {source[: m.start()].count("\n") + 1: m[1] for m in re.finditer(r"(?m)^func\.func @(\w+)", source)}
    steps = {name: [] for name in lines.values()}
    for at, text in re.findall(r"(?m)^\S+?:(\d+):\d+: remark: (.*)$", done.stderr):
        name = lines[max(line for line in lines if line <= int(at))]
        found = re.search(r'\] (?:transform|kernel) .*, steps-after=("[^"]*"|\w+)|\] (?:declared|keep-order) .*, steps=("[^"]*"|\w+)', text)
        if found:
            steps[name].append((found[1] or found[2]).strip('"'))
    return steps


steps = get_steps()
for match in re.finditer(r"(?m)^func\.func @(\w+)\((.*?)\{$", source, re.S):
    name, head = match[1], match[2]
    expected = re.search(r"steps: (.*)", source[: match.start()].rsplit("\n\n", 1)[-1])
    if not expected or expected[1] != "; ".join(steps[name]):
        bad += 1
        print(f"{name}: expected {expected and expected[1]}, found {'; '.join(steps[name])}")
    names = sorted({n for t in re.findall(r"list<\[([^\]]*)\]", head) for n in t.split(", ") if re.fullmatch(r"[A-Z]\w*", n)})
    least = dict.fromkeys(names, 0) | {n: int(v) for n, v in re.findall(r'"(\w+) >= (\d+)"', head)}
    for sizes, options in [((6, 13, 2, 3), ["--engine=cpu"]),
                           ((3, 1, 7, 4), ["--engine=interpret", "--order=declared", "--to=tile", "--seed=1"])]:
        command = [ft_run, path, f"--entry={name}", "--compare=interpret", *options]
        for i, n in enumerate(names):
            command += ["--dim", f"{n}={max(sizes[i % 4], least[n])}"]
        done = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        if done.returncode:
            bad += 1
            print(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr[:2000]}")
print(f"{len(steps)} programs, {runs} runs, {bad} failures")
sys.exit(1 if bad else 0)
