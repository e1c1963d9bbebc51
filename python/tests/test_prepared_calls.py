# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeated calls that C makes after a look by Python: what differs from call to call is seen, and what is refused stays so."""

import importlib.util
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor import torch as ftt
from fractaltensor.torch.runtime import prepared_calls

HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = "PyTorch is not installed"

if HAS_TORCH:
    import torch

FACTORS = {"one": None}


def added(x, y):
    x += y
    return x, x * 2


def scaled(x, by):
    return x * by


def outside(x):
    return x * FACTORS["one"]


def picked(x, at):
    return x[at]


class Prepared(unittest.TestCase):
    def prepared(self, script, *calls):
        """Calls twice with the first arguments, so that the others may be prepared; how many were."""
        made = []
        plain = prepared_calls.PreparedCall.__call__

        def counted(own, args):
            found = plain(own, args)
            made.append(found is not prepared_calls.MISSED)
            return found

        prepared_calls.PreparedCall.__call__ = counted
        try:
            results = [script(*args) for args in calls]
        finally:
            prepared_calls.PreparedCall.__call__ = plain
        return results, sum(made)

    def test_arrays_of_numpy(self):
        x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
        script = ftt.script(scaled)
        results, count = self.prepared(script, (x, 2.0), (x, 2.0), (x, -0.0), (x, 0.0), (x + 1, 2.0), (x.T, 2.0), (x, 2))
        self.assertEqual(count, 2)
        for found, wanted in zip(results, (x * 2, x * 2, x * -0.0, x * 0.0, (x + 1) * 2, x.T * 2, x * 2)):
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))

    def test_written_arguments(self):
        script = ftt.script(added)
        x, y = np.ones(4, np.float32), np.arange(4, dtype=np.float32)
        results, count = self.prepared(script, (x, y), (x, y), (x, y))
        self.assertEqual(count, 2)
        np.testing.assert_array_equal(x, 1 + 3 * y)
        for first, second in results:
            self.assertIs(first, x)
        np.testing.assert_array_equal(results[2][1], 2 * x)
        whole = np.zeros(7, np.float32)
        with self.assertRaisesRegex(ft.ArgumentError, "overlap"):
            script(whole[:4], whole[3:])
        whole.flags.writeable = False
        with self.assertRaisesRegex(ft.ArgumentError, "read-only"):
            script(whole[:4], y)
        self.assertEqual(self.prepared(ftt.script(added, in_place=False), (x, y), (x, y), (x, y))[1], 0)

    def test_written_arguments_without_an_output_in_their_memory(self):
        def increment_columns(b):
            v = b.t()[1:]
            for r in v:
                r += 1
            return v

        for dtype in (torch.int64, torch.float32):
            f = ftt.script(increment_columns)
            for call in range(4):
                x = torch.arange(35).reshape(7, 5).to(dtype)
                expected = x.clone()
                found, wanted = f(x), increment_columns(expected)
                self.assertTrue(torch.equal(found, wanted), call)
                self.assertTrue(torch.equal(x, expected), call)

    def test_what_comes_from_outside(self):
        script, x = ftt.script(outside), np.ones(3, np.float32)
        FACTORS["one"] = np.full(3, 2, np.float32)
        (first, second), count = self.prepared(script, (x,), (x,))
        self.assertEqual((count, second.tolist()), (1, [2, 2, 2]))
        FACTORS["one"] *= 2
        self.assertEqual(script(x).tolist(), [4, 4, 4])
        FACTORS["one"] = np.full(3, 7, np.float32)
        self.assertEqual(script(x).tolist(), [7, 7, 7])
        FACTORS["one"] = 0.5
        self.assertEqual(script(x).tolist(), [0.5, 0.5, 0.5])

    @unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
    def test_indices_are_looked_at(self):
        script, x = ftt.script(picked), torch.arange(5.0)
        inside, beyond = torch.tensor([1, -1]), torch.tensor([1, 5])
        results, count = self.prepared(script, (x, inside), (x, inside))
        self.assertEqual((count, [r.tolist() for r in results]), (1, [[1, 4]] * 2))
        with self.assertRaisesRegex(ftt.RunIndexError, "index 5 is out of range in dimension 0 of size 5"):
            script(x, beyond)
        self.assertEqual(script(x, inside).tolist(), [1, 4])

    @unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
    def test_modules(self):
        module = torch.nn.Linear(3, 2).eval()
        script, x = ftt.script(module), torch.randn(4, 3)
        with torch.no_grad():
            results, count = self.prepared(script, (x,), (x,), (x,))
            self.assertEqual(count, 2)
            torch.testing.assert_close(results[2], module(x))
            module.bias = torch.nn.Parameter(torch.ones(2))
            torch.testing.assert_close(script(x), module(x))
        with self.assertRaises(ft.GradientError):
            script(x)


if __name__ == "__main__":
    unittest.main()
