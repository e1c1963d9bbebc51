#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# From nothing to a table: installs what is missing, builds, runs every program
# of examples/ on the best engine present, each checked against the
# interpreter, and writes build/report.html. Exit status 0 only if all are ok.
#
#   scripts/demo.sh [name ...]     only these examples (stacked_rnn, ...)
#   FT_ENGINE=cpu|cuda|interpret   the engine (default: cpu)
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh
scripts/build.sh ft-opt ft-run ft-translate

python=python3
[[ -x /usr/bin/python3 ]] && python=/usr/bin/python3
exec "$python" scripts/demo.py --engine="${FT_ENGINE:-cpu}" "$@"
