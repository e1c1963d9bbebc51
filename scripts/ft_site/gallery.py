# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gallery: each example with its graph, its code in .mlir and Python, and its time beside a peer's."""

import re
import subprocess
import sys

# How names are written that are no words.
_NAMES = {"rnn": "RNN", "lstm": "LSTM", "gru": "GRU", "gemm": "GEMM", "mlp": "MLP", "rwkv": "RWKV", "relu": "ReLU", "bigbird": "BigBird"}


def write(root, folder, tools):
    folder.mkdir(parents=True)
    sys.path.insert(0, str(root / "benchmarks"))
    import results  # what docs/performance.md is made of

    rows = {}
    for data in results.newest():
        for row in data["rows"]:
            rows.setdefault(row["program"], []).append((data["card"], row))
    lines = ["# Gallery\n", "Programs of `examples/`: each compiles for CPUs and GPUs, in `.mlir` and in Python.\n",
             "The last column is a peer's time over ours on each machine, at the sizes of the program's page.\n", "| program | what it is | peer / ours |", "|---|---|---|"]
    for file in sorted((root / "examples").glob("*.mlir")):
        name = file.stem
        words, code = _parts(file.read_text())
        lines.append(f"| [{_title(name)}]({name}.md) | {_first(words)} | {_ratios(rows.get(name, []))} |")
        (folder / f"{name}.md").write_text(_page(root, folder, tools, name, words, code, rows.get(name, [])))
    (folder / "index.md").write_text("\n".join(lines) + "\n")


def _parts(text):
    """The comment at the head of a program, and the rest."""
    head = re.match(r"(?:^//.*\n)+", text, re.M)
    words = "\n".join(re.sub(r"^// ?", "", line) for line in head.group(0).splitlines()) if head else ""
    return words, text[head.end():].strip() if head else text


def _title(name):
    words = " ".join(_NAMES.get(word, word) for word in name.split("_"))
    return words[0].upper() + words[1:]


def _ratios(rows):
    """The least and the greatest ratio of each machine."""
    found = {}
    for card, row in rows:
        if row.get("peer_us"):
            found.setdefault("CPU" if "cores" in card else card.split()[-1], []).append(row["peer_us"] / row["ours_us"])
    ends = {card: dict.fromkeys(f"{ratio:.2g}" for ratio in (min(ratios), max(ratios))) for card, ratios in found.items()}
    return "<br>".join(f"{card} {' to '.join(two)}" for card, two in ends.items())


def _first(words):
    return " ".join(words.split("\n\n")[0].split()).replace("|", "\\|")


def _page(root, folder, tools, name, words, code, rows):
    out = [f"# {_title(name)}\n", words.replace("<", "&lt;") + "\n"]
    if rows:
        out += ["## Measured\n", "| machine | sizes | type | ours, µs | peer | its time, µs |", "|---|---|---|---|---|---|"]
        for card, row in rows:
            peer = row.get("peer_us")
            out.append(f"| {card} | {row['sizes']} | {row['type']} | {row['ours_us']:g} | {row.get('peer') or ''} | {f'{peer:g}' if peer else ''} |")
        out.append("")
    if _graph(root, folder, tools, name):
        out += ["## Graph\n", f'<iframe class="graph" src="../{name}-graph.html" title="Graph and waves of {name}" loading="lazy"></iframe>\n',
                f"[The graph on a page of its own]({name}-graph.html)\n"]
    out += ["## Program\n", f"```text\n{code}\n```\n"]
    twin = root / f"examples/python/{name}.py"
    if twin.exists():
        out += ["## In Python\n", f"```python\n{twin.read_text().strip()}\n```\n"]
    return "\n".join(out)


def _graph(root, folder, tools, name):
    tool = tools / "ft-translate"
    if not tool.exists():
        return False
    run = subprocess.run([str(tool), "--etdg-to-html", str(root / f"examples/{name}.mlir"), "-o", str(folder / f"{name}-graph.html")], capture_output=True)
    return run.returncode == 0
