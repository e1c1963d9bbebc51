# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The function of Python that a program's plan is (``plan_code``), and what is known of indices that steps find (``ops/places``)."""

import importlib.util
import sys
import threading
import unittest
import unittest.mock

import numpy as np

from fractaltensor import torch as ftt

ENGINES = ("interpret", "cpu")
HAS_TORCH = importlib.util.find_spec("torch") is not None

if HAS_TORCH:
    import torch


def by_mask(x, y):
    m = x > 0
    return x[m], y[m] * 2


def in_order(x, y):
    o = x.argsort()
    return y[o], y[o[1:]]


def rows_found(x, y):
    p = (x > 0).nonzero()
    q = p[p[:, 1].argsort(descending=True)]
    return x[q[:, 0], q[:, 1]], y[q[:, 0]]


def shifted(x, y, by: int):
    o = x[x > 0].argsort()
    o += by
    return y[o]


def other_size(x, y):
    return y[x[x > 0].argsort()]


def written_later(x, y, by: int):
    """The second iteration takes at what the first one has written."""
    o = x[x > 0].argsort()
    for i in range(2):
        y += y[o].sum()
        o += by
    return y


def through_a_view(x, y, by: int):
    o = x[x > 0].argsort()
    first = o[:1]
    first += by
    return y[o]


def transposed(x, y):
    """Rows of the places are places of the other dimension here."""
    p = (x > 0).nonzero().t()
    return y[p[0]], y[p[1]]


def steps_of(function, *arguments):
    return ftt.script(function, engine="cpu").lower(*arguments).steps()


class Engines(unittest.TestCase):
    """Programs that the interpreter and compiled code agree on."""

    def both(self, function, *arguments):
        found = []
        for engine in ENGINES:
            own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
            found.append(ftt.script(function, engine=engine)(*own))
        for a, b in zip(*found):
            np.testing.assert_array_equal(a, b)
        return found[1]


class Places(Engines):
    x = np.array([[1, -1, 2], [-3, 4, 5]], np.int64)
    row = np.array([3, -1, 2, 7], np.int64)

    def test_what_steps_find_is_not_looked_at(self):
        y = np.arange(12, dtype=np.int64)
        found = self.both(by_mask, self.x, self.x + 10)
        np.testing.assert_array_equal(found[0], [1, 2, 4, 5])
        np.testing.assert_array_equal(found[1], [22, 24, 28, 30])
        program = ftt.script(by_mask, engine="cpu").lower(self.x, self.x)
        self.assertEqual((program.steps(), program.sites), (["nonzero", "pick"], []))
        # One mask is looked through once.
        script = ftt.script(by_mask, engine="cpu")
        script(self.x, self.x)
        self.assertEqual(script.report().steps, 3)
        found = self.both(in_order, self.row, y[:4])
        np.testing.assert_array_equal(found[0], [1, 2, 0, 3])
        np.testing.assert_array_equal(found[1], [2, 0, 3])
        self.assertEqual(ftt.script(in_order, engine="cpu").lower(self.row, y[:4]).sites, [])
        found = self.both(rows_found, self.x, self.x[:, 0])
        np.testing.assert_array_equal(found[0], [2, 5, 4, 1])
        np.testing.assert_array_equal(found[1], [1, -3, -3, 1])
        self.assertEqual(steps_of(rows_found, self.x, self.x[:, 0]), ["nonzero", "pick", "sort"])

    def test_others_are(self):
        """Indices that are given, or of another dimension, also through names and in later iterations."""
        y = np.arange(5, dtype=np.int64)
        for function, arguments in ((shifted, (self.row, y, 4)), (other_size, (self.row, y[:2])), (written_later, (self.row, y, 4)), (through_a_view, (self.row, y, 4))):
            for engine in ENGINES:
                with self.subTest(function.__name__, engine=engine), self.assertRaises(ftt.RunIndexError):
                    ftt.script(function, engine=engine)(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
            with self.subTest(function.__name__):
                self.assertIn("take", steps_of(function, *arguments))
        np.testing.assert_array_equal(self.both(lambda x, y: (shifted(x, y, 1),), self.row, y)[0], [2, 1, 3])
        found = self.both(transposed, self.x, y)
        np.testing.assert_array_equal(found[0], [0, 0, 1, 1])
        np.testing.assert_array_equal(found[1], [0, 2, 1, 2])
        for engine in ENGINES:
            with self.subTest(engine=engine), self.assertRaises(ftt.RunIndexError):
                ftt.script(transposed, engine=engine)(self.x, y[:2])

    def test_a_mask_that_changes_is_looked_through_again(self):
        def changing(x):
            m = x > 0
            a = x[m]
            m[0] = False
            b = x[m]
            for i in range(3):
                m[i] = ~m[i]
                a = a + x[m].sum()
            return a, b, x[m]

        found = self.both(changing, self.row)
        np.testing.assert_array_equal(found[1], [2, 7])
        np.testing.assert_array_equal(found[2], [3, -1, 7])

    def test_joined_sizes_are_one(self):
        """Parts of equal sizes make joined tensors of one size: nothing reads run time whether it is."""
        def joined(x, y):
            a, b = x[x > 0], y[y > 0]
            return ftt.cat([a, b]) + ftt.cat([a * 2, b * 3])

        found = self.both(lambda x, y: (joined(x, y),), self.row, -self.row)
        np.testing.assert_array_equal(found[0], [9, 6, 21, 4])
        self.assertEqual(steps_of(joined, self.row, -self.row), ["cat", "nonzero", "pick"])

    def test_steps_look_at_storage_itself(self):
        """An argument goes into a step as it is; what is written after the step is not seen by its results."""
        def sorted_first(x):
            y, o = x.sort()
            x[0] = 100
            z = x.sort()[0]
            y[1] = 50
            return y, o, z

        x = self.row.copy()
        script = ftt.script(sorted_first, engine="cpu")
        y, o, z = script(x)
        np.testing.assert_array_equal(y, [-1, 50, 3, 7])
        np.testing.assert_array_equal(o, [1, 2, 0, 3])
        np.testing.assert_array_equal(z, [-1, 2, 7, 100])
        np.testing.assert_array_equal(x, [100, -1, 2, 7])


def deep_by_hand(x):
    for at in range(20):
        if x[at] > 0:
            continue
        y = x.sort()[0]
        return y[0] + at, y
    return x[0], x


def nested(x):
    total = x.sort()[0]
    for i in range(2):
        if total[0] < 100:
            for j in range(2):
                if total[1] < 100:
                    k = 0
                    while total[2] < 100 and k < 3:
                        k += 1
                        for m in range(2):
                            if x[m] > 0:
                                total = total + x.sort(descending=True)[0] * (m + 1)
                            else:
                                total = total - 1
    return total


def views_in_branches(x, k: int):
    """A view is made where it is used, in each branch by itself and after them."""
    y = x.sort(1)[0]
    row = y[k]
    if x.sum() > 0:
        row += row.sort()[0]
    else:
        row -= 1
    return y, y[k].sort(descending=True)[0]


class Plans(Engines):
    def test_blocks_inside_of_each_other(self):
        for function, arguments in ((nested, (np.array([1, -2, 3]),)), (deep_by_hand, (np.array([1] * 17 + [-2, 3, 4]),)), (deep_by_hand, (np.array([1] * 20),))):
            with self.subTest(function.__name__):
                self.both(lambda *a: (function(*a),) if function is nested else function(*a), *arguments)  # noqa: B023
        x = np.array([1] * 17 + [-2, 3, 4])
        first, y = ftt.script(deep_by_hand)(x)
        self.assertEqual(int(first), 15)
        np.testing.assert_array_equal(y, np.sort(x))

    def test_blocks_of_their_own(self):
        """As deep as Python's text may be: blocks are functions that take what they use."""
        from fractaltensor.torch.plan import plan_code

        for depth in (3, 4, 5):
            with unittest.mock.patch.object(plan_code, "_DEEP", depth):
                self.test_blocks_inside_of_each_other()
                self.test_views()

    def test_views(self):
        x = np.array([[3, 1, 2], [6, 5, 4]], np.int64)
        for sign in (1, -1):
            y, last = self.both(views_in_branches, x * sign, 1)
            expected = np.sort(x * sign, 1)
            expected[1] = expected[1] * 2 if sign > 0 else expected[1] - 1
            np.testing.assert_array_equal(y, expected)
            np.testing.assert_array_equal(last, expected[1][::-1])

    def test_steps_of_others(self):
        """What is put in the place of a step answers for its sizes; its memory becomes no one's storage."""
        from fractaltensor.torch.runtime import library

        def top(x):
            values, places = x.topk(2)
            values += 1
            return values, places, x

        own = library.step("topk")
        kept = np.array([5, 4], np.int64)
        x = np.array([1, 9, 3], np.int64)
        script = ftt.script(top, engine="cpu")
        np.testing.assert_array_equal(script(x)[0], [10, 4])
        try:
            ftt.register_step("topk", lambda x, k, dim, largest: [kept, np.arange(k)])
            for _ in range(2):
                np.testing.assert_array_equal(script(x)[0], [6, 5])
            np.testing.assert_array_equal(kept, [5, 4])
            ftt.register_step("topk", lambda x, k, dim, largest: [x[:1], np.arange(k)])
            with self.assertRaisesRegex(ftt.RunShapeError, r"step 'topk' gave a tensor of sizes \[1\], expected \[2\]"):
                script(x)
        finally:
            ftt.register_step("topk", own)
        np.testing.assert_array_equal(script(x)[0], [10, 4])

    def test_a_step_that_calls_the_program(self):
        """A call inside of a call has a function of its own."""
        from fractaltensor.torch.runtime import library

        def ordered(x):
            y = x * 2
            return y.sort()[0] + y

        own, script, left = library.step("sort"), ftt.script(ordered, engine="cpu"), [3]
        inner = []

        def again(x, **parameters):
            if left[0]:
                left[0] -= 1
                inner.append(script(np.array([left[0] * 10, 1, 2], np.int64)))
            return own(x, **parameters)

        try:
            ftt.register_step("sort", again)
            found = script(np.array([5, 4, 3], np.int64))
        finally:
            ftt.register_step("sort", own)
        np.testing.assert_array_equal(found, [16, 16, 16])
        for left, result in zip((0, 1, 2), inner):
            y = np.array([left * 10, 1, 2]) * 2
            np.testing.assert_array_equal(result, np.sort(y) + y)

    def test_calls_in_several_threads(self):
        """Structs, numbers and results of calls at one time are apart."""
        def program(x):
            m = x > 0
            found = x[m]
            return found.sort()[0], int(found.sum()), found.sum() + m.sum()

        script, wrong = ftt.script(program, engine="cpu"), []
        script(np.arange(-3, 9))

        def call(seed):
            g = np.random.default_rng(seed)
            for _ in range(100):
                x = g.integers(-50, 50, 12)
                values, total, other = script(x)
                positive = x[x > 0]
                if not np.array_equal(values, np.sort(positive)) or total != positive.sum() or int(other) != positive.sum() + len(positive):
                    wrong.append(x)

        threads = [threading.Thread(target=call, args=(at,)) for at in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_what_failed_goes_on(self):
        """A call that fails leaves nothing after for the next one."""
        script = ftt.script(other_size, engine="cpu")
        x, y = np.array([3, -1, 2, 7]), np.arange(2)
        for _ in range(3):
            with self.assertRaisesRegex(ftt.RunIndexError, "index 2 is out of range"):
                script(x, y)
            np.testing.assert_array_equal(script(np.array([3, -1, 2, -7]), y), [1, 0])

    def test_arguments_that_lie_anywhere(self):
        """Misaligned and strided arguments, read and written, by one and by several parts."""
        def program(x, y):
            a = (x * 2).sort()[0]
            y += a
            b = (x + y).sort()[0]
            y[0] = b[0]
            return b

        memory = np.zeros(200, np.uint8)
        for lead in (8, 16, 64):
            x = np.ndarray((4,), np.int64, memory, lead)
            y = np.zeros((4, 3), np.int64)[:, 1]
            x[:] = [4, 1, 3, 2]
            script = ftt.script(program, engine="cpu")
            for times in range(1, 3):
                before = y.copy()
                b = script(x, y)
                after = before + np.sort(x * 2)
                np.testing.assert_array_equal(b, np.sort(x + after))
                after[0] = b[0]
                np.testing.assert_array_equal(y, after)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class OfTensors(unittest.TestCase):
    """The same plans on PyTorch's tensors as storages: what runs on a GPU, on the processor."""

    def test_equal(self):
        from fractaltensor.torch.runtime import engines, memory

        x, row = Places.x, Places.row
        cases = [
            (by_mask, x, x + 10), (in_order, row, row * 2), (rows_found, x, x[:, 0]), (transposed, x, np.arange(5)), (nested, np.array([1, -2, 3])),
            (views_in_branches, np.array([[3, 1, 2], [6, 5, 4]]), 1), (deep_by_hand, np.array([1] * 17 + [-2, 3, 4])),
        ]
        for function, *arguments in cases:
            with self.subTest(function.__name__):
                expected = ftt.script(function, engine="interpret")(*[a.copy() if isinstance(a, np.ndarray) else a for a in arguments])
                tensors = [torch.from_numpy(a.copy()) if isinstance(a, np.ndarray) else a for a in arguments]
                with unittest.mock.patch.object(engines, "make", lambda name, device: engines.CompiledEngine("cuda", "cpu", memory.TorchMemory("cpu"))):
                    script = ftt.script(function)
                    for _ in range(2):
                        own = [t.clone() if isinstance(t, torch.Tensor) else t for t in tensors]
                        found = script(*own)
                for a, b in zip(found if isinstance(found, tuple) else [found], expected if isinstance(expected, tuple) else [expected]):
                    np.testing.assert_array_equal(np.asarray(a), b)


    def test_calls_in_c(self):
        """As for the processor's engine: one compiled function of tensors that are not written."""
        from fractaltensor.torch.runtime import engines, memory

        def program(x, y):
            return x * 2 + y, x - y

        with unittest.mock.patch.object(engines, "make", lambda name, device: engines.CompiledEngine("cuda", "cpu", memory.TorchMemory("cpu"))):
            script = ftt.script(program)
            for at in range(4):
                x, y = torch.arange(6.0).reshape(2, 3) + at, torch.ones(2, 3)
                a, b = script(x, y)
                self.assertTrue(torch.equal(a, x * 2 + y) and torch.equal(b, x - y))
        self.assertIsNotNone(script._direct)


if __name__ == "__main__":
    sys.exit(unittest.main())
