# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a function: walks through its tree once, with Python's objects as they are and tensors as operations."""

from __future__ import annotations

import ast
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Sequence, Set, Tuple

from ..runtime import arrays
from ..ir import dtypes
from . import objects, rebound
from ...source import Frame as Place
from .attributes import Attributes
from ..ir.builder import Builder
from .calls import Calls
from .control import Control
from .expressions import Expressions
from .functions import Source
from .grown import Growth, Rows
from .rolled import Rolled
from .sharing import Sharing
from ..ir.operations import INDEX, Type
from ..ir.lengths import Origin, origins_of
from ..problems import Problem, in_words
from .values import POISON, UNSET, Complex, Mono, NamedResult, Num, PyDict, PyList, Size, Tensor, Unset, dense_strides

_MAX_PROBLEMS = 50
#: No size is greater.
_MOST = (1 << 62) - 1


class Frame:
    """A function that is being walked through."""

    def __init__(self, source: Source, env: Dict, globals_: Dict, cells: Dict, code, parent: Optional["Frame"], call):
        self.source, self.env, self.globals, self.cells, self.code, self.parent, self.call = source, env, globals_, cells, code, parent, call
        self._uses: Optional[Dict[str, List]] = None
        #: Of a function of the program: the frame where it was defined.
        self.home: Optional["Frame"] = None
        #: Names of that frame which the function assigns.
        self.nonlocals: FrozenSet[str] = frozenset()
        #: Loops that are being walked through.
        self.loops = 0
        #: Where it was called.
        self.block: Any = None
        #: Names of the comprehensions that are being walked through, the outermost first.
        self.scopes: List[objects.Scope] = []

    def bound_by(self, expression: ast.expr) -> Set[str]:
        """Names of the function that an expression may bind: by `:=`, and by calls of functions that assign them (`nonlocal`)."""
        named = {n.target.id for n in ast.walk(expression) if isinstance(n, ast.NamedExpr)}
        return named | self.source.assigned_by_functions & self.env.keys()

    def hidden_from(self, scopes: Sequence[objects.Scope]) -> Dict[str, Any]:
        """What names of comprehensions stand for in a function that is defined outside of them, in `scopes` alone."""
        found: Dict[str, Any] = {}
        for scope in reversed([s for s in self.scopes if not any(s is own for own in scopes)]):
            found.update(scope.hidden)
        return found

    def uses(self) -> Dict[str, List]:
        """Where each name is read, as (line, column)."""
        if self._uses is None:
            self._uses = {}
            for node in ast.walk(self.source.tree):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    self._uses.setdefault(node.id, []).append((node.lineno, node.col_offset))
                elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
                    self._uses.setdefault(node.target.id, []).append((node.lineno, node.col_offset))
        return self._uses


class Captured:
    """A tensor from outside of the function: an argument that the caller does not see."""

    def __init__(self, array, tensor: Tensor, getter: Callable, name: str):
        self.array, self.tensor, self.getter, self.name = array, tensor, getter, name


class Evaluator(Expressions, Attributes, Calls, Control, Growth, Rolled, Sharing):
    """`describe(array)` says what an array is: (element type, sizes, strides in elements). `grows`: a loop may append to a list, but for
    those at the places `listed`; `counts`: integers, too, which are data then."""

    def __init__(self, describe: Callable, grows: bool = True, listed=frozenset(), counts: bool = False):
        self.b = Builder()
        self.b.frames = self.places
        self.describe_array = describe
        self.nodes: List[Tuple[Frame, ast.AST]] = []
        self.frames: List[Frame] = []
        self.problems: List[Problem] = []
        #: Copies of what is compiled now: loops around it that are unrolled.
        self.copies = 1
        #: Loops in which sizes that change with their counters are data (`varying.py`).
        self.of_open_sizes: set = set()
        #: While copies of a body are tried: the number of problems that there were before.
        self.trying: Optional[int] = None
        self.captured: Dict[int, Captured] = {}
        #: (getter, value): what was read from outside and compiled in.
        self.guards: List[Tuple[Callable, Any]] = []
        self._guarded: set = set()
        #: Arrays that come as arguments, so that a captured one is known again.
        self.given: Dict[int, Tensor] = {}
        #: The arguments' dimensions that loops range over.
        self.ranged: Set[Origin] = set()
        #: By frame and depth, of a loop whose only end is `break`: names that have a value only there.
        self.endless: Dict[Tuple[int, int], Optional[Set[str]]] = {}
        #: Whether the condition of a `while` is looked at.
        self.in_condition = False
        #: Attributes that are bound again.
        self.rebound = rebound.Attributes()
        self.grows, self.listed, self.counts = grows, listed, counts
        #: Lists that have become rows, the tensors that have these, and whether a loop has appended to a list.
        self.grown: List[Rows] = []
        self.buffers: set = set()
        self.met_growth = False
        #: Lengths of the loops that are looked at, the outermost first; None of those that no number counts.
        self.loop_lengths: List = []
        #: The most copies of a body that rows have made unnecessary.
        self.most_grown = 0

    @property
    def frame(self) -> Frame:
        return self.frames[-1]

    # -- places and problems -----------------------------------------------------------------------------------

    def places(self) -> Tuple[Place, ...]:
        """Where the program is: the innermost node, then the calls that lead there."""
        found: List[Place] = []
        frame = None
        for owner, node in reversed(self.nodes):
            if owner is not frame and hasattr(node, "lineno"):
                found.append(owner.source.place(node))
                frame = owner
        return tuple(found)

    def report(self, problem: Problem) -> None:
        if len(self.problems) < _MAX_PROBLEMS and all(p.message != problem.message or p.frames != problem.frames for p in self.problems):
            self.problems.append(problem)

    def is_used_outside(self, name: str, node: ast.AST) -> bool:
        """Whether a name is read at a place that is not inside of `node`."""
        if name[0] == "$" or name in self.frame.nonlocals:
            return True
        first, last = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return any(not first <= at < last for at in self.frame.uses().get(name, ()))

    def is_used_after(self, name: str, node: ast.AST) -> bool:
        """Whether a name may be read once a loop has ended; the next round of a loop around comes after it, too."""
        if name[0] == "$" or name in self.frame.nonlocals:
            return True
        if self.frame.loops > 1:
            return self.is_used_outside(name, node)
        return any(at >= (node.end_lineno, node.end_col_offset) for at in self.frame.uses().get(name, ()))

    # -- functions -------------------------------------------------------------------------------------------------

    def new_frame(self, source: Source, env, globals_, cells, code, parent=None) -> Frame:
        # (`**rest` is a dictionary of the function's own.)
        env = {name: PyDict(value, self.b.block) if type(value) is dict else value for name, value in env.items()}
        return Frame(source, env, globals_, cells, code, parent, None)

    def run_function(self, frame: Frame, tree):
        """The value of a function's body. Attributes that the program binds again go in and out with the call."""
        outer = self.frames[-1].env if self.frames else {}
        frame.env.update(self.rebound.handed(outer))
        self.frames.append(frame)
        frame.block = self.b.block
        try:
            value = self._value_of(frame, tree)
            value = self.returned(value) if len(self.frames) == 1 else value
            outer.update(self.rebound.handed(frame.env))
            if len(self.frames) == 1 and not self.problems:
                self.rebound.finish(outer)
            return value
        finally:
            self.frames.pop()

    def _value_of(self, frame: Frame, tree):
        if isinstance(tree, ast.Lambda):
            value = self.eval(tree.body)
            if len(self.frames) == 1:
                self.nodes.append((frame, tree.body))
                self.check_result(value)
                self.nodes.pop()
            return value
        frame.env.update({"$break": False, "$continue": False, "$return": False, "$value": UNSET})
        self.exec_block(tree.body)
        ended = frame.env["$return"]
        if ended is False:
            return None
        if ended is not True:
            def nothing():
                frame.env.update({"$return": True, "$value": None})

            self.branch(self.b.invert(ended), nothing, lambda: None, None)
        value = frame.env["$value"]
        if isinstance(value, Unset):
            raise Problem(f"what {frame.source.name}() returns differs between its paths{in_words(value.reason)}", "", (frame.source.place(tree.body[-1]),))
        return value

    def check_result(self, value) -> None:
        """What a call gives must be something outside of it."""
        if isinstance(value, (tuple, list, dict)):
            for item in value.values() if isinstance(value, dict) else value:
                self.check_result(item)
        elif isinstance(value, (objects.OpRef, objects.BoundMethod, objects.LocalFunction, objects.Partial, objects.Namespace, Unset)):
            kind = "an operator" if isinstance(value, objects.OpRef) else "a module" if isinstance(value, objects.Namespace) else "a function"
            shown = {objects.OpRef: "shown", objects.BoundMethod: "name", objects.LocalFunction: "name"}.get(type(value))
            raise Problem(f"a compiled function cannot return {kind}{f' ({getattr(value, shown)})' if shown else ''}: call it, and return its result")

    # -- objects from outside ------------------------------------------------------------------------------------------

    def guard(self, key, getter: Callable, value) -> None:
        if key not in self._guarded:
            self._guarded.add(key)
            self.guards.append((getter, value))

    def adopt_from(self, owner, key, attribute: bool = False):
        """`owner.key` or `owner[key]` of an object from outside."""
        getter = (lambda: getattr(owner, key)) if attribute else (lambda: owner[key])
        try:
            value = getter()
        except Exception as error:
            text = str(error) if attribute else f"{type(error).__name__}: {error}"
            raise Problem(text) from None
        return self.adopt(value, getter, (id(owner), key), f".{key}" if attribute else str(key))

    def adopt_cell(self, cell, name: str):
        try:
            value = cell.cell_contents
        except ValueError:
            raise Problem(f"name '{name}' has no value yet") from None
        return self.adopt(value, lambda: cell.cell_contents, (id(cell), name), name)

    def adopt(self, value, getter=None, key=None, name: str = ""):
        """An object of Python as the program sees it; tensors become arguments."""
        if isinstance(getter, tuple):
            owner, attribute = getter
            getter, key, name = (lambda: getattr(owner, attribute)), (id(owner), attribute), attribute
        if isinstance(value, (Tensor, Complex, dtypes.ComplexType, Num, objects.OpRef, objects.Namespace, dtypes.DType)):
            return value
        if objects.is_tensor(value):
            return self.capture(value, getter or (lambda: value), name)
        if callable(getter) and not isinstance(value, type(ast)):
            self.guard(key, getter, value)
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return value.item() if hasattr(value, "item") else value
        kind = type(value)
        if kind.__module__ == "numpy" and hasattr(value, "item") and not isinstance(value, type):
            return value.item()
        if kind.__module__ == "torch":
            if kind.__name__ == "dtype":
                return dtypes.COMPLEX.get(str(value).rpartition(".")[2]) or dtypes.named(str(value))
            if kind.__name__ == "Size":
                return Size(value)
        if kind in (list, dict) and callable(getter):
            self.guard((key, "length"), lambda: len(getter()), len(value))
        if kind is list:
            return PyList([self.adopt(x, *_item(value, i)) for i, x in enumerate(value)])
        if kind is tuple:
            return tuple(self.adopt(x, *_item(value, i)) for i, x in enumerate(value))
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            return NamedResult([self.adopt(x, *_item(value, i)) for i, x in enumerate(value)], kind._fields, kind)
        if kind is dict:
            return PyDict({k: self.adopt(x, *_item(value, k)) for k, x in value.items()})
        return value

    def whole(self, tensor: Tensor, array):
        """An array as the program sees it, where `tensor` has its elements: of complex ones, the last dimension has the parts."""
        from ..ops.complex_numbers import of_whole

        return of_whole(self.b, tensor) if arrays.is_complex(array) else tensor

    def capture(self, array, getter: Callable, name: str):
        known = self.captured.get(id(array))
        if id(array) in self.given:
            return self.given[id(array)]
        if known is not None:
            return known.tensor
        tensor = self.argument(array, name)
        self.captured[id(array)] = Captured(array, tensor, getter, name)
        if arrays.is_complex(array):
            # (Views of it are made once, where everything can see them.)
            whole = self.given[id(array)] = self.whole(tensor, array)
            return whole
        return tensor

    def argument(self, array, name: str, sizes=None) -> Tensor:
        """A tensor for an array: storage of its own from here on."""
        dtype, shape, strides = self.describe_array(array)
        shape = shape if sizes is None else sizes
        value = self.b.top.add_argument(Type("mutable", dtype, [n if isinstance(n, int) else None for n in shape]), name)
        dense = dense_strides(shape)
        made = Tensor(value, dtype, shape, dense if strides is None else [Mono(s) for s in strides], dense)
        return made

    def length(self, name: str, least: int = 0) -> Num:
        """A size that is an argument, and at least `least`."""
        value = self.b.top.add_argument(INDEX, name)
        value.least = least
        if least:
            self.b.ranges[value] = (least, _MOST)
        return Num("int", value)

    def note_range(self, *numbers) -> None:
        """A loop ranges over what these numbers say."""
        self.ranged.update(*map(origins_of, numbers))


def _item(owner, key):
    return (lambda: owner[key]), (id(owner), key), str(key)


def is_poisoned(value) -> bool:
    return value is POISON
