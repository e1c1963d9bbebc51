// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The model of that name of python/tests/imported_models.py as tensors (phase ft), for tests of the validator.
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#map3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#map4 = affine_map<(d0, d1, d2) -> (d2)>
#map5 = affine_map<(d0, d1, d2) -> (d0, d2)>
#map6 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map7 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map8 = affine_map<(d0, d1) -> (d0, d1)>
#map9 = affine_map<(d0, d1) -> (d1)>
module {
  func.func @lstm(%arg0: tensor<28x5xf32>, %arg1: tensor<11x2x5xf32>, %arg2: tensor<28xf32>, %arg3: tensor<28x7xf32>, %arg4: tensor<28xf32>, %arg5: tensor<28x7xf32>, %arg6: tensor<28xf32>, %arg7: tensor<28x7xf32>, %arg8: tensor<28xf32>, %arg9: tensor<28x7xf32>, %arg10: tensor<28xf32>, %arg11: tensor<28x7xf32>, %arg12: tensor<28xf32>) -> (tensor<11x2x7xf32>, tensor<3x2x7xf32>, tensor<3x2x7xf32>) attributes {ft.partition = "cost"} {
    %cst = arith.constant 1.000000e+00 : f32
    %c1 = arith.constant 1 : index
    %c11 = arith.constant 11 : index
    %c0 = arith.constant 0 : index
    %cst_0 = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<3x2x7xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<3x2x7xf32>) -> tensor<3x2x7xf32>
    %2 = tensor.empty() : tensor<5x28xf32>
    %transposed = linalg.transpose ins(%arg0 : tensor<28x5xf32>) outs(%2 : tensor<5x28xf32>) permutation = [1, 0] 
    %3 = tensor.empty() : tensor<11x2x28xf32>
    %4 = linalg.fill ins(%cst_0 : f32) outs(%3 : tensor<11x2x28xf32>) -> tensor<11x2x28xf32>
    %5 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg1, %transposed : tensor<11x2x5xf32>, tensor<5x28xf32>) outs(%4 : tensor<11x2x28xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %17 = arith.mulf %in, %in_15 : f32
      %18 = arith.addf %out, %17 : f32
      linalg.yield %18 : f32
    } -> tensor<11x2x28xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%5, %arg2 : tensor<11x2x28xf32>, tensor<28xf32>) outs(%3 : tensor<11x2x28xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %17 = arith.addf %in, %in_15 : f32
      linalg.yield %17 : f32
    } -> tensor<11x2x28xf32>
    %7 = tensor.empty() : tensor<11x2x7xf32>
    %8 = linalg.fill ins(%cst_0 : f32) outs(%7 : tensor<11x2x7xf32>) -> tensor<11x2x7xf32>
    %extracted_slice = tensor.extract_slice %1[0, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<3x2x7xf32> to tensor<2x7xf32>
    %9:3 = scf.for %arg13 = %c0 to %c11 step %c1 iter_args(%arg14 = %extracted_slice, %arg15 = %extracted_slice, %arg16 = %8) -> (tensor<2x7xf32>, tensor<2x7xf32>, tensor<11x2x7xf32>) {
      %17 = tensor.empty() : tensor<7x28xf32>
      %transposed_15 = linalg.transpose ins(%arg3 : tensor<28x7xf32>) outs(%17 : tensor<7x28xf32>) permutation = [1, 0] 
      %18 = tensor.empty() : tensor<2x28xf32>
      %19 = linalg.fill ins(%cst_0 : f32) outs(%18 : tensor<2x28xf32>) -> tensor<2x28xf32>
      %20 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg14, %transposed_15 : tensor<2x7xf32>, tensor<7x28xf32>) outs(%19 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %33 = arith.mulf %in, %in_22 : f32
        %34 = arith.addf %out, %33 : f32
        linalg.yield %34 : f32
      } -> tensor<2x28xf32>
      %21 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%20, %arg4 : tensor<2x28xf32>, tensor<28xf32>) outs(%18 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %33 = arith.addf %in, %in_22 : f32
        linalg.yield %33 : f32
      } -> tensor<2x28xf32>
      %extracted_slice_16 = tensor.extract_slice %6[%arg13, 0, 0] [1, 2, 28] [1, 1, 1] : tensor<11x2x28xf32> to tensor<2x28xf32>
      %22 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_16, %21 : tensor<2x28xf32>, tensor<2x28xf32>) outs(%18 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %33 = arith.addf %in, %in_22 : f32
        linalg.yield %33 : f32
      } -> tensor<2x28xf32>
      %extracted_slice_17 = tensor.extract_slice %22[0, 0] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %23 = tensor.empty() : tensor<2x7xf32>
      %24 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_17 : tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %33 = arith.negf %in : f32
        %34 = math.exp %33 : f32
        %35 = arith.addf %34, %cst : f32
        %36 = arith.divf %cst, %35 : f32
        linalg.yield %36 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_18 = tensor.extract_slice %22[0, 7] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %25 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_18 : tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %33 = arith.negf %in : f32
        %34 = math.exp %33 : f32
        %35 = arith.addf %34, %cst : f32
        %36 = arith.divf %cst, %35 : f32
        linalg.yield %36 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_19 = tensor.extract_slice %22[0, 21] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %26 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_19 : tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %33 = arith.negf %in : f32
        %34 = math.exp %33 : f32
        %35 = arith.addf %34, %cst : f32
        %36 = arith.divf %cst, %35 : f32
        linalg.yield %36 : f32
      } -> tensor<2x7xf32>
      %27 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%25, %arg15 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %33 = arith.mulf %in, %in_22 : f32
        linalg.yield %33 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_20 = tensor.extract_slice %22[0, 14] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %28 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_20 : tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %33 = math.tanh %in : f32
        linalg.yield %33 : f32
      } -> tensor<2x7xf32>
      %29 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%24, %28 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %33 = arith.mulf %in, %in_22 : f32
        linalg.yield %33 : f32
      } -> tensor<2x7xf32>
      %30 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%27, %29 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %33 = arith.addf %in, %in_22 : f32
        linalg.yield %33 : f32
      } -> tensor<2x7xf32>
      %31 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%30 : tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %33 = math.tanh %in : f32
        linalg.yield %33 : f32
      } -> tensor<2x7xf32>
      %32 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%26, %31 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%23 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %33 = arith.mulf %in, %in_22 : f32
        linalg.yield %33 : f32
      } -> tensor<2x7xf32>
      %inserted_slice_21 = tensor.insert_slice %32 into %arg16[%arg13, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<2x7xf32> into tensor<11x2x7xf32>
      scf.yield %32, %30, %inserted_slice_21 : tensor<2x7xf32>, tensor<2x7xf32>, tensor<11x2x7xf32>
    }
    %10 = tensor.empty() : tensor<7x28xf32>
    %transposed_1 = linalg.transpose ins(%arg5 : tensor<28x7xf32>) outs(%10 : tensor<7x28xf32>) permutation = [1, 0] 
    %11 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%9#2, %transposed_1 : tensor<11x2x7xf32>, tensor<7x28xf32>) outs(%4 : tensor<11x2x28xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %17 = arith.mulf %in, %in_15 : f32
      %18 = arith.addf %out, %17 : f32
      linalg.yield %18 : f32
    } -> tensor<11x2x28xf32>
    %12 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%11, %arg6 : tensor<11x2x28xf32>, tensor<28xf32>) outs(%3 : tensor<11x2x28xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %17 = arith.addf %in, %in_15 : f32
      linalg.yield %17 : f32
    } -> tensor<11x2x28xf32>
    %extracted_slice_2 = tensor.extract_slice %1[1, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<3x2x7xf32> to tensor<2x7xf32>
    %13:3 = scf.for %arg13 = %c0 to %c11 step %c1 iter_args(%arg14 = %extracted_slice_2, %arg15 = %extracted_slice_2, %arg16 = %8) -> (tensor<2x7xf32>, tensor<2x7xf32>, tensor<11x2x7xf32>) {
      %transposed_15 = linalg.transpose ins(%arg7 : tensor<28x7xf32>) outs(%10 : tensor<7x28xf32>) permutation = [1, 0] 
      %17 = tensor.empty() : tensor<2x28xf32>
      %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<2x28xf32>) -> tensor<2x28xf32>
      %19 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg14, %transposed_15 : tensor<2x7xf32>, tensor<7x28xf32>) outs(%18 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        %33 = arith.addf %out, %32 : f32
        linalg.yield %33 : f32
      } -> tensor<2x28xf32>
      %20 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%19, %arg8 : tensor<2x28xf32>, tensor<28xf32>) outs(%17 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.addf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x28xf32>
      %extracted_slice_16 = tensor.extract_slice %12[%arg13, 0, 0] [1, 2, 28] [1, 1, 1] : tensor<11x2x28xf32> to tensor<2x28xf32>
      %21 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_16, %20 : tensor<2x28xf32>, tensor<2x28xf32>) outs(%17 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.addf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x28xf32>
      %extracted_slice_17 = tensor.extract_slice %21[0, 0] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %22 = tensor.empty() : tensor<2x7xf32>
      %23 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_17 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = arith.negf %in : f32
        %33 = math.exp %32 : f32
        %34 = arith.addf %33, %cst : f32
        %35 = arith.divf %cst, %34 : f32
        linalg.yield %35 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_18 = tensor.extract_slice %21[0, 7] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %24 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_18 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = arith.negf %in : f32
        %33 = math.exp %32 : f32
        %34 = arith.addf %33, %cst : f32
        %35 = arith.divf %cst, %34 : f32
        linalg.yield %35 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_19 = tensor.extract_slice %21[0, 21] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %25 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_19 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = arith.negf %in : f32
        %33 = math.exp %32 : f32
        %34 = arith.addf %33, %cst : f32
        %35 = arith.divf %cst, %34 : f32
        linalg.yield %35 : f32
      } -> tensor<2x7xf32>
      %26 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%24, %arg15 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_20 = tensor.extract_slice %21[0, 14] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %27 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_20 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = math.tanh %in : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %28 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%23, %27 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %29 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%26, %28 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.addf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %30 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = math.tanh %in : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %31 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%25, %30 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %inserted_slice_21 = tensor.insert_slice %31 into %arg16[%arg13, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<2x7xf32> into tensor<11x2x7xf32>
      scf.yield %31, %29, %inserted_slice_21 : tensor<2x7xf32>, tensor<2x7xf32>, tensor<11x2x7xf32>
    }
    %transposed_3 = linalg.transpose ins(%arg9 : tensor<28x7xf32>) outs(%10 : tensor<7x28xf32>) permutation = [1, 0] 
    %14 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%13#2, %transposed_3 : tensor<11x2x7xf32>, tensor<7x28xf32>) outs(%4 : tensor<11x2x28xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %17 = arith.mulf %in, %in_15 : f32
      %18 = arith.addf %out, %17 : f32
      linalg.yield %18 : f32
    } -> tensor<11x2x28xf32>
    %15 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel"]} ins(%14, %arg10 : tensor<11x2x28xf32>, tensor<28xf32>) outs(%3 : tensor<11x2x28xf32>) {
    ^bb0(%in: f32, %in_15: f32, %out: f32):
      %17 = arith.addf %in, %in_15 : f32
      linalg.yield %17 : f32
    } -> tensor<11x2x28xf32>
    %extracted_slice_4 = tensor.extract_slice %1[2, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<3x2x7xf32> to tensor<2x7xf32>
    %16:3 = scf.for %arg13 = %c0 to %c11 step %c1 iter_args(%arg14 = %extracted_slice_4, %arg15 = %extracted_slice_4, %arg16 = %8) -> (tensor<2x7xf32>, tensor<2x7xf32>, tensor<11x2x7xf32>) {
      %transposed_15 = linalg.transpose ins(%arg11 : tensor<28x7xf32>) outs(%10 : tensor<7x28xf32>) permutation = [1, 0] 
      %17 = tensor.empty() : tensor<2x28xf32>
      %18 = linalg.fill ins(%cst_0 : f32) outs(%17 : tensor<2x28xf32>) -> tensor<2x28xf32>
      %19 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg14, %transposed_15 : tensor<2x7xf32>, tensor<7x28xf32>) outs(%18 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        %33 = arith.addf %out, %32 : f32
        linalg.yield %33 : f32
      } -> tensor<2x28xf32>
      %20 = linalg.generic {indexing_maps = [#map8, #map9, #map8], iterator_types = ["parallel", "parallel"]} ins(%19, %arg12 : tensor<2x28xf32>, tensor<28xf32>) outs(%17 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.addf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x28xf32>
      %extracted_slice_16 = tensor.extract_slice %15[%arg13, 0, 0] [1, 2, 28] [1, 1, 1] : tensor<11x2x28xf32> to tensor<2x28xf32>
      %21 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_16, %20 : tensor<2x28xf32>, tensor<2x28xf32>) outs(%17 : tensor<2x28xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.addf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x28xf32>
      %extracted_slice_17 = tensor.extract_slice %21[0, 0] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %22 = tensor.empty() : tensor<2x7xf32>
      %23 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_17 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = arith.negf %in : f32
        %33 = math.exp %32 : f32
        %34 = arith.addf %33, %cst : f32
        %35 = arith.divf %cst, %34 : f32
        linalg.yield %35 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_18 = tensor.extract_slice %21[0, 7] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %24 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_18 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = arith.negf %in : f32
        %33 = math.exp %32 : f32
        %34 = arith.addf %33, %cst : f32
        %35 = arith.divf %cst, %34 : f32
        linalg.yield %35 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_19 = tensor.extract_slice %21[0, 21] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %25 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_19 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = arith.negf %in : f32
        %33 = math.exp %32 : f32
        %34 = arith.addf %33, %cst : f32
        %35 = arith.divf %cst, %34 : f32
        linalg.yield %35 : f32
      } -> tensor<2x7xf32>
      %26 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%24, %arg15 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %extracted_slice_20 = tensor.extract_slice %21[0, 14] [2, 7] [1, 1] : tensor<2x28xf32> to tensor<2x7xf32>
      %27 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%extracted_slice_20 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = math.tanh %in : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %28 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%23, %27 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %29 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%26, %28 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.addf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %30 = linalg.generic {indexing_maps = [#map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%29 : tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %out: f32):
        %32 = math.tanh %in : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %31 = linalg.generic {indexing_maps = [#map8, #map8, #map8], iterator_types = ["parallel", "parallel"]} ins(%25, %30 : tensor<2x7xf32>, tensor<2x7xf32>) outs(%22 : tensor<2x7xf32>) {
      ^bb0(%in: f32, %in_22: f32, %out: f32):
        %32 = arith.mulf %in, %in_22 : f32
        linalg.yield %32 : f32
      } -> tensor<2x7xf32>
      %inserted_slice_21 = tensor.insert_slice %31 into %arg16[%arg13, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<2x7xf32> into tensor<11x2x7xf32>
      scf.yield %31, %29, %inserted_slice_21 : tensor<2x7xf32>, tensor<2x7xf32>, tensor<11x2x7xf32>
    }
    %expanded = tensor.expand_shape %9#0 [[0, 1], [2]] output_shape [1, 2, 7] : tensor<2x7xf32> into tensor<1x2x7xf32>
    %inserted_slice = tensor.insert_slice %expanded into %1[0, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<1x2x7xf32> into tensor<3x2x7xf32>
    %expanded_5 = tensor.expand_shape %13#0 [[0, 1], [2]] output_shape [1, 2, 7] : tensor<2x7xf32> into tensor<1x2x7xf32>
    %inserted_slice_6 = tensor.insert_slice %expanded_5 into %inserted_slice[1, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<1x2x7xf32> into tensor<3x2x7xf32>
    %expanded_7 = tensor.expand_shape %16#0 [[0, 1], [2]] output_shape [1, 2, 7] : tensor<2x7xf32> into tensor<1x2x7xf32>
    %inserted_slice_8 = tensor.insert_slice %expanded_7 into %inserted_slice_6[2, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<1x2x7xf32> into tensor<3x2x7xf32>
    %expanded_9 = tensor.expand_shape %9#1 [[0, 1], [2]] output_shape [1, 2, 7] : tensor<2x7xf32> into tensor<1x2x7xf32>
    %inserted_slice_10 = tensor.insert_slice %expanded_9 into %1[0, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<1x2x7xf32> into tensor<3x2x7xf32>
    %expanded_11 = tensor.expand_shape %13#1 [[0, 1], [2]] output_shape [1, 2, 7] : tensor<2x7xf32> into tensor<1x2x7xf32>
    %inserted_slice_12 = tensor.insert_slice %expanded_11 into %inserted_slice_10[1, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<1x2x7xf32> into tensor<3x2x7xf32>
    %expanded_13 = tensor.expand_shape %16#1 [[0, 1], [2]] output_shape [1, 2, 7] : tensor<2x7xf32> into tensor<1x2x7xf32>
    %inserted_slice_14 = tensor.insert_slice %expanded_13 into %inserted_slice_12[2, 0, 0] [1, 2, 7] [1, 1, 1] : tensor<1x2x7xf32> into tensor<3x2x7xf32>
    return %16#2, %inserted_slice_8, %inserted_slice_14 : tensor<11x2x7xf32>, tensor<3x2x7xf32>, tensor<3x2x7xf32>
  }
}

