// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A condition in a body computes both sides and chooses by what was asked; a condition inside a condition chooses within a side.
//
// RUN: ft-opt %s --ft-select | FileCheck %s --implicit-check-not=scf.
!x = tensor<4xf32>
!c = tensor<i1>

// CHECK-LABEL: func.func @nested
// CHECK: ft.map (%[[X:.*]], %[[P:.*]], %[[Q:.*]] = %
// CHECK-DAG: %[[A:.*]] = tensor.extract %[[P]][]
// CHECK-DAG: %[[B:.*]] = tensor.extract %[[Q]][]
// CHECK-DAG: %[[T:.*]] = math.tanh %[[X]]
// CHECK-DAG: %[[N:.*]] = arith.negf %[[X]]
// CHECK: %[[S:.*]] = arith.select %[[B]], %[[T]], %[[N]]
// CHECK: %[[R:.*]] = arith.select %[[A]], %[[S]], %[[X]]
// CHECK: ft.yield %[[R]]
func.func @nested(%v: !ft.list<[N], !x>, %p: !ft.list<[N], !c>, %q: !ft.list<[N], !c>) -> !ft.list<[N], !x> {
  %r = ft.map (%x, %a, %b = %v, %p, %q : !ft.list<[N], !x>, !ft.list<[N], !c>, !ft.list<[N], !c>) {
    %outer = tensor.extract %a[] : !c
    %inner = tensor.extract %b[] : !c
    %y = scf.if %outer -> !x {
      %z = scf.if %inner -> !x {
        %t = math.tanh %x : !x
        scf.yield %t : !x
      } else {
        %n = arith.negf %x : !x
        scf.yield %n : !x
      }
      scf.yield %z : !x
    } else {
      scf.yield %x : !x
    }
    ft.yield %y : !x
  }
  return %r : !ft.list<[N], !x>
}
