// Programs in the style of recurrent networks, caches and detection heads, on the CPU engine.
// RUN: ft-run %s --entry=lstm --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=normalise --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=clamp --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=cache --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=reorder" | FileCheck %s --check-prefix=GRAPH
// CHECK: equal

// The stacked LSTM that writes its states in place gets the wavefront of one over lists.
// GRAPH: affine_map<(d0, d1) -> (d0 + d1, d{{[01]}})>
// GRAPH: etdg.graph @lstm
// GRAPH: etdg.candidates = [{{.*}}kind = parallel

// LSTM, T = 6 steps, 3 layers: state_c[j] = c, state_h[j] = h in place.
func.func @lstm(%x: !tssa.tensor<6x1x8xf32>, %w: !tssa.tensor<3x8x8xf32>, %u: !tssa.tensor<3x8x8xf32>,
                %state_c: !tssa.tensor<3x1x8xf32>, %state_h: !tssa.tensor<3x1x8xf32>) -> !tssa.tensor<1x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0.0 : f32
  scf.for %t = %c0 to %c6 step %c1 {
    %xt = tssa.view %x[select(0, %t)] : !tssa.tensor<6x1x8xf32> -> !tssa.tensor<1x8xf32>
    %r = scf.for %j = %c0 to %c3 step %c1 iter_args(%in = %xt) -> (!tssa.tensor<1x8xf32>) {
      %h = tssa.view %state_h[select(0, %j)] : !tssa.tensor<3x1x8xf32> -> !tssa.tensor<1x8xf32>
      %c = tssa.view %state_c[select(0, %j)] : !tssa.tensor<3x1x8xf32> -> !tssa.tensor<1x8xf32>
      %wj = tssa.view %w[select(0, %j)] : !tssa.tensor<3x8x8xf32> -> !tssa.tensor<8x8xf32>
      %uj = tssa.view %u[select(0, %j)] : !tssa.tensor<3x8x8xf32> -> !tssa.tensor<8x8xf32>
      %iv = tssa.read %in : !tssa.tensor<1x8xf32>
      %hv = tssa.read %h : !tssa.tensor<1x8xf32>
      %cv = tssa.read %c : !tssa.tensor<1x8xf32>
      %wv = tssa.read %wj : !tssa.tensor<8x8xf32>
      %uv = tssa.read %uj : !tssa.tensor<8x8xf32>
      %e = tensor.empty() : tensor<1x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8xf32>) -> tensor<1x8xf32>
      %p = linalg.matmul ins(%iv, %wv : tensor<1x8xf32>, tensor<8x8xf32>) outs(%f : tensor<1x8xf32>) -> tensor<1x8xf32>
      %q = linalg.matmul ins(%hv, %uv : tensor<1x8xf32>, tensor<8x8xf32>) outs(%p : tensor<1x8xf32>) -> tensor<1x8xf32>
      %g = math.tanh %q : tensor<1x8xf32>
      %cn = arith.addf %cv, %g : tensor<1x8xf32>
      %hn = math.tanh %cn : tensor<1x8xf32>
      tssa.mutate %c, %cn : !tssa.tensor<1x8xf32>, tensor<1x8xf32>
      tssa.mutate %h, %hn : !tssa.tensor<1x8xf32>, tensor<1x8xf32>
      %o = tssa.new %hn : tensor<1x8xf32>
      scf.yield %o : !tssa.tensor<1x8xf32>
    }
  }
  %last = tssa.view %state_h[select(0, 2)] : !tssa.tensor<3x1x8xf32> -> !tssa.tensor<1x8xf32>
  return %last : !tssa.tensor<1x8xf32>
}

// dup[..., 0] = src[..., 2]; dup[..., 2] = src[..., 0]; (dup - 1) * 2
func.func @normalise(%src: !tssa.tensor<5x7x3xi32>) -> tensor<5x7x3xi32> {
  %0 = tssa.read %src : !tssa.tensor<5x7x3xi32>
  %dup = tssa.new %0 : tensor<5x7x3xi32>
  %a = tssa.view %src[select(2, 2)] : !tssa.tensor<5x7x3xi32> -> !tssa.tensor<5x7xi32>
  %b = tssa.view %src[select(2, 0)] : !tssa.tensor<5x7x3xi32> -> !tssa.tensor<5x7xi32>
  %va = tssa.read %a : !tssa.tensor<5x7xi32>
  %vb = tssa.read %b : !tssa.tensor<5x7xi32>
  %d0 = tssa.view %dup[select(2, 0)] : !tssa.tensor<5x7x3xi32> -> !tssa.tensor<5x7xi32>
  %d2 = tssa.view %dup[select(2, 2)] : !tssa.tensor<5x7x3xi32> -> !tssa.tensor<5x7xi32>
  tssa.mutate %d0, %va : !tssa.tensor<5x7xi32>, tensor<5x7xi32>
  tssa.mutate %d2, %vb : !tssa.tensor<5x7xi32>, tensor<5x7xi32>
  %m = arith.constant dense<1> : tensor<5x7x3xi32>
  %s = arith.constant dense<2> : tensor<5x7x3xi32>
  %r = tssa.read %dup : !tssa.tensor<5x7x3xi32>
  %1 = arith.subi %r, %m : tensor<5x7x3xi32>
  %2 = arith.muli %1, %s : tensor<5x7x3xi32>
  return %2 : tensor<5x7x3xi32>
}

// box[:, 0::2].clamp_(0, 2); box[:, 1::2].clamp_(-1, 1), in a loop over levels
func.func @clamp(%box: !tssa.tensor<3x5x4xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0> : tensor<5x2xi32>
  %two = arith.constant dense<2> : tensor<5x2xi32>
  scf.for %i = %c0 to %c3 step %c1 {
    %x = tssa.view %box[select(0, %i), slice(1, 0, _, 2)] : !tssa.tensor<3x5x4xi32> -> !tssa.tensor<5x2xi32>
    %y = tssa.view %box[select(0, %i), slice(1, 1, _, 2)] : !tssa.tensor<3x5x4xi32> -> !tssa.tensor<5x2xi32>
    %0 = tssa.read %x : !tssa.tensor<5x2xi32>
    %1 = arith.maxsi %0, %zero : tensor<5x2xi32>
    tssa.mutate %x, %1 : !tssa.tensor<5x2xi32>, tensor<5x2xi32>
    %2 = tssa.read %y : !tssa.tensor<5x2xi32>
    %3 = arith.minsi %2, %two : tensor<5x2xi32>
    tssa.mutate %y, %3 : !tssa.tensor<5x2xi32>, tensor<5x2xi32>
  }
  return
}

// k[:, g] = x; g += 1: a cache that a counter of its own walks.
func.func @cache(%x: !tssa.tensor<4x2x3xi32>, %k: !tssa.tensor<2x8x3xi32>) -> tensor<2x3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %init = arith.constant dense<0> : tensor<2x3xi32>
  %r:2 = scf.for %t = %c0 to %c4 step %c1 iter_args(%g = %c3, %acc = %init) -> (index, tensor<2x3xi32>) {
    %xt = tssa.view %x[select(0, %t)] : !tssa.tensor<4x2x3xi32> -> !tssa.tensor<2x3xi32>
    %xv = tssa.read %xt : !tssa.tensor<2x3xi32>
    %kg = tssa.view %k[select(1, %g)] : !tssa.tensor<2x8x3xi32> -> !tssa.tensor<2x3xi32>
    tssa.mutate %kg, %xv : !tssa.tensor<2x3xi32>, tensor<2x3xi32>
    %all = tssa.read %k : !tssa.tensor<2x8x3xi32>
    %sum = linalg.reduce ins(%all : tensor<2x8x3xi32>) outs(%acc : tensor<2x3xi32>) dimensions = [1]
      (%a: i32, %b: i32) { %s = arith.addi %a, %b : i32  linalg.yield %s : i32 }
    %gn = arith.addi %g, %c1 : index
    scf.yield %gn, %sum : index, tensor<2x3xi32>
  }
  return %r#1 : tensor<2x3xi32>
}
