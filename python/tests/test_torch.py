# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch: tensors in and out, element types, the operator, torch.compile, no gradients."""

import importlib.util
import unittest

import fractaltensor as ft

HAS_TORCH = importlib.util.find_spec("torch") is not None

if HAS_TORCH:
    import torch


@ft.jit
def rnn(xss: ft.List["N, L", ft.any["T", 1, "H"]], w: ft.any["T", "H", "H"]):
    return xss.map(lambda xs: xs.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, "H", dtype="T")))


@ft.jit
def pair(xs: ft.List["N", ft.f32[4]]):
    return xs[::-1], xs.reduce(ft.add, 0)


def reference(x, w):
    h, out = torch.zeros_like(x[:, 0]), []
    for k in range(x.shape[1]):
        h = torch.tanh(x[:, k] @ w + h)
        out.append(h)
    return torch.stack(out, 1)


def inputs(dtype=None, h=8, l=5):
    torch.manual_seed(0)
    x, w = torch.randn(3, l, 1, h), torch.randn(h, h) / h
    return (x, w) if dtype is None else (x.to(dtype), w.to(dtype))


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Torch(unittest.TestCase):
    def test_element_types(self):
        for dtype, tolerance in ((torch.float32, 1e-5), (torch.float64, 1e-12), (torch.float16, 4e-3), (torch.bfloat16, 4e-2)):
            with self.subTest(dtype):
                x, w = inputs(dtype)
                y = rnn(x, w)
                self.assertIs(type(y), torch.Tensor)
                self.assertEqual(y.dtype, dtype)
                torch.testing.assert_close(y.double(), reference(x.double(), w.double()), rtol=tolerance, atol=tolerance)

    def test_integers(self):
        @ft.jit
        def f(xs: ft.List["N", ft.any["T", 3]]):
            return xs.scanl(lambda s, x: s * 3 + x, 0)

        for dtype in (torch.int8, torch.int16, torch.int32, torch.int64):
            with self.subTest(dtype):
                x = torch.arange(12, dtype=dtype).reshape(4, 3)
                s, out = torch.zeros(3, dtype=dtype), []
                for row in x:
                    s = s * 3 + row
                    out.append(s)
                self.assertTrue(torch.equal(f(x), torch.stack(out)))

    def test_strides_and_views(self):
        x, w = inputs()
        torch.testing.assert_close(rnn(x[::2, 1:], w), reference(x[::2, 1:], w))
        torch.testing.assert_close(rnn(x.transpose(0, 1), w), reference(x.transpose(0, 1), w))
        turned = w.transpose(-1, -2)  # elements that are not dense are copied
        torch.testing.assert_close(rnn(x, turned), reference(x, turned))
        weights = w.clone().requires_grad_()
        rnn(x, weights.transpose(-1, -2)).sum().backward()
        expected = w.clone().requires_grad_()
        reference(x, expected.transpose(-1, -2)).sum().backward()
        torch.testing.assert_close(weights.grad, expected.grad)

    def test_out(self):
        x, w = inputs()
        y = torch.empty_like(x)
        self.assertIs(rnn(x, w, out=y), y)
        torch.testing.assert_close(y, reference(x, w))

    def test_mixed_libraries(self):
        x, w = inputs()
        torch.testing.assert_close(rnn(x, w.numpy()), reference(x, w))

    def test_operator(self):
        x, w = inputs()
        rnn(x, w)
        from fractaltensor.torch_support import program_text

        text = program_text(rnn, [x, w], {})
        torch.testing.assert_close(torch.ops.fractaltensor.forward_1(text, [x, w]), reference(x, w))
        torch.library.opcheck(torch.ops.fractaltensor.forward_1.default, (text, [x, w]), test_utils=("test_schema", "test_faketensor"))

    def test_fake_tensors(self):
        from torch._subclasses.fake_tensor import FakeTensorMode

        with FakeTensorMode():
            y = rnn(torch.empty(3, 7, 1, 8), torch.empty(8, 8))
            a, b = pair(torch.empty(9, 4))
        self.assertEqual((tuple(y.shape), y.dtype), ((3, 7, 1, 8), torch.float32))
        self.assertEqual((tuple(a.shape), tuple(b.shape)), ((9, 4), (4,)))

    def test_compile(self):
        @torch.compile(fullgraph=True, backend="aot_eager")
        def model(x, w):
            a, b = pair(x[:, 0, 0, :4] * 2)
            return rnn(x + 1, w) * 2, a, b

        for l in (5, 6, 9):
            x, w = inputs(l=l)
            y, a, b = model(x, w)
            torch.testing.assert_close(y, reference(x + 1, w) * 2)
            torch.testing.assert_close(a, (x[:, 0, 0, :4] * 2).flip(0))
            torch.testing.assert_close(b, (x[:, 0, 0, :4] * 2).sum(0))

    def test_export(self):
        class Model(torch.nn.Module):
            def forward(self, x, w):
                return rnn(x, w)

        x, w = inputs()
        exported = torch.export.export(Model(), (x, w))
        self.assertIn("fractaltensor.forward_1", str(exported.graph))
        torch.testing.assert_close(exported.module()(x, w), reference(x, w))

    def test_backward(self):
        x, w = inputs()
        w.requires_grad_()
        y = rnn(x, w)
        torch.testing.assert_close(y.detach(), reference(x, w).detach())
        (found,) = torch.autograd.grad(y.sum(), w)
        (expected,) = torch.autograd.grad(reference(x, w).sum(), w)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        with torch.no_grad():
            self.assertFalse(rnn(x, w).requires_grad)

    def test_backward_compiled(self):
        x, w = inputs()
        w.requires_grad_()
        model = torch.compile(lambda x, w: rnn(x, w).sum(), fullgraph=True, backend="aot_eager")
        (found,) = torch.autograd.grad(model(x, w), w)
        (expected,) = torch.autograd.grad(reference(x, w).sum(), w)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)

    def test_wrong_dtype(self):
        x, _ = inputs()
        with self.assertRaisesRegex(ft.ArgumentError, r"x.to\(torch.float32\)"):
            pair(torch.zeros(3, 4, dtype=torch.float64))
        with self.assertRaises(ft.ArgumentError):
            pair(torch.zeros(3, 4).to_sparse())

    def test_functions_of_torch_while_tracing(self):
        @ft.jit
        def f(xs: ft.List["N", ft.f32[4]]):
            return xs.map(lambda x: torch.softmax(torch.tanh(x), -1) + torch.where(x > 0, x, 0.0))

        x = torch.randn(3, 4)
        torch.testing.assert_close(f(x), torch.softmax(torch.tanh(x), -1) + torch.where(x > 0, x, 0.0))


if __name__ == "__main__":
    unittest.main()
