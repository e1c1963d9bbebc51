#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks and times what scripts/gpu.sh packed, on a machine with a GPU and
# without LLVM. Prints a table; OUT (default: results) gets the logs.
#
#   ./run.sh [unit] [check] [lengths] [sanitize] [bench] [peers] [halves] [models] [papers]   (default: check lengths peers)
#
# unit: FTGpuTests, the runtime on the device; check: the interpreter's results; lengths: float64 in PyTorch, at every length and type;
# bench: ours alone; peers: beside PyTorch's own, in one process; halves: these in f16 and bf16; models: modules beside PyTorch
# (scripts/models.py packs them); papers: FractalTensor's figures (benchmarks/papers/fractaltensor.py pack papers).
# Lengths, peers, halves, models and papers need PyTorch.
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

# The cases of a target as commands of ft-run-bundle.
commands() { # target, pattern
  grep -E "$2" cases.txt | while IFS='|' read -r name case bundle dims results; do
    compare=""
    for i in $(seq 0 $((results - 1))); do compare+=" --expect=cases/$name.$case.$i.npy"
      [[ -f cases/$name.$case.$i.truth.npy ]] && compare+=" --truth=cases/$name.$case.$i.truth.npy"; done
    echo "bundles/$bundle.$1.ftb --engine=cuda --seed=1 $dims$compare"
  done
}

# Many cases in a process, since a process that opens a device takes seconds. What failed there, or
# was not answered because the process crashed or hung, is asked again alone; and all is, where a
# tool says by its status 9 that one was at fault.
answers() { # file of commands, tool before
  timeout 400 $2 ./ft-run-bundle "--commands=$1" > "$1.out" 2> "$1.err"
  [[ $? -eq 9 ]] && : > "$1.out"
  grep '^ok ' "$1.out" > "$1.answers"
  sed 's/^ok *//' "$1.answers" | grep -vxF -f - "$1" | while read -r line; do
    # shellcheck disable=SC2086
    if timeout 240 $2 ./ft-run-bundle $line > "$1.alone" 2>&1 < /dev/null; then echo "ok   $line"
    else echo "FAIL $line: $(grep -v '^=\+ *$' "$1.alone" | grep -m1 -iE 'error|differ|not equal|hazard|result' | cut -c1-220)"; fi
  done >> "$1.answers"
}
export -f answers

# Runs the commands of standard input in $jobs processes at a time; the answers go to a file.
parallel() { # name, tool before
  rm -rf "$out/$1.d"; mkdir -p "$out/$1.d"
  split -n "r/$((jobs * 2))" -d -a 3 - "$out/$1.d/part" < <(cat)
  find "$out/$1.d" -size 0 -delete
  ls "$out/$1.d"/part* | xargs -P "$jobs" -I{} bash -c 'answers "$0" "$1"' {} "${2:-}"
  cat "$out/$1.d"/*.answers > "$out/$1.txt"
  rm -rf "$out/$1.d"
}

failed=0
if [[ $what == *unit* ]]; then
  chmod +x FTGpuTests
  FT_WATCHDOG_BUNDLE=bundles/watchdog.ftb timeout 240 ./FTGpuTests > "$out/unit.txt" 2>&1 || failed=1
  grep -E 'host time|stream:|grid barrier|: CUDA|PTX 99|never ended|refused|PASSED|FAILED|SKIPPED' "$out/unit.txt"
fi
if [[ $what == *check* ]]; then
  for target in sm_90a sm_80; do
    commands "$target" '' > "$out/commands.txt"
    parallel "check.$target" < "$out/commands.txt"
    echo "check $target: $(grep -c '^ok' "$out/check.$target.txt") ok, $(grep -c '^FAIL' "$out/check.$target.txt") failed of $(wc -l < "$out/commands.txt")"
    grep '^FAIL' "$out/check.$target.txt" && failed=1
  done
fi
if [[ $what == *lengths* ]]; then
  python3 check.py . > "$out/lengths.txt" || failed=1
  tail -20 "$out/lengths.txt"
fi
if [[ $what == *sanitize* ]]; then
  for tool in memcheck racecheck; do
    commands sm_90a "${SANITIZE:-\|(default|odd|2)\|}" > "$out/commands.txt"
    parallel "$tool" "compute-sanitizer --tool $tool --error-exitcode 9" < "$out/commands.txt"
    echo "$tool: $(grep -c '^ok' "$out/$tool.txt") clean, $(grep -c '^FAIL' "$out/$tool.txt") not, of $(wc -l < "$out/commands.txt")"
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
if [[ $what == *models* ]]; then
  python3 models.py models --json "$out/models.json" ${MODELS_OPTIONS:-} | tee "$out/models.txt"
  [[ ${PIPESTATUS[0]} -eq 0 ]] || failed=1
fi
if [[ $what == *papers* ]]; then
  python3 papers/fractaltensor.py run papers --json "$out/papers.json" ${PAPERS_OPTIONS:---ncu} | tee "$out/papers.txt"
  [[ ${PIPESTATUS[0]} -eq 0 ]] || failed=1
fi
exit $failed
