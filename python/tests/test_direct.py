# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Repeated calls, which one C function makes: that it is used, that it checks what the first call checks."""

import gc
import importlib.util
import os
import sys
import tempfile
import threading
import unittest
import weakref

import numpy as np

import fractaltensor as ft

torch = None
if importlib.util.find_spec("torch"):
    import torch


def make_add():
    @ft.jit
    def add(xs: ft.List["N", ft.f32[4]], ys: ft.List["N", ft.f32[4]]):
        return ft.zip(xs, ys).map(ft.add)

    return add


def make_pair():
    @ft.jit
    def pair(xs: ft.List["N", ft.any["T", "H"]]):
        return xs.map(lambda x: x + 1), xs.reduce(ft.add, ft.zeros("H", dtype="T"))

    return pair


@ft.jit
def lookup(table: ft.List["V", ft.f32[2]], ids: ft.List["N", ft.i64]):
    return ids.map(lambda i: table[i])


class _Counting:
    """Counts the calls of a program, or of an entry of a bundle, that take the way through Python."""

    def __init__(self, jit):
        self.jit, self.count, self.shapes, inner = jit, 0, [], jit._call

        def call(args, *rest):
            self.count += 1
            self.shapes.append([getattr(a, "shape", a) for a in args])
            return inner(args, *rest)

        jit._call = call


def numbers(n=3, k=4, dtype="f4"):
    return np.arange(n * k, dtype=dtype).reshape(n, k)


class Bundles(unittest.TestCase):
    """Entries of a loaded file are called in the same way."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def load(self, program):
        path = os.path.join(self.folder.name, "program.ftb")
        program.export(path)
        return ft.load(path)

    def test_results(self):
        entry = self.load(make_add()).add
        slow = _Counting(entry)
        for n in (3, 5, 3, 5, 0, 0):
            a, b = numbers(n), 3 * numbers(n)
            self.assertTrue(np.array_equal(entry(a, b), a + b))
        self.assertEqual(slow.count, 3, slow.shapes)
        a, out = numbers(), np.empty((3, 4), "f4")
        for _ in range(3):
            out[:] = 0
            self.assertIs(entry(a, a, out=out), out)
            self.assertTrue(np.array_equal(out, 2 * a))
        self.assertEqual(slow.count, 4)
        out.flags.writeable = False
        for wrong in (out, np.empty((3, 5), "f4"), np.empty((3, 4), "f8"), a):
            with self.assertRaises(ft.ArgumentError):
                entry(a, a, out=wrong)
        for wrong in ((a,), (a, a.astype("f8")), (a, numbers(4)), (a, numbers(3, 5)), (a, 1.0)):
            with self.assertRaises(ft.ArgumentError):
                entry(*wrong)

    def test_several_results(self):
        @ft.jit
        def pair(xs: ft.List["N", ft.f32[4]]):
            return xs.map(lambda x: x + 1), xs.reduce(ft.add, 0.0)

        bundle = self.load(pair)
        x = numbers()
        for _ in range(3):
            # Each access makes an entry; what is prepared is the bundle's.
            entry = bundle["pair"]
            slow = _Counting(entry)
            a, b = entry(x)
            self.assertTrue(np.array_equal(a, x + 1) and np.array_equal(b, x.sum(0)))
        self.assertEqual(slow.count, 0)

    def test_data(self):
        entry = self.load(lookup).lookup
        table, ids = numbers(5, 2), np.array([0, 4])
        for _ in range(2):
            self.assertTrue(np.array_equal(entry(table, ids), table[ids]))
            with self.assertRaisesRegex(ft.ArgumentValueError, "out of range"):
                entry(table, np.array([0, 5]))

    @unittest.skipUnless(torch, "no PyTorch")
    def test_torch(self):
        entry = self.load(make_add()).add
        slow = _Counting(entry)
        a = torch.arange(12.0).reshape(3, 4)
        for _ in range(3):
            self.assertTrue(torch.equal(entry(a, a), 2 * a))
        self.assertEqual(slow.count, 1)


class Quick(unittest.TestCase):
    """What is called again with the same signature goes one way, everything else the other."""

    def test_numpy(self):
        add = make_add()
        x, y = numbers(), 2 * numbers()
        slow = _Counting(add)
        for n in (3, 5, 3, 5, 0, 0):
            a, b = numbers(n), 3 * numbers(n)
            self.assertTrue(np.array_equal(add(a, b), a + b))
        self.assertEqual(slow.count, 3, slow.shapes)
        out = np.empty_like(x)
        for scale in (1, 2, 3):
            self.assertIs(add(scale * x, y, out=out), out)
            self.assertTrue(np.array_equal(out, scale * x + y))
        self.assertEqual(slow.count, 4)

    def test_every_dtype(self):
        pair = make_pair()
        slow = _Counting(pair)
        for dtype in ("f2", "f4", "f8", "i1", "i2", "i4", "i8"):
            for scale in (1, 2):
                x = (scale * numbers(5, 3)).astype(dtype)
                a, b = pair(x)
                self.assertEqual((a.dtype, b.dtype), (x.dtype, x.dtype))
                self.assertTrue(np.array_equal(a, x + 1) and np.array_equal(b, x.sum(0).astype(dtype)))
        self.assertEqual(slow.count, 7)

    def test_several_results(self):
        pair = make_pair()
        slow = _Counting(pair)
        for _ in range(3):
            x = numbers()
            self.assertIsInstance(pair(x), tuple)
            out = np.zeros_like(x), np.zeros(4, "f4")
            found = pair(x, out=out)
            self.assertTrue(found[0] is out[0] and found[1] is out[1])
            self.assertTrue(np.array_equal(out[0], x + 1) and np.array_equal(out[1], x.sum(0)))
        self.assertEqual(slow.count, 2)

    def test_structures(self):
        @ft.jit(bounds=["N >= 1"])
        def nested(xs: ft.List["N", ft.f32[4]]):
            return xs.map(lambda x: x + 1), (xs.map(lambda x: x * 2), xs[0])

        @ft.jit
        def one(xs: ft.List["N", ft.f32[4]]):
            return (xs.map(lambda x: x + 1),)

        x = numbers()
        for _ in range(3):
            a, (b, c) = nested(x)
            self.assertTrue(np.array_equal(a, x + 1) and np.array_equal(b, 2 * x) and np.array_equal(c, x[0]))
            (d,) = one(x)
            self.assertTrue(np.array_equal(d, x + 1))

    def test_references(self):
        """Nothing is kept and nothing let go too often."""
        add, pair = make_add(), make_pair()
        x, y, out = numbers(), numbers(), numbers()
        for _ in range(2):
            add(x, y), add(x, y, out=out), pair(x)
        before = [sys.getrefcount(o) for o in (x, y, out, np.ndarray, x.dtype)]
        for _ in range(1000):
            add(x, y), add(x, y, out=out), pair(x), add(x, y, out=out)
        after = [sys.getrefcount(o) for o in (x, y, out, np.ndarray, x.dtype)]
        for a, b in zip(before, after):
            self.assertLess(abs(a - b), 100)
        result = weakref.ref(pair(x)[0])
        self.assertIsNone(result())

    def test_arguments_go(self):
        """A prepared call keeps no array of the call that it was made for."""
        add = make_add()
        for make in (numbers, lambda: numbers(6)[::2], lambda: numbers()[::-1]):
            x = make()
            y, out = x + 1, np.zeros((3, 4), "f4")
            for _ in range(2):
                add(x, y), add(x, y, out=out)
            gone = [weakref.ref(a) for a in (x, y, out)]
            del x, y, out
            gc.collect()
            self.assertTrue(all(r() is None for r in gone))

    def test_programs_go(self):
        add = make_add()
        for _ in range(3):
            add(numbers(), numbers())
        gone = weakref.ref(add)
        del add
        gc.collect()
        self.assertIsNone(gone())

    def test_threads(self):
        add, failures = make_add(), []

        def work(n):
            for i in range(300):
                x = numbers(n) + i
                if not np.array_equal(add(x, x), 2 * x):
                    failures.append(n)

        threads = [threading.Thread(target=work, args=(n,)) for n in (1, 7, 127, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])


class Checks(unittest.TestCase):
    """A prepared call checks as much as the first one."""

    def setUp(self):
        self.add = make_add()
        self.x, self.y, self.out = numbers(), 2 * numbers(), np.zeros((3, 4), "f4")
        for _ in range(2):
            self.add(self.x, self.y)
            self.add(self.x, self.y, out=self.out)

    def test_readonly_result(self):
        self.out.flags.writeable = False
        with self.assertRaisesRegex(ft.ArgumentError, "read-only"):
            self.add(self.x, self.y, out=self.out)

    def test_overlaps(self):
        for given in (self.x, self.y):
            with self.assertRaisesRegex(ft.ArgumentValueError, "overlaps"):
                self.add(self.x, self.y, out=given)
        raw = np.arange(20, dtype="f4")
        x, out = raw[:12].reshape(3, 4), raw[4:16].reshape(3, 4)
        kept = raw.copy()
        with self.assertRaisesRegex(ft.ArgumentValueError, "overlaps"):
            self.add(x, self.y, out=out)
        self.assertTrue(np.array_equal(raw, kept))

    def test_other_signatures(self):
        x, y, out = self.x, self.y, self.out
        for args, options in (
            ((x.astype("f8"), y), {}), ((x[:2], y), {}), ((x[0], y), {}),
            ((x, None), {}), ((x,), {}), ((x, y, x), {}), ((x, y), {"out": out[:2]}), ((x, y), {"out": out.astype("f8")}),
            ((x, y), {"out": out[:, ::-1]}), ((x, y), {"out": None, "extra": 1}), ((x, y), {"out": (out, out)}),
            ((x, y), {"out": ()}), ((np.ma.masked_array(x), y), {}), ((x.astype(">f4"), y), {}),
        ):
            with self.subTest(args=[getattr(a, "shape", a) for a in args], options=list(options)):
                with self.assertRaises((ft.ArgumentError, TypeError)):
                    self.add(*args, **options)

    def test_elements_that_are_not_dense(self):
        x, y = self.x, self.y
        for other in (y[:, ::-1], y.T.copy().T):
            for _ in range(2):
                self.assertTrue(np.array_equal(self.add(x, other), x + other))

    def test_layouts(self):
        raw = np.arange(200, dtype="f4")
        for begin in (0, 1, 2, 3):
            x = raw[begin : begin + 12].reshape(3, 4)
            for _ in range(2):
                self.assertTrue(np.array_equal(self.add(x, self.y), x + self.y))
        wide = numbers(6, 4)
        for _ in range(2):
            self.assertTrue(np.array_equal(self.add(wide[::2], self.y), wide[::2] + self.y))
            self.assertTrue(np.array_equal(self.add(np.broadcast_to(wide[:1], (3, 4)), self.y), wide[:1] + self.y))

    def test_errors_of_data(self):
        table, ids = np.arange(10, dtype="f4").reshape(5, 2), np.array([4, 0])
        for _ in range(2):
            self.assertTrue(np.array_equal(lookup(table, ids), table[ids]))
        for _ in range(2):
            with self.assertRaisesRegex(ft.ArgumentValueError, "out of range"):
                lookup(table, np.array([4, 5]))
        self.assertTrue(np.array_equal(lookup(table, ids), table[ids]))

    def test_bounds(self):
        @ft.jit(bounds=["N >= 2"])
        def last(xs: ft.List["N", ft.f32[4]]):
            return xs[1:]

        for _ in range(2):
            self.assertTrue(np.array_equal(last(self.x), self.x[1:]))
            with self.assertRaises(ft.ArgumentValueError):
                last(self.x[:1])


@unittest.skipUnless(torch, "no PyTorch")
class Torch(unittest.TestCase):
    def test_ways(self):
        add = make_add()
        slow = _Counting(add)
        x, y = torch.from_numpy(numbers()), torch.from_numpy(2 * numbers())
        for _ in range(3):
            self.assertTrue(torch.equal(add(x, y), x + y))
            self.assertIsInstance(add(x.numpy(), y.numpy()), np.ndarray)
            out = torch.empty(3, 4)
            self.assertIs(add(x, y, out=out), out)
            self.assertTrue(torch.equal(out, x + y))
        self.assertEqual(slow.count, 3)

    def test_parameters(self):
        add = make_add()
        slow = _Counting(add)
        x, p = torch.from_numpy(numbers()), torch.nn.Parameter(torch.ones(3, 4))
        with torch.no_grad():
            for _ in range(3):
                self.assertTrue(torch.equal(add(x, p), x + p))
        self.assertEqual(slow.count, 1)
        for _ in range(2):
            p.grad = None
            add(x, p).sum().backward()
            self.assertTrue(torch.equal(p.grad, torch.ones(3, 4)))

    def test_numbers_to_be_negated(self):
        add = make_add()
        x, y = torch.from_numpy(numbers()), torch.ones(3, 4)
        for _ in range(2):
            self.assertTrue(torch.equal(add(x, y), x + 1))
            self.assertTrue(torch.equal(add(torch._neg_view(x), y), 1 - x))
            self.assertTrue(torch.equal(add(x, torch._neg_view(y)), x - 1))

    def test_transforms(self):
        """Tensors that stand for others go no quick way."""
        add = make_add()
        x, y = torch.from_numpy(numbers()), torch.ones(3, 4)
        for _ in range(2):
            add(x, y)
        self.assertTrue(torch.equal(torch.func.vmap(add)(x[None], y[None])[0], x + y))
        for wrong in (lambda: add(x.to("meta"), y), lambda: add(x.to_sparse(), y)):
            with self.assertRaises(Exception) as raised:
                wrong()
            self.assertNotIsInstance(raised.exception, (ft.InternalError, AssertionError))
        self.assertTrue(torch.equal(torch.func.functionalize(lambda a, b: a * 1 + b)(x, y), x + y))

    def test_operator(self):
        from fractaltensor.torch_support import program_text

        add, pair = make_add(), make_pair()
        x, y = torch.from_numpy(numbers()), torch.ones(3, 4)
        one, two = program_text(add, [x, y], {}), program_text(pair, [x], {})
        for _ in range(3):
            found = torch.ops.fractaltensor.forward_1(one, [x, y])
            self.assertTrue(torch.equal(found, x + y))
            a, b = torch.ops.fractaltensor.forward_2(two, [x])
            self.assertTrue(torch.equal(a, x + 1) and torch.equal(b, x.sum(0)))
        x.requires_grad_()
        torch.ops.fractaltensor.forward_1(one, [x, y]).sum().backward()
        self.assertTrue(torch.equal(x.grad, torch.ones(3, 4)))

    def test_inference_mode(self):
        add = make_add()
        x, y = torch.from_numpy(numbers()), torch.ones(3, 4)
        add(x, y)
        with torch.inference_mode():
            self.assertTrue(add(x, y).is_inference())
        self.assertFalse(add(x, y).is_inference())


if __name__ == "__main__":
    unittest.main()
