// RUN: ft-opt %s --convert-scf-to-etdg --split-input-file --verify-diagnostics
// RUN: ft-opt %s --convert-scf-to-etdg --split-input-file 2>/dev/null | FileCheck %s
// RUN: ft-opt %s --convert-scf-to-etdg --split-input-file --remarks-filter='.*' 2>&1 | FileCheck %s --check-prefix=REMARK

// What is refused stays as it was; the warning stands at the access.
// CHECK-NOT: etdg.graph
// CHECK: func.func @product
// CHECK: arith.muli %{{.*}}, %{{.*}} : index
// REMARK: [Missed] raise | Category:etdg:convert-scf-to-etdg | Function=product
func.func @product(%xs: tensor<?x4xf32> {etdg.dims = ["L"]}, %n: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%o = %n) -> tensor<9x4xf32> {
    %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%p = %o) -> tensor<9x4xf32> {
      %x = tensor.extract_slice %xs[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
      %y = math.exp %x : tensor<4xf32>
      %k = arith.muli %i, %j : index
      // expected-warning @+1 {{'product' is not raised to a graph: 'tensor.insert_slice' writes at an index that is not an affine function of loops and lengths}}
      %u = tensor.insert_slice %y into %p[%k, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
      scf.yield %u : tensor<9x4xf32>
    }
    scf.yield %q : tensor<9x4xf32>
  }
  return %r : tensor<9x4xf32>
}

// -----

// Reads at data are gathers; a write there has no last writer.
// CHECK: func.func @scattered
func.func @scattered(%xs: tensor<8x4xf32>, %at: tensor<8xindex>) -> tensor<8x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %empty = tensor.empty() : tensor<8x4xf32>
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%o = %empty) -> tensor<8x4xf32> {
    %k = tensor.extract %at[%i] : tensor<8xindex>
    %x = tensor.extract_slice %xs[%i, 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
    %y = math.exp %x : tensor<4xf32>
    // expected-warning @+1 {{'tensor.insert_slice' writes at an index that is not an affine function of loops and lengths}}
    %u = tensor.insert_slice %y into %o[%k, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<8x4xf32>
    scf.yield %u : tensor<8x4xf32>
  }
  return %r : tensor<8x4xf32>
}

// -----

// Large products in both branches of a condition that is data.
// CHECK: func.func @branch
func.func @branch(%xs: tensor<8xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %w) -> tensor<128x128xf32> {
    %x = tensor.extract %xs[%i] : tensor<8xf32>
    %p = arith.cmpf ogt, %x, %zero : f32
    // expected-warning @+1 {{the condition is data, which no iteration domain can depend on, and the branches are not cheap}}
    %t = scf.if %p -> tensor<128x128xf32> {
      %m = linalg.matmul ins(%s, %w : tensor<128x128xf32>, tensor<128x128xf32>) outs(%w : tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %m : tensor<128x128xf32>
    } else {
      %m = linalg.matmul ins(%w, %s : tensor<128x128xf32>, tensor<128x128xf32>) outs(%w : tensor<128x128xf32>) -> tensor<128x128xf32>
      scf.yield %m : tensor<128x128xf32>
    }
    scf.yield %t : tensor<128x128xf32>
  }
  return %r : tensor<128x128xf32>
}

// -----

// What calls itself can't be inlined.
// CHECK: func.func @calls_itself
func.func @calls_itself(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x) -> tensor<4xf32> {
    // expected-warning @+1 {{'func.call' has no place in a graph of blocks}}
    %y = func.call @calls_itself(%a) : (tensor<4xf32>) -> tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// Two lengths that nothing says are equal: the read may be out of bounds.
// CHECK: func.func @lengths
func.func @lengths(%xs: tensor<?x4xf32> {etdg.dims = ["L"]}, %ys: tensor<?x4xf32> {etdg.dims = ["M"]}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %xs, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%L) : tensor<?x4xf32>
  %r = scf.for %i = %c0 to %L step %c1 iter_args(%o = %empty) -> tensor<?x4xf32> {
    %y = tensor.extract_slice %ys[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    // expected-warning @+1 {{(V2) read 0 is out of bounds: index 0, 'i', may be at least the length 'M'; for example at L = 1, M = 0, i = 0}}
    %e = math.exp %y : tensor<4xf32>
    %u = tensor.insert_slice %e into %o[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
    scf.yield %u : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

// -----

// CHECK: func.func @step
func.func @step(%xs: tensor<?x4xf32> {etdg.dims = ["L"]}) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %L = tensor.dim %xs, %c0 : tensor<?x4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  // expected-warning @+1 {{the step of the loop is no positive constant}}
  %r = scf.for %i = %c0 to %L step %L iter_args(%s = %z) -> tensor<4xf32> {
    %y = tensor.extract_slice %xs[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
    %t = arith.addf %s, %y : tensor<4xf32>
    scf.yield %t : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// CHECK: func.func @whole
func.func @whole(%xs: tensor<?x4xf32> {etdg.dims = ["L"]}) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %xs, %c0 : tensor<?x4xf32>
  %r = scf.for %i = %c0 to %L step %c1 iter_args(%s = %xs) -> tensor<?x4xf32> {
    // expected-warning @+1 {{has no place in a graph of blocks}}
    %t = arith.addf %s, %s : tensor<?x4xf32>
    scf.yield %t : tensor<?x4xf32>
  }
  return %r : tensor<?x4xf32>
}

// -----

// The index of the iteration before, which begins where no iteration would have left it.
// CHECK: func.func @begins_elsewhere
func.func @begins_elsewhere(%x: tensor<9x3xi32>) -> tensor<9x3xi32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %r:2 = scf.for %i = %c2 to %c8 step %c2 iter_args(%last = %c1, %a = %x) -> (index, tensor<9x3xi32>) {
    %v = tensor.extract_slice %a[%i, 0] [1, 3] [1, 1] : tensor<9x3xi32> to tensor<3xi32>
    // expected-warning @+1 {{'tensor.insert_slice' writes at an index that is not an affine function of loops and lengths}}
    %b = tensor.insert_slice %v into %a[%last, 0] [1, 3] [1, 1] : tensor<3xi32> into tensor<9x3xi32>
    scf.yield %i, %b : index, tensor<9x3xi32>
  }
  return %r#1 : tensor<9x3xi32>
}

// -----

// Steps of three from 0 jump over 8, and it would go on.
// CHECK: func.func @jumps_over
func.func @jumps_over(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  // expected-warning @+1 {{the loop ends on data, and its condition bounds no counter that grows by a constant in each iteration}}
  %r:2 = scf.while (%i = %c0, %s = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %go = arith.cmpi ne, %i, %c8 : index
    scf.condition(%go) %i, %s : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %s: tensor<4xf32>):
    %t = arith.addf %s, %s : tensor<4xf32>
    %n = arith.addi %i, %c3 : index
    scf.yield %n, %t : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// The counter stays where the loop goes on.
// CHECK: func.func @stays
func.func @stays(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  // expected-warning @+1 {{the loop ends on data, and its condition bounds no counter that grows by a constant in each iteration}}
  %r:2 = scf.while (%i = %c0, %s = %x) : (index, tensor<4xf32>) -> (index, tensor<4xf32>) {
    %go = arith.cmpi slt, %i, %c8 : index
    scf.condition(%go) %i, %s : index, tensor<4xf32>
  } do {
  ^bb0(%i: index, %s: tensor<4xf32>):
    %t = arith.addf %s, %s : tensor<4xf32>
    %v = tensor.extract %s[%c0] : tensor<4xf32>
    %grows = arith.cmpf ogt, %v, %zero : f32
    %n = scf.if %grows -> (index) {
      %next = arith.addi %i, %c1 : index
      scf.yield %next : index
    } else {
      scf.yield %i : index
    }
    scf.yield %n, %t : index, tensor<4xf32>
  }
  return %r#1 : tensor<4xf32>
}

// -----

// Nothing bounds its iterations.
// CHECK: func.func @endless
func.func @endless(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-warning @+1 {{the loop ends on data, and its condition bounds no counter that grows by a constant in each iteration}}
  %r = scf.while (%s = %x) : (tensor<4xf32>) -> tensor<4xf32> {
    %v = tensor.extract %s[%c0] : tensor<4xf32>
    %go = arith.cmpf ogt, %v, %zero : f32
    scf.condition(%go) %s : tensor<4xf32>
  } do {
  ^bb0(%s: tensor<4xf32>):
    %u = arith.subf %s, %x : tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----

// A chain through memory: where it has ended, its last place is out of range and must not be read.
// CHECK: func.func @list
func.func @list(%x: tensor<6xi32>) -> tensor<i32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c20 = arith.constant 20 : index
  %zero = arith.constant 0 : i32
  %next = arith.constant dense<[2, 77, 5, 1, 3, 4]> : tensor<6xi64>
  %r:3 = scf.while (%k = %c0, %t = %c0, %s = %zero) : (index, index, i32) -> (index, index, i32) {
    %inside = arith.cmpi slt, %k, %c6 : index
    %left = arith.cmpi slt, %t, %c20 : index
    %go = arith.andi %inside, %left : i1
    scf.condition(%go) %k, %t, %s : index, index, i32
  } do {
  ^bb0(%k: index, %t: index, %s: i32):
    %v = tensor.extract %x[%k] : tensor<6xi32>
    %u = arith.addi %s, %v : i32
    // expected-warning @+1 {{reads at an index that is not an affine function of loops and lengths}}
    %m = tensor.extract %next[%k] : tensor<6xi64>
    %j = arith.index_cast %m : i64 to index
    %n = arith.addi %t, %c1 : index
    scf.yield %j, %n, %u : index, index, i32
  }
  %sum = tensor.from_elements %r#2 : tensor<i32>
  return %sum : tensor<i32>
}
