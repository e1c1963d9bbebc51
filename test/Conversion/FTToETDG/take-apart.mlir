// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts by a length beside an operation that takes no list.
//
// RUN: ft-opt %s --convert-ft-to-etdg | FileCheck %s
// RUN: ft-run %s --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal{{$}}

!s = tensor<i64>

// CHECK-LABEL: etdg.graph @numbered
// CHECK-SAME: !etdg.buffer<[L_cut, C], tensor<i64>>
func.func @numbered(%xs: !ft.list<[L], !s>, %ps: !ft.list<[C], !s>) -> !ft.list<[floordiv(L, C), C], !s>
    attributes {ft.bounds = #ft.bounds<"C >= 1">, ft.lengths = {L = 12 : i64, C = 4 : i64}} {
  %cut = ft.split %xs by C : !ft.list<[L], !s>
  %n = ft.iota : !ft.list<[C], !s>
  %y = ft.map (%row = %cut : !ft.list<[floordiv(L, C), C], !s>) {
    %z = ft.map (%x, %p, %i = %row, %ps, %n : !ft.list<[C], !s>, !ft.list<[C], !s>, !ft.list<[C], !s>) {
      %a = arith.muli %x, %i : !s
      %b = arith.addi %a, %p : !s
      ft.yield %b : !s
    }
    ft.yield %z : !ft.list<[C], !s>
  }
  return %y : !ft.list<[floordiv(L, C), C], !s>
}
