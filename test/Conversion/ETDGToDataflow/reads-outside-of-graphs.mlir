// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What no operator graph has a word for is refused, and compiles without: one number out of an element, a result that is one number.
// RUN: ft-opt %s --ft-compile="to=schedule target=cpu dataflow" -o /dev/null 2>&1 | FileCheck %s
// RUN: ft-run %s --entry=element --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=total --engine=cpu --compare=interpret --dim=L=7 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^equal}}

// CHECK: remark: no dataflow was searched: read 0 takes a part of an element: expected the whole of it
etdg.graph @element(%x: !etdg.buffer<[], tensor<3x5xf32>>) -> !etdg.buffer<[], tensor<f32>> {
  %t = etdg.buffer : !etdg.buffer<[], tensor<3x5xf32>>
  %y = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  etdg.block @r0 [] () reads (%a = %x[] : tensor<3x5xf32>) writes (%t[]) {
    %p = arith.mulf %a, %a : tensor<3x5xf32>
    etdg.yield %p : tensor<3x5xf32>
  } : !etdg.buffer<[], tensor<3x5xf32>>, !etdg.buffer<[], tensor<3x5xf32>>
  etdg.block @r1 [] () reads (%a = %t[2, 3] : tensor<f32>) writes (%y[]) {
    %p = arith.mulf %a, %a : tensor<f32>
    etdg.yield %p : tensor<f32>
  } : !etdg.buffer<[], tensor<3x5xf32>>, !etdg.buffer<[], tensor<f32>>
  etdg.return %y : !etdg.buffer<[], tensor<f32>>
}

// A fold to one number, which a second block takes.
func.func @total(%xs: !ft.list<[L], tensor<f32>>, %s: tensor<f32>) -> !ft.list<[L], tensor<f32>> attributes {ft.lengths = {L = 9}} {
  %r = ft.foldl (%x = %xs : !ft.list<[L], tensor<f32>>) init (%a = %s : tensor<f32>) {
    %b = arith.addf %a, %x : tensor<f32>
    ft.yield %b : tensor<f32>
  }
  %ys = ft.map (%x = %xs : !ft.list<[L], tensor<f32>>) {
    %y = arith.mulf %x, %r : tensor<f32>
    ft.yield %y : tensor<f32>
  }
  return %ys : !ft.list<[L], tensor<f32>>
}
