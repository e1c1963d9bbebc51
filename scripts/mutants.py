#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plants faults into the compiler, one at a time, and says which the tests notice.

scripts/mutants.py [--list] [--check] [--clean] [--keep] [--here] [--table[=FILE]] [NAME...]

Each file of test/Mutants/ is a fault. It has what is wrong, the path of the faulty file, the text there and the text that
takes its place (wherever lines break). It also names the tests that should fail with it. It lies in the
folder of its area, as the sources do. The faults are planted into a copy of the tree, build-mutants/tree, with a build folder
of its own; the sources and the build of this tree stay as they are. Exit status 0 only if every fault was
noticed, save those that say why they change nothing.

  --list    what there is
  --check   only that each fault's text is found once in this tree, and that each test that it names is there
  --clean   only that the tests pass without a fault
  --keep    leave build-mutants/ for the next run, which then compiles less
  --here    no copy: into this tree and its build folder, which are put back after each fault
  --table   write FILE (build/docs/faults.md): each fault, where it is, and the tests that are to notice it
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "test/Mutants"
COPY = ROOT / "build-mutants/tree"
LIT = "/usr/lib/llvm-22/bin/lit"
TABLE = ROOT / "build/docs/faults.md"
HEAD = "# Planted faults\n\nWhat scripts/mutants.py plants (docs/testing.md).\n"
COLUMNS = "| fault | where | tests that are to notice it |\n|---|---|---|\n"
# Seconds, and those of a processor, after which a test has noticed a fault by never ending.
HANGS, HANGS_CPU = 900, 120


def pattern(text):
    """The text, however it is broken into lines and indented."""
    tokens = re.findall(r"\w+|[^\w\s]", text)
    parts = [re.escape(tokens[0])]
    for before, token in zip(tokens, tokens[1:]):
        words = re.match(r"\w", before[-1]) and re.match(r"\w", token)
        parts.append((r"\s+" if words else r"\s*") + re.escape(token))
    return re.compile("".join(parts))


class Mutant:
    """`fault`, `file`, `tests` and perhaps `equivalent` from the head; texts after `--- old` and `--- new`."""

    def __init__(self, path):
        self.name, self.area = path.stem, path.parent.relative_to(FOLDER).as_posix()
        head, *pairs = re.split(r"(?m)^--- old *(.*)\n", path.read_text())
        for key in ("fault", "file", "tests", "equivalent"):
            found = re.search(rf"(?m)^{key}: (.*)$", head)
            setattr(self, key, found[1] if found else "")
        self.edits = []  # file, old, new
        for file, text in zip(pairs[::2], pairs[1::2]):
            old, new = text.split("--- new\n")
            self.edits.append((file or self.file, pattern(old), new.rstrip("\n")))

    def places(self, root):
        """Each file with the text that it gets; an error where the old one is not there once."""
        planted = {}
        for file, old, new in self.edits:
            path = root / file
            text = planted.get(path) or (path.read_text() if path.is_file() else "")
            if len(old.findall(text)) != 1:
                sys.exit(f"{self.name}: its text is not found once in {file}: the code has changed; mend the fault")
            planted[path] = old.sub(lambda _: new, text)
        return planted

    def check_tests(self, names):
        """An error where a filter of lit's finds no test."""
        for test in self.tests.split(","):
            kind, _, what = test.strip().partition(" ")
            if kind == "lit" and not any(re.search(what, name) for name in names):
                sys.exit(f"{self.name}: no test is called '{what}'")


def run(command, cwd, quiet=True):
    return subprocess.run(command, cwd=cwd, capture_output=quiet, text=True, errors="replace")


def limited():
    resource.setrlimit(resource.RLIMIT_CPU, (HANGS_CPU, HANGS_CPU + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def fails(command, cwd):
    """Whether it fails or never ends."""
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
                          preexec_fn=limited) as process:
        try:
            return process.wait(timeout=HANGS) != 0
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return True


def build(tree, targets):
    done = run(["ninja", "-C", "build", *targets], tree)
    if done.returncode:
        print(done.stdout[-4000:])
    return done.returncode == 0


def copy_tree():
    """The tracked and the new files of this tree, where they differ from the copy."""
    listed = run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], ROOT).stdout
    files = [f for f in listed.split("\0") if f and (ROOT / f).is_file()]
    for name in files:
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
    for old in set(p for p in COPY.glob("lib/**/*.cpp")) - {COPY / f for f in files}:
        old.unlink()
    if not (COPY / "build/build.ninja").exists() and run(["cmake", "--preset", "default"], COPY, quiet=False).returncode:
        sys.exit("the copy cannot be configured")


def targets_of(tests):
    found = {"ft-opt", "ft-run", "ft-translate"}
    for test in tests.split(","):
        kind, _, what = test.strip().partition(" ")
        found |= {what.split()[0]} if kind == "unit" else {"ft-fuzz"} if kind == "fuzz" else set()
    return sorted(found)


def noticed_by(tree, tests):
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
        if fails(command, tree):
            return test.strip()
    return None


def try_one(mutant, tree):
    """`noticed by ...`, `SURVIVES`, or why it says nothing."""
    planted = mutant.places(tree)
    whole = {path: path.read_text() for path in planted}
    for path, text in planted.items():
        path.write_text(text)
    try:
        if not build(tree, targets_of(mutant.tests)):
            return "DOES NOT BUILD"
        noticed = noticed_by(tree, mutant.tests)
    finally:
        for path, text in whole.items():
            path.write_text(text)
    if mutant.equivalent:
        return "IS NOTICED, though it should change nothing" if noticed else "changes nothing: " + mutant.equivalent
    return "noticed by " + noticed if noticed else "SURVIVES"


def table(mutants):
    """A page with a table for each area, and a row for each fault."""
    page, area = [HEAD], None
    for mutant in sorted(mutants, key=lambda m: (m.area, m.name)):
        tests = ", ".join("`" + test.strip().replace("|", "&#124;") + "`" for test in mutant.tests.split(","))
        shown = "changes nothing: " + mutant.equivalent if mutant.equivalent else tests
        page += [f"\n## {mutant.area}\n\n{COLUMNS}"] if mutant.area != area else []
        page.append(f"| `{mutant.name}`: {mutant.fault} | `{mutant.edits[0][0]}` | {shown} |\n")
        area = mutant.area
    return "".join(page)


def check_clean(mutants, tree):
    """The number of tests, all of which pass without a fault."""
    if not build(tree, sorted({t for m in mutants for t in targets_of(m.tests)})):
        sys.exit("the tree without a fault does not build")
    tests = sorted({test.strip() for m in mutants for test in m.tests.split(",")})
    for test in tests:
        if noticed_by(tree, test):
            sys.exit(f"'{test}' fails without a fault")
    return len(tests)


def run_all(mutants, tree, kept, known):
    """Each fault in turn; what became of it, by name, and into the file of earlier results."""
    check_clean(mutants, tree)
    results = {}
    for mutant in mutants:
        start = time.monotonic()
        results[mutant.name] = try_one(mutant, tree)
        kept.write_text(json.dumps({**known, **results}, indent=1))
        print(f"{mutant.name:28} {results[mutant.name]} ({time.monotonic() - start:.0f} s): {mutant.fault}", flush=True)
    build(tree, sorted({t for m in mutants for t in targets_of(m.tests)}))
    return results


def main():
    options = [a for a in sys.argv[1:] if a.startswith("--")]
    names = [a for a in sys.argv[1:] if not a.startswith("--")]
    written = next((pathlib.Path(o.split("=", 1)[1]) for o in options if o.startswith("--table=")), TABLE)
    options = [o.split("=")[0] if o.startswith("--table=") else o for o in options]
    mutants = [Mutant(p) for p in sorted(FOLDER.rglob("*.mutant"), key=lambda p: p.stem) if not names or p.stem in names]
    if not mutants or set(names) - {m.name for m in mutants} or set(options) - {"--list", "--check", "--clean", "--keep", "--here", "--table"}:
        sys.exit(__doc__)
    kept = ROOT / "build/mutants.json"
    known = json.loads(kept.read_text()) if kept.exists() else {}
    if "--table" in options:
        written.parent.mkdir(parents=True, exist_ok=True)
        written.write_text(table(mutants))
        return None
    tests = [f"FractalTensor :: {p.relative_to(ROOT / 'test').as_posix()}" for p in sorted((ROOT / "test").rglob("*")) if p.is_file()]
    for mutant in mutants:
        if "--list" in options:
            print(f"{mutant.name:28} {mutant.fault} ({mutant.tests})")
        mutant.places(ROOT)
        mutant.check_tests(tests)
    if "--list" in options or "--check" in options:
        return print(f"{len(mutants)} faults, each found once, with its tests")
    here = "--here" in options
    if not here:
        copy_tree()
    if "--clean" in options:
        return print(f"{check_clean(mutants, ROOT if here else COPY)} tests pass without a fault")
    results = run_all(mutants, ROOT if here else COPY, kept, known)
    bad = [name for name, result in results.items() if not result.startswith(("noticed by", "changes nothing"))]
    print(f"{len(mutants)} faults, {len(bad)} survive")
    if not here and "--keep" not in options:
        shutil.rmtree(COPY.parent)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    os.chdir(ROOT)
    main()
