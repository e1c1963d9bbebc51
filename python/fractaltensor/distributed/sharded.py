# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that ranks of a mesh run together: ``@ft.jit(mesh=mesh, shard={"N": "dp"})`` and ``f.on(mesh, N="dp")``.

Arguments are all DTensors, or all plain tensors: then those with a divided length are this rank's shards, and all others the
same on all ranks. Each rank runs the compiled program on its shards, with planes of its neighbours' where the program looks
over the ends; parts of results are joined. Results are DTensors for DTensors, else shards, and whole tensors where the length is
gone.
"""

from __future__ import annotations

import functools
import hashlib
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Sequence, Tuple

import torch

from .. import compiled, stored
from ..errors import ArgumentError, Error
from ..imports import after_import
from ..names import did_you_mean
from ..source import here, of_function
from ..trace import Traced, is_tracing
from . import messages
from .cuts import Cut, Layout, cuts_of, layout_of_sizes, layout_of_totals, names_of_axes, overlap
from .messages import Axis

if TYPE_CHECKING:
    from ..jit import Jit
    from ..program import Program


class Sharded:
    """A compiled function whose lengths a mesh divides; made by :meth:`fractaltensor.jit.Jit.on`. Call it with arrays."""

    def __init__(self, jit: "Jit", mesh, shard: Mapping[str, str]):
        functools.update_wrapper(self, jit, updated=())
        self._jit, self.mesh, self.shard = jit, mesh, dict(shard)
        self._check()
        self._axes = {length: self._axis(name) for length, name in self.shard.items()}
        self._cuts: Dict[int, List[Cut]] = {}
        self._remarked: set = set()
        self._latest: List[Cut] = []

    # -- what is asked for ---------------------------------------------------------------------------------------

    def _check(self) -> None:
        jit, known = self._jit, self._jit.signature.length_names
        place = of_function(jit._function)
        if not hasattr(self.mesh, "mesh_dim_names"):
            raise ArgumentError(f"{jit.__name__}: mesh is a DeviceMesh of torch.distributed, found {type(self.mesh).__name__}", place)
        if not self.shard:
            raise ArgumentError(f"{jit.__name__}: no length is divided: shard={{'{known[0] if known else 'N'}': axis}}", place)
        axes = self._axis_names()
        for length, axis in self.shard.items():
            if length not in known:
                extent = " is an extent of elements" if length in jit.signature.extent_names else " is no length of its lists"
                raise ArgumentError(f"{jit.__name__}: '{length}'{extent}; there are {', '.join(known) or 'none'}{did_you_mean(length, known)}", place)
            if not isinstance(axis, str):
                raise ArgumentError(f"{jit.__name__}: '{length}' is divided by one axis of the mesh, found {axis!r}", place)
            if axis not in axes:
                raise ArgumentError(f"{jit.__name__}: '{length}' is divided by axis '{axis}', which the mesh lacks; it has {', '.join(axes)}", place)
        for axis, lengths in names_of_axes(self.shard).items():
            if len(lengths) > 1:
                raise ArgumentError(f"{jit.__name__}: axis '{axis}' divides both {' and '.join(map(repr, lengths))}; a length takes an axis of its own", place)
        if self.mesh.get_coordinate() is None:
            raise ArgumentError(f"{jit.__name__}: this rank is not part of the mesh {self.mesh}", place)

    def _axis_names(self) -> Tuple[str, ...]:
        return tuple(self.mesh.mesh_dim_names or map(str, range(self.mesh.ndim)))

    def _axis(self, name: str) -> Axis:
        return Axis(self.mesh, self._axis_names().index(name), name)

    def on(self, mesh, **shard: str) -> "Sharded":
        """The same program on another mesh."""
        return self._jit.on(mesh, **shard)

    # -- calls ---------------------------------------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if is_tracing() and any(isinstance(a, Traced) for a in (*args, *kwargs.values())):
            return self._jit(*args, **kwargs)
        for option in ("out", "stream", "engine"):
            if option in kwargs and option in self._jit._reserved:
                raise ArgumentError(f"{self._jit.__name__}: {option}= is for calls without mesh=", here())
        values, statics = self._jit._arrange(args, kwargs)
        return self._run(self._jit._cast(values), statics)

    def __get__(self, instance, owner=None):
        return self

    def __getattr__(self, name: str):
        if name.startswith("__") or name == "_jit":
            raise AttributeError(name)
        return getattr(self._jit, name)

    def _run(self, values: Sequence[Any], statics: Mapping[str, Any]):
        from .. import torch_support
        from .placements import align

        jit = self._jit
        if any(getattr(p.type, "is_ragged", False) for p in jit.signature.traced):
            raise ArgumentError(f"{jit.__name__}: ranks cannot divide lists of several lengths")
        inputs = [torch_support._tensor(jit, p, v) for p, v in zip(jit.signature.traced, values)]
        inputs = align(jit, values, inputs)
        is_distributed = bool(inputs) and _is_dtensor(inputs[0])
        local = [t.to_local() for t in inputs] if is_distributed else inputs
        if os.environ.get("FT_CHECK_RANKS") == "1":
            self._compare(inputs, local, statics)
        program = self._program(local, statics)
        cuts = self._find_cuts(program)
        for cut in cuts:
            cut.axis.messages.clear()
        runner = torch_support._jit(stored.text_of(program, jit._engine)) if statics else jit
        call = _DistributedCall if is_distributed else _PlainCall
        leaves = call(self, program, cuts).run(runner, inputs)
        self._latest = cuts
        return jit._in_structure(leaves)

    def _program(self, local: Sequence[torch.Tensor], statics: Mapping[str, Any]) -> "Program":
        from .. import arrays, torch_support

        _, extents, dtypes = torch_support._names(self._jit, local)
        program = self._jit._program(extents, dtypes, statics)
        self._jit._remember(program, arrays.device_of(local[0]))
        return program

    def _find_cuts(self, program: "Program") -> List[Cut]:
        found = self._cuts.get(id(program))
        if found is None:
            found = self._cuts[id(program)] = cuts_of(self._jit, program, self._axes)
        return found

    def _compare(self, inputs: Sequence[torch.Tensor], local: Sequence[torch.Tensor], statics: Mapping[str, Any]) -> None:
        """Raises on every rank where ranks call something else, before what is wrong with a call is found on one of them."""
        try:
            text = stored.text_of(self._program(local, statics), self._jit._engine)
            digest = f"program {hashlib.sha256(text.encode()).hexdigest()[:12]}"
        except Error:
            digest = "for which there is no program"
        arguments = ", ".join(self._describe(p, t) for p, t in zip(self._jit.signature.traced, inputs))
        own = f"{self._jit.__name__}({arguments}) over {self.shard}, {digest}"
        for rank, other in messages.compare(self.mesh, own).items():
            raise ArgumentError(f"{self._jit.__name__}: ranks disagree: this one calls {own}; rank {rank} calls {other}")

    def _describe(self, parameter, tensor: torch.Tensor) -> str:
        """An argument as all ranks should have it: the sizes of plain shards may differ."""
        divided = [not _is_dtensor(tensor) and any(name in self.shard for name in length.names()) for length in getattr(parameter.type, "lengths", ())]
        sizes = ["*" if d < len(divided) and divided[d] else str(size) for d, size in enumerate(tensor.shape)]
        placed = f" {tensor.placements}" if _is_dtensor(tensor) else ""
        return f"{parameter.name}: {str(tensor.dtype).removeprefix('torch.')}[{', '.join(sizes)}]{placed}"

    def remark(self, text: str) -> None:
        """A line for the log and for :meth:`explain`, once."""
        if text not in self._remarked:
            self._remarked.add(text)
            compiled.log("%s: %s", self._jit.__name__, text)

    # -- looking -------------------------------------------------------------------------------------------------

    def explain(self, engine=None) -> str:
        """What the compiler did, how ranks divide the program, and what the last call moved."""
        text = self._jit.explain(engine)
        cuts = self._latest or self._find_cuts(self._jit._current().program)
        lines = [f"  {cut.describe()}" for cut in cuts]
        moved = [f"  {message}" for cut in cuts for message in cut.axis.messages]
        lines += ["messages of the last call, on this rank:", *moved] if moved else ["no messages on this rank yet"]
        lines += [f"  {remark}" for remark in sorted(self._remarked)]
        return "\n".join([text, "", f"ranks, on a mesh of {self.mesh.size()}:", *lines])

    def __repr__(self):
        return f"{self._jit!r} on {self.mesh} with {self.shard}"


def _is_dtensor(value) -> bool:
    import sys

    module = sys.modules.get("torch.distributed.tensor")
    return module is not None and isinstance(value, module.DTensor)


# -- one call ---------------------------------------------------------------------------------------------------------


class _Call:
    """One call of a sharded program: local tensors, the program, results."""

    def __init__(self, owner: Sharded, program: "Program", cuts: Sequence[Cut]):
        self.owner, self.program, self.cuts = owner, program, cuts
        self.name = owner._jit.__name__
        self.names = [f"argument '{p.name}'" for p in program.parameters]

    def run(self, runner: "Jit", inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        layouts = self.layouts(inputs)
        local = self.local(inputs)
        for cut, layout in zip(self.cuts, layouts):
            if layout is not None:
                local = self._extended(cut, layout, local)
        results = self._results(runner, local)
        for cut, layout in reversed(list(zip(self.cuts, layouts))):
            if layout is not None:
                results = self._kept(cut, layout, results)
            results = [messages.count_once(cut.axis, r) if d is None and not p else r
                       for r, d, p in zip(results, cut.results, cut.partials)]
        return self.joined(results)

    def _extended(self, cut: Cut, layout: Layout, local: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        found = list(local)
        divided = [i for i, d in enumerate(cut.arguments) if d is not None]
        moved = [layout.moved(i, self.names[i]) for i in divided]
        if any(each.is_needed() for each in moved):
            for i, tensor in zip(divided, messages.extend(cut.axis, moved, [local[i] for i in divided])):
                found[i] = tensor
            return found
        # No rank needs another one's; a rank may need less than it has.
        for i, each in zip(divided, moved):
            begin, end = overlap(each.holds[cut.axis.rank], each.wants[cut.axis.rank])
            first = each.holds[cut.axis.rank][0] if begin < end else begin
            found[i] = local[i].narrow(each.dim, begin - first, end - begin)
        return found

    @staticmethod
    def _kept(cut: Cut, layout: Layout, results: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        found = list(results)
        for i, divided in enumerate(cut.results):
            if divided is not None:
                dim, begin, size = layout.kept(i)
                found[i] = results[i].narrow(dim, begin, size).contiguous()
        return found

    def _results(self, runner: "Jit", local: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        from .. import torch_support

        try:
            prepared = torch_support._run_prepared(runner, local)
            if prepared is not None:
                return [prepared] if isinstance(prepared, torch.Tensor) else list(prepared)
            return list(torch_support._call(runner, list(local)))
        except Exception:
            self.give_up(local)
            raise

    def layouts(self, inputs: Sequence[torch.Tensor]) -> List[Any]:
        raise NotImplementedError

    def local(self, inputs: Sequence[torch.Tensor]) -> List[torch.Tensor]:
        raise NotImplementedError

    def joined(self, results: Sequence[torch.Tensor]) -> List[Any]:
        raise NotImplementedError

    def give_up(self, local: Sequence[torch.Tensor]) -> None:
        """Makes the exchanges that the other ranks wait for."""


class _PlainCall(_Call):
    """Shards of any sizes; what has no divided length is the same on all ranks."""

    def layouts(self, inputs):
        from torch.nn.parallel import DistributedDataParallel

        tracked = any(messages.is_tracked(t) for t in inputs)
        if tracked and DistributedDataParallel._get_active_ddp_module() is not None:
            raise ArgumentError(f"{self.name}: it sums gradients over the mesh, and so does DistributedDataParallel around it: use one of both")
        return [self._layout(cut, inputs) if cut.has_ranges else None for cut in self.cuts]

    def _layout(self, cut: Cut, inputs):
        divided = {i: d for i, d in enumerate(cut.arguments) if d is not None}
        table = cut.axis.gather_numbers([inputs[i].shape[d.dim] for i, d in divided.items()], inputs[0].device)
        return layout_of_sizes(self.name, cut, {i: [row[k] for row in table] for k, i in enumerate(divided)})

    def local(self, inputs):
        found = list(inputs)
        for cut in self.cuts:
            for i, divided in enumerate(cut.arguments):
                if divided is None:
                    found[i] = messages.share(cut.axis, found[i], self.names[i])
        return found

    def joined(self, results):
        found = list(results)
        for cut in reversed(self.cuts):
            for i, partial in enumerate(cut.partials):
                if partial:
                    found[i] = messages.join(cut.axis, found[i], partial, f"result {i}")
        return found

    def give_up(self, local):
        from .. import arrays, torch_support
        from ..types import ListType

        lengths, _, _ = torch_support._names(self.owner._jit, local)
        for cut in reversed(self.cuts):
            for i, partial in enumerate(cut.partials):
                if partial:
                    type_ = self.program.result_types[i]
                    element = type_.element if isinstance(type_, ListType) else type_
                    shape = [d if isinstance(d, int) else d.evaluate(lengths) for d in torch_support._dims(type_)]
                    fill = float("nan") if element.dtype.is_float else 0
                    cut.axis.all_reduce(local[0].new_full(shape, fill, dtype=arrays.torch_of(element.dtype)), partial, f"result {i}")


class _DistributedCall(_Call):
    """DTensors of the mesh; what lies otherwise than the program wants it is redistributed."""

    def layouts(self, inputs):
        for parameter, tensor in zip(self.program.parameters, inputs):
            if tensor.device_mesh != self.owner.mesh:
                raise ArgumentError(f"{self.name}: argument '{parameter.name}' lies on {tensor.device_mesh}, and the program runs on {self.owner.mesh}")
        self.layout_of = [self._layout(cut, inputs) for cut in self.cuts]
        return [layout if cut.has_ranges else None for cut, layout in zip(self.cuts, self.layout_of)]

    def _layout(self, cut: Cut, inputs):
        return layout_of_totals(self.name, cut, {i: inputs[i].shape[d.dim] for i, d in enumerate(cut.arguments) if d is not None})

    def _wanted(self, argument: int):
        from torch.distributed.tensor import Replicate, Shard

        wanted: List[Any] = [Replicate()] * self.owner.mesh.ndim
        for cut in self.cuts:
            divided = cut.arguments[argument]
            if divided is not None:
                wanted[cut.axis.number] = Shard(divided.dim)
        return tuple(wanted)

    def local(self, inputs):
        from torch.distributed.tensor import Partial

        found = []
        for i, tensor in enumerate(inputs):
            wanted = self._wanted(i)
            if tuple(tensor.placements) != wanted:
                tensor = self._redistributed(i, tensor, wanted)
            gradients = list(wanted)
            for cut in self.cuts:
                if cut.arguments[i] is None:
                    gradients[cut.axis.number] = Partial()
            found.append(tensor.to_local(grad_placements=gradients))
        return found

    def _redistributed(self, argument: int, tensor, wanted):
        name = self.names[argument]
        for cut in self.cuts:
            given = tensor.placements[cut.axis.number]
            divided = cut.arguments[argument]
            if divided is not None and given.is_shard() and not given.is_shard(divided.dim):
                raise ArgumentError(
                    f"{self.name}: {name} is {given} on axis '{cut.axis.name}', and shard= divides '{cut.rule.length}', its dimension {divided.dim}, over it"
                )
        moved = tensor.redistribute(placements=wanted)
        before, after = tensor.to_local().numel(), moved.to_local().numel()
        bytes_moved = max(0, after - before) * tensor.element_size()
        self.owner.remark(f"{name} comes as {tuple(tensor.placements)} and is redistributed to {wanted}, {bytes_moved} bytes received by a rank")
        return moved

    def joined(self, results):
        from torch.distributed.tensor import DTensor, Partial, Replicate, Shard

        found = []
        for i, tensor in enumerate(results):
            placements: List[Any] = [Replicate()] * self.owner.mesh.ndim
            shape = list(tensor.shape)
            for cut, layout in zip(self.cuts, self.layout_of):
                divided, partial = cut.results[i], cut.partials[i]
                if divided is not None:
                    placements[cut.axis.number] = Shard(divided.dim)
                    shape[divided.dim] = layout.total + divided.extra
                elif partial and (partial == "sum" or not messages.is_tracked(tensor)):
                    placements[cut.axis.number] = Partial(partial)
                elif partial:
                    # Gradients of a DTensor's parts are those of a sum.
                    tensor = messages.join(cut.axis, tensor, partial, f"result {i}")
            size = torch.Size(shape)
            found.append(DTensor.from_local(tensor, self.owner.mesh, placements, run_check=False, shape=size, stride=_dense_strides(size)))
        return found


def _dense_strides(shape: torch.Size) -> Tuple[int, ...]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def _leave_out() -> None:
    """PyTorch's compiler calls it as it is: it sends messages."""
    import torch._dynamo

    Sharded.__call__ = torch._dynamo.disable(Sharded.__call__)  # type: ignore[method-assign]


after_import("torch._dynamo", _leave_out)
