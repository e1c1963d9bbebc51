# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``fractaltensor.torch.from_exported``: what ``torch.export`` makes of a model, as a compiled function.

Operators come as they are (`run_decompositions({})`), so that a norm, an attention or an LSTM is what the module says. What the
program has and this package has not is one error, with every operator and its places.
"""

from __future__ import annotations

import difflib
import sys
from collections import Counter
from typing import Any, Dict, Iterator, List, Optional, Tuple

from ..errors import ArgumentError
from . import graphs
from .graphs import GraphFunction, Input, frames_of, module_of, place_of, shown
from .ops import REFUSED, TABLE
from .problems import Problem, error_of
from .runtime.runnable import MOST
from .script import Script

#: How many places of an operator an error lists.
_MAX_PLACES = 4

#: Operators that draw random numbers while a module is in training; the argument that says whether it is.
_DROPOUTS = {"dropout": 2, "native_dropout": 2, "alpha_dropout": 2, "feature_dropout": 2, "feature_alpha_dropout": 2}
#: A norm that updates what it has seen.
_TRAINED_NORM = "aten._native_batch_norm_legit_functional.default"


def from_exported(program, *, engine: Optional[str] = None, in_place: bool = True) -> Script:
    """A compiled function for a ``torch.export.ExportedProgram``; it takes the arguments of the module's `forward`.

    ::

        program = torch.export.export(model.eval(), (x,), dynamic_shapes={"x": {0: torch.export.Dim("B")}})
        model = fractaltensor.torch.from_exported(program)
        y = model(x)

    - ``engine``, ``in_place``: as for :func:`fractaltensor.torch.script`.
    - Sizes are those of the example; dimensions that were exported as ``Dim`` are lengths of each call, within the `Dim`'s range.
    - Parameters and buffers stay the module's: what is written into them counts in the next call.

    Raises:
      ScriptError: all that cannot come in at once, each with its file, line and module. Operators without a meaning here have their counts,
        and the nearest ones that have one. A module in training, buffers that a call would update, control flow that depends on
        data, and products of lengths are refused.
      ArgumentError: no exported program, or parameters of types that cannot be mixed, or that share memory.
    """
    torch = sys.modules.get("torch")
    kind = getattr(getattr(torch, "export", None), "ExportedProgram", None)
    if kind is None or not isinstance(program, kind):
        raise ArgumentError(f"from_exported: expects what torch.export.export gives, found {type(program).__name__}")
    _check_tensors(_tensors_of(program))
    program = program.run_decompositions({})
    problems = [*_of_signature(program), *_of_nodes(program)]
    if problems:
        raise error_of(problems)
    function = _function_of(program)
    return Script(function, engine, function.dims, in_place)


# -- parameters -------------------------------------------------------------------------------------------------------


def _tensors_of(program) -> Dict[str, Any]:
    """Parameters, buffers and constants that the graph names, without gradients."""
    found: Dict[str, Any] = {}
    for spec in program.graph_signature.input_specs:
        if spec.target is not None and spec.kind.name in ("PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            value = program.state_dict.get(spec.target)
            value = program.constants[spec.target] if value is None else value
            found[spec.target] = value.detach()
    return found


def _check_tensors(tensors: Dict[str, Any]) -> None:
    for name, value in tensors.items():
        if value.is_complex():
            raise ArgumentError(f"from_exported: '{name}' has complex elements ({value.dtype}), which have no meaning here: keep real and imaginary parts as two tensors")
        if value.is_quantized:
            raise ArgumentError(f"from_exported: '{name}' is quantised ({value.dtype}): export the model before it is quantised, or dequantise it")
    by_type: Dict[str, str] = {}
    for name, value in tensors.items():
        if value.is_floating_point() and value.dim():
            by_type.setdefault(str(value.dtype).rpartition(".")[2], name)
    for half in ("float16", "bfloat16"):
        if half in by_type and "float64" in by_type:
            raise ArgumentError(f"from_exported: '{by_type['float64']}' is float64 beside '{by_type[half]}' of {half}: a model has one type of both; model.to(...) converts all")
    _check_aliases(tensors)


def _check_aliases(tensors: Dict[str, Any]) -> None:
    """That each name has memory of its own: it can be given another value then."""
    ranges: List[Tuple[int, int, str]] = []
    for name, value in tensors.items():
        if value.numel():
            last = sum((n - 1) * s for n, s in zip(value.shape, value.stride()))
            ranges.append((value.data_ptr(), value.data_ptr() + (last + 1) * value.element_size(), name))
    ranges.sort()
    for (_, end, first), (start, _, second) in zip(ranges, ranges[1:]):
        if start < end:
            names = " and ".join(sorted((f"'{first}'", f"'{second}'")))
            raise ArgumentError(f"from_exported: {names} share memory, so that neither has a value of its own: give one of them a clone of it before the export")


# -- what cannot come in ----------------------------------------------------------------------------------------------


def _of_signature(program) -> Iterator[Problem]:
    signature = program.graph_signature
    updated = list(signature.buffers_to_mutate.values())
    norms = [name for name in updated if name.rpartition(".")[2] in ("running_mean", "running_var", "num_batches_tracked")]
    if norms:
        yield Problem(f"the model is in training: its norms update {_list(norms)}; call .eval() before the export")
    others = [name for name in updated if name not in norms]
    if others:
        yield Problem(f"each call would update the buffer{'s' * (len(others) > 1)} {_list(others)}: take the state as an argument and return the new one")
    for spec in signature.input_specs:
        if spec.kind.name not in ("USER_INPUT", "PARAMETER", "BUFFER", "CONSTANT_TENSOR"):
            yield Problem(f"the program takes {spec.kind.name.lower().replace('_', ' ')} '{spec.target or spec.arg.name}', which has no meaning here")


def _list(names: List[str]) -> str:
    more = f" and {len(names) - _MAX_PLACES} more" if len(names) > _MAX_PLACES else ""
    return ", ".join(f"'{n}'" for n in names[:_MAX_PLACES]) + more


def _graphs_of(module) -> Iterator[Any]:
    """The graph of a module, and those of its parts (sides of conditions, regions without gradients)."""
    for part in module.modules():
        graph = getattr(part, "graph", None)
        if graph is not None:
            yield graph


def _of_nodes(program) -> Iterator[Problem]:
    """Everything that the graph has and this package has not, each kind once."""
    unknown: Dict[str, List] = {}
    known = _symbols_of(program)
    sized: set = set()
    for graph in _graphs_of(program.graph_module):
        for node in graph.nodes:
            if _is_training(node):
                if graphs.key_of(node.target) != _TRAINED_NORM:  # (which the signature has told)
                    yield Problem(f"{_the_module(node)} is in training: dropout draws random numbers; call .eval() before the export", "", frames_of(node))
            elif node.op == "call_module" or node.op == "call_method" or node.op == "call_function" and not graphs.is_supported(node.target):
                unknown.setdefault(shown(node.target), []).append(node)
            if not any(source.name in sized for source in node.all_input_nodes):
                problem = _of_sizes(node, known)
                if problem is not None:
                    yield problem
                    sized.add(node.name)
            else:
                sized.add(node.name)
    for name, nodes in sorted(unknown.items(), key=lambda item: -len(item[1])):
        yield _unsupported(name, nodes)


def _is_training(node) -> bool:
    key = graphs.key_of(node.target) or ""
    if key == _TRAINED_NORM:
        return True
    at = _DROPOUTS.get(key.split(".")[1] if key.startswith("aten.") else "")
    return at is not None and len(node.args) > at and node.args[at] is True and node.args[1] != 0


def _the_module(node) -> str:
    return f"module {module_of(node)}" if module_of(node) else "the model"


_CONDITIONS = ("cond", "while_loop", "map", "map_impl", "scan", "associative_scan")


def _unsupported(name: str, nodes: List) -> Problem:
    counts = Counter(map(place_of, nodes))
    places = [f"{place}{f' ({n} times)' if n > 1 else ''}" for place, n in counts.most_common(_MAX_PLACES)]
    more = f" and {len(counts) - _MAX_PLACES} more places" if len(counts) > _MAX_PLACES else ""
    times = f"{len(nodes)} time{'s' * (len(nodes) > 1)}"
    if name in _CONDITIONS:
        text = f"control flow that depends on data ({name}, {times}): fractaltensor.torch.script compiles the module from its source, with its conditions"
    else:
        packet = name.split(".")[1] if name.count(".") > 1 else name
        reason = REFUSED.get(f"torch.{packet}") or REFUSED.get(f"Tensor.{packet}")
        text = f"{name} {reason} ({times})" if reason else f"{name} is not supported ({times}){_nearest(packet)}"
    return Problem(text, "", frames_of(nodes[0]), [(f"at {', '.join(places)}{more}", ())])


def _nearest(packet: str) -> str:
    names: Dict[str, str] = {}
    for path in TABLE:
        parts = path.split(".")
        names.setdefault(parts[1] if parts[0] == "aten" else parts[-1], path)
    close = difflib.get_close_matches(packet.strip("_"), names, 2, 0.6)
    return f"; the nearest that {'are' if len(close) > 1 else 'is'}: {', '.join(names[n] for n in close)}" if close else ""


# -- lengths ----------------------------------------------------------------------------------------------------------


def _expressions_of(value) -> Iterator[Any]:
    """The sizes of a node's value that have no number, as expressions of SymPy."""
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _expressions_of(item)
    sizes = getattr(value, "shape", ()) if hasattr(value, "dtype") else (value,)
    for size in sizes:
        if type(size).__name__ == "SymInt":
            yield size.node.expr


def _symbols_of(program) -> Dict[Any, Tuple[str, int]]:
    """The lengths that arguments' dimensions have: where each stands first."""
    found: Dict[Any, Tuple[str, int]] = {}
    for node in program.graph.nodes:
        if node.op == "placeholder" and hasattr(node.meta.get("val"), "dtype"):
            for d, size in enumerate(node.meta["val"].shape):
                if type(size).__name__ == "SymInt" and size.node.expr.is_Symbol:
                    found.setdefault(size.node.expr, (node.name, d))
        elif node.op == "placeholder" and type(node.meta.get("val")).__name__ == "SymInt":
            found.setdefault(node.meta["val"].node.expr, (node.name, -1))
    return found


def _is_product(expression) -> bool:
    """Whether an expression multiplies lengths with each other, or divides by one."""
    if not expression.args:
        return False
    open_ = [a for a in expression.args if a.free_symbols]
    divides = type(expression).__name__ in ("FloorDiv", "Mod", "CleanDiv", "PythonMod", "CeilDiv") and expression.args[1].free_symbols
    return bool(expression.is_Mul and len(open_) > 1 or expression.is_Pow and open_ or divides) or any(map(_is_product, expression.args))


def _of_sizes(node, known: Dict) -> Optional[Problem]:
    for expression in _expressions_of(node.meta.get("val")):
        unknown = sorted(str(s) for s in expression.free_symbols if s not in known)
        if unknown and node.op == "placeholder":
            return Problem(f"a dimension of argument '{node.name}' is {expression}: export it with a Dim of its own")
        if unknown:
            return Problem(
                f"{shown(node.target)} gives a size that is data ({expression}): fractaltensor.torch.script compiles the module from its source, with such sizes",
                "", frames_of(node), [(f"at {place_of(node)}", ())],
            )  # fmt: skip
        if _is_product(expression):
            where = ", ".join(f"{s} is dimension {known[s][1]} of '{known[s][0]}'" for s in sorted(expression.free_symbols, key=str))
            return Problem(
                f"{shown(node.target)} gives a size that multiplies lengths, {expression} ({where}): export with one of them as a number",
                "", frames_of(node), [(f"at {place_of(node)}", ())],
            )  # fmt: skip
    return None


# -- the function ------------------------------------------------------------------------------------------------------


def _function_of(program) -> GraphFunction:
    graph, signature = program.graph, program.graph_signature
    nodes = {node.name: node for node in graph.nodes if node.op == "placeholder"}
    inputs = [Input(nodes[spec.arg.name], spec.kind.name, spec.target, getattr(spec.arg, "value", None)) for spec in signature.input_specs]

    def constant(path: str):
        value: Any = program.graph_module
        for name in path.split("."):
            value = getattr(value, name)
        return value

    specs = (program.call_spec.in_spec, program.call_spec.out_spec)
    function = GraphFunction(_name_of(program), graph, inputs, signature.output_specs, specs, _tensors_of(program), constant)
    own = program.module_call_graph[0].signature if program.module_call_graph else None
    function.set_names(getattr(own, "forward_arg_names", None) or [])
    _set_lengths(program, function)
    return function


def _name_of(program) -> str:
    """The class of the model, where a node says it."""
    for node in program.graph.nodes:
        stack = list((node.meta.get("nn_module_stack") or {}).items())
        if stack and not stack[0][0].startswith("_empty") and stack[0][1][0] == "":
            kind = stack[0][1][1]
            return (kind if isinstance(kind, str) else kind.__name__).rpartition(".")[2]
    return "program"


def _set_lengths(program, function: GraphFunction) -> None:
    """The lengths of the arguments' dimensions, and their ranges."""
    positional, keywords = function.in_spec.children()
    specs = [*positional.children(), *keywords.children()]
    leaves = [leaf for name, spec in zip(function.names, specs) for leaf in _paths_of(spec, name)]
    users = [i.node.meta.get("val") for i in function.inputs if i.kind == "USER_INPUT"]
    for name, value in zip(leaves, users):
        sizes = value.shape if hasattr(value, "dtype") else ()
        lengths = tuple(None if graphs.is_known(n) else str(n) for n in sizes)
        if any(lengths):
            function.dims[name] = lengths
    for symbol, limits in program.range_constraints.items():
        most = int(limits.upper) if limits.upper.is_finite and limits.upper < MOST else MOST
        function.bounds[str(symbol)] = (max(int(limits.lower), 0), most)


def _paths_of(spec, name: str) -> Iterator[str]:
    """What the leaves of an argument are called."""
    if spec.is_leaf():
        yield name
    for at, child in enumerate(spec.children()):
        key = f"{name}[{spec.context[at]!r}]" if issubclass(spec.type, dict) else f"{name}[{at}]"
        yield from _paths_of(child, key)
