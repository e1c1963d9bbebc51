// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of TMA, mbarriers and wgmma, which a device has found right: the emulator does, too, and finds what is left out of them.
// RUN: %python %S/Inputs/group-product.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 3 kernels, 5 faults, 0 wrong

func.func @product(%a: tensor<70x72xf16>, %b: tensor<72x24xf16>) -> tensor<70x24xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<70x24xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<70x24xf16>) -> tensor<70x24xf16>
  %r = linalg.matmul ins(%a, %b : tensor<70x72xf16>, tensor<72x24xf16>) outs(%c : tensor<70x24xf16>) -> tensor<70x24xf16>
  return %r : tensor<70x24xf16>
}
