# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial runs, block after block, and prints what it says; FT_UPDATE=1 writes what it prints."""

import contextlib
import importlib.util
import io
import linecache
import os
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
#: Pages whose blocks run one after the other; test/Docs/blocks.test asks which those are.
PAGES = ("README.md", "docs/python-tutorial.md", "docs/python.md", "docs/torch.md", "docs/training.md", "docs/gradients.md")
BLOCK = re.compile(r"```python\n(.*?)```(\n\n```text\n(.*?)```)?", re.S)


class Tutorial(unittest.TestCase):
    maxDiff = None

    def test_blocks(self):
        for name in PAGES:
            file = ROOT / name
            text = file.read_text()
            if "import torch\n" in text and importlib.util.find_spec("torch") is None:
                continue
            names, parts, at = {"__name__": "tutorial"}, [], 0
            blocks = list(BLOCK.finditer(text))
            self.assertGreater(len(blocks), 0)
            with tempfile.TemporaryDirectory() as folder:
                for number, match in enumerate(blocks):
                    printed = self.run_block(match[1], names, os.path.join(folder, f"block{number}.py"))
                    if os.environ.get("FT_UPDATE"):
                        parts += [text[at : match.start()], f"```python\n{match[1]}```"]
                        parts.append(f"\n\n```text\n{printed}```" if match[2] else "")
                        at = match.end()
                    elif match[2]:
                        with self.subTest(file=file.name, block=number):
                            self.assertEqual(printed, match[3])
            if os.environ.get("FT_UPDATE"):
                file.write_text("".join([*parts, text[at:]]))

    def run_block(self, source, names, path):
        pathlib.Path(path).write_text(source)
        linecache.checkcache(path)
        out, before = io.StringIO(), os.getcwd()
        # Blocks write files where they stand.
        os.chdir(os.path.dirname(path))
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(source, path, "exec"), names)
        finally:
            os.chdir(before)
        return out.getvalue()


if __name__ == "__main__":
    unittest.main()
