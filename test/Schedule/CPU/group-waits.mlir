// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests that share steps inside of a body that all cores go into: before the first of them cores wait for what stands above.
//
// RUN: ft-opt %s --etdg-schedule-for-cpu --etdg-validate | FileCheck %s
// RUN: ft-opt %s --etdg-schedule-for-cpu --convert-etdg-to-loops | FileCheck %s --check-prefix=LOOPS
// RUN: ft-run %s --threads=3 --skip=coarsen,reorder --order=random --seed=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
//
// CHECK: etdg.block @each
// CHECK: etdg.block @ahead
// CHECK: etdg.kernel shared 1 {
// CHECK-NEXT: etdg.block @up [scanl] (t | k) in [0, L)
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential, sync = cores>] before = cores target = "cpu">
// CHECK: etdg.block @down
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential, sync = cores>] before = cores target = "cpu">
//
// After what is ahead, after each of the two, and after the step.
// LOOPS: func.func @two_k0
// LOOPS: loops.sync cores
// LOOPS: scf.for
// LOOPS: loops.sync cores
// LOOPS: loops.sync cores
// LOOPS: return
//
// EQUAL: {{^}}equal{{$}}

!x = tensor<1x4xi32>

etdg.graph @two(%xs: !etdg.buffer<[T, L], !x>) -> (!etdg.buffer<[T, L], !x>, !etdg.buffer<[T, L], !x>) attributes {ft.lengths = {T = 3 : i64, L = 5 : i64}} {
  %up = etdg.buffer : !etdg.buffer<[T, L], !x>
  %down = etdg.buffer : !etdg.buffer<[T, L], !x>
  etdg.block @each [map] (t) in [0, T) schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = cores>] target = "cpu"> {
    %ahead = etdg.buffer : !etdg.buffer<[L], !x>
    etdg.block @ahead [map] (t | i) in [0, L) reads (%x = %xs[t, i] : !x) writes (%ahead[i]) {
      %y = arith.addi %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[T, L], !x>, !etdg.buffer<[L], !x>
    etdg.kernel shared 1 {
      etdg.block @up [scanl] (t | k) in [0, L) reads (%x = %ahead[L - k - 1] : !x, %s = {k >= 1: %up[t, k - 1], k = 0: splat 1 : i32} : !x) writes (%up[t, k]) {
        %y = arith.addi %x, %s : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[L], !x>, !etdg.buffer<[T, L], !x>
      etdg.block @down [scanl] (t | k) in [0, L) reads (%x = %up[t, k] : !x, %s = {k >= 1: %down[t, k - 1], k = 0: splat 2 : i32} : !x) writes (%down[t, k]) {
        %y = arith.muli %x, %s : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[T, L], !x>, !etdg.buffer<[T, L], !x>
    }
  }
  etdg.return %up, %down : !etdg.buffer<[T, L], !x>, !etdg.buffer<[T, L], !x>
}
