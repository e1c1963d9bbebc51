// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes of a tensor that is no multiple of them in any dimension: what lies outside comes as zeros. What the launch plan passes is compared
// with what the kernel takes, and a wrong stride gives other results.
//
// RUN: sed -e s/ROWS/1/g -e s/BELOW/8/g %s > %t.1.mlir
// RUN: sed -e s/ROWS/7/g -e s/BELOW/8/g %s > %t.7.mlir
// RUN: sed -e s/ROWS/127/g -e s/BELOW/128/g %s > %t.127.mlir
// RUN: %python %S/Inputs/tensor-maps.py %ft_bin/ft-opt %ft_bin/ft-run %ft_bin/ft-translate %t.1.mlir %t.7.mlir %t.127.mlir | FileCheck %s
// CHECK: 6 kernels, 5 faults, 0 wrong

func.func @pad(%x: tensor<ROWSx24xf16>) -> tensor<BELOWx32xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<BELOWx32xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<BELOWx32xf16>) -> tensor<BELOWx32xf16>
  %r = tensor.insert_slice %x into %c[0, 0] [ROWS, 24] [1, 1] : tensor<ROWSx24xf16> into tensor<BELOWx32xf16>
  return %r : tensor<BELOWx32xf16>
}
