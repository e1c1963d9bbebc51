# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The tutorial runs, block after block, and prints what it says; FT_UPDATE=1 writes what it prints."""

import contextlib
import io
import linecache
import os
import pathlib
import re
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"```python\n(.*?)```(\n\n```text\n(.*?)```)?", re.S)


class Tutorial(unittest.TestCase):
    maxDiff = None

    def test_blocks(self):
        for file in (ROOT / "docs/python-tutorial.md", ROOT / "docs/python.md", ROOT / "docs/torch.md", ROOT / "docs/training.md"):
            text = file.read_text()
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
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(source, path, "exec"), names)
        return out.getvalue()


if __name__ == "__main__":
    unittest.main()
