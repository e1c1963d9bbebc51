// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The products of step-tiles.mlir on warp groups: a loader brings operands by TMA, also of what other thread blocks have written before the last barrier
// of the grid. Gates side by side are parts of one tile, the first layer reads another tensor than the others, and first states are zeros.
//
// RUN: sed 's/"product_long_steps": 8/"product_long_steps": 2/' %S/../../machines/h200.json > %t.json
// RUN: sed 's/64x64xf16/128x128xf16/; s/1x64xf16/1x128xf16/; s/ft.lengths = {/ft.typical = {N = [256, 256]}, &/' %S/step-tiles.mlir > %t.mlir
//
// RUN: ft-opt %t.mlir --ft-compile="to=tile target=sm_90a machine=%t.json candidate=0" | FileCheck %s --check-prefix=TILES
// TILES: @lstm_k0({{.*}}tile.pipeline = #tile.pipeline<slots = {{[0-9]+}}, loaders = 1, computers = 2,
// TILES: scf.for
// TILES: layouts [#tile.product<block = [128, 64], {{.*}}wgmma, fused = 2,{{.*}}#tile.product<{{.*}}wgmma, joined, carried,
// Nothing comes after the leaf in its task: groups go on by themselves.
// TILES: loops.syncs = array<i1: false, false, false>
// TILES: loops.sync grid
// TILES: @gru_k0({{.*}}tile.pipeline
//
// Four parts of weights are one tile. What the layer below has written, or the input, is one, too, and so are states or zeros.
// RUN: ft-opt %t.mlir --ft-compile="to=threads target=sm_90a machine=%t.json candidate=0" | FileCheck %s --check-prefix=FETCHES
// FETCHES-LABEL: llvm.func @lstm_k0
// FETCHES: tile.fetch %[[X:.*]], %[[H:.*]][{{.*}}] if %{{.*}} :
// FETCHES: tile.fetch %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}[{{.*}}] : {{.*}} -> !tile.shared<64x256xf16,
// FETCHES: tile.fetch %[[H]], %[[H]][%c1073741824_i64, {{.*}}] if %{{.*}} :
// FETCHES: llvm.inline_asm {{.*}}ld.acquire.gpu
// FETCHES: tile.join
//
// The loading role goes on after each barrier of the grid, and sees what others wrote.
// RUN: ft-opt %t.mlir --ft-compile="to=pipeline target=sm_90a machine=%t.json candidate=0" | FileCheck %s --check-prefix=ROLES
// ROLES-LABEL: llvm.func @lstm_k0
// ROLES: nvvm.setmaxregister decrease
// ROLES: scf.for
// ROLES: scf.for
// ROLES: nvvm.mbarrier.try_wait
// ROLES: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
// ROLES: nvvm.mbarrier.arrive %{{.*}} : !llvm.ptr<3> -> i64
// ROLES: nvvm.setmaxregister increase
// ROLES: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.global>}
// ROLES: llvm.inline_asm {{.*}}ld.acquire.gpu
//
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%t.json %ft_bin/ft-run %t.mlir:lstm,gru 3 | FileCheck %s
// RUN: %python %S/Inputs/emulate.py --multiprocessors=3 --machine=%t.json --interpret-tile %ft_bin/ft-run %t.mlir:lstm 2 | FileCheck %s
// CHECK: {{^}}[[#PROGRAMS:]] programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// Several tiles of rows, the last one with two of them.
// RUN: ft-run %t.mlir --entry=lstm --engine=emulate --target=sm_90a --machine=%t.json --compare=interpret --multiprocessors=4 --dim N=130 --dim D=2 --dim L=2 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
//
// A cell of a grid has two sums that go on from the same products: a tile has half of the columns for each.
// RUN: sed 's/1x64xf32/1x1024xf16/; s/64x64xf32/1024x1024xf16/; s/ft.lengths = {/ft.typical = {N = [256, 256], D = [4, 4], S = [32, 32], T = [32, 32]}, &/' %examples/grid_rnn.mlir > %t.grid.mlir
// RUN: ft-opt %t.grid.mlir --ft-compile="to=tile target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=SUMS
// SUMS: layouts [#tile.product<block = [128, 128], thread = [2, 32], {{[^>]*}}wgmma, fused = 3,
