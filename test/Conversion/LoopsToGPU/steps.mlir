// A schedule in applied form: the whole grid runs it step by step, in one
// cooperative kernel with a barrier of the grid after each step.
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefixes=CHECK,ONE
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=NONE
// RUN: ft-translate --mlir-to-ptx --target=sm_80 --gpu-steps=always %s | FileCheck %s
// RUN: ft-translate --mlir-to-ptx --gpu-steps=always --gpu-barrier-limit=1000 %s | FileCheck %s --check-prefix=LIMIT
// RUN: env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a --gpu-steps=always %s | FileCheck %s --check-prefix=PLAN
// RUN: env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a %s | FileCheck %s --check-prefix=BOTH
// RUN: env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a --variants %s | FileCheck %s --check-prefix=VARIANTS
// RUN: ft-translate --mlir-to-ptx --gpu-steps=never %s | FileCheck %s --check-prefix=NEVER
// RUN: not ft-translate --mlir-to-ptx --gpu-step-threads=100 %s 2>&1 | FileCheck %s --check-prefix=THREADS

// THREADS: --gpu-step-threads=100: expected a multiple of 32 up to 1024

// CHECK: .visible .entry rnn_k0(
// CHECK-DAG: fence.acq_rel.gpu
// CHECK-DAG: atom.add.acq_rel.gpu.global.u32
// CHECK-DAG: ld.acquire.gpu.global.u32
// ONE-NOT: .visible .entry

// Other thread blocks wrote what a step reads: nothing comes by the path that
// is not coherent, and no other kernel may follow in the middle of it.
// NONE-NOT: ld.global.nc
// NONE-NOT: trap
// NONE: .visible .entry rnn_k0(
// NONE-NOT: ld.global.nc
// NONE-NOT: trap

// LIMIT: st.global.u32 [{{.*}}], 2;
// LIMIT: trap;

// PLAN: "cooperative":true,"shrinks":true
// PLAN-NOT: "cooperative":false

// The host takes the form without steps where N gives every SM rows enough.
// BOTH: "step":"branch"
// BOTH: "cooperative":true
// BOTH: "otherwise":[
// BOTH: "cooperative":false

// VARIANTS: "variant":"generic"
// VARIANTS: "variant":"steps"
// VARIANTS: "variant":"blocks"

// NEVER: .visible .entry rnn_k0(
// NEVER-NOT: atom.add

#map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

etdg.graph @rnn(%xs: !etdg.buffer<[N, L], !x>, %ws: !etdg.buffer<[D], !w>) -> !etdg.buffer<[N, D, L], !x> attributes {ft.lengths = {D = 3 : i64, L = 5 : i64, N = 2 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, D, L], !x>
  etdg.nest schedule <map = #map, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]> {
    etdg.block @first [scanl, map, map] (t, j, i) in [0, L) x = 0 x [0, N) where D >= 1
        reads (%x = %xs[i, t - j] : !x, %w = %ws[j] : !w, %s = {t - j = 0: splat 0.0 : f32, t - j >= 1: %ys[i, j, t - j - 1]} : !x)
        writes (%ys[i, j, t - j]) {
      %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[D], !w>, !etdg.buffer<[N, D, L], !x>
    etdg.block @rest [scanl, map, map] (t, j, i) in [1, D + L - 1) x [max(1, t - L + 1), min(D, t + 1)) x [0, N)
        reads (%x = %ys[i, j - 1, t - j] : !x, %w = %ws[j] : !w, %s = {t - j = 0: splat 0.0 : f32, t - j >= 1: %ys[i, j, t - j - 1]} : !x)
        writes (%ys[i, j, t - j]) {
      %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, D, L], !x>, !etdg.buffer<[D], !w>
  }
  etdg.return %ys : !etdg.buffer<[N, D, L], !x>
}
