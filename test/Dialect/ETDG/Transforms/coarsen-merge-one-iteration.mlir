// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dimension of one iteration counts as none in a merge: along it nothing becomes smaller, and on a GPU one thread block would compute all.
// Two convolutions at batch 1 stay two there. Cores share out the loops inside of a body, so that a CPU merges them.
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" --remarks-filter="coarsen.*" --remark-policy=all 2>&1 | FileCheck %s
// CHECK: stay two (cost): the aligned dimensions have one iteration: no intermediate would become smaller, and one unit would compute all
// CHECK-LABEL: etdg.graph @two
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in = 0 x [0, 32)
// CHECK: etdg.block @{{.*}} [map, map] (i, j) in = 0 x [0, 32)
//
// Few images are few tiles: what each of them would compute is more than a tile.
// RUN: sed 's/<1x/<3x/g' %s | ft-opt --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" --remarks-filter="coarsen.*" --remark-policy=all 2>&1 | FileCheck %s --check-prefix=IMAGES
// IMAGES: stay two (tiles): of two products, as one, {{[0-9]+}} tiles are left at typical lengths, apart {{[0-9]+}}; the machine has 132 units
// IMAGES-LABEL: etdg.graph @two
// IMAGES: etdg.block @{{.*}} [map, map] (i, j) in [0, 3) x [0, 32)
// IMAGES: etdg.block @{{.*}} [map, map] (i, j) in [0, 3) x [0, 32)

func.func @two(%x: tensor<1x32x48x48xf32>, %w1: tensor<32x32x1x1xf32>, %w2: tensor<32x32x3x3xf32>) -> tensor<1x32x48x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x32x48x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x32x48x48xf32>) -> tensor<1x32x48x48xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w1 : tensor<1x32x48x48xf32>, tensor<32x32x1x1xf32>) outs(%f : tensor<1x32x48x48xf32>) -> tensor<1x32x48x48xf32>
  %p = tensor.pad %y low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%n: index, %c: index, %h: index, %w: index):
    tensor.yield %zero : f32
  } : tensor<1x32x48x48xf32> to tensor<1x32x50x50xf32>
  %z = linalg.conv_2d_nchw_fchw ins(%p, %w2 : tensor<1x32x50x50xf32>, tensor<32x32x3x3xf32>) outs(%f : tensor<1x32x48x48xf32>) -> tensor<1x32x48x48xf32>
  return %z : tensor<1x32x48x48xf32>
}
