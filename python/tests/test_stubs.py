# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Type stubs and docstrings: all there, and as the code says."""

import inspect
import pathlib
import subprocess
import sys
import unittest

import fractaltensor as ft

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


if __name__ == "__main__":
    unittest.main()
