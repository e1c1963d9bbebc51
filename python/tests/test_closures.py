# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions in functions that assign names of outside, copies of Python's library, and numbers that loops make tensors, beside eager PyTorch."""

import copy
import json
import unittest

from fractaltensor import torch as ftt
from test_promises import ENGINES, HAS_TORCH, flat

if HAS_TORCH:
    import torch

PROGRAMS = {}


def program(make):
    """Registers a function with what makes its arguments from a generator."""
    def register(function):
        PROGRAMS[function.__name__] = (function, make)
        return function

    return register


def normal(*sizes):
    return lambda g: [torch.randn(*size, generator=g) for size in sizes]


@program(normal((7, 13), (13,)))
def totals(x, b):
    """The name is an argument of nothing: each call adds to it."""
    total = torch.zeros(())
    calls = 0

    def step(row, scale=1.0):
        nonlocal total, calls
        row.mul_(scale).add_(b)
        total = total + row.sum()
        calls += 1
        return row

    for i in range(x.shape[0]):
        r = step(x[i], scale=i + 1)
        if i % 3 == 1:
            step(r)
    return total, calls


@program(normal((60, 3)))
def best_so_far(x):
    """Some paths of the call assign, and some calls are under a condition."""
    best, at = x[0].sum(), torch.tensor(0)

    def look(i):
        nonlocal best, at
        s = x[i].sum()
        if s > best:
            best = s
            at = torch.tensor(1) * i

    for i in range(1, x.shape[0]):
        if x[i, 0] > 0:
            look(i)
    return best, at


@program(lambda g: [torch.randint(-5, 6, (40,), generator=g)])
def counted(x):
    n = 0

    def more():
        nonlocal n
        n += 1
        return n

    for i in range(40):
        if x[i] > 2:
            x[i] = more()
    return x, n


@program(normal((5, 4)))
def inside_of_another(x):
    """A function in a function in a function."""
    def outer(y):
        seen = y.sum()

        def inner(z):
            nonlocal seen
            seen = seen * 2 + z.sum()

        for k in range(3):
            inner(y + k)
        return seen

    return outer(x), outer(x[1:])


@program(lambda g: [torch.randint(0, 12, (12,), generator=g)])
def roots(p):
    """A number that a loop makes an index; the loop may have no iteration."""
    p = torch.minimum(p, torch.arange(12))
    for i in range(12):
        a = i
        while p[a] != a:
            a = p[a]
        p[i] = a
    return p


@program(lambda g: [torch.randn(30, generator=g), 0.25])
def sums_until(x, least):
    s, i = 0.5, 0
    while i < 30 and x[i] > least - 3:
        s = s * 0.5 + x[i]
        i += 1
    return s * x, i


@program(normal((40, 3)))
def called_in_comprehensions(x):
    """Few items stay a comprehension, many become a loop; a dictionary's key comes before its value."""
    total, calls = torch.zeros(()), 0

    def step(row):
        nonlocal total, calls
        total = total * 0.5 + row.sum()
        calls += 1
        return total

    few = [step(row) for row in (x[0], x[1])]
    many = [step(x[i]) for i in range(40)]
    by_call = {calls: step(x[2]) * calls for _ in range(3)}
    last = (step(x[3]), {calls: step(x[4])}, calls)
    return few, torch.stack(many), list(by_call), list(by_call.values()), last, total, calls


@program(lambda g: [torch.randint(-3, 4, (12,), generator=g)])
def called_under_conditions(n):
    """What a call binds holds where the call is evaluated alone."""
    k, m = 0, torch.tensor(1)

    def more(by):
        nonlocal k
        k += by
        return k > 2

    def twice():
        nonlocal m
        m = m * 2
        return n[0] < 5

    out = torch.zeros(12, 5, dtype=torch.int64)
    for i in range(12):
        if n[i] > 0 and more(1):
            out[i, 0] = k
        if n[i] > 1 or more(2) or twice():
            out[i, 1] = k + m
        out[i, 2] = k if n[i] < 0 < k and twice() else -k
        if 0 < n[i] < k < more(1) + 2 * m and more(1):
            out[i, 3] = k
        j = int(n[i])
        out[i, 4] = j if j > 0 and j < 3 and more(1) else k
    assert k >= 0, f"{more(5)}"
    return out, k, m


@program(lambda g: [torch.randn(20, generator=g)])
def called_in_conditions_of_loops(x):
    i, s = 0, torch.zeros(())

    def goes_on():
        nonlocal i, s
        i += 1
        s = s + x[i]
        return s < 1.5 and i < 18

    rounds = 0
    while goes_on():
        rounds += 1
    seen = s
    while rounds < 40 and (goes_on() or i < 10):
        rounds += 2
        if i > 16:
            break
    return i, s, seen, rounds


@program(normal((5, 2)))
def generators(x):
    """Items that are taken at once, or of which nothing has changed; an iterator is empty when it has been gone over."""
    k = 1

    def more(by):
        nonlocal k
        k = k * 2 + by
        return k

    first = sum(more(i) for i in range(3)), list(map(more, (1, 2))), max(more(i) for i in (2, 0))
    rows = (row * 2 for row in x)
    y = x + 1
    second = next(rows), list(rows), list(rows)

    def pair(row):
        rows = []
        for i in range(2):
            rows.append(row * i)
        return torch.stack(rows)

    a, b = map(more, (1, 2))
    c, d = (more(i) for i in range(2))
    third = [rows * 2 for rows in map(pair, x)], [a, b, c, d], [p + q for p, q in zip((pair(row) for row in x), x)]
    return third, first, second, y, [a + b for a, b in zip(map(lambda row: row * k, x), reversed(x))], k


@program(normal((5, 2)))
def lists_of_paths(x):
    """Lists that data choose are the program's own where nothing else has them, and copies are."""
    first = [x[0], x[1]]
    if x[0, 0] > 0:
        first = [x[1], x[0] * 2]
    first[0] = first[0] + 1
    kept = [x, x + 1]
    second = list(kept if x[1, 0] > 0 else [x * 2, x])
    second.append(x)
    for i in range(40):
        first = [first[1] + 1, first[0]]
        first[1] = first[1] * 0.5
    return first, kept, second


@program(normal((5, 2)))
def beside_names_of_comprehensions(x):
    """A function sees the names of where it is defined, not those of the comprehension that calls it."""
    row, k = x[0], 3

    def shown(y):
        return y + row * k

    return [shown(row) for row in x], [shown(row) for row in [y + k for k in range(2) for y in (x[1], x[2])]], [(lambda: row * k)() for k in range(2)], row, k


@program(normal((4, 3), (4, 3)))
def copies(x, y):
    same, other = copy.copy(x), copy.deepcopy(x)
    same.add_(1)
    states = {"a": [x, y[0]], "b": x}
    again = copy.deepcopy(states)
    again["a"][0].mul_(2)
    short = copy.copy(states["a"])
    short.append(x)
    return other, again["a"], again["b"], len(states["a"]), len(short)


@unittest.skipUnless(HAS_TORCH, "PyTorch is not installed")
class Closures(unittest.TestCase):
    def test_as_eager(self):
        for name, (function, make) in PROGRAMS.items():
            for engine in ENGINES:
                theirs, ours = (make(torch.Generator().manual_seed(1)) for _ in range(2))
                with self.subTest(name, engine=engine):
                    found = flat([ftt.script(function, engine=engine)(*ours), ours])
                    expected = flat([function(*theirs), theirs])
                    self.assertEqual([type(x) for x in found], [type(x) for x in expected])
                    for a, b in zip(found, expected):
                        if isinstance(b, torch.Tensor):
                            torch.testing.assert_close(a, b, rtol=1e-5, atol=1e-5)
                        else:
                            self.assertEqual(a, b)

    def test_numbers_that_halves_round(self):
        """0.1 beside halves is 0.1 of f32: no tensor of halves has it."""
        def until(x, least):
            s = 0.1
            while x[0] < least:
                s = x[0] * 2
                x = x + 1
            return s * x

        x = torch.linspace(0.3, 2, 64).half()
        for least in (0.0, 5.0):
            try:
                found = ftt.script(until, engine="interpret")(x, least)
            except ftt.ScriptError:
                continue
            torch.testing.assert_close(found, until(x, least), rtol=0, atol=0)

    def test_what_is_refused(self):
        total = 0

        def outside(x):
            nonlocal total
            total = x.sum()
            return x

        def through_another(x):
            n = 0

            def more():
                nonlocal n
                n = n + 1

            def twice():
                more()
                more()

            twice()
            return x * n

        def reads_meanwhile(x):
            s = x.sum()

            def shown():
                return s

            def more():
                nonlocal s
                s = s + 1
                return shown()

            return more()

        def shared(x):
            return copy.deepcopy([x, x[0]])

        def in_json(x):
            return json.loads(json.dumps(x))

        def by_one_name(x):
            total = x.sum()

            def more(y):
                nonlocal total
                total = total + y.sum()
                return total

            return [more(total) for total in x]

        def of_another_kind(x):
            n = 1

            def f():
                nonlocal n
                n = x.sum() * n
                return n

            while f() < 3:
                x = x + 1
            return n

        def later(x):
            k = 1

            def more():
                nonlocal k
                k = k + 1
                return k

            items = (more() for _ in range(3))
            return x * k, next(items)

        def one_of_them(x):
            k = 1

            def more():
                nonlocal k
                k = k + 1
                return k

            return x * any(more() > 2 for _ in range(3)), k

        def changed_since(x):
            k = 1
            items = map(lambda row: row * k, x)
            k = 2
            return list(items)

        def written_since(x):
            items = (row.sum() for row in x[:2, None])
            x.add_(1)
            return sum(items)

        def twice(x):
            pairs = zip(x, range(3))
            return [a * b for a, b in pairs] + [b for a, b in pairs]

        def in_each_round(x):
            pairs = enumerate([x, x])
            for _ in range(3):
                for i, row in pairs:
                    x = x + row * i
            return x

        def two_lists(x):
            items = [x]
            others = items
            if x.sum() > 0:
                items = [x + 1]
            items.append(x)
            return x * len(others)

        def in_rounds(x):
            states = first = [x, x]
            for i in range(3):
                states[0] = states[0] + 1
                if x.sum() > i:
                    states = [states[1], states[0]]
            return first[0]

        def by_a_function(x):
            def more(items):
                items["a"] = x
                return items

            named = {"a": x * 2}
            return more(named if x.sum() > 0 else {"a": x}), named["a"]

        for function, message in (
            (two_lists, "in a list that data choose among several"), (in_rounds, "in a list that data choose among several"),
            (by_a_function, "in a dict that data choose among several"), (later, "evaluates each where it is asked for"), (one_of_them, "evaluates each where it is asked for"), (changed_since, "may have changed since"),
            (written_since, "may have changed since"), (twice, "is gone over twice"), (in_each_round, "in a loop that it is made before"),
            (by_one_name, "a comprehension that calls it has an own 'total'"), (of_another_kind, "'n' is"), (outside, "defined outside of the compiled one"), (through_another, "more assigns names of the function around it"),
            (reads_meanwhile, "'s' has no value on some paths that lead here: more assigns it"), (shared, "two share their elements"),
            (in_json, "json.dumps of Python's library cannot be compiled"),
        ):  # fmt: skip
            with self.subTest(function.__name__), self.assertRaisesRegex(ftt.ScriptError, message) as caught:
                ftt.script(function, engine="interpret")(torch.ones(3))
            self.assertNotIn("/json/", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
