// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles in registers, vectors, panels, blocks of terms, what is asked for ahead and what is packed as given them: other code, the same values.
//
// RUN: %python %S/Inputs/register-tiles.py %ft_bin/ft-opt %ft_bin/ft-run %s main "rows = 1, columns = 8, vector = 8" "rows = 7, columns = 12, vector = 4" "rows = 32, columns = 1, vector = 1" "rows = 4, columns = 8, vector = 2, panel = 1" "rows = 5, columns = 16, vector = 8, panel = 3" "rows = 6, columns = 8, vector = 8, block = 7" "rows = 2, columns = 24, vector = 8, panel = 40, block = 16" "rows = 4, columns = 16, vector = 8, ahead = 5, line = 16" "rows = 6, columns = 32, vector = 16, panel = 1, ahead = 40, line = 8, ahead_rows = 4" "rows = 7, columns = 12, vector = 4, rests = [5, 2], join = 3" "rows = 6, columns = 32, vector = 16, rests = [4, 2, 1], join = 2, outlined" "rows = 6, columns = 32, vector = 16, each_row" "rows = 5, columns = 32, vector = 16, pack_left" "rows = 4, columns = 16, vector = 16, pack_right, pack_left" | FileCheck %s
// CHECK: as printed, 1 products and 0 other nests: equal
// CHECK-COUNT-14: : equal, another code
// CHECK-NOT: code

func.func @main(%xs: !ft.list<[N], tensor<1x37xf32>>, %w: tensor<37x53xf32>) -> !ft.list<[N], tensor<1x53xf32>>
    attributes {ft.lengths = {N = 67 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x37xf32>>) -> !ft.list<[N], tensor<1x53xf32>> {
    %z = arith.constant dense<0.0> : tensor<1x53xf32>
    %y = linalg.matmul ins(%x, %w : tensor<1x37xf32>, tensor<37x53xf32>) outs(%z : tensor<1x53xf32>) -> tensor<1x53xf32>
    ft.yield %y : tensor<1x53xf32>
  }
  return %ys : !ft.list<[N], tensor<1x53xf32>>
}
