// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the threads of a block share leaves is written on them by a pass, and read where kernels are made: what is not said
// there is not chosen there.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/leaves.mlir --loops-choose-layouts --remarks-filter="gpu.*" 2>%t/remarks > %t/chosen.mlir
// RUN: FileCheck %s --input-file=%t/chosen.mlir
//
// What it writes once stays, and so does what another one wrote.
// RUN: ft-opt %t/chosen.mlir --loops-choose-layouts | diff - %t/chosen.mlir
//
// Adjacent elements of one row for a thread, and of all rows that the iterations of a lifted loop have together.
// CHECK-LABEL: func.func @f_k0(
// CHECK: loops.leaf {{.*}} layouts [#etdg.tiling<vector = 0, width = 2>]
// CHECK: loops.leaf {{.*}} layouts [#etdg.tiling<vector = 0, width = 4>]
// CHECK: mapping = [#loops.level<lifted>]
// Addresses that repeat do not grow evenly: one iteration after the other, each shared like a leaf alone, whatever was said of all at once.
// CHECK: affine.apply
// CHECK: loops.leaf {{.*}} layouts [#etdg.tiling<vector = 0, width = 2>]
// CHECK: mapping = [#loops.level<none>]
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t/remarks
// REMARK: addresses do not grow evenly with a lifted loop: its iterations are computed one by one
// REMARK-NOT: addresses do not grow evenly
// A core's layouts are none of a GPU's; a kernel for cores keeps its own.
// CHECK: loops.leaf {{.*}} layouts [#etdg.tiling<vector = 0, width = 2>]
// CHECK-LABEL: func.func @g_k0(
// CHECK: loops.leaf
// CHECK-SAME: layouts [#loops.lanes<loop = 0, vector = 8, beside = 1>]

// Kernels are what the layouts say: an access is as wide as the attribute that was changed says.
// RUN: ft-opt %t/one.mlir --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=TWO
// TWO-LABEL: llvm.func @f_k0(
// TWO: tile.nest {{.*}} layout <threads = 32, vector = 0, width = 2> {
// TWO: tile.read {{.*}} {width = 2 : i64}
// TWO-NOT: tile.read
// RUN: ft-opt %t/one.mlir --loops-decide-for-gpu | sed 's/ nests .*\] {$/ {/; s/layouts \[[^]]*\]/layouts [#etdg.tiling<vector = 0, width = 4>]/' | ft-opt --loops-choose-points --convert-loops-to-gpu \
// RUN:   | FileCheck %s --check-prefix=FOUR
// FOUR-LABEL: llvm.func @f_k0(
// FOUR: tile.nest {{.*}} layout <threads = 32, vector = 0, width = 4> {
// FOUR: tile.read {{.*}} {width = 4 : i64}
// FOUR-NOT: tile.read
//
// And nothing else is:
// RUN: ft-opt %t/one.mlir --loops-decide-for-gpu | sed 's/layouts \[[^]]*\]//; s/ nests .*\] {$/ {/' | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run a leaf without layouts, which say how threads share it: loops-choose-layouts writes them
// RUN: ft-opt %t/one.mlir --loops-decide-for-gpu | sed 's/width = 2/width = 3/' | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's 'etdg.layouts': loop nest 0: width = 3 is no power of two that divides the 64 iterations of loop 0
// RUN: ft-opt %t/one.mlir --loops-decide-for-gpu | sed 's/layouts \[/&#etdg.tiling<>, /; s/ nests .*\] {$/ {/' | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's 'etdg.layouts': expected one for each of its 1 loop nests, found 2
// RUN: ft-opt %t/chosen.mlir --loops-decide-for-gpu | sed 's/level<none>/level<lifted>/' | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=EVEN
// EVEN: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loop: addresses do not grow evenly with it, so that no leaf computes its iterations at once; expected the level none
//
// What no kernel can do is no question of layouts.
// RUN: sed 's/threads = 32/threads = 2048/' %t/one.mlir | not ft-opt --loops-choose-layouts 2>&1 | FileCheck %s --check-prefix=BEYOND
// BEYOND: error: the GPU engine can't run the loops: block: threads are a multiple of 32, at most 1024
// RUN: sed 's/ for <target.*units = 132>//' %t/one.mlir | not ft-opt --loops-choose-layouts 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: the program says no GPU that it is for
// RUN: not ft-opt %t/one.mlir --loops-choose-layouts=target=cpu 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: loops-choose-layouts: expected target = sm_80 or sm_90a, found 'cpu'

//--- one.mlir
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
      loops.yield %b : tensor<64xf32>
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}

//--- leaves.mlir
#twice = affine_map<(d0) -> ((d0 mod 2) * 64)>
!row = memref<?x64xf32, strided<[?, 1], offset: ?>>
loops.program @f lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N, 4], tensor<64xf32>>
  %y = loops.buffer result 0 : <[N, 4], tensor<64xf32>>
  loops.launch @f_k0(%n, %x, %y) : index, !etdg.buffer<[N, 4], tensor<64xf32>>, !etdg.buffer<[N, 4], tensor<64xf32>>
}
func.func @f_k0(%n: index, %x: memref<?xf32>, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %c256 = arith.constant 256 : index
  scf.forall (%i) in (%n) {
    %at = arith.muli %i, %c256 : index
    %from = loops.view %x[%at] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !row
    %to = loops.view %y[%at] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !row
    loops.leaf rows(%c1) most 1 ins(%from : !row) varies [false] outs(%to : !row) overlaps [] {
    ^bb0(%a: tensor<64xf32>):
      %b = arith.addf %a, %a : tensor<64xf32>
      loops.yield %b : tensor<64xf32>
    }
    scf.forall (%k) in (%c4) {
      %in = arith.muli %k, %c64 : index
      %both = arith.addi %at, %in : index
      %each = loops.view %y[%both] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !row
      loops.leaf rows(%c1) most 1 ins(%from : !row) varies [false] outs(%each : !row) overlaps [] {
      ^bb0(%a: tensor<64xf32>):
        %b = arith.addf %a, %a : tensor<64xf32>
        loops.yield %b : tensor<64xf32>
      }
    } {mapping = [#loops.level<lifted>]}
    scf.forall (%k) in (%c4) {
      %in = affine.apply #twice(%k)
      %both = arith.addi %at, %in : index
      %each = loops.view %y[%both] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !row
      loops.leaf rows(%c1) most 1 ins(%from : !row) varies [false] outs(%each : !row) overlaps [] layouts [#etdg.tiling<vector = 0, width = 4>] {
      ^bb0(%a: tensor<64xf32>):
        %b = arith.addf %a, %a : tensor<64xf32>
        loops.yield %b : tensor<64xf32>
      }
    } {mapping = [#loops.level<lifted>]}
    loops.leaf rows(%c1) most 1 ins(%from : !row) varies [false] outs(%to : !row) overlaps [] layouts [#loops.lanes<loop = 0, vector = 8, beside = 1>] {
    ^bb0(%a: tensor<64xf32>):
      %b = arith.addf %a, %a : tensor<64xf32>
      loops.yield %b : tensor<64xf32>
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
loops.program @g lengths [] places [] {
  %y = loops.buffer result 0 : <[], tensor<64xf32>>
  loops.launch @g_k0(%y) : !etdg.buffer<[], tensor<64xf32>>
}
func.func @g_k0(%y: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %to = loops.view %y[%c0] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !row
  loops.leaf rows(%c1) most 1 ins(%to : !row) varies [false] outs(%to : !row) layouts [#loops.lanes<loop = 0, vector = 8, beside = 1>] {
  ^bb0(%a: tensor<64xf32>):
    %b = arith.addf %a, %a : tensor<64xf32>
    loops.yield %b : tensor<64xf32>
  }
  return
}
