// A convolution is a product whose columns are two loops, rows and columns of an image: thread blocks share out the rows, as many as fill a tile.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s
// RUN: ft-run %s --engine=emulate --multiprocessors=132 --compare=interpret | FileCheck %s --check-prefix=EQUAL

// A row of 56 columns in a tile of 64.
// CHECK-LABEL: etdg.graph @image
// CHECK: <dimension = 1, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, tile = 32, {{.*}} columns = 20 target
// CHECK-SAME: tile.product<block = [32, 64], {{.*}}, fused = 1>
// EQUAL: equal

#window = affine_map<(o, h, w, c, r, s) -> (c, h + r, w + s)>
#kernel = affine_map<(o, h, w, c, r, s) -> (o, c, r, s)>
#result = affine_map<(o, h, w, c, r, s) -> (o, h, w)>
func.func @image(%x: tensor<32x20x56xf32>, %w: tensor<256x32x3x3xf32>) -> tensor<256x20x56xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x20x56xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x20x56xf32>) -> tensor<256x20x56xf32>
  %padded = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<32x20x56xf32> to tensor<32x22x58xf32>
  %sums = linalg.generic {indexing_maps = [#window, #kernel, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<32x22x58xf32>, tensor<256x32x3x3xf32>) outs(%none : tensor<256x20x56xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %m = arith.mulf %a, %b : f32
    %r = arith.addf %sum, %m : f32
    linalg.yield %r : f32
  } -> tensor<256x20x56xf32>
  %y = math.absf %sums : tensor<256x20x56xf32>
  return %y : tensor<256x20x56xf32>
}
