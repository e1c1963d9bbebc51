// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products in tiles: what the schedule says, what is made of it, and what of a layout by hand is refused.
//
// Rows and columns fill a tile whose sums half of the registers hold; the bias and the function after are computed there.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" | FileCheck %s --check-prefix=PLAN
// PLAN-LABEL: etdg.graph @linear
// PLAN: schedule <map = #{{.*}}, loops = [<dimension = 1, tile = 128, unit = 8, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, tile = 128, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 128, kind = parallel, level = rows>] block = <threads = 256, shared = 98304> columns = 4096 target = "sm_90a">
// PLAN-SAME: etdg.layouts = [#tile.product<block = [128, 128], thread = [8, 8], step = 32, stages = 2, fused = 1>, #etdg.tiling
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PTX
// PTX: .visible .entry linear_k0(
// PTX: .maxntid 256
// PTX: .minnctapersm 1
// PTX-DAG: cp.async.cg.shared.global
// PTX-DAG: cp.async.commit_group
// PTX-DAG: cp.async.wait_group 0
// PTX-DAG: bar.sync
// PTX-DAG: ld.shared.v4
// PTX-DAG: fma.rn.f32
//
// A layout by hand is what is run, and one number there changes what is emitted.
// RUN: sed 's/LAYOUT/#tile.product<block = [32, 32], thread = [4, 4], step = 8, stages = 3>/' %S/Inputs/product-by-hand.mlir > %t.1.mlir
// RUN: ft-translate --mlir-to-ptx %t.1.mlir | FileCheck %s --check-prefix=HAND
// HAND: .maxntid 64
// HAND: cp.async.wait_group 1
// RUN: %ft_bin/ft-run %t.1.mlir --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/LAYOUT/#tile.product<block = [16, 16], thread = [2, 2], step = 16, stages = 1>/' %S/Inputs/product-by-hand.mlir > %t.2.mlir
// RUN: %ft_bin/ft-run %t.2.mlir --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/LAYOUT/#tile.product<block = [32, 8], thread = [4, 1], step = 32, stages = 2>/' %S/Inputs/product-by-hand.mlir > %t.3.mlir
// RUN: %ft_bin/ft-run %t.3.mlir --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
//
// RUN: sed 's/LAYOUT/#tile.product<block = [32, 32], thread = [8, 8], step = 8, stages = 2>/' %S/Inputs/product-by-hand.mlir | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: :[[#]]:[[#]]: error: the GPU engine can't run the leaf's 'etdg.layouts': loop nest 0: the tile is for 16 threads, the block has 64
// RUN: sed 's/LAYOUT/#tile.product<block = [128, 128], thread = [16, 16], step = 8, stages = 2>/' %S/Inputs/product-by-hand.mlir | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: loop nest 0: a thread keeps at most 128 elements in registers, found 256
// RUN: sed 's/LAYOUT/#tile.product<block = [32, 32], thread = [4, 4], step = 8, stages = 2, fused = 1>/' %S/Inputs/product-by-hand.mlir | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=FUSED
// FUSED: loop nest 0: fused = 1: 0 nests after it meet the tile point by point
// RUN: sed 's/LAYOUT/#tile.product<block = [32, 32], thread = [4, 4], step = 8, stages = 2>/; s/arith.mulf/arith.addf/' %S/Inputs/product-by-hand.mlir | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: loop nest 0: the nest is no sum of products of two operands
// RUN: sed 's/LAYOUT/#tile.product<block = [32, 32], thread = [4, 4], step = 16, stages = 2, mma>/' %S/Inputs/product-by-hand.mlir | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=MMA
// MMA: loop nest 0: mma multiplies f16 or bf16, both operands alike, and adds up to f32

func.func @linear(%x: tensor<4096x512xf32>, %w: tensor<512x4096xf32>, %b: tensor<4096xf32>) -> tensor<4096x4096xf32> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4096x512xf32>, tensor<512x4096xf32>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %bs = linalg.broadcast ins(%b : tensor<4096xf32>) outs(%e : tensor<4096x4096xf32>) dimensions = [0]
  %s = arith.addf %y, %bs : tensor<4096x4096xf32>
  %t = math.tanh %s : tensor<4096x4096xf32>
  return %t : tensor<4096x4096xf32>
}
