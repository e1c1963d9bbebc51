// Iterations of a reduction whose number another dimension decides: as many as there are whole multiples of, and those after, for each of its values.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-join-iterations{iterations=3},etdg-verify,etdg-validate))' -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
//
// The values stay, in any order of what is independent.
// RUN: ft-run %s --entry=convolution --engine=interpret --seed=3 --dim=L=8 --out=%t.want.npy
// RUN: ft-run %t.mlir --entry=convolution --engine=interpret --order=random --seed=3 --dim=L=8 --out=%t.got.npy
// RUN: ft-run %t.mlir --entry=convolution --engine=cpu --seed=3 --dim=L=8 --out=%t.cpu.npy
// RUN: ft-run %s --entry=halves --engine=interpret --seed=3 --dim=L=5 --out=%t.want2.npy
// RUN: ft-run %t.mlir --entry=halves --engine=interpret --order=random --seed=3 --dim=L=5 --out=%t.got2.npy
// RUN: %python -c "import numpy as np; load = lambda n: np.load(r'%t.' + n + '.npy'); close = lambda a, b: print('close' if a.shape == b.shape and abs(a - b).max() <= 1e-5 * abs(b).max() else 'far'); close(load('got'), load('want')); close(load('cpu'), load('want')); close(load('got2'), load('want2'))" | FileCheck %s --check-prefix=VALUES
// VALUES: close
// VALUES-NEXT: close
// VALUES-NEXT: close
// REQUIRES: numpy
//
// On a GPU such a dimension is no row of tasks: rows are computed together, and theirs are different sums.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=TASKS
// TASKS-LABEL: etdg.graph @convolution
// TASKS: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block

!a = tensor<6x5xf32>
!b = tensor<5x4xf32>
!c = tensor<6x4xf32>
// CHECK-LABEL: etdg.graph @convolution
// CHECK: etdg.block @sum_joined [reduce] (i | j) in [0, floordiv(i + 1, 3))
// CHECK-NEXT: reads ({{.*}} = elem (e0, e1, e2) %arg0[i - 3 * j - e0, e1, e2] : tensor<3x6x5xf32>, {{.*}} = elem (e0, e1, e2) %arg1[3 * j + e0, e1, e2] : tensor<3x5x4xf32>
// CHECK: etdg.block @sum [reduce] (i | j) in [floordiv(i + 1, 3), i - 2 * floordiv(i + 1, 3) + 1)
// CHECK-NEXT: reads ({{.*}} = %arg0[i - j - 2 * floordiv(i + 1, 3)] : tensor<6x5xf32>, {{.*}} = %arg1[j + 2 * floordiv(i + 1, 3)] : tensor<5x4xf32>
// CHECK: etdg.block @last
// CHECK-NEXT: reads ({{.*}} = %{{.*}}[i - 2 * floordiv(i + 1, 3)]
etdg.graph @convolution(%as: !etdg.buffer<[L], !a>, %bs: !etdg.buffer<[L], !b>) -> !etdg.buffer<[L], !c> attributes {ft.lengths = {L = 8 : i64}} {
  %cs = etdg.buffer : !etdg.buffer<[L], !c>
  etdg.block @r [map] (i) in [0, L) {
    %s = etdg.buffer : !etdg.buffer<[L], !c>
    etdg.block @sum [reduce] (i | j) in [0, i + 1)
        reads (%a = %as[i - j] : !a, %b = %bs[j] : !b, %c = {j = 0: splat 0.0 : f32, j >= 1: %s[j - 1]} : !c) writes (%s[j]) {
      %p = linalg.matmul ins(%a, %b : !a, !b) outs(%c : !c) -> !c
      etdg.yield %p : !c
    } combine (%x: !c, %y: !c) {
      %z = arith.addf %x, %y : !c
      etdg.yield %z : !c
    } identity (splat 0.0 : f32) : !etdg.buffer<[L], !a>, !etdg.buffer<[L], !b>, !etdg.buffer<[L], !c>
    etdg.block @last [] (i |) reads (%c = %s[i] : !c) writes (%cs[i]) {
      %n = arith.negf %c : !c
      etdg.yield %n : !c
    } : !etdg.buffer<[L], !c>, !etdg.buffer<[L], !c>
  }
  etdg.return %cs : !etdg.buffer<[L], !c>
}

// Two iterations more for each value of the other dimension.
// CHECK-LABEL: etdg.graph @halves
// CHECK: etdg.block @sum_joined [reduce] (i | j) in [0, floordiv(2 * i + 2, 3))
// CHECK: etdg.block @sum [reduce] (i | j) in [floordiv(2 * i + 2, 3), 2 * i - 2 * floordiv(2 * i + 2, 3) + 2)
etdg.graph @halves(%bs: !etdg.buffer<[2 * L], !b>, %ds: !etdg.buffer<[L], !b>) -> !etdg.buffer<[L], !b> attributes {ft.lengths = {L = 5 : i64}} {
  %cs = etdg.buffer : !etdg.buffer<[L], !b>
  etdg.block @r [map] (i) in [0, L) {
    %s = etdg.buffer : !etdg.buffer<[2 * L], !b>
    etdg.block @sum [reduce] (i | j) in [0, 2 * i + 2)
        reads (%b = %bs[j] : !b, %c = {j = 0: splat 1.0 : f32, j >= 1: %s[j - 1]} : !b) writes (%s[j]) {
      %p = arith.mulf %c, %b : !b
      etdg.yield %p : !b
    } combine (%x: !b, %y: !b) {
      %z = arith.mulf %x, %y : !b
      etdg.yield %z : !b
    } identity (splat 1.0 : f32) : !etdg.buffer<[2 * L], !b>, !etdg.buffer<[2 * L], !b>
    etdg.block @last [] (i |) reads (%c = %s[2 * i + 1] : !b, %d = %ds[i] : !b) writes (%cs[i]) {
      %n = arith.addf %c, %d : !b
      etdg.yield %n : !b
    } : !etdg.buffer<[2 * L], !b>, !etdg.buffer<[L], !b>, !etdg.buffer<[L], !b>
  }
  etdg.return %cs : !etdg.buffer<[L], !b>
}
