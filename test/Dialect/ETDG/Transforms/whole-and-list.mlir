// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program over whole tensors becomes what the same program over lists of rows becomes.
//
// RUN: %python %S/Inputs/same-blocks.py %ft_bin/ft-opt %s coarsen | FileCheck %s
// RUN: %python %S/Inputs/same-blocks.py %ft_bin/ft-opt %s schedule | FileCheck %s
// RUN: ft-run %s --entry=linear --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=norm --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=two --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

#row = affine_map<(n) -> (n)>
#one = affine_map<(n) -> ()>
#ij = affine_map<(i, n) -> (i, n)>
#i = affine_map<(i, n) -> (i)>

// CHECK: linear: 1 equal blocks
func.func @linear(%x: tensor<24x16xf32>, %w: tensor<16x40xf32>, %b: tensor<40xf32>) -> tensor<24x40xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x40xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<24x40xf32>) -> tensor<24x40xf32>
  %p = linalg.matmul ins(%x, %w : tensor<24x16xf32>, tensor<16x40xf32>) outs(%f : tensor<24x40xf32>) -> tensor<24x40xf32>
  %bb = linalg.broadcast ins(%b : tensor<40xf32>) outs(%e : tensor<24x40xf32>) dimensions = [0]
  %s = arith.addf %p, %bb : tensor<24x40xf32>
  %y = math.tanh %s : tensor<24x40xf32>
  return %y : tensor<24x40xf32>
}
func.func @linear_list(%xs: !ft.list<[24], tensor<16xf32>>, %w: tensor<16x40xf32>, %b: tensor<40xf32>) -> !ft.list<[24], tensor<40xf32>> {
  %ys = ft.map (%x = %xs : !ft.list<[24], tensor<16xf32>>) {
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
    %p = linalg.vecmat ins(%x, %w : tensor<16xf32>, tensor<16x40xf32>) outs(%f : tensor<40xf32>) -> tensor<40xf32>
    %s = arith.addf %p, %b : tensor<40xf32>
    %y = math.tanh %s : tensor<40xf32>
    ft.yield %y : tensor<40xf32>
  }
  return %ys : !ft.list<[24], tensor<40xf32>>
}

// A layer norm: two reductions, numbers of a row each, and what stands between them; a residual.
// CHECK: norm: 1 equal blocks
func.func @norm(%x: tensor<37x48xf32>) -> tensor<37x48xf32> {
  %z = arith.constant dense<0.0> : tensor<37xf32>
  %k = arith.constant dense<0.0208333333> : tensor<37xf32>
  %eps = arith.constant dense<1.0e-5> : tensor<37xf32>
  %e = tensor.empty() : tensor<37x48xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<37x48xf32>) outs(%z : tensor<37xf32>) dimensions = [1]
  %m = arith.mulf %s, %k : tensor<37xf32>
  %c = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<37x48xf32>, tensor<37xf32>) outs(%e : tensor<37x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.subf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<37x48xf32>
  %q = arith.mulf %c, %c : tensor<37x48xf32>
  %t = linalg.reduce { arith.addf } ins(%q : tensor<37x48xf32>) outs(%z : tensor<37xf32>) dimensions = [1]
  %v = arith.mulf %t, %k : tensor<37xf32>
  %ve = arith.addf %v, %eps : tensor<37xf32>
  %d = math.rsqrt %ve : tensor<37xf32>
  %y = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%c, %d : tensor<37x48xf32>, tensor<37xf32>) outs(%e : tensor<37x48xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %r = arith.mulf %a, %b : f32
    linalg.yield %r : f32
  } -> tensor<37x48xf32>
  %w = arith.addf %y, %x : tensor<37x48xf32>
  return %w : tensor<37x48xf32>
}
func.func @norm_list(%xs: !ft.list<[37], tensor<48xf32>>) -> !ft.list<[37], tensor<48xf32>> {
  %ys = ft.map (%x = %xs : !ft.list<[37], tensor<48xf32>>) {
    %z = arith.constant dense<0.0> : tensor<f32>
    %k = arith.constant dense<0.0208333333> : tensor<f32>
    %eps = arith.constant dense<1.0e-5> : tensor<f32>
    %e = tensor.empty() : tensor<48xf32>
    %s = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["reduction"]} ins(%x : tensor<48xf32>) outs(%z : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %o, %a : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    %m = arith.mulf %s, %k : tensor<f32>
    %c = linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel"]} ins(%x, %m : tensor<48xf32>, tensor<f32>) outs(%e : tensor<48xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.subf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<48xf32>
    %q = arith.mulf %c, %c : tensor<48xf32>
    %t = linalg.generic {indexing_maps = [#row, #one], iterator_types = ["reduction"]} ins(%q : tensor<48xf32>) outs(%z : tensor<f32>) {
    ^bb0(%a: f32, %o: f32):
      %r = arith.addf %o, %a : f32
      linalg.yield %r : f32
    } -> tensor<f32>
    %v = arith.mulf %t, %k : tensor<f32>
    %ve = arith.addf %v, %eps : tensor<f32>
    %d = math.rsqrt %ve : tensor<f32>
    %y = linalg.generic {indexing_maps = [#row, #one, #row], iterator_types = ["parallel"]} ins(%c, %d : tensor<48xf32>, tensor<f32>) outs(%e : tensor<48xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %r = arith.mulf %a, %b : f32
      linalg.yield %r : f32
    } -> tensor<48xf32>
    %w = arith.addf %y, %x : tensor<48xf32>
    ft.yield %w : tensor<48xf32>
  }
  return %ys : !ft.list<[37], tensor<48xf32>>
}

// A product of a product.
// CHECK: two: 1 equal blocks
func.func @two(%x: tensor<2x31x8xf32>, %a: tensor<2x8x12xf32>, %b: tensor<2x12x5xf32>) -> tensor<2x31x5xf32> {
  %z = arith.constant dense<0.0> : tensor<2x31x12xf32>
  %z2 = arith.constant dense<0.0> : tensor<2x31x5xf32>
  %p = linalg.batch_matmul ins(%x, %a : tensor<2x31x8xf32>, tensor<2x8x12xf32>) outs(%z : tensor<2x31x12xf32>) -> tensor<2x31x12xf32>
  %q = linalg.batch_matmul ins(%p, %b : tensor<2x31x12xf32>, tensor<2x12x5xf32>) outs(%z2 : tensor<2x31x5xf32>) -> tensor<2x31x5xf32>
  return %q : tensor<2x31x5xf32>
}
func.func @two_list(%xs: !ft.list<[2, 31], tensor<8xf32>>, %as: !ft.list<[2], tensor<8x12xf32>>, %bs: !ft.list<[2], tensor<12x5xf32>>) -> !ft.list<[2, 31], tensor<5xf32>> {
  %ys = ft.map (%xx, %a, %b = %xs, %as, %bs : !ft.list<[2, 31], tensor<8xf32>>, !ft.list<[2], tensor<8x12xf32>>, !ft.list<[2], tensor<12x5xf32>>) {
    %y = ft.map (%x = %xx : !ft.list<[31], tensor<8xf32>>) {
      %z = arith.constant dense<0.0> : tensor<12xf32>
      %z2 = arith.constant dense<0.0> : tensor<5xf32>
      %p = linalg.vecmat ins(%x, %a : tensor<8xf32>, tensor<8x12xf32>) outs(%z : tensor<12xf32>) -> tensor<12xf32>
      %q = linalg.vecmat ins(%p, %b : tensor<12xf32>, tensor<12x5xf32>) outs(%z2 : tensor<5xf32>) -> tensor<5xf32>
      ft.yield %q : tensor<5xf32>
    }
    ft.yield %y : !ft.list<[31], tensor<5xf32>>
  }
  return %ys : !ft.list<[2, 31], tensor<5xf32>>
}
