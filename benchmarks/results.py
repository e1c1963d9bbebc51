#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes docs/performance.md, and the rows of README.md, from the newest measurements of each machine.

    benchmarks/results.py [--check] [--plot]

A file `benchmarks/results/<date>-<machine>.json` holds one run on one machine: `card`, `date`, `commit`, `command`, `peers`, and `rows`.
A row has `program`, `sizes`, `type`, `ours_us` and `peer_us` (microseconds a call), and `peer` (its name). Where they are known it has `floor_us`
(the time of arithmetic or memory alone), `reason` (why the peer is faster) and a `command` of its own. Ratios are the peer's time over
ours: above 1 ours is faster. Only numbers of one file compare: they are of one card in one run.

--check fails where the page is not what the files give. --plot draws docs/performance.svg, too, and needs matplotlib.
"""

import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks/results"
PAGE = ROOT / "docs/performance.md"
PLOT = ROOT / "docs/performance.svg"
README = ROOT / "README.md"
BEGIN, END = "<!-- measured: benchmarks/results.py -->", "<!-- end -->"
# The rows of README.md: machine, program, sizes, type.
FIRST = [("h200-wavefronts", "grid_rnn", "B256 32x32 D4 H256", "f16"), ("h200-wavefronts", "stacked_lstm", "B256 H512 L64 D32", "f16"),
         ("h200-models", "mamba", "N256 L512", "f16"), ("h200-models", "product", "4096x4096x4096", "f16"), ("epyc-2", "retention", "N16 H16 L64", "f32"),
         ("epyc-2", "stacked_lstm", "B16 H256 L64 D8", "f32")]
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


def page(files):
    lines = ["# Performance", "",
             "This page is made by `benchmarks/results.py` from `benchmarks/results/`. Times are microseconds a call unless a unit is given.",
             "The last column is the peer's time over ours: above 1 ours is faster, and rows below 1 stand in bold, slowest first.",
             "Only numbers of one table compare: they are of one card in one run.", "How they came about, and what did not help: [history/performance.md](history/performance.md).", "",
             "![Time of the best peer over ours, by program](performance.svg)", ""]
    for data in files:
        lines += [f"## {data['card'][0].upper() + data['card'][1:]}, {data['date']}, `{data['machine']}`", "",
                  f"Commit {data['commit']}; `{data['command']}`; peers: {data['peers']}.", ""]
        lines += table(data)
        if found := reasons(data):
            lines += ["", "Why the peer is faster:", "", *found]
        commands = dict.fromkeys(row["command"] for row in data["rows"] if "command" in row)
        if commands:
            lines += ["", "Commands: " + ", ".join(f"`{command}`" for command in commands) + "."]
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def readme(files, text):
    """README.md with the rows of FIRST between its two marks."""
    by_machine = {data["machine"]: data for data in files}
    lines = ["| program | sizes | type | machine | ours | peer | its time | peer / ours |", "|---|---|---|---|---|---|---|---|"]
    for machine, program, sizes, element in FIRST:
        data = by_machine[machine]
        row = next((row for row in data["rows"] if (row["program"], row["sizes"], row["type"]) == (program, sizes, element)), None)
        if row is None:
            raise BadResults(f"{machine}: README.md shows {program} {sizes} {element}, of which the newest file has no row")
        lines.append(f"| `{program}` | {sizes} | {element} | {data['card']} | {time(row['ours_us'])} | {row['peer']} | {time(row['peer_us'])} | {row['ratio']:.2f} |")
    before, _, rest = text.partition(BEGIN)
    return "".join([before, BEGIN, "\n", "\n".join(lines), "\n", END, rest.partition(END)[2]])


def plot(files):
    import matplotlib
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fractaltensor"
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(1, len(files), figsize=(5 * len(files), 6.5), constrained_layout=True)
    for axis, data in zip(axes if len(files) > 1 else [axes], files):
        rows = sorted(((min(rows, key=lambda row: row["ratio"]), name) for name, rows in grouped(data["rows"])), key=lambda pair: pair[0]["ratio"])
        axis.barh([f"{program} {sizes}" for _, (program, sizes) in rows], [row["ratio"] - 1 for row, _ in rows], left=1, height=0.6,
                  color=["#c0504d" if row["ratio"] < 1 else "#4f81bd" for row, _ in rows])
        axis.set_xscale("log")
        axis.set_xlim(min(0.5, *(row["ratio"] for row, _ in rows)) / 1.2, max(2, *(row["ratio"] for row, _ in rows)) * 1.2)
        axis.set_xticks([tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50) if axis.get_xlim()[0] < tick < axis.get_xlim()[1]], minor=False)
        axis.xaxis.set_major_formatter("{x:g}")
        axis.xaxis.set_minor_formatter("")
        axis.axvline(1, color="black", linewidth=0.8)
        axis.tick_params(axis="y", labelsize=6)
        axis.set_title(f"{data['card']}, {data['date']}", fontsize=8)
        axis.set_xlabel("best peer's time / ours (worst type; above 1 ours is faster)", fontsize=7)
    figure.savefig(PLOT, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="fail where docs/performance.md is not what the files give")
    parser.add_argument("--plot", action="store_true", help="draw docs/performance.svg, too (needs matplotlib)")
    options = parser.parse_args()
    try:
        files = newest()
        pages = {PAGE: page(files), README: readme(files, README.read_text())}
    except BadResults as error:
        sys.exit(f"benchmarks/results: {error}")
    for path, text in pages.items():
        if not options.check:
            path.write_text(text)
        elif path.read_text() != text:
            sys.exit(f"{path.relative_to(ROOT)} is not what benchmarks/results gives: run benchmarks/results.py")
    if options.check:
        return
    if options.plot:
        plot(files)


if __name__ == "__main__":
    main()
