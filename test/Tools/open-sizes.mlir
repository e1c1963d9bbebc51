// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function over tensors of open sizes, in a file without an operation of ours: the sizes get names.
//
// RUN: ft-run %s --dim=n0_0=7 --compare=interpret | FileCheck %s
// RUN: ft-run %s --dim=n0_0=0 --compare=interpret | FileCheck %s
// CHECK: {{^}}equal
// RUN: not ft-run %s 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: open-sizes.mlir:[[#@LINE+4]]:1: error: length 'n0_0' of @exp has no value: give --dim n0_0=N
// RUN: not ft-run %s --dim=x=7 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: --dim names 'x', which @exp does not have; its lengths are n0_0

func.func @exp(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %y = math.exp %x : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
