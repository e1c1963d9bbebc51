// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads that are staged inside of steps that all units take together, whose points they share: once a step, and an iteration ahead inside of a step.
//
// RUN: ft-opt %s --etdg-validate --etdg-apply-placements=target=sm_90a --etdg-verify --etdg-validate | FileCheck %s
// RUN: %python %S/../Engine/Emulator/Inputs/emulate.py --multiprocessors=3 %ft_bin/ft-run %s 1 3 5 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 2 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// Who copies does not wait for the others, nor who reads.
// RUN: ft-opt %s --etdg-apply-placements=target=sm_90a | sed 's/ before = grid//' | not ft-opt --etdg-validate=reproducer=none 2>&1 | FileCheck %s --check-prefix=WAIT
// WAIT: error: {{.*}}(T13) block @b: read 0 reads an element of a buffer {{.*}} that another thread block writes, and units do not wait in between: expected before = grid on this nest

!x = tensor<1x6xi32>

// Each unit reads what others have copied.
// CHECK-LABEL: etdg.graph @once
// CHECK:       %[[X:.*]] = etdg.buffer live [1, all] : !etdg.buffer<[L, N], tensor<1x6xi32>>
// CHECK-NEXT:  etdg.kernel shared 1 {
// CHECK-NEXT:    etdg.block @b_0 [map, map] (t, i) in [0, L) x [0, N)
// CHECK-NEXT:        reads (%x = %arg0[t, i] : tensor<1x6xi32>)
// CHECK-NEXT:        writes (%[[X]][t, i])
// CHECK-NEXT:        schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential, sync = grid>, <dimension = 1, kind = parallel, level = grid, mapping = cyclic>]{{.*}}> {
// CHECK:         etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N)
// CHECK-NEXT:        reads (%x = %[[X]][t, i] : tensor<1x6xi32>
// CHECK:             before = grid block
etdg.graph @once(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N)
      reads (%x = %xs[t, i] : !x, %s = {t = 0: splat 1 : i32, t >= 1: %ys[t - 1, N - i - 1]} : !x) writes (%ys[t, i])
      schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = grid>,
          <dimension = 1, kind = parallel, level = grid, mapping = cyclic>]
          block = <threads = 64, shared = 98304> placements = [<read = 0, loop = 1, level = l2, stages = 1>]> {
    %0 = arith.subi %s, %x : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// Two loops outside, of which the copy is an iteration of the inner one ahead.
// CHECK-LABEL: etdg.graph @ahead
// CHECK:       %[[X:.*]] = etdg.buffer live [1, 2, all] : !etdg.buffer<[L, 3, N], tensor<1x6xi32>>
// CHECK-NEXT:  etdg.kernel shared 2 {
// CHECK-NEXT:    etdg.block @b_0 [map, map, map] (t, k, i) in [0, L) x [-1, 2) x [0, N)
// CHECK-NEXT:        reads (%x = %arg0[t, k + 1, i] : tensor<1x6xi32>)
// CHECK-NEXT:        writes (%[[X]][t, k + 1, i])
etdg.graph @ahead(%xs: !etdg.buffer<[L, 3, N], !x>) -> !etdg.buffer<[L, 3, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, 3, N], !x>
  etdg.block @b [scanl, map, map] (t, k, i) in [0, L) x [0, 3) x [0, N)
      reads (%x = %xs[t, k, i] : !x, %s = {t = 0: splat 1 : i32, t >= 1: %ys[t - 1, k, N - i - 1]} : !x) writes (%ys[t, k, i])
      schedule <map = affine_map<(t, k, i) -> (t, k, i)>, loops = [<dimension = 0, kind = sequential, sync = grid>, <dimension = 1, kind = sequential, sync = grid>,
          <dimension = 2, kind = parallel, level = grid, mapping = cyclic>]
          block = <threads = 64, shared = 98304> placements = [<read = 0, loop = 2, level = l2, stages = 2>]> {
    %0 = arith.muli %x, %x : !x
    %1 = arith.subi %s, %0 : !x
    etdg.yield %1 : !x
  } : !etdg.buffer<[L, 3, N], !x>, !etdg.buffer<[L, 3, N], !x>
  etdg.return %ys : !etdg.buffer<[L, 3, N], !x>
}
