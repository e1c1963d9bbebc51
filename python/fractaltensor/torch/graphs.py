# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Graphs of ``torch.export`` as programs: each node is the operator that the table has at its key of ATen.

A node's metadata say where it comes from: lines of Python, and the module that they belong to.
"""

from __future__ import annotations

import inspect
import operator
import os
import re
import sys
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple

from ..errors import ArgumentError, ArgumentValueError, DTypeError
from ..source import Frame
from .runtime import arrays
from .ir import dtypes
from .frontend import objects
from .frontend.expressions import has_poison
from .ops.table import assign
from .problems import PYTHONS, Problem, problem_of
from .frontend.values import POISON, NamedResult, Num, PyDict, PyList, Tensor

#: A line of a stack trace.
_LINE = re.compile(r'File "([^"]+)", line (\d+), in (\S+)')


# -- places -----------------------------------------------------------------------------------------------------------


def frames_of(node) -> Tuple[Frame, ...]:
    """The lines of Python that made a node, the innermost first: those of PyTorch's own modules only where there are no others."""
    found = [Frame(file, int(line), 0, 0, function) for file, line, function in _LINE.findall(node.meta.get("stack_trace") or "")]
    own = [frame for frame in found if not _is_of_torch(frame.file)]
    return tuple(reversed(own or found[-1:]))


def _is_of_torch(file: str) -> bool:
    home = os.path.dirname(sys.modules["torch"].__file__) + os.sep
    return file.startswith(home) or not os.path.isabs(file)


def module_of(node) -> str:
    """The module that a node belongs to, as in ``layers.0.norm (LayerNorm)``; "" where it is the model itself."""
    stack = [entry for key, entry in (node.meta.get("nn_module_stack") or {}).items() if not key.startswith("_empty")]
    if not stack or not stack[-1][0]:
        return ""
    path, kind = stack[-1]
    return f"{path} ({(kind if isinstance(kind, str) else kind.__name__).rpartition('.')[2]})"


def place_of(node) -> str:
    """A node's place in a list: the file and line, and the module."""
    frames, module = frames_of(node), module_of(node)
    line = f"{os.path.basename(frames[0].file)}:{frames[0].line}" if frames else node.name
    return f"{line} in {module}" if module else line


# -- operators --------------------------------------------------------------------------------------------------------


def key_of(target) -> Optional[str]:
    """The key of ATen that a node calls (``aten.add.Tensor``), or None for what is no operator of a library."""
    return str(target) if type(target).__name__ == "OpOverload" else None


#: What says of tensors what is known here.
_EMPTY = {"aten._assert_tensor_metadata.default", "aten.sym_constrain_range_for_size.default", "aten.sym_constrain_range.default"}
_ASSERTS = ("aten._assert_scalar.default", "aten._assert_async.msg")


def _size(evaluator, x: Tensor, d: int):
    return x.sizes[d]


def _assert(evaluator, truth, message: str = "an assertion of the exported program does not hold", *rest):
    evaluator.require(evaluator.truth(truth), message)


#: Operators on sizes and truths, which are no tensors.
_OWN: Dict[str, Callable] = {"aten.sym_size.int": _size, **dict.fromkeys(_ASSERTS, _assert), **dict.fromkeys(_EMPTY, lambda *_, **__: None)}

#: Graphs have values, of which a view is a reshape wherever they lie.
_VALUES = {"aten.view.default": "Tensor.reshape", "aten._unsafe_view.default": "Tensor.reshape"}

#: Functions on numbers, by name: PyTorch has its own for sizes that have none.
_NUMBERS = {"sym_max": max, "sym_min": min, "sym_float": float, "sym_int": int, "sym_not": operator.not_}


def is_supported(target) -> bool:
    key = key_of(target)
    if key is not None:
        return key in _OWN or key in _VALUES or objects.operator_at(key) is not None
    name = getattr(target, "__name__", "")
    return getattr(target, "__module__", "") in ("_operator", "math") or name in _NUMBERS or name == _GRAD


#: A part of a graph that PyTorch runs with or without gradients.
_GRAD = "wrap_with_set_grad_enabled"


def shown(target) -> str:
    return key_of(target) or str(getattr(target, "__name__", target))


# -- the program -------------------------------------------------------------------------------------------------------


class Input:
    """An argument of an exported program: the placeholder, the kind that PyTorch names, and what it must be."""

    def __init__(self, node, kind: str, target: Optional[str], value):
        self.node, self.kind, self.target, self.value = node, kind, target, value


class GraphFunction:
    """An exported program as a function that :class:`fractaltensor.torch.Script` compiles.

    `tensors` has the parameters, buffers and constants by the names that the module gives them. `dims` has the lengths of the
    arguments' dimensions, as ``script(dims=)`` takes them; `bounds` says how small and great each may be.
    """

    def __init__(self, name: str, graph, inputs: Sequence[Input], outputs: Sequence, specs: Tuple[Any, Any], tensors: Mapping[str, Any], constants: Callable):
        self.__name__ = self.__qualname__ = name
        self.__doc__ = f"{name}, as torch.export has made it."
        self.graph, self.inputs, self.outputs, self.tensors, self._attribute = graph, list(inputs), list(outputs), dict(tensors), constants
        self.in_spec, self.out_spec = specs
        self.bounds: Dict[str, Tuple[int, int]] = {}
        #: Kernels of a GPU, whose number and shape a model does not choose, are those of least price.
        self.partition = "cost"
        self.dims: Dict[str, Tuple] = {}
        self.names: List[str] = []

    def __call__(self, *args, **kwargs):
        raise TypeError(f"{self.__name__} is the graph of an exported program: fractaltensor.torch.from_exported compiles it")

    def set_names(self, names: Sequence[str]) -> None:
        """What the arguments of `forward` are called, in order; where they are not known, calls pass them by position."""
        positional, keywords = self.in_spec.children()
        keys = list(keywords.context)
        if len(names) != len(positional.children()) + len(keys):
            names = [f"arg{i}" for i in range(len(positional.children()))] + keys
        self.names = list(names)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(n, kind) for n in self.names])

    def evaluate(self, evaluator, args: Sequence, kwargs: Mapping):
        """The program's operations on an evaluator's values."""
        b = evaluator.b
        outer, b.has_blocks = b.has_blocks, True
        try:
            return self._evaluated(evaluator, args, kwargs)
        finally:
            b.has_blocks = outer

    def _evaluated(self, evaluator, args: Sequence, kwargs: Mapping):
        try:
            bound = self.__signature__.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise Problem(f"{self.__name__}: {error}") from None
        given = [value for name, value in bound.items() for value in leaves_of(value, self._spec_of(name), name)]
        users = [i for i in self.inputs if i.kind == "USER_INPUT"]
        env = {i.node: self._checked(i, *value) for i, value in zip(users, given, strict=True)}
        for i in self.inputs:
            if i.kind != "USER_INPUT":
                env[i.node] = evaluator.capture(self.tensors[i.target], lambda i=i: self.tensors[i.target], i.target)
        found = _Walk(evaluator, self).run(self.graph, env)
        if evaluator.problems:
            return POISON
        return self._result(evaluator, found, env)

    def _spec_of(self, name: str):
        positional, keywords = self.in_spec.children()
        at = self.names.index(name)
        count = len(positional.children())
        return positional.child(at) if at < count else keywords.child(list(keywords.context).index(name))

    def _checked(self, expected: Input, value, name: str):
        """An argument, which must be what the program was exported for."""
        fake = expected.node.meta.get("val")
        if not arrays.is_torch(fake):
            if type(fake) is type(expected.value) and (type(value) is not type(fake) or value != fake):
                raise ArgumentValueError(f"argument '{name}' is {value!r}; the program was exported with {fake!r}, which is compiled in")
            return value
        if not isinstance(value, Tensor):
            raise ArgumentError(f"argument '{name}' is {type(value).__name__}, expected a tensor")
        dtype = dtypes.named(str(fake.dtype))
        if value.dtype is not dtype:
            raise DTypeError(f"argument '{name}' has elements {value.dtype}, the program was exported for {dtype}")
        if value.rank != fake.dim() or any(isinstance(n, int) and n != m if is_known(m) else not isinstance(n, Num) for n, m in zip(value.sizes, fake.shape)):
            sizes = [str(n) for n in fake.shape]
            found = [str(int(n)) if isinstance(n, int) else "?" for n in value.sizes]
            raise ArgumentValueError(f"argument '{name}' has sizes [{', '.join(found)}], the program was exported for [{', '.join(sizes)}]")
        return value

    def _result(self, evaluator, found: Sequence, env: Mapping):
        written = [(o, value) for o, value in zip(self.outputs, found) if o.kind.name == "USER_INPUT_MUTATION"]
        results = [value for o, value in zip(self.outputs, found) if o.kind.name == "USER_OUTPUT"]
        if written:
            # The graph has values: what an argument held is read before it is written.
            b = evaluator.b
            results = [b.copy(value) if isinstance(value, Tensor) else value for value in results]
            written = [(o, b.copy(value)) for o, value in written]
            nodes = {i.node.name: i.node for i in self.inputs}
            for o, value in written:
                assign(b, env[nodes[o.target]], value, o.target)
        return structure_of(self.out_spec, iter(results))


class _Walk:
    """Goes through the nodes of a graph once."""

    def __init__(self, evaluator, function: GraphFunction):
        self.evaluator, self.function = evaluator, function
        self.node: Any = None

    def run(self, graph, env: Dict) -> List:
        """The values that a graph gives."""
        b = self.evaluator.b
        outer, around = b.frames, tuple(b.frames())
        b.frames = lambda: (*(frames_of(self.node) if self.node is not None else ()), *around)
        try:
            for node in graph.nodes:
                self.node = node
                if node.op == "output":
                    return [self._value(x, env) for x in node.args[0]]
                if node.op == "get_attr":
                    env[node] = self._attribute(node)
                elif node.op == "call_function":
                    env[node] = self._called(node, env)
        finally:
            b.frames, self.node = outer, None
        raise AssertionError("a graph ends with its output")

    def _attribute(self, node):
        value = self.function._attribute(node.target)
        return self.evaluator.capture(value, lambda: value, node.target) if arrays.is_torch(value) else value

    def _called(self, node, env: Dict):
        args, kwargs = [self._value(x, env) for x in node.args], {k: self._value(x, env) for k, x in node.kwargs.items()}
        if has_poison(args) or has_poison(kwargs):
            return POISON
        try:
            return self._call(node.target, args, kwargs)
        except Problem as problem:
            found = problem
        except PYTHONS as error:
            found = problem_of(error, frames_of(node))
        module = module_of(node)
        found.frames = found.frames or frames_of(node)
        found.notes += ((f"this is {shown(node.target)} of module {module}", ()),) if module else ()
        self.evaluator.report(found)
        return POISON

    def _call(self, target, args: List, kwargs: Dict):
        ev, key = self.evaluator, key_of(target)
        if key in _OWN:
            return _OWN[key](ev, *args, **kwargs)
        if key is not None:
            return ev.call_operator(objects.OpRef(_VALUES.get(key, key), key), args, kwargs)
        name = getattr(target, "__name__", "")
        if target is operator.getitem:
            return args[0][args[1]]
        if name == _GRAD:
            inner = args[1].graph
            places = [n for n in inner.nodes if n.op == "placeholder"]
            node = self.node
            found = tuple(_Walk(ev, self.function).run(inner, dict(zip(places, args[2:], strict=True))))
            self.node = node
            return found
        return ev.call(_NUMBERS.get(name, target), args, kwargs)

    def _value(self, x, env: Dict):
        """An argument of a node as the operators take it."""
        if isinstance(x, (list, tuple)):
            return [self._value(item, env) for item in x]
        if type(x).__name__ == "Node":
            return env[x]
        if isinstance(x, slice):
            return slice(*(self._value(n, env) for n in (x.start, x.stop, x.step)))
        if type(x).__name__ == "dtype":
            return dtypes.named(str(x))
        return x


# -- structures ---------------------------------------------------------------------------------------------------------


def is_known(size) -> bool:
    """Whether a size of an exported tensor is a number."""
    return isinstance(size, int)


def children_of(value, spec, name: str) -> List[Tuple[Any, Any, str]]:
    """The items of a value, with the specification and the name of each."""
    kind = spec.type
    if isinstance(value, dict) and issubclass(kind, dict):
        if list(value) != list(spec.context) and set(value) != set(spec.context):
            raise ArgumentValueError(f"argument '{name}' has the keys {list(value)}, the program was exported with {list(spec.context)}")
        return [(value[key], child, f"{name}[{key!r}]") for key, child in zip(spec.context, spec.children())]
    if not isinstance(value, (list, tuple)) or not issubclass(kind, (list, tuple)) or len(value) != len(spec.children()):
        raise ArgumentError(f"argument '{name}' is {_described(value)}, the program was exported with {kind.__name__} of {len(spec.children())} items")
    return [(item, child, f"{name}[{at}]") for at, (item, child) in enumerate(zip(value, spec.children()))]


def _described(value) -> str:
    sized = isinstance(value, (list, tuple, dict))
    return f"{type(value).__name__.replace('Py', '').lower()} of {len(value)} items" if sized else type(value).__name__


def leaves_of(value, spec, name: str) -> List[Tuple[Any, str]]:
    """The leaves of an argument in the order of a specification of PyTorch's (`torch.utils._pytree`), each with its name."""
    if spec.is_leaf():
        return [(value, name)]
    return [leaf for item, child, own in children_of(value, spec, name) for leaf in leaves_of(item, child, own)]


def structure_of(spec, leaves):
    """The value of a specification's structure that has these leaves, in order."""
    if spec.is_leaf():
        return next(leaves)
    items = [structure_of(child, leaves) for child in spec.children()]
    if issubclass(spec.type, dict):
        return PyDict(zip(spec.context, items))
    if spec.type is list:
        return PyList(items)
    if issubclass(spec.type, tuple) and hasattr(spec.type, "_fields"):
        return NamedResult(items, spec.type._fields, spec.type)
    return None if spec.type is type(None) else tuple(items)
