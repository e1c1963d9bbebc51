#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels made of printed loops, and their launch plans, beside what the loops say.

plans.py FT_OPT FILE...

Each file is taken to storage for sm_90a, to loops and, after these were printed with all that is decided and parsed, to kernels. Two things are
compared: with the kernels that the phases make without printing the loops, every character; and with the text of the
loops, which is read here by itself, what a plan does at several lengths: which kernels it launches, variants by their guards;
of each launch its threads, whether blocks of them wait for each other, and whose memory it is given; and of the workspace,
that intermediates of one slot share memory and others have their own.
"""

import itertools
import json
import math
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
    for name, plan in re.findall(r'gpu\.module @"?([^ "]+)"? \[[^\]]*\] attributes \{tile\.plan = "((?:[^"\\]|\\.)*)"', text):
        found[name] = json.loads(re.sub(r"\\([0-9A-F]{2})|\\(.)", lambda m: chr(int(m[1], 16)) if m[1] else m[2], plan))
    return found


def launches(steps, names):
    """The launches of a call at these lengths."""
    for step in steps:
        if step["step"] == "branch":
            yield from launches(step["body"] if value(step["condition"], names) >= 0 else step["otherwise"], names)
        else:
            assert step["step"] == "launch", step
            yield step


def extent(text, names):
    """A length as loops print it: `2 * N - 1`, `ceildiv(L, 2)`."""
    known = {name: OPERATORS[name] for name in ("min", "max", "ceildiv", "floordiv", "mod")}
    return max(eval(text, {"__builtins__": {}}, {**known, **names}), 0)


def holds(guard, names):
    """Whether a guard, `<[N, L - 1] or [M] below 16 and [L] from 64>`, holds."""
    def keeps(bound):
        products, side, limit = re.fullmatch(r"(.*) (below|from) (\d+)", bound).groups()
        return any((math.prod(extent(e, names) for e in re.split(r", (?![^(]*\))", product)) < int(limit)) == (side == "below")
                   for product in re.findall(r"\[([^\]]*)\]", products))
    return all(keeps(bound) for bound in guard[1:-1].split(" and "))


class Program:
    """What the text of one program of loops says."""

    def __init__(self, text, kernels):
        self.kernels, self.buffers, self.intermediates = kernels, {}, []
        self.lengths = re.findall(r'"(\w+)"', re.match(r".*? lengths \[(.*?)\] places", text)[1])
        self.lines = text.splitlines()
        kinds = {"argument": [], "result": [], "intermediate": []}
        for name, kind, rest in re.findall(r"(%\w+) = loops\.buffer +(argument|result|intermediate)(.*)", text):
            kinds[kind].append((name, rest))
        for number, (name, rest) in enumerate(kinds["argument"] + kinds["result"] + kinds["intermediate"]):
            self.buffers[name] = number
        for name, rest in kinds["intermediate"]:
            planes, slot = re.search(r"planes \[([^\]]*)\]", rest), re.search(r"slot (\d+)", rest)
            dims = re.search(r": <\[(.*?)\], tensor<", rest)[1]
            self.intermediates.append((self.buffers[name], slot and int(slot[1]), dims, planes and planes[1], rest))

    def bytes(self, intermediate, names):
        _, _, dims, planes, rest = intermediate
        extents = [extent(e, names) for e in re.split(r", (?![^(]*\))", dims)] if dims else []
        for i, plane in enumerate(int(p) for p in planes.split(",")) if planes else ():
            extents[i] = plane or extents[i]
        *shape, element = re.search(r"tensor<([^>]*)>", rest)[1].split("x")
        bits = {"f64": 64, "f32": 32, "f16": 16, "bf16": 16, "i1": 8, "index": 64}.get(element) or int(element[1:])
        return math.prod(extents) * math.prod(int(e) for e in shape) * bits // 8

    def launches(self, names):
        """Name and operands of each launch of a call at these lengths."""
        taken = [True]  # of the regions around a line
        guards = []
        for line in self.lines:
            if found := re.match(r" *loops\.variants \[(.*)\] \{", line):
                guards.append(re.findall(r"#etdg\.guard(<.*?>)(?:,|$)", found[1]))
                chosen = next((i for i, guard in enumerate(guards[-1]) if holds(guard, names)), len(guards[-1]))
                guards[-1] = [chosen, 0]
                taken.append(chosen == 0)
            elif re.match(r" *\}, \{", line):
                guards[-1][1] += 1
                taken[-1] = guards[-1][0] == guards[-1][1]
            elif guards and re.match(r"    \}", line):
                guards.pop()
                taken.pop()
            elif (found := re.match(r" *loops\.launch @(\w+)\((.*?)\)", line)) and all(taken):
                yield found[1], found[2].split(", ")


def programs(text):
    """The programs of a module of loops, by their names."""
    kernels = dict(re.findall(r"(?ms)^  func\.func @(\w+)\((.*?)^  \}", text))
    return {name: Program(body, kernels) for name, body in re.findall(r"(?ms)^  loops\.program @(\w+)( .*?)^  \}", text)}


def check_launches(program, plan, names):
    wanted = list(program.launches(names))
    given = list(launches(plan["steps"], names))
    # (A function that several variants launch is a kernel of each of them.)
    found = [re.sub(r"_v\d+$", "", plan["kernels"][step["kernel"]]) for step in given]
    if [name for name, _ in wanted] != found:
        yield f"launches at {names}: {found}, the loops launch {[name for name, _ in wanted]}"
        return
    for (name, operands), step in zip(wanted, given):
        loops = program.kernels[name]
        waits = bool(re.search(r"loops\.sync +grid", loops))
        threads = int(re.search(r"threads = (\d+)", loops)[1])
        if step["block"] != [threads, 1, 1]:
            yield f"@{name}: {step['block']} threads, the loops say {threads}"
        if step["cooperative"] != waits:
            yield f"@{name}: thread blocks {'wait' if waits else 'do not wait'} for each other in the loops"
        most = re.search(r"most = (\d+)", loops.split("{\n")[0])
        if most and value(step["grid"][0], names) > int(most[1]):
            yield f"@{name}: {value(step['grid'][0], names)} thread blocks, at most {most[1]} in the loops"
        own = {program.buffers[operand] for operand in operands if operand in program.buffers}
        passed = {a["buffer"] for a in step["arguments"] if a["kind"] == "pointer"}
        strange = {b for b in passed - own if plan["buffers"][b]["kind"] in ("argument", "result")}
        if strange:
            yield f"@{name}: is given buffers {sorted(strange)}, which are no operands of its launch"


def check_memory(program, plan, names):
    """Intermediates of one slot begin together; others have nothing in common."""
    places = [(i[1], value(plan["buffers"][i[0]]["offset"], names), program.bytes(i, names)) for i in program.intermediates]
    for (slot, begin, size), (other, start, length) in itertools.combinations(places, 2):
        if slot is not None and slot == other:
            if begin != start:
                yield f"two intermediates of slot {slot} begin at {begin} and {start}"
        elif begin < start + length and start < begin + size:
            yield f"intermediates of slots {slot} and {other} share memory at {names}"
    end = max((begin + size for _, begin, size in places), default=0)
    if end > value(plan["workspace_bytes"], names):
        yield f"intermediates take {end} bytes, the workspace has {value(plan['workspace_bytes'], names)}"


def differences(program, entry):
    """Where a plan does other things than its loops say."""
    if [symbol["name"] for symbol in entry["symbols"]] != program.lengths:
        yield f"lengths: {entry['symbols']}, the loops have {program.lengths}"
        return
    plan = entry["plans"][0]
    numbers = random.Random(7)
    for _ in range(6):
        names = {name: numbers.choice([1, 3, 7, 64, 127, 1000, 4099]) for name in program.lengths}
        found = [*check_launches(program, plan, names), *check_memory(program, plan, names)]
        if found:
            yield from found
            return


def run(tool, text, *options):
    return subprocess.run([tool, "-", *options], input=text, capture_output=True, text=True, check=True).stdout


def compare(tool, path):
    """How many programs the file has; prints what differs."""
    keep = "-mlir-print-debuginfo"
    with open(path) as file:
        source = file.read()
    storage = run(tool, source, "--ft-compile=to=storage target=sm_90a", keep)
    loops = run(tool, storage, "--convert-etdg-to-loops=target=sm_90a", "--loops-decide-for-gpu", keep)
    printed = run(tool, loops, "--convert-loops-to-gpu")
    direct = run(tool, storage, "--ft-compile=from=storage to=threads target=sm_90a")
    bad = [] if printed == direct else ["kernels of printed loops are others than those of loops in memory"]
    said, made = programs(run(tool, loops)), plans(printed)
    if sorted(said) != sorted(made) or not made:
        bad.append(f"programs: {sorted(said)} and {sorted(made)}")
    for name, program in said.items():
        bad += [f"@{name}: {text}" for text in differences(program, made[name])]
    for text in bad:
        print(f"{os.path.basename(path)}: {text}")
    return len(made), len(bad)


def main():
    tool, *paths = sys.argv[1:]
    count = failures = 0
    for path in paths:
        own, bad = compare(tool, path)
        count, failures = count + own, failures + bad
    print(f"{len(paths)} files, {count} programs, {failures} differences")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
