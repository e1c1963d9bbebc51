#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s %ft_bin %t.mlir %S/Inputs/has-planted-fault.sh | FileCheck %s
# CHECK: lists: 60 statements become [[#%u,]]: reduced
# CHECK: branches: 40 statements become [[#%u,]]: reduced
# CHECK: 2 programs, 0 failures{{$}}
"""A fault in the middle of a long function, found again by an oracle that runs the compiler: what is
left is the fault, what it needs to be in a program, and extents of 1.

    reduce.py FOLDER-OF-TOOLS FILE ORACLE
"""

import os
import re
import subprocess
import sys

tools, path, oracle = sys.argv[1:]


def lists():
    """Maps one after the other, a scan around them; the 30th body has the fault."""
    text = "!x = tensor<4x8xf32>\nfunc.func @f(%xss: !ft.list<[D, L], !x>, %w: !x, %v: !ft.list<[7], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[7], !x>) attributes {ft.bounds = #ft.bounds<\"L >= 3\">, ft.lengths = {D = 2 : i64, L = 5 : i64}} {\n"
    text += "%z = arith.constant dense<1.5> : !x\n%r = ft.map (%x0 = %xss : !ft.list<[D, L], !x>) {\n"
    for i in range(60):
        text += f"%x{i + 1} = ft.map (%a = %x{i} : !ft.list<[L], !x>) {{\n"
        body = ["%b = arith.addf %a, %w : !x", "%c = math.tanh %b : !x", "%d = arith.mulf %c, %z : !x"]
        if i == 30:
            body = ["%b = arith.addf %a, %w : !x", "%e = math.exp %b : !x", "%g = arith.subf %e, %z : !x", "%d = math.sqrt %g : !x"]
        text += "\n".join(body) + "\nft.yield %d : !x\n}\n"
    text += "ft.yield %x60 : !ft.list<[L], !x>\n}\n%s = ft.reverse %v : !ft.list<[7], !x>\n"
    return text + "return %r, %s : !ft.list<[D, L], !x>, !ft.list<[7], !x>\n}\nfunc.func private @other(%x: !x) -> !x {\n%y = math.exp %x : !x\nreturn %y : !x\n}\n"


def branches():
    """Basic blocks with tensors, which the lists' compiler has no part in."""
    text = "func.func @g(%p: i1, %x: tensor<16xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {\n%x0 = arith.addf %x, %y : tensor<16xf32>\n"
    for i in range(40):
        text += f"%x{i + 1} = " + ("math.exp" if i == 19 else "math.sqrt" if i == 20 else "math.absf") + f" %x{i} : tensor<16xf32>\n"
        if i % 10 == 9:
            text += f"cf.cond_br %p, ^a{i}, ^b{i}\n^a{i}:\ncf.br ^b{i}\n^b{i}:\n"
    return text + "return %x40 : tensor<16xf32>\n}\n"


failures = 0
for name, text, count in [("lists", lists(), 60), ("branches", branches(), 40)]:
    with open(path, "w") as file:
        file.write(text)
    # Several basic blocks have no graph: there the text is enough.
    script = oracle if name == "lists" else path + ".sh"
    with open(path + ".sh", "w") as file:
        file.write('#!/bin/sh\nawk \'/math.exp /{e=1} /math.sqrt /{if(e) f=1} END {exit f}\' "$1"\n')
    os.chmod(path + ".sh", 0o755)
    arguments = f" test-arg={tools}/ft-opt" if name == "lists" else ""
    command = [f"{tools}/ft-reduce", path, f"--ft-shrink=test={script}{arguments}"]
    done = subprocess.run(command, capture_output=True, text=True)
    left = done.stdout
    operations = len(re.findall(r"(?m)^ +(%|ft\.|return|cf\.)", left))
    small = done.returncode == 0 and "math.exp" in left and "math.sqrt" in left
    small = small and operations <= (8 if name == "lists" else 4)
    # All that is left has extents of 1, and none of what had nothing to do with it.
    small = small and not re.search(r"tanh|absf|cond_br|@other|ft\.reverse|ft\.bounds|[2-9]x|16x", left)
    failures += not small
    print(f"{name}: {count} statements become {operations}: {'reduced' if small else 'status %d' % done.returncode}")
    if not small:
        print(left[:3000], done.stderr[:2000])
print(f"2 programs, {failures} failures")
sys.exit(1 if failures else 0)
