// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step whose second product takes the first one whole: thread blocks share the columns of each, and wait between. What takes
// the second one whole (its maximum) is one block's. A machine that finds small weights large makes the test short.
//
// RUN: sed 's/"column_weight_bytes": 131072/"column_weight_bytes": 2048/' %S/../../machines/h200.json > %t.json
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" | FileCheck %s --check-prefix=SMALL
// RUN: ft-run %s --entry=decode --engine=emulate --machine=%t.json --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=keeps --engine=emulate --machine=%t.json --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=small --engine=emulate --machine=%t.json --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal
// EQUAL-NOT: {{differ|NOT}}

// SMALL-NOT: etdg.kernel shared

!h = tensor<1x32xf32>
!y = tensor<1x40xf32>
#in = affine_map<(i, j) -> (i, j)>
#one = affine_map<(i, j) -> (i)>
#few = affine_map<(i, j) -> (i, 0)>

// CHECK-LABEL: etdg.graph @decode
// CHECK: etdg.kernel shared 1 {
// CHECK: [foldl] (i) in [0, 5)
// CHECK: schedule {{.*}}sync = grid{{.*}}columns = 32
// CHECK: [foldl] (i) in [0, 5)
// CHECK: schedule {{.*}}before = grid{{.*}}columns = 40
// CHECK: [foldl] (i) in [0, 5)
// CHECK: schedule {{.*}}before = grid
func.func @decode(%h0: !h, %s0: tensor<1xf32>, %w: tensor<32x32xf32>, %wo: tensor<32x40xf32>) -> (!h, tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %h0, %s = %s0) -> (!h, tensor<1xf32>) {
    %e = tensor.empty() : !h
    %f = linalg.fill ins(%zero : f32) outs(%e : !h) -> !h
    %p = linalg.matmul ins(%h, %w : !h, tensor<32x32xf32>) outs(%f : !h) -> !h
    %n = linalg.generic {indexing_maps = [#in, #one, #in], iterator_types = ["parallel", "parallel"]} ins(%p, %s : !h, tensor<1xf32>) outs(%e : !h) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %u = arith.addf %a, %b : f32
      %v = math.tanh %u : f32
      linalg.yield %v : f32
    } -> !h
    %ey = tensor.empty() : !y
    %fy = linalg.fill ins(%zero : f32) outs(%ey : !y) -> !y
    %y = linalg.matmul ins(%n, %wo : !h, tensor<32x40xf32>) outs(%fy : !y) -> !y
    %es = tensor.empty() : tensor<1xf32>
    %fs = linalg.fill ins(%low : f32) outs(%es : tensor<1xf32>) -> tensor<1xf32>
    %m = linalg.generic {indexing_maps = [#in, #one], iterator_types = ["parallel", "reduction"]} ins(%y : !y) outs(%fs : tensor<1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %u = arith.maximumf %a, %o : f32
      linalg.yield %u : f32
    } -> tensor<1xf32>
    scf.yield %n, %m : !h, tensor<1xf32>
  }
  return %r#0, %r#1 : !h, tensor<1xf32>
}

// The last stage also reads the state as it was: one more plane of it is kept.
// CHECK-LABEL: etdg.graph @keeps
// CHECK: etdg.buffer live [2] : !etdg.buffer<[5], tensor<1x32xf32>>
// CHECK: etdg.kernel shared 1 {
func.func @keeps(%h0: !h, %s0: tensor<1xf32>, %w: tensor<32x32xf32>, %wo: tensor<32x40xf32>) -> (!h, tensor<1xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %h0, %s = %s0) -> (!h, tensor<1xf32>) {
    %e = tensor.empty() : !h
    %f = linalg.fill ins(%zero : f32) outs(%e : !h) -> !h
    %p = linalg.matmul ins(%h, %w : !h, tensor<32x32xf32>) outs(%f : !h) -> !h
    %n = linalg.tanh ins(%p : !h) outs(%e : !h) -> !h
    %ey = tensor.empty() : !y
    %fy = linalg.fill ins(%zero : f32) outs(%ey : !y) -> !y
    %y = linalg.matmul ins(%n, %wo : !h, tensor<32x40xf32>) outs(%fy : !y) -> !y
    %es = tensor.empty() : tensor<1xf32>
    %m = linalg.generic {indexing_maps = [#in, #one], iterator_types = ["parallel", "reduction"]} ins(%y : !y) outs(%s : tensor<1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %u = arith.maximumf %a, %o : f32
      linalg.yield %u : f32
    } -> tensor<1xf32>
    %k = linalg.generic {indexing_maps = [#in, #one], iterator_types = ["parallel", "reduction"]} ins(%h : !h) outs(%m : tensor<1xf32>) {
    ^bb0(%a: f32, %o: f32):
      %u = arith.subf %o, %a : f32
      linalg.yield %u : f32
    } -> tensor<1xf32>
    scf.yield %n, %k : !h, tensor<1xf32>
  }
  return %r#0, %r#1 : !h, tensor<1xf32>
}

// One product: its columns are shared as they are.
// CHECK-LABEL: etdg.graph @small
// CHECK-NOT: shared 1
func.func @small(%h0: !h, %w: tensor<32x32xf32>) -> !h {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c5 step %c1 iter_args(%h = %h0) -> !h {
    %e = tensor.empty() : !h
    %f = linalg.fill ins(%zero : f32) outs(%e : !h) -> !h
    %p = linalg.matmul ins(%h, %w : !h, tensor<32x32xf32>) outs(%f : !h) -> !h
    %n = linalg.tanh ins(%p : !h) outs(%e : !h) -> !h
    scf.yield %n : !h
  }
  return %r : !h
}
