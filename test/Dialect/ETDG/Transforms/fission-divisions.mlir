// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop of maps around several parts may be taken apart: etdg-reorder leaves that as a division, which is priced for a GPU.
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a machine=%S/../../../machines/h200.json" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-reorder))" | FileCheck %s
// CHECK-LABEL: etdg.graph @rows
// CHECK: etdg.block @{{r[0-9]+}} [map] (i) in [0, N) attributes {etdg.divisions = [#etdg.division<kind = apart>]}
// CHECK-LABEL: etdg.graph @plain
// CHECK: etdg.block @{{r[0-9]+}} [map] (i) in [0, N) attributes {etdg.divisions = [#etdg.division<kind = apart>]}
//
// What a recurrence reads is a product of all rows and steps, apart; together it is one for each row.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../../machines/h200.json" --remarks-filter="gpu.*" -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --check-prefix=APART --input-file=%t.remarks
// APART: choose-division{{.*}}taken apart{{.*}}(whole {{.*}}, taken apart
// RUN: FileCheck %s --check-prefix=LOOPS --input-file=%t.mlir
// LOOPS-LABEL: etdg.graph @rows
// LOOPS: (i, j) in [0, N) x [0, L)
// LOOPS: level = grid
// LOOPS: #tile.product<
// LOOPS: [map] (i) in [0, N)
// LOOPS: #tile.product<
// With few rows of few steps launches cost more than that:
// RUN: sed 's/\[256, 256\]/[2, 2]/; s/\[512, 512\]/[3, 3]/' %s | ft-opt --ft-compile="to=schedule target=sm_90a machine=%S/../../../machines/h200.json" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHOLE
// WHOLE: choose-division{{.*}}"whole:
//
// Cores share out loops inside of one, too:
// RUN: ft-opt %s --ft-compile="to=schedule target=cpu machine=%S/../../../machines/cpu.json" --remarks-filter="cpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CPU --allow-empty
// CPU-NOT: apart
// RUN: %ft_bin/ft-run %s --entry=rows --engine=emulate --compare=interpret --dim N=3 --dim L=5 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @rows(%xss: !ft.list<[N, L], !x>, %w: !w, %v: !w) -> !ft.list<[N, L], !x>
    attributes {ft.typical = {N = [256, 256], L = [512, 512]}} {
  %zero = arith.constant dense<0.0> : !x
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %ps = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
      ft.yield %p : !x
    }
    %hs = ft.scanl (%p = %ps : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %t = math.tanh %h : !x
      %s = arith.addf %t, %p : !x
      ft.yield %s : !x
    }
    %ys = ft.map (%h = %hs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %y = linalg.matmul ins(%h, %v : !x, !w) outs(%zero : !x) -> !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}

// So may one without a product.
func.func @plain(%xss: !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %s = arith.addf %h, %x : !x
      ft.yield %s : !x
    }
    %back = ft.reverse %hs : !ft.list<[L], !x>
    %ys = ft.map (%b, %h = %back, %hs : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %y = arith.mulf %b, %h : !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}
