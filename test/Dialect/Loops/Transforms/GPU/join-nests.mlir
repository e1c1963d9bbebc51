// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which loop nests of a leaf the threads of a block compute together is written on the leaf by a pass, and obeyed, or refused,
// where kernels are made.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/chain.mlir --loops-choose-layouts | tee %t/chosen.mlir | FileCheck %s
// CHECK-LABEL: func.func @f_k0(
// CHECK: loops.leaf {{.*}} layouts [#etdg.tiling<vector = 0, width = 2>]
// CHECK: } {loops.joined = array<i64: -1, 0, 0>}
// RUN: ft-opt %t/chosen.mlir --loops-choose-layouts | diff - %t/chosen.mlir
// RUN: ft-opt %t/chosen.mlir --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=ONE
// ONE-LABEL: llvm.func @f_k0(
// ONE-COUNT-1: tile.nest
// ONE-NOT: tile.nest

// How many operations are computed together is the machine's number.
// RUN: sed 's/"fused_ops": 96/"fused_ops": 1/' %S/../../../../machines/h200.json > %t/narrow.json
// RUN: ft-opt %t/chain.mlir --loops-choose-layouts="target=sm_90a machine=%t/narrow.json" | tee %t/apart.mlir | FileCheck %s --check-prefix=APART
// APART-LABEL: func.func @f_k0(
// APART: layouts [#etdg.tiling<vector = 0, width = 2>, #etdg.tiling<vector = 0, width = 2>, #etdg.tiling<vector = 0, width = 2>]
// APART-NOT: loops.joined
// What is written so is three nests, for the code that makes kernels of it.
// RUN: ft-opt %t/apart.mlir --loops-find-alignment --loops-place-memory --loops-choose-accesses --loops-choose-points --loops-place-syncs --convert-loops-to-gpu \
// RUN:   | FileCheck %s --check-prefix=THREE
// THREE-LABEL: llvm.func @f_k0(
// THREE-COUNT-3: tile.nest
// THREE-NOT: tile.nest

// What is joined stands after what it needs, one entry for each nest, and with one that is joined with none.
// RUN: sed 's/: -1, 0, 0>/: -1, 0>/' %t/chosen.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf: loops.joined: expected an entry for each of its 3 loop nests, found 2
// RUN: sed 's/: -1, 0, 0>/: -1, -1, 0>/' %t/chosen.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=EARLY
// EARLY: error: its loop nest 2 can't be computed together with loop nest 0: it needs what loop nest 1 computes, after that one
// RUN: sed 's/: -1, 0, 0>/: -1, -1, 1>/' %t/chosen.mlir | not ft-opt --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=LAYOUTS
// LAYOUTS: error: the GPU engine can't run the leaf's 'etdg.layouts': expected one for each of its 2 loop nests, found 1
// RUN: sed 's/: -1, 0, 0>/: -1, 0, 1>/' %t/chosen.mlir | not ft-opt 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: error: 'loops.leaf' op (loops_grid9) 'loops.joined': loop nest 2: expected -1 or another loop nest that is joined with none, found 1

//--- chain.mlir
!row = memref<?x64xf32, strided<[?, 1], offset: ?>>
loops.program @f lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], tensor<64xf32>>
  %y = loops.buffer result 0 : <[N], tensor<64xf32>>
  loops.launch @f_k0(%n, %x, %y) : index, !etdg.buffer<[N], tensor<64xf32>>, !etdg.buffer<[N], tensor<64xf32>>
}
func.func @f_k0(%n: index, %x: memref<?xf32>, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.forall (%i) in (%n) {
    %at = arith.muli %i, %c64 : index
    %from = loops.view %x[%at] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !row
    %to = loops.view %y[%at] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !row
    loops.leaf rows(%c1) most 1 ins(%from : !row) varies [false] outs(%to : !row) overlaps [] {
    ^bb0(%a: tensor<64xf32>):
      %b = arith.addf %a, %a : tensor<64xf32>
      %c = math.tanh %b : tensor<64xf32>
      %d = arith.mulf %c, %c : tensor<64xf32>
      loops.yield %d : tensor<64xf32>
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
