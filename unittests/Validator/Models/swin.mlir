// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of that name of python/tests/imported_models.py as tensors (phase ft), for tests of the validator.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2, d3) -> (d3)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d2)>
#map7 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map8 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map10 = affine_map<(d0) -> (d0)>
#map11 = affine_map<(d0) -> ()>
#map12 = affine_map<() -> ()>
#map13 = affine_map<(d0, d1) -> (d0)>
#map14 = affine_map<(d0, d1) -> (d0, d1)>
#map15 = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
#map16 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map17 = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
#map18 = affine_map<(d0, d1, d2, d3, d4) -> (d4, d3)>
module {
  func.func @swin(%arg0: tensor<2x6x6x12xf32>, %arg1: tensor<12xf32>, %arg2: tensor<12xf32>, %arg3: tensor<36x12xf32>, %arg4: tensor<36xf32>, %arg5: tensor<9x9xi64>, %arg6: tensor<25x2xf32>, %arg7: tensor<4x9x9xf32>, %arg8: tensor<12x12xf32>, %arg9: tensor<12xf32>, %arg10: tensor<12xf32>, %arg11: tensor<12xf32>, %arg12: tensor<48x12xf32>, %arg13: tensor<48xf32>, %arg14: tensor<12x48xf32>, %arg15: tensor<12xf32>) -> (tensor<i64>, tensor<2x6x6x12xf32>) attributes {ft.partition = "cost"} {
    %c0 = arith.constant 0 : index
    %c25 = arith.constant 25 : index
    %c-25_i64 = arith.constant -25 : i64
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.707106769 : f32
    %cst_1 = arith.constant 5.000000e-01 : f32
    %cst_2 = arith.constant 0xFF800000 : f32
    %c-9223372036854775808_i64 = arith.constant -9223372036854775808 : i64
    %c0_i64 = arith.constant 0 : i64
    %c25_i64 = arith.constant 25 : i64
    %cst_3 = arith.constant 0.408248305 : f32
    %cst_4 = arith.constant 9.99999974E-6 : f32
    %cst_5 = arith.constant 1.200000e+01 : f32
    %cst_6 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x6x6xf32>
    %1 = linalg.fill ins(%cst_6 : f32) outs(%0 : tensor<2x6x6xf32>) -> tensor<2x6x6xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0 : tensor<2x6x6x12xf32>) outs(%1 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.addf %out, %in : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6xf32>
    %3 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%2 : tensor<2x6x6xf32>) outs(%0 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.divf %in, %cst_5 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6xf32>
    %4 = tensor.empty() : tensor<2x6x6x12xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %3 : tensor<2x6x6x12xf32>, tensor<2x6x6xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.subf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %6 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%5 : tensor<2x6x6x12xf32>) outs(%1 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.mulf %in, %in : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<2x6x6xf32>
    %7 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%6 : tensor<2x6x6xf32>) outs(%0 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.divf %in, %cst_5 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6xf32>
    %8 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %3, %7 : tensor<2x6x6x12xf32>, tensor<2x6x6xf32>, tensor<2x6x6xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %in_42: f32, %out: f32):
      %73 = arith.addf %in_42, %cst_4 : f32
      %74 = math.sqrt %73 : f32
      %75 = arith.subf %in, %in_41 : f32
      %76 = arith.divf %75, %74 : f32
      linalg.yield %76 : f32
    } -> tensor<2x6x6x12xf32>
    %9 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8, %arg1 : tensor<2x6x6x12xf32>, tensor<12xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %10 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%9, %arg2 : tensor<2x6x6x12xf32>, tensor<12xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %11 = linalg.fill ins(%cst_6 : f32) outs(%4 : tensor<2x6x6x12xf32>) -> tensor<2x6x6x12xf32>
    %extracted_slice = tensor.extract_slice %10[0, 1, 0, 0] [2, 5, 6, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x5x6x12xf32>
    %inserted_slice = tensor.insert_slice %extracted_slice into %11[0, 0, 0, 0] [2, 5, 6, 12] [1, 1, 1, 1] : tensor<2x5x6x12xf32> into tensor<2x6x6x12xf32>
    %extracted_slice_7 = tensor.extract_slice %10[0, 0, 0, 0] [2, 1, 6, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x1x6x12xf32>
    %inserted_slice_8 = tensor.insert_slice %extracted_slice_7 into %inserted_slice[0, 5, 0, 0] [2, 1, 6, 12] [1, 1, 1, 1] : tensor<2x1x6x12xf32> into tensor<2x6x6x12xf32>
    %extracted_slice_9 = tensor.extract_slice %inserted_slice_8[0, 0, 1, 0] [2, 6, 5, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x6x5x12xf32>
    %inserted_slice_10 = tensor.insert_slice %extracted_slice_9 into %11[0, 0, 0, 0] [2, 6, 5, 12] [1, 1, 1, 1] : tensor<2x6x5x12xf32> into tensor<2x6x6x12xf32>
    %extracted_slice_11 = tensor.extract_slice %inserted_slice_8[0, 0, 0, 0] [2, 6, 1, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x6x1x12xf32>
    %inserted_slice_12 = tensor.insert_slice %extracted_slice_11 into %inserted_slice_10[0, 0, 5, 0] [2, 6, 1, 12] [1, 1, 1, 1] : tensor<2x6x1x12xf32> into tensor<2x6x6x12xf32>
    %expanded = tensor.expand_shape %inserted_slice_12 [[0], [1, 2], [3, 4], [5]] output_shape [2, 2, 3, 2, 3, 12] : tensor<2x6x6x12xf32> into tensor<2x2x3x2x3x12xf32>
    %12 = tensor.empty() : tensor<2x2x2x3x3x12xf32>
    %transposed = linalg.transpose ins(%expanded : tensor<2x2x3x2x3x12xf32>) outs(%12 : tensor<2x2x2x3x3x12xf32>) permutation = [0, 1, 3, 2, 4, 5] 
    %collapsed = tensor.collapse_shape %transposed [[0, 1, 2], [3, 4], [5]] : tensor<2x2x2x3x3x12xf32> into tensor<8x9x12xf32>
    %13 = tensor.empty() : tensor<12x36xf32>
    %transposed_13 = linalg.transpose ins(%arg3 : tensor<36x12xf32>) outs(%13 : tensor<12x36xf32>) permutation = [1, 0] 
    %14 = tensor.empty() : tensor<8x9x36xf32>
    %15 = linalg.fill ins(%cst_6 : f32) outs(%14 : tensor<8x9x36xf32>) -> tensor<8x9x36xf32>
    %16 = linalg.generic {indexing_maps = [#map4, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %transposed_13 : tensor<8x9x12xf32>, tensor<12x36xf32>) outs(%15 : tensor<8x9x36xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<8x9x36xf32>
    %17 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%16, %arg4 : tensor<8x9x36xf32>, tensor<36xf32>) outs(%14 : tensor<8x9x36xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<8x9x36xf32>
    %expanded_14 = tensor.expand_shape %17 [[0], [1], [2, 3, 4]] output_shape [8, 9, 3, 2, 6] : tensor<8x9x36xf32> into tensor<8x9x3x2x6xf32>
    %18 = tensor.empty() : tensor<3x8x2x9x6xf32>
    %transposed_15 = linalg.transpose ins(%expanded_14 : tensor<8x9x3x2x6xf32>) outs(%18 : tensor<3x8x2x9x6xf32>) permutation = [2, 0, 3, 1, 4] 
    %extracted_slice_16 = tensor.extract_slice %transposed_15[0, 0, 0, 0, 0] [1, 8, 2, 9, 6] [1, 1, 1, 1, 1] : tensor<3x8x2x9x6xf32> to tensor<8x2x9x6xf32>
    %19 = tensor.empty() : tensor<8x2x9x6xf32>
    %20 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%extracted_slice_16 : tensor<8x2x9x6xf32>) outs(%19 : tensor<8x2x9x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.mulf %in, %cst_3 : f32
      linalg.yield %73 : f32
    } -> tensor<8x2x9x6xf32>
    %extracted_slice_17 = tensor.extract_slice %transposed_15[1, 0, 0, 0, 0] [1, 8, 2, 9, 6] [1, 1, 1, 1, 1] : tensor<3x8x2x9x6xf32> to tensor<8x2x9x6xf32>
    %21 = tensor.empty() : tensor<8x2x6x9xf32>
    %transposed_18 = linalg.transpose ins(%extracted_slice_17 : tensor<8x2x9x6xf32>) outs(%21 : tensor<8x2x6x9xf32>) permutation = [0, 1, 3, 2] 
    %22 = tensor.empty() : tensor<8x2x9x9xf32>
    %23 = linalg.fill ins(%cst_6 : f32) outs(%22 : tensor<8x2x9x9xf32>) -> tensor<8x2x9x9xf32>
    %24 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%20, %transposed_18 : tensor<8x2x9x6xf32>, tensor<8x2x6x9xf32>) outs(%23 : tensor<8x2x9x9xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<8x2x9x9xf32>
    %collapsed_19 = tensor.collapse_shape %arg5 [[0, 1]] : tensor<9x9xi64> into tensor<81xi64>
    %25 = tensor.empty() : tensor<81xi64>
    %26 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel"]} ins(%collapsed_19 : tensor<81xi64>) outs(%25 : tensor<81xi64>) {
    ^bb0(%in: i64, %out: i64):
      %73 = arith.cmpi slt, %in, %c-25_i64 : i64
      %74 = arith.cmpi sge, %in, %c25_i64 : i64
      %75 = arith.ori %73, %74 : i1
      %76 = arith.select %75, %in, %c-9223372036854775808_i64 : i64
      linalg.yield %76 : i64
    } -> tensor<81xi64>
    %27 = tensor.empty() : tensor<i64>
    %28 = linalg.fill ins(%c-9223372036854775808_i64 : i64) outs(%27 : tensor<i64>) -> tensor<i64>
    %29 = linalg.generic {indexing_maps = [#map10, #map11], iterator_types = ["reduction"]} ins(%26 : tensor<81xi64>) outs(%28 : tensor<i64>) {
    ^bb0(%in: i64, %out: i64):
      %73 = arith.maxsi %out, %in : i64
      linalg.yield %73 : i64
    } -> tensor<i64>
    %30 = linalg.generic {indexing_maps = [#map12, #map12, #map12], iterator_types = []} ins(%28, %29 : tensor<i64>, tensor<i64>) outs(%27 : tensor<i64>) {
    ^bb0(%in: i64, %in_41: i64, %out: i64):
      %73 = arith.maxsi %in, %in_41 : i64
      linalg.yield %73 : i64
    } -> tensor<i64>
    %31 = linalg.generic {indexing_maps = [#map10, #map10], iterator_types = ["parallel"]} ins(%collapsed_19 : tensor<81xi64>) outs(%25 : tensor<81xi64>) {
    ^bb0(%in: i64, %out: i64):
      %73 = arith.cmpi slt, %in, %c-25_i64 : i64
      %74 = arith.cmpi sge, %in, %c25_i64 : i64
      %75 = arith.ori %73, %74 : i1
      %76 = arith.select %75, %c0_i64, %in : i64
      linalg.yield %76 : i64
    } -> tensor<81xi64>
    %32 = tensor.empty() : tensor<81x2xf32>
    %33 = linalg.generic {indexing_maps = [#map13, #map14], iterator_types = ["parallel", "parallel"]} ins(%31 : tensor<81xi64>) outs(%32 : tensor<81x2xf32>) {
    ^bb0(%in: i64, %out: f32):
      %73 = linalg.index 1 : index
      %74 = arith.index_cast %in : i64 to index
      %75 = arith.cmpi slt, %74, %c0 : index
      %76 = arith.addi %74, %c25 : index
      %77 = arith.select %75, %76, %74 : index
      %extracted = tensor.extract %arg6[%77, %73] : tensor<25x2xf32>
      linalg.yield %extracted : f32
    } -> tensor<81x2xf32>
    %expanded_20 = tensor.expand_shape %33 [[0, 1], [2]] output_shape [9, 9, 2] : tensor<81x2xf32> into tensor<9x9x2xf32>
    %34 = tensor.empty() : tensor<2x9x9xf32>
    %transposed_21 = linalg.transpose ins(%expanded_20 : tensor<9x9x2xf32>) outs(%34 : tensor<2x9x9xf32>) permutation = [2, 0, 1] 
    %35 = linalg.generic {indexing_maps = [#map, #map15, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%24, %transposed_21 : tensor<8x2x9x9xf32>, tensor<2x9x9xf32>) outs(%22 : tensor<8x2x9x9xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<8x2x9x9xf32>
    %expanded_22 = tensor.expand_shape %35 [[0, 1], [2], [3], [4]] output_shape [2, 4, 2, 9, 9] : tensor<8x2x9x9xf32> into tensor<2x4x2x9x9xf32>
    %36 = tensor.empty() : tensor<2x4x2x9x9xf32>
    %37 = linalg.generic {indexing_maps = [#map16, #map17, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%expanded_22, %arg7 : tensor<2x4x2x9x9xf32>, tensor<4x9x9xf32>) outs(%36 : tensor<2x4x2x9x9xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x4x2x9x9xf32>
    %38 = tensor.empty() : tensor<8x2x9xf32>
    %39 = linalg.fill ins(%cst_2 : f32) outs(%38 : tensor<8x2x9xf32>) -> tensor<8x2x9xf32>
    %collapsed_23 = tensor.collapse_shape %37 [[0, 1], [2], [3], [4]] : tensor<2x4x2x9x9xf32> into tensor<8x2x9x9xf32>
    %40 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_23 : tensor<8x2x9x9xf32>) outs(%39 : tensor<8x2x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.maximumf %out, %in : f32
      linalg.yield %73 : f32
    } -> tensor<8x2x9xf32>
    %41 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_23, %40 : tensor<8x2x9x9xf32>, tensor<8x2x9xf32>) outs(%22 : tensor<8x2x9x9xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.subf %in, %in_41 : f32
      %74 = math.exp %73 : f32
      linalg.yield %74 : f32
    } -> tensor<8x2x9x9xf32>
    %42 = linalg.fill ins(%cst_6 : f32) outs(%38 : tensor<8x2x9xf32>) -> tensor<8x2x9xf32>
    %43 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%41 : tensor<8x2x9x9xf32>) outs(%42 : tensor<8x2x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.addf %out, %in : f32
      linalg.yield %73 : f32
    } -> tensor<8x2x9xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41, %43 : tensor<8x2x9x9xf32>, tensor<8x2x9xf32>) outs(%22 : tensor<8x2x9x9xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.divf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<8x2x9x9xf32>
    %extracted_slice_24 = tensor.extract_slice %transposed_15[2, 0, 0, 0, 0] [1, 8, 2, 9, 6] [1, 1, 1, 1, 1] : tensor<3x8x2x9x6xf32> to tensor<8x2x9x6xf32>
    %45 = linalg.fill ins(%cst_6 : f32) outs(%19 : tensor<8x2x9x6xf32>) -> tensor<8x2x9x6xf32>
    %46 = linalg.generic {indexing_maps = [#map7, #map8, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%44, %extracted_slice_24 : tensor<8x2x9x9xf32>, tensor<8x2x9x6xf32>) outs(%45 : tensor<8x2x9x6xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<8x2x9x6xf32>
    %47 = tensor.empty() : tensor<8x9x2x6xf32>
    %transposed_25 = linalg.transpose ins(%46 : tensor<8x2x9x6xf32>) outs(%47 : tensor<8x9x2x6xf32>) permutation = [0, 2, 1, 3] 
    %collapsed_26 = tensor.collapse_shape %transposed_25 [[0], [1], [2, 3]] : tensor<8x9x2x6xf32> into tensor<8x9x12xf32>
    %48 = tensor.empty() : tensor<12x12xf32>
    %transposed_27 = linalg.transpose ins(%arg8 : tensor<12x12xf32>) outs(%48 : tensor<12x12xf32>) permutation = [1, 0] 
    %49 = tensor.empty() : tensor<8x9x12xf32>
    %50 = linalg.fill ins(%cst_6 : f32) outs(%49 : tensor<8x9x12xf32>) -> tensor<8x9x12xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map5, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_26, %transposed_27 : tensor<8x9x12xf32>, tensor<12x12xf32>) outs(%50 : tensor<8x9x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<8x9x12xf32>
    %52 = linalg.generic {indexing_maps = [#map2, #map6, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%51, %arg9 : tensor<8x9x12xf32>, tensor<12xf32>) outs(%49 : tensor<8x9x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<8x9x12xf32>
    %expanded_28 = tensor.expand_shape %52 [[0, 1, 2], [3, 4], [5]] output_shape [2, 2, 2, 3, 3, 12] : tensor<8x9x12xf32> into tensor<2x2x2x3x3x12xf32>
    %53 = tensor.empty() : tensor<2x2x3x2x3x12xf32>
    %transposed_29 = linalg.transpose ins(%expanded_28 : tensor<2x2x2x3x3x12xf32>) outs(%53 : tensor<2x2x3x2x3x12xf32>) permutation = [0, 1, 3, 2, 4, 5] 
    %collapsed_30 = tensor.collapse_shape %transposed_29 [[0], [1, 2], [3, 4], [5]] : tensor<2x2x3x2x3x12xf32> into tensor<2x6x6x12xf32>
    %extracted_slice_31 = tensor.extract_slice %collapsed_30[0, 5, 0, 0] [2, 1, 6, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x1x6x12xf32>
    %inserted_slice_32 = tensor.insert_slice %extracted_slice_31 into %11[0, 0, 0, 0] [2, 1, 6, 12] [1, 1, 1, 1] : tensor<2x1x6x12xf32> into tensor<2x6x6x12xf32>
    %extracted_slice_33 = tensor.extract_slice %collapsed_30[0, 0, 0, 0] [2, 5, 6, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x5x6x12xf32>
    %inserted_slice_34 = tensor.insert_slice %extracted_slice_33 into %inserted_slice_32[0, 1, 0, 0] [2, 5, 6, 12] [1, 1, 1, 1] : tensor<2x5x6x12xf32> into tensor<2x6x6x12xf32>
    %extracted_slice_35 = tensor.extract_slice %inserted_slice_34[0, 0, 5, 0] [2, 6, 1, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x6x1x12xf32>
    %inserted_slice_36 = tensor.insert_slice %extracted_slice_35 into %11[0, 0, 0, 0] [2, 6, 1, 12] [1, 1, 1, 1] : tensor<2x6x1x12xf32> into tensor<2x6x6x12xf32>
    %extracted_slice_37 = tensor.extract_slice %inserted_slice_34[0, 0, 0, 0] [2, 6, 5, 12] [1, 1, 1, 1] : tensor<2x6x6x12xf32> to tensor<2x6x5x12xf32>
    %inserted_slice_38 = tensor.insert_slice %extracted_slice_37 into %inserted_slice_36[0, 0, 1, 0] [2, 6, 5, 12] [1, 1, 1, 1] : tensor<2x6x5x12xf32> into tensor<2x6x6x12xf32>
    %54 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%arg0, %inserted_slice_38 : tensor<2x6x6x12xf32>, tensor<2x6x6x12xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %55 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%54 : tensor<2x6x6x12xf32>) outs(%1 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.addf %out, %in : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6xf32>
    %56 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%55 : tensor<2x6x6xf32>) outs(%0 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.divf %in, %cst_5 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6xf32>
    %57 = linalg.generic {indexing_maps = [#map, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %56 : tensor<2x6x6x12xf32>, tensor<2x6x6xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.subf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %58 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%57 : tensor<2x6x6x12xf32>) outs(%1 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.mulf %in, %in : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<2x6x6xf32>
    %59 = linalg.generic {indexing_maps = [#map2, #map2], iterator_types = ["parallel", "parallel", "parallel"]} ins(%58 : tensor<2x6x6xf32>) outs(%0 : tensor<2x6x6xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.divf %in, %cst_5 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6xf32>
    %60 = linalg.generic {indexing_maps = [#map, #map1, #map1, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %56, %59 : tensor<2x6x6x12xf32>, tensor<2x6x6xf32>, tensor<2x6x6xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %in_42: f32, %out: f32):
      %73 = arith.addf %in_42, %cst_4 : f32
      %74 = math.sqrt %73 : f32
      %75 = arith.subf %in, %in_41 : f32
      %76 = arith.divf %75, %74 : f32
      linalg.yield %76 : f32
    } -> tensor<2x6x6x12xf32>
    %61 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%60, %arg10 : tensor<2x6x6x12xf32>, tensor<12xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %62 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%61, %arg11 : tensor<2x6x6x12xf32>, tensor<12xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %63 = tensor.empty() : tensor<12x48xf32>
    %transposed_39 = linalg.transpose ins(%arg12 : tensor<48x12xf32>) outs(%63 : tensor<12x48xf32>) permutation = [1, 0] 
    %64 = tensor.empty() : tensor<2x6x6x48xf32>
    %65 = linalg.fill ins(%cst_6 : f32) outs(%64 : tensor<2x6x6x48xf32>) -> tensor<2x6x6x48xf32>
    %66 = linalg.generic {indexing_maps = [#map7, #map18, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%62, %transposed_39 : tensor<2x6x6x12xf32>, tensor<12x48xf32>) outs(%65 : tensor<2x6x6x48xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<2x6x6x48xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%66, %arg13 : tensor<2x6x6x48xf32>, tensor<48xf32>) outs(%64 : tensor<2x6x6x48xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x48xf32>
    %68 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67 : tensor<2x6x6x48xf32>) outs(%64 : tensor<2x6x6x48xf32>) {
    ^bb0(%in: f32, %out: f32):
      %73 = arith.mulf %in, %cst_0 : f32
      %74 = math.erf %73 : f32
      %75 = arith.mulf %in, %cst_1 : f32
      %76 = arith.addf %74, %cst : f32
      %77 = arith.mulf %75, %76 : f32
      linalg.yield %77 : f32
    } -> tensor<2x6x6x48xf32>
    %69 = tensor.empty() : tensor<48x12xf32>
    %transposed_40 = linalg.transpose ins(%arg14 : tensor<12x48xf32>) outs(%69 : tensor<48x12xf32>) permutation = [1, 0] 
    %70 = linalg.generic {indexing_maps = [#map7, #map18, #map9], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%68, %transposed_40 : tensor<2x6x6x48xf32>, tensor<48x12xf32>) outs(%11 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.mulf %in, %in_41 : f32
      %74 = arith.addf %out, %73 : f32
      linalg.yield %74 : f32
    } -> tensor<2x6x6x12xf32>
    %71 = linalg.generic {indexing_maps = [#map, #map3, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%70, %arg15 : tensor<2x6x6x12xf32>, tensor<12xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    %72 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54, %71 : tensor<2x6x6x12xf32>, tensor<2x6x6x12xf32>) outs(%4 : tensor<2x6x6x12xf32>) {
    ^bb0(%in: f32, %in_41: f32, %out: f32):
      %73 = arith.addf %in, %in_41 : f32
      linalg.yield %73 : f32
    } -> tensor<2x6x6x12xf32>
    return %30, %72 : tensor<i64>, tensor<2x6x6x12xf32>
  }
}

