# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of many kinds that are no examples, at odd sizes, on both engines, against NumPy."""

import math
import unittest

import numpy as np

import fractaltensor as ft
from cases import Cases, integers, normal, random

CASES = Cases()
case = CASES.case


@case(normal(2, 7, 1, 5), normal(5, 5, scale=0.3), normal(5, 5, scale=0.3))
def bidirectional_rnn():
    def program(xss: ft.List["N, L", ft.f32[1, "H"]], wf: ft.f32["H", "H"], wb: ft.f32["H", "H"]):
        def sentence(xs):
            zero = ft.zeros(1, "H")
            forward = xs.scanl(lambda h, x: ft.tanh(x + h @ wf), zero)
            backward = xs.scanr(lambda h, x: ft.tanh(x + h @ wb), zero)
            return ft.zip(forward, backward).map(lambda a, b: ft.cat([a, b], -1))

        return xss.map(sentence)

    def reference(x, wf, wb):
        def run(x, w):
            h, out = np.zeros_like(x[:, 0]), []
            for k in range(x.shape[1]):
                h = np.tanh(x[:, k] + h @ w)
                out.append(h)
            return np.stack(out, 1)

        return np.concatenate([run(x, wf), run(x[:, ::-1], wb)[:, ::-1]], -1)

    return program, reference


@case(normal(13, 11, 3), normal(3, 3, 3, 2, scale=0.3), bounds=["H >= 3", "W >= 3"])
def convolution_2d():
    def program(image: ft.List["H, W", ft.f32["C"]], kernel: ft.List["3, 3", ft.f32["C", "O"]]):
        def row(rows):  # three rows
            columns = rows.transpose().window(3)  # W - 2 windows of 3 columns of 3

            def place(patch):
                flat = ft.zip(patch.transpose().flatten(), kernel.flatten())
                return flat.reduce(lambda s, x, k: s + x @ k, ft.zeros("O"), combine=ft.add)

            return columns.map(place)

        return image.window(3).map(row)

    def reference(image, kernel):
        h, w, _ = image.shape
        return sum(image[i : h - 2 + i, j : w - 2 + j] @ kernel[i, j] for i in range(3) for j in range(3))

    return program, reference


@case(integers(0, 4, 9), integers(0, 4, 13), bounds=["M >= 1"])
def edit_distance():
    def program(a: ft.List["N", ft.i64], b: ft.List["M", ft.i64]):
        first = ft.iota("M").map(lambda j: j + 1)

        def row(above, i, x):
            # The cell to the left, the one above it and the one above this: corner, then a scan along the row.
            corner = ft.concat(ft.repeat(i, 1), above[:-1])

            def cell(left, y, up, diagonal):
                return ft.minimum(ft.minimum(left, up) + 1, diagonal + (x != y).to(ft.i64))

            return ft.zip(b, above, corner).scanl(cell, i + 1)

        return a.enumerate().foldl(row, first)

    def reference(a, b):
        d = np.arange(len(b) + 1)
        for i, x in enumerate(a):
            new = [i + 1]
            for j, y in enumerate(b):
                new.append(min(new[-1] + 1, d[j + 1] + 1, d[j] + (x != y)))
            d = np.array(new)
        return d[1:]

    return program, reference


@case(normal(3, 6, 4), normal(4, 4), bounds=["L >= 1"])
def crf_forward():
    """The log-partition function of a linear chain."""

    def program(xss: ft.List["N, L", ft.f32["S"]], t: ft.f32["S", "S"]):
        return xss.map(lambda xs: xs[1:].foldl(lambda a, x: (a[:, None] + t).logsumexp(0) + x, xs[0]).logsumexp())

    def reference(x, t):
        a = x[:, 0]
        for k in range(1, x.shape[1]):
            a = np.log(np.exp(a[:, :, None] + t).sum(1)) + x[:, k]
        return np.log(np.exp(a).sum(1))

    return program, reference


@case(normal(6, 4), normal(4, 4), bounds=["L >= 2"])
def viterbi():
    """The best scores and, of each step, from where they came."""

    def program(xs: ft.List["L", ft.f32["S"]], t: ft.f32["S", "S"]):
        def step(a, x):
            scores = a[:, None] + t
            return ft.emit(scores.max(0) + x, scores.argmax(0))

        return xs[1:].scanl(step, xs[0])

    def reference(x, t):
        a, best, back = x[0], [], []
        for row in x[1:]:
            s = a[:, None] + t
            a = s.max(0) + row
            best.append(a)
            back.append(s.argmax(0))
        return np.stack(best), np.stack(back)

    return program, reference


@case((random.random((7, 9)) < 0.4).astype("i4"), bounds=["H >= 2", "W >= 2"])
def game_of_life():
    def program(board: ft.List["H, W", ft.i32]):
        def row(three):
            def cell(patch):
                alive = patch[1][1]
                around = patch.flatten().reduce(ft.add, 0) - alive
                return ft.where((around == 3) | ((around == 2) & (alive == 1)), 1, 0 * alive)

            return three.transpose().window(3, boundary="wrap").map(cell)

        return board.window(3, boundary="wrap").map(row)

    def reference(board):
        around = sum(np.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)) - board
        return ((around == 3) | ((around == 2) & (board == 1))).astype("i4")

    return program, reference


@case(normal(9, 3, 3, scale=0.7), bounds=["N >= 1"])
def matrix_chain():
    def program(ms: ft.List["N", ft.f32[3, 3]]):
        return ms.reduce(ft.matmul), ms.scan(lambda a, b: a @ b)

    def reference(m):
        p, out = np.eye(3, dtype="f4"), []
        for x in m:
            p = p @ x
            out.append(p)
        return p, np.stack(out)

    return program, reference


@case(normal(6), normal(11), dtype="f32")
def horner():
    def program(coefficients: ft.List["D", ft.f32], xs: ft.List["N", ft.f32]):
        return xs.map(lambda x: coefficients.foldr(lambda s, c: s * x + c, 0.0))

    return program, lambda c, x: np.polyval(c[::-1], x)


@case(normal(10, 3), normal(10).__abs__() + 0.1)
def n_body():
    def program(ps: ft.List["N", ft.f32[3]], ms: ft.List["N", ft.f32]):
        def force(p):
            def pull(f, q, m):
                d = q - p
                r = ft.sqrt((d * d).sum() + 0.01)
                return f + m * d / r**3

            return ft.zip(ps, ms).reduce(pull, ft.zeros(3), combine=ft.add)

        return ps.map(force)

    def reference(p, m):
        d = p[None] - p[:, None]
        r = np.sqrt((d * d).sum(-1) + 0.01)
        return (m[None, :, None] * d / r[..., None] ** 3).sum(1)

    return program, reference


@case(normal(7, 2, dtype="f8"), normal(3, 3, dtype="f8", scale=0.3), normal(2, 3, dtype="f8"), dtype="f64", scale=1000)
def kalman_filter():
    """Two states: a mean and a covariance; the gain by the inverse of a 2 x 2 matrix."""

    def program(zs: ft.List["L", ft.f64[2]], f: ft.f64[3, 3], h: ft.f64[2, 3]):
        eye = ft.eye(3, dtype=ft.f64)

        def inverse(m):
            det = m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]
            rows = ft.stack([ft.stack([m[1, 1], -m[0, 1]]), ft.stack([-m[1, 0], m[0, 0]])])
            return rows / det

        def step(x, p, z):
            x, p = f @ x, f @ p @ f.T + 0.1 * eye
            gain = p @ h.T @ inverse(h @ p @ h.T + ft.eye(2, dtype=ft.f64))
            x = x + gain @ (z - h @ x)
            return x, (eye - gain @ h) @ p

        return zs.scanl(step, (ft.zeros(3, dtype=ft.f64), eye))

    def reference(zs, f, h):
        x, p, xs, ps = np.zeros(3), np.eye(3), [], []
        for z in zs:
            x, p = f @ x, f @ p @ f.T + 0.1 * np.eye(3)
            g = p @ h.T @ np.linalg.inv(h @ p @ h.T + np.eye(2))
            x = x + g @ (z - h @ x)
            p = (np.eye(3) - g @ h) @ p
            xs.append(x)
            ps.append(p)
        return np.stack(xs), np.stack(ps)

    return program, reference


@case(normal(17, 5), integers(0, 17, 3, 4), bounds=["V >= 1"])
def embedding():
    def program(table: ft.List["V", ft.f32["E"]], ids: ft.List["N, L", ft.i64]):
        return ids.map(lambda row: table[row].reduce(ft.add, 0.0))

    return program, lambda table, ids: table[ids].sum(1)


@case(normal(2, 5, 8, dtype="f2", scale=0.5), normal(3, 8, 8, dtype="f2", scale=0.3), dtype="f16", scale=20)
def half_attention():
    def program(xss: ft.List["N, L", ft.f16["C"]], ws: ft.List["3", ft.f16["C", "C"]]):
        def sentence(xs):
            qs, ks, vs = (xs.map(lambda x: x @ w) for w in ws)

            def token(q):
                scores = ks.map(lambda k: (q @ k).to(ft.f32) / math.sqrt(8))
                top = scores.reduce(ft.maximum, -1e30)
                total = scores.reduce(lambda t, s: t + ft.exp(s - top), 0.0, combine=ft.add)
                return ft.zip(scores, vs).reduce(
                    lambda o, s, v: o + (ft.exp(s - top) / total).to(ft.f16) * v, ft.zeros(8, dtype=ft.f16), combine=ft.add
                )

            return qs.map(token)

        return xss.map(sentence)

    def reference(x, w):
        x, w = x.astype("f4"), w.astype("f4")
        q, k, v = (x @ m for m in w)
        s = np.einsum("nic,njc->nij", q, k) / math.sqrt(8)
        e = np.exp(s - s.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ v

    return program, reference


@case(normal(3, 8, 4), bounds=["L >= 2"])
def haar():
    """A wavelet step: pairs, their means and differences, joined."""

    def program(xss: ft.List["N, L", ft.f32[4]]):
        def row(xs):
            pairs = xs.split(2)
            means, rests = pairs.map(lambda p: ((p[0] + p[1]) / 2, (p[0] - p[1]) / 2))
            return ft.concat(means, rests)

        return xss.map(row)

    def reference(x):
        a, b = x[:, ::2], x[:, 1::2]
        return np.concatenate([(a + b) / 2, (a - b) / 2], 1)

    return program, reference


@case(normal(9, 3), normal(5, 3))
def nearest():
    """Of each point the nearest centre: the smallest distance and its index, in one fold."""

    def program(points: ft.List["N", ft.f32[3]], centres: ft.List["K", ft.f32[3]]):
        def one(p):
            def step(best, at, i, c):
                d = ((p - c) ** 2).sum()
                closer = d < best
                return ft.where(closer, d, best), ft.where(closer, i, at)

            return centres.enumerate().foldl(step, (ft.const(1e30), ft.const(-1)))

        return points.map(one)

    def reference(p, c):
        d = ((p[:, None] - c[None]) ** 2).sum(-1)
        return d.min(1), d.argmin(1)

    return program, reference


@case(normal(4, 6), normal(6, 4), normal(4, 4))
def elements_only():
    """No list at all."""

    def program(a: ft.f32["M", "K"], b: ft.f32["K", "N"], c: ft.f32["M", "N"]):
        y = ft.relu(a @ b + c)
        return y, y.sum(), ft.einsum("mn,mn->m", y, c)

    def reference(a, b, c):
        y = np.maximum(a @ b + c, 0)
        return y, y.sum(), (y * c).sum(1)

    return program, reference


@case(normal(3, 4, 2), normal(4, 3, 2))
def levels():
    """Access operators on inner levels, results that are arguments, and values that are used twice."""

    def program(xss: ft.List["N, M", ft.f32[2]], yss: ft.List["M, N", ft.f32[2]]):
        flipped = yss.transpose()
        sums = ft.zip(xss, flipped).map(lambda xs, ys: ft.zip(xs, ys).map(ft.add))
        return sums, xss, sums[::-1], flipped.map(lambda ys: ys.shift(1))

    def reference(x, y):
        t = y.swapaxes(0, 1)
        shifted = np.concatenate([np.zeros_like(t[:, :1]), t[:, :-1]], 1)
        return x + t, x, (x + t)[::-1], shifted

    return program, reference


@case(integers(-50, 50, 8, 3, dtype="i4"))
def integer_moments():
    def program(xs: ft.List["N", ft.i32[3]]):
        wide = xs.map(lambda x: x.to(ft.i64))
        return wide.reduce(ft.add, 0), wide.map(lambda x: x * x).reduce(ft.add, 0), xs.reduce(ft.minimum, 2**31 - 1), xs.scan(ft.maximum, -(2**31))

    def reference(x):
        w = x.astype("i8")
        return w.sum(0), (w * w).sum(0), x.min(0), np.maximum.accumulate(x, 0)

    return program, reference


class Programs(unittest.TestCase):
    def test_programs(self):
        CASES.check(self)


if __name__ == "__main__":
    unittest.main()
