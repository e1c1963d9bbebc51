# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The documentation's site: links lead somewhere, nothing is loaded from elsewhere, a browser shows it without errors."""

import functools
import html
import http.server
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from ft_site import check, config, references, stage  # noqa: E402

import browser

MISSING = [package for module, package in config.NEEDS.items() if not config._found(module)]


def make(*options):
    return subprocess.run([sys.executable, str(ROOT / "scripts/site.py"), *options], capture_output=True, text=True, timeout=1200)


class Checks(unittest.TestCase):
    def test_wrong_links_are_found(self):
        with tempfile.TemporaryDirectory() as folder:
            site = pathlib.Path(folder)
            (site / "a").mkdir()
            (site / "index.html").write_text("<h1 id=top>x</h1><a href=a/>good</a><a href=a/#two>good</a><a href='https://example.org'>good</a>")
            (site / "a/index.html").write_text(
                "<p id=two>x<a href=../#top>good</a><a href=../#gone>1</a><a href=../b/>2</a><img src=no.png><script src='https://cdn.example.org/x.js'></script>")
            found = check.wrong(site, sorted(site.rglob("*.html")))
            self.assertEqual(len(found), 4, found)
            for words in ("../#gone: the page has no such anchor", "../b/ leads nowhere", "no.png leads nowhere", "https://cdn.example.org/x.js is loaded from another host"):
                self.assertEqual(sum(words in line for line in found), 1, (words, found))

    def test_links_of_guides(self):
        mended = functools.partial(stage._mend, ROOT, ROOT / "docs/rationale/etdg.md", where="rationale/etdg.md")
        self.assertEqual(mended("[a](../optimiser.md#x)"), "[a](../optimiser.md#x)")
        self.assertEqual(mended("[a](../../examples/gru.mlir)"), "[a](../gallery/gru.md)")
        self.assertEqual(mended("[the code](../../lib/Dialect)"), "the code (`lib/Dialect`)")
        self.assertEqual(mended("```\n[a](../../lib/Dialect)\n```\n"), "```\n[a](../../lib/Dialect)\n```\n")

    def test_every_definition_has_a_reference(self):
        pages = {td for _, td, _ in references.definitions(ROOT)}
        for td in (ROOT / "include/ft/Dialect").rglob("*Ops.td"):
            self.assertIn(str(td.relative_to(ROOT / "include/ft")), pages)

    @unittest.skipIf(not MISSING, "everything is here")
    def test_missing_packages(self):
        with tempfile.TemporaryDirectory() as folder:
            done = make("--out", folder + "/site")
            self.assertEqual((done.returncode, done.stderr.count("\n"), list(pathlib.Path(folder).iterdir())), (1, 1, []), done.stderr)
            self.assertIn("pip install -r docs/site/requirements.txt", done.stderr)
            self.assertIn(MISSING[0], done.stderr)

    def test_other_folders_are_kept(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "mine.txt").write_text("x")
            done = make("--out", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("holds something else than a site", done.stderr)
            self.assertEqual([p.name for p in pathlib.Path(folder).iterdir()], ["mine.txt"])


class _Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@unittest.skipIf(MISSING, f"{', '.join(MISSING)} missing")
class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.site = pathlib.Path(cls.folder.name) / "at/any/path"
        cls.done = make("--out", str(cls.site), "--check")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_nothing_is_wrong(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        self.assertIn("; 0 wrong", self.done.stdout)
        self.assertTrue((self.site / "search/search_index.json").exists())

    def test_what_it_holds(self):
        self.assertIn("ft.scanl", (self.site / "reference/ft/index.html").read_text())
        python = (self.site / "reference/python/index.html").read_text()
        self.assertIn('id="fractaltensor.jit"', python)
        self.assertNotIn(":meth:<code>", python)
        for example in (ROOT / "examples").glob("*.mlir"):
            text = html.unescape((self.site / f"gallery/{example.stem}/index.html").read_text())
            self.assertIn("func.func @", re.sub(r"<[^>]+>", "", text))

    def served(self):
        """The site's address on a server of its own."""
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(_Handler, directory=self.folder.name))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_address[1]}/at/any/path/"

    @unittest.skipIf(browser.PROGRAM is None, "no Chromium")
    def test_in_a_browser(self):
        address = self.served()
        with browser.Browser(700) as window:
            for page in ("", "performance/", "torch/", "gallery/", "gallery/gru/", "reference/ft/", "reference/python/", "reference/etdg-passes/"):
                window.open(address + page)
                self.assertEqual((window.errors, window.wider() <= 0), ([], True), page)

    @unittest.skipIf(browser.PROGRAM is None, "no Chromium")
    def test_by_keyboard(self):
        """Tab goes through what is in sight, in the page's order; a narrow window's navigation opens by Enter."""
        address = self.served()
        for width in (700, 1400):
            with browser.Browser(width) as window:
                window.open(address + "when/")
                places = [place for place in window.tabs(60) if place["tag"] not in ("input", "div")]
                self.assertEqual(places[0]["label"], "Skip to content")
                self.assertEqual([place["way"] for place in places], sorted(place["way"] for place in places))
                self.assertEqual([place for place in places if not place["seen"] or not place["marked"]], [])
                labels = [place["label"] for place in places]
                self.assertIn("performance.md", labels)
                self.assertEqual("Navigation" in labels, width == 700)
                self.assertEqual("From a loop to compiled code, in Python" in labels, width == 1400)
                if width == 700:
                    window.evaluate("document.querySelector('[aria-label=Navigation]').focus()")
                    window.press("Enter")
                    self.assertIn("From a loop to compiled code, in Python", [place["label"] for place in window.tabs(12) if place["seen"]])


if __name__ == "__main__":
    unittest.main()
