// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of leaves that compute the same, each has the function that it says: how sums of halves are rounded, and which outputs are written last.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/leaves.mlir --loops-decide-for-cpu="vector-bytes=32 vector-registers=16 machine=%S/../../machines/cpu.json" --convert-loops-to-cpu --loops-lower-leaves | FileCheck %s
// CHECK-LABEL: func.func @sums(
// CHECK-COUNT-2: call @leaf0(
// CHECK: call @leaf1(
// CHECK-LABEL: func.func @places(
// CHECK: call @leaf2(
// CHECK: call @leaf3(
// CHECK: call @leaf4(

// In f32: one conversion, of the result.
// CHECK-LABEL: func.func private @leaf0(
// CHECK: scf.for
// CHECK-NOT: arith.truncf
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK-NOT: arith.truncf
// CHECK: scf.yield
// CHECK: arith.truncf
// At each step.
// CHECK-LABEL: func.func private @leaf1(
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = arith.addf {{.*}} : vector<8xf32>
// CHECK: arith.truncf %[[SUM]] : vector<8xf32> to vector<8xf16>
// CHECK: scf.yield

// Two outputs of one input: where the first one may overlap it, it is copied when the second one has been made.
// CHECK-LABEL: func.func private @leaf2(
// CHECK-SAME: %[[SCRATCH:[a-z0-9]+]]: memref<?xi8>)
// CHECK-NOT: memref.view
// CHECK: return
// CHECK-LABEL: func.func private @leaf3(
// CHECK: memref.view
// CHECK: return
// In place of its own input alone nothing is copied.
// CHECK-LABEL: func.func private @leaf4(
// CHECK-NOT: memref.view
// CHECK: return

// Cores that share columns read what others of them have overwritten.
// RUN: not ft-opt %t/columns.mlir --loops-decide-for-cpu 2>&1 | FileCheck %s --check-prefix=COLUMNS
// RUN: sed 's/overlaps.*>\]/overlaps []/' %t/columns.mlir | ft-opt --loops-decide-for-cpu > /dev/null
// RUN: sed 's/overlaps.*>\]//' %t/columns.mlir | not ft-opt --loops-decide-for-cpu 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: :[[#]]:[[#]]: error: an output may overlap an input, and calls share the columns: one may read what another has written; expected overlaps that say where they do not

//--- leaves.mlir
!x = memref<?x40x16xf16, strided<[640, 16, 1]>>
!y = memref<?x16xf16, strided<[16, 1]>>
!v = memref<?x16xf32, strided<[16, 1]>>
func.func @sums(%n: index, %xs: memref<?xf16>, %ys: memref<?xf16>) attributes {loops.kernel} {
  %x = memref.reinterpret_cast %xs to offset: [0], sizes: [%n, 40, 16], strides: [640, 16, 1] : memref<?xf16> to !x
  %y = memref.reinterpret_cast %ys to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<?xf16> to !y
  loops.leaf rows(%n) most 4 ins(%x : !x) varies [true] outs(%y : !y) sums f32 overlaps [] {
  ^bb0(%a: tensor<40x16xf16>):
    %z = arith.constant dense<0.0> : tensor<16xf16>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<40x16xf16>) outs(%z : tensor<16xf16>) dimensions = [0]
    loops.yield %s : tensor<16xf16>
  }
  loops.leaf rows(%n) most 4 ins(%x : !x) varies [true] outs(%y : !y) sums f32 overlaps [] {
  ^bb0(%a: tensor<40x16xf16>):
    %z = arith.constant dense<0.0> : tensor<16xf16>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<40x16xf16>) outs(%z : tensor<16xf16>) dimensions = [0]
    loops.yield %s : tensor<16xf16>
  }
  loops.leaf rows(%n) most 4 ins(%x : !x) varies [true] outs(%y : !y) sums f16 overlaps [] {
  ^bb0(%a: tensor<40x16xf16>):
    %z = arith.constant dense<0.0> : tensor<16xf16>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<40x16xf16>) outs(%z : tensor<16xf16>) dimensions = [0]
    loops.yield %s : tensor<16xf16>
  }
  return
}
func.func @places(%n: index, %xs: memref<?xf32>, %ys: memref<?xf32>, %zs: memref<?xf32>) attributes {loops.kernel} {
  %x = memref.reinterpret_cast %xs to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<?xf32> to !v
  %y = memref.reinterpret_cast %ys to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<?xf32> to !v
  %z = memref.reinterpret_cast %zs to offset: [0], sizes: [%n, 16], strides: [16, 1] : memref<?xf32> to !v
  loops.leaf rows(%n) most 4 ins(%x : !v) varies [true] outs(%y, %z : !v, !v) overlaps [] {
  ^bb0(%a: tensor<16xf32>):
    %t = math.tanh %a : tensor<16xf32>
    %s = arith.addf %a, %a : tensor<16xf32>
    loops.yield %t, %s : tensor<16xf32>, tensor<16xf32>
  }
  loops.leaf rows(%n) most 4 ins(%x : !v) varies [true] outs(%x, %z : !v, !v) overlaps [#loops.overlap<output = 0, input = 0, in_place>] {
  ^bb0(%a: tensor<16xf32>):
    %t = math.tanh %a : tensor<16xf32>
    %s = arith.addf %a, %a : tensor<16xf32>
    loops.yield %t, %s : tensor<16xf32>, tensor<16xf32>
  }
  loops.leaf rows(%n) most 4 ins(%x, %y : !v, !v) varies [true, true] outs(%x, %z : !v, !v) overlaps [#loops.overlap<output = 0, input = 0, in_place>] {
  ^bb0(%a: tensor<16xf32>, %b: tensor<16xf32>):
    %t = math.tanh %a : tensor<16xf32>
    %s = arith.addf %b, %b : tensor<16xf32>
    loops.yield %t, %s : tensor<16xf32>, tensor<16xf32>
  }
  return
}
//--- columns.mlir
!x = memref<?x8xf32, strided<[8, 1]>>
!w = memref<?x8x12xf32, strided<[96, 12, 1]>>
!y = memref<?x12xf32, strided<[12, 1]>>
func.func @columns(%n: index, %c: index, %xs: memref<?xf32>, %ws: memref<?xf32>, %ys: memref<?xf32>) attributes {loops.kernel} {
  %x = memref.reinterpret_cast %xs to offset: [0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !x
  %w = memref.reinterpret_cast %ws to offset: [0], sizes: [%n, 8, 12], strides: [96, 12, 1] : memref<?xf32> to !w
  %y = memref.reinterpret_cast %ys to offset: [0], sizes: [%n, 12], strides: [12, 1] : memref<?xf32> to !y
  loops.leaf rows(%n) most 4 columns(%c) tile 4 of 12 ins(%x, %w : !x, !w) varies [true, false] outs(%y : !y) overlaps [#loops.overlap<output = 0, input = 0, any>] {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8x12xf32>):
    %z = arith.constant dense<0.0> : tensor<12xf32>
    %p = linalg.vecmat ins(%a, %b : tensor<8xf32>, tensor<8x12xf32>) outs(%z : tensor<12xf32>) -> tensor<12xf32>
    loops.yield %p : tensor<12xf32>
  }
  return
}
