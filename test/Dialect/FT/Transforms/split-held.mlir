// What depends on held arguments alone becomes a function that runs when they are bound.

// RUN: ft-opt %s --split-input-file --ft-split-held | FileCheck %s

// The factor of a norm: computed once. What only says where its elements lie stays, and so does the constant.

// CHECK-LABEL: func.func @norm(%arg0: tensor<4x3xf32>, %arg1: tensor<3xf32> {ft.held = "weight"}, %arg2: tensor<3xf32> {ft.held = "var"}, %arg3: tensor<3xf32> {ft.held = "norm_bind.0"})
// CHECK-NOT: math.rsqrt
// CHECK: %[[WIDE:.*]] = linalg.broadcast ins(%arg3
// CHECK: arith.mulf %arg0, %[[WIDE]]
// CHECK: func.func @norm_bind(%arg0: tensor<3xf32> {ft.held = "var"}, %arg1: tensor<3xf32> {ft.held = "weight"}) -> tensor<3xf32> attributes {ft.binds = ["norm_bind.0"]}
// CHECK: %[[EPS:.*]] = arith.constant dense<9.99999974E-6>
// CHECK: %[[V:.*]] = arith.addf %arg0, %[[EPS]]
// CHECK: %[[R:.*]] = math.rsqrt %[[V]]
// CHECK: %[[S:.*]] = arith.mulf %[[R]], %arg1
// CHECK: return %[[S]]
func.func @norm(%x: tensor<4x3xf32>, %w: tensor<3xf32> {ft.held = "weight"}, %var: tensor<3xf32> {ft.held = "var"}) -> tensor<4x3xf32> {
  %eps = arith.constant dense<1.0e-5> : tensor<3xf32>
  %v = arith.addf %var, %eps : tensor<3xf32>
  %r = math.rsqrt %v : tensor<3xf32>
  %s = arith.mulf %r, %w : tensor<3xf32>
  %empty = tensor.empty() : tensor<4x3xf32>
  %wide = linalg.broadcast ins(%s : tensor<3xf32>) outs(%empty : tensor<4x3xf32>) dimensions = [0]
  %y = arith.mulf %x, %wide : tensor<4x3xf32>
  return %y : tensor<4x3xf32>
}

// -----

// Nothing is computed from held arguments alone; a value that is larger than all that is held stays computed.

// CHECK-LABEL: func.func @nothing(
// CHECK: arith.mulf %arg0, %arg1
// CHECK: math.exp
// CHECK-NOT: func.func
func.func @nothing(%x: tensor<3xf32>, %w: tensor<3xf32> {ft.held = "weight"}) -> (tensor<3xf32>, tensor<64x3xf32>) {
  %y = arith.mulf %x, %w : tensor<3xf32>
  %empty = tensor.empty() : tensor<64x3xf32>
  %wide = linalg.broadcast ins(%w : tensor<3xf32>) outs(%empty : tensor<64x3xf32>) dimensions = [0]
  %e = math.exp %wide : tensor<64x3xf32>
  return %y, %e : tensor<3xf32>, tensor<64x3xf32>
}

// -----

// A name is taken already; a loop over steps that uses a parameter inside is no parameter's own.

// CHECK-LABEL: func.func @taken(
// CHECK: scf.for
// CHECK: func.func @taken_bind_0(%arg0: tensor<3xf32> {ft.held = "w"}) -> tensor<3xf32> attributes {ft.binds = ["taken_bind.0"]}
// CHECK: func.func @taken_bind()
func.func @taken(%x: tensor<3xf32>, %w: tensor<3xf32> {ft.held = "w"}) -> tensor<3xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %many = arith.constant 8 : index
  %e = math.exp %w : tensor<3xf32>
  %y = scf.for %i = %zero to %many step %one iter_args(%h = %x) -> tensor<3xf32> {
    %n = arith.mulf %h, %e : tensor<3xf32>
    scf.yield %n : tensor<3xf32>
  }
  return %y : tensor<3xf32>
}
func.func @taken_bind() {
  return
}
