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
from fractaltensor import docstrings

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
        for kind in (ft.Tensor, ft.ListValue, ft.Jit, ft.Bundle):
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


@unittest.skipIf(shutil.which("pyright") is None, "pyright is not there: pip install pyright")
class Checker(unittest.TestCase):
    def test_programs_of_readme_tutorial_and_examples(self):
        """pyright takes them without an error, and a wrong call of a method is one."""
        root = HERE.parent.parent
        with tempfile.TemporaryDirectory() as folder:
            place = pathlib.Path(folder)
            for name in ("README.md", "docs/python-tutorial.md", "docs/python.md"):
                blocks = re.findall(r"```python\n(.*?)```", (root / name).read_text(), re.S)
                (place / f"{pathlib.Path(name).stem.replace('-', '_')}_text.py").write_text("\n".join(blocks))
            for file in (root / "examples/python").glob("*.py"):
                shutil.copy(file, place)
            (place / "pyrightconfig.json").write_text(json.dumps({"extraPaths": [str(HERE.parent)], "reportMissingImports": False}))
            done = subprocess.run(["pyright"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout[-3000:])
            (place / "wrong.py").write_text(
                "import fractaltensor as ft\n\n\n@ft.jit\ndef f(xs: ft.List[\"N\", ft.f32[3]]):\n    return xs.stride(\"two\")\n")
            done = subprocess.run(["pyright", "wrong.py"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1, done.stdout[-3000:])
            self.assertIn('parameter "step"', done.stdout)


STRICT = '''from typing import Any

import fractaltensor as ft

N, L, D, H = "N", "L", "D", "H"


@ft.jit
def rnn(xss: ft.List[N, L, ft.f32[1, H]], ws: ft.List[D, ft.f32[H, H]]) -> Any:
    def layer(seq: ft.ListValue, w: ft.Tensor) -> Any:
        return seq.scanl(lambda h, x: ft.tanh(x @ w + h), ft.zeros(1, H))

    return xss.map(lambda xs: ws.scanl(layer, xs))


def call(x: Any, w: Any) -> float:
    return float(rnn(x, w).sum())
'''


@unittest.skipIf(shutil.which("mypy") is None, "mypy is not there: pip install mypy")
class Strict(unittest.TestCase):
    def test_a_program_with_names_as_variables(self):
        """mypy --strict takes it without an error, and finds that a name does not exist."""
        for text, status, found in ((STRICT, 0, "Success"), (STRICT + "\nft.scnl\n", 1, 'has no attribute "scnl"')):
            with self.subTest(found), tempfile.TemporaryDirectory() as folder:
                (pathlib.Path(folder) / "program.py").write_text(text)
                command = ["mypy", "--strict", "--follow-imports=silent", "--cache-dir=/dev/null", "program.py"]
                done = subprocess.run(command, cwd=folder, env={**os.environ, "MYPYPATH": str(HERE.parent)}, capture_output=True, text=True)
                self.assertEqual(done.returncode, status, done.stdout[-3000:])
                self.assertIn(found, done.stdout)


if __name__ == "__main__":
    unittest.main()
