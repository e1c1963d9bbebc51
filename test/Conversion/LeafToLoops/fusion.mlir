// Values that meet point by point stay in registers, whatever ops they come from;
// slices, transposes and broadcasts are strides.
//
// RUN: ft-opt %s --ft-choose-leaf="vector-bytes=64 vector-registers=32" --ft-generate-leaf | FileCheck %s

// One loop over the rows, one over the vectors, no scratch.
// CHECK-LABEL: func.func private @cell(
// CHECK-SAME: ft.scratch_fixed = 0 : i64, ft.scratch_per_row = 0 : i64
// CHECK: scf.for
// CHECK: scf.for
// CHECK: vector.load
// CHECK: math.tanh {{.*}} : vector<16xf32>
// CHECK: vector.load
// CHECK: vector.store
// CHECK: math.exp {{.*}} : vector<16xf32>
// CHECK: vector.load
// CHECK: vector.store
// CHECK-NOT: vector.load
// CHECK-NOT: scf.for
func.func private @cell(%gates: tensor<2x1x256xf32>, %c: tensor<1x256xf32>)
    -> (tensor<1x256xf32>, tensor<1x256xf32>) attributes {ft.leaf} {
  %i = tensor.extract_slice %gates[0, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<2x1x256xf32> to tensor<1x256xf32>
  %o = tensor.extract_slice %gates[1, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<2x1x256xf32> to tensor<1x256xf32>
  %t = math.tanh %i : tensor<1x256xf32>
  %c1 = arith.addf %c, %t : tensor<1x256xf32>
  %e = math.exp %c1 : tensor<1x256xf32>
  %h = arith.mulf %e, %o : tensor<1x256xf32>
  return %c1, %h : tensor<1x256xf32>, tensor<1x256xf32>
}

// The parts of a concatenation are computed where they end up.
// CHECK-LABEL: func.func private @joined(
// CHECK-SAME: ft.scratch_fixed = 0 : i64, ft.scratch_per_row = 0 : i64
func.func private @joined(%a: tensor<32xf32>, %b: tensor<16xf32>) -> tensor<48xf32> attributes {ft.leaf} {
  %x = math.exp %a : tensor<32xf32>
  %y = math.tanh %b : tensor<16xf32>
  %c = tensor.concat dim(0) %x, %y : (tensor<32xf32>, tensor<16xf32>) -> tensor<48xf32>
  return %c : tensor<48xf32>
}

// An output that may lie over an input is written in a loop of its own, after
// every row was read.
// CHECK-LABEL: func.func private @inPlace(
// CHECK-SAME: ft.scratch_per_row = 64 : i64
// CHECK: scf.for
// CHECK: arith.addf
// CHECK: scf.for
// CHECK: vector.store
func.func private @inPlace(%a: tensor<16xf32>) -> tensor<16xf32>
    attributes {ft.leaf, ft.leaf_aliases = array<i1: true>} {
  %0 = arith.addf %a, %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
