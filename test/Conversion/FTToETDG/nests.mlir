// RUN: ft-opt %s --convert-ft-to-etdg | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,etdg.graph(etdg-verify))' -o /dev/null

!x = tensor<4xf32>

// Listing 1: the four regions of Fig. 4, with the maps of its edges.
// CHECK-LABEL: etdg.graph @stacked
// CHECK: %[[Y:.*]] = etdg.buffer : !etdg.buffer<[N, D, L], tensor<4xf32>>
// CHECK-NEXT: etdg.nest {
// CHECK-NEXT: etdg.block @r0 [map, scanl, scanl] (i, j, k) in [0, N) x = 0 x = 0 where D >= 1 and L >= 1
// CHECK-NEXT: reads (%{{.*}} = %arg0[i, k] : tensor<4xf32>, %{{.*}} = %arg1[j] : tensor<4xf32>, %{{.*}} = splat 0.000000e+00 : f32 : tensor<4xf32>)
// CHECK-NEXT: writes (%[[Y]][i, j, k])
// CHECK: etdg.block @r1 [map, scanl, scanl] (i, j, k) in [0, N) x = 0 x [1, L) where D >= 1
// CHECK-NEXT: reads (%{{.*}} = %arg0[i, k] : tensor<4xf32>, %{{.*}} = %arg1[j] : tensor<4xf32>, %{{.*}} = %[[Y]][i, j, k - 1] : tensor<4xf32>)
// CHECK: etdg.block @r2 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x = 0 where L >= 1
// CHECK-NEXT: reads (%{{.*}} = %[[Y]][i, j - 1, k] : tensor<4xf32>, %{{.*}} = %arg1[j] : tensor<4xf32>, %{{.*}} = splat 0.000000e+00 : f32 : tensor<4xf32>)
// CHECK: etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L)
// CHECK-NEXT: reads (%{{.*}} = %[[Y]][i, j - 1, k] : tensor<4xf32>, %{{.*}} = %arg1[j] : tensor<4xf32>, %{{.*}} = %[[Y]][i, j, k - 1] : tensor<4xf32>)
// CHECK-NOT: etdg.block
// CHECK: etdg.return %[[Y]]
func.func @stacked(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[N, D, L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %ysss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %yss = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%ss = %xs : !ft.list<[L], !x>) {
      %ys = ft.scanl (%x = %ss : !ft.list<[L], !x>) init (%s = %zero : !x) {
        %xw = arith.mulf %x, %w : !x
        %y = arith.addf %xw, %s : !x
        ft.yield %y : !x
      }
      ft.yield %ys : !ft.list<[L], !x>
    }
    ft.yield %yss : !ft.list<[D, L], !x>
  }
  return %ysss : !ft.list<[N, D, L], !x>
}

// From the right and with a lag: mirrored maps, the first iterations apart.
// CHECK-LABEL: etdg.graph @right
// CHECK: [scanl] (i) in [0, min(2, L))
// CHECK-NEXT: reads (%{{.*}} = splat 0.000000e+00 : f32 : tensor<4xf32>, %{{.*}} = %arg0[L - i - 1] : tensor<4xf32>)
// CHECK-NEXT: writes (%[[Y:.*]][L - i - 1])
// CHECK: [scanl] (i) in [2, L)
// CHECK-NEXT: reads (%{{.*}} = %[[Y2:.*]][L - i + 1] : tensor<4xf32>, %{{.*}} = %arg0[L - i - 1] : tensor<4xf32>)
func.func @right(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%s = %zero : !x) lag 2 {
    %y = arith.addf %s, %x : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[L], !x>
}

// A fold stays one block whose state read has two pieces; its result is its last
// plane, or the initial state where the list is empty, and is copied to be returned.
// CHECK-LABEL: etdg.graph @fold
// CHECK: %[[P:.*]] = etdg.buffer live [1] : !etdg.buffer<[L], tensor<4xf32>>
// CHECK: etdg.block @r0 [foldl] (i) in [0, L)
// CHECK-NEXT: reads (%{{.*}} = {i >= 1: %[[P]][i - 1], i = 0: %arg1[]} : tensor<4xf32>, %{{.*}} = %arg0[i] : tensor<4xf32>)
// CHECK-NEXT: writes (%[[P]][i])
// CHECK: etdg.block @r1 [] ()
// CHECK-NEXT: reads (%[[R:.*]] = {L >= 1: %[[P]][L - 1], L = 0: %arg1[]} : tensor<4xf32>)
// CHECK: etdg.yield %[[R]]
func.func @fold(%xs: !ft.list<[L], !x>, %s0: !x) -> !x {
  %r = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %s0 : !x) {
    %t = arith.addf %s, %x : !x
    ft.yield %t : !x
  }
  return %r : !x
}

// A map, then a scan, inside a scan: a graph block with private buffers, whose
// children see the ancestors' dimensions before the bar.
// CHECK-LABEL: etdg.graph @imperfect
// CHECK: etdg.nest {
// CHECK: etdg.block @r0 [scanl] (i) in = 0 where D >= 1 {
// CHECK: %[[G:.*]] = etdg.buffer : !etdg.buffer<[L], tensor<4xf32>>
// CHECK: etdg.block @r1 [map] (i | j) in [0, L)
// CHECK: writes (%[[G]][j])
// CHECK: etdg.nest {
// CHECK: etdg.block @r2 [scanl] (i | j) in = 0 where L >= 1
// CHECK: writes (%[[Y:.*]][i, j])
// CHECK: etdg.block @r3 [scanl] (i | j) in [1, L)
// CHECK: etdg.block @r4 [scanl] (i) in [1, D) {
// CHECK: reads (%{{.*}} = %[[Y4:.*]][i - 1, j] : tensor<4xf32>)
func.func @imperfect(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %yss = ft.scanl (%w = %ws : !ft.list<[D], !x>) init (%below = %xs : !ft.list<[L], !x>) {
    %gs = ft.map (%x = %below : !ft.list<[L], !x>) {
      %g = math.exp %x : !x
      ft.yield %g : !x
    }
    %ys = ft.scanl (%g = %gs : !ft.list<[L], !x>) init (%s = %zero : !x) {
      %p = arith.mulf %g, %w : !x
      %y = arith.addf %p, %s : !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[D, L], !x>
}

// Fresh results that are joined, mirrored or transposed are written in place: no
// copy. What is no fresh result gets one.
// CHECK-LABEL: etdg.graph @writers
// CHECK: %[[Y:.*]] = etdg.buffer : !etdg.buffer<[2 * L + 1], tensor<4xf32>>
// CHECK: [map] (i) in [0, L)
// CHECK: writes (%[[Y]][L - i - 1])
// CHECK: [map] (i) in [0, L)
// CHECK: writes (%[[Y]][i + L])
// CHECK: [map] (i) in = 0
// CHECK-NEXT: reads (%[[X:.*]] = %arg0[
// CHECK-NEXT: writes (%[[Y]][i + 2 * L])
// CHECK-NEXT: etdg.yield %[[X]]
func.func @writers(%xs: !ft.list<[L], !x>) -> !ft.list<[2 * L + 1], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %a = ft.map (%x = %xs : !ft.list<[L], !x>) {
    %y = math.exp %x : !x
    ft.yield %y : !x
  }
  %b = ft.map (%x = %xs : !ft.list<[L], !x>) {
    %y = math.tanh %x : !x
    ft.yield %y : !x
  }
  %r = ft.reverse %a : !ft.list<[L], !x>
  %c = ft.slice %xs[0 to 1] : !ft.list<[L], !x>
  %j = ft.concat %r, %b, %c : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[1], !x>
  return %j : !ft.list<[2 * L + 1], !x>
}

// The first region gathers from a window, which takes a copy and so children; the others gather from
// the state, and would not need any. They get them, too: blocks of a nest have equal dimensions.

// CHECK-LABEL: etdg.graph @first_region_needs_a_copy
// CHECK:      etdg.nest {
// CHECK-NEXT:   etdg.block @r0 [scanl] (i) in = 0 where L >= 2 {
// CHECK-NEXT:     %[[COPY:.*]] = etdg.buffer : !etdg.buffer<[2], tensor<i64>>
// CHECK:          etdg.block @r1 [map] (i | j) in [0, 2)
// CHECK:          etdg.block @r2 [map] (i | j) in [0, 2)
// CHECK-NEXT:       reads (%{{.*}} = %[[COPY]][%arg1[]] : tensor<i64>)
// CHECK:        etdg.block @r3 [scanl] (i) in [1, L - 1) {
// CHECK-NEXT:     etdg.block @r4 [map] (i | j) in [0, 2)
func.func @first_region_needs_a_copy(%xs: !ft.list<[L], tensor<i64>>, %at: tensor<index> {ft.gen = #ft.index<0, 2>})
    -> !ft.list<[L, 2], tensor<i64>> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %windows = ft.window %xs size 2 dilation 2 boundary clamp : !ft.list<[L], tensor<i64>>
  %states = ft.scanl (%x = %windows : !ft.list<[L, 2], tensor<i64>>) state (%s) -> !ft.list<[L, 2], tensor<i64>> {
    %chosen = ft.gather %s[%at] : !ft.list<[2], tensor<i64>>, tensor<index>
    %all = ft.repeat %chosen times 2 : tensor<i64>
    ft.yield %all : !ft.list<[2], tensor<i64>>
  }
  return %states : !ft.list<[L, 2], tensor<i64>>
}
