#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants faults into the compiler, one at a time, and says which the tests notice.

scripts/mutants.py [--list] [--check] [--keep] [NAME...]

Each file of scripts/mutants/ is a fault: what is wrong, the file it is in (by its name alone, as folders
move), the text that is there, the text that takes its place, and the tests that should fail with it. The
faults are planted into a copy of the tree, build-mutants/tree, with a build folder of its own; the sources
and the build of this tree stay as they are. Exit status 0 only if every fault was noticed.

  --list    what there is
  --check   only that each fault's text is found once in this tree
  --keep    leave build-mutants/ for the next run, which then compiles less
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "scripts/mutants"
TREE = ROOT / "build-mutants/tree"
LIT = "/usr/lib/llvm-22/bin/lit"


class Mutant:
    """`fault`, `file`, `tests` from the head; the texts behind `--- old` and `--- new`."""

    def __init__(self, path):
        self.name = path.stem
        head, rest = path.read_text().split("--- old\n")
        self.old, self.new = (text.rstrip("\n") for text in rest.split("--- new\n"))
        for key in ("fault", "file", "tests"):
            setattr(self, key, re.search(rf"(?m)^{key}: (.*)$", head)[1])

    def place(self, root):
        """The file that the text is in; an error where it is not there once."""
        found = [p for p in root.glob(f"lib/**/{self.file}") if self.old in p.read_text()]
        if len(found) != 1 or found[0].read_text().count(self.old) != 1:
            sys.exit(f"{self.name}: its text is not found once in a file {self.file} of lib/: the code has changed; mend the fault")
        return found[0]


def run(command, cwd, quiet=True):
    return subprocess.run(command, cwd=cwd, capture_output=quiet, text=True, errors="replace")


def build(targets):
    done = run(["ninja", "-C", "build", *targets], TREE)
    if done.returncode:
        print(done.stdout[-4000:])
    return done.returncode == 0


def copy_tree():
    """The tracked and the new files of this tree, where they differ from the copy."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).stdout
    files = [f for f in listed.split("\0") if f and (ROOT / f).is_file()]
    for name in files:
        source, target = ROOT / name, TREE / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for old in set(p for p in TREE.glob("lib/**/*.cpp")) - {TREE / f for f in files}:
        old.unlink()
    if not (TREE / "build/build.ninja").exists() and run(["cmake", "--preset", "default"], TREE, quiet=False).returncode:
        sys.exit("the copy cannot be configured")


def targets_of(tests):
    found = {"ft-opt", "ft-run", "ft-translate"}
    for test in tests.split(","):
        kind, _, what = test.strip().partition(" ")
        found |= {what.split()[0]} if kind == "unit" else {"ft-fuzz"} if kind == "fuzz" else set()
    return sorted(found)


def noticed_by(tests):
    """The first test that fails; `unit BINARY FILTER`, `lit FILTER` or `fuzz OPTIONS`."""
    for test in tests.split(","):
        kind, _, what = test.strip().partition(" ")
        if kind == "unit":
            binary, _, which = what.partition(" ")
            command = [f"build/unittests/{binary}", "--gtest_brief=1", f"--gtest_filter={which or '*'}"]
        elif kind == "lit":
            command = [sys.executable, LIT, "-q", "build/test", "--filter", what]
        else:
            command = ["build/bin/ft-fuzz", *what.split()]
        if run(command, TREE).returncode:
            return test.strip()
    return None


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    mutants = [Mutant(p) for p in sorted(FOLDER.glob("*.mutant")) if not names or p.stem in names]
    if not mutants or set(options) - {"--list", "--check", "--keep"}:
        sys.exit(__doc__)
    for mutant in mutants:
        if "--list" in options:
            print(f"{mutant.name:28} {mutant.fault} ({mutant.tests})")
        mutant.place(ROOT)
    if "--list" in options or "--check" in options:
        return print(f"{len(mutants)} faults, each found once")
    copy_tree()
    everything = sorted({t for m in mutants for t in targets_of(m.tests)})
    if not build(everything):
        sys.exit("the tree without a fault does not build")
    for tests in sorted({m.tests for m in mutants}):
        if noticed := noticed_by(tests):
            sys.exit(f"'{noticed}' fails without a fault")
    survived = 0
    for mutant in mutants:
        place = mutant.place(TREE)
        whole = place.read_text()
        place.write_text(whole.replace(mutant.old, mutant.new))
        try:
            noticed = noticed_by(mutant.tests) if build(everything) else "the build, which fails: no fault was planted"
        finally:
            place.write_text(whole)
        survived += noticed is None or "build" in noticed
        print(f"{mutant.name:28} {'noticed by ' + noticed if noticed else 'SURVIVES'}: {mutant.fault}", flush=True)
    print(f"{len(mutants)} faults, {survived} survive")
    if "--keep" not in options:
        shutil.rmtree(TREE.parent)
    sys.exit(1 if survived else 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
