#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes docs/performance.md, the rows of README.md and their plots from the newest measurements of each machine.

    benchmarks/results.py [--check]

A file `benchmarks/results/<date>-<machine>.json` holds one run on one machine: `card`, `date`, `commit`, `command`, `peers`, and `rows`.
A row has `program`, `sizes`, `type`, `ours_us` and `peer_us` (microseconds a call), and `peer` (its name). Where they are known it has `floor_us`
(the time of arithmetic or memory alone), `reason` (why the peer is faster) and a `command` of its own. Ratios are the peer's time over
ours: above 1 ours is faster. Only numbers of one file compare: they are of one card in one run.

--check fails where a page or a plot (docs/plots) is not what the files give.
"""

import argparse
import json
import pathlib
import sys

import plots

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks/results"
PAGE = ROOT / "docs/performance.md"
# Tables of papers' own figures have a page of their own.
FIGURES = ROOT / "docs/history/figures.md"
PLOTS = ROOT / "docs/plots"
README = ROOT / "README.md"
BEGIN, END = "<!-- measured: benchmarks/results.py -->", "<!-- end -->"
# The rows of README.md: machine, program, sizes, type. CPUs first, which each reader has.
FIRST = [("epyc-2", "retention", "N16 H16 L64", "f32"), ("epyc-2", "gru", "B1 H256 L64", "f32"), ("epyc-2", "stacked_lstm", "B16 H256 L64 D8", "f32"),
         ("h200-models", "mamba", "N256 L512", "f16"), ("h200-wavefronts", "grid_rnn", "B256 32x32 D4 H256", "f16"),
         ("h200-models", "product", "4096x4096x4096", "f16"), ("h200-wavefronts", "stacked_lstm", "B256 H512 L64 D32", "f16")]
FIELDS = {"machine", "card", "date", "commit", "command", "peers", "rows"}
ROW = {"program", "sizes", "type", "ours_us", "peer", "peer_us"}
OPTIONAL = {"floor_us", "reason", "command"}


class BadResults(Exception):
    pass


def read(path):
    """One file of measurements, with the ratio of each row."""
    data = json.loads(path.read_text())
    if data.keys() != FIELDS:
        raise BadResults(f"{path.name}: expected the fields {', '.join(sorted(FIELDS))}, found {', '.join(sorted(data))}")
    if path.name != f"{data['date']}-{data['machine']}.json":
        raise BadResults(f"{path.name}: expected the name {data['date']}-{data['machine']}.json, which its date and machine give")
    for number, row in enumerate(data["rows"], 1):
        if not ROW <= row.keys() <= ROW | OPTIONAL:
            raise BadResults(f"{path.name}: row {number}: expected {', '.join(sorted(ROW))} and perhaps "
                             f"{', '.join(sorted(OPTIONAL))}, found {', '.join(sorted(row))}")
        if not (row["ours_us"] > 0 and row["peer_us"] > 0):
            raise BadResults(f"{path.name}: row {number}: expected times above 0, found {row['ours_us']} and {row['peer_us']}")
        row["ratio"] = row["peer_us"] / row["ours_us"]
    return data


def newest():
    """The newest file of each machine, by machine."""
    found = {}
    for path in sorted(RESULTS.glob("*.json")):
        data = read(path)
        found[data["machine"]] = data
    return [found[machine] for machine in sorted(found)]


def grouped(rows):
    """Rows of one program and size, a column for each type; slowest first, by the worst ratio of the three."""
    groups = {}
    for row in rows:
        groups.setdefault((row["program"], row["sizes"]), []).append(row)
    return sorted(groups.items(), key=lambda item: min(row["ratio"] for row in item[1]))


def time(us):
    return f"{us / 1000:.3g} ms" if us >= 10000 else f"{us:.4g}"


def table(data):
    lines = ["| program | sizes | type | ours | peer | its time | floor | peer / ours |", "|---|---|---|---|---|---|---|---|"]
    for (program, sizes), rows in grouped(data["rows"]):
        lines.append(" | ".join([
            f"| `{program}`", sizes, ", ".join(row["type"] for row in rows), ", ".join(time(row["ours_us"]) for row in rows),
            "; ".join(dict.fromkeys(row["peer"] for row in rows)), ", ".join(time(row["peer_us"]) for row in rows),
            ", ".join(time(row["floor_us"]) for row in rows if "floor_us" in row), ", ".join(f"**{row['ratio']:.2f}**" if row["ratio"] < 1 else
                                                                                       f"{row['ratio']:.2f}" for row in rows) + " |"]))
    return lines


def reasons(data):
    """Why the peer is faster, a line for each reason."""
    found = {}
    for (program, sizes), rows in grouped(data["rows"]):
        for row in rows:
            if row["ratio"] < 1 and row.get("reason"):
                found.setdefault(row["reason"], {})[f"`{program}`"] = None
    return [f"- {', '.join(programs)}: {reason}." for reason, programs in found.items()]


def is_of_paper(data):
    return data["machine"].endswith("-papers")


def page(files):
    lines = ["# Performance", "",
             "This page is made by `benchmarks/results.py` from `benchmarks/results/`. Times are microseconds a call unless a unit is given.",
             "The last column is the peer's time over ours: above 1 ours is faster, and rows below 1 stand in bold, slowest first.",
             "Only numbers of one table compare: they are of one card in one run.",
             "How they came about, and what did not help: [history/performance.md](history/performance.md). Figures of papers: [history/figures.md](history/figures.md).", ""]
    return tables(lines, [data for data in files if not is_of_paper(data)], "plots")


def figures(files):
    lines = ["# Figures of papers", "",
             "This page is made by `benchmarks/results.py` from `benchmarks/results/`, as [performance.md](../performance.md) is. The commands are",
             "`benchmarks/run.py fractaltensor` and `benchmarks/run.py souffle`.", ""]
    return tables(lines, [data for data in files if is_of_paper(data)], "../plots")


def tables(lines, files, plots_at):
    for data in files:
        lines += [f"## {data['card'][0].upper() + data['card'][1:]}, {data['date']}, `{data['machine']}`", "",
                  f"Commit {data['commit']}; `{data['command']}`; peers: {data['peers']}.", "",
                  f"![Time of the peer over ours, by program]({plots_at}/{data['machine']}.svg)", ""]
        lines += table(data)
        if found := reasons(data):
            lines += ["", "Why the peer is faster:", "", *found]
        commands = dict.fromkeys(row["command"] for row in data["rows"] if "command" in row)
        if commands:
            lines += ["", "Commands: " + ", ".join(f"`{command}`" for command in commands) + "."]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def first(files):
    """(measurements, row) of each of README.md's rows."""
    by_machine = {data["machine"]: data for data in files}
    for machine, program, sizes, element in FIRST:
        data = by_machine[machine]
        row = next((row for row in data["rows"] if (row["program"], row["sizes"], row["type"]) == (program, sizes, element)), None)
        if row is None:
            raise BadResults(f"{machine}: README.md shows {program} {sizes} {element}, of which the newest file has no row")
        yield data, row


def readme(files, text):
    """README.md with the rows of FIRST between its two marks."""
    lines = ["| program | sizes | type | machine | ours | peer | its time | peer / ours |", "|---|---|---|---|---|---|---|---|"]
    for data, row in first(files):
        lines.append(f"| `{row['program']}` | {row['sizes']} | {row['type']} | {data['card']} | {time(row['ours_us'])} | {row['peer']} | {time(row['peer_us'])} | {row['ratio']:.2f} |")
    before, _, rest = text.partition(BEGIN)
    return "".join([before, BEGIN, "\n", "\n".join(lines), "\n", END, rest.partition(END)[2]])


def words(row):
    """What the plot says of a row to a pointer."""
    return f"{row['type']}: ours {time(row['ours_us'])}, {row['peer']} {time(row['peer_us'])} (us where no unit is given)"


def drawn(files):
    """{file: SVG}: a plot for each machine, of the worst type of each program, and one of README.md's rows."""
    short = {data["machine"]: "CPU" if "cores" in data["card"] else data["card"].split()[-1] for data in files}
    found = {PLOTS / "first.svg": plots.bars([(f"{row['program']} {row['sizes']}, {short[data['machine']]}", row["ratio"], words(row)) for data, row in first(files)],
                                             "Measured beside peers")}
    for data in files:
        rows = [(min(rows, key=lambda row: row["ratio"]), f"{program} {sizes}") for (program, sizes), rows in grouped(data["rows"])]
        found[PLOTS / f"{data['machine']}.svg"] = plots.bars([(name, row["ratio"], words(row)) for row, name in rows], f"{data['card']}, {data['date']}")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail where a page or a plot is not what the files give")
    options = parser.parse_args()
    try:
        files = newest()
        pages = {PAGE: page(files), FIGURES: figures(files), README: readme(files, README.read_text()), **drawn(files)}
    except BadResults as error:
        sys.exit(f"benchmarks/results: {error}")
    for path, text in pages.items():
        if not options.check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            sys.exit(f"{path.relative_to(ROOT)} is not what benchmarks/results gives: run benchmarks/results.py")


if __name__ == "__main__":
    main()
