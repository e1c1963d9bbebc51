# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the excerpts of a page with what its commands print.

Usage: follow.py PAGE BIN ROOT

A command stands in the page with four blanks before it, or alone in a block of `sh` with its folder, and after it, with or without sentences
between them, a fenced block of another language. Each line of the block is a line of what the command
prints, in this order, others between them. `...` at the end stands for the rest of a line. Names of values (%x, #map) are
the page's own: one name is one value within a block, and two names are two, except those of constants (names that begin with %c,
%minus, or hold a number only).
"""
import os, re, subprocess, sys

page, bin, root = sys.argv[1:]
NAME = re.compile(r"[%#][A-Za-z_]\w*|%\d+")


def output(command):
    env = dict(os.environ, PATH=bin + os.pathsep + os.environ["PATH"])
    done = subprocess.run(command, shell=True, cwd=root, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return (done.stderr + done.stdout).split("\n")  # remarks, then the program


def pattern(line, bound):
    """A regular expression for a line, where values that are known are what they are; and the names it binds."""
    open_end = line.endswith("...")
    line = line.removesuffix("...").strip()
    text, end, new = "", 0, []
    for match in NAME.finditer(line):
        text += re.escape(line[end : match.start()])
        end = match.end()
        name = match.group()
        if name in bound:
            text += re.escape(bound[name]) + r"\b"
        elif name in new:
            text += "(?P=n%d)" % new.index(name)
        else:
            text += r"(?P<n%d>[%%#][\w-]+)" % len(new)
            new.append(name)
    text += re.escape(line[end:])
    # What a line defines and the page does not follow has no name there.
    return re.compile(r"\s*(?:%[\w-]+ = )?" + text.replace(r"\	", r"\s+") + ("" if open_end else r".*$")), new


def find(lines, block, printed, bound, before):
    """The excerpt from its last line to its first: operands name their definitions."""
    if not block:
        return bound
    *rest, line = block
    regex, new = pattern(line, bound)
    for at in range(before - 1, -1, -1):
        match = regex.match(printed[at])
        if not match:
            continue
        values = {name: match["n%d" % i] for i, name in enumerate(new)}
        taken = {value for name, value in bound.items() if not constant(name)}
        if any(value in taken for name, value in values.items() if not constant(name)):
            continue
        found = find(lines, rest, printed, {**bound, **values}, at)
        if found is not None:
            return found
    return None


def constant(name):
    return name.startswith(("%c", "%minus"))


text = re.sub(r"```sh\nbuild/bin/(ft-[^\n]*)\n```", r"    \1", open(page).read())
commands = re.findall(r"\n    (ft-[^\n]*)\n((?:(?!\n    ft-).)*)", text, re.S)
blocks = [(command, block) for command, after in commands for block in re.findall(r"```(?!sh\b)\w+\n(.*?)```", after, re.S)]
wrong = 0
for command, block in blocks:
    lines = [line for line in block.split("\n") if line.strip()]
    if find(lines, lines, (printed := output(command)), {}, len(printed)) is None:
        wrong += 1
        print("not what is printed:", command)
print(len(blocks), "excerpts,", wrong, "wrong")
