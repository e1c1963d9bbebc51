# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""``python -m fractaltensor``: what is installed, and bundles and programs from the command line; see :mod:`commands`."""

import sys

from .commands import main

if __name__ == "__main__":
    sys.exit(main())
