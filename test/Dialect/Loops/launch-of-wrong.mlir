// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel that is wrong is refused where it is wrong, though a launch that stands before it looks into it.
//
// RUN: not ft-opt %s --mlir-disable-threading 2>&1 | FileCheck %s
// CHECK-NOT: loops_launch3
// CHECK: launch-of-wrong.mlir:[[#@LINE+17]]:{{[0-9]+}}: error: 'scf.if' op
// CHECK-NOT: loops_launch3

!row = memref<?x8xf32, strided<[8, 1], offset: ?>>

loops.program @p lengths ["N"] places [] {
  %n = loops.length "N"
  %a = loops.buffer intermediate slot 0 : <[N], tensor<8xf32>>
  %b = loops.buffer intermediate slot 1 : <[N], tensor<8xf32>>
  %c = loops.buffer intermediate slot 0 : <[N], tensor<8xf32>>
  loops.launch @k(%n, %a, %b, %c) : index, !etdg.buffer<[N], tensor<8xf32>>, !etdg.buffer<[N], tensor<8xf32>>, !etdg.buffer<[N], tensor<8xf32>>
}

func.func @k(%n: index, %a: memref<?xf32>, %b: memref<?xf32>, %c: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %i = arith.cmpi eq, %n, %c0 : index
  // A yield is missing in the second region.
  %from = scf.if %i -> memref<?xf32> {
    scf.yield %a : memref<?xf32>
  } else {
  }
  %x = memref.reinterpret_cast %from to offset: [%c0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  %y = memref.reinterpret_cast %c to offset: [%c0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  loops.leaf rows(%n) most 4 ins(%x : !row) varies [true] outs(%y : !row) overlaps [] {
  ^bb0(%v: tensor<8xf32>):
    %t = math.tanh %v : tensor<8xf32>
    loops.yield %t : tensor<8xf32>
  }
  return
}
