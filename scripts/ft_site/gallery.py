# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gallery: each example with its graph, its code in .mlir and Python, and its time beside a peer's."""

import re
import subprocess
import sys


def write(root, folder, tools):
    folder.mkdir(parents=True)
    sys.path.insert(0, str(root / "benchmarks"))
    import results  # what docs/performance.md is made of

    rows = {}
    for data in results.newest():
        for row in data["rows"]:
            rows.setdefault(row["program"], []).append((data["card"], row))
    lines = ["# Gallery\n", "Programs of `examples/`: each compiles for CPUs and GPUs, in `.mlir` and in Python.\n", "| program | what it is |", "|---|---|"]
    for file in sorted((root / "examples").glob("*.mlir")):
        name = file.stem
        words, code = _parts(file.read_text())
        lines.append(f"| [{name.replace('_', ' ')}]({name}.md) | {_first(words)} |")
        (folder / f"{name}.md").write_text(_page(root, folder, tools, name, words, code, rows.get(name, [])))
    (folder / "index.md").write_text("\n".join(lines) + "\n")


def _parts(text):
    """The comment at the head of a program, and the rest."""
    head = re.match(r"(?:^//.*\n)+", text, re.M)
    words = "\n".join(re.sub(r"^// ?", "", line) for line in head.group(0).splitlines()) if head else ""
    return words, text[head.end():].strip() if head else text


def _first(words):
    return " ".join(words.split("\n\n")[0].split()).replace("|", "\\|")


def _page(root, folder, tools, name, words, code, rows):
    out = [f"# {name.replace('_', ' ').capitalize()}\n", words.replace("<", "&lt;") + "\n"]
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
