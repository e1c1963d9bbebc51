#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of passes by phase, docs/passes.md, from the lists of lib/Pipelines and the definitions of the passes.

    passes.py [--bin=build/bin] [--check]

Asks ft-opt which passes each phase of each target runs. Operation, summary, the fields `reads` and `writes` and the
paper's section come from a pass's record in a Passes.td. `--check` writes nothing, and fails where the page is another one.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/passes.md"
TARGETS = {"cpu": "CPU", "sm_90a": "GPU"}
UPSTREAM = {"canonicalize": ("any", "MLIR's canonicalisation", "all operations", "fewer operations", ""),
            "cse": ("any", "MLIR's common subexpression elimination", "all operations", "fewer operations", "")}
# A pass that C++ alone defines has no record.
WRAPPED = {"etdg-explore-dataflow": ("access maps, the machine's buffers", "`schedule`")}
# They observe a compilation and change no program.
OBSERVERS = ("ft-verify-phase", "ft-dump-phase", "ft-skip-phase", "etdg-validate-phase", "etdg-take-snapshots",
             "etdg-drop-snapshots", "etdg-validation-off", "validate-launches")
PAPERS = re.compile(r"\b(?:FT|TensorSSA(?:, DAC'24)?|DAT|Souffle) §[\d.]+(?:–[\d.]+)?")
HEAD = """# Passes by phase

<!-- Made by scripts/passes.py from lib/Pipelines and the passes' definitions: change those. -->

What each phase runs, in this order, for each target. All users of the compiler run these lists (`lib/Pipelines/Targets.cpp`,
`Phases.cpp`): `ft-opt --ft-compile`, `ft-run`, bundles, the C interface, Python and the fuzzer. The option `--mlir-print-ir-after-all`
of `ft-run` prints after each pass, and `--mlir-timing` measures them. Each phase up to `storage` is followed by its contract (`ft-verify-phase`) and its proof
(`etdg-validate-phase`, [validator.md](validator.md)), which change nothing and are left out here.

"""


def records():
    """argument of a pass: (operation, summary, what it reads, what it writes, sections of papers)."""
    found = {}
    texts = [path.read_text() for path in sorted((ROOT / "include").rglob("*.td"))]
    # A class of passes may say what they run on.
    anchors = {name: anchor for text in texts
               for name, anchor in re.findall(r'^class (\w+)<[^>]*>\s*:\s*Pass<\s*\w+\s*,\s*"([\w:]+)"', text, re.M)}
    for whole in texts:
        for text in re.split(r"^(?=def |class )", whole, flags=re.M):
            head = re.match(r'def \w+\s*:\s*(\w+)<\s*"([\w-]+)"(?:,\s*"([\w:]+)")?', text)
            summary = re.search(r'let summary = "([^"]*)"', text)
            if head and summary:
                operation = (head.group(3) or anchors.get(head.group(1), "any")).split("::")[-1]
                facts = [re.search(rf'^  string {field} = "([^"]*)"', text, re.M) for field in ("reads", "writes")]
                found[head.group(2)] = (operation, summary.group(1), *(fact.group(1) if fact else None for fact in facts),
                                        ", ".join(dict.fromkeys(PAPERS.findall(text))))
    for path in sorted((ROOT / "lib").rglob("*.cpp")):
        for text in re.findall(r"PassWrapper<.*?getDescription.*?\}", path.read_text(), re.S):
            name, summary = re.search(r'getArgument\(\)[^"]*"([\w-]+)"', text), re.search(r'getDescription\(\)[^{]*\{\s*return ((?:"[^"]*"\s*)+);', text)
            operation = re.search(r"OperationPass<([\w:]+)>", text)
            if name and summary:
                found[name.group(1)] = (operation.group(1).split("::")[-1] if operation else "any",
                                        "".join(re.findall(r'"([^"]*)"', summary.group(1))), *WRAPPED.get(name.group(1), (None, None)), "")
    return found


def phases(bin, target):
    """(phase, its passes) of a target in their order."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([bin / "ft-opt", f"--ft-compile=target={target} dump={folder}", "--dump-pass-pipeline", "-o", os.devnull],
                              input="module {}", capture_output=True, text=True, check=True)
    passes, found = [], []
    for line in done.stderr.splitlines():
        name = re.match(r"\s+([a-z][\w-]*)(?:\{(.*)\})?,?$", line)
        if name and name.group(1) == "ft-dump-phase":
            found.append((re.search(r"phase=(\w+)", name.group(2)).group(1), passes))
            passes = []
        elif name and name.group(1) not in OBSERVERS:
            passes.append(name.group(1))
    return found


def page(bin):
    known, text = records(), HEAD
    lists = {target: phases(bin, target) for target in TARGETS}
    for number, (phase, passes) in enumerate(lists["cpu"]):
        rows = []
        others = lists["sm_90a"][number][1]
        same = passes == others
        for target, names in ((("both", passes),) if same else ((TARGETS[t], lists[t][number][1]) for t in TARGETS)):
            for name in names:
                operation, summary, reads, writes, papers = known.get(name) or UPSTREAM[name]
                if not reads or not writes:
                    sys.exit(f"{name}: expected fields `reads` and `writes` in its record, found none")
                rows.append(f"| {target} | `{name}` | {operation} | {summary} | {reads} | {writes} | {papers} |\n")
        if rows:
            text += f"## {phase}\n\n| target | pass | runs on | what it does | reads | writes | paper |\n|---|---|---|---|---|---|---|\n" + "".join(rows) + "\n"
    return text.rstrip() + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    made = page(options.bin.resolve())
    if not options.check:
        PAGE.write_text(made)
    elif PAGE.read_text() != made:
        sys.exit(f"{PAGE.relative_to(ROOT)} is not what scripts/passes.py makes: run it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
