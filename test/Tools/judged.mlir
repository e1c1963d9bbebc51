// A long sum whose result goes through a bounded function differs by more than the tolerance, and by no more than the program's own
// arithmetic errs: whether that is called equal does not depend on the seed.
//
// RUN: ft-run %s --engine=cpu --compare=interpret --seed=1 | FileCheck %s
// CHECK: equal: 9216 elements, errors against f64 {{.*}} of the tolerance, the program's own {{.*}}; 0.{{[0-9]+}} of what they may be
// CHECK: {{^equal$}}
//
// Tolerances that are given are what counts.
// RUN: not ft-run %s --engine=cpu --compare=interpret --seed=1 --rtol=1e-5 --atol=1e-5 | FileCheck %s --check-prefix=GIVEN
// GIVEN: NOT EQUAL
func.func @linear(%x: tensor<96x4096xf32>, %w: tensor<4096x96xf32>) -> tensor<96x96xf32> {
  %e = tensor.empty() : tensor<96x96xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<96x96xf32>) -> tensor<96x96xf32>
  %y = linalg.matmul ins(%x, %w : tensor<96x4096xf32>, tensor<4096x96xf32>) outs(%f : tensor<96x96xf32>) -> tensor<96x96xf32>
  %t = math.tanh %y : tensor<96x96xf32>
  return %t : tensor<96x96xf32>
}
