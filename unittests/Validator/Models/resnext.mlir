// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of that name of python/tests/imported_models.py as tensors (phase ft), for tests of the validator.
#map = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 * 2 + d5, d3 * 2 + d6)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d1, d4, d5, d6)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>
#map3 = affine_map<(d0) -> (d0)>
#map4 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d1)>
#map6 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map7 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4, d5)>
#map8 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
#map9 = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d4, d2 + d5, d3 + d6)>
#map10 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, d3 * 2 + d6, d4 * 2 + d7)>
#map11 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d1, d2, d5, d6, d7)>
#map12 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
#map13 = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d5, d3 + d6, d4 + d7)>
#map14 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map15 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map16 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map17 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map18 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map19 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map20 = affine_map<(d0, d1) -> (d0, d1)>
#map21 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @resnext(%arg0: tensor<2x3x33x33xf32>, %arg1: tensor<12x3x7x7xf32>, %arg2: tensor<12xf32>, %arg3: tensor<12xf32>, %arg4: tensor<12xf32>, %arg5: tensor<12xf32>, %arg6: tensor<8x12x1x1xf32>, %arg7: tensor<8xf32>, %arg8: tensor<8xf32>, %arg9: tensor<8xf32>, %arg10: tensor<8xf32>, %arg11: tensor<8x2x3x3xf32>, %arg12: tensor<8xf32>, %arg13: tensor<8xf32>, %arg14: tensor<8xf32>, %arg15: tensor<8xf32>, %arg16: tensor<24x8x1x1xf32>, %arg17: tensor<24xf32>, %arg18: tensor<24xf32>, %arg19: tensor<24xf32>, %arg20: tensor<24xf32>, %arg21: tensor<24x12x1x1xf32>, %arg22: tensor<24xf32>, %arg23: tensor<24xf32>, %arg24: tensor<24xf32>, %arg25: tensor<24xf32>, %arg26: tensor<8x24x1x1xf32>, %arg27: tensor<8xf32>, %arg28: tensor<8xf32>, %arg29: tensor<8xf32>, %arg30: tensor<8xf32>, %arg31: tensor<8x4x3x3xf32>, %arg32: tensor<8xf32>, %arg33: tensor<8xf32>, %arg34: tensor<8xf32>, %arg35: tensor<8xf32>, %arg36: tensor<48x8x1x1xf32>, %arg37: tensor<48xf32>, %arg38: tensor<48xf32>, %arg39: tensor<48xf32>, %arg40: tensor<48xf32>, %arg41: tensor<48x24x1x1xf32>, %arg42: tensor<48xf32>, %arg43: tensor<48xf32>, %arg44: tensor<48xf32>, %arg45: tensor<48xf32>, %arg46: tensor<5x48xf32>, %arg47: tensor<5xf32>) -> tensor<2x5xf32> attributes {ft.partition = "cost"} {
    %c2 = arith.constant 2 : index
    %cst = arith.constant 5.000000e+00 : f32
    %cst_0 = arith.constant 0xFF800000 : f32
    %cst_1 = arith.constant 9.99999974E-6 : f32
    %cst_2 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<2x3x39x39xf32>
    %1 = linalg.fill ins(%cst_2 : f32) outs(%0 : tensor<2x3x39x39xf32>) -> tensor<2x3x39x39xf32>
    %inserted_slice = tensor.insert_slice %arg0 into %1[0, 0, 3, 3] [2, 3, 33, 33] [1, 1, 1, 1] : tensor<2x3x33x33xf32> into tensor<2x3x39x39xf32>
    %2 = tensor.empty() : tensor<2x12x17x17xf32>
    %3 = linalg.fill ins(%cst_2 : f32) outs(%2 : tensor<2x12x17x17xf32>) -> tensor<2x12x17x17xf32>
    %4 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%inserted_slice, %arg1 : tensor<2x3x39x39xf32>, tensor<12x3x7x7xf32>) outs(%3 : tensor<2x12x17x17xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x12x17x17xf32>
    %5 = tensor.empty() : tensor<12xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg2, %arg3 : tensor<12xf32>, tensor<12xf32>) outs(%5 : tensor<12xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<12xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg4, %6, %arg5 : tensor<12xf32>, tensor<12xf32>, tensor<12xf32>) outs(%5 : tensor<12xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<12xf32>
    %8 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%4, %6, %7 : tensor<2x12x17x17xf32>, tensor<12xf32>, tensor<12xf32>) outs(%2 : tensor<2x12x17x17xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x12x17x17xf32>
    %9 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%8 : tensor<2x12x17x17xf32>) outs(%2 : tensor<2x12x17x17xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %in, %cst_2 : f32
      linalg.yield %93 : f32
    } -> tensor<2x12x17x17xf32>
    %10 = tensor.empty() : tensor<2x12x19x19xf32>
    %11 = linalg.fill ins(%cst_0 : f32) outs(%10 : tensor<2x12x19x19xf32>) -> tensor<2x12x19x19xf32>
    %inserted_slice_3 = tensor.insert_slice %9 into %11[0, 0, 1, 1] [2, 12, 17, 17] [1, 1, 1, 1] : tensor<2x12x17x17xf32> into tensor<2x12x19x19xf32>
    %12 = tensor.empty() : tensor<2x12x9x9xf32>
    %13 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<2x12x9x9xf32>) -> tensor<2x12x9x9xf32>
    %14 = tensor.empty() : tensor<2x12x9x19x3xf32>
    %15 = linalg.generic {indexing_maps = [#map6], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%14 : tensor<2x12x9x19x3xf32>) {
    ^bb0(%out: f32):
      %93 = linalg.index 0 : index
      %94 = linalg.index 1 : index
      %95 = linalg.index 2 : index
      %96 = linalg.index 4 : index
      %97 = arith.muli %95, %c2 : index
      %98 = arith.addi %97, %96 : index
      %99 = linalg.index 3 : index
      %extracted = tensor.extract %inserted_slice_3[%93, %94, %98, %99] : tensor<2x12x19x19xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x12x9x19x3xf32>
    %16 = tensor.empty() : tensor<2x12x9x9x3x3xf32>
    %17 = linalg.generic {indexing_maps = [#map7], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%16 : tensor<2x12x9x9x3x3xf32>) {
    ^bb0(%out: f32):
      %93 = linalg.index 0 : index
      %94 = linalg.index 1 : index
      %95 = linalg.index 2 : index
      %96 = linalg.index 3 : index
      %97 = linalg.index 5 : index
      %98 = arith.muli %96, %c2 : index
      %99 = arith.addi %98, %97 : index
      %100 = linalg.index 4 : index
      %extracted = tensor.extract %15[%93, %94, %95, %99, %100] : tensor<2x12x9x19x3xf32>
      linalg.yield %extracted : f32
    } -> tensor<2x12x9x9x3x3xf32>
    %18 = linalg.generic {indexing_maps = [#map7, #map8], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%17 : tensor<2x12x9x9x3x3xf32>) outs(%13 : tensor<2x12x9x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %out, %in : f32
      linalg.yield %93 : f32
    } -> tensor<2x12x9x9xf32>
    %19 = tensor.empty() : tensor<2x8x9x9xf32>
    %20 = linalg.fill ins(%cst_2 : f32) outs(%19 : tensor<2x8x9x9xf32>) -> tensor<2x8x9x9xf32>
    %21 = linalg.generic {indexing_maps = [#map9, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%18, %arg6 : tensor<2x12x9x9xf32>, tensor<8x12x1x1xf32>) outs(%20 : tensor<2x8x9x9xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x8x9x9xf32>
    %22 = tensor.empty() : tensor<8xf32>
    %23 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg7, %arg8 : tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<8xf32>
    %24 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg9, %23, %arg10 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<8xf32>
    %25 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%21, %23, %24 : tensor<2x8x9x9xf32>, tensor<8xf32>, tensor<8xf32>) outs(%19 : tensor<2x8x9x9xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x8x9x9xf32>
    %26 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%25 : tensor<2x8x9x9xf32>) outs(%19 : tensor<2x8x9x9xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %in, %cst_2 : f32
      linalg.yield %93 : f32
    } -> tensor<2x8x9x9xf32>
    %27 = tensor.empty() : tensor<2x8x11x11xf32>
    %28 = linalg.fill ins(%cst_2 : f32) outs(%27 : tensor<2x8x11x11xf32>) -> tensor<2x8x11x11xf32>
    %inserted_slice_4 = tensor.insert_slice %26 into %28[0, 0, 1, 1] [2, 8, 9, 9] [1, 1, 1, 1] : tensor<2x8x9x9xf32> into tensor<2x8x11x11xf32>
    %expanded = tensor.expand_shape %inserted_slice_4 [[0], [1, 2], [3], [4]] output_shape [2, 4, 2, 11, 11] : tensor<2x8x11x11xf32> into tensor<2x4x2x11x11xf32>
    %expanded_5 = tensor.expand_shape %arg11 [[0, 1], [2], [3], [4]] output_shape [4, 2, 2, 3, 3] : tensor<8x2x3x3xf32> into tensor<4x2x2x3x3xf32>
    %29 = tensor.empty() : tensor<2x4x2x5x5xf32>
    %30 = linalg.fill ins(%cst_2 : f32) outs(%29 : tensor<2x4x2x5x5xf32>) -> tensor<2x4x2x5x5xf32>
    %31 = linalg.generic {indexing_maps = [#map10, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%expanded, %expanded_5 : tensor<2x4x2x11x11xf32>, tensor<4x2x2x3x3xf32>) outs(%30 : tensor<2x4x2x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x4x2x5x5xf32>
    %32 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg12, %arg13 : tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<8xf32>
    %33 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg14, %32, %arg15 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<8xf32>
    %collapsed = tensor.collapse_shape %31 [[0], [1, 2], [3], [4]] : tensor<2x4x2x5x5xf32> into tensor<2x8x5x5xf32>
    %34 = tensor.empty() : tensor<2x8x5x5xf32>
    %35 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed, %32, %33 : tensor<2x8x5x5xf32>, tensor<8xf32>, tensor<8xf32>) outs(%34 : tensor<2x8x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x8x5x5xf32>
    %36 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%35 : tensor<2x8x5x5xf32>) outs(%34 : tensor<2x8x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %in, %cst_2 : f32
      linalg.yield %93 : f32
    } -> tensor<2x8x5x5xf32>
    %37 = tensor.empty() : tensor<2x24x5x5xf32>
    %38 = linalg.fill ins(%cst_2 : f32) outs(%37 : tensor<2x24x5x5xf32>) -> tensor<2x24x5x5xf32>
    %39 = linalg.generic {indexing_maps = [#map9, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%36, %arg16 : tensor<2x8x5x5xf32>, tensor<24x8x1x1xf32>) outs(%38 : tensor<2x24x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x24x5x5xf32>
    %40 = tensor.empty() : tensor<24xf32>
    %41 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg17, %arg18 : tensor<24xf32>, tensor<24xf32>) outs(%40 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<24xf32>
    %42 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg19, %41, %arg20 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) outs(%40 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<24xf32>
    %43 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%39, %41, %42 : tensor<2x24x5x5xf32>, tensor<24xf32>, tensor<24xf32>) outs(%37 : tensor<2x24x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x24x5x5xf32>
    %44 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%18, %arg21 : tensor<2x12x9x9xf32>, tensor<24x12x1x1xf32>) outs(%38 : tensor<2x24x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x24x5x5xf32>
    %45 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg22, %arg23 : tensor<24xf32>, tensor<24xf32>) outs(%40 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<24xf32>
    %46 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg24, %45, %arg25 : tensor<24xf32>, tensor<24xf32>, tensor<24xf32>) outs(%40 : tensor<24xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<24xf32>
    %47 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%44, %45, %46 : tensor<2x24x5x5xf32>, tensor<24xf32>, tensor<24xf32>) outs(%37 : tensor<2x24x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x24x5x5xf32>
    %48 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%43, %47 : tensor<2x24x5x5xf32>, tensor<2x24x5x5xf32>) outs(%37 : tensor<2x24x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %in_15 : f32
      linalg.yield %93 : f32
    } -> tensor<2x24x5x5xf32>
    %49 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%48 : tensor<2x24x5x5xf32>) outs(%37 : tensor<2x24x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %in, %cst_2 : f32
      linalg.yield %93 : f32
    } -> tensor<2x24x5x5xf32>
    %50 = linalg.fill ins(%cst_2 : f32) outs(%34 : tensor<2x8x5x5xf32>) -> tensor<2x8x5x5xf32>
    %51 = linalg.generic {indexing_maps = [#map9, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%49, %arg26 : tensor<2x24x5x5xf32>, tensor<8x24x1x1xf32>) outs(%50 : tensor<2x8x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x8x5x5xf32>
    %52 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg27, %arg28 : tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<8xf32>
    %53 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg29, %52, %arg30 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<8xf32>
    %54 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%51, %52, %53 : tensor<2x8x5x5xf32>, tensor<8xf32>, tensor<8xf32>) outs(%34 : tensor<2x8x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x8x5x5xf32>
    %55 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%54 : tensor<2x8x5x5xf32>) outs(%34 : tensor<2x8x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %in, %cst_2 : f32
      linalg.yield %93 : f32
    } -> tensor<2x8x5x5xf32>
    %56 = tensor.empty() : tensor<2x8x7x7xf32>
    %57 = linalg.fill ins(%cst_2 : f32) outs(%56 : tensor<2x8x7x7xf32>) -> tensor<2x8x7x7xf32>
    %inserted_slice_6 = tensor.insert_slice %55 into %57[0, 0, 1, 1] [2, 8, 5, 5] [1, 1, 1, 1] : tensor<2x8x5x5xf32> into tensor<2x8x7x7xf32>
    %expanded_7 = tensor.expand_shape %inserted_slice_6 [[0], [1, 2], [3], [4]] output_shape [2, 2, 4, 7, 7] : tensor<2x8x7x7xf32> into tensor<2x2x4x7x7xf32>
    %expanded_8 = tensor.expand_shape %arg31 [[0, 1], [2], [3], [4]] output_shape [2, 4, 4, 3, 3] : tensor<8x4x3x3xf32> into tensor<2x4x4x3x3xf32>
    %58 = tensor.empty() : tensor<2x2x4x5x5xf32>
    %59 = linalg.fill ins(%cst_2 : f32) outs(%58 : tensor<2x2x4x5x5xf32>) -> tensor<2x2x4x5x5xf32>
    %60 = linalg.generic {indexing_maps = [#map13, #map11, #map12], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%expanded_7, %expanded_8 : tensor<2x2x4x7x7xf32>, tensor<2x4x4x3x3xf32>) outs(%59 : tensor<2x2x4x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x2x4x5x5xf32>
    %61 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg32, %arg33 : tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<8xf32>
    %62 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg34, %61, %arg35 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) outs(%22 : tensor<8xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<8xf32>
    %collapsed_9 = tensor.collapse_shape %60 [[0], [1, 2], [3], [4]] : tensor<2x2x4x5x5xf32> into tensor<2x8x5x5xf32>
    %63 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%collapsed_9, %61, %62 : tensor<2x8x5x5xf32>, tensor<8xf32>, tensor<8xf32>) outs(%34 : tensor<2x8x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x8x5x5xf32>
    %64 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%63 : tensor<2x8x5x5xf32>) outs(%34 : tensor<2x8x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %in, %cst_2 : f32
      linalg.yield %93 : f32
    } -> tensor<2x8x5x5xf32>
    %65 = tensor.empty() : tensor<2x48x5x5xf32>
    %66 = linalg.fill ins(%cst_2 : f32) outs(%65 : tensor<2x48x5x5xf32>) -> tensor<2x48x5x5xf32>
    %67 = linalg.generic {indexing_maps = [#map9, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%64, %arg36 : tensor<2x8x5x5xf32>, tensor<48x8x1x1xf32>) outs(%66 : tensor<2x48x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x48x5x5xf32>
    %68 = tensor.empty() : tensor<48xf32>
    %69 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg37, %arg38 : tensor<48xf32>, tensor<48xf32>) outs(%68 : tensor<48xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<48xf32>
    %70 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg39, %69, %arg40 : tensor<48xf32>, tensor<48xf32>, tensor<48xf32>) outs(%68 : tensor<48xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<48xf32>
    %71 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%67, %69, %70 : tensor<2x48x5x5xf32>, tensor<48xf32>, tensor<48xf32>) outs(%65 : tensor<2x48x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x48x5x5xf32>
    %72 = linalg.generic {indexing_maps = [#map9, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%49, %arg41 : tensor<2x24x5x5xf32>, tensor<48x24x1x1xf32>) outs(%66 : tensor<2x48x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x48x5x5xf32>
    %73 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg42, %arg43 : tensor<48xf32>, tensor<48xf32>) outs(%68 : tensor<48xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %cst_1 : f32
      %94 = math.sqrt %93 : f32
      %95 = arith.divf %in_15, %94 : f32
      linalg.yield %95 : f32
    } -> tensor<48xf32>
    %74 = linalg.generic {indexing_maps = [#map3, #map3, #map3, #map3], iterator_types = ["parallel"]} ins(%arg44, %73, %arg45 : tensor<48xf32>, tensor<48xf32>, tensor<48xf32>) outs(%68 : tensor<48xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.subf %in_16, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<48xf32>
    %75 = linalg.generic {indexing_maps = [#map4, #map5, #map5, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%72, %73, %74 : tensor<2x48x5x5xf32>, tensor<48xf32>, tensor<48xf32>) outs(%65 : tensor<2x48x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %in_16: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %93, %in_16 : f32
      linalg.yield %94 : f32
    } -> tensor<2x48x5x5xf32>
    %76 = linalg.generic {indexing_maps = [#map4, #map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%71, %75 : tensor<2x48x5x5xf32>, tensor<2x48x5x5xf32>) outs(%65 : tensor<2x48x5x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %in_15 : f32
      linalg.yield %93 : f32
    } -> tensor<2x48x5x5xf32>
    %77 = linalg.generic {indexing_maps = [#map4, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%76 : tensor<2x48x5x5xf32>) outs(%65 : tensor<2x48x5x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.maximumf %in, %cst_2 : f32
      linalg.yield %93 : f32
    } -> tensor<2x48x5x5xf32>
    %78 = tensor.empty() : tensor<2x48x1x5xf32>
    %collapsed_10 = tensor.collapse_shape %78 [[0], [1, 2], [3]] : tensor<2x48x1x5xf32> into tensor<2x48x5xf32>
    %79 = linalg.fill ins(%cst_2 : f32) outs(%collapsed_10 : tensor<2x48x5xf32>) -> tensor<2x48x5xf32>
    %80 = linalg.generic {indexing_maps = [#map4, #map14], iterator_types = ["parallel", "parallel", "reduction", "parallel"]} ins(%77 : tensor<2x48x5x5xf32>) outs(%79 : tensor<2x48x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.addf %out, %in : f32
      linalg.yield %93 : f32
    } -> tensor<2x48x5xf32>
    %81 = tensor.empty() : tensor<2x48x5xf32>
    %82 = linalg.generic {indexing_maps = [#map15, #map15], iterator_types = ["parallel", "parallel", "parallel"]} ins(%80 : tensor<2x48x5xf32>) outs(%81 : tensor<2x48x5xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.divf %in, %cst : f32
      linalg.yield %93 : f32
    } -> tensor<2x48x5xf32>
    %83 = tensor.empty() : tensor<2x48x1x1xf32>
    %expanded_11 = tensor.expand_shape %82 [[0], [1, 2], [3, 4]] output_shape [2, 48, 1, 1, 5] : tensor<2x48x5xf32> into tensor<2x48x1x1x5xf32>
    %collapsed_12 = tensor.collapse_shape %expanded_11 [[0], [1], [2, 3], [4]] : tensor<2x48x1x1x5xf32> into tensor<2x48x1x5xf32>
    %collapsed_13 = tensor.collapse_shape %83 [[0], [1], [2, 3]] : tensor<2x48x1x1xf32> into tensor<2x48x1xf32>
    %84 = linalg.fill ins(%cst_2 : f32) outs(%collapsed_13 : tensor<2x48x1xf32>) -> tensor<2x48x1xf32>
    %85 = linalg.generic {indexing_maps = [#map4, #map16], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed_12 : tensor<2x48x1x5xf32>) outs(%84 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.addf %out, %in : f32
      linalg.yield %93 : f32
    } -> tensor<2x48x1xf32>
    %86 = tensor.empty() : tensor<2x48x1xf32>
    %87 = linalg.generic {indexing_maps = [#map15, #map15], iterator_types = ["parallel", "parallel", "parallel"]} ins(%85 : tensor<2x48x1xf32>) outs(%86 : tensor<2x48x1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %93 = arith.divf %in, %cst : f32
      linalg.yield %93 : f32
    } -> tensor<2x48x1xf32>
    %collapsed_14 = tensor.collapse_shape %87 [[0], [1, 2]] : tensor<2x48x1xf32> into tensor<2x48xf32>
    %88 = tensor.empty() : tensor<48x5xf32>
    %transposed = linalg.transpose ins(%arg46 : tensor<5x48xf32>) outs(%88 : tensor<48x5xf32>) permutation = [1, 0] 
    %89 = tensor.empty() : tensor<2x5xf32>
    %90 = linalg.fill ins(%cst_2 : f32) outs(%89 : tensor<2x5xf32>) -> tensor<2x5xf32>
    %91 = linalg.generic {indexing_maps = [#map17, #map18, #map19], iterator_types = ["parallel", "parallel", "reduction"]} ins(%collapsed_14, %transposed : tensor<2x48xf32>, tensor<48x5xf32>) outs(%90 : tensor<2x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.mulf %in, %in_15 : f32
      %94 = arith.addf %out, %93 : f32
      linalg.yield %94 : f32
    } -> tensor<2x5xf32>
    %92 = linalg.generic {indexing_maps = [#map20, #map21, #map20], iterator_types = ["parallel", "parallel"]} ins(%91, %arg47 : tensor<2x5xf32>, tensor<5xf32>) outs(%89 : tensor<2x5xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %93 = arith.addf %in, %in_15 : f32
      linalg.yield %93 : f32
    } -> tensor<2x5xf32>
    return %92 : tensor<2x5xf32>
  }
}

