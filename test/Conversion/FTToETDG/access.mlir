// RUN: ft-opt %s --convert-ft-to-etdg | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,etdg.graph(etdg-verify))' -o /dev/null

// Access operators become maps and pieces of the reads; nothing is materialised.

!x = tensor<4xf32>

// CHECK-LABEL: etdg.graph @linear
// CHECK: [map] (i) in [0, L)
// CHECK-NEXT: reads (%{{.*}} = {i >= 1: %arg0[i - 1], i <= 0: splat 0.000000e+00 : f32} : tensor<4xf32>,
// CHECK-SAME: %arg0[L - i - 1] : tensor<4xf32>)
func.func @linear(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %s = ft.shift %xs by 1 fill %zero : !ft.list<[L], !x>, !x
  %r = ft.reverse %xs : !ft.list<[L], !x>
  %ys = ft.map (%a, %b = %s, %r : !ft.list<[L], !x>, !ft.list<[L], !x>) {
    %y = arith.addf %a, %b : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[L], !x>
}

// CHECK-LABEL: etdg.graph @strided
// CHECK: [map] (i) in [0, ceildiv(L, 2))
// CHECK-NEXT: reads (%{{.*}} = %arg0[2 * i] : tensor<4xf32>)
func.func @strided(%xs: !ft.list<[L], !x>) -> !ft.list<[ceildiv(L, 2)], !x> {
  %s = ft.stride %xs from 0 step 2 : !ft.list<[L], !x>
  %ys = ft.map (%a = %s : !ft.list<[ceildiv(L, 2)], !x>) {
    %y = math.exp %a : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[ceildiv(L, 2)], !x>
}

// A window's places are a dimension of their own; the fold keeps one plane.
// CHECK-LABEL: etdg.graph @window
// CHECK: [map] (i) in [0, L) {
// CHECK: %[[S:.*]] = etdg.buffer live [1] : !etdg.buffer<[3], tensor<4xf32>>
// CHECK: [foldl] (i | j) in [0, 3)
// CHECK-NEXT: reads (
// CHECK-SAME: %arg0[i + j - 1]
// CHECK-SAME: splat 0.000000e+00 : f32
// CHECK-NEXT: writes (%[[S]][j])
// CHECK: reads (%{{.*}} = %[[S]][2] : tensor<4xf32>)
func.func @window(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %ws = ft.window %xs size 3 boundary zero : !ft.list<[L], !x>
  %ys = ft.map (%w = %ws : !ft.list<[L, 3], !x>) {
    %t = ft.foldl (%a = %w : !ft.list<[3], !x>) init (%s = %zero : !x) {
      %u = arith.addf %s, %a : !x
      ft.yield %u : !x
    }
    ft.yield %t : !x
  }
  return %ys : !ft.list<[L], !x>
}

// CHECK-LABEL: etdg.graph @gathered
// CHECK: reads (%{{.*}} = %arg0[%arg1[i]] : tensor<4xf32>)
func.func @gathered(%xs: !ft.list<[L], !x>, %idx: !ft.list<[M], tensor<i64>>) -> !ft.list<[M], !x> {
  %g = ft.gather %xs[%idx] : !ft.list<[L], !x>, !ft.list<[M], tensor<i64>>
  %ys = ft.map (%a = %g : !ft.list<[M], !x>) {
    %y = math.exp %a : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[M], !x>
}

// Gathering from a list that is no plain buffer copies it first: one level of
// data-dependent index, as a whole position.
// CHECK-LABEL: etdg.graph @gathered_reverse
// CHECK: %[[C:.*]] = etdg.buffer : !etdg.buffer<[L], tensor<4xf32>>
// CHECK: etdg.block @r0 [map] (i) in [0, L)
// CHECK-NEXT: reads (%{{.*}} = %arg0[L - i - 1]
// CHECK-NEXT: writes (%[[C]][i])
// CHECK-NEXT: etdg.yield
// CHECK: reads (%{{.*}} = %[[C]][%arg1[i]] : tensor<4xf32>)
func.func @gathered_reverse(%xs: !ft.list<[L], !x>, %idx: !ft.list<[M], tensor<i64>>) -> !ft.list<[M], !x> {
  %r = ft.reverse %xs : !ft.list<[L], !x>
  %g = ft.gather %r[%idx] : !ft.list<[L], !x>, !ft.list<[M], tensor<i64>>
  %ys = ft.map (%a = %g : !ft.list<[M], !x>) {
    %y = math.exp %a : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[M], !x>
}

// CHECK-LABEL: etdg.graph @split_transpose_flatten
// CHECK-SAME: etdg.checks
// CHECK: [map] (i) in [0, 4 * floordiv(L, 4))
// CHECK-NEXT: reads (%{{.*}} = %arg0[
func.func @split_transpose_flatten(%xs: !ft.list<[L], !x>) -> !ft.list<[4 * floordiv(L, 4)], !x> {
  %s = ft.split %xs by 4 : !ft.list<[L], !x>
  %f = ft.flatten %s : !ft.list<[floordiv(L, 4), 4], !x>
  %ys = ft.map (%a = %f : !ft.list<[4 * floordiv(L, 4)], !x>) {
    %y = math.exp %a : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[4 * floordiv(L, 4)], !x>
}

// CHECK-LABEL: etdg.graph @indices
// CHECK: reads (%{{.*}} = index(i) : tensor<i64>, %{{.*}} = %arg0[j, i] : tensor<4xf32>)
func.func @indices(%xs: !ft.list<[N, L], !x>) -> !ft.list<[L, N], !x> {
  %t = ft.transpose %xs [1, 0] : !ft.list<[N, L], !x>
  %i = ft.iota : !ft.list<[L], tensor<i64>>
  %ys = ft.map (%row, %k = %t, %i : !ft.list<[L, N], !x>, !ft.list<[L], tensor<i64>>) {
    %r = ft.map (%a = %row : !ft.list<[N], !x>) {
      %kf = arith.sitofp %k : tensor<i64> to tensor<f32>
      %e = tensor.empty() : !x
      %b = linalg.broadcast ins(%kf : tensor<f32>) outs(%e : !x) dimensions = [0]
      %y = arith.addf %a, %b : !x
      ft.yield %y : !x
    }
    ft.yield %r : !ft.list<[N], !x>
  }
  return %ys : !ft.list<[L, N], !x>
}
