// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row-wise work after products, in the registers that hold their tiles: maxima and sums along rows, what is computed
// from one value for each row, and what takes it back to the rows; sizes that no tile divides.
//
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --machine=%t.json %ft_bin/ft-run %s 5 40 | FileCheck %s
// CHECK: 6 programs, {{[1-9][0-9]*}} runs, 0 failures
//
// The same by the definitions of operations on tiles.
// RUN: %python %S/Inputs/emulate.py --machine=%t.json --interpret-tile %ft_bin/ft-run %s 5 | FileCheck %s --check-prefix=MEANING
// MEANING: {{[1-9][0-9]*}} of them on tiles
// MEANING: 6 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// Each of them is computed so.
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=TILES
// TILES-LABEL: llvm.func @softmax_rows
// TILES: tile.mma
// TILES: tile.reduce
// TILES: arith.maximumf
// TILES: math.exp
// TILES: tile.reduce
// TILES: arith.addf
// TILES-LABEL: llvm.func @odd
// TILES: tile.reduce {{.*}} columns 37
// TILES-LABEL: llvm.func @halves
// TILES: tile.mma {{.*}}fragments
// TILES: tile.reduce
// TILES-LABEL: llvm.func @sigmoid
// TILES: tile.reduce
// TILES-LABEL: llvm.func @norm
// TILES: tile.reduce
// TILES-LABEL: llvm.func @doubles
// TILES: tile.reduce {{.*}} columns 24

// An online softmax between two products: all of it is computed with the first.
// RUN: ft-opt %examples/flash_attention.mlir --ft-compile="to=schedule target=sm_90a" | FileCheck %s --check-prefix=FLASH
// FLASH: etdg.layouts = [#tile.product<{{[^>]*}}fused = 4>

func.func @softmax_rows(%a: tensor<64x48xf32>, %b: tensor<48x64xf32>) -> tensor<64x64xf32> {
  %z = arith.constant dense<0.0> : tensor<64x64xf32>
  %low = arith.constant dense<-1.0e30> : tensor<64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %s = linalg.matmul ins(%a, %b : tensor<64x48xf32>, tensor<48x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<64x64xf32>) outs(%low : tensor<64xf32>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
  %d = arith.subf %s, %mb : tensor<64x64xf32>
  %p = math.exp %d : tensor<64x64xf32>
  %l = linalg.reduce { arith.addf } ins(%p : tensor<64x64xf32>) outs(%none : tensor<64xf32>) dimensions = [1]
  %lb = linalg.broadcast ins(%l : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [1]
  %r = arith.divf %p, %lb : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// A mean along rows of 37, with a scale and a bias of their own.
func.func @odd(%a: tensor<67x29xf32>, %b: tensor<29x37xf32>, %bias: tensor<67xf32>) -> (tensor<67x37xf32>, tensor<67xf32>) {
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

func.func @halves(%a: tensor<64x48xf16>, %b: tensor<48x32xf16>) -> tensor<64x32xf16> {
  %z = arith.constant dense<0.0> : tensor<64x32xf16>
  %low = arith.constant dense<-6.0e4> : tensor<64xf16>
  %e = tensor.empty() : tensor<64x32xf16>
  %s = linalg.matmul ins(%a, %b : tensor<64x48xf16>, tensor<48x32xf16>) outs(%z : tensor<64x32xf16>) -> tensor<64x32xf16>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<64x32xf16>) outs(%low : tensor<64xf16>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<64xf16>) outs(%e : tensor<64x32xf16>) dimensions = [1]
  %d = arith.subf %s, %mb : tensor<64x32xf16>
  %p = math.exp %d : tensor<64x32xf16>
  return %p : tensor<64x32xf16>
}

// A function of the scores in place of the softmax, divided by its own sum.
func.func @sigmoid(%a: tensor<48x32xf32>, %b: tensor<32x48xf32>) -> tensor<48x48xf32> {
  %z = arith.constant dense<0.0> : tensor<48x48xf32>
  %one = arith.constant dense<1.0> : tensor<48x48xf32>
  %none = arith.constant dense<1.0e-3> : tensor<48xf32>
  %e = tensor.empty() : tensor<48x48xf32>
  %s = linalg.matmul ins(%a, %b : tensor<48x32xf32>, tensor<32x48xf32>) outs(%z : tensor<48x48xf32>) -> tensor<48x48xf32>
  %n = arith.negf %s : tensor<48x48xf32>
  %x = math.exp %n : tensor<48x48xf32>
  %x1 = arith.addf %x, %one : tensor<48x48xf32>
  %p = arith.divf %one, %x1 : tensor<48x48xf32>
  %l = linalg.reduce { arith.addf } ins(%p : tensor<48x48xf32>) outs(%none : tensor<48xf32>) dimensions = [1]
  %lb = linalg.broadcast ins(%l : tensor<48xf32>) outs(%e : tensor<48x48xf32>) dimensions = [1]
  %r = arith.divf %p, %lb : tensor<48x48xf32>
  return %r : tensor<48x48xf32>
}

// Layer norm of rows of a list, after a product with weights that all share.
!x = tensor<16x64xf32>
!u = tensor<64x64xf32>
!y = tensor<16xf32>
func.func @norm(%xs: !ft.list<[N], !x>, %u: !u) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.constant dense<0.0> : !x
    %none = arith.constant dense<0.0> : !y
    %inverse = arith.constant dense<0.015625> : !y
    %eps = arith.constant dense<1.0e-5> : !y
    %e = tensor.empty() : !x
    %h = linalg.matmul ins(%x, %u : !x, !u) outs(%z : !x) -> !x
    %sum = linalg.reduce { arith.addf } ins(%h : !x) outs(%none : !y) dimensions = [1]
    %mean = arith.mulf %sum, %inverse : !y
    %mb = linalg.broadcast ins(%mean : !y) outs(%e : !x) dimensions = [1]
    %c = arith.subf %h, %mb : !x
    %cc = arith.mulf %c, %c : !x
    %var0 = linalg.reduce { arith.addf } ins(%cc : !x) outs(%none : !y) dimensions = [1]
    %var1 = arith.mulf %var0, %inverse : !y
    %var = arith.addf %var1, %eps : !y
    %rs = math.rsqrt %var : !y
    %rb = linalg.broadcast ins(%rs : !y) outs(%e : !x) dimensions = [1]
    %r = arith.mulf %c, %rb : !x
    ft.yield %r : !x
  }
  return %ys : !ft.list<[N], !x>
}

func.func @doubles(%a: tensor<40x32xf64>, %b: tensor<32x24xf64>) -> tensor<40x24xf64> {
  %z = arith.constant dense<0.0> : tensor<40x24xf64>
  %low = arith.constant dense<-1.0e30> : tensor<40xf64>
  %e = tensor.empty() : tensor<40x24xf64>
  %s = linalg.matmul ins(%a, %b : tensor<40x32xf64>, tensor<32x24xf64>) outs(%z : tensor<40x24xf64>) -> tensor<40x24xf64>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<40x24xf64>) outs(%low : tensor<40xf64>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<40xf64>) outs(%e : tensor<40x24xf64>) dimensions = [1]
  %d = arith.subf %s, %mb : tensor<40x24xf64>
  return %d : tensor<40x24xf64>
}
