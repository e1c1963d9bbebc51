// A product and a convolution of each channel that reads it: as one, a thread block computes both for a channel, and the product has no
// tiles. Prices leave them apart; without a price they are one.
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../machines/h200.json partition=cost validate=off" --remarks-filter="partition" 2>%t.remarks | FileCheck %s --check-prefix=APART
// RUN: FileCheck %s --check-prefix=PRICES < %t.remarks
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../machines/h200.json validate=off" | FileCheck %s --check-prefix=TOGETHER
// RUN: ft-opt %s --ft-compile="to=etdg" | ft-opt --pass-pipeline="builtin.module(ft-choose-merges{machine=%S/../machines/h200.json})" | FileCheck %s --check-prefix=CHOSEN
// RUN: ft-opt %s --ft-compile="to=etdg" | ft-opt --pass-pipeline="builtin.module(ft-choose-merges{machine=%S/../machines/h200.json},etdg.graph(etdg-lower-operations,etdg-fuse-accesses,etdg-merge-apart{machine=%S/../machines/h200.json}))" | FileCheck %s --check-prefix=APART
// RUN: ft-opt %s --ft-compile="to=etdg" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-lower-operations,etdg-fuse-accesses,etdg-merge-apart{machine=%S/../machines/h200.json}))" | FileCheck %s --check-prefix=LISTED

// CHOSEN: etdg.graph @expand_depthwise
// CHOSEN-SAME: etdg.apart = ["r1+r4"]
// LISTED: etdg.graph @expand_depthwise
// LISTED-SAME: etdg.together = ["r1+r4"]
// APART: etdg.block @r1 [map] (i) in [0, 144)
// APART: etdg.block @r4 [map] (i) in [0, 144)
// TOGETHER: etdg.block @r1 [map] (i) in [0, 144)
// TOGETHER-NOT: etdg.block @r4
// PRICES: merges | Category:partition | Reason="left out of what coarsening merges: r1+r4 (all merged {{[0-9.]+}} us, without any {{[0-9.]+}} us, without 1 of products {{[0-9.]+}} us)"
#cij = affine_map<(o, h, w, c) -> (c, h, w)>
#oc = affine_map<(o, h, w, c) -> (o, c)>
#ohw = affine_map<(o, h, w, c) -> (o, h, w)>
#win = affine_map<(o, h, w, r, s) -> (o, h + r, w + s)>
#ker = affine_map<(o, h, w, r, s) -> (o, r, s)>
#out = affine_map<(o, h, w, r, s) -> (o, h, w)>
func.func @expand_depthwise(%x: tensor<24x56x56xf32>, %w: tensor<144x24xf32>, %d: tensor<144x3x3xf32>) -> tensor<144x56x56xf32> {
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
  return %y : tensor<144x56x56xf32>
}
