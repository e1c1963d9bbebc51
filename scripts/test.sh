#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# All tests: the same set-up and build as demo.sh, then unit tests, the lit
# suite, random programs and the examples. Every section runs whatever the one
# before it said. The last line is "N passed, N failed, N skipped".
#
#   FT_REQUIRE=ptxas,torch,cuda scripts/test.sh    a missing one of these fails
#   scripts/test.sh unit lit fuzz examples         only these sections
#   scripts/test.sh long                           random programs and hostile input by the thousand, all of upstream's passes (hours)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
scripts/build.sh all FTUnitTests

# The system's Python has numpy; another one that comes first in PATH is taken where it has PyTorch as well.
python=python3
if [[ -x /usr/bin/python3 ]] && ! python3 -c 'import torch, numpy' 2>/dev/null; then
  python=/usr/bin/python3
fi
exec "$python" scripts/test.py "$@"
