#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the compiler emits for the programs of the tree, so that two trees can be compared.

    emitted.py write FOLDER [--bin=build/bin] [--jobs=N] [--all] [FILE...]
    emitted.py compare BEFORE AFTER [--renames=FILE]

`write` leaves, for each program, what the engines run. Of a GPU that is PTX and launch plans (from a bundle). Of the CPU it is LLVM IR and
launch plans, for one class of processors, so that machines agree. Beside them stands what `ft-opt` prints
for the CPU at the phase `target`. Of a program that is refused, the errors are left. The programs are those of
examples/, integration/ and benchmarks/programs/, compiled for sm_90a; `--all` adds test/Programs/ and sm_80.

`compare` names the files that differ and fails then. A change that only moves a decision must leave all of it the same.
`--renames` reads a file of lines `OLD NEW`: each whole word OLD in BEFORE counts as NEW, so that a renamed attribute,
function or message does not hide other differences. `#` begins a comment; words may hold dots and hyphens. An entry
that BEFORE never uses is an error: it renames nothing.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("examples", "integration", "benchmarks/programs")
PROCESSORS = "x86-64-v3"
HEADER = 64  # bytes of a bundle before its manifest (docs/rationale/runtime.md)
# Without an assembler a bundle holds its text alone.
ENVIRONMENT = {**os.environ, "PATH": "/nonexistent"}


def run(command):
    # From the root, so that messages and launch plans name the same files in each tree.
    return subprocess.run(command, capture_output=True, env=ENVIRONMENT, cwd=ROOT, check=False)


def failure(done):
    return f"status {done.returncode}\n".encode() + done.stderr


def texts(command):
    """What a command prints, or its errors."""
    done = run(command)
    return {"": done.stdout if done.returncode == 0 else failure(done)}


def bundle_parts(command):
    """Launch plans of a bundle, and the texts among its sections."""
    done = run(command)
    if done.returncode != 0:
        return {"plan": failure(done)}
    data = done.stdout
    size = int.from_bytes(data[24:32], "little")
    manifest = json.loads(data[HEADER:HEADER + size])
    parts = {"plan": json.dumps(manifest["entries"], indent=1).encode()}
    at = HEADER + size
    for section in manifest["sections"]:
        at = (at + HEADER - 1) // HEADER * HEADER
        content, at = data[at:at + section["bytes"]], at + section["bytes"]
        if section["kind"] == "ptx":
            parts["ptx"] = parts.get("ptx", b"") + content
        elif section["kind"] == "data":
            parts["plan"] += f"\ndata {section['target']} {section['sha256']}".encode()
    return parts


def forms(bin, source, targets):
    """(name of what is left, function, command) of a program."""
    translate = bin / "ft-translate"
    for target in targets:
        yield target, bundle_parts, [translate, "--mlir-to-bundle", f"--target={target}", source]
    yield "cpu", bundle_parts, [translate, "--mlir-to-bundle", f"--target={PROCESSORS}", source]
    yield "cpu.ll", texts, [translate, "--mlir-to-llvmir", f"--target={PROCESSORS}", source]
    yield "cpu.mlir", texts, [bin / "ft-opt", "--ft-compile=to=target target=cpu machine=cpu", source]


def emit(task):
    folder, name, form, function, command = task
    parts = function(command)
    for part, text in parts.items():
        (folder / ".".join(filter(None, (name, form, part)))).write_bytes(text)
    return not any(text.startswith(b"status ") for text in parts.values())


def write(options):
    folders = FOLDERS + ("test/Programs",) * options.all
    sources = [pathlib.Path(f).resolve() for f in options.files] or [
        path.relative_to(ROOT) for folder in folders for path in sorted((ROOT / folder).glob("*.mlir"))]
    targets = ("sm_90a",) + ("sm_80",) * options.all
    options.folder.mkdir(parents=True, exist_ok=True)
    for old in options.folder.iterdir():
        old.unlink()
    tasks = [(options.folder, f"{source.parent.name}-{source.stem}", *form)
             for source in sources for form in forms(options.bin.resolve(), source, targets)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        good = sum(pool.map(emit, tasks))
    print(f"{len(tasks)} compiled, {len(tasks) - good} of them errors")
    return 0 if good else 1


def read_renames(path):
    """What `--renames` names, as a dictionary."""
    renames = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        if words and len(words) != 2:
            sys.exit(f"{path}:{number}: error: expected OLD NEW, found {len(words)} words")
        if words:
            renames[words[0]] = words[1]
    return renames


class Renames:
    """Replaces whole words of a text, and knows which ones it met."""

    def __init__(self, renames):
        self.renames, self.met = {a.encode(): b.encode() for a, b in renames.items()}, set()
        alternatives = b"|".join(re.escape(old) for old in sorted(self.renames, key=len, reverse=True))
        self.pattern = re.compile(rb"(?<![\w.-])(?:" + alternatives + rb")(?![\w-])") if renames else None

    def apply(self, text):
        return self.pattern.sub(self.replace, text) if self.pattern else text

    def replace(self, match):
        self.met.add(match.group())
        return self.renames[match.group()]

    def unused(self):
        return sorted(old.decode() for old in self.renames.keys() - self.met)


def compare(options):
    names = sorted({p.name for folder in (options.before, options.after) for p in folder.iterdir()})
    read = lambda folder, name: (folder / name).read_bytes() if (folder / name).exists() else None
    renames = Renames(read_renames(options.renames) if options.renames else {})
    different = []
    for name in names:
        before = read(options.before, name)
        if (before if before is None else renames.apply(before)) != read(options.after, name):
            different.append(name)
            print(f"differs: {name}")
    for word in renames.unused():
        print(f"{options.renames}: error: '{word}' is renamed, but {options.before} does not use it")
    print(f"{len(names)} compared, {len(different)} differ")
    return 1 if different or renames.unused() or not names else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    first = commands.add_parser("write")
    first.add_argument("folder", type=pathlib.Path)
    first.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin")
    first.add_argument("--jobs", type=int, default=os.cpu_count())
    first.add_argument("--all", action="store_true")
    first.add_argument("files", nargs="*")
    second = commands.add_parser("compare")
    second.add_argument("before", type=pathlib.Path)
    second.add_argument("after", type=pathlib.Path)
    second.add_argument("--renames", type=pathlib.Path)
    options = parser.parse_args()
    return write(options) if options.command == "write" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
