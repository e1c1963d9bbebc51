// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectors of loop nests that are no products, and along which loop they run, as given them: other code, the same values.
// (Integers: no order of a sum rounds.)
//
// RUN: %python %S/Inputs/register-tiles.py %ft_bin/ft-opt %ft_bin/ft-run %s main "loop = 0, vector = 1, beside = 1" "loop = 0, vector = 4, beside = 1" "loop = 0, vector = 32, beside = 2" "loop = 1, vector = 4, beside = 1" "loop = 1, vector = 8, beside = 3" "loop = -1, vector = 1, beside = 1" | FileCheck %s
// CHECK: as printed, 0 products and {{[2-9]}} other nests: equal
// CHECK-COUNT-6: : equal, another code
// CHECK-NOT: code

#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @main(%xs: !ft.list<[N], tensor<37x53xi32>>) -> (!ft.list<[N], tensor<37xi32>>, !ft.list<[N], tensor<37x53xi32>>)
    attributes {ft.lengths = {N = 7 : i64}} {
  %ys:2 = ft.map (%x = %xs : !ft.list<[N], tensor<37x53xi32>>) -> !ft.list<[N], tensor<37xi32>>, !ft.list<[N], tensor<37x53xi32>> {
    %z = arith.constant dense<3> : tensor<37xi32>
    %s = linalg.reduce {arith.addi} ins(%x : tensor<37x53xi32>) outs(%z : tensor<37xi32>) dimensions = [1]
    %e = tensor.empty() : tensor<37x53xi32>
    %y = linalg.generic {indexing_maps = [#all, #rows, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<37x53xi32>, tensor<37xi32>) outs(%e : tensor<37x53xi32>) {
    ^bb0(%a: i32, %b: i32, %o: i32):
      %i = linalg.index 0 : index
      %c = arith.index_cast %i : index to i32
      %p = arith.muli %a, %c : i32
      %q = arith.subi %p, %b : i32
      linalg.yield %q : i32
    } -> tensor<37x53xi32>
    ft.yield %s, %y : tensor<37xi32>, tensor<37x53xi32>
  }
  return %ys#0, %ys#1 : !ft.list<[N], tensor<37xi32>>, !ft.list<[N], tensor<37x53xi32>>
}
