# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes random imperative programs over integer tensors, as the text of Python functions.

Views of views, mutation through each, branches and loops on data, early exits, lists, calls, old versions kept alive. Every
program runs in eager PyTorch without an error of its own; results and mutated arguments are to be compared bit for bit.
"""

import random


class Variable:
    """A tensor by name: its shape, and whether it may be written through."""

    def __init__(self, name, shape, dtype, writable=True):
        self.name, self.shape, self.dtype, self.writable = name, tuple(shape), dtype, writable


def _count(shape):
    total = 1
    for n in shape:
        total *= n
    return total


class Writer:
    """One program. `lines` is its text once `write` has run; `arguments` are (shape, dtype)."""

    def __init__(self, seed, depth=3):
        self.random = random.Random(seed)
        self.depth = depth
        self.lines, self.names, self.arguments = [], 0, []
        self.scope, self.loops, self.counters = [], 0, []

    # -- helpers ---------------------------------------------------------------------------------------------

    def fresh(self, prefix="t"):
        self.names += 1
        return f"{prefix}{self.names}"

    def put(self, indent, text):
        self.lines.append("    " * indent + text)

    def pick(self, test=lambda v: True):
        found = [v for v in self.scope if test(v)]
        return self.random.choice(found) if found else None

    def number(self):
        return self.random.randint(-4, 9)

    def index(self, size):
        """An index into a dimension: a number, or one made of a loop's counter."""
        r = self.random
        if self.counters and r.random() < 0.6:
            name, most = r.choice(self.counters)
            if most <= size and r.random() < 0.6:
                return r.choice([name, f"-1 - {name}", f"{size - 1} - {name}"])
            return f"{name} % {size}"
        return str(r.randint(-size, size - 1))

    # -- views -------------------------------------------------------------------------------------------------

    def view(self, text, shape):
        """A view of an expression: its text, its shape, and whether it repeats elements."""
        r, repeats = self.random, False
        for _ in range(r.randint(1, 3)):
            if not shape:
                break
            text, shape, again = getattr(self, "_view_" + r.choice(self._views))(text, list(shape))
            repeats |= again
        return text, tuple(shape), repeats

    _views = ("select select select slice slice slice rows transpose permute unsqueeze squeeze reshape flip_step narrow chunk expand diagonal flatten movedim unbind").split()

    def _view_select(self, text, shape):
        d = self.random.randrange(len(shape))
        if shape[d] == 0:
            return text, shape, False
        at = self.index(shape[d])
        if d == 0 and self.random.random() < 0.7:
            return f"{text}[{at}]", shape[1:], False
        return f"{text}.select({d}, {at})", shape[:d] + shape[d + 1 :], False

    def _slice(self, size):
        r = self.random
        first, last = r.randint(-size - 1, size), r.randint(-size - 1, size + 2)
        step = r.choice([1, 1, 1, 2, 3])
        parts = [r.choice(["", str(first)]), r.choice(["", str(last)])]
        own = slice(int(parts[0]) if parts[0] else None, int(parts[1]) if parts[1] else None, step)
        length = len(range(*own.indices(size)))
        return f"{parts[0]}:{parts[1]}" + (f":{step}" if step > 1 else ""), length

    def _view_slice(self, text, shape):
        d = self.random.randrange(len(shape))
        own, length = self._slice(shape[d])
        if length == 0 and self.random.random() < 0.9:
            return text, shape, False
        shape[d] = length
        lead = ":, " * d if self.random.random() < 0.7 or len(shape) - d > 1 else "..., "
        return f"{text}[{lead}{own}]", shape, False

    def _view_rows(self, text, shape):
        """Several items in one index."""
        items, result = [], []
        for n in shape:
            kind = self.random.random()
            if kind < 0.35 and n:
                items.append(self.index(n))
            elif kind < 0.5:
                items.append("None")
                items.append(":")
                result += [1, n]
            else:
                items.append(":")
                result.append(n)
        return f"{text}[{', '.join(items)}]", result, False

    def _view_transpose(self, text, shape):
        i, j = self.random.randrange(len(shape)), self.random.randrange(len(shape))
        shape[i], shape[j] = shape[j], shape[i]
        return f"{text}.transpose({i}, {j})", shape, False

    def _view_permute(self, text, shape):
        order = list(range(len(shape)))
        self.random.shuffle(order)
        return f"{text}.permute({', '.join(map(str, order))})", [shape[d] for d in order], False

    def _view_movedim(self, text, shape):
        i, j = self.random.randrange(len(shape)), self.random.randrange(len(shape))
        shape.insert(j, shape.pop(i))
        return f"{text}.movedim({i}, {j})", shape, False

    def _view_unsqueeze(self, text, shape):
        d = self.random.randint(0, len(shape))
        return f"{text}.unsqueeze({d})", shape[:d] + [1] + shape[d:], False

    def _view_squeeze(self, text, shape):
        d = self.random.randrange(len(shape))
        return f"{text}.squeeze({d})", [n for i, n in enumerate(shape) if i != d or n != 1], False

    def _view_reshape(self, text, shape):
        """Of something dense, so that it is a view in any case."""
        return f"{text}.clone().view(-1)", [_count(shape)], False

    def _view_flatten(self, text, shape):
        return f"{text}.contiguous().reshape({_count(shape)})", [_count(shape)], False

    def _view_flip_step(self, text, shape):
        shape[0] = -(-shape[0] // 2)
        return f"{text}[::2]", shape, False

    def _view_narrow(self, text, shape):
        d = self.random.randrange(len(shape))
        if not shape[d]:
            return text, shape, False
        n = self.random.randint(1, shape[d])
        at = self.random.randint(0, shape[d] - n)
        shape[d] = n
        return f"{text}.narrow({d}, {at}, {n})", shape, False

    def _view_chunk(self, text, shape):
        d = self.random.randrange(len(shape))
        if shape[d] < 2:
            return text, shape, False
        size = -(-shape[d] // 2)
        shape[d] = size
        return f"{text}.chunk(2, {d})[0]", shape, False

    def _view_unbind(self, text, shape):
        d = self.random.randrange(len(shape))
        if not shape[d]:
            return text, shape, False
        at = self.random.randrange(shape[d])
        return f"{text}.unbind({d})[{at}]", shape[:d] + shape[d + 1 :], False

    def _view_expand(self, text, shape):
        if 1 in shape and self.random.random() < 0.3:
            d = shape.index(1)
            shape[d] = 3
            return f"{text}.expand({', '.join(map(str, shape))})", shape, True
        return text, shape, False

    def _view_diagonal(self, text, shape):
        if len(shape) < 2 or 0 in shape[:2]:
            return text, shape, False
        return f"{text}.diagonal(0, 0, 1)", shape[2:] + [min(shape[0], shape[1])], False

    # -- expressions ---------------------------------------------------------------------------------------------

    def operand(self, shape):
        """A fresh value that can be broadcast to a shape."""
        r = self.random
        same = [v for v in self.scope if v.shape == tuple(shape)]
        if same and r.random() < 0.7:
            v = r.choice(same)
            return r.choice([f"({v.name} + {self.number()})", f"({v.name} * 2)", f"{v.name}.clone()", f"(-{v.name})", f"{v.name}.abs()", f"({v.name} // 2)", f"({v.name} % 5)"])
        v = self.pick()
        text, got, _ = self.view(v.name, v.shape)
        if got == tuple(shape) or got == tuple(shape)[1:]:
            return f"({text} + {self.number()})"
        return r.choice([f"{v.name}.sum()", f"({v.name}.sum() % 7)", str(self.number()), f"torch.full({tuple(shape)}, {self.number()})", f"({text}.sum() - 3)"])

    def value(self, shape):
        """An expression of exactly a shape."""
        r = self.random
        a, b = self.operand(shape), self.operand(shape)
        pattern = r.choice(["{} + {}", "{} - {}", "torch.maximum({}, {})", "torch.where({} > 1, {}, {})", "({} * {}) % 11"])
        if pattern.startswith("torch.where"):
            made = f"torch.where(({a}) + torch.zeros({tuple(shape)}, dtype=torch.int64) > 1, {b}, {self.operand(shape)})"
        elif pattern.startswith("torch.maximum"):
            made = f"torch.maximum(torch.zeros({tuple(shape)}, dtype=torch.int64) + {a}, torch.zeros({tuple(shape)}, dtype=torch.int64) + {b})"
        else:
            made = "(" + pattern.format(a, b) + ")"
        return f"({made} + torch.zeros({tuple(shape)}, dtype=torch.int64))"

    def condition(self):
        r = self.random
        v = self.pick(lambda v: _count(v.shape) > 0)
        test = r.choice([f"{v.name}.sum() > {self.number()}", f"{v.name}.sum() % 2 == 0", f"({v.name} > {self.number()}).any()", f"int({v.name}.max()) > {self.number()}"])
        if self.counters and r.random() < 0.4:
            name, most = r.choice(self.counters)
            test = r.choice([f"{name} == {r.randrange(most)}", f"{name} > {r.randrange(most)} and {test}", f"{test} or {name} < 1"])
        return test

    # -- statements ---------------------------------------------------------------------------------------------------

    def write(self):
        r = self.random
        for i in range(r.randint(2, 4)):
            shape = [r.choice([1, 2, 3, 4, 5]) for _ in range(r.randint(1, 3))]
            self.arguments.append((tuple(shape), "int64"))
            self.scope.append(Variable(f"a{i}", shape, "int64"))
        self.put(0, f"def program({', '.join(v.name for v in self.scope)}):")
        self.put(1, "olds = []")
        self.block(1, r.randint(5, 11), self.depth)
        # Not all of them: names that nothing reads after a loop are carried differently.
        found = [v.name for v in self.scope if not v.name.startswith("a") and self.random.random() < 0.7][:8]
        self.put(1, f"return [{', '.join(found + ['*olds'])}]")
        return "\n".join(self.lines) + "\n"

    def block(self, indent, count, depth):
        """Statements; names that they bind are gone after a nested block."""
        before = len(self.lines)
        for _ in range(count):
            kind = self.random.random()
            if depth and kind < 0.28:
                getattr(self, "_" + self.random.choice(["branch", "branch", "for", "for", "while", "merge", "carried", "gather", "call", "recurrence"]))(indent, depth)
            elif kind < 0.72:
                self._mutate(indent)
            elif kind < 0.88:
                self._define(indent)
            elif indent == 1 and kind < 0.94:
                v = self.pick()
                self.put(indent, f"olds.append({v.name}{self.random.choice(['.clone()', ' + 0', ' * 1'])})")
            else:
                self._rebind(indent)
        if len(self.lines) == before:
            self.put(indent, "pass")

    def nested(self, indent, depth):
        saved = list(self.scope)
        self.block(indent, self.random.randint(1, 4), depth - 1)
        self.scope = saved

    def _define(self, indent):
        v = self.pick(lambda v: v.shape)
        name = self.fresh()
        if v is None or self.random.random() < 0.3:
            v = self.pick()
            self.put(indent, f"{name} = {self.value(v.shape)}")
            self.scope.append(Variable(name, v.shape, "int64"))
            return
        text, shape, repeats = self.view(v.name, v.shape)
        self.put(indent, f"{name} = {text}")
        self.scope.append(Variable(name, shape, "int64", v.writable and not repeats))

    def _rebind(self, indent):
        v = self.pick(lambda v: not v.name.startswith("a"))
        if v is None:
            return self._mutate(indent)
        self.put(indent, f"{v.name} = {self.value(v.shape)}")

    def _mutate(self, indent):
        r = self.random
        v = self.pick(lambda v: v.writable)
        text, shape, repeats = (v.name, v.shape, False) if r.random() < 0.4 else self.view(v.name, v.shape)
        if repeats or text == v.name and not v.writable:
            text, shape = v.name, v.shape
        ways = ["add", "augmented", "item", "copy", "fill", "clamp", "masked", "zero", "mask_item", "sub"]
        if shape and 0 not in shape:
            ways += ["index", "index_add", "cumulate"]
        way = r.choice(ways)
        if way == "add":
            self.put(indent, f"{text}.add_({self.operand(shape)})")
        elif way == "sub":
            self.put(indent, f"{text}.sub_({self.operand(shape)}, alpha=2)")
        elif way == "augmented" and text == v.name:
            self.put(indent, f"{text} {r.choice(['+=', '-=', '*='])} {self.operand(shape)}")
        elif way == "augmented" or way == "item":
            self.put(indent, f"{text}[...] = {self.operand(shape)}")
        elif way == "copy":
            self.put(indent, f"{text}.copy_(torch.zeros({tuple(shape)}, dtype=torch.int64) + {self.operand(shape)})")
        elif way == "fill":
            self.put(indent, f"{text}.fill_({self.number()})")
        elif way == "clamp":
            self.put(indent, f"{text}.clamp_({r.randint(-5, 0)}, {r.randint(1, 20)})")
        elif way == "masked":
            self.put(indent, f"{text}.masked_fill_({text} > {self.number()}, {self.number()})")
        elif way == "zero":
            self.put(indent, f"{text}.zero_()")
        elif way == "mask_item":
            self.put(indent, f"{text}[{text} < {self.number()}] = {self.number()}")
        elif way == "index":
            places = [r.randint(-shape[0], shape[0] - 1) for _ in range(r.randint(1, 3))]
            places = list({p % shape[0]: p for p in places}.values())
            self.put(indent, f"{text}[torch.tensor({places})] = {self.number()}")
        elif way == "index_add":
            places = [r.randint(0, shape[0] - 1) for _ in range(3)]
            self.put(indent, f"{text}.index_add_(0, torch.tensor({places}), torch.full(({', '.join(map(str, (3, *shape[1:])))},), {self.number()}))")
        else:
            self.put(indent, f"{text}.copy_({text}.cumsum(0))")

    # -- control flow -----------------------------------------------------------------------------------------------------

    def _branch(self, indent, depth):
        self.put(indent, f"if {self.condition()}:")
        self.nested(indent + 1, depth)
        if self.random.random() < 0.3:
            self.put(indent, f"elif {self.condition()}:")
            self.nested(indent + 1, depth)
        if self.random.random() < 0.6:
            self.put(indent, "else:")
            self.nested(indent + 1, depth)
        if self.loops and self.random.random() < 0.25:
            self.put(indent, f"if {self.condition()}:")
            self.put(indent + 1, self.random.choice(["break", "continue"]))

    def _for(self, indent, depth):
        r = self.random
        name = self.fresh("i")
        most = r.randint(1, 5)
        v = self.pick(lambda v: v.shape and v.shape[0] > 0 and v.writable)
        if v is not None and r.random() < 0.3:
            row = self.fresh()
            self.put(indent, f"for {name}, {row} in enumerate({v.name}):")
            most = v.shape[0]
            extra = Variable(row, v.shape[1:], "int64", v.writable)
        else:
            self.put(indent, f"for {name} in range({r.choice([str(most), f'{most - 1}, -1, -1', f'0, {most}'])}):")
            extra = None
        saved, self.loops = list(self.scope), self.loops + 1
        self.counters.append((name, most))
        if extra is not None:
            self.scope.append(extra)
        self.block(indent + 1, r.randint(1, 4), depth - 1)
        self.counters.pop()
        self.scope, self.loops = saved, self.loops - 1

    def _while(self, indent, depth):
        r = self.random
        name, most = self.fresh("k"), r.randint(1, 5)
        self.put(indent, f"{name} = 0")
        test = f"{name} < {most}" + (f" and ({self.condition()})" if r.random() < 0.6 else "")
        self.put(indent, f"while {test}:")
        saved, self.loops = list(self.scope), self.loops + 1
        self.counters.append((name, most))
        self.put(indent + 1, f"{name} += 1")
        # After the step the counter reaches `most`.
        self.counters[-1] = (name, most + 1)
        self.block(indent + 1, r.randint(1, 3), depth - 1)
        self.counters.pop()
        self.scope, self.loops = saved, self.loops - 1

    def _merge(self, indent, depth):
        """A view that is one of two."""
        v = self.pick(lambda v: v.shape and v.shape[0] > 1 and v.writable)
        if v is None:
            return self._define(indent)
        name = self.fresh()
        w = self.pick(lambda w: w.shape == v.shape and w.writable) or v
        i, j = self.random.randrange(v.shape[0]), self.random.randrange(v.shape[0])
        self.put(indent, f"{name} = {v.name}[{i}] if {self.condition()} else {w.name}[{j}]")
        self.put(indent, f"{name}.add_({self.number()})")
        self.scope.append(Variable(name, v.shape[1:], "int64"))

    def _carried(self, indent, depth):
        """A view that a loop carries, and moves on."""
        v = self.pick(lambda v: v.shape and v.shape[0] > 1 and v.writable)
        if v is None:
            return self._define(indent)
        name, counter = self.fresh(), self.fresh("i")
        self.put(indent, f"{name} = {v.name}[0]")
        self.put(indent, f"for {counter} in range({v.shape[0]}):")
        self.put(indent + 1, f"{name}.add_({self.number()})")
        self.put(indent + 1, f"{name} = {v.name}[{counter}]")
        if self.random.random() < 0.5:
            self.put(indent + 1, f"{v.name}[{counter}] *= 2")
        self.scope.append(Variable(name, v.shape[1:], "int64"))

    def _recurrence(self, indent, depth):
        """A value that only the next iteration reads, with exits before and after it changes."""
        r, v = self.random, self.pick(lambda v: v.writable)
        name, counter = self.fresh("s"), self.fresh("i")
        self.put(indent, f"{name} = {v.name} + 1")
        self.put(indent, f"for {counter} in range({r.randint(2, 5)}):")
        if r.random() < 0.5:
            self.put(indent + 1, f"if {counter} == {r.randint(0, 3)} {r.choice(['and', 'or'])} {v.name}.sum() % 3 == 1:")
            self.put(indent + 2, r.choice(["continue", "break"]))
        self.put(indent + 1, f"{v.name}.add_({name} % 3)")
        self.put(indent + 1, f"{name} = {name} * 2 - {v.name}")
        if r.random() < 0.6:
            self.put(indent + 1, f"if {name}.sum() > {self.number()}:")
            self.put(indent + 2, r.choice(["continue", "break"]))
            self.put(indent + 1, f"{name} = {name} + {counter}")

    def _gather(self, indent, depth):
        """A list that a loop fills."""
        v = self.pick(lambda v: v.shape and v.shape[0] > 0)
        name, items, counter = self.fresh(), self.fresh("l"), self.fresh("i")
        if v is None:
            return self._define(indent)
        self.put(indent, f"{items} = []")
        self.put(indent, f"for {counter} in range({v.shape[0]}):")
        self.put(indent + 1, f"{items}.append({v.name}[{counter}] + {counter})")
        self.put(indent, f"{name} = torch.stack({items})")
        self.scope.append(Variable(name, v.shape, "int64"))

    def _call(self, indent, depth):
        """A function of its own that writes into what it gets and returns a view."""
        v = self.pick(lambda v: v.shape and v.shape[0] > 0 and v.writable)
        if v is None:
            return self._define(indent)
        name = self.fresh()
        self.put(indent, f"{name} = {self.random.choice(['change_first', 'change_all', 'maybe_change'])}({v.name}, {self.number()})")
        self.scope.append(Variable(name, v.shape[1:], "int64"))


HELPERS = '''import torch


def change_first(x, k):
    x[0] = x[0] + k
    return x[-1]


def change_all(x, k):
    y = x.view(x.shape)
    for i in range(x.shape[0]):
        y[i].mul_(2)
        y[i] -= k
    return y[0]


def maybe_change(x, k):
    if x.sum() > k:
        x.clamp_(-k * k, 7)
        return x[0]
    return x[-1]


'''


def program(seed):
    """(text, arguments) of program number `seed`."""
    writer = Writer(seed)
    return writer.write(), writer.arguments
