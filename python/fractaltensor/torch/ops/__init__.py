# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators by their paths: what each is made of. `TABLE` is the list that the documentation is made from."""

from . import composed, creation, indexing, losses, moving, pointwise, products, recurrent, reductions, resizing, solving, special, steps, views, windows  # noqa: F401 - they fill the table
from . import aten, complex_numbers, factors, fourier, linalg, margins, paths, pools, selection  # noqa: F401 - of what the others define
from .table import OPERATORS, REFUSED, TABLE, Operator, find  # noqa: F401

paths.fill()
