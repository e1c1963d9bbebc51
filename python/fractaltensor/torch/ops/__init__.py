# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators by name: what each is made of. `TABLE` is the list that the documentation is made from."""

from . import composed, creation, indexing, losses, moving, pointwise, products, recurrent, reductions, special, steps, views, windows  # noqa: F401 - they fill the table
from .table import METHODS, REFUSED, TABLE, Operator  # noqa: F401
