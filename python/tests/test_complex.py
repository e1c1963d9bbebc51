# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Complex numbers and library steps of matrices and sequences in whole programs, and what GPUs have for the steps."""

import copy
import importlib.util
import itertools
import pathlib
import tempfile
import unittest

import numpy as np

import fractaltensor.torch as ftt
from fractaltensor.errors import ArgumentError

HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = "PyTorch is not installed"

if HAS_TORCH:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F


def turned(x, angles):
    """Rotary positions."""
    pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * angles.view(1, pairs.shape[1], 1, pairs.shape[-1])).flatten(3).type_as(x)


def iterated(c, n: int):
    z = torch.zeros_like(c)
    for _ in range(n):
        z = z * z + c
    return z


def carried(c):
    for t in range(1, c.shape[0]):
        c[t] += c[t - 1] * 0.5j
    return c


def chosen(c, x):
    if x.sum() > 0:
        c = c * 2
    else:
        c = c.conj()
    return c, c.real


def escaping(re, im):
    c = torch.complex(re, im)
    z, steps = torch.zeros_like(c), torch.zeros(re.shape, dtype=torch.int64)
    for _ in range(20):
        z = z * z + c
        steps += z.abs() <= 2
    return steps


def correlated(q, k):
    first, second = (torch.fft.rfft(x.transpose(1, 2).contiguous(), dim=-1) for x in (q, k))
    return torch.fft.irfft(first * torch.conj(second), n=q.shape[1], dim=-1)


def powers(c):
    total = 0
    for row in c:
        total = total + row * row.conj()
    return total.real


def in_place(c, d):
    c *= d
    c.add_(1)
    return c


def again(a):
    """A matrix from its factors."""
    u, s, v = torch.linalg.svd(a, full_matrices=False)
    q, r = torch.linalg.qr(a)
    p, low, up = torch.linalg.lu(a)
    square = a @ a.mT
    values, vectors = torch.linalg.eigh(square)
    return (u * s[..., None, :]) @ v, q @ r, p @ low @ up, (vectors * values[..., None, :]) @ vectors.mT - square


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Programs(unittest.TestCase):
    def compare(self, function, *args):
        copies = lambda: [a.clone() if isinstance(a, torch.Tensor) else a for a in args]  # noqa: E731
        theirs, ours = copies(), copies()
        with torch.no_grad():
            expected, script = function(*theirs), ftt.script(function)
            found = script(*ours)
        pairs = zip(*([r] if isinstance(r, torch.Tensor) else r for r in (found, expected)))
        for a, b in [*pairs, *((p, q) for p, q in zip(ours, theirs) if isinstance(p, torch.Tensor))]:
            self.assertEqual((a.dtype, a.shape), (b.dtype, b.shape))
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)
        return script

    def test_programs(self):
        torch.manual_seed(3)
        c = torch.randn(5, 3, dtype=torch.cfloat)
        self.compare(turned, torch.randn(2, 5, 2, 8).half(), torch.polar(torch.ones(5, 4), torch.randn(5, 4)))
        self.compare(iterated, c * 0.3, 7)
        for function, args in ((carried, ()), (chosen, (torch.ones(2),)), (chosen, (-torch.ones(2),)), (powers, ()), (in_place, (c.clone(),))):
            with self.subTest(function.__name__):
                self.compare(function, c, *args)
        self.compare(in_place, c.t(), torch.randn(3, 5, dtype=torch.cfloat))
        self.compare(escaping, torch.randn(7, 3), torch.randn(7, 3))
        self.compare(correlated, torch.randn(2, 9, 4), torch.randn(2, 9, 4))

    def test_factors_give_the_matrix(self):
        torch.manual_seed(4)
        for sizes in ((1, 1), (5, 3), (3, 5), (2, 7, 7)):
            a = torch.randn(sizes, dtype=torch.float64)
            found = ftt.script(again)(a)
            for made, wanted in zip(found, (a, a, a, torch.zeros((), dtype=torch.float64))):
                torch.testing.assert_close(made, wanted.expand(made.shape), rtol=1e-9, atol=1e-9)

    def test_a_module_with_complex_weights(self):
        class Spectral(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(2, 3, 3, 2, dtype=torch.cfloat))

            def forward(self, x):
                found = torch.fft.rfft2(x)
                out = torch.zeros(x.shape[0], 3, x.size(-2), x.size(-1) // 2 + 1, dtype=torch.cfloat)
                out[:, :, :3, :2] = torch.einsum("bixy,ioxy->boxy", found[:, :, :3, :2], self.weight)
                return torch.fft.irfft2(out, s=(x.size(-2), x.size(-1)))

        module = Spectral().eval()
        script = self.compare(module, torch.randn(2, 2, 8, 7))
        with torch.no_grad():
            module.weight.mul_(2)
            x = torch.randn(2, 2, 8, 7)
            torch.testing.assert_close(script(x), module(x), rtol=1e-4, atol=1e-4)

    def test_arrays_of_numpy(self):
        c = np.exp(1j * np.arange(12.0)).reshape(3, 4)[:, ::2] * 0.4
        found = ftt.script(iterated)(c, 3)
        self.assertEqual((type(found), found.dtype), (np.ndarray, np.complex128))
        np.testing.assert_allclose(found, iterated(torch.tensor(c), 3).numpy())

    def test_what_is_refused(self):
        c = torch.ones(2, dtype=torch.cfloat)

        def truth(c):
            return c if c else -c

        def into_real(c):
            x = torch.zeros(2)
            x += c
            return x

        def activated(c):
            return torch.relu(c)

        def labels(x):
            return F.ctc_loss(x[:, None], torch.tensor([[7]]), (3,), (1,))

        for function, text in ((truth, "the truth of a complex tensor"), (into_real, "the result is complex"), (activated, "relu of complex numbers is not supported")):
            with self.assertRaisesRegex(ftt.ScriptError, text):
                ftt.script(function)(c)
        for view in (c.conj(), c.conj().imag):
            with self.assertRaisesRegex(ArgumentError, "'c' is a conjugate that has not been computed"):
                ftt.script(lambda c: c * 2)(view)
        with self.assertRaisesRegex(ftt.RunShapeError, "labels are classes from 0 to 3"):
            ftt.script(labels)(torch.zeros(3, 4))


#: Programs that once gave other values than PyTorch, without a word; those of `EQUAL` are compiled, the others may be refused.
REFUSED = (
    "z = torch.complex(x, x); v, w = z.conj(), z.conj(); z = 0; v.imag.add_(1)", "z = torch.complex(x, x); v = z.conj(); w = v.conj(); v = 0; w.imag.add_(1)",
    "z = torch.complex(x, x); v, w = torch.view_as_real(z), torch.view_as_real(z); z = 0; v.add_(1)", "z = torch.complex(x, x); v, w = z.conj().imag, torch.view_as_real(z); z = 0; w.mul_(2)",
    "z = torch.view_as_complex(y); w = z.conj().contiguous(); v = 0; w.add_(1)", "z = torch.view_as_complex(y); w = z.conj().ravel(); v = 0; z.add_(1)",
    "z = torch.view_as_complex(y); v = z.conj().conj(); w = v.resolve_conj(); z = 0; w.mul_(2)", "z = torch.complex(x, x); w = z if x.sum() > 0 else z.conj(); v = w.resolve_conj(); z = 0; v.add_(1)",
    "z = torch.complex(x, x); w = x if x.sum() > 0 else x.t(); v = w.contiguous(); v.add_(1)", "z = torch.complex(x, x); w = x if x.sum() > 0 else x.t(); v = w.reshape(-1); w.add_(1)",
    "z = x.t().clone(); v = z.contiguous(); w = z.t().ravel(); v.add_(1); w.mul_(2)", "z = torch.zeros_like(x.t()); v = z.contiguous(); w = z.t().reshape(-1); v.add_(1); w.add_(2)",
    "z = copy.deepcopy(x.t()); v = z.contiguous(); w = z.t().ravel(); v.add_(1); w.mul_(2)", "z = (x + 1)[None, None]; w = z.contiguous(memory_format=torch.channels_last); v = 0; w.add_(1)",
)  # fmt: skip
EQUAL = (
    "z = torch.complex(x, x * 2); v = z.real.contiguous(); w = z.imag.ravel(); v.add_(1); w.mul_(2)", "z = torch.view_as_complex(y); v = z.conj(); w = v.resolve_conj(); w.add_(1)",
    "z = torch.complex(x, x); w = z.conj().imag; v = w.resolve_neg(); z = 0; v.add_(1)", "z = torch.view_as_complex(y.transpose(0, 1)); w = torch.view_as_real(z); v = w.contiguous(); v.add_(1)",
    "z = torch.complex(x, x); v = x.type_as(z); w = 0; v.add_(1)", "z = torch.complex(x, x); v = z ** 1; w = z; v.add_(1)", "z = torch.complex(x, x); v = z.to(torch.cfloat, copy=True); w = z; v.add_(1)",
    "z = x.t() + 1; v = z.contiguous(); w = z.reshape(-1); v.add_(1); w.mul_(2)", "z = x.t().clone(memory_format=torch.contiguous_format); v = z.contiguous(); w = 0; v.add_(1)",
    "z = torch.complex(x, x).t() + 1; v = z.contiguous(); w = z.reshape(-1); v.add_(1); w.mul_(2)", "z = x.to(torch.float32, False, True); v = w = 0; z.add_(1)",
    "z = copy.deepcopy(torch.view_as_complex(y)); v = z.conj(); w = 0; y.add_(1)", "z = x.t().clone(); v = z.contiguous(); w = 0; v.add_(1)", "z = copy.deepcopy(x.t()); v = z.contiguous(); w = 0; v.add_(1)",
    "v = [x]; z, w = copy.deepcopy([v, v]); z.append(x); v = len(w)", "v = copy.copy(x.shape); w = copy.deepcopy(y.shape)[0]; z = copy.copy(x); z.add_(1); z = int(z is x)",
)  # fmt: skip

#: What gives views and copies of complex tensors, and what writes to one of the two.
MADE = ("torch.complex(x, x * 2)", "torch.view_as_complex(y)")
OTHERS = ("torch.complex(x, x)", "z.conj()", "z.resolve_conj()", "z.conj().resolve_conj()", "z.contiguous()", "z[1:]", "z.mH", "z.reshape(-1)", "z.ravel()", "z.real", "z + 0", "torch.view_as_real(z)")
WRITES = ("w.real.add_(1)", "w.imag.add_(1)", "w.mul_(2)", "z.mul_(2)", "x.add_(1)", "w[0] = 3")


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class Views(unittest.TestCase):
    def programs(self, names, results="zw"):
        """Functions of a file, with their texts: each gives all of its tensors."""
        path = pathlib.Path(tempfile.mkdtemp()) / "views.py"
        lines = ["import copy", "", "import torch", "", "", "def parts(z):", "    if isinstance(z, (int, list, torch.Size)):", "        return z"]
        lines += ["    return (z.real * 1, z.imag * 1) if z.is_complex() else z * 1"]
        shown = ", ".join(f"parts({name})" for name in results)
        for at, name in enumerate(names):
            lines += ["", "", f"def f{at}(x, y):", *(f"    {line}" for line in name.split("; ")), f"    return {shown}, x, y"]
        path.write_text("\n".join(lines) + "\n")
        spec = importlib.util.spec_from_file_location("views", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return [(name, getattr(module, f"f{k}")) for k, name in enumerate(names)]

    def compared(self, programs) -> int:
        """Compares programs with PyTorch; how many of them are refused."""
        flat = lambda v: [y for x in v for y in flat(x)] if isinstance(v, (list, tuple)) else [v]  # noqa: E731
        refused = 0
        for name, function in programs:
            torch.manual_seed(6)
            x, y = torch.randn(4, 4), torch.randn(4, 4, 2)
            theirs, ours = (x.clone(), y.clone()), (x.clone(), y.clone())
            with self.subTest(name):
                try:
                    expected = flat(function(*theirs))
                except RuntimeError:
                    continue  # the write does not fit
                try:
                    found = flat(ftt.script(function, engine="interpret")(*ours))
                except ftt.ScriptError as error:
                    self.assertIn("gives a copy here, where PyTorch gives a view", str(error))
                    refused += 1
                    continue
                for a, b in zip([*found, *ours], [*expected, *theirs], strict=True):
                    torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
        return refused

    def test_each_as_in_eager_or_refused(self):
        """Each makes a complex tensor, another one of it, and writes to one of them."""
        names = [f"z = {made}; w = {other}; {write}" for made, other, write in itertools.product(MADE, OTHERS, WRITES)]
        self.assertLess(self.compared(self.programs(names)), 40)

    def test_aliases_of_aliases_and_order_in_memory(self):
        self.compared(self.programs(REFUSED, "zvw"))
        self.assertEqual(self.compared(self.programs(EQUAL, "zvw")), 0)

    def test_copies_of_what_shares_elements(self):
        def repeated(x):
            return copy.deepcopy(x[:1].expand(4, 3))

        def one_by_one(x):
            return copy.deepcopy(v for v in x)

        for function, text in ((repeated, "several elements are one"), (one_by_one, "a copy of a generator")):
            with self.assertRaisesRegex(ftt.ScriptError, text):
                ftt.script(function, engine="interpret")(torch.ones(4, 3))

    def test_a_copy_that_no_one_can_tell(self):
        def spectrum(x):
            v = torch.view_as_real(torch.fft.rfft(x))
            v *= 2
            out = torch.zeros(len(x))
            for i in range(len(x)):
                w = torch.view_as_real(torch.fft.rfft(x[i]))
                w += 1
                out[i] = w.sum()
            return v, out

        x = torch.randn(3, 8)
        for a, b in zip(ftt.script(spectrum)(x), spectrum(x)):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-4)


@unittest.skipUnless(HAS_TORCH, NEEDS_TORCH)
class DeviceSteps(unittest.TestCase):
    def test_each_as_the_processors_own(self):
        from fractaltensor.torch.runtime import device_factors, library

        torch.manual_seed(5)
        a, rows, tall = torch.randn(2, 4, 4, dtype=torch.float64), torch.randint(0, 2, (6, 2)), torch.randn(5, 3, dtype=torch.float64)
        symmetric = a + a.mT
        logs, labels, lengths = torch.randn(6, 2, 5).log_softmax(2), torch.tensor([[1, 1, 2], [3, 0, 0]]), (torch.tensor([6, 4]), torch.tensor([3, 1]))
        complex_ = {"sizes": (4,), "dims": (2,), "norm": "ortho"}
        cases = (
            ("svd", [a], {"full": False}), ("svdvals", [tall], {}), ("qr", [tall], {"mode": "complete"}), ("qr", [tall], {"mode": "r"}), ("eigh", [symmetric], {"lower": True}),
            ("eigvalsh", [a], {"lower": False}), ("eig", [a], {}), ("eigvals", [a], {}), ("pinv", [tall], {"least": 0.5, "share": 0.1}), ("lstsq", [tall, tall[:, :1]], {}),
            ("lu_factor", [a], {}), ("lu", [tall], {}), ("matrix_exp", [3 * a], {}), ("ctc_loss", [logs, labels, *lengths], {"blank": 0}),
            ("fourier", [a], {"kind": "rfftn", **complex_}), ("fourier", [a, a + 1], {"kind": "ifftn", **complex_}), ("fourier", [a, a], {"kind": "hfft", **complex_}),
            ("unique_rows", [rows], {"dim": 0, "is_sorted": True}), ("unique_rows", [rows], {"dim": 0, "is_sorted": False}), ("mode", [rows], {"dim": 1}),
            ("histogram", [tall], {"bins": 4}), ("searchsorted_rows", [a.sort()[0], a], {"right": True}),
        )  # fmt: skip
        for name, operands, parameters in cases:
            with self.subTest(name, **parameters):
                theirs = library.step(name)(*(o.numpy() for o in operands), **parameters)
                ours = device_factors.TABLE[name](*operands, **parameters)
                self.assertEqual(len(ours), len(theirs))
                for x, y in zip(ours, theirs):
                    x = x.numpy() if isinstance(x, torch.Tensor) else x
                    self.assertEqual(np.shape(x), np.shape(y))
                    # (Signs of vectors are free, and the order of values that come in pairs.)
                    np.testing.assert_allclose(np.sort(np.abs(x), axis=None), np.sort(np.abs(y), axis=None), rtol=1e-5, atol=1e-9)
        self.assertEqual(sorted({name for name, _, _ in cases}), sorted(device_factors.TABLE))


if __name__ == "__main__":
    unittest.main()
