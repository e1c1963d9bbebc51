// Squeeze and excite, as PyTorch's convolutions of one pixel are decomposed: tensors with dimensions of one element, whose sums
// are rounded, shifted and squashed by statements of their own. Each of these takes the rows of the sum that it continues, through a
// reshape by dimensions of one element, and what a sum starts with is a number of its body. Three blocks are left.
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | FileCheck %s
// RUN: ft-run %s --entry=squeezed --engine=cpu --seed=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=squeezed --engine=emulate --seed=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL

// EQUAL: equal

// CHECK-LABEL: etdg.graph @squeezed
// CHECK-NOT: linalg.fill{{.*}}tensor<1x
// CHECK: %[[MEAN:.*]] = etdg.buffer : !etdg.buffer<[1, 30], tensor<f32>>
// CHECK: %[[GATE:.*]] = etdg.buffer : !etdg.buffer<[1, 7], tensor<f32>>
// CHECK-NOT: etdg.buffer
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in = 0 x [0, 30)
// CHECK: writes (%[[MEAN]][i, j])
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in = 0 x [0, 7)
// CHECK: writes (%[[GATE]][i, j])
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in = 0 x [0, 30)
// CHECK-NOT: etdg.block {{.*}} [] ()
#nchw = affine_map<(n, c, h, w) -> (n, c, h, w)>
#nc = affine_map<(n, c, h, w) -> (n, c)>
#in = affine_map<(n, o, y, x, c, r, s) -> (n, c, y + r, x + s)>
#ker = affine_map<(n, o, y, x, c, r, s) -> (o, c, r, s)>
#out = affine_map<(n, o, y, x, c, r, s) -> (n, o, y, x)>
#two = affine_map<(n, c) -> (n, c)>
#chan = affine_map<(n, c) -> (c)>
func.func @squeezed(%x: tensor<1x30x5x3xf32>, %w: tensor<7x30x1x1xf32>, %b: tensor<7xf32>, %v: tensor<30x7x1x1xf32>) -> tensor<1x30x5x3xf32> {
  %zero = arith.constant 0.0 : f32
  %size = arith.constant 15.0 : f32
  %e0 = tensor.empty() : tensor<1x30xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<1x30xf32>) -> tensor<1x30xf32>
  %sum = linalg.generic {indexing_maps = [#nchw, #nc], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x : tensor<1x30x5x3xf32>) outs(%z0 : tensor<1x30xf32>) {
  ^bb0(%a: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<1x30xf32>
  %mean = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%sum : tensor<1x30xf32>) outs(%e0 : tensor<1x30xf32>) {
  ^bb0(%a: f32, %o: f32):
    %d = arith.divf %a, %size : f32
    linalg.yield %d : f32
  } -> tensor<1x30xf32>
  %pixel = tensor.expand_shape %mean [[0], [1, 2, 3]] output_shape [1, 30, 1, 1] : tensor<1x30xf32> into tensor<1x30x1x1xf32>
  %e1 = tensor.empty() : tensor<1x7x1x1xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<1x7x1x1xf32>) -> tensor<1x7x1x1xf32>
  %p1 = linalg.generic {indexing_maps = [#in, #ker, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%pixel, %w : tensor<1x30x1x1xf32>, tensor<7x30x1x1xf32>) outs(%z1 : tensor<1x7x1x1xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %m = arith.mulf %a, %k : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x7x1x1xf32>
  %flat = tensor.collapse_shape %p1 [[0], [1, 2, 3]] : tensor<1x7x1x1xf32> into tensor<1x7xf32>
  %e2 = tensor.empty() : tensor<1x7xf32>
  %act = linalg.generic {indexing_maps = [#two, #chan, #two], iterator_types = ["parallel", "parallel"]} ins(%flat, %b : tensor<1x7xf32>, tensor<7xf32>) outs(%e2 : tensor<1x7xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %s = arith.addf %a, %k : f32
    %t = math.tanh %s : f32
    linalg.yield %t : f32
  } -> tensor<1x7xf32>
  %back = tensor.expand_shape %act [[0], [1, 2, 3]] output_shape [1, 7, 1, 1] : tensor<1x7xf32> into tensor<1x7x1x1xf32>
  %e3 = tensor.empty() : tensor<1x30x1x1xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<1x30x1x1xf32>) -> tensor<1x30x1x1xf32>
  %p2 = linalg.generic {indexing_maps = [#in, #ker, #out], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%back, %v : tensor<1x7x1x1xf32>, tensor<30x7x1x1xf32>) outs(%z3 : tensor<1x30x1x1xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %m = arith.mulf %a, %k : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<1x30x1x1xf32>
  %gate = tensor.collapse_shape %p2 [[0], [1, 2, 3]] : tensor<1x30x1x1xf32> into tensor<1x30xf32>
  %e4 = tensor.empty() : tensor<1x30x5x3xf32>
  %y = linalg.generic {indexing_maps = [#nchw, #nc, #nchw], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x, %gate : tensor<1x30x5x3xf32>, tensor<1x30xf32>) outs(%e4 : tensor<1x30x5x3xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %m = arith.mulf %a, %k : f32
    linalg.yield %m : f32
  } -> tensor<1x30x5x3xf32>
  return %y : tensor<1x30x5x3xf32>
}

// Sums of which some start with one number and some with another.
// RUN: ft-run %s --entry=starts --engine=cpu --seed=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
func.func @starts(%x: tensor<6x4xf32>) -> tensor<6xf32> {
  %one = arith.constant 1.0 : f32
  %many = arith.constant 1000.0 : f32
  %e = tensor.empty() : tensor<3xf32>
  %a = linalg.fill ins(%one : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %b = linalg.fill ins(%many : f32) outs(%e : tensor<3xf32>) -> tensor<3xf32>
  %start = tensor.concat dim(0) %a, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<6xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x4xf32>) outs(%start : tensor<6xf32>) {
  ^bb0(%v: f32, %o: f32):
    %s = arith.addf %o, %v : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  return %sum : tensor<6xf32>
}
