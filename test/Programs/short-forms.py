#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# RUN: %python %s %ft_bin/ft-run %t.mlir | FileCheck %s
# REQUIRES: numpy
# CHECK: 48 runs, 0 wrong{{$}}
"""Short forms against NumPy in f64, on the interpreter and the CPU, in f32 and f16, also where the
numbers are large:

    short-forms.py FT-RUN FILE
"""

import subprocess
import sys

import numpy as np

ft_run, path = sys.argv[1:]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def layer_norm(x, g):
    mean, var = x.mean(axis=-1, keepdims=True), x.var(axis=-1, keepdims=True)
    return g * (x - mean) / np.sqrt(var + 1e-5) + g


# The operation on %x (an element, 3x7), %r (a row of 7) and %s (a scalar), and its value.
forms = {
    "ft.lowest : {x}": lambda x, r, s, low: np.full_like(x, low),
    "ft.scale %x by %s : {x}, {s}": lambda x, r, s, low: x * s,
    "ft.broadcast %r : {r} to {x}": lambda x, r, s, low: np.broadcast_to(r, x.shape),
    "ft.sigmoid %x : {x}": lambda x, r, s, low: sigmoid(x),
    "ft.silu %x : {x}": lambda x, r, s, low: x * sigmoid(x),
    "ft.softmax %x dim 0 : {x}": lambda x, r, s, low: softmax(x, 1),
    "ft.softmax %x dim 1 : {x}": lambda x, r, s, low: softmax(x, 2),
    "ft.layer_norm %x scale %r shift %r epsilon 1.0e-5 : {x}, {r}": lambda x, r, s, low: layer_norm(x, r),
}
random = np.random.default_rng(3)
runs = wrong = 0
for text, value in forms.items():
    for number, dtype, tolerance, scale in [("f32", np.float32, 4e-6, 1), ("f32", np.float32, 4e-6, 30), ("f16", np.float16, 4e-3, 3)]:
        types = {"x": f"tensor<3x7x{number}>", "r": f"tensor<7x{number}>", "s": f"tensor<{number}>"}
        with open(path, "w") as file:
            file.write(f"""
func.func @f(%xs: !ft.list<[L], {types['x']}>, %r: {types['r']}, %s: {types['s']}) -> !ft.list<[L], {types['x']}> {{
  %ys = ft.map (%x = %xs : !ft.list<[L], {types['x']}>) {{
    %y = {text.format(**types)}
    ft.yield %y : {types['x']}
  }}
  return %ys : !ft.list<[L], {types['x']}>
}}
""")
        x = (scale * random.standard_normal((2, 3, 7))).astype(dtype)
        r, s = random.standard_normal(7).astype(dtype), np.array(random.standard_normal(), dtype)
        for name, array in (("x", x), ("r", r), ("s", s)):
            np.save(f"{path}.{name}.npy", array)
        with np.errstate(over="ignore"):
            expected = value(x.astype(float), r.astype(float), float(s), float(np.finfo(dtype).min))
        for engine in ("interpret", "cpu"):
            done = subprocess.run([ft_run, path, f"--engine={engine}", *[f"--arg={path}.{n}.npy" for n in "xrs"],
                                   "--dim=L=2", f"--out={path}.y.npy"], capture_output=True, text=True)
            runs += 1
            found = np.load(f"{path}.y.npy").astype(float) if done.returncode == 0 else None
            if found is None or not np.allclose(found, expected, rtol=tolerance, atol=tolerance):
                wrong += 1
                print(f"{text} in {number} by {engine}: status {done.returncode}\n{done.stderr[:1000]}\n{found}\nexpected\n{expected}")
print(f"{runs} runs, {wrong} wrong")
sys.exit(1 if wrong else 0)
