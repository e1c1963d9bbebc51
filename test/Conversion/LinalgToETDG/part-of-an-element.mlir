// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A number that is cut out of a tensor twice is no copy of the tensor: what wrote the tensor does not
// write the number's buffer.
//
// RUN: ft-opt %s --ft-compile=to=coarsen | FileCheck %s
// CHECK: etdg.graph @twice
// RUN: ft-run %s --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

func.func @twice(%x: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %e = tensor.empty() : tensor<4xi32>
  %a = linalg.broadcast ins(%x : tensor<i32>) outs(%e : tensor<4xi32>) dimensions = [0]
  %p = tensor.extract_slice %a[0] [1] [1] : tensor<4xi32> to tensor<i32>
  %q = tensor.extract_slice %a[0] [1] [1] : tensor<4xi32> to tensor<i32>
  return %p, %q : tensor<i32>, tensor<i32>
}
