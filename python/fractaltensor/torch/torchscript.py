# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``fractaltensor.from_torchscript``: graphs of ``torch.jit`` as programs.

TorchScript prints a graph (prim::Loop, prim::If, aten's operators with their mutation) as statements of Python. These are
rewritten into what `script` compiles: operators on numbers by Python's signs, in-place operators as methods, slices as indexing.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
import textwrap
from typing import Any, Dict, List, Mapping, Optional, Sequence

from ..errors import ArgumentError
from .script import Script

_numbers = itertools.count()

#: Functions of two operands that Python has signs for: tensors and numbers alike.
_SIGNS = {
    "add": ast.Add, "sub": ast.Sub, "mul": ast.Mult, "div": ast.Div, "floordiv": ast.FloorDiv, "remainder": ast.Mod, "pow": ast.Pow,
    "__and__": ast.BitAnd, "__or__": ast.BitOr, "__xor__": ast.BitXor, "__lshift__": ast.LShift, "__rshift__": ast.RShift,
}
_COMPARES = {
    "lt": ast.Lt, "le": ast.LtE, "gt": ast.Gt, "ge": ast.GtE, "eq": ast.Eq, "ne": ast.NotEq, "__is__": ast.Is, "__isnot__": ast.IsNot,
    "__contains__": ast.In,
}
#: Numbers of c10::ScalarType.
_DTYPES = {1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64", 11: "bool", 15: "bfloat16"}
_PROPERTIES = ("T", "H", "mT", "mH", "data")
#: An end that stands for the last element.
_OPEN = (1 << 63) - 1


def from_torchscript(graph, *, engine: Optional[str] = None, dims: Optional[Mapping[str, Sequence]] = None, in_place: bool = True) -> Script:
    """A compiled function for a ``torch.jit.ScriptFunction``, a frozen ``ScriptModule`` or a ``torch._C.Graph``.

    Options are those of :func:`fractaltensor.torch.script`. What the program does to its arguments, the compiled one does.
    """
    torch = sys.modules.get("torch")
    if torch is None:
        raise ArgumentError("from_torchscript takes what torch.jit made, and PyTorch is not imported")
    if isinstance(graph, torch._C.Graph):
        graph, name = _inlined(torch, graph), "program"
    elif isinstance(graph, torch.jit.ScriptModule):
        graph, name = _without_self(torch, graph), "forward"
    elif isinstance(graph, torch.jit.ScriptFunction):
        graph, name = _inlined(torch, graph.graph), graph.name or "program"
    else:
        raise ArgumentError(f"from_torchscript: expects a torch.jit.ScriptFunction, a frozen ScriptModule or a torch._C.Graph, found {type(graph).__name__}")
    constants = _take_constants(graph)
    text = torch._C._create_function_from_graph(name, graph).code
    return Script(_function(text, constants, torch), engine, dims, in_place)


def _inlined(torch, graph):
    graph = graph.copy()
    torch._C._jit_pass_inline(graph)
    return graph


def _take_constants(graph) -> List:
    """Tensors that are constants of a graph, alone or in lists, become its last inputs."""
    found: List = []

    def argument(tensor, type_):
        made = graph.addInput()
        made.setType(type_)
        found.append(tensor)
        return made

    def take_list(node, tensors) -> None:
        made = graph.create("prim::ListConstruct", [argument(x, node.output().type().getElementType()) for x in tensors], 1)
        made.insertBefore(node)
        made.output().setType(node.output().type())
        node.output().replaceAllUsesWith(made.output())

    def take(block) -> None:
        for node in list(block.nodes()):
            for inner in node.blocks():
                take(inner)
            if node.kind() != "prim::Constant" or not node.hasAttribute("value"):
                continue
            if node.kindOf("value") == "t":
                node.output().replaceAllUsesWith(argument(node.t("value"), node.output().type()))
            elif node.kindOf("value") == "ival" and str(node.output().type()) == "List[Tensor]":
                take_list(node, node.output().toIValue())

    take(graph)
    return found


def _without_self(torch, module):
    """The graph of `forward`, whose parameters must be constants."""
    if not module._c._has_method("forward"):
        raise ArgumentError("from_torchscript: the module has no method forward that torch.jit compiled: call it from one that has")
    graph = _inlined(torch, module.graph)
    inputs = list(graph.inputs())
    if inputs and inputs[0].uses():
        raise ArgumentError("from_torchscript: the module has parameters or state: make them constants, torch.jit.freeze(module.eval())")
    if inputs:
        graph.eraseInput(0)
    return graph


def _function(text: str, constants: Sequence[Any], torch):
    """The function that a graph's text defines, after rewriting; its source is kept where Python looks for it."""
    tree = ast.parse(textwrap.dedent(text))
    function = next(n for n in tree.body if isinstance(n, ast.FunctionDef))
    function = _Rewriter().visit(function)
    names = [a.arg for a in function.args.args[len(function.args.args) - len(constants) :]]
    del function.args.args[len(function.args.args) - len(constants) :]
    source = ast.unparse(ast.fix_missing_locations(function)) + "\n"
    file = f"<torch.jit {function.name} {next(_numbers)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    space: Dict[str, Any] = {"torch": torch, "inf": float("inf"), "nan": float("nan"), **dict(zip(names, constants))}
    exec(compile(source, file, "exec"), space)  # noqa: S102 - the text is a graph of the caller's own
    return space[function.name]


def _call(function: ast.expr, arguments: Sequence[ast.expr], keywords=()) -> ast.Call:
    return ast.Call(func=function, args=list(arguments), keywords=list(keywords))


def _torch_name(node: ast.expr) -> Optional[str]:
    """X of `torch.X`, `ops.prim.X`, `ops.aten.X`."""
    if not isinstance(node, ast.Attribute):
        return None
    owner = ast.unparse(node.value)
    return node.attr if owner in ("torch", "ops.aten") else f"prim.{node.attr}" if owner == "ops.prim" else None


def _number(node: ast.expr):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ...


class _Rewriter(ast.NodeTransformer):
    def __init__(self):
        #: Lists that have a name; each is bound once.
        self.lists: Dict[str, ast.List] = {}

    def visit_FunctionDef(self, node):  # noqa: N802
        for argument in node.args.args:
            argument.annotation = None
        node.returns = None
        self.generic_visit(node)
        return node

    def visit_AnnAssign(self, node):  # noqa: N802
        return self.visit_Assign(ast.Assign(targets=[node.target], value=node.value))

    def visit_Assign(self, node):  # noqa: N802
        self.generic_visit(node)
        if isinstance(node.value, ast.List) and isinstance(node.targets[0], ast.Name):
            self.lists[node.targets[0].id] = node.value
        return node

    def visit_Expr(self, node):  # noqa: N802
        call = node.value
        if isinstance(call, ast.Call) and _torch_name(call.func) == "prim.RaiseException":
            message = self.visit(call.args[0])
            return ast.Raise(exc=_call(ast.Name(id="RuntimeError", ctx=ast.Load()), [message]))
        self.generic_visit(node)
        return node

    def visit_Call(self, node):  # noqa: N802
        self.generic_visit(node)
        for keyword in node.keywords:
            if keyword.arg == "dtype":
                keyword.value = self._dtype(keyword.value)
        # Storage is dense, and where the arguments are.
        node.keywords = [k for k in node.keywords if k.arg not in ("layout", "device", "pin_memory")]
        if isinstance(node.func, ast.Name):
            return self._builtin(node)
        name = _torch_name(node.func)
        return node if name is None else self._operator(name, node)

    def _dtype(self, value: ast.expr) -> ast.expr:
        number = _number(value)
        if isinstance(number, int) and number in _DTYPES:
            return ast.Attribute(value=ast.Name(id="torch", ctx=ast.Load()), attr=_DTYPES[number], ctx=ast.Load())
        return value

    def _builtin(self, node):
        if node.func.id in ("annotate", "unchecked_cast"):
            return node.args[1]
        if node.func.id == "uninitialized":
            # Nothing reads it, but it meets what is read on other paths.
            return ast.Constant(value={"bool": False, "int": 0, "float": 0.0}.get(ast.unparse(node.args[0])))
        return node

    def _operator(self, name: str, node):
        args: List[ast.expr] = node.args
        plain = not node.keywords
        if name in _SIGNS and len(args) == 2 and plain:
            return ast.BinOp(left=args[0], op=_SIGNS[name](), right=args[1])
        if name in _COMPARES and len(args) == 2 and plain:
            pair = args[::-1] if name == "__contains__" else args
            return ast.Compare(left=pair[0], ops=[_COMPARES[name]()], comparators=[pair[1]])
        own = getattr(self, "_" + name.replace(".", "_").strip("_"), None)
        if own is not None:
            return own(node)
        if name in _PROPERTIES:
            return ast.Attribute(value=args[0], attr=name, ctx=ast.Load())
        if name.endswith("_") and not name.startswith("__"):
            return _call(ast.Attribute(value=args[0], attr=name, ctx=ast.Load()), args[1:], node.keywords)
        if name.startswith("prim."):
            raise ArgumentError(f"from_torchscript: {ast.unparse(node)[:80]}: prim::{name[5:]} has no meaning here")
        # (`torch.name` of a graph is `aten::name`, whatever PyTorch's function of this name is.)
        node.func = ast.copy_location(ast.parse(f"torch.ops.aten.{name}", mode="eval").body, node.func)
        return node

    # -- what is no function of PyTorch's, or another one -----------------------------------------------------------------

    def _prim_device(self, node):
        return ast.Attribute(value=node.args[0], attr="device", ctx=ast.Load())

    def _prim_dtype(self, node):
        return ast.Attribute(value=node.args[0], attr="dtype", ctx=ast.Load())

    def _prim_NumToTensor(self, node):  # noqa: N802
        return _call(ast.Attribute(value=ast.Name(id="torch", ctx=ast.Load()), attr="tensor", ctx=ast.Load()), node.args)

    def _prim_min(self, node):
        return _call(ast.Name(id="min", ctx=ast.Load()), node.args)

    def _prim_max(self, node):
        return _call(ast.Name(id="max", ctx=ast.Load()), node.args)

    def _range_length(self, node):
        return _call(ast.Name(id="len", ctx=ast.Load()), [_call(ast.Name(id="range", ctx=ast.Load()), node.args)])

    def _derive_index(self, node):
        """The value of a range's counter: `first + position * step`."""
        position, first, step = node.args
        return ast.BinOp(left=first, op=ast.Add(), right=ast.BinOp(left=position, op=ast.Mult(), right=step))

    def _index_put(self, node):
        base, items, *rest = node.args
        items = self.lists.get(items.id, items) if isinstance(items, ast.Name) else items
        return _call(ast.Attribute(value=base, attr=_torch_name(node.func), ctx=ast.Load()), [ast.Tuple(elts=items.elts, ctx=ast.Load()), *rest])

    def _format(self, node):
        return _call(ast.Attribute(value=node.args[0], attr="format", ctx=ast.Load()), node.args[1:], node.keywords)

    def _size(self, node):
        found = _call(ast.Attribute(value=node.args[0], attr="size", ctx=ast.Load()), node.args[1:])
        # All sizes are a list there, and are compared with lists.
        return found if node.args[1:] else _call(ast.Name(id="list", ctx=ast.Load()), [found])

    def _list(self, node):
        return _call(ast.Name(id="list", ctx=ast.Load()), node.args)

    def _len(self, node):
        return _call(ast.Name(id="len", ctx=ast.Load()), node.args)

    def _not(self, node):
        return ast.UnaryOp(op=ast.Not(), operand=node.args[0])

    def _append(self, node):
        return _call(ast.Attribute(value=node.args[0], attr="append", ctx=ast.Load()), node.args[1:])

    def _getitem(self, node):
        return ast.Subscript(value=node.args[0], slice=node.args[1], ctx=ast.Load())

    def _to(self, node):
        args = [self._dtype(a) for a in node.args[:2]]
        return _call(ast.Attribute(value=args[0], attr="to", ctx=ast.Load()), args[1:])

    def _slice(self, node):
        """`torch.slice(x, dim, start, end, step)`."""
        args = node.args
        d = _number(args[1]) if len(args) > 1 else 0
        ends = [a if _number(a) not in (None, _OPEN) else None for a in args[2:4]] + [None, None]
        step = args[4] if len(args) > 4 and _number(args[4]) != 1 else None
        part = ast.Slice(lower=ends[0], upper=ends[1], step=step)
        if ends[0] is not None and _number(ends[0]) == 0:
            part.lower = None
        if d < 0:
            index = [ast.Constant(value=...), part, *(ast.Slice() for _ in range(-d - 1))]
        else:
            index = [*(ast.Slice() for _ in range(d)), part]
        return ast.Subscript(value=args[0], slice=ast.Tuple(elts=index, ctx=ast.Load()), ctx=ast.Load())

    def _index(self, node):
        """`torch.index(x, [i, None, j])`: None stands for all of a dimension."""
        items = node.args[1]
        if isinstance(items, ast.Name):
            items = self.lists.get(items.id)
        if not isinstance(items, ast.List):
            raise ArgumentError(f"from_torchscript: {ast.unparse(node)[:80]}: indices must stand in the call")
        index = [ast.Slice() if _number(i) is None else i for i in items.elts]
        return ast.Subscript(value=node.args[0], slice=ast.Tuple(elts=index, ctx=ast.Load()), ctx=ast.Load())
