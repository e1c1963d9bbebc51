#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs attention with masks in the emulator, thread by thread and by the definitions of operations on tiles.

    masks.py BIN PROGRAM MACHINE

Variants of PROGRAM's function are made by replacements of its text. Prints what the compiler decided of each mask.
"""
import re
import subprocess
import sys
import tempfile

CAUSAL = "%ok = arith.cmpi sge, %row, %col : i64"
KEPT = "%z = arith.addf %x, %x : f16"


def window(length):
    return f"""%w = arith.constant {length} : i64
        %first = arith.subi %row, %w : i64
        %late = arith.cmpi sge, %row, %col : i64
        %early = arith.cmpi slt, %first, %col : i64
        %ok = arith.andi %late, %early : i1"""


LATE = """%back = arith.constant 40 : i64
        %limit = arith.subi %row, %back : i64
        %ok = arith.cmpi sgt, %limit, %col : i64"""
PARITY = """%late = arith.cmpi sge, %row, %col : i64
        %two = arith.constant 2 : i64
        %odd = arith.remsi %row, %two : i64
        %same = arith.cmpi ne, %odd, %two : i64
        %ok = arith.andi %late, %same : i1"""
# Conditions that share a comparison.
TWICE = """%w = arith.constant 5 : i64
        %far = arith.constant 40 : i64
        %first = arith.subi %row, %w : i64
        %begin = arith.subi %row, %far : i64
        %late = arith.cmpi sge, %row, %col : i64
        %early = arith.cmpi slt, %first, %col : i64
        %within = arith.cmpi sle, %begin, %col : i64
        %one = arith.andi %late, %early : i1
        %other = arith.andi %late, %within : i1
        %ok = arith.andi %one, %other : i1"""
# Scores of each element that are as low as what hides others.
LOW = """%deep = arith.constant -3.0e4 : f16
        %z = arith.minimumf %x, %deep : f16"""
# What is hidden, by either of two conditions.
EITHER = """%true = arith.constant true
        %w = arith.constant 20 : i64
        %first = arith.subi %row, %w : i64
        %later = arith.cmpi slt, %row, %col : i64
        %sooner = arith.cmpi sgt, %first, %col : i64
        %not = arith.ori %later, %sooner : i1
        %ok = arith.xori %not, %true : i1"""
# A distance on both sides.
NEAR = """%w = arith.constant 30 : i64
        %after = arith.subi %row, %col : i64
        %before = arith.subi %col, %row : i64
        %far = arith.maxsi %after, %before : i64
        %ok = arith.cmpi sle, %far, %w : i64"""
ALIBI = """%far = arith.subi %col, %row : i64
        %fd = arith.sitofp %far : i64 to f16
        %slope = arith.constant 0.0625 : f16
        %b = arith.mulf %fd, %slope : f16
        %z0 = arith.addf %x, %b : f16
        %cap = arith.constant 20.0 : f16
        %z1 = arith.divf %z0, %cap : f16
        %z2 = math.tanh %z1 : f16
        %z = arith.mulf %z2, %cap : f16"""


# What joins two partial states; without it iterations follow each other.
COMBINE = re.compile(r"(?s) combine \(%ma.*?\} identity \([^)]*\)")


def width(columns):
    return ("!x = tensor<32x48x", f"!x = tensor<32x{columns}x")


COUNTED = [("%s0 = arith.mulf %s, %fix : !r", "%s9 = arith.mulf %s, %fix : !r\n      %tiny = arith.constant dense<0.01> : !r\n      %s0 = arith.addf %s9, %tiny : !r"),
           ("ft.reduce (", "ft.foldl ("), (COMBINE, "")]
BF16 = [("f16", "bf16"), ("-3.0e4", "-1.0e30")]
# Weights that are no powers: the mask gives 0, and no state is multiplied.
WEIGHTS = [("dense<-3.0e4> : !r", "dense<0.0> : !r"), ("%lowest = arith.constant -3.0e4", "%lowest = arith.constant 0.0"),
           ("%p = math.exp %d : !p", "%p = arith.addf %seen, %zp : !p"), ("%o0 = arith.mulf %o, %fixb : !x", "%o0 = arith.addf %o, %zo : !x"),
           ("%s0 = arith.mulf %s, %fix : !r", "%s0 = arith.addf %s, %zr : !r"), ("ft.yield %m1, %s1, %o1", "ft.yield %m, %s1, %o1"),
           ("ft.reduce (", "ft.foldl ("), (COMBINE, ""), ("%out = arith.divf %of, %sfb : !x", "%out = arith.addf %of, %zo : !x")]
VARIANTS = {
    "causal": ([], [{"L": n} for n in (1, 9)]),
    "window": ([(CAUSAL, window(50)), width(80)], [{"L": 9}]),
    "narrow": ([(CAUSAL, window(5)), width(64)], [{"L": 7}]),
    "twice": ([(CAUSAL, TWICE), width(64)], [{"L": 5}]),
    "late": ([(CAUSAL, LATE), width(64)], [{"L": n} for n in (1, 9)]),
    "keys": ([("%ks: !ft.list<[L", "%ks: !ft.list<[K"), ("%vs: !ft.list<[L", "%vs: !ft.list<[K"), ("%js = ft.iota : !ft.list<[L", "%js = ft.iota : !ft.list<[K"),
              ("= %ks, %vs, %js : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L]", "= %ks, %vs, %js : !ft.list<[K], !x>, !ft.list<[K], !x>, !ft.list<[K]"),
              ('"L >= 1"', '"K >= 1"'), width(64)], [{"L": 9, "K": 5}, {"L": 3, "K": 9}]),
    "alibi": ([(KEPT, ALIBI), width(96)], [{"L": 5}]),
    "bf16": (BF16, [{"L": 5}]),
    "weights": (WEIGHTS, [{"L": 7}]),
    "counted": (COUNTED, [{"L": 5}]),
    "low": ([(KEPT, LOW)], [{"L": n} for n in (1, 17)]),
    "lower": ([(KEPT, LOW.replace("-3.0e4", "-2.99e4")), (CAUSAL, window(50))], [{"L": 9}]),
    "hides": ([("arith.select %ok, %z, %lowest", "arith.select %ok, %lowest, %z"), ("%ok = arith.cmpi sge", "%ok = arith.cmpi slt")], [{"L": 5}]),
    "either": ([(CAUSAL, EITHER)], [{"L": 5}]),
    "near": ([(CAUSAL, NEAR)], [{"L": 7}]),
    "wide": ([(CAUSAL, window(1000))], [{"L": 5}]),
    "one": ([(CAUSAL, window(1))], [{"L": 5}]),
    "parity": ([(CAUSAL, PARITY)], [{"L": 5}]),
    "none": ([(CAUSAL, PARITY.replace("%same = arith.cmpi ne, %odd, %two", "%same = arith.cmpi eq, %odd, %bi"))], [{"L": 17}]),
}


#: Run with two thread blocks, too, each of which takes several tasks in turn: those of these variants are computed again.
IN_TURN = ("low", "none")
ALL_BLOCKS, FEW_BLOCKS = ",132],1,1]", ",2],1,1]"  # of a launch plan's grid


def replaced(text, replacements):
    for old, new in replacements:
        changed = old.sub(lambda _: new, text) if isinstance(old, re.Pattern) else text.replace(old, new)
        assert changed != text, old
        text = changed
    return text


def main():
    folder, program, machine = sys.argv[1:]
    text = open(program).read()
    runs = wrong = 0

    def compiled(path, phase, *options):
        return subprocess.run([f"{folder}/ft-opt", path, f"--ft-compile=to={phase} target=sm_90a machine={machine}", *options], capture_output=True, text=True, check=False)

    def run(path, engine, *options):
        command = [f"{folder}/ft-run", path, f"--engine={engine}", "--target=sm_90a", "--multiprocessors=3", f"--machine={machine}", *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
        return done.returncode, done.stdout + done.stderr

    with tempfile.TemporaryDirectory() as scratch:
        for name, (replacements, lengths) in VARIANTS.items():
            path = f"{scratch}/{name}.mlir"
            with open(path, "w") as file:
                file.write(replaced(text, replacements))
            said = compiled(path, "pipeline", "--remarks-filter=gpu", "-o", "/dev/null").stderr
            engines = [("emulate",), ("interpret-tile",)]
            if name in IN_TURN:
                kernels = compiled(path, "threads").stdout
                assert ALL_BLOCKS in kernels
                with open(f"{scratch}/kernels.mlir", "w") as file:
                    file.write(kernels.replace(ALL_BLOCKS, FEW_BLOCKS))
                engines.append(("emulate", f"--kernels={scratch}/kernels.mlir"))
            for reason in re.findall(r'split-mask .*Reason="([^"]*)"', said) or [f"no split ({said[:500]})"]:
                print(f"{name}: {reason}")
            for length in lengths:
                for engine, *options in engines:
                    runs += 1
                    code, answer = run(path, engine, *options, "--compare=interpret", *(f"--dim={n}={v}" for n, v in length.items()))
                    if code:
                        wrong += 1
                        print(f"{name} {length}, {engine}: {answer[:1500]}")
        print(f"{runs} runs, {wrong} wrong")


if __name__ == "__main__":
    main()
