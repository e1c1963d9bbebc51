// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of that name of python/tests/imported_models.py as tensors (phase ft), for tests of the validator.
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, d3 * 2 + d6, d4 * 2 + d7)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
#map9 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>
module {
  func.func @bottleneck(%arg0: tensor<1x12x7x7xf32>, %arg1: tensor<8x12x1x1xf32>, %arg2: tensor<8xf32>, %arg3: tensor<8xf32>, %arg4: tensor<8xf32>, %arg5: tensor<8xf32>, %arg6: tensor<8x2x3x3xf32>, %arg7: tensor<8xf32>, %arg8: tensor<8xf32>, %arg9: tensor<8xf32>, %arg10: tensor<8xf32>, %arg11: tensor<24x8x1x1xf32>, %arg12: tensor<24xf32>, %arg13: tensor<24xf32>, %arg14: tensor<24xf32>, %arg15: tensor<24xf32>, %arg16: tensor<24x12x1x1xf32>, %arg17: tensor<24xf32>, %arg18: tensor<24xf32>, %arg19: tensor<24xf32>, %arg20: tensor<24xf32>) -> tensor<1x24x4x4xf32> attributes {ft.partition = "cost"} {
    %cst = arith.constant 9.99999974E-6 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x8x7x7xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<1x8x7x7xf32>) -> tensor<1x8x7x7xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<1x12x7x7xf32>, tensor<8x12x1x1xf32>) outs(%1 : tensor<1x8x7x7xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %out, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<1x8x7x7xf32>
    %3 = tensor.empty() : tensor<8xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg2, %arg3 : tensor<8xf32>, tensor<8xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.addf %in, %cst : f32
      %32 = math.sqrt %31 : f32
      %33 = arith.divf %in_10, %32 : f32
      linalg.yield %33 : f32
    } -> tensor<8xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg4, %4, %arg5 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.subf %in_11, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<8xf32>
    %expanded = tensor.expand_shape %4 [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
    %expanded_1 = tensor.expand_shape %5 [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
    %6 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %expanded, %expanded_1 : tensor<1x8x7x7xf32>, tensor<1x8xf32>, tensor<1x8xf32>) outs(%0 : tensor<1x8x7x7xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %31, %in_11 : f32
      linalg.yield %32 : f32
    } -> tensor<1x8x7x7xf32>
    %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<1x8x7x7xf32>) outs(%0 : tensor<1x8x7x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.maximumf %in, %cst_0 : f32
      linalg.yield %31 : f32
    } -> tensor<1x8x7x7xf32>
    %8 = tensor.empty() : tensor<1x8x9x9xf32>
    %9 = linalg.fill ins(%cst_0 : f32) outs(%8 : tensor<1x8x9x9xf32>) -> tensor<1x8x9x9xf32>
    %inserted_slice = tensor.insert_slice %7 into %9[0, 0, 1, 1] [1, 8, 7, 7] [1, 1, 1, 1] : tensor<1x8x7x7xf32> into tensor<1x8x9x9xf32>
    %expanded_2 = tensor.expand_shape %inserted_slice [[0], [1, 2], [3], [4]] output_shape [1, 4, 2, 9, 9] : tensor<1x8x9x9xf32> into tensor<1x4x2x9x9xf32>
    %expanded_3 = tensor.expand_shape %arg6 [[0, 1], [2], [3], [4]] output_shape [4, 2, 2, 3, 3] : tensor<8x2x3x3xf32> into tensor<4x2x2x3x3xf32>
    %10 = tensor.empty() : tensor<1x4x2x4x4xf32>
    %11 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<1x4x2x4x4xf32>) -> tensor<1x4x2x4x4xf32>
    %12 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%expanded_2, %expanded_3 : tensor<1x4x2x9x9xf32>, tensor<4x2x2x3x3xf32>) outs(%11 : tensor<1x4x2x4x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %out, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<1x4x2x4x4xf32>
    %13 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg7, %arg8 : tensor<8xf32>, tensor<8xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.addf %in, %cst : f32
      %32 = math.sqrt %31 : f32
      %33 = arith.divf %in_10, %32 : f32
      linalg.yield %33 : f32
    } -> tensor<8xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg9, %13, %arg10 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%3 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.subf %in_11, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<8xf32>
    %collapsed = tensor.collapse_shape %12 [[0], [1, 2], [3], [4]] : tensor<1x4x2x4x4xf32> into tensor<1x8x4x4xf32>
    %expanded_4 = tensor.expand_shape %13 [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
    %expanded_5 = tensor.expand_shape %14 [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
    %15 = tensor.empty() : tensor<1x8x4x4xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed, %expanded_4, %expanded_5 : tensor<1x8x4x4xf32>, tensor<1x8xf32>, tensor<1x8xf32>) outs(%15 : tensor<1x8x4x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %31, %in_11 : f32
      linalg.yield %32 : f32
    } -> tensor<1x8x4x4xf32>
    %17 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16 : tensor<1x8x4x4xf32>) outs(%15 : tensor<1x8x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.maximumf %in, %cst_0 : f32
      linalg.yield %31 : f32
    } -> tensor<1x8x4x4xf32>
    %18 = tensor.empty() : tensor<1x24x4x4xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<1x24x4x4xf32>) -> tensor<1x24x4x4xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%17, %arg11 : tensor<1x8x4x4xf32>, tensor<24x8x1x1xf32>) outs(%19 : tensor<1x24x4x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %out, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<1x24x4x4xf32>
    %21 = tensor.empty() : tensor<24xf32>
    %22 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg12, %arg13 : tensor<24xf32>, tensor<24xf32>) outs(%21 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.addf %in, %cst : f32
      %32 = math.sqrt %31 : f32
      %33 = arith.divf %in_10, %32 : f32
      linalg.yield %33 : f32
    } -> tensor<24xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg14, %22, %arg15 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) outs(%21 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.subf %in_11, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<24xf32>
    %expanded_6 = tensor.expand_shape %22 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
    %expanded_7 = tensor.expand_shape %23 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
    %24 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%20, %expanded_6, %expanded_7 : tensor<1x24x4x4xf32>, tensor<1x24xf32>, tensor<1x24xf32>) outs(%18 : tensor<1x24x4x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %31, %in_11 : f32
      linalg.yield %32 : f32
    } -> tensor<1x24x4x4xf32>
    %25 = linalg.generic {indexing_maps = [#map9, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg16 : tensor<1x12x7x7xf32>, tensor<24x12x1x1xf32>) outs(%19 : tensor<1x24x4x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %out, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<1x24x4x4xf32>
    %26 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg17, %arg18 : tensor<24xf32>, tensor<24xf32>) outs(%21 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.addf %in, %cst : f32
      %32 = math.sqrt %31 : f32
      %33 = arith.divf %in_10, %32 : f32
      linalg.yield %33 : f32
    } -> tensor<24xf32>
    %27 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg19, %26, %arg20 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) outs(%21 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.subf %in_11, %31 : f32
      linalg.yield %32 : f32
    } -> tensor<24xf32>
    %expanded_8 = tensor.expand_shape %26 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
    %expanded_9 = tensor.expand_shape %27 [[0, 1]] output_shape [1, 24] : tensor<24xf32> into tensor<1x24xf32>
    %28 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25, %expanded_8, %expanded_9 : tensor<1x24x4x4xf32>, tensor<1x24xf32>, tensor<1x24xf32>) outs(%18 : tensor<1x24x4x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %in_11: f32, %out: f32):
      %31 = arith.mulf %in, %in_10 : f32
      %32 = arith.addf %31, %in_11 : f32
      linalg.yield %32 : f32
    } -> tensor<1x24x4x4xf32>
    %29 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %28 : tensor<1x24x4x4xf32>, tensor<1x24x4x4xf32>) outs(%18 : tensor<1x24x4x4xf32>) {
    ^bb0(%in: f32, %in_10: f32, %out: f32):
      %31 = arith.addf %in, %in_10 : f32
      linalg.yield %31 : f32
    } -> tensor<1x24x4x4xf32>
    %30 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%29 : tensor<1x24x4x4xf32>) outs(%18 : tensor<1x24x4x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %31 = arith.maximumf %in, %cst_0 : f32
      linalg.yield %31 : f32
    } -> tensor<1x24x4x4xf32>
    return %30 : tensor<1x24x4x4xf32>
  }
}

