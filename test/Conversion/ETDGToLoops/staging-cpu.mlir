// Loops are made of copies, not of placements: who leaves these out makes none.
//
// RUN: ft-opt %s --convert-etdg-to-loops --verify-diagnostics
// RUN: sed '/expected-error/d' %s | ft-opt --etdg-apply-placements --etdg-schedule-for-cpu --convert-etdg-to-loops | FileCheck %s

!x = tensor<1x6xf32>

// CHECK-LABEL: func.func @f_k0(
// CHECK: memref.alloc
// CHECK: scf.for
// CHECK-COUNT-2: loops.leaf
etdg.graph @f(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{the CPU engine can't run the schedule's placement of read 0 (level l2): expected copies in its place (etdg-apply-placements makes them)}}
  etdg.block @b [scanl] (t) in [0, L) reads (%x = %xs[t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t])
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential>] target = "cpu" placements = [<read = 0, loop = 1, level = l2, stages = 2>]> {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}
