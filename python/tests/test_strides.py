# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arguments whose list dimensions lie by any strides: read as they lie, with one compile a class of strides."""

import importlib.util
import itertools
import unittest
from unittest import mock

import numpy as np

import fractaltensor as ft
from close import assert_close
from fractaltensor import arrays, compiled

torch = None
if importlib.util.find_spec("torch"):
    import torch


@ft.jit
def affine(xs: ft.List["N, M", ft.f32[2]], ws: ft.List["M", ft.f32[2]]):
    return xs.map(lambda row: ft.zip(row, ws).map(lambda x, w: x * w + 1))


@ft.jit
def rnn(xss: ft.List["N, L", ft.f32[1, "H"]], ws: ft.List["D", ft.f32["H", "H"]]):
    return xss.map(lambda xs: ws.scanl(lambda seq, w: seq.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, "H")), xs))


@ft.jit
def scalars(xs: ft.List["N, M", ft.f64]):
    return xs.map(lambda row: row.reduce(ft.add, 0.0)), xs.transpose().map(lambda row: row.scanr(ft.add, 0.0))


@ft.jit(bounds=["N >= 3"])
def accesses(xs: ft.List["N", ft.i64[3]], ids: ft.List["K", ft.i64]):
    return xs[1:-1], xs[::-1], xs.shift(1, fill=0), xs.window(3).map(lambda w: w.reduce(ft.add, ft.zeros(3, dtype=ft.i64))), ids.map(lambda i: xs[i])


@ft.jit
def three(xs: ft.List["A, B, C", ft.i32[2]]):
    return xs.map(lambda a: a.map(lambda b: b.foldl(lambda s, x: 2 * s + x, ft.zeros(2, dtype=ft.i32))))


@ft.jit
def flat(xs: ft.List["N, M", ft.f32[2]]):
    return xs.flatten().map(lambda x: 2 * x)


@ft.jit(bounds=["K >= 1"])
def pieces(xs: ft.List["N", ft.f32[2]], ks: ft.List["K", ft.f32]):
    return xs.split("K").map(lambda r: r.reduce(ft.add, 0.0))


@ft.jit(bounds=["M >= 1"])
def halves(xs: ft.List["2 * M", ft.f32[2]], ys: ft.List["M", ft.f32]):
    return xs.split("M").map(lambda r: r.scanl(lambda s, x: 2 * s - x, 0.0))


@ft.jit
def joined(xs: ft.List["A, B, C", ft.i32]):
    return xs.flatten().flatten().scanl(lambda s, x: 2 * s + x, ft.const(np.int32(1)))


@ft.jit
def inside(xs: ft.List["B, N, M", ft.f32[2]]):
    return xs.map(lambda rows: rows.flatten().foldl(lambda s, x: 0.5 * s + x, ft.zeros(2)))


@ft.jit(bounds=["K >= 1"])
def recut(xs: ft.List["N, M", ft.f32], ks: ft.List["K", ft.f32]):
    return xs.flatten().split("K").map(lambda r: r.reduce(ft.add, 0.0))


def spread(x, depth):
    """The same numbers with gaps between, in every list dimension."""
    wide = np.zeros([2 * n if d < depth else n for d, n in enumerate(x.shape)], x.dtype)
    part = wide[tuple(slice(None, None, 2) for _ in range(depth))]
    part[...] = x
    return part


def views(x, rng):
    """The same shape as `x` by other strides, with other numbers: reversed, swapped, repeated, with gaps."""
    wide = rng.standard_normal([2 * n + 1 for n in x.shape]) * 3
    wide = wide.astype(x.dtype)
    yield "gaps", wide[tuple(slice(None, 2 * n, 2) for n in x.shape)]
    yield "reversed", wide[tuple(slice(n - 1, None, -1) if n else slice(0, 0) for n in x.shape)]
    yield "offset", wide[tuple(slice(1, n + 1) for n in x.shape)]
    yield "swapped", np.ascontiguousarray(np.swapaxes(wide[tuple(slice(0, n) for n in x.shape)], 0, -1)).swapaxes(0, -1)
    if 0 not in x.shape:
        yield "repeated", np.broadcast_to(wide[tuple(slice(0, 1) for _ in x.shape)], x.shape)


def with_element(view, shape, rng, dtype):
    """A view of lists, each a contiguous element of `shape`."""
    count = int(np.prod(shape, dtype=int))
    last = [view.shape.index(n) for n in ()]
    assert not last
    raw = np.lib.stride_tricks.as_strided
    low = sum(min(0, (n - 1) * s) for n, s in zip(view.shape, view.strides)) // view.itemsize
    high = sum(max(0, (n - 1) * s) for n, s in zip(view.shape, view.strides)) // view.itemsize
    data = (rng.standard_normal((high - low + 1) * count) * 3).astype(dtype)
    strides = [s // view.itemsize * count * data.itemsize for s in view.strides]
    inner = np.zeros(shape, dtype).strides
    return raw(data[-low * count :], (*view.shape, *shape), (*strides, *inner))


def lists(lengths, element, dtype="f4", seed=0):
    rng = np.random.default_rng(seed)
    for name, view in views(np.zeros(lengths), rng):
        yield name, with_element(view, element, rng, dtype)


class Strides(unittest.TestCase):
    def check(self, program, *args, copies=False):
        """As with dense copies; and nothing is copied, on the second call as on the first."""
        expected = program(*[np.array(a, order="C", copy=True) for a in args])
        expected = expected if isinstance(expected, tuple) else (expected,)
        guard = mock.patch.object(arrays, "dense_copy", side_effect=arrays.dense_copy if copies else AssertionError("a copy"))
        with guard as copy:
            for _ in range(2):
                found = program(*args)
                found = found if isinstance(found, tuple) else (found,)
                for a, b in zip(found, expected):
                    if a.dtype.kind == "f":
                        assert_close(self, a, b)
                    else:
                        np.testing.assert_array_equal(a, b)
        self.assertEqual(copy.called, copies)

    def test_maps(self):
        for n, m in ((3, 5), (1, 4), (7, 1), (0, 3), (3, 0), (127, 2)):
            for (name, x), (other, w) in itertools.product(lists((n, m), (2,)), lists((m,), (2,))):
                with self.subTest(name, w=other, n=n, m=m):
                    self.check(affine, x, w)

    def test_recurrence(self):
        for n, l, d, h in ((2, 5, 3, 8), (3, 7, 2, 7), (1, 1, 1, 16)):
            for (name, x), (_, w) in zip(lists((n, l), (1, h)), lists((d,), (h, h))):
                with self.subTest(name, h=h):
                    self.check(rnn, 0.1 * x if name == "dense" else x, w)

    def test_scalars(self):
        for name, x in lists((5, 7), (), "f8"):
            with self.subTest(name):
                self.check(scalars, x)

    def test_accesses(self):
        ids = np.array([4, 0, 3, 3, 9], "i8")
        for name, x in lists((5,), (3,), "i8"):
            with self.subTest(name):
                self.check(accesses, x, ids[[0, 1, 2, 3]][::2])

    def test_three_levels(self):
        for name, x in lists((3, 4, 5), (2,), "i4"):
            with self.subTest(name):
                self.check(three, x)

    def test_what_the_program_takes_as_one(self):
        """Flattened lists follow each other in memory, whatever the step: others are copied, and the numbers are right."""
        for name, x in lists((3, 5), (2,)):
            with self.subTest(name):
                self.check(flat, x, copies=name != "repeated")
        self.assertIn("copied xs before calls with strides that the program cannot use: ", flat.explain())
        self.assertIn('needs dimensions 0 to 1 of "xs" to follow each other in memory', flat.explain())

    def test_flattened_by_one_step(self):
        for n, m in ((3, 5), (1, 7), (7, 1), (1, 1), (127, 2), (0, 4), (4, 0)):
            x = np.arange(4 * n * m * 2, dtype="f4").reshape(-1, 2)
            for step in (1, 2, 3, -1, -2):
                with self.subTest(n=n, m=m, step=step):
                    view = x[::step][: n * m].reshape(n, m, 2)
                    self.assertTrue(view.base is not None)
                    self.check(flat, view)

    def test_rows_of_one_element(self):
        """The stride of a dimension of one element means nothing: the other's counts."""
        x = np.arange(60, dtype="f4").reshape(5, 6, 2)
        self.check(flat, x[:, 2:3])
        self.check(flat, x[2:3, ::2])
        self.check(flat, x[::-2, 5:6])
        self.check(flat, x[1:2, 1:2])

    def test_three_joined(self):
        x = np.arange(2 * 3 * 4 * 6, dtype="i4")
        for step in (2, -2, 1):
            self.check(joined, x[::step][:24].reshape(2, 3, 4))
        wide = np.arange(4 * 6 * 8, dtype="i4").reshape(4, 6, 8)
        for view in (wide[::2, ::2, ::2], wide[:2, :3, :4], wide[:2, :3, ::2].transpose(0, 1, 2)):
            self.check(joined, view, copies=True)
        # Some of the dimensions follow each other, not all.
        self.check(joined, wide[::2, ::2, :][:, :, ::2], copies=True)

    def test_joined_behind_one_that_is_not(self):
        """A pair further in; the list outside has any stride."""
        x = np.arange(3 * 40 * 2, dtype="f4").reshape(3, 40, 2)
        for outer, inner in itertools.product((1, -1, 2), (1, 2, -1, -3)):
            rows = [np.lib.stride_tricks.as_strided]
            part = x[::outer][:, ::inner][:, :12]
            view = rows[0](part, (part.shape[0], 3, 4, 2), (part.strides[0], 4 * part.strides[1], part.strides[1], part.strides[2]))
            with self.subTest(outer=outer, inner=inner):
                self.check(inside, view)

    def test_one_compile_a_class(self):
        @ft.jit
        def twice(xs: ft.List["N, M", ft.f32[2]]):
            return xs.map(lambda row: row.map(lambda x: 2 * x))

        made = []
        inner = compiled.compile_now
        with mock.patch.object(compiled, "compile_now", side_effect=lambda *a, **k: made.append(1) or inner(*a, **k)):
            wide = np.arange(2000, dtype="f4").reshape(20, 50, 2)
            for a, b, c, d in ((2, 1, 1, 3), (3, 1, 2, 1), (5, 1, 7, 2), (-1, 1, 1, 1), (1, 2, 3, 4)):
                x = wide[::a, ::b][c:, d:]
                self.assertTrue(np.array_equal(twice(x), 2 * x))
        self.assertLessEqual(len(made), 3)  # dense, rows by strides, both by strides

    def test_elements_that_are_not_dense_are_copied(self):
        """A transposed matrix, columns with gaps and reversed ones, again and again; explain() has the reason."""

        @ft.jit
        def product(xs: ft.List["N", ft.f32[1, "H"]], w: ft.f32["H", "K"]):
            return xs.map(lambda x: x @ w)

        random = np.random.default_rng(3)
        xs, weight = (random.standard_normal(shape).astype("f4") for shape in ((5, 1, 7), (3, 7)))
        for w in (weight.T, np.asfortranarray(weight.T), np.repeat(weight.T, 2, axis=1)[:, ::2], weight.T[:, ::-1]):
            for x in (xs, np.repeat(xs, 2, axis=2)[:, :, ::2], xs[::-1, :, ::-1]):
                for _ in range(2):
                    np.testing.assert_allclose(product(x, w), x @ w, rtol=1e-5, atol=1e-6)
        out = np.empty((5, 1, 3), "f4")
        np.testing.assert_allclose(product(xs, weight.T, out=out), xs @ weight.T, rtol=1e-5, atol=1e-6)
        self.assertIn("copied w before calls with strides that the program cannot use: elements of lists do not lie dense", product.explain())

    def test_transposed_matrices_are_read_as_they_lie(self):
        """Where products alone read them; explain() names those that are, and those that are copied."""

        @ft.jit
        def cell(xs: ft.List["N", ft.f32[1, "H"]], w: ft.f32["H", "K"], u: ft.f32["H", "K"]):
            return xs.map(lambda x: x @ w + ft.linear(x, u.T) + u.sum(0))

        @ft.jit
        def linear(xs: ft.List["N", ft.f32[1, "H"]], w: ft.f32["K", "H"]):
            return xs.map(lambda x: ft.linear(x, w))

        random = np.random.default_rng(4)
        for height, width in ((1, 5), (7, 3), (8, 8)):
            x, w, u = (random.standard_normal(shape).astype("f4") for shape in ((5, 1, height), (width, height), (width, height)))
            copies = []
            inner = arrays.dense_copy
            with mock.patch.object(arrays, "dense_copy", side_effect=lambda value, **options: copies.append(value.shape) or inner(value, **options)):
                for own in (w.T, np.ascontiguousarray(w.T), w.T):  # of one shape, by turns
                    np.testing.assert_allclose(cell(x, own, u.T), x @ own + x @ u.T + u.sum(1), rtol=1e-4, atol=1e-5)
                    np.testing.assert_allclose(linear(x, own.T), x @ own, rtol=1e-4, atol=1e-5)
                self.assertEqual(copies, [] if height == 1 else [(height, width)] * 3)
            np.testing.assert_allclose(cell(x[::2], w.T, u.T), x[::2] @ w.T + x[::2] @ u.T + u.sum(1), rtol=1e-4, atol=1e-5)
            out = np.empty((5, 1, width), "f4")
            np.testing.assert_allclose(linear(x, np.asfortranarray(w), out=out), x @ w.T, rtol=1e-4, atol=1e-5)
        text = cell.explain()
        self.assertIn("read w as it lies, transposed", text)
        self.assertIn("copied u before calls", text)
        self.assertEqual(text.count("\ncalls:"), 1)

    def test_results_in_memory_of_the_arguments(self):
        """Overlaps are seen through strides, negative ones too."""
        raw = np.arange(60, dtype="f4")
        x, w = raw[:40].reshape(5, 4, 2)[::-1], np.ones((4, 2), "f4")
        for begin in (0, 8, 32, 38):
            out = raw[begin : begin + 40].reshape(5, 4, 2) if begin + 40 <= 60 else None
            if out is None:
                continue
            kept = raw.copy()
            with self.assertRaises(ft.ArgumentValueError):
                affine(x, w, out=out)
            self.assertTrue(np.array_equal(raw, kept))
        out = np.zeros((5, 4, 2), "f4")
        for _ in range(2):
            affine(x, w, out=out)
            self.assertTrue(np.array_equal(out, x * w + 1))

    def test_misaligned(self):
        """Addresses that are no multiples of a number's size: copied."""
        raw = np.zeros(4 * 200 + 2, "i1")[2:].view("f4")
        raw[:] = np.arange(200)
        x = raw[:160].reshape(8, 10, 2)[::2]
        w = np.ones((10, 2), "f4")
        for _ in range(2):
            self.assertTrue(np.array_equal(affine(x, w), x * w + 1))
            out = np.zeros((4, 10, 2), "f4")
            self.assertTrue(np.array_equal(affine(x, w, out=out), x * w + 1))

    def test_cut_by_a_length(self):
        """Pieces of a list lie by its stride: nothing is copied."""
        for count in (1, 2, 6, 9, 18):
            x, k = np.arange(36, dtype="f4").reshape(18, 2), np.zeros(count, "f4")
            for view in (x, x[::-1], spread(x, 1), np.broadcast_to(x[3], x.shape), spread(spread(x, 1), 1)[::-1]):
                self.check(pieces, view, k)
                np.testing.assert_array_equal(pieces(view, k), view.reshape(18 // count, count, 2).sum(1))
        for step in (3, -3, 1, 2):
            self.check(halves, np.arange(72, dtype="f4").reshape(36, 2)[::step][:12], np.zeros(6, "f4"))
        with self.assertRaises(ft.Error):
            pieces(x[::-1], np.zeros(5, "f4"))

    def test_joined_and_cut(self):
        """What two names flatten is cut by a third."""
        x, k = np.arange(96, dtype="f4"), np.zeros(6, "f4")
        for step in (1, 2, -1, -3):
            self.check(recut, x[::step][:24].reshape(4, 6), k)
            np.testing.assert_array_equal(recut(x[::step][:24].reshape(4, 6), k), x[::step][:24].reshape(4, 6).sum(1))

    def test_programs(self):
        """Every program gives the same for lists with gaps as for dense ones, bit for bit."""
        import test_recurrences_and_tables
        import test_programs

        for name, program, _, arrays, *_ in (*test_programs.CASES, *test_recurrences_and_tables.CASES):
            depths = [getattr(p.type, "depth", 0) for p in program.signature.traced]
            with self.subTest(name):
                expected = program(*arrays)
                found = program(*[spread(a, d) for a, d in zip(arrays, depths)])
                expected, found = (r if isinstance(r, tuple) else (r,) for r in (expected, found))
                for a, b in zip(found, expected):
                    np.testing.assert_array_equal(a, b)

    def test_interpreter(self):
        for name, x in lists((3, 5), (2,)):
            with self.subTest(name):
                w = np.ones((5, 2), "f4")
                assert_close(self, affine(x, w, engine="interpret"), x * w + 1)

    @unittest.skipUnless(torch, "no PyTorch")
    def test_torch(self):
        wide = torch.arange(240.0).reshape(8, 15, 2)
        for x in (wide[::2, :5], wide[1:, 3:8], wide[:5].transpose(0, 1)[:, :5], wide[:1, :1].expand(6, 5, 2)):
            w = torch.ones(x.shape[1], 2)
            self.assertTrue(torch.equal(affine(x, w), x + 1))
            self.assertTrue(torch.equal(affine(x, w), x + 1))


if __name__ == "__main__":
    unittest.main()
