#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of named-accesses.mlir in NumPy, written from what the operators mean, compared with the
interpreter of lists, which the other runs are compared with:

    named-accesses.py FT-RUN FILE FOLDER-OR-PREFIX
"""

import subprocess
import sys

import numpy as np

ft_run, path, prefix = sys.argv[1:]
random = np.random.default_rng(11)


def alternating(window, weights=None):
    """Folds t = a·w - t over the places of a window, of any number."""
    t = np.zeros(2, np.int32)
    for i, a in enumerate(window):
        t = (a if weights is None else a * weights[i]) - t
    return t


def windows(xs, weights, size, step, dilation, outside):
    """Centred windows; `outside(i)` is the element at an index beyond the list."""
    low = (size - 1) // 2 * dilation
    at = lambda i: xs[i] if 0 <= i < len(xs) else outside(i)
    return [alternating([at(i + w * dilation - low) for w in range(size)], weights) for i in range(0, len(xs), step)]


def whole(xs, weights, size, dilation=1):
    count = len(xs) - dilation * (size - 1)
    return [alternating([xs[i + w * dilation] for w in range(size)], weights) for i in range(count)]


def lagged(xs, lag, step, first):
    states = []
    for i, x in enumerate(xs):
        states.append(step(states[i - lag] if i >= lag else first, x))
    return states


def shifted(xs, by, fill):
    return [xs[i - by] if 0 <= i - by < len(xs) else fill for i in range(len(xs))]


zero, one, five = (np.full(2, v, np.int32) for v in (0, 1, 5))
square = lambda s, x: (x - s) * (x - s)


def size_causal(xs, ws):
    k = len(ws)
    at = lambda i: xs[i] if i >= 0 else zero
    return [alternating([at(i - 3 * (k - 1 - w)) for w in range(k)], ws) for i in range(0, len(xs), 2)]


def lag_right(xs, ds):
    states = lagged(xs[::-1], len(ds) + 1, square, one)
    before = [states[i - len(ds) - 1] if i > len(ds) else one for i in range(len(xs))]
    return states[::-1], [x - b for x, b in zip(xs[::-1], before)][::-1]


def layers(xs, ws):
    pasts = []
    for w, d in zip(ws, (1, 2, 4, 8)):
        past = shifted(xs, d, zero)
        pasts.append(past)
        xs = [x - p * w for x, p in zip(xs, past)]
    return xs, pasts


def layers_right(xs, ws):
    made = []
    for w, d in reversed(list(zip(ws, (0, 1, 3)))):
        xs = whole([w] * (2 * d + 2) + list(xs), None, 3, d + 1)
        made.append(xs)
    return made[::-1]


def layers_lag(xss, ws):
    for w, d in zip(ws, (1, 2, 4)):
        xss = [lagged(xs, d, lambda h, x: x - h * w, zero) for xs in xss]
    return xss


def layers_nested(xs):
    s = xs
    for e in range(3):
        past = shifted(xs, 2 - e, zero)
        s = [x * x - p for x, p in zip(s, past)]
    return s


def layers_map(xs, ws):
    made = []
    for w, d in zip(ws, (5, 0, 2)):
        for x in xs[:d]:
            w = x - w
        made.append(w)
    return made


# What the arguments' dimensions are, and the value.
programs = {
    "size": ("L K", lambda xs, ws: whole(xs, ws, len(ws))),
    "size_causal": ("L K", size_causal),
    "size_zero": ("L K", lambda xs, ws: windows(xs, ws, len(ws), 1, 1, lambda i: zero)),
    "size_clamp": ("L K", lambda xs, ws: windows(xs, ws, len(ws), 1, 2, lambda i: xs[0] if i < 0 else xs[-1])),
    "size_mirror": ("L K", lambda xs, ws: windows(xs, ws, len(ws), 1, 1, lambda i: xs[-i] if i < 0 else xs[2 * len(xs) - 2 - i])),
    "size_wrap": ("L K", lambda xs, ws: windows(xs, ws, len(ws), 1, 1, lambda i: xs[i % len(xs)])),
    "dilation": ("L D 3", lambda xs, ds, ws: whole(xs, ws, 3, len(ds))),
    "dilation_zero": ("L D 4", lambda xs, ds, ws: windows(xs, ws, 4, 3, len(ds) + 1, lambda i: zero)),
    "lag": ("L D", lambda xs, ds: lagged(xs, len(ds), square, one)),
    "lag_right": ("L D", lag_right),
    "lag_sum": ("NL D", lambda xss, ds: [lagged(xs, len(ds), lambda s, x: s + x, zero) for xs in xss]),
    "shifts": ("L D E", lambda xs, ds, es: tuple([x - y for x, y in zip(xs, shifted(xs, by, five))] for by in (len(ds), -len(ds), len(ds) - len(es)))),
    "layers": ("L 4", layers),
    "layers_right": ("L 3", layers_right),
    "layers_lag": ("NL 3", layers_lag),
    "layers_nested": ("L", layers_nested),
    "layers_map": ("L 3", layers_map),
}
runs = wrong = 0
for name, (shapes, value) in programs.items():
    for lengths in ({"L": 9, "K": 4, "D": 3, "E": 4, "N": 2}, {"L": 13, "K": 7, "D": 1, "E": 0, "N": 1}, {"L": 8, "K": 1, "D": 4, "E": 9, "N": 3}):
        arguments, files = [], []
        for i, shape in enumerate(shapes.split()):
            extents = [int(c) if c.isdigit() else lengths[c] for c in shape]
            arguments.append(random.integers(-9, 9, extents + [2], dtype=np.int32))
            np.save(f"{prefix}.{i}.npy", arguments[-1])
            files.append(f"--arg={prefix}.{i}.npy")
        expected = value(*arguments)
        expected = expected if isinstance(expected, tuple) else (expected,)
        outputs = [f"{prefix}.out{i}.npy" for i in range(len(expected))]
        command = [ft_run, path, f"--entry={name}", "--engine=interpret", *files, *(f"--out={o}" for o in outputs)]
        with np.errstate(over="ignore"):
            done = subprocess.run(command, capture_output=True, text=True)
        runs += 1
        equal = done.returncode == 0
        for output, array in zip(outputs, expected):
            equal = equal and np.array_equal(np.load(output), np.array(array, np.int32).reshape(np.load(output).shape))
        if not equal:
            wrong += 1
            print(f"{' '.join(command)}: status {done.returncode}\n{done.stderr[:1500]}")
print(f"{len(programs)} programs, {runs} runs, {wrong} wrong")
sys.exit(1 if wrong else 0)
