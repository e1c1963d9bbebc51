#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every function of a file on an engine, compared with the interpreter, at
many lengths: the smallest that its bounds allow, all of them at 1, 2, 7 and 13,
and each in turn at 127 with the others small:

    sizes.py FT-RUN FILE [--engine=cpu] [OPTIONS...]

Lengths that the bounds refuse are skipped; a program that ran at fewer than three
sizes has failed, for its test says too little.
"""

import re
import subprocess
import sys


def programs(source):
    """Each function of a file: its name, its head, the names of its lengths, and the lengths to run it at.

    `lengths: L % 4 == 0` in the comment before a function restricts them; `also: L=9 K=4; L=3 K=1` gives more.
    """
    for match in re.finditer(r"(?m)^func\.func @(\w+)\((.*?)\{$", source, re.S):
        head = match[2]
        names = sorted({n for t in re.findall(r"list<\[([^\]]*)\]", head) for n in t.split(", ") if re.fullmatch(r"[A-Z]\w*", n)})
        before = source[: match.start()].rsplit("\n\n", 1)[-1]
        only = re.search(r"lengths: (.*)", before)
        smallest = {n: 0 for n in names}
        for n, value in re.findall(r'"(\w+) >= (\d+)"', head):
            smallest[n] = int(value)
        cases = [smallest] + [{n: max(v, smallest[n]) for n in names} for v in (1, 2, 7, 13)]
        cases += [{m: 127 if m == n else max(2, smallest[m]) for m in names} for n in names]
        cases = [c for i, c in enumerate(cases) if c not in cases[:i]]
        if only:
            cases = [c for c in cases + [{n: 12 for n in names}, {n: 24 for n in names}] if eval(only[1], {}, c)]
        if also := re.search(r"also: (.*)", before):
            cases += [{n: int(v) for n, v in re.findall(r"(\w+)=(\d+)", case)} for case in also[1].split(";")]
        yield match[1], head, names, cases


def refused(status, errors):
    """Whether a program's bounds refuse the lengths."""
    return status == 1 and re.search("do not satisfy the bound|bounds demand|cannot be split into pieces", errors)


def main(ft_run, path, *options):
    bad = runs = count = 0
    for name, _, names, cases in programs(open(path).read()):
        count += 1
        ran = 0
        for dims in cases:
            command = [ft_run, path, f"--entry={name}", "--compare=interpret", *(options or ["--engine=cpu"])]
            for n, value in dims.items():
                command += ["--dim", f"{n}={value}"]
            done = subprocess.run(command, capture_output=True, text=True)
            if refused(done.returncode, done.stderr):
                continue
            ran += 1
            if done.returncode:
                bad += 1
                print(f"{name} {dims}: status {done.returncode}\n{' '.join(command)}\n{done.stdout}{done.stderr[:2000]}")
        if ran < min(3, len(names) * 3):
            bad += 1
            print(f"{name}: ran at {ran} sizes only")
        runs += ran
    print(f"{count} programs, {runs} runs, {bad} failures")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
