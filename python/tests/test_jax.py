# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""JAX on the CPU: arrays in and out by DLPack, every element type, outside of its transformations."""

import importlib.util
import os
import tempfile
import unittest

import numpy as np

import fractaltensor as ft

jax = None
if importlib.util.find_spec("jax"):
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)


@ft.jit(bounds=["L >= 1"])
def rnn(xss: ft.List["N, L", ft.any["T", 1, "H"]], w: ft.any["T", "H", "H"]):
    return xss.map(lambda xs: xs.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, "H", dtype="T"))), xss[:, -1]


@ft.jit
def powers(xs: ft.List["N", ft.any["T", 3]]):
    return xs.scanl(lambda s, x: s * 3 + x, 0)


@unittest.skipUnless(jax, "no JAX")
class Jax(unittest.TestCase):
    def test_floats(self):
        for name, tolerance in (("float32", 1e-5), ("float64", 1e-12), ("float16", 4e-3), ("bfloat16", 4e-2)):
            with self.subTest(name):
                x = jax.random.normal(jax.random.key(0), (2, 5, 1, 7)).astype(name)
                w = (jax.random.normal(jax.random.key(1), (7, 7)) / 7).astype(name)
                ys, last = rnn(x, w)
                self.assertIsInstance(ys, jax.Array)
                self.assertEqual((ys.dtype, last.dtype), (x.dtype, x.dtype))
                h, states = jnp.zeros((2, 1, 7)), []
                for k in range(5):
                    h = jnp.tanh(x[:, k].astype("float64") @ w.astype("float64") + h)
                    states.append(h)
                np.testing.assert_allclose(np.asarray(ys, "float64"), np.asarray(jnp.stack(states, 1)), atol=tolerance)
                self.assertTrue(bool((last == x[:, -1]).all()))

    def test_integers_and_booleans(self):
        for name in ("int8", "int16", "int32", "int64"):
            with self.subTest(name):
                x = np.arange(12).reshape(4, 3).astype(name)
                found = powers(jnp.asarray(x))
                self.assertEqual(found.dtype, x.dtype)
                self.assertTrue(np.array_equal(found, powers(x)))

        @ft.jit
        def flip(xs: ft.List["N", ft.bool[3]]):
            return xs.map(lambda x: ~x)

        self.assertTrue(np.array_equal(flip(jnp.ones((2, 3), bool)), np.zeros((2, 3), bool)))

    def test_bundles_and_ragged_lists(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "powers.ftb")
            powers.specialize(T=ft.i64).export(path)
            entry, x = ft.load(path), jnp.arange(12).reshape(4, 3)
            for _ in range(2):
                found = entry(x)
                self.assertIsInstance(found, jax.Array)
                self.assertTrue(np.array_equal(found, powers(np.asarray(x))))

        @ft.jit
        def sums(xss: ft.List["N, ragged(r)", ft.f32[2]]):
            return xss.map(lambda xs: (xs.scanl(ft.add, 0.0), xs.reduce(ft.add, 0.0)))

        states, totals = sums(ft.ragged(jnp.ones((5, 2), "float32"), jnp.array([0, 2, 5])))
        self.assertIsInstance(states.values, jax.Array)
        self.assertEqual((states.values[:, 0].tolist(), totals[:, 0].tolist()), ([1, 2, 1, 2, 3], [2, 3]))

    def test_wrong_calls(self):
        x = jnp.arange(12).reshape(4, 3)
        with self.assertRaisesRegex(ft.ArgumentError, "traced by JAX.*outside"):
            jax.jit(powers)(x)
        with self.assertRaisesRegex(ft.ArgumentError, "read-only"):
            powers(x, out=jnp.zeros((4, 3), int))
        self.assertTrue(np.array_equal(powers(x, out=np.zeros((4, 3), int)), powers(np.asarray(x))))


if __name__ == "__main__":
    unittest.main()
