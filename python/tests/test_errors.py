# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The catalogue of errors: wrong programs, each with the whole message that a person sees.

``errors/*.txt`` hold programs, one after the other: a line ``=== name`` (``name.py`` or ``name.mlir``), the
program, a line ``---``, the kind of the exception and the message. ``FT_UPDATE=1`` writes what is found; read the
difference before it is kept.
"""

import linecache
import os
import pathlib
import re
import sys
import tempfile
import unittest

import numpy as np

import fractaltensor as ft

FOLDER = pathlib.Path(__file__).resolve().parent / "errors"
PRELUDE = "import numpy as np, fractaltensor as ft\n"


def cases():
    """file, name, program, expected."""
    for file in sorted(FOLDER.glob("*.txt")):
        for section in re.split(r"^=== ", file.read_text(), flags=re.M)[1:]:
            name, _, rest = section.partition("\n")
            program, _, expected = rest.partition("\n---\n")
            yield file, name.strip(), program.strip("\n"), expected.strip("\n")


def outcome(name, program, folder):
    """The exception of a program and its message, as text."""
    path = os.path.join(folder, name)
    source = program + "\n" if name.endswith(".mlir") else PRELUDE + program + "\n"
    pathlib.Path(path).write_text(source)
    linecache.checkcache(path)
    try:
        if name.endswith(".mlir"):
            ft.load(name)
        else:
            exec(compile(source, path, "exec"), {"__name__": name[:-3]})
    except Exception as error:
        return f"{type(error).__name__}\n{error}"
    return "no error"


def without_carets(text):
    """For Pythons that know no columns: places without columns, no carets."""
    lines = [line for line in text.split("\n") if not re.fullmatch(r" *\^+", line)]
    return re.sub(r"(\.py:\d+):\d+:", r"\1:", "\n".join(lines))


class Catalogue(unittest.TestCase):
    maxDiff = None

    def test_messages(self):
        here, found = os.getcwd(), {}
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for file, name, program, expected in cases():
                    text = outcome(name, program, folder).replace(folder + os.sep, "")
                    found.setdefault(file, []).append((name, program, text))
                    if os.environ.get("FT_UPDATE"):
                        continue
                    with self.subTest(name):
                        if sys.version_info < (3, 11):
                            text, expected = without_carets(text), without_carets(expected)
                        self.assertEqual(text, expected)
            finally:
                os.chdir(here)
        if os.environ.get("FT_UPDATE"):
            for file, parts in found.items():
                file.write_text("\n\n".join(f"=== {n}\n{p}\n---\n{t}" for n, p, t in parts) + "\n")

    def test_there_are_enough(self):
        names = [name for _, name, _, _ in cases()]
        self.assertEqual(len(names), len(set(names)))
        self.assertGreaterEqual(sum(n.endswith(".py") for n in names), 60)
        self.assertGreaterEqual(sum(n.endswith(".mlir") for n in names), 10)

    def test_all_are_errors(self):
        for _, name, _, expected in cases():
            with self.subTest(name):
                self.assertNotIn("no error", expected)
                self.assertNotIn("InternalError", expected)


if __name__ == "__main__":
    unittest.main()
