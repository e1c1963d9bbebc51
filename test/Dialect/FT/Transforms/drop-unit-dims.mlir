// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(func.func(ft-drop-unit-dims),canonicalize)' | FileCheck %s
// In the phase etdg nothing is left of them: each statement has its rows, and none is a block without dimensions.
// RUN: ft-opt %s --ft-compile="to=etdg target=cpu" | FileCheck %s --check-prefix=ROWS
// ROWS-NOT: [] ()

// A mean with its dimension kept, taken from its rows: as PyTorch's scripts write it, by a slice, and by a map that names the only index.
// CHECK-LABEL: func.func @centre(
// CHECK-NOT: expand_shape
// CHECK-NOT: extract_slice
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<37xf32>) outs(%{{.*}} : tensor<37xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<37x64xf32>, tensor<37xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<37x64xf32>, tensor<37xf32>)
// CHECK: return
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @centre(%x: tensor<37x64xf32>) -> (tensor<37x64xf32>, tensor<37x64xf32>) {
  %zero = arith.constant dense<0.0> : tensor<37xf32>
  %n = arith.constant 64.0 : f32
  %s = linalg.reduce { arith.addf } ins(%x : tensor<37x64xf32>) outs(%zero : tensor<37xf32>) dimensions = [1]
  %k = tensor.expand_shape %s [[0, 1]] output_shape [37, 1] : tensor<37xf32> into tensor<37x1xf32>
  %ke = tensor.empty() : tensor<37x1xf32>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<37x1xf32>) outs(%ke : tensor<37x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.divf %a, %n : f32
    linalg.yield %q : f32
  } -> tensor<37x1xf32>
  %e = tensor.empty() : tensor<37x64xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (i, 0)>, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %d : tensor<37x64xf32>, tensor<37x1xf32>) outs(%e : tensor<37x64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %q = arith.subf %a, %m : f32
    linalg.yield %q : f32
  } -> tensor<37x64xf32>
  %part = tensor.extract_slice %d[0, 0] [37, 1] [1, 1] : tensor<37x1xf32> to tensor<37xf32>
  %t = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%r, %part : tensor<37x64xf32>, tensor<37xf32>) outs(%e : tensor<37x64xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %q = arith.mulf %a, %m : f32
    linalg.yield %q : f32
  } -> tensor<37x64xf32>
  return %r, %t : tensor<37x64xf32>, tensor<37x64xf32>
}

// A vector beside an image; a leading dimension of one element, which a call has, stays.
// CHECK-LABEL: func.func @beside(
// CHECK-SAME: %[[X:.*]]: tensor<1x5x7x7xf32>, %[[B:.*]]: tensor<5xf32>
// CHECK: %[[V:.*]] = tensor.expand_shape %[[B]] {{\[\[}}0, 1]] output_shape [1, 5] : tensor<5xf32> into tensor<1x5xf32>
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[V]] : tensor<1x5x7x7xf32>, tensor<1x5xf32>)
func.func @beside(%x: tensor<1x5x7x7xf32>, %b: tensor<5xf32>) -> tensor<1x5x7x7xf32> {
  %k = tensor.expand_shape %b [[0, 1, 2, 3]] output_shape [1, 5, 1, 1] : tensor<5xf32> into tensor<1x5x1x1xf32>
  %v = tensor.extract_slice %k[0, 0, 0, 0] [1, 5, 1, 1] [1, 1, 1, 1] : tensor<1x5x1x1xf32> to tensor<1x5xf32>
  %e = tensor.empty() : tensor<1x5x7x7xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c)>, affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x, %v : tensor<1x5x7x7xf32>, tensor<1x5xf32>) outs(%e : tensor<1x5x7x7xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %q = arith.addf %a, %m : f32
    linalg.yield %q : f32
  } -> tensor<1x5x7x7xf32>
  return %r : tensor<1x5x7x7xf32>
}

// What splits a dimension is no such reshape, nor is a loop whose index the body asks for dropped.
// CHECK-LABEL: func.func @others(
// CHECK: tensor.expand_shape {{.*}} into tensor<6x2x1xf32>
// CHECK: } -> tensor<6x2x1xf32>
func.func @others(%s: tensor<12xf32>) -> tensor<6x2x1xf32> {
  %k = tensor.expand_shape %s [[0, 1, 2]] output_shape [6, 2, 1] : tensor<12xf32> into tensor<6x2x1xf32>
  %e = tensor.empty() : tensor<6x2x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%k : tensor<6x2x1xf32>) outs(%e : tensor<6x2x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %at = linalg.index 2 : index
    %i = arith.index_cast %at : index to i32
    %f = arith.sitofp %i : i32 to f32
    %q = arith.addf %a, %f : f32
    linalg.yield %q : f32
  } -> tensor<6x2x1xf32>
  return %r : tensor<6x2x1xf32>
}
