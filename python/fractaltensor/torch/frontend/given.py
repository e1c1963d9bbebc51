# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Notes on what a call gave: where an argument of another kind than the function expects is wrong deep in its body, the parameter is named as well."""

from __future__ import annotations

import ast
import inspect
from typing import Callable, Dict, List, Sequence, Tuple

from .functions import Source, source_of
from .merge import describe
from ..problems import Problem
from .values import Tensor

#: Of messages that a tensor in the place of a number gives rise to.
_OF_NUMBERS = ("found Tensor", "a number is a tensor of one element", "found a number that is data")


def note_arguments(problems: Sequence[Problem], target: Callable, args: Sequence, kwargs: Dict) -> None:
    """Adds to each problem in the function itself what parameters in its expression were given, where that may be the cause."""
    function = inspect.unwrap(getattr(target, "forward", target)) if not inspect.isfunction(target) else inspect.unwrap(target)
    try:
        source = source_of(function.__code__, function.__name__)
        bound = inspect.signature(target if inspect.isfunction(target) else getattr(target, "forward", target)).bind(*args, **kwargs).arguments
    except (AttributeError, TypeError, ValueError, Problem):
        return
    written = {n.id for n in ast.walk(source.tree) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    places = {a.arg: a for a in ast.walk(source.tree.args) if isinstance(a, ast.arg)}
    for problem in problems:
        for name in _named(problem, source):
            if name in bound and name in places and name not in written and _may_be_wrong(bound[name], problem.message):
                problem.notes += ((f"'{name}' is {describe(bound[name])} in this call", (source.place(places[name]),)),)


def _named(problem: Problem, source: Source) -> List[str]:
    """The names in the expression that a problem is about, where it stands in the function itself."""
    own: Tuple = tuple(f for f in problem.frames if f.file == source.file and f.function == source.name)
    if not own:
        return []
    frame, found = own[-1], {}
    for node in ast.walk(source.tree):
        if isinstance(node, (ast.expr, ast.stmt)) and hasattr(node, "lineno"):
            place = source.place(node)
            if (place.line, place.column, place.end_line, place.end) == (frame.line, frame.column, frame.end_line, frame.end):
                found.update({n.id: None for n in ast.walk(node) if isinstance(n, ast.Name)})
    return list(found)


def _may_be_wrong(value, message: str) -> bool:
    """Whether a value is none that programs over tensors mostly take, or a tensor where a number is expected."""
    if isinstance(value, Tensor):
        return any(text in message for text in _OF_NUMBERS)
    return not isinstance(value, (bool, int, tuple, list, dict)) and not callable(value)
