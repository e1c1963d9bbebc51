# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ranks of one axis of a mesh tell each other: planes of their shards, parts of results, gradients.

Every message is one of ``torch.distributed``, on the group of its axis. All ranks of an axis make the same list of exchanges,
each of which all of them join. Derivatives of exchanges are exchanges, too, so that autograd passes through.
"""

from __future__ import annotations

from typing import Any, Dict, List, NamedTuple, Optional, Sequence, Tuple

import torch
import torch.distributed as dist
from torch.autograd.function import once_differentiable

from .cuts import Moved, Range, overlap

_OPERATIONS = {"sum": dist.ReduceOp.SUM, "product": dist.ReduceOp.PRODUCT, "max": dist.ReduceOp.MAX, "min": dist.ReduceOp.MIN}


class Message(NamedTuple):
    """What one exchange moved on this rank.

    Attributes:
      what: the argument, result or gradient.

      how: "neighbours", "all-reduce", "all-gather" or "redistributed".

      sent, received: bytes.
    """

    axis: str
    what: str
    how: str
    sent: int
    received: int

    def __str__(self):
        if self.sent == self.received:
            return f"{self.axis}: {self.what}, {self.how}, {self.sent} bytes"
        return f"{self.axis}: {self.what}, {self.how}, {self.sent} bytes sent and {self.received} received"


class Axis:
    """One axis of a mesh, as this rank sees it; `messages` has those of the last call."""

    def __init__(self, mesh, number: int, name: str):
        self.mesh, self.number, self.name = mesh, number, name
        self.size, self.rank, self.group = mesh.size(number), mesh.get_local_rank(number), mesh.get_group(number)
        self.messages: List[Message] = []
        self._is_warm = False

    def note(self, what: str, how: str, sent: int, received: int) -> None:
        self.messages.append(Message(self.name, what, how, sent, received))

    def gather_numbers(self, numbers: Sequence[int], device) -> List[List[int]]:
        """The numbers of each rank, all lists of one size."""
        own = torch.tensor(list(numbers), dtype=torch.int64, device=device)
        found = [torch.empty_like(own) for _ in range(self.size)]
        dist.all_gather(found, own, group=self.group)
        return [each.tolist() for each in found]

    def swap(self, sends: Sequence[Tuple[int, torch.Tensor]], receives: Sequence[Tuple[int, torch.Tensor]], device) -> None:
        """One batch of sends and receives by ranks of the axis; between two ranks they pair off in order."""
        if not self._is_warm:
            # The first message of a group is one of all its ranks; it makes the connections.
            dist.all_reduce(torch.zeros(1, device=device), group=self.group)
            self._is_warm = True
        own = [dist.P2POp(dist.isend, t, group=self.group, group_peer=peer) for peer, t in sends]
        own += [dist.P2POp(dist.irecv, t, group=self.group, group_peer=peer) for peer, t in receives]
        for work in dist.batch_isend_irecv(own) if own else ():
            work.wait()

    def all_reduce(self, tensor: torch.Tensor, kind: str, what: str, in_place: bool = False) -> torch.Tensor:
        """All ranks' joined: a new tensor, or the same one."""
        found = tensor if in_place else tensor.detach().clone(memory_format=torch.contiguous_format)
        if self.size > 1:
            dist.all_reduce(found, _OPERATIONS[kind], group=self.group)
            self.note(what, f"all-reduce ({kind})", _bytes(found), _bytes(found))
        return found

    def all_gather(self, tensor: torch.Tensor, what: str) -> List[torch.Tensor]:
        own = tensor.detach().contiguous()
        found = [torch.empty_like(own) for _ in range(self.size)]
        dist.all_gather(found, own, group=self.group)
        self.note(what, "all-gather", _bytes(own), _bytes(own) * (self.size - 1))
        return found


def _bytes(tensor: torch.Tensor) -> int:
    return tensor.numel() * tensor.element_size()


# -- planes of shards --------------------------------------------------------------------------------------------------


def _part(tensor: torch.Tensor, dim: int, part: Range, origin: int) -> torch.Tensor:
    return tensor.narrow(dim, part[0] - origin if part[0] < part[1] else 0, part[1] - part[0])


def _pairs(moved: Moved, me: int) -> Tuple[Dict[int, Range], Dict[int, Range]]:
    """What this rank gives to others, and what it takes of others."""
    gives = {r: overlap(moved.holds[me], want) for r, want in enumerate(moved.wants) if r != me}
    takes = {r: overlap(hold, moved.wants[me]) for r, hold in enumerate(moved.holds) if r != me}
    return tuple({r: part for r, part in found.items() if part[0] < part[1]} for found in (gives, takes))


def _like(tensor: torch.Tensor, dim: int, part: Range) -> torch.Tensor:
    shape = list(tensor.shape)
    shape[dim] = part[1] - part[0]
    return tensor.new_empty(shape)


def _extend(axis: Axis, every: Sequence[Moved], tensors: Sequence[torch.Tensor], prefix: str = "") -> List[torch.Tensor]:
    """Of each tensor what this rank wants."""
    sends, receives, plans = [], [], []
    for moved, tensor in zip(every, tensors):
        gives, takes = _pairs(moved, axis.rank)
        origin = moved.holds[axis.rank][0]
        given = [(r, _part(tensor, moved.dim, part, origin).contiguous()) for r, part in gives.items()]
        taken = {r: _like(tensor, moved.dim, part) for r, part in takes.items()}
        own = _part(tensor, moved.dim, overlap(moved.holds[axis.rank], moved.wants[axis.rank]), origin)
        axis.note(prefix + moved.what, "neighbours", sum(_bytes(t) for _, t in given), sum(map(_bytes, taken.values())))
        plans.append((moved.dim, {**taken, axis.rank: own}))
        sends += given
        receives += taken.items()
    axis.swap(sends, receives, tensors[0].device)
    return [torch.cat([pieces[r] for r in sorted(pieces)], dim) for dim, pieces in plans]


def _give_back(axis: Axis, every: Sequence[Moved], tensors: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    """The transposed exchange: what came from another rank goes there, and is added."""
    sends, receives, plans = [], [], []
    for moved, tensor in zip(every, tensors):
        gives, takes = _pairs(moved, axis.rank)
        hold, want = moved.holds[axis.rank], moved.wants[axis.rank]
        returned = [(r, _part(tensor, moved.dim, part, want[0]).contiguous()) for r, part in takes.items()]
        added = {r: _like(tensor, moved.dim, part) for r, part in gives.items()}
        found = _like(tensor, moved.dim, hold).zero_()
        both = overlap(hold, want)
        _part(found, moved.dim, both, hold[0]).copy_(_part(tensor, moved.dim, both, want[0]))
        axis.note(f"gradient of {moved.what}", "neighbours", sum(_bytes(t) for _, t in returned), sum(map(_bytes, added.values())))
        plans.append((found, moved.dim, hold[0], gives, added))
        sends += returned
        receives += added.items()
    axis.swap(sends, receives, tensors[0].device)
    for found, dim, origin, gives, added in plans:
        for r, part in gives.items():
            _part(found, dim, part, origin).add_(added[r])
    return [plan[0] for plan in plans]


class _Extended(torch.autograd.Function):
    @staticmethod
    def forward(ctx, axis: Axis, every: Sequence[Moved], *tensors):
        ctx.axis, ctx.every = axis, every
        found = tuple(_extend(axis, every, tensors))
        ctx.mark_non_differentiable(*(t for t in found if not t.is_floating_point()))
        return found

    @staticmethod
    def backward(ctx, *given):
        wanted = [i for i in range(len(given)) if ctx.needs_input_grad[2 + i]]
        found: List[Optional[torch.Tensor]] = [None] * len(given)
        every = [ctx.every[i] for i in wanted]
        for i, gradient in zip(wanted, _Returned.apply(ctx.axis, every, *(given[i] for i in wanted)) if wanted else ()):
            found[i] = gradient
        return (None, None, *found)


class _Returned(torch.autograd.Function):
    @staticmethod
    def forward(ctx, axis: Axis, every: Sequence[Moved], *tensors):
        ctx.axis, ctx.every = axis, every
        return tuple(_give_back(axis, every, tensors))

    @staticmethod
    def backward(ctx, *given):
        return (None, None, *_Extended.apply(ctx.axis, ctx.every, *given))


def extend(axis: Axis, every: Sequence[Moved], tensors: Sequence[torch.Tensor]) -> List[torch.Tensor]:
    """Of each tensor the range that this rank wants, in one batch of messages."""
    return list(_Extended.apply(axis, every, *tensors))


# -- parts of results, and what all ranks have -------------------------------------------------------------------------


class _Summed(torch.autograd.Function):
    """A sum of all ranks' parts, whose cotangent all ranks have."""

    @staticmethod
    def forward(ctx, tensor, axis: Axis, what: str):
        ctx.axis, ctx.what = axis, what
        return axis.all_reduce(tensor, "sum", what)

    @staticmethod
    def backward(ctx, given):
        return _Shared.apply(given, ctx.axis, f"gradient of {ctx.what}"), None, None


class _Shared(torch.autograd.Function):
    """What all ranks have, of whose gradient each has a part."""

    @staticmethod
    def forward(ctx, tensor, axis: Axis, what: str):
        ctx.axis, ctx.what = axis, what
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, given):
        return _Summed.apply(given, ctx.axis, f"gradient of {ctx.what}"), None, None


class _Joined(torch.autograd.Function):
    """The product, the maximum or the minimum of all ranks' parts. Ranks with the extreme get equal shares of the gradient."""

    @staticmethod
    def forward(ctx, tensor, axis: Axis, kind: str, what: str):
        parts = torch.stack(axis.all_gather(tensor, what))
        ctx.rank, ctx.kind = axis.rank, kind
        found = parts.prod(0) if kind == "product" else parts.amax(0) if kind == "max" else parts.amin(0)
        ctx.save_for_backward(parts, found)
        return found

    @staticmethod
    @once_differentiable
    def backward(ctx, given):
        parts, found = ctx.saved_tensors
        if ctx.kind == "product":
            return given * torch.cat([parts[: ctx.rank], parts[ctx.rank + 1 :]]).prod(0), None, None, None
        same = parts == found
        return given * same[ctx.rank] / same.sum(0), None, None, None


class _Once(torch.autograd.Function):
    """A result that all ranks compute alike: of its gradient only one rank's counts."""

    @staticmethod
    def forward(ctx, tensor, axis: Axis):
        ctx.axis = axis
        return tensor.view_as(tensor)

    @staticmethod
    def backward(ctx, given):
        return _Once.apply(given if ctx.axis.rank == 0 else torch.zeros_like(given), ctx.axis), None


def is_tracked(tensor: torch.Tensor) -> bool:
    return torch.is_grad_enabled() and tensor.requires_grad


def join(axis: Axis, tensor: torch.Tensor, kind: str, what: str) -> torch.Tensor:
    """All ranks' parts joined, on each rank. The tensor is a program's result, which nothing else has."""
    if axis.size == 1:
        return tensor
    if not is_tracked(tensor):
        return axis.all_reduce(tensor, kind, what, in_place=tensor.is_contiguous())
    return _Summed.apply(tensor, axis, what) if kind == "sum" else _Joined.apply(tensor, axis, kind, what)


def share(axis: Axis, tensor: torch.Tensor, what: str) -> torch.Tensor:
    """The same tensor, whose gradient is summed over the axis."""
    return _Shared.apply(tensor, axis, what) if axis.size > 1 and is_tracked(tensor) else tensor


def count_once(axis: Axis, tensor: torch.Tensor) -> torch.Tensor:
    """The same tensor, whose gradient counts on one rank of the axis."""
    return _Once.apply(tensor, axis) if axis.size > 1 and is_tracked(tensor) else tensor


# -- whether ranks call the same -----------------------------------------------------------------------------------------

_calls: Dict[Any, int] = {}


def compare(mesh, text: str) -> Dict[int, str]:
    """Texts of the ranks of a mesh that differ from this rank's, by rank; through the store of the process group.

    No collective: a rank that calls something else, or nothing, must not leave the others waiting in one.
    """
    from torch.distributed.distributed_c10d import _get_default_store

    ranks = mesh.mesh.flatten().tolist()
    key = tuple(ranks)
    number = _calls[key] = _calls.get(key, 0) + 1
    store = dist.PrefixStore("fractaltensor/" + "-".join(map(str, ranks)), _get_default_store())
    store.set(f"{number}/{dist.get_rank()}", text)
    store.wait([f"{number}/{r}" for r in ranks])
    found = {r: store.get(f"{number}/{r}").decode() for r in ranks}
    if number > 2:  # every rank has read the one before the last
        store.delete_key(f"{number - 2}/{dist.get_rank()}")
    return {r: other for r, other in found.items() if other != text}
