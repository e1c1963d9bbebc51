# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lengths: reading, the normal form, what is equal, and values by brute force."""

import itertools
import random
import unittest

import fractaltensor as ft
from fractaltensor.lengths import Length, parse_bound, parse_dims


class Reading(unittest.TestCase):
    def test_text(self):
        for text, expected in {
            "L": "L", "L - 2": "L - 2", "2*L+1": "2 * L + 1", "-2 + L": "L - 2", "ceildiv(L, 2)": "ceildiv(L, 2)",
            "floordiv(L, 2)": "floordiv(L, 2)", "L // 2": "floordiv(L, 2)", "L % 4": "mod(L, 4)", "8 * floordiv(L, 8) + mod(L, 8)": "L", "mod(mod(L, 8), 4)": "mod(L, 4)",
            "L - mod(L, 8)": "8 * floordiv(L, 8)", "N + L - 8 * floordiv(L, 8)": "N + mod(L, 8)", "N * L": "L * N",
            "floordiv(4 * N, 4)": "N", "ceildiv(L + 4, 2)": "ceildiv(L, 2) + 2", "(N + 1) * 3 - N": "2 * N + 3",
            "ragged(len)": "ragged(len)", "512": "512", "L - L": "0", "floordiv(floordiv(L, 2), 3)": "floordiv(L, 6)",
        }.items():
            with self.subTest(text):
                self.assertEqual(str(Length.of(text)), expected)

    def test_refused(self):
        for text in ("", "L +", "L 2", "floordiv(L, 0)", "2 ** L", "ceildiv(L", "L; N", "ragged(3)", "floordiv(L)", "é", "(L"):
            with self.subTest(text), self.assertRaises(ft.LengthError):
                Length.of(text)
        for value in (True, 1.5, None, [], 1 << 70):
            with self.subTest(value), self.assertRaises(ft.LengthError):
                Length.of(value)

    def test_dims_and_bounds(self):
        self.assertEqual(list(map(str, parse_dims("N, ceildiv(L, 2), 4"))), ["N", "ceildiv(L, 2)", "4"])
        for text in ("N,, L", "N,", ""):
            with self.subTest(text), self.assertRaises(ft.LengthError):
                parse_dims(text)
        self.assertEqual(parse_bound("L >= 5")[1], ">=")
        with self.assertRaises(ft.LengthError):
            parse_bound("L > 5")


class Values(unittest.TestCase):
    def test_normal_form_keeps_values(self):
        """Random expressions, evaluated as Python evaluates them and after normalisation."""
        random.seed(7)
        for _ in range(400):
            text, value = self.random_expression(3)
            length = Length.of(text)
            for n, m in itertools.product(range(0, 9), repeat=2):
                found = length.substitute({"N": n, "M": m}).constant
                self.assertEqual(found, value(n, m), f"{text} at N = {n}, M = {m}")

    def random_expression(self, depth):
        if depth == 0 or random.random() < 0.2:
            return random.choice([("N", lambda n, m: n), ("M", lambda n, m: m), ("3", lambda n, m: 3), ("1", lambda n, m: 1)])
        (a, f), (b, g) = self.random_expression(depth - 1), self.random_expression(depth - 1)
        d = random.randint(1, 5)
        return random.choice([
            (f"({a} + {b})", lambda n, m: f(n, m) + g(n, m)),
            (f"({a} - {b})", lambda n, m: f(n, m) - g(n, m)),
            (f"({a} * {b})", lambda n, m: f(n, m) * g(n, m)),
            (f"floordiv({a}, {d})", lambda n, m: f(n, m) // d),
            (f"ceildiv({a}, {d})", lambda n, m: -(-f(n, m) // d)),
            (f"mod({a}, {d})", lambda n, m: f(n, m) % d),
        ])

    def test_equal(self):
        self.assertEqual(Length.of("L + 1 - 1"), Length.of("L"))
        self.assertEqual(Length.of("ceildiv(L, 2)"), Length.of("floordiv(L + 1, 2)"))
        self.assertNotEqual(Length.of("L"), Length.of("N"))
        self.assertEqual(Length.of("4"), 4)

    def test_symbols(self):
        """Names as values say what strings say, in types, in programs and as element types."""
        n, l, h, t = ft.symbols("N, L H,T")
        self.assertEqual(repr(ft.List[n, l - 2, ft.f32[1, 4 * h]]), repr(ft.List["N, L - 2", ft.f32[1, "4 * H"]]))
        self.assertEqual(ft.any[t, 1, h], ft.any["T", 1, "H"])

        @ft.jit
        def program(xs: ft.List[l, ft.f32[h]]) -> ft.List[l + 1, ft.f32[h]]:
            return ft.concat(xs, ft.repeat(ft.zeros(h), 1))

        self.assertEqual(program.specialize(H=4).program.result_types, [ft.List["L + 1", ft.f32[4]]])
        for wrong in ("", "N, 3", "N - 1", "2 * N"):
            with self.subTest(wrong), self.assertRaises(ft.LengthError):
                ft.symbols(wrong)
        with self.assertRaisesRegex(ft.LengthError, r"found tuple: .*: N, = ft.symbols\('N'\)"):
            ft.List[ft.symbols("N"), ft.f32]
        with self.assertRaisesRegex(ft.ShapeError, "its annotation says"):
            @ft.jit
            def shorter(xs: ft.List[l, ft.f32]) -> ft.List[l - 1, ft.f32]:
                return xs

    def test_no_numbers(self):
        length = Length.of("L").for_user()
        for use in (int, bool, float, lambda n: n == 3, lambda n: n < 4, range):
            with self.subTest(use), self.assertRaisesRegex(ft.LengthError, "known at the call only"):
                use(length)
        self.assertFalse(length == length + 1)


if __name__ == "__main__":
    unittest.main()
