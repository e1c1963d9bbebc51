# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element types and roundings of element-wise operators on operands of two types: as eager PyTorch, to the bit where 16 bits are what is written."""

import unittest

from fractaltensor import torch as ftt
from test_promises import HAS_TORCH, Against

if HAS_TORCH:
    import torch


def add(x, s):
    return x + s, s + x, torch.add(x, s, alpha=3)


def subtract(x, s):
    return x - s, s - x, torch.sub(x, s, alpha=2)


def multiply(x, s):
    return x * s, s * x


def divide(x, s):
    return x / s, s / x, torch.div(x, s, rounding_mode="trunc")


def whole_quotients(x, s):
    return x // s, x % s, s % x, torch.fmod(x, s)


def least(x, s):
    return torch.maximum(x, s), torch.minimum(s, x), x.clamp(min=s), torch.where(x > 0, x, s)


def compare(x, s):
    return x < s, s <= x, x == s, x != s


def logarithms(x, s):
    return torch.xlogy(x, s.abs()), torch.copysign(x, s)


def in_place(x, s):
    y = x.clone()
    y += s
    y *= s
    y -= s
    return y


def numbers(x, s):
    return x + 0.1, x * 0.1, x / 0.1, 0.1 - x, 0.1 / x, x // 0.3, x < 0.1


def scaled(x, s):
    return torch.addcmul(x, x, x, value=0.3), torch.addcdiv(x, x, x * x + 1, value=0.3), torch.sub(x, x * x, alpha=0.3)


FUNCTIONS = (add, subtract, multiply, divide, whole_quotients, least, compare, logarithms, in_place)
FLOATS = ("float16", "bfloat16", "float32", "float64")


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Elements(Against):
    def setUp(self):
        make = torch.Generator().manual_seed(1)
        # (Integers that 16 bits do not hold are among them.)
        self.drawn = {name: (torch.randn(512, generator=make) * (3 if name in FLOATS else 3000)).to(getattr(torch, name)) for name in (*FLOATS, "int32", "int64")}
        for x in self.drawn.values():
            x[x == 0] = 1

    def agree(self, function, x, s):
        with self.subTest(function=function.__name__, x=x.dtype, s=getattr(s, "dtype", s)):
            found, expected = ([y if isinstance(y, tuple) else (y,)][0] for y in (ftt.script(function, engine="cpu")(x, s), function(x, s)))
            for at, (a, b) in enumerate(zip(found, expected)):
                self.assertEqual(a.dtype, b.dtype, at)
                if b.dtype in (torch.float32, torch.float64):
                    torch.testing.assert_close(a, b, equal_nan=True)
                else:
                    self.assertTrue(torch.equal(a.isnan(), b.isnan()) and torch.equal(a[~a.isnan()], b[~b.isnan()]), at)

    def test_tensors_without_dimensions(self):
        for function in FUNCTIONS:
            for first in ("float16", "bfloat16", "float32"):
                for second in (0.1, -2.7):
                    for kind in FLOATS:
                        self.agree(function, self.drawn[first], torch.tensor(second, dtype=torch.float64).to(getattr(torch, kind)))
                self.agree(function, self.drawn[first], torch.tensor(4099))

    def test_tensors_of_two_types(self):
        for function in FUNCTIONS:
            for first, second in (("float16", "int32"), ("bfloat16", "int64"), ("int32", "float16"), ("float16", "bfloat16"), ("bfloat16", "float32"), ("int32", "int64")):
                if first != "int32" or function not in (logarithms, in_place):
                    self.agree(function, self.drawn[first], self.drawn[second])

    def test_one_element_with_a_dimension(self):
        for function in (add, multiply, divide, whole_quotients):
            self.agree(function, self.drawn["float16"], torch.tensor([4099]))

    def test_numbers(self):
        for function in (numbers, scaled):
            for first in FLOATS:
                self.agree(function, self.drawn[first], 0)
        self.agree(numbers, self.drawn["int32"], 0)

    def test_numbers_beside_integers(self):
        def truncated(x, y):
            return torch.addcmul(x, x, y, value=3)

        self.agree(truncated, self.drawn["int32"], self.drawn["int32"])

    def test_rounded_numbers(self):
        from fractaltensor.torch.ir import dtypes

        numbers = [0.0, -0.0, 1.0, 0.1, -0.1, 2.0**-24, 3 * 2.0**-25, 65504.0, 65520.0, 1e30, 1e300, 2.0**-133, 2.0**-140, float("inf"), 1 + 2.0**-8, 1 + 2.0**-11]
        for kind in (*FLOATS, "float64"):
            with self.subTest(kind):
                expected = torch.tensor(numbers, dtype=torch.float64).to(getattr(torch, kind)).double().tolist()
                self.assertEqual([dtypes.rounded(n, dtypes.ALL[kind]) for n in numbers], expected)

    def test_what_is_refused(self):
        def float_alpha(x):
            return torch.add(x, x, alpha=0.5)

        def remainders(x):
            return x % x

        def lengths(x):
            return torch.hypot(x, x)

        def products(x):
            return torch.addcmul(x, x, x)

        integers, truths = torch.ones(3, dtype=torch.int32), torch.ones(3, dtype=torch.bool)
        for function, x, text in (
            (float_alpha, integers, "add: alpha is a float"), (remainders, truths, "remainder is not defined on bool"),
            (lengths, integers, "hypot is defined on floats only"), (products, truths, "addcmul is not defined on bool"),
        ):
            with self.subTest(function=function.__name__):
                self.assertRaises((RuntimeError, TypeError), function, x)
                self.assertRaisesRegex(ftt.ScriptError, rf"test_dtypes.py:\d+:\d+: error: {text}", ftt.script(function, engine="cpu"), x)


if __name__ == "__main__":
    unittest.main()
