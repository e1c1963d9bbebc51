// What a selection by a flag looks at under one of its values only is computed under a condition: a product and what
// is made of it for the selection, not the selection itself.
// RUN: ft-opt %s --ft-choose-leaf="vector-bytes=64 vector-registers=32" --ft-generate-leaf | FileCheck %s

// CHECK-LABEL: func.func private @taken
// CHECK: %[[FLAG:.*]] = memref.load {{.*}} : memref<?xi1>
// CHECK: scf.if %[[FLAG]]
// CHECK: iter_args
// CHECK: arith.select
// CHECK-LABEL: func.func private @idle
func.func @taken(%flag: tensor<i1>, %x: tensor<1x32xf32>, %w: tensor<32x32xf32>, %old: tensor<1x32xf32>) -> tensor<1x32xf32> attributes {ft.leaf} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32xf32>) -> tensor<1x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1x32xf32>, tensor<32x32xf32>) outs(%f : tensor<1x32xf32>) -> tensor<1x32xf32>
  %c = tensor.extract %flag[] : tensor<i1>
  %r = arith.select %c, %p, %old : tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// The other way round: the product is looked at where the flag is not set.
// CHECK: %[[FLAG:.*]] = memref.load {{.*}} : memref<?xi1>
// CHECK: %[[NOT:.*]] = arith.xori %[[FLAG]]
// CHECK: scf.if %[[NOT]]
// CHECK-LABEL: func.func private @both
func.func @idle(%flag: tensor<i1>, %x: tensor<1x32xf32>, %w: tensor<32x32xf32>, %old: tensor<1x32xf32>) -> tensor<1x32xf32> attributes {ft.leaf} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32xf32>) -> tensor<1x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1x32xf32>, tensor<32x32xf32>) outs(%f : tensor<1x32xf32>) -> tensor<1x32xf32>
  %c = tensor.extract %flag[] : tensor<i1>
  %r = arith.select %c, %old, %p : tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// It is a result, too: always computed.
// CHECK-NOT: scf.if
// CHECK-LABEL: func.func private @address
func.func @both(%flag: tensor<i1>, %x: tensor<1x32xf32>, %w: tensor<32x32xf32>, %old: tensor<1x32xf32>) -> (tensor<1x32xf32>, tensor<1x32xf32>) attributes {ft.leaf} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32xf32>) -> tensor<1x32xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1x32xf32>, tensor<32x32xf32>) outs(%f : tensor<1x32xf32>) -> tensor<1x32xf32>
  %c = tensor.extract %flag[] : tensor<i1>
  %r = arith.select %c, %p, %old : tensor<1x32xf32>
  %q = arith.negf %p : tensor<1x32xf32>
  return %r, %q : tensor<1x32xf32>, tensor<1x32xf32>
}

// What is read at a place that the sums are must have the sums.
// CHECK-NOT: scf.if
func.func @address(%flag: tensor<i1>, %x: tensor<4x4xi64>, %table: tensor<64xf32>, %old: tensor<4xf32>) -> tensor<4xf32> attributes {ft.leaf} {
  %zero = arith.constant 0 : i64
  %e = tensor.empty() : tensor<4xi64>
  %f = linalg.fill ins(%zero : i64) outs(%e : tensor<4xi64>) -> tensor<4xi64>
  %sums = linalg.reduce ins(%x : tensor<4x4xi64>) outs(%f : tensor<4xi64>) dimensions = [1]
    (%a: i64, %b: i64) { %s = arith.addi %a, %b : i64 linalg.yield %s : i64 }
  %g = tensor.empty() : tensor<4xf32>
  %c = tensor.extract %flag[] : tensor<i1>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%sums, %old : tensor<4xi64>, tensor<4xf32>) outs(%g : tensor<4xf32>) {
  ^bb0(%k: i64, %o: f32, %out: f32):
    %at = arith.index_cast %k : i64 to index
    %v = tensor.extract %table[%at] : tensor<64xf32>
    %s = arith.select %c, %v, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
