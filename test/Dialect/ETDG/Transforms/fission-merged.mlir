// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two nests that agree on their outer dimension alone are one loop around both, in whose iterations what is between them stays. On a GPU they stay two
// where that would leave SMs without work that the inner dimensions give them: a thread block runs what is inside alone.
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" --remarks-filter="coarsen.*" --remark-policy=all 2>&1 | FileCheck %s --check-prefixes=SAID,TWO
// SAID: stay two (tiles): of two products, as one, 4 tiles are left at typical lengths, apart {{[0-9]+}}; the machine has 132 units
// RUN: ft-opt %s --ft-compile="to=coarsen target=cpu machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=ONE
// With an iteration for each SM, and with products that take less than a launch, they stay one:
// RUN: sed 's/B = 4/B = 132/' %s | ft-opt --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=ONE
// RUN: sed 's/64x64/8x8/g' %s | ft-opt --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | FileCheck %s --check-prefix=ONE
// RUN: %ft_bin/ft-run %s --engine=emulate --compare=interpret --dim B=2 --dim L=5 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

// TWO-LABEL: etdg.graph @neighbours
// TWO: etdg.block @{{r[0-9]+}} [map, map] (i, j) in [0, B) x [0, L)
// TWO: etdg.block @{{r[0-9_]+}} [map, map] (i, j) in [0, B) x [0, L - 1)
// ONE-LABEL: etdg.graph @neighbours
// ONE: etdg.block @{{r[0-9]+}} [map] (i) in [0, B)
// ONE: (i | j) in [0, L)
// ONE: (i | j) in [0, L - 1)

!t = tensor<64x64xf32>
func.func @neighbours(%xss: !ft.list<[B, L], !t>, %w: !t) -> !ft.list<[B, L - 1], !t>
    attributes {ft.bounds = #ft.bounds<"L >= 2">, ft.lengths = {B = 4 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !t
  %yss = ft.map (%xs = %xss : !ft.list<[B, L], !t>) -> !ft.list<[B, L], !t> {
    %ys = ft.map (%x = %xs : !ft.list<[L], !t>) -> !ft.list<[L], !t> {
      %y = linalg.matmul ins(%x, %w : !t, !t) outs(%zero : !t) -> !t
      ft.yield %y : !t
    }
    ft.yield %ys : !ft.list<[L], !t>
  }
  %zss = ft.map (%ys = %yss : !ft.list<[B, L], !t>) -> !ft.list<[B, L - 1], !t> {
    %before = ft.slice %ys[0 to -1] : !ft.list<[L], !t>
    %behind = ft.slice %ys[1 to L] : !ft.list<[L], !t>
    %zs = ft.map (%p, %q = %before, %behind : !ft.list<[L - 1], !t>, !ft.list<[L - 1], !t>) -> !ft.list<[L - 1], !t> {
      %z = linalg.matmul ins(%p, %q : !t, !t) outs(%zero : !t) -> !t
      ft.yield %z : !t
    }
    ft.yield %zs : !ft.list<[L - 1], !t>
  }
  return %zss : !ft.list<[B, L - 1], !t>
}
