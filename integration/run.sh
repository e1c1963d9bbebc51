#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks and times what scripts/gpu.sh packed, on a machine with a GPU and
# without LLVM. Prints a table; OUT (default: results) gets the logs.
#
#   ./run.sh [unit] [check] [lengths] [sanitize] [bench] [peers] [halves]   (default: check lengths peers)
#
# unit: FTGpuTests, the runtime on the device; check: the interpreter's results; lengths: float64 in PyTorch, at every length and type;
# bench: ours alone; peers: beside PyTorch's own, in one process; halves: these in f16 and bf16.
# Lengths, peers and halves need PyTorch.
set -u
cd "$(dirname "$0")"
export LD_LIBRARY_PATH=$PWD/lib
out=${OUT:-results}
mkdir -p "$out"
chmod +x ft-run-bundle
jobs=${JOBS:-8}
what=${*:-check lengths peers}
# The driver compiles PTX once.
export CUDA_CACHE_MAXSIZE=${CUDA_CACHE_MAXSIZE:-2147483648}

one() { # target, line of cases.txt, command before
  IFS='|' read -r name case bundle dims results <<< "$2"
  compare=()
  for i in $(seq 0 $((results - 1))); do compare+=("--expect=cases/$name.$case.$i.npy"); done
  log="$OUT_DIR/$3$1.$name.$case.log"
  timeout 240 ${4:-} ./ft-run-bundle "bundles/$bundle.$1.ftb" --engine=cuda --seed=1 $dims "${compare[@]}" > "$log" 2>&1
  status=$?
  if [[ $status -eq 0 ]]; then echo "ok   $3$1 $name $case"
  else echo "FAIL $3$1 $name $case: $(grep -v '^=\+ *$' "$log" | grep -m1 -iE 'error|differ|not equal|hazard|result' | cut -c1-220)"; fi
}
export -f one
export OUT_DIR=$out

failed=0
if [[ $what == *unit* ]]; then
  chmod +x FTGpuTests
  FT_WATCHDOG_BUNDLE=bundles/watchdog.ftb timeout 240 ./FTGpuTests > "$out/unit.txt" 2>&1 || failed=1
  grep -E 'host time|stream:|grid barrier|: CUDA|PTX 99|never ended|refused|PASSED|FAILED|SKIPPED' "$out/unit.txt"
fi
if [[ $what == *check* ]]; then
  for target in sm_90a sm_80; do
    xargs -P "$jobs" -d '\n' -I{} bash -c 'one "$0" "$1" ""' "$target" {} < cases.txt > "$out/check.$target.txt"
    echo "check $target: $(grep -c '^ok' "$out/check.$target.txt") ok, $(grep -c '^FAIL' "$out/check.$target.txt") failed"
    grep '^FAIL' "$out/check.$target.txt" && failed=1
  done
fi
if [[ $what == *lengths* ]]; then
  python3 check.py . > "$out/lengths.txt" || failed=1
  tail -20 "$out/lengths.txt"
fi
if [[ $what == *sanitize* ]]; then
  for tool in memcheck racecheck; do
    grep -E "${SANITIZE:-\|(default|odd)\|}" cases.txt | xargs -P "$jobs" -d '\n' -I{} bash -c \
      'one sm_90a "$1" "$0." "compute-sanitizer --tool $0 --error-exitcode 9"' "$tool" {} > "$out/$tool.txt"
    echo "$tool: $(grep -c '^ok' "$out/$tool.txt") clean, $(grep -c '^FAIL' "$out/$tool.txt") not"
    grep '^FAIL' "$out/$tool.txt" && failed=1
  done
fi
if [[ $what == *bench* ]]; then
  while IFS='|' read -r name bundle dims; do
    [[ -z $name ]] && continue
    timeout 120 ./ft-run-bundle "bundles/$bundle.sm_90a.ftb" --engine=cuda $dims --bench ${BENCH_OPTIONS:-} 2>&1 | grep -E 'us a call|error' | sed "s/^/$name: /"
  done < bench.txt | tee "$out/bench.txt"
fi
if [[ $what == *peers* ]]; then
  python3 peers.py . --json "$out/peers.json" ${PEERS_OPTIONS:-} | tee "$out/peers.txt"
  [[ ${PIPESTATUS[0]} -eq 0 ]] || failed=1
fi
if [[ $what == *halves* ]]; then
  for type in f16 bf16; do
    python3 peers.py . --type=$type --json "$out/peers.$type.json" ${PEERS_OPTIONS:-} | tee "$out/peers.$type.txt"
    [[ ${PIPESTATUS[0]} -eq 0 ]] || failed=1
  done
fi
exit $failed
