# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Many statements that differ in their numbers alone, as a loop over rows of numbers.

A program may write single elements one after the other: `y[3, 1] = x[2] * 4 + y[5, 0]`, and a hundred more. It would be as much code as it has
statements. What differs between them goes into tables, and statement `k` is iteration `k` of a loop. Only places of elements, and operands of sums
and products, may differ. These are the same whether they are known or data.
"""

from __future__ import annotations

import ast
import copy
from typing import Dict, List, NamedTuple, Optional, Sequence, Tuple

from ..ir.views import select
from ..ops import OPERATORS

#: Statements repeat after at most so many.
_LONGEST_PERIOD = 4
_SUMS = (ast.Add, ast.Sub, ast.Mult)


class Run(NamedTuple):
    """Statements `start` to `start + period * times`: the first `period` of them, again and again. `tables` has a row of numbers for each time."""

    start: int
    period: int
    times: int
    tables: List[Tuple]


def runs_in(statements: Sequence[ast.stmt], least: int) -> Dict[int, Run]:
    """By where they start: at least `least` statements each that differ in their numbers alone."""
    found: Dict[int, Run] = {}
    if len(statements) < least:
        return found
    shapes = [_shape_of(statement) for statement in statements]
    start = 0
    while start + least <= len(shapes):
        run = _run_at(shapes, start, least)
        if run is not None:
            found[start] = run
        start += run.period * run.times if run is not None else 1
    return found


def _run_at(shapes: List, start: int, least: int) -> Optional[Run]:
    for period in range(1, _LONGEST_PERIOD + 1):
        end = start
        while end < len(shapes) and shapes[end] is not None and (end < start + period or shapes[end][0] == shapes[end - period][0]):
            end += 1
        times = (end - start) // period
        if times > 1 and times * period >= least:
            rows = [shapes[start + k * period : start + (k + 1) * period] for k in range(times)]
            return Run(start, period, times, [tuple(n for _, numbers in row for n in numbers) for row in rows])
    return None


def _shape_of(statement: ast.stmt) -> Optional[Tuple[Tuple, Tuple]]:
    """What a statement that writes an element is but for its numbers, and these."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target] if isinstance(statement, ast.AugAssign) else []
    if len(targets) != 1 or not isinstance(targets[0], ast.Subscript):
        return None
    tokens: List = []
    numbers = [node.value for node in _numbers(statement, tokens)]
    return tuple(tokens), tuple(numbers)


def _numbers(node: ast.AST, tokens: List) -> List[ast.Constant]:
    """The constants of a statement that may be data, in order; `tokens` gets all the rest."""
    found: List[ast.Constant] = []

    def visit(node, may_differ: bool) -> None:
        if isinstance(node, ast.Constant) and may_differ and type(node.value) in (int, float):
            tokens.append(type(node.value))
            found.append(node)
            return
        tokens.append(type(node))
        if isinstance(node, ast.Subscript):
            visit(node.value, False)
            for place in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
                visit(place, isinstance(place, ast.Constant))
            return
        inner = isinstance(node, ast.BinOp) and isinstance(node.op, _SUMS)
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                visit(value, inner)
            elif isinstance(value, list):
                tokens.append(len(value))
                for item in value:
                    visit(item, False) if isinstance(item, ast.AST) else tokens.append(item)
            elif name != "type_comment":
                tokens.append((type(value), value))

    visit(node, False)
    return found


class Rolled:
    """Part of the evaluator."""

    def exec_run(self, statements: Sequence[ast.stmt], run: Run) -> None:
        from .calls import Iteration

        body = copy.deepcopy(list(statements[run.start : run.start + run.period]))
        columns = list(zip(*run.tables))
        # (What is the same each time stays what it is.)
        changing = [i for i, column in enumerate(columns) if len(set(map(repr, column))) > 1]
        names: Dict[int, str] = {i: f" number {i}" for i in changing}
        at = 0
        for statement in body:
            for node in _numbers(statement, []):
                if at in names:
                    _replace(statement, node, ast.copy_location(ast.Name(names[at], ast.Load()), node))
                at += 1
        first = statements[run.start]
        target = ast.Tuple([ast.Name(name, ast.Store()) for name in names.values()], ast.Store())
        loop = ast.For(target, ast.Name(" rows", ast.Load()), body, [])
        for node in (loop, target, loop.iter, *target.elts):
            ast.copy_location(node, first)
        tables = {i: OPERATORS["tensor"].call(self.b, [list(columns[i])], {"dtype": "float64"} if isinstance(columns[i][0], float) else {}) for i in changing}
        self.frame.env[" rows"] = Iteration(run.times, lambda k: tuple(self._number_at(columns[i], tables[i], k) for i in changing), True)
        try:
            self.exec_For(loop)
        finally:
            for name in (" rows", *names.values()):
                self.frame.env.pop(name, None)

    def _number_at(self, column: Tuple, table, k):
        if isinstance(k, int):
            return column[k]
        number = self.b.item(select(self.b, table, 0, k))
        if isinstance(column[0], int):
            self.b.ranges[number.value] = (min(column), max(column))
            if min(column) >= 0:
                self.b.naturals.add(number.value)
        return number


def _replace(root: ast.AST, old: ast.AST, new: ast.AST) -> None:
    for node in ast.walk(root):
        for name, value in ast.iter_fields(node):
            if value is old:
                setattr(node, name, new)
                return
            if isinstance(value, list):
                for i, item in enumerate(value):
                    if item is old:
                        value[i] = new
                        return
