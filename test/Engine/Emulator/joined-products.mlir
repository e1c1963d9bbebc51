// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products that are computed together: one after the other into the same sums, whose terms come through one pipeline; side by side,
// where they have the left operand in common; and such whose sums are beside each other in registers until something is computed of
// them. Sizes that are no multiple of a tile, each type, operands that are transposed, rows of a list.
//
// (Launches are so dear there that no product is cut into shares, whose join is another one.)
// RUN: sed 's/"operand_read_cost": 4/"operand_read_cost": 4000/; s/"launch": 3.875e-6/"launch": 1.0/; s/"boundary": 6.5e-7/"boundary": 1.0/' %S/../../machines/h200.json > %t.json
// RUN: %python %S/Inputs/emulate.py --machine=%t.json %ft_bin/ft-run %s 7 | FileCheck %s
// CHECK: 16 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// The same by the definitions of operations on tiles.
// RUN: %python %S/Inputs/emulate.py --machine=%t.json --interpret-tile %ft_bin/ft-run %s 7 | FileCheck %s --check-prefix=MEANING
// MEANING: {{[1-9][0-9]*}} of them on tiles
// MEANING: 16 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// Each of them is computed so.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json" -o %t.mlir
// RUN: FileCheck %s --check-prefix=TILES --input-file=%t.mlir
//
// One stage by hand; three of them, more than a short sum has steps.
// RUN: sed 's/stages = 2/stages = 1/g' %t.mlir > %t.one.mlir
// RUN: sed 's/stages = [12]/stages = 3/g' %t.mlir > %t.three.mlir
// RUN: %ft_bin/ft-run %t.one.mlir --entry=two --engine=emulate --target=sm_90a --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.three.mlir --entry=two --engine=emulate --target=sm_90a --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.three.mlir --entry=cell --engine=emulate --target=sm_90a --seed=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.three.mlir --entry=short --engine=emulate --target=sm_90a --seed=3 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.three.mlir --entry=gates_transposed --engine=emulate --target=sm_90a --seed=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.three.mlir --entry=rows --dim N=127 --engine=interpret-tile --target=sm_90a --seed=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
//
// Where each operation rounds, sums of halves do between two products: they are two pipelines then.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%t.json rounding=exact" -o %t.exact.mlir
// RUN: %ft_bin/ft-run %t.exact.mlir --entry=halves --engine=emulate --target=sm_90a --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a machine=%t.json rounding=exact" | FileCheck %s --check-prefix=EXACT
// EXACT-LABEL: llvm.func @halves_k0(
// EXACT: tile.mma
// EXACT: tile.map
// EXACT: arith.truncf
// EXACT: tile.mma
// EXACT-LABEL: llvm.func @brain_k0(
// EQUAL: {{^}}equal

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Terms of x, then those of h; the function after.
// TILES-LABEL: etdg.graph @two
// TILES: #tile.product<{{[^>]*}}fused = 2>, #tile.product<{{[^>]*}}joined>
func.func @two(%x: tensor<67x37xf32>, %w: tensor<37x71xf32>, %h: tensor<67x29xf32>, %u: tensor<29x71xf32>, %c: tensor<67x71xf32>) -> tensor<67x71xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<67x37xf32>, tensor<37x71xf32>) outs(%c : tensor<67x71xf32>) -> tensor<67x71xf32>
  %z = linalg.matmul ins(%h, %u : tensor<67x29xf32>, tensor<29x71xf32>) outs(%y : tensor<67x71xf32>) -> tensor<67x71xf32>
  %t = math.tanh %z : tensor<67x71xf32>
  return %t : tensor<67x71xf32>
}

// One operand as it is and turned: its terms are adjacent in one product alone, so each has a tile of its own.
// TILES-LABEL: etdg.graph @turned
// TILES-NOT: joined>
// TILES: etdg.yield
func.func @turned(%as: !ft.list<[N], tensor<32x32xf32>>, %bs: !ft.list<[N], tensor<32x64xf32>>, %cs: !ft.list<[N], tensor<32x64xf32>>) -> !ft.list<[N], tensor<32x64xf32>> {
  %z = arith.constant dense<0.0> : tensor<32x64xf32>
  %ts = ft.map (%a, %b, %c = %as, %bs, %cs : !ft.list<[N], tensor<32x32xf32>>, !ft.list<[N], tensor<32x64xf32>>, !ft.list<[N], tensor<32x64xf32>>) -> !ft.list<[N], tensor<32x64xf32>> {
    %s = math.tanh %a : tensor<32x32xf32>
    %p = linalg.matmul ins(%s, %b : tensor<32x32xf32>, tensor<32x64xf32>) outs(%z : tensor<32x64xf32>) -> tensor<32x64xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(k, m, n) -> (k, m)>, affine_map<(k, m, n) -> (k, n)>, affine_map<(k, m, n) -> (m, n)>], iterator_types = ["reduction", "parallel", "parallel"]}
        ins(%s, %c : tensor<32x32xf32>, tensor<32x64xf32>) outs(%z : tensor<32x64xf32>) {
    ^bb0(%x: f32, %y: f32, %sum: f32):
      %xy = arith.mulf %x, %y : f32
      %more = arith.addf %sum, %xy : f32
      linalg.yield %more : f32
    } -> tensor<32x64xf32>
    %t = arith.mulf %p, %q : tensor<32x64xf32>
    ft.yield %t : tensor<32x64xf32>
  }
  return %ts : !ft.list<[N], tensor<32x64xf32>>
}

// One step of each.
// TILES-LABEL: etdg.graph @short
// TILES: #tile.product<{{[^>]*}}fused = 1>, #tile.product<{{[^>]*}}joined>
func.func @short(%x: tensor<64x8xf32>, %w: tensor<8x64xf32>, %h: tensor<64x12xf32>, %u: tensor<12x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<64x8xf32>, tensor<8x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = linalg.matmul ins(%h, %u : tensor<64x12xf32>, tensor<12x64xf32>) outs(%y : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// Fragments, sums in f32 from the first term to the last.
// TILES-LABEL: etdg.graph @halves
// TILES: #tile.product<{{[^>]*}}fused = 2>, #tile.product<{{[^>]*}}joined>
func.func @halves(%x: tensor<64x40xf16>, %w: tensor<40x72xf16>, %h: tensor<64x72xf16>, %u: tensor<72x72xf16>, %c: tensor<64x72xf16>) -> tensor<64x72xf16> {
  %y = linalg.matmul ins(%x, %w : tensor<64x40xf16>, tensor<40x72xf16>) outs(%c : tensor<64x72xf16>) -> tensor<64x72xf16>
  %z = linalg.matmul ins(%h, %u : tensor<64x72xf16>, tensor<72x72xf16>) outs(%y : tensor<64x72xf16>) -> tensor<64x72xf16>
  %t = math.tanh %z : tensor<64x72xf16>
  return %t : tensor<64x72xf16>
}

func.func @brain(%x: tensor<64x24xbf16>, %w: tensor<24x71xbf16>, %h: tensor<64x33xbf16>, %u: tensor<33x71xbf16>, %c: tensor<64x71xbf16>) -> tensor<64x71xbf16> {
  %y = linalg.matmul ins(%x, %w : tensor<64x24xbf16>, tensor<24x71xbf16>) outs(%c : tensor<64x71xbf16>) -> tensor<64x71xbf16>
  %z = linalg.matmul ins(%h, %u : tensor<64x33xbf16>, tensor<33x71xbf16>) outs(%y : tensor<64x71xbf16>) -> tensor<64x71xbf16>
  %t = math.tanh %z : tensor<64x71xbf16>
  return %t : tensor<64x71xbf16>
}

func.func @doubles(%x: tensor<64x24xf64>, %w: tensor<24x72xf64>, %h: tensor<64x17xf64>, %u: tensor<17x72xf64>, %c: tensor<64x72xf64>) -> tensor<64x72xf64> {
  %y = linalg.matmul ins(%x, %w : tensor<64x24xf64>, tensor<24x72xf64>) outs(%c : tensor<64x72xf64>) -> tensor<64x72xf64>
  %z = linalg.matmul ins(%h, %u : tensor<64x17xf64>, tensor<17x72xf64>) outs(%y : tensor<64x72xf64>) -> tensor<64x72xf64>
  %t = math.tanh %z : tensor<64x72xf64>
  return %t : tensor<64x72xf64>
}

func.func @integers(%x: tensor<64x40xi64>, %w: tensor<40x33xi64>, %h: tensor<64x24xi64>, %u: tensor<24x33xi64>, %c: tensor<64x33xi64>) -> tensor<64x33xi64> {
  %y = linalg.matmul ins(%x, %w : tensor<64x40xi64>, tensor<40x33xi64>) outs(%c : tensor<64x33xi64>) -> tensor<64x33xi64>
  %z = linalg.matmul ins(%h, %u : tensor<64x24xi64>, tensor<24x33xi64>) outs(%y : tensor<64x33xi64>) -> tensor<64x33xi64>
  return %z : tensor<64x33xi64>
}

// Right operands whose terms are adjacent.
func.func @right_transposed(%x: tensor<64x40xf32>, %w: tensor<80x40xf32>, %h: tensor<64x24xf32>, %u: tensor<80x24xf32>, %c: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %y = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w : tensor<64x40xf32>, tensor<80x40xf32>) outs(%c : tensor<64x80xf32>) -> tensor<64x80xf32>
  %z = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%h, %u : tensor<64x24xf32>, tensor<80x24xf32>) outs(%y : tensor<64x80xf32>) -> tensor<64x80xf32>
  %t = math.tanh %z : tensor<64x80xf32>
  return %t : tensor<64x80xf32>
}

// Four gates side by side: one step of x for all of them, then of h.
// TILES-LABEL: etdg.graph @cell
// TILES: #tile.product<{{[^>]*}}fused = 2>, #tile.product<{{[^>]*}}joined>
func.func @cell(%x: tensor<67x37xf32>, %h: tensor<67x37xf32>, %b: tensor<67x43xf32>, %w0: tensor<37x43xf32>, %u0: tensor<37x43xf32>, %w1: tensor<37x43xf32>, %u1: tensor<37x43xf32>, %w2: tensor<37x43xf32>, %u2: tensor<37x43xf32>, %w3: tensor<37x43xf32>, %u3: tensor<37x43xf32>) -> tensor<67x43xf32> {
  %p0 = linalg.matmul ins(%x, %w0 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%b : tensor<67x43xf32>) -> tensor<67x43xf32>
  %q0 = linalg.matmul ins(%h, %u0 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%p0 : tensor<67x43xf32>) -> tensor<67x43xf32>
  %p1 = linalg.matmul ins(%x, %w1 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%b : tensor<67x43xf32>) -> tensor<67x43xf32>
  %q1 = linalg.matmul ins(%h, %u1 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%p1 : tensor<67x43xf32>) -> tensor<67x43xf32>
  %p2 = linalg.matmul ins(%x, %w2 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%b : tensor<67x43xf32>) -> tensor<67x43xf32>
  %q2 = linalg.matmul ins(%h, %u2 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%p2 : tensor<67x43xf32>) -> tensor<67x43xf32>
  %p3 = linalg.matmul ins(%x, %w3 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%b : tensor<67x43xf32>) -> tensor<67x43xf32>
  %q3 = linalg.matmul ins(%h, %u3 : tensor<67x37xf32>, tensor<37x43xf32>) outs(%p3 : tensor<67x43xf32>) -> tensor<67x43xf32>
  %s1 = math.tanh %q0 : tensor<67x43xf32>
  %t1 = math.tanh %q1 : tensor<67x43xf32>
  %s2 = arith.mulf %s1, %t1 : tensor<67x43xf32>
  %t2 = math.tanh %q2 : tensor<67x43xf32>
  %s3 = arith.mulf %s2, %t2 : tensor<67x43xf32>
  %t3 = math.tanh %q3 : tensor<67x43xf32>
  %s4 = arith.mulf %s3, %t3 : tensor<67x43xf32>
  return %s4 : tensor<67x43xf32>
}

func.func @three_gates(%x: tensor<64x24xf16>, %h: tensor<64x24xf16>, %b: tensor<64x40xf16>, %w0: tensor<24x40xf16>, %u0: tensor<24x40xf16>, %w1: tensor<24x40xf16>, %u1: tensor<24x40xf16>, %w2: tensor<24x40xf16>, %u2: tensor<24x40xf16>) -> tensor<64x40xf16> {
  %p0 = linalg.matmul ins(%x, %w0 : tensor<64x24xf16>, tensor<24x40xf16>) outs(%b : tensor<64x40xf16>) -> tensor<64x40xf16>
  %q0 = linalg.matmul ins(%h, %u0 : tensor<64x24xf16>, tensor<24x40xf16>) outs(%p0 : tensor<64x40xf16>) -> tensor<64x40xf16>
  %p1 = linalg.matmul ins(%x, %w1 : tensor<64x24xf16>, tensor<24x40xf16>) outs(%b : tensor<64x40xf16>) -> tensor<64x40xf16>
  %q1 = linalg.matmul ins(%h, %u1 : tensor<64x24xf16>, tensor<24x40xf16>) outs(%p1 : tensor<64x40xf16>) -> tensor<64x40xf16>
  %p2 = linalg.matmul ins(%x, %w2 : tensor<64x24xf16>, tensor<24x40xf16>) outs(%b : tensor<64x40xf16>) -> tensor<64x40xf16>
  %q2 = linalg.matmul ins(%h, %u2 : tensor<64x24xf16>, tensor<24x40xf16>) outs(%p2 : tensor<64x40xf16>) -> tensor<64x40xf16>
  %s1 = math.tanh %q0 : tensor<64x40xf16>
  %t1 = math.tanh %q1 : tensor<64x40xf16>
  %s2 = arith.mulf %s1, %t1 : tensor<64x40xf16>
  %t2 = math.tanh %q2 : tensor<64x40xf16>
  %s3 = arith.mulf %s2, %t2 : tensor<64x40xf16>
  return %s3 : tensor<64x40xf16>
}

func.func @gates_transposed(%x: tensor<64x24xf32>, %h: tensor<64x24xf32>, %b: tensor<64x40xf32>, %w0: tensor<40x24xf32>, %u0: tensor<40x24xf32>, %w1: tensor<40x24xf32>, %u1: tensor<40x24xf32>) -> tensor<64x40xf32> {
  %p0 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w0 : tensor<64x24xf32>, tensor<40x24xf32>) outs(%b : tensor<64x40xf32>) -> tensor<64x40xf32>
  %q0 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%h, %u0 : tensor<64x24xf32>, tensor<40x24xf32>) outs(%p0 : tensor<64x40xf32>) -> tensor<64x40xf32>
  %p1 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%x, %w1 : tensor<64x24xf32>, tensor<40x24xf32>) outs(%b : tensor<64x40xf32>) -> tensor<64x40xf32>
  %q1 = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%h, %u1 : tensor<64x24xf32>, tensor<40x24xf32>) outs(%p1 : tensor<64x40xf32>) -> tensor<64x40xf32>
  %s1 = math.tanh %q0 : tensor<64x40xf32>
  %t1 = math.tanh %q1 : tensor<64x40xf32>
  %s2 = arith.mulf %s1, %t1 : tensor<64x40xf32>
  return %s2 : tensor<64x40xf32>
}

// Sums of their own, which are added where they are; operands on both sides differ.
// TILES-LABEL: etdg.graph @apart
// TILES: #tile.product<{{[^>]*}}fused = 1>, #etdg.tiling
func.func @apart(%x: tensor<64x40xf32>, %w: tensor<40x72xf32>, %h: tensor<64x40xf32>, %u: tensor<40x72xf32>, %c: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<64x40xf32>, tensor<40x72xf32>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  %z = linalg.matmul ins(%h, %u : tensor<64x40xf32>, tensor<40x72xf32>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  %s = arith.mulf %y, %z : tensor<64x72xf32>
  return %s : tensor<64x72xf32>
}

// Two accumulators of nests of different terms.
// TILES-LABEL: etdg.graph @other_terms
// TILES: #tile.product<{{[^>]*}}fused = 2>, #tile.product<{{[^>]*}}joined>
func.func @other_terms(%x: tensor<64x40xf32>, %w: tensor<40x72xf32>, %h: tensor<64x24xf32>, %u: tensor<24x72xf32>, %c: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<64x40xf32>, tensor<40x72xf32>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  %z = linalg.matmul ins(%h, %u : tensor<64x24xf32>, tensor<24x72xf32>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  %s = arith.mulf %y, %z : tensor<64x72xf32>
  return %s : tensor<64x72xf32>
}

// The first sum is looked at as well: it is there before the second one's terms are added.
// TILES-LABEL: etdg.graph @both_sums
// TILES: #tile.product<{{[^>]*}}fused = 2>, #tile.product<{{[^>]*}}joined>
func.func @both_sums(%x: tensor<64x40xf32>, %w: tensor<40x72xf32>, %h: tensor<64x24xf32>, %u: tensor<24x72xf32>, %c: tensor<64x72xf32>) -> tensor<64x72xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<64x40xf32>, tensor<40x72xf32>) outs(%c : tensor<64x72xf32>) -> tensor<64x72xf32>
  %z = linalg.matmul ins(%h, %u : tensor<64x24xf32>, tensor<24x72xf32>) outs(%y : tensor<64x72xf32>) -> tensor<64x72xf32>
  %s = arith.mulf %y, %z : tensor<64x72xf32>
  return %s : tensor<64x72xf32>
}

// What is multiplied next is a tile's own result: other tiles have parts of it, so it is not joined.
// TILES-LABEL: etdg.graph @chain
// TILES: #tile.product<
// TILES-NOT: joined
func.func @chain(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %u: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = linalg.matmul ins(%y, %u : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// Rows of a list beside each other.
// TILES-LABEL: etdg.graph @rows
// TILES: #tile.product<{{[^>]*}}fused = 2>, #tile.product<{{[^>]*}}joined>
func.func @rows(%xs: !ft.list<[N], tensor<16x40xf32>>, %hs: !ft.list<[N], tensor<16x24xf32>>, %w: tensor<40x72xf32>, %u: tensor<24x72xf32>) -> !ft.list<[N], tensor<16x72xf32>> {
  %ys = ft.map (%x, %h = %xs, %hs : !ft.list<[N], tensor<16x40xf32>>, !ft.list<[N], tensor<16x24xf32>>) -> !ft.list<[N], tensor<16x72xf32>> {
    %zero = arith.constant dense<0.0> : tensor<16x72xf32>
    %y = linalg.matmul ins(%x, %w : tensor<16x40xf32>, tensor<40x72xf32>) outs(%zero : tensor<16x72xf32>) -> tensor<16x72xf32>
    %z = linalg.matmul ins(%h, %u : tensor<16x24xf32>, tensor<24x72xf32>) outs(%y : tensor<16x72xf32>) -> tensor<16x72xf32>
    %t = math.tanh %z : tensor<16x72xf32>
    ft.yield %t : tensor<16x72xf32>
  }
  return %ys : !ft.list<[N], tensor<16x72xf32>>
}
