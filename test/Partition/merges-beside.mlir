// A product and a convolution of each channel, beside a product that takes a hundred times as long: what they save apart counts against
// their own time, not against that of all.
//
// RUN: ft-opt %s --ft-compile="to=etdg" | ft-opt --pass-pipeline="builtin.module(ft-choose-merges{machine=%S/../machines/h200.json})" | FileCheck %s

// CHECK: etdg.graph @expand_depthwise
// CHECK-SAME: etdg.apart = ["r1+r4"]
#cij = affine_map<(o, h, w, c) -> (c, h, w)>
#oc = affine_map<(o, h, w, c) -> (o, c)>
#ohw = affine_map<(o, h, w, c) -> (o, h, w)>
#win = affine_map<(o, h, w, r, s) -> (o, h + r, w + s)>
#ker = affine_map<(o, h, w, r, s) -> (o, r, s)>
#out = affine_map<(o, h, w, r, s) -> (o, h, w)>
func.func @expand_depthwise(%x: tensor<24x56x56xf32>, %w: tensor<144x24xf32>, %d: tensor<144x3x3xf32>, %left: tensor<4096x4096xf32>, %right: tensor<4096x4096xf32>)
    -> (tensor<144x56x56xf32>, tensor<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<144x56x56xf32>
  %z = linalg.fill ins(%zero : f32) outs(%empty : tensor<144x56x56xf32>) -> tensor<144x56x56xf32>
  %p = linalg.generic {indexing_maps = [#cij, #oc, #ohw], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<24x56x56xf32>, tensor<144x24xf32>) outs(%z : tensor<144x56x56xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<144x56x56xf32>
  %padded = tensor.pad %p low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<144x56x56xf32> to tensor<144x58x58xf32>
  %y = linalg.generic {indexing_maps = [#win, #ker, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%padded, %d : tensor<144x58x58xf32>, tensor<144x3x3xf32>) outs(%z : tensor<144x56x56xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<144x56x56xf32>
  %long_empty = tensor.empty() : tensor<4096x4096xf32>
  %long_zero = linalg.fill ins(%zero : f32) outs(%long_empty : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %long = linalg.matmul ins(%left, %right : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%long_zero : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %y, %long : tensor<144x56x56xf32>, tensor<4096x4096xf32>
}
