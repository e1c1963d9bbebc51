// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" | FileCheck %s --check-prefix=GRID
// RUN: ft-run %s --entry=rows --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=two_batches --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=places_change --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=same_for_all --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=nested --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=joined --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=neighbours --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=rows --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=two_batches --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=same_for_all --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=nested --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
//
// A dimension that all statements of a loop share is a loop around it: a map around the recurrence, so that thread
// blocks take elements of the batch. The reference runs the loops as they stand.
// EQUAL: equal
// EQUAL-NOT: {{differ|NOT}}

// Rows of a recurrent layer: weights are everybody's.
// CHECK-LABEL: etdg.graph @rows
// CHECK: [map, scanl] (i, j) in [0, 5) x
// GRID-LABEL: etdg.graph @rows
// GRID: level = grid
// GRID: [map, scanl] (i, j) in [0, 5) x
func.func @rows(%h0: tensor<5x11xf32>, %x: tensor<7x5x11xf32>, %w: tensor<11x11xf32>) -> (tensor<7x5x11xf32>, tensor<5x11xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %out = tensor.empty() : tensor<7x5x11xf32>
  %r:2 = scf.for %t = %c0 to %c7 step %c1 iter_args(%y = %out, %h = %h0) -> (tensor<7x5x11xf32>, tensor<5x11xf32>) {
    %xt = tensor.extract_slice %x[%t, 0, 0] [1, 5, 11] [1, 1, 1] : tensor<7x5x11xf32> to tensor<5x11xf32>
    %p = linalg.matmul ins(%h, %w : tensor<5x11xf32>, tensor<11x11xf32>) outs(%xt : tensor<5x11xf32>) -> tensor<5x11xf32>
    %e = tensor.empty() : tensor<5x11xf32>
    %n = linalg.tanh ins(%p : tensor<5x11xf32>) outs(%e : tensor<5x11xf32>) -> tensor<5x11xf32>
    %z = tensor.insert_slice %n into %y[%t, 0, 0] [1, 5, 11] [1, 1, 1] : tensor<5x11xf32> into tensor<7x5x11xf32>
    scf.yield %z, %n : tensor<7x5x11xf32>, tensor<5x11xf32>
  }
  return %r#0, %r#1 : tensor<7x5x11xf32>, tensor<5x11xf32>
}

// Two dimensions, one after the other; a reshape between them keeps both.
// CHECK-LABEL: etdg.graph @two_batches
// CHECK: [map, map, scanl] (i, j, k) in [0, 2) x [0, 3) x
func.func @two_batches(%s0: tensor<2x3x1x4xf32>, %w: tensor<3x4x4xf32>) -> tensor<2x3x9x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %zero = arith.constant 0.0 : f32
  %none = tensor.empty() : tensor<2x3x9x4xf32>
  %r:2 = scf.for %t = %c0 to %c9 step %c1 iter_args(%y = %none, %s = %s0) -> (tensor<2x3x9x4xf32>, tensor<2x3x1x4xf32>) {
    %e = tensor.empty() : tensor<2x3x1x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x1x4xf32>) -> tensor<2x3x1x4xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(b, h, i, j, k) -> (b, h, i, k)>, affine_map<(b, h, i, j, k) -> (h, k, j)>, affine_map<(b, h, i, j, k) -> (b, h, i, j)>],
                         iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
        ins(%s, %w : tensor<2x3x1x4xf32>, tensor<3x4x4xf32>) outs(%f : tensor<2x3x1x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %m = arith.mulf %a, %b : f32
      %u = arith.addf %o, %m : f32
      linalg.yield %u : f32
    } -> tensor<2x3x1x4xf32>
    %q = linalg.tanh ins(%p : tensor<2x3x1x4xf32>) outs(%e : tensor<2x3x1x4xf32>) -> tensor<2x3x1x4xf32>
    %c = tensor.collapse_shape %q [[0], [1, 2], [3]] : tensor<2x3x1x4xf32> into tensor<2x3x4xf32>
    %x = tensor.expand_shape %c [[0], [1], [2, 3]] output_shape [2, 3, 1, 4] : tensor<2x3x4xf32> into tensor<2x3x1x4xf32>
    %z = tensor.insert_slice %x into %y[0, 0, %t, 0] [2, 3, 1, 4] [1, 1, 1, 1] : tensor<2x3x1x4xf32> into tensor<2x3x9x4xf32>
    scf.yield %z, %x : tensor<2x3x9x4xf32>, tensor<2x3x1x4xf32>
  }
  return %r#0 : tensor<2x3x9x4xf32>
}

// Two states that change places in each iteration do so row by row.
// CHECK-LABEL: etdg.graph @places_change
// CHECK: [map, foldl] (i, j) in [0, 6) x
func.func @places_change(%a0: tensor<6x5xf32>, %b0: tensor<6x5xf32>, %w: tensor<5x5xf32>) -> (tensor<6x5xf32>, tensor<6x5xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r:2 = scf.for %t = %c0 to %c5 step %c1 iter_args(%a = %a0, %b = %b0) -> (tensor<6x5xf32>, tensor<6x5xf32>) {
    %p = linalg.matmul ins(%a, %w : tensor<6x5xf32>, tensor<5x5xf32>) outs(%b : tensor<6x5xf32>) -> tensor<6x5xf32>
    %e = tensor.empty() : tensor<6x5xf32>
    %n = linalg.tanh ins(%p : tensor<6x5xf32>) outs(%e : tensor<6x5xf32>) -> tensor<6x5xf32>
    scf.yield %b, %n : tensor<6x5xf32>, tensor<6x5xf32>
  }
  return %r#0, %r#1 : tensor<6x5xf32>, tensor<6x5xf32>
}

// What is the same for all (what has been seen so far) starts anew for each of them; and is a result.
// CHECK-LABEL: etdg.graph @same_for_all
// CHECK: [map, scanl] (i, j) in [0, 3) x
func.func @same_for_all(%h0: tensor<3x8xf32>, %w: tensor<8x8xf32>, %seen0: tensor<8xf32>) -> (tensor<3x8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %half = arith.constant dense<0.5> : tensor<1xf32>
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.for %t = %c0 to %c6 step %c1 iter_args(%h = %h0, %seen = %seen0) -> (tensor<3x8xf32>, tensor<8xf32>) {
    %more = tensor.insert_slice %half into %seen[%t] [1] [1] : tensor<1xf32> into tensor<8xf32>
    %e = tensor.empty() : tensor<3x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x8xf32>) -> tensor<3x8xf32>
    %p = linalg.matmul ins(%h, %w : tensor<3x8xf32>, tensor<8x8xf32>) outs(%f : tensor<3x8xf32>) -> tensor<3x8xf32>
    %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
        ins(%p, %more : tensor<3x8xf32>, tensor<8xf32>) outs(%e : tensor<3x8xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %s = arith.addf %a, %b : f32
      %u = math.tanh %s : f32
      linalg.yield %u : f32
    } -> tensor<3x8xf32>
    scf.yield %n, %more : tensor<3x8xf32>, tensor<8xf32>
  }
  return %r#0, %r#1 : tensor<3x8xf32>, tensor<8xf32>
}

// A loop in the loop, a condition on the counter, and a state that is an array: all go into the batch.
// CHECK-LABEL: etdg.graph @nested
// CHECK: [map, foldl, foldl] (i, j, k) in [0, 4) x
func.func @nested(%k0: tensor<4x6x3xf32>, %h0: tensor<4x3xf32>, %w: tensor<3x3xf32>) -> (tensor<4x6x3xf32>, tensor<4x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %r:2 = scf.for %t = %c0 to %c3 step %c1 iter_args(%k = %k0, %h = %h0) -> (tensor<4x6x3xf32>, tensor<4x3xf32>) {
    %s:2 = scf.for %u = %c0 to %c2 step %c1 iter_args(%l = %k, %g = %h) -> (tensor<4x6x3xf32>, tensor<4x3xf32>) {
      %e = tensor.empty() : tensor<4x3xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
      %p = linalg.matmul ins(%g, %w : tensor<4x3xf32>, tensor<3x3xf32>) outs(%f : tensor<4x3xf32>) -> tensor<4x3xf32>
      %first = arith.cmpi eq, %u, %c0 : index
      %n = scf.if %first -> tensor<4x3xf32> {
        %y = linalg.tanh ins(%p : tensor<4x3xf32>) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
        scf.yield %y : tensor<4x3xf32>
      } else {
        scf.yield %p : tensor<4x3xf32>
      }
      %t2 = arith.muli %t, %c2 : index
      %at = arith.addi %t2, %u : index
      %m = tensor.insert_slice %n into %l[0, %at, 0] [4, 1, 3] [1, 1, 1] : tensor<4x3xf32> into tensor<4x6x3xf32>
      scf.yield %m, %n : tensor<4x6x3xf32>, tensor<4x3xf32>
    }
    scf.yield %s#0, %s#1 : tensor<4x6x3xf32>, tensor<4x3xf32>
  }
  return %r#0, %r#1 : tensor<4x6x3xf32>, tensor<4x3xf32>
}

// Each step joins the heads by a product over all of them: no batch.
// CHECK-LABEL: etdg.graph @joined
// CHECK-NOT: [map
// CHECK: [foldl] (i) in
// CHECK-LABEL: etdg.graph @neighbours
func.func @joined(%h0: tensor<4x6xf32>, %w: tensor<24x24xf32>) -> tensor<4x6xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %h0) -> (tensor<4x6xf32>) {
    %c = tensor.collapse_shape %h [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
    %e = tensor.empty() : tensor<24xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
    %p = linalg.vecmat ins(%c, %w : tensor<24xf32>, tensor<24x24xf32>) outs(%f : tensor<24xf32>) -> tensor<24xf32>
    %n = linalg.tanh ins(%p : tensor<24xf32>) outs(%e : tensor<24xf32>) -> tensor<24xf32>
    %x = tensor.expand_shape %n [[0, 1]] output_shape [4, 6] : tensor<24xf32> into tensor<4x6xf32>
    scf.yield %x : tensor<4x6xf32>
  }
  return %r : tensor<4x6xf32>
}

// Columns: elements of the batch are neighbours in memory, and a sum for one of them would go through it in steps.
// CHECK-NOT: [map
// CHECK: [foldl] (i) in
func.func @neighbours(%h0: tensor<6x4xf32>, %w: tensor<6x6xf32>) -> tensor<6x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %t = %c0 to %c8 step %c1 iter_args(%h = %h0) -> (tensor<6x4xf32>) {
    %e = tensor.empty() : tensor<6x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
    %p = linalg.matmul ins(%w, %h : tensor<6x6xf32>, tensor<6x4xf32>) outs(%f : tensor<6x4xf32>) -> tensor<6x4xf32>
    %n = linalg.tanh ins(%p : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) -> tensor<6x4xf32>
    scf.yield %n : tensor<6x4xf32>
  }
  return %r : tensor<6x4xf32>
}
