// RUN: ft-opt %s --pass-pipeline='builtin.module(func.func(ft-align-maps))' | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=reorder" --remarks-filter=reorder -o /dev/null 2>&1 | FileCheck %s --check-prefix=STEPS

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

// The backward program of a stacked RNN, its gradient of the layer below beside the scan: a wavefront, not D * L steps.
// CHECK-LABEL: func.func @layers
// CHECK:         ft.scanr
// CHECK:         %[[AS:.*]] = ft.scanr
// CHECK:         %[[FIRST:.*]] = ft.reverse %[[AS]]
// CHECK:         %[[MAP:.*]] = ft.map (%{{.*}} = %[[FIRST]]
// CHECK:         %[[DS:.*]] = ft.reverse %[[MAP]]
// A map of a map's result: no reversal between.
// CHECK:         ft.map (%{{.*}} = %[[MAP]]
// STEPS: transform{{.*}}steps-after="{{.*}}D + L - 1"
func.func @layers(%gs: !ft.list<[L], !x>, %ws: !ft.list<[D], !w>, %hss: !ft.list<[D, L], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 8 : i64, L = 64 : i64}} {
  %r = ft.scanr (%w, %hs = %ws, %hss : !ft.list<[D], !w>, !ft.list<[D, L], !x>) init (%g = %gs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %z = arith.constant dense<0.0> : !x
    %as = ft.scanr (%h, %e = %hs, %g : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%a = %z : !x) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%a, %w : !x, !w) outs(%e : !x) -> !x
      %q = arith.mulf %p, %h : !x
      ft.yield %q : !x
    }
    %bs = ft.map (%a = %as : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%a, %w : !x, !w) outs(%z : !x) -> !x
      ft.yield %p : !x
    }
    %ds = ft.map (%b = %bs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = arith.addf %b, %b : !x
      ft.yield %p : !x
    }
    ft.yield %ds : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// Beside a scan from the left as well, and outside of an operator with states, maps stay.
// CHECK-LABEL: func.func @both
// CHECK-NOT: ft.reverse
func.func @both(%xss: !ft.list<[D, L], !x>, %s0: !x) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %z = arith.constant dense<0.0> : !x
  %init = ft.repeat %s0 times L : !x
  %r = ft.foldl (%xs = %xss : !ft.list<[D, L], !x>) init (%g = %init : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %as = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%a = %z : !x) -> !ft.list<[L], !x> {
      %q = arith.mulf %a, %x : !x
      ft.yield %q : !x
    }
    %bs = ft.scanl (%x = %as : !ft.list<[L], !x>) init (%a = %z : !x) -> !ft.list<[L], !x> {
      %q = arith.subf %a, %x : !x
      ft.yield %q : !x
    }
    %ds = ft.map (%a, %b, %c = %as, %bs, %g : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = arith.addf %a, %b : !x
      %q = arith.addf %p, %c : !x
      ft.yield %q : !x
    }
    ft.yield %ds : !ft.list<[L], !x>
  }
  %as = ft.scanr (%x = %r : !ft.list<[L], !x>) init (%a = %z : !x) -> !ft.list<[L], !x> {
    %q = arith.mulf %a, %x : !x
    ft.yield %q : !x
  }
  %ds = ft.map (%a = %as : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %p = arith.addf %a, %a : !x
    ft.yield %p : !x
  }
  return %r, %ds : !ft.list<[L], !x>, !ft.list<[L], !x>
}
