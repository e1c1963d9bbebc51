# RUN: %python %s ft-translate %examples %S/Inputs
#
# The page is well formed, needs nothing from elsewhere, and shows each iteration
# once, with one colour for each step.

import html.parser
import json
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

NS = "{http://www.w3.org/1999/xhtml}"
SVG = "{http://www.w3.org/2000/svg}"
VOID = {"input", "meta", "br"}


class Balance(html.parser.HTMLParser):
    """Every element is closed by its own end tag."""

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


def page(translate, path, *options):
    text = subprocess.run([translate, "--etdg-to-html", str(path), *options], check=True, capture_output=True, text=True).stdout
    parser = Balance()
    parser.feed(text)
    parser.close()
    assert not parser.wrong and not parser.open, (path, parser.wrong, parser.open)
    assert not re.search(r"(src|href)=|@import|url\((?!#)", text), "something comes from elsewhere"
    return ElementTree.fromstring(text)


def nests(root):
    """id, points (step, colour), arrows, widths of the table."""
    for nest in root.iter(NS + "div"):
        if nest.get("class") != "nest":
            continue
        points = [(int(c.get("data-step")), c.get("fill")) for c in nest.iter(SVG + "circle")]
        arrows = sum(1 for line in nest.iter(SVG + "line"))
        widths = []
        for table in nest.iter(NS + "table"):
            if table.get("class") == "steps":
                for row in table.iter(NS + "tr"):
                    cells = row.findall(NS + "td")
                    if len(cells) == 3:
                        widths.append(int(cells[2].text))
        yield nest.get("id"), int(nest.get("data-steps")), points, arrows, widths


def main(translate, examples, inputs):
    examples, inputs = pathlib.Path(examples), pathlib.Path(inputs)

    # N = 3, D = 4, L = 5: 60 iterations. Before, layers and time run one by one; after,
    # in L + D - 1 = 8 steps of at most N * min(D, L) = 12.
    root = page(translate, examples / "stacked_rnn.mlir", "--dim=N=3", "--dim=D=4", "--dim=L=5")
    (before_id, before_steps, before, before_arrows, before_widths), (after_id, after_steps, after, _, after_widths) = nests(root)
    assert (before_id, after_id) == ("g0bn0", "g0an0")
    assert (before_steps, after_steps) == (20, 8), (before_steps, after_steps)
    assert len(before) == len(after) == 60
    assert before_widths == [3] * 20
    assert after_widths == [3, 6, 9, 12, 12, 9, 6, 3], after_widths
    # For each of 3 batches 4 * 4 arrows along time and 3 * 5 to the next layer.
    assert before_arrows == 3 * (4 * 4 + 3 * 5), before_arrows
    matrix = [t for t in root.iter(NS + "table") if t.get("class") == "matrix"]
    assert len(matrix) == 1
    first_row = [cell.text for cell in matrix[0].findall(NS + "tr")[1].findall(NS + "td")]
    # T's first row is the wavefront j + k, its loop sequential.
    assert first_row[:4] == ["0", "1", "1", "0"] and "sequential" in first_row[4], first_row

    # What the page draws: each graph's JSON, with the names of the program's text and the lines of its blocks.
    first, second = [json.loads(s.text) for s in root.iter(NS + "script") if s.get("type") == "application/json"]
    for graph in (first, second):
        assert [b.get("name") for b in graph["buffers"] if b["kind"] == "argument"] == ["xss", "ws"], graph["buffers"]
        lines = (examples / "stacked_rnn.mlir").read_text().splitlines()
        assert all("ft.scanl" in lines[node["line"] - 1] for node in graph["nodes"]), graph["nodes"]

    # A grid of D layers over S x T takes D + S + T - 2 steps.
    root = page(translate, examples / "grid_rnn.mlir")
    text = "".join(root.itertext()).split("Points are drawn at")[1]
    at = {name: int(value) for name, value in re.findall(r"(\w+) = (\d+)", text.split(".")[0])}
    steps = {name: steps for name, steps, *_ in nests(root)}
    # (The products of words stand before it, a map each.)
    assert max(steps[name] for name in steps if name.startswith("g0a")) == at["D"] + at["S"] + at["T"] - 2, (steps, at)

    # Every example: points carry steps that the table lists, one colour for each step.
    for path in sorted(examples.glob("*.mlir")):
        for name, steps, points, _, widths in nests(page(translate, path)):
            where = (path.name, name)
            assert points, where
            assert all(0 <= step < steps for step, _ in points), where
            colours = {}
            for step, colour in points:
                assert colours.setdefault(step, colour) == colour, where
            assert len(set(colours.values())) == len(colours), where
            if sum(widths) == len(points) and steps <= 40:
                assert len(colours) == steps, where

    # Names are escaped; nests without a schedule and without points are no trouble.
    root = page(translate, inputs / "names.mlir")
    text = "".join(root.itertext())
    assert '@a<b>&"c"' in text and "r<1>" in text, text[:400]


main(*sys.argv[1:])
