# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""DTensor's strategies for compiled programs.

A strategy says how results lie where arguments lie so: a rule of :mod:`fractaltensor.distributed.rules` is one, all
replicated is another. DTensor takes the one to which arguments come with the fewest bytes. The operators of the forward
and the backward function have strategies alike, each from its own program.
"""

from __future__ import annotations

import sys
from typing import Any, Dict, List, Sequence

from .. import stored
from ..errors import ArgumentError
from .rules import Rule, rules_of

_MOST_KEPT = 256
_rules: Dict[str, List[Rule]] = {}


def _rules_of_text(text: str) -> List[Rule]:
    """Those that DTensor has a word for."""
    found = _rules.get(text)
    if found is None:
        if len(_rules) >= _MOST_KEPT:
            _rules.clear()
        every = rules_of(stored.StoredJit(text)._program({}, {}, {}))
        found = _rules[text] = [rule for rule in every if not rule.has_halo]
    return found


def _placement(dim, partial):
    from torch.distributed.tensor import Partial, Replicate, Shard

    if dim is not None:
        return Shard(dim)
    return Replicate() if partial is None else Partial(partial)


def _strategies(program: str, inputs: Sequence[Any]):
    """For one dimension of a mesh: placements of results, then of arguments."""
    from torch.distributed.tensor import Replicate

    count = stored.count_results(program)
    found = [([Replicate()] * count, [Replicate()] * len(inputs))]
    shapes, ranks = [spec.shape for spec in inputs], inputs[0].mesh.size()
    for rule in _rules_of_text(program):
        if rule.fits(shapes, ranks):
            found.append(([_placement(*result) for result in rule.results], [_placement(dim, None) for dim in rule.arguments]))
    return found


def _strategy(schema):
    """For a mesh of any dimensions. (``register_sharding`` of PyTorch 2.11 looks for the mesh in the first argument, a string.)"""
    from torch.distributed.tensor._ops.utils import expand_to_full_mesh_op_strategy

    specs = [strategy.strategies[0].output_spec for strategy in schema.args_strategy]
    found = [[*results, *arguments] for results, arguments in _strategies(schema.args_schema[0], specs)]
    return expand_to_full_mesh_op_strategy(specs[0].mesh, schema, found, input_index=len(schema.op._schema.returns))


def register(operator) -> None:
    """Gives an operator of compiled programs its strategies."""
    from torch.distributed.tensor import DTensor
    from torch.distributed.tensor._op_schema import RuntimeSchemaInfo

    # DTensor remembers decisions by what is hashed from this argument on: the program is the first one.
    info = RuntimeSchemaInfo(0, needs_pytree=True)
    DTensor._op_dispatcher.sharding_propagator.register_op_strategy(operator, _strategy, info)


def align(jit, values: Sequence[Any], tensors: Sequence[Any]) -> List[Any]:
    """The tensors of a call's arguments, all DTensors of one mesh where one is; a number is the same on all ranks.

    Args:
      values: the arguments as they are given.
      tensors: each as a tensor of PyTorch.

    Raises:
      ArgumentError: a tensor that is no DTensor stands beside one that is, or there are two meshes.
    """
    module = sys.modules.get("torch.distributed.tensor")
    kind = getattr(module, "DTensor", None)
    names = [p.name for p in jit.signature.traced]
    sharded = [(name, t) for name, t in zip(names, tensors) if kind is not None and isinstance(t, kind)]
    if not sharded:
        return list(tensors)
    first, mesh = sharded[0][0], sharded[0][1].device_mesh
    for name, tensor in sharded:
        if tensor.device_mesh != mesh:
            raise ArgumentError(f"{jit.__name__}: arguments lie on two meshes: '{first}' on {mesh}, '{name}' on {tensor.device_mesh}")
    found = []
    for name, value, tensor in zip(names, values, tensors):
        if not isinstance(tensor, kind):
            if tensor is value or tensor.dim():
                raise ArgumentError(
                    f"{jit.__name__}: argument '{name}' is a plain tensor beside the DTensor '{first}': make it one, "
                    f"distribute_tensor({name}, mesh, placements), or pass .to_local() of the others"
                )
            tensor = kind.from_local(tensor, mesh, [module.Replicate()] * mesh.ndim, run_check=False)
        found.append(tensor)
    return found
