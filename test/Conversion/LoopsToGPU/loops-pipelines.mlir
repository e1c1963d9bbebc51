// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which kernels have warp groups that fetch operands of others' products: a long sum of products of halves. What is given is kept, and kernels
// of another target have none.
//
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: sed 's/, tile.pipeline = #tile.pipeline<[^>]*>//' %t.mlir | ft-opt --loops-choose-pipelines | FileCheck %s
// RUN: sed 's/slots = 4/slots = 3/' %t.mlir | ft-opt --loops-choose-pipelines | FileCheck %s --check-prefix=GIVEN
// RUN: ft-opt %s --ft-compile="to=tile target=sm_80" | FileCheck %s --check-prefix=NONE
//
// CHECK: func.func @large_k0({{.*}}tile.pipeline = #tile.pipeline<slots = 4, loaders = 1, computers = 2, registers = [40, 232]>
// CHECK: #tile.product<block = [128, 256], thread = [2, 64], step = 64, stages = 1, wgmma,
// GIVEN: tile.pipeline = #tile.pipeline<slots = 3,
// NONE-NOT: tile.pipeline
// NONE: #tile.product<{{.*}}, mma,
//
// Rows that are no multiple of 16 bytes TMA can't bring.
// CHECK: func.func @odd_k0
// CHECK-NOT: tile.pipeline
// CHECK: #tile.product<{{.*}}, mma,

!x = tensor<4096x4096xf16>
func.func @large(%x: !x, %w: !x) -> !x {
  %z = arith.constant dense<0.0> : !x
  %y = linalg.matmul ins(%x, %w : !x, !x) outs(%z : !x) -> !x
  return %y : !x
}

func.func @odd(%x: tensor<4096x4095xf16>, %w: tensor<4095x4096xf16>) -> !x {
  %z = arith.constant dense<0.0> : !x
  %y = linalg.matmul ins(%x, %w : tensor<4096x4095xf16>, tensor<4095x4096xf16>) outs(%z : !x) -> !x
  return %y : !x
}
