// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases behind storage, for a GPU: kernels of tiles and loops with their launch plan, then the LLVM dialect. Each prints, and is read again.
//
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a" -o %t.tile.mlir
// RUN: FileCheck %s --check-prefix=TILE --input-file=%t.tile.mlir
// RUN: ft-opt %s --ft-compile="to=target target=sm_90a" -o %t.target.mlir
// RUN: FileCheck %s --check-prefix=TARGET --input-file=%t.target.mlir
// RUN: ft-opt %t.tile.mlir --ft-compile="from=tile to=target target=sm_90a" | diff - %t.target.mlir
//
// The passes by themselves.
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=TILE
// RUN: ft-opt %t.tile.mlir --convert-tile-to-nvvm | FileCheck %s --check-prefix=NVVM
// RUN: ft-opt %t.tile.mlir --tile-lower-kernels | FileCheck %s --check-prefix=TARGET
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" --convert-etdg-to-loops=target=sm_90a | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu=target=cpu 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: error: convert-loops-to-gpu: expected target = sm_80 or sm_90a, found 'cpu'
// RUN: sed 's/tile.plan = "/tile.plans = "/' %t.tile.mlir | not ft-opt --tile-lower-kernels 2>&1 | FileCheck %s --check-prefix=PLAN
// PLAN: :[[#]]:[[#]]: error: a module of kernels names its target and its launch plan ('tile.target', 'tile.plan'), each a string
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
