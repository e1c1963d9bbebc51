// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of that name of python/tests/imported_models.py as tensors (phase ft), for tests of the validator.
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#map6 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d3 + d5, d4 + d6)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d2, d5, d6)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d4)>
#map9 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map10 = affine_map<(d0, d1) -> (d0, d1)>
#map11 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @mbconv(%arg0: tensor<1x6x7x7xf32>, %arg1: tensor<18x6x1x1xf32>, %arg2: tensor<18xf32>, %arg3: tensor<18xf32>, %arg4: tensor<18xf32>, %arg5: tensor<18xf32>, %arg6: tensor<18x1x5x5xf32>, %arg7: tensor<18xf32>, %arg8: tensor<18xf32>, %arg9: tensor<18xf32>, %arg10: tensor<18xf32>, %arg11: tensor<4x18x1x1xf32>, %arg12: tensor<4xf32>, %arg13: tensor<18x4x1x1xf32>, %arg14: tensor<18xf32>, %arg15: tensor<6x18x1x1xf32>, %arg16: tensor<6xf32>, %arg17: tensor<6xf32>, %arg18: tensor<6xf32>, %arg19: tensor<6xf32>) -> tensor<1x6x7x7xf32> attributes {ft.partition = "cost"} {
    %cst = arith.constant 4.900000e+01 : f32
    %cst_0 = arith.constant 1.000000e+00 : f32
    %cst_1 = arith.constant 9.99999974E-6 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<1x18x7x7xf32>
    %1 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<1x18x7x7xf32>) -> tensor<1x18x7x7xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%arg0, %arg1 : tensor<1x6x7x7xf32>, tensor<18x6x1x1xf32>) outs(%1 : tensor<1x18x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %out, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<1x18x7x7xf32>
    %3 = tensor.empty() : tensor<18xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg2, %arg3 : tensor<18xf32>, tensor<18xf32>) outs(%3 : tensor<18xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.addf %in, %cst_1 : f32
      %43 = math.sqrt %42 : f32
      %44 = arith.divf %in_13, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<18xf32>
    %5 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg4, %4, %arg5 : tensor<18xf32>, tensor<18xf32>, tensor<18xf32>) outs(%3 : tensor<18xf32>) {
    ^bb0(%in: f32, %in_13: f32, %in_14: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.subf %in_14, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<18xf32>
    %expanded = tensor.expand_shape %4 [[0, 1]] output_shape [1, 18] : tensor<18xf32> into tensor<1x18xf32>
    %expanded_3 = tensor.expand_shape %5 [[0, 1]] output_shape [1, 18] : tensor<18xf32> into tensor<1x18xf32>
    %6 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%2, %expanded, %expanded_3 : tensor<1x18x7x7xf32>, tensor<1x18xf32>, tensor<1x18xf32>) outs(%0 : tensor<1x18x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %in_14: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %42, %in_14 : f32
      linalg.yield %43 : f32
    } -> tensor<1x18x7x7xf32>
    %7 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%6 : tensor<1x18x7x7xf32>) outs(%0 : tensor<1x18x7x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.negf %in : f32
      %43 = math.exp %42 : f32
      %44 = arith.addf %43, %cst_0 : f32
      %45 = arith.divf %in, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<1x18x7x7xf32>
    %8 = tensor.empty() : tensor<1x18x11x11xf32>
    %9 = linalg.fill ins(%cst_2 : f32) outs(%8 : tensor<1x18x11x11xf32>) -> tensor<1x18x11x11xf32>
    %inserted_slice = tensor.insert_slice %7 into %9[0, 0, 2, 2] [1, 18, 7, 7] [1, 1, 1, 1] : tensor<1x18x7x7xf32> into tensor<1x18x11x11xf32>
    %10 = tensor.empty() : tensor<1x18x1x7x7xf32>
    %11 = linalg.fill ins(%cst_2 : f32) outs(%10 : tensor<1x18x1x7x7xf32>) -> tensor<1x18x1x7x7xf32>
    %12 = linalg.generic {indexing_maps = [#map6, #map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%inserted_slice, %arg6 : tensor<1x18x11x11xf32>, tensor<18x1x5x5xf32>) outs(%11 : tensor<1x18x1x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %out, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<1x18x1x7x7xf32>
    %13 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg7, %arg8 : tensor<18xf32>, tensor<18xf32>) outs(%3 : tensor<18xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.addf %in, %cst_1 : f32
      %43 = math.sqrt %42 : f32
      %44 = arith.divf %in_13, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<18xf32>
    %14 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg9, %13, %arg10 : tensor<18xf32>, tensor<18xf32>, tensor<18xf32>) outs(%3 : tensor<18xf32>) {
    ^bb0(%in: f32, %in_13: f32, %in_14: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.subf %in_14, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<18xf32>
    %collapsed = tensor.collapse_shape %12 [[0], [1], [2, 3], [4]] : tensor<1x18x1x7x7xf32> into tensor<1x18x7x7xf32>
    %expanded_4 = tensor.expand_shape %13 [[0, 1]] output_shape [1, 18] : tensor<18xf32> into tensor<1x18xf32>
    %expanded_5 = tensor.expand_shape %14 [[0, 1]] output_shape [1, 18] : tensor<18xf32> into tensor<1x18xf32>
    %15 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed, %expanded_4, %expanded_5 : tensor<1x18x7x7xf32>, tensor<1x18xf32>, tensor<1x18xf32>) outs(%0 : tensor<1x18x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %in_14: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %42, %in_14 : f32
      linalg.yield %43 : f32
    } -> tensor<1x18x7x7xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%15 : tensor<1x18x7x7xf32>) outs(%0 : tensor<1x18x7x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.negf %in : f32
      %43 = math.exp %42 : f32
      %44 = arith.addf %43, %cst_0 : f32
      %45 = arith.divf %in, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<1x18x7x7xf32>
    %17 = tensor.empty() : tensor<1x18xf32>
    %18 = linalg.fill ins(%cst_2 : f32) outs(%17 : tensor<1x18xf32>) -> tensor<1x18xf32>
    %19 = linalg.generic {indexing_maps = [#map4, #map5], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%16 : tensor<1x18x7x7xf32>) outs(%18 : tensor<1x18xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.addf %out, %in : f32
      linalg.yield %42 : f32
    } -> tensor<1x18xf32>
    %20 = tensor.empty() : tensor<1x18x1x1xf32>
    %expanded_6 = tensor.expand_shape %19 [[0], [1, 2]] output_shape [1, 18, 1] : tensor<1x18xf32> into tensor<1x18x1xf32>
    %21 = tensor.empty() : tensor<1x18x1xf32>
    %22 = linalg.generic {indexing_maps = [#map9, #map9], iterator_types = ["parallel", "parallel", "parallel"]} ins(%expanded_6 : tensor<1x18x1xf32>) outs(%21 : tensor<1x18x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.divf %in, %cst : f32
      linalg.yield %42 : f32
    } -> tensor<1x18x1xf32>
    %expanded_7 = tensor.expand_shape %22 [[0], [1], [2, 3]] output_shape [1, 18, 1, 1] : tensor<1x18x1xf32> into tensor<1x18x1x1xf32>
    %23 = tensor.empty() : tensor<1x4x1x1xf32>
    %24 = linalg.fill ins(%cst_2 : f32) outs(%23 : tensor<1x4x1x1xf32>) -> tensor<1x4x1x1xf32>
    %25 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%expanded_7, %arg11 : tensor<1x18x1x1xf32>, tensor<4x18x1x1xf32>) outs(%24 : tensor<1x4x1x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %out, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<1x4x1x1xf32>
    %collapsed_8 = tensor.collapse_shape %25 [[0], [1, 2, 3]] : tensor<1x4x1x1xf32> into tensor<1x4xf32>
    %26 = tensor.empty() : tensor<1x4xf32>
    %27 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%collapsed_8, %arg12 : tensor<1x4xf32>, tensor<4xf32>) outs(%26 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.addf %in, %in_13 : f32
      linalg.yield %42 : f32
    } -> tensor<1x4xf32>
    %28 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%27 : tensor<1x4xf32>) outs(%26 : tensor<1x4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.negf %in : f32
      %43 = math.exp %42 : f32
      %44 = arith.addf %43, %cst_0 : f32
      %45 = arith.divf %in, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<1x4xf32>
    %expanded_9 = tensor.expand_shape %28 [[0], [1, 2, 3]] output_shape [1, 4, 1, 1] : tensor<1x4xf32> into tensor<1x4x1x1xf32>
    %29 = linalg.fill ins(%cst_2 : f32) outs(%20 : tensor<1x18x1x1xf32>) -> tensor<1x18x1x1xf32>
    %30 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%expanded_9, %arg13 : tensor<1x4x1x1xf32>, tensor<18x4x1x1xf32>) outs(%29 : tensor<1x18x1x1xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %out, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<1x18x1x1xf32>
    %collapsed_10 = tensor.collapse_shape %30 [[0], [1, 2, 3]] : tensor<1x18x1x1xf32> into tensor<1x18xf32>
    %31 = linalg.generic {indexing_maps = [#map10, #map11, #map10], iterator_types = ["parallel", "parallel"]} ins(%collapsed_10, %arg14 : tensor<1x18xf32>, tensor<18xf32>) outs(%17 : tensor<1x18xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.addf %in, %in_13 : f32
      linalg.yield %42 : f32
    } -> tensor<1x18xf32>
    %32 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<1x18xf32>) outs(%17 : tensor<1x18xf32>) {
    ^bb0(%in: f32, %out: f32):
      %42 = arith.negf %in : f32
      %43 = math.exp %42 : f32
      %44 = arith.addf %43, %cst_0 : f32
      %45 = arith.divf %cst_0, %44 : f32
      linalg.yield %45 : f32
    } -> tensor<1x18xf32>
    %33 = linalg.generic {indexing_maps = [#map4, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%16, %32 : tensor<1x18x7x7xf32>, tensor<1x18xf32>) outs(%0 : tensor<1x18x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      linalg.yield %42 : f32
    } -> tensor<1x18x7x7xf32>
    %34 = tensor.empty() : tensor<1x6x7x7xf32>
    %35 = linalg.fill ins(%cst_2 : f32) outs(%34 : tensor<1x6x7x7xf32>) -> tensor<1x6x7x7xf32>
    %36 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%33, %arg15 : tensor<1x18x7x7xf32>, tensor<6x18x1x1xf32>) outs(%35 : tensor<1x6x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %out, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<1x6x7x7xf32>
    %37 = tensor.empty() : tensor<6xf32>
    %38 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg16, %arg17 : tensor<6xf32>, tensor<6xf32>) outs(%37 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.addf %in, %cst_1 : f32
      %43 = math.sqrt %42 : f32
      %44 = arith.divf %in_13, %43 : f32
      linalg.yield %44 : f32
    } -> tensor<6xf32>
    %39 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg18, %38, %arg19 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) outs(%37 : tensor<6xf32>) {
    ^bb0(%in: f32, %in_13: f32, %in_14: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.subf %in_14, %42 : f32
      linalg.yield %43 : f32
    } -> tensor<6xf32>
    %expanded_11 = tensor.expand_shape %38 [[0, 1]] output_shape [1, 6] : tensor<6xf32> into tensor<1x6xf32>
    %expanded_12 = tensor.expand_shape %39 [[0, 1]] output_shape [1, 6] : tensor<6xf32> into tensor<1x6xf32>
    %40 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36, %expanded_11, %expanded_12 : tensor<1x6x7x7xf32>, tensor<1x6xf32>, tensor<1x6xf32>) outs(%34 : tensor<1x6x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %in_14: f32, %out: f32):
      %42 = arith.mulf %in, %in_13 : f32
      %43 = arith.addf %42, %in_14 : f32
      linalg.yield %43 : f32
    } -> tensor<1x6x7x7xf32>
    %41 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %40 : tensor<1x6x7x7xf32>, tensor<1x6x7x7xf32>) outs(%34 : tensor<1x6x7x7xf32>) {
    ^bb0(%in: f32, %in_13: f32, %out: f32):
      %42 = arith.addf %in, %in_13 : f32
      linalg.yield %42 : f32
    } -> tensor<1x6x7x7xf32>
    return %41 : tensor<1x6x7x7xf32>
  }
}

