// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of the loop ends on data, another one goes on: all of its steps are waited for.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=schedule target=cpu" | FileCheck %s
// CHECK: etdg.graph @both
// CHECK-NOT: exit <
// RUN: ft-run %s --entry=both --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=both --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL-COUNT-2: equal

func.func @both(%w: tensor<256x256xi32>, %x: tensor<9x1x256xi32>) -> (tensor<1x256xi32>, tensor<1x256xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %false = arith.constant false
  %zero = arith.constant dense<0> : tensor<1x256xi32>
  %none = arith.constant dense<0> : tensor<i32>
  %limit = arith.constant 3 : i32
  %r:3 = scf.for %i = %c0 to %c9 step %c1 iter_args(%left = %false, %h = %zero, %a = %zero) -> (i1, tensor<1x256xi32>, tensor<1x256xi32>) {
    %row = tensor.extract_slice %x[%i, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<9x1x256xi32> to tensor<1x256xi32>
    %q = linalg.matmul ins(%a, %w : tensor<1x256xi32>, tensor<256x256xi32>) outs(%row : tensor<1x256xi32>) -> tensor<1x256xi32>
    %s:2 = scf.if %left -> (i1, tensor<1x256xi32>) {
      scf.yield %left, %h : i1, tensor<1x256xi32>
    } else {
      %p = linalg.matmul ins(%h, %w : tensor<1x256xi32>, tensor<256x256xi32>) outs(%row : tensor<1x256xi32>) -> tensor<1x256xi32>
      %flat = tensor.collapse_shape %p [[0, 1]] : tensor<1x256xi32> into tensor<256xi32>
      %most = linalg.reduce ins(%flat : tensor<256xi32>) outs(%none : tensor<i32>) dimensions = [0]
        (%one: i32, %other: i32) {
          %m = arith.maxsi %one, %other : i32
          linalg.yield %m : i32
        }
      %top = tensor.extract %most[] : tensor<i32>
      %large = arith.cmpi sgt, %top, %limit : i32
      scf.yield %large, %p : i1, tensor<1x256xi32>
    }
    scf.yield %s#0, %s#1, %q : i1, tensor<1x256xi32>, tensor<1x256xi32>
  }
  return %r#1, %r#2 : tensor<1x256xi32>, tensor<1x256xi32>
}
