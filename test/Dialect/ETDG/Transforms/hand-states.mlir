// States that a leaf hands to its next iteration, and of which others read the last one alone. The leaf lists them, and the loop around it says so
// of its outputs.
//
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-hand-states))" --remarks-filter="storage" 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
//
// What is said is proved again.
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-hand-states,etdg-validate{reproducer=none}))" -o /dev/null

!x = tensor<6xf32>

// A fold whose last state another block reads; along the outer loop states are handed by the last iteration of the inner one.
// CHECK-LABEL: etdg.graph @folds
// CHECK: etdg.block @fold
// CHECK: etdg.handed = array<i64: 0, 1>
// CHECK: etdg.block @last
// CHECK-NOT: etdg.handed
// REMARK: hand-states{{.*}}"write 0 goes from one iteration of i to the next, and read 1, piece 1 of block @fold reads others than the last one"
// REMARK: hand-states{{.*}}"write 0 goes from one iteration of t to the next, and nothing else reads others than the last one"
etdg.graph @folds(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @fold [scanl, foldl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %s = {i = 0 and t = 0: splat 0.0 : f32, i >= 1 and t = 0: %ys[i - 1, L - 1], t >= 1: %ys[i, t - 1]} : !x)
      writes (%ys[i, t]) attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 2>]} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.block @last [map] (i) in [0, N) reads (%y = %ys[i, L - 1] : !x) writes (%zs[i]) {
    %0 = math.exp %y : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N], !x>
  etdg.return %zs : !etdg.buffer<[N], !x>
}

// The state before the last one, which another block reads; the leaf's own state of two iterations before; a result.
// CHECK-LABEL: etdg.graph @refused
// CHECK-NOT: etdg.handed
// REMARK: hand-states{{.*}}"write 0 goes from one iteration of t to the next, and read 0 of block @other reads others than the last one"
// REMARK: hand-states{{.*}}"write 0 goes from one iteration of t to the next, and read 1, piece 1 of block @second reads others than the last one"
// REMARK-NOT: hand-states
etdg.graph @refused(%xs: !etdg.buffer<[L], !x>) -> (!etdg.buffer<[], !x>, !etdg.buffer<[], !x>, !etdg.buffer<[L], !x>) attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %as = etdg.buffer : !etdg.buffer<[L], !x>
  %bs = etdg.buffer : !etdg.buffer<[L], !x>
  %cs = etdg.buffer : !etdg.buffer<[L], !x>
  %a = etdg.buffer : !etdg.buffer<[], !x>
  %b = etdg.buffer : !etdg.buffer<[], !x>
  etdg.block @earlier [foldl] (t) in [0, L) reads (%x = %xs[t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %as[t - 1]} : !x)
      writes (%as[t]) attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 2>]} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @other [] () reads (%y = %as[L - 2] : !x) writes (%a[]) {
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !x>
  etdg.block @second [foldl] (t) in [0, L) reads (%x = %xs[t] : !x, %s = {t <= 1: splat 0.0 : f32, t >= 2: %bs[t - 2]} : !x)
      writes (%bs[t]) attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 2>]} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @end [] () reads (%y = %bs[L - 1] : !x) writes (%b[]) {
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !x>
  etdg.block @result [scanl] (t) in [0, L) reads (%x = %xs[t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %cs[t - 1]} : !x)
      writes (%cs[t]) attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 2>]} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %a, %b, %cs : !etdg.buffer<[], !x>, !etdg.buffer<[], !x>, !etdg.buffer<[L], !x>
}
