#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of this folder in NumPy (float64), written from their formulas, and a driver
that compares every function of a file with them at the smallest lengths that are
allowed, at 1 and at 13:

    values.py FT-RUN FILE [OPTIONS...]
"""

import os
import re
import subprocess
import sys
import tempfile
import zlib

import numpy as np

PROGRAMS = {}
rng = np.random.default_rng(5)


class Lengths(dict):
    __getattr__ = dict.__getitem__


def program(names, arguments, smallest=None, only=None):
    """A reference: its lengths by letter, how its arguments are made, what bounds them."""

    def register(function):
        PROGRAMS[function.__name__] = (names, arguments, function, smallest or {}, only)
        return function

    return register


def normal(*shape, sc=1.0):
    return (rng.standard_normal(shape) * sc).astype(np.float32)


def uniform(lo, hi, *shape):
    return rng.uniform(lo, hi, shape).astype(np.float32)


def index(lo, hi, *shape):
    return rng.integers(lo, hi, shape, dtype=np.int64)


n, u, ix, th = (normal, uniform, index, np.tanh)


def sg(v):
    return 1 / (1 + np.exp(-v))


def cell(h, c, x, u, w):
    g = x @ u + h @ w
    i, f, o, z = (sg(g[:, :6]), sg(g[:, 6:12]), sg(g[:, 12:18]), th(g[:, 18:]))
    c = f * c + i * z
    return (o * th(c), c)


@program("NL", lambda d: [n(d.N, d.L, 1, 6), n(2, 6, 24, sc=0.4), n(2, 6, 24, sc=0.4)], {"L": 1})
def bilstm(d, xs, us, ws):
    out = np.zeros((d.N, 2, d.L, 1, 6))
    cs = np.zeros((d.N, 1, 6))
    for b in range(d.N):
        for k, order in ((0, range(d.L)), (1, range(d.L - 1, -1, -1))):
            h = c = np.zeros((1, 6))
            for t in order:
                h, c = cell(h, c, xs[b, t], us[k], ws[k])
                out[b, k, t] = h
            cs[b] += c
    return (out, cs)


@program("ST", lambda d: [n(d.S, 1, 6), n(d.T, 1, 6), n(6, 6, sc=0.4), n(6, 6, sc=0.4), n(1, 6)], {"S": 1})
def additive_attention_rnn(d, xs, ys, we, wd, v):
    h = np.zeros((1, 6))
    enc = []
    for x in xs:
        h = th(h @ we + x)
        enc.append(h)
    enc = np.array(enc)
    h = np.zeros((1, 6))
    o = np.zeros((d.T, 1, 6))
    A = np.zeros((d.T, d.S))
    for t, y in enumerate(ys):
        e = (th(enc + h @ wd) * v).sum((1, 2))
        a = np.exp(e - e.max())
        a /= a.sum()
        A[t] = a
        h = th(y + np.einsum("s,sij->ij", a, enc) + h @ wd)
        o[t] = h
    return (o, A)


@program("TP", lambda d: [n(d.T, d.P, 3), n(3, 3, 9, sc=0.3), n(3, 3, 9, sc=0.3)])
def conv_lstm(d, xs, ku, kw):
    h = np.zeros((d.P, 3))
    c = np.zeros((d.P, 3))
    o = np.zeros((d.T, d.P, 3))
    for t in range(d.T):
        xp = np.pad(xs[t], ((1, 1), (0, 0)))
        hp = np.pad(h, ((1, 1), (0, 0)))
        g = sum((xp[k:k + d.P] @ ku[k] + hp[k:k + d.P] @ kw[k] for k in range(3)))
        f, i, og = (th(g[:, :3]), th(g[:, 3:6]), th(g[:, 6:]))
        c = f * c + i
        h = og * th(c)
        o[t] = h
    return o


@program("M", lambda d: [n(d.M, 1, 6), ix(0, max(d.M, 1), d.M), ix(0, max(d.M, 1), d.M), n(6, 6, sc=0.3), n(6, 6, sc=0.3)])
def tree_rnn(d, x, l, r, wl, wr):
    s = np.zeros((d.M, 1, 6))
    for k in range(d.M):
        s[k] = th(s[l[k]] @ wl + s[r[k]] @ wr + x[k])
    return s


@program("N", lambda d: [n(d.N, 8, 1, 6), n(6, 6, sc=0.3), n(6, 6, sc=0.3)])
def binary_tree(d, x, wl, wr):
    while x.shape[1] > 1:
        x = th(x[:, 0::2] @ wl + x[:, 1::2] @ wr)
    return x[:, 0]


@program("NL", lambda d: [n(d.N, d.L, 1, 6), n(6, 6, sc=0.4)])
def skip_rnn(d, xs, w):
    p = np.zeros((d.N, d.L, 1, 6))
    q = np.zeros_like(p)
    for b in range(d.N):
        h = np.zeros((1, 6))
        for t in range(d.L):
            h = th(h @ w + xs[b, t])
            k = th((p[b, t - 3] if t >= 3 else 0 * h) @ w + xs[b, t])
            p[b, t] = k + h
            q[b, t] = (q[b, t - 3] if t >= 3 else 1) * k
    return (p, q)


@program("LG", lambda d: [n(d.L, 1, 6), ix(1, 5, d.G), n(d.G, 6, 6, sc=0.3)])
def clockwork(d, xs, per, ws):
    h = np.zeros((d.G, 1, 6))
    o = np.zeros((d.L, d.G, 1, 6))
    for t in range(d.L):
        s = h.sum(0)
        nh = h.copy()
        for g in range(d.G):
            if t % per[g] == 0:
                nh[g] = th(s @ ws[g] + xs[t])
        h = nh
        o[t] = h
    return o


@program("NL", lambda d: [n(d.N, d.L, 1, 6), n(6, 6, sc=0.4), n(6, 6, sc=0.4)])
def min_gru(d, xs, wz, wn):
    h = np.zeros((d.N, 1, 6))
    o = np.zeros((d.N, d.L, 1, 6))
    for t in range(d.L):
        z = sg(xs[:, t] @ wz)
        h = (1 - z) * h + z * (xs[:, t] @ wn)
        o[:, t] = h
    return o


@program("L", lambda d: [n(d.L, 1, 6)] + [n(6, 6, sc=0.4) for _ in range(3)])
def slstm(d, xs, wi, wf, wz):
    c = np.zeros((1, 6))
    nn = c + 1
    m = c
    h = c
    o = np.zeros((d.L, 1, 6))
    M = np.zeros((d.L, 1, 6))
    for t in range(d.L):
        i = xs[t] + h @ wi
        f = xs[t] + h @ wf
        z = th(xs[t] + h @ wz)
        m1 = np.maximum(f + m, i)
        c = np.exp(f + m - m1) * c + np.exp(i - m1) * z
        nn = np.exp(f + m - m1) * nn + np.exp(i - m1)
        m = m1
        h = c / nn
        o[t] = h
        M[t] = m
    return (o, M)


@program("L", lambda d: [n(d.L, 1, 6), n(d.L, 1, 6), n(d.L, 1, 6), n(d.L), n(d.L)])
def mlstm(d, q, k, v, i, f):
    C = np.zeros((6, 6))
    N = np.zeros((1, 6))
    m = 0
    o = np.zeros((d.L, 1, 6))
    for t in range(d.L):
        m1 = max(f[t] + m, i[t])
        ie = np.exp(i[t] - m1)
        fe = np.exp(f[t] + m - m1)
        m = m1
        C = fe * C + ie * np.outer(k[t], v[t])
        N = fe * N + ie * k[t]
        o[t] = q[t] @ C / max(abs((N * q[t]).sum()), 1)
    return o


@program("LM", lambda d: [n(d.L, 3), u(0.2, 0.7, d.M), u(0.2, 0.6, d.M), n(d.M), n(d.M)])
def s4d(d, us, ar, ai, cr, ci):
    x = np.zeros((d.M, 3), complex)
    o = np.zeros((d.L, 3))
    for t in range(d.L):
        x = (ar + 1j * ai)[:, None] * x + us[t]
        o[t] = ((cr + 1j * ci)[:, None] * x).real.sum(0)
    return o


@program("HL", lambda d: [n(d.H, d.L, 3), n(d.H, d.L, 3, sc=0.5), n(d.H, d.L, 3), u(0, 0.9, d.H, d.L)])
def delta_net(d, q, k, v, b):
    o = np.zeros((d.L, d.H, 3))
    for h in range(d.H):
        S = np.zeros((3, 3))
        for t in range(d.L):
            S = S + b[h, t] * np.outer(v[h, t] - S @ k[h, t], k[h, t])
            o[t, h] = S @ q[h, t]
    return o


@program("L", lambda d: [n(d.L, 1, 6), n(3, 6, 6, sc=0.3), n(3, 6, 6, sc=0.3)])
def wavenet(d, x, w, u):
    for k in range(3):
        s = 1 << k
        p = np.concatenate([np.zeros((s, 1, 6)), x])[:d.L]
        x = th(x @ w[k] + p @ u[k]) + x
    return x


@program("TVS", lambda d: [n(d.T, d.V), ix(0, d.V, d.S)], {"V": 1, "S": 2})
def ctc(d, lp, lab):
    a = np.full(d.S, -1e+30)
    a[0] = 0
    o = np.zeros((d.T, d.S))
    last = 0.0
    for t in range(d.T):
        b = np.zeros(d.S)
        for s in range(d.S):
            c = [a[s]]
            c.append(a[s - 1] if s >= 1 else -1e+30)
            l2 = lab[s - 2] if s >= 2 else 0
            c.append(a[s - 2] if s >= 2 and lab[s] != 0 and (lab[s] != l2) else -1e+30)
            b[s] = np.logaddexp.reduce(c) + lp[t, lab[s]]
        a = b
        o[t] = a
        last = max(a[-1], a[-2])
    return (o, last)


@program("TK", lambda d: [u(0.1, 1, d.T, d.K), u(0.1, 1, d.K, d.K)])
def hmm(d, o, a):
    f = np.zeros((d.T, d.K))
    c = np.zeros(d.T)
    p = np.ones(d.K)
    for t in range(d.T):
        q = p @ a * o[t]
        c[t] = q.sum() + 1e-06
        p = q / c[t]
        f[t] = p
    b = np.zeros((d.T, d.K))
    p = np.ones(d.K)
    for t in range(d.T - 1, -1, -1):
        p = a @ (p * o[t]) / c[t]
        b[t] = p
    return (f * b, c)


@program("MN", lambda d: [rng.integers(0, 4, d.M).astype(np.int32), rng.integers(0, 4, d.N).astype(np.int32)])
def edit_distance(d, a, b):
    D = np.zeros((d.M + 1, d.N + 1), int)
    D[0] = range(d.N + 1)
    D[:, 0] = range(d.M + 1)
    for i in range(d.M):
        for j in range(d.N):
            D[i + 1, j + 1] = min(D[i, j] + (a[i] != b[j]), D[i, j + 1] + 1, D[i + 1, j] + 1)
    t = D[1:, 1:]
    return (t, np.array(t.max() if t.size else 0))


@program("MN", lambda d: [rng.integers(0, 3, d.M).astype(np.int32), rng.integers(0, 3, d.N).astype(np.int32)])
def smith_waterman(d, a, b):
    H = np.zeros((d.M + 1, d.N + 1))
    E = np.full((d.M + 1, d.N + 1), -1e+30)
    G = np.full((d.M + 1, d.N + 1), -1e+30)
    best = (0.0, -1, -1)
    for i in range(1, d.M + 1):
        for j in range(1, d.N + 1):
            E[i, j] = max(H[i - 1, j] - 1.5, E[i - 1, j] - 0.25)
            G[i, j] = max(H[i, j - 1] - 1.5, G[i, j - 1] - 0.25)
            H[i, j] = max(0, H[i - 1, j - 1] + (2 if a[i - 1] == b[j - 1] else -1), E[i, j], G[i, j])
            if H[i, j] > best[0]:
                best = (H[i, j], i - 1, j - 1)
    return (H[1:, 1:], best[0], np.array(best[1]), np.array(best[2]))


@program("L", lambda d: [n(d.L)])
def kalman(d, z):
    f = np.array([[1, 0.1], [0, 1]])
    q = np.diag([0.01, 0.02])
    h = np.array([1.0, 0])
    x = np.zeros(2)
    p = np.eye(2)
    X = np.zeros((d.L, 2))
    P = np.zeros((d.L, 2, 2))
    for t in range(d.L):
        x = f @ x
        p = f @ p @ f.T + q
        k = p @ h / (h @ p @ h + 0.5)
        x = x + k * (z[t] - h @ x)
        p = p - np.outer(k, p @ h)
        X[t] = x
        P[t] = p
    return (X, P)


@program("V", lambda d: [u(0.1, 3, d.V, d.V)])
def floyd_warshall(d, m):
    m = m.copy()
    for k in range(d.V):
        m = np.minimum(m, m[:, k:k + 1] + m[k:k + 1])
    return m


@program("NE", lambda d: [n(d.N, 4), n(d.E, 4), n(d.E, 4, 4)], {"E": 1})
def moe(d, x, g, w):
    l = x @ g.T
    k = l.argmax(1)
    p = np.exp(l - l.max(1, keepdims=True)).sum(1)
    return (np.einsum("ni,nij->nj", x, w[k]) / p[:, None], k)


@program("L", lambda d: [n(d.L, 4), ix(0, 3, d.L)])
def segmented(d, x, h):
    o = np.zeros((d.L, 4))
    s = np.zeros(4)
    for t in range(d.L):
        s = x[t] if h[t] == 0 else s + x[t]
        o[t] = s
    return (o, np.cumsum(h == 0) > 0)


@program("L", lambda d: [n(d.L)])
def dct(d, x):
    k = np.arange(d.L)
    return np.cos((k[None] + 0.5) * k[:, None] * np.pi / max(d.L, 1)) @ x


@program("XYT", lambda d: [n(d.X, d.Y), u(0, 0.2, d.T)], {"X": 1, "Y": 1})
def jacobi(d, a, ts):
    o = np.zeros((d.T, d.X, d.Y))
    for t in range(d.T):
        p = np.pad(a, 1, mode="edge")
        a = a + ts[t] * (p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * a)
        o[t] = a
    return o


@program("NL", lambda d: [n(d.N, d.L)])
def cum_argmax(d, x):
    m = np.maximum.accumulate(x, 1)
    k = np.zeros(x.shape, int)
    for i in range(d.N):
        for j in range(d.L):
            k[i, j] = x[i, :j + 1].argmax()
    return (m, k)


@program("KVR", lambda d: [n(d.K), n(d.K, d.V), ix(0, 2, d.R)])
def beam(d, s, lp, r):
    t = s[:, None].astype(np.float32) + lp.astype(np.float32)
    x = np.full(d.R, -1e+30)
    I = np.full(d.R, -1)
    J = np.full(d.R, -1)
    o = np.argsort(-t.ravel(), kind="stable")[:d.R]
    m = len(o)
    x[:m] = t.ravel()[o]
    I[:m], J[:m] = np.divmod(o, d.V) if d.V else (0, 0)
    return (x, I, J)


@program("L", lambda d: [n(d.L)])
def sort(d, x):
    return np.sort(x)


@program("XYR", lambda d: [rng.integers(0, 2, (d.X, d.Y)).astype(np.int8), ix(0, 2, d.R)], {"X": 1, "Y": 1})
def life(d, a, r):
    a = a.astype(int)
    for _ in range(d.R):
        s = sum((np.roll(np.roll(a, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1))) - a
        a = ((s == 3) | (s == 2) & (a == 1)).astype(int)
    return a


@program("LK", lambda d: [n(d.L, 4), n(d.K)])
def mixed_states(d, xs, ks):
    A = np.zeros((d.L, d.K))
    Bv = np.zeros((d.L, 4))
    C = np.zeros(d.L)
    E = np.zeros((d.L, d.K))
    for t in range(d.L - 1, -1, -1):
        l, v, c = (A[t + 2], Bv[t + 2], C[t + 2]) if t + 2 < d.L else (ks, np.zeros(4), 0.5)
        A[t] = l * c + ks
        C[t] = th(A[t].sum())
        Bv[t] = v * C[t] + xs[t]
        E[t] = A[t][::-1]
    return (A, Bv, E)


@program("NL", lambda d: [n(d.N, d.L, 4), n(d.N, d.L)], {"N": 2})
def zips(d, x, y):
    a = x[1]
    for k in range(1, d.N):
        a = th(x[k] * y[k][:, None] + x[k][::-1] + a)
    return a


@program("KLNM", lambda d: [n(d.K, d.L, 4), ix(0, d.K, d.N, d.M), rng.integers(0, d.L, d.M).astype(np.int32)], {"K": 1, "L": 1})
def gathers2(d, x, i, c):
    return (x[i], x[:, c].transpose(1, 0, 2), x[i.max() if i.size else 0, -1], x[::-1])


@program("L", lambda d: [n(d.L, 4)], {"L": 1})
def pyramid(d, x):

    def p(x):
        return (x[0::2], x[np.minimum(np.arange(0, len(x), 2) + 1, len(x) - 1)])
    a = sum(p(x)) / 2
    b = np.subtract(*p(a))
    return np.concatenate([b[::-1], b.sum(0)[None], a])


@program("GRL", lambda d: [n(d.G, d.R, d.L, 4), n(d.G, d.L, 4), n(d.G, d.L, 4), u(0.1, 0.5, d.G, d.R)])
def gqa_alibi(d, q, k, v, s):
    e = np.einsum("grid,gjd->grij", q, k) * 0.5
    i = np.arange(d.L)
    e = e - s[:, :, None, None] * (i[:, None] - i)
    e = np.where(i[:, None] >= i, e, -1e+30)
    p = np.exp(e - e.max(-1, keepdims=True)) if d.L else e
    return np.einsum("grij,gjd->grid", p / p.sum(-1, keepdims=True), v)


@program("L", lambda d: [n(d.L, 4), u(0.5, 0.95, d.L), n(d.L, 4), n(d.L, 4)], only=lambda d: d.L % 4 == 0)
def ssd(d, x, a, b, c):
    h = np.zeros((4, 4))
    o = np.zeros((d.L, 4))
    for t in range(d.L):
        h = a[t] * h + np.outer(b[t], x[t])
        o[t] = c[t] @ h
    return o.reshape(-1, 4, 4)


@program("NL", lambda d: [rng.integers(-128, 128, (d.N, d.L)).astype(np.int8), rng.integers(-300, 300, (d.L, 3)).astype(np.int16)])
def crc(d, x, w):
    return (np.array([zlib.crc32(r.astype(np.int8).tobytes()) for r in x], np.uint32).astype(np.int32).reshape(d.N), np.minimum(np.cumsum(w, 0, dtype=np.int16), 1000))


@program("LM", lambda d: [n(d.L, 4), n(d.L, 4), n(d.M, 4)], {"L": 1, "M": 1})
def ntm(d, k, v, m):
    o = np.zeros((d.L, 4))
    for t in range(d.L):
        w = np.exp(th(m @ k[t]))
        w /= w.sum()
        o[t] = w @ m
        m = m + w[:, None] * (v[t] - m)
    return (o, m)


@program("NL", lambda d: [n(d.N, d.L, 4, 6), np.float32(d.N * d.L)], {"N": 1, "L": 1}, only=lambda d: d.N * d.L >= 4)
def norms(d, x, c):
    y = (x - x.mean((0, 1))) / np.sqrt(x.var((0, 1)) + 0.001)
    g = x.reshape(d.N, d.L, 2, 12)
    g = (g - g.mean(-1, keepdims=True)) / np.sqrt(g.var(-1, keepdims=True) + 0.001)
    return (y, g.reshape(x.shape))


@program("NL", lambda d: [n(d.N, 4), n(d.L, 4)])
def restarts(d, x, y):
    r = np.zeros((d.N, d.L, 4))
    for i in range(d.N):
        s = x[i]
        a = []
        for t in range(d.L):
            s = s * 0.5 + y[t]
            a.append(s)
        if i % 2 == 0:
            m = x[i]
            b = []
            for v in a[::-1]:
                m = np.maximum(m, v)
                b.append(m)
            a = b[::-1]
        if d.L:
            r[i] = a
    s = np.zeros(4)
    for i in range(d.N - 1, -1, -1):
        for t in range(d.L):
            s = s * 0.5 + r[i, t]
    return (r, s, y)


@program("L", lambda d: [n(d.L, 4)], {"L": 6})
def accesses(d, x):
    c = np.cumsum(x, 0)
    z = np.zeros((3, 4))
    a = np.concatenate([z[:2], c])[:d.L]
    b = np.concatenate([a[3:], z])
    r = b[::-1]
    e = (a - r) * x
    return (e, c[2:-3][::2], e[-6])


# As in include/ft/Runtime/Arrays/Compare.h, by the type of the result.
TOLERANCE = {"f8": 1e-12, "f4": 1e-5, "f2": 2e-3}


def differs(got, want):
    if got.shape != want.shape:
        return f"shape {got.shape}, expected {want.shape}"
    if want.dtype.kind in "ib":
        return "" if np.array_equal(got.astype(np.int64), want.astype(np.int64)) else "integers differ"
    if want.size == 0:
        return ""
    tolerance = TOLERANCE[got.dtype.str[1:]]
    bound = tolerance * (1 + np.abs(want) + np.sqrt(np.mean(want**2)))
    # What is no number is within no bound.
    if np.all(np.abs(got - want) <= bound):
        return ""
    return f"off by {np.max(np.abs(got - want) / bound)} of the tolerance"


def main():
    ft_run, path, *options = sys.argv[1:]
    runs = failures = 0
    names = re.findall(r"(?m)^func\.func @(\w+)", open(path).read())
    for name in names:
        letters, arguments, reference, smallest, only = PROGRAMS[name]
        cases = [{l: max(v, smallest.get(l, 0)) for l in letters} for v in (0, 1, 13)]
        cases += [{l: 24 for l in letters}] if only else []
        for case in [c for i, c in enumerate(cases) if c not in cases[:i]]:
            lengths = Lengths(case)
            if only and not only(lengths):
                continue
            runs += 1
            inputs = arguments(lengths)
            with np.errstate(all="ignore"):
                wanted = reference(lengths, *[a.astype(np.float64) if a.dtype.kind == "f" else a for a in inputs])
            wanted = [np.asarray(w) for w in (wanted if isinstance(wanted, (tuple, list)) else [wanted])]
            with tempfile.TemporaryDirectory() as work:
                command = [ft_run, path, f"--entry={name}", *options]
                for i, array in enumerate(inputs):
                    np.save(f"{work}/in{i}.npy", array)
                    command.append(f"--arg={work}/in{i}.npy")
                command += [f"--out={work}/out{i}.npy" for i in range(len(wanted))]
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode:
                    failures += 1
                    print(f"{name} {case}: status {done.returncode}\n{' '.join(command)}\n{done.stdout}{done.stderr[:2000]}")
                    continue
                for i, want in enumerate(wanted):
                    if why := differs(np.load(f"{work}/out{i}.npy"), want):
                        failures += 1
                        print(f"{name} {case}: result {i}: {why}")
    print(f"{len(names)} programs, {runs} runs, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
