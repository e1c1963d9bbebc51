#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels made of printed loops, and their launch plans, beside others of the same program.

plans.py FT_OPT FILE...

Each file is taken to storage for sm_90a, to loops and, after these were printed and parsed, to kernels. Two things are
compared: with the kernels that C++ makes of the same loops without printing them, every character; with the plan of the
kernels that are made of the graph, what a call sees and what it does at several lengths: arguments, lengths, requirements,
write-backs, buffers and where they lie, branches, and of each launch its threads, whether blocks of them wait for each other,
the buffers and strides that it is given, and whether there are blocks at all. Forms of kernels may differ where they
may: how many blocks share tasks, a cooperative launch of blocks that never wait, and memory that a leaf has for itself.
"""

import json
import os
import random
import re
import subprocess
import sys

OPERATORS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b), "mod": lambda a, b: a % b, "min": min, "max": max,
}


def value(expression, names):
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return names.get(expression, 1)
    if isinstance(expression, dict):  # an extent or a stride of the caller's
        return names.setdefault(json.dumps(expression), 3)
    operator, a, b = expression
    a, b = value(a, names), value(b, names)
    return OPERATORS[operator](a, b) if operator not in ("floordiv", "ceildiv", "mod") or b > 0 else 0


def plans(text):
    """The entry of each module of kernels, by its name."""
    found = {}
    for name, plan in re.findall(r'module @"?([^ "]+)"? attributes \{tile\.plan = "((?:[^"\\]|\\.)*)"', text):
        found[name] = json.loads(re.sub(r"\\([0-9A-F]{2})|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else m[2], plan))
    return found


def fixed_buffers(plan):
    """Buffers whose meaning is the program's: all up to the error record. Parts for blocks of threads come behind."""
    kinds = [buffer["kind"] for buffer in plan["buffers"]]
    return kinds.index("error") + 1


def launches(steps, plan, names, path=()):
    """What a call does, branches with their conditions around it."""
    for step in steps:
        if step["step"] == "branch":
            condition = (json.dumps(step["condition"]),)
            yield from launches(step["body"], plan, names, path + condition)
            yield from launches(step["otherwise"], plan, names, path + ("else",) + condition)
            continue
        assert step["step"] == "launch", step
        count = fixed_buffers(plan)
        given = {a["buffer"] for a in step["arguments"] if a["kind"] == "pointer" and a["buffer"] < count - 1}
        waits = any(a["kind"] == "pointer" and plan["buffers"][a["buffer"]]["kind"] == "counter" for a in step["arguments"])
        assert step["cooperative"] or not waits, "blocks wait for others that need not run"
        strides = {json.dumps(a["value"]) for a in step["arguments"] if "stride" in json.dumps(a.get("value", 0))}
        yield {"path": path, "threads": step["block"], "waits": waits, "shrinks": waits and step["shrinks"],
               "buffers": sorted(given), "strides": sorted(strides)}, value(step["grid"][0], names)


def differences(old, new):
    for key in ("name", "symbols", "arguments", "requirements"):
        if old[key] != new[key]:
            yield f"{key}: {json.dumps(old[key])} and {json.dumps(new[key])}"
    old_plan, new_plan = old["plans"][0], new["plans"][0]
    for key in ("target", "variant", "counter_bytes"):
        if old_plan[key] != new_plan[key]:
            yield f"{key}: {old_plan[key]} and {new_plan[key]}"
    count = fixed_buffers(old_plan)
    if old_plan["buffers"][:count] != new_plan["buffers"][:fixed_buffers(new_plan)]:
        yield f"buffers: {old_plan['buffers'][:count]} and {new_plan['buffers']}"
    numbers = random.Random(7)
    for _ in range(4):
        names = {symbol["name"]: numbers.choice([0, 1, 3, 7, 64, 127, 1000, 4099]) for symbol in old["symbols"]}
        before = list(launches(old_plan["steps"], old_plan, dict(names)))
        after = list(launches(new_plan["steps"], new_plan, dict(names)))
        if [launch for launch, _ in before] != [launch for launch, _ in after]:
            yield f"launches: {[launch for launch, _ in before]} and {[launch for launch, _ in after]}"
            return
        for (launch, grid), (_, other) in zip(before, after):
            # Where there are no tasks, blocks of threads that find none may be left out.
            if (grid <= 0) != (other <= 0) and (other > 0 or 0 not in names.values()):
                yield f"blocks of {launch} at {names}: {grid} and {other}"


def run(tool, text, *options):
    return subprocess.run([tool, "-", *options], input=text, capture_output=True, text=True, check=True).stdout


def compare(tool, path):
    """How many programs the file has; prints what differs."""
    keep = "-mlir-print-debuginfo"
    with open(path) as file:
        source = file.read()
    storage = run(tool, source, "--ft-compile=to=storage target=sm_90a", keep)
    loops = run(tool, storage, "--convert-etdg-to-loops=target=sm_90a", keep)
    printed = run(tool, loops, "--convert-loops-to-gpu")
    direct = run(tool, storage, "--convert-etdg-to-gpu=through-loops")
    graph = plans(run(tool, storage, "--convert-etdg-to-gpu"))
    bad = [] if printed == direct else ["kernels of printed loops are others than those of loops in memory"]
    own = plans(printed)
    if sorted(own) != sorted(graph) or not own:
        bad.append(f"programs: {sorted(graph)} and {sorted(own)}")
    for name in graph:
        bad += [f"@{name}: {text}" for text in differences(graph[name], own.get(name, graph[name]))]
    for text in bad:
        print(f"{os.path.basename(path)}: {text}")
    return len(own), len(bad)


def main():
    tool, *paths = sys.argv[1:]
    programs = failures = 0
    for path in paths:
        count, bad = compare(tool, path)
        programs, failures = programs + count, failures + bad
    print(f"{len(paths)} files, {programs} programs, {failures} differences")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
