#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values of online-variants.mlir against NumPy in f64:

    variants.py FT-BIN FILE

Rewritten, in random and in declared order (f64, 1e-11), and on the CPU through the whole pipeline
(f32): lists of 1 and 33 elements, elements around 10,000, and rows that are masked whole (-5e29
everywhere) where softmax is all there is.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

LOWER = "--pass-pipeline=builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg%s)"
ONLINE = ",etdg.graph(etdg-online,etdg-verify)"


def softmax(x):
    p = np.exp(x - x.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True)


def lse(x):
    return x.max(1) + np.log(np.exp(x - x.max(1, keepdims=True)).sum(1))


def sink(x, v, c):
    m = np.maximum(x.max(1), c)
    p = np.exp(x - m[:, None])
    return (p / (p.sum(1) + np.exp(c - m))[:, None] * v).sum(1)


def centred(x):
    return x - x.mean(1, keepdims=True)


def spread(x, v):
    w = softmax(x)
    mu = (w * v).sum(1)
    return mu, (w * (v - mu[:, None]) ** 2).sum(1)


def entropy(x):
    g = x - lse(x)[:, None]
    return -(np.exp(g) * g).sum(1)


def entropy_of(x):
    d = x - x.max(1, keepdims=True)
    return np.log(np.exp(d).sum(1)) - (softmax(x) * d).sum(1)


def best(x, v):
    return np.where(x >= x.max(1, keepdims=True), v, -1e30).max(1)


def runner_up(x):
    return np.where(x == x.max(1, keepdims=True), -1e30, x).max(1)


def onesided(x, v, w):
    return ((x - (x * w).sum(1, keepdims=True) / w.sum(1, keepdims=True)) * v).sum(1)


def cube(x):
    d = centred(x)
    v = (d**2).mean(1)
    return (d**3).mean(1) / (v * np.sqrt(v) + 0.001)


def standardised(x, v):
    d = centred(x)
    return (d / np.sqrt((d**2).mean(1, keepdims=True) + 0.001) * v).sum(1)


def correlation(x, v):
    a, b = centred(x), centred(v)
    return (a * b).sum(1) / (np.sqrt((a * a).sum(1) * (b * b).sum(1)) + 0.001)


TRUTH = {
    "sink": sink,
    "softcap": lambda x, v: (softmax(5 * np.tanh(x / 5)) * v).sum(1),
    "dropout": lambda x, v, w: (softmax(x) * (w * 1.25) * v).sum(1),
    "differential": lambda x, v, w: ((softmax(x) - 0.8 * softmax(w)) * v).sum(1),
    "sigmoid": lambda x, v: (v / (1 + np.exp(-x))).sum(1),
    "linear": lambda x, v: ((np.maximum(x, 0) + 1) / (np.maximum(x, 0) + 1).sum(1, keepdims=True) * v).sum(1),
    "cosine": lambda x, v: (x / np.sqrt((x * x).sum(1, keepdims=True)) * v).sum(1),
    "rms": lambda x, v: (x / np.sqrt((x * x).mean(1, keepdims=True) + 0.001) * v).sum(1),
    "nll": lambda x, w: -((x - lse(x)[:, None]) * w).sum(1),
    "entropy": lambda x: (entropy(x), lse(x)),
    "entropy_weights": entropy,
    "spread": spread,
    "covariance": lambda x, v: (centred(x) * centred(v)).mean(1),
    "correlation": correlation,
    "gap": lambda x, w: ((x.max(1, keepdims=True) - x) * w).sum(1),
    "temperature": lambda x, v, t: (softmax(x / t[:, None]) * v).sum(1),
    "temperature_positive": lambda x, v, t: (softmax(x * np.exp(t)[:, None]) * v).sum(1),
    "scaled_before": lambda x, v, t: (softmax(x / t[:, None]) * v).sum(1),
    "chained": lambda x, v: (softmax(softmax(x)) * v).sum(1),
    "second": runner_up,
    "label": lambda x, w: lse(x) - np.where(w >= 1, x, 0).sum(1),
    "argmax_entropy": lambda x, v: (entropy_of(x), best(x, v)),
    "onesided": onesided,
    "cube": cube,
    "standardised": standardised,
}
# What is left when all scores are the lowest; the others divide or take powers of such numbers.
MASKED = {"sink", "dropout", "differential", "scaled_before", "argmax_entropy", "spread", "softcap"}
# Elements around 10,000: the spread is lost where it isn't centred.
LARGE = {"covariance", "correlation", "cube", "standardised", "gap", "onesided", "entropy", "nll", "spread", "dropout"}


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(map(str, command)) + "\n" + done.stderr)
    return done.stdout


def main():
    tools, file = pathlib.Path(sys.argv[1]), sys.argv[2]
    text = pathlib.Path(file).read_text()
    names = re.findall(r"func\.func @(\w+)\(", text)
    assert set(names) == set(TRUTH), set(names) ^ set(TRUTH)
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "f32.mlir").write_text(text)
        (folder / "f64.mlir").write_text(text.replace("f32", "f64"))
        (folder / "online.mlir").write_text(run(tools / "ft-opt", folder / "f64.mlir", LOWER % ONLINE))
        for name in names:
            header = re.search(r"func\.func @" + name + r"\((.*?)\{\n", text, re.S).group(1)
            count = header.split("->")[1].count("!ft.list")
            shapes = re.findall(r"%(\w+): !ft\.list<\[([NK, ]+)\]", header)
            declared, shuffled, cpu = ("f64", "online", "declared"), ("f64", "online", "random"), ("f32", "f32", "cpu")
            cases = [(1, 0.0, [declared]), (33, 0.0, [shuffled, cpu])]
            cases += [(33, 1e4, [cpu])] if name in LARGE else []
            cases += [(5, None, [cpu])] if name in MASKED else []
            for K, offset, ways in cases:
                rng, arrays = np.random.default_rng(K), []
                for argument, lengths in shapes:
                    shape = [{"N": 2, "K": K}[n.strip()] for n in lengths.split(",")] + [3]
                    array = rng.normal(size=shape)
                    if argument[0] in "wt":
                        array = 0.5 + rng.random(size=shape)
                    elif offset is None and argument[0] == "x":
                        array[0] = -5e29
                    elif offset and (argument[0] == "x" or name in ("covariance", "correlation")):
                        array += offset
                    arrays.append(array.astype(np.float32))
                want = TRUTH[name](*(a.astype(np.float64) for a in arrays))
                want = want if isinstance(want, tuple) else (want,)
                for element, source, way in ways:
                    outs = [folder / f"out{i}.npy" for i in range(count)]
                    inputs = []
                    for i, array in enumerate(arrays):
                        np.save(folder / f"in{i}.npy", array.astype(np.float64 if element == "f64" else np.float32))
                        inputs.append(f"--arg={folder}/in{i}.npy")
                    options = [f"--engine={way}"] if way in ("cpu", "interpret") else ["--engine=interpret", f"--order={way}"]
                    run(tools / "ft-run", folder / f"{source}.mlir", f"--entry={name}", *options, *inputs, *(f"--out={o}" for o in outs))
                    for out, truth in zip(outs, want):
                        got = np.load(out).astype(np.float64)
                        size = np.sqrt(np.mean(truth**2)) + 1e-3
                        error = np.abs(got - truth).max() / size
                        # Sums of 33 elements of 1e4 in f32 are exact to a few hundredths of their spread.
                        allowed = {"f64": 1e-9 if offset else 1e-11, "f32": 1e-1 if offset else 2e-5}[element]
                        if not np.isfinite(got).all() or error > allowed:
                            sys.exit(f"{name} K={K} offset {offset} {source} {way}: error {error}\n{got}\n{truth}")
                        if element == "f32" and not offset:
                            worst = max(worst, error)
    print(f"{len(names)} programs agree with NumPy, on the CPU to {worst:.1e}")


main()
