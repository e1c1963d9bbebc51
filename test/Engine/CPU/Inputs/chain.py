#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints a program of COUNT blocks, each reading the one before: chain.py COUNT [ft|etdg]."""
import sys

count, form = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "etdg"
print("!x = tensor<1x8xf32>")
if form == "ft":
    print("func.func @chain(%v0: !ft.list<[N], !x>) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 4 : i64}} {")
    for i in range(count):
        print("  %%v%d = ft.map (%%a = %%v%d : !ft.list<[N], !x>) -> !ft.list<[N], !x> {" % (i + 1, i))
        print("    %%y = arith.%s %%a, %%a : !x\n    ft.yield %%y : !x\n  }" % ("addf" if i % 2 == 0 else "mulf"))
    print("  return %%v%d : !ft.list<[N], !x>\n}" % count)
else:
    b = "!etdg.buffer<[N], !x>"
    print("etdg.graph @chain(%%v0: %s) -> %s attributes {ft.lengths = {N = 4 : i64}} {" % (b, b))
    for i in range(count):
        print("  %%v%d = etdg.buffer : %s" % (i + 1, b))
        print("  etdg.block @b%d [map] (i) in [0, N) reads (%%a = %%v%d[i] : !x) writes (%%v%d[i]) {" % (i, i, i + 1))
        print("    %%y = arith.%s %%a, %%a : !x\n    etdg.yield %%y : !x\n  } : %s, %s" % ("addf" if i % 2 == 0 else "mulf", b, b))
    print("  etdg.return %%v%d : %s\n}" % (count, b))
