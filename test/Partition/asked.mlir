// A program may say how its graphs are cut into kernels; an option says otherwise.
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s --partition=cost | FileCheck %s --check-prefix=COST
// RUN: ft-run %s --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL

// CHECK-COUNT-3: .entry
// COST-COUNT-1: .entry
// COST-NOT: .entry
// EQUAL: equal
func.func @independent(%a: tensor<1000xf32>, %b: tensor<777xf32>, %c: tensor<512xf32>) -> (tensor<1000xf32>, tensor<777xf32>, tensor<512xf32>)
    attributes {ft.partition = "boundary"} {
  %x = math.exp %a : tensor<1000xf32>
  %y = math.sin %b : tensor<777xf32>
  %z = math.tanh %c : tensor<512xf32>
  return %x, %y, %z : tensor<1000xf32>, tensor<777xf32>, tensor<512xf32>
}
