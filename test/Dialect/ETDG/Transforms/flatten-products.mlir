// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | ft-opt --pass-pipeline='builtin.module(etdg.graph(etdg-flatten-products))' | FileCheck %s
// What is flat stays so.
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | ft-opt --pass-pipeline='builtin.module(etdg.graph(etdg-flatten-products,etdg-flatten-products))' | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | ft-opt --pass-pipeline='builtin.module(etdg.graph(etdg-flatten-products,etdg-verify))' -o /dev/null

#id = affine_map<(n, f, h, w) -> (n, f, h, w)>

// A window of one element has no loops, and pixels are one loop: of the product, and of what follows.
// CHECK-LABEL: etdg.graph @pixels(
// CHECK: reads (%[[X:.*]] = %{{.*}}[i] : tensor<4x3x5xf32>, %[[K:.*]] = %{{.*}}[j] : tensor<4x1x1xf32>)
// CHECK-DAG: tensor.collapse_shape %[[K]] {{\[\[}}0, 1, 2]] : tensor<4x1x1xf32> into tensor<4xf32>
// CHECK-DAG: tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2]] : tensor<4x3x5xf32> into tensor<4x15xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<4x15xf32>, tensor<4xf32>)
// CHECK: math.exp %{{.*}} : tensor<15xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [3, 5] : tensor<15xf32> into tensor<3x5xf32>
func.func @pixels(%x: tensor<2x4x3x5xf32>, %k: tensor<6x4x1x1xf32>) -> tensor<2x6x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %s = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<2x4x3x5xf32>, tensor<6x4x1x1xf32>) outs(%z : tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %y = math.exp %s : tensor<2x6x3x5xf32>
  return %y : tensor<2x6x3x5xf32>
}

// A larger window needs both loops, and so does an operation that turns the image.
// CHECK-LABEL: etdg.graph @window(
// CHECK: iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]
func.func @window(%x: tensor<2x4x4x6xf32>, %k: tensor<6x4x2x2xf32>) -> tensor<2x6x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %s = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<2x4x4x6xf32>, tensor<6x4x2x2xf32>) outs(%z : tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  return %s : tensor<2x6x3x5xf32>
}

// CHECK-LABEL: etdg.graph @turned(
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: iterator_types = ["parallel", "parallel"]
func.func @turned(%x: tensor<2x4x3x5xf32>, %k: tensor<6x4x1x1xf32>, %r: tensor<2x6x5x3xf32>) -> tensor<2x6x3x5xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x3x5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %s = linalg.conv_2d_nchw_fchw ins(%x, %k : tensor<2x4x3x5xf32>, tensor<6x4x1x1xf32>) outs(%z : tensor<2x6x3x5xf32>) -> tensor<2x6x3x5xf32>
  %y = linalg.generic {indexing_maps = [#id, affine_map<(n, f, h, w) -> (n, f, w, h)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%s, %r : tensor<2x6x3x5xf32>, tensor<2x6x5x3xf32>) outs(%e : tensor<2x6x3x5xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.addf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<2x6x3x5xf32>
  return %y : tensor<2x6x3x5xf32>
}

// Heads that are merged back are two dimensions of what the product reads, and no quotient.
// CHECK-LABEL: etdg.graph @heads(
// CHECK-NOT: floordiv
// CHECK: elem (e0, e1) %{{.*}} : tensor<3x8xf32>
// CHECK-NOT: floordiv
func.func @heads(%p: tensor<3x64x64xf32>, %v: tensor<3x64x8xf32>, %w: tensor<24x40xf32>) -> tensor<64x40xf32> {
  %zo = arith.constant dense<0.0> : tensor<3x64x8xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<3x64x64xf32>, tensor<3x64x8xf32>) outs(%zo : tensor<3x64x8xf32>) -> tensor<3x64x8xf32>
  %e = tensor.empty() : tensor<64x3x8xf32>
  %t = linalg.transpose ins(%o : tensor<3x64x8xf32>) outs(%e : tensor<64x3x8xf32>) permutation = [1, 0, 2]
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<64x3x8xf32> into tensor<64x24xf32>
  %z = arith.constant dense<0.0> : tensor<64x40xf32>
  %y = linalg.matmul ins(%c, %w : tensor<64x24xf32>, tensor<24x40xf32>) outs(%z : tensor<64x40xf32>) -> tensor<64x40xf32>
  return %y : tensor<64x40xf32>
}
