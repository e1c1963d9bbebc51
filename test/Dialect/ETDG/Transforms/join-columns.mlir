// Statements on whole tensors that compute each element from that element alone of each other's results are one leaf:
// they have the same columns, which is what cores and thread blocks share of them.
//
// RUN: ft-opt %s --ft-compile="to=coarsen machine=%S/../../../machines/cpu.json" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=schedule machine=%S/../../../machines/cpu.json" | FileCheck %s --check-prefix=SHARED
// RUN: %python %S/../../../Programs/Inputs/whole-tensors.py %ft_bin/ft-run %s | FileCheck %s --check-prefix=EQUAL
// EQUAL: 7 programs, {{[1-9][0-9]*}} runs, 0 failures

// A layer of one row: product, bias and activation are one leaf, whose columns are shared.
// CHECK-LABEL: etdg.graph @layer(
// CHECK: etdg.block
// CHECK-DAG: linalg.matmul
// CHECK-DAG: linalg.broadcast
// CHECK: arith.addf
// CHECK: math.tanh
// CHECK: etdg.yield
// CHECK-NOT: etdg.block
// CHECK: etdg.return
// SHARED-LABEL: etdg.graph @layer(
// SHARED: columns = 1021 target = "cpu"
func.func @layer(%x: tensor<1x517xf32>, %w: tensor<517x1021xf32>, %b: tensor<1021xf32>) -> tensor<1x1021xf32> {
  %z = arith.constant dense<0.0> : tensor<1x1021xf32>
  %e = tensor.empty() : tensor<1x1021xf32>
  %y = linalg.matmul ins(%x, %w : tensor<1x517xf32>, tensor<517x1021xf32>) outs(%z : tensor<1x1021xf32>) -> tensor<1x1021xf32>
  %bs = linalg.broadcast ins(%b : tensor<1021xf32>) outs(%e : tensor<1x1021xf32>) dimensions = [0]
  %s = arith.addf %y, %bs : tensor<1x1021xf32>
  %t = math.tanh %s : tensor<1x1021xf32>
  return %t : tensor<1x1021xf32>
}

// The second layer needs all of the first: two leaves.
// CHECK-LABEL: etdg.graph @two_layers(
// CHECK: etdg.block
// CHECK: linalg.vecmat
// CHECK: math.tanh
// CHECK: etdg.yield
// CHECK: etdg.block
// CHECK: linalg.vecmat
// CHECK: math.tanh
// CHECK: etdg.yield
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @two_layers(%x: tensor<127xf32>, %w: tensor<127x67xf32>, %v: tensor<67x67xf32>) -> tensor<67xf32> {
  %z = arith.constant dense<0.0> : tensor<67xf32>
  %y = linalg.vecmat ins(%x, %w : tensor<127xf32>, tensor<127x67xf32>) outs(%z : tensor<67xf32>) -> tensor<67xf32>
  %t = math.tanh %y : tensor<67xf32>
  %u = linalg.vecmat ins(%t, %v : tensor<67xf32>, tensor<67x67xf32>) outs(%z : tensor<67xf32>) -> tensor<67xf32>
  %r = math.tanh %u : tensor<67xf32>
  return %r : tensor<67xf32>
}

// A gate and what it gates; both products have its columns. What is also returned is still written.
// CHECK-LABEL: etdg.graph @gated(
// CHECK: etdg.block
// CHECK: linalg.vecmat
// CHECK: linalg.vecmat
// CHECK: arith.mulf
// CHECK: etdg.yield %{{.*}}, %{{.*}} :
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @gated(%x: tensor<113xf32>, %w: tensor<113x131xf32>, %v: tensor<113x131xf32>) -> (tensor<131xf32>, tensor<131xf32>) {
  %z = arith.constant dense<0.5> : tensor<131xf32>
  %a = linalg.vecmat ins(%x, %w : tensor<113xf32>, tensor<113x131xf32>) outs(%z : tensor<131xf32>) -> tensor<131xf32>
  %b = linalg.vecmat ins(%x, %v : tensor<113xf32>, tensor<113x131xf32>) outs(%z : tensor<131xf32>) -> tensor<131xf32>
  %g = math.exp %a : tensor<131xf32>
  %r = arith.mulf %g, %b : tensor<131xf32>
  return %r, %a : tensor<131xf32>, tensor<131xf32>
}

// A row that is needed whole keeps to itself.
// CHECK-LABEL: etdg.graph @normalised(
// CHECK: etdg.block
// CHECK: linalg.vecmat
// CHECK: etdg.yield
// CHECK: etdg.block
// CHECK: etdg.return
func.func @normalised(%x: tensor<61xf32>, %w: tensor<61x509xf32>) -> tensor<1x509xf32> {
  %z = arith.constant dense<0.0> : tensor<509xf32>
  %y = linalg.vecmat ins(%x, %w : tensor<61xf32>, tensor<61x509xf32>) outs(%z : tensor<509xf32>) -> tensor<509xf32>
  %m = tensor.expand_shape %y [[0, 1]] output_shape [1, 509] : tensor<509xf32> into tensor<1x509xf32>
  %e = tensor.empty() : tensor<1x509xf32>
  %s = linalg.softmax dimension(1) ins(%m : tensor<1x509xf32>) outs(%e : tensor<1x509xf32>) -> tensor<1x509xf32>
  return %s : tensor<1x509xf32>
}

// Reversed: the element that is read is another one.
// CHECK-LABEL: etdg.graph @turned(
// CHECK: etdg.block
// CHECK: etdg.yield
// CHECK: etdg.block
// CHECK: etdg.return
#back = affine_map<(i) -> (-i + 6)>
#same = affine_map<(i) -> (i)>
func.func @turned(%x: tensor<7xi32>) -> tensor<7xi32> {
  %y = arith.addi %x, %x : tensor<7xi32>
  %e = tensor.empty() : tensor<7xi32>
  %r = linalg.generic {indexing_maps = [#back, #same], iterator_types = ["parallel"]} ins(%y : tensor<7xi32>) outs(%e : tensor<7xi32>) {
  ^bb0(%a: i32, %o: i32):
    linalg.yield %a : i32
  } -> tensor<7xi32>
  return %r : tensor<7xi32>
}

// A vector.
// CHECK-LABEL: etdg.graph @vector(
// CHECK: etdg.block
// CHECK: arith.muli
// CHECK: arith.addi
// CHECK: arith.subi
// CHECK: etdg.yield
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @vector(%x: tensor<100003xi32>, %y: tensor<100003xi32>) -> tensor<100003xi32> {
  %a = arith.muli %x, %y : tensor<100003xi32>
  %b = arith.addi %a, %x : tensor<100003xi32>
  %c = arith.subi %b, %y : tensor<100003xi32>
  return %c : tensor<100003xi32>
}

// One number each.
func.func @ones(%x: tensor<1xi32>, %w: tensor<1x1xi32>) -> tensor<1xi32> {
  %z = arith.constant dense<3> : tensor<1xi32>
  %y = linalg.vecmat ins(%x, %w : tensor<1xi32>, tensor<1x1xi32>) outs(%z : tensor<1xi32>) -> tensor<1xi32>
  %t = arith.muli %y, %y : tensor<1xi32>
  return %t : tensor<1xi32>
}
