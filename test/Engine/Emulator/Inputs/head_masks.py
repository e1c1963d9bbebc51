#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention of several heads with one mask for all, thread by thread and by the definitions of operations on tiles.

    head_masks.py BIN PROGRAM MACHINE

Variants of PROGRAM, which is causal attention, are made by replacements of its text. Prints what the compiler decided of each mask.
"""
import re
import subprocess
import sys
import tempfile

CAUSAL = "%ok = arith.cmpi sge, %row, %col : i64"
BODY = "^bb0(%bi: i64, %bj: i64, %old: i1):"
IN_BLOCK = "ins(%i, %j : !i, !i) outs(%be : !see) {\n          " + BODY
MAPS = "[#none, #none, #both], iterator_types"
# Lists of the outer map, and of the innermost reduction.
OUTER = ("%vss = %qsss, %ksss, %vsss", "!ft.list<[B, H, L], !v>)\n      -> !ft.list<[B, H, L], !o> {")
INNER = ("%j = %ks, %vs, %blocks", "!ft.list<[L], !v>, !ft.list<[L], !i>)")
LAST = "%vsss: !ft.list<[B, H, L], !v> {ft.gen = #ft.normal<1.0>})"


def window(length):
    return [(CAUSAL, f"""%w = arith.constant {length} : i64
            %first = arith.subi %row, %w : i64
            %late = arith.cmpi sge, %row, %col : i64
            %early = arith.cmpi slt, %first, %col : i64
            %ok = arith.andi %late, %early : i1""")]


def kept(kind, spread):
    """Which keys of a block are kept: a flag of each, or one for all. It stands in memory, for each element of the batch."""
    return [(LAST, LAST[:-1] + f",\n    %keeps: !ft.list<[B, L], {kind}>)"),
            (OUTER[0], OUTER[0].replace("%vss =", "%vss, %kept =") + ", %keeps"), (OUTER[1], OUTER[1].replace("!v>)", f"!v>, !ft.list<[B, L], {kind}>)")),
            (INNER[0], INNER[0].replace("%j =", "%j, %keep =") + ", %kept"), (INNER[1], INNER[1].replace("!i>)", f"!i>, !ft.list<[L], {kind}>)")),
            (MAPS, f"[#none, #none, {spread}, #both], iterator_types"),
            (IN_BLOCK, f"ins(%i, %j, %keep : !i, !i, {kind}) outs(%be : !see) {{\n          ^bb0(%bi: i64, %bj: i64, %kp: i1, %old: i1):"),
            (CAUSAL, CAUSAL.replace("%ok", "%late") + "\n            %ok = arith.andi %late, %kp : i1")]


SMALL = {"B": 2, "H": 2, "L": 5}
VARIANTS = {
    "window 1": (window(1), [SMALL]),
    "window 7": (window(7), [SMALL]),
    "window 64": (window(64), [SMALL, {"B": 1, "H": 2, "L": 11}]),
    "window 1000": (window(1000), [SMALL, {"B": 1, "H": 1, "L": 1}]),
    "31 keys": (window(64) + [("tensor<32", "tensor<31"), ("x32x", "x31x")], [{"B": 1, "H": 2, "L": 1}, SMALL]),
    "127 keys": (window(7) + [("tensor<32", "tensor<127"), ("x32x", "x127x")], [{"B": 1, "H": 2, "L": 1}]),
    "padding": (kept("tensor<32xi1>", "affine_map<(r, c) -> (c)>"), [SMALL]),
    "sparse": (kept("tensor<i1>", "#none"), [SMALL]),
}


def main():
    folder, program, machine = sys.argv[1:]
    text = re.sub(r"(?m)^(![\w]+ = tensor<[0-9x]*)f32", r"\1f16", open(program).read())
    runs = wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        for name, (replacements, lengths) in VARIANTS.items():
            changed = text
            for old, new in replacements:
                assert old in changed, (name, old)
                changed = changed.replace(old, new)
            path = f"{scratch}/{name.replace(' ', '_')}.mlir"
            with open(path, "w") as file:
                file.write(changed)
            said = subprocess.run([f"{folder}/ft-opt", path, f"--ft-compile=to=pipeline target=sm_90a machine={machine}", "--remarks-filter=(gpu|coarsen).*", "-o", "/dev/null"],
                                  capture_output=True, text=True, check=False).stderr
            for pattern in (r'hoist .*Reason="([^"]*)"', r'split-mask .*Reason="([^"]*)"'):
                for reason in re.findall(pattern, said):
                    print(f"{name}: {reason}")
            for sizes in lengths:
                for engine in ("emulate", "interpret-tile"):
                    runs += 1
                    done = subprocess.run([f"{folder}/ft-run", path, f"--engine={engine}", "--target=sm_90a", "--multiprocessors=3", f"--machine={machine}", "--compare=interpret",
                                           *(f"--dim={n}={v}" for n, v in sizes.items())], capture_output=True, text=True, check=False, timeout=600)
                    if done.returncode:
                        wrong += 1
                        print(f"{name} {sizes}, {engine}: {(done.stdout + done.stderr)[:1500]}")
    print(f"{runs} runs, {wrong} wrong")


if __name__ == "__main__":
    main()
