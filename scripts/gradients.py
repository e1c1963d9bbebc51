#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks derivatives of programs in f64: jvp by central differences, vjp against jvp.

    scripts/gradients.py [--build DIR] [--engine interpret|cpu] [--dims "L=3,N=2"]... [--options save=all]... FILE.mlir...

Each file's public function is differentiated in both modes by ft-opt and run by ft-run. With random arguments a,
tangents v and cotangents w:

- the jvp against (f(a + h v) - f(a - h v)) / 2h, to 1e-6 of the largest number;
- <Jv, w> against <v, J'w>, to 1e-12 of the sum of the products' absolute values;
- the results of both against f's, to 1e-12.

--options are those of ft-differentiate in reverse mode; with several, each is tried. Without --dims the lengths are those of `ft.lengths`, cut to a small number. Element types f32 become f64. The last line is
"N checked, N wrong".
"""

import argparse
import itertools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEFORE = "ft-unroll,ft-inline,ft-select,canonicalize"
MOST = 5  # what lengths are cut to


def split(text):
    """Parts at commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for at, sign in enumerate(text):
        depth += sign in "<([{"
        depth -= sign in ">)]}" and text[at - 1 : at + 1] != "->"
        if sign == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [p for p in (*parts, text[start:].strip()) if p]


def closing(text, at):
    depth = 0
    for i in range(at, len(text)):
        depth += text[i] in "([{<"
        depth -= text[i] in ")]}>" and text[i - 1 : i + 1] != "->"
        if depth == 0:
            return i
    raise ValueError("no closing bracket")


class Function:
    """The header of a printed function: types of arguments and results, where residuals come from."""

    def __init__(self, module, name):
        found = re.search(rf"func\.func (?:private )?@{re.escape(name)}\(", module)
        end = closing(module, found.end() - 1)
        arguments = split(module[found.end() : end])
        self.arguments = [re.sub(r"^%\w+: ", "", a) for a in arguments]
        self.generators = [a[a.index("{") :] if "{" in a else "" for a in self.arguments]
        self.arguments = [a.split(" {")[0] for a in self.arguments]
        rest = module[end + 1 : module.index("\n", end)]
        attributes = re.search(r" attributes (\{.*\}) \{$", rest)
        self.attributes = attributes.group(1) if attributes else ""
        if attributes:
            rest = rest[: attributes.start()]
        results = rest.removesuffix(" {").strip().removeprefix("->").strip()
        self.results = split(results[1:-1]) if results.startswith("(") else split(results)
        residuals = re.search(r"ft\.residuals = \[(.*?)\]", self.attributes)
        self.residuals = re.findall(r'"([^"]*)"', residuals.group(1)) if residuals else []


def is_float(type_):
    return re.search(r"(?:x|<|^)b?f\d+>*$", type_) is not None


class Program:
    """A file, differentiated, at given lengths."""

    def __init__(self, path, build, engine, folder, name, more=""):
        self.path, self.build, self.engine, self.folder, self.name = path, build, engine, folder, name
        text = re.sub(r"f32\b", "f64", path.read_text())
        self.source = folder / "source.mlir"
        self.source.write_text(text)
        self.module = {}
        plain = self.opt(self.source, f"builtin.module({BEFORE})")
        self.files = {"": folder / "plain.mlir"}
        self.files[""].write_text(plain)
        self.functions = {"": Function(plain, self.name)}
        for mode, names in (("reverse", ("forward", "backward")), ("forward", ("jvp",))):
            options = f"function={self.name} mode={mode} {more if mode == 'reverse' else ''}"
            made = self.opt(self.source, f"builtin.module({BEFORE},ft-differentiate{{{options}}},canonicalize,cse)")
            for kind in names:
                self.files[kind] = folder / f"{mode}.mlir"
                self.files[kind].write_text(made)
                self.functions[kind] = Function(made, f"{self.name}_{kind}")

    def opt(self, path, pipeline):
        done = subprocess.run([self.build / "bin/ft-opt", path, f"--pass-pipeline={pipeline}"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[:2000])
        return done.stdout

    def lengths(self, given):
        table = re.search(r"ft\.lengths = \{(.*?)\}", self.functions[""].attributes)
        found = dict(re.findall(r"(\w+) = (\d+)", table.group(1))) if table else {}
        return {name: given.get(name, min(int(value), MOST)) for name, value in {**dict.fromkeys(given, 0), **found}.items()}

    def run(self, kind, arrays, lengths):
        function = self.functions[kind]
        command = [self.build / "bin/ft-run", self.files[kind], f"--engine={self.engine}", f"--entry={self.name}{kind and '_'}{kind}"]
        for i, array in enumerate(arrays):
            np.save(self.folder / f"in{i}.npy", array)
            command.append(f"--arg={self.folder}/in{i}.npy")
        outputs = [self.folder / f"out{i}.npy" for i in range(len(function.results))]
        command += [f"--out={o}" for o in outputs]
        bound = {n for t in function.arguments for n in re.findall(r"(?<=[\[ ])(\w+)(?=[,\]])", t)}
        command += [f"--dim={n}={v}" for n, v in lengths.items() if n in bound and not arrays]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"{self.name}_{kind}: " + (done.stderr + done.stdout).strip()[:2000])
        return [np.load(o) for o in outputs]

    def arguments(self, lengths, random):
        made = []
        for type_, generator in zip(self.functions[""].arguments, self.functions[""].generators):
            shape = shape_of(type_, lengths)
            if is_float(type_):
                scale = re.search(r"normal<([\d.e+-]+)>", generator)
                made.append(random.standard_normal(shape) * (max(float(scale.group(1)), 0.1) if scale else 0.5))
                continue
            low, high = 0, 2
            if found := re.search(r"index<([^,]*), ([^>]*)>", generator):
                low, high = (int(eval(e, {}, lengths)) for e in found.groups())  # noqa: S307 - our own files
            numbers = {"1": bool, "8": np.int8, "16": np.int16, "32": np.int32, "64": np.int64}
            dtype = numbers[re.search(r"i(\d+)>*$", type_).group(1)]
            made.append(random.integers(low, max(high, low + 1), shape).astype(dtype))
        return made


def shape_of(type_, lengths):
    shape = []
    if found := re.search(r"list<\[(.*?)\]", type_):
        names = {**lengths, "floordiv": lambda a, b: a // b, "ceildiv": lambda a, b: -(-a // b), "mod": lambda a, b: a % b}
        shape += [int(eval(part, {}, names)) for part in split(found.group(1))]  # noqa: S307
    element = re.search(r"tensor<((?:\d+x)*)", type_)
    return tuple(shape + [int(e) for e in (element.group(1) if element else "").split("x") if e])


def check(program, lengths, seed=1):
    random = np.random.default_rng(seed)
    values = program.arguments(lengths, random)
    functions = program.functions
    wrt = [i for i, t in enumerate(functions[""].arguments) if is_float(t)]
    results = program.run("", values, lengths)
    floats = [i for i, t in enumerate(functions[""].results) if is_float(t)]
    tangents = [random.standard_normal(values[i].shape) for i in wrt]
    forward = program.run("jvp", [*values, *tangents], lengths)
    primal, moved = forward[: len(results)], forward[len(results) :]
    wrong = []
    for kind, own in (("jvp", primal), ("forward", None)):
        own = own if own is not None else program.run("forward", values, lengths)
        for r, o in zip(results, own):
            # (Sums are associated by what stands around them, and a running maximum is taken apart.)
            is_same = np.allclose(r, o, rtol=1e-12, atol=1e-12, equal_nan=True)
            if not is_same:
                wrong.append(f"{kind} changes a result by {np.abs(r - o).max()}")
    saved = own[len(results) :]
    step = 1e-6

    def at(scale):
        changed = list(values)
        for i, t in zip(wrt, tangents):
            changed[i] = values[i] + scale * t
        return program.run("", changed, lengths)

    more, less = at(step), at(-step)
    for i, m in zip(floats, moved):
        difference = (more[i] - less[i]) / (2 * step)
        size = max(np.abs(difference).max(initial=0.0), np.abs(m).max(initial=0.0), 1.0)
        if not np.abs(difference - m).max(initial=0.0) <= 2e-6 * size:
            wrong.append(f"jvp of result {i} differs from differences by {np.abs(difference - m).max() / size:.1e}")
    weights = [random.standard_normal(results[i].shape) for i in floats]
    sources = {"argument": values, "result": results, "saved": saved}
    residuals = []
    for origin, type_ in zip(functions["backward"].residuals, functions["backward"].arguments):
        kind, number = origin.split()
        if kind in sources:
            residuals.append(sources[kind][int(number)])
            continue
        flat = values[int(number)].reshape(-1)
        order = np.argsort(flat, kind="stable")
        ends = np.searchsorted(flat[order], np.arange(*shape_of(type_, lengths)), side="right")
        residuals.append((order if kind == "order" else ends).astype(np.int64))
    gradients = program.run("backward", [*residuals, *weights], lengths)
    left, right = ([a * b for a, b in zip(x, y)] for x, y in ((moved, weights), (tangents, gradients)))
    total = [sum(p.sum() for p in side) for side in (left, right)]
    size = max(sum(np.abs(p).sum() for p in left), sum(np.abs(p).sum() for p in right), 1e-30)
    if not abs(total[0] - total[1]) <= 1e-12 * size:
        wrong.append(f"<Jv, w> = {total[0]!r}, <v, J'w> = {total[1]!r}: {abs(total[0] - total[1]) / size:.1e}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--engine", default="interpret")
    parser.add_argument("--dims", action="append", default=[])
    parser.add_argument("--options", action="append", default=[])
    given = parser.parse_args()
    checked = failed = 0
    for path, options, dims in itertools.product(given.files, given.options or [""], given.dims or [""]):
        table = {k: int(v) for k, v in (p.split("=") for p in dims.split(",") if p)}
        for name in re.findall(r"^func\.func @(\w+)\(", path.read_text(), re.MULTILINE):
            checked += 1
            with tempfile.TemporaryDirectory() as folder:
                try:
                    program = Program(path, given.build, given.engine, pathlib.Path(folder), name, options)
                    wrong = check(program, program.lengths(table))
                except RuntimeError as error:
                    wrong = [str(error)]
            failed += bool(wrong)
            for text in wrong:
                print(f"{path} {name} {dims} {options}: {text}", file=sys.stderr)
    print(f"{checked} checked, {failed} wrong")
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
