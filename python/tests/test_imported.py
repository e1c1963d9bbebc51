# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of `torch.export` are what PyTorch computes: in the interpreter and on the CPU; what cannot come in is told at once."""

import os
import subprocess
import sys
import tempfile
import unittest
import warnings

import fractaltensor as ft
import fractaltensor.torch as ftt

try:
    import torch
except ImportError:
    torch = None
else:
    import imported_models

HERE = os.path.dirname(os.path.abspath(__file__))


def flat(value):
    """The tensors of a result, in order."""
    if isinstance(value, dict):
        value = list(value.values())
    return [y for x in value for y in flat(x)] if isinstance(value, (tuple, list)) else [value]


def exported(module, args, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of PyTorch, about itself
        return torch.export.export(module, args, **options)


def imported(module, args, engine="cpu", **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ftt.from_exported(exported(module, args, **options), engine=engine)


def in_double(value):
    return value.double() if value.is_floating_point() else value


def errors_of(found, expected, exact):
    """Errors of two results against an exact one, by its largest element."""
    size = max(float(x.abs().max()) for x in exact)
    return [max(float((x.double() - y).abs().max()) for x, y in zip(result, exact, strict=True)) / size for result in (found, expected)]


@unittest.skipUnless(torch is not None, "PyTorch is not installed")
class Models(unittest.TestCase):
    def setUp(self):
        self.enterContext(torch.no_grad())

    def compare(self, name, dtype, engine):
        module, args = imported_models.make(name, dtype)
        model = imported(module, args, engine)
        found, expected = model(*args), module(*args)
        self.assertEqual(str(found)[:1], str(expected)[:1])
        for ours, theirs in zip(flat(found), flat(expected), strict=True):
            self.assertEqual((ours.dtype, ours.shape), (theirs.dtype, theirs.shape))
        self.assertEqual(model.remarks, [])
        exact = flat(module.double()(*map(in_double, args)))
        ours, theirs = errors_of(flat(found), flat(expected), exact)
        # (A few units in the last place are noise of so few elements.)
        self.assertLessEqual(ours, max(1.25 * theirs, 4 * torch.finfo(dtype).eps))

    def test_on_the_cpu(self):
        for name in imported_models.MODELS:
            with self.subTest(name):
                self.compare(name, torch.float32, "cpu")

    def test_in_float64(self):
        for name in ("bert", "resnext", "mbconv", "swin", "mmoe", "lstm"):
            with self.subTest(name):
                self.compare(name, torch.float64, "cpu")

    def test_by_the_interpreter(self):
        for name in ("bert", "bottleneck", "mbconv", "swin", "mmoe", "lstm"):
            with self.subTest(name):
                self.compare(name, torch.float32, "interpret")

    def test_biases_are_added_before_halves_are_rounded(self):
        """Whole numbers, whose products have exact sums in f32: each element is the exact one, rounded once."""
        F, draw = torch.nn.functional, torch.Generator().manual_seed(4)

        def whole(*shape):
            return torch.randint(-31, 32, shape, generator=draw).double()

        def fraction(*shape):
            return torch.randint(-512, 512, shape, generator=draw).double() / 1024

        x, image = whole(6, 40), whole(2, 6, 7, 9)
        cases = {
            "linear": (lambda x, w, c: F.linear(x, w, c), (x, whole(12, 40), fraction(12))),
            "addmm": (lambda c, x, w: torch.addmm(c, x, w, beta=3, alpha=0.75), (fraction(6, 12), x, whole(40, 12))),
            "conv1d": (lambda x, w, c: F.conv1d(x, w, c, padding=1), (image[0], whole(5, 7, 3), fraction(5))),
            "conv2d": (lambda x, w, c: F.conv2d(x, w, c, 2, 1, groups=3), (image, whole(9, 2, 3, 3), fraction(9))),
            "conv_transpose2d": (lambda x, w, c: F.conv_transpose2d(x, w, c, 2), (image, whole(6, 5, 2, 2), fraction(5))),
            "bilinear": (lambda x, y, w, c: F.bilinear(x, y, w, c), (x[:, :4] // 8, x[:, 4:9], whole(3, 4, 5), fraction(3))),
        }  # fmt: skip

        class Module(torch.nn.Module):
            def forward(self, *args):
                return function(*args)

        for name, (function, args) in cases.items():
            for dtype in (torch.float16, torch.bfloat16):
                halves = tuple(a.to(dtype) for a in args)
                exact = function(*(a.double() for a in halves)).to(dtype)
                self.assertTrue(exact.isfinite().all())
                for engine in ("interpret", "cpu"):
                    with self.subTest(name, dtype=dtype, engine=engine):
                        self.assertTrue(torch.equal(imported(Module(), halves, engine)(*halves), exact))

    def test_attention_in_blocks(self):
        """Halves over blocks of keys, heads of keys that several heads share, rows that overflow or hold NaN: as PyTorch, and as near to float64."""

        class Attention(torch.nn.Module):
            def __init__(self, **options):
                super().__init__()
                self.options = options

            def forward(self, q, k, v):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v, **self.options)

        for engine in ("interpret", "cpu"):
            for dtype, shared, options in ((torch.float16, 2, {}), (torch.bfloat16, 2, {"scale": 0.5}), (torch.float16, 1, {"enable_gqa": True})):
                generator = torch.Generator().manual_seed(3)
                q, k, v = (torch.randn(1, heads, 128, 64, generator=generator).to(dtype) for heads in (2, shared, shared))
                model = imported(Attention(**options), (q, k, v), engine)
                self.assertIn("scf.for", model.lower(q, k, v).text())
                with self.subTest(engine=engine, dtype=dtype, **options):
                    found, expected = model(q, k, v), Attention(**options)(q, k, v)
                    exact = Attention(**options)(q.double(), k.double(), v.double())
                    ours, theirs = errors_of([found], [expected], [exact])
                    self.assertLessEqual(ours, 1.25 * theirs)
                    q[0, 0, 5], k[0, -1, 70], v[0, 0, 3, 2] = float("nan"), 6e4, float("inf")
                    found, expected = model(q, k, v), Attention(**options)(q, k, v)
                    self.assertTrue(torch.equal(found.isnan(), expected.isnan()))
                    self.assertTrue(torch.equal(found.isinf(), expected.isinf()))

    def test_many_pieces_are_one_function(self):
        """Writes into storages of their own, however many, do not divide a model; those of one long storage do."""

        class Joined(torch.nn.Module):
            def forward(self, x):
                found = [x]
                for _ in range(12):
                    found.append(torch.cat(found, 1).sum(1, keepdim=True) / 8)
                return torch.cat(found, 1)

        class Rows(torch.nn.Module):
            def forward(self, x):
                return torch.cat([x[:, :1] * n for n in range(60)], 1)

        x = torch.arange(12.0).view(2, 3, 2)
        for module, functions in ((Joined(), 1), (Rows(), 3)):
            with self.subTest(type(module).__name__):
                model = imported(module, (x,))
                self.assertEqual(len(model.lower(x).segments()), functions)
                torch.testing.assert_close(model(x), module(x))

    def test_blocks_in_graphs_alone(self):
        """What a script does after a graph is compiled as before it."""

        class Attention(torch.nn.Module):
            def forward(self, q, k, v):
                return torch.nn.functional.scaled_dot_product_attention(q, k, v)

        given = tuple(torch.ones(1, 1, 128, 64, dtype=torch.float16) for _ in range(3))
        model = imported(Attention(), given)

        def later(q, k, v):
            return torch.nn.functional.scaled_dot_product_attention(model(q, k, v), k, v)

        self.assertEqual(ftt.script(later).lower(*given).text().count("scf.for"), 1)

    def test_every_parameter_counts(self):
        """What is written into any parameter of the module is in the next call's result."""
        for name in ("bottleneck", "swin", "mmoe", "lstm"):
            module, args = imported_models.make(name)
            model = imported(module, args)
            before = [x.clone() for x in flat(model(*args))]
            for path, value in module.named_parameters():
                with self.subTest(f"{name} {path}"):
                    kept = value.clone()
                    value.add_(torch.randn(value.shape, generator=torch.Generator().manual_seed(4)))
                    moved = max(float((a - b).abs().max()) for a, b in zip(flat(model(*args)), before))
                    value.copy_(kept)
                    self.assertGreater(moved, 1e-4, f"{path} moves nothing")

    def test_structures_and_keywords(self):
        class Structures(torch.nn.Module):
            def forward(self, x, pair, *, named):
                return {"sum": pair[0] + named["a"], "list": [x * 2, (x, None, 3)]}

        args, named = (torch.randn(2, 3), [torch.randn(3), torch.randn(1)]), {"named": {"a": torch.randn(2, 3)}}
        program = exported(Structures(), args, kwargs=named)
        model = ftt.from_exported(program, engine="cpu")
        for found in (model(*args, **named), model(x=args[0], pair=args[1], **named)):
            torch.testing.assert_close(found, Structures()(*args, **named))
        with self.assertRaisesRegex(ft.ArgumentError, r"argument 'named' has the keys \['b'\], the program was exported with \['a'\]"):
            model(*args, named={"b": args[0]})

    def test_an_argument_that_is_written(self):
        class Writes(torch.nn.Module):
            def forward(self, x, y):
                seen = y.view(-1)
                z = seen * 1
                y.add_(x)
                return z, y * 2

        x, ours, theirs = torch.ones(2, 2), torch.arange(4.0).view(2, 2), torch.arange(4.0).view(2, 2)
        model = imported(Writes(), (x, ours.clone()))
        torch.testing.assert_close(model(x, ours), Writes()(x, theirs))
        torch.testing.assert_close(ours, theirs)

    def test_kernels_by_price(self):
        module, args = imported_models.make("mmoe")
        texts = ftt.from_exported(exported(module, args), engine="cpu").lower(*args).segments()
        self.assertTrue(all('ft.partition = "cost"' in text for text in texts))
        self.assertNotIn("ft.partition", ftt.script(module).lower(*args).segments()[0])

    def test_lengths(self):
        class Rows(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 5)

            def forward(self, x):
                return torch.softmax(self.linear(x), -1).relu().sum(1), x.shape[0]

        module = imported_models.draw_weights(Rows())
        model = imported(module, (torch.randn(3, 4),), dynamic_shapes={"x": {0: torch.export.Dim("S", min=2, max=130)}})
        for n in (2, 3, 7, 127, 130):
            x = torch.randn(n, 4)
            torch.testing.assert_close(model(x), module(x))
        self.assertEqual((len(model._programs), model.remarks), (1, []))
        for n in (1, 131):
            with self.assertRaisesRegex(ft.ArgumentValueError, f"dimension 0 of 'x' has size {n}, the program was exported for sizes 2 to 130"):
                model(torch.randn(n, 4))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.fts")
            model.export(path, torch.randn(3, 4))
            loaded = ftt.load(path)
            x = torch.randn(17, 4)
            torch.testing.assert_close(loaded(x), module(x))
            with self.assertRaisesRegex(ft.ArgumentValueError, "has size 1, the program was exported for sizes 2 to 130"):
                loaded(torch.randn(1, 4))

    def test_arguments_that_do_not_fit(self):
        model = imported(torch.nn.Linear(4, 5).eval(), (torch.randn(3, 4),))
        for args, kind, text in (
            ((torch.randn(2, 4),), ft.ArgumentValueError, r"argument 'input' has sizes \[2, 4\], the program was exported for \[3, 4\]"),
            ((torch.randn(3, 4).double(),), ft.DTypeError, "argument 'input' has elements float64, the program was exported for float32"),
            ((7,), ft.ArgumentError, "argument 'input' is int, expected a tensor"),
            ((), ft.ArgumentError, "missing a required argument: 'input'"),
        ):
            with self.subTest(text), self.assertRaisesRegex(kind, text):
                model(*args)


@unittest.skipUnless(torch is not None, "PyTorch is not installed")
class Refusals(unittest.TestCase):
    def refused(self, module, *args, **options):
        with self.assertRaises((ftt.ScriptError, ft.ArgumentError)) as caught:
            imported(module, args, **options)
        return str(caught.exception)

    def test_operators_all_at_once(self):
        class Inner(torch.nn.Module):
            def forward(self, x):
                return torch.fft.fft(x).real

        class Several(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def forward(self, x):
                return self.inner(x) + self.inner(x) + torch.rand(4) + torch.special.bessel_j0(x)

        text = self.refused(Several(), torch.randn(4))
        self.assertRegex(text, r"test_imported.py:\d+: error: aten.fft_fft.default is not supported \(2 times\)|aten._fft_r2c.default is not supported \(2 times\)")
        self.assertRegex(text, r"note: at test_imported.py:\d+ in inner \(Inner\) \(2 times\)")
        self.assertRegex(text, r"aten.rand.default draws random numbers: draw them outside and pass them as an argument \(1 time\)")
        self.assertRegex(text, r"aten.special_bessel_j0.default is not supported \(1 time\)")

    def test_training(self):
        text = self.refused(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4), torch.nn.Dropout(0.5)), torch.randn(3, 4))
        self.assertIn("the model is in training: its norms update '1.running_mean', '1.running_var', '1.num_batches_tracked'; call .eval() before the export", text)
        self.assertIn("module 2 (Dropout) is in training: dropout draws random numbers", text)

    def test_state(self):
        class Counts(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.register_buffer("calls", torch.zeros(1))

            def forward(self, x):
                self.calls.add_(1)
                return x + self.calls

        self.assertIn("each call would update the buffer 'calls': take the state as an argument and return the new one", self.refused(Counts(), torch.randn(3)))

    def test_data(self):
        class Chooses(torch.nn.Module):
            def forward(self, x):
                return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

        class Finds(torch.nn.Module):
            def forward(self, x):
                return x.nonzero() + 1

        self.assertRegex(self.refused(Chooses(), torch.randn(3)), r"control flow that depends on data \(cond, 1 time\): fractaltensor.torch.script compiles the module")
        text = self.refused(Finds(), torch.randn(3))
        self.assertRegex(text, r"test_imported.py:\d+: error: aten.nonzero.default gives a size that is data \(u0\): fractaltensor.torch.script compiles")
        self.assertEqual(text.count("error:"), 1)

    def test_products_of_lengths(self):
        class Flat(torch.nn.Module):
            def forward(self, x):
                return x.reshape(-1, 4) * 2

        text = self.refused(Flat(), torch.randn(3, 5, 4), dynamic_shapes={"x": {0: torch.export.Dim("B"), 1: torch.export.Dim("S")}})
        self.assertRegex(text, r"gives a size that multiplies lengths, s\d+\*s\d+ \(s\d+ is dimension [01] of 'x', s\d+ is dimension [01] of 'x'\)")
        self.assertEqual(text.count("error:"), 1)

    def test_parameters(self):
        first, tied = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
        tied.weight = first.weight
        self.assertIn("'0.weight' and '1.weight' share memory", self.refused(torch.nn.Sequential(first, tied).eval(), torch.randn(2, 4)))

        class Mixed(torch.nn.Module):
            def __init__(self, other):
                super().__init__()
                self.small, self.other = torch.nn.Parameter(torch.randn(4).half()), torch.nn.Parameter(other)

            def forward(self, x):
                return x * self.small * self.other.real

        self.assertRegex(self.refused(Mixed(torch.randn(4).double()), torch.randn(4)), "'other' is float64 beside 'small' of float16")
        self.assertRegex(self.refused(Mixed(torch.randn(4, dtype=torch.complex64)), torch.randn(4)), r"'other' has complex elements \(torch.complex64\)")
        with self.assertRaisesRegex(ft.ArgumentError, "expects what torch.export.export gives, found Linear"):
            ftt.from_exported(first)


@unittest.skipUnless(torch is not None, "PyTorch is not installed")
class Command(unittest.TestCase):
    def run_command(self, *arguments):
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.path.dirname(HERE), HERE])}
        command = [sys.executable, "-W", "ignore", "-m", "fractaltensor.torch.import", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=self.folder.name)
        return done.returncode, done.stdout, done.stderr

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_file_to_file(self):
        module, args = imported_models.make("mmoe")
        with torch.no_grad():
            torch.export.save(exported(module, args), os.path.join(self.folder.name, "model.pt2"))
            status, out, err = self.run_command("model.pt2", "-o", "model.fts")
            self.assertEqual((status, err), (0, ""))
            self.assertIn("no library steps", out)
            found = ftt.load(os.path.join(self.folder.name, "model.fts"))(*args)
            for ours, theirs in zip(found, module(*args), strict=True):
                torch.testing.assert_close(ours, theirs)

    def test_a_name_and_a_refusal(self):
        with open(os.path.join(self.folder.name, "model.py"), "w") as file:
            file.write("import torch, imported_models\ndef good(): return imported_models.make('mmoe')\n"
                       "class Bad(torch.nn.Module):\n    def forward(self, x):\n        return torch.special.bessel_j0(x)\n"
                       "def bad(): return Bad(), (torch.randn(3),)\n")  # fmt: skip
        status, out, err = self.run_command("model:good")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"Mmoe: \d+ nodes, \d+ operators, 6 parameters and buffers of 1176 bytes\n")
        self.assertIn("2  aten.linear.default", out)
        status, out, err = self.run_command("model:bad", "-o", "model.fts")
        self.assertEqual((status, out), (1, ""))
        self.assertRegex(err, r"model.py:5: error: aten.special_bessel_j0.default is not supported")
        self.assertFalse(os.path.exists(os.path.join(self.folder.name, "model.fts")))
        self.assertRegex(self.run_command("nothing.pt2")[2], "error: .*nothing.pt2")


if __name__ == "__main__":
    unittest.main()
