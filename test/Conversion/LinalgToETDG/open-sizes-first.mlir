// Where an operation's open size is not its first dimension, the values between arguments and results have it first: then it is a
// row of each operation. Transpositions at the ends cancel with those of the program, or the program is refused as it stands.
// RUN: ft-opt %s --convert-linalg-to-etdg --split-input-file --verify-diagnostics | FileCheck %s
// RUN: sed '/^\/\/ -----/,$d' %s > %t.mlir
// RUN: ft-run %t.mlir --dim N=7 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --dim N=1 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %t.mlir --dim N=0 --compare=interpret | FileCheck %s --check-prefix=EQUAL

// EQUAL: equal

// Masks of N boxes out of prototypes, each cut to its box: `(proto @ boxes.T * inside).permute(2, 0, 1)`.
// CHECK-LABEL: etdg.graph @masks
// CHECK-SAME: -> !etdg.buffer<[N], tensor<5x3xf32>>
// CHECK-NOT: linalg.transpose
// CHECK: etdg.block @{{.*}} [map] (i) in [0, N)
// CHECK: etdg.return
func.func @masks(%boxes: tensor<?x6xf32> {etdg.dims = ["N", ""]}, %proto: tensor<5x3x6xf32>, %edge: tensor<?xf32> {etdg.dims = ["N"]}) -> tensor<?x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %boxes, %c0 : tensor<?x6xf32>
  %te = tensor.empty(%n) : tensor<6x?xf32>
  %t = linalg.transpose ins(%boxes : tensor<?x6xf32>) outs(%te : tensor<6x?xf32>) permutation = [1, 0]
  %e = tensor.empty(%n) : tensor<5x3x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x3x?xf32>) -> tensor<5x3x?xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(h, w, n, k) -> (h, w, k)>, affine_map<(h, w, n, k) -> (k, n)>, affine_map<(h, w, n, k) -> (h, w, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%proto, %t : tensor<5x3x6xf32>, tensor<6x?xf32>) outs(%f : tensor<5x3x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<5x3x?xf32>
  %g = math.tanh %p : tensor<5x3x?xf32>
  %wide = tensor.expand_shape %edge [[0, 1, 2]] output_shape [1, 1, %n] : tensor<?xf32> into tensor<1x1x?xf32>
  %inside = linalg.generic {indexing_maps = [affine_map<(h, w, n) -> (h, w, n)>, affine_map<(h, w, n) -> (0, 0, n)>, affine_map<(h, w, n) -> (h, w, n)>],
      iterator_types = ["parallel", "parallel", "parallel"]} ins(%g, %wide : tensor<5x3x?xf32>, tensor<1x1x?xf32>) outs(%e : tensor<5x3x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %w = linalg.index 1 : index
    %wi = arith.index_cast %w : index to i32
    %wf = arith.sitofp %wi : i32 to f32
    %is = arith.cmpf olt, %wf, %b : f32
    %v = arith.select %is, %a, %zero : f32
    linalg.yield %v : f32
  } -> tensor<5x3x?xf32>
  %re = tensor.empty(%n) : tensor<?x5x3xf32>
  %r = linalg.transpose ins(%inside : tensor<5x3x?xf32>) outs(%re : tensor<?x5x3xf32>) permutation = [2, 0, 1]
  return %r : tensor<?x5x3xf32>
}

// -----

// A part of each of N columns, and what was 1 x N.
// CHECK-LABEL: etdg.graph @part
// CHECK-SAME: -> !etdg.buffer<[N], tensor<2xf32>>
// CHECK: tensor.extract_slice %{{.*}}[3] [2] [1]
// CHECK-NOT: linalg.transpose
func.func @part(%x: tensor<?x1x6xf32> {etdg.dims = ["N", "", ""]}) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x1x6xf32>
  %te = tensor.empty(%n) : tensor<6x1x?xf32>
  %t = linalg.transpose ins(%x : tensor<?x1x6xf32>) outs(%te : tensor<6x1x?xf32>) permutation = [2, 1, 0]
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<6x1x?xf32> into tensor<6x?xf32>
  %s = tensor.extract_slice %c[3, 0] [2, %n] [1, 1] : tensor<6x?xf32> to tensor<2x?xf32>
  %e = math.exp %s : tensor<2x?xf32>
  %re = tensor.empty(%n) : tensor<?x2xf32>
  %r = linalg.transpose ins(%e : tensor<2x?xf32>) outs(%re : tensor<?x2xf32>) permutation = [1, 0]
  return %r : tensor<?x2xf32>
}

// -----

// The sum over it is one of no rows in either order: said at the program's own operation.
func.func @summed(%x: tensor<6x?xf32> {etdg.dims = ["", "N"]}, %z: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @+1 {{'linalg.reduce' op has an open size that is no row}}
  %s = linalg.reduce ins(%x : tensor<6x?xf32>) outs(%z : tensor<6xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %a = arith.addf %in, %acc : f32
      linalg.yield %a : f32
    }
  return %s : tensor<6xf32>
}
