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

from ft_report import collect, page  # noqa: E402

import browser

BUILD = pathlib.Path(os.environ.get("FT_BUILD", ROOT / "build"))
HAS_TOOLS = (BUILD / "bin/ft-translate").exists()
NODE = shutil.which("node")
SCRIPT = ROOT / "lib/Target/Page/graph.js"
#: Reads graphs, writes where their cards and lines are.
PLACES = """
const FTGraph = require(process.argv[1]), graphs = JSON.parse(require('fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(graphs.map(graph => {
  const layout = new FTGraph.Layout(graph), rows = layout.rows.map(row => row.map(c => ({key: c.key, x: c.x, y: c.y, width: c.width, height: c.height})));
  const nets = layout.nets.map(n => ({buffer: n.buffer, kind: n.kind, lane: n.lane, tracks: [...n.tracks], points: n.points, ends: n.ends.map(([c]) => c.key)}));
  const reads = [...layout.reads].map(([n, b]) => [n, [...b]]), writes = [...layout.writes].map(([n, b]) => [n, [...b]]);
  return {width: layout.width, height: layout.height, rows, nets, reads, writes, svg: FTGraph.svgOf(layout), shared: layout.shared.map(b => b.id)};
})));
"""


def in_node(script, *arguments, text=""):
    done = subprocess.run([NODE, "-e", script, "--", str(SCRIPT), *arguments], input=text, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def graph_of(name):
    tools = collect.Tools(str(ROOT), str(BUILD))
    return collect.graphs(tools, f"examples/{name}.mlir")[0][0]


@unittest.skipUnless(HAS_TOOLS, "the tools are not built")
@unittest.skipUnless(NODE, "no node")
class Layout(unittest.TestCase):
    """Cards do not lie on each other, lines of one height do not meet, and each access is on a line between its buffer and its block."""

    def check(self, name, graph, found):
        cards = [card for row in found["rows"] for card in row]
        self.assertEqual({c["key"] for c in cards}, {f"b{b}" for b in found["shared"]} | {f"n{n['id']}" for n in graph["nodes"] if n.get("parent") is None})
        for a in cards:
            self.assertTrue(0 <= a["x"] and a["x"] + a["width"] <= found["width"] and 0 <= a["y"] and a["y"] + a["height"] <= found["height"], a)
            for b in cards:
                if a is not b:
                    beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
                    self.assertTrue(beside or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"], (a, b))
        for row in found["rows"]:
            if len(row) > 1:
                self.assertLessEqual(row[-1]["x"] + row[-1]["width"] - row[0]["x"], 1340, (name, row))
        lines = []
        for net in found["nets"]:
            for gap, y in net["tracks"]:
                xs = [p["x"] for p in net["points"] if p["gap"] == gap] + ([net["lane"]] if net["lane"] is not None else [])
                lines.append((gap, y, min(xs), max(xs), net["buffer"]))
        for i, (gap, y, left, right, _) in enumerate(lines):
            for other in lines[i + 1 :]:
                self.assertFalse((gap, y) == other[:2] and left <= other[3] and other[2] <= right, (name, lines[i], other))
        for kind, users in (("read", found["reads"]), ("write", found["writes"])):
            for node, buffers in users:
                for buffer in buffers:
                    nets = [n for n in found["nets"] if (n["buffer"], n["kind"]) == (buffer, kind)]
                    self.assertEqual(len(nets), 1)
                    self.assertLessEqual({f"n{node}", f"b{buffer}"}, set(nets[0]["ends"]))

    def test_examples(self):
        names = [file.stem for file in sorted((ROOT / "examples").glob("*.mlir"))]
        graphs = [graph_of(name) for name in names]
        for name, graph, found in zip(names, graphs, in_node(PLACES, text=json.dumps(graphs))):
            with self.subTest(name):
                self.check(name, graph, found)
                self.assertNotIn("argument 0", found["svg"])

    def test_bundles(self):
        """The stacked LSTM's four regions read four arguments by four lines."""
        graph = graph_of("stacked_lstm")
        (found,) = in_node(PLACES, text=json.dumps([graph]))
        arguments = {b["id"] for b in graph["buffers"] if b["kind"] == "argument"}
        nets = [n for n in found["nets"] if n["buffer"] in arguments]
        self.assertEqual([(n["kind"], sum(key[0] == "n" for key in n["ends"])) for n in nets if n["buffer"] != 0], [("read", 4)] * 3)
        self.assertEqual(len(nets), 4)

    def test_domains(self):
        text = in_node("console.log(JSON.stringify(require(process.argv[1]).domainText('i >= 0 and i + 1 <= N and j = 0 and D >= 1 and i + j >= 2', ['i', 'j'])))")
        self.assertEqual(text, "0 ≤ i < N, j = 0, i + j ≥ 2")


class Places(unittest.TestCase):
    def test_lines_of_the_source(self):
        text = """#loc1 = loc("a (b).mlir":7:3)
module {
  %0 = x.y %a : index loc(#loc2)
  x.z {a = "loc(1)"} loc(callsite(#loc1 at #loc3))
  func @f(%x: index loc("a.mlir":4:9)) loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc2 = loc(fused[#loc1, #loc])
#loc3 = loc("a.mlir":5:1)
"""
        found, sources = collect.without_places(text)
        self.assertEqual(found, 'module {\n  %0 = x.y %a : index\n  x.z {a = "loc(1)"}\n  func @f(%x: index)\n}\n')
        self.assertEqual(sources, [0, 7, 7, 0, 0])

    @unittest.skipUnless(HAS_TOOLS, "the tools are not built")
    def test_same_text_as_without_locations(self):
        tools = collect.Tools(str(ROOT), str(BUILD))
        for phase, output, _ in collect.phases(tools, "examples/stacked_lstm.mlir"):
            plain, _ = tools.run("ft-opt", "examples/stacked_lstm.mlir", f"--ft-compile=to={phase} target=cpu")
            self.assertEqual(collect.without_places(output)[0].strip(), plain.strip(), phase)


class Words(unittest.TestCase):
    def test_remarks(self):
        self.assertEqual(collect.sentence(' | Function=f_k0 | Remark="rows i: 1 step"'), ("rows i: 1 step", "kernel f_k0"))
        self.assertEqual(collect.sentence(' | Reason="block @r1 stays, as it is", rule=cost, bytes="4 * N"'), ("block @r1 stays, as it is", "rule cost, bytes 4 * N"))

    def test_alike_remarks_are_one(self):
        def remark(text, line):
            return {"kind": "Missed", "category": "coarsen", "name": "merge", "text": text, "facts": "", "line": line}

        text = page._remarks({"remarks": [remark("block @r1 and block @r2 stay two", 3), remark("block @r5 and block @r6 stay two", 9), remark("a buffer of two", 9)]})
        self.assertEqual(text.count("class='remark'"), 2)
        for part in ("2 times", "block … and block … stay two", "<li>block @r1 and block @r2 stay two</li>", "line 3", "a buffer of two"):
            self.assertIn(part, text)

    def test_plans(self):
        said = "team t, shared j k, rows i: 17 steps of 42.7 points, 3.9 rows a call, 17 barriers, 4.41 MB streamed, 114 us"
        self.assertEqual(page.plan_of(said), ["t", "j k", "i", "", "17", "42.7", "3.9", "17", "4.41 MB"])
        self.assertEqual(page.plan_of("rows i, inner j k: 1 step of 4.0 points, 2.0 rows a call, 1 barrier, 0 MB streamed, 2 us"), ["", "", "i", "j k", "1", "4.0", "2.0", "1", "0 MB"])
        self.assertEqual(page.plan_of("kernel of rows i; rows j"), ["", "", "i / j", "", "", "", "", "", ""])
        launch = 'loops.launch @f_k0(%a) {x = 1, plan = "rows i: 1 step", seconds = 1.5e-06} : i1'
        self.assertEqual(collect.plan(launch), [{"kernel": "f_k0", "plan": "rows i: 1 step", "seconds": 1.5e-6}])

    def test_assembly(self):
        text = "\t.file\t1 \"x.mlir\"\nf:\n\t.cfi_startproc\n\tpushq\t%rbp\n\t.loc\t1 7 3 prologue_end\n.Ltmp0:\n\tvaddps\t%zmm0, %zmm1\n.LBB0_1:\n\tjne\t.LBB0_1\n"
        rest = "\t.section\t.debug_abbrev,\"\"\n\tx\t1\n"
        self.assertEqual(collect.instructions(text + rest), ("f:\n  pushq %rbp\n  vaddps %zmm0, %zmm1\n.LBB0_1:\n  jne .LBB0_1\n", [0, 0, 7, 0, 7]))

    def test_names(self):
        text = "func.func @f(%arg0: i1, %arg1: i1) {\n  %w = x.y %arg0, %arg1, %arg10\n}"
        self.assertEqual(collect.named(text, {0: "xs", 1: "w"}), "func.func @f(%xs: i1, %arg1: i1) {\n  %w = x.y %xs, %arg1, %arg10\n}")
        self.assertEqual(collect.named(f"{text}\n{text.replace('@f', '@g')}", {0: "xs"}).count("%xs"), 0)


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


class BadInput(unittest.TestCase):
    def report(self, *options):
        done = subprocess.run([sys.executable, str(ROOT / "scripts/report.py"), *options, str(ROOT / "examples/gru.mlir")], capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1), done.stderr)
        return done.stderr

    @unittest.skipUnless(HAS_TOOLS, "the tools are not built")
    def test_a_program_that_fails(self):
        """The page has the error, and so has one line."""
        with tempfile.TemporaryDirectory() as folder:
            bad, out = pathlib.Path(folder) / "bad.mlir", pathlib.Path(folder) / "report.html"
            bad.write_text("func.func @bad(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %y : tensor<4xf32>\n}\n")
            done = subprocess.run([sys.executable, str(ROOT / "scripts/report.py"), "--build", str(BUILD), "--out", str(out), str(bad)], capture_output=True, text=True, timeout=120)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r"^report.py: \S*bad.mlir:2:10: error: use of undeclared SSA value name\n$")
            self.assertEqual(done.stdout, f"0 of 1 ok; {out}; failed: bad\n")
            self.assertIn("use of undeclared SSA value name", out.read_text())

    def test_one_line(self):
        """A folder or tools that are missing are said before anything is compiled, in one line."""
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("there is no folder", self.report("--build", str(BUILD), "--out", f"{folder}/none/report.html"))
            self.assertIn("has no ft-translate", self.report("--build", folder, "--out", f"{folder}/report.html"))
            self.assertEqual(os.listdir(folder), [])


#: Clicks through the page and gives what it saw.
DRIVE = """(() => {
const seen = {panels: [], wide: [], zoomed: [], focused: [], followed: [], chosen: []};
document.querySelectorAll('section[data-program]').forEach(section => {
  location.hash = section.dataset.program;
  open(section.dataset.program);
  section.querySelectorAll('.tabs button').forEach(b => {
    b.click();
    if (document.documentElement.scrollWidth > innerWidth) seen.wide.push([section.dataset.program, b.dataset.tab, document.documentElement.scrollWidth]);
  });
  section.querySelectorAll('.phases button, .forms button, .stages button, .ftg-bar button').forEach(b => b.click());
  section.querySelector('.tabs button').click();
  section.querySelectorAll('.view svg .card').forEach(card => {
    card.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
    seen.panels.push([section.dataset.program, Object.assign({}, card.dataset), card.closest('.drawing').querySelector('.ftg-detail').textContent]);
  });
  const svg = section.querySelector('.view svg'), whole = svg.getAttribute('viewBox');
  svg.dispatchEvent(new WheelEvent('wheel', {deltaY: -300, cancelable: true, bubbles: true}));
  seen.zoomed.push(Number(svg.getAttribute('viewBox').split(' ')[2]) / Number(whole.split(' ')[2]));
  section.querySelector('.tabs button').focus();
  document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true}));
  seen.focused.push(document.activeElement.dataset.tab);
  setLine(section, DATA[section.dataset.program].graphs.converted[0].nodes.find(n => n.kind === 'leaf').line);
  seen.followed.push(section.querySelector('.follow').textContent);
  setLine(section, Number(section.querySelector('.remark .line').dataset.line));
  seen.chosen.push(section.querySelector('.follow').textContent);
  section.querySelectorAll('.follow button').forEach(b => b.click());
});
seen.visible = [...document.querySelectorAll('section')].filter(s => s.offsetHeight > 0).length;
return seen;
})()"""


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
        for phrase in ("Loop nest, and what is resident over time", "points in each step", "as scheduled", "equal to the interpreter", "The order that ran", "drawn at D =", "<th title="):
            self.assertIn(phrase, self.text)
        # One file: nothing is fetched.
        self.assertEqual([u for u in re.findall(r"https?://[^\s\"'<>]+", self.text) if "w3.org" not in u and "llvm.org" not in u], [])
        self.assertIsNone(re.search(r"<(script|img|link)[^>]+src=", self.text))
        data = json.loads(re.search(r"id='data'>(.*?)</script>", self.text, re.S).group(1).replace("<\\/", "</"))
        self.assertEqual([p["name"] for p in data["stacked_lstm"]["phases"]], [*collect.PHASES, "assembly"])
        # What was decided stands on the cards and in the table.
        (graph,) = data["stacked_lstm"]["graphs"]["scheduled"]
        self.assertEqual([(loop["over"], loop["kind"]) for loop in graph["nodes"][0]["order"]][1:3], [("j", "sequential"), ("k", "sequential")])
        cells = re.search(r"<td>stacked_lstm_k0</td>(.*?)</tr>", self.text).group(1)
        self.assertRegex(cells, r"^(<td>[^<]+</td>){9}<td>[\d.]+ .?s</td><td><span class='bar' style='--part:100.0%'>100%</span></td>$")
        self.assertIn("%xss: !ft.list", self.text)
        self.assertNotIn('"arg0"', self.text)

    @unittest.skipUnless(browser.PROGRAM, "no Chromium")
    def test_in_a_browser(self):
        """Opens without errors, no wider than the window; a click on a block shows its maps."""
        with browser.Browser(700) as window:
            window.open(f"file://{self.path}")
            seen = window.evaluate(DRIVE)
            self.assertEqual(window.errors, [])
        self.assertEqual(seen["visible"], 1)
        panels = {(program, *sorted(card.items())): text for program, card, text in seen["panels"]}
        first = panels[("stacked_lstm", ("node", "1"))]
        for part in ("r1", "xss[i, k]", "linalg.matmul"):
            self.assertIn(part, first)
        self.assertIn("read by r1", panels[("stacked_lstm", ("buffer", "0"))])
        self.assertGreater(len(seen["panels"]), 30)
        self.assertEqual(seen["wide"], [])
        self.assertTrue(all(part < 0.9 for part in seen["zoomed"]), seen["zoomed"])
        self.assertEqual(seen["focused"], ["phases"] * 3)
        for text in seen["followed"]:
            self.assertRegex(text, r"source line \d+.*converted: .*etdg: \d+")
        self.assertRegex(seen["chosen"][0], r"source line \d+.*etdg: \d+.*target: \d+.*assembly: \d+")
        for where, text in panels.items():
            self.assertNotRegex(text, r"argument \d", where)

    @unittest.skipUnless(browser.PROGRAM, "no Chromium")
    def test_by_keyboard(self):
        """Tab goes through all that is in sight in the page's order; Enter opens a block, Escape closes it."""
        with browser.Browser(1400) as window:
            window.open(f"file://{self.path}#stacked_lstm")
            places = window.tabs(40)
            self.assertEqual([place for place in places if not place["seen"] or not place["label"]], [])
            self.assertEqual([place["way"] for place in places], sorted(place["way"] for place in places))
            labels = [place["label"] for place in places]
            for label in ("Overview", "Graph", "as scheduled", "the whole graph", "argument xss: [N, L] 1x64xf32"):
                self.assertIn(label, labels)
            window.evaluate("document.querySelector('section.on .view:not([hidden]) .card.graph').focus()")
            panel = "document.querySelector('section.on .view:not([hidden]) .ftg-detail')"
            window.press("Enter")
            self.assertIn("r0  [map, scanl, scanl] (i, j, k)", window.evaluate(f"{panel}.textContent"))
            window.press("Escape")
            self.assertTrue(window.evaluate(f"{panel}.hidden"))
            # A filter leaves the remarks that have its words, and the heads of these.
            left = window.evaluate("""(() => {
              const section = document.querySelector('section.on'), filter = section.querySelector('.filter input');
              filter.value = 'one leaf for each';
              filter.dispatchEvent(new Event('input'));
              return [...section.querySelectorAll('[id$=-remarks] > :is(h3, .remark):not([hidden])')].map(e => e.localName === 'h3' ? e.textContent : e.querySelector('b').textContent);
            })()""")
            self.assertEqual(left, ["done", "lower"])


if __name__ == "__main__":
    unittest.main()
