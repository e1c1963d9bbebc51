// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loop nests by the definitions of operations on points: all forms that threads share them in, and faults in what is printed.
//
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --interpret-tile %ft_bin/ft-run %S/reuse.mlir 2 7 | FileCheck %s --check-prefix=FORMS
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --interpret-tile %ft_bin/ft-run %s 4 7 | FileCheck %s --check-prefix=FORMS
// FORMS: {{[1-9][0-9]*}} programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// RUN: %python %S/Inputs/tile-faults.py %ft_bin/ft-opt %ft_bin/ft-run h200 %s sums | FileCheck %s
// CHECK: as printed, interpret-tile: equal
// CHECK: as printed, emulate: equal
// CHECK: points that lie elsewhere: noticed
// CHECK: an access that is not aligned: noticed: (E8) takes 4 elements at once, which are not aligned
// CHECK: points of too many threads: noticed: (E6) comes to a layout of 1024 threads
// CHECK: points by thread: noticed: (E7)
// CHECK: a neutral value that is none: noticed
// CHECK: sums that are joined by another operation: noticed
// CHECK: terms that are missing: noticed
// CHECK-NOT: NOT NOTICED

!x = tensor<6x512xf32>
!s = tensor<6xf32>

// A warp shares each sum, which begins with an argument; then elements, four at a time, with their index.
func.func @sums(%xs: !ft.list<[N], !x>, %begin: !s) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 5 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %e = tensor.empty() : !x
    %s = linalg.reduce { arith.addf } ins(%x : !x) outs(%begin : !s) dimensions = [1]
    %t = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%s : !s) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(p, k) -> (p, k)>, affine_map<(p, k) -> (p)>, affine_map<(p, k) -> (5 - p)>, affine_map<(p, k) -> (p, k)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x, %s, %t : !x, !s, !s) outs(%e : !x) {
    ^bb0(%a: f32, %b: f32, %d: f32, %c: f32):
      %k = linalg.index 1 : index
      %i = arith.index_cast %k : index to i64
      %f = arith.sitofp %i : i64 to f32
      %g = arith.mulf %a, %f : f32
      %h = arith.addf %g, %b : f32
      %j = arith.addf %h, %d : f32
      linalg.yield %j : f32
    } -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}

// Halves, conditions, and a border of zeros.
func.func @kinds(%xs: !ft.list<[N], tensor<9x12xf16>>) -> !ft.list<[N], tensor<9x12xf16>> {
  %zero = arith.constant 0.0 : f16
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<9x12xf16>>) -> !ft.list<[N], tensor<9x12xf16>> {
    %p = tensor.pad %x low[1, 0] high[1, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f16
    } : tensor<9x12xf16> to tensor<11x12xf16>
    %e = tensor.empty() : tensor<9x12xf16>
    %z = linalg.fill ins(%zero : f16) outs(%e : tensor<9x12xf16>) -> tensor<9x12xf16>
    %w = tensor.empty() : tensor<3xf16>
    %s = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (k)>, affine_map<(i, j, k) -> (i, j)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p, %w : tensor<11x12xf16>, tensor<3xf16>) outs(%z : tensor<9x12xf16>) {
    ^bb0(%a: f16, %b: f16, %c: f16):
      %d = arith.addf %c, %a : f16
      linalg.yield %d : f16
    } -> tensor<9x12xf16>
    %m = arith.cmpf ogt, %s, %x : tensor<9x12xf16>
    %y = arith.select %m, %s, %x : tensor<9x12xi1>, tensor<9x12xf16>
    ft.yield %y : tensor<9x12xf16>
  }
  return %ys : !ft.list<[N], tensor<9x12xf16>>
}
