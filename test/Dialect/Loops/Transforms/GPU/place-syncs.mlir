// Where the threads of a block wait stands in the loops: before what reads what one of them, or all of them in a loop that they share, have stored, and
// after loop nests of leaves.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/kernel.mlir --loops-decide-for-gpu -o %t/decided.mlir && FileCheck %s --input-file=%t/decided.mlir
// RUN: ft-opt %t/decided.mlir --loops-place-syncs | diff - %t/decided.mlir
// RUN: ft-opt %t/decided.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=KERNEL
// A core in the place of each thread block does not wait.
// RUN: ft-opt %t/decided.mlir --loops-grid-to-cores | FileCheck %s --check-prefix=CORES
// CORES-NOT: loops.sync
// CORES: return
//
// A leaf that says nothing, too little, or that there is something to wait for where a lane has all.
// RUN: sed 's/ {loops.syncs = array<i1: true>}//' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the GPU engine can't run the leaf: it is not specified after which of its loop nests the threads of a block wait (loops.syncs): loops-place-syncs does
// RUN: sed 's/array<i1: true>/array<i1>/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: the GPU engine can't run the leaf: loops.syncs: expected an entry for each of its 1 loop nests, found 0
// RUN: ft-opt %t/softmax.mlir --ft-compile="to=tile target=sm_90a" -o %t/rows.mlir && FileCheck %s --check-prefix=ROWS --input-file=%t/rows.mlir
// ROWS: loops.syncs = array<i1: false
// RUN: sed 's/array<i1: false/array<i1: true/' %t/rows.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=LANE
// LANE: error: the GPU engine can't run the leaf: loops.syncs: what loop nest 0 computes stays in registers or is on its way, nothing waits after it

// CHECK-LABEL: func.func @reads_k0
// CHECK: scf.forall
// CHECK: memref.store
// CHECK-NEXT: loops.sync block
// CHECK-NEXT: memref.load
// CHECK: memref.store
// CHECK: loops.sync block
// CHECK-NEXT: scf.forall
// CHECK: memref.load
// CHECK: mapping = [#loops.level<thread>]
// CHECK: loops.sync block
// CHECK-NEXT: loops.leaf
// CHECK: loops.yield
// CHECK-NEXT: } {loops.syncs = array<i1: true>}
// CHECK-NOT: loops.sync block
// CHECK: mapping = [#loops.level<grid, cyclic>]
// KERNEL-LABEL: llvm.func @reads_k0
// KERNEL-COUNT-4: nvvm.barrier
// KERNEL-NOT: nvvm.barrier
//--- kernel.mlir
!x = tensor<1x8xf32>
!v = memref<?x1x8xf32, strided<[?, 8, 1], offset: ?>>
loops.program @reads lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], !x>
  %y = loops.buffer result 0 : <[N], !x>
  loops.launch @reads_k0(%n, %x, %y) : index, !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
}
func.func @reads_k0(%n: index, %x: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  scf.forall (%i) in (%n) {
    %own = loops.alloc %c16 : memref<?xf32>
    %at = arith.muli %i, %c8 : index
    %first = memref.load %x[%at] : memref<?xf32>
    memref.store %first, %own[%c0] : memref<?xf32>
    %again = memref.load %own[%c0] : memref<?xf32>
    memref.store %again, %own[%c1] : memref<?xf32>
    scf.forall (%k) in (8) {
      %from = memref.load %own[%c1] : memref<?xf32>
      %to = arith.addi %k, %c8 : index
      memref.store %from, %own[%to] : memref<?xf32>
    } {mapping = [#loops.level<thread>]}
    %in = loops.view %own[%c8] strides [1] steps [%c8] rows %c1 : memref<?xf32> -> !v
    %out = loops.view %y[%at] strides [1] steps [%c8] rows %c1 : memref<?xf32> -> !v
    loops.leaf rows(%c1) most 1 ins(%in : !v) varies [true] outs(%out : !v) overlaps [] {
    ^bb0(%a: !x):
      %b = arith.addf %a, %a : !x
      loops.yield %b : !x
    }
    memref.dealloc %own : memref<?xf32>
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
//--- softmax.mlir
func.func @rows(%xs: !ft.list<[N], tensor<1x64xf32>>) -> !ft.list<[N], tensor<1x64xf32>> {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x64xf32>>) -> !ft.list<[N], tensor<1x64xf32>> {
    %e = tensor.empty() : tensor<1x64xf32>
    %y = linalg.softmax dimension(1) ins(%x : tensor<1x64xf32>) outs(%e : tensor<1x64xf32>) -> tensor<1x64xf32>
    ft.yield %y : tensor<1x64xf32>
  }
  return %ys : !ft.list<[N], tensor<1x64xf32>>
}
