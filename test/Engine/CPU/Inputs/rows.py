# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every program of a file under many plans and lengths, and asks that each is reached by lists of rows.

Usage: rows.py FT-RUN FILE.mlir
"""
import json, re, subprocess, sys

ft_run, path = sys.argv[1:]
programs = re.findall(r"^func\.func @(\w+)", open(path).read(), re.M)
LENGTHS = [dict(N=3, S=7, T=5, D=3), dict(N=1, S=1, T=7, D=2), dict(N=2, S=4, T=127, D=1)]
runs = failures = 0
for name in programs:
    listed = 0
    for lengths in LENGTHS:
        used = {n: v for n, v in lengths.items() if re.search(r"@%s\(.*?\{\n" % name, open(path).read(), re.S)
                and re.search(r"\b%s\b" % n, re.search(r"@%s\(.*?\{\n" % name, open(path).read(), re.S).group())}
        for seed in range(1, 9):
            command = [ft_run, path, "--entry=" + name, "--engine=cpu", "--compare=interpret", "--json", "--candidate=0",
                       "--plan-seed=%d" % seed] + [x for n, v in used.items() for x in ("--dim", "%s=%d" % (n, v))]
            done = subprocess.run(command, capture_output=True, text=True)
            runs += 1
            if done.returncode != 0:
                failures += 1
                print(" ".join(command), done.stderr[-500:] or done.stdout[-500:])
            else:
                listed += any("listed rows" in plan for plan in json.loads(done.stdout)["plans"])
    if listed == 0:
        failures += 1
        print(name, "has no plan with lists")
    print(name, listed, "runs with lists")
print(len(programs), "programs,", runs, "runs,", failures, "failures")
