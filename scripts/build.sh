#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Configures build/ when it is new and builds the targets named (default: all).
# A build that is up to date takes a second.
#
#   FT_PROGRESS_SECONDS=30   seconds between the lines that say how far it is, where the output is no terminal
set -euo pipefail
cd "$(dirname "$0")/.."

log=build/configure.log
if [[ ! -e build/build.ninja ]]; then
  mkdir -p build
  echo "Configuring build/ ..." >&2
  cmake --preset default >"$log" 2>&1 || { cat "$log" >&2; exit 1; }
fi
echo "Building ${*:-all} ..." >&2
start=$SECONDS
# Errors are what matters of a long log; the progress line is kept on a terminal. Elsewhere a line each 30 s says how far it is.
if [[ -t 1 ]]; then
  cmake --build build --target "${@:-all}"
else
  cmake --build build --target "${@:-all}" >build/build.log 2>&1 &
  build=$!
  {
    while sleep "${FT_PROGRESS_SECONDS:-30}" && kill -0 "$build" 2>/dev/null; do
      # Ninja ends its lines by a carriage return on some terminals; the last count is the newest.
      steps=$(grep -a -o -E '^\[[0-9]+/[0-9]+\]' build/build.log | tail -1 || true)
      echo "  $((SECONDS - start)) s: ${steps:-nothing compiled yet}" >&2
    done
  } &
  progress=$!
  trap 'kill "$progress" 2>/dev/null || true' EXIT
  wait "$build" || {
    grep -n -E -A12 'FAILED:|error:|CMake Error' build/build.log | head -200 >&2 || true
    echo "build failed; the whole log is build/build.log" >&2
    exit 1
  }
fi
echo "Built in $((SECONDS - start)) s" >&2
