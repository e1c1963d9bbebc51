# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Calls of the program: operators, methods, Python's own functions, and functions that are inlined."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import math
import types
from typing import Any, Callable, Dict, List, Optional

from ..ir import dtypes
from . import objects, pure
from .attributes import of_torch
from ..ir.views import select
from .expressions import FUNCTIONS, has_poison, is_static
from .grown import Rows
from .copied import COPIES
from .functions import bind, closure_of, is_standard, nonlocals_of, source_of
from ..graphs import GraphFunction
from ..ir.lengths import ArgumentSize
from ..ops import OPERATORS, REFUSED, complex_numbers
from ..ops.pointwise import to_dtype
from ..ops.table import assign, check_cast
from ..problems import NeedsUnrolling, Problem
from .values import POISON, Complex, Device, Generated, NamedResult, Num, PyDict, PyList, Size, Tensor, Unset, is_number, kind_of, type_name

_MAX_DEPTH = 64


class Iteration:
    """What a `for` goes over: its length, and item number i. `loops`: i may be data. `once`: of Python's iterators, which
    give each item once, the number of loops around the place where it was made. `where`: the expression that has gone over it."""

    def __init__(self, length, at: Callable, loops: bool, once: Optional[int] = None):
        self.length, self.at, self.loops, self.once = length, at, loops, once
        self.where: Any = None


class Calls:
    """Part of the evaluator."""

    def eval_Call(self, node):
        args: List = []
        try:
            function = self.eval(node.func)
            if isinstance(function, objects.OpRef):
                self.check_operator(function)
        except Problem as problem:
            # What is wrong with the arguments is said as well.
            problem.frames = problem.frames or self.places()
            try:
                self.eval_all(node.args)
            except Problem:
                self.report(problem)
                raise
            raise
        args = self.eval_all(node.args)
        kwargs: Dict[str, Any] = {}
        for keyword in node.keywords:
            value = self.eval(keyword.value)
            found = {keyword.arg: value} if keyword.arg is not None else value
            twice = sorted(kwargs.keys() & found.keys())
            if twice:
                raise Problem(f"two values for the keyword '{twice[0]}'")
            kwargs.update(found)
        if has_poison(function) or has_poison(args) or has_poison(list(kwargs.values())):
            owner = getattr(function, "owner", None)
            if isinstance(owner, PyList) and owner.block is not None:
                # What was to be put into the list is wrong, and so is what is made of the list.
                owner.append(POISON)
            return POISON
        return self.call(function, args, kwargs)

    def check_operator(self, ref: objects.OpRef) -> None:
        if ref.path in objects.CONTROL:
            return
        if ref.path in REFUSED:
            raise Problem(f"{ref.shown} {REFUSED[ref.path]}")
        if objects.operator_at(ref.path) is None:
            raise Problem(f"{ref.shown} is not supported{objects.similar(ref.path)}")

    def call(self, function, args: List, kwargs: Dict):
        if isinstance(function, objects.OpRef):
            return self.call_operator(function, args, kwargs)
        if isinstance(function, objects.BoundMethod):
            return self.call_method(function, args, kwargs)
        if isinstance(function, objects.LocalFunction):
            return self.call_local(function, args, kwargs)
        if isinstance(function, functools.partial):
            return self.call(self.adopt(function.func), [*map(self.adopt, function.args), *args], {**{k: self.adopt(v) for k, v in function.keywords.items()}, **kwargs})
        if isinstance(function, objects.Partial):
            return self.call(function.function, [*function.args, *args], {**function.kwargs, **kwargs})
        own = self.builtin(function)
        if own is not None:
            return own(*args, **kwargs)
        reason = pure.refusal(function)
        if reason:
            raise Problem(reason)
        found = objects.operator_of(function)
        if found is not None:
            self.check_operator(found)
            return self.call_operator(found, args, kwargs)
        if objects.is_module(function):
            return self.call_module(function, args, kwargs)
        if isinstance(function, GraphFunction):
            return function.evaluate(self, args, kwargs)
        script = getattr(function, "_ft_function", None)
        if script is not None:
            return self.call(script, args, kwargs)
        if isinstance(function, types.MethodType) and objects.is_module(function.__self__) and inspect.isgeneratorfunction(function.__func__):
            return self._members(function, args, kwargs)
        if isinstance(function, types.MethodType):
            return self.call_python(function.__func__, [function.__self__, *args], kwargs)
        plain = objects.python_function(function)
        if plain is not None and (not _is_library(plain) or objects.is_inlined(plain)):
            return (self._call_standard if is_standard(plain.__code__) else self.call_python)(plain, args, kwargs)
        if isinstance(function, dtypes.DType):
            raise Problem(f"{function} is an element type: torch.tensor(..., dtype=torch.{function})")
        if not callable(function) and not isinstance(function, objects.Namespace) or isinstance(function, (Tensor, Num)):
            raise Problem(f"a value of type {type_name(function)} cannot be called")
        method = getattr(type(function), "__call__", None)
        if isinstance(method, types.FunctionType) and not _is_library(type(function)):
            return self.call_python(method, [function, *args], kwargs)
        return self.call_static(function, args, kwargs)

    # -- operators --------------------------------------------------------------------------------------------

    def call_operator(self, ref: objects.OpRef, args, kwargs):
        made = self.of_operator(ref.path, args, kwargs)
        if made is not None:
            return made
        args, kwargs = [self.plain(x) for x in args], {k: self.plain(x) for k, x in kwargs.items()}
        if ref.path in objects.CONTROL:
            return getattr(self, objects.CONTROL[ref.path])(*args, **kwargs)
        found, in_place = objects.operator_at(ref.path)
        if in_place and args:
            return self.in_place(found, args[0], args[1:], kwargs, ref.name)
        if kwargs.get("inplace") is True and "inplace" not in found.signature.parameters:
            kwargs = {k: v for k, v in kwargs.items() if k != "inplace"}
            return self.in_place(found, args[0], args[1:], kwargs, ref.name)
        if "inplace" not in found.signature.parameters:
            kwargs = {k: v for k, v in kwargs.items() if k != "inplace"}
        return found.call(self.b, args, kwargs)

    def in_place(self, found, owner: Tensor, args, kwargs, name: str):
        if isinstance(owner, Complex):
            return complex_numbers.assigned(self.b, owner, found.call(self.b, [owner, *args], kwargs), name)
        if owner.repeats:
            raise Problem(f"{name}: writes through a tensor of which several elements are one (expand, unfold): clone it first")
        result = found.call(self.b, [owner, *args], kwargs)
        if isinstance(result, Complex):
            raise Problem(f"{name}: the result is complex, which cannot be cast to the destination's {owner.dtype}", "dtype")
        check_cast(result.dtype, owner.dtype, name)
        if result.rank > owner.rank or any(isinstance(p, int) and isinstance(q, int) and p != q for p, q in zip(result.sizes, owner.sizes)):
            raise Problem(f"{name}: the result {result.describe()} does not fit {owner.describe()}", "shape")
        return assign(self.b, owner, to_dtype(self.b, result, owner.dtype), name)

    def call_method(self, method: objects.BoundMethod, args, kwargs):
        owner, name = method.owner, method.name
        if isinstance(owner, (Tensor, Complex)):
            return self.call_tensor_method(owner, name, args, kwargs)
        if isinstance(owner, Num):
            return self.number_method(owner, name)
        if isinstance(owner, Rows):
            return self.rows_method(owner, name, args, kwargs)
        if isinstance(owner, PyList):
            return self.list_method(owner, name, args, kwargs)
        if isinstance(owner, Size) and name == "numel":
            return self.b.product(owner)
        if isinstance(owner, NamedResult) and name in ("_replace", "_asdict"):
            fields = dict(zip(owner.names, owner))
            unknown = sorted(set(kwargs) - set(fields))
            if unknown:
                raise Problem(f"_replace: there is no field '{unknown[0]}'")
            return PyDict(fields, self.b.block) if name == "_asdict" else NamedResult({**fields, **kwargs}.values(), owner.names, owner.kind)
        found = getattr(owner, name, None)
        if found is None:
            raise Problem(f"{type(owner).__name__.replace('Py', '').lower()} has no method '{name}'")
        if isinstance(owner, PyDict):
            if name in ("pop", "update", "clear", "setdefault", "popitem"):
                self.check_owned(owner, f".{name}() changes items")
            result = found(*args, **kwargs)
            return tuple(result) if name in ("items", "keys", "values") else result
        self.static([*args, *kwargs.values()], f"arguments of .{name}()")
        return found(*args, **kwargs)

    def number_method(self, owner: Num, name: str):
        if name in ("item", "bit_length", "is_integer"):
            if name == "item":
                return owner
        raise Problem(f"a number that is data has no method '{name}'")

    def call_tensor_method(self, x: Tensor, name: str, args, kwargs):
        if f"Tensor.{name}" in REFUSED:
            raise Problem(f"Tensor.{name} {REFUSED['Tensor.' + name]}")
        if name == "apply_" or name == "map_":
            raise Problem(f"Tensor.{name} calls Python for each element: write the expression on the tensor")
        found = objects.operator_at(f"Tensor.{name}")
        if found is None:
            raise Problem(f"Tensor.{name} is not supported{objects.similar('Tensor.' + name)}")
        op, in_place = found
        if in_place:
            return self.in_place(op, x, args, kwargs, name)
        if name in ("unbind", "split", "chunk") and isinstance(x, Tensor):
            rows = self.parts_of(name, x, args, kwargs)
            if rows is not None:
                return rows
        args, kwargs = [self.plain(y) for y in args], {k: self.plain(y) for k, y in kwargs.items()}
        return op.call(self.b, [x, *args], kwargs)

    def list_method(self, owner: PyList, name: str, args, kwargs):
        if name in ("append", "extend", "insert", "pop", "reverse", "clear", "remove", "sort"):
            (self.check_grows if name in ("append", "extend") else self.check_owned)(owner, f".{name}() changes items")
            if name in ("sort", "remove"):
                self.static(owner, f"the items of a list for .{name}()")
            if name == "extend":
                args = [self.items_of(args[0])]
            self.static([a for a in args if isinstance(a, Num)] if name in ("pop", "insert") else [], "the place in a list")
            return getattr(owner, name)(*args, **kwargs)
        if name == "copy":
            return PyList(owner, self.b.block)
        if name in ("index", "count"):
            self.static(owner, f"the items of a list for .{name}()")
            return getattr(owner, name)(*args)
        raise Problem(f"list has no method '{name}'")

    # -- functions ---------------------------------------------------------------------------------------------------

    def call_module(self, module, args, kwargs):
        if self.adopt_from(module, "training", attribute=True) and type(module).__name__.startswith(("Dropout", "BatchNorm", "AlphaDropout", "FeatureAlpha")):
            raise Problem(f"{type(module).__name__} behaves otherwise while training: call .eval() on the module")
        for hooks in ("_forward_hooks", "_forward_pre_hooks"):
            self.adopt(len(getattr(module, hooks)), lambda h=hooks: len(getattr(module, h)), (id(module), hooks))
        for hook in module._forward_pre_hooks.values():
            given = self._hooked(module, "pre-hook", module._forward_pre_hooks_with_kwargs, hook, [module, tuple(args)])
            args = args if given is None else list(given) if isinstance(given, (tuple, list)) else [given]
        result = self.call(module.forward, args, kwargs)
        for hook in module._forward_hooks.values():
            given = self._hooked(module, "hook", module._forward_hooks_with_kwargs, hook, [module, tuple(args), result])
            result = result if given is None else given
        return result

    def _hooked(self, module, what: str, with_kwargs, hook, args):
        if with_kwargs:
            raise Problem(f"{type(module).__name__} has a {what} with_kwargs: register one that takes the arguments by position alone")
        return self.call(self.adopt(hook, None), args, {})

    def torch_cond(self, pred, true_fn, false_fn, operands=()):
        """`torch.cond`: an `if` whose sides are functions."""
        truth, operands = self.truth(pred), self.items_of(operands)
        if isinstance(truth, bool):
            return self.call(true_fn if truth else false_fn, operands, {})
        return self.choose(truth, lambda: self.call(true_fn, list(operands), {}), lambda: self.call(false_fn, list(operands), {}), "torch.cond")

    def torch_check(self, cond, message=None):
        """`torch._check`: an assertion whose message is a function."""
        truth = self.truth(cond)
        if truth is not True:
            said = None if message is None else self.looked_at(lambda: self.call(message, [], {}))
            self.require(truth, f"a check does not hold{f': {said}' if isinstance(said, str) else ''}")

    def torch_check_with(self, error_type, cond, message=None):
        self.torch_check(cond, message)

    def torch_while_loop(self, cond_fn, body_fn, carried_inputs):
        """`torch.while_loop`: a `while` whose condition and body are functions of what it carries."""
        names = [f"$carried{len(self.nodes)}.{i}" for i in range(len(self.items_of(carried_inputs)))]
        condition, body = f"$condition{len(self.nodes)}", f"$body{len(self.nodes)}"
        at = self.nodes[-1][1]

        def called(function: str) -> ast.Call:
            return ast.Call(ast.Name(function, ast.Load()), [ast.Name(n, ast.Load()) for n in names], [])

        step = ast.Assign([ast.Tuple([ast.Name(n, ast.Store()) for n in names], ast.Store())], called(body))
        loop = ast.While(called(condition), [step], [])
        for node in ast.walk(loop):
            if isinstance(node, (ast.expr, ast.stmt)):
                ast.copy_location(node, at)
        self.frame.env.update(zip(names, self.items_of(carried_inputs)), **{condition: cond_fn, body: body_fn})
        self.exec_While(loop)
        return tuple(self.eval_Name(ast.copy_location(ast.Name(n, ast.Load()), at)) for n in names)

    def call_python(self, function: types.FunctionType, args, kwargs):
        """Inlines a function of Python."""
        function = objects.without_gradients(function)
        cells = closure_of(function)
        # (One `def` makes several functions, which differ in what they close over.)
        if len(self.frames) >= _MAX_DEPTH or any(f.code is function.__code__ and _are_one(f.cells, cells) for f in self.frames):
            raise Problem(f"{function.__name__} calls itself: recursion cannot be compiled")
        source = source_of(function.__code__, function.__name__)
        arguments = source.tree.args
        defaults = tuple(self.adopt(d, None) for d in function.__defaults__ or ())
        keyword = {k: self.adopt(d, None) for k, d in (function.__kwdefaults__ or {}).items()}
        bound = bind(function.__name__, arguments, defaults, keyword, args, kwargs)
        frame = self.new_frame(source, bound, function.__globals__, cells, function.__code__)
        return self.run_function(frame, source.tree)

    def _call_standard(self, function: types.FunctionType, args, kwargs):
        """Inlines a function of Python's library. What is wrong there is wrong where the program calls it."""
        known = len(self.problems)
        try:
            result = self.call_python(function, args, kwargs)
        except Problem as problem:
            self.report(problem)
        if len(self.problems) == known:
            return result
        reason = self.problems[known].message
        del self.problems[known:]
        advice = "call it outside of the compiled function"
        raise Problem(f"{pure.name_of(function)} of Python's library cannot be compiled ({reason.removesuffix(': ' + advice)}): {advice}")

    def call_local(self, function: objects.LocalFunction, args, kwargs):
        if len(self.frames) >= _MAX_DEPTH or any(f.code is function.node and f.home is function.frame for f in self.frames):
            raise Problem(f"{function.name} calls itself: recursion cannot be compiled")
        arguments, home = function.node.args, function.frame
        bound = bind(function.name, arguments, function.defaults, function.keyword_defaults, args, kwargs)
        own, hidden = home, home.hidden_from(function.scopes)
        for names in filter(None, (hidden, *function.scopes)):
            home = self.new_frame(home.source, names, home.globals, home.cells, function.node, parent=home)
        frame = self.new_frame(home.source, bound, home.globals, home.cells, function.node, parent=home)
        frame.home, frame.nonlocals = own, nonlocals_of(function.node)
        if not frame.nonlocals:
            return self.run_function(frame, function.node)
        # What paths of the call assign meets in its own frame. Others must not find the old values meanwhile.
        if self.frame is not own or any(function.scopes) or not all(name in own.env for name in frame.nonlocals):
            raise Problem(f"{function.name} assigns names of the function around it (nonlocal): call it there, where they have values, or return the values instead")
        twice = sorted(frame.nonlocals & hidden.keys())
        if twice:
            raise Problem(f"{function.name} assigns '{twice[0]}' (nonlocal), and a comprehension that calls it has an own '{twice[0]}': give that another name")
        frame.env.update({name: own.env[name] for name in frame.nonlocals})
        own.env.update({name: Unset(f": {function.name} assigns it") for name in frame.nonlocals})
        value = self.run_function(frame, function.node)
        own.env.update({name: frame.env[name] for name in frame.nonlocals})
        return value

    def call_static(self, function, args, kwargs):
        """A callable without source: Python calls it where all is known."""
        args, kwargs = [self.plain(x) for x in args], {k: self.plain(x) for k, x in kwargs.items()}
        name = getattr(function, "__qualname__", None) or type(function).__name__
        if isinstance(function, type) and issubclass(function, BaseException):
            return function
        if isinstance(function, type) and issubclass(function, tuple) and hasattr(function, "_fields"):
            return NamedResult(bind_fields(function, args, kwargs), function._fields, function)
        if isinstance(function, objects.Namespace) and function.name.endswith("torch.device"):
            function = Device
        if not is_static([*args, *kwargs.values()]):
            if getattr(math, getattr(function, "__name__", ""), None) is function:
                return self.math_function(function.__name__, args)
            raise Problem(f"{name} is no operator, and it has no Python source to inline")
        if function is not Device and not pure.is_pure(function):
            what = "makes an object" if isinstance(function, type) else "has no Python source to inline, and may do more than compute its result"
            raise Problem(f"{pure.name_of(function)} {what}: call it outside of the compiled function")
        try:
            return self.adopt(function(*map(_as_torch, args), **{k: _as_torch(v) for k, v in kwargs.items()}), None)
        except Exception as error:
            raise Problem(f"{name}: {type(error).__name__}: {error}") from None

    def _members(self, function, args, kwargs):
        """What a module has, as `named_parameters()` gives it: a list that is looked at again in each call."""
        self.static([*args, *kwargs.values()], f"arguments of {function.__name__}()")
        again = lambda: list(function(*args, **kwargs))  # noqa: E731
        return self._adopted_items(again, (id(function.__self__), function.__name__, repr((args, kwargs))))

    def _adopted_items(self, again: Callable, key) -> PyList:
        found = again()
        self.guard((key, "length"), lambda: len(again()), len(found))
        made = []
        for i, item in enumerate(found):
            if isinstance(item, tuple):
                made.append(tuple(self.adopt(x, lambda i=i, j=j: again()[i][j], (key, i, j), str(item[0])) for j, x in enumerate(item)))
            else:
                made.append(self.adopt(item, lambda i=i: again()[i], (key, i), str(i)))
        return PyList(made, self.b.block)

    def math_function(self, name: str, args):
        b = self.b
        if name in _MATH and len(args) == _MATH[name][1]:
            return b.number_op(_MATH[name][0], "float", *args)
        if name in ("isnan", "isinf", "isfinite"):
            size, infinite = b.number_op("math.absf", "float", *args), float("inf")
            return b.compare("ne", size, size) if name == "isnan" else b.compare("eq" if name == "isinf" else "lt", size, infinite)
        if name in ("degrees", "radians"):
            return b.number_op("arith.mulf", "float", args[0], 180 / math.pi if name == "degrees" else math.pi / 180)
        if name in ("floor", "ceil", "trunc"):
            if kind_of(args[0]) != "float":
                return args[0]
            return b._convert(b.number_op(f"math.{name}", "float", *args), "int")
        raise Problem(f"math.{name} of a number that is data is not supported")

    # -- Python's own -------------------------------------------------------------------------------------------------

    def builtin(self, function):
        name = getattr(function, "__name__", "")
        if function is functools.partial:
            return lambda first, *args, **kwargs: objects.Partial(first, args, kwargs)
        if isinstance(function, types.FunctionType) and function in COPIES:
            return functools.partial(COPIES[function], self)
        if function is functools.reduce:
            return self._reduce
        if function is itertools.repeat:
            return lambda item, times: (item,) * self.static(times, "how often repeat() gives its item")
        if getattr(function, "__module__", None) == "_operator" and function in FUNCTIONS:
            kind, op = FUNCTIONS[function]
            return lambda a, b: self.binary(op, a, b) if kind == "binary" else self.compare(op(), a, b)
        if isinstance(function, (type, types.BuiltinFunctionType)) and getattr(function, "__module__", "") == "builtins":
            return getattr(self, "builtin_" + name, None)
        return None

    def _reduce(self, function, items, *start):
        found = [*start, *self.items_of(items)]
        if not found:
            raise Problem("reduce() of an empty sequence with no initial value")
        result = found[0]
        for item in found[1:]:
            result = self.call(function, [result, item], {})
        return result

    def builtin_super(self, *args):
        """`super()` of a method that is inlined."""
        if not args:
            cell = self.frame.cells.get("__class__")
            names = [a.arg for a in self.frame.source.tree.args.args] if cell is not None else []
            if not names or names[0] not in self.frame.env:
                raise Problem("super(): there is no class around this function")
            args = (cell.cell_contents, self.frame.env[names[0]])
        return super(*self.static(args, "what super() takes"))

    def builtin_len(self, x):
        if isinstance(x, Complex):
            return self.builtin_len(x.real)
        if isinstance(x, Tensor):
            if not x.rank:
                raise Problem("len() of a tensor without dimensions", "shape")
            return x.sizes[0]
        if isinstance(x, Rows):
            return self.length_of(x)
        return len(x)

    def builtin_int(self, x=0):
        return x if isinstance(x, ArgumentSize) else self._number("int", x, int)

    def builtin_float(self, x=0.0):
        return self._number("float", x, float)

    def builtin_bool(self, x=False):
        return self.truth(x)

    def _number(self, kind: str, x, make):
        if isinstance(x, Tensor):
            x = self.b.item(x)
        return self.b._convert(x, kind) if isinstance(x, Num) else make(x)

    def builtin_abs(self, x):
        if isinstance(x, (Tensor, Complex)):
            return OPERATORS["abs"].call(self.b, [x], {})
        if isinstance(x, Num) and x.kind == "int":
            return self.b.maximum(x, self.b.sub(0, x))  # a function of loops, where the number is one
        if isinstance(x, Num):
            return self.b.number_op("math.absf", x.kind, x)
        return abs(x)

    def builtin_round(self, x, ndigits=None):
        if isinstance(x, Tensor):
            return OPERATORS["round"].call(self.b, [x], {} if ndigits is None else {"decimals": ndigits})
        if isinstance(x, Num) and x.kind == "float":
            return self._rounded(x, self.static(ndigits, "the digits of round()"))
        if isinstance(x, Num) and (ndigits is None or isinstance(ndigits, int) and ndigits >= 0):
            return self.b._convert(x, "int")
        return round(self.static(x, "round()"), ndigits)

    def _rounded(self, x: Num, digits):
        """To an even number of the last digit where two are as near; without digits it is an integer."""
        b = self.b
        if digits is None:
            return b._convert(b.number_op("math.roundeven", "float", x), "int")
        scale = 10.0 ** abs(digits)
        first, last = ("arith.mulf", "arith.divf") if digits >= 0 else ("arith.divf", "arith.mulf")
        return b.number_op(last, "float", b.number_op("math.roundeven", "float", b.number_op(first, "float", x, scale)), scale)

    def builtin_min(self, *args, key=None, **default):
        return self._extreme("min", args, key, **default)

    def builtin_max(self, *args, key=None, **default):
        return self._extreme("max", args, key, **default)

    def _extreme(self, name: str, args, key, default=()):
        items = self.items_of(args[0]) if len(args) == 1 else list(args)
        if not items and default != ():
            return default
        if not items:
            raise Problem(f"{name}() of no items")
        if key is not None:
            keys = self._keys_of(items, key, name)
            return items[(min if name == "min" else max)(range(len(items)), key=keys.__getitem__)]
        if is_static(items):
            return (min if name == "min" else max)(items)
        result = items[0]
        for x in items[1:]:
            result = self._lesser(name, result, x)
        return result

    def _lesser(self, name: str, first, second):
        """The second of two where it is less (or, for max, greater), else the first: so Python does it, also with NaN."""
        dtypes_ = {x.dtype for x in (first, second) if isinstance(x, Tensor)}
        numbers = [x for x in (first, second) if not isinstance(x, Tensor)]
        if len(dtypes_) == 1 and all(_fits_into(x, next(iter(dtypes_))) for x in numbers):
            what, dtype = "lt" if name == "min" else "gt", next(iter(dtypes_))
            flat = [OPERATORS["reshape"].function(self.b, x, ()) if isinstance(x, Tensor) and x.rank else x for x in (first, second)]
            return self.b.pointwise(dtype, flat, lambda body, p, q: body.select(body.compare(what, q, p), q, p), dtype)
        first, second = (self.b.item(x) if isinstance(x, Tensor) else x for x in (first, second))
        if "float" not in (kind_of(first), kind_of(second)):
            return (self.b.minimum if name == "min" else self.b.maximum)(first, second)
        truth = self.b.compare("lt" if name == "min" else "gt", second, first)
        return self.b.choice(truth, second, first)

    def builtin_sum(self, items, start=0):
        result = self.sum_of(items, start) if isinstance(items, Rows) and not items.tail and items.reserved is None else None
        if result is not None:
            return result
        result = start
        for item in self.items_of(items):
            result = self.binary(ast.Add, result, item)
        return result

    def builtin_pow(self, x, y):
        return self.binary(ast.Pow, x, y)

    def builtin_divmod(self, x, y):
        return self.binary(ast.FloorDiv, x, y), self.binary(ast.Mod, x, y)

    def _truth_of_all(self, items, name: str):
        result: Any = name == "and"
        for item in self.items_of(items):
            result = self.b.logical(name, result, self.truth(item))
        return result

    def builtin_any(self, items):
        return self._truth_of_all(items, "or")

    def builtin_all(self, items):
        return self._truth_of_all(items, "and")

    def builtin_list(self, items=()):
        return PyList(self.items_of(items), self.b.block)

    def builtin_tuple(self, items=()):
        return tuple(self.items_of(items))

    def builtin_dict(self, *args, **kwargs):
        pairs = args[0] if args and isinstance(args[0], dict) else [self.items_of(x) for x in self.items_of(args[0])] if args else {}
        return PyDict(dict(pairs, **kwargs), self.b.block)

    def _keys_of(self, items: List, key, what: str) -> List:
        """By what items are ordered, which must be known."""
        return self.static(items if key is None else [self.call(key, [x], {}) for x in items], f"what {what}() compares")

    def builtin_sorted(self, items, key=None, reverse=False):
        found = self.items_of(items)
        keys = self._keys_of(found, key, "sorted")
        return PyList([found[i] for i in sorted(range(len(found)), key=keys.__getitem__, reverse=reverse)], self.b.block)

    def builtin_filter(self, function, items):
        def keeps(item):
            return self.truth(item if function is None else self.call(function, [item], {}))

        return self.generated(lambda: [x for x in self.items_of(items) if self.static(keeps(x), "whether filter() keeps an item")])

    def builtin_next(self, items, *default):
        if not isinstance(items, Generated):
            raise Problem("next() takes a generator of the compiled function")
        self._check_current(items)
        items.taken += 1
        if items.taken <= len(items):
            return items[items.taken - 1]
        if not default:
            raise Problem("next(): there is no item left")
        return default[0]

    def builtin_map(self, function, *lists):
        return self.generated(lambda: [self.call(function, list(items), {}) for items in zip(*(self.items_of(x) for x in lists))])

    def _check_current(self, items: Generated) -> None:
        if items.block is not self.b.block:
            raise NeedsUnrolling(Problem("a generator of outside is gone over under a loop or a condition that is data"))
        if not items.is_current():
            raise Problem("a generator gives each item where it is asked for, and what items are made of may have changed since it was made: make a list of it there")

    def builtin_slice(self, *args):
        return slice(*args)

    def builtin_print(self, *args, **kwargs):
        raise Problem("print() has no place in a compiled function: return what you want to see")

    # -- what can be gone over ---------------------------------------------------------------------------------------

    def builtin_range(self, *args):
        args = [self.b.item(a) if isinstance(a, Tensor) else a for a in args]
        self.note_range(*args)
        if is_static(args):
            return range(*args)
        for a in args:
            if not (isinstance(a, Num) and a.kind == "int" or isinstance(a, int)):
                raise Problem(f"range() takes integers, found {type(a).__name__}")
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) > 2 else 1
        if not isinstance(step, int):
            return self._range_by_data(start, stop, step)
        if step == 0:
            raise Problem("the step of range() must not be 0")
        span = self.b.sub(stop, start) if step > 0 else self.b.sub(start, stop)
        length = self.b.maximum(self.b.ceildiv(span, abs(step)), 0)
        return Iteration(length, lambda i: self.b.add(start, self.b.mul(i, step)), True)

    def _range_by_data(self, start, stop, step: Num) -> Iteration:
        """A range whose step is data, of either sign; 0 ends the call."""
        b = self.b
        b.step("require", [b.compare("ne", step, 0).value], [], message="the step of range() must not be 0")
        up = b.compare("gt", step, 0)
        # (A step of 0 is 1 here: what is divided by it is not used.)
        size = b.maximum(b.choice(up, step, b.sub(0, step)), 1)
        span = b.choice(up, b.sub(stop, start), b.sub(start, stop))
        length = b.maximum(b.ceildiv(span, size), 0)
        return Iteration(length, lambda i: b.add(start, b.mul(i, step)), True)

    def builtin_zip(self, *items, strict=False):
        parts = [self.iteration(x) for x in items]
        if strict and any(isinstance(p.length, int) and isinstance(parts[0].length, int) and p.length != parts[0].length for p in parts):
            raise Problem(f"zip(strict=True): items of lengths {', '.join(str(p.length) for p in parts)}")
        length = parts[0].length if parts else 0
        for part in parts[1:]:
            length = self.b.minimum(length, part.length)
        return Iteration(length, lambda i: tuple(p.at(i) for p in parts), all(p.loops for p in parts), self.frame.loops)

    def builtin_enumerate(self, items, start=0):
        part = self.iteration(items)
        return Iteration(part.length, lambda i: (self.b.add(start, i), part.at(i)), part.loops, self.frame.loops)

    def builtin_reversed(self, items):
        if isinstance(items, Tensor) and items.rank:
            # PyTorch flips a copy: what is written into its rows stays there.
            return self.iteration(OPERATORS["flip"].call(self.b, [items, 0], {}))
        part = self.iteration(items)
        return Iteration(part.length, lambda i: part.at(self.b.sub(self.b.sub(part.length, 1), i)), part.loops, self.frame.loops)

    def iteration(self, items) -> Iteration:
        if isinstance(items, Iteration):
            self._take(items)
            return items
        if isinstance(items, Rows):
            return Iteration(*self.rows_iterated(items))
        if isinstance(items, Tensor):
            if not items.rank:
                raise Problem("a tensor without dimensions cannot be gone over", "shape")
            self.note_range(items.sizes[0])
            return Iteration(items.sizes[0], lambda i: select(self.b, items, 0, i), True)
        if isinstance(items, Complex):
            return Iteration(items.real.sizes[0], lambda i: Complex(*(select(self.b, part, 0, i) for part in items.parts)), True)
        if isinstance(items, range):
            at = lambda i: items[i] if isinstance(i, int) else self.b.add(items.start, self.b.mul(i, items.step))  # noqa: E731
            return Iteration(len(items), at, True)
        if isinstance(items, PyList):
            return self._items_now(items)
        return self._listed(self._plain_items(items))

    def _items_now(self, items: PyList) -> Iteration:
        """Goes over a list: each item is what the list has when its turn comes."""
        length = len(items)

        def at(i):
            if len(items) != length or items.has_versions:
                raise Problem("a list is changed while it is gone over, by more or fewer items or under a condition: go over a copy of it, as in list(...)")
            return self._listed(items).at(i)

        return Iteration(length, at, False)

    def _take(self, items: Iteration) -> None:
        """Notes that an iterator of Python's is gone over."""
        if items.once is None:
            return
        here = self.nodes[-1][1]
        if items.where not in (None, here) or items.once != self.frame.loops:
            raise Problem("an iterator (zip, enumerate, reversed) gives each item once, and is gone over twice, or in a loop that it is made before: make a list of it")
        items.where = here

    def _listed(self, found: List) -> Iteration:
        def at(i):
            if not isinstance(i, int):
                raise NeedsUnrolling(Problem("a list is gone over by a number that is data"))
            return found[i]

        return Iteration(len(found), at, False)

    def _plain_items(self, items) -> List:
        if isinstance(items, dict):
            return list(items)
        if isinstance(items, Generated):
            self._check_current(items)
            taken, items.taken = items.taken, len(items)
            return list(items[taken:])
        if isinstance(items, (tuple, list, str, range)):
            return list(items)
        if hasattr(items, "__next__"):
            raise Problem("an iterator from outside can be gone over only once: pass a list")
        if objects.is_module(items) or hasattr(items, "__iter__"):
            found = list(items)
            self.guard((id(items), "length"), lambda: len(list(items)), len(found))
            return [self.adopt(x, lambda i=i: list(items)[i], (id(items), i)) for i, x in enumerate(found)]
        raise Problem(f"{type_name(items)} cannot be gone over")

    def items_of(self, items) -> List:
        """All items, one by one: their number must be known."""
        return self.all_of(self.iteration(items))

    def all_of(self, part: Iteration) -> List:
        if not isinstance(part.length, int):
            raise Problem("the number of items is data: it must be known here")
        return [part.at(i) for i in range(part.length)]


#: Functions of `math` on numbers that are data: the operation, and of how many numbers.
_MATH = {
    **{n: (f"math.{n}", 1) for n in (
        "sqrt", "exp", "exp2", "log", "log2", "log10", "sin", "cos", "tan", "tanh", "sinh", "cosh", "atan", "asin", "acos", "asinh", "acosh", "atanh",
        "erf", "erfc", "expm1", "log1p", "cbrt")},
    "fabs": ("math.absf", 1), "pow": ("math.powf", 2), "atan2": ("math.atan2", 2), "copysign": ("math.copysign", 2), "fmod": ("arith.remf", 2),
}  # fmt: skip


def _fits_into(number, dtype: dtypes.DType) -> bool:
    """Whether a number beside a tensor is such a tensor, where one of both is the result."""
    return dtypes.of_number(number) is dtype if is_number(number) else {"int": dtypes.int64, "float": dtypes.float32, "bool": dtypes.bool_}[number.kind] is dtype


def _are_one(cells: Dict, others: Dict) -> bool:
    """Whether two functions of one `def` close over the same names."""
    return all(cell is others.get(name) for name, cell in cells.items())


def bind_fields(kind, args, kwargs) -> List:
    made = dict(zip(kind._fields, args), **kwargs)
    return [made[f] if f in made else kind._field_defaults[f] for f in kind._fields]


def _is_library(function) -> bool:
    """Functions of PyTorch and NumPy are operators or nothing, but for the modules of torch.nn."""
    home = (getattr(function, "__module__", "") or "").split(".")
    return home[0] == "numpy" or home[0] in ("torch", "torchvision") and home[:3] != ["torch", "nn", "modules"]


def _as_torch(value):
    """An argument of a callable of Python's or PyTorch's."""
    return of_torch(value.name) if isinstance(value, dtypes.DType) and of_torch(value.name) is not None else value


def is_plain(value) -> bool:
    return is_number(value) or isinstance(value, str) or value is None
