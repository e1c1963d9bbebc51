#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Applies, builds and tests the worked changes of docs/extending.md, before a release.

    recipes.py [--list] [--check] [--here] [--keep] [NAME ...]

A recipe is a section of that page with a block `diff`. Blocks `sh` before it are run first, those after it build and test. NAME is a word of
a section's title. Each recipe begins with the tree as git has it, in a copy with a build folder of its own (build-recipes/tree).

  --list    the recipes and the files that each touches
  --check   only whether each change applies
  --here    no copy: in this tree and its build folder, which must have no changes; they are put back after each recipe
  --keep    leave the copy for the next run, which then compiles less

Exit status 0 only if every recipe did what it says.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/extending.md"
COPY = ROOT / "build-recipes/tree"


class Recipe:
    """A section of the page: what is run before its change, the change, and what is run after it."""

    def __init__(self, title, text):
        self.title = title
        blocks = re.findall(r"^```(sh|diff)\n(.*?)^```$", text, re.S | re.M)
        kinds = [kind for kind, _ in blocks]
        if kinds.count("diff") != 1:
            sys.exit(f"{PAGE.relative_to(ROOT)}: '{title}': expected one block of diff, found {kinds.count('diff')}")
        at = kinds.index("diff")
        self.before = [body for _, body in blocks[:at]]
        self.diff = blocks[at][1]
        self.after = [body for _, body in blocks[at + 1 :]]
        if not self.after:
            sys.exit(f"{PAGE.relative_to(ROOT)}: '{title}': expected commands that test the change, found none")

    @property
    def files(self):
        return re.findall(r"^\+\+\+ b/(.*)$", self.diff, re.M)

    def apply(self, tree):
        """What is wrong, or nothing."""
        for commands in self.before:
            if error := shell(commands, tree):
                return error
        with tempfile.NamedTemporaryFile("w", suffix=".diff") as file:
            file.write(self.diff)
            file.flush()
            return shell(f"git apply -C1 {file.name}", tree)

    def run(self, tree):
        """Applies the change and tests it; what is wrong, or nothing."""
        error = self.apply(tree)
        for commands in self.after:
            error = error or shell(commands, tree)
        return error


def shell(commands, tree):
    """The end of what failing commands print, or nothing."""
    # Of this tree, whatever the caller's Python finds elsewhere.
    env = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "FT_LIBRARY")}
    done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=tree, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return "" if done.returncode == 0 else f"{commands.strip()}\n{done.stdout[-3000:]}"


def put_back(tree):
    """As git has it, but for what git ignores."""
    error = shell("git reset -q --hard && git clean -fdq", tree)
    if error:
        sys.exit(error)


def make_copy():
    """A working tree of HEAD with a build folder; what an earlier run left there is used."""
    if not COPY.exists():
        subprocess.run(["git", "worktree", "prune"], cwd=ROOT, check=True)
        subprocess.run(["git", "worktree", "add", "-q", "--detach", str(COPY), "HEAD"], cwd=ROOT, check=True)
    else:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
        put_back(COPY)
        subprocess.run(["git", "checkout", "-q", "--detach", head], cwd=COPY, check=True)
    return COPY


def recipes():
    sections = re.split(r"^## (.*)\n", PAGE.read_text(), flags=re.M)[1:]
    return [Recipe(title, text) for title, text in zip(sections[::2], sections[1::2])]


def chosen(names):
    found = recipes()
    for name in names:
        if not any(name.lower() in recipe.title.lower() for recipe in found):
            sys.exit(f"no recipe has '{name}' in its title: {', '.join(recipe.title for recipe in found)}")
    return [r for r in found if not names or any(name.lower() in r.title.lower() for name in names)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    for option in ("list", "check", "here", "keep"):
        parser.add_argument(f"--{option}", action="store_true")
    options = parser.parse_args()
    todo = chosen(options.names)
    if options.list:
        for recipe in todo:
            print(f"{recipe.title}: {', '.join(recipe.files)}")
        return 0
    if options.here:
        changed = subprocess.run(["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        if changed:
            sys.exit(f"--here puts this tree back after each recipe, and it has changes:\n{changed}")
    tree = ROOT if options.here else make_copy()
    failed = 0
    for recipe in todo:
        error = recipe.apply(tree) if options.check else recipe.run(tree)
        put_back(tree)
        failed += bool(error)
        print(f"{'FAIL' if error else 'ok  '} {recipe.title}" + (f"\n{error}" if error else ""), flush=True)
    if not options.here and not options.keep:
        subprocess.run(["git", "worktree", "remove", "--force", str(tree)], cwd=ROOT, check=True)
        shutil.rmtree(COPY.parent, ignore_errors=True)
    print(f"{len(todo) - failed} of {len(todo)} recipes {'apply' if options.check else 'build and pass their tests'}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
