# UNSUPPORTED: sanitized
# (A plugin with AddressSanitizer cannot be loaded by a program without it.)
# The distribution's own mlir-opt canonicalizes what the phase `tile` prints of each example. The rest of the compiler accepts it, for each
# target, and what our dialects say of operations is still there.
#
# RUN: %python %s %ft_bin %ft_lib %llvm_bin %examples | FileCheck %s
# CHECK: {{^}}18 examples for cpu, sm_90a: all accepted, all decisions kept
"""Runs `ft-opt to=tile | mlir-opt --canonicalize --cse | ft-opt from=tile to=target`, and compares decisions before and after mlir-opt."""

import collections
import pathlib
import re
import subprocess
import sys

tools, libraries, llvm, examples = (pathlib.Path(argument) for argument in sys.argv[1:])
TARGETS = {"cpu": "target=cpu machine=cpu", "sm_90a": "target=sm_90a"}
# A place of memory prints without the name of its attribute.
DECISION = re.compile(r"#(?:loops|tile|etdg)\.\w+(?=[<\w]?)|\bloops\.(?:alloc|sync|commit|wait|staged|leaf|chunks)\b|"
                      r"\bloops\.(?:joined|syncs|kept|row_loops|guards|rounds_last|constant|grid|shared)\b")


def run(command, text=""):
    done = subprocess.run([str(part) for part in command], input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\ngave {done.returncode}: {done.stderr[:1000]}")
    return done.stdout


def bracketed(text, at):
    """The attribute's parameters that begin at `at`, with what is nested in them."""
    depth = 0
    for end in range(at, len(text)):
        depth += {"<": 1, "[": 1, ">": -1, "]": -1}.get(text[end], 0)
        if depth == 0:
            return text[at:end + 1]
    return ""


def decisions(text):
    """How often each decision stands in a text, and how many memories lie in each place."""
    found = collections.Counter()
    for match in DECISION.finditer(text):
        follows = text[match.end():match.end() + 1]
        found[match.group() + (bracketed(text, match.end()) if follows == "<" else "")] += 1
    found.update(place.group(1) for place in re.finditer(r"loops\.alloc [^\n]*?( in <[^>]*>)? :", text))
    return found


def check(example, target, options):
    before = run([tools / "ft-opt", f"--ft-compile=to=tile {options}", example])
    after = run([llvm / "mlir-opt", f"--load-dialect-plugin={libraries}/FractalTensorPlugin.so", "--canonicalize", "--cse", "-"], before)
    run([tools / "ft-opt", f"--ft-compile=from=tile to=target {options}", "-"], after)
    changed = {what: (count, decisions(after)[what]) for what, count in decisions(before).items() if decisions(after)[what] != count}
    return [f"{example.name}, {target}: {what}: {was} before, {now} after" for what, (was, now) in changed.items()]


programs = sorted(examples.glob("*.mlir"))
lost = [line for target, options in TARGETS.items() for example in programs for line in check(example, target, options)]
print("\n".join(lost) or f"{len(programs)} examples for {', '.join(TARGETS)}: all accepted, all decisions kept")
sys.exit(bool(lost))
