# RUN: %python %s %ft_bin 40 | FileCheck %s
# REQUIRES: numpy
# CHECK: {{[2-4][0-9]}} of 40 rewritten, 0 wrong{{$}}
#
# Random programs over one list. Two of three are drawn from forms that the pass is for (softmax and what is
# made of its weights, means and moments); the others are chains of maps and reductions most of which have no
# online form. Those that the pass rewrites, at least half, give what the program gives, in f64 to 1e-8, also
# for one element and for none, in order and with partial results that are joined. Run with another first seed for others:
#
#     online-random.py FT-BIN COUNT [SEED]

import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

CONSTANTS = {"%low": "-1.0e30", "%high": "1.0e30", "%zero": "0.0", "%one": "1.0", "%half": "0.5", "%two": "2.0"}
BINARY = {"sub": "subf", "mul": "mulf", "div": "divf", "add": "addf", "max": "maximumf", "min": "minimumf"}
KINDS = ["sub"] * 4 + ["exp"] * 6 + ["mul"] * 3 + ["div"] * 3 + ["scale", "add", "max", "min", "select", "neg", "square", "abs", "tanh", "log", "power", "centred", "centred"]


class Program:
    """One function: lists of K elements, and what reductions made of them."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.lines = []
        self.lists, self.lasts = ["%xs", "%ys"], []
        for step in range(self.rng.randint(3, 6)):
            kind = self.rng.choice(["reduce", "reduce", "map", "between", "mean"]) if step else "reduce"
            if kind == "between" and self.lasts:
                value = self.expression(self.lasts + ["%one"], self.rng.randint(1, 2), self.lines)
                self.lasts.append(value)
            elif kind == "mean":
                self.mean()
            else:
                self.statement(kind == "reduce", first=step == 0)
        self.results = self.lasts[-3:]

    def name(self):
        self.count += 1
        return f"%t{self.count}"

    def expression(self, values, depth, lines):
        if depth == 0 or self.rng.random() < 0.1:
            return self.rng.choice(values)
        pick, emit = self.rng.choice, lines.append
        kind, a, t = pick(KINDS), self.expression(values, depth - 1, lines), self.name()
        if kind == "exp":
            d = self.name()
            emit(f"{d} = arith.subf {a}, {pick(values)} : !r")
            if self.rng.random() < 0.3:
                e, d = d, self.name()
                emit(f"{d} = arith.mulf {e}, {pick(['%half', '%two'])} : !r")
            if self.rng.random() < 0.2:
                e, d = d, self.name()
                emit(f"{d} = arith.{pick(['mulf', 'divf'])} {e}, %z : !r")
            emit(f"{t} = math.exp {d} : !r")
        elif kind in ("tanh", "abs"):
            emit(f"{t} = math.{'tanh' if kind == 'tanh' else 'absf'} {a} : !r")
        elif kind == "neg":
            emit(f"{t} = arith.negf {a} : !r")
        elif kind == "square":
            emit(f"{t} = arith.mulf {a}, {a} : !r")
        elif kind == "log":
            e, w = self.name(), self.name()
            emit(f"{e} = math.absf {a} : !r")
            emit(f"{w} = arith.addf {e}, {pick(['%half', '%one'])} : !r")
            emit(f"{t} = math.log {pick([e, w, w])} : !r")
        elif kind in ("power", "centred"):
            # (a - b)^n, and products of two such differences
            d = [self.name() for _ in range(2)]
            emit(f"{d[0]} = arith.subf {a}, {pick(values)} : !r")
            emit(f"{d[1]} = arith.subf {pick(values)}, {pick(values)} : !r")
            if kind == "power":
                d[1] = d[0]
            for _ in range(self.rng.randint(0, 2)):
                q = self.name()
                emit(f"{q} = arith.mulf {d[0]}, {d[1]} : !r")
                d[0] = q
            emit(f"{t} = arith.mulf {d[0]}, {pick(values + ['%one', '%two'])} : !r")
        elif kind == "scale":
            emit(f"{t} = arith.mulf {a}, {pick(['%half', '%two'])} : !r")
        elif kind == "select":
            c = self.name()
            emit(f"{c} = arith.cmpf {pick(['oeq', 'oge', 'ole', 'ogt'])}, {a}, {pick(values)} : !r")
            emit(f"{t} = arith.select {c}, {pick(values)}, {pick(values + ['%zero', '%low'])} : tensor<3xi1>, !r")
        else:
            emit(f"{t} = arith.{BINARY[kind]} {a}, {pick(values)} : !r")
        return t

    def mean(self):
        """A mean with the number of elements, or with weights, and perhaps the differences from it."""
        xs, weights = self.rng.choice(self.lists), self.rng.choice(["%ones", "%ys"])
        products, total, weight, mean = (self.name() for _ in range(4))
        self.lines += [f"{products} = ft.map (%p = {xs}, %q = {weights} : !ft.list<[K], !r>, !ft.list<[K], !r>) -> !ft.list<[K], !r> {{"
                       .replace("%p = " + xs + ", %q = " + weights, f"%p, %q = {xs}, {weights}"),
                       "%pq = arith.mulf %p, %q : !r", "ft.yield %pq : !r", "}"]
        for result, summed in ((total, products), (weight, weights)):
            self.lines += [f"{result} = ft.reduce (%x = {summed} : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {{",
                           "%b = arith.addf %a, %x : !r", "ft.yield %b : !r", "}"]
        self.lines.append(f"{mean} = arith.divf {total}, {weight} : !r")
        self.lasts += [mean] * 2
        if self.rng.random() < 0.5:
            differences = self.name()
            self.lines += [f"{differences} = ft.map (%x = {xs} : !ft.list<[K], !r>) -> !ft.list<[K], !r> {{",
                           f"%d = arith.subf %x, {mean} : !r", "ft.yield %d : !r", "}"]
            self.lists.append(differences)

    def statement(self, reduces, first):
        pick = self.rng.choice
        lists = self.rng.sample(self.lists, min(len(self.lists), self.rng.randint(1, 2)))
        elements = [self.name() for _ in lists]
        types = ", ".join("!ft.list<[K], !r>" for _ in lists)
        header = f"({', '.join(elements)} = {', '.join(lists)} : {types})"
        values = elements if first else elements * 2 + self.lasts * 2
        body = []
        depth = 0 if first and self.rng.random() < 0.6 else self.rng.randint(1, 2)
        value, result, t = self.expression(values, depth, body), self.name(), self.name()
        if not reduces:
            body.append(f"{t} = arith.addf {value}, %zero : !r")
            self.lines += [f"{result} = ft.map {header} -> !ft.list<[K], !r> {{", *body, f"ft.yield {t} : !r", "}"]
            self.lists.append(result)
            return
        op = pick(["maximumf", "maximumf", "minimumf", "addf"] if first else ["maximumf", "maximumf", "minimumf"] + ["addf"] * 3)
        neutral = {"maximumf": "%low", "minimumf": "%high", "addf": "%zero"}[op]
        init = pick([neutral, neutral, neutral, "%one" if op == "addf" else "%zero"])
        form = pick(["reduce"] * 8 + ["fold", "foldl", "foldr"])
        state = self.name()
        if self.rng.random() < 0.12:
            c, form = self.name(), "foldl"
            body.append(f"{c} = arith.cmpf {pick(['oeq', 'oge', 'ole'])}, {pick(elements)}, {pick(values)} : !r")
            body.append(f"{t} = arith.select {c}, {value}, {state} : tensor<3xi1>, !r")
        else:
            a, b = (state, value) if self.rng.random() < 0.5 else (value, state)
            body.append(f"{t} = arith.{op} {a}, {b} : !r")
        self.lines += [f"{result} = ft.{form} {header} init ({state} = {init} : !r) -> !r {{", *body, f"ft.yield {t} : !r", "}"]
        if form in ("reduce", "fold"):
            self.lines[-1] += (f" combine (%a, %b) {{\n%c = arith.{op} %a, %b : !r\nft.yield %c : !r\n}}"
                               f" identity ({neutral} : !r)")
        self.lasts.append(result)

    def text(self, name):
        lists = ", ".join("!ft.list<[N], !r>" for _ in self.results)
        outs = ", ".join(f"%o{i}" for i in range(len(self.results)))
        constants = [f"{k} = arith.constant dense<{v}> : !r" for k, v in CONSTANTS.items()]
        ones = ["%ones = ft.map (%x = %xs : !ft.list<[K], !r>) -> !ft.list<[K], !r> {", "%n = arith.mulf %x, %zero : !r",
                "%o = arith.addf %n, %one : !r", "ft.yield %o : !r", "}"]
        return "\n".join([
            f"func.func @{name}(%xss: !ft.list<[N, K], !r> {{ft.gen = #ft.normal<2.0>}},"
            f" %yss: !ft.list<[N, K], !r> {{ft.gen = #ft.uniform<0.5, 1.5>}},"
            f" %zs: !ft.list<[N], !r> {{ft.gen = #ft.normal<1.0>}}) -> ({lists}) {{", *constants,
            f"{outs} = ft.map (%xs, %ys, %z = %xss, %yss, %zs : !ft.list<[N, K], !r>, !ft.list<[N, K], !r>, !ft.list<[N], !r>)"
            f" -> {lists} {{",
            *ones, *self.lines, f"ft.yield {', '.join(self.results)} : {', '.join('!r' for _ in self.results)}", "}",
            f"return {outs} : {lists}", "}\n"])


class Legal(Program):
    """Weights of a softmax and sums of them, or moments about a mean: each has an online form."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.count = 0
        self.lines = []
        self.lists, self.lasts, self.results = ["%xs", "%ys"], [], []
        self.weighted() if self.rng.random() < 0.7 else self.moments()

    def reduction(self, op, init, value):
        """Reduces what `value` computes from the elements of both lists; it gets their names and where to write."""
        pick = self.rng.choice
        result, x, y, state, t = (self.name() for _ in range(5))
        body = []
        v = value(x, y, body)
        a, b = (state, v) if pick([True, False]) else (v, state)
        body.append(f"{t} = arith.{op} {a}, {b} : !r")
        form = pick(["reduce", "reduce", "fold", "foldl"])
        self.lines += [f"{result} = ft.{form} ({x}, {y} = %xs, %ys : !ft.list<[K], !r>, !ft.list<[K], !r>) init ({state} = {init} : !r) -> !r {{",
                       *body, f"ft.yield {t} : !r", "}"]
        if form != "foldl":
            self.lines[-1] += f" combine (%a, %b) {{\n%c = arith.{op} %a, %b : !r\nft.yield %c : !r\n}} identity ({init} : !r)"
        return result

    def weighted(self):
        pick = self.rng.choice
        scale, flipped = pick([None, "%half", "%two", "%z", "%z"]), pick([True, False])

        def exponent(x, y, body):
            v = x
            if scale:
                v, w = self.name(), v
                body.append(f"{v} = arith.mulf {w}, {scale} : !r")
            if flipped:
                v, w = self.name(), v
                body.append(f"{v} = arith.negf {w} : !r")
            return v

        greatest = self.reduction("maximumf", "%low", exponent)

        def weight(factor):
            def value(x, y, body):
                v, d, e = exponent(x, y, body), self.name(), self.name()
                body += [f"{d} = arith.subf {v}, {greatest} : !r", f"{e} = math.exp {d} : !r"]
                if not factor:
                    return e
                p = self.name()
                body.append(f"{p} = arith.mulf {e}, {dict(x=x, y=y)[factor]} : !r")
                return p
            return value

        sums = [self.reduction("addf", "%zero", weight(None))]
        for _ in range(self.rng.randint(0, 2)):
            sums.append(self.reduction("addf", "%zero", weight(pick(["x", "y", None]))))
        for s in sums[1:]:
            self.results.append(self.name())
            self.lines.append(f"{self.results[-1]} = arith.divf {s}, {sums[0]} : !r")
        self.results = (self.results + [greatest, sums[0]])[:3]

    def moments(self):
        total = self.reduction("addf", "%zero", lambda x, y, body: x)
        weight = self.reduction("addf", "%zero", lambda x, y, body: y)
        mean = self.name()
        # The weights are positive and near 1, so that their sum is about the number of elements.
        self.lines.append(f"{mean} = arith.divf {total}, {weight} : !r")

        def square(x, y, body):
            d, q = self.name(), self.name()
            body += [f"{d} = arith.subf {x}, {mean} : !r", f"{q} = arith.mulf {d}, {d} : !r"]
            return q

        self.results = [self.reduction("addf", "%zero", square), mean]


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(" ".join(map(str, command)) + "\n" + done.stderr)
    return done.stdout


def graphs(text):
    return dict(re.findall(r"etdg\.graph @(\w+)(.*?)\n  }\n", text, re.S))


def main(tools, count, first=0):
    tools, wrong, programs = pathlib.Path(tools), 0, {f"f{s}": (Program if s % 3 == 2 else Legal)(s) for s in range(first, first + count)}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        before, after = folder / "before.mlir", folder / "after.mlir"
        before.write_text("!r = tensor<3xf64>\n" + "".join(p.text(name) for name, p in programs.items()))
        lower = "builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg"
        plain = run(tools / "ft-opt", before, f"--pass-pipeline={lower})")
        after.write_text(run(tools / "ft-opt", before, f"--pass-pipeline={lower},etdg.graph(etdg-online{{ordered}},etdg-verify))"))
        old, new = graphs(plain), graphs(after.read_text())
        changed = [name for name in programs if old[name] != new[name]]
        for name in changed:
            for length in (6, 1, 0):
                values = []
                for file, order in ((before, "dataflow"), (after, "declared"), (after, "random")):
                    outs = [folder / f"{i}.npy" for i in range(len(programs[name].results))]
                    run(tools / "ft-run", file, f"--entry={name}", "--engine=interpret", f"--order={order}", "--seed=7",
                        "--dim=N=2", f"--dim=K={length}", *(f"--out={o}" for o in outs))
                    values.append([np.load(o) for o in outs])
                for want, got in [*zip(values[0], values[1]), *zip(values[0], values[2])]:
                    # What the program overflows or divides by 0 may be another infinity.
                    kept = np.isfinite(want) & (np.abs(want) < 1e25)
                    scale = np.sqrt(np.mean(np.square(want[kept]))) if kept.any() else 0
                    # Sums of differences from a mean are 0 but for rounding.
                    # Not `any(... > bound)`: a NaN is no number within the bound.
                    if not np.all(np.abs(got[kept] - want[kept]) <= 1e-12 + 1e-8 * (np.abs(want[kept]) + scale)):
                        wrong += 1
                        print(f"{name} K={length}: {got} is not {want}")
    print(f"{len(changed)} of {count} rewritten, {wrong} wrong")
    sys.exit(1 if wrong or len(changed) < count // 2 else 0)


main(sys.argv[1], *map(int, sys.argv[2:]))
