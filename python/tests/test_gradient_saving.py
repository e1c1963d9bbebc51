# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is saved for gradients: checkpoints, prices, bytes as predicted; stop_gradient, hvp, autocast, index lists."""

import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor.derivatives import derivative, program_of, saved_bytes

try:
    import torch
except ImportError:
    torch = None


def recurrence(every=None):
    def selective(xs: ft.List["L", ft.f64[4]], a: ft.f64[4, 6], b: ft.f64[6]):
        def step(h, x):
            new = h * ft.sigmoid(a) + ft.sin(h) * x.reshape(4, 1) * b
            return ft.emit(new, (new * b).sum(-1))

        found = ft.foldl(step, xs, init=ft.zeros(4, 6, dtype=ft.f64))
        _, ys = found if every is None else ft.checkpoint(found, every)
        return ys.map(lambda y: ft.tanh(y).sum()).reduce(lambda p, q: p + q, init=0.0)

    return ft.jit(selective)


def inputs_of(length, seed=0):
    random = np.random.default_rng(seed)
    return random.standard_normal((length, 4)), random.standard_normal((4, 6)), random.standard_normal(6)


class Checkpoints(unittest.TestCase):
    def test_gradients_stay(self):
        plain = ft.value_and_grad(recurrence(), (0, 1, 2))
        for every in (8, (12, 3)):
            divided = ft.value_and_grad(recurrence(every), (0, 1, 2))
            for length in (0, 1, 7, 8, 13, 64, 67):
                with self.subTest(every=every, length=length):
                    (value, found), (wanted_value, wanted) = divided(*inputs_of(length)), plain(*inputs_of(length))
                    np.testing.assert_allclose(value, wanted_value, rtol=1e-12)
                    for mine, theirs in zip(found, wanted):
                        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)

    def saved(self, program, length):
        """The saved arrays, and the bytes that are predicted for them."""
        args = inputs_of(length)
        traced, values = program_of(program, args)
        made = derivative(traced, (0, 1, 2))
        outputs = made.forward(*values)
        return outputs[made.num_results :], saved_bytes(made).evaluate({"L": length})

    def test_bytes_are_as_predicted(self):
        for program in (recurrence(), recurrence(8)):
            for length in (0, 1, 63, 64, 67):
                arrays, predicted = self.saved(program, length)
                self.assertEqual(sum(a.nbytes for a in arrays), predicted)

    def test_states_are_about_two_roots(self):
        length, state = 64, 4 * 6 * 8
        arrays, _ = self.saved(recurrence(8), length)
        # One of each chunk, the last one, and the emitted rows; a chunk's own eight are in the backward function alone.
        rows = length * 4 * 8
        self.assertLessEqual(sum(a.nbytes for a in arrays) - rows, (2 * 8 - 8 + 1) * state)
        whole, _ = self.saved(recurrence(), length)
        self.assertGreater(sum(a.nbytes for a in whole) - rows, (length - 1) * state)

    def test_explain_tells_choices_and_prices(self):
        program = recurrence(16)
        program(*inputs_of(3))
        self.assertNotIn("derivative for", program.explain())
        ft.grad(program, (0, 1))(*inputs_of(3))
        text = program.explain()
        self.assertIn("derivative for xs, a:", text)
        self.assertIn("saves List[floordiv(L, 16); f64[4, 6]]", text)
        self.assertRegex(text, r"saves .*floordiv\(L, 16\).* bytes besides arguments and results")
        self.assertRegex(text, r"ft.foldl is computed again, as ft.saved says: \d+ bytes take \d+ ns to write and read, its operations \d+ ns")

    def test_refusals(self):
        with self.assertRaisesRegex(ft.ArgumentError, "every is a number of iterations"):
            recurrence(0)(*inputs_of(2))


        def mapped(xs: ft.List["L", ft.f64[4]]):
            return ft.checkpoint(xs.map(ft.sin), 4)

        with self.assertRaisesRegex(ft.TraceError, "takes what a fold or scan returned, found a value that map made"):
            ft.jit(mapped)(np.ones((2, 4)))


class Products(unittest.TestCase):
    def test_hessian_vector_product(self):
        program, args = recurrence(8), inputs_of(13)
        random = np.random.default_rng(1)
        vectors = [random.standard_normal(a.shape) for a in args]
        gradient, product = ft.hvp(program, args, vectors)
        for mine, theirs in zip(gradient, ft.grad(program, (0, 1, 2))(*args)):
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)
        step = 1e-6
        more, less = (ft.grad(program, (0, 1, 2))(*[a + s * v for a, v in zip(args, vectors)]) for s in (step, -step))
        for mine, a, b in zip(product, more, less):
            np.testing.assert_allclose(mine, (a - b) / (2 * step), rtol=1e-5, atol=1e-6 * np.abs(mine).max())
        others = [random.standard_normal(a.shape) for a in args]
        left = sum((p * o).sum() for p, o in zip(product, others))
        right = sum((p * v).sum() for p, v in zip(ft.hvp(program, args, others)[1], vectors))
        np.testing.assert_allclose(left, right, rtol=1e-11)

    def test_a_linear_program_has_none(self):
        @ft.jit
        def total(xs: ft.List["L", ft.f64[2]]):
            return xs.map(lambda x: x.sum()).reduce(lambda a, b: a + b, init=0.0)

        gradient, product = ft.hvp(total, (np.ones((3, 2)),), (np.ones((3, 2)),))
        np.testing.assert_array_equal(gradient[0], np.ones((3, 2)))
        np.testing.assert_array_equal(product[0], np.zeros((3, 2)))

    def test_stop_gradient(self):
        @ft.jit
        def partly(xs: ft.List["L", ft.f64[3]], ys: ft.List["L", ft.f64[3]]):
            stopped = ft.stop_gradient(ys)
            return ft.zip(xs, stopped).map(lambda x, y: (x * ft.stop_gradient(x) * y).sum()).reduce(lambda a, b: a + b, init=0.0)

        random = np.random.default_rng(2)
        xs, ys = random.standard_normal((4, 3)), random.standard_normal((4, 3))
        value, (dx, dy) = ft.value_and_grad(partly, (0, 1))(xs, ys)
        np.testing.assert_allclose(value, (xs * xs * ys).sum(), rtol=1e-13)
        np.testing.assert_allclose(dx, xs * ys, rtol=1e-13)
        np.testing.assert_array_equal(dy, np.zeros((4, 3)))
        self.assertEqual(ft.stop_gradient(2.0), 2.0)


@ft.jit
def embedding(table: ft.List["V", ft.f64[3]], at: ft.List["M", ft.i32]):
    return table[at].map(ft.sin)


@ft.jit
def in_rows(table: ft.List["V", ft.f64[3]], at: ft.List["N, 2", ft.i32]):
    return table[at].map(lambda row: row.map(ft.sin))


@ft.jit
def in_lists(table: ft.List["V", ft.f64[3]], at: ft.List["N, M", ft.i32]):
    return table[at].map(lambda row: row.map(ft.sin))


class Indices(unittest.TestCase):
    def test_scatter_add_is_a_scan_in_the_order_of_the_indices(self):
        random = np.random.default_rng(3)
        cases = ((embedding, 5, (14,)), (embedding, 1, (3,)), (embedding, 4, (0,)), (embedding, 300, (10,)),
                 (in_rows, 5, (7, 2)), (in_lists, 5, (3, 4)))
        for program, values, shape in cases:
            with self.subTest(values=values, shape=shape):
                table, at = random.standard_normal((values, 3)), random.integers(0, values, shape).astype(np.int32)
                weights = random.standard_normal((*shape, 3))
                _, pull = ft.vjp(program, table, at)
                wanted = np.zeros_like(table)
                np.add.at(wanted, at.reshape(-1), (np.cos(table[at]) * weights).reshape(-1, 3))
                np.testing.assert_allclose(pull(weights)[0], wanted, rtol=1e-12, atol=1e-13)
                kinds = [kind for kind, _ in derivative(program_of(program, (table, at))[0], (0,)).residuals]
                self.assertEqual("order" in kinds and "ends" in kinds, program is not in_lists)

    @unittest.skipIf(torch is None, "PyTorch is not there")
    def test_twice_and_with_tensors(self):
        table = torch.randn(4, 3, dtype=torch.float64, requires_grad=True)
        at = torch.tensor([1, 3, 1, 0, 1, 3], dtype=torch.int32)
        self.assertTrue(torch.autograd.gradcheck(lambda t: embedding(t, at), [table]))
        self.assertTrue(torch.autograd.gradgradcheck(lambda t: embedding(t, at), [table]))


class Extrema(unittest.TestCase):
    @unittest.skipIf(torch is None, "PyTorch is not there")
    def test_ties_share_as_in_amax(self):
        @ft.jit
        def most(xs: ft.List["L", ft.f64[2]]):
            return xs.reduce(ft.maximum, init=ft.zeros(2, dtype=ft.f64) - 9)

        xs = torch.tensor([[1.0, 2.0], [3.0, 2.0], [3.0, 0.0], [3.0, 2.0]], dtype=torch.float64, requires_grad=True)
        most(xs).sum().backward()
        twin = xs.detach().clone().requires_grad_()
        twin.amax(0).sum().backward()
        torch.testing.assert_close(xs.grad, twin.grad)
        _, moved = ft.jvp(most, (xs.detach().numpy(),), (np.arange(8.0).reshape(4, 2),))
        np.testing.assert_allclose(moved, (twin.grad.numpy() * np.arange(8.0).reshape(4, 2)).sum(0), rtol=1e-13)


@unittest.skipIf(torch is None, "PyTorch is not there")
class Autocast(unittest.TestCase):
    def test_floats_are_cast_to_the_signature(self):
        @ft.jit
        def rows(xs: ft.List["L", ft.f32[1, 4]], w: ft.f32[4, 4]):
            return xs.map(lambda x: ft.tanh(x @ w))

        x, w = torch.randn(5, 1, 4), torch.randn(4, 4, requires_grad=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            hidden = torch.nn.functional.linear(x, torch.eye(4))
            self.assertEqual(hidden.dtype, torch.bfloat16)
            for _ in range(2):  # A plan that was prepared is taken for what it was prepared for.
                found = rows(hidden, w)
                self.assertEqual(found.dtype, torch.float32)
                torch.testing.assert_close(found, rows(hidden.float(), w))
        found.sum().backward()
        self.assertEqual(w.grad.dtype, torch.float32)
        with self.assertRaises(ft.ArgumentError):
            rows(hidden.detach(), w.detach())


if __name__ == "__main__":
    unittest.main()
