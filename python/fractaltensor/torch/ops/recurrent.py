# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Recurrent cells and layers, as `nn.LSTM` and its kin call them: steps of a loop that write their states."""

from __future__ import annotations

from typing import Callable, List, Sequence, Tuple

from ..ir import views as base
from ..ir.builder import Builder
from ..problems import Problem
from ..frontend.values import Num, Tensor
from . import pointwise
from .moving import cat, stack
from .products import linear
from .table import OPERATORS, assign, operator
from .views import chunk

GROUP = "Recurrent layers"


def _apply(b: Builder, name: str, x: Tensor) -> Tensor:
    return OPERATORS[name].function(b, x)


def _lstm_step(b: Builder, given: Sequence[Tensor], own: Sequence[Tensor], state: Sequence[Tensor]) -> Tuple[Tensor, ...]:
    """What the input and the state contribute to the gates: in, forget, cell, out."""
    gates = [pointwise.add(b, x, h) for x, h in zip(given, own)]
    enter, forget, leave = (_apply(b, "sigmoid", gates[i]) for i in (0, 1, 3))
    c = pointwise.add(b, pointwise.mul(b, forget, state[1]), pointwise.mul(b, enter, _apply(b, "tanh", gates[2])))
    return pointwise.mul(b, leave, _apply(b, "tanh", c)), c


def _gru_step(b: Builder, given: Sequence[Tensor], own: Sequence[Tensor], state: Sequence[Tensor]) -> Tuple[Tensor, ...]:
    """The gates: reset, update, new; the reset gate is applied after the product, as cuDNN does."""
    (h,) = state
    reset, update = (_apply(b, "sigmoid", pointwise.add(b, given[i], own[i])) for i in (0, 1))
    new = _apply(b, "tanh", pointwise.add(b, given[2], pointwise.mul(b, reset, own[2])))
    return (pointwise.add(b, new, pointwise.mul(b, update, pointwise.sub(b, h, new))),)


def _plain_step(activation: str) -> Callable:
    def step(b: Builder, given: Sequence[Tensor], own: Sequence[Tensor], state: Sequence[Tensor]) -> Tuple[Tensor, ...]:
        return (_apply(b, activation, pointwise.add(b, given[0], own[0])),)

    return step


#: A step of each kind, and how many gates it has.
_STEPS = {"lstm": (_lstm_step, 4), "gru": (_gru_step, 3), "rnn_tanh": (_plain_step("tanh"), 1), "rnn_relu": (_plain_step("relu"), 1)}


def _gates(b: Builder, x: Tensor, count: int) -> Sequence[Tensor]:
    """Parts of one product."""
    return chunk(b, x, count, -1) if count > 1 else [x]


def _cell(name: str, step: Callable, gates: int) -> None:
    @operator(name + "_cell", GROUP, where="f")
    def implementation(b: Builder, input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        state = tuple(hx) if isinstance(hx, (tuple, list)) else (hx,)
        found = step(b, _gates(b, linear(b, input, w_ih, b_ih), gates), _gates(b, linear(b, state[0], w_hh, b_hh), gates), state)
        return found if len(found) > 1 else found[0]


def _one_way(b: Builder, kind: Tuple[Callable, int], x: Tensor, state: Sequence[Tensor], weights: Sequence[Tensor], backwards: bool):
    """A layer in one direction over the first dimension: all outputs, and the last state."""
    w_ih, w_hh, b_ih, b_hh, w_hr = weights
    step, gates = kind
    given = linear(b, x, w_ih, b_ih)
    length = x.sizes[0]
    made = b.constant_tensor(0, state[0].dtype, [length, *state[0].sizes])
    state = [b.copy(s) for s in state]

    def body(i: Num) -> None:
        at = b.sub(b.sub(length, 1), i) if backwards else i
        found = list(step(b, _gates(b, base.select(b, given, 0, at), gates), _gates(b, linear(b, state[0], w_hh, b_hh), gates), state))
        if w_hr is not None:
            found[0] = linear(b, found[0], w_hr)
        found = [b.copy(s) for s in found]
        for old, new in zip(state, found):
            assign(b, old, new, "a recurrent layer")
        assign(b, base.select(b, made, 0, at), found[0], "a recurrent layer")

    base.loop(b, 0, length, body)
    return made, state


def _named(weights: Sequence[Tensor]) -> Sequence:
    """Weights of one layer in one direction: of the input, of the state, their biases, and of the projection, where these are there."""
    own = list(weights)
    projection = own.pop() if len(own) % 2 else None
    return (*own, None, None)[:4] + (projection,)


def _upon_each_other(b: Builder, kind: Tuple[Callable, int], x: Tensor, states: Sequence[Tensor], weights: Sequence[Sequence]):
    """Layers of equal sizes as one loop around the loop over steps. So neither order is fixed: layer d may take step t as soon as
    layer d - 1 has. `states` are those of all layers. Gives the last layer's outputs, and the last states."""
    layers, length = len(weights), x.sizes[0]
    step, gates = kind

    def of_gates(parts):
        """Of each gate: the weights of all layers. A product for each gate has the columns of the states that it makes."""
        if parts[0] is None:
            return [None] * gates
        return chunk(b, stack(b, parts), gates, 1) if gates > 1 else [stack(b, parts)]

    w_ih, w_hh, b_ih, b_hh = [of_gates(parts) for parts in zip(*weights)][:4]
    # What layer d reads, in its place d; what the last one makes comes after all of them.
    made = b.constant_tensor(0, states[0].dtype, [layers + 1, *x.sizes])
    assign(b, base.select(b, made, 0, 0), x, "recurrent layers")
    last = [b.copy(s) for s in states]

    def layer(d: Num) -> None:
        def own(values):
            return None if values is None else base.select(b, values, 0, d)

        state = [b.copy(own(s)) for s in states]
        below, above = own(made), base.select(b, made, 0, b.add(d, 1))

        def body(t: Num) -> None:
            x = base.select(b, below, 0, t)
            given = [linear(b, x, own(w), own(bias)) for w, bias in zip(w_ih, b_ih)]
            theirs = [linear(b, state[0], own(w), own(bias)) for w, bias in zip(w_hh, b_hh)]
            found = [b.copy(s) for s in step(b, given, theirs, state)]
            for old, new in zip(state, found):
                assign(b, old, new, "recurrent layers")
            assign(b, base.select(b, above, 0, t), found[0], "recurrent layers")

        base.loop(b, 0, length, body)
        for place, value in zip(last, state):
            assign(b, base.select(b, place, 0, d), value, "recurrent layers")

    base.loop(b, 0, layers, layer)
    return base.select(b, made, 0, layers), last


def _count_equal(x: Tensor, states: Sequence[Tensor], weights: Sequence[Sequence], first: int) -> int:
    """How many layers from `first` on have the sizes of one another, and make what they take."""
    def sizes(layer):
        return [w and (w.dtype, w.sizes) for w in weights[layer]]

    hidden = states[0].sizes[-1]
    if weights[first][4] is not None or not isinstance(hidden, int) or weights[first][0].sizes[-1] != hidden or x.dtype is not states[0].dtype:
        return 1
    count = 1
    while first + count < len(weights) and sizes(first + count) == sizes(first):
        count += 1
    return count


def _one_after_another(b: Builder, name: str, x: Tensor, states: Sequence[Tensor], weights: Sequence[Sequence]):
    """Layers in one direction; runs of equal ones are one loop."""
    ends: List[Sequence[Tensor]] = []
    layer = 0
    while layer < len(weights):
        count = _count_equal(x, states, weights, layer)
        own = [base.slice_(b, s, 0, layer, layer + count, 1) for s in states]
        if count == 1:
            x, end = _one_way(b, _STEPS[name], x, [base.select(b, s, 0, 0) for s in own], weights[layer], False)
            ends.append([base.unsqueeze(b, s, 0) for s in end])
        else:
            x, end = _upon_each_other(b, _STEPS[name], x, own, weights[layer : layer + count])
            ends.append(end)
        layer += count
    return x, [cat(b, [end[i] for end in ends], 0) for i in range(len(states))]


def _layers(b: Builder, name: str, x: Tensor, states: Sequence[Tensor], weights: List[Tensor], each: int, num_layers: int, bidirectional: bool):
    """Layers upon each other; outputs of two directions stand side by side."""
    if not bidirectional:
        return _one_after_another(b, name, x, states, [_named(weights[at * each : (at + 1) * each]) for at in range(num_layers)])
    last: List[List[Tensor]] = []
    ways = 2
    for layer in range(num_layers):
        made = []
        for way in range(ways):
            at = layer * ways + way
            own = [base.select(b, s, 0, at) for s in states]
            found, end = _one_way(b, _STEPS[name], x, own, _named(weights[at * each : (at + 1) * each]), way == 1)
            made.append(found)
            last.append(end)
        x = cat(b, made, -1)
    return x, [stack(b, [end[i] for end in last], 0) for i in range(len(states))]


def _layer(name: str) -> None:
    @operator(name, GROUP, where="f", note="without packed sequences")
    def implementation(b: Builder, input, hx, params, has_biases, num_layers, dropout, train, bidirectional, batch_first=None):
        if batch_first is None or not isinstance(input, Tensor):
            raise Problem(f"{name}: packed sequences are not supported")
        if dropout and train:
            raise Problem(f"{name}: dropout draws random numbers: call .eval() on the module")
        each, params, layers = 4 if has_biases else 2, list(params), num_layers * (2 if bidirectional else 1)
        each += len(params) == (each + 1) * layers and name == "lstm"
        if len(params) != each * layers:
            raise Problem(f"{name}: {len(params)} weights do not make {layers} layers")
        states = list(hx) if isinstance(hx, (tuple, list)) else [hx]
        alone = input.rank == 2
        x = base.unsqueeze(b, input, 1) if alone and states[0].rank == 3 else input
        x = base.permute(b, x, [1, 0, 2]) if batch_first and x.rank == 3 else x
        x, last = _layers(b, name, x, states, params, each, num_layers, bool(bidirectional))
        x = base.permute(b, x, [1, 0, 2]) if batch_first and x.rank == 3 else x
        return (x, *last)


for _name, (_step, _count) in _STEPS.items():
    _cell(_name, _step, _count)
    _layer(_name)


# -- what modules ask about their surroundings ------------------------------------------------------------------------


def _answer(value: bool, *paths: str) -> None:
    @operator(paths[0], "Surroundings", also=paths[1:], note=f"{value}")
    def implementation(b: Builder, *args, **kwargs):
        return value


_answer(
    False, "torch.jit.is_scripting", "torch.jit.is_tracing", "torch.is_autocast_enabled", "torch.compiler.is_compiling", "torch.backends.mha.get_fastpath_enabled",
    # No argument is of a class that overrides operators.
    "torch.overrides.has_torch_function", "torch.overrides.has_torch_function_unary", "torch.overrides.has_torch_function_variadic",
    "torch._C._has_torch_function",
)  # fmt: skip
