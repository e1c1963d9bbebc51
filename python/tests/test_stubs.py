# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Type stubs and docstrings: all there, and as the code says."""

import inspect
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import fractaltensor as ft
from fractaltensor import docstrings, traversal

HERE = pathlib.Path(__file__).resolve().parent


class Stubs(unittest.TestCase):
    def test_up_to_date(self):
        done = subprocess.run([sys.executable, str(HERE.parent / "generate_stubs.py"), "--check"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_docstrings(self):
        """Everything public says what it is."""
        missing = []
        for name in sorted(n for n in vars(ft) if not n.startswith("_")):
            value = getattr(ft, name)
            if callable(value) and not isinstance(value, type(ft.f32)) and not inspect.getdoc(value):
                missing.append(name)
        for kind in (ft.Tensor, ft.ListValue, traversal.Traversal, ft.Jit, ft.Bundle):
            for name, value in vars(kind).items():
                if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)) and not inspect.getdoc(value):
                    missing.append(f"{kind.__name__}.{name}")
        self.assertEqual(missing, [])

    def test_functions_say_shapes_and_errors(self):
        for name in sorted(n for n in vars(ft) if not n.startswith("_")):
            value = getattr(ft, name)
            if inspect.isfunction(value):
                with self.subTest(name):
                    self.assertIn("Raises:", value.__doc__)
                    if name not in ("jit", "load", "compile_text", "synchronize", "normal", "uniform", "index"):
                        self.assertIn("Shapes:", value.__doc__)

    def test_help_finds_methods_of_lists(self):
        self.assertIs(ft.List.scanl, ft.ListValue.scanl)
        self.assertIn("Example:", ft.scanl.__doc__)
        with self.assertRaisesRegex(AttributeError, "'List' has no attribute 'scnl'"):
            ft.List.scnl

        @ft.jit
        def f(xs: ft.List["N", ft.f32[3]], w: ft.f32[3, "K"]):
            return xs.map(lambda x: x @ w)

        self.assertEqual(repr(f.signature), "f(xs: List[N; f32[3]], w: f32[3, K])")

    def test_angles_have_a_unit(self):
        for name in ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "asin", "atan2"):
            self.assertIn("radians", getattr(ft, name).__doc__)

    def test_errors_are_raised(self):
        """What docstrings of many functions say of their errors."""
        for name, facts in docstrings.FACTS.items():
            function = getattr(ft.functions, name, None)
            if function is None:
                continue
            with self.subTest(name):
                if "DTypeError: `x` holds integers or bool" in facts.raises:
                    self.refused(ft.DTypeError, lambda x: function(x), ft.i32[4])
                    self.refused(ft.DTypeError, lambda x: function(x), ft.bool[4])
                if "DTypeError: `x` is bool" in facts.raises:
                    self.refused(ft.DTypeError, lambda x: function(x), ft.bool[4])
                if "DTypeError: `x` holds floats" in facts.raises:
                    self.refused(ft.DTypeError, lambda x: function(x), ft.f32[4])
                if "ShapeError: there is no such axis" in facts.raises and name not in ("take", "roll"):
                    self.refused(ft.ShapeError, lambda x: function(x, axis=7), ft.f32[4, 4])
                if "`x1` and `x2` broadcast" in facts.shapes:
                    of = ft.i32 if "bit" in name or "shift" in name else ft.f32
                    self.refused(ft.ShapeError, lambda x, y: function(x, y), of[4], of[3])
                    self.refused(ft.DTypeError, lambda x, y: function(x, y), ft.f32[4], ft.i32[4])

    def refused(self, error, program, *types):
        program.__annotations__ = dict(zip("xy", types))
        self.assertRaises(error, ft.jit, program)


#: Pages whose Python runs as a test (test_tutorial.py).
PAGES = ("README.md", "docs/python-tutorial.md", "docs/python.md", "docs/tutorial.md", "docs/torch.md", "docs/training.md", "docs/gradients.md")

STRICT = """from typing import Any

import fractaltensor as ft

N, L, D, H = ft.symbols("N, L, D, H")
T = "T"


@ft.jit(bounds="L >= 3", lengths={"L": 8}, gen={"xss": ft.normal(1.0)})
def rnn(xss: ft.List[N, L, ft.f32[1, H]], ws: ft.List[D, ft.f32[H, H]], s: ft.any[T], n: int = 3) -> ft.List[N, D, L, ft.f32[1, H]]:
    def layer(seq: ft.ListValue, w: ft.Tensor) -> ft.ListValue:
        return seq.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, H))

    return xss.map(lambda xs: ws.scanl(layer, xs))


@ft.jit
def parts(xs: ft.List[L, ft.f32[4]], w: ft.f32[4]) -> tuple[ft.List[L - 2, ft.f32[4]], ft.f32[4]]:
    def step(h: ft.Tensor, x: ft.Tensor) -> ft.Emit:
        return ft.emit(h + x * w, h)

    w = w * 2
    xs = xs.map(ft.relu)
    last, all_ = xs.foldl(step, w)
    middle = all_.window(3).map(lambda window: window.reduce(ft.add, 0.0))
    return middle, last[None].sum(0)


def call(x: Any, w: Any) -> float:
    rnn.trace(x, w, path="trace.json").save("trace.json")
    return float(rnn(x, w).sum())
"""

TYPES = """import fractaltensor as ft


def row(x: ft.Tensor) -> ft.Tensor:
    return x


def state(h: ft.Tensor, c: ft.Tensor, x: ft.Tensor) -> tuple[ft.Tensor, ft.Tensor]:
    return h, c


def out(h: ft.Tensor, x: ft.Tensor) -> ft.Emit:
    return ft.emit(h, x)


def body(xs: ft.ListValue, x: ft.Tensor) -> None:
    reveal_type((xs.map(ft.relu), xs.scanl(ft.add, x), xs.enumerate().shift(1).scanl(ft.where, x)))
    reveal_type((xs.foldl(ft.add, x), x[0], x.sum(), ft.reduce(ft.add, xs), next(iter(x))))
    reveal_type((xs.foldl(state, (x, x)), ft.foldl(state, xs)))
    reveal_type((xs.scanl(out, x), xs.scanl(state, (x, x)), ft.scanl(out, xs)))
    reveal_type((xs.map(lambda x: ft.relu(x)), ft.any(x)))
"""


def several(type_, count):
    return f"tuple[{', '.join([type_] * count)}]"


#: What a checker tells of TYPES.
FOUND = [several("ListValue", 3), several("Tensor", 5), several("tuple[Tensor, Tensor]", 2), several("tuple[ListValue, ...]", 3)]

#: What is wrong in a program, and a word of what a checker says of it.
WRONG = {
    "ft.scnl": "scnl",
    "def f(x: ft.Tensor) -> ft.Tensor:\n    return x.tnh()": "tnh",
    "def f(xs: ft.ListValue) -> ft.ListValue:\n    return xs.strde(2)": "strde",
    'def f(xs: ft.ListValue) -> ft.ListValue:\n    return xs.stride("two")': "stride",
    "def f(xs: ft.ListValue) -> ft.ListValue:\n    return ft.zip(xs, xs).gather(xs)": "gather",
    'ft.jit(lengths={"N": "four"})': "int",
}


class Program:
    """A folder with the text of a program, for a checker."""

    def __init__(self, **texts):
        self._texts = texts

    def __enter__(self):
        self._folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self._folder.name)
        for name, text in self._texts.items():
            (self.path / f"{name}.py").write_text(text)
        (self.path / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(HERE.parent)], "reportMissingImports": False}))
        return self

    def __exit__(self, *_):
        self._folder.cleanup()

    def check(self, *command):
        done = subprocess.run(command, cwd=self.path, env={**os.environ, "MYPYPATH": str(HERE.parent)}, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


def documented():
    """The Python of pages and examples, by the names of modules."""
    root = HERE.parent.parent
    texts = {}
    for name in PAGES:
        blocks = re.findall(r"```python\n(.*?)```", (root / name).read_text(), re.S)
        texts[f"{pathlib.Path(name).stem.replace('-', '_')}_text"] = "\n".join(blocks)
    return {**texts, **{file.stem: file.read_text() for file in (root / "examples/python").glob("*.py")}}


class Checker:
    """What a checker says of programs; `command` calls it."""

    command = ()
    of_a_lambda = ""

    def test_readme_tutorials_and_examples(self):
        with Program(**documented()) as program:
            status, said = program.check(*self.command)
            self.assertEqual(status, 0, said[-3000:])

    def test_lengths_as_variables(self):
        with Program(program=STRICT) as program:
            status, said = program.check(*self.command)
            self.assertEqual(status, 0, said[-3000:])

    def test_what_is_wrong(self):
        for text, word in WRONG.items():
            with self.subTest(word), Program(program=f"import fractaltensor as ft\n\n{text}\n") as program:
                status, said = program.check(*self.command)
                self.assertEqual(status, 1, said[-3000:])
                self.assertIn(word, said)

    def test_results_have_types(self):
        with Program(program=TYPES) as program:
            _, said = program.check(*self.command)
            self.assertNotIn("error:", said)
            found = [self.plain(line) for line in said.splitlines() if "ype of" in line or "Revealed" in line]
            self.assertEqual(found, [*FOUND, self.of_a_lambda])

    def plain(self, line):
        """The type that a line tells."""
        return re.sub(r'.*(?: is "(.*)"$)', r"\1", line).replace("Tuple[", "tuple[")


@unittest.skipIf(shutil.which("pyright") is None, "pyright is not there: pip install pyright")
class Pyright(Checker, unittest.TestCase):
    command = ("pyright",)
    of_a_lambda = "tuple[ListValue, Tensor]"


@unittest.skipIf(shutil.which("mypy") is None, "mypy is not there: pip install mypy")
class Strict(Checker, unittest.TestCase):
    of_a_lambda = "tuple[Any, Any]"

    @classmethod
    def setUpClass(cls):
        # What mypy has found out of NumPy and PyTorch serves all tests.
        cls._cache = tempfile.TemporaryDirectory()
        cls.command = ("mypy", "--strict", "--follow-imports=silent", f"--cache-dir={cls._cache.name}", ".")

    @classmethod
    def tearDownClass(cls):
        cls._cache.cleanup()

    def plain(self, line):
        """A tensor or list of which mypy does not know all is also Any."""
        return re.sub(r"fractaltensor\.\w+\.|builtins\.| \| Any", "", super().plain(line))


if __name__ == "__main__":
    unittest.main()
