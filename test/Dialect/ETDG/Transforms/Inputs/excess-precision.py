# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Errors of programs on f16 against f64: as they are written (the interpreter), compiled for the CPU, and as a GPU.

Usage: excess-precision.py FT-RUN FILE.mlir FOLDER
"""
import os, subprocess, sys

import numpy as np

ft_run, path, folder = sys.argv[1:]
os.makedirs(folder, exist_ok=True)
rng = np.random.default_rng(7)


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def chain(x):
    a = x * x
    return (np.exp(a + x) + a) ** 2


PROGRAMS = {  # name: (shapes, in f64; None: integers, which are equal)
    "softmax": ([(31, 1, 509)], softmax),
    "chain": ([(31, 1, 509)], chain),
    "layer": ([(31, 1, 61), (61, 509), (1, 509)], lambda x, w, b: np.tanh(x @ w + b)),
    "tiny": ([(31, 1, 16)], lambda x: x / x.sum(-1, keepdims=True)),
    "greatest": ([(31, 1, 509)], None),
}


def run(name, engine, inputs):
    result = os.path.join(folder, "%s-%s.npy" % (name, engine))
    command = [ft_run, path, "--entry=" + name, "--engine=" + engine, "--out=" + result]
    command += ["--arg=" + file for file in inputs]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit("%s\n%s" % (" ".join(command), done.stderr))
    return np.load(result)


failures = 0
for name, (shapes, exact) in PROGRAMS.items():
    arrays = [(0.4 * rng.standard_normal(shape)).astype(np.float16) for shape in shapes]
    if name == "tiny":  # x 2^-126; as written all of them are 0
        arrays = [rng.uniform(2.0**-9, 2.0**-8, shape).astype(np.float16) for shape in shapes]
    inputs = []
    for i, array in enumerate(arrays):
        inputs.append(os.path.join(folder, "%s-%d.npy" % (name, i)))
        np.save(inputs[-1], array)
    written, compiled, emulated = (run(name, engine, inputs) for engine in ("interpret", "cpu", "emulate"))
    if exact is None:
        good = np.array_equal(written, compiled) and np.array_equal(written, emulated)
        print("%s: %s" % (name, "equal" if good else "DIFFERENT"))
    else:
        want = exact(*[array.astype(np.float64) for array in arrays])
        errors = [float(np.sqrt(np.mean(((got.astype(np.float64) - want) / want) ** 2))) for got in (written, compiled, emulated)]
        good = max(errors[1:]) < (1e-3 if name == "tiny" else 0.9 * errors[0])
        says = "right" if name == "tiny" else "better"
        print("%s: as written %.2e, compiled %.2e, emulated %.2e, %s" % (name, *errors, says if good else "NOT " + says))
    failures += not good
print("%d programs, %d failures" % (len(PROGRAMS), failures))
