#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs each function of a file at small lengths, 0 among them where its bounds allow, on the CPU and in
declared order after the last phase, each compared with the interpreter of lists:

    every-length.py FT-RUN FILE

`// multiple: L of C` before a function: L is a multiple of C at each call.
"""

import re
import subprocess
import sys

ft_run, path = sys.argv[1:]
source = open(path).read()
programs = runs = failures = 0
for match in re.finditer(r"(?m)^func\.func @(\w+)\((.*?)\{$", source, re.S):
    name, head = match[1], match[2]
    programs += 1
    names = sorted(set(re.findall(r"\b([A-Z])\b", " ".join(re.findall(r"list<\[([^\]]*)\]", head)))))
    least = dict.fromkeys(names, 0) | {n: int(v) for n, v in re.findall(r'"(\w) >= (\d+)"', head)}
    multiple = re.search(r"multiple: (\w) of (\w)", source[: match.start()].rsplit("\n\n", 1)[-1])
    for sizes in [(0, 0, 0), (1, 1, 1), (2, 3, 7), (7, 2, 1), (3, 13, 4)]:
        lengths = {n: max(sizes[i % 3], least[n]) for i, n in enumerate(names)}
        if multiple:
            lengths[multiple[1]] *= lengths[multiple[2]]
        for options in (["--engine=cpu"], ["--engine=interpret", "--order=declared", "--to=tile", "--seed=3"]):
            command = [ft_run, path, f"--entry={name}", "--compare=interpret", *options]
            command += [part for n, v in lengths.items() for part in ("--dim", f"{n}={v}")]
            done = subprocess.run(command, capture_output=True, text=True)
            runs += 1
            if done.returncode:
                failures += 1
                print(f"{' '.join(command)}: status {done.returncode}\n{done.stdout[:500]}{done.stderr[:1500]}")
print(f"{programs} programs, {runs} runs, {failures} failures")
sys.exit(1 if failures else 0)
