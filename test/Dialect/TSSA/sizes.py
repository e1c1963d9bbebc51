# Imperative programs at sizes 1, 7 and 127: the heap, the functionalized and the lowered program and the CPU engine agree.
#
# RUN: %python %s %ft_bin
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager

SIZES = (1, 7, 127)


def text(shape, kind="tensor"):
    dims = "".join(f"{n}x" for n in shape)
    return f"{'!tssa.' if kind == 'name' else ''}tensor<{dims}i32>"


class Program:
    """Writes one function: names of storage are ("%x", shape)."""

    def __init__(self, name, arguments, flags=()):
        self.name, self.lines, self.count, self.depth = name, [], 0, 1
        self.arguments = [(f"%{n}", tuple(shape)) for n, shape in arguments]
        self.flags = [f"%{n}" for n in flags]
        self.results = []
        for at in range(4):
            self.line(f"%c{at} = arith.constant {at} : index")

    def line(self, words):
        self.lines.append("  " * self.depth + words)

    def fresh(self):
        self.count += 1
        return f"%t{self.count}"

    def op(self, words):
        name = self.fresh()
        self.line(f"{name} = {words}")
        return name

    def number(self, n):
        return self.op(f"arith.constant {n} : index")

    def view(self, of, steps, shape):
        return self.op(f"tssa.view {of[0]}[{steps}] : {text(of[1], 'name')} -> {text(shape, 'name')}"), tuple(shape)

    def new(self, value, shape):
        return self.op(f"tssa.new {value} : {text(shape)}"), tuple(shape)

    def read(self, v):
        return self.op(f"tssa.read {v[0]} : {text(v[1], 'name')}")

    def write(self, v, value, shape=None):
        self.line(f"tssa.mutate {v[0]}, {value} : {text(v[1], 'name')}, {text(v[1] if shape is None else shape)}")

    def splat(self, number, shape):
        if 0 in shape:
            return self.op(f"arith.constant dense<> : {text(shape)}")
        return self.op(f"arith.constant dense<{number}> : {text(shape)}")

    def compute(self, what, a, b, shape):
        return self.op(f"arith.{what} {a}, {b} : {text(shape)}")

    def bump(self, v, by=1, what="addi"):
        self.write(v, self.compute(what, self.read(v), self.splat(by, v[1]), v[1]))

    def copy(self, to, what):
        self.write(to, self.read(what), what[1])

    def element(self, v, at):
        """The number in a storage of one dimension at a place."""
        return self.op(f"tensor.extract {self.read(v)}[{at}] : {text(v[1])}")

    def flag(self, at=0):
        zero = self.op("arith.constant 0 : i32")
        number = self.op(f"tensor.extract {self.flags[at]}[] : tensor<i32>")
        return self.op(f"arith.cmpi sgt, {number}, {zero} : i32")

    def trips(self, most, at=0):
        """A number of iterations that is data."""
        number = self.op(f"arith.index_cast {self.op(f'tensor.extract {self.flags[at]}[] : tensor<i32>')} : i32 to index")
        return self.op(f"arith.minsi {self.op(f'arith.maxsi {number}, %c0 : index')}, {self.number(most)} : index")

    @contextmanager
    def loop(self, stop, start="%c0", step="%c1"):
        index = self.fresh()
        self.line(f"scf.for {index} = {start} to {stop} step {step} {{")
        self.depth += 1
        yield index
        self.depth -= 1
        self.line("}")

    @contextmanager
    def carrying(self, stop, names, start="%c0"):
        """A loop that carries names; what its body appends to what is given is yielded."""
        index, inner = self.fresh(), [(self.fresh(), shape) for _, shape in names]
        types = ", ".join(text(shape, "name") for _, shape in names)
        results = self.fresh()
        pairs = ", ".join(f"{new[0]} = {old[0]}" for new, old in zip(inner, names))
        self.line(f"{results}:{len(names)} = scf.for {index} = {start} to {stop} step %c1 iter_args({pairs}) -> ({types}) {{")
        self.depth += 1
        yielded = []
        after = [(f"{results}#{at}", shape) for at, (_, shape) in enumerate(names)]
        yield index, inner, yielded, after
        self.line(f"scf.yield {', '.join(v for v, _ in yielded)} : {types}")
        self.depth -= 1
        self.line("}")

    def branch(self, test, then, other, shape):
        """A name that a condition chooses."""
        result = self.fresh()
        self.line(f"{result} = scf.if {test} -> ({text(shape, 'name')}) {{")
        for at, body in enumerate((then, other)):
            self.depth += 1
            self.line(f"scf.yield {body()[0]} : {text(shape, 'name')}")
            self.depth -= 1
            self.line("} else {" if at == 0 else "}")
        return result, tuple(shape)

    @contextmanager
    def when(self, test):
        self.line(f"scf.if {test} {{")
        self.depth += 1
        yield
        self.depth -= 1
        self.line("}")

    def loop_while(self, condition, body):
        self.line("scf.while : () -> () {")
        self.depth += 1
        test = condition()
        self.line(f"scf.condition({test})")
        self.depth -= 1
        self.line("} do {")
        self.depth += 1
        body()
        self.line("scf.yield")
        self.depth -= 1
        self.line("}")

    def give(self, v):
        self.results.append((v[0], text(v[1], "name")))

    def give_value(self, value, shape):
        self.results.append((value, text(shape)))

    def written(self):
        arguments = [f"{n}: {text(shape, 'name')}" for n, shape in self.arguments] + [f"{n}: tensor<i32>" for n in self.flags]
        types = ", ".join(t for _, t in self.results)
        tail = f"  return {', '.join(v for v, _ in self.results)} : {types}" if self.results else "  return"
        arrow = f" -> ({types})" if self.results else ""
        return "\n".join([f"func.func @{self.name}({', '.join(arguments)}){arrow} {{", *self.lines, tail, "}"])


PROGRAMS = []


def program(arguments, flags=()):
    def taken(write):
        def make(n):
            p = Program(f"{write.__name__}_{n}", arguments(n), flags)
            write(p, n, *p.arguments)
            return p.written()

        PROGRAMS.append(make)
        return write

    return taken


def one(n):
    return [("a", (n,))]


def two(n):
    return [("a", (n,)), ("b", (n,))]


def square(n):
    return [("a", (n, n))]


def rows(n):
    return [("a", (n, 3))]


def columns(n):
    return [("a", (3, n))]


# -- views that control flow merges -----------------------------------------------------------------------------------


@program(rows, ["c"])
def row_or_row(p, n, a):
    v = p.branch(p.flag(), lambda: p.view(a, "select(0, 0)", (3,)), lambda: p.view(a, "select(0, -1)", (3,)), (3,))
    before = p.read(a)
    p.bump(v, 3)
    p.give(v)
    p.give_value(before, a[1])


@program(square, ["c"])
def row_or_column(p, n, a):
    v = p.branch(p.flag(), lambda: p.view(a, "select(0, 0)", (n,)), lambda: p.view(a, "select(1, 0)", (n,)), (n,))
    p.bump(v)
    p.bump(p.view(a, "diagonal(0, 0, 1)", (n,)), 2, "muli")
    p.give_value(p.read(v), (n,))


@program(square, ["c"])
def itself_or_transposed(p, n, a):
    v = p.branch(p.flag(), lambda: a, lambda: p.view(a, "permute(1, 0)", (n, n)), (n, n))
    p.bump(p.view(v, "select(0, 0)", (n,)), 5)
    w = p.view(v, "select(1, -1)", (n,))
    p.bump(w, 7)
    p.give_value(p.read(a), a[1])


@program(two, ["c"])
def one_of_two_storages(p, n, a, b):
    v = p.branch(p.flag(), lambda: a, lambda: b, (n,))
    p.bump(v)
    p.copy(b, v)
    p.bump(a, 10)
    p.give_value(p.read(v), (n,))


@program(two, ["c", "d"])
def chosen_twice(p, n, a, b):
    v = p.branch(p.flag(), lambda: a, lambda: b, (n,))
    w = p.branch(p.flag(1), lambda: v, lambda: p.view(a, "slice(0, 0, 9999, 1)", (n,)), (n,))
    p.bump(w, 3)
    p.bump(v, 2, "muli")
    p.give_value(p.read(w), (n,))


@program(one, ["c"])
def new_or_the_callers(p, n, a):
    v = p.branch(p.flag(), lambda: a, lambda: p.new(p.read(a), (n,)), (n,))
    p.bump(v, 4)
    p.give(v)


@program(rows, ["c"])
def chosen_in_a_loop(p, n, a):
    with p.loop(p.number(n)) as i:
        v = p.branch(p.flag(), lambda: p.view(a, f"select(0, {i})", (3,)), lambda: p.view(a, "select(0, 0)", (3,)), (3,))
        p.bump(v)


@program(rows, ["c"])
def chosen_before_a_loop(p, n, a):
    v = p.branch(p.flag(), lambda: p.view(a, "select(1, 0)", (n,)), lambda: p.view(a, "select(1, 2)", (n,)), (n,))
    with p.loop(p.number(n)) as i:
        p.bump(p.view(v, f"select(0, {i})", ()))
        p.bump(p.view(a, f"select(0, {i}), select(0, 1)", ()), 2)


# -- views that loops carry -------------------------------------------------------------------------------------------


@program(columns)
def three_names_turn(p, n, a):
    names = [p.view(a, f"select(0, {k})", (n,)) for k in range(3)]
    with p.carrying("%c3", names) as (i, (u, v, w), yielded, after):
        p.write(u, p.compute("addi", p.read(v), p.read(w), (n,)))
        yielded += [v, w, u]
    p.bump(after[0], 100)
    p.give_value(p.read(after[2]), (n,))


@program(rows)
def the_row_before(p, n, a):
    first = p.view(a, "select(0, 0)", (3,))
    with p.carrying(p.number(n), [first]) as (i, (v,), yielded, after):
        w = p.view(a, f"select(0, {i})", (3,))
        p.write(w, p.compute("addi", p.read(v), p.read(w), (3,)))
        yielded.append(w)
    p.bump(after[0], -1)
    p.give(after[0])


@program(two, ["c"])
def carried_under_a_condition(p, n, a, b):
    with p.carrying("%c3", [a, b]) as (i, (u, v), yielded, after):
        p.bump(u, 2)
        w = p.branch(p.flag(), lambda: v, lambda: u, (n,))
        yielded += [w, u]
    p.bump(after[1], 50)
    p.give_value(p.read(after[0]), (n,))


@program(one, ["k"])
def carried_no_time(p, n, a):
    with p.carrying(p.trips(3), [a]) as (i, (v,), yielded, after):
        p.bump(v)
        yielded.append(p.new(p.read(v), (n,)))
    p.bump(after[0], 9)
    p.give(after[0])


@program(square)
def transposed_in_turn(p, n, a):
    with p.carrying("%c3", [a]) as (i, (v,), yielded, after):
        p.bump(p.view(v, "select(0, -1)", (n,)), 3)
        p.bump(p.view(v, "diagonal(0, 0, 1)", (n,)), 1)
        yielded.append(p.view(v, "permute(1, 0)", (n, n)))
    p.bump(p.view(after[0], "select(1, 0)", (n,)), 11)


@program(rows)
def carried_and_captured(p, n, a):
    v = p.view(a, "select(1, 1)", (n,))
    with p.carrying("%c2", [v]) as (i, (w,), yielded, after):
        p.write(w, p.compute("addi", p.read(v), p.read(w), (n,)))
        p.bump(v, 1)
        yielded.append(w)
    p.give_value(p.read(after[0]), (n,))


@program(columns, ["k"])
def carried_through_two_loops(p, n, a):
    v = p.view(a, "select(0, 0)", (n,))
    with p.carrying("%c2", [v]) as (i, (u,), outer, last):
        with p.carrying(p.trips(2), [u]) as (j, (w,), yielded, after):
            p.bump(w, 2)
            yielded.append(p.view(a, "select(0, 2)", (n,)))
        outer.append(after[0])
    p.bump(last[0], 100)


# -- calls ------------------------------------------------------------------------------------------------------------


def helpers(n):
    return f"""func.func private @same_{n}(%x: {text((n,), 'name')}) -> {text((n,), 'name')} {{
  return %x : {text((n,), 'name')}
}}
func.func private @first_{n}(%x: {text((n, 3), 'name')}) -> {text((n,), 'name')} {{
  %v = tssa.view %x[select(1, 0)] : {text((n, 3), 'name')} -> {text((n,), 'name')}
  %k = arith.constant dense<6> : {text((n,))}
  %r = tssa.read %v : {text((n,), 'name')}
  %y = arith.addi %r, %k : {text((n,))}
  tssa.mutate %v, %y : {text((n,), 'name')}, {text((n,))}
  return %v : {text((n,), 'name')}
}}
func.func private @either_{n}(%x: {text((n,), 'name')}, %y: {text((n,), 'name')}, %c: i1) -> {text((n,), 'name')} {{
  %r = scf.if %c -> ({text((n,), 'name')}) {{
    scf.yield %x : {text((n,), 'name')}
  }} else {{
    scf.yield %y : {text((n,), 'name')}
  }}
  return %r : {text((n,), 'name')}
}}
"""


def call(p, name, operands, shape):
    types = ", ".join("i1" if s is None else text(s, "name") for _, s in operands)
    return p.op(f"func.call @{name}({', '.join(v for v, _ in operands)}) : ({types}) -> {text(shape, 'name')}"), tuple(shape)


@program(one)
def a_call_gives_its_argument(p, n, a):
    v = call(p, f"same_{n}", [a], (n,))
    p.bump(v, 3)
    p.bump(a, 2, "muli")
    p.give_value(p.read(v), (n,))


@program(rows)
def a_call_gives_a_written_part(p, n, a):
    before = p.read(a)
    v = call(p, f"first_{n}", [a], (n,))
    w = call(p, f"first_{n}", [a], (n,))
    p.write(v, p.compute("muli", p.read(v), p.read(w), (n,)))
    p.give(w)
    p.give_value(before, a[1])


@program(two, ["c"])
def a_call_chooses(p, n, a, b):
    v = call(p, f"either_{n}", [a, b, (p.flag(), None)], (n,))
    p.bump(v, 8)
    p.give_value(p.read(a), (n,))


@program(two, ["c"])
def a_call_in_a_loop(p, n, a, b):
    with p.carrying("%c3", [a]) as (i, (u,), yielded, after):
        v = call(p, f"either_{n}", [u, b, (p.flag(), None)], (n,))
        p.bump(v)
        yielded.append(v)
    p.give(after[0])


# -- steps, and what goes backwards -----------------------------------------------------------------------------------


@program(one)
def even_and_odd(p, n, a):
    even = p.view(a, "slice(0, 0, 9999, 2)", ((n + 1) // 2,))
    odd = p.view(a, "slice(0, 1, 9999, 2)", (n // 2,))
    p.bump(even, 2)
    p.bump(odd, 3, "muli")
    p.copy(p.view(a, f"slice(0, 0, {n - n % 2}, 2)", (n // 2,)), odd)


@program(one)
def every_third_of_every_second(p, n, a):
    m = (n + 1) // 2
    v = p.view(a, "slice(0, 0, 9999, 2), slice(0, 0, 9999, 3)", (-(-m // 3),))
    p.bump(v, 13)
    p.give_value(p.read(v), v[1])


@program(one)
def backwards(p, n, a):
    """a[n - 1 - i] = a[i], in this order."""
    last = p.number(n - 1)
    with p.loop(p.number(n)) as i:
        back = p.op(f"arith.subi {last}, {i} : index")
        p.copy(p.view(a, f"select(0, {back})", ()), p.view(a, f"select(0, {i})", ()))


@program(two)
def backwards_into_another(p, n, a, b):
    last = p.number(n - 1)
    with p.loop(p.number(n)) as i:
        back = p.op(f"arith.subi {last}, {i} : index")
        p.copy(p.view(b, f"select(0, {back})", ()), p.view(a, f"select(0, {i})", ()))
    p.copy(a, b)


@program(two)
def every_second_by_a_loop(p, n, a, b):
    with p.loop(p.number(n), step="%c2") as i:
        p.copy(p.view(b, f"select(0, {i})", ()), p.view(a, f"select(0, {i})", ()))
        p.bump(p.view(a, f"select(0, {i})", ()), 2, "muli")


@program(square)
def columns_into_rows(p, n, a):
    with p.loop(p.number(n)) as i:
        p.copy(p.view(a, f"select(0, {i})", (n,)), p.view(a, f"select(1, {i})", (n,)))


@program(square)
def diagonals(p, n, a):
    p.bump(p.view(a, "diagonal(0, 0, 1)", (n,)), 5)
    p.bump(p.view(a, "permute(1, 0), diagonal(0, 0, 1)", (n,)), 2, "muli")
    p.bump(p.view(a, "diagonal(-1, 0, 1)", (n - 1,)), 7)


@program(rows)
def reshaped_and_cut(p, n, a):
    flat = p.view(a, f"reshape({3 * n})", (3 * n,))
    p.bump(p.view(flat, "slice(0, 1, 9999, 3)", (n,)), 21)
    p.bump(p.view(flat, f"reshape(3, {n}), select(0, 1)", (n,)), 3, "muli")
    p.give_value(p.read(p.view(a, "unsqueeze(1), select(2, 2), squeeze(1)", (n,))), (n,))


# -- overlapping copies -----------------------------------------------------------------------------------------------


@program(one)
def copied_up(p, n, a):
    p.copy(p.view(a, "slice(0, 1, 9999, 1)", (n - 1,)), p.view(a, "slice(0, 0, -1, 1)", (n - 1,)))
    p.give_value(p.read(a), (n,))


@program(one)
def copied_down(p, n, a):
    p.copy(p.view(a, "slice(0, 0, -1, 1)", (n - 1,)), p.view(a, "slice(0, 1, 9999, 1)", (n - 1,)))


@program(one)
def copied_up_by_a_loop(p, n, a):
    with p.loop(p.number(n), start="%c1") as i:
        before = p.op(f"arith.subi {i}, %c1 : index")
        p.copy(p.view(a, f"select(0, {i})", ()), p.view(a, f"select(0, {before})", ()))


@program(square)
def transposed_into_itself(p, n, a):
    p.copy(a, p.view(a, "permute(1, 0)", (n, n)))
    p.bump(p.view(a, "select(0, 0)", (n,)))


@program(rows)
def rows_by_one_of_them(p, n, a):
    p.copy(a, p.view(a, "select(0, -1)", (3,)))
    p.copy(p.view(a, "select(1, 0)", (n,)), p.view(a, "select(1, 2)", (n,)))


@program(one)
def even_by_odd_shifted(p, n, a):
    m = n // 2
    p.copy(p.view(a, f"slice(0, 0, {2 * m}, 2)", (m,)), p.view(a, "slice(0, 1, 9999, 2)", (m,)))
    p.copy(p.view(a, f"slice(0, {n - m}, 9999, 1)", (m,)), p.view(a, f"slice(0, 0, {m}, 1)", (m,)))


# -- loops without iterations -----------------------------------------------------------------------------------------


@program(rows, ["k"])
def as_often_as_data_say(p, n, a):
    before = p.read(a)
    with p.loop(p.trips(n)) as i:
        p.bump(p.view(a, f"select(0, {i})", (3,)), 4)
    p.give_value(before, a[1])


@program(one, ["k"])
def no_iteration_inside(p, n, a):
    with p.loop(p.number(n)) as i:
        with p.loop(i, start=i) as j:
            p.bump(p.view(a, f"select(0, {j})", ()), 1000)
        p.bump(p.view(a, f"select(0, {i})", ()))


@program(square)
def a_triangle(p, n, a):
    with p.loop(p.number(n)) as i:
        with p.loop(i) as j:
            p.copy(p.view(a, f"select(0, {i}), select(0, {j})", ()), p.view(a, f"select(0, {j}), select(0, {i})", ()))


# -- writes at indices, and masks -------------------------------------------------------------------------------------


def index_put(p, into, value, value_shape, at, count, accumulate):
    p.write(into, p.op(f"tssa.index_put {'accumulate ' if accumulate else ''}{value} into {p.read(into)} [0] by {at} : {text(value_shape)} into {text(into[1])}, tensor<{count}xi64>"))


def places(p, v, n):
    """Elements of a storage as places in a dimension."""
    value, shape = p.read(v), v[1]
    wide = p.op(f"arith.extsi {value} : {text(shape)} to tensor<{n}xi64>")
    size = p.op(f"arith.constant dense<{n}> : tensor<{n}xi64>")
    return p.op(f"arith.remsi {wide}, {size} : tensor<{n}xi64>")


@program(two)
def put_in_order(p, n, a, b):
    index_put(p, a, p.read(b), (n,), places(p, b, n), n, False)


@program(two)
def put_and_add(p, n, a, b):
    index_put(p, a, p.read(b), (n,), places(p, b, n), n, True)
    index_put(p, a, p.read(a), (n,), places(p, b, n), n, True)


@program(lambda n: [("a", (n, 3)), ("b", (n,))])
def put_into_a_column(p, n, a, b):
    v = p.view(a, "select(1, 1)", (n,))
    index_put(p, v, p.read(p.view(a, "select(1, 0)", (n,))), (n,), places(p, b, n), n, True)
    p.bump(p.view(a, "select(0, 0)", (3,)), 2)


@program(two)
def put_in_a_loop(p, n, a, b):
    with p.loop("%c3") as i:
        index_put(p, a, p.read(b), (n,), places(p, a, n), n, False)
        p.bump(b)


@program(two)
def taken_at_indices(p, n, a, b):
    value = p.op(f"tssa.index {p.read(a)} [0] by {places(p, b, n)} : {text((n,))}, tensor<{n}xi64> -> {text((n,))}")
    p.bump(a, 3)
    p.write(b, value)


@program(two)
def under_a_mask(p, n, a, b):
    mask = p.op(f"arith.cmpi sgt, {p.read(b)}, {p.splat(0, (n,))} : {text((n,))}")
    v = p.view(a, "slice(0, 0, 9999, 1)", (n,))
    p.write(v, p.op(f"arith.select {mask}, {p.splat(-7, (n,))}, {p.read(v)} : tensor<{n}xi1>, {text((n,))}"))
    p.write(b, p.op(f"arith.select {mask}, {p.read(a)}, {p.read(b)} : tensor<{n}xi1>, {text((n,))}"))


@program(rows)
def a_mask_of_rows_in_a_loop(p, n, a):
    with p.loop(p.number(n)) as i:
        row = p.view(a, f"select(0, {i})", (3,))
        mask = p.op(f"arith.cmpi slt, {p.read(row)}, {p.splat(1, (3,))} : {text((3,))}")
        p.write(row, p.op(f"arith.select {mask}, {p.splat(4, (3,))}, {p.read(row)} : tensor<3xi1>, {text((3,))}"))


# -- writes in conditions of loops ------------------------------------------------------------------------------------


def counted(p, v, limit):
    """Counts a storage without dimensions up; whether it is below a limit."""
    p.bump(v)
    number = p.op(f"tensor.extract {p.read(v)}[] : tensor<i32>")
    return p.op(f"arith.cmpi slt, {number}, {p.op(f'arith.constant {limit} : i32')} : i32")


@program(rows)
def the_condition_writes(p, n, a):
    k = p.new(p.splat(0, ()), ())

    def condition():
        p.bump(p.view(a, "select(0, 0)", (3,)), 2)
        return counted(p, k, 5)

    p.loop_while(condition, lambda: p.bump(p.view(a, "select(1, 1)", (n,)), 3))
    p.give_value(p.read(k), ())


@program(one)
def the_condition_alone_writes(p, n, a):
    k = p.new(p.splat(2, ()), ())

    def condition():
        p.copy(a, p.view(a, "select(0, -1)", ()))
        p.bump(p.view(a, "select(0, 0)", ()))
        return counted(p, k, 5)

    p.loop_while(condition, lambda: None)


@program(one, ["k"])
def false_at_once(p, n, a):
    k = p.new(p.splat(9, ()), ())

    def condition():
        p.bump(a, 2)
        return counted(p, k, 5)

    p.loop_while(condition, lambda: p.bump(a, 1000))


@program(two, ["c"])
def a_branch_in_a_while(p, n, a, b):
    k = p.new(p.splat(0, ()), ())

    def body():
        with p.when(p.flag()):
            p.copy(a, b)
            p.bump(b)
        p.bump(a, 3)

    p.loop_while(lambda: counted(p, k, 4), body)


@program(square)
def a_while_in_a_for(p, n, a):
    with p.loop(p.number(min(n, 3))) as i:
        k = p.new(p.splat(0, ()), ())
        v = p.view(a, f"select(0, {i})", (n,))
        p.loop_while(lambda: counted(p, k, 3), lambda: p.bump(v, 2))
        p.bump(p.view(a, f"select(1, {i})", (n,)))


# -- old versions -----------------------------------------------------------------------------------------------------


@program(rows)
def each_version_is_kept(p, n, a):
    for k in range(3):
        p.give_value(p.read(a), a[1])
        p.bump(p.view(a, f"select(1, {k})", (n,)), k + 1)
    p.give_value(p.read(a), a[1])


@program(two)
def an_old_version_is_written_back(p, n, a, b):
    old = p.read(a)
    with p.loop(p.number(n)) as i:
        p.bump(p.view(a, f"select(0, {i})", ()), 6)
        p.copy(p.view(b, f"select(0, {i})", ()), p.view(a, "select(0, 0)", ()))
    p.give_value(p.read(a), (n,))
    p.write(a, old)


def main(bin_):
    with tempfile.TemporaryDirectory() as folder:
        for n in SIZES:
            path = os.path.join(folder, f"programs{n}.mlir")
            with open(path, "w") as file:
                file.write(helpers(n) + "\n".join(make(n) for make in PROGRAMS) + "\n")
            done = subprocess.run([os.path.join(bin_, "ft-fuzz"), "--imperative", "--least-on-cpu=30", path], capture_output=True, text=True)
            print(done.stdout + done.stderr)
            assert done.returncode == 0, f"size {n}"
            assert f"{len(PROGRAMS)} programs: {len(PROGRAMS)} equal" in done.stdout and " 0 failed" in done.stdout, f"size {n}"


if __name__ == "__main__":
    main(sys.argv[1])
