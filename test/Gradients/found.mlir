// RUN: ft-fuzz --gradients %s | FileCheck %s

// What random programs have found about derivatives, minimised. Each is checked as a random program is: jvp by exact
// differences, vjp against jvp, the derived functions on the engines.

// CHECK: 12 programs: 12 equal, 0 refused, 0 failed{{$}}

// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=bound_late wrt=3})' | FileCheck %s --check-prefix=BOUND
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=given_up wrt=2})' -o %t
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=captured_number},canonicalize,ft-differentiate{function=captured_number_backward})' -o %t


!x = tensor<2xf64>

// A map of a captured value alone: its gradient is the sum of cotangents that are lists already.
func.func @captured_alone(%xs: !ft.list<[N], !x>, %z: !x) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 4 : i64}} {
  %r = ft.map (%x = %xs : !ft.list<[N], !x>) {
    ft.yield %z : !x
  }
  return %r : !ft.list<[N], !x>
}

// A list of tuples of which the body takes nothing.
func.func @unused_tuple(%xs: !ft.list<[N], !x>, %ys: !ft.list<[N], !x>, %z: !x) -> !x attributes {ft.lengths = {N = 3 : i64}} {
  %both = ft.zip %xs, %ys : !ft.list<[N], !x>, !ft.list<[N], !x>
  %r = ft.foldl (%e = %both : !ft.list<[N], tuple<!x, !x>>) init (%s = %z : !x) -> !x {
    %p = arith.mulf %s, %z : !x
    ft.yield %p : !x
  }
  return %r : !x
}

// Loops that are called parallel, and meet at places of the result.
func.func @meeting(%xs: tensor<2x7xf64>, %ys: tensor<1x8xf64>, %z: tensor<8xf64>) -> tensor<8xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i floordiv 2, j + 1)>, affine_map<(i, j) -> (i + j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%xs, %ys : tensor<2x7xf64>, tensor<1x8xf64>) outs(%z : tensor<8xf64>) {
  ^bb0(%x: f64, %y: f64, %old: f64):
    %p = arith.mulf %x, %y : f64
    %t = arith.addf %old, %p : f64
    linalg.yield %t : f64
  } -> tensor<8xf64>
  return %r : tensor<8xf64>
}

// Every second place of the result keeps what it had.
func.func @kept_places(%xs: tensor<3xf64>, %z: tensor<6xf64>) -> tensor<6xf64> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (2 * i)>], iterator_types = ["parallel"]}
      ins(%xs : tensor<3xf64>) outs(%z : tensor<6xf64>) {
  ^bb0(%x: f64, %old: f64):
    %p = arith.mulf %x, %x : f64
    %t = arith.addf %old, %p : f64
    linalg.yield %t : f64
  } -> tensor<6xf64>
  return %r : tensor<6xf64>
}

// The second state of a fold leaves two bodies.
func.func @two_levels(%xss: !ft.list<[N, L], !x>, %z: !x) -> !ft.list<[N], !x> attributes {ft.lengths = {L = 3 : i64, N = 2 : i64}} {
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %f:2 = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s, %t = %z, %z : !x, !x) -> !x, !x {
      %p = arith.mulf %s, %x : !x
      %q = arith.mulf %t, %p : !x
      ft.yield %p, %q : !x, !x
    }
    ft.yield %f#1 : !x
  }
  return %r : !ft.list<[N], !x>
}

// A sum of one captured state, once for each place.
func.func @counted(%xs: !ft.list<[L], !x>, %z: !x) -> !ft.list<[L], !x> attributes {ft.lengths = {L = 3 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %f, %es = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) -> !x, !ft.list<[L], !x> {
    %sum = ft.reduce (%y = %xs : !ft.list<[L], !x>) init (%a = %zero : !x) -> !x {
      %t = arith.addf %a, %s : !x
      ft.yield %t : !x
    }
    %n = arith.mulf %s, %x : !x
    ft.yield %n : !x emit %sum : !x
  }
  return %es : !ft.list<[L], !x>
}

// The bound keeps the first list that binds L and needs no name that it does not bind.
// BOUND: func.func @bound_late_backward(%{{[^:]*}}: !ft.list<[L, N], tensor<2xf64>>, %{{[^:]*}}: tensor<f64>) -> tensor<f64>
// BOUND-SAME: ft.residuals = ["argument 1"]
func.func @bound_late(%a: !ft.list<[L, N + 2], !x>, %b: !ft.list<[L, N], !x>, %c: !ft.list<[L], tensor<f64>>, %d: tensor<f64>) -> tensor<f64>
    attributes {ft.bounds = #ft.bounds<"L >= 3">, ft.lengths = {L = 4 : i64, N = 3 : i64}} {
  return %d : tensor<f64>
}

// No list binds L alone: the one that does has N, which another one binds.
func.func @bound_twice(%a: !ft.list<[L, N + 2], !x>, %b: !ft.list<[L + 1, N], !x>, %d: !x) -> !x
    attributes {ft.bounds = #ft.bounds<"L >= 3">, ft.lengths = {L = 4 : i64, N = 3 : i64}} {
  return %d : !x
}

// The partial states of a tangent are joined with constants.
func.func @least(%xs: !ft.list<[L], !x>, %s0: !x) -> !ft.list<[L], !x> attributes {ft.lengths = {L = 3 : i64}} {
  %most = arith.constant dense<1.0e+30> : !x
  %h = ft.scan (%x = %xs : !ft.list<[L], !x>) init (%s = %s0 : !x) -> !ft.list<[L], !x> {
    %e = tensor.empty() : !x
    %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : !x) outs(%e : !x) {
    ^bb0(%in: f64, %out: f64):
      %u = math.tanh %in : f64
      linalg.yield %u : f64
    } -> !x
    %n = arith.minimumf %s, %t : !x
    ft.yield %n : !x
  } combine (%a, %b) {
    %n = arith.minimumf %a, %b : !x
    ft.yield %n : !x
  } identity (%most : !x)
  return %h : !ft.list<[L], !x>
}

// Tensors without elements: what all iterations share is computed beside what is theirs.
func.func @empty_tensors(%xs: !ft.list<[L], tensor<0xf64>>, %c: tensor<0xf64>) -> (!ft.list<[L], tensor<0xf64>>, !ft.list<[L], tensor<0xf64>>) attributes {ft.lengths = {L = 3 : i64}} {
  %r:2 = ft.map (%x = %xs : !ft.list<[L], tensor<0xf64>>) -> !ft.list<[L], tensor<0xf64>>, !ft.list<[L], tensor<0xf64>> {
    %d = arith.subf %x, %c : tensor<0xf64>
    %n = arith.negf %c : tensor<0xf64>
    ft.yield %d, %n : tensor<0xf64>, tensor<0xf64>
  }
  return %r#0, %r#1 : !ft.list<[L], tensor<0xf64>>, !ft.list<[L], tensor<0xf64>>
}

// The mirror of the map is given up, since nothing is emitted; what it computes again for its scan is gone with it.
func.func @given_up(%xs: !ft.list<[N], !x>, %ys: !ft.list<[L], !x>, %c: tensor<f64>) -> !ft.list<[N, L], !x> attributes {ft.lengths = {L = 3 : i64, N = 2 : i64}} {
  %k = arith.constant dense<2.0> : !x
  %r = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N, L], !x> {
    %h, %e = ft.scanr (%y = %ys : !ft.list<[L], !x>) init (%s = %k : !x) -> !ft.list<[L], !x>, !ft.list<[L], tensor<f64>> attributes {ft.checkpoint = [2]} {
      %g:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
          ins(%k : !x) outs(%s, %c : !x, tensor<f64>) {
      ^bb0(%in: f64, %out: f64, %sum: f64):
        %p = arith.addf %in, %out : f64
        %q = arith.addf %in, %sum : f64
        linalg.yield %p, %q : f64, f64
      } -> (!x, tensor<f64>)
      %n = arith.mulf %s, %g#0 : !x
      ft.yield %n : !x emit %g#1 : tensor<f64>
    }
    ft.yield %h : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}

// A body captures a number.
func.func @captured_number(%xs: !ft.list<[L], !x>, %z: !x) -> !ft.list<[L], !x> attributes {ft.lengths = {L = 3 : i64}} {
  %one = arith.constant 1 : index
  %v = tensor.extract %z[%one] : !x
  %r = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %y = tensor.extract %x[%one] : !x
    %p = arith.mulf %y, %v : f64
    %s = tensor.splat %p : !x
    %q = arith.mulf %s, %x : !x
    ft.yield %q : !x
  }
  return %r : !ft.list<[L], !x>
}
