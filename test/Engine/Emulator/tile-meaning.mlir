// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on tiles by their definitions, beside what they are lowered to: printed kernels run as they stand, and
// what is wrong in them is noticed.
//
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: split-file %s %t
// RUN: %python %S/Inputs/tile-faults.py %ft_bin/ft-opt %ft_bin/ft-run %t.json %t/product.mlir main | FileCheck %s --check-prefix=PRODUCT
// RUN: %python %S/Inputs/tile-faults.py %ft_bin/ft-opt %ft_bin/ft-run %t.json %t/rows.mlir main | FileCheck %s --check-prefix=ROWS
// RUN: %python %S/Inputs/tile-faults.py %ft_bin/ft-opt %ft_bin/ft-run %t.json %t/lanes.mlir main | FileCheck %s --check-prefix=LANES

// PRODUCT: as printed, interpret-tile: equal
// PRODUCT: as printed, emulate: equal
// PRODUCT: no barrier: noticed
// PRODUCT: a step that does not wait: noticed
// PRODUCT: a store without a bound: noticed
// PRODUCT: a copy without a bound: noticed
// PRODUCT: accesses wider than rows: noticed
// PRODUCT: a layout of too many threads: noticed
// PRODUCT: strides that change places: noticed
// PRODUCT: another stage than was filled: noticed
// PRODUCT: an operand by thread: noticed
// PRODUCT: a sum without the last column: not in these kernels

// ROWS: as printed, interpret-tile: equal
// ROWS: as printed, emulate: equal
// ROWS: no barrier: noticed
// ROWS: a step that does not wait: noticed
// ROWS: strides that change places: noticed
// ROWS: a sum without the last column: noticed
// ROWS-NOT: NOT NOTICED

// LANES: as printed, interpret-tile: equal
// LANES: as printed, emulate: equal
// LANES: rows that lie elsewhere: noticed
// LANES: an index of another dimension: noticed
// LANES: rows by thread: noticed

// What is given must be kernels of the program, for the target.
// RUN: ft-opt %t/product.mlir --ft-compile="to=threads target=sm_80" -o %t.80.mlir
// RUN: not %ft_bin/ft-run %t/product.mlir --engine=interpret-tile --target=sm_90a --kernels=%t.80.mlir 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: 80.mlir:{{[0-9]+:[0-9]+}}: error: expected kernels for 'sm_90a', found those for 'sm_80'
// RUN: ft-opt %t/rows.mlir --ft-compile="to=threads target=sm_90a" -o %t.rows.mlir
// RUN: not %ft_bin/ft-run %t/product.mlir --engine=interpret-tile --target=sm_90a --kernels=%t.rows.mlir 2>&1 | FileCheck %s --check-prefix=COUNT
// COUNT: rows.mlir:{{[0-9]+:[0-9]+}}: error: expected a launch plan of 4 arguments and results, found 5
// RUN: sed 's/"main"/"other"/; s/module @main/module @other/' %t.80.mlir > %t.other.mlir
// RUN: not %ft_bin/ft-run %t/product.mlir --engine=emulate --target=sm_80 --kernels=%t.other.mlir 2>&1 | FileCheck %s --check-prefix=ENTRY
// ENTRY: error: holds no kernels of @main
// RUN: sed 's/:.67,37./:[37]/' %t.80.mlir > %t.rank.mlir
// RUN: not %ft_bin/ft-run %t/product.mlir --engine=emulate --target=sm_80 --kernels=%t.rank.mlir 2>&1 | FileCheck %s --check-prefix=RANK
// RANK: error: 'argument0' of the launch plan is an argument of 1 dimensions of f32, expected an argument of 2 dimensions of f32
// RUN: sed 's/tile.plan = "/tile.plan = "x/' %t.80.mlir > %t.plan.mlir
// RUN: not %ft_bin/ft-run %t/product.mlir --engine=emulate --target=sm_80 --kernels=%t.plan.mlir 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: error: the launch plan 'tile.plan' is wrong:
// RUN: not %ft_bin/ft-run %t/product.mlir --kernels=%t.80.mlir 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: ft-run: error: --kernels are a GPU's: --engine=cpu runs the program's own

//--- product.mlir
func.func @main(%a: tensor<67x37xf32>, %b: tensor<37x71xf32>, %c: tensor<67x71xf32>) -> tensor<67x71xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<67x37xf32>, tensor<37x71xf32>) outs(%c : tensor<67x71xf32>) -> tensor<67x71xf32>
  return %r : tensor<67x71xf32>
}

//--- rows.mlir
func.func @main(%a: tensor<67x29xf32>, %b: tensor<29x37xf32>, %bias: tensor<67xf32>) -> (tensor<67x37xf32>, tensor<67xf32>) {
  %z = arith.constant dense<0.0> : tensor<67x37xf32>
  %scale = arith.constant dense<0.027027> : tensor<67xf32>
  %e = tensor.empty() : tensor<67x37xf32>
  %s = linalg.matmul ins(%a, %b : tensor<67x29xf32>, tensor<29x37xf32>) outs(%z : tensor<67x37xf32>) -> tensor<67x37xf32>
  %sum = linalg.reduce { arith.addf } ins(%s : tensor<67x37xf32>) outs(%bias : tensor<67xf32>) dimensions = [1]
  %mean = arith.mulf %sum, %scale : tensor<67xf32>
  %mb = linalg.broadcast ins(%mean : tensor<67xf32>) outs(%e : tensor<67x37xf32>) dimensions = [1]
  %r = arith.subf %s, %mb : tensor<67x37xf32>
  return %r, %mean : tensor<67x37xf32>, tensor<67xf32>
}

//--- lanes.mlir
func.func @main(%xs: !ft.list<[N], tensor<8x48xf32>>) -> !ft.list<[N], tensor<8x48xf32>> attributes {ft.lengths = {N = 5 : i64}} {
  %zero = arith.constant dense<0.0> : tensor<8xf32>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<8x48xf32>>) -> !ft.list<[N], tensor<8x48xf32>> {
    %e = tensor.empty() : tensor<8x48xf32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<8x48xf32>) outs(%zero : tensor<8xf32>) dimensions = [1]
    %y = linalg.generic {indexing_maps = [affine_map<(p, k) -> (p, k)>, affine_map<(p, k) -> (p)>, affine_map<(p, k) -> (p, k)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%x, %s : tensor<8x48xf32>, tensor<8xf32>) outs(%e : tensor<8x48xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %k = linalg.index 1 : index
      %i = arith.index_cast %k : index to i64
      %f = arith.sitofp %i : i64 to f32
      %g = arith.mulf %a, %f : f32
      %h = arith.addf %g, %b : f32
      linalg.yield %h : f32
    } -> tensor<8x48xf32>
    ft.yield %y : tensor<8x48xf32>
  }
  return %ys : !ft.list<[N], tensor<8x48xf32>>
}
