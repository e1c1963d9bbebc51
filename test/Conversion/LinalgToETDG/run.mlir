// RUN: ft-run %s --entry=attention --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=reshapes --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=reshapes --engine=interpret --order=random --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=integers --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-opt %s --convert-linalg-to-etdg --etdg-verify | FileCheck %s
// EQUAL: equal
// EQUAL-NOT: NOT EQUAL

// Elementwise, contraction, reduction, broadcast, transpose: a block for each.
// CHECK-LABEL: etdg.graph @attention
// CHECK-COUNT-8: etdg.block
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @attention(%q: tensor<7x16xf32>, %k: tensor<13x16xf32>, %v: tensor<13x16xf32>) -> tensor<7x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant -1.0e30 : f32
  %ek = tensor.empty() : tensor<16x13xf32>
  %kt = linalg.transpose ins(%k : tensor<13x16xf32>) outs(%ek : tensor<16x13xf32>) permutation = [1, 0]
  %es = tensor.empty() : tensor<7x13xf32>
  %s0 = arith.constant dense<0.0> : tensor<7x13xf32>
  %s = linalg.matmul ins(%q, %kt : tensor<7x16xf32>, tensor<16x13xf32>) outs(%s0 : tensor<7x13xf32>) -> tensor<7x13xf32>
  %m0 = arith.constant dense<-1.0e30> : tensor<7xf32>
  %m = linalg.reduce { arith.maximumf } ins(%s : tensor<7x13xf32>) outs(%m0 : tensor<7xf32>) dimensions = [1]
  %mb = linalg.broadcast ins(%m : tensor<7xf32>) outs(%es : tensor<7x13xf32>) dimensions = [1]
  %d = arith.subf %s, %mb : tensor<7x13xf32>
  %p = math.exp %d : tensor<7x13xf32>
  %o0 = arith.constant dense<0.0> : tensor<7x16xf32>
  %o = linalg.matmul ins(%p, %v : tensor<7x13xf32>, tensor<13x16xf32>) outs(%o0 : tensor<7x16xf32>) -> tensor<7x16xf32>
  %y = arith.mulf %o, %q : tensor<7x16xf32>
  return %y : tensor<7x16xf32>
}

// Reshapes and slices are maps of the reads after them: one block computes, one
// copies what is returned as it came.
// CHECK-LABEL: etdg.graph @reshapes
// CHECK: reads (%{{.*}} = elem (
// CHECK: math.exp
// CHECK-NOT: math.
// CHECK: reads (%{{.*}} = elem (
// CHECK: etdg.return
func.func @reshapes(%x: tensor<4x6xf32>) -> (tensor<24xf32>, tensor<2x3xf32>) {
  %c = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %y = math.exp %c : tensor<24xf32>
  %e = tensor.expand_shape %c [[0, 1]] output_shape [8, 3] : tensor<24xf32> into tensor<8x3xf32>
  %s = tensor.extract_slice %e[1, 0] [2, 3] [3, 1] : tensor<8x3xf32> to tensor<2x3xf32>
  return %y, %s : tensor<24xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: etdg.graph @integers
func.func @integers(%a: tensor<5x7xi32>, %b: tensor<7x3xi32>) -> (tensor<5x3xi32>, tensor<5x3xi32>, tensor<7x3xi32>) {
  %z = arith.constant dense<1> : tensor<5x3xi32>
  %c = linalg.matmul ins(%a, %b : tensor<5x7xi32>, tensor<7x3xi32>) outs(%z : tensor<5x3xi32>) -> tensor<5x3xi32>
  return %c, %c, %b : tensor<5x3xi32>, tensor<5x3xi32>, tensor<7x3xi32>
}
