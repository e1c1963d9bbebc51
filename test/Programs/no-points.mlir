// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lengths that a program asks for leave without any point still has bounds: L is ceildiv(L, 2), so no scan
// goes beyond its first step. A cheaper order of the inner scans is a domain that is found anew.
//
// RUN: ft-run %s --compare=interpret | FileCheck %s
// RUN: ft-run %s --compare=interpret --engine=emulate | FileCheck %s
// RUN: ft-run %s --compare=interpret --engine=emulate --partition=cost --variant=blocks | FileCheck %s

// CHECK: equal
func.func @shrinks(%xs: !ft.list<[L, N], tensor<15xi64>>, %ys: !ft.list<[L, N, L], tensor<11x1xi64>>, %first: !ft.list<[N], tensor<15xi64>>)
    -> !ft.list<[L, ceildiv(L, 2), N], tensor<15xi64>> attributes {ft.lengths = {L = 1 : i64, N = 7 : i64}} {
  %0 = ft.cast %xs : !ft.list<[L, N], tensor<15xi64>> to !ft.list<[ceildiv(L, 2), N], tensor<15xi64>>
  %1:2 = ft.scanr (%y = %ys : !ft.list<[L, N, L], tensor<11x1xi64>>) init (%s = %0 : !ft.list<[ceildiv(L, 2), N], tensor<15xi64>>)
      -> !ft.list<[L, ceildiv(L, 2), N], tensor<15xi64>>, !ft.list<[L, ceildiv(L, 2), N], tensor<15xi64>> {
    %2 = ft.scanr (%x = %s : !ft.list<[ceildiv(L, 2), N], tensor<15xi64>>) init (%t = %first : !ft.list<[N], tensor<15xi64>>)
        -> !ft.list<[ceildiv(L, 2), N], tensor<15xi64>> {
      ft.yield %t : !ft.list<[N], tensor<15xi64>>
    }
    ft.yield %2 : !ft.list<[ceildiv(L, 2), N], tensor<15xi64>> emit %2 : !ft.list<[ceildiv(L, 2), N], tensor<15xi64>>
  }
  return %1#1 : !ft.list<[L, ceildiv(L, 2), N], tensor<15xi64>>
}
