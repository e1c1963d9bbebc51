// RUN: ft-fuzz --gradients %s | FileCheck %s

// What random programs have found about derivatives, minimised. Each is checked as a random program is: jvp by exact
// differences, vjp against jvp, the derived functions on the engines.

// CHECK: 6 programs: 6 equal, 0 refused, 0 failed{{$}}

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
