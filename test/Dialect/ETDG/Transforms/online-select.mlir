// What is chosen by a comparison with a maximum or minimum runs beside it: when the
// maximum changes, what was chosen before is forgotten.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg,etdg.graph(etdg-online,etdg-verify))' | FileCheck %s
// RUN: %python %S/Inputs/online.py %ft_bin %s arg_max N=1,K=1 N=2,K=7 N=1,K=31
// RUN: %python %S/Inputs/online.py %ft_bin %s vectors K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s occurrences K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s integers K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s others N=1,K=1 N=2,K=7 N=1,K=31
// RUN: %python %S/Inputs/online.py %ft_bin %s but_one K=1 K=7 K=31
// REQUIRES: numpy

!x = tensor<3x4xf32>
!r = tensor<3xf32>
!i = tensor<i64>
!ir = tensor<3xi64>
!ix = tensor<3x4xi64>
!v = tensor<3x5xf32>
!b = tensor<3xi1>

// The position of the first maximum of rows of blocks.
// CHECK-LABEL: etdg.graph @arg_max
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, K)
// CHECK: %[[M:.*]] = linalg.reduce { arith.maximumf }
// CHECK: %[[SAME:.*]] = arith.cmpf oeq, %{{.*}}, %[[M]]
// CHECK: arith.select %[[SAME]]
// CHECK: combine
// CHECK: identity (splat -1.000000e+30 : f32, splat 1000000 : i64)
func.func @arg_max(%xs: !ft.list<[N, K], !x> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[N], !ir>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {N = 2 : i64, K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %none = arith.constant dense<1000000> : !ir
  %blocks = ft.iota : !ft.list<[K], !i>
  %ys = ft.map (%ks = %xs : !ft.list<[N, K], !x>) -> !ft.list<[N], !ir> {
    %m = ft.reduce (%x = %ks : !ft.list<[K], !x>) init (%a = %low : !r) -> !r {
      %b = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%low : !r)
    %p = ft.reduce (%x, %j = %ks, %blocks : !ft.list<[K], !x>, !ft.list<[K], !i>) init (%a = %none : !ir) -> !ir {
      %b = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>,
                                            affine_map<(r, c) -> ()>, affine_map<(r, c) -> (r)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%x, %m, %j : !x, !r, !i) outs(%a : !ir) {
      ^bb0(%u: f32, %w: f32, %k: i64, %old: i64):
        %is = arith.cmpf oge, %u, %w : f32
        %four = arith.constant 4 : i64
        %far = arith.constant 1000000 : i64
        %col = linalg.index 1 : index
        %ci = arith.index_cast %col : index to i64
        %base = arith.muli %k, %four : i64
        %at = arith.addi %base, %ci : i64
        %found = arith.select %is, %at, %far : i64
        %first = arith.minsi %old, %found : i64
        linalg.yield %first : i64
      } -> !ir
      ft.yield %b : !ir
    } combine (%a, %b) {
      %c = arith.minsi %a, %b : !ir
      ft.yield %c : !ir
    } identity (%none : !ir)
    ft.yield %p : !ir
  }
  return %ys : !ft.list<[N], !ir>
}

// A vector for each row, chosen by a comparison that is a step of its own. Which one of
// equals is the last: in order, so that nothing may be combined.
// CHECK-LABEL: etdg.graph @vectors
// CHECK: etdg.block @{{.*}} [foldl] (i | j) in [0, K)
// CHECK: linalg.broadcast ins(%{{.*}} : tensor<3xi1>)
// CHECK-NOT: combine
// CHECK: etdg.return
func.func @vectors(%xs: !ft.list<[K], !r> {ft.gen = #ft.normal<1.0>},
                   %vs: !ft.list<[K], !v> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[1], !v>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %none = arith.constant dense<0.0> : !v
  %single = ft.iota : !ft.list<[1], !i>
  %ys = ft.map (%i = %single : !ft.list<[1], !i>) -> !ft.list<[1], !v> {
    %m = ft.foldl (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    }
    %p = ft.foldl (%x, %v = %xs, %vs : !ft.list<[K], !r>, !ft.list<[K], !v>) init (%a = %none : !v) -> !v {
      %is = arith.cmpf oeq, %x, %m : !r
      %e = tensor.empty() : tensor<3x5xi1>
      %all = linalg.broadcast ins(%is : !b) outs(%e : tensor<3x5xi1>) dimensions = [1]
      %b = arith.select %all, %v, %a : tensor<3x5xi1>, !v
      ft.yield %b : !v
    }
    ft.yield %p : !v
  }
  return %ys : !ft.list<[1], !v>
}

// How often the minimum occurs: a comparison in a map, a sum of ones.
// CHECK-LABEL: etdg.graph @occurrences
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK-NOT: [reduce]
// CHECK: combine
// CHECK: etdg.return
func.func @occurrences(%xs: !ft.list<[K], !ir> {ft.gen = #ft.index<0, 3>}) -> !ft.list<[1], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %high = arith.constant dense<1000> : !ir
  %zero = arith.constant dense<0.0> : !r
  %single = ft.iota : !ft.list<[1], !i>
  %ys = ft.map (%i = %single : !ft.list<[1], !i>) -> !ft.list<[1], !r> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !ir>) init (%a = %high : !ir) -> !ir {
      %b = arith.minsi %a, %x : !ir
      ft.yield %b : !ir
    }
    %is = ft.map (%x = %xs : !ft.list<[K], !ir>) -> !ft.list<[K], !b> {
      %b = arith.cmpi eq, %m, %x : !ir
      ft.yield %b : !b
    }
    %n = ft.reduce (%x = %is : !ft.list<[K], !b>) init (%a = %zero : !r) -> !r {
      %one = arith.uitofp %x : !b to !r
      %b = arith.addf %a, %one : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %n : !r
  }
  return %ys : !ft.list<[1], !r>
}

// Integers: exact. Two states in one reduction, one of them chosen.
// CHECK-LABEL: etdg.graph @integers
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK-NOT: [reduce]
// CHECK: arith.cmpi eq
// CHECK: etdg.return
func.func @integers(%xs: !ft.list<[K], !ir> {ft.gen = #ft.index<0, 9>},
                    %ps: !ft.list<[K], !ir> {ft.gen = #ft.index<0, 100>}) -> (!ft.list<[1], !ir>, !ft.list<[1], !ir>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %low = arith.constant dense<-5> : !ir
  %zero = arith.constant dense<0> : !ir
  %single = ft.iota : !ft.list<[1], !i>
  %ys, %zs = ft.map (%i = %single : !ft.list<[1], !i>) -> !ft.list<[1], !ir>, !ft.list<[1], !ir> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !ir>) init (%a = %low : !ir) -> !ir {
      %b = arith.maxsi %a, %x : !ir
      ft.yield %b : !ir
    }
    %most, %all = ft.reduce (%x, %p = %xs, %ps : !ft.list<[K], !ir>, !ft.list<[K], !ir>)
        init (%a, %t = %zero, %zero : !ir, !ir) -> !ir, !ir {
      %is = arith.cmpi eq, %x, %m : !ir
      %q = arith.select %is, %p, %zero : !b, !ir
      %b = arith.maxsi %a, %q : !ir
      %u = arith.addi %t, %p : !ir
      ft.yield %b, %u : !ir, !ir
    } combine (%a, %t, %b, %u) {
      %c = arith.maxsi %a, %b : !ir
      %d = arith.addi %t, %u : !ir
      ft.yield %c, %d : !ir, !ir
    } identity (%zero, %zero : !ir, !ir)
    ft.yield %most, %all : !ir, !ir
  }
  return %ys, %zs : !ft.list<[1], !ir>, !ft.list<[1], !ir>
}

// All but the greatest: the sum of their values, and how many there are (integers, exact). What
// equalled the old maximum joins them when another one is found.
// CHECK-LABEL: etdg.graph @others
// CHECK: etdg.block @{{.*}} [reduce] (i | j)
// CHECK-NOT: (i | j)
// CHECK: identity (splat -1.000000e+30 : f32, splat 0.000000e+00 : f32, splat 0 : i64, splat 0.000000e+00 : f32, splat 0 : i64)
// CHECK: etdg.return
func.func @others(%xss: !ft.list<[N, K], !r> {ft.gen = #ft.normal<1.0>}, %vss: !ft.list<[N, K], !r> {ft.gen = #ft.normal<1.0>}) -> (!ft.list<[N], !r>, !ft.list<[N], !ir>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {N = 2 : i64, K = 7 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zero = arith.constant dense<0.0> : !r
  %izero = arith.constant dense<0> : !ir
  %o0, %o1 = ft.map (%xs, %vs = %xss, %vss : !ft.list<[N, K], !r>, !ft.list<[N, K], !r>) -> !ft.list<[N], !r>, !ft.list<[N], !ir> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    }
    %us = ft.map (%x, %v = %xs, %vs : !ft.list<[K], !r>, !ft.list<[K], !r>) -> !ft.list<[K], !r> {
      %c = arith.cmpf olt, %x, %m : !r
      %u = arith.select %c, %v, %zero : !b, !r
      ft.yield %u : !r
    }
    %s = ft.reduce (%x = %us : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %b = arith.addf %a, %x : !r
      ft.yield %b : !r
    }
    %cs = ft.map (%x = %xs : !ft.list<[K], !r>) -> !ft.list<[K], !ir> {
      %c = arith.cmpf une, %m, %x : !r
      %n = arith.extui %c : !b to !ir
      ft.yield %n : !ir
    }
    %n = ft.reduce (%x = %cs : !ft.list<[K], !ir>) init (%a = %izero : !ir) -> !ir {
      %b = arith.addi %a, %x : !ir
      ft.yield %b : !ir
    }
    ft.yield %s, %n : !r, !ir
  }
  return %o0, %o1 : !ft.list<[N], !r>, !ft.list<[N], !ir>
}
// The least but one, of rows of blocks: the comparison is with what all of them make.
// CHECK-LABEL: etdg.graph @but_one
// CHECK: etdg.block @{{.*}} [reduce] (i | j)
// CHECK-NOT: (i | j)
// CHECK: etdg.return
func.func @but_one(%xs: !ft.list<[K], !x> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[1], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 7 : i64}} {
  %high = arith.constant dense<1.0e30> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %o = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %high : !r) -> !r {
      %b = linalg.reduce { arith.minimumf } ins(%x : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.minimumf %a, %b : !r
      ft.yield %c : !r
    } identity (%high : !r)
    %s = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %high : !r) -> !r {
      %b = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>, affine_map<(r, c) -> (r)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%x, %m : !x, !r) outs(%a : !r) {
      ^bb0(%u: f32, %w: f32, %old: f32):
        %is = arith.cmpf ole, %u, %w : f32
        %far = arith.constant 1.0e30 : f32
        %found = arith.select %is, %far, %u : f32
        %first = arith.minimumf %old, %found : f32
        linalg.yield %first : f32
      } -> !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.minimumf %a, %b : !r
      ft.yield %c : !r
    } identity (%high : !r)
    ft.yield %s : !r
  }
  return %o : !ft.list<[1], !r>
}
