# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are no examples: recurrences, tables, filters, gathers, several element types."""

import math
import unittest

import numpy as np

import fractaltensor as ft
from cases import Cases, integers, normal, random, sigmoid

CASES = Cases()
case = CASES.case


@case(normal(2, 7, 1, 5), normal(2, 3, 5, 5, scale=0.3), normal(2, 3, 5, 5, scale=0.3))
def bidirectional_gru():
    """Two directions with weights of their own, as lists of two sets of three matrices."""

    def program(xss: ft.List["N, L", ft.f32[1, "H"]], us: ft.List["2, 3", ft.f32["H", "H"]], ws: ft.List["2, 3", ft.f32["H", "H"]]):
        def cell(u, w):
            def step(h, x):
                z = ft.sigmoid(x @ u[0] + h @ w[0])
                r = ft.sigmoid(x @ u[1] + h @ w[1])
                n = ft.tanh(x @ u[2] + (r * h) @ w[2])
                return (1 - z) * n + z * h

            return step

        def sentence(xs):
            zero = ft.zeros(1, "H")
            return ft.zip(xs.scanl(cell(us[0], ws[0]), zero), xs.scanr(cell(us[1], ws[1]), zero)).map(lambda a, b: ft.cat([a, b], -1))

        return xss.map(sentence)

    def reference(x, u, w):
        def run(x, u, w):
            h, out = np.zeros_like(x[:, 0]), []
            for k in range(x.shape[1]):
                z = sigmoid(x[:, k] @ u[0] + h @ w[0])
                r = sigmoid(x[:, k] @ u[1] + h @ w[1])
                n = np.tanh(x[:, k] @ u[2] + (r * h) @ w[2])
                h = (1 - z) * n + z * h
                out.append(h)
            return np.stack(out, 1)

        return np.concatenate([run(x, u[0], w[0]), run(x[:, ::-1], u[1], w[1])[:, ::-1]], -1)

    return program, reference


@case(normal(2, 29, 3), normal(4, 3, 3, 3, scale=0.4), bounds=["L >= 16"])
def wavenet():
    """Dilated causal convolutions of growing dilation, gated, with a residual."""

    def program(xss: ft.List["N, L", ft.f32["C"]], ks: ft.List["4, 3", ft.f32["C", "C"]]):
        def layer(xs, taps, d):
            padded = ft.concat(ft.repeat(ft.zeros("C"), 2 * d), xs)
            ys = padded.window(3, dilation=d).map(lambda w: ft.zip(w, taps).reduce(lambda s, x, k: s + x @ k, ft.zeros("C"), combine=ft.add))
            return ft.zip(xs, ys).map(lambda x, y: x + ft.tanh(y) * ft.sigmoid(y))

        def sentence(xs):
            for i, d in enumerate([1, 2, 4, 8]):
                xs = layer(xs, ks[i], d)
            return xs

        return xss.map(sentence)

    def reference(x, k):
        for i, d in enumerate([1, 2, 4, 8]):
            p = np.concatenate([np.zeros_like(x[:, : 1]).repeat(2 * d, 1), x], 1)
            n = x.shape[1]
            y = sum(p[:, t * d : t * d + n] @ k[i, t] for t in range(3))
            x = x + np.tanh(y) * sigmoid(y)
        return x

    return program, reference


@case(integers(0, 4, 9), integers(0, 4, 13), bounds=["M >= 1", "N >= 1"])
def gotoh():
    """Edit distance with affine gaps: three tables, row after row; opening costs 3, each letter 1."""

    def program(a: ft.List["N", ft.i64], b: ft.List["M", ft.i64]):
        big = 1 << 20
        m0 = ft.concat(ft.repeat(ft.const(0), 1), ft.repeat(ft.const(big), "M"))
        x0 = ft.repeat(ft.const(big), "M + 1")
        y0 = ft.concat(ft.repeat(ft.const(big), 1), ft.iota("M").map(lambda j: j + 4))

        def row(m, x, y, i, c):
            # x: a gap in b (down), y: a gap in a (to the right).
            xs = ft.zip(m, x, y).map(lambda m, x, y: ft.minimum(ft.minimum(m, y) + 4, x + 1))
            best = ft.zip(m, x, y).map(lambda m, x, y: ft.minimum(ft.minimum(m, x), y))
            ms = ft.concat(ft.repeat(ft.const(big), 1), ft.zip(best[:-1], b).map(lambda d, e: d + ft.where(c == e, 0, 2)))

            def cell(y, m, x):
                return ft.minimum(ft.minimum(m, x) + 4, y + 1)

            ys = ft.concat(ft.repeat(ft.const(big), 1), ft.zip(ms[:-1], xs[:-1]).scanl(cell, big))
            return ms, xs, ys

        m, x, y = a.enumerate().foldl(row, (m0, x0, y0))
        return ft.minimum(ft.minimum(m[-1], x[-1]), y[-1])

    def reference(a, b):
        big = 1 << 20
        n, k = len(a), len(b)
        m, x, y = (np.full((n + 1, k + 1), big) for _ in range(3))
        m[0, 0] = 0
        y[0, 1:] = np.arange(k) + 4
        for i in range(1, n + 1):
            for j in range(k + 1):
                x[i, j] = min(m[i - 1, j] + 4, y[i - 1, j] + 4, x[i - 1, j] + 1)
                if j:
                    m[i, j] = min(m[i - 1, j - 1], x[i - 1, j - 1], y[i - 1, j - 1]) + (0 if a[i - 1] == b[j - 1] else 2)
                    y[i, j] = min(m[i, j - 1] + 4, x[i, j - 1] + 4, y[i, j - 1] + 1)
        return np.asarray(min(m[n, k], x[n, k], y[n, k]))

    return program, reference


@case(normal(2, 23, 5), normal(5, 4, scale=0.3), normal(5, 4, scale=0.3), np.abs(normal(5, 4)) + 0.1)
def diagonal_state_space():
    """A diagonal state space (S4D) as an associative scan over pairs of decay and input, then a read-out."""

    def program(xss: ft.List["N, L", ft.f32["C"]], b: ft.f32["C", "S"], c: ft.f32["C", "S"], a: ft.f32["C", "S"]):
        decay = ft.exp(-a)

        def join(p, q, r, s):
            return p * r, q * r + s

        def sentence(xs):
            pairs = xs.map(lambda x: (decay, x[:, None] * b))
            _, states = ft.zip(*pairs).scan(join, (ft.ones("C", "S"), ft.zeros("C", "S")))
            return states.map(lambda h: (h * c).sum(-1))

        return xss.map(sentence)

    def reference(x, b, c, a):
        h, out = np.zeros((x.shape[0], *a.shape), "f4"), []
        for k in range(x.shape[1]):
            h = h * np.exp(-a) + x[:, k, :, None] * b
            out.append((h * c).sum(-1))
        return np.stack(out, 1)

    return program, reference


@case(normal(3, 11, 5), normal(3, 11, 5), normal(3, 11, 7), sigmoid(normal(3, 11, 5)))
def gated_linear_attention():
    def program(qss: ft.List["N, L", ft.f32["D"]], kss: ft.List["N, L", ft.f32["D"]], vss: ft.List["N, L", ft.f32["E"]], gss: ft.List["N, L", ft.f32["D"]]):
        def head(qs, ks, vs, gs):
            def step(s, q, k, v, g):
                s = g[:, None] * s + k[:, None] * v[None, :]
                return ft.emit(s, q @ s)

            return ft.zip(qs, ks, vs, gs).scanl(step, ft.zeros("D", "E"))[1]

        return ft.zip(qss, kss, vss, gss).map(head)

    def reference(q, k, v, g):
        s, out = np.zeros((3, 5, 7), "f4"), []
        for t in range(q.shape[1]):
            s = g[:, t, :, None] * s + k[:, t, :, None] * v[:, t, None, :]
            out.append(np.einsum("nd,nde->ne", q[:, t], s))
        return np.stack(out, 1)

    return program, reference


@case(normal(13, 17), bounds=["H >= 5", "W >= 5"])
def box_filter():
    """A 5 x 5 mean, first along columns, then along rows; edges are clamped."""

    def program(image: ft.List["H, W", ft.f32]):
        def along(rows):
            return rows.map(lambda row: row.window(5, boundary="clamp").map(lambda w: w.reduce(ft.add, 0.0) / 5))

        return along(along(image).transpose()).transpose()

    def reference(image):
        def along(a):
            p = np.pad(a, ((0, 0), (2, 2)), "edge")
            return sum(p[:, i : i + a.shape[1]] for i in range(5)) / 5

        return along(along(image).T).T

    return program, reference


@case(integers(-9, 9, 127), bounds=["N >= 1"])
def running_maximum_of_sums():
    """Kadane's largest sum of a segment by an associative scan: (total, best prefix, best suffix, best)."""

    def program(xs: ft.List["N", ft.i64]):
        low = -(1 << 40)

        def join(a, b):
            (t, p, s, m), (u, q, r, n) = a, b
            return t + u, ft.maximum(p, t + q), ft.maximum(r, s + u), ft.maximum(ft.maximum(m, n), s + q)

        four = xs.map(lambda x: (x, x, x, x))
        t, p, s, m = ft.zip(*four).scan(lambda *v: join(v[:4], v[4:]), (0, low, low, low))
        return m, t[-1], p[-1]

    def reference(x):
        best, here, out = -(1 << 40), -(1 << 40), []
        for v in x:
            here = max(here, 0) + v if here > -(1 << 39) else v
            best = max(best, here)
            out.append(best)
        return np.array(out), x.sum(), np.cumsum(x).max()

    return program, reference


@case(integers(0, 7, 53), bounds=["N >= 1"])
def histogram():
    """Counts of each value, the cumulated counts, and the image equalised with them (a gather)."""

    def program(xs: ft.List["N", ft.i64]):
        counts = ft.iota(7).map(lambda v: xs.map(lambda x: (x == v).to(ft.i64)).reduce(ft.add, 0))
        cumulated = counts.scan(ft.add, 0)
        return counts, cumulated, cumulated[xs]

    def reference(x):
        counts = np.bincount(x, minlength=7)
        return counts, counts.cumsum(), counts.cumsum()[x]

    return program, reference


@case(integers(1, 30, 7), integers(1, 9, 7), bounds=["N >= 1"])
def knapsack():
    """0/1 knapsack over capacities 0 … 31: a row is read at j - weight, where there is one."""

    def program(values: ft.List["N", ft.i64], weights: ft.List["N", ft.i64]):
        def item(best, v, w):
            return best.enumerate().map(lambda j, b: ft.maximum(b, ft.where(j >= w, best[ft.maximum(j - w, 0)] + v, 0)))

        return ft.zip(values, weights).foldl(item, ft.repeat(ft.const(0), 32))

    def reference(values, weights):
        best = np.zeros(32, "i8")
        for v, w in zip(values, weights):
            new = best.copy()
            new[w:] = np.maximum(best[w:], best[:-w] + v)
            best = new
        return best

    return program, reference


@case(normal(9, 6), normal(6, 6), bounds=["L >= 1"])
def crf_decode():
    """Viterbi with back-pointers, followed back from the end by a scan to the left."""

    def program(xs: ft.List["L", ft.f32[6]], t: ft.f32[6, 6]):
        def step(a, x):
            s = a[:, None] + t
            return ft.emit(s.max(0) + x, s.argmax(0))

        scores, back = xs.scanl(step, ft.zeros(6))
        last = scores[-1].argmax(0).to(ft.i64)
        path = back.scanr(lambda at, b: b[at], last)
        return path, last

    def reference(x, t):
        a, back = np.zeros(6, "f4"), []
        for row in x:
            s = a[:, None] + t
            back.append(s.argmax(0))
            a = s.max(0) + row
        at, path = a.argmax(), []
        last = at
        for b in back[::-1]:
            at = b[at]
            path.append(at)
        return np.array(path[::-1]), np.asarray(last)

    return program, reference


@case(normal(5, 3, 8, dtype="f2"), integers(-3, 4, 5, 8, dtype="i4"), random.random((5, 8)) < 0.6, normal(8), scale=20, dtype="f16")
def mixed_dtypes():
    """f16 values, i32 counts, a mask of bool and f32 weights in one program."""

    def program(xss: ft.List["N, L", ft.f16["H"]], ns: ft.List["N", ft.i32["H"]], on: ft.List["N", ft.bool["H"]], w: ft.f32["H"]):
        def row(xs, n, m):
            total = xs.map(lambda x: ft.where(m, x.to(ft.f32) * w, 0.0)).reduce(ft.add, 0.0)
            scaled = (total * n.to(ft.f32)).to(ft.f16)
            return scaled, ft.where(m, n, -n), (total > 0) & m, m.to(ft.i32).sum()

        return ft.zip(xss, ns, on).map(row)

    def reference(x, n, on, w):
        total = np.where(on, (x.astype("f4") * w).sum(1), 0)
        return (total * n).astype("f2"), np.where(on, n, -n), (total > 0) & on, on.sum(-1).astype("i4")

    return program, reference


@case(normal(11, 4), normal(7, 4), scale=20)
def soft_dtw():
    """Soft dynamic time warping: every cell from three neighbours by a soft minimum."""

    def program(a: ft.List["N", ft.f32[4]], b: ft.List["M", ft.f32[4]]):
        big = 1e4

        def softmin(x, y, z):
            m = ft.minimum(ft.minimum(x, y), z)
            return m - ft.log(ft.exp(m - x) + ft.exp(m - y) + ft.exp(m - z))

        first = ft.concat(ft.repeat(ft.const(0.0), 1), ft.repeat(ft.const(big), "M"))

        def row(above, x):
            costs = b.map(lambda y: ((x - y) ** 2).sum())
            cells = ft.zip(costs, above[1:], above[:-1]).scanl(lambda left, c, up, corner: c + softmin(left, up, corner), big)
            return ft.concat(ft.repeat(ft.const(big), 1), cells)

        return a.scanl(row, first)

    def reference(a, b):
        big = 1e4
        d = np.full((len(a) + 1, len(b) + 1), big)
        d[0, 0] = 0
        for i, x in enumerate(a.astype("f8")):
            for j, y in enumerate(b.astype("f8")):
                three = np.array([d[i + 1, j], d[i, j + 1], d[i, j]])
                m = three.min()
                d[i + 1, j + 1] = ((x - y) ** 2).sum() + m - np.log(np.exp(m - three).sum())
        return d[1:].astype("f4")

    return program, reference


@case(normal(3, 10, 4), normal(3, 4, 4, scale=0.3), bounds=["L >= 1"])
def cascade():
    """Three RNNs one above the other whose layers read the state of the layer below one step earlier."""

    def program(xss: ft.List["N, L", ft.f32["H"]], ws: ft.List["3", ft.f32["H", "H"]]):
        def sentence(xs):
            out = []
            for w in ws:
                xs = xs.shift(1).scanl(lambda h, x: ft.tanh(h @ w + x), ft.zeros("H"))
                out.append(xs)
            return ft.concat(*[o[-1:] for o in out])

        return xss.map(sentence)

    def reference(x, w):
        outs = []
        for m in w:
            x = np.concatenate([np.zeros_like(x[:, :1]), x[:, :-1]], 1)
            h, out = np.zeros_like(x[:, 0]), []
            for k in range(x.shape[1]):
                h = np.tanh(h @ m + x[:, k])
                out.append(h)
            x = np.stack(out, 1)
            outs.append(x[:, -1])
        return np.stack(outs, 1)

    return program, reference


@case(normal(2, 3, 9, 4), normal(2, 3, 9, 4), normal(2, 3, 9, 4), bounds=["L >= 3"])
def sliding_window_attention():
    """Each query sees the keys of three places around it, the edges those that there are."""

    def program(q: ft.List["N, A, L", ft.f32["D"]], k: ft.List["N, A, L", ft.f32["D"]], v: ft.List["N, A, L", ft.f32["D"]]):
        def head(qs, ks, vs):
            inside = ft.iota("L").map(lambda i: ft.const(0.0) + 0 * i.to(ft.f32)).window(3, boundary="zero")
            marks = ft.iota("L").map(lambda i: 1.0 + 0 * i.to(ft.f32)).window(3, boundary="zero")

            def one(q, ks, vs, ms):
                scores = ft.zip(ks, ms).map(lambda k, m: ft.where(m > 0, (q * k).sum() / 2, -1e30))
                top = scores.reduce(ft.maximum, -1e30)
                es = scores.map(lambda s: ft.exp(s - top))
                total = es.reduce(ft.add, 0.0)
                return ft.zip(es, vs).reduce(lambda o, e, v: o + e * v, ft.zeros("D"), combine=ft.add) / total

            return ft.zip(qs, ks.window(3, boundary="zero"), vs.window(3, boundary="zero"), marks).map(one)

        return ft.zip(q, k, v).map(lambda a, b, c: ft.zip(a, b, c).map(head))

    def reference(q, k, v):
        n = q.shape[2]
        s = np.einsum("nhid,nhjd->nhij", q, k) / 2
        i = np.arange(n)
        s = np.where(abs(i[:, None] - i[None]) <= 1, s, -1e30)
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    return program, reference


@case(normal(13), normal(13), normal(13), normal(13), bounds=["N >= 2"], scale=100)
def tridiagonal():
    """Thomas' algorithm: a sweep down, then a scan up."""

    def program(a: ft.List["N", ft.f32], b: ft.List["N", ft.f32], c: ft.List["N", ft.f32], d: ft.List["N", ft.f32]):
        def down(p, q, a, b, c, d):
            m = 1 / (4 + b - a * p)
            return c * m, (d - a * q) * m

        ps, qs = ft.zip(a, b, c, d).scanl(down, (0.0, 0.0))
        return ft.zip(ps, qs).scanr(lambda x, p, q: q - p * x, 0.0)

    def reference(a, b, c, d):
        n = len(a)
        m = np.diag(4 + b.astype("f8")) + np.diag(a[1:], -1) + np.diag(c[:-1], 1)
        return np.linalg.solve(m, d).astype("f4")

    return program, reference


@case(normal(6, 4, 1, 8), normal(4, 8, 8, scale=0.3), normal(4, 8, 3, scale=0.3), integers(0, 4, 6))
def mixture_of_experts():
    """Each token goes to one expert, named by data."""

    def program(xs: ft.List["N, T", ft.f32[1, "H"]], w1: ft.List["E", ft.f32["H", "H"]], w2: ft.List["E", ft.f32["H", "O"]], to: ft.List["N", ft.i64]):
        return ft.zip(xs, to).map(lambda ts, e: ts.map(lambda t: ft.gelu(t @ w1[e]) @ w2[e]))

    def reference(x, w1, w2, to):
        erf = np.vectorize(math.erf)
        h = np.einsum("ntih,nhk->ntik", x, w1[to])
        h = h * 0.5 * (1 + erf(h / math.sqrt(2)))
        return np.einsum("ntik,nko->ntio", h, w2[to]).astype("f4")

    return program, reference


@case(normal(5, 5, scale=0.2), bounds=["N >= 1"])
def floyd_warshall():
    """Shortest ways between all pairs; the k-th row and column are read in every step."""

    def program(d: ft.List["N, N", ft.f32]):
        def step(d, k):
            row = d[k]
            return d.map(lambda r: ft.zip(r, row).map(lambda x, y: ft.minimum(x, r[k] + y)))

        positive = d.map(lambda r: r.map(ft.abs))
        return ft.iota("N").foldl(step, positive)

    def reference(d):
        d = np.abs(d)
        for k in range(len(d)):
            d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1])
        return d

    return program, reference


@case(normal(31), normal(3))
def infinite_impulse_response():
    """A recursive filter of two taps: the states of one and of two steps before."""

    def program(xs: ft.List["N", ft.f32], c: ft.f32[3]):
        def step(a, b, x):
            y = c[0] * x + 0.4 * ft.tanh(c[1]) * a + 0.4 * ft.tanh(c[2]) * b
            return ft.emit((y, a), y)

        return xs.scanl(step, (0.0, 0.0))[2]

    def reference(x, c):
        a = b = 0.0
        out = []
        for v in x:
            a, b = c[0] * v + 0.4 * np.tanh(c[1]) * a + 0.4 * np.tanh(c[2]) * b, a
            out.append(a)
        return np.array(out, "f4")

    return program, reference


@case(normal(4, 6, 3), normal(3))
def batch_norm():
    """Mean and variance over batch and place: Welford's sums of each sentence, joined."""

    def program(xss: ft.List["N, L", ft.f32["C"]], g: ft.f32["C"]):
        def one(n, mean, m2, x):
            d = x - mean
            n = n + 1
            mean = mean + d / n
            return n, mean, m2 + d * (x - mean)

        def join(a, b):
            (n, p, s), (m, q, t) = a, b
            d, k = q - p, ft.maximum(n + m, 1.0)
            return n + m, p + d * (m / k), s + t + d * d * (n * m / k)

        none = (0.0, ft.zeros("C"), ft.zeros("C"))
        parts = xss.map(lambda xs: xs.reduce(one, none, combine=join))
        n, mean, m2 = ft.zip(*parts).reduce(lambda *v: join(v[:3], v[3:]), none)
        scale = g / ft.sqrt(m2 / n + 1e-5)
        return xss.map(lambda xs: xs.map(lambda x: (x - mean) * scale)), mean

    def reference(x, g):
        mean, var = x.mean((0, 1)), x.var((0, 1))
        return (x - mean) / np.sqrt(var + 1e-5) * g, mean

    return program, reference


@case(normal(3, 7, 2), normal(7, 7, scale=0.4))
def graph_convolution():
    """Two steps over a dense graph, then the maximum over its nodes."""

    def program(gs: ft.List["G, V", ft.f32["F"]], a: ft.List["V, V", ft.f32]):
        def step(hs):
            return a.map(lambda row: ft.relu(ft.zip(row, hs).reduce(lambda s, w, h: s + w * h, ft.zeros("F"), combine=ft.add)))

        return gs.map(lambda hs: step(step(hs)).reduce(ft.maximum, ft.full(("F",), -1e30)))

    def reference(x, a):
        for _ in range(2):
            x = np.maximum(np.einsum("uv,gvf->guf", a, x), 0)
        return x.max(1)

    return program, reference


@case(normal(7, 7, dtype="f8"), normal(7, dtype="f8"), dtype="f64", scale=100)
def conjugate_gradients():
    """As many steps as there are rows, on elements alone."""

    def program(a: ft.f64["N", "N"], b: ft.f64["N"]):
        m = a @ a.T + 7.0 * ft.eye("N", dtype=ft.f64)

        def step(x, r, p, i):
            q = m @ p
            rr = (r * r).sum()
            alpha = rr / ((p * q).sum() + 1e-300)
            s = r - alpha * q
            return x + alpha * p, s, s + (s * s).sum() / (rr + 1e-300) * p

        zero = ft.zeros("N", dtype=ft.f64)
        return ft.iota(9).foldl(step, (zero, b, b))[0]

    def reference(a, b):
        return np.linalg.solve(a @ a.T + 7 * np.eye(7), b)

    return program, reference


@case(normal(7, 5), normal(5, 5), normal(5), bounds=["L >= 1"])
def forward_backward():
    """Posteriors of a hidden Markov chain: a scan from each side, joined place by place."""

    def program(xs: ft.List["L", ft.f32["S"]], t: ft.f32["S", "S"], p: ft.f32["S"]):
        a = xs.scanl(lambda a, x: (a[:, None] + t).logsumexp(0) + x, p)
        b = xs[1:].scanr(lambda b, x: (t + (b + x)[None, :]).logsumexp(1), ft.zeros("S"))
        b = ft.concat(b, ft.repeat(ft.zeros("S"), 1))
        return ft.zip(a, b.cast("L")).map(lambda a, b: ft.softmax(a + b))

    def reference(x, t, p):
        L = len(x)
        a, out = p, []
        for k in range(L):
            a = np.log(np.exp(a[:, None] + t).sum(0)) + x[k]
            out.append(a)
        b, back = np.zeros_like(p), [np.zeros_like(p)]
        for k in range(L - 1, 0, -1):
            b = np.log(np.exp(t + (b + x[k])[None]).sum(1))
            back.append(b)
        s = np.stack(out) + np.stack(back[::-1])
        e = np.exp(s - s.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return program, reference


@case(np.abs(normal(6, 9)), scale=30)
def sinkhorn():
    def program(m: ft.List["N, M", ft.f32]):
        def step(u, v, i):
            u = m.map(lambda row: 1 / (ft.zip(row, v).reduce(lambda s, k, b: s + ft.exp(-k) * b, 0.0, combine=ft.add)))
            v = m.transpose().map(lambda col: 1 / (ft.zip(col, u).reduce(lambda s, k, a: s + ft.exp(-k) * a, 0.0, combine=ft.add)))
            return u, v
        return ft.iota(5).foldl(step, (ft.repeat(ft.const(1.0), "N"), ft.repeat(ft.const(1.0), "M")))

    def reference(m):
        k = np.exp(-m)
        v = np.ones(9, "f4")
        for _ in range(5):
            u = 1 / (k @ v)
            v = 1 / (k.T @ u)
        return u, v

    return program, reference


@case(normal(5, 11, 4), integers(1, 4, 3), scale=20, bounds=["K >= 1"])
def ctc():
    """The log-likelihood of labels by CTC: 2 K + 1 states, blanks between."""

    def program(xss: ft.List["N, L", ft.f32[4]], labels: ft.List["K", ft.i64]):
        low = -1e5
        def sentence(xs):
            def join(*v):
                m = v[0]
                for w in v[1:]: m = ft.maximum(m, w)
                s = 0.0
                for w in v:
                    s = s + ft.exp(w - m)
                return m + ft.log(s)
            # state of blanks (K + 1) and of labels (K)
            b0 = ft.concat(ft.repeat(ft.const(0.0), 1), ft.repeat(ft.const(low), "K"))
            l0 = ft.repeat(ft.const(low), "K")
            previous = labels.shift(1, fill=-1)
            def step(bs, ls, x):
                left = ft.concat(ft.repeat(ft.const(low), 1), ls)
                nb = ft.zip(bs, left).map(lambda b, l: join(b, l) + x[0])
                nl = ft.zip(ls, bs[:-1].cast("K"), ls.shift(1, fill=low), labels, previous).map(
                    lambda l, b, p, y, z: join(l, b, ft.where(y == z, low, p)) + x[y])
                return nb, nl
            bs, ls = xs.map(ft.log_softmax).foldl(step, (b0, l0))
            return join(bs[-1], ls[-1])
        return xss.map(sentence)

    def reference(x, labels):
        out = []
        K = len(labels)
        ext = [0]
        for l in labels:
            ext += [l, 0]
        for xs in x.astype("f8"):
            lp = xs - np.log(np.exp(xs).sum(1, keepdims=True))
            # alpha before the first frame: at blank 0
            a = np.full(2 * K + 1, -1e5)
            a[0] = 0
            for t in range(len(lp)):
                n = np.full_like(a, -1e5)
                for s in range(2 * K + 1):
                    v = [a[s]]
                    if s >= 1:
                        v.append(a[s - 1])
                    if s >= 2 and ext[s] and ext[s] != ext[s - 2]:
                        v.append(a[s - 2])
                    m = max(v)
                    n[s] = m + np.log(sum(np.exp(w - m) for w in v)) + lp[t, ext[s]]
                a = n
            v = [a[-1], a[-2]]
            m = max(v)
            out.append(m + np.log(sum(np.exp(w - m) for w in v)))
        return np.array(out, "f4")

    return program, reference


@case(normal(17, scale=0.8), normal(17, scale=0.8))
def mandelbrot():
    def program(xs: ft.List["N", ft.f32], ys: ft.List["N", ft.f32]):
        def point(x, y):
            def step(a, b, n, i):
                inside = a * a + b * b <= 4
                return ft.where(inside, a * a - b * b + x, a), ft.where(inside, 2 * a * b + y, b), n + inside.to(ft.i32)
            return ft.iota(20).foldl(step, (0.0, 0.0, ft.const(0, dtype=ft.i32)))[2]
        return ft.zip(xs, ys).map(point)

    def reference(x, y):
        a = np.zeros_like(x)
        b = np.zeros_like(x)
        n = np.zeros(len(x), "i4")
        for _ in range(20):
            i = a * a + b * b <= 4
            a, b, n = np.where(i, a * a - b * b + x, a), np.where(i, 2 * a * b + y, b), n + i
        return n.astype("i4")

    return program, reference


@case(integers(-4, 5, 7), integers(-4, 5, 5), bounds=["N >= 1", "M >= 1"])
def polynomial_product():
    def program(a: ft.List["N", ft.i64], b: ft.List["M", ft.i64]):
        padded = ft.concat(ft.repeat(ft.const(0), "M - 1"), a, ft.repeat(ft.const(0), "M - 1"))
        return padded.window("M").map(lambda w: ft.zip(w, b[::-1]).reduce(lambda s, x, y: s + x * y, 0, combine=ft.add))

    return program, lambda a, b: np.convolve(a, b)


@case(normal(3, 9, 4), normal(2, 4, 4, scale=0.4), normal(2, 4, 4, scale=0.4), bounds=["L >= 4"])
def clockwork():
    """An RNN whose second layer runs at every third step of the first, by a stride, and is repeated to its length."""

    def program(xss: ft.List["N, L", ft.f32["H"]], ws: ft.List["2", ft.f32["H", "H"]], us: ft.List["2", ft.f32["H", "H"]]):
        def run(xs, i):
            return xs.scanl(lambda h, x: ft.tanh(x @ ws[i] + h @ us[i]), ft.zeros("H"))
        def sentence(xs):
            a = run(xs, 0)
            b = run(a[::3], 1)
            return a[-1], b[-1], b
        return xss.map(sentence)

    def reference(x, w, u):
        def run(x, i):
            h, out = np.zeros_like(x[:, 0]), []
            for k in range(x.shape[1]):
                h = np.tanh(x[:, k] @ w[i] + h @ u[i])
                out.append(h)
            return np.stack(out, 1)
        a = run(x, 0)
        b = run(a[:, ::3], 1)
        return a[:, -1], b[:, -1], b

    return program, reference


@case(normal(8, 6), normal(3, 6), scale=30)
def mixture_em():
    """Two steps of EM for Gaussians of unit variance."""

    def program(xs: ft.List["N", ft.f32["D"]], ms: ft.List["K", ft.f32["D"]]):
        def step(ms, i):
            d = xs.map(lambda x: ms.map(lambda m: -0.5 * ((x - m) ** 2).sum()))
            top = d.map(lambda r: r.reduce(ft.maximum, -1e30))
            z = ft.zip(d, top).map(lambda r, t: r.reduce(lambda s, v: s + ft.exp(v - t), 0.0, combine=ft.add))
            def centre(column):
                w = ft.zip(column, top, z).map(lambda v, t, s: ft.exp(v - t) / s)
                total = w.reduce(ft.add, 0.0)
                return ft.zip(w, xs).reduce(lambda a, w, x: a + w * x, ft.zeros("D"), combine=ft.add) / total
            return d.transpose().map(centre)
        return ft.iota(2).foldl(step, ms)

    def reference(x, m):
        x = x.astype("f8")
        m = m.astype("f8")
        for _ in range(2):
            d = -0.5 * ((x[:, None] - m[None]) ** 2).sum(-1)
            r = np.exp(d - d.max(1, keepdims=True))
            r /= r.sum(1, keepdims=True)
            m = r.T @ x / r.sum(0)[:, None]
        return m.astype("f4")

    return program, reference


@case(integers(0, 2, 3, 19), bounds=["L >= 1"])
def run_lengths():
    """The longest run of equal values, with states of i64 and bool."""

    def program(xss: ft.List["N, L", ft.i64]):
        def row(xs):
            def step(last, length, best, grew, x):
                same = x == last
                length = ft.where(same, length + 1, 1)
                return x, length, ft.maximum(best, length), length > best
            return xs.scanl(step, (-1, 0, 0, False))[1:]
        return xss.map(row)

    def reference(x):
        n, b, g = [], [], []
        for row in x:
            last, length, best = -1, 0, 0
            for v in row:
                length = length + 1 if v == last else 1
                last = v
                g.append(length > best)
                best = max(best, length)
                n.append(length)
                b.append(best)
        return np.array(n).reshape(x.shape), np.array(b).reshape(x.shape), np.array(g).reshape(x.shape)

    return program, reference


@case(normal(3, 16), bounds=["N >= 0"])
def walsh_hadamard():
    """Butterflies of four layers, each by split and concat of a list of constant length."""

    def program(xss: ft.List["N, 16", ft.f32]):
        def layer(xs, k):
            pairs = xs.split(2 * k)
            def one(p):
                a, b = p[:k], p[k:]
                return ft.concat(ft.zip(a, b).map(lambda x, y: x + y), ft.zip(a, b).map(lambda x, y: x - y))
            return pairs.map(one).flatten()
        def row(xs):
            for k in (1, 2, 4, 8):
                xs = layer(xs, k)
            return xs
        return xss.map(row)

    def reference(x):
        h = np.array([[1.0]])
        for _ in range(4):
            h = np.block([[h, h], [h, -h]])
        return (x @ h.T).astype("f4")

    return program, reference


@case(normal(5, 7, dtype="f8"), dtype="f64", scale=100)
def runge_kutta():
    def program(ys: ft.List["N", ft.f64["D"]]):
        def f(y):
            return ft.roll(y, 1) * ft.cos(y) - 0.1 * y
        def step(y, t):
            h = 0.05
            a = f(y)
            b = f(y + h / 2 * a)
            c = f(y + h / 2 * b)
            d = f(y + h * c)
            return y + h / 6 * (a + 2 * b + 2 * c + d)
        return ys.map(lambda y: ft.iota(13).scanl(step, y))

    def reference(y):
        def f(y):
            return np.roll(y, 1, -1) * np.cos(y) - 0.1 * y

        out = []
        for _ in range(13):
            h = 0.05
            a = f(y)
            b = f(y + h / 2 * a)
            c = f(y + h / 2 * b)
            d = f(y + h * c)
            y = y + h / 6 * (a + 2 * b + 2 * c + d)
            out.append(y)
        return np.stack(out, 1)

    return program, reference


@case(normal(9, 4), integers(0, 9, 3, 4, dtype="i4"))
def graph_attention():
    """Each node looks at four neighbours named by i32 data (as columns)."""
    def program(hs: ft.List["V", ft.f32["F"]], to: ft.List["E, 4", ft.i32]):
        def edge(ids):
            ns = hs[ids]
            q = ns[0]
            s = ns.map(lambda k: (q * k).sum())
            top = s.reduce(ft.maximum, -1e30)
            z = s.reduce(lambda t, v: t + ft.exp(v - top), 0.0, combine=ft.add)
            return ft.zip(s, ns).reduce(lambda o, v, n: o + ft.exp(v - top) / z * n, ft.zeros("F"), combine=ft.add)
        return to.map(edge)

    def reference(h, to):
        n = h[to]
        s = (n[:, :1] * n).sum(-1)
        e = np.exp(s - s.max(1, keepdims=True))
        e /= e.sum(1, keepdims=True)
        return (e[..., None] * n).sum(1)

    return program, reference


@case(normal(4, 5, 3, 2, dtype="f2"), dtype="f16", scale=20, bounds=["A >= 1", "B >= 1", "C >= 1"])
def three_levels():
    def program(x: ft.List["A, B, C", ft.f16[2]]):
        t = x.transpose(2, 0, 1)
        return t, t[::-1, 1:, ::2], x[:, -1], x[1:, :, 0], t.map(lambda p: p.map(lambda r: r.reduce(ft.maximum)))

    def reference(x):
        t = x.transpose(2, 0, 1, 3)
        return t, t[::-1, 1:, ::2], x[:, -1], x[1:, :, 0], t.max(2)

    return program, reference


class Programs(unittest.TestCase):
    def test_programs(self):
        CASES.check(self)


if __name__ == "__main__":
    unittest.main()
