// Products that iterations add to a sum are one product of many iterations, also where one operand is put together of
// pieces: the iterations of no multiple of their number follow one by one.
//
// RUN: ft-opt %s --ft-compile="to=schedule machine=%S/../../machines/cpu.json" | FileCheck %s
// RUN: ft-run %s --engine=cpu --entry=main --compare=interpret --dim L=0 --dim N=2 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --entry=main --compare=interpret --dim L=1 --dim N=1 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --entry=main --compare=interpret --dim L=7 --dim N=3 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --entry=main --compare=interpret --dim L=131 --dim N=2 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --entry=main --compare=interpret --dim L=131 --dim N=2 --plan-seed=3 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --entry=after --compare=interpret --dim L=1 --dim N=1 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --entry=after --compare=interpret --dim L=65 --dim N=2 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=cpu --entry=after --compare=interpret --dim L=131 --dim N=2 --plan-seed=3 | FileCheck %s --check-prefix=EQUAL

!x = tensor<1x32xf32>
!w = tensor<32x32xf32>

// EQUAL: equal
// CHECK: etdg.block @{{.*}}_joined
// CHECK-SAME: floordiv(L,
// CHECK-NEXT: reads (
// CHECK-SAME: * j + e0 - 1
func.func @main(%xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}, %gss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[N], !w>
    attributes {ft.lengths = {N = 4 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %none = arith.constant dense<0.0> : !w
  %r = ft.map (%xs, %gs = %xss, %gss : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>) -> !ft.list<[N], !w> {
    %before = ft.shift %xs by 1 fill %zero : !ft.list<[L], !x>, !x
    %s = ft.reduce (%x, %g = %before, %gs : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s = %none : !w) -> !w {
      %p = linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (k, i)>, affine_map<(k, i, j) -> (k, j)>, affine_map<(k, i, j) -> (i, j)>],
                           iterator_types = ["reduction", "parallel", "parallel"]} ins(%x, %g : !x, !x) outs(%none : !w) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %m = arith.mulf %a, %b : f32
        %n = arith.addf %c, %m : f32
        linalg.yield %n : f32
      } -> !w
      %t = arith.addf %s, %p : !w
      ft.yield %t : !w
    } combine (%a, %b) {
      %t = arith.addf %a, %b : !w
      ft.yield %t : !w
    } identity (%none : !w)
    ft.yield %s : !w
  }
  return %r : !ft.list<[N], !w>
}

// The last element that is read is a number beside the list, which the iterations after the last multiple meet.
func.func @after(%xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}, %gss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[N], !w>
    attributes {ft.lengths = {N = 4 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %none = arith.constant dense<0.0> : !w
  %r = ft.map (%xs, %gs = %xss, %gss : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>) -> !ft.list<[N], !w> {
    %next = ft.shift %xs by -1 fill %zero : !ft.list<[L], !x>, !x
    %s = ft.reduce (%x, %g = %next, %gs : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s = %none : !w) -> !w {
      %p = linalg.generic {indexing_maps = [affine_map<(k, i, j) -> (k, i)>, affine_map<(k, i, j) -> (k, j)>, affine_map<(k, i, j) -> (i, j)>],
                           iterator_types = ["reduction", "parallel", "parallel"]} ins(%x, %g : !x, !x) outs(%none : !w) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %m = arith.mulf %a, %b : f32
        %n = arith.addf %c, %m : f32
        linalg.yield %n : f32
      } -> !w
      %t = arith.addf %s, %p : !w
      ft.yield %t : !w
    } combine (%a, %b) {
      %t = arith.addf %a, %b : !w
      ft.yield %t : !w
    } identity (%none : !w)
    ft.yield %s : !w
  }
  return %r : !ft.list<[N], !w>
}
