// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list that is cut into pieces of a length: one of another length is refused on every engine, and
// not run without its last elements.
//
// RUN: not ft-run %s --dim=L=127 --dim=C=2 --engine=interpret 2>&1 | FileCheck %s --check-prefix=INTERPRET
// INTERPRET: cut-lengths.mlir:[[#@LINE+12]]:8: error: a list of length 127 cannot be split into pieces of C = 2
// RUN: not ft-run %s --dim=L=127 --dim=C=2 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: entry "sums", argument 0 "argument0": wrong extent of dimension 0: expected L_cut * Cx4xi32, found 127x4xi32, found C = 2, L_cut = 63
// RUN: not ft-run %s --dim=L=1 --dim=C=2 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: found 1x4xi32, found C = 2, L_cut = 0
// RUN: ft-run %s --dim=L=126 --dim=C=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --dim=L=0 --dim=C=7 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<4xi32>
func.func @sums(%xs: !ft.list<[L], !x>, %p: !ft.list<[C], !x>) -> !ft.list<[floordiv(L, C), C], !x>
    attributes {ft.bounds = #ft.bounds<"C >= 1">} {
  %b = ft.split %xs by C : !ft.list<[L], !x>
  %o = ft.scanl (%q = %b : !ft.list<[floordiv(L, C), C], !x>) init (%s = %p : !ft.list<[C], !x>) {
    %r = ft.map (%x, %y = %q, %s : !ft.list<[C], !x>, !ft.list<[C], !x>) {
      %a = arith.subi %x, %y : !x
      ft.yield %a : !x
    }
    ft.yield %r : !ft.list<[C], !x>
  }
  return %o : !ft.list<[floordiv(L, C), C], !x>
}
