#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Changes one tile, one mapping or one level of the schedule that each kernel prints, and compares the loops.

A change makes other loops or is refused by an error that says where; one without effect is a decision that another one has
taken. Each kernel takes at least one of its changes: of the outermost loops, or where all of those are refused, of the loops inside.

    schedules-bind.py FT_OPT TARGET PROGRAM...
"""
import re
import subprocess
import sys

LOOPS = re.compile(r"loops = \[(.*?>)\]")
OTHER = {"dynamic": "block", "cyclic": "block", "static": "block", "block": {"core": "dynamic", "grid": "cyclic"}}


def compiled(tool, options, text):
    """What a compiler run prints; its errors where it fails."""
    done = subprocess.run([tool, "-", f"--ft-compile={options}"], input=text, capture_output=True, text=True)
    return done.returncode == 0, done.stdout if done.returncode == 0 else done.stderr


def with_size(loop):
    """The loop with another size of its tiles."""
    known = re.search(r"(tile|most) = (\d+)", loop)
    if known and known[1] == "most":
        size = int(known[2])
        return loop.replace(known[0], f"most = {size // 2 if size > 1 else 2}")
    if known:
        return loop.replace(known[0], f"tile = {int(known[2]) + 1}")
    return re.sub(r"(dimension = \d+)", r"\1, tile = 2", loop, count=1) if "tile = ?" not in loop else None


def with_mapping(loop):
    """The loop, dealt in the other way."""
    known = re.search(r"mapping = (\w+)", loop)
    if not known:
        return None
    other = OTHER[known[1]]
    return loop.replace(known[0], f"mapping = {other if isinstance(other, str) else other[re.search('level = (core|grid)', loop)[1]]}")


def dimension_of(loop):
    return re.search(r"dimension = (\d+)", loop)[1]


def sizes_of(loops):
    """Each loop with another size; where two loops cut one dimension, both bounds of the tile change."""
    for index, loop in enumerate(loops):
        changed = with_size(loop)
        if changed:
            alike = [dimension_of(other) == dimension_of(loop) and "most" in other for other in loops]
            yield [changed if i == index else with_size(other) if alike[i] else other for i, other in enumerate(loops)]


def mappings_of(loops):
    """All loops that are dealt together in the other way: neighbours of one level are dealt as one."""
    changed = [with_mapping(loop) or loop for loop in loops]
    if changed != loops:
        yield changed


def levels_of(loops):
    """A dealt dimension as a loop that each unit runs in order, inside of all that are dealt."""
    for loop in loops:
        if "mapping = " not in loop:
            continue
        dimension = dimension_of(loop)
        others = [other for other in loops if dimension_of(other) != dimension]
        dealt = max((i + 1 for i, other in enumerate(others) if "mapping = " in other), default=0)
        yield others[:dealt] + [f"<dimension = {dimension}, kind = sequential>"] + others[dealt:]


def changes_of(schedule):
    """(what is changed, the list of loops with the change)"""
    loops = re.findall(r"<[^<>]*>", schedule)
    for kind, changes in (("tile", sizes_of), ("mapping", mappings_of), ("level", levels_of)):
        for changed in changes(loops):
            yield kind, ", ".join(changed)


def kernels_of(text):
    """Where the lists of loops stand of each outermost scheduled nest, and of those inside of it."""
    ends = 0
    for line in re.finditer(r"^ *etdg\.(?:nest|block)[^\n]*\n?", text, re.M):
        if line.start() < ends:
            continue
        indent = len(line[0]) - len(line[0].lstrip())
        close = re.compile(rf"^ {{{indent}}}\}}", re.M).search(text, line.end())
        ends = close.end() if close else len(text)
        lists = list(LOOPS.finditer(text, line.start(), ends))
        if lists:
            yield lists


def check(tool, target, program):
    """How many changes made other loops, and how many were refused; complains of the others."""
    with open(program) as file:
        done, text = compiled(tool, f"to=schedule target={target}", file.read())
    assert done, text
    done, before = compiled(tool, f"from=schedule to=tile target={target}", text)
    assert done, before
    counts = {"changed": 0, "refused": 0, "kernels": 0}
    for lists in kernels_of(text):
        counts["kernels"] += 1
        took, after = False, ""
        for loops in lists:
            if took:
                break
            for kind, changed in changes_of(loops[1]):
                accepted, after = compiled(tool, f"from=schedule to=tile target={target}", text[:loops.start(1)] + changed + text[loops.end(1):])
                if accepted and after == before:
                    print(f"{program}: {target}: another {kind} makes the same loops: [{loops[1]}] to [{changed}]")
                    sys.exit(1)
                if not accepted:
                    assert re.search(r":\d+:\d+: error: ", after), after
                took |= accepted
                counts["changed" if accepted else "refused"] += 1
        if not took:
            print(f"{program}: {target}: no change of [{lists[0][1]}] or inside is taken; the last was refused by\n{after}")
            sys.exit(1)
    assert counts["kernels"], f"{program}: {target}: no kernel prints a schedule"
    return counts


def main():
    tool, target, programs = sys.argv[1], sys.argv[2], sys.argv[3:]
    total = {}
    for program in programs:
        for key, value in check(tool, target, program).items():
            total[key] = total.get(key, 0) + value
    print(f"{target}: {total['kernels']} kernels, {total['changed']} changes made other loops, {total['refused']} were refused")


if __name__ == "__main__":
    main()
