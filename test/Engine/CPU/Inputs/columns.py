# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs every program of a file under many plans, and asks that tasks share columns in most of them.

Usage: columns.py FT-RUN FILE.mlir
"""
import json, re, subprocess, sys

ft_run, path = sys.argv[1:]
programs = re.findall(r"^func\.func @(\w+)", open(path).read(), re.M)
# Those without columns: one number, a row that is needed whole, one that asks, one column, and results of single
# numbers, which are rows.
WHOLE = {"number", "row", "asks", "one_column", "doubles", "turned"}
ENGINES = [["--engine=cpu"], ["--engine=cpu", "--threads=3"], ["--engine=emulate"]]
ENGINES += [["--engine=cpu", "--plan-seed=%d" % seed] for seed in range(1, 7)]
LARGE = 300000  # elements of a right-hand side that the emulator would take too long for
runs = failures = 0
for name in programs:
    shared = 0
    signature = re.search(r"@%s\((.*)\) ->" % name, open(path).read()).group(1)
    sizes = [eval(s.replace("x", "*")) for s in re.findall(r"<([0-9x]+)x[a-z]", signature)]
    for engine in ENGINES:
        if engine[0] == "--engine=emulate" and max(sizes) > LARGE:
            continue
        command = [ft_run, path, "--entry=" + name, "--compare=interpret", "--json", *engine]
        done = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        if done.returncode != 0:
            failures += 1
            print(" ".join(command), done.stderr[-500:] or done.stdout[-500:])
        elif engine[0] == "--engine=cpu":
            shared += any("columns" in plan for plan in json.loads(done.stdout)["plans"])
    if (shared > 0) == (name in WHOLE):
        failures += 1
        print(name, "shares columns in", shared, "runs")
print(len(programs), "programs,", runs, "runs,", failures, "failures")
