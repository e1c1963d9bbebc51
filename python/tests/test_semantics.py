# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Python means, construct by construct, in compiled functions: results and arguments are those of eager PyTorch, or there is an
error with its place. Nothing is guessed, and nothing that a call does happens once, when the function is compiled."""

import collections
import collections.abc
import dataclasses
import functools
import operator
import os
import random
import sys
import tempfile
import time
import unittest

import numpy as np

import fractaltensor as ft
from fractaltensor import torch as ftt
from test_promises import ENGINES, HAS_TORCH, Against, flat, whole

if HAS_TORCH:
    import torch
    import torch.nn.functional as F

    ACTIVATION = torch.relu

TIMES_THREE = functools.partial(operator.mul, 3)


class Refuses(Against):
    def same(self, function, *arguments):
        """As eager, in results, arguments, and types of both; however it is divided."""
        for engine in ENGINES:
            script = ftt.script(function, engine=engine)
            for call in range(2):
                ours, theirs = ([a.clone() if isinstance(a, torch.Tensor) else a for a in arguments] for _ in range(2))
                with self.subTest(function=function.__name__, engine=engine, call=call):
                    found, expected = flat([script(*ours), ours]), flat([function(*theirs), theirs])
                    self.assertEqual([type(x) for x in found], [type(x) for x in expected])
                    for a, b in zip(found, expected):
                        self.assertTrue(torch.equal(a, b) or torch.allclose(a, b, equal_nan=True) if isinstance(b, torch.Tensor) else a == b or a != a and b != b, f"{a} {b}")

    def refuses(self, function, text, *arguments, kind=ftt.ScriptError):
        for engine in ENGINES:
            before = [a.clone() if isinstance(a, torch.Tensor) else a for a in arguments]
            with self.subTest(function=function.__name__, engine=engine):
                with self.assertRaisesRegex(kind, rf"test_semantics.py:\d+:\d+: error: {text}"):
                    ftt.script(function, engine=engine)(*arguments)
                for a, b in zip(arguments, before):
                    self.assertTrue(torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b)


class Loops(Refuses):
    def test_conditions_that_are_false_at_once_do_what_they_do(self):
        def changed(t):
            t += 1
            return False

        def alone(x):
            while changed(x):
                x *= 100
            return x

        def in_a_loop(x):
            for _ in range(3):
                while changed(x):
                    x *= 3
            return x

        def partly(x, n):
            k = 0
            while x.add_(1) is not None and k < n:
                k += 1
            return k

        def short(x, n):
            while n < 0 and changed(x):
                pass
            while changed(x) if n == 0 else True:
                break
            return x

        def before_a_change_of_kind(x, n):
            """The first iteration is compiled apart only where there is one."""
            last = None
            while changed(x) or n > 3:
                last = x.sum()
                n -= 1
            return x if last is None else last

        for function in (alone, in_a_loop):
            self.same(function, whole(3))
        for function, numbers in ((partly, (0, 1, 3)), (short, (0, 1)), (before_a_change_of_kind, (0, 5))):
            for n in numbers:
                self.same(function, whole(3), n)

    def test_a_condition_binds_a_name(self):
        def read_after(x):
            k = 0
            while (s := x.sum()) < 90 and k < 5:
                x += 1
                k += 1
            return s, k

        def read_inside(x):
            while (s := x.abs().sum()) < 900:
                x += s
            return x

        def another_kind_before(x):
            s = None
            while (s := x.abs().sum()) < 90:
                x = x * 2
            return s

        def on_one_path(x):
            s, k = x[0].clone(), 0
            while k < 3 and (s := x.sum() + k) < 100:
                k += 1
            return s, k

        def a_number(x):
            n = 0
            while (m := n * 2) < 6:
                n += 1
                x[m % 3] += m
            return m, n

        for function in (read_after, read_inside, another_kind_before, on_one_path, a_number):
            self.same(function, whole(3))

    def test_loops_that_only_return_ends(self):
        def forever(x):
            n = 0
            while True:
                n += 1
                x = x * 2
                if x.abs().sum() > 50:
                    return x, n

        def from_a_loop_inside(x):
            while 1:
                for i in range(2):
                    x[i] += 3
                    if x[i] > 10:
                        return i

        def broken_too(x):
            n = 0
            while True:
                n += 1
                if x.sum() > 50:
                    return x, n
                if n > 3:
                    break
                x = x * 2
            return x * 0, -n

        for function in (forever, from_a_loop_inside, broken_too):
            for seed in (0, 1):
                self.same(function, whole(3, seed=seed))

    def test_else_and_exits(self):
        def searched(x, v: int):
            for i in range(x.shape[0]):
                for j in range(x.shape[1]):
                    if x[i, j] == v:
                        break
                else:
                    x[i] += 1
                    continue
                break
            else:
                return -1
            return i * 10 + j

        def counted(x, v: int):
            k = 0
            while k < 4:
                k += 1
                if x[k % 3, 0] == v:
                    continue
                x[0, 0] += k
            else:
                x -= 1
            return k

        for v in (-9, 0, 3):
            self.same(searched, whole(3, 4), v)
            self.same(counted, whole(3, 4), v)


class Functions(Refuses):
    def test_defaults_are_evaluated_at_def(self):
        def in_a_loop(x):
            made = []
            for k in range(3):
                def scaled(t, k=k):
                    return t * k
                made.append(scaled)
            return [f(x) for f in made]

        def rebound(x):
            k, y = 1, x.clone()
            def added(t, k=k, *, s=y):
                return t + k + s
            k, y = 50, y * 100
            return added(x), k

        def written(x):
            k = x[0].clone()
            added = lambda t, s=k: t + s  # noqa: E731
            k += 100
            return added(x)

        def kept(x):
            def counted(t, seen=[]):  # noqa: B006
                seen.append(t.sum())
                return len(seen)
            return counted(x), counted(x)

        for function in (in_a_loop, rebound, written, kept):
            self.same(function, whole(3))

    def test_closures_see_what_names_are_when_they_are_called(self):
        def late(x):
            k = 1
            def added(t):
                return t + k
            k = 5
            return added(x)

        def in_comprehensions(x):
            return [f(x) for f in [lambda t: t * k for k in range(3)]], [(lambda t: t + k)(x) for k in range(2)], [f(x) for f in [lambda t, k=k: t * k for k in range(3)]]

        def nested(x):
            def outer(a):
                def inner(b):
                    return a * b + x.sum()
                return inner
            return outer(2)(x), outer(x)(3)

        pair = [lambda t: t + 1, lambda t: t * 2]

        def of_one_line(x):
            return [f(x) for f in pair]

        for function in (late, in_comprehensions, nested, of_one_line):
            self.same(function, whole(3))

    def test_functions_of_one_def(self):
        """What a `def` makes several times may call one another; what calls itself is refused."""
        def decorated(by):
            def decorate(f):
                def wrapper(t):
                    return f(t) * by
                return wrapper
            return decorate

        @decorated(3)
        @decorated(2)
        def outside(x):
            return x + 1

        def composed(x):
            def compose(*fs):
                return functools.reduce(lambda f, g: lambda t: g(f(t)), fs)
            return compose(lambda t: t + 1, lambda t: t * 2, torch.abs)(x), outside(x)

        def recursive(x):
            def again(n):
                return x if n == 0 else again(n - 1) + 1
            return again(2)

        def for_ever(x):
            def made(f):
                return made(lambda t: f(t) + 1)
            return made(lambda t: t)(x)

        self.same(composed, whole(3))
        self.refuses(recursive, "again calls itself", whole(3))
        self.refuses(for_ever, "made calls itself", whole(3))

    def test_dictionaries(self):
        def merged(x):
            d = {"a": x, "b": 1} | {"b": 2}
            e = d
            e |= {"c": x + 1}
            return list(d.values()), [v for k, v in d.items() if k != "a"], sorted(d), [v for v in (d | {"z": 1}).values()][-1]

        self.same(merged, whole(3))

    def test_calls(self):
        def many(x):
            def taken(a, /, b, *rest, c=3, **more):
                return a + b * 2 + sum(rest) + c + sum(more.values()), sorted(more)
            args, named = (x, 1), {"c": 4, "q": 5}
            return taken(*args), taken(x, *[2, 3], 4, **named), taken(x, b=2, z=1, y=2)

        def partial(x):
            scaled = functools.partial(torch.add, alpha=3)
            return scaled(x, x), TIMES_THREE(x), functools.reduce(lambda p, q: p * 2 + q, [x, x, x]), functools.reduce(operator.add, [1, 2], 3)

        def ordered(x):
            return sorted([3, 1, 2], key=lambda v: -v), max([1, 5, 2], key=lambda v: -v), min([], default=4), min(3, 2, 1, key=lambda v: v % 2)

        def generated(x):
            return next(i for i, n in enumerate((1, 5, 7)) if n > 2), next((v for v in x if False), None), list(filter(None, [1, 0, 2])), dict(zip("ab", x)), [y := x * 2, y + 1], y

        for function in (many, partial, ordered, generated):
            self.same(function, whole(3))

    def test_least_and_greatest_elements(self):
        """Tensors, as Python's `min` gives them; the first one stays where a comparison with NaN is false."""
        def extremes(x):
            return min(x[0], x[1]), max(x), min(x[2], x[1], x[0]), max(x[0].item(), x[1].item()), min(x[1].item(), x[0].item())

        nan = float("nan")
        for values in ([3.0, 2, 4], [nan, 2, 1], [3, nan, 5], [1, 2, nan]):
            self.same(extremes, torch.tensor(values))
        self.same(extremes, whole(3))

    def test_methods_of_base_classes(self):
        class Scaled(torch.nn.Linear):
            @property
            def by(self):
                return (2, 3)[1]

            def forward(self, x):
                return super().forward(x) * self.by

        class Twice(Scaled):
            def __init__(self, *sizes):
                super().__init__(*sizes)
                self.after = torch.nn.ModuleList([torch.nn.Tanh(), torch.nn.ReLU()])

            def helper(self, x):
                return super(Twice, self).forward(x) + torch.nn.Linear.forward(self, x)

            def forward(self, x):
                for name, p in self.named_parameters():
                    x = x + p.sum() * len(name)
                for module in self.after:
                    x = module(x)
                return self.helper(x)

        with torch.no_grad():
            for kind in (Scaled, Twice):
                module = kind(3, 3)
                self.same(module.forward, torch.ones(2, 3))
                # One form serves all calls, and sees new weights.
                script, programs = ftt.script(module), set()
                for k in range(3):
                    module.weight += k
                    programs.add(id(script.lower(torch.ones(2, 3))))
                    torch.testing.assert_close(script(torch.ones(2, 3)), module(torch.ones(2, 3)))
                self.assertEqual(len(programs), 1)


@dataclasses.dataclass
class Settings:
    width: int = 3
    by: float = 2.0


Pair = collections.namedtuple("Pair", "first second")
PAIR = Pair(1, 2)


class Drawn:
    def __init__(self):
        self.value = random.random()


class Effects(Refuses):
    def test_random_numbers_are_refused(self):
        def standard(x):
            return x * random.random()

        def inlined(x):
            return x * random.randint(0, 3)

        def of_numpy(x):
            return x * np.random.rand()

        def of_an_object(x):
            return x * Drawn().value

        def of_a_layer(x):
            return torch.nn.Linear(3, 3)(x)

        for function in (standard, inlined, of_numpy):
            self.refuses(function, ".* draws random numbers: draw them outside", whole(3))
        self.refuses(of_an_object, "test_semantics.Drawn makes an object: call it outside", whole(3))
        self.refuses(of_a_layer, ".*Linear makes an object: call it outside", whole(3).float())

    def test_what_does_more_than_compute_is_not_called(self):
        marks = os.path.join(os.path.dirname(__file__), "no-such-folder", "mark")

        def timed(x):
            return x * time.time()

        def shell(x):
            os.system("exit 3")
            return x

        def opened(x):
            open(marks, "w")
            return x

        def found(x):
            return x * id(x)

        called = []

        def hidden(x):
            called.append(1)
            return x

        for function in (timed, shell, opened, found):
            self.refuses(function, ".* depends on more than its arguments, or changes more than its result", whole(3))
        self.refuses(hidden, r".append\(\) changes items in a captured Python object", whole(3))
        self.assertEqual(called, [])

    def test_what_only_computes_is_called(self):
        def known(x):
            c = Settings(width=4)
            return x * c.width + c.by + np.sqrt(4.0) + operator.index(3), torch.finfo(torch.float32).max, torch.iinfo(x.dtype).min, "a-b".split("-"), bin(5), round(2.567, 1)

        self.same(known, whole(3))

    def test_iterators_from_outside(self):
        items = iter([1, 2, 3])

        def over(x):
            for v in items:
                x = x + v
            return x

        self.refuses(over, "an iterator from outside can be gone over only once", whole(3))
        self.assertEqual(list(items), [1, 2, 3])


class Attributes(Refuses):
    def test_what_tensors_say_of_themselves(self):
        def device(x):
            return x.device.type == "cpu", x.device.index is None, x.device == torch.device("cpu"), x.device == "cpu", x.device != "cpu", str(x.device), x.is_cuda, x.is_cpu

        def layout(x):
            return x.layout == torch.strided, x.nbytes, x.itemsize, x.element_size(), x.is_complex(), x.stride(), x.stride(0), x.grad is None, x.is_sparse, x.data is x

        def kinds(x):
            return type(x) is torch.Tensor, isinstance(x, torch.Tensor), isinstance(x, torch.LongTensor), isinstance(x, torch.FloatTensor), isinstance(x, (list, tuple)), type(x.shape[0]) is int, isinstance(x.shape, torch.Size), isinstance(x.dtype, torch.dtype), type([x]) is list, isinstance(x, collections.abc.Iterable), isinstance(x, collections.abc.Sequence), isinstance(x, torch.nn.Parameter), isinstance(x, object)

        def words(x):
            return f"{x.dtype} {x.shape[0]:03d} {2.5:.3f} {'a'!r} {x.shape}", str(x.dtype), f"{x.dtype!s:>14}"

        def functions(x):
            return ACTIVATION is torch.relu, ACTIVATION == F.relu, ACTIVATION is not torch.relu, torch.relu is torch.relu, x.max == x.max, callable(ACTIVATION), callable(x.sum), bool(x.is_contiguous)

        def has(x):
            return hasattr(x, "shape"), hasattr(x, "nonsense"), getattr(x, "nonsense", 5), getattr(x, "sum")(), hasattr([x], "append"), hasattr((1, 2), "foo")

        for function in (device, layout, kinds, words, functions, has):
            self.same(function, whole(3))

    def test_what_is_not_known_is_an_error(self):
        def of_a_tensor(x):
            return 1 if x.nonsense else 0

        def compared(x):
            return 1 if x.nonsense == 3 else 0

        def of_a_tuple(x):
            return 1 if (1, 2).foo == 3 else 0

        def of_a_type(x):
            return 1 if x.dtype.foo else 0

        def of_a_leaf(x):
            return 1 if x.is_leaf else 0

        self.refuses(of_a_tensor, "Tensor.nonsense is not supported", whole(3))
        self.refuses(compared, "Tensor.nonsense is not supported", whole(3))
        self.refuses(of_a_tuple, "'tuple' object has no attribute 'foo'", whole(3))
        self.refuses(of_a_type, "attribute 'foo' of an element type is not supported", whole(3))
        self.refuses(of_a_leaf, "Tensor.is_leaf is not supported", whole(3))

    def test_other_devices(self):
        def moved(x):
            return x.to("cuda:0")

        def made(x):
            return torch.zeros(3, device="cuda") + x

        def here(x):
            return x.to("cpu") + torch.zeros(3, device=x.device) + torch.ones(3, device=torch.device("cpu"))

        self.refuses(moved, "device cuda:0: the program runs on cpu", whole(3))
        self.refuses(made, "device cuda: the program runs on cpu", whole(3))
        self.same(here, whole(3))

    def test_without_pytorch(self):
        """Arrays of NumPy have a device, too."""
        code = "import sys; sys.modules['torch'] = None; sys.path.insert(0, {!r}); import numpy as np; from fractaltensor import torch\n"
        code = code.format(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        import subprocess

        text = "import torch\ndef f(x):\n    return (x * 2 if x.device.type == 'cpu' and x.device == torch.device('cpu') and x.device.index is None and not x.is_cuda else x), str(x.device)\n"
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "program.py"), "w") as file:
                file.write(text.replace("import torch", "from fractaltensor import torch"))
            done = subprocess.run([sys.executable, "-c", code + "import program; print(torch.script(program.f)(np.ones(2)))"], capture_output=True, text=True, cwd=folder)
        self.assertEqual((done.stdout, done.stderr[-300:]), ("(array([2., 2.]), 'cpu')\n", ""))


class Values(Refuses):
    def test_aliases(self):
        def positive(x):
            y = +x
            y[0] = 70
            torch.positive(x)[1] = 80
            return x

        def as_tensor(x):
            torch.as_tensor(x)[0] = 70
            torch.asarray(x)[1] = 80
            torch.as_tensor(x, dtype=torch.float64)[2] = 90
            return x

        def einsum(x):
            y = x.view(2, 2)
            torch.einsum("ij->ji", y)[0, 1] = 70
            torch.einsum("ii->i", y)[0] = 80
            torch.einsum("ij->i", y)[1] = 90
            return x

        for function in (positive, as_tensor, einsum):
            self.same(function, whole(4))

    def test_numbers_that_do_not_fit(self):
        def added(x):
            return x + 2**70

        def filled(x):
            return x.fill_(1000)

        def assigned(x):
            x[0] = 2**40
            return x

        def made(x):
            return torch.tensor(300, dtype=torch.int8)

        def full(x):
            return torch.full((2,), 1e39, dtype=torch.float32)

        def chosen(x):
            return torch.where(x > 0, x, 300)

        def infinite(x):
            return x.masked_fill(x > 0, float("inf"))

        small = torch.ones(3, dtype=torch.int8)
        self.refuses(added, "the number 1180591620717411303424 is not one of 64 bits", whole(3))
        for function, x in ((filled, small), (assigned, whole(3).int()), (made, small), (full, small), (chosen, small), (infinite, small)):
            with self.assertRaises((RuntimeError, OverflowError)):
                function(x.clone())
            self.refuses(function, ".* does not fit into elements of type", x)

        def wraps(x):
            return x * 300, x + 200, x.clamp(max=100), torch.where(x > 0, x, -128)

        def rounds(x):
            x[0] = 1e39
            return x, x.masked_fill(x > 5, 2.5)

        self.same(wraps, small)
        self.same(rounds, torch.ones(3, dtype=torch.float16))

        def cut(x):
            return x.masked_fill_(x > 0, 2.5)

        self.same(cut, whole(3))

    def test_tensors_without_dimensions(self):
        def read(x):
            x[()] -= 3
            x[...] = x * 2
            return x[()], x[...], x[None][0]

        self.same(read, torch.tensor(4))
        self.same(read, torch.tensor(4.5))

    def test_and_and_or_are_values(self):
        def either(x):
            return x[0] or x[1], x[0] and x[1], int(x[0]) or 7, int(x[1]) and 3, None or x, 0 or "q", [] or [1]

        def chosen(x):
            return x.sum() > 0 and x[0] or x[1], x.sum() > 0 and x[2] > 3 and x[0] or x[1] and x[2]

        def asked(x):
            if (x.sum() > 0 and x[0] > 1) or not (x[1] > 2 and x[0] < 3):
                x = x + 1
            assert x[0] > -100 and (x[1] > -100 or x[2] > 0)
            return x, 1 if x[0] > 0 and x[1] > 0 or x[2] > 0 else 2, [i for i in range(3) if i > 0 and not i == 2]

        def opposite(x):
            return ~(x[0] > 0 and x[1] > 0), ~(x[0] > 0 or x[1] > 0)

        def opposite_number(x):
            return ~(int(x[0]) > 0 and int(x[1]) > 0)

        def kept(x):
            """Two truths of tensors give one of the tensors, and what changes it changes that."""
            first, second = x > 0, x > 3
            both = first[0] and second[1] and first[2]
            one = second[0] or second[1]
            both |= second[2]
            one.logical_not_()
            return both, one, first, second

        def until(x):
            done = x[0] > 100
            steps = 0
            while not done and steps < 9:
                x += 1
                done = x[0] > 4 and x[1] > 6 or x[2] > 9
                steps += 1
            return x, done, steps

        for values in ([5, 9, 4], [0, 2, -8], [-1, 0, 7], [3, 0, 0]):
            for function in (either, chosen, asked, opposite, kept, until):
                self.same(function, torch.tensor(values))
        self.refuses(opposite_number, "~ of a truth", whole(3))

    def test_named_tuples(self):
        def exchanged(x):
            def swapped(q):
                return Pair(q.second, second=q.first)
            p = Pair(x[0], second=x[1])
            if x.sum() > 0:
                p = swapped(p)
            return p.first, p._replace(first=x[2]).first, isinstance(p, Pair), type(p) is Pair, PAIR.second, x.__class__ is torch.Tensor

        def returned(x):
            return Pair(x, PAIR)

        for seed in range(3):
            self.same(exchanged, whole(3, seed=seed))
        def sizes(x):
            return x.shape, x.view(1, -1).shape

        self.assertEqual([type(s) for s in ftt.script(sizes)(whole(3))], [torch.Size, torch.Size])
        found = ftt.script(returned)(whole(3))
        self.assertIs(type(found), Pair)
        self.assertEqual((found.second, type(found.second)), (PAIR, Pair))

    def test_lists_that_are_arguments(self):
        def changed(x, d):
            d["a"] += 1
            d["b"] = x
            return d

        def appended(x, xs):
            xs.append(x)

        self.refuses(changed, "an item is assigned in a dict that is an argument: .*return what is new", whole(3), {"a": 1})
        self.refuses(appended, r".append\(\) changes items in a list that is an argument", whole(3), [1])

    def test_booleans_are_not_subtracted(self):
        def python(x):
            x -= True
            return x

        def tensor(x):
            return x - (x > 0)

        self.refuses(python, "subtraction is not defined on bool", whole(3))
        self.refuses(tensor, "subtraction is not defined on bool", whole(3))


class Messages(Refuses):
    def test_what_python_refuses_has_a_place(self):
        def text(x):
            return int("a") * x

        def signed(x):
            return -"a"

        def compared(x):
            return x.shape > 3

        def counted(x):
            return range(0, 3, 0)[0] + x

        def measured(x):
            return len(5)

        def called(x):
            return x()

        def joined(x):
            return torch.cat(x), torch.stack(x)

        def listed(x):
            return max([])

        def twice(x):
            return dict(a=1, **{"a": 2})

        for function, message in (
            (text, "ValueError: invalid literal for int"), (signed, "TypeError: bad operand type for unary -: 'str'"), (compared, "TypeError: '>' not supported"),
            (counted, r"ValueError: range\(\) arg 3 must not be zero"), (measured, r"TypeError: object of type 'int' has no len\(\)"), (called, "a value of type Tensor cannot be called"),
            (joined, r"cat: expects a list or tuple of tensors, found a tensor\n.*\n.*\n.*: error: stack: expects"), (listed, r"max\(\) of no items"), (twice, "two values for the keyword 'a'"),
        ):
            self.refuses(function, message, whole(3))

    @unittest.skipIf(sys.version_info < (3, 10), "Python has no match")
    def test_sizes_that_pytorch_looks_at(self):
        def outer(x):
            return torch.outer(x, x)

        def layer_norm(x):
            return F.layer_norm(x, (3,))

        def cross_entropy(x):
            return F.cross_entropy(x, x[0].long())

        def shares(x):
            return F.cross_entropy(x, x[0])

        def one_hot(x):
            return F.one_hot(x, 3)

        def number(x):
            return float(x)

        def backwards(x):
            return torch.arange(5, 0)

        def stands(x):
            return torch.arange(0, 5, 0)

        def truths(x):
            return x.bool() % x.bool()

        x = torch.ones(2, 4)
        for function, text in (
            (outer, "outer: expects tensors of one dimension"), (layer_norm, r"layer_norm: float32\[2, 4\] does not end with the sizes \[3\]"),
            (cross_entropy, r"nll_loss: a target int64\[4\] does not fit"), (shares, r"cross_entropy: a target float32\[4\] does not fit"),
            (one_hot, "one_hot: expects classes of type int64"), (number, "a number is a tensor of one element"),
            (backwards, "arange: from 5 one does not come to 0"), (stands, "arange: the step must not be 0"), (truths, "remainder is not defined on bool"),
        ):
            self.assertRaises((RuntimeError, ValueError), function, x)
            self.refuses(function, text, x)

    def test_match(self):
        from test_script import load

        with tempfile.TemporaryDirectory() as folder:
            module = load("matching", "def f(x):\n    match x.shape[0]:\n        case 3:\n            x = x * 2\n    return x\n", folder)
            with self.assertRaisesRegex(ftt.ScriptError, "matching.py:2:5: error: match cannot be compiled"):
                ftt.script(module.f)(whole(3))

    def test_what_cannot_be_returned_has_a_place(self):
        def method(x):
            return x, [x.sum]

        def function(x):
            def inner(t):
                return t
            return {"a": inner}

        def op(x):
            if x.shape[0] == 3:
                return torch.add
            return x

        self.refuses(method, r"a compiled function cannot return a function \(sum\)", whole(3))
        self.refuses(function, r"a compiled function cannot return a function \(inner\)", whole(3))
        self.refuses(op, r"a compiled function cannot return an operator \(torch.add\)", whole(3))

    def test_names_of_what_was_written(self):
        def chosen(x):
            return x if x.sum() > 0 else None

        def returned(x):
            for v in x:
                if v > 3:
                    return v, "big"
            return x[0], "none"

        def viewed(x):
            return x.view(2, 2)

        self.refuses(chosen, "the two sides of 'if' do not agree: its value is a tensor .* on one path and None on another", whole(3))
        self.refuses(returned, r"what returned\(\) returns differs between its paths: item \[1\] of it is 'none' on one path and 'big' on another", whole(3))
        self.refuses(viewed, r"view: int64\[3\] has 3 elements, the new sizes have 4", whole(3))

    def test_dimensions_are_those_of_what_is_indexed(self):
        def first(x, i):
            return x[0, i[0]]

        def both(x, i):
            return x[i[1], i[0]]

        def written(x, i):
            x[i[1], i[0]] += 1

        def listed(x, i):
            return x[0, i]

        def put(x, i):
            x[0, i, 1] = 3

        def last(x, i):
            return x[0, 0, 9]

        for function in (first, both, written, listed, put):
            for engine in ENGINES:
                with self.subTest(function=function.__name__, engine=engine), self.assertRaisesRegex(ftt.RunIndexError, "index 7 .*dimension 1"):
                    ftt.script(function, engine=engine)(torch.zeros(2, 3, 4), torch.tensor([7, 1]))
        self.refuses(last, "index 9 is out of range in dimension 2 of size 4", torch.zeros(2, 3, 4), torch.tensor([1]))

    def test_sizes_that_are_data(self):
        def reshaped(x):
            return x[x > 0].reshape(7)

        def stacked(x):
            return torch.stack([x[x > 0], x[x > 3]])

        def multiplied(x):
            return x[x > 0].float() @ x[x > 3].float()

        def masked(x):
            return x[x > 0][x > 3]

        def assigned(x):
            x[:2] = x[x > -9]

        for function, message in (
            (reshaped, "sizes 3 and 7 that are data must be equal: reshape keeps the number of elements"), (stacked, "sizes .* must be equal: tensors are joined along one dimension"),
            (multiplied, "sizes .* must be equal: a product takes them together"), (masked, "sizes .* must be equal: a mask has the size of what it indexes"),
            (assigned, "cannot broadcast a value of sizes 4 to 2"),
        ):
            for engine in ENGINES:
                with self.subTest(function=function.__name__, engine=engine):
                    with self.assertRaisesRegex(ftt.RunShapeError, message):
                        ftt.script(function, engine=engine)(torch.tensor([1, 5, -2, 4]))


if __name__ == "__main__":
    unittest.main()
