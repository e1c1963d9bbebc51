#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes Coefficients.h: near-minimax polynomials (Chebyshev, 60 digits).

Usage: coefficients.py > Coefficients.h
"""
import sys
from mpmath import mp, mpf, chebyfit, exp, log, sin, cos, asin, atan, atanh, erf, erfc, sqrt, pi, tan

mp.dps = 60
tiny = mpf(10) ** -12


def series(f, limit):
    """f, with its limit where the formula cancels."""
    return lambda x: limit(x) if abs(x) < tiny else f(x)


def scaled_erfc(t):
    """What is left of erfc, smooth up to infinity, without its two factors."""
    x = 3 * (1 + t) / (1 - t)
    return exp(x * x) * erfc(x) * (1 + 2 * x)


half_ln2 = log(2) / 2 * mpf("1.01")
fits = [
    ("expTail", "(exp(r) - 1 - r) / r^2, |r| <= ln(2)/2", -half_ln2, half_ln2,
     series(lambda r: (exp(r) - 1 - r) / r**2, lambda r: mpf(1) / 2 + r / 6), 5, 10),
    ("logTail", "(2 atanh(s) / s - 2) / s^2 in s^2, s <= (sqrt(2) - 1) / (sqrt(2) + 1)", mpf(0),
     ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.01"),
     series(lambda z: (2 * atanh(sqrt(z)) / sqrt(z) - 2) / z, lambda z: mpf(2) / 3 + 2 * z / 5), 3, 8),
    ("sinTail", "(sin(r) / r - 1) / r^2 in r^2, |r| <= pi/4", mpf(0), (pi / 4) ** 2 * mpf("1.01"),
     series(lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: -mpf(1) / 6 + z / 120), 4, 6),
    ("cosTail", "(cos(r) - 1 + r^2 / 2) / r^4 in r^2, |r| <= pi/4", mpf(0), (pi / 4) ** 2 * mpf("1.01"),
     series(lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: mpf(1) / 24 - z / 720), 3, 6),
    ("atanTail", "(atan(t) / t - 1) / t^2 in t^2, |t| <= tan(pi/8)", mpf(0), tan(pi / 8) ** 2 * mpf("1.01"),
     series(lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: -mpf(1) / 3 + z / 5), 5, 12),
    ("erfSmall", "erf(x) / x in x^2, |x| <= 1", mpf(0), mpf("1.02"),
     series(lambda z: erf(sqrt(z)) / sqrt(z), lambda z: 2 / sqrt(pi) * (1 - z / 3)), 8, 15),
    ("erfcLogSingle", "log(erfc(x)) in x - 2.5, 1 <= x <= 4", mpf("-1.52"), mpf("1.51"),
     lambda u: log(erfc(u + mpf("2.5"))), 10, 0),
    ("erfcLogDouble", "log(erfc(x)) in x - 3.5, 1 <= x <= 6", mpf("-2.52"), mpf("2.51"),
     lambda u: log(erfc(u + mpf("3.5"))), 0, 27),
    ("erfcScaledSingle", "exp(x^2) erfc(x) (1 + 2x) in (x - 3) / (x + 3), 0.5 <= x <= 10.1",
     mpf("-0.7144"), mpf("0.543"), scaled_erfc, 10, 0),
    ("erfcScaledDouble", "exp(x^2) erfc(x) (1 + 2x) in (x - 3) / (x + 3), 0.5 <= x <= 27.3",
     mpf("-0.7144"), mpf("0.803"), scaled_erfc, 0, 22),
    ("asinTail", "(asin(t) / t - 1) / t^2 in t^2, |t| <= 1/2", mpf(0), mpf("0.2525"),
     series(lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: mpf(1) / 6 + 3 * z / 40), 5, 12),
]

print("""//===- Coefficients.h - Polynomials of the elementary functions -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Made by coefficients.py. From the constant term up; the error is that of the
// polynomial itself, before any rounding.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_DIALECT_MATH_TRANSFORMS_COEFFICIENTS_PY
#define FT_LIB_DIALECT_MATH_TRANSFORMS_COEFFICIENTS_PY

namespace mlir::ft::math_tables {
""")
for name, what, low, high, f, single, double in fits:
    print(f"// {what}.")
    for suffix, terms in (("F32", single), ("F64", double)):
        if not terms:
            continue
        coefficients, error = chebyfit(f, [low, high], terms, error=True)
        print(f"// Error {mp.nstr(error, 2)}.")
        values = [mp.nstr(c, 20) for c in reversed(coefficients)]
        print(f"inline constexpr double {name}{suffix}[] = {{" + ", ".join(values) + "};")
        print(name, suffix, mp.nstr(error, 2), file=sys.stderr)
    print()
print("""} // namespace mlir::ft::math_tables

#endif // FT_LIB_DIALECT_MATH_TRANSFORMS_COEFFICIENTS_PY""")
