// Mean and variance in one pass: sums of squares around a mean that is known only in the
// end are kept around the mean so far, with their weight (Chan et al.).
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg,etdg.graph(etdg-online,etdg-verify))' | FileCheck %s
// RUN: %python %S/Inputs/online.py %ft_bin %s variance N=1,K=1 N=2,K=7 N=1,K=31
// RUN: %python %S/Inputs/online.py %ft_bin %s normalise K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s weighted K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s generic K=1 K=7
// RUN: %python %S/Inputs/online.py %ft_bin %s skew K=1 K=7 K=31
// REQUIRES: numpy

!x = tensor<3x4xf32>
!r = tensor<3xf32>

// The elements of a block are counted, not summed: 4 a row.
// CHECK-LABEL: etdg.graph @variance
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, K)
// CHECK: writes (%{{.*}}[j], %{{.*}}[j], %{{.*}}[j], %{{.*}}[j], %{{.*}}[j])
// CHECK: arith.constant dense<4.000000e+00> : tensor<3xf32>
// CHECK-NOT: cmpf
// CHECK: combine
// CHECK: arith.cmpf oeq
// CHECK: identity (splat 0.000000e+00 : f32, splat 0.000000e+00 : f32, splat 0.000000e+00 : f32, splat 0.000000e+00 : f32, splat 0.000000e+00 : f32)
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK: divf
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK-NOT: etdg.block
func.func @variance(%xs: !ft.list<[N, K], !x> {ft.gen = #ft.uniform<99.0, 101.0>}) -> !ft.list<[N], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {N = 2 : i64, K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %ys = ft.map (%ks = %xs : !ft.list<[N, K], !x>) -> !ft.list<[N], !r> {
    %t = ft.reduce (%x = %ks : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %b = linalg.reduce { arith.addf } ins(%x : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %n = ft.reduce (%x = %ks : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %four = arith.constant dense<4.0> : !r
      %b = arith.addf %a, %four : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %mean = arith.divf %t, %n : !r
    %s = ft.reduce (%x = %ks : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %e = tensor.empty() : !x
      %mb = linalg.broadcast ins(%mean : !r) outs(%e : !x) dimensions = [1]
      %d = arith.subf %x, %mb : !x
      %q = arith.mulf %d, %d : !x
      %b = linalg.reduce { arith.addf } ins(%q : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %v = arith.divf %s, %n : !r
    ft.yield %v : !r
  }
  return %ys : !ft.list<[N], !r>
}

// Differences, squares and their sum in steps of their own. After, a map that needs the
// last mean reads the elements again (as it did).
// CHECK-LABEL: etdg.graph @normalise
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK-NOT: [reduce]
// CHECK: etdg.block @{{.*}} [map]
// CHECK: etdg.return
func.func @normalise(%xs: !ft.list<[K], !r> {ft.gen = #ft.uniform<9.0, 11.0>}) -> !ft.list<[K], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %one = arith.constant dense<1.0> : !r
  %eps = arith.constant dense<1.0e-3> : !r
  %t, %n = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a, %k = %zero, %zero : !r, !r) -> !r, !r {
    %b = arith.addf %a, %x : !r
    %l = arith.addf %k, %one : !r
    ft.yield %b, %l : !r, !r
  } combine (%a, %k, %b, %l) {
    %c = arith.addf %a, %b : !r
    %m = arith.addf %k, %l : !r
    ft.yield %c, %m : !r, !r
  } identity (%zero, %zero : !r, !r)
  %mean = arith.divf %t, %n : !r
  %ds = ft.map (%x = %xs : !ft.list<[K], !r>) -> !ft.list<[K], !r> {
    %d = arith.subf %x, %mean : !r
    ft.yield %d : !r
  }
  %qs = ft.map (%d = %ds : !ft.list<[K], !r>) -> !ft.list<[K], !r> {
    %q = arith.mulf %d, %d : !r
    ft.yield %q : !r
  }
  %s = ft.reduce (%q = %qs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
    %b = arith.addf %a, %q : !r
    ft.yield %b : !r
  }
  %v = arith.divf %s, %n : !r
  %w = arith.addf %v, %eps : !r
  %i = math.rsqrt %w : !r
  %ys = ft.map (%x = %xs : !ft.list<[K], !r>) -> !ft.list<[K], !r> {
    %d = arith.subf %x, %mean : !r
    %y = arith.mulf %d, %i : !r
    ft.yield %y : !r
  }
  return %ys : !ft.list<[K], !r>
}

// Weights that are data, and may be 0 at first; twice the distance is squared.
// CHECK-LABEL: etdg.graph @weighted
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK: arith.cmpf oeq
// CHECK: combine
func.func @weighted(%xs: !ft.list<[K], !x> {ft.gen = #ft.uniform<9.0, 11.0>},
                    %ws: !ft.list<[K], !x> {ft.gen = #ft.uniform<0.0, 1.0>}) -> !ft.list<[1], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %half = arith.constant dense<0.5> : !x
  %zx = arith.constant dense<0.0> : !x
  %two = arith.constant dense<2.0> : !x
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %cs = ft.map (%w = %ws : !ft.list<[K], !x>) -> !ft.list<[K], !x> {
      %d = arith.subf %w, %half : !x
      %c = arith.maximumf %d, %zx : !x
      ft.yield %c : !x
    }
    %t, %n = ft.reduce (%x, %w = %xs, %cs : !ft.list<[K], !x>, !ft.list<[K], !x>)
        init (%a, %k = %zero, %zero : !r, !r) -> !r, !r {
      %p = arith.mulf %x, %w : !x
      %b = linalg.reduce { arith.addf } ins(%p : !x) outs(%a : !r) dimensions = [1]
      %l = linalg.reduce { arith.addf } ins(%w : !x) outs(%k : !r) dimensions = [1]
      ft.yield %b, %l : !r, !r
    } combine (%a, %k, %b, %l) {
      %c = arith.addf %a, %b : !r
      %m = arith.addf %k, %l : !r
      ft.yield %c, %m : !r, !r
    } identity (%zero, %zero : !r, !r)
    %tiny = arith.constant dense<1.0e-20> : !r
    %safe = arith.addf %n, %tiny : !r
    %mean = arith.divf %t, %safe : !r
    %s = ft.reduce (%x, %w = %xs, %cs : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %e = tensor.empty() : !x
      %mb = linalg.broadcast ins(%mean : !r) outs(%e : !x) dimensions = [1]
      %d = arith.subf %x, %mb : !x
      %d2 = arith.mulf %d, %two : !x
      %q = arith.mulf %d2, %d2 : !x
      %p = arith.mulf %q, %w : !x
      %b = linalg.reduce { arith.addf } ins(%p : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %o = arith.addf %s, %mean : !r
    ft.yield %o : !r
  }
  return %ys : !ft.list<[1], !r>
}

// The same in one generic operation, and a mean that is not that of the elements: the
// step to it is made after.
// CHECK-LABEL: etdg.graph @generic
// CHECK: etdg.block @{{.*}} [reduce]
// CHECK: linalg.generic
// CHECK: combine
// CHECK: etdg.return
func.func @generic(%xs: !ft.list<[K], !x> {ft.gen = #ft.uniform<9.0, 11.0>}) -> !ft.list<[1], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %low = arith.constant dense<-1.0e30> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %low : !r) -> !r {
      %b = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%low : !r)
    %s = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %b = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>,
                                            affine_map<(r, c) -> (r)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%x, %m : !x, !r) outs(%a : !r) {
      ^bb0(%u: f32, %w: f32, %old: f32):
        %d = arith.subf %w, %u : f32
        %q = arith.mulf %d, %d : f32
        %g = arith.addf %old, %q : f32
        linalg.yield %g : f32
      } -> !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %s : !r
  }
  return %ys : !ft.list<[1], !r>
}

// Second, third and fourth central moments of rows of blocks, the last in one generic operation:
// beside each its lower moments, around the mean so far; one pass.
// CHECK-LABEL: etdg.graph @skew
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, K)
// CHECK-NOT: (i | j)
// CHECK: etdg.return
func.func @skew(%xs: !ft.list<[K], !x> {ft.gen = #ft.uniform<9.0, 11.0>}) -> (!ft.list<[1], !r>, !ft.list<[1], !r>, !ft.list<[1], !r>)
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %four = arith.constant dense<4.0> : !r
  %single = ft.iota : !ft.list<[1], tensor<i64>>
  %y1, %y2, %y3 = ft.map (%i = %single : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r>, !ft.list<[1], !r>, !ft.list<[1], !r> {
    %t, %n = ft.reduce (%x = %xs : !ft.list<[K], !x>) init (%a, %k = %zero, %zero : !r, !r) -> !r, !r {
      %b = linalg.reduce { arith.addf } ins(%x : !x) outs(%a : !r) dimensions = [1]
      %l = arith.addf %k, %four : !r
      ft.yield %b, %l : !r, !r
    } combine (%a, %k, %b, %l) {
      %c = arith.addf %a, %b : !r
      %m = arith.addf %k, %l : !r
      ft.yield %c, %m : !r, !r
    } identity (%zero, %zero : !r, !r)
    %mean = arith.divf %t, %n : !r
    %ds = ft.map (%x = %xs : !ft.list<[K], !x>) -> !ft.list<[K], !x> {
      %e = tensor.empty() : !x
      %mb = linalg.broadcast ins(%mean : !r) outs(%e : !x) dimensions = [1]
      %d = arith.subf %x, %mb : !x
      ft.yield %d : !x
    }
    %v = ft.reduce (%d = %ds : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %q = arith.mulf %d, %d : !x
      %b = linalg.reduce { arith.addf } ins(%q : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %s3 = ft.reduce (%d = %ds : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %q = arith.mulf %d, %d : !x
      %c3 = arith.mulf %q, %d : !x
      %b = linalg.reduce { arith.addf } ins(%c3 : !x) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %s4 = ft.reduce (%d = %ds : !ft.list<[K], !x>) init (%a = %zero : !r) -> !r {
      %b = linalg.generic {indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (r)>],
                           iterator_types = ["parallel", "reduction"]}
          ins(%d : !x) outs(%a : !r) {
      ^bb0(%u: f32, %old: f32):
        %q = arith.mulf %u, %u : f32
        %q4 = arith.mulf %q, %q : f32
        %g = arith.addf %old, %q4 : f32
        linalg.yield %g : f32
      } -> !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %v, %s3, %s4 : !r, !r, !r
  }
  return %y1, %y2, %y3 : !ft.list<[1], !r>, !ft.list<[1], !r>, !ft.list<[1], !r>
}
