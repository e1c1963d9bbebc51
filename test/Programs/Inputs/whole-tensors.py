#!/usr/bin/env python3
"""Runs each program of a file on every engine that needs no device, and compares it with the reference.

    whole-tensors.py FT_RUN FILE [NAME=N,N,...]

Programs whose arguments name a length NAME run at each of the numbers.
"""
import re
import subprocess
import sys

ENGINES = (["--engine=cpu"], ["--engine=cpu", "--threads=1"], ["--engine=cpu", "--plan-seed=3"], ["--engine=emulate"])


def main():
    ft_run, file, *lengths = sys.argv[1:]
    with open(file, encoding="utf-8") as source:
        programs = re.findall(r"^func\.func @(\w+)(.*)", source.read(), flags=re.M)
    runs = failures = 0
    for program, signature in programs:
        bindings = [[]]
        for length in lengths:
            name, values = length.split("=")
            if name in signature:
                bindings = [b + [f"--dim={name}={v}"] for b in bindings for v in values.split(",")]
        for engine in [[*e, *b] for e in ENGINES for b in bindings]:
            command = [ft_run, file, "--entry=" + program, *engine, "--compare=interpret"]
            done = subprocess.run(command, capture_output=True, text=True)
            runs += 1
            if done.returncode or not re.search(r"^equal$", done.stdout, flags=re.M):
                failures += 1
                print(f"{program} {engine}: {done.stdout[-600:]}{done.stderr[-600:]}")
    print(f"{len(programs)} programs, {runs} runs, {failures} failures")


main()
