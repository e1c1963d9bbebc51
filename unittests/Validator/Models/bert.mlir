// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of that name of python/tests/imported_models.py as tensors (phase ft), for tests of the validator.
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> ()>
#map2 = affine_map<() -> ()>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map4 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map5 = affine_map<(d0) -> (d0)>
#map6 = affine_map<(d0) -> ()>
#map7 = affine_map<(d0, d1) -> (d0)>
#map8 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map9 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map10 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map11 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map12 = affine_map<(d0, d1, d2) -> (d2)>
#map13 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#map14 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
#map15 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
module {
  func.func @bert(%arg0: tensor<2x7xi64>, %arg1: tensor<31x24xf32>, %arg2: tensor<16xi64>, %arg3: tensor<16x24xf32>, %arg4: tensor<24x24xf32>, %arg5: tensor<24xf32>, %arg6: tensor<24x24xf32>, %arg7: tensor<24xf32>, %arg8: tensor<24x24xf32>, %arg9: tensor<24xf32>, %arg10: tensor<24x24xf32>, %arg11: tensor<24xf32>, %arg12: tensor<24xf32>, %arg13: tensor<24xf32>, %arg14: tensor<40x24xf32>, %arg15: tensor<40xf32>, %arg16: tensor<24x40xf32>, %arg17: tensor<24xf32>, %arg18: tensor<24xf32>, %arg19: tensor<24xf32>) -> (tensor<i64>, tensor<i64>, tensor<2x7x24xf32>) attributes {ft.partition = "cost"} {
    %c16 = arith.constant 16 : index
    %c0 = arith.constant 0 : index
    %c31 = arith.constant 31 : index
    %c-16_i64 = arith.constant -16 : i64
    %c17_i64 = arith.constant 17 : i64
    %c-31_i64 = arith.constant -31 : i64
    %c32_i64 = arith.constant 32 : i64
    %cst = arith.constant 1.000000e+00 : f32
    %cst_0 = arith.constant 0.707106769 : f32
    %cst_1 = arith.constant 5.000000e-01 : f32
    %cst_2 = arith.constant 9.99999996E-13 : f32
    %cst_3 = arith.constant 2.400000e+01 : f32
    %cst_4 = arith.constant 0xFF800000 : f32
    %cst_5 = arith.constant 0.353553385 : f32
    %cst_6 = arith.constant 0.000000e+00 : f32
    %c16_i64 = arith.constant 16 : i64
    %c-9223372036854775808_i64 = arith.constant -9223372036854775808 : i64
    %c0_i64 = arith.constant 0 : i64
    %c31_i64 = arith.constant 31 : i64
    %0 = tensor.empty() : tensor<2x7xi64>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : tensor<2x7xi64>) outs(%0 : tensor<2x7xi64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.subi %in, %c32_i64 : i64
      %75 = arith.cmpi slt, %in, %c0_i64 : i64
      %76 = arith.select %75, %74, %in : i64
      linalg.yield %76 : i64
    } -> tensor<2x7xi64>
    %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2x7xi64>) outs(%0 : tensor<2x7xi64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.cmpi slt, %in, %c-31_i64 : i64
      %75 = arith.cmpi sge, %in, %c31_i64 : i64
      %76 = arith.ori %74, %75 : i1
      %77 = arith.select %76, %in, %c-9223372036854775808_i64 : i64
      linalg.yield %77 : i64
    } -> tensor<2x7xi64>
    %3 = tensor.empty() : tensor<i64>
    %4 = linalg.fill ins(%c-9223372036854775808_i64 : i64) outs(%3 : tensor<i64>) -> tensor<i64>
    %5 = linalg.generic {indexing_maps = [#map, #map1], iterator_types = ["reduction", "reduction"]} ins(%2 : tensor<2x7xi64>) outs(%4 : tensor<i64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.maxsi %out, %in : i64
      linalg.yield %74 : i64
    } -> tensor<i64>
    %6 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%4, %5 : tensor<i64>, tensor<i64>) outs(%3 : tensor<i64>) {
    ^bb0(%in: i64, %in_18: i64, %out: i64):
      %74 = arith.maxsi %in, %in_18 : i64
      linalg.yield %74 : i64
    } -> tensor<i64>
    %7 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2x7xi64>) outs(%0 : tensor<2x7xi64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.cmpi slt, %in, %c-31_i64 : i64
      %75 = arith.cmpi sge, %in, %c31_i64 : i64
      %76 = arith.ori %74, %75 : i1
      %77 = arith.select %76, %c0_i64, %in : i64
      linalg.yield %77 : i64
    } -> tensor<2x7xi64>
    %8 = tensor.empty() : tensor<2x7x24xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%7 : tensor<2x7xi64>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %74 = linalg.index 2 : index
      %75 = arith.index_cast %in : i64 to index
      %76 = arith.cmpi slt, %75, %c0 : index
      %77 = arith.addi %75, %c31 : index
      %78 = arith.select %76, %77, %75 : index
      %extracted = tensor.extract %arg1[%78, %74] : tensor<31x24xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x7x24xf32>
    %extracted_slice = tensor.extract_slice %arg2[0] [7] [1] : tensor<16xi64> to tensor<7xi64>
    %10 = tensor.empty() : tensor<7xi64>
    %11 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel"]} ins(%extracted_slice : tensor<7xi64>) outs(%10 : tensor<7xi64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.subi %in, %c17_i64 : i64
      %75 = arith.cmpi slt, %in, %c0_i64 : i64
      %76 = arith.select %75, %74, %in : i64
      linalg.yield %76 : i64
    } -> tensor<7xi64>
    %12 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel"]} ins(%11 : tensor<7xi64>) outs(%10 : tensor<7xi64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.cmpi slt, %in, %c-16_i64 : i64
      %75 = arith.cmpi sge, %in, %c16_i64 : i64
      %76 = arith.ori %74, %75 : i1
      %77 = arith.select %76, %in, %c-9223372036854775808_i64 : i64
      linalg.yield %77 : i64
    } -> tensor<7xi64>
    %13 = linalg.generic {indexing_maps = [#map5, #map6], iterator_types = ["reduction"]} ins(%12 : tensor<7xi64>) outs(%4 : tensor<i64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.maxsi %out, %in : i64
      linalg.yield %74 : i64
    } -> tensor<i64>
    %14 = linalg.generic {indexing_maps = [#map2, #map2, #map2], iterator_types = []} ins(%4, %13 : tensor<i64>, tensor<i64>) outs(%3 : tensor<i64>) {
    ^bb0(%in: i64, %in_18: i64, %out: i64):
      %74 = arith.maxsi %in, %in_18 : i64
      linalg.yield %74 : i64
    } -> tensor<i64>
    %15 = linalg.generic {indexing_maps = [#map5, #map5], iterator_types = ["parallel"]} ins(%11 : tensor<7xi64>) outs(%10 : tensor<7xi64>) {
    ^bb0(%in: i64, %out: i64):
      %74 = arith.cmpi slt, %in, %c-16_i64 : i64
      %75 = arith.cmpi sge, %in, %c16_i64 : i64
      %76 = arith.ori %74, %75 : i1
      %77 = arith.select %76, %c0_i64, %in : i64
      linalg.yield %77 : i64
    } -> tensor<7xi64>
    %16 = tensor.empty() : tensor<7x24xf32>
    %17 = linalg.generic {indexing_maps = [#map7, #map], iterator_types = ["parallel", "parallel"]} ins(%15 : tensor<7xi64>) outs(%16 : tensor<7x24xf32>) {
    ^bb0(%in: i64, %out: f32):
      %74 = linalg.index 1 : index
      %75 = arith.index_cast %in : i64 to index
      %76 = arith.cmpi slt, %75, %c0 : index
      %77 = arith.addi %75, %c16 : index
      %78 = arith.select %76, %77, %75 : index
      %extracted = tensor.extract %arg3[%78, %74] : tensor<16x24xf32>
      linalg.yield %extracted : f32
    } -> tensor<7x24xf32>
    %18 = linalg.generic {indexing_maps = [#map4, #map8, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%9, %17 : tensor<2x7x24xf32>, tensor<7x24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %19 = tensor.empty() : tensor<24x24xf32>
    %transposed = linalg.transpose ins(%arg4 : tensor<24x24xf32>) outs(%19 : tensor<24x24xf32>) permutation = [1, 0] 
    %20 = linalg.fill ins(%cst_6 : f32) outs(%8 : tensor<2x7x24xf32>) -> tensor<2x7x24xf32>
    %21 = linalg.generic {indexing_maps = [#map9, #map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18, %transposed : tensor<2x7x24xf32>, tensor<24x24xf32>) outs(%20 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7x24xf32>
    %22 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%21, %arg5 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %transposed_7 = linalg.transpose ins(%arg6 : tensor<24x24xf32>) outs(%19 : tensor<24x24xf32>) permutation = [1, 0] 
    %23 = linalg.generic {indexing_maps = [#map9, #map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18, %transposed_7 : tensor<2x7x24xf32>, tensor<24x24xf32>) outs(%20 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7x24xf32>
    %24 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%23, %arg7 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %transposed_8 = linalg.transpose ins(%arg8 : tensor<24x24xf32>) outs(%19 : tensor<24x24xf32>) permutation = [1, 0] 
    %25 = linalg.generic {indexing_maps = [#map9, #map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%18, %transposed_8 : tensor<2x7x24xf32>, tensor<24x24xf32>) outs(%20 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7x24xf32>
    %26 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%25, %arg9 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %expanded = tensor.expand_shape %22 [[0], [1], [2, 3]] output_shape [2, 7, 3, 8] : tensor<2x7x24xf32> into tensor<2x7x3x8xf32>
    %27 = tensor.empty() : tensor<2x3x7x8xf32>
    %transposed_9 = linalg.transpose ins(%expanded : tensor<2x7x3x8xf32>) outs(%27 : tensor<2x3x7x8xf32>) permutation = [0, 2, 1, 3] 
    %expanded_10 = tensor.expand_shape %24 [[0], [1], [2, 3]] output_shape [2, 7, 3, 8] : tensor<2x7x24xf32> into tensor<2x7x3x8xf32>
    %28 = tensor.empty() : tensor<2x3x8x7xf32>
    %transposed_11 = linalg.transpose ins(%expanded_10 : tensor<2x7x3x8xf32>) outs(%28 : tensor<2x3x8x7xf32>) permutation = [0, 2, 3, 1] 
    %29 = tensor.empty() : tensor<2x3x7x7xf32>
    %30 = linalg.fill ins(%cst_6 : f32) outs(%29 : tensor<2x3x7x7xf32>) -> tensor<2x3x7x7xf32>
    %31 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%transposed_9, %transposed_11 : tensor<2x3x7x8xf32>, tensor<2x3x8x7xf32>) outs(%30 : tensor<2x3x7x7xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x3x7x7xf32>
    %32 = linalg.generic {indexing_maps = [#map16, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%31 : tensor<2x3x7x7xf32>) outs(%29 : tensor<2x3x7x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.mulf %in, %cst_5 : f32
      linalg.yield %74 : f32
    } -> tensor<2x3x7x7xf32>
    %33 = tensor.empty() : tensor<2x3x7xf32>
    %34 = linalg.fill ins(%cst_4 : f32) outs(%33 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
    %35 = linalg.generic {indexing_maps = [#map16, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%32 : tensor<2x3x7x7xf32>) outs(%34 : tensor<2x3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.maximumf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<2x3x7xf32>
    %36 = linalg.generic {indexing_maps = [#map16, #map11, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32, %35 : tensor<2x3x7x7xf32>, tensor<2x3x7xf32>) outs(%29 : tensor<2x3x7x7xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.subf %in, %in_18 : f32
      %75 = math.exp %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x3x7x7xf32>
    %37 = linalg.fill ins(%cst_6 : f32) outs(%33 : tensor<2x3x7xf32>) -> tensor<2x3x7xf32>
    %38 = linalg.generic {indexing_maps = [#map16, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%36 : tensor<2x3x7x7xf32>) outs(%37 : tensor<2x3x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<2x3x7xf32>
    %39 = linalg.generic {indexing_maps = [#map16, #map11, #map16], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%36, %38 : tensor<2x3x7x7xf32>, tensor<2x3x7xf32>) outs(%29 : tensor<2x3x7x7xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.divf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x3x7x7xf32>
    %expanded_12 = tensor.expand_shape %26 [[0], [1], [2, 3]] output_shape [2, 7, 3, 8] : tensor<2x7x24xf32> into tensor<2x7x3x8xf32>
    %transposed_13 = linalg.transpose ins(%expanded_12 : tensor<2x7x3x8xf32>) outs(%27 : tensor<2x3x7x8xf32>) permutation = [0, 2, 1, 3] 
    %40 = linalg.fill ins(%cst_6 : f32) outs(%27 : tensor<2x3x7x8xf32>) -> tensor<2x3x7x8xf32>
    %41 = linalg.generic {indexing_maps = [#map13, #map14, #map15], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%39, %transposed_13 : tensor<2x3x7x7xf32>, tensor<2x3x7x8xf32>) outs(%40 : tensor<2x3x7x8xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x3x7x8xf32>
    %42 = tensor.empty() : tensor<2x7x3x8xf32>
    %transposed_14 = linalg.transpose ins(%41 : tensor<2x3x7x8xf32>) outs(%42 : tensor<2x7x3x8xf32>) permutation = [0, 2, 1, 3] 
    %collapsed = tensor.collapse_shape %transposed_14 [[0], [1], [2, 3]] : tensor<2x7x3x8xf32> into tensor<2x7x24xf32>
    %transposed_15 = linalg.transpose ins(%arg10 : tensor<24x24xf32>) outs(%19 : tensor<24x24xf32>) permutation = [1, 0] 
    %43 = linalg.generic {indexing_maps = [#map9, #map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %transposed_15 : tensor<2x7x24xf32>, tensor<24x24xf32>) outs(%20 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7x24xf32>
    %44 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%43, %arg11 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %45 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%44, %18 : tensor<2x7x24xf32>, tensor<2x7x24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %46 = tensor.empty() : tensor<2x7xf32>
    %47 = linalg.fill ins(%cst_6 : f32) outs(%46 : tensor<2x7xf32>) -> tensor<2x7xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%45 : tensor<2x7x24xf32>) outs(%47 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<2x7xf32>
    %49 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%48 : tensor<2x7xf32>) outs(%46 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.divf %in, %cst_3 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7xf32>
    %50 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %49 : tensor<2x7x24xf32>, tensor<2x7xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.subf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %51 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%50 : tensor<2x7x24xf32>) outs(%47 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.mulf %in, %in : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7xf32>
    %52 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%51 : tensor<2x7xf32>) outs(%46 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.divf %in, %cst_3 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7xf32>
    %53 = linalg.generic {indexing_maps = [#map4, #map3, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%45, %49, %52 : tensor<2x7x24xf32>, tensor<2x7xf32>, tensor<2x7xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %in_19: f32, %out: f32):
      %74 = arith.addf %in_19, %cst_2 : f32
      %75 = math.sqrt %74 : f32
      %76 = arith.subf %in, %in_18 : f32
      %77 = arith.divf %76, %75 : f32
      linalg.yield %77 : f32
    } -> tensor<2x7x24xf32>
    %54 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%53, %arg12 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %55 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%54, %arg13 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %56 = tensor.empty() : tensor<24x40xf32>
    %transposed_16 = linalg.transpose ins(%arg14 : tensor<40x24xf32>) outs(%56 : tensor<24x40xf32>) permutation = [1, 0] 
    %57 = tensor.empty() : tensor<2x7x40xf32>
    %58 = linalg.fill ins(%cst_6 : f32) outs(%57 : tensor<2x7x40xf32>) -> tensor<2x7x40xf32>
    %59 = linalg.generic {indexing_maps = [#map9, #map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%55, %transposed_16 : tensor<2x7x24xf32>, tensor<24x40xf32>) outs(%58 : tensor<2x7x40xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7x40xf32>
    %60 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%59, %arg15 : tensor<2x7x40xf32>, tensor<40xf32>) outs(%57 : tensor<2x7x40xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x40xf32>
    %61 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%60 : tensor<2x7x40xf32>) outs(%57 : tensor<2x7x40xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.mulf %in, %cst_0 : f32
      %75 = math.erf %74 : f32
      %76 = arith.mulf %in, %cst_1 : f32
      %77 = arith.addf %75, %cst : f32
      %78 = arith.mulf %76, %77 : f32
      linalg.yield %78 : f32
    } -> tensor<2x7x40xf32>
    %62 = tensor.empty() : tensor<40x24xf32>
    %transposed_17 = linalg.transpose ins(%arg16 : tensor<24x40xf32>) outs(%62 : tensor<40x24xf32>) permutation = [1, 0] 
    %63 = linalg.generic {indexing_maps = [#map9, #map10, #map11], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%61, %transposed_17 : tensor<2x7x40xf32>, tensor<40x24xf32>) outs(%20 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7x24xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%63, %arg17 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %65 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%64, %55 : tensor<2x7x24xf32>, tensor<2x7x24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %66 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%65 : tensor<2x7x24xf32>) outs(%47 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.addf %out, %in : f32
      linalg.yield %74 : f32
    } -> tensor<2x7xf32>
    %67 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%66 : tensor<2x7xf32>) outs(%46 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.divf %in, %cst_3 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7xf32>
    %68 = linalg.generic {indexing_maps = [#map4, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %67 : tensor<2x7x24xf32>, tensor<2x7xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.subf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %69 = linalg.generic {indexing_maps = [#map4, #map3], iterator_types = ["parallel", "parallel", "reduction"]} ins(%68 : tensor<2x7x24xf32>) outs(%47 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.mulf %in, %in : f32
      %75 = arith.addf %out, %74 : f32
      linalg.yield %75 : f32
    } -> tensor<2x7xf32>
    %70 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%69 : tensor<2x7xf32>) outs(%46 : tensor<2x7xf32>) {
    ^bb0(%in: f32, %out: f32):
      %74 = arith.divf %in, %cst_3 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map3, #map3, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%65, %67, %70 : tensor<2x7x24xf32>, tensor<2x7xf32>, tensor<2x7xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %in_19: f32, %out: f32):
      %74 = arith.addf %in_19, %cst_2 : f32
      %75 = math.sqrt %74 : f32
      %76 = arith.subf %in, %in_18 : f32
      %77 = arith.divf %76, %75 : f32
      linalg.yield %77 : f32
    } -> tensor<2x7x24xf32>
    %72 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%71, %arg18 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.mulf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    %73 = linalg.generic {indexing_maps = [#map4, #map12, #map4], iterator_types = ["parallel", "parallel", "parallel"]} ins(%72, %arg19 : tensor<2x7x24xf32>, tensor<24xf32>) outs(%8 : tensor<2x7x24xf32>) {
    ^bb0(%in: f32, %in_18: f32, %out: f32):
      %74 = arith.addf %in, %in_18 : f32
      linalg.yield %74 : f32
    } -> tensor<2x7x24xf32>
    return %6, %14, %73 : tensor<i64>, tensor<i64>, tensor<2x7x24xf32>
  }
}

