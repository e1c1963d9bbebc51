#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Runs clang-tidy (package clang-tidy-22, which the build does not need) over the
# sources with the checks of .clang-tidy; any finding fails.
#
#   scripts/tidy.sh                  all of lib/
#   scripts/tidy.sh lib/Runtime ...  these files and folders
#
# Needs a built build/: generated headers and the compilation database.
set -euo pipefail
cd "$(dirname "$0")/.."

tidy=$(command -v clang-tidy-22 || command -v clang-tidy || true)
[[ -n $tidy ]] || { echo "tidy: clang-tidy-22 is missing: apt-get install clang-tidy-22" >&2; exit 1; }
[[ -e build/compile_commands.json ]] || { echo "tidy: build first (scripts/build.sh)" >&2; exit 1; }

(($#)) || set -- lib
find "$@" -name '*.cpp' ! -name '*.test.cpp' -print0 | sort -z |
  xargs -0 -r -n 1 -P "$(nproc)" "$tidy" -p build --quiet --warnings-as-errors='*' 2>/dev/null
echo "tidy: nothing found"
