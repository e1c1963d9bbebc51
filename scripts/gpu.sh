#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Packs what a machine with a GPU and without LLVM needs to check and time every
# example: runtime, runner, bundles for each target and element type, and the
# interpreter's results. There, FOLDER/run.sh does the rest (integration/run.sh).
#
#   scripts/gpu.sh [FOLDER]        (default: build/gpu)
#
# FT_BUILD names the build folder, default build.
set -euo pipefail
cd "$(dirname "$0")/.."
build=${FT_BUILD:-build}
out=${1:-build/gpu}
mkdir -p "$out/lib"
cp "$build/bin/ft-run-bundle" integration/run.sh "$out/"
cp -a "$build"/lib/libFractalTensorRuntime.so* "$out/lib/" # the library and its names
if [[ -x $build/unittests/FTGpuTests ]]; then cp "$build/unittests/FTGpuTests" "$out/"; fi
exec python3 scripts/gpu.py "$build/bin" "$out"
