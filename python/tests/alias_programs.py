# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random imperative programs over tensors that share elements, and over functions that assign names of the function around them.

``Programs(seeds)`` writes one function for each seed into a file. Elements are small whole numbers, so that results are exact. A function gives some
of its names, so that what is written through others may show in them.
"""

import importlib.util
import pathlib
import random
import shutil
import tempfile

#: What gives another real tensor of `{a}`: views, copies, and what is one of both by the order of elements in memory.
REAL = (
    "{a}.t()", "{a}.T", "{a}[1:]", "{a}[:, ::2]", "{a}[0]", "{a}[..., 1]", "{a}[[1, 0]]", "{a}.contiguous()", "{a}.ravel()", "{a}.reshape(-1)", "{a}.flatten()", "{a}.reshape(2, -1)",
    "{a}.view(-1)", "{a}.clone()", "{a}.t().clone()", "{a}.clone(memory_format=torch.contiguous_format)", "{a} + 1", "{a}.t() + 1", "{a} * 2 - {b}", "{a}.detach()", "{a}.data",
    "{a}.to(torch.float32)", "{a}.to(torch.float32, copy=True)", "{a}.float()", "{a}.type_as({b})", "{a}.expand(2, *{a}.shape)", "{a}.unsqueeze(0)", "{a}.squeeze()", "copy.copy({a})",
    "copy.deepcopy({a})", "torch.zeros_like({a})", "{a}.flip(0)", "{a}.diagonal()", "{a}.conj()", "{a}.real", "torch.positive({a})", "{a}.relu()", "{a}.mT", "{a}.narrow(0, 1, 2)",
    "{a}.resolve_neg()", "{a}.abs()", "torch.where({a} > 0, {a}, {b})", "{a}.transpose(0, 1).contiguous()", "torch.cat([{a}, {a}])", "{a}.chunk(2)[1]", "{a}.sum(0, keepdim=True)",
    "{a}.view_as({a})", "{a}.masked_fill({a} > 2, 0)", "copy.deepcopy([{a}, [{a}]])[1][0]",
)  # fmt: skip
#: What gives a complex tensor of a complex one, and of real ones.
COMPLEX = (
    "{z}.conj()", "{z}.conj()", "{z}.t()", "{z}.T", "{z}.mH", "{z}.H", "{z}[1:]", "{z}[:, ::2]", "{z}[0]", "{z}[[1, 0]]", "{z}.contiguous()", "{z}.ravel()", "{z}.reshape(-1)", "{z}.clone()",
    "{z}.t().clone()", "{z} + 1", "{z}.t() + 1", "{z} * 1j", "{z}.resolve_conj()", "{z} ** 1", "{z}.type_as({z})", "{z}.to(torch.cfloat)", "{z}.to({z}.dtype, copy=True)", "copy.copy({z})",
    "copy.deepcopy({z})", "{z}.unsqueeze(0)", "{z}.detach()", "{z}.transpose(0, 1).conj()", "{z}.view(-1)", "{z}.flip(0)", "torch.zeros_like({z})", "{z}.expand(2, *{z}.shape)",
)  # fmt: skip
JOINED = ("torch.complex({a}, {a})", "torch.complex({a}, {b})", "{a}.type_as({z})", "torch.view_as_complex({p})")
PARTS = ("{z}.real", "{z}.imag", "{z}.real.contiguous()", "{z}.imag.ravel()", "{z}.real.clone()", "torch.view_as_real({z})", "torch.view_as_real({z})[..., 0]", "{z}.abs() * 0", "{z}.imag.resolve_neg()")
#: Writes into any tensor, and into complex ones.
WRITES = (
    "{w}[[0, 1]] = {w}[[1, 0]]", "{w}[:, 0], {w}[:, 1] = {w}[:, 1] * 1, {w}[:, 0] * 1", "{w}[..., 0] = {w}[..., -1]", "{w}[0], {w}[1] = {w}[1].clone(), {w}[0].clone()", "{w}[[0, 2]] += 1",
    "{w}.add_(1)", "{w}.mul_(2)", "{w} += 1", "{w} *= 2", "{w}[0] = 3", "{w}[0] += 1", "{w}[1:] *= 2", "{w}.copy_({w} * 2)", "{w}.mul_(0)", "{w}.sub_({w}[:1].clone())",
    "{w}.contiguous().add_(1)", "{w}.ravel().mul_(2)", "{w}.reshape(-1).add_(1)", "{w}.t().add_(1)", "{w}.clone().mul_(0)",
)  # fmt: skip
REAL_WRITES = ("{w}[{w} > 1] = 0", "{w}[0].copy_({w}[1])", "{w}.fill_(2)", "{w}.masked_fill_({w} < 0, 1)", "{w}.T[0] += 2", "{w}[1:, None].mul_(2)", "torch.add({w}, 1, out={w})", "{w}.zero_()", "{w}.relu_()", "{w}.clamp_(-2, 5)")
COMPLEX_WRITES = ("{w}.real.add_(1)", "{w}.imag.mul_(2)", "{w}.real.contiguous().add_(1)", "{w}.imag.ravel().add_(1)", "{w}.conj().add_(1)", "{w}.conj().imag.add_(1)", "{w}.resolve_conj().mul_(2)")
#: What binds names of lists and dictionaries, and what changes these.
BOUND = (
    "l = [{a}, {b}]", "m = l", "l = m", "l = list(m)", "m = l[:]", "l = m if {a}.sum() > {n} else [{b}]", "m = l if k > {n} and more() else [*l, {a}]", "l, m = m, l", "e = d", "d = dict(e)",
    "d = {{'p': {a}, 'q': l}}", "d = e if {a}.sum() > {n} else {{'p': {b}, 'q': m}}", "l = d['q']", "m = [l, l][1]",
)  # fmt: skip
CHANGES = (
    "l.append({a})", "l[0] = {a}", "m[-1] = {b}", "m += [{a}]", "l.reverse()", "m.extend(l[:1])", "l.insert(0, {a})", "d['p'] = {a}", "e['p'] = {b}", "e.update(p={a})", "d['q'].append({a})", "l[0] += 1",
    "(l if {a}.sum() > {n} else m)[0] = {b}", "fills(l)", "fills(m if {a}.sum() > {n} else l)",
)  # fmt: skip
#: Conditions that data decide, and such that call functions that assign.
CONDITIONS = (
    "counted(3) > {n}", "first({a}, {n}).max() > 1 and more()", "made({n}) > k or counted(5) < {n}", "{n} < k < more(2) < 9",
    "{a}.sum() > {n}", "{a}.max() < {n}", "k > {n} and more({n})", "more() or {a}.sum() > {n}", "{a}.sum() > {n} and more(2)", "{a}.sum() < {n} or step({a}) > 4", "{n} < {a}.sum() < more(3)",
    "not more() and {a}.max() > {n}", "any(more(2) > {n} for _ in range(3))", "all([more() > {n}, {a}.sum() > 0])", "(j := more()) > {n} and {a}.sum() > j",
)  # fmt: skip
LOOPS = ("more() < 6", "step(h) < 9 and k < 8", "k < 5 and more(2) > 0", "(more() < 4 or shown() < 6)", "(j := made(1)) < 30 + k", "{a}.sum() < counted(5)", "u < counted(2) < 20")
#: Expressions that call functions that assign.
CALLS = (
    "counted({n})", "first({a}, {n}).sum()", "made({n})", "made(more())", "(lambda q: q * k + more())(k)", "[f(i) for f in (more, lambda i: i * k) for i in range(2)][-1]", "k + (k := k + 2) + k",
    "[k := k + i for i in range(3)][-1]", "sum([q for q in map(abs, (k, -2))])", "sum([p * q for p, q in zip(map(abs, (k, 2)), (i for i in range(2)))])", "sum(q for q in (i * k for i in range(3)))",
    "len(list(filter(lambda i: i > 1, range(k))))", "sum([q.sum() for q in (r * 2 for r in {a})])", "sum([i for i, r in enumerate({a}) if more(i) > 2])", "[q for q in reversed([more(), k])][0]",
    "{{q: k for q in (i for i in range(2))}}[1]", "sum([p + q for p in map(abs, (k, 2)) for q in (i + p for i in range(2))])", "more(by=more())", "(more() and k) + (k or more())", "float(u) + float(v)", "u * v", "first({a}[1:], {n}).t().sum() + k",
    "more()", "more({n}) + k", "k + more({n})", "[more(i) for i in range(3)][-1]", "sum(more(i) for i in range(2))", "sum([step(r) for r in {a}])", "more() if {a}.sum() > {n} else k",
    "step({a}) * k", "max(more(), k)", "(more(), k, more())[1]", "{{k: more(), 9: k}}[9]", "[shown() + k for k in range(3)][1]", "sum(map(more, range(3)))", "functools.reduce(lambda p, q: p + more(q), range(3), 0)",
    "[i + shown() for i in range(2) if more(i) > 0][-1]", "sum(i * j for i, j in zip([more(), more()], range(2)))", "next(more(i) for i in range(3))",
)  # fmt: skip
FUNCTIONS = """\
    k, t, j, u, left = 1, torch.zeros(()), 0, torch.ones(()), 12
    v = u

    def more(by=1):
        nonlocal k
        k = k + by
        return k

    def step(row):
        nonlocal t, k
        t = t + row.sum()
        k = k + 1
        return t

    def shown():
        return k

    def first(rows, least):
        nonlocal k
        for row in rows:
            k = k + 1
            if row.sum() > least:
                return row
        return rows[0]

    def counted(most):
        nonlocal k, u
        for i in range(4):
            if x[i, 0] > 0:
                continue
            u += i
            if k > most:
                break
            k += 1
        else:
            u = u + 1
        return u

    def made(by):
        count = by

        def again():
            nonlocal count
            count = count * 2 + k
            return count

        return again() + again()

    def fills(items):
        items[0] = items[0] * 2
        return items

    def bind(new):
        nonlocal h
        h{op}
        return h
"""
#: What a function does with a tensor of outside.
BINDS = (" = new", " += 1", " = h + 1", ".mul_(2)", " = new if k > 2 else h", " = h.contiguous()", " = h.t()")


class _Draw:
    """One program."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.real, self.complex = ["x", "y", "h"], ["z"]
        self.lines = []
        self.count = 0
        self.has_lists = seed % 3 == 2

    def pick(self, items):
        return self.random.choice(items)

    def fill(self, text: str) -> str:
        return text.format(a=self.pick(self.real), b=self.pick(self.real), z=self.pick(self.complex), p="p", n=self.random.randrange(-3, 12), w="{w}")

    def write(self, indent: str) -> None:
        if self.random.random() < 0.45:
            text, name = self.pick(WRITES + COMPLEX_WRITES), self.pick(self.complex)
        else:
            text, name = self.pick(WRITES + REAL_WRITES), self.pick(self.real + ["p"])
        self.lines.append(indent + text.format(w=name))

    def name(self, indent: str) -> None:
        kind = self.random.random()
        table, into = (REAL, self.real) if kind < 0.4 else (COMPLEX, self.complex) if kind < 0.75 else (JOINED, self.complex) if kind < 0.82 else (PARTS, self.real)
        name = f"{'r' if into is self.real else 'c'}{self.count}"
        self.lines.append(f"{indent}{name} = {self.fill(self.pick(table))}")
        self.count += 1
        into.append(name)

    def statement(self, depth: int = 1) -> None:
        indent, kind = "    " * depth, self.random.random()
        if self.has_lists and self.random.random() < 0.5:
            self.lines.append(indent + self.fill(self.pick(BOUND + CHANGES)))
        elif kind < 0.36 and depth == 1:
            self.name(indent)
        elif kind < 0.64:
            self.write(indent)
        elif kind < 0.74:
            self.lines.append(f"{indent}s = s + {self.fill(self.pick(CALLS))}")
        elif kind < 0.785:
            self.lines.append(f"{indent}{self.pick(['g = ', ''])}bind({self.pick(self.real)})")
        elif kind < 0.81:
            first, second = self.pick([(self.real, self.real), (self.complex, self.complex)])
            self.lines.append("{0}{1}, {2} = {2}, {1}".format(indent, self.pick(first), self.pick(second)))
        elif kind < 0.845 and depth > 1:
            self.lines.append(f"{indent}{self.pick(self.real)} = {self.fill(self.pick(REAL))}")
        elif kind < 0.88 and depth > 1:
            self.lines.append(f"{indent}{self.pick(self.complex)} = {self.fill(self.pick(COMPLEX))}")
        elif depth < 3:
            self.block(indent, depth)

    def block(self, indent: str, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.55:
            self.lines.append(f"{indent}if {self.fill(self.pick(CONDITIONS))}:")
        elif kind < 0.8:
            self.lines.append(f"{indent}for i in range({self.pick([2, 3])}):")
        else:
            self.lines.append(f"{indent}while {self.fill(self.pick(LOOPS))} and (left := left - 1) > 0:")
        for _ in range(self.random.randrange(1, 3)):
            before = len(self.lines)
            self.statement(depth + 1)
            if len(self.lines) == before:
                self.lines.append(f"{indent}    s = s + k")
        if kind < 0.3:
            self.lines.append(f"{indent}else:")
            self.write(indent + "    ")

    def text(self, name: str) -> str:
        self.lines = [f"def {name}(x, y, p, z):", *FUNCTIONS.format(op=self.pick(BINDS)).splitlines(), "    h, s, g = x + 0, 0, y"]
        if self.has_lists:
            self.lines += ["    l = m = [x, y]", "    d = e = {'p': x, 'q': l}"]
        if self.random.random() < 0.5:
            self.lines.append(f"    h = {self.pick(['x', 'y', 'x.t()', 'p[..., 0]', 'z.real'])}")
        for _ in range(self.random.randrange(4, 10)):
            self.statement()
        found = [n for n in (*self.real[3:], *self.complex[1:], "h", "g") if self.random.random() < 0.6]
        if self.has_lists:
            self.lines.append("    return [parts(r) for r in l], [parts(r) for r in m], parts(d['p']), parts(e['p']), len(d['q']), len(e['q']), s, k, t")
            return "\n".join(self.lines)
        self.lines.append(f"    return [{', '.join(f'parts({n})' for n in found)}], s, k, t, u, v")
        return "\n".join(self.lines)


HEAD = """\
import copy
import functools

import torch


def parts(v):
    return (v.real * 1, v.imag * 1) if v.is_complex() else v * 1
"""


class Programs:
    """Functions of a file, by seed."""

    def __init__(self, seeds):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        path = self.folder / "alias_functions.py"
        self.texts = {seed: _Draw(seed).text(f"f{seed}") for seed in seeds}
        path.write_text("\n\n\n".join([HEAD.rstrip(), *self.texts.values()]) + "\n")
        spec = importlib.util.spec_from_file_location("alias_functions", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.functions = {seed: getattr(module, f"f{seed}") for seed in seeds}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)


def arguments(seed: int):
    """Small whole numbers; the complex one is sometimes a view or a conjugate."""
    import torch

    g = torch.Generator().manual_seed(seed)
    drawn = lambda *sizes: torch.randint(-3, 4, sizes, generator=g).float()  # noqa: E731
    z = torch.complex(drawn(4, 4), drawn(4, 4))
    return [drawn(4, 4), drawn(4, 4).t() if seed % 3 == 0 else drawn(4, 4), drawn(4, 4, 2), z.t() if seed % 4 == 1 else z]


def flat(value):
    if isinstance(value, (list, tuple)):
        return [y for x in value for y in flat(x)]
    return [value]
