// States of f16 and bf16 run as f32 where they are corrected, and are rounded once, at the
// end: the fused program is at least as exact as the one that was written. Maxima stay what
// they are, and so do the weights of the product.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg,etdg.graph(etdg-online,etdg-verify))' | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-inline,canonicalize,cse,convert-ft-to-etdg,etdg.graph(etdg-online{narrow-states},etdg-verify))' | FileCheck %s --check-prefix=NARROW
// RUN: %python %S/Inputs/narrow.py %ft_bin %s attention Q=1,K=1 Q=1,K=31 SCALE=1 SCALE=3 | FileCheck %s --check-prefix=EXACT
// RUN: %python %S/Inputs/narrow.py %ft_bin %s large Q=1,K=7 SCALE=150 | FileCheck %s --check-prefix=LARGE
// RUN: %python %S/Inputs/narrow.py %ft_bin %s deviation K=1 K=31 SCALE=1 SCALE=40
// RUN: %python %S/Inputs/narrow.py %ft_bin %s between K=2 K=31
// RUN: ft-run %s --entry=attention --dim=Q=2 --dim=K=7 --compare=interpret
// REQUIRES: numpy
// EXACT: attention: as exact as written
// LARGE: large: as exact as written

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

!q = tensor<3x8xf16>
!k = tensor<4x8xf16>
!v = tensor<4x5xf16>
!p = tensor<3x4xf16>
!r = tensor<3xf16>
!o = tensor<3x5xf16>

// CHECK-LABEL: etdg.graph @attention
// CHECK: etdg.block @{{.*}} [reduce] (i | j)
// CHECK-SAME: in [0, K)
// CHECK: %[[M:.*]] = linalg.reduce { arith.maximumf } {{.*}}tensor<3xf16>) dimensions
// CHECK: %[[P:.*]] = math.exp %{{.*}} : tensor<3x4xf16>
// CHECK: math.exp %{{.*}} : tensor<3xf32>
// CHECK: linalg.reduce { arith.addf } ins(%{{.*}} : tensor<3x4xf32>) outs(%{{.*}} : tensor<3xf32>)
// CHECK: linalg.matmul ins(%[[P]], %{{.*}} : tensor<3x4xf16>, tensor<4x5xf16>) outs(%{{.*}} : tensor<3x5xf32>)
// CHECK: etdg.yield %[[M]], %{{.*}} : tensor<3xf16>, tensor<3xf32>, tensor<3x5xf32>
// CHECK: identity (splat -3.000000e+04 : f16, splat 0.000000e+00 : f32, splat 0.000000e+00 : f32)
// CHECK: etdg.block @{{.*}} [] (i |)
// CHECK: arith.divf %{{.*}} : tensor<3x5xf32>
// CHECK: arith.truncf
// CHECK-NOT: etdg.block
// NARROW-LABEL: etdg.graph @attention
// NARROW-NOT: f32
// NARROW: etdg.return
func.func @attention(%qs: !ft.list<[Q], !q> {ft.gen = #ft.normal<1.0>},
                     %ks: !ft.list<[K], !k> {ft.gen = #ft.normal<1.0>},
                     %vs: !ft.list<[K], !v> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[Q], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {Q = 3 : i64, K = 5 : i64}} {
  %low = arith.constant dense<-3.0e4> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !o
  %zp = arith.constant dense<0.0> : !p
  %os = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q], !o> {
    %ss = ft.map (%k = %ks : !ft.list<[K], !k>) -> !ft.list<[K], !p> {
      %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
      ft.yield %st : !p
    }
    %m = ft.reduce (%s = %ss : !ft.list<[K], !p>) init (%a = %low : !r) -> !r {
      %b = linalg.reduce { arith.maximumf } ins(%s : !p) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%low : !r)
    %ps = ft.map (%s = %ss : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m : !r) outs(%pe : !p) dimensions = [1]
      %d = arith.subf %s, %mb : !p
      %p = math.exp %d : !p
      ft.yield %p : !p
    }
    %l = ft.reduce (%p = %ps : !ft.list<[K], !p>) init (%a = %zr : !r) -> !r {
      %b = linalg.reduce { arith.addf } ins(%p : !p) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zr : !r)
    %ws = ft.map (%p = %ps : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
      %e = tensor.empty() : !p
      %lb = linalg.broadcast ins(%l : !r) outs(%e : !p) dimensions = [1]
      %w = arith.divf %p, %lb : !p
      ft.yield %w : !p
    }
    %o = ft.reduce (%w, %v = %ws, %vs : !ft.list<[K], !p>, !ft.list<[K], !v>) init (%a = %zo : !o) -> !o {
      %b = linalg.matmul ins(%w, %v : !p, !v) outs(%a : !o) -> !o
      ft.yield %b : !o
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !o
      ft.yield %c : !o
    } identity (%zo : !o)
    ft.yield %o : !o
  }
  return %os : !ft.list<[Q], !o>
}

// Values of some ten thousands: shares of them fit f16, sums before the division do not.
// CHECK-LABEL: etdg.graph @large
// CHECK: etdg.block @{{.*}} [reduce] (i | j)
// CHECK: outs(%{{.*}} : tensor<3x5xf32>)
func.func @large(%ss: !ft.list<[Q, K], !p>, %vs: !ft.list<[K], !v>) -> !ft.list<[Q], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-6.0e4> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !o
  %hundred = arith.constant dense<100.0> : !v
  %small = arith.constant dense<0.0005> : !p
  %os = ft.map (%qs = %ss : !ft.list<[Q, K], !p>) -> !ft.list<[Q], !o> {
    %m = ft.reduce (%s = %qs : !ft.list<[K], !p>) init (%a = %low : !r) -> !r {
      %t = arith.mulf %s, %small : !p
      %b = linalg.reduce { arith.maximumf } ins(%t : !p) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%low : !r)
    %l = ft.reduce (%s = %qs : !ft.list<[K], !p>) init (%a = %zr : !r) -> !r {
      %t = arith.mulf %s, %small : !p
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m : !r) outs(%pe : !p) dimensions = [1]
      %d = arith.subf %t, %mb : !p
      %p = math.exp %d : !p
      %b = linalg.reduce { arith.addf } ins(%p : !p) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zr : !r)
    %o = ft.reduce (%s, %v = %qs, %vs : !ft.list<[K], !p>, !ft.list<[K], !v>) init (%a = %zo : !o) -> !o {
      %t = arith.mulf %s, %small : !p
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m : !r) outs(%pe : !p) dimensions = [1]
      %d = arith.subf %t, %mb : !p
      %p = math.exp %d : !p
      %lb = linalg.broadcast ins(%l : !r) outs(%pe : !p) dimensions = [1]
      %w = arith.divf %p, %lb : !p
      %u = math.absf %v : !v
      %big = arith.mulf %u, %hundred : !v
      %b = linalg.matmul ins(%w, %big : !p, !v) outs(%a : !o) -> !o
      ft.yield %b : !o
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !o
      ft.yield %c : !o
    } identity (%zo : !o)
    ft.yield %o : !o
  }
  return %os : !ft.list<[Q], !o>
}

// Differences from the mean so far may be twice those from the last mean: their squares are f32,
// and the mean, too, which is no number of f16 while it moves.
// CHECK-LABEL: etdg.graph @deviation
// CHECK: etdg.block @{{.*}} [reduce] (i | j)
// CHECK: arith.mulf %{{.*}} : tensor<3x4xf32>
// CHECK: combine
// CHECK: arith.truncf
func.func @deviation(%xs: !ft.list<[K], !p>) -> !ft.list<[1], !r>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {K = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %four = arith.constant dense<4.0> : !r
  %quarter = arith.constant dense<0.25> : !p
  %ones = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %ones : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %t, %n = ft.reduce (%x = %xs : !ft.list<[K], !p>) init (%a, %k = %zero, %zero : !r, !r) -> !r, !r {
      %h = arith.mulf %x, %quarter : !p
      %b = linalg.reduce { arith.addf } ins(%h : !p) outs(%a : !r) dimensions = [1]
      %l = arith.addf %k, %four : !r
      ft.yield %b, %l : !r, !r
    } combine (%a, %k, %b, %l) {
      %c = arith.addf %a, %b : !r
      %m = arith.addf %k, %l : !r
      ft.yield %c, %m : !r, !r
    } identity (%zero, %zero : !r, !r)
    %part = arith.divf %t, %n : !r
    %mean = arith.mulf %part, %four : !r
    %s = ft.reduce (%x = %xs : !ft.list<[K], !p>) init (%a = %zero : !r) -> !r {
      %e = tensor.empty() : !p
      %mb = linalg.broadcast ins(%mean : !r) outs(%e : !p) dimensions = [1]
      %d = arith.subf %x, %mb : !p
      %q = arith.mulf %d, %d : !p
      %w = arith.mulf %q, %quarter : !p
      %b = linalg.reduce { arith.addf } ins(%w : !p) outs(%a : !r) dimensions = [1]
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    %v = arith.divf %s, %n : !r
    ft.yield %v : !r
  }
  return %ys : !ft.list<[1], !r>
}

// The sum in f32, rounded by the program itself in every iteration: only at the end now.
// CHECK-LABEL: etdg.graph @between
// CHECK: etdg.block @{{.*}} [reduce] (i | j)
// CHECK-NOT: arith.truncf
// CHECK: combine
// CHECK: arith.truncf
func.func @between(%xs: !ft.list<[K], !r>) -> !ft.list<[1], !r> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-3.0e4> : !r
  %zero = arith.constant dense<0.0> : !r
  %ones = ft.iota : !ft.list<[1], tensor<i64>>
  %ys = ft.map (%i = %ones : !ft.list<[1], tensor<i64>>) -> !ft.list<[1], !r> {
    %m = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %low : !r) -> !r {
      %b = arith.maximumf %a, %x : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.maximumf %a, %b : !r
      ft.yield %c : !r
    } identity (%low : !r)
    %s = ft.reduce (%x = %xs : !ft.list<[K], !r>) init (%a = %zero : !r) -> !r {
      %d = arith.subf %x, %m : !r
      %e = math.exp %d : !r
      %p = arith.mulf %e, %x : !r
      %b = arith.addf %a, %p : !r
      ft.yield %b : !r
    } combine (%a, %b) {
      %c = arith.addf %a, %b : !r
      ft.yield %c : !r
    } identity (%zero : !r)
    ft.yield %s : !r
  }
  return %ys : !ft.list<[1], !r>
}
