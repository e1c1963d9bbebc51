# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Scripts in files: they name the library steps that they need, and run without their source and without the compiler."""

import json
import os
import subprocess
import sys
import tempfile
import unittest
import zipfile

import numpy as np

import fractaltensor as ft
import fractaltensor.torch as ftt

try:
    import torch
except ImportError:
    torch = None

HERE = os.path.dirname(os.path.abspath(__file__))


def scan(x, h):
    for t in range(x.shape[0]):
        h = h * 3 % 7 + x[t]
        x[t] = h
    return h


def top_rows(x, k: int):
    order = x.sum(1).argsort(descending=True)
    best = x[order[:k]]
    best += 1
    return {"best": best, "order": [order, k]}


def positive(x):
    """Sizes that are data."""
    return [(row[row > 1] + 1).sort()[0] for row in x]


def at_places(x, i):
    return x[i] * 2


def views_that_may_meet(x, i):
    first, second = x[i[0]], x[i[1]]
    first += x.sort()[0][0]
    second += first
    return x


WEIGHT = np.arange(6, dtype=np.int64).reshape(2, 3)


def with_outside(x):
    return x @ WEIGHT


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "script.fts")

    def both(self, function, *args, **options):
        """What the script and its exported form give, which must agree with what they write."""
        script = ftt.script(function, engine="cpu", **options)
        made = script.export(self.path, *args)
        loaded = ftt.load(self.path)
        for _ in range(2):
            ours, theirs = ([a.copy() if isinstance(a, np.ndarray) else a for a in args] for _ in range(2))
            found, expected = loaded(*ours), script(*theirs)
            for a, b in zip(_flat([found, ours]), _flat([expected, theirs]), strict=True):
                np.testing.assert_array_equal(a, b)
        return made, loaded, found

    def test_steps_have_names(self):
        made, loaded, _ = self.both(scan, _numbers(5, 3), _numbers(3))
        self.assertEqual((made.steps, loaded.steps), ((), ()))
        self.assertIn("no library steps", repr(made))
        made, loaded, found = self.both(top_rows, _numbers(5, 3), 2)
        self.assertEqual((made.steps, loaded.steps), (("sort",), ("sort",)))
        self.assertIn("steps sort", repr(made))
        self.assertEqual((list(found), type(found["order"]), found["order"][1]), (["best", "order"], list, 2))
        made, *_ = self.both(positive, _numbers(4, 9))
        self.assertIn("nonzero", made.steps)
        with zipfile.ZipFile(self.path) as archive:
            self.assertEqual(json.loads(archive.read("plan.json"))["steps"], list(made.steps))

    def test_in_place_false(self):
        """A loaded script keeps what its arguments held where a call fails, if it is asked to."""
        def late(x, i):
            x += 1
            return x[i]

        ftt.script(late, engine="cpu").export(self.path, _numbers(4), np.array([1, 2]))
        for in_place in (True, False):
            x = _numbers(4)
            loaded, before = ftt.load(self.path, in_place=in_place), x.copy()
            with self.assertRaises(ftt.RunIndexError) as caught:
                loaded(x, np.array([1, 9]))
            self.assertEqual((x == before).all(), not in_place)
            self.assertEqual("undefined now: 'x'" in str(caught.exception), in_place)
            np.testing.assert_array_equal(loaded(x, np.array([1, 2])), x[[1, 2]])

    def test_a_step_that_nobody_knows_is_named(self):
        ftt.script(top_rows, engine="cpu").export(self.path, _numbers(5, 3), 2)
        self.change("plan.json", lambda text: text.replace(b'"steps": ["sort"]', b'"steps": ["arrange", "sort"]').replace(b'"name": "sort"', b'"name": "arrange"'))
        with self.assertRaisesRegex(ft.BundleError, r"needs the library step arrange: fractaltensor.torch.register_step\(name, function\)"):
            ftt.load(self.path)
        from fractaltensor.torch.runtime import library

        ftt.register_step("arrange", library.step("sort"))
        try:
            np.testing.assert_array_equal(ftt.load(self.path)(_numbers(5, 3), 2)["best"], ftt.script(top_rows)(_numbers(5, 3), 2)["best"])
        finally:
            del library._STEPS["arrange"]

    def change(self, member, how):
        with zipfile.ZipFile(self.path) as archive:
            contents = {name: archive.read(name) for name in archive.namelist()}
        contents[member] = how(contents[member])
        with zipfile.ZipFile(self.path, "w") as archive:
            for name, data in contents.items():
                archive.writestr(name, data)

    def test_without_the_source_and_the_compiler(self):
        ftt.script(top_rows, engine="cpu").export(self.path, _numbers(5, 3), 2)
        text = f"""
import sys
sys.path.insert(0, {os.path.dirname(HERE)!r})
import numpy as np, fractaltensor as ft, fractaltensor.library as lib, fractaltensor.torch as ftt
def refused(*_): raise AssertionError("the compiler was asked")
lib.compiler = refused
found = ftt.load({self.path!r})(np.arange(15).reshape(5, 3), 2)
print(found["order"][0].tolist(), found["best"].tolist())
"""
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, cwd=self.folder.name)
        self.assertEqual((done.stdout, done.stderr), ("[4, 3, 2, 1, 0] [[13, 14, 15], [10, 11, 12]]\n", ""))

    def test_lengths(self):
        script = ftt.script(scan, engine="cpu", dims={"x": ("T", None)})
        script.export(self.path, _numbers(5, 3), _numbers(3))
        loaded = ftt.load(self.path)
        for n in (1, 2, 7, 127):
            ours, theirs, h = _numbers(n, 3), _numbers(n, 3), _numbers(3)
            np.testing.assert_array_equal(loaded(ours, h), script(theirs, h))
            np.testing.assert_array_equal(ours, theirs)
        found = ftt.script(scan, engine="cpu")
        found(_numbers(5, 3), _numbers(3))
        found.export(self.path, _numbers(6, 3), _numbers(3))  # of a second size: a length
        loaded = ftt.load(self.path)
        np.testing.assert_array_equal(loaded(_numbers(40, 3), _numbers(3)), script(_numbers(40, 3), _numbers(3)))
        with self.assertRaisesRegex(ft.ArgumentValueError, "sizes from 2 on where it has 1"):
            loaded(_numbers(1, 3), _numbers(3))

    def test_values_from_outside_are_in_the_file(self):
        _, loaded, found = self.both(with_outside, _numbers(4, 2))
        np.testing.assert_array_equal(found, _numbers(4, 2) @ WEIGHT)
        self.assertIn("outside0.npy", zipfile.ZipFile(self.path).namelist())

    def test_what_does_not_fit_is_refused(self):
        ftt.script(scan, engine="cpu").export(self.path, _numbers(5, 3), _numbers(3))
        loaded = ftt.load(self.path)
        x, h = _numbers(5, 3), _numbers(3)
        for args, kind, text in (
            ((_numbers(6, 3), h), ft.ArgumentValueError, r"argument 'x' has sizes \[6, 3\], the script was exported for \[5, 3\]"),
            ((x.astype(np.float32), h), ft.DTypeError, "argument 'x' has elements float32, the script was exported for int64"),
            ((x,), ft.ArgumentError, "exported for 2 arguments, found 1"),
            ((x, 3), ft.ArgumentError, "argument 'h' is int, expected an array"),
            ((x, x[0]), ft.ArgumentError, "arguments 'x' and 'h' overlap"),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                loaded(*args)
        np.testing.assert_array_equal(loaded(x=x.copy(), h=h), loaded(x, h=h))
        ftt.script(top_rows, engine="cpu").export(self.path, _numbers(5, 3), 2)
        with self.assertRaisesRegex(ft.ArgumentValueError, "argument 'k' is 3; the script was exported with 2, which is compiled in"):
            ftt.load(self.path)(_numbers(5, 3), 3)

    def test_data_that_do_not_fit(self):
        ftt.script(at_places, engine="cpu").export(self.path, _numbers(5, 3), np.array([1, 4]))
        loaded = ftt.load(self.path)
        np.testing.assert_array_equal(loaded(_numbers(5, 3), np.array([0, 2])), _numbers(5, 3)[[0, 2]] * 2)
        with self.assertRaisesRegex(ftt.RunIndexError, "index 5 is out of range") as caught:
            loaded(_numbers(5, 3), np.array([0, 5]))
        self.assertIn("test_exported.py", str(caught.exception))

    def test_what_no_file_can_hold(self):
        with self.assertRaisesRegex(ft.CompileError, r"test_exported.py:\d+:\d+: error: export: part \d writes one of several views of one storage"):
            ftt.script(views_that_may_meet, engine="cpu").export(self.path, _numbers(6), np.array([1, 1]))
        self.assertFalse(os.path.exists(self.path))

    def test_damaged_files(self):
        ftt.script(scan, engine="cpu").export(self.path, _numbers(5, 3), _numbers(3))
        with open(self.path, "rb") as file:
            data = file.read()
        for broken in (b"", b"nothing", data[: len(data) // 2]):
            with open(self.path, "wb") as file:
                file.write(broken)
            with self.assertRaisesRegex(ft.BundleError, "no exported script, or damaged"):
                ftt.load(self.path)
        with open(self.path, "wb") as file:
            file.write(data)
        self.change("plan.json", lambda text: text.replace(b'"format": 1', b'"format": 9'))
        with self.assertRaisesRegex(ft.BundleError, "of format 9, expected 1"):
            ftt.load(self.path)
        with self.assertRaisesRegex(ft.BundleError, "No such file"):
            ftt.load(self.path + ".not")


@unittest.skipUnless(torch is not None, "PyTorch is not installed")
class Programs(unittest.TestCase):
    def test_equal_to_eager(self):
        import script_algorithms
        import script_loops_and_branches

        exported = 0
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.fts")
            for at, (name, (function, makers)) in enumerate({**script_loops_and_branches.PROGRAMS, **script_algorithms.PROGRAMS}.items()):
                if at % 8:
                    continue
                with self.subTest(name):
                    ours, theirs = (_made(makers) for _ in range(2))
                    try:
                        ftt.script(function, engine="cpu").export(path, *_made(makers), targets="x86-64-v3")
                    except ft.CompileError as error:
                        self.assertRegex(str(error), r"export: (part \d+ writes one of|the compiler refuses part)")
                        continue
                    exported += 1
                    found = ftt.load(path)(*ours)
                    expected = function(*theirs)
                    for a, b in zip(_flat([found, ours]), _flat([expected, theirs]), strict=True):
                        if isinstance(b, torch.Tensor):
                            torch.testing.assert_close(a, b, rtol=2e-2 if b.element_size() == 2 else 1e-4, atol=2e-2 if b.element_size() == 2 else 1e-4)
                        else:
                            self.assertEqual(a, b)
        self.assertGreater(exported, 12)


def _made(makers):
    g = torch.Generator().manual_seed(5)
    return [make(g) for make in makers]


def _numbers(*shape):
    return np.random.default_rng(len(shape)).integers(-5, 6, shape)


def _flat(value):
    if isinstance(value, dict):
        return [y for x in value.values() for y in _flat(x)]
    return [y for x in value for y in _flat(x)] if isinstance(value, (tuple, list)) else [value]


if __name__ == "__main__":
    unittest.main()
