# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Sizes over which loops range become lengths when a second size of them comes, and nothing changes but what is compiled."""

import types
import unittest
import unittest.mock

import numpy as np

import fractaltensor as ft
import fractaltensor.torch as ftt
from fractaltensor.torch.ir import lengths

try:
    import torch
except ImportError:
    torch = None

SIZES = (2, 7, 127, 1, 3)


def scan(x, h):
    for t in range(x.shape[0]):
        h = h * 3 % 7 + x[t]
        x[t] = h
    return h


def by_rows(x, h):
    for row in x:
        h = h * 3 % 7 + row
        row += h
    return h


def by_while(x, h):
    t = 0
    while t < len(x):
        h = h * 3 % 7 + x[t]
        x[t] = h
        t += 1
    return h


def backwards(x, h):
    last = int(x.shape[0]) - 1
    for t in range(last, -1, -1):
        h = h * 3 % 7 + x[t]
        x[t] = h
    return h


def from_outside_in(x, h):
    def body(values, count):
        for t in range(count):
            values[t] += t
        return values[count - 1]

    return body(x, x.size(0)) + h


def with_one_apart(x, h):
    best = None
    for row in x:
        best = row if best is None else ftt.maximum(best, row)
    return best + h


def ends(x, h):
    """Items that there are from two rows on."""
    for t in range(x.shape[0]):
        h = h + x[t] * t
    return h + x[1] - x[-1]


def two_arguments(x, y):
    total = y[0] * 0
    for t in range(x.shape[0]):
        total = total + x[t] * y[t]
    return total


def listed(x, h):
    rows = []
    for t in range(x.shape[0]):
        rows.append(h + x[t])
    return ftt.stack(rows)


def inserted(x, h):
    rows = []
    for t in range(x.shape[0]):
        rows.insert(0, h + x[t])
    return ftt.stack(rows)


def halves(x, h):
    """Rows of a size that is none of an argument's."""
    for t in range(x.shape[0] // 2):
        h = h + x[2 * t] - x[2 * t + 1]
    return h


def numbers(*shape, seed=0):
    return np.random.default_rng(seed + len(shape)).integers(-5, 6, shape)


class Arrays(unittest.TestCase):
    def run_all(self, function, sizes=SIZES):
        """A script's results on arrays of these sizes, those of the reference interpreter's own forms beside them."""
        script, programs = ftt.script(function, engine="cpu"), []
        for size in sizes:
            x, h = numbers(size, 3, seed=size), numbers(3)
            own, expected = x.copy(), None
            fresh = ftt.script(function, engine="interpret")
            try:
                expected = fresh(own, h)
            except ft.Error as error:
                expected = type(error)
            if isinstance(expected, type):
                with self.assertRaises(expected):
                    script(x, h)
                continue
            programs.append(script.lower(x, h))
            np.testing.assert_array_equal(script(x, h), expected)
            np.testing.assert_array_equal(x, own)
        return script, programs

    def test_one_form_for_all_sizes_but_one_and_the_first(self):
        for function in (scan, by_rows, by_while, backwards, from_outside_in, with_one_apart, ends):
            with self.subTest(function.__name__):
                script, programs = self.run_all(function)
                with_lengths = {id(p) for p in programs if p.found}
                self.assertEqual(len(with_lengths), 1)
                self.assertEqual([bool(p.found) for p in programs[:3]], [False, True, True])
                self.assertEqual(script.remarks, [])

    def test_in_the_interpreter(self):
        """One form for all sizes there, too, whatever is known of its lengths."""
        for function in (scan, by_rows, by_while, ends):
            script, programs = ftt.script(function, engine="interpret"), []
            for size in SIZES:
                x, h = numbers(size, 3, seed=size), numbers(3)
                own, theirs = x.copy(), x.copy()
                if function is ends and size == 1:
                    continue
                programs.append(script.lower(own, h))
                np.testing.assert_array_equal(script(own, h), ftt.script(function, engine="cpu")(theirs, h))
                np.testing.assert_array_equal(own, theirs)
            self.assertTrue(programs[1].found and programs[1] is programs[2], function.__name__)

    def test_the_first_size_keeps_its_form(self):
        script = ftt.script(scan, engine="cpu")
        first = script.lower(numbers(5, 3), numbers(3))
        second = script.lower(numbers(6, 3), numbers(3))
        self.assertIs(script.lower(numbers(5, 3), numbers(3)), first)
        self.assertIs(script.lower(numbers(8, 3), numbers(3)), second)
        self.assertEqual(second.found, {"x": ["size0", None]})

    def test_other_sizes_stay_compiled_in(self):
        """Widths over which nothing ranges: one form for each, with the length in each but the first."""
        script = ftt.script(scan, engine="cpu")
        programs = [script.lower(numbers(n, width), numbers(width)) for n, width in ((5, 3), (6, 3), (6, 4), (9, 4), (9, 3), (5, 4))]
        self.assertEqual(len(set(map(id, programs))), 3)
        self.assertEqual([bool(p.found) for p in programs], [False, True, True, True, True, True])
        self.assertIs(programs[2], programs[3])
        self.assertIs(programs[2], programs[5])

    def test_what_changes_alike_is_one_length(self):
        script = ftt.script(two_arguments, engine="cpu")
        for n in (5, 7, 2, 31):
            x, y = numbers(n, 3), numbers(n, 3, seed=4)
            np.testing.assert_array_equal(script(x, y), (x * y).sum(0))
        self.assertEqual(script.lower(numbers(9, 3), numbers(9, 3)).found, {"x": ["size0", None], "y": ["size0", None]})
        # Longer by one: what is ranged over fits, and it is another form.
        longer = script.lower(numbers(9, 3), numbers(10, 3))
        self.assertNotEqual(longer.found, {"x": ["size0", None], "y": ["size0", None]})
        x, y = numbers(9, 3), numbers(10, 3, seed=4)
        np.testing.assert_array_equal(script(x, y), (x * y[:9]).sum(0))
        with self.assertRaises((ft.ShapeError, ftt.RunIndexError)):
            script(numbers(9, 3), numbers(8, 3))

    def test_why_sizes_stay(self):
        for function, reason in ((inserted, "insert"), (halves, None)):
            with self.subTest(function.__name__):
                script, programs = self.run_all(function, (4, 6, 8))
                if reason:
                    self.assertFalse(any(p.found for p in programs))
                    self.assertEqual(len(script.remarks), 1)
                    self.assertRegex(script.remarks[0].text, f"sizes stay compiled in, though a loop ranges over them: .*{reason}")

    def test_named_lengths_stay_as_they_are(self):
        script = ftt.script(two_arguments, engine="cpu", dims={"x": ("T", None)})
        for n in (5, 7, 9):
            x, y = numbers(n, 3), numbers(9, 3, seed=4)
            np.testing.assert_array_equal(script(x, y), (x * y[:n]).sum(0))
        self.assertEqual(len({id(script.lower(numbers(n, 3), numbers(9, 3))) for n in (5, 7, 9)}), 1)

    def test_sizes_know_where_they_come_from(self):
        size, other = lengths.ArgumentSize(6, [(0, 1)]), lengths.ArgumentSize(4, [(2, 0)])
        for made, value, origins in (
            (size + 1, 7, {(0, 1)}), (1 - size, -5, {(0, 1)}), (size * other, 24, {(0, 1), (2, 0)}), (-size // 4, -2, {(0, 1)}), (9 % other, 1, {(2, 0)}),
        ):
            self.assertEqual((made, lengths.origins_of(made)), (value, origins))
        self.assertEqual((size / 4, lengths.origins_of(size / 4)), (1.5, frozenset()))
        self.assertIs(type(ftt.script(lambda x: x.shape[0])(numbers(3))), int)


def _flat(value):
    if isinstance(value, dict):
        return [y for x in value.values() for y in _flat(x)]
    return [y for x in value for y in _flat(x)] if isinstance(value, (tuple, list)) else [value]


def resized(value, old: int, new: int):
    """Tensors inside of a value with `new` items in each dimension of size `old`."""
    if isinstance(value, torch.Tensor):
        for d, n in enumerate(value.shape):
            if n == old:
                value = value.index_select(d, torch.arange(new) % n)
        if value.dtype.is_floating_point:
            value = value + (torch.randn(value.shape, generator=torch.Generator().manual_seed(3)) / 4).to(value.dtype)
        return value.contiguous().clone()
    return type(value)(resized(x, old, new) for x in value) if type(value) in (list, tuple) else value


@unittest.skipUnless(torch is not None, "PyTorch is not installed")
class Programs(unittest.TestCase):
    """Programs that people write, at other sizes than their first ones, beside eager PyTorch."""

    #: Those whose results are no numbers to compare where rows repeat: divisions by almost nothing.
    ILL_CONDITIONED = {"gram_schmidt", "conjugate_gradients", "householder", "factors", "jacobi_eig"}

    @classmethod
    def setUpClass(cls):
        import script_algorithms
        import script_boxes_and_searches
        import script_loops_and_branches

        cls.programs = {}
        for module in (script_loops_and_branches, script_boxes_and_searches, script_algorithms):
            cls.programs.update(module.PROGRAMS)

    def arguments(self, name):
        g = torch.Generator().manual_seed(5)
        return [make(g) for make in self.programs[name][1]]

    def same(self, a, b):
        if not isinstance(b, torch.Tensor):
            self.assertEqual(a, b) if not isinstance(b, float) else self.assertAlmostEqual(a, b, 3)
            return
        self.assertEqual((a.shape, a.dtype), (b.shape, b.dtype))
        near = {"rtol": 2e-2, "atol": 2e-2} if b.element_size() == 2 else {"rtol": 1e-3, "atol": 1e-4}
        torch.testing.assert_close(a, b, equal_nan=True, **(near if b.dtype.is_floating_point else {}))

    def check(self, script, name, old, new):
        theirs, ours = (resized(self.arguments(name), old, new) for _ in range(2))
        try:
            expected = self.programs[name][0](*theirs)
        except Exception:  # noqa: BLE001 - no size for this program
            with self.assertRaises(ft.Error):
                script(*ours)
            return
        found = script(*ours)
        for a, b in zip(_flat([found, ours]), _flat([expected, theirs]), strict=True):
            self.same(a, b)

    def test_other_sizes(self):
        ranged = shared = 0
        for at, name in enumerate(sorted(self.programs)):
            if at % 5 or name in self.ILL_CONDITIONED:
                continue
            script = ftt.script(self.programs[name][0], engine="cpu")
            first = script.lower(*self.arguments(name))
            sizes = sorted({first.sizes[first.root_names[root]][d] for root, d in first.ranged if root < len(first.sizes)})
            for old in filter(None, sizes):
                ranged += 1
                for new in (old + 2, 2, 1, old * 2 + 1):
                    with self.subTest(program=name, old=old, new=new):
                        self.check(script, name, old, new)
            shared += bool(script._found)
        self.assertGreater(ranged, 15)
        self.assertGreater(shared, 3)


if __name__ == "__main__":
    unittest.main()
