# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derivatives of programs: against PyTorch's autograd, by central differences, and twice."""

import unittest

import numpy as np

import fractaltensor as ft

try:
    import torch
    from torch.autograd import forward_ad
except ImportError:
    torch = None


@ft.jit
def cell_rnn(xss: ft.List["N, L", ft.f64[1, "H"]], ws: ft.List["D", ft.f64["H", "H"]], h0: ft.f64[1, "H"]):
    def layer(below, w):
        return ft.scanl(lambda s, x: ft.tanh(x + s @ w), below, init=h0)

    return xss.map(lambda xs: ft.foldl(layer, ws, init=xs))


@ft.jit
def attention(qs: ft.List["Q", ft.f64["D"]], ks: ft.List["K", ft.f64["D"]], vs: ft.List["K", ft.f64["D"]]):
    def row(q):
        scores = ks.map(lambda k: ft.exp((q * k).sum()))
        total = scores.reduce(lambda a, b: a + b, init=0.0)
        weighted = ft.zip(scores, vs).map(lambda s, v: s / total * v)
        return weighted.reduce(lambda a, b: a + b, init=vs[0] * 0)

    return qs.map(row)


attention._options.bounds = ("K >= 1",)


@ft.jit
def picked(table: ft.List["V", ft.f64[2]], at: ft.List["M", ft.i64], scale: ft.f64):
    return table[at].map(lambda x: ft.sin(x) * scale)


@ft.jit
def energy(xs: ft.List["L", ft.f64[3]], w: ft.f64[3]):
    return xs.map(lambda x: ft.tanh(x * w).sum()).reduce(lambda a, b: a + b, init=0.0)


def eager_rnn(xss, ws, h0):
    rows = []
    for xs in xss:
        layer = list(xs)
        for w in ws:
            h, made = h0, []
            for x in layer:
                h = torch.tanh(x + h @ w)
                made.append(h)
            layer = made
        rows.append(torch.stack(layer))
    return torch.stack(rows)


@unittest.skipIf(torch is None, "PyTorch is not there")
class Autograd(unittest.TestCase):
    def rnn_inputs(self, n=2, length=5, depth=3, h=4):
        torch.manual_seed(1)
        shapes = ((n, length, 1, h), (depth, h, h), (1, h))
        return [(torch.randn(s, dtype=torch.float64) * 0.5).requires_grad_() for s in shapes]

    def compare(self, program, eager, inputs, names):
        twins = [t.detach().clone().requires_grad_(t.requires_grad) for t in inputs]
        got, wanted = program(*inputs), eager(*twins)
        torch.testing.assert_close(got, wanted, rtol=1e-13, atol=1e-13)
        weights = torch.randn_like(wanted)
        (got * weights).sum().backward()
        (wanted * weights).sum().backward()
        for name, mine, theirs in zip(names, inputs, twins):
            with self.subTest(name):
                self.assertEqual(mine.grad is None, theirs.grad is None)
                if theirs.grad is not None:
                    torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-12, atol=1e-13)

    def test_stacked_rnn(self):
        for length in (1, 2, 7):
            self.compare(cell_rnn, eager_rnn, self.rnn_inputs(length=length), ("xss", "ws", "h0"))

    def test_frozen_inputs_before_trained_ones(self):
        inputs = self.rnn_inputs()
        inputs[0].requires_grad_(False)
        self.compare(cell_rnn, eager_rnn, inputs, ("xss", "ws", "h0"))
        inputs = self.rnn_inputs()
        inputs[1].requires_grad_(False)
        self.compare(cell_rnn, eager_rnn, inputs, ("xss", "ws", "h0"))

    def test_attention(self):
        torch.manual_seed(2)
        inputs = [torch.randn(n, 4, dtype=torch.float64).requires_grad_() for n in (3, 5, 5)]
        self.compare(attention, lambda q, k, v: torch.softmax(q @ k.T, -1) @ v, inputs, ("qs", "ks", "vs"))

    def test_indices_have_none_and_repeated_ones_add_up(self):
        table = torch.randn(5, 2, dtype=torch.float64).requires_grad_()
        at = torch.tensor([1, 4, 1, 1, 0])
        scale = torch.tensor(0.7, dtype=torch.float64).requires_grad_()
        self.compare(picked, lambda t, i, s: torch.sin(t[i]) * s, [table, at, scale], ("table", "at", "scale"))
        self.assertTrue((table.grad[[2, 3]] == 0).all())

    def test_cotangents_that_repeat_one_number(self):
        inputs = self.rnn_inputs()
        cell_rnn(*inputs).sum().backward()
        twins = [t.detach().clone().requires_grad_() for t in inputs]
        eager_rnn(*twins).sum().backward()
        for mine, theirs in zip(inputs, twins):
            torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-12, atol=1e-13)

    def test_differences_and_second_derivatives(self):
        inputs = self.rnn_inputs(n=1, length=2, depth=2, h=2)
        self.assertTrue(torch.autograd.gradcheck(cell_rnn, inputs))
        self.assertTrue(torch.autograd.gradgradcheck(cell_rnn, inputs))

    def test_training_steps_equal_eager_ones(self):
        mine, twins = self.rnn_inputs(), self.rnn_inputs()
        for inputs, run in ((mine, cell_rnn), (twins, eager_rnn)):
            optimizer = torch.optim.AdamW(inputs[1:], lr=1e-2)
            for _ in range(5):
                optimizer.zero_grad()
                run(*inputs).square().mean().backward()
                optimizer.step()
        for a, b in zip(mine, twins):
            torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-11)

    def test_prepared_calls(self):
        """The second call of a kind takes a derivative that is prepared; what requires a gradient is part of the kind."""
        xs, w = torch.rand(4, 3, dtype=torch.float64), torch.rand(3, dtype=torch.float64)
        for moved in ((1,), (0,), (0, 1), (1,), (0,), (0, 1)):
            for length in (4, 2, 0):
                args = [t.clone().requires_grad_(i in moved) for i, t in enumerate((xs[:length], w))]
                energy(*args).backward()
                expected = (1 - torch.tanh(xs[:length] * w) ** 2)
                for i, gradient in enumerate((expected * w, (expected * xs[:length]).sum(0))):
                    if i in moved:
                        torch.testing.assert_close(args[i].grad, gradient)
                    else:
                        self.assertIsNone(args[i].grad)
                self.assertIsNotNone(energy._tracked.call(args))
        with torch.no_grad():
            self.assertIsNone(energy._tracked.call(args))
            self.assertFalse(energy(*args).requires_grad)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            self.assertIsNone(energy._tracked.call(args))

    def test_a_saved_tensor_that_changed(self):
        inputs = self.rnn_inputs()
        result = cell_rnn(*inputs)
        with torch.no_grad():
            inputs[1].mul_(2)
        with self.assertRaisesRegex(RuntimeError, "modified by an inplace operation"):
            result.sum().backward()


@unittest.skipIf(torch is None, "PyTorch is not there")
class ForwardMode(unittest.TestCase):
    """Dual tensors and torch.func, also of calls that are prepared."""

    def setUp(self):
        torch.manual_seed(5)
        self.args = [torch.randn(s, dtype=torch.float64) * 0.5 for s in ((2, 3, 1, 2), (2, 2, 2), (1, 2))]
        self.tangents = [torch.randn_like(a) for a in self.args]
        for _ in range(3):
            cell_rnn(*self.args)

    def same(self, found, wanted):
        torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-13)

    def test_kinks_and_numbers_whose_exponential_overflows(self):
        """PyTorch's derivatives: finite where exp(-x) is not, and one side's where a function has a kink."""
        x = torch.tensor([-200.0, -100.0, -90.0, -1.0, 0.0, 80.0, 200.0])
        one, other = torch.tensor([-200.0, 3.0] * 3 + [200.0]), torch.zeros(7)
        F = torch.nn.functional
        whole = torch.tensor([-14.0, -7.0, -0.0, 0.0, 7.0, 21.0, 22.0])
        for name, ours, theirs, at in (
            ("remainder", lambda v: ft.remainder(v, 7.0), lambda v: torch.remainder(v, 7.0), whole),
            ("remainder of a negative divisor", lambda v: ft.remainder(v, -7.0), lambda v: torch.remainder(v, -7.0), whole),
            ("angle", lambda v: ft.arctan2(v, v), lambda v: torch.atan2(v, v), whole),
            ("sigmoid", ft.sigmoid, torch.sigmoid, x),
            ("silu", ft.silu, F.silu, x),
            ("relu", ft.relu, torch.relu, x),
            ("abs", ft.abs, torch.abs, x),
            ("maximum", lambda v: ft.maximum(v, -1.0), lambda v: torch.maximum(v, torch.tensor(-1.0)), x),
            ("clip", lambda v: ft.clip(v, -1.0, 80.0), lambda v: torch.clip(v, -1.0, 80.0), x),
            ("clip to tensors", lambda v: ft.clip(v, ft.const(one.numpy()), None), lambda v: torch.clip(v, one, None), x),
            ("norm", ft.norm, torch.linalg.norm, x),
            ("norm of zeros", ft.norm, torch.linalg.norm, other),
            ("deviation of equal numbers", ft.std, lambda v: torch.std(v, unbiased=False), other + 3),
        ):
            def program(v):
                return ours(v)

            program.__annotations__ = {"v": ft.f32[7]}
            mine, yours = at.clone().requires_grad_(), at.clone().requires_grad_()
            with self.subTest(name):
                found, expected = ft.jit(program)(mine), theirs(yours)
                weights = torch.linspace(0.5, 1.5, expected.numel()).reshape(expected.shape)
                (found * weights).sum().backward()
                (expected * weights).sum().backward()
                torch.testing.assert_close(found, expected)
                torch.testing.assert_close(mine.grad, yours.grad)

    def test_tangents(self):
        for moved in ((0,), (1,), (0, 2)):
            for tracked in ((), (1,)):
                with self.subTest(moved=moved, tracked=tracked), forward_ad.dual_level():
                    args = [a.clone().requires_grad_(i in tracked) for i, a in enumerate(self.args)]
                    args = [forward_ad.make_dual(a, t) if i in moved else a for i, (a, t) in enumerate(zip(args, self.tangents))]
                    mine, theirs = forward_ad.unpack_dual(cell_rnn(*args)), forward_ad.unpack_dual(eager_rnn(*args))
                    self.same(mine.primal, theirs.primal)
                    self.same(mine.tangent, theirs.tangent)

    def test_both_modes(self):
        args = [a.requires_grad_() for a in (self.args[0][:1, :2], self.args[1][:1], self.args[2])]
        self.assertTrue(torch.autograd.gradcheck(cell_rnn, args, check_forward_ad=True))
        self.assertTrue(torch.autograd.gradgradcheck(cell_rnn, args, check_fwd_over_rev=True, check_rev_over_rev=False, check_undefined_grad=False))

    def test_transforms(self):
        func = torch.func
        args = self.args
        losses = [lambda *a, run=run: (run(*a) ** 2).sum() for run in (cell_rnn, eager_rnn)]
        for transform in (func.grad, func.jacfwd):
            self.same(*(transform(loss, argnums=(0, 1, 2))(*args) for loss in losses))
        self.same(*(func.hessian(loss, argnums=2)(*args) for loss in losses))
        self.same(*(func.jvp(run, tuple(args), tuple(self.tangents)) for run in (cell_rnn, eager_rnn)))
        batch = torch.stack([args[2], -args[2]])
        for inner in (lambda f: f, lambda f: func.grad(lambda *a: f(*a).sum(), argnums=1)):
            self.same(*(torch.vmap(inner(run), in_dims=(None, None, 0))(args[0], args[1], batch) for run in (cell_rnn, eager_rnn)))

    def test_tracing_sees_the_operator(self):
        from torch.fx.experimental.proxy_tensor import make_fx

        graph = make_fx(cell_rnn)(*self.args)
        self.same(graph(*self.tangents), eager_rnn(*self.tangents))

    def test_results_that_are_arguments(self):
        @ft.jit
        def both(xs: ft.List["L", ft.f64[2]]):
            return xs.map(ft.sin), xs

        xs = self.args[2].clone().requires_grad_()
        waves, same = both(xs)
        self.assertNotEqual(same.data_ptr(), xs.data_ptr())
        (waves.sum() + 3 * same.sum()).backward()
        self.same(xs.grad, torch.cos(xs.detach()) + 3)
        with forward_ad.dual_level():
            found = [forward_ad.unpack_dual(r).tangent for r in both(forward_ad.make_dual(xs.detach(), torch.ones_like(xs)))]
        self.same(found, [torch.cos(xs.detach()), torch.ones(1, 2, dtype=torch.float64)])

    def test_nothing_is_tracked(self):
        args = [a.requires_grad_() for a in self.args]
        with torch.no_grad():
            self.assertFalse(cell_rnn(*args).requires_grad)
        with torch.inference_mode():
            self.assertTrue(cell_rnn(*args).is_inference())

    def test_refusals(self):
        args, out = self.args, torch.empty(2, 3, 1, 2, dtype=torch.float64)
        for _ in range(2):
            cell_rnn(*args, out=out)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(args[0], self.tangents[0])
            with self.assertRaisesRegex(ft.GradientError, "argument 0 has a tangent, and derivatives do not pass through out="):
                cell_rnn(dual, *args[1:], out=out)
        tracked = [args[0], args[1].clone().requires_grad_(), args[2]]
        with self.assertRaisesRegex(ft.GradientError, "argument 1 requires a gradient, and derivatives do not pass through out="):
            cell_rnn(*tracked, out=out)
        y = cell_rnn(*tracked)
        with self.assertRaisesRegex(ft.GradientError, "is_grads_batched"):
            torch.autograd.grad(y, tracked[1], torch.stack([torch.ones_like(y)] * 2), is_grads_batched=True)

        @ft.jit
        def sums(xss: ft.List["N, ragged(len)", ft.f64[2]]):
            return xss.map(lambda xs: xs.reduce(lambda a, b: a + b, init=ft.zeros(2, dtype=ft.f64)))

        with self.assertRaisesRegex(ft.GradientError, "requires a gradient, and programs with lists of several lengths"):
            sums(ft.ragged(torch.ones(3, 2, dtype=torch.float64, requires_grad=True), [0, 1, 3]))


class Functions(unittest.TestCase):
    def test_grad_of_one_number(self):
        random = np.random.default_rng(3)
        xs, w = random.standard_normal((7, 3)), random.standard_normal(3)
        value, (dx, dw) = ft.value_and_grad(energy, argnums=(0, 1))(xs, w)
        slope = 1 - np.tanh(xs * w) ** 2
        np.testing.assert_allclose(value, np.tanh(xs * w).sum(), rtol=1e-13)
        np.testing.assert_allclose(dx, slope * w, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(dw, (slope * xs).sum(0), rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(ft.grad(energy, 1)(xs, w), dw)

    def test_vjp_is_the_transpose_of_jvp(self):
        random = np.random.default_rng(4)
        args = [random.standard_normal(s) * 0.5 for s in ((2, 3, 1, 4), (2, 4, 4), (1, 4))]
        tangents = [random.standard_normal(a.shape) for a in args]
        result, moved = ft.jvp(cell_rnn, args, tangents)
        weights = random.standard_normal(result.shape)
        again, pull = ft.vjp(cell_rnn, *args)
        np.testing.assert_array_equal(result, again)
        left, right = (moved * weights).sum(), sum((t * g).sum() for t, g in zip(tangents, pull(weights)))
        self.assertLessEqual(abs(left - right), 1e-12 * max(abs(left), 1))

    def test_refusals(self):
        xs, w = np.ones((2, 3)), np.ones(3)
        with self.assertRaisesRegex(ft.ArgumentError, "has no argument 2"):
            ft.grad(energy, 2)(xs, w)
        with self.assertRaisesRegex(ft.GradientError, "one number as its result"):
            ft.grad(picked)(np.ones((2, 2)), np.zeros(1, np.int64), np.float64(1))
        with self.assertRaisesRegex(ft.ArgumentError, "takes a program"):
            ft.grad(len)


if __name__ == "__main__":
    unittest.main()
