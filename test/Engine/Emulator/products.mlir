// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of matrices whose tiles go through shared memory: sizes that are no multiple of a tile, operands
// that are transposed, each type of elements, rows of a list, batches, and what is computed element by
// element while a tile is in registers. Asynchronous copies are done as late as they may be.
//
// A machine on which operands come slowly to threads that don't share them wants tiles even for such small products.
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --machine=%t.json %ft_bin/ft-run %s 5 40 | FileCheck %s
// CHECK: 15 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// The same by the definitions of operations on tiles.
// RUN: %python %S/Inputs/emulate.py --machine=%t.json --interpret-tile %ft_bin/ft-run %s 5 | FileCheck %s --check-prefix=MEANING
// MEANING: {{[1-9][0-9]*}} of them on tiles
// MEANING: 15 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// Each of them is computed so.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=TILES
// TILES-COUNT-16: #tile.product<

// One stage by hand, which is filled again when all have read it.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" -o %t.mlir
// RUN: sed 's/stages = 2/stages = 1/' %t.mlir > %t.one.mlir
// RUN: %ft_bin/ft-run %t.one.mlir --entry=primes --engine=emulate --target=sm_90a --compare=interpret | FileCheck %s --check-prefix=ONE
// RUN: %ft_bin/ft-run %t.one.mlir --entry=left_transposed --engine=emulate --target=sm_90a --seed=4 --compare=interpret | FileCheck %s --check-prefix=ONE
// ONE: {{^}}equal

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Multiples of everything.
func.func @even(%a: tensor<64x48xf32>, %b: tensor<48x96xf32>, %c: tensor<64x96xf32>) -> tensor<64x96xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x48xf32>, tensor<48x96xf32>) outs(%c : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}

// Primes: elements are copied one by one.
func.func @primes(%a: tensor<67x37xf32>, %b: tensor<37x71xf32>, %c: tensor<67x71xf32>) -> tensor<67x71xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<67x37xf32>, tensor<37x71xf32>) outs(%c : tensor<67x71xf32>) -> tensor<67x71xf32>
  return %r : tensor<67x71xf32>
}

func.func @right_transposed(%a: tensor<64x40xf32>, %b: tensor<80x40xf32>, %c: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<64x40xf32>, tensor<80x40xf32>) outs(%c : tensor<64x80xf32>) -> tensor<64x80xf32>
  return %r : tensor<64x80xf32>
}

func.func @left_transposed(%a: tensor<40x64xf32>, %b: tensor<40x72xf32>, %c: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %r = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<40x64xf32>, tensor<40x72xf32>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  return %r : tensor<64x72xf32>
}

func.func @both_transposed(%a: tensor<40x64xf32>, %b: tensor<72x40xf32>, %c: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] ins(%a, %b : tensor<40x64xf32>, tensor<72x40xf32>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  return %r : tensor<64x72xf32>
}

func.func @halves(%a: tensor<64x40xf16>, %b: tensor<40x72xf16>, %c: tensor<64x72xf16>) -> tensor<64x72xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<64x40xf16>, tensor<40x72xf16>) outs(%c : tensor<64x72xf16>) -> tensor<64x72xf16>
  return %r : tensor<64x72xf16>
}

func.func @brain(%a: tensor<64x24xbf16>, %b: tensor<24x71xbf16>, %c: tensor<64x71xf32>) -> tensor<64x71xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x24xbf16>, tensor<24x71xbf16>) outs(%c : tensor<64x71xf32>) -> tensor<64x71xf32>
  return %r : tensor<64x71xf32>
}

func.func @doubles(%a: tensor<64x24xf64>, %b: tensor<24x72xf64>, %c: tensor<64x72xf64>) -> tensor<64x72xf64> {
  %r = linalg.matmul ins(%a, %b : tensor<64x24xf64>, tensor<24x72xf64>) outs(%c : tensor<64x72xf64>) -> tensor<64x72xf64>
  return %r : tensor<64x72xf64>
}

func.func @bytes(%a: tensor<64x40xi8>, %b: tensor<40x72xi8>, %c: tensor<64x72xi32>) -> tensor<64x72xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x40xi8>, tensor<40x72xi8>) outs(%c : tensor<64x72xi32>) -> tensor<64x72xi32>
  return %r : tensor<64x72xi32>
}

func.func @integers(%a: tensor<64x40xi64>, %b: tensor<40x33xi64>, %c: tensor<64x33xi64>) -> tensor<64x33xi64> {
  %r = linalg.matmul ins(%a, %b : tensor<64x40xi64>, tensor<40x33xi64>) outs(%c : tensor<64x33xi64>) -> tensor<64x33xi64>
  return %r : tensor<64x33xi64>
}

// A bias in each row, then a function of each element.
func.func @linear(%x: tensor<64x48xf32>, %w: tensor<48x96xf32>, %b: tensor<96xf32>) -> tensor<64x96xf32> {
  %e = tensor.empty() : tensor<64x96xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %y = linalg.matmul ins(%x, %w : tensor<64x48xf32>, tensor<48x96xf32>) outs(%f : tensor<64x96xf32>) -> tensor<64x96xf32>
  %bs = linalg.broadcast ins(%b : tensor<96xf32>) outs(%e : tensor<64x96xf32>) dimensions = [0]
  %s = arith.addf %y, %bs : tensor<64x96xf32>
  %t = math.tanh %s : tensor<64x96xf32>
  return %t : tensor<64x96xf32>
}

func.func @batches(%a: tensor<3x33x20xf32>, %b: tensor<3x20x40xf32>, %c: tensor<3x33x40xf32>) -> tensor<3x33x40xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x33x20xf32>, tensor<3x20x40xf32>) outs(%c : tensor<3x33x40xf32>) -> tensor<3x33x40xf32>
  return %r : tensor<3x33x40xf32>
}

// Rows of a list beside each other; a product of products, whose values stay in shared memory.
!x = tensor<16x64xf32>
!w = tensor<64x64xf32>
func.func @chain(%xs: !ft.list<[N], !x>, %u: !w, %v: !w) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.constant dense<0.0> : !x
    %h = linalg.matmul ins(%x, %u : !x, !w) outs(%z : !x) -> !x
    %t = math.tanh %h : !x
    %y = linalg.matmul ins(%t, %v : !x, !w) outs(%x : !x) -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}

// Columns that thread blocks share, a prime number of them.
func.func @wide(%a: tensor<40x24xf32>, %b: tensor<24x523xf32>, %c: tensor<523xf32>) -> tensor<40x523xf32> {
  %e = tensor.empty() : tensor<40x523xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<40x523xf32>) -> tensor<40x523xf32>
  %y = linalg.matmul ins(%a, %b : tensor<40x24xf32>, tensor<24x523xf32>) outs(%f : tensor<40x523xf32>) -> tensor<40x523xf32>
  %cs = linalg.broadcast ins(%c : tensor<523xf32>) outs(%e : tensor<40x523xf32>) dimensions = [0]
  %s = arith.addf %y, %cs : tensor<40x523xf32>
  return %s : tensor<40x523xf32>
}

// Windows with a border of zeros over the rows of a list: between two changes of a piece rows
// are computed together.
!r = tensor<1x32xf32>
!v = tensor<32x32xf32>
func.func @windows(%xs: !ft.list<[L], !r>, %ws: !ft.list<[3], !v>) -> !ft.list<[L], !r> {
  %zero = arith.constant dense<0.0> : !r
  %windows = ft.window %xs size 3 boundary zero : !ft.list<[L], !r>
  %ys = ft.map (%window = %windows : !ft.list<[L, 3], !r>) -> !ft.list<[L], !r> {
    %y = ft.reduce (%x, %w = %window, %ws : !ft.list<[3], !r>, !ft.list<[3], !v>) init (%acc = %zero : !r) -> !r {
      %s = linalg.matmul ins(%x, %w : !r, !v) outs(%acc : !r) -> !r
      ft.yield %s : !r
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !r
      ft.yield %pq : !r
    }
    ft.yield %y : !r
  }
  return %ys : !ft.list<[L], !r>
}
