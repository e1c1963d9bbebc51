// --type replaces the definition of an alias before parsing.
// RUN: ft-opt %s | FileCheck %s --check-prefix=PLAIN
// RUN: ft-opt %s --type 'x=tensor<1x16xf16>' --type '!w=tensor<4xi32>' | FileCheck %s --check-prefix=BOTH
// RUN: not ft-opt %s --type 'y=f32' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not ft-opt %s --type 'f32' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not ft-opt %s --type 'x=tensor<' 2>&1 | FileCheck %s --check-prefix=BAD

!x = tensor<1x8xf32> // a comment on the line
!w = tensor<
  8x8xf32
>

// PLAIN: func.func private @f(tensor<1x8xf32>, tensor<8x8xf32>)
// BOTH: func.func private @f(tensor<1x16xf16>, tensor<4xi32>)
// UNKNOWN: type-override.mlir:1:1: error: --type names '!y', which this file does not define; it defines '!x', '!w'
// FORM: error: --type expects NAME=TYPE, such as x=tensor<1x8xf32>, but got 'f32'
// BAD: type-override.mlir:{{[0-9]+}}:{{[0-9]+}}: error:
func.func private @f(!x, !w)
