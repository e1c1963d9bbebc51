// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases after storage, for a GPU: structured loops with all that is decided, what their threads run with its launch plan, then the LLVM
// dialect. Each prints, and is read again.
//
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a" -o %t.loops.mlir
// RUN: FileCheck %s --check-prefix=LOOPS --input-file=%t.loops.mlir
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a" -o %t.tile.mlir
// RUN: FileCheck %s --check-prefix=TILE --input-file=%t.tile.mlir
// RUN: ft-opt %t.loops.mlir --ft-compile="from=tile to=threads target=sm_90a" | diff - %t.tile.mlir
// RUN: ft-opt %s --ft-compile="to=target target=sm_90a" -o %t.target.mlir
// RUN: FileCheck %s --check-prefix=TARGET --input-file=%t.target.mlir
// RUN: ft-opt %t.tile.mlir --ft-compile="from=threads to=target target=sm_90a" | diff - %t.target.mlir
//
// The passes by themselves.
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu | FileCheck %s --check-prefix=LOOPS
// RUN: ft-opt %t.loops.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=TILE
// RUN: ft-opt %t.tile.mlir --convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// RUN: ft-opt %t.tile.mlir --convert-tile-to-nvvm --tile-expand-math | FileCheck %s --check-prefix=EXPAND
// RUN: ft-opt %t.tile.mlir --tile-lower-kernels | FileCheck %s --check-prefix=TARGET
//
// What tile-lower-kernels runs prints, one pass after the other; it is the same as the passes one by one.
// RUN: ft-opt %t.tile.mlir --tile-lower-kernels --mlir-print-ir-after-all -o /dev/null 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: ft-opt %t.tile.mlir --pass-pipeline="builtin.module(gpu.module(convert-tile-to-nvvm,tile-expand-math,loop-invariant-code-motion,cse,convert-scf-to-cf,convert-math-to-llvm,convert-arith-to-llvm,convert-to-llvm{filter-dialects=cf},reconcile-unrealized-casts))" \
// RUN:   | diff - %t.target.mlir
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" --convert-etdg-to-loops=target=sm_90a | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu=target=cpu 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: convert-loops-to-gpu: expected target = sm_80 or sm_90a, found 'cpu'
// RUN: sed 's/tile.plan = "/tile.plans = "/' %t.tile.mlir | not ft-opt --tile-lower-kernels 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: :[[#]]:[[#]]: error: 'gpu.module' op no attribute of tile is called 'tile.plans': expected 'tile.plan' or 'tile.target'
//
// LOOPS: loops.program @product
// LOOPS: func.func @product_k0({{.*}}) attributes {loops.grid = #loops.grid<{{.*}}>, loops.kernel, loops.shared = #loops.shared<
// LOOPS: loops.chunks {{.*}} level <grid, cyclic>
// LOOPS: loops.leaf {{.*}} layouts [#tile.product<{{.*}}, mma{{.*}}>] {{.*}}places [#loops.place<operands in shared
//
// TILE: gpu.module @product [#nvvm.target<O = 3, chip = "sm_90a", features = "+ptx80">] attributes {tile.plan = "{\22name\22:\22product\22,{{.*}}\22launch{{.*}}", tile.target = "sm_90a"} {
// TILE: llvm.func @product_k0
// TILE: tile.copy
// TILE: scf.for
// TILE: tile.mma {{.*}} {fragments
// TILE: tile.store
//
// NVVM-NOT: tile.{{(copy|mma|store)}}
// NVVM: scf.for
// NVVM: nvvm.mma.sync
//
// EXPAND-NOT: arith.{{ceildivsi|floordivsi}}
// EXPAND: llvm.func @product_k0
//
// NESTED: IR Dump After ConvertTileToNVVM
// NESTED: IR Dump After TileExpandMath
// NESTED: IR Dump After SCFToControlFlow
// NESTED: IR Dump After ConvertToLLVMPass
// NESTED: IR Dump After TileLowerKernels
//
// TARGET: gpu.module @product [#nvvm.target<{{.*}}>] attributes {tile.plan =
// TARGET: llvm.func @product_k0
// TARGET-NOT: {{scf|arith|math}}.
// TARGET: nvvm.mma.sync
// TARGET-NOT: {{scf|arith|math}}.

!x = tensor<1x64xf16>
!w = tensor<64x64xf16>
func.func @product(%xs: !ft.list<[N], !x>, %w: !w) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.constant dense<0.0> : !x
    %y = linalg.matmul ins(%x, %w : !x, !w) outs(%z : !x) -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
