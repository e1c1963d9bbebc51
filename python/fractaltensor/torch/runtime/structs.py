# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The runtime's structs of a segment's arguments and results, kept from call to call.

A program of many short segments spends its time on these: only what differs from the last call is written.
"""

from __future__ import annotations

import ctypes
from ctypes import c_int64, c_void_p
from typing import Any, Dict, Sequence, Tuple

from ...arrays import DLTensor
from ..ir.dtypes import DType
from .memory import Memory


class Structs:
    """One struct for each tensor of a call. A call that goes on at the same time in another thread needs structs of its own."""

    def __init__(self, memory: Memory, dtypes: Sequence[DType], ranks: Sequence[int], count: int):
        """Of tensors of element types and ranks; the first `count` are arguments, the others results."""
        self._sizes = [(c_int64 * max(1, rank))() for rank in ranks]
        self._count = count
        #: Sizes of results, which those of the arguments alone decide: as long as these stay.
        self.known: Dict[int, Tuple[int, ...]] = {}
        #: As they were written last.
        self._shapes: list = [None] * len(ranks)
        kind, number = memory.device
        self.tensors = [
            DLTensor(device_type=kind, device_id=number, ndim=rank, code=d.code, bits=8 if d.is_bool else d.bits, lanes=1, shape=sizes)
            for d, rank, sizes in zip(dtypes, ranks, self._sizes)
        ]
        #: Arrays of numbers whose memory stays, by their places.
        self.cells: Dict[int, Any] = {}
        self._memory = memory
        places = [ctypes.addressof(t) for t in self.tensors]
        self.pointers = (c_void_p * max(1, len(places)))(*places)
        self.pointers.structs = self.tensors  # who holds pointers holds what they point to
        #: The same where results are asked for their sizes: those stay NULL.
        self.arguments = (c_void_p * max(1, len(places)))(*places[:count])

    def put(self, at: int, address: int, shape) -> None:
        """Where a dense tensor lies, and its sizes."""
        self.tensors[at].data = address
        if shape != self._shapes[at]:
            if at < self._count:
                self.known.clear()
            self._shapes[at] = shape = tuple(shape)
            for d, size in enumerate(shape):
                self._sizes[at][d] = size

    def keep(self, at: int, dtype: DType) -> None:
        """Gives a number a place of its own, at which each call writes or finds it."""
        self.cells[at], address = self._memory.empty((), dtype)
        self.put(at, address, ())
