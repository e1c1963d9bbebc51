// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Block-sparse attention: the global rows are two products of one right operand, and the other rows ask a flag of each block of keys. Both are computed
// in tiles, with what is after them in registers: a flag is a byte in memory, and a bit there. (Four blocks of keys may be joined, then @r5 has the rest.)
//
// RUN: ft-opt %S/../../../examples/bigbird.mlir --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s
// CHECK: etdg.block @r3 [map, map] (i, j) in [0, B) x = 0
// CHECK: etdg.block @r5 [reduce] (i, j | k) in [
// CHECK: etdg.layouts = [#tile.product<block = [32, 32], {{[^>]*}} fused = 4>
// CHECK-SAME: #tile.product<block = [32, 64]
// CHECK: etdg.block @r3_1 [map, map] (i, j) in [0, B) x [0, L - 2)
// CHECK: etdg.block @r11 [reduce] (i, j | k) in [0, R + 5)
// CHECK: etdg.layouts = [#tile.product<block = [32, 32], {{[^>]*}} fused = 4>
// CHECK-SAME: #tile.product<block = [32, 64]
// RUN: ft-opt %S/../../../examples/bigbird.mlir --ft-compile="to=tile target=sm_90a machine=%S/../../machines/h200.json" -o %t.mlir
// RUN: ft-opt %t.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=TILE
// TILE: %[[BYTES:[0-9]+]] = tile.load {{.*}} -> !tile.registers<32x32xi8
// TILE: %[[FLAGS:[0-9]+]] = tile.map(%[[BYTES]])
// TILE: arith.trunci %{{.*}} : i8 to i1
// TILE: tile.map(%[[FLAGS]],
// TILE: arith.select
//
// RUN: %ft_bin/ft-run %S/../../../examples/bigbird.mlir --engine=emulate --compare=interpret --dim B=2 --dim L=5 --dim R=2 | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %S/../../../examples/bigbird.mlir --type=q='tensor<7x16xf32>' --type=k='tensor<7x16xf32>' --type=v='tensor<7x16xf32>' --type=p='tensor<7x7xf32>' --type=r='tensor<7xf32>' --type=o='tensor<7x16xf32>' --type=see='tensor<7x7xi1>' --engine=emulate --compare=interpret --dim B=1 --dim L=4 --dim R=3 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
