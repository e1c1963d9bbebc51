# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions as syntax trees, and the places of their nodes in the user's file."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import os
import sysconfig
import textwrap
from typing import Any, Dict, FrozenSet, Set, Tuple

from ...source import Frame, _characters
from ..problems import Problem


#: The folder of Python's library.
_STANDARD = sysconfig.get_path("stdlib") + os.sep


class Source:
    """A function's tree. `line` and `column` are what its nodes' positions lack."""

    def __init__(self, tree: ast.AST, file: str, line: int, column: int, name: str):
        self.tree, self.file, self.line, self.column, self.name = tree, file, line, column, name

    @functools.cached_property
    def assigned_by_functions(self) -> FrozenSet[str]:
        """Names that functions in it declare `nonlocal`: calls of these may assign them."""
        return frozenset(name for node in ast.walk(self.tree) if isinstance(node, ast.Nonlocal) for name in node.names)

    @functools.cached_property
    def read_by_functions(self) -> FrozenSet[str]:
        """Names of outside that functions in it read."""
        inner = (node for node in ast.walk(self.tree) if isinstance(node, (ast.FunctionDef, ast.Lambda)) and node is not self.tree)
        return frozenset().union(*map(_read_of_outside, inner))

    def place(self, node: ast.AST) -> Frame:
        line, end_line = node.lineno + self.line, (node.end_lineno or node.lineno) + self.line
        column = _characters(self.file, line, node.col_offset + self.column + 1)
        end = _characters(self.file, end_line, (node.end_col_offset or 0) + self.column + 1)
        return Frame(self.file, line, column, end, self.name, end_line)


def source_of(code, name: str) -> Source:
    """The tree of the function with this code."""
    return _source_of(code, code.co_filename, name)


@functools.lru_cache(maxsize=1024)
def _source_of(code, file: str, name: str) -> Source:
    """(Codes of two files may be equal.)"""
    try:
        lines, first = inspect.getsourcelines(code)
    except (OSError, TypeError):
        raise Problem(f"the source text of {name} is not at hand: define it in a file") from None
    if name == "<lambda>":
        return Source(_lambda_of(code, lines), file, 0, 0, name)
    plain = textwrap.dedent("".join(lines))
    column = len(lines[0]) - len(lines[0].lstrip())
    tree = _parse(plain)
    line = first - 1
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef) and node.name == code.co_name:
            return Source(node, file, line, column, name)
    raise Problem(f"{name}: expects a plain function (def), without async")


def _lambda_of(code, lines) -> ast.Lambda:
    """The lambda with this code: of those in its file that begin in its line, the one at its columns, or with its instructions."""
    found = [n for n in _lambdas_of(code.co_filename) if n.lineno == code.co_firstlineno]
    if not found:
        tree = _parse(textwrap.dedent("".join(lines)))
        found = [n for n in ast.walk(tree) if isinstance(n, ast.Lambda)] if tree else []
    elif len(found) > 1 and hasattr(code, "co_positions"):
        found = [n for n in found if _is_of(n, code)]
    if len(found) > 1:
        found = [n for n in found if _compiled(n) == code.co_code]
    if len(found) != 1:
        raise Problem("which lambda of this line is meant is not known: use def, or a line for each lambda")
    return found[0]


@functools.lru_cache(maxsize=64)
def _lambdas_of(file: str):
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return ()
    return tuple(n for n in ast.walk(tree) if isinstance(n, ast.Lambda))


def _compiled(node: ast.Lambda) -> bytes:
    module = compile(ast.Expression(node), "<lambda>", "eval")
    return next(c.co_code for c in module.co_consts if hasattr(c, "co_code"))


def _is_of(node: ast.Lambda, code) -> bool:
    """Whether a lambda's body is what a code object computes."""
    places = [p for p in code.co_positions() if None not in p and (p[0], p[2]) < (p[1], p[3])]
    first, last = min((p[0], p[2]) for p in places), max((p[1], p[3]) for p in places)
    body = node.body
    return first == (body.lineno, body.col_offset) and last == (body.end_lineno, body.end_col_offset)


def _parse(text: str):
    try:
        return ast.parse(text)
    except SyntaxError:
        # A lambda in the middle of an expression: its line alone is no program.
        try:
            return ast.parse("(" + text.strip().rstrip(",") + ")")
        except SyntaxError:
            return None


def closure_of(function) -> Dict[str, Any]:
    cells = function.__closure__ or ()
    return dict(zip(function.__code__.co_freevars, cells))


def bind(name: str, arguments: ast.arguments, defaults: Tuple, kw_defaults: Dict, args, kwargs) -> Dict[str, Any]:
    """Arguments to parameters by Python's rules."""
    positional = [a.arg for a in (*arguments.posonlyargs, *arguments.args)]
    only = {a.arg for a in arguments.posonlyargs}
    bound: Dict[str, Any] = dict(zip(positional, args))
    extra = tuple(args[len(positional) :])
    if extra and arguments.vararg is None:
        raise Problem(f"{name}() takes {len(positional)} positional arguments, {len(args)} were given")
    rest = {}
    keyword = [a.arg for a in arguments.kwonlyargs]
    for key, value in kwargs.items():
        if key in bound:
            raise Problem(f"{name}() got two values for '{key}'")
        if key in positional and key not in only or key in keyword:
            bound[key] = value
        elif arguments.kwarg is not None:
            rest[key] = value
        else:
            raise Problem(f"{name}() has no parameter '{key}'")
    for key, value in zip(positional[len(positional) - len(defaults) :], defaults):
        bound.setdefault(key, value)
    for key, value in kw_defaults.items():
        bound.setdefault(key, value)
    missing = [p for p in (*positional, *keyword) if p not in bound]
    if missing:
        raise Problem(f"{name}() needs a value for {', '.join(repr(m) for m in missing)}")
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = extra
    if arguments.kwarg is not None:
        bound[arguments.kwarg.arg] = rest
    return bound


def is_standard(code) -> bool:
    """Whether a function is one of Python's own library."""
    return code.co_filename.startswith(_STANDARD) and "site-packages" not in code.co_filename


def _read_of_outside(function) -> Set[str]:
    """Names that a function reads, and functions in it, and that are not its own."""
    own = {a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg)}
    read: Set[str] = set()
    todo = list(function.body) if isinstance(function.body, list) else [function.body]
    while todo:
        at = todo.pop()
        if isinstance(at, ast.Name):
            (read if isinstance(at.ctx, ast.Load) else own).add(at.id)
        if isinstance(at, ast.AugAssign) and isinstance(at.target, ast.Name):
            read.add(at.target.id)
        if isinstance(at, ast.FunctionDef):
            own.add(at.name)
        if isinstance(at, (ast.FunctionDef, ast.Lambda)):
            read |= _read_of_outside(at)
            todo.extend([*at.args.defaults, *filter(None, at.args.kw_defaults)])
        else:
            todo.extend(ast.iter_child_nodes(at))
    return read - (own - nonlocals_of(function))


@functools.lru_cache(maxsize=1024)
def nonlocals_of(node) -> FrozenSet[str]:
    """The names of the function around it that a function assigns; not those of functions in it."""
    found: Set[str] = set()
    todo = list(node.body) if isinstance(node.body, list) else []
    while todo:
        at = todo.pop()
        if isinstance(at, ast.Nonlocal):
            found.update(at.names)
        if not isinstance(at, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(at))
    return frozenset(found)
