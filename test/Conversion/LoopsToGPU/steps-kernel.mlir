// Nests that share the loop over t: the second reads at step t what the first wrote
// there, the first reads at step t + 1 what the second wrote: a barrier between
// them, and one at the end of the step.
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s
// RUN: env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a %s | FileCheck %s --check-prefix=PLAN

// CHECK: .visible .entry pair_k0(
// CHECK-COUNT-2: atom.add.acq_rel.gpu.global.u32
// CHECK-NOT: atom.add

// PLAN: "kernels":["pair_k0"]
// PLAN: "cooperative":true

#map = affine_map<(d0, d1) -> (d0, d1)>
!x = tensor<4xf32>

etdg.graph @pair(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> attributes {ft.lengths = {L = 5 : i64, N = 3 : i64}} {
  %as = etdg.buffer : !etdg.buffer<[L, N], !x>
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.kernel shared 1 {
    etdg.block @a [scanl, map] (t, i) in [0, L) x [0, N)
        reads (%x = %xs[t, i] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1, N - 1 - i]} : !x)
        writes (%as[t, i])
        schedule #etdg.schedule<map = #map, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]> {
      %0 = arith.addf %x, %s : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N)
        reads (%a = %as[t, N - 1 - i] : !x)
        writes (%ys[t, i])
        schedule #etdg.schedule<map = #map, loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]> {
      %0 = arith.mulf %a, %a : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  }
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}
