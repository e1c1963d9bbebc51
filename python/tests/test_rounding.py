# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`rounding=`: f16 and bf16 between the operations of a body, judged against float64."""

import unittest

import numpy as np

import fractaltensor as ft

WIDTH = 61


def make(rounding):
    """The same program, compiled with a rounding."""

    @ft.jit(rounding=rounding)
    def program(xs: ft.List["N", ft.f16[1, WIDTH]]):
        return xs.map(chain)

    return program


def chain(x):
    square = x * x
    return (ft.exp(square + x) + square) * square


def of_numbers(x):
    square = x * x
    return (np.exp(square + x) + square) * square


@ft.jit
def composed(xs: ft.List["N", ft.f16[8]]):
    return xs.map(ft.norm), xs.map(ft.mean), xs.map(ft.std), xs.map(ft.rms_norm), xs.map(ft.layer_norm)


class Rounding(unittest.TestCase):
    def test_functions_of_several_round_once(self):
        """Squares and sums of large f16 numbers are beyond f16; what is made of them is not."""
        x = (np.arange(24).reshape(3, 8) * 700 + 9000).astype("f2")
        wide = x.astype("f8")
        centred = wide - wide.mean(-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(-1))
        want = (np.sqrt((wide**2).sum(-1)), wide.mean(-1), deviation, wide / np.sqrt((wide**2).mean(-1, keepdims=True)), centred / deviation[:, None])
        for engine in ("interpret", "cpu"):
            for found, expected in zip(composed(x, engine=engine), want):
                self.assertEqual(found.dtype, np.float16)
                np.testing.assert_allclose(found.astype("f8"), expected, rtol=2**-10, atol=1e-3)

    def setUp(self):
        self.x = np.random.default_rng(3).uniform(0.2, 1.4, (17, 1, WIDTH)).astype("f2")

    def error(self, found):
        want = of_numbers(self.x.astype("f8"))
        return float(np.sqrt(np.mean(((np.asarray(found).astype("f8") - want) / want) ** 2)))

    def test_excess_errs_less(self):
        exact, excess = (make(rounding)(self.x, engine="cpu") for rounding in ("exact", "excess"))
        self.assertEqual(excess.dtype, np.float16)
        self.assertLess(self.error(excess), 0.9 * self.error(exact))
        # One rounding of each result: no element is further than half a unit in the last place, and what f32 adds.
        want = of_numbers(self.x.astype("f8"))
        self.assertLess(float(np.max(np.abs(excess.astype("f8") - want) / np.abs(want))), 2.0**-11 * 1.01)

    def test_excess_is_the_default(self):
        exact, excess = make("exact"), make("excess")
        plain = ft.jit(exact._function)(self.x, engine="cpu")
        self.assertTrue(np.array_equal(plain, excess(self.x, engine="cpu")))
        self.assertFalse(np.array_equal(plain, exact(self.x, engine="cpu")))

    def test_the_interpreter_rounds_as_written(self):
        exact, excess = (make(rounding)(self.x, engine="interpret") for rounding in ("exact", "excess"))
        self.assertTrue(np.array_equal(exact, excess))

    def test_what_is_printed_is_what_is_compiled(self):
        for rounding in ("exact", "excess"):
            program = make(rounding)
            program(self.x, engine="cpu")
            self.assertEqual("f32" in program.lower("coarsen"), rounding == "excess")


if __name__ == "__main__":
    unittest.main()
