// Associative loops as shares and their join: what begins from `identity`, what is joined to what, which loops the shares have.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-cut-reductions,etdg-validate))' | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-cut-reductions{line-bytes=64}))' | FileCheck %s --check-prefix=APART

!x = tensor<2xf32>
!i = tensor<i64>

// The initial state stands before the first share; the last share writes what the last iteration wrote.
// CHECK-LABEL: etdg.graph @rows
// CHECK: %[[PARTS:.*]] = etdg.buffer live [all, all, 1] : !etdg.buffer<[N, ceildiv(L, 100), L], tensor<2xf32>>
// CHECK: %[[JOINED:.*]] = etdg.buffer live [all, 1] : !etdg.buffer<[N, ceildiv(L, 100)], tensor<2xf32>>
// CHECK: %[[STATES:.*]] = etdg.buffer live [all, 1] : !etdg.buffer<[N, L], tensor<2xf32>>
// CHECK: etdg.block @r_shares [map, map, fold] (i, share, k) in [0, N) x [0, *) x [max(0, 100 * share), min(L, 100 * share + 100))
// CHECK-NEXT: %s = {k >= 100 * share + 1 and k >= 1: %[[PARTS]][i, share, k - 1], share >= 0 and k = 100 * share: splat 0.000000e+00 : f32}
// CHECK-NEXT: writes (%[[PARTS]][i, share, k])
// CHECK-NEXT: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, kind = parallel, level = core, mapping = dynamic>, <dimension = 2, kind = sequential>] target = "cpu">
// CHECK-SAME: etdg.cut = #etdg.cut<dimension = 1, tile = 100, domain = #{{.*}}>
// CHECK: } combine
// CHECK: etdg.nest {
// CHECK-NEXT: etdg.block @r_join [map, foldl] (i, share) in [0, N) x [0, *) where 100 * share + 101 <= L
// CHECK-NEXT: reads (%{{.*}} = {share >= 1: %[[JOINED]][i, share - 1], share <= 0: %arg1[i]}
// CHECK-SAME: %[[PARTS]][i, share, 100 * share + 99]
// CHECK-NEXT: writes (%[[JOINED]][i, share])
// CHECK-NEXT: arith.addf
// CHECK: etdg.block @r_last [map, foldl] (i, share)
// CHECK-SAME: where 100 * share + 1 <= L and 100 * share + 100 >= L and L >= 1
// CHECK-NEXT: reads (%{{.*}} = {share >= 1: %[[JOINED]][i, share - 1], share <= 0: %arg1[i]}
// CHECK-SAME: %[[PARTS]][i, share, L - 1]
// CHECK-NEXT: writes (%[[STATES]][i, L - 1])
// CHECK-NOT: associative
// APART-LABEL: etdg.graph @rows
// APART: etdg.buffer live [all, all, 1] : !etdg.buffer<[N, 8 * ceildiv(L, 100), L], tensor<2xf32>>
// APART: writes (%{{.*}}[i, 8 * share, k])
etdg.graph @rows(%xs: !etdg.buffer<[N, L], !x>, %ws: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  %st = etdg.buffer live [all, 1] : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, fold] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: %ws[i], k >= 1: %st[i, k - 1]} : !x) writes (%st[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, tile = 100, kind = associative, level = core, mapping = dynamic>, <dimension = 1, kind = sequential>] target = "cpu"> {
    %y = arith.addf %s, %x : !x
    etdg.yield %y : !x
  } combine (%a: !x, %b: !x) {
    %y = arith.addf %a, %b : !x
    etdg.yield %y : !x
  } identity (splat 0.0 : f32) : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N], !x>, !etdg.buffer<[N, L], !x>
  etdg.block @last [map] (i) in [0, N)
      reads (%s = {L = 0: %ws[i], L >= 1: %st[i, L - 1]} : !x) writes (%ys[i]) {
    etdg.yield %s : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N, L], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// Two states, one loop that has no tile (each iteration is a share), a range that doesn't begin at 0, in a kernel.
// CHECK-LABEL: etdg.graph @pair
// CHECK: etdg.kernel
// CHECK-NEXT: etdg.block @r_shares [map, reduce] (share, k) in [2, L) x = share
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]>
// CHECK: etdg.block @r_join [foldl] (share) in [2, L - 1)
// CHECK-NEXT: reads (%{{.*}} = {share >= 3: %{{.*}}[share - 1], share <= 2: splat 5 : i64} : tensor<i64>, %{{.*}} = {share >= 3: %{{.*}}[share - 1], share <= 2: splat 1 : i64}
// CHECK: arith.addi
// CHECK: arith.muli
// CHECK: etdg.block @r_last [foldl] (share) in = L - 1 where L >= 3
// CHECK: etdg.block @last
etdg.graph @pair(%xs: !etdg.buffer<[L], !i>) -> (!etdg.buffer<[], !i>, !etdg.buffer<[], !i>)
    attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  %p = etdg.buffer : !etdg.buffer<[], !i>
  %q = etdg.buffer : !etdg.buffer<[], !i>
  %st = etdg.buffer live [1] : !etdg.buffer<[L], !i>
  %tt = etdg.buffer live [1] : !etdg.buffer<[L - 2], !i>
  etdg.kernel {
    etdg.nest schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, kind = associative>]> {
      etdg.block @r [reduce] (k) in [2, L)
          reads (%x = %xs[k] : !i, %a = {k = 2: splat 5 : i64, k >= 3: %st[k - 1]} : !i, %b = {k = 2: splat 1 : i64, k >= 3: %tt[k - 3]} : !i)
          writes (%st[k], %tt[k - 2]) {
        %c = arith.addi %a, %x : !i
        %d = arith.muli %b, %x : !i
        etdg.yield %c, %d : !i, !i
      } combine (%a: !i, %b: !i, %c: !i, %d: !i) {
        %e = arith.addi %a, %c : !i
        %f = arith.muli %b, %d : !i
        etdg.yield %e, %f : !i, !i
      } identity (splat 0 : i64, splat 1 : i64) : !etdg.buffer<[L], !i>, !etdg.buffer<[L], !i>, !etdg.buffer<[L - 2], !i>
    }
    etdg.block @last [] () reads (%a = %st[L - 1] : !i, %b = %tt[L - 3] : !i) writes (%p[], %q[]) {
      etdg.yield %a, %b : !i, !i
    } : !etdg.buffer<[L], !i>, !etdg.buffer<[L - 2], !i>, !etdg.buffer<[], !i>, !etdg.buffer<[], !i>
  }
  etdg.return %p, %q : !etdg.buffer<[], !i>, !etdg.buffer<[], !i>
}

// All lengths that there may be are one share: nothing stands before the last one.
// CHECK-LABEL: etdg.graph @one_share
// CHECK: etdg.block @r_shares
// CHECK: etdg.nest {
// CHECK-NEXT: etdg.block @r_last [foldl] (share) in = 0
// CHECK-NEXT: reads (%{{.*}} = {share <= 0: splat 0 : i64}
// CHECK-NOT: @r_join
etdg.graph @one_share(%xs: !etdg.buffer<[6], !i>) -> !etdg.buffer<[], !i> {
  %p = etdg.buffer : !etdg.buffer<[], !i>
  %st = etdg.buffer : !etdg.buffer<[6], !i>
  etdg.block @r [reduce] (k) in [0, 6)
      reads (%x = %xs[k] : !i, %a = {k = 0: splat 0 : i64, k >= 1: %st[k - 1]} : !i) writes (%st[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 6, kind = associative>, <dimension = 0, kind = sequential>]> {
    %c = arith.addi %a, %x : !i
    etdg.yield %c : !i
  } combine (%a: !i, %b: !i) {
    %c = arith.addi %a, %b : !i
    etdg.yield %c : !i
  } identity (splat 0 : i64) : !etdg.buffer<[6], !i>, !etdg.buffer<[6], !i>
  etdg.block @last [] () reads (%a = %st[5] : !i) writes (%p[]) {
    etdg.yield %a : !i
  } : !etdg.buffer<[6], !i>, !etdg.buffer<[], !i>
  etdg.return %p : !etdg.buffer<[], !i>
}
