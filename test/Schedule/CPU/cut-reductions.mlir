// A reduction that the cores share: the schedule and the loops of its shares and of their join. What is too short, or has rows
// enough beside it, stays whole; the number of shares is the machine's, not that of the threads planned for.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json lengths=N=1,L=100000}))' > %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json lengths=N=1,L=100000 threads=1}))' | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json lengths=N=1,L=10}))' | FileCheck %s --check-prefix=WHOLE
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json lengths=N=1000,L=100000}))' | FileCheck %s --check-prefix=ROWS
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json lengths=N=1,L=100000},etdg-storage,etdg-validate),convert-etdg-to-loops)' | FileCheck %s --check-prefix=LOOPS
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu{machine=%S/../../machines/cpu.json lengths=N=1,L=100000}))' --remarks-filter="cpu" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

!x = tensor<4xf32>

// CHECK: etdg.block @r_shares [map, map, fold] (i, share, k)
// CHECK: etdg.cut
// CHECK: etdg.nest schedule
// CHECK: etdg.block @r_join [map, foldl] (i, share)
// CHECK: etdg.block @r_last [map, foldl] (i, share)

// Each core's shares begin from the splat and go on from their own planes, which lie lines apart; then all wait (the launch ends),
// and one joins them in order: from the initial state, each with the state of a share's last iteration.
// LOOPS: loops.program @f
// LOOPS: loops.buffer argument 0
// LOOPS: loops.buffer argument 1
// LOOPS: loops.buffer result 0
// LOOPS: %[[PARTS:.*]] = loops.buffer intermediate planes [0, 0, 2] slot {{.*}} : <[N, 4 * ceildiv(L, 12500), L], tensor<4xf32>>
// LOOPS: %[[JOINED:.*]] = loops.buffer intermediate planes [0, 2] slot {{.*}} : <[N, ceildiv(L, 12500)], tensor<4xf32>>
// LOOPS: %[[LAST:.*]] = loops.buffer intermediate planes [0, 2] slot {{.*}} : <[N, L], tensor<4xf32>>
// LOOPS: loops.launch @f_k0({{.*}}%[[PARTS]], {{.*}})
// LOOPS: loops.launch @f_k1({{.*}}%[[JOINED]], {{.*}}%[[PARTS]], %[[LAST]])
// LOOPS: func.func @f_k0
// LOOPS: scf.forall (%[[SHARE:.*]]) in
// LOOPS: scf.for
// LOOPS: loops.leaf
// LOOPS: mapping = [#loops.level<core,
// LOOPS: func.func @f_k1
// LOOPS-NOT: scf.forall
// LOOPS: scf.for
// LOOPS: loops.leaf
// LOOPS: arith.addf
// LOOPS: loops.leaf
// LOOPS: arith.addf

// WHOLE: etdg.block @r [map, fold] (i, k)
// WHOLE-NOT: etdg.cut

// ROWS: etdg.block @r [map, fold] (i, k)

// REMARK: cut-reduction{{.*}}a reduction is cut into shares of
etdg.graph @f(%xs: !etdg.buffer<[N, L], !x>, %ws: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  %st = etdg.buffer live [all, 1] : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, fold] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %s = {k = 0: %ws[i], k >= 1: %st[i, k - 1]} : !x) writes (%st[i, k]) {
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

// A sum needs no `combine` that is said; what grows in another way stays whole without one.
// CHECK-LABEL: etdg.graph @sum
// CHECK: etdg.block @r_shares [map, reduce] (share, k)
// CHECK: combine (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>) {
// CHECK-NEXT: arith.addf %[[A]], %[[B]]
// CHECK: identity (splat 0.000000e+00 : f32)
// CHECK-LABEL: etdg.graph @other
// CHECK: etdg.block @r [reduce] (k)
// CHECK-NOT: combine
// WHOLE-LABEL: etdg.graph @sum
// WHOLE: etdg.block @r [reduce] (k)
// WHOLE-NOT: combine
etdg.graph @sum(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[], !x>
  %st = etdg.buffer live [1] : !etdg.buffer<[L], !x>
  etdg.block @r [reduce] (k) in [0, L)
      reads (%x = %xs[k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %st[k - 1]} : !x) writes (%st[k]) {
    %y = arith.addf %s, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @last [] () reads (%s = %st[L - 1] : !x) writes (%ys[]) {
    etdg.yield %s : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !x>
  etdg.return %ys : !etdg.buffer<[], !x>
}

etdg.graph @other(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[], !x>
  %st = etdg.buffer live [1] : !etdg.buffer<[L], !x>
  etdg.block @r [reduce] (k) in [0, L)
      reads (%x = %xs[k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %st[k - 1]} : !x) writes (%st[k]) {
    %q = arith.mulf %s, %x : !x
    %y = arith.addf %s, %q : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @last [] () reads (%s = %st[L - 1] : !x) writes (%ys[]) {
    etdg.yield %s : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !x>
  etdg.return %ys : !etdg.buffer<[], !x>
}
