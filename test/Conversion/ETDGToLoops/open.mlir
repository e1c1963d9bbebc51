// Emission decides nothing of a schedule: what is open is refused, with the pass that completes it, and converted after it.

// RUN: not ft-opt %s --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: open.mlir:27:3: error: has no binding schedule (etdg-schedule-for-cpu writes one)
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu),convert-etdg-to-loops)' | FileCheck %s --check-prefix=LOOPS
// LOOPS: loops.chunks
// LOOPS: loops.leaf

// RUN: not ft-opt %s --convert-etdg-to-loops=target=sm_90a 2>&1 | FileCheck %s --check-prefix=GPU
// GPU: open.mlir:27:3: error: has no binding schedule (etdg-schedule-for-gpu writes one)
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-gpu{target=sm_90a},etdg-place-buffers{target=sm_90a}),convert-etdg-to-loops{target=sm_90a})' \
// RUN:   | FileCheck %s --check-prefix=GRID
// GRID: attributes {loops.grid = #loops.grid<
// GRID: loops.leaf

// A translation to code begins after these phases, and runs them on graphs that come so.
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s --check-prefix=PTX
// PTX: .entry sums_k0

// A schedule of which the levels alone are open is open, too.
// RUN: sed 's/writes (%ys\[i\])/& schedule #order/' %s | not ft-opt --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=LEVELS
// LEVELS: error: has no binding schedule (etdg-schedule-for-cpu writes one)

#order = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel>]>
etdg.graph @sums(%xs: !etdg.buffer<[N], tensor<8xf32>>) -> !etdg.buffer<[N], tensor<8xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[N], tensor<8xf32>>
  etdg.block @y [map] (i) in [0, N)
      reads (%x = %xs[i] : tensor<8xf32>)
      writes (%ys[i]) {
    %y = arith.addf %x, %x : tensor<8xf32>
    etdg.yield %y : tensor<8xf32>
  } : !etdg.buffer<[N], tensor<8xf32>>, !etdg.buffer<[N], tensor<8xf32>>
  etdg.return %ys : !etdg.buffer<[N], tensor<8xf32>>
}
