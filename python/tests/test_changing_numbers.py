# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Floats among the arguments that calls pass with other values: data of the call where the program allows it."""

import unittest

from fractaltensor import torch as ftt
from test_promises import HAS_TORCH

if HAS_TORCH:
    import torch


def stepped(x, rate: float, scale: float = 2.0):
    for i in range(x.shape[0]):
        x[i] = x[i] * (1 - rate) + rate / scale
    return x, rate * 2, torch.softmax(x[0] / scale, 0) * rate


def chosen(x, limit: float):
    return x * 2 if limit > 0.5 else x - limit


def counted(x, share: float):
    return x[: int(share * x.shape[0])].sum(0)


def named(x, name_of_rate: float):
    return x + len(f"{name_of_rate:.1f}")


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class ChangingNumbers(unittest.TestCase):
    def calls(self, function, *numbers, **names):
        script = ftt.script(function, engine="cpu")
        for number in numbers:
            x = torch.randn(7, 4)
            found = script(x.clone(), *([] if names else [number]), **{name: number for name in names})
            torch.testing.assert_close(found, function(x.clone(), number), equal_nan=True)
        return script

    def forms(self, script):
        return sum(map(len, script._programs.values()))

    def test_no_form_for_each_value(self):
        values = (0.1, 0.09, 0.3, float("inf"), -0.0, 1e-300)
        self.assertEqual(self.forms(self.calls(stepped, *values)), 2)
        self.assertEqual(self.forms(self.calls(stepped, *values[:4], rate=None)), 2)
        self.assertEqual(self.forms(self.calls(chosen, 0.1, 0.9, 0.2, 0.7)), 2)

    def test_the_same_value_is_compiled_in(self):
        self.assertEqual(self.forms(self.calls(stepped, 0.1, 0.1, 0.1)), 1)

    def test_what_decides_is_compiled_in(self):
        """A text needs the value: each has a form of its own."""
        self.assertEqual(self.forms(self.calls(named, 0.1, 10.0, 100.0)), 3)
        self.calls(counted, 0.5, 0.9, 0.2)

    def test_beside_other_types(self):
        """An integer is no float, and numbers of one call differ in what is data."""
        script = ftt.script(stepped, engine="cpu")
        for rate, scale in ((0.5, 2.0), (1, 2.0), (0.25, 2.0), (0.25, 4.0), (0.125, 3)):
            x = torch.randn(5, 3)
            torch.testing.assert_close(script(x.clone(), rate, scale), stepped(x.clone(), rate, scale))


if __name__ == "__main__":
    unittest.main()
