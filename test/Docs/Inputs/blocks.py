# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Each code block of the documentation is run, or says above it why not; each file of the tree that it names is there.

blocks.py SOURCES TOOLS [PAGE ...]

A comment above a block, `<!-- not run: REASON -->`, says why it is not run; `<!-- file: NAME -->` makes it a file that later commands of the
page read. Blocks of shell run here where each of their commands is a tool of ours; programs in MLIR are read by ft-opt. Blocks of Python
belong to the pages that python/tests/test_tutorial.py runs, and excerpts of what tools print to those that follow.py compares.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

sources, tools = map(pathlib.Path, sys.argv[1:3])
BLOCK = re.compile(r"(?:<!-- (not run|file): (.+?) -->\n)?^```(\w*)\n(.*?)^```$", re.S | re.M)
LANGUAGES = ("python", "py", "mlir", "c", "cpp", "sh")
#: What runs all blocks of a page, or compares the excerpts after its first command.
RECIPES = {"docs/extending.md"}
FOLLOWED = {name for name in re.findall(r"%ft_src/(docs/[\w-]+\.md) %ft_bin", (sources / "test/Pipelines/one-address.test").read_text())}
PYTHON = set(re.findall(r'"([\w/-]+\.md)"', re.search(r"^PAGES = \((.*)\)", (sources / "python/tests/test_tutorial.py").read_text(), re.M)[1]))
COMMAND = re.compile(r"(?:build/bin/)?ft-[\w-]+ ")
FIRST = re.compile(r"^(?:    |build/bin/)ft-", re.M)


def pages():
    if len(sys.argv) > 3:
        return [pathlib.Path(name) for name in sys.argv[3:]]
    return [sources / "README.md", sources / "CONTRIBUTING.md", *sorted((sources / "docs").glob("*.md")), *sorted((sources / "docs/rationale").glob("*.md"))]


def commands(body):
    """The commands of a block of shell, without remarks."""
    lines = body.replace("\\\n", " ").splitlines()
    return [found for line in lines if (found := re.sub(r"(^|\s)# .*", "", line).strip())]


def lost(text):
    """Paths of the tree that a page names in code, and that are not there; NAME, D and the like stand for the reader's."""
    named = set(re.findall(r"`((?:lib|include|python|test|scripts|docs|cmake|tools|unittests)/[\w./-]+)`", text))
    return sorted(path for path in named if not re.search(r"NAME|/D/", path) and not (sources / path).exists())


def call(command, folder):
    env = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-eo", "pipefail", "-c", command], cwd=folder, env=env, capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr or done.stdout).strip()[-400:]


def run(language, body, folder):
    """What is wrong with a block; None where nothing here runs it."""
    if language == "sh" and all(COMMAND.match(command) for command in commands(body)):
        return "\n".join(filter(None, (call(command, folder) for command in commands(body))))
    if language == "mlir":
        (folder / "block.mlir").write_text(body)
        return call("ft-opt block.mlir -o /dev/null", folder)
    return None


def check(page, folder):
    """(blocks, those that are run, what is wrong)."""
    name = str(page.relative_to(sources)) if page.is_relative_to(sources) else page.name
    text, blocks, ran = page.read_text(), 0, 0
    wrong = [f"{name}: there is no {path}" for path in lost(text)]
    for match in BLOCK.finditer(text):
        if match[1] == "file":
            (folder / match[2]).write_text(match[4])
    for match in BLOCK.finditer(text):
        mark, _, language, body = match.groups()
        place = f"{name}:{text[: match.start(3)].count(chr(10)) + 1}"
        # Commands without a language would be missed.
        if language == "" and COMMAND.match(body):
            wrong.append(f"{place}: commands of ours in a block that is not called sh")
        if language not in LANGUAGES or mark == "file":
            continue
        blocks += 1
        if mark == "not run":
            continue
        ran += 1
        follows = name in FOLLOWED and FIRST.search(text, 0, match.start())
        if name in RECIPES or name in PYTHON and language == "python" or follows and language != "sh":
            continue
        error = run(language, body, folder)
        if error is None:
            wrong.append(f"{place}: a block of {language} that nothing runs: <!-- not run: why --> above it")
        elif error:
            wrong.append(f"{place}: {error}")
    return blocks, ran, wrong


total, done, wrong = 0, 0, []
for page in pages():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "build").mkdir()
        for link, target in (("build/bin", tools), ("examples", sources / "examples"), ("test", sources / "test")):
            (folder / link).symlink_to(target)
        blocks, ran, found = check(page, folder)
    total, done = total + blocks, done + ran
    wrong += found
for line in wrong:
    print(line)
print(f"{total} blocks: {done} run, {total - done} say why not; {len(wrong)} wrong")
sys.exit(1 if wrong else 0)
