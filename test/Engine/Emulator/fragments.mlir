// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of halves on matrix units: sizes that are no multiple of a fragment or a tile, each way in which operands
// lie in memory, rows of a list, batches, windows, products of products, columns that thread blocks share.
//
// A machine on which operands come slowly to threads that don't share them wants tiles even for such small products.
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --machine=%t.json %ft_bin/ft-run %s 5 40 | FileCheck %s
// CHECK: 10 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// The same by the definitions of operations on tiles.
// RUN: %python %S/Inputs/emulate.py --machine=%t.json --interpret-tile %ft_bin/ft-run %s 5 | FileCheck %s --check-prefix=MEANING
// MEANING: {{[1-9][0-9]*}} of them on tiles
// MEANING: 10 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// Each of them is computed so, the two of the chain by one layout, but the one whose operands are of two types.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=MMA
// MMA-COUNT-9: {{stages = [12], mma|#tile.chain<}}
// MMA: @two_types
// MMA-NOT: mma

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @even(%a: tensor<64x48xf16>, %b: tensor<48x96xf16>, %c: tensor<64x96xf16>) -> tensor<64x96xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<64x48xf16>, tensor<48x96xf16>) outs(%c : tensor<64x96xf16>) -> tensor<64x96xf16>
  return %r : tensor<64x96xf16>
}

// Primes: halves are copied one by one.
func.func @primes(%a: tensor<67x37xbf16>, %b: tensor<37x71xbf16>, %c: tensor<67x71xf32>) -> tensor<67x71xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<67x37xbf16>, tensor<37x71xbf16>) outs(%c : tensor<67x71xf32>) -> tensor<67x71xf32>
  return %r : tensor<67x71xf32>
}

func.func @right_transposed(%a: tensor<64x40xf16>, %b: tensor<80x40xf16>, %c: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<64x40xf16>, tensor<80x40xf16>) outs(%c : tensor<64x80xf32>) -> tensor<64x80xf32>
  return %r : tensor<64x80xf32>
}

func.func @left_transposed(%a: tensor<40x64xbf16>, %b: tensor<40x72xbf16>, %c: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %r = linalg.matmul indexing_maps = [#km, #kn, #mn] ins(%a, %b : tensor<40x64xbf16>, tensor<40x72xbf16>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  return %r : tensor<64x72xf32>
}

func.func @both_transposed(%a: tensor<40x64xf16>, %b: tensor<72x40xf16>, %c: tensor<64x72xf16>) -> tensor<64x72xf16> {
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] ins(%a, %b : tensor<40x64xf16>, tensor<72x40xf16>) outs(%c : tensor<64x72xf16>) -> tensor<64x72xf16>
  return %r : tensor<64x72xf16>
}

func.func @batches(%a: tensor<3x33x20xf16>, %b: tensor<3x20x40xf16>, %c: tensor<3x33x40xf16>) -> tensor<3x33x40xf16> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x33x20xf16>, tensor<3x20x40xf16>) outs(%c : tensor<3x33x40xf16>) -> tensor<3x33x40xf16>
  return %r : tensor<3x33x40xf16>
}

!x = tensor<16x64xf16>
!w = tensor<64x64xf16>
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
func.func @wide(%a: tensor<40x24xf16>, %b: tensor<24x523xf16>, %c: tensor<523xf16>) -> tensor<40x523xf16> {
  %e = tensor.empty() : tensor<40x523xf16>
  %z = arith.constant 0.0 : f16
  %f = linalg.fill ins(%z : f16) outs(%e : tensor<40x523xf16>) -> tensor<40x523xf16>
  %y = linalg.matmul ins(%a, %b : tensor<40x24xf16>, tensor<24x523xf16>) outs(%f : tensor<40x523xf16>) -> tensor<40x523xf16>
  %cs = linalg.broadcast ins(%c : tensor<523xf16>) outs(%e : tensor<40x523xf16>) dimensions = [0]
  %s = arith.addf %y, %cs : tensor<40x523xf16>
  return %s : tensor<40x523xf16>
}

!r = tensor<1x32xf16>
!v = tensor<32x32xf16>
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

func.func @two_types(%a: tensor<64x40xf16>, %b: tensor<40x72xf32>, %c: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x40xf16>, tensor<40x72xf32>) outs(%c : tensor<64x72xf32>) {
  ^bb0(%x: f16, %y: f32, %s: f32):
    %xe = arith.extf %x : f16 to f32
    %p = arith.mulf %xe, %y : f32
    %q = arith.addf %s, %p : f32
    linalg.yield %q : f32
  } -> tensor<64x72xf32>
  return %r : tensor<64x72xf32>
}
