# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs over several ranks: which lengths can be divided, and DTensor's strategies for that.

`rules` reads what the compiler finds out about a program's lengths; `placements` tells PyTorch's DTensor. Messages go
through ``torch.distributed``; this package sends none.
"""
