# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sums into cells at several remainders of a counter: each addition reads what the last one to the same cell has left."""

import unittest

import numpy as np

from fractaltensor import torch as ftt


def halves_and_quarters(x):
    sums = x.new_zeros(5, 5)
    for i in range(x.shape[0]):
        sums[i % 2, (2 * i) % 4] += x[i]
    return sums


def thirds(x):
    sums = x.new_zeros(3, 3)
    for i in range(x.shape[0]):
        sums[i % 3, (2 * i) % 3] += x[i]
    return sums


def of_thirds(x):
    sums = x.new_zeros(5, 5)
    for i in range(x.shape[0]):
        sums[(3 * i) % 2, (2 * i) % 4] += x[i]
    return sums


class Remainders(unittest.TestCase):
    def test_sums(self):
        for n in (1, 7, 13):
            x = np.arange(1.0, n + 1, dtype=np.float32)
            for function, place in ((halves_and_quarters, lambda i: (i % 2, 2 * i % 4)), (thirds, lambda i: (i % 3, 2 * i % 3)), (of_thirds, lambda i: (3 * i % 2, 2 * i % 4))):
                found = ftt.script(function)(x)
                wanted = np.zeros_like(found)
                for i in range(n):
                    wanted[place(i)] += x[i]
                with self.subTest(function=function.__name__, n=n):
                    np.testing.assert_array_equal(found, wanted)


if __name__ == "__main__":
    unittest.main()
