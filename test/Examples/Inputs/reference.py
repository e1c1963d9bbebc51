#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples in NumPy (float64), written from their formulas and not from the
programs, and a driver that compares them with ft-run:

    reference.py FT-RUN EXAMPLES-FOLDER NAME [--engine=interpret] [--float=f64] [L=3 ...]
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax_attention(q, k, v):
    """One head: q [n, d], k and v [m, d]."""
    s = q @ k.T / 8  # heads of width 64
    p = np.exp(s - s.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True) @ v


def stacked_rnn(xss, ws):
    n, length = xss.shape[:2]
    depth = ws.shape[0]
    out = np.zeros((n, depth, length) + xss.shape[2:])
    for i, d, k in itertools.product(range(n), range(depth), range(length)):
        x = xss[i, k] if d == 0 else out[i, d - 1, k]
        out[i, d, k] = x @ ws[d] + (out[i, d, k - 1] if k else 0)
    return [out]


def lstm_layer(xs, w, u, b, lag=1):
    hs, cs = np.zeros_like(xs), np.zeros_like(xs)
    for k in range(len(xs)):
        h = hs[k - lag] if k >= lag else np.zeros_like(xs[0])
        c = cs[k - lag] if k >= lag else np.zeros_like(xs[0])
        g = [xs[k] @ w[n] + h @ u[n] + b[n] for n in range(4)]
        cs[k] = sigmoid(g[1]) * c + sigmoid(g[0]) * np.tanh(g[3])
        hs[k] = sigmoid(g[2]) * np.tanh(cs[k])
    return hs, cs


def stacked_lstm(xss, wss, uss, bss):
    n, length = xss.shape[:2]
    depth = wss.shape[0]
    hsss = np.zeros((n, depth, length) + xss.shape[2:])
    csss = np.zeros_like(hsss)
    for i in range(n):
        below = xss[i]
        for d in range(depth):
            hsss[i, d], csss[i, d] = lstm_layer(below, wss[d], uss[d], bss[d])
            below = hsss[i, d]
    return [hsss, csss]


def dilated_rnn(xss, ws, us, bs):
    out = xss.copy()
    for l in range(4):
        new = np.zeros_like(out)
        for k in range(out.shape[1]):
            before = new[:, k - 2**l] if k >= 2**l else np.zeros_like(out[:, 0])
            new[:, k] = np.tanh(out[:, k] @ ws[l] + before @ us[l] + bs[l])
        out = new
    return [out]


def dilated_lstm(xss, wss, uss, bss):
    hss, css = xss.copy(), xss.copy()
    for l in range(3):
        for i in range(len(xss)):
            hss[i], css[i] = lstm_layer(hss[i].copy(), wss[l], uss[l], bss[l], 2**l)
    return [hss, css]


def grid_rnn(srcs, trgs, ws, uxs, uys, bs):
    n, rows = srcs.shape[:2]
    columns, depth = trgs.shape[1], ws.shape[0]
    hx = np.zeros((n, depth, rows, columns) + srcs.shape[2:])
    hy = np.zeros_like(hx)
    zero = np.zeros(srcs.shape[2:])
    for m, d, i, j in itertools.product(range(n), range(depth), range(rows), range(columns)):
        x = hx[m, d - 1, i, j] if d else srcs[m, i]
        y = hy[m, d - 1, i, j] if d else trgs[m, j]
        above = hx[m, d, i - 1, j] if i else zero
        left = hy[m, d, i, j - 1] if j else zero
        state = np.concatenate([above, left], axis=1) @ np.concatenate([uxs[d], uys[d]]) + bs[d]
        hx[m, d, i, j] = np.tanh(x @ ws[d] + state)
        hy[m, d, i, j] = np.tanh(y @ ws[d] + state)
    return [hx, hy]


def gru(xss, ws, us, bs, bh):
    out = np.zeros_like(xss)
    for i in range(len(xss)):
        h = np.zeros_like(bh)
        for k in range(xss.shape[1]):
            x = xss[i, k]
            r = sigmoid(x @ ws[0] + h @ us[0] + bs[0])
            z = sigmoid(x @ ws[1] + h @ us[1] + bs[1])
            n = np.tanh(x @ ws[2] + bs[2] + r * (h @ us[2] + bh))
            h = out[i, k] = (1 - z) * n + z * h
    return [out]


def blocks(x):
    """A list of row blocks as one matrix."""
    return x.reshape(-1, x.shape[-1])


def back_to_back_gemm(a, b, c, act=lambda x: x):
    whole_b = np.concatenate(list(b), axis=1) if len(b) else np.zeros((a.shape[2], 0))
    d = act(blocks(a) @ whole_b) @ (blocks(c) if len(c) else np.zeros((0, 64)))
    return [d.reshape(a.shape[0], a.shape[1], -1)]


def back_to_back_gemm_relu(a, b, c):
    return back_to_back_gemm(a, b, c, lambda x: np.maximum(x, 0))


def conv1d(xss, ws, b):
    n, length = xss.shape[:2]
    padded = np.pad(xss, ((0, 0), (1, 1), (0, 0), (0, 0)))
    return [sum(padded[:, w : w + length] @ ws[w] for w in range(3)) + b]


def layer_norm(xs, gamma, beta):
    mean, var = xs.mean(axis=-1, keepdims=True), xs.var(axis=-1, keepdims=True)
    return [(xs - mean) / np.sqrt(var + 1e-5) * gamma + beta]


def mlp(xs, w1s, b1s, w2s, b2):
    out = xs + b2
    for w1, b1, w2 in zip(w1s, b1s, w2s):
        h = xs @ w1 + b1
        out = out + h / 2 * (1 + np.tanh(0.7978845608 * (h + 0.044715 * h**3))) @ w2
    return [out]


def flash_attention(q, k, v):
    out = np.zeros_like(q)
    for b, h in itertools.product(range(q.shape[0]), range(q.shape[1])):
        out[b, h] = softmax_attention(blocks(q[b, h]), blocks(k[b, h]), blocks(v[b, h])).reshape(q.shape[2:])
    return [out]


def attention_three_step(q, k, v):
    return flash_attention(q, k, v)


def flash_attention_causal(q, k, v):
    out = np.zeros_like(q)
    for b, h in itertools.product(range(q.shape[0]), range(q.shape[1])):
        qs, ks, vs = blocks(q[b, h]), blocks(k[b, h]), blocks(v[b, h])
        rows = [softmax_attention(qs[i : i + 1], ks[: i + 1], vs[: i + 1]) for i in range(len(qs))]
        if rows:
            out[b, h] = np.concatenate(rows).reshape(q.shape[2:])
    return [out]


def bigbird(q, k, v, random):
    out = np.zeros_like(q)
    length = q.shape[1]
    for b, i in itertools.product(range(q.shape[0]), range(length)):
        if i in (0, length - 1):
            seen = set(range(length))
        else:
            seen = {0, i - 1, i, i + 1, length - 1} | {int(n) for n in random[i - 1].reshape(-1)}
        order = sorted(seen)
        out[b, i] = softmax_attention(q[b, i], blocks(k[b, order]), blocks(v[b, order]))
    return [out]


def mamba(xss, wd, bd, wb, wc, alog, skip):
    out = np.zeros_like(xss)
    a = -np.exp(alog)
    for i in range(len(xss)):
        h = np.zeros_like(alog)
        for t, x in enumerate(xss[i]):
            delta = np.log1p(np.exp(x @ wd + bd))
            h = np.exp(delta[:, None] * a) * h + np.outer(delta * x, x @ wb)
            out[i, t] = h @ (x @ wc) + skip * x
    return [out]


def retention(q, k, v, logs):
    """Position by position: the recurrent form, not the chunks of the program."""
    out = np.zeros_like(v)
    for n, h in itertools.product(range(q.shape[0]), range(q.shape[1])):
        gamma = np.exp(logs[h])
        state = np.zeros((q.shape[-1], v.shape[-1]))
        rows = []
        for qt, kt, vt in zip(blocks(q[n, h]), blocks(k[n, h]), blocks(v[n, h])):
            state = gamma * state + np.outer(kt, vt)
            rows.append(qt @ state)
        if rows:
            out[n, h] = np.array(rows).reshape(v.shape[2:])
    return [out]


def rwkv(xss, mus, ws, wo, decay, bonus):
    """The sums of the definition, in one piece for each position."""
    out = np.zeros_like(xss)
    for i in range(len(xss)):
        before = np.concatenate([np.zeros_like(xss[i][:1]), xss[i][:-1]])
        r, k, v = ((mus[n] * xss[i] + (1 - mus[n]) * before) @ ws[n] for n in range(3))
        for t in range(len(xss[i])):
            weight = [np.exp(k[j] - (t - 1 - j) * decay) for j in range(t)] + [np.exp(bonus + k[t])]
            wkv = sum(e * v[j] for j, e in enumerate(weight)) / sum(weight)
            out[i, t] = sigmoid(r[t]) * wkv @ wo
    return [out]


# --- the driver ---------------------------------------------------------------

ALIAS = re.compile(r"^!(\w+) = (tensor<([0-9x]*?)(f32|i64|i1)>)", re.M)


def length(text, dims):
    return eval(text, {"__builtins__": {}}, dims)  # `L - 2`, from our own examples


def describe(source):
    """(argument name, lengths, alias, generator) of the function, in order."""
    head = source[source.index("func.func") :]
    head = head[: head.index("-> ")]
    found = []
    for m in re.finditer(r"%(\w+): (?:!ft\.list<\[([^\]]*)\], )?!(\w+)>? \{ft\.gen = #ft\.(\w+)<([^>]*)>\}", head):
        name, lengths, alias, kind, numbers = m.groups()
        found.append((name, [t.strip() for t in lengths.split(",")] if lengths else [], alias, kind, numbers))
    return found


def main():
    ft_run, folder, name, *rest = sys.argv[1:]
    options = [o for o in rest if o.startswith("--") and not o.startswith("--float=")]
    floats = next((o.split("=")[1] for o in rest if o.startswith("--float=")), "f64")
    path = pathlib.Path(folder) / f"{name}.mlir"
    source = path.read_text()
    dims = {m[0]: int(m[1]) for m in re.findall(r"(\w+) = (\d+) : i64", re.search(r"ft\.lengths = \{([^}]*)\}", source)[1])}
    dims.update((o.split("=")[0], int(o.split("=")[1])) for o in rest if not o.startswith("--"))
    aliases = {m[1]: (m[3], m[4]) for m in ALIAS.finditer(source)}

    generator = np.random.default_rng(7)
    dtype = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i1": np.bool_}
    inputs = []
    for argument, lengths, alias, kind, numbers in describe(source):
        extents, element = aliases[alias]
        shape = [length(t, dims) for t in lengths] + [int(e) for e in extents.split("x") if e]
        low_high = [length(t, dims) for t in numbers.split(",")]
        if kind == "normal":
            data = generator.normal(0, low_high[0], shape)
        elif kind == "uniform":
            data = generator.uniform(*low_high, shape)
        else:
            data = generator.integers(*low_high, shape)
        inputs.append(data.astype(dtype[floats if element == "f32" else element]))

    expected = globals()[name](*[x.astype(np.float64) if x.dtype.kind == "f" else x for x in inputs])
    with tempfile.TemporaryDirectory() as work:
        command = [ft_run, str(path), "--engine=interpret", *options]
        for n, data in enumerate(inputs):
            np.save(f"{work}/in{n}.npy", data)
            command.append(f"--arg={work}/in{n}.npy")
        command += [f"--out={work}/out{n}.npy" for n in range(len(expected))]
        for alias, (extents, element) in aliases.items():
            if element == "f32" and floats != "f32":
                command += ["--type", f"{alias}=tensor<{extents}{floats}>"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}\nstatus {done.returncode}")
        results = [np.load(f"{work}/out{n}.npy") for n in range(len(expected))]

    tolerance = 1e-12 if floats == "f64" else 1e-5  # as in include/ft/Runtime/Arrays/Compare.h
    for n, (got, want) in enumerate(zip(results, expected)):
        if got.shape != want.shape:
            sys.exit(f"{name}: result {n} has shape {got.shape}, expected {want.shape}")
        rms = np.sqrt(np.mean(want**2)) if want.size else 0
        worst = np.max(np.abs(got - want), initial=0)
        print(f"{name} {dims}: result {n} {got.shape} rms {rms:.3g}, largest difference {worst:.2e}")
        if not worst <= tolerance * (1 + rms):
            sys.exit(f"{name}: result {n} differs")
        if want.any() and not 0.01 < rms < 100:
            sys.exit(f"{name}: result {n} is not of scale 1")
    print(f"{name}: agrees")


if __name__ == "__main__":
    main()
