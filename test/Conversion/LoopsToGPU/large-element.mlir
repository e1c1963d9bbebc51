// An element that is put together in a loop and does not fit into shared memory: each thread block has a part of the workspace,
// whose place is computed where the kernel begins.
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s
// RUN: ft-run %s --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// CHECK: .visible .entry
// EQUAL: {{^equal}}
func.func @cache(%k: tensor<70x1024xi32>, %first: tensor<1024xi32>) -> (tensor<70x1024xi32>, tensor<1024xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1024xi32>
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%a = %k, %x = %first) -> (tensor<70x1024xi32>, tensor<1024xi32>) {
    %at = arith.addi %t, %c40 : index
    %b = tensor.insert_slice %x into %a[%at, 0] [1, 1024] [1, 1] : tensor<1024xi32> into tensor<70x1024xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1024xi32>) -> tensor<1024xi32>
    %s = linalg.reduce ins(%b : tensor<70x1024xi32>) outs(%f : tensor<1024xi32>) dimensions = [0]
      (%p: i32, %q: i32) { %u = arith.addi %p, %q : i32 linalg.yield %u : i32 }
    scf.yield %b, %s : tensor<70x1024xi32>, tensor<1024xi32>
  }
  return %r#0, %r#1 : tensor<70x1024xi32>, tensor<1024xi32>
}
