# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs over several ranks.

`rules` reads what the compiler finds out about a program's lengths; `placements` tells PyTorch's DTensor. `sharded` runs programs
over a mesh: `cuts` has the ranges of each rank, `messages` the exchanges, which are those of ``torch.distributed``. Without a
mesh this package sends nothing. ``python3 -m fractaltensor.distributed.measure`` times the links between ranks.
"""
