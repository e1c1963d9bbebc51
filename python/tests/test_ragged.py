# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ragged lists: values and offsets in and out, as compiled code and in the interpreter."""

import unittest
import warnings

import numpy as np

import fractaltensor as ft
from fractaltensor.binding import RaggedArray
from close import assert_close


@ft.jit(engine="interpret")
def rnn(xss: ft.List["N, ragged(len)", ft.f32[1, "H"]], w: ft.f32["H", "H"]):
    hss = xss.map(lambda xs: xs.scanl(lambda h, x: ft.tanh(x + h @ w), ft.zeros(1, "H")))
    return hss, xss.map(lambda xs: xs.foldl(ft.add, ft.zeros(1, "H")))


def data():
    random = np.random.default_rng(0)
    offsets = np.array([0, 3, 3, 7, 8])
    return random.standard_normal((8, 1, 5)).astype("f4"), offsets, (random.standard_normal((5, 5)) / 3).astype("f4")


class Ragged(unittest.TestCase):
    def test_values(self):
        values, offsets, w = data()
        hs, sums = rnn(ft.ragged(values, offsets), w)
        self.assertTrue(np.array_equal(hs.offsets[0], offsets))
        self.assertEqual([len(part) for part in hs], [3, 0, 4, 1])
        for n, part in enumerate(hs):
            h = np.zeros((1, 5), "f4")
            for k, x in enumerate(values[offsets[n] : offsets[n + 1]]):
                h = np.tanh(x + h @ w)
                assert_close(self, part[k], h)
            assert_close(self, sums[n], values[offsets[n] : offsets[n + 1]].sum(0))

    def test_two_lists_of_one_level(self):
        @ft.jit(engine="interpret")
        def dot(xss: ft.List["N, ragged(len)", ft.i64], yss: ft.List["N, ragged(len)", ft.i64]):
            return ft.zip(xss, yss).map(lambda xs, ys: ft.zip(xs, ys).foldl(lambda s, x, y: s + x * y, 0))

        x, y, offsets = np.arange(6), np.arange(6)[::-1].copy(), np.array([0, 2, 6])
        self.assertTrue(np.array_equal(dot(ft.ragged(x, offsets), ft.ragged(y, offsets)), [(x * y)[:2].sum(), (x * y)[2:].sum()]))
        with self.assertRaisesRegex(ft.ArgumentValueError, "other offsets of len than 'xss'"):
            dot(ft.ragged(x, offsets), ft.ragged(y, np.array([0, 3, 6])))

    def test_text(self):
        self.assertIn("!ft.list<[N, ragged(len)], tensor<1x8xf32>>", rnn.specialize(H=8).ft)

    def test_wrong_arguments(self):
        values, offsets, w = data()
        for name, arguments, message in (
            ("no offsets", (values, w), "use ft.ragged"),
            ("rank", (ft.ragged(values[0], offsets), w), "rank 3"),
            ("element", (ft.ragged(values.astype("f8"), offsets), w), "of f32"),
            ("names", (ft.ragged(values, offsets), w[:4, :4].copy()), "H = 4"),
            ("falling", (ft.ragged(values, np.array([0, 5, 3, 7, 8])), w), "must not fall"),
            ("count", (ft.ragged(values, np.array([0, 3, 9])), w), "fewer elements"),
            ("offsets", (ft.ragged(values, offsets.astype("i4")), w), "no array of i64"),
            ("levels", (ft.ragged(values, offsets, offsets), w), "found offsets of 2"),
        ):
            with self.subTest(name), self.assertRaisesRegex(ft.ArgumentError, message):
                rnn(*arguments)

    def test_refused(self):
        """What has no meaning over padded lists: a reason, and the interpreter where no engine was named."""

        @ft.jit
        def turned(xss: ft.List["N, ragged(len)", ft.i64]):
            return xss.map(lambda xs: xs.reverse())

        argument = ft.ragged(np.arange(3), np.array([0, 1, 3]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = turned(argument)
            turned(argument)
        self.assertEqual([w.category for w in caught], [RuntimeWarning])
        self.assertIn("takes or gives a ragged list, which is interpreted only", str(caught[0].message))
        self.assertTrue(np.array_equal(found.values, [0, 2, 1]))
        with self.assertRaisesRegex(ft.CompileError, "ragged list, which is interpreted only"):
            turned(argument, engine="cpu")
        with self.assertRaisesRegex(ft.ArgumentError, "engine='cuda' needs arguments on a GPU"):
            turned(argument, engine="cuda")
        with self.assertRaisesRegex(ft.ArgumentError, "stream= is for CUDA"):
            turned(argument, stream=0)
        with self.assertRaisesRegex(ft.ArgumentError, "out="):
            turned(argument, out=np.zeros(3, "i8"))


@ft.jit
def everything(xss: ft.List["N, ragged(r)", ft.i32[2]], ws: ft.List["N", ft.i32[2]], yss: ft.List["N, ragged(r)", ft.i32]):
    def one(xs, w, ys):
        total = xs.foldl(lambda s, x: 3 * s + x, w)
        back = ys.foldr(lambda s, y: 2 * s - y, 1)
        return total, back, ft.zip(xs, ys).map(lambda x, y: x * y - w), ys.reduce(ft.add, 0)

    return ft.zip(xss, ws, yss).map(one)


@ft.jit
def alone(xs: ft.List["ragged(r)", ft.f32[3]]):
    total = xs.foldl(ft.add, ft.zeros(3))
    return total, xs.map(lambda x: x - total)


@ft.jit
def inner(xss: ft.List["N, ragged(r), M", ft.f32[2]], ws: ft.List["M", ft.f32[2]]):
    squares = xss.map(lambda xs: xs.map(lambda row: ft.zip(row, ws).map(lambda x, w: x * x + w)))
    return squares, xss.map(lambda xs: xs.foldl(lambda s, row: s + row.foldl(ft.add, ft.zeros(2)), ft.zeros(2)))


@ft.jit
def attention(qs: ft.List["N", ft.f32[1, "H"]], kss: ft.List["N, ragged(r)", ft.f32[1, "H"]]):
    def one(q, ks):
        def step(m, d, o, k):
            s = (q * k).sum(axis=1, keepdims=True)
            n = ft.maximum(m, s)
            scale, p = ft.exp(m - n), ft.exp(s - n)
            return n, d * scale + p, o * scale + p * k

        _, d, o = ks.foldl(step, (ft.full((1, 1), -1e30), ft.zeros(1, 1), ft.zeros(1, "H")))
        return o / d

    return ft.zip(qs, kss).map(one)


@ft.jit
def states(xss: ft.List["N, ragged(r)", ft.i32[2]], w: ft.List["M", ft.i32]):
    """Scans from both sides, with a lag and with outputs, and states that are lists."""

    def one(xs):
        left = xs.scanl(lambda s, x: 3 * s - x, 1)
        right = xs.scanr(lambda s, x: x - 2 * s, 2)
        skipped, out = ft.zip(left, right).scanl(lambda s, a, b: ft.emit(s + a, b * s), ft.zeros(2, dtype=ft.i32), lag=2)
        rows = xs.scanl(lambda row, x: row.scanl(lambda c, v: c + v, x.sum()), w)
        return left, right, skipped, out, rows, xs.scan(ft.maximum, -9), rows.foldl(lambda a, row: ft.zip(a, row).map(ft.maximum), w)

    return xss.map(one)


@ft.jit
def gru(xss: ft.List["N, ragged(r)", ft.f32[1, "H"]], w: ft.List["6", ft.f32["H", "H"]]):
    """The last state of sequences of different lengths, and the states."""

    def cell(h, x):
        z, r = ft.sigmoid(x @ w[0] + h @ w[1]), ft.sigmoid(x @ w[2] + h @ w[3])
        return (1 - z) * ft.tanh(x @ w[4] + (r * h) @ w[5]) + z * h

    return xss.map(lambda xs: (xs.foldl(cell, ft.zeros(1, "H")), xs.scanl(cell, ft.zeros(1, "H"))))


def offsets_of(*counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype("i8")


class Compiled(unittest.TestCase):
    """The CPU engine as the interpreter; integers bit for bit."""

    def check(self, program, *args):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = program(*args)
        expected = program(*args, engine="interpret")
        found, expected = [v if isinstance(v, tuple) else (v,) for v in (found, expected)]
        self.assertEqual(len(found), len(expected))
        for a, b in zip(found, expected):
            if isinstance(b, RaggedArray):
                self.assertEqual(len(a.offsets), len(b.offsets))
                for mine, theirs in zip(a.offsets, b.offsets):
                    np.testing.assert_array_equal(mine, theirs)
                a, b = a.values, b.values
            self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
            if a.dtype.kind == "f":
                assert_close(self, a, b)
            else:
                np.testing.assert_array_equal(a, b)

    CASES = ((2, 0, 3), (1,), (0,), (0, 0), (), (7, 1, 127, 5, 0), (13, 13))

    def test_everything(self):
        rng = np.random.default_rng(0)
        for counts in self.CASES:
            with self.subTest(counts):
                offsets, n = offsets_of(*counts), sum(counts)
                x, y = rng.integers(-5, 5, (n, 2)).astype("i4"), rng.integers(-5, 5, n).astype("i4")
                w = rng.integers(-5, 5, (len(counts), 2)).astype("i4")
                self.check(everything, ft.ragged(x, offsets), w, ft.ragged(y, offsets))

    def test_alone(self):
        for n in (0, 1, 9):
            with self.subTest(n):
                self.check(alone, ft.ragged(np.random.default_rng(n).standard_normal((n, 3)).astype("f4"), offsets_of(n)))

    def test_below(self):
        rng = np.random.default_rng(0)
        for counts in self.CASES[:3] + self.CASES[5:]:
            for m in (1, 3):
                with self.subTest(counts, m=m):
                    offsets = offsets_of(*counts)
                    x, w = rng.standard_normal((sum(counts) * m, 2)).astype("f4"), rng.standard_normal((m, 2)).astype("f4")
                    self.check(inner, ft.ragged(x, offsets), w)

    def test_states(self):
        rng = np.random.default_rng(1)
        for counts in self.CASES:
            with self.subTest(counts):
                x = rng.integers(-5, 5, (sum(counts), 2)).astype("i4")
                self.check(states, ft.ragged(x, offsets_of(*counts)), rng.integers(-5, 5, 3).astype("i4"))

    def test_recurrence(self):
        rng = np.random.default_rng(2)
        counts = (5, 0, 13, 1)
        x = rng.standard_normal((sum(counts), 1, 7)).astype("f4")
        w = (rng.standard_normal((6, 7, 7)) / 3).astype("f4")
        self.check(gru, ft.ragged(x, offsets_of(*counts)), w)

    def test_strides(self):
        """Values, offsets and other arguments that lie by strides are read by them, or copied."""
        rng = np.random.default_rng(3)
        x, w, y = rng.integers(-5, 5, (10, 2)).astype("i4"), rng.integers(-5, 5, (4, 2)).astype("i4"), rng.integers(-5, 5, 10).astype("i4")
        offsets = np.array([0, 9, 3, 9, 5])[::2]
        found = everything(ft.ragged(x[::2], offsets), w[::2], ft.ragged(y[::2], offsets))
        dense = everything(ft.ragged(x[::2].copy(), offsets.copy()), w[::2].copy(), ft.ragged(y[::2].copy(), offsets.copy()))
        for a, b in zip(found, dense):
            np.testing.assert_array_equal(getattr(a, "values", a), getattr(b, "values", b))
        np.testing.assert_array_equal(found[2].offsets[0], [0, 3, 5])

    def test_attention(self):
        rng = np.random.default_rng(0)
        counts = (3, 1, 17, 5)
        q, k = rng.standard_normal((4, 1, 8)).astype("f4"), rng.standard_normal((26, 1, 8)).astype("f4")
        offsets = offsets_of(*counts)
        self.check(attention, q, ft.ragged(k, offsets))
        found = attention(q, ft.ragged(k, offsets))
        for n, (a, b) in enumerate(zip(offsets[:-1], offsets[1:])):
            s = np.exp((q[n] * k[a:b, 0]).sum(1))
            assert_close(self, found[n, 0], (s[:, None] * k[a:b, 0]).sum(0) / s.sum())

    def test_wrong_arguments(self):
        x, w, y = np.zeros((5, 2), "i4"), np.zeros((2, 2), "i4"), np.zeros(5, "i4")
        for name, offsets, message in (
            ("falling", [0, 5, 3], "must not fall"), ("beyond", [0, 3, 9], "fewer elements"), ("first", [1, 3, 5], "begin with 0"),
            ("lists", [0, 2, 4, 5], "extent|expected|lists"),
        ):
            with self.subTest(name), self.assertRaisesRegex(ft.ArgumentError, message):
                everything(ft.ragged(x, np.array(offsets)), w, ft.ragged(y, np.array(offsets)))

    def test_offsets_shorter_than_values(self):
        """What lies after the last list is looked at by nothing."""
        offsets = offsets_of(2, 1)
        x, y, w = np.arange(10, dtype="i4").reshape(5, 2), np.arange(5, dtype="i4"), np.ones((2, 2), "i4")
        found = everything(ft.ragged(x, offsets), w, ft.ragged(y, offsets))
        self.assertEqual(found[2].values.shape, (3, 2))

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no PyTorch")
        values, offsets = torch.arange(12.0).reshape(4, 3), torch.tensor([0, 4])
        total, rest = alone(ft.ragged(values, offsets))
        self.assertTrue(torch.equal(total, values.sum(0)))
        self.assertTrue(torch.equal(rest.values, values - total))
        self.assertIsInstance(rest.offsets[0], torch.Tensor)


if __name__ == "__main__":
    unittest.main()
