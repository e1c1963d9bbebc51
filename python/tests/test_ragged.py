# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ragged lists: values and offsets in and out, on the interpreter."""

import unittest
import warnings

import numpy as np

import fractaltensor as ft
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

    def test_engines(self):
        @ft.jit
        def same(xss: ft.List["N, ragged(len)", ft.i64]):
            return xss.map(lambda xs: xs[::1].map(lambda x: x + 1))

        argument = ft.ragged(np.arange(3), np.array([0, 1, 3]))
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = same(argument)
            same(argument)
        self.assertEqual([w.category for w in caught], [RuntimeWarning])
        self.assertTrue(np.array_equal(found.values, [1, 2, 3]))
        with self.assertRaisesRegex(ft.ArgumentError, "interpreter only"):
            same(argument, engine="cpu")
        with self.assertRaisesRegex(ft.ArgumentError, "out="):
            same(argument, out=np.zeros(3, "i8"))


if __name__ == "__main__":
    unittest.main()
