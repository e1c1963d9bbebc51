# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m fractaltensor`` and what a user meets by typing: names, completions, errors that say what works."""

import contextlib
import io
import os
import pathlib
import re
import tempfile
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor import commands

try:
    import torch
except ImportError:
    torch = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RNN = str(ROOT / "examples/stacked_rnn.mlir")


def run(*arguments):
    """Status, what is printed, and errors."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = commands.main(arguments)
    return status, out.getvalue(), err.getvalue()


class Commands(unittest.TestCase):
    def test_info(self):
        status, out, _ = run("info")
        self.assertEqual(status, 0)
        for text in (f"fractaltensor {ft.__version__}", "targets", "cpu", *commands.VARIABLES):
            self.assertIn(text, out)

    def test_each_variable_is_in_the_table(self):
        """Variables that sources of package, runtime and compiler read, but for those of tests."""
        found = set()
        for folder, ending in (("python/fractaltensor", "*.py"), ("lib", "*.cpp")):
            for file in (ROOT / folder).rglob(ending):
                found |= set(re.findall(r'(?:getenv\(|environ\.get\(|environ\[|Process::GetEnv\()"(FT_\w+)"', file.read_text()))
        self.assertLessEqual(found, set(commands.VARIABLES))
        documented = (ROOT / "docs/python.md").read_text()
        for name in commands.VARIABLES:
            self.assertIn(f"`{name}`", documented)

    def test_run_writes_results(self):
        with tempfile.TemporaryDirectory() as folder:
            x = np.ones((2, 3, 1, 64), "f4")
            given, made = os.path.join(folder, "x.npy"), os.path.join(folder, "y.npy")
            np.save(given, x)
            status, out, _ = run("run", RNN, given, "2x64x64", "--seed", "7", "--out", made)
            self.assertEqual(status, 0)
            self.assertRegex(out, r"^result 0: float32 2x2x3x1x64: \S+")
            w = (np.random.default_rng(7).standard_normal((2, 64, 64)) * 0.1).astype("f4")
            np.testing.assert_allclose(np.load(made)[:, 0, 0], x[:, 0] @ w[0], rtol=1e-4, atol=1e-5)

    def test_bench_show_cache(self):
        self.assertRegex(run("bench", RNN, "1x2x1x64", "1x64x64", "--rounds", "3")[1], r"^stacked_rnn: median [\d.]+ us, least [\d.]+ us, 3 calls$")
        self.assertIn("etdg.graph @stacked_rnn", run("show", RNN)[1])
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "x.html")
            self.assertEqual(run("show", RNN, "--out", page), (0, f"wrote {page}, a page for a browser\n", ""))
            text = pathlib.Path(page).read_text()
            self.assertIn("<html", text)
            self.assertIn('"name":"xss"', text.replace(" ", ""))
        self.assertEqual(run("cache")[0], 0)

    def test_errors_are_one_line(self):
        for arguments, text in (
            (("run", RNN, "2x5x1x64"), "stacked_rnn takes 2 arguments"),
            (("run", RNN, "2x5x64", "3x64x64"), "has rank 4, found '2x5x64' of rank 3"),
            (("run", RNN, "2x5x1x64", "3x64x65"), "expected Dx64x64xf32"),
            (("run", RNN, "two", "3x64x64"), "expected an array (x.npy) or a shape"),
            (("run", RNN, "gone.npy", "3x64x64"), "gone.npy"),
            (("run", RNN, "1x1x1x64", "1x64x64", "--out", "/nowhere/y.npy"), "/nowhere/y.npy: No such file"),
            (("show", RNN, "--to", "nowhere"), "expected one of input, ft, etdg"),
            (("show", "gone.mlir"), "gone.mlir: No such file"),
            (("run", "gone.ftb"), "gone.ftb: No such file"),
            (("run", RNN, "2x5x1x65", "3x64x64"), 'argument 0 "xss": wrong extent'),
            (("run", RNN), "stacked_rnn takes 2 arguments: xss (f32, rank 4), ws (f32, rank 3); found 0"),
            (("bench", RNN, "1x1x1x64", "1x64x64", "--rounds", "0"), "--rounds is 1 or more, found 0"),
            (("show", "x.ftb"), "x.ftb: a bundle holds code alone"),
            (("show", "x.py"), "x.py: show takes a program in the compiler's text (.mlir); in Python call f.show('page.html')"),
            (("show", "x"), "x: show takes a program in the compiler's text (.mlir)"),
        ):
            with self.subTest(arguments):
                status, out, err = run(*arguments)
                self.assertEqual(status, 1)
                self.assertIn(text, err)
                self.assertEqual(err.count("\n"), 1)


f = ft.f32[3]


class Names(unittest.TestCase):
    def test_public_names(self):
        self.assertNotIn("locks", dir(ft))
        self.assertNotIn("plan", dir(ft))
        for name in ("jit", "List", "scanl", "sum", "functions", "torch", "Error"):
            self.assertIn(name, dir(ft))
        taken = {}
        exec("from fractaltensor import *", taken)
        self.assertIs(taken["tanh"], ft.tanh)
        for name in ("sum", "max", "map", "any", "zip", "locks"):
            self.assertNotIn(name, taken)

    def test_near_names(self):
        @ft.jit
        def scaled(xs: ft.List["N", f], w: f):
            return xs.map(lambda x: x * w)

        x, w = np.ones((2, 3), "f4"), np.ones(3, "f4")
        with self.assertRaisesRegex(ft.ArgumentError, "unexpected keyword argument 'ww'; did you mean 'w'"):
            scaled(xs=x, ww=w)
        with self.assertRaisesRegex(ft.ArgumentError, "unexpected keyword argument 'engin'; did you mean 'engine'"):
            scaled(x, w, engin="cpu")
        for body, text in ((lambda xs: xs.scnl(ft.add), "a list has no 'scnl'; did you mean 'scanl'"),
                           (lambda xs: xs.map(lambda x: x.smu()), "a tensor has no 'smu'; did you mean 'sum'")):
            body.__annotations__ = {"xs": ft.List["N", f]}
            with self.assertRaisesRegex(ft.MissingError, re.escape(text)):
                ft.jit(body)

    def test_names_of_other_libraries(self):
        for name, ours in (("float32", "f32"), ("bfloat16", "bf16"), ("int64", "i64")):
            with self.assertRaisesRegex(AttributeError, f"no attribute '{name}'; its name here is ft.{ours}$"):
                getattr(ft, name)
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'$"):
            getattr(ft, "nothing")
        with self.assertRaisesRegex(ft.MissingError, "a tensor has no 'device': it is traced, and stands for the data of every call"):
            @ft.jit
            def g(xs: ft.List["N", f]):
                return xs.map(lambda x: x.to(x.device))

    @unittest.skipUnless(torch, "no PyTorch")
    def test_a_module_of_torch(self):
        """The place is the program's, not a line of PyTorch."""
        linear = torch.nn.Linear(3, 3)
        with self.assertRaisesRegex(ft.TraceError, r"uses an array \(Parameter\) that is no argument of the program") as caught:
            @ft.jit
            def g(xs: ft.List["N", f]):
                return xs.map(lambda x: linear(x))
        self.assertEqual({frame.file for frame in caught.exception.frames}, {__file__})

    def test_looking_takes_no_arguments(self):
        @ft.jit
        def scaled(xs: ft.List["N", f], w: f):
            return xs.map(lambda x: x * w)

        x, w = np.ones((2, 3), "f4"), np.ones(3, "f4")
        for method in (scaled.explain, scaled.show, scaled.lower):
            for given in ((x,), (x, w)):
                with self.assertRaisesRegex(ft.ArgumentError, r"shows the program of the last call and takes none of its arguments: first scaled\(\.\.\.\), then scaled\."):
                    method(*given)
        self.assertIn("scaled, compiled for cpu", scaled.explain("cpu"))
        self.assertIn("etdg.graph @scaled", scaled.lower("etdg", "cpu"))

    @unittest.skipUnless(torch, "no PyTorch")
    def test_looking_after_calls_that_pytorch_derives(self):
        def make():
            @ft.jit
            def product(xs: ft.List["N", ft.f32["K"]], w: ft.f32["K", "K"]):
                return xs.map(lambda x: ft.tanh(x @ w))
            return product

        x, w = torch.ones(2, 3), torch.ones(3, 3)
        calls = (
            lambda g: g(x, w.clone().requires_grad_()).sum().backward(),
            lambda g: torch.func.grad(lambda v: g(x, v).sum())(w),
            lambda g: torch.vmap(g, in_dims=(0, None))(x[None], w),
        )
        for call in calls:
            program = make()
            with self.assertRaisesRegex(ft.ArgumentError, "'K' has no value yet"):
                program.explain()
            call(program)
            self.assertIn("product, compiled for cpu", program.explain())
            self.assertIn("tensor<3x3xf32>", program.ft)

    def test_methods(self):
        with self.assertRaisesRegex(ft.TraceError, "M.g is a method.*leave 'self' out"):
            class M:
                @ft.jit
                def g(self, xs: ft.List["N", f]):
                    return xs

        with self.assertRaisesRegex(ft.TraceError, "found staticmethod: a program in a class needs no decorator"):
            class S:
                @ft.jit
                @staticmethod
                def g(xs: ft.List["N", f]):
                    return xs

        class P:
            @ft.jit
            def g(xs: ft.List["N", f]):
                return xs.map(lambda x: x + 1.0)

        np.testing.assert_array_equal(P().g(np.ones((1, 3), "f4")), [[2, 2, 2]])

    @unittest.skipIf(torch is None, "PyTorch is not there")
    def test_transformations_of_pytorch(self):
        @ft.jit
        def scaled(xs: ft.List["N", f], w: f):
            return xs.map(lambda x: x * w)

        x, w = torch.ones(2, 3), torch.ones(3)
        for _ in range(2):  # before a call is prepared, and after
            self.assertTrue(torch.equal(torch.vmap(lambda a: scaled(a, w * 2))(torch.ones(2, 4, 3)), torch.full((2, 4, 3), 2.0)))
            self.assertTrue(torch.equal(torch.func.grad(lambda a: scaled(a, w * 3).sum())(x), x * 3))
            scaled(x, w)

    def test_help_has_signatures_and_examples(self):
        import inspect

        self.assertEqual(str(inspect.signature(ft.scanl)), "(f, lists, init=None, *, lag=1)")
        self.assertEqual(str(inspect.signature(ft.reduce)), "(f, lists, init=None, *, combine=None, identity=None)")
        xs = np.arange(12, dtype="f4").reshape(4, 3)
        for name in ("foldl", "foldr", "scanl", "scanr", "fold", "reduce", "scan"):
            example = re.search(r"Example: ``(.*?)``", getattr(ft, name).__doc__)[1]
            names = {"ft": ft}
            exec(f"def body(xs: ft.List['N', ft.f32[3]]):\n    return {example}\n", names)
            found = ft.jit(names["body"], bounds=["N >= 1"])(xs, engine="interpret")
            self.assertEqual(found.shape, (4, 3) if "scan" in name else (3,))
            if name in ("reduce", "fold"):
                np.testing.assert_allclose(found, xs.sum(0) if name == "reduce" else xs.max(0))


if __name__ == "__main__":
    unittest.main()
