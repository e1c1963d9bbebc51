"""weaken.py TOOLS FILE...: cuts graphs into kernels by each mode and makes one edge too weak at a time.

The validator refuses each of them, and takes the graphs as they are. Prints how many edges there were.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

WEAKER = {"grid": "block", "kernel": "grid"}
EDGE = re.compile(r"(#etdg\.edge<from = \d+, to = \d+, kind = )(grid|kernel)(>)")
tools, files = pathlib.Path(sys.argv[1]), sys.argv[2:]


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def refused(texts):
    """Which of the programs the validator refuses for an edge."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "programs.mlir"
        file.write_text("\n// -----\n".join(texts))
        begins, line = [], 1
        for text in texts:
            begins.append(line)
            line += text.count("\n") + 2
        done = run(tools / "ft-opt", file, "--split-input-file", "--etdg-validate=reproducer=none", "-o", pathlib.Path(folder) / "out.mlir")
        lines = [int(n) for n in re.findall(r"programs\.mlir:(\d+):\d+: error: .*\(T14\)", done.stderr)]
        found = {max(i for i, begin in enumerate(begins) if begin <= n) for n in lines}
        if done.returncode and not lines:
            sys.exit(done.stderr[:2000])
        return found


count = 0
for path in files:
    for mode in ("boundary", "souffle", "cost"):
        cut = run(tools / "ft-opt", path, f"--ft-compile=to=partition target=sm_90a partition={mode}")
        if cut.returncode:
            sys.exit(cut.stderr)
        weak = [cut.stdout[: m.start()] + m[1] + WEAKER[m[2]] + m[3] + cut.stdout[m.end() :] for m in EDGE.finditer(cut.stdout)]
        if not weak:
            continue
        if refused([cut.stdout]):
            sys.exit(f"{path} {mode}: refused as it is")
        for number in sorted(set(range(len(weak))) - refused(weak)):
            sys.exit(f"{path} {mode}: edge {number} is weaker and is taken")
        count += len(weak)
print(f"{count} edges, each refused where it is weaker")
