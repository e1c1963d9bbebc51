# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs beside what NumPy says of them."""

import numpy as np

import fractaltensor as ft
from close import assert_close

random = np.random.default_rng(5)


def normal(*shape, dtype="f4", scale=1.0):
    return (random.standard_normal(shape) * scale).astype(dtype)


def integers(lo, hi, *shape, dtype="i8"):
    return random.integers(lo, hi, shape).astype(dtype)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Cases(list):
    """Programs: name, program, reference, arguments, element type, and by how much its tolerance is larger."""

    def case(self, *arrays, dtype="f32", scale=8.0, **options):
        """Of a function that returns a program and its reference; `arrays` are the arguments."""

        def add(pair):
            program, reference = pair()
            self.append((pair.__name__, ft.jit(program, **options), reference, arrays, dtype, scale))
            return pair

        return add

    def check(self, test):
        """Each one on both engines of the CPU."""
        for name, program, reference, arrays, dtype, scale in self:
            expected = reference(*arrays)
            expected = expected if isinstance(expected, tuple) else (expected,)
            for engine in ("interpret", "cpu"):
                with test.subTest(name, engine=engine):
                    found = program(*arrays, engine=engine)
                    found = found if isinstance(found, tuple) else (found,)
                    test.assertEqual(len(found), len(expected))
                    for a, b in zip(found, expected):
                        assert_close(test, a, b, dtype, scale)
