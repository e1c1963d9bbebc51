// A pooled window: sums over rows and then over columns, of which the second sees the first through a reshape that adds a dimension of one element. That one
// counts as 0 where a place is a sum with it, so that a channel is seen to read its own sums alone: thread blocks share out the channels.
//
// RUN: ft-opt %s --ft-compile="to=etdg" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=GRID
// RUN: ft-run %s --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL

// CHECK: elem (e0, e1) %{{.*}}[i, j, e1] : tensor<1x56xf32>
// GRID: etdg.block @{{.*}} [map, map] (i, j) in = 0 x [0, 144)
// GRID-NEXT: schedule <{{.*}}<dimension = 1, kind = parallel, level = grid
// EQUAL: equal
func.func @pool(%x: tensor<1x144x56x56xf32>) -> tensor<1x144x1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %views = tssa.new %x : tensor<1x144x56x56xf32>
  %view = tssa.view %views[reshape(1, 144, 1, 56, 56)] : !tssa.tensor<1x144x56x56xf32> -> !tssa.tensor<1x144x1x56x56xf32>
  %read = tssa.read %view : !tssa.tensor<1x144x1x56x56xf32>
  %empty = tensor.empty() : tensor<1x144x1x56xf32>
  %none = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x144x1x56xf32>) -> tensor<1x144x1x56xf32>
  %rows = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, e)>],
                          iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]}
      ins(%read : tensor<1x144x1x56x56xf32>) outs(%none : tensor<1x144x1x56xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %s = arith.addf %sum, %in : f32
    linalg.yield %s : f32
  } -> tensor<1x144x1x56xf32>
  %stored = tssa.new %rows : tensor<1x144x1x56xf32>
  %again = tssa.view %stored[reshape(1, 144, 1, 1, 56)] : !tssa.tensor<1x144x1x56xf32> -> !tssa.tensor<1x144x1x1x56xf32>
  %seen = tssa.read %again : !tssa.tensor<1x144x1x1x56xf32>
  %one = tensor.empty() : tensor<1x144x1x1xf32>
  %nothing = linalg.fill ins(%zero : f32) outs(%one : tensor<1x144x1x1xf32>) -> tensor<1x144x1x1xf32>
  %all = linalg.generic {indexing_maps = [affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>, affine_map<(a, b, c, d, e) -> (a, b, c, d)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%seen : tensor<1x144x1x1x56xf32>) outs(%nothing : tensor<1x144x1x1xf32>) {
  ^bb0(%in: f32, %sum: f32):
    %s = arith.addf %sum, %in : f32
    linalg.yield %s : f32
  } -> tensor<1x144x1x1xf32>
  return %all : tensor<1x144x1x1xf32>
}
