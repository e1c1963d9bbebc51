// Bytecode is read only when the caller vouches for it.
// RUN: ft-opt %s --emit-bytecode -o %t.mlirbc
// RUN: not ft-opt %t.mlirbc 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: ft-opt %t.mlirbc --allow-unsafe-bytecode | FileCheck %s
// REFUSED: bytecode.mlir.tmp.mlirbc:1:1: error: MLIR bytecode is not hardened against malformed input; pass --allow-unsafe-bytecode
// CHECK: func.func private @f(i32)
func.func private @f(i32)
