// Several iterations of a reduction become one where the algebra of the body lets its states take them in together.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,etdg.graph(etdg-join-iterations{iterations=3},etdg-verify,etdg-validate))' --remarks-filter=etdg -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REFUSED --input-file=%t.remarks
// RUN: not ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,etdg.graph(etdg-join-iterations{iterations=1}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: expected at least 2 iterations to be joined, found 1
//
// The values are those of the program, in f64 to 1e-11: in any order, cut at random, for less iterations than are joined, for multiples of them, and others.
// RUN: %python %S/Inputs/online.py %ft_bin %s sums --join=3 N=2,L=1 N=1,L=7 N=2,L=127
// RUN: %python %S/Inputs/online.py %ft_bin %s sums --join=2 N=2,L=1 N=1,L=8
// RUN: %python %S/Inputs/online.py %ft_bin %s whole --join=3 N=3
// RUN: %python %S/Inputs/online.py %ft_bin %s beside --join=3 N=2,L=7
// RUN: %python %S/Inputs/online.py %ft_bin %s begun --join=3 N=2,L=7
// RUN: %python %S/Inputs/online.py %ft_bin %s online --join=3 Q=1,K=1 Q=2,K=7 Q=1,K=127
// RUN: %python %S/Inputs/online.py %ft_bin %s online --join=7 Q=1,K=1 Q=2,K=7 Q=1,K=127
// RUN: %python %S/Inputs/online.py %ft_bin %s numbered --join=2 L=1 L=7
// RUN: %python %S/Inputs/online.py %ft_bin %s least --join=4 L=1 L=9
// REQUIRES: numpy

!a = tensor<4x5xf32>
!b = tensor<5x3xf32>
!c = tensor<4x3xf32>
// A sum of products: one product with three times as many terms.
// CHECK-LABEL: etdg.graph @sums
// CHECK: etdg.block @{{.*}}_joined [reduce] (i | j) in [0, floordiv(L, 3))
// CHECK-SAME: [.. | reduce, map, map, reduce] (.. | {{.*}}) in [0, 3) x [0, 4) x [0, 3) x [0, 5)
// CHECK-NEXT: reads ({{.*}} = elem (e0, e1, e2) %arg0[i, 3 * j + e0, e1, e2] : tensor<3x4x5xf32>, {{.*}} = elem (e0, e1, e2) %arg1[3 * j + e0, e1, e2] : tensor<3x5x3xf32>, %{{.*}} = {j >= 1: %[[STATE:.*]][j - 1], j = 0: splat 0.000000e+00 : f32} : tensor<4x3xf32>)
// CHECK-NEXT: writes (%[[STATE]][j])
// CHECK: linalg.generic {indexing_maps = [{{.*}}], iterator_types = ["reduction", "parallel", "parallel", "reduction"]}
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [floordiv(L, 3), L - 2 * floordiv(L, 3))
// CHECK-NEXT: reads ({{.*}} = %arg0[i, j + 2 * floordiv(L, 3)] : tensor<4x5xf32>
// CHECK-NEXT: writes (%[[STATE]][j])
// CHECK: linalg.matmul
// CHECK: reads (%{{.*}} = %[[STATE]][L - 2 * floordiv(L, 3) - 1]
func.func @sums(%as: !ft.list<[N, L], !a>, %bs: !ft.list<[L], !b>) -> !ft.list<[N], !c> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %zero = arith.constant dense<0.0> : !c
  %cs = ft.map (%row = %as : !ft.list<[N, L], !a>) -> !ft.list<[N], !c> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !a>, !ft.list<[L], !b>) init (%acc = %zero : !c) -> !c {
      %s = linalg.matmul ins(%a, %b : !a, !b) outs(%acc : !c) -> !c
      ft.yield %s : !c
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !c
      ft.yield %pq : !c
    }
    %c = arith.negf %sum : !c
    ft.yield %c : !c
  }
  return %cs : !ft.list<[N], !c>
}

// Two iterations of which three would be joined stay as they are: no block without points is left.
// CHECK-LABEL: etdg.graph @short
// CHECK-NOT: _joined
// CHECK: etdg.block @{{.*}} [reduce] (i | j) in [0, 2)
// CHECK-NOT: _joined
func.func @short(%as: !ft.list<[N, 2], !a>, %bs: !ft.list<[2], !b>) -> !ft.list<[N], !c> {
  %zero = arith.constant dense<0.0> : !c
  %cs = ft.map (%row = %as : !ft.list<[N, 2], !a>) -> !ft.list<[N], !c> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[2], !a>, !ft.list<[2], !b>) init (%acc = %zero : !c) -> !c {
      %s = linalg.matmul ins(%a, %b : !a, !b) outs(%acc : !c) -> !c
      ft.yield %s : !c
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !c
      ft.yield %pq : !c
    }
    %c = arith.negf %sum : !c
    ft.yield %c : !c
  }
  return %cs : !ft.list<[N], !c>
}

// A product from 0 on that is added to the state is one with the state's terms.
// CHECK-LABEL: etdg.graph @beside
// CHECK: _joined [reduce]
// CHECK: linalg.generic {indexing_maps = [{{.*}}], iterator_types = ["reduction", "parallel", "parallel", "reduction"]} ins({{.*}}) outs(%s : tensor<4x3xf32>)
// CHECK-NOT: linalg.generic
// CHECK: etdg.yield
func.func @beside(%as: !ft.list<[N, L], !a>, %bs: !ft.list<[L], !b>) -> !ft.list<[N], !c> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %zero = arith.constant dense<0.0> : !c
  %begin = arith.constant dense<0.0> : !c
  %cs = ft.map (%row = %as : !ft.list<[N, L], !a>) -> !ft.list<[N], !c> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !a>, !ft.list<[L], !b>) init (%acc = %zero : !c) -> !c {
      %p = linalg.matmul ins(%a, %b : !a, !b) outs(%begin : !c) -> !c
      %s = arith.addf %p, %acc : !c
      ft.yield %s : !c
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !c
      ft.yield %pq : !c
    }
    %c = arith.negf %sum : !c
    ft.yield %c : !c
  }
  return %cs : !ft.list<[N], !c>
}

// One that begins from something else brings that as often as there are iterations.
// CHECK-LABEL: etdg.graph @begun
// CHECK: _joined [reduce]
// CHECK: linalg.generic {indexing_maps = [{{.*}}], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK: linalg.generic {indexing_maps = [{{.*}}], iterator_types = ["reduction", "parallel", "parallel"]}
func.func @begun(%as: !ft.list<[N, L], !a>, %bs: !ft.list<[L], !b>) -> !ft.list<[N], !c> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %zero = arith.constant dense<0.0> : !c
  %begin = arith.constant dense<1.0> : !c
  %cs = ft.map (%row = %as : !ft.list<[N, L], !a>) -> !ft.list<[N], !c> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !a>, !ft.list<[L], !b>) init (%acc = %zero : !c) -> !c {
      %p = linalg.matmul ins(%a, %b : !a, !b) outs(%begin : !c) -> !c
      %s = arith.addf %p, %acc : !c
      ft.yield %s : !c
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !c
      ft.yield %pq : !c
    }
    %c = arith.negf %sum : !c
    ft.yield %c : !c
  }
  return %cs : !ft.list<[N], !c>
}

// Six iterations are twice three, and nothing is left.
// CHECK-LABEL: etdg.graph @whole
// CHECK: etdg.block @{{.*}}_joined [reduce] (i | j) in [0, 2)
// CHECK-NOT: [reduce]
// CHECK: = %{{.*}}[1]
func.func @whole(%as: !ft.list<[N, 6], !a>) -> !ft.list<[N], !a> {
  %one = arith.constant dense<1.0> : !a
  %cs = ft.map (%row = %as : !ft.list<[N, 6], !a>) -> !ft.list<[N], !a> {
    %sum = ft.reduce (%a = %row : !ft.list<[6], !a>) init (%acc = %one : !a) -> !a {
      %s = arith.mulf %acc, %a : !a
      ft.yield %s : !a
    } combine (%p, %q) {
      %pq = arith.mulf %p, %q : !a
      ft.yield %pq : !a
    }
    %c = arith.negf %sum : !a
    ft.yield %c : !a
  }
  return %cs : !ft.list<[N], !a>
}

// An online reduction: the maximum of three blocks first, then their sums, which are corrected once.
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
!q = tensor<3x4xf32>
!k = tensor<5x4xf32>
!p = tensor<3x5xf32>
!r = tensor<3xf32>
!o = tensor<3x4xf32>
// CHECK-LABEL: etdg.graph @online
// CHECK: etdg.block @{{.*}}_joined [reduce]
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel", "reduction"]} ins({{.*}}) outs(%{{.*}} : tensor<3x3x5xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}}["reduction", "parallel", "reduction"]} ins(%{{.*}} : tensor<3x3x5xf32>) outs(%[[OLD:.*]] : tensor<3xf32>)
// CHECK: arith.maximumf
// CHECK: arith.subf %{{.*}}, %{{.*}} : tensor<3x3x5xf32>
// CHECK: %[[STEP:.*]] = arith.subf %[[OLD]], %[[M]] : tensor<3xf32>
// CHECK: math.exp %[[STEP]] : tensor<3xf32>
// CHECK: linalg.generic {{.*}}["reduction", "parallel", "reduction"]} ins(%{{.*}} : tensor<3x3x5xf32>) outs(%{{.*}} : tensor<3xf32>)
// CHECK: linalg.generic {{.*}}["reduction", "parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<3x3x5xf32>, tensor<3x5x4xf32>) outs(%{{.*}} : tensor<3x4xf32>)
func.func @online(%qs: !ft.list<[Q], !q>, %ks: !ft.list<[K], !k>, %vs: !ft.list<[K], !k>) -> !ft.list<[Q], !o> attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %low = arith.constant dense<-1.0e30> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !o
  %zp = arith.constant dense<0.0> : !p
  %os = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q], !o> {
    %mf, %sf, %of = ft.reduce (%k, %v = %ks, %vs : !ft.list<[K], !k>, !ft.list<[K], !k>) init (%m, %s, %o = %low, %zr, %zo : !r, !r, !o) -> !r, !r, !o {
      %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
      %m1 = linalg.reduce { arith.maximumf } ins(%st : !p) outs(%m : !r) dimensions = [1]
      %pe = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m1 : !r) outs(%pe : !p) dimensions = [1]
      %sm = arith.subf %st, %mb : !p
      %p = math.exp %sm : !p
      %md = arith.subf %m, %m1 : !r
      %c = math.exp %md : !r
      %sc = arith.mulf %s, %c : !r
      %s1 = linalg.reduce { arith.addf } ins(%p : !p) outs(%sc : !r) dimensions = [1]
      %oe = tensor.empty() : !o
      %cb = linalg.broadcast ins(%c : !r) outs(%oe : !o) dimensions = [1]
      %oc = arith.mulf %o, %cb : !o
      %o1 = linalg.matmul ins(%p, %v : !p, !k) outs(%oc : !o) -> !o
      ft.yield %m1, %s1, %o1 : !r, !r, !o
    } combine (%ma, %sa, %oa, %mb, %sb, %ob) {
      %m = arith.maximumf %ma, %mb : !r
      %da = arith.subf %ma, %m : !r
      %db = arith.subf %mb, %m : !r
      %ca = math.exp %da : !r
      %cb = math.exp %db : !r
      %xa = arith.mulf %sa, %ca : !r
      %xb = arith.mulf %sb, %cb : !r
      %s = arith.addf %xa, %xb : !r
      %oe = tensor.empty() : !o
      %wa = linalg.broadcast ins(%ca : !r) outs(%oe : !o) dimensions = [1]
      %wb = linalg.broadcast ins(%cb : !r) outs(%oe : !o) dimensions = [1]
      %ya = arith.mulf %oa, %wa : !o
      %yb = arith.mulf %ob, %wb : !o
      %o = arith.addf %ya, %yb : !o
      ft.yield %m, %s, %o : !r, !r, !o
    } identity (%low, %zr, %zo : !r, !r, !o)
    %se = tensor.empty() : !o
    %sb = linalg.broadcast ins(%sf : !r) outs(%se : !o) dimensions = [1]
    %y = arith.divf %of, %sb : !o
    ft.yield %y : !o
  }
  return %os : !ft.list<[Q], !o>
}

// What an iteration counts differs, too: an index is read for several of them.
!i = tensor<i64>
!f = tensor<2xf32>
// CHECK-LABEL: etdg.graph @numbered
// CHECK: = elem (e0) index(3 * {{.*}} + e0) : tensor<3xi64>
func.func @numbered(%xs: !ft.list<[L], !f>) -> !ft.list<[1], !f> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %zero = arith.constant dense<0.0> : !f
  %single = ft.iota : !ft.list<[1], !i>
  %numbers = ft.iota : !ft.list<[L], !i>
  %ys = ft.map (%one = %single : !ft.list<[1], !i>) -> !ft.list<[1], !f> {
    %sum = ft.reduce (%x, %n = %xs, %numbers : !ft.list<[L], !f>, !ft.list<[L], !i>) init (%acc = %zero : !f) -> !f {
      %nf = arith.sitofp %n : !i to tensor<f32>
      %e = tensor.empty() : !f
      %nb = linalg.broadcast ins(%nf : tensor<f32>) outs(%e : !f) dimensions = [0]
      %t = arith.mulf %x, %nb : !f
      %s = arith.addf %t, %acc : !f
      ft.yield %s : !f
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !f
      ft.yield %pq : !f
    }
    %y = arith.negf %sum : !f
    ft.yield %y : !f
  }
  return %ys : !ft.list<[1], !f>
}

// A minimum, and the sum that it corrects.
// CHECK-LABEL: etdg.graph @least
// CHECK: _joined [reduce]
func.func @least(%xs: !ft.list<[L], !f>) -> !ft.list<[1], !f> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %high = arith.constant dense<1.0e30> : !f
  %zero = arith.constant dense<0.0> : !f
  %single = ft.iota : !ft.list<[1], !i>
  %ys = ft.map (%one = %single : !ft.list<[1], !i>) -> !ft.list<[1], !f> {
    %m, %s = ft.reduce (%x = %xs : !ft.list<[L], !f>) init (%mo, %so = %high, %zero : !f, !f) -> !f, !f {
      %m1 = arith.minimumf %mo, %x : !f
      %d = arith.subf %m1, %x : !f
      %e = math.exp %d : !f
      %step = arith.subf %m1, %mo : !f
      %c = math.exp %step : !f
      %sc = arith.mulf %c, %so : !f
      %s1 = arith.addf %e, %sc : !f
      ft.yield %m1, %s1 : !f, !f
    } combine (%ma, %sa, %mb, %sb) {
      %m1 = arith.minimumf %ma, %mb : !f
      %da = arith.subf %m1, %ma : !f
      %db = arith.subf %m1, %mb : !f
      %ca = math.exp %da : !f
      %cb = math.exp %db : !f
      %xa = arith.mulf %sa, %ca : !f
      %xb = arith.mulf %sb, %cb : !f
      %s1 = arith.addf %xa, %xb : !f
      ft.yield %m1, %s1 : !f, !f
    } identity (%high, %zero : !f, !f)
    %l = math.log %s : !f
    %y = arith.subf %m, %l : !f
    ft.yield %y : !f
  }
  return %ys : !ft.list<[1], !f>
}

// The correction is another one than the terms ask for.
// CHECK-LABEL: etdg.graph @twice
// CHECK-NOT: _joined
// REFUSED: remark: [Missed] join-iterations{{.*}}iterations are not joined: state 1 is corrected by another factor than its terms have
func.func @twice(%xs: !ft.list<[L], !f>) -> !ft.list<[1], !f> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %low = arith.constant dense<-1.0e30> : !f
  %zero = arith.constant dense<0.0> : !f
  %two = arith.constant dense<2.0> : !f
  %single = ft.iota : !ft.list<[1], !i>
  %ys = ft.map (%one = %single : !ft.list<[1], !i>) -> !ft.list<[1], !f> {
    %m, %s = ft.reduce (%x = %xs : !ft.list<[L], !f>) init (%mo, %so = %low, %zero : !f, !f) -> !f, !f {
      %m1 = arith.maximumf %mo, %x : !f
      %d = arith.subf %x, %m1 : !f
      %e = math.exp %d : !f
      %step = arith.subf %mo, %m1 : !f
      %step2 = arith.mulf %step, %two : !f
      %c = math.exp %step2 : !f
      %sc = arith.mulf %so, %c : !f
      %s1 = arith.addf %sc, %e : !f
      ft.yield %m1, %s1 : !f, !f
    } combine (%ma, %sa, %mb, %sb) {
      %m1 = arith.maximumf %ma, %mb : !f
      %s1 = arith.addf %sa, %sb : !f
      ft.yield %m1, %s1 : !f, !f
    } identity (%low, %zero : !f, !f)
    %y = arith.addf %s, %m : !f
    ft.yield %y : !f
  }
  return %ys : !ft.list<[1], !f>
}

// The state before is not corrected at all.
// CHECK-LABEL: etdg.graph @uncorrected
// CHECK-NOT: _joined
// REFUSED: iterations are not joined: state 1 is changed before it grows, by no factor
func.func @uncorrected(%xs: !ft.list<[L], !f>) -> !ft.list<[1], !f> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %low = arith.constant dense<-1.0e30> : !f
  %zero = arith.constant dense<0.0> : !f
  %single = ft.iota : !ft.list<[1], !i>
  %ys = ft.map (%one = %single : !ft.list<[1], !i>) -> !ft.list<[1], !f> {
    %m, %s = ft.reduce (%x = %xs : !ft.list<[L], !f>) init (%mo, %so = %low, %zero : !f, !f) -> !f, !f {
      %m1 = arith.maximumf %mo, %x : !f
      %d = arith.subf %x, %m1 : !f
      %e = math.exp %d : !f
      %s1 = arith.addf %so, %e : !f
      ft.yield %m1, %s1 : !f, !f
    } combine (%ma, %sa, %mb, %sb) {
      %m1 = arith.maximumf %ma, %mb : !f
      %s1 = arith.addf %sa, %sb : !f
      ft.yield %m1, %s1 : !f, !f
    } identity (%low, %zero : !f, !f)
    %y = arith.addf %s, %m : !f
    ft.yield %y : !f
  }
  return %ys : !ft.list<[1], !f>
}

// A state that every step decays, and one of an order that the program says: they round at every step.
// CHECK-LABEL: etdg.graph @decayed
// CHECK-NOT: _joined
// REFUSED: iterations are not joined: state 0 is changed before it grows, by what its terms do not follow
func.func @decayed(%xs: !ft.list<[L], !f>) -> !ft.list<[1], !f> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %zero = arith.constant dense<0.0> : !f
  %half = arith.constant dense<0.5> : !f
  %single = ft.iota : !ft.list<[1], !i>
  %ys = ft.map (%one = %single : !ft.list<[1], !i>) -> !ft.list<[1], !f> {
    %s = ft.reduce (%x = %xs : !ft.list<[L], !f>) init (%so = %zero : !f) -> !f {
      %sc = arith.mulf %so, %half : !f
      %s1 = arith.addf %sc, %x : !f
      ft.yield %s1 : !f
    } combine (%a, %b) {
      %s1 = arith.addf %a, %b : !f
      ft.yield %s1 : !f
    } identity (%zero : !f)
    %y = arith.negf %s : !f
    ft.yield %y : !f
  }
  return %ys : !ft.list<[1], !f>
}

// CHECK-LABEL: etdg.graph @ordered
// CHECK-NOT: _joined
// REFUSED: iterations are not joined: the block has no 'combine'
func.func @ordered(%xs: !ft.list<[L], !f>) -> !ft.list<[1], !f> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %zero = arith.constant dense<0.0> : !f
  %single = ft.iota : !ft.list<[1], !i>
  %ys = ft.map (%one = %single : !ft.list<[1], !i>) -> !ft.list<[1], !f> {
    %s = ft.foldl (%x = %xs : !ft.list<[L], !f>) init (%so = %zero : !f) -> !f {
      %s1 = arith.addf %so, %x : !f
      ft.yield %s1 : !f
    }
    %y = arith.negf %s : !f
    ft.yield %y : !f
  }
  return %ys : !ft.list<[1], !f>
}
