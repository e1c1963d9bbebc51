# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels as `to=threads` prints them, run with operations on tiles by their definitions; then with faults:

    tile-faults.py FT-OPT FT-RUN MACHINE FILE FUNCTION

Each fault is a change of the printed text, in all places that its pattern finds. The unchanged text must give
the program's values; of each fault a run must say what is expected: a rule that is broken, or other values.
"""

import re
import subprocess
import sys
import tempfile

ft_opt, ft_run, machine, source, function = sys.argv[1:]

# A place of the thread's own: its number, where all threads have one value.
OWN = r"\1%own = nvvm.read.ptx.sreg.tid.x : i32\n\1%mine = arith.extui %own : i32 to i64\n\1\2%mine\3"
FAULTS = [
    ("no barrier", r"(?m)^ *tile\.barrier\n", "", r"\(E[23]\)"),
    ("a step that does not wait", r"tile\.wait 0", "tile.wait 7", r"\(E[23]\)"),
    ("a store without a bound", r"(tile\.store [^\n]*?\]) ", r"\1 {in_bounds = array<i1: true, true>} ", r"\(E8\) reaches (row|column) \d+ of \d+"),
    ("a copy without a bound", r"(tile\.copy [^\n]*?\]) \{", r"\1 {in_bounds = array<i1: true, true>, ", r"\(E8\) reaches (row|column)"),
    ("accesses wider than rows", r"(tile\.store [^\n]*?\]) ", r"\1 {width = 4 : i64} ", r"\(E(8|1)\)"),
    ("a layout of too many threads", r"(tile\.copy [^\n]*threads = \[)\d+, \d+\]", r"\g<1>16, 64]", r"\(E6\) comes to a layout of 1024 threads"),
    ("strides that change places", r"strides\((%\w+), (%\w+)\)", r"strides(\2, \1)", r"NOT EQUAL|\(E[1238]\)"),
    ("another stage than was filled", r"(tile\.mma %\w+, %\w+\[)%\w+\]", r"\1%c0_i64]", r"NOT EQUAL|\(E[23]\)"),
    ("an operand by thread", r"(?m)^( *)(tile\.store %\w+, %\w+\[)%\w+(,[^\n]*)$", OWN, r"\(E7\) has another operand \d+ than another thread"),
    ("a sum without the last column", r"columns (\d+)", lambda m: f"columns {int(m[1]) - 1}", r"NOT EQUAL"),
    ("rows that lie elsewhere", r"(load_rows [^\n]*digits = \[)(\d+)", lambda m: f"{m[1]}{int(m[2]) - 1}", r"NOT EQUAL|\(E1\)"),
    ("an index of another dimension", r"tile\.index 2", "tile.index 1", r"NOT EQUAL"),
    ("points that lie elsewhere", r"(tile\.read [^\n]*strides = \[)(\d+),", lambda m: f"{m[1]}{int(m[2]) + 4},", r"NOT EQUAL|\(E[18]\)"),
    ("an access that is not aligned", r"(tile\.read [^\n]*offset = )0(, [^\n]*width = )", r"\g<1>1\2", r"\(E8\) takes \d+ elements at once, which are not aligned"),
    ("points of too many threads", r"(tile\.nest [^\n]*threads = )\d+", r"\g<1>1024", r"\(E6\) comes to a layout of 1024 threads"),
    ("points by thread", r"(?m)^( *)(tile\.nest %\w+ rows\()%\w+(\)[^\n]*)$", OWN, r"\(E7\) has another operand \d+ than another thread"),
    ("a neutral value that is none", r"neutral \[0\.0+e\+00", "neutral [1.0e+05", r"NOT EQUAL"),
    ("sums that are joined by another operation", r"(combine \{\n[^\n]*\n[^\n]*)arith\.addf", r"\1arith.mulf", r"NOT EQUAL"),
    ("terms that are missing", r"(tile\.nest [^\n]*loops \[\d+, )(\d+)(\] reduced \[false, true\])", lambda m: f"{m[1]}{int(m[2]) - 4}{m[3]}", r"NOT EQUAL"),
    ("rows by thread", r"(?m)^( *)(%\w+ = tile\.points %\w+ from )%\w+( to [^\n]*)$", OWN, r"\(E7\) has another operand \d+ than another thread"),
]


def run(kernels, engine, seed=1):
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(kernels)
        file.flush()
        done = subprocess.run([ft_run, source, f"--entry={function}", f"--engine={engine}", "--target=sm_90a", f"--kernels={file.name}",
                               f"--machine={machine}", f"--seed={seed}", "--compare=interpret"], capture_output=True, text=True)
        return done.stdout + done.stderr


printed = subprocess.run([ft_opt, source, f"--ft-compile=to=threads target=sm_90a machine={machine}"], capture_output=True, text=True, check=True).stdout
for engine in ("interpret-tile", "emulate"):
    text = run(printed, engine)
    print(f"as printed, {engine}: {text.splitlines()[-1]}")
for name, pattern, replacement, expected in FAULTS:
    # A value of one name is defined once.
    changed, count = re.subn(pattern, replacement, printed, count=1 if replacement == OWN else 0)
    if count == 0:
        print(f"{name}: not in these kernels")
        continue
    text = run(changed, "interpret-tile")
    found = re.search(expected, text)
    print(f"{name}: {'noticed: ' + found[0] if found else 'NOT NOTICED: ' + text}")
