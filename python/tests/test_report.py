# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The report (scripts/report.py): that its drawings hold what graphs hold, and that the page works in a browser."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from ft_report import collect, draw, layout, page  # noqa: E402

BUILD = pathlib.Path(os.environ.get("FT_BUILD", ROOT / "build"))
HAS_TOOLS = (BUILD / "bin/ft-translate").exists()
BROWSER = next((b for b in map(shutil.which, ("chromium", "chromium-headless-shell", "google-chrome")) if b), None)


def graph_of(name):
    tools = collect.Tools(str(ROOT), str(BUILD))
    return collect.graphs(tools, f"examples/{name}.mlir")[0][0]


def stretches(found, gap):
    """(y, left, right, net) of the horizontal lines of a gap."""
    for net in found.nets:
        xs = [p[1] for p in net.points if p[0] == gap] + ([net.lane] if net.lane is not None and gap in net.tracks else [])
        if gap in net.tracks:
            yield net.tracks[gap], min(xs), max(xs), net


@unittest.skipUnless(HAS_TOOLS, "the tools are not built")
class Layout(unittest.TestCase):
    def check(self, name):
        graph = graph_of(name)
        found = layout.Layout(graph)
        cards = [card for row in found.rows for card in row]
        self.assertEqual({c.key for c in cards if c.key[0] == "buffer"}, {("buffer", b) for b in found.public})
        self.assertEqual({c.key for c in cards if c.key[0] == "node"}, {("node", n["id"]) for n in graph["nodes"] if n.get("parent") is None})
        for a in cards:
            self.assertTrue(0 <= a.x and a.x + a.width <= found.width and 0 <= a.y and a.y + a.height <= found.height, a.key)
            for b in cards:
                if a is not b:
                    apart = a.x + a.width <= b.x or b.x + b.width <= a.x or a.y + a.height <= b.y or b.y + b.height <= a.y
                    self.assertTrue(apart, (a.key, b.key))
        for gap in range(len(found.rows)):
            lines = list(stretches(found, gap))
            for i, (y, left, right, net) in enumerate(lines):
                for other_y, other_left, other_right, other in lines[i + 1 :]:
                    self.assertFalse(y == other_y and left <= other_right and other_left <= right, (name, gap, net.buffer, other.buffer))
        # Each access is on a line between its buffer and its block.
        for node in graph["nodes"]:
            top = node
            while top.get("parent") is not None:
                top = found.nodes[top["parent"]]
            for kind, buffers in (("read", found.accesses(node, "reads")), ("write", found.accesses(node, "writes"))):
                for buffer in buffers:
                    nets = [n for n in found.nets if (n.buffer, n.kind) == (buffer, kind)]
                    self.assertEqual(len(nets), 1)
                    keys = {card.key for card, _ in nets[0].ends}
                    self.assertLessEqual({("node", top["id"]), ("buffer", buffer)}, keys)
        return found

    def test_examples(self):
        for file in sorted((ROOT / "examples").glob("*.mlir")):
            with self.subTest(file.stem):
                self.check(file.stem)

    def test_bundles(self):
        """The stacked LSTM's four regions read four arguments by four lines."""
        found = self.check("stacked_lstm")
        arguments = {b["id"] for b in found.graph["buffers"] if b["kind"] == "argument"}
        nets = [n for n in found.nets if n.buffer in arguments]
        self.assertEqual([(n.kind, sum(c.key[0] == "node" for c, _ in n.ends)) for n in nets if n.buffer != 0], [("read", 4)] * 3)
        self.assertEqual(len(nets), 4)

    def test_domains(self):
        text = layout.domain_text("i >= 0 and i + 1 <= N and j = 0 and D >= 1 and i + j >= 2", ["i", "j"])
        self.assertEqual(text, "0 ≤ i < N, j = 0, i + j ≥ 2")


class Difference(unittest.TestCase):
    def test_texts_come_back(self):
        texts = ["", "a\nb\nc", "a\nB\nc\nd", "x", "x"]
        for before, after in zip(texts, texts[1:]):
            lines, at, found = before.splitlines(), 0, []
            for tag, value in collect.difference(before, after):
                if tag == "=":
                    found += lines[at : at + value]
                at += value if tag != "+" else 0
                found += value if tag == "+" else []
            self.assertEqual(found, after.splitlines())


#: Clicks through the page and leaves what it saw in an attribute of the document.
DRIVE = """
<script>
const seen = {errors: window.ftErrors, panels: []};
document.querySelectorAll('section[data-program]').forEach(section => {
  open(section.dataset.program);
  section.querySelectorAll('.tabs button').forEach(b => b.click());
  section.querySelectorAll('.phases button, .forms button, .sizes button, .stages button').forEach(b => b.click());
  section.querySelector('.tabs button').click();
  section.querySelectorAll('.view svg .card').forEach(card => {
    card.dispatchEvent(new MouseEvent('click', {bubbles: true}));
    seen.panels.push([section.dataset.program, Object.assign({}, card.dataset), section.querySelector('.detail').textContent]);
  });
});
seen.visible = [...document.querySelectorAll('section')].filter(s => s.offsetHeight > 0).length;
document.documentElement.setAttribute('data-seen', JSON.stringify(seen));
</script></body>"""
WATCH = "<head><script>window.ftErrors = []; window.onerror = m => window.ftErrors.push(String(m)); console.error = m => window.ftErrors.push(String(m));</script>"


@unittest.skipUnless(HAS_TOOLS, "the tools are not built")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="ft-report-")
        cls.path = os.path.join(cls.folder, "report.html")
        names = ["stacked_lstm", "attention_three_step", "bigbird"]
        done = subprocess.run(
            [sys.executable, str(ROOT / "scripts/report.py"), "--build", str(BUILD), "--out", cls.path, *[str(ROOT / f"examples/{n}.mlir") for n in names]],
            capture_output=True, text=True,
        )
        cls.done = done
        cls.text = open(cls.path, encoding="utf-8").read() if os.path.exists(cls.path) else ""

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def test_what_it_holds(self):
        self.assertEqual(self.done.returncode, 0, self.done.stdout + self.done.stderr)
        self.assertIn("3 of 3 programs agree with the interpreter", self.text)
        for phrase in ("Loop nest, and what is resident over time", "points in each step", "as scheduled", "equal to the interpreter"):
            self.assertIn(phrase, self.text)
        # One file: nothing is fetched.
        self.assertEqual([u for u in re.findall(r"https?://[^\s\"'<>]+", self.text) if "w3.org" not in u and "llvm.org" not in u], [])
        self.assertIsNone(re.search(r"<(script|img|link)[^>]+src=", self.text))
        data = json.loads(re.search(r"id='data'>(.*?)</script>", self.text, re.S).group(1).replace("<\\/", "</"))
        self.assertEqual([p["name"] for p in data["stacked_lstm"]["phases"]], list(collect.PHASES))

    @unittest.skipUnless(BROWSER, "no Chromium")
    def test_in_a_browser(self):
        """Opens without errors; a click on a block shows its maps."""
        driven = os.path.join(self.folder, "driven.html")
        with open(driven, "w", encoding="utf-8") as file:
            file.write(self.text.replace("<head>", WATCH, 1).replace("</body>", DRIVE, 1))
        command = [
            BROWSER, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile", "--virtual-time-budget=20000",
            "--enable-logging=stderr", "--dump-dom", f"file://{driven}",
        ]
        done = subprocess.run(command, capture_output=True, text=True, timeout=240)
        self.assertEqual([line for line in done.stderr.splitlines() if ":CONSOLE" in line], [])
        import html

        seen = json.loads(html.unescape(re.search(r'data-seen="(.*?)"', done.stdout).group(1)))
        self.assertEqual(seen["errors"], [])
        self.assertEqual(seen["visible"], 1)
        panels = {(program, *sorted(card.items())): text for program, card, text in seen["panels"]}
        first = panels[("stacked_lstm", ("node", "1"))]
        for part in ("r1", "argument 0[i, k]", "linalg.matmul"):
            self.assertIn(part, first)
        self.assertIn("read by r1", panels[("stacked_lstm", ("buffer", "0"))])
        self.assertGreater(len(seen["panels"]), 30)


if __name__ == "__main__":
    unittest.main()
