// Groups by price: independent nests share a launch. Where a nest needs another one, a barrier that costs little makes them one kernel, a dear
// one leaves a boundary between them. What the budget does not allow to price stays apart.
//
// RUN: ft-opt %s --ft-compile="to=partition target=sm_90a machine=%S/../machines/h200.json partition=cost" | FileCheck %s
// RUN: sed 's/"grid": [0-9.e-]*/"grid": 9.4e-5/' %S/../machines/h200.json > %t.json
// RUN: ft-opt %s --ft-compile="to=partition target=sm_90a machine=%t.json partition=cost" | FileCheck %s --check-prefix=DEAR
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%S/../machines/h200.json" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-partition{mode=cost budget=0 machine=%S/../machines/h200.json}))" | FileCheck %s --check-prefix=UNPRICED
// RUN: ft-opt %s --ft-compile="to=partition target=sm_90a machine=%S/../machines/h200.json partition=cost" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-open-kernels))" | FileCheck %s --check-prefix=OPEN

// CHECK-LABEL: etdg.graph @independent
// CHECK: etdg.kernel attributes {etdg.edges = []} {
// CHECK-NOT: etdg.kernel
// DEAR-LABEL: etdg.graph @independent
// UNPRICED-LABEL: etdg.graph @independent
// UNPRICED-COUNT-3: etdg.kernel attributes {etdg.edges = []} {
// OPEN-LABEL: etdg.graph @independent
// OPEN: etdg.kernel {
// Three lists of unlike lengths: nothing waits, and one launch is enough.
func.func @independent(%a: tensor<1000xf32>, %b: tensor<777xf32>, %c: tensor<512xf32>) -> (tensor<1000xf32>, tensor<777xf32>, tensor<512xf32>) {
  %x = math.exp %a : tensor<1000xf32>
  %y = math.exp %b : tensor<777xf32>
  %z = math.exp %c : tensor<512xf32>
  return %x, %y, %z : tensor<1000xf32>, tensor<777xf32>, tensor<512xf32>
}

// CHECK-LABEL: etdg.graph @chain
// CHECK: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = grid>]} {
// CHECK-NOT: etdg.kernel
// DEAR-LABEL: etdg.graph @chain
// DEAR: etdg.kernel attributes {etdg.edges = []} {
// DEAR: etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = kernel>]} {
// UNPRICED-LABEL: etdg.graph @chain
// OPEN-LABEL: etdg.graph @chain
// OPEN: etdg.kernel {
// OPEN-NOT: etdg.number
// OPEN: etdg.before = "grid"
func.func @chain(%a: tensor<300x5xf32>) -> tensor<5x300xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<5xf32>) -> tensor<5xf32>
  %s = linalg.reduce ins(%a : tensor<300x5xf32>) outs(%z : tensor<5xf32>) dimensions = [0] (%x: f32, %acc: f32) {
    %r = arith.addf %x, %acc : f32
    linalg.yield %r : f32
  }
  %o = tensor.empty() : tensor<5x300xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<300x5xf32>, tensor<5xf32>) outs(%o : tensor<5x300xf32>) {
  ^bb0(%x: f32, %t: f32, %old: f32):
    %d = arith.subf %x, %t : f32
    linalg.yield %d : f32
  } -> tensor<5x300xf32>
  return %y : tensor<5x300xf32>
}

// A product has its tiles in a kernel of its own, and would lose them beside what waits for nothing.
// CHECK-LABEL: etdg.graph @product
// CHECK: etdg.kernel attributes {etdg.edges = []} {
// CHECK: etdg.kernel attributes {etdg.edges = []} {
// DEAR-LABEL: etdg.graph @product
// UNPRICED-LABEL: etdg.graph @product
// OPEN-LABEL: etdg.graph @product
func.func @product(%a: tensor<144x24xf32>, %b: tensor<24x3136xf32>, %c: tensor<1000xf32>) -> (tensor<144x3136xf32>, tensor<1000xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<144x3136xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<144x3136xf32>) -> tensor<144x3136xf32>
  %p = linalg.matmul ins(%a, %b : tensor<144x24xf32>, tensor<24x3136xf32>) outs(%z : tensor<144x3136xf32>) -> tensor<144x3136xf32>
  %y = math.exp %c : tensor<1000xf32>
  return %p, %y : tensor<144x3136xf32>, tensor<1000xf32>
}
