// Operations of bodies: linalg from maps and body, tensor, short forms. Ties of maxima are away from the data.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build %s | FileCheck %s
// CHECK: 0 wrong

!x = tensor<3x4xf32>
!r = tensor<3xf32>
!c = tensor<4xf32>
!s = tensor<f32>

func.func @products(%a: !x, %b: tensor<4x5xf32>, %acc: tensor<3x5xf32>, %v: !c, %t: tensor<5x4xf32>) -> (tensor<3x5xf32>, !r, tensor<3x5xf32>) {
  %0 = linalg.matmul ins(%a, %b : !x, tensor<4x5xf32>) outs(%acc : tensor<3x5xf32>) -> tensor<3x5xf32>
  %zr = arith.constant dense<0.0> : !r
  %1 = linalg.matvec ins(%a, %v : !x, !c) outs(%zr : !r) -> !r
  %e = tensor.empty() : tensor<4x5xf32>
  %tt = linalg.transpose ins(%t : tensor<5x4xf32>) outs(%e : tensor<4x5xf32>) permutation = [1, 0]
  %2 = linalg.matmul ins(%a, %tt : !x, tensor<4x5xf32>) outs(%0 : tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0, %1, %2 : tensor<3x5xf32>, !r, tensor<3x5xf32>
}

func.func @reductions(%a: !x, %r: !r) -> (!r, !r, !r, !r, !r, !s) {
  %sum = linalg.reduce { arith.addf } ins(%a : !x) outs(%r : !r) dimensions = [1]
  %max = linalg.reduce { arith.maximumf } ins(%a : !x) outs(%r : !r) dimensions = [1]
  %min = linalg.reduce { arith.minimumf } ins(%a : !x) outs(%r : !r) dimensions = [1]
  %prod = linalg.reduce { arith.mulf } ins(%a : !x) outs(%r : !r) dimensions = [1]
  %least = linalg.reduce ins(%a : !x) outs(%r : !r) dimensions = [1] (%in: f32, %out: f32) {
    %s = math.exp %in : f32
    %q = arith.mulf %s, %in : f32
    %u = arith.subf %out, %q : f32
    linalg.yield %u : f32
  }
  %z = arith.constant dense<0.0> : !s
  %all = linalg.reduce { arith.addf } ins(%a : !x) outs(%z : !s) dimensions = [0, 1]
  return %sum, %max, %min, %prod, %least, %all : !r, !r, !r, !r, !r, !s
}

// Maps that are no projections: a convolution, a diagonal, a constant place.
func.func @maps(%a: tensor<7xf32>, %k: tensor<3xf32>, %m: tensor<4x4xf32>, %o: tensor<1x4xf32>) -> (tensor<5xf32>, !c, !c) {
  %z = arith.constant dense<0.0> : tensor<5xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, w) -> (i + w)>, affine_map<(i, w) -> (w)>, affine_map<(i, w) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a, %k : tensor<7xf32>, tensor<3xf32>) outs(%z : tensor<5xf32>) {
  ^bb0(%x: f32, %y: f32, %s: f32):
    %p = arith.mulf %x, %y : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<5xf32>
  %e = tensor.empty() : !c
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%m : tensor<4x4xf32>) outs(%e : !c) {
  ^bb0(%x: f32, %s: f32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %f = arith.sitofp %n : i64 to f32
    %p = arith.mulf %x, %x : f32
    %q = arith.mulf %p, %f : f32
    linalg.yield %q : f32
  } -> !c
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (0, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%o : tensor<1x4xf32>) outs(%1 : !c) {
  ^bb0(%x: f32, %s: f32):
    %p = arith.mulf %x, %s : f32
    linalg.yield %p : f32
  } -> !c
  return %0, %1, %2 : tensor<5xf32>, !c, !c
}

func.func @shapes(%a: !x, %r: !c, %s: !s) -> (tensor<2x2xf32>, !x, tensor<12xf32>, tensor<3x2x2xf32>, tensor<6x4xf32>, tensor<4x6xf32>, !x, !s) {
  %0 = tensor.extract_slice %a[1, 0] [2, 2] [1, 2] : !x to tensor<2x2xf32>
  %1 = tensor.insert_slice %r into %a[1, 0] [1, 4] [1, 1] : !c into !x
  %2 = tensor.collapse_shape %a [[0, 1]] : !x into tensor<12xf32>
  %3 = tensor.expand_shape %a [[0], [1, 2]] output_shape [3, 2, 2] : !x into tensor<3x2x2xf32>
  %4 = tensor.concat dim(0) %a, %1 : (!x, !x) -> tensor<6x4xf32>
  %c = arith.constant 0.0 : f32
  %5 = tensor.pad %a low[1, 0] high[0, 2] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : !x to tensor<4x6xf32>
  %f = tensor.extract %s[] : !s
  %6 = tensor.splat %f : !x
  %i1 = arith.constant 1 : index
  %g = tensor.extract %a[%i1, %i1] : !x
  %h = arith.mulf %g, %f : f32
  %7 = tensor.from_elements %h : !s
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<2x2xf32>, !x, tensor<12xf32>, tensor<3x2x2xf32>, tensor<6x4xf32>, tensor<4x6xf32>, !x, !s
}

func.func @forms(%a: !x, %s: !s, %g: !c, %b: !c, %one: tensor<3x1xf32>) -> (!x, !x, !x, !x, !x, !x, !x, !x) {
  %0 = ft.sigmoid %a : !x
  %1 = ft.silu %a : !x
  %2 = ft.softmax %a dim 1 : !x
  %3 = ft.softmax %a dim 0 : !x
  %4 = ft.layer_norm %a scale %g shift %b epsilon 1.0e-05 : !x, !c
  %5 = ft.scale %a by %s : !x, !s
  %6 = ft.broadcast %g : !c to !x
  %7 = ft.broadcast %one : tensor<3x1xf32> to !x
  return %0, %1, %2, %3, %4, %5, %6, %7 : !x, !x, !x, !x, !x, !x, !x, !x
}
