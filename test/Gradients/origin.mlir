// The angle of the origin has the derivative 0, as in PyTorch: the formula's quotient would be 0 / 0.
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=angle})' -o %t.mlir
// RUN: ft-run %t.mlir --entry=angle_backward --engine=interpret --print=3 | FileCheck %s
// RUN: ft-run %t.mlir --entry=angle_backward --print=3 | FileCheck %s
// CHECK: result 0 values: {{-?}}0 {{-?}}0 {{-?}}0{{$}}
func.func @angle(%x: tensor<3xf32>) -> tensor<3xf32> {
  %zero = arith.constant dense<0.0> : tensor<3xf32>
  %nothing = arith.mulf %x, %zero : tensor<3xf32>
  %angle = math.atan2 %nothing, %nothing : tensor<3xf32>
  return %angle : tensor<3xf32>
}
