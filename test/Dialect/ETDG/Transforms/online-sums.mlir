// Sums whose terms depend on another reduction's result: log-sum-exp, softmax by a
// log-sum-exp, normalised weights, minima.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg,etdg.graph(etdg-online,etdg-verify))' | FileCheck %s
// RUN: %python %S/Inputs/online.py %ft_bin %s log_sum_exp N=1,K=1 N=2,K=7 N=1,K=63
// RUN: %python %S/Inputs/online.py %ft_bin %s by_log_sum_exp N=1,K=1 N=2,K=7 N=1,K=31
// RUN: %python %S/Inputs/online.py %ft_bin %s normalised N=1,K=0 N=1,K=1 N=2,K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s softmin K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s entropy K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s chain K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s largest K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s keeps_dims K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s backwards K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s from_infinity K=4 K=7
// REQUIRES: numpy

#both = affine_map<(r, c) -> (r, c)>
#col0 = affine_map<(r, c) -> (r, 0)>

!x = tensor<3x4xf32>
!r = tensor<3xf32>
!c = tensor<3x1xf32>
!v = tensor<3x4x2xf32>
!y = tensor<3x2xf32>

// The logarithm is of the last sum: it stays outside, like the addition of the maximum.
// No combine is given, where states and elements have one type none is needed: it is derived.
// CHECK-LABEL: etdg.graph @log_sum_exp
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, K)
// CHECK: combine
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK: math.log
// CHECK-NOT: etdg.block
func.func @log_sum_exp(%xs: !ft.list<[N, K], !r> {ft.gen = #ft.normal<3.0>}) -> !ft.list<[N], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {N = 2 : i64, K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %ys = ft.map (%ks = %xs : !ft.list<[N, K], !r>) -> !ft.list<[N], !r> {
    %m = ft.reduce (%x = %ks : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    }
    %es = ft.map (%x = %ks : !ft.list<[K], !r>) -> !ft.list<[K], !r> {
      %d = arith.subf %x, %m : !r
      %e = math.exp %d : !r
      ft.yield %e : !r
    }
    %s = ft.reduce (%x = %es : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %b = arith.addf %a, %x : !r
      ft.yield %b : !r
    }
    %l = math.log %s : !r
    %y = arith.addf %m, %l : !r
    ft.yield %y : !r
  }
  return %ys : !ft.list<[N], !r>
}

// exp(x - lse): the running value of lse starts at log 0, so the running maximum stands
// for it, and the step from one to the other is made after the reduction.
// CHECK-LABEL: etdg.graph @by_log_sum_exp
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, K)
// CHECK-NOT: math.log
// CHECK: combine
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK: math.log
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK: math.exp
// CHECK-NOT: etdg.block
func.func @by_log_sum_exp(%xs: !ft.list<[N, K], !x> {ft.gen = #ft.normal<3.0>},
                          %vs: !ft.list<[K], !v> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[N], !y>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {N = 2 : i64, K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %none = arith.constant dense<0.0> : !y
  %ys = ft.map (%ks = %xs : !ft.list<[N, K], !x>) -> !ft.list<[N], !y> {
    %m = ft.reduce (%x = %ks : !ft.list<[K], !x>) init (%a = %low : !r) -> !r {
      %b = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%low : !r)
    %s = ft.reduce (%x = %ks : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %e = tensor.empty() : !x
      %mb = linalg.broadcast ins(%m : !r) outs(%e : !x) dimensions = [1]
      %d = arith.subf %x, %mb : !x
      %p = math.exp %d : !x
      %b = linalg.reduce { arith.addf } ins(%p : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %l = math.log %s : !r
    %lse = arith.addf %m, %l : !r
    %y = ft.reduce (%x, %v = %ks, %vs : !ft.list<[K], !x>, !ft.list<[K], !v>) init (%a = %none : !y) -> !y {
      %e = tensor.empty() : !x
      %mb = linalg.broadcast ins(%lse : !r) outs(%e : !x) dimensions = [1]
      %d = arith.subf %x, %mb : !x
      %p = math.exp %d : !x
      // Σ over the columns of weights times vectors
      %b = linalg.generic {indexing_maps = [affine_map<(r, d, c) -> (r, c)>, affine_map<(r, d, c) -> (r, c, d)>,
                                            affine_map<(r, d, c) -> (r, d)>],
                           iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%p, %v : !x, !v) outs(%a : !y) {
      ^bb0(%w: f32, %u: f32, %old: f32):
        %f = arith.mulf %w, %u : f32
        %g = arith.addf %old, %f : f32
        linalg.yield %g : f32
      } -> !y
      ft.yield %b : !y
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !y
      ft.yield %c : !y
    } identity (%none : !y)
    ft.yield %y : !y
  }
  return %ys : !ft.list<[N], !y>
}

// Σ (w / Σ w) x: the division leaves the sum. Without elements (K = 0) the result is
// the initial 0, not 0 / 0.
// CHECK-LABEL: etdg.graph @normalised
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, K)
// CHECK-NOT: divf
// CHECK: combine
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK: {K >= 1: %{{.*}}[K - 1], K = 0: splat 1.000000e+00 : f32}
// CHECK: arith.divf
// CHECK-NOT: etdg.block
func.func @normalised(%ws: !ft.list<[N, K], !r> {ft.gen = #ft.uniform<0.5, 1.5>},
                      %xs: !ft.list<[K], !r> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[N], !r>
    attributes {ft.lengths = {N = 2 : i64, K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %ys = ft.map (%w = %ws : !ft.list<[N, K], !r>) -> !ft.list<[N], !r> {
    %t = ft.reduce (%x = %w : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %b = arith.addf %a, %x : !r
      ft.yield %b : !r
    }
    %y = ft.reduce (%x, %u = %xs, %w : !ft.list<[K], !r>, !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %p = arith.divf %u, %t : !r
      %q = arith.mulf %p, %x : !r
      %b = arith.addf %a, %q : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %y : !r
  }
  return %ys : !ft.list<[N], !r>
}

// The smallest first: exp(2 (m - x)), m a minimum. At the top of a graph, without map
// dimensions around.
// CHECK-LABEL: etdg.graph @softmin
// CHECK: etdg.block @{{.*}} [reduce] (i) in [0, K)
// CHECK: minimumf
func.func @softmin(%xs: !ft.list<[K], !r> {ft.gen = #ft.normal<3.0>}) -> (!ft.list<[2], !r>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %high = arith.constant dense<1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %two = arith.constant dense<2.0> : !r
  %pair = ft.iota : !ft.list<[2], tensor<i64>>
  %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %high : !r) -> !r {
    %b = arith.minimumf %a, %x : !r
    ft.yield %b : !r
  }
  %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %d = arith.subf %m, %x : !r
    %t = arith.mulf %two, %d : !r
    %e = math.exp %t : !r
    %b = arith.addf %e, %a : !r
    ft.yield %b : !r
  } combine (%a, %b) {
    %c = arith.addf %a, %b : !r
    ft.yield %c : !r
  } identity (%zero : !r)
  %ys = ft.map (%i = %pair : !ft.list<[2], tensor<i64>>) -> !ft.list<[2], !r> {
    %y = arith.addf %m, %s : !r
    ft.yield %y : !r
  }
  return %ys : !ft.list<[2], !r>
}

// Two sums with one correction, Σ p and Σ p x, and their quotient after.
// CHECK-LABEL: etdg.graph @entropy
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK: math.exp
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: combine
func.func @entropy(%xs: !ft.list<[K], !r> {ft.gen = #ft.normal<3.0>}) -> (!ft.list<[1], !r>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    }
    %es = ft.map (%x = %xs : !ft.list<[K], !r>) -> !ft.list<[K], !r> {
      %d = arith.subf %x, %m : !r
      %e = math.exp %d : !r
      ft.yield %e : !r
    }
    %s = ft.reduce (%x = %es : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %b = arith.addf %a, %x : !r
      ft.yield %b : !r
    }
    %t = ft.reduce (%x, %e = %xs, %es : !ft.list<[K], !r>, !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %p = arith.divf %e, %s : !r
      %q = arith.mulf %p, %x : !r
      %b = arith.addf %a, %q : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %l = math.log %s : !r
    %lse = arith.addf %m, %l : !r
    %y = arith.subf %lse, %t : !r
    ft.yield %y : !r
  }
  return %ys : !ft.list<[1], !r>
}

// A third reduction divides by what the second one makes, which is itself divided.
// CHECK-LABEL: etdg.graph @chain
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK-NOT: [reduce]
// CHECK: etdg.return
func.func @chain(%xs: !ft.list<[K], !r> {ft.gen = #ft.uniform<0.5, 1.5>}) -> (!ft.list<[1], !r>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %b = arith.addf %a, %x : !r
      ft.yield %b : !r
    }
    %t = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %p = arith.divf %x, %s : !r
      %q = arith.mulf %p, %x : !r
      %b = arith.addf %a, %q : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %u = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %p = arith.mulf %x, %t : !r
      %q = arith.divf %p, %s : !r
      %b = arith.addf %a, %q : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %u : !r
  }
  return %ys : !ft.list<[1], !r>
}

// The largest weight: a maximum of exponentials, from 0.
// CHECK-LABEL: etdg.graph @largest
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK-NOT: [reduce]
// CHECK: etdg.return
func.func @largest(%xs: !ft.list<[K], !r> {ft.gen = #ft.normal<1.0>},
                   %ms: !ft.list<[K], tensor<3xi1>>) -> (!ft.list<[1], !r>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    }
    %t = ft.reduce (%x, %k = %xs, %ms : !ft.list<[K], !r>, !ft.list<[K], tensor<3xi1>>) init (%a = %zero : !r) -> !r {
      %d = arith.subf %x, %m : !r
      %e = math.exp %d : !r
      %f = arith.select %k, %e, %zero : tensor<3xi1>, !r
      %b = arith.maximumf %a, %f : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %t : !r
  }
  return %ys : !ft.list<[1], !r>
}

// The maximum as a column (keepdims): an index of 0 along a dimension of length 1.
// CHECK-LABEL: etdg.graph @keeps_dims
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK-NOT: [reduce]
// CHECK: etdg.return
func.func @keeps_dims(%xs: !ft.list<[K], !x> {ft.gen = #ft.normal<1.0>}) -> (!ft.list<[1], !x>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !c
  %zero = arith.constant dense<0.0> : !x
  %lowr = arith.constant dense<-1.0e30> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !x> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %low : !c) -> !c {
      %r = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%lowr : !r) dimensions = [1]
      %c = tensor.expand_shape %r [[0, 1]] output_shape [3, 1] : !r into !c
      %b = arith.maximumf %a, %c : !c
      ft.yield %b : !c
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !c
      ft.yield %c : !c
    } identity (%low : !c)
    %s = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %zero : !x) -> !x {
      %b = linalg.generic {indexing_maps = [#both, #col0, #both], iterator_types = ["parallel", "parallel"]}
          ins(%x, %m : !x, !c) outs(%a : !x) {
      ^bb0(%u: f32, %w: f32, %old: f32):
        %d = arith.subf %u, %w : f32
        %e = math.exp %d : f32
        %f = arith.addf %old, %e : f32
        linalg.yield %f : f32
      } -> !x
      ft.yield %b : !x
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !x
      ft.yield %c : !x
    } identity (%zero : !x)
    ft.yield %s : !x
  }
  return %ys : !ft.list<[1], !x>
}

// In order from the right, without maps between: ordered, no combine.
// CHECK-LABEL: etdg.graph @backwards
// CHECK: etdg.block @{{.*}} [foldl] (i | j) in [0, K)
// CHECK-NEXT: reads (%{{.*}} = %arg0[K - j - 1]
// CHECK-NOT: combine
// CHECK: etdg.return
func.func @backwards(%xs: !ft.list<[K], !r> {ft.gen = #ft.normal<1.0>}) -> (!ft.list<[1], !r>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %m = ft.foldr (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    }
    %t = ft.foldr (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %d = arith.subf %x, %m : !r
      %e = math.exp %d : !r
      %b = arith.addf %a, %e : !r
      ft.yield %b : !r
    }
    ft.yield %t : !r
  }
  return %ys : !ft.list<[1], !r>
}

// From minus infinity, and the first three elements are that, too: the centre is the
// lowest finite number while nothing has been seen, so that no difference is inf - inf.
// CHECK-LABEL: etdg.graph @from_infinity
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK-DAG: %[[LOWEST:.*]] = arith.constant dense<-3.40282347E+38> : tensor<3xf32>
// CHECK: arith.maximumf %{{.*}}, %[[LOWEST]]
// CHECK: combine
// CHECK: etdg.return
func.func @from_infinity(%xs: !ft.list<[K], !r> {ft.gen = #ft.normal<3.0>}) -> (!ft.list<[1], !r>)
    attributes {ft.bounds = #ft.bounds<"K >= 4">, ft.lengths = {K = 5 : i64}} {
  %none = arith.constant dense<0xFF800000> : !r
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %places = ft.iota : !ft.list<[K], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %seen = ft.map (%x, %j = %xs, %places : !ft.list<[K], !r>, !ft.list<[K], tensor<i64>>) -> !ft.list<[K], !r> {
      %e = tensor.empty() : !r
      %y = linalg.generic {indexing_maps = [affine_map<(r) -> (r)>, affine_map<(r) -> ()>, affine_map<(r) -> (r)>],
                           iterator_types = ["parallel"]}
          ins(%x, %j : !r, tensor<i64>) outs(%e : !r) {
      ^bb0(%u: f32, %k: i64, %old: f32):
        %three = arith.constant 3 : i64
        %inf = arith.constant 0xFF800000 : f32
        %is = arith.cmpi slt, %k, %three : i64
        %v = arith.select %is, %inf, %u : f32
        linalg.yield %v : f32
      } -> !r
      ft.yield %y : !r
    }
    %m = ft.reduce (%x = %seen : !ft.list<[K], !r>) init (%a = %none : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%none : !r)
    %s = ft.reduce (%x = %seen : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %d = arith.subf %x, %m : !r
      %e = math.exp %d : !r
      %b = arith.addf %a, %e : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %s : !r
  }
  return %ys : !ft.list<[1], !r>
}
