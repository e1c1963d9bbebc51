// A number for each of 32 images, and the images times it. As one loop 32 thread blocks have work and 100 SMs none; apart, the rows
// of all images are shared out. Neither part has a product: the price decides.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=PRICES < %t.remarks
// RUN: ft-run %s --engine=emulate --seed=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL

// PRICES: choose-division {{.*}}taken apart: {{.*}}(whole {{[0-9.e-]+}}, taken apart {{[0-9.e-]+}} s)
// EQUAL: equal

// CHECK-LABEL: etdg.graph @gated
// CHECK: etdg.block {{.*}} [map] (i) in [0, 32)
// CHECK: etdg.block {{.*}} [map, map] (i, j) in [0, 32) x [0, 112)
#chw = affine_map<(c, h, w) -> (c, h, w)>
#c = affine_map<(c, h, w) -> (c)>
#one = affine_map<(c) -> (c)>
func.func @gated(%x: tensor<32x112x112xf32>, %g: tensor<32xf32>) -> tensor<32x112x112xf32> {
  %e = tensor.empty() : tensor<32xf32>
  %gate = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%g : tensor<32xf32>) outs(%e : tensor<32xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = math.tanh %a : f32
    linalg.yield %t : f32
  } -> tensor<32xf32>
  %all = tensor.empty() : tensor<32x112x112xf32>
  %y = linalg.generic {indexing_maps = [#chw, #c, #chw], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %gate : tensor<32x112x112xf32>, tensor<32xf32>) outs(%all : tensor<32x112x112xf32>) {
  ^bb0(%a: f32, %k: f32, %o: f32):
    %m = arith.mulf %a, %k : f32
    linalg.yield %m : f32
  } -> tensor<32x112x112xf32>
  return %y : tensor<32x112x112xf32>
}
