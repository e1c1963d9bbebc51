# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Expressions of the program: evaluated where Python can, else made into operations."""

from __future__ import annotations

import ast
import builtins
import contextlib
import operator
from typing import Any, Callable, Dict, Iterator, List

from ..ir import dtypes
from . import objects
from ...errors import Error
from .attributes import text_of
from ..ir.builder import NOTHING
from ..ir.operations import INDEX, Block, Op
from ..ops import OPERATORS, complex_numbers, indexing
from ..ops.pointwise import to_dtype
from ..ops.table import assign, check_cast, tensor_of
from ..problems import PYTHONS, NeedsUnrolling, Problem, problem_of
from .grown import UNKNOWN_ITEMS, NeedsLists, Rows
from .rebound import is_inner
from .values import ARGUMENT, POISON, SHARED, UNSET, Complex, Generated, NamedResult, Num, Poison, PyDict, PyList, Size, Tensor, Unset, is_number, kind_of, type_name

_BINARY = {
    ast.Add: ("add", operator.add), ast.Sub: ("sub", operator.sub), ast.Mult: ("mul", operator.mul),
    ast.Div: ("div", operator.truediv), ast.FloorDiv: ("floor_divide", operator.floordiv),
    ast.Mod: ("remainder", operator.mod), ast.Pow: ("pow", operator.pow), ast.MatMult: ("matmul", operator.matmul),
    ast.BitAnd: ("bitwise_and", operator.and_), ast.BitOr: ("bitwise_or", operator.or_),
    ast.BitXor: ("bitwise_xor", operator.xor), ast.LShift: ("bitwise_left_shift", operator.lshift),
    ast.RShift: ("bitwise_right_shift", operator.rshift),
}
_COMPARE = {
    ast.Eq: ("eq", operator.eq), ast.NotEq: ("ne", operator.ne), ast.Lt: ("lt", operator.lt),
    ast.LtE: ("le", operator.le), ast.Gt: ("gt", operator.gt), ast.GtE: ("ge", operator.ge),
}
#: Functions of the module `operator`, and what Python writes for them.
FUNCTIONS = {**{function: ("binary", op) for op, (_, function) in _BINARY.items()}, **{function: ("compare", op) for op, (_, function) in _COMPARE.items()}}
#: Functions that go over all items of an argument at once.
_AT_ONCE = ("list", "tuple", "sum", "min", "max", "sorted", "dict")
_SYMBOLS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%", ast.Pow: "**", ast.MatMult: "@"}


def is_static(value) -> bool:
    """Whether Python alone can work with a value."""
    if isinstance(value, (Tensor, Complex, Num, Poison, Unset, Rows, objects.BoundMethod, objects.OpRef, objects.LocalFunction)):
        return False
    if isinstance(value, (tuple, list)):
        return all(is_static(x) for x in value)
    if isinstance(value, dict):
        return all(is_static(x) for x in value.values())
    if isinstance(value, slice):
        return all(is_static(x) for x in (value.start, value.stop, value.step))
    return True


def is_truth(value) -> bool:
    """Whether a value is true or false, and nothing else."""
    if isinstance(value, Tensor):
        return value.dtype.is_bool and all(n == 1 for n in value.sizes)
    return value.kind == "bool" if isinstance(value, Num) else isinstance(value, bool)


def has_poison(value) -> bool:
    if isinstance(value, Poison):
        return True
    if isinstance(value, (tuple, list)):
        return any(has_poison(x) for x in value)
    return isinstance(value, dict) and any(has_poison(x) for x in value.values())


def _differ(env: Dict[str, Any], other: Dict[str, Any]) -> bool:
    """Whether a name has been bound."""
    return env.keys() != other.keys() or any(env[name] is not other[name] for name in env)


def _is_arithmetic(op: Op) -> bool:
    """Whether an operation computes a number and cannot fail."""
    text = op.pieces[0] if op.kind == "text" else ""
    return isinstance(text, str) and text.startswith("arith.") and "div" not in text and "rem" not in text


def _is_pure(op: Op) -> bool:
    return op.pure


class Expressions:
    """Part of the evaluator; `self.b` is the builder, `self.frame` the function that is looked at."""

    def eval(self, node: ast.AST):
        method = getattr(self, "eval_" + type(node).__name__, None)
        self.nodes.append((self.frame, node))
        try:
            if method is None:
                raise Problem(f"{_construct(node)} cannot be compiled")
            return method(node)
        except Problem as problem:
            if not problem.frames:
                problem.frames = self.places()
            raise
        except NeedsUnrolling as need:
            if not need.problem.frames:
                need.problem.frames = self.places()
            raise
        except Error:
            raise
        except PYTHONS as error:
            raise problem_of(error, self.places()) from error
        finally:
            self.nodes.pop()

    def eval_all(self, nodes) -> List:
        """The values of all; what is wrong with several of them is reported, not the first problem alone."""
        result, last = [], None
        for node in nodes:
            try:
                if isinstance(node, ast.Starred):
                    result.extend(self.items_of(self.eval(node.value)))
                else:
                    result.append(self.eval(node))
            except Problem as problem:
                if last is not None:
                    self.report(last)
                last = problem
        if last is not None:
            raise last
        return result

    # -- leaves ------------------------------------------------------------------------------------------

    def eval_Constant(self, node):
        if isinstance(node.value, bytes):
            raise Problem(f"a constant of type {type(node.value).__name__} cannot be compiled")
        return node.value

    def eval_Name(self, node):
        return self.lookup(node.id)

    def lookup(self, name: str):
        frame = self.frame
        while frame is not None:
            if name in frame.env:
                value = frame.env[name]
                if isinstance(value, Unset):
                    raise Problem(f"'{name}' has no value on some paths that lead here{value.reason}")
                return value
            frame = frame.parent
        frame = self.frame
        if name in frame.cells:
            return self.adopt_cell(frame.cells[name], name)
        if name in frame.globals:
            return self.adopt_from(frame.globals, name)
        if hasattr(builtins, name):
            return getattr(builtins, name)
        if name in ("torch", "torchvision"):
            return objects.Namespace(name)
        raise Problem(f"name '{name}' is not defined")

    def eval_Tuple(self, node):
        return tuple(self.eval_all(node.elts))

    def eval_List(self, node):
        return PyList(self.eval_all(node.elts), self.b.block)

    def eval_Dict(self, node):
        made = PyDict(block=self.b.block)
        for key, value in zip(node.keys, node.values):
            if key is None:
                made.update(self.eval(value))
            else:
                self._add_item(made, key, value)
        return made

    def _add_item(self, made: PyDict, key: ast.expr, value: ast.expr) -> None:
        """The key is evaluated first."""
        known = self.static(self.eval(key), "a key of a dictionary")
        made[known] = self.eval(value)

    def eval_Set(self, node):
        raise Problem("sets cannot be compiled: use a tuple or a list")

    def eval_JoinedStr(self, node):
        return "".join(v.value if isinstance(v, ast.Constant) else self.eval(v) for v in node.values)

    def eval_FormattedValue(self, node):
        value = self.static(self.eval(node.value), "an f-string")
        value = text_of(value) if isinstance(value, dtypes.DType) else value
        if node.conversion >= 0:
            value = {"s": str, "r": repr, "a": ascii}[chr(node.conversion)](value)
        return format(value, "" if node.format_spec is None else self.eval(node.format_spec))

    def eval_Slice(self, node):
        return slice(*(None if part is None else self.eval(part) for part in (node.lower, node.upper, node.step)))

    def eval_Lambda(self, node):
        return self.local_function(node, "<lambda>")

    def local_function(self, node, name: str) -> objects.LocalFunction:
        """A function of the program: defaults are what they are here, names what they are when it is called."""
        arguments = node.args
        defaults = tuple(self.eval(d) for d in arguments.defaults)
        keyword = {a.arg: self.eval(d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults) if d is not None}
        return objects.LocalFunction(node, self.frame, name, defaults, keyword, self.frame.scopes)

    def eval_NamedExpr(self, node):
        value = self.eval(node.value)
        self.assign(node.target, value)
        return value

    def static(self, value, what: str):
        if not is_static(value):
            raise Problem(f"{what} must be known when the program is compiled")
        return value

    # -- operators ---------------------------------------------------------------------------------------

    def eval_BinOp(self, node):
        left, right = self.eval_all([node.left, node.right])
        return self.binary(type(node.op), left, right)

    def binary(self, op, left, right):
        if has_poison(left) or has_poison(right):
            return POISON
        left, right = self.plain(left), self.plain(right)
        name, function = _BINARY[op]
        if any(isinstance(x, (Tensor, Complex)) for x in (left, right)):
            return self.tensor_binary(name, left, right)
        if isinstance(left, Num) or isinstance(right, Num):
            if self.in_condition:
                self.note_range(left, right)
            if any(isinstance(x, (list, tuple)) for x in (left, right)):
                raise NeedsUnrolling(Problem("a list or tuple times a number that is data"))
            return self.number_binary(op, left, right)
        if isinstance(left, list) and isinstance(right, list) and op is ast.Add:
            return PyList([*left, *right], self.b.block)
        if isinstance(left, list) and op is ast.Mult:
            return PyList(list(left) * right, self.b.block)
        try:
            found = function(left, right)
            return PyDict(found, self.b.block) if isinstance(found, dict) else found
        except Exception as error:
            raise Problem(f"{_SYMBOLS.get(op, name)}: {error}") from None

    def tensor_binary(self, name: str, left, right):
        for x in (left, right):
            if not isinstance(x, (Tensor, Complex, Num, complex)) and not is_number(x):
                raise Problem(f"{name}: expects tensors and numbers, found {type(x).__name__}")
        if name == "div" and not isinstance(left, (Tensor, Complex, complex)) and not isinstance(right, Complex):
            # As Tensor.__rtruediv__: what is rounded on the way shows in the last digits.
            inverse = OPERATORS["reciprocal"].call(self.b, [right], {})
            return inverse if is_number(left) and left == 1 else OPERATORS["mul"].call(self.b, [inverse, left], {})
        return OPERATORS[name].call(self.b, [left, right], {})

    def number_binary(self, op, left, right):
        b = self.b
        for x in (left, right):
            if not isinstance(x, Num) and not is_number(x):
                raise Problem(f"expects numbers, found {type(x).__name__}")
        kinds = {kind_of(left), kind_of(right)}
        if op in (ast.BitAnd, ast.BitOr, ast.BitXor) and kinds == {"bool"}:
            name = {ast.BitAnd: "arith.andi", ast.BitOr: "arith.ori", ast.BitXor: "arith.xori"}[op]
            return b.number_op(name, "bool", left, right)
        if op is ast.Div or "float" in kinds:
            return self._float_op(op, left, right)
        return self._int_op(op, left, right)

    def _float_op(self, op, left, right):
        b = self.b
        names = {ast.Add: "arith.addf", ast.Sub: "arith.subf", ast.Mult: "arith.mulf", ast.Div: "arith.divf", ast.Pow: "math.powf"}
        if op in names:
            return b.number_op(names[op], "float", left, right)
        if op in (ast.FloorDiv, ast.Mod):
            whole = b.number_op("math.floor", "float", b.number_op("arith.divf", "float", left, right))
            return whole if op is ast.FloorDiv else b.number_op("arith.subf", "float", left, b.number_op("arith.mulf", "float", whole, right))
        raise Problem("an operator on floats that are data is not supported")

    def _int_op(self, op, left, right):
        b = self.b
        left, right = (x if not isinstance(x, bool) else int(x) for x in (left, right))
        left, right = (b._convert(x, "int") if isinstance(x, Num) else x for x in (left, right))
        if op in (ast.FloorDiv, ast.Mod) and isinstance(right, Num):
            right = self._checked_divisor(right)
        plain = {ast.Add: b.add, ast.Sub: b.sub, ast.Mult: b.mul, ast.FloorDiv: b.floordiv}
        if op in plain:
            return plain[op](left, right)
        if op is ast.Mod:
            return b.modulo(left, right)
        names = {
            ast.BitAnd: "arith.andi", ast.BitOr: "arith.ori", ast.BitXor: "arith.xori",
            ast.LShift: "arith.shli", ast.RShift: "arith.shrsi",
        }
        if op in names:
            return b.number_op(names[op], "int", left, right)
        if op is ast.Pow and isinstance(right, int) and 0 <= right <= 16:
            result: Any = 1
            for _ in range(right):
                result = b.mul(result, left)
            return result
        raise Problem("a power of integers that are data is not supported")

    def _checked_divisor(self, number: Num) -> Num:
        """A divisor that compiled code can divide by: 0 is noted, and becomes 1."""
        b = self.b
        zero = b.compare("eq", number, 0)

        def pick(first, second):
            pieces = ["arith.select ", zero.value, ", ", b.scalar(first), ", ", b.scalar(second), " : index"]
            return Num("int", b.text(pieces, [INDEX]).results[0])

        b.notice(b.constant_tensor(pick(0, NOTHING), dtypes.int64), "division by zero")
        return pick(1, number)

    def eval_UnaryOp(self, node):
        if isinstance(node.op, ast.Not):
            return self.eval_truth(node)
        value = self.eval(node.operand)
        if has_poison(value):
            return POISON
        name = {ast.USub: "neg", ast.UAdd: "positive", ast.Invert: "bitwise_not"}[type(node.op)]
        if isinstance(value, (Tensor, Complex)):
            return OPERATORS[name].call(self.b, [value], {})
        if isinstance(value, Num):
            if name == "positive":
                return value
            if name == "neg":
                return self.binary(ast.Sub, 0.0 if value.kind == "float" else 0, value)
            if value.kind == "bool":
                raise Problem("~ of a truth is -1 or -2 where it is a number of Python's, and its opposite where it is a tensor: use not")
            return self.binary(ast.Sub, -1, value)
        return {"neg": operator.neg, "positive": operator.pos, "bitwise_not": operator.invert}[name](value)

    def truth(self, value):
        """`bool(value)`: True, False, or a number of kind "bool"."""
        if isinstance(value, Poison):
            return False
        if isinstance(value, Tensor):
            count = self.b.product(value.sizes)
            if isinstance(count, int) and count != 1:
                raise Problem(f"the truth of a tensor of {count} elements is not defined: use any() or all()")
            return self.truth(self.b.item(value))
        if isinstance(value, Num):
            return self.b._convert(value, "bool")
        if isinstance(value, Rows):
            return self.compare(ast.NotEq(), self.length_of(value), 0)
        if isinstance(value, Complex):
            raise Problem("the truth of a complex tensor is not supported: compare its abs() with 0")
        return bool(value)

    def eval_truth(self, node):
        """The truth of an expression, which is all that is asked of it."""
        if isinstance(node, ast.BoolOp):
            return self.truth(self._bool_op(node, True))
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return self.b.invert(self.eval_truth(node.operand))
        return self.truth(self.eval(node))

    def eval_BoolOp(self, node):
        return self._bool_op(node, False)

    def _bool_op(self, node, for_truth: bool):
        """`and` and `or`: one of the values, or the truth alone. Of what is true or false anyway, a number says which."""
        is_and = isinstance(node.op, ast.And)
        first = node.values[0]
        if not for_truth and not is_and and isinstance(first, ast.BoolOp) and isinstance(first.op, ast.And):
            return self._chosen_by_and(first, node.values[1:])
        value = self.eval_truth(first) if for_truth and isinstance(first, ast.BoolOp) else self.eval(first)
        for part in node.values[1:]:
            if has_poison(value):
                return POISON
            truth = self.truth(value) if isinstance(value, (Tensor, Num)) else None
            if truth is None or isinstance(truth, bool):
                known = bool(value) if truth is None else truth
                if known != is_and:
                    return value
                value = self.eval(part)
                continue
            value = self._of_both(is_and, value, truth, part, for_truth)
        return value

    def _of_both(self, is_and: bool, value, truth: Num, part, for_truth: bool):
        """`value and part`, or `value or part`, where `truth` is data. Two tensors give one of them; of other truths a number says which."""
        sides: List = []

        def other():
            found = self.eval_truth(part) if for_truth else self.eval(part)
            are_tensors = isinstance(value, Tensor) and isinstance(found, Tensor) and value.rank == found.rank
            sides.append(found if are_tensors or not is_truth(found) else self.truth(found))
            return sides[0]

        def short():
            return value if not plain or sides and isinstance(sides[0], Tensor) else not is_and

        plain = for_truth or is_truth(value)
        eager = None if not plain else self._scalar_only(other)
        if eager is not None and is_truth(eager) and not isinstance(eager, Tensor):
            return self.b.logical("and" if is_and else "or", truth, eager)
        sides.clear()
        return self.choose(truth if is_and else self.b.invert(truth), other, short, "and" if is_and else "or")

    def _chosen_by_and(self, first: ast.BoolOp, rest):
        """`c and a or b` is a choice between `a` and `b`, of which neither need be a truth."""
        def any_of(values):
            return self.eval(values[0] if len(values) == 1 else ast.copy_location(ast.BoolOp(ast.Or(), values), values[0]))

        *conditions, last = first.values
        condition = conditions[0] if len(conditions) == 1 else ast.copy_location(ast.BoolOp(ast.And(), conditions), first)
        truth = self.eval_truth(condition)
        if isinstance(truth, bool):
            return any_of([last, *rest] if truth else rest)
        return self.choose(truth, lambda: any_of([last, *rest]), lambda: any_of(rest), "and … or")

    def _scalar_only(self, function):
        """The value of an expression that is arithmetic on numbers, binds no name and cannot fail; None where it is more."""
        return self._made_only(function, _is_arithmetic)

    def _made_only(self, function: Callable, allowed: Callable[[Op], bool]):
        """The value of an expression that binds no name, and whose operations are all allowed; None where it is more."""
        block, env = Block(), dict(self.frame.env)
        with self.b.inside(block):
            value = function()
        if _differ(env, self.frame.env) or not all(map(allowed, block.ops)):
            self.frame.env.clear()
            self.frame.env.update(env)
            return None
        for op in block.ops:
            op.block = self.b.block
            self.b.block.ops.append(op)
        return value

    def eval_Compare(self, node):
        return self._compared(self.eval(node.left), list(zip(node.ops, node.comparators)))

    def _compared(self, left, rest):
        """A chain of comparisons. What follows one that does not hold is not evaluated; where data say so, it is only if it does nothing else."""
        result: Any = True
        for at, (op, node) in enumerate(rest):
            if result is False:
                return False
            is_known = result is True or not isinstance(result, (Num, Tensor))
            right = self.eval(node) if is_known else self._made_only(lambda node=node: self.eval(node), _is_pure)
            if right is None and not is_known:
                truth, later = self.truth(result), rest[at:]
                return self.choose(truth, lambda: self.truth(self._compared(left, later)), lambda: False, "a chain of comparisons")
            result = self._both(result, self.compare(op, left, right))
            left = right
        return result

    def _both(self, a, c):
        if a is True:
            return c
        if has_poison(a) or has_poison(c):
            return POISON
        if any(isinstance(x, Tensor) and any(size != 1 for size in x.sizes) for x in (a, c)):
            raise Problem("a chain of comparisons of tensors is not defined: use &")
        a, c = (self.truth(x) if isinstance(x, Tensor) else x for x in (a, c))
        return self.b.logical("and", a, c)

    def _is_in(self, left, right):
        """Whether a container has a value: True, False, or a number where values are data."""
        if isinstance(right, Tensor):
            return self.b.item(OPERATORS["any"].function(self.b, self.compare(ast.Eq(), right, left)))
        if isinstance(right, dict):
            return self.static(left, "what 'in' looks for") in right
        numbers = isinstance(right, (tuple, list)) and all(isinstance(x, (Tensor, Num)) or is_number(x) for x in (left, *right))
        if not numbers or is_static(left) and is_static(right):
            return self.static(left, "what 'in' looks for") in self.static(right, "what 'in' looks in")
        found = False
        for item in right:
            found = self.b.logical("or", found, True if item is left else self.truth(self.compare(ast.Eq(), left, item)))
        return found

    def compare(self, op, left, right):
        if has_poison(left) or has_poison(right):
            return POISON
        if not isinstance(op, (ast.Is, ast.IsNot)):
            left, right = self.plain(left), self.plain(right)
        if self.in_condition:
            self.note_range(left, right)
        if any(isinstance(x, (objects.OpRef, objects.BoundMethod, objects.LocalFunction)) for x in (left, right)) and not isinstance(op, (ast.In, ast.NotIn)):
            if not isinstance(op, (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)):
                raise Problem("functions have no order")
            return self.is_same(op, left, right) == isinstance(op, (ast.Is, ast.Eq))
        if isinstance(op, (ast.Is, ast.IsNot)):
            same = left is right or is_static(left) and is_static(right) and left is right
            return same == isinstance(op, ast.Is)
        if isinstance(op, (ast.In, ast.NotIn)):
            found = self._is_in(left, right)
            return found if isinstance(op, ast.In) else self.b.invert(found)
        name, function = _COMPARE[type(op)]
        if isinstance(left, Tensor) or isinstance(right, Tensor):
            other = right if isinstance(left, Tensor) else left
            if other is None or isinstance(other, str):
                return name == "ne"
            return self.tensor_binary(name, left, right)
        if isinstance(left, Num) or isinstance(right, Num):
            if not all(isinstance(x, Num) or is_number(x) for x in (left, right)):
                return name == "ne"
            known = self.b.decided(name, left, right)
            return self.b.compare(name, left, right) if known is None else known
        if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)) and not (is_static(left) and is_static(right)):
            return self._compare_sequences(name, left, right)
        if any(isinstance(x, Complex) for x in (left, right)):
            return OPERATORS[name].call(self.b, [left, right], {})
        left, right = (dtypes.of_object(x) or x if isinstance(y, dtypes.DType) else x for x, y in ((left, right), (right, left)))
        return function(left, right)

    def _compare_sequences(self, name: str, left, right):
        if name not in ("eq", "ne"):
            raise Problem("sequences of sizes that are data can be compared by == and != alone")
        if len(left) != len(right):
            return name == "ne"
        result: Any = True
        for x, y in zip(left, right):
            result = self._both(result, self.compare(ast.Eq(), x, y))
        return result if name == "eq" else self.b.invert(result)

    def eval_IfExp(self, node):
        truth = self.eval_truth(node.test)
        if isinstance(truth, bool):
            return self.eval(node.body if truth else node.orelse)
        number = self._chosen_number(truth, node)
        return number if number is not None else self.choose(truth, lambda: self.eval(node.body), lambda: self.eval(node.orelse), "if")

    def _chosen_number(self, truth: Num, node):
        """One of two integers that are arithmetic alone: both are computed. None where they are something else."""
        if any(isinstance(n, (ast.Call, ast.NamedExpr, ast.Attribute)) for side in (node.body, node.orelse) for n in ast.walk(side)):
            return None
        sides = []
        for side in (node.body, node.orelse):
            sides.append(self._scalar_only(lambda side=side: self.eval(side)))
            if not isinstance(sides[-1], (int, Num)) or isinstance(sides[-1], bool) or kind_of(sides[-1]) != "int":
                return None
        return self.b.choice(truth, *sides)

    # -- items and attributes ----------------------------------------------------------------------------------

    def eval_Subscript(self, node):
        owner = self.eval(node.value)
        key = self.as_index(owner, self.eval(node.slice))
        if has_poison(owner) or has_poison(key):
            return POISON
        if isinstance(owner, Tensor):
            return indexing.read(self.b, owner, key)
        if isinstance(owner, Complex):
            return complex_numbers.part_by_part(lambda part: indexing.read(self.b, part, key), owner)
        if isinstance(key, Tensor):
            key = self.b.item(key)
        return self.item_of(owner, key)

    def item_of(self, owner, key):
        if isinstance(owner, Rows):
            return self.item_in(owner, key)
        if not is_static(key):
            if isinstance(owner, (tuple, list)):
                raise NeedsUnrolling(Problem("a list or tuple is indexed by a number that is data: its items may be different things"))
            if owner is None or is_number(owner):
                raise Problem(f"a value of type {type_name(owner)} has no items")
            raise Problem(f"an index of {type(owner).__name__} must be known when the program is compiled")
        if objects.is_module(owner) or not isinstance(owner, (tuple, list, dict, str, range)):
            return self.adopt_from(owner, key)
        try:
            found = owner[key]
        except Exception as error:
            raise Problem(f"{type(error).__name__}: {error}") from None
        if isinstance(owner, Size) and isinstance(key, slice):
            return Size(found)
        return PyList(found, self.b.block) if isinstance(owner, PyList) and isinstance(key, slice) else found

    # -- comprehensions ------------------------------------------------------------------------------------------

    def eval_ListComp(self, node):
        items = self.iteration(self.eval(node.generators[0].iter))
        rows = self.rows_of(node, items)
        if rows is not None:
            return rows
        found: List = []
        self._comprehend(node, items, lambda: found.append(self.eval(node.elt)))
        return PyList(found, self.b.block)

    def eval_GeneratorExp(self, node):
        read = {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        return self.generated(lambda: self.eval_ListComp(node), read)

    def generated(self, function: Callable, read=frozenset()):
        """What a generator gives that reads these names. Where evaluating its items does more, they must be taken at once."""
        frame, env, is_unchanged = self.frame, dict(self.frame.env), self.b.unchanged()
        found = function()
        is_call = self._is_taken_at_once()
        now = {name: value for name, value in frame.env.items() if name in env or not is_inner(name)}
        if not is_call and (not is_unchanged() or _differ(env, now)):
            raise Problem("the items of a generator assign names or write into tensors, and Python evaluates each where it is asked for: make a list of them, as in [...]")
        if isinstance(found, Rows):
            if not is_call:
                raise NeedsLists
            return found
        names = {name: env.get(name) for name in frame.source.read_by_functions.union(read)}
        stays = self.b.unchanged()

        def is_current() -> bool:
            return stays() and all(frame.env.get(name) is value for name, value in names.items())

        return Generated(found, self.b.block, (lambda: True) if is_call else is_current)

    def _is_taken_at_once(self) -> bool:
        """Whether what is evaluated is all that a function of Python's takes, which goes over it and does nothing else, or is taken apart."""
        call = self.nodes[-2][1] if len(self.nodes) > 1 else None
        if isinstance(call, ast.Assign):
            return len(call.targets) == 1 and isinstance(call.targets[0], (ast.Tuple, ast.List)) and call.value is self.nodes[-1][1]
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name) or len(call.args) != 1 or call.keywords or call.args[0] is not self.nodes[-1][1]:
            return False
        return call.func.id in _AT_ONCE and self.lookup(call.func.id) is getattr(builtins, call.func.id)

    def eval_DictComp(self, node):
        made = PyDict(block=self.b.block)
        items = self.iteration(self.eval(node.generators[0].iter))
        self._comprehend(node, items, lambda: self._add_item(made, node.key, node.value))
        return made

    def _comprehend(self, node, items, leaf: Callable[[], None]) -> None:
        """Goes over a comprehension's items; those of its first part have been evaluated, outside of it."""
        with self.scope_of(node) as scope:
            self._generate(node.generators, items, leaf, scope)

    @contextlib.contextmanager
    def scope_of(self, node, *more: str) -> Iterator[objects.Scope]:
        """While a comprehension is walked through: its names are its own, and so are `more`. What else it binds, by `:=` or by a function that it calls, stays."""
        names = {n.id for part in node.generators for n in ast.walk(part.target) if isinstance(n, ast.Name)}
        unset = Unset(": it is a name of a comprehension here")
        scope = objects.Scope({name: self.frame.env.get(name, unset) for name in names.union(more)})
        self.frame.scopes.append(scope)
        try:
            yield scope
        finally:
            self.frame.scopes.pop()
            for name, value in scope.hidden.items():
                self.frame.env.pop(name, None)
                if value is not unset:
                    self.frame.env[name] = value

    def _generate(self, generators, items, leaf, scope) -> None:
        first, *rest = generators
        names = {n.id for n in ast.walk(first.target) if isinstance(n, ast.Name)}
        for item in self.all_of(items):
            self.assign(first.target, item)
            scope.update({name: self.frame.env[name] for name in names})
            if not all(self.static(self.eval_truth(test), "the condition of a comprehension") for test in first.ifs):
                continue
            if rest:
                self._generate(rest, self.iteration(self.eval(rest[0].iter)), leaf, scope)
            else:
                leaf()

    # -- assignments -------------------------------------------------------------------------------------------------

    def assign(self, target, value) -> None:
        if isinstance(target, ast.Name):
            self.frame.env[target.id] = value
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Subscript):
            self._assign_item(target, value)
        elif isinstance(target, ast.Attribute):
            self._assign_attribute(target, value)
        else:
            raise Problem(f"{_construct(target)} cannot be assigned to")

    def _unpack(self, target, value) -> None:
        if isinstance(value, Poison):
            for part in target.elts:
                self.assign(part.value if isinstance(part, ast.Starred) else part, POISON)
            return
        items = self.items_of(value)
        stars = [i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)]
        if not stars:
            if len(items) != len(target.elts):
                raise Problem(f"expects {len(target.elts)} values, found {len(items)}")
            for part, item in zip(target.elts, items):
                self.assign(part, item)
            return
        at, after = stars[0], len(target.elts) - stars[0] - 1
        if len(items) < len(target.elts) - 1:
            raise Problem(f"expects at least {len(target.elts) - 1} values, found {len(items)}")
        middle = len(items) - after
        for part, item in zip(target.elts[:at], items):
            self.assign(part, item)
        self.assign(target.elts[at].value, PyList(items[at:middle], self.b.block))
        for part, item in zip(target.elts[at + 1 :], items[middle:]):
            self.assign(part, item)

    def _assign_item(self, target, value) -> None:
        owner = self.eval(target.value)
        key = self.as_index(owner, self.eval(target.slice))
        if has_poison(owner) or has_poison(key) or has_poison(value):
            return
        if isinstance(owner, Tensor):
            if not isinstance(value, (Tensor, Num)) and not is_number(value):
                value = tensor_of(self.b, value, "the value of an assignment") if is_number(value) else self._constant(value)
            indexing.write(self.b, owner, key, value)
            return
        if isinstance(owner, Complex):
            for part, given in zip(owner.parts, complex_numbers.parts_of(self.b, value)):
                indexing.write(self.b, part, key, given)
            return
        self.set_item(owner, key, value)

    def set_item(self, owner, key, value) -> None:
        if isinstance(owner, Rows):
            self.fill_row(owner, key, value)
            return
        if not is_static(key) and isinstance(owner, PyList) and owner.block not in (None, ARGUMENT, SHARED):
            need = NeedsUnrolling(Problem("an item of a list is assigned at an index that is data"))
            if self.grows and owner and all(x is None for x in owner):
                need.grows, need.fills, self.met_growth = owner, True, True
            raise need
        if is_static(key) and getattr(owner, "block", None) not in (None, ARGUMENT, SHARED, self.b.block) and _has_item(owner, key):
            owner = self.own_version(owner) or owner
        self.check_owned(owner, "an item is assigned")
        if not is_static(key):
            raise NeedsUnrolling(Problem("an item of a list is assigned at an index that is data"))
        try:
            owner[key] = value
        except Exception as error:
            raise Problem(f"{type(error).__name__}: {error}") from None

    def _constant(self, value):
        if isinstance(value, (list, tuple)):
            return OPERATORS["tensor"].call(self.b, [value], {})
        raise Problem(f"expects a tensor or a number as the value, found {type(value).__name__}")

    def check_owned(self, owner, what: str) -> None:
        """A list or dictionary may change where it was made, not under control flow that is data."""
        if isinstance(owner, Rows):
            raise NeedsLists
        self.b.changes.append(getattr(owner, "number", 0))
        block = getattr(owner, "block", None)
        if block is ARGUMENT:
            raise Problem(f"{what} in a {type_name(owner)} that is an argument: compiled functions change tensors and their own lists only, so return what is new")
        if block is SHARED:
            kind = type_name(owner)
            raise NeedsUnrolling(Problem(f"{what} in a {kind} that data choose among several, one of which has another name: copy it first, as in {kind}(...)"))
        if block is None:
            raise Problem(f"{what} in a captured Python object ({type(owner).__name__.replace('Py', '').lower()}): compiled functions change tensors and their own lists only")
        if block is not self.b.block:
            raise NeedsUnrolling(Problem(f"{what} in a list or a dictionary that was made before a loop or a condition that data decide: {UNKNOWN_ITEMS}"))

    def check_grows(self, owner, what: str) -> None:
        """As `check_owned`, of what adds items to a list's end."""
        if isinstance(owner, PyList) and owner.block is not self.b.block and owner.block not in (None, ARGUMENT, SHARED):
            raise self.outgrown(owner, what)
        self.check_owned(owner, what)

    def _assign_attribute(self, target, value) -> None:
        owner = self.eval(target.value)
        if isinstance(owner, Tensor) and target.attr == "data":
            assign(self.b, owner, value, "an assignment to .data", check=False)
            return
        if isinstance(owner, Tensor):
            raise Problem(f"attribute '{target.attr}' of a tensor is assigned: return the value instead")
        if has_poison(owner):
            return
        self.rebound.assign(self.frame.env, owner, target.attr, value, lambda: self.original(owner, target.attr), self.places())

    def original(self, owner, name: str):
        """What an attribute from outside is before the call; UNSET where it is not there."""
        return self.adopt_from(owner, name, attribute=True) if hasattr(owner, name) else UNSET

    def augmented(self, op, value, load):
        """What `load op= value` gives: in place on tensors."""
        if has_poison(load) or has_poison(value):
            return POISON
        if isinstance(load, Tensor):
            result = self.tensor_binary(_BINARY[op][0], load, value)
            if isinstance(result, Complex):
                raise Problem(f"{_SYMBOLS.get(op, 'in place')}=: the result is complex, which cannot be cast to the destination's {load.dtype}", "dtype")
            check_cast(result.dtype, load.dtype, f"{_SYMBOLS.get(op, '')}=")
            return assign(self.b, load, to_dtype(self.b, result, load.dtype), f"{_SYMBOLS.get(op, 'in place')}=")
        if isinstance(load, Complex):
            return complex_numbers.assigned(self.b, load, self.tensor_binary(_BINARY[op][0], load, value), f"{_SYMBOLS.get(op, 'in place')}=")
        if isinstance(load, Rows) and op is ast.Add:
            self.rows_method(load, "extend", [value], {})
            return load
        if isinstance(load, PyList) and op is ast.Add:
            self.check_grows(load, "items are added")
            load.extend(self.items_of(value))
            return load
        if isinstance(load, PyDict) and op is ast.BitOr:
            self.check_owned(load, "items are added")
            load.update(value)
            return load
        return self.binary(op, load, value)


def _has_item(owner, key) -> bool:
    """Whether an assignment changes an item and adds none."""
    if isinstance(owner, PyDict):
        return key in owner
    return isinstance(owner, PyList) and isinstance(key, int) and -len(owner) <= key < len(owner)


def _construct(node) -> str:
    names = {
        "Await": "await", "Yield": "yield", "YieldFrom": "yield from", "Try": "try", "TryStar": "try", "ClassDef": "a class",
        "AsyncFunctionDef": "async def", "AsyncFor": "async for", "AsyncWith": "async with", "Global": "global",
        "Match": "match", "SetComp": "a set", "Set": "a set", "Starred": "a starred expression here",
    }
    return names.get(type(node).__name__, f"'{type(node).__name__}'")
