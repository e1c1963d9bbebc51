// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of that name of python/tests/imported_models.py as tensors (phase ft), for tests of the validator.
#map = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map5 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map6 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map7 = affine_map<(d0, d1) -> (d0, d1)>
#map8 = affine_map<(d0, d1) -> (d1)>
#map9 = affine_map<(d0, d1) -> (d0)>
#map10 = affine_map<(d0, d1, d2) -> (d1, d2)>
module {
  func.func @mmoe(%arg0: tensor<3x13xf32>, %arg1: tensor<3x13x5xf32>, %arg2: tensor<3x1x5xf32>, %arg3: tensor<3x13xf32>, %arg4: tensor<3xf32>, %arg5: tensor<3x13xf32>, %arg6: tensor<3xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) attributes {ft.partition = "cost"} {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x3x5xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<3x3x5xf32>) -> tensor<3x3x5xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x13xf32>, tensor<3x13x5xf32>) outs(%1 : tensor<3x3x5xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.mulf %in, %in_4 : f32
      %30 = arith.addf %out, %29 : f32
      linalg.yield %30 : f32
    } -> tensor<3x3x5xf32>
    %extracted_slice = tensor.extract_slice %arg2[0, 0, 0] [3, 1, 5] [1, 1, 1] : tensor<3x1x5xf32> to tensor<3x5xf32>
    %3 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2, %extracted_slice : tensor<3x3x5xf32>, tensor<3x5xf32>) outs(%0 : tensor<3x3x5xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.addf %in, %in_4 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3x5xf32>
    %4 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%3 : tensor<3x3x5xf32>) outs(%0 : tensor<3x3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.maximumf %in, %cst_0 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3x5xf32>
    %5 = tensor.empty() : tensor<13x3xf32>
    %transposed = linalg.transpose ins(%arg3 : tensor<3x13xf32>) outs(%5 : tensor<13x3xf32>) permutation = [1, 0] 
    %6 = tensor.empty() : tensor<3x3xf32>
    %7 = linalg.fill ins(%cst_0 : f32) outs(%6 : tensor<3x3xf32>) -> tensor<3x3xf32>
    %8 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %transposed : tensor<3x13xf32>, tensor<13x3xf32>) outs(%7 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.mulf %in, %in_4 : f32
      %30 = arith.addf %out, %29 : f32
      linalg.yield %30 : f32
    } -> tensor<3x3xf32>
    %9 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel"]} ins(%8, %arg4 : tensor<3x3xf32>, tensor<3xf32>) outs(%6 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.addf %in, %in_4 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3xf32>
    %10 = tensor.empty() : tensor<3xf32>
    %11 = linalg.fill ins(%cst : f32) outs(%10 : tensor<3xf32>) -> tensor<3xf32>
    %12 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "reduction"]} ins(%9 : tensor<3x3xf32>) outs(%11 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.maximumf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<3xf32>
    %13 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel"]} ins(%9, %12 : tensor<3x3xf32>, tensor<3xf32>) outs(%6 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.subf %in, %in_4 : f32
      %30 = math.exp %29 : f32
      linalg.yield %30 : f32
    } -> tensor<3x3xf32>
    %14 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<3xf32>) -> tensor<3xf32>
    %15 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "reduction"]} ins(%13 : tensor<3x3xf32>) outs(%14 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.addf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<3xf32>
    %16 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel"]} ins(%13, %15 : tensor<3x3xf32>, tensor<3xf32>) outs(%6 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.divf %in, %in_4 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3xf32>
    %transposed_1 = linalg.transpose ins(%16 : tensor<3x3xf32>) outs(%6 : tensor<3x3xf32>) permutation = [1, 0] 
    %17 = linalg.generic {indexing_maps = [#map6, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_1, %4 : tensor<3x3xf32>, tensor<3x3x5xf32>) outs(%0 : tensor<3x3x5xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.mulf %in, %in_4 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3x5xf32>
    %18 = tensor.empty() : tensor<3x5xf32>
    %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<3x5xf32>) -> tensor<3x5xf32>
    %20 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["reduction", "parallel", "parallel"]} ins(%17 : tensor<3x3x5xf32>) outs(%19 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.addf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<3x5xf32>
    %transposed_2 = linalg.transpose ins(%arg5 : tensor<3x13xf32>) outs(%5 : tensor<13x3xf32>) permutation = [1, 0] 
    %21 = linalg.generic {indexing_maps = [#map4, #map5, #map6], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %transposed_2 : tensor<3x13xf32>, tensor<13x3xf32>) outs(%7 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.mulf %in, %in_4 : f32
      %30 = arith.addf %out, %29 : f32
      linalg.yield %30 : f32
    } -> tensor<3x3xf32>
    %22 = linalg.generic {indexing_maps = [#map7, #map8, #map7], iterator_types = ["parallel", "parallel"]} ins(%21, %arg6 : tensor<3x3xf32>, tensor<3xf32>) outs(%6 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.addf %in, %in_4 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3xf32>
    %23 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "reduction"]} ins(%22 : tensor<3x3xf32>) outs(%11 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.maximumf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<3xf32>
    %24 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel"]} ins(%22, %23 : tensor<3x3xf32>, tensor<3xf32>) outs(%6 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.subf %in, %in_4 : f32
      %30 = math.exp %29 : f32
      linalg.yield %30 : f32
    } -> tensor<3x3xf32>
    %25 = linalg.generic {indexing_maps = [#map7, #map9], iterator_types = ["parallel", "reduction"]} ins(%24 : tensor<3x3xf32>) outs(%14 : tensor<3xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.addf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<3xf32>
    %26 = linalg.generic {indexing_maps = [#map7, #map9, #map7], iterator_types = ["parallel", "parallel"]} ins(%24, %25 : tensor<3x3xf32>, tensor<3xf32>) outs(%6 : tensor<3x3xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.divf %in, %in_4 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3xf32>
    %transposed_3 = linalg.transpose ins(%26 : tensor<3x3xf32>) outs(%6 : tensor<3x3xf32>) permutation = [1, 0] 
    %27 = linalg.generic {indexing_maps = [#map6, #map3, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%transposed_3, %4 : tensor<3x3xf32>, tensor<3x3x5xf32>) outs(%0 : tensor<3x3x5xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %29 = arith.mulf %in, %in_4 : f32
      linalg.yield %29 : f32
    } -> tensor<3x3x5xf32>
    %28 = linalg.generic {indexing_maps = [#map3, #map10], iterator_types = ["reduction", "parallel", "parallel"]} ins(%27 : tensor<3x3x5xf32>) outs(%19 : tensor<3x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %29 = arith.addf %out, %in : f32
      linalg.yield %29 : f32
    } -> tensor<3x5xf32>
    return %20, %28 : tensor<3x5xf32>, tensor<3x5xf32>
  }
}

