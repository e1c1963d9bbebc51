// A pair of symbolic lengths that every access uses as one dimension becomes one fresh
// length; a program that takes the pair apart is refused where it does.
//
// RUN: ft-opt %s --convert-ft-to-etdg --split-input-file --verify-diagnostics | FileCheck %s

!x = tensor<4xf32>

// CHECK-LABEL: etdg.graph @joined(
// CHECK-SAME: !etdg.buffer<[N_M], tensor<4xf32>>, %{{.*}}: !etdg.buffer<[N_M, K], tensor<4xf32>>
// CHECK-SAME: -> (!etdg.buffer<[N_M], tensor<4xf32>>, !etdg.buffer<[N_M], tensor<4xf32>>)
// CHECK-SAME: ft.bounds = #ft.bounds<"N_M >= 1">
// CHECK-SAME: ft.lengths = {K = 2 : i64, N_M = 12 : i64}
// CHECK: [map] (i) in [0, N_M)
// CHECK: [foldl] (i | j) in [0, K)
func.func @joined(%xss: !ft.list<[N, M], !x>, %ysss: !ft.list<[N, M, K], !x>)
    -> (!ft.list<[M * N], !x>, !ft.list<[N, M], !x>)
    attributes {ft.bounds = #ft.bounds<"N >= 1", "M >= 1">, ft.lengths = {N = 3 : i64, M = 4 : i64, K = 2 : i64}} {
  %xs = ft.flatten %xss : !ft.list<[N, M], !x>
  %yss = ft.flatten %ysss : !ft.list<[N, M, K], !x>
  %a = ft.map (%x = %xs : !ft.list<[M * N], !x>) -> !ft.list<[M * N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  %b = ft.map (%x, %ys = %xs, %yss : !ft.list<[M * N], !x>, !ft.list<[M * N, K], !x>) -> !ft.list<[M * N], !x> {
    %s = ft.foldl (%y = %ys : !ft.list<[K], !x>) init (%t = %x : !x) -> !x {
      %u = arith.addf %t, %y : !x
      ft.yield %u : !x
    }
    ft.yield %s : !x
  }
  %bs = ft.split %b by M : !ft.list<[M * N], !x>
  return %a, %bs : !ft.list<[M * N], !x>, !ft.list<[N, M], !x>
}

// -----

// A name that another argument binds stays; windows run over the seams.
!x = tensor<4xf32>

// CHECK-LABEL: etdg.graph @kept(
// CHECK-SAME: !etdg.buffer<[N_N], tensor<4xf32>>, %{{.*}}: !etdg.buffer<[N], tensor<4xf32>>
// CHECK: [map] (i) in [0, N_N)
// CHECK: [foldl] (i | j) in [0, 3)
// CHECK-NEXT: {i + j >= 1 and i + j <= N_N: %{{.*}}[i + j - 1]
func.func @kept(%xss: !ft.list<[N, N], !x>, %ys: !ft.list<[N], !x>) -> (!ft.list<[N * N], !x>, !ft.list<[N], !x>) {
  %z = arith.constant dense<0.0> : !x
  %xs = ft.flatten %xss : !ft.list<[N, N], !x>
  %w = ft.window %xs size 3 boundary zero : !ft.list<[N * N], !x>
  %a = ft.map (%three = %w : !ft.list<[N * N, 3], !x>) -> !ft.list<[N * N], !x> {
    %s = ft.foldl (%y = %three : !ft.list<[3], !x>) init (%t = %z : !x) -> !x {
      %u = arith.addf %t, %y : !x
      ft.yield %u : !x
    }
    ft.yield %s : !x
  }
  %b = ft.map (%y = %ys : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %e = math.exp %y : !x
    ft.yield %e : !x
  }
  return %a, %b : !ft.list<[N * N], !x>, !ft.list<[N], !x>
}

// -----

// The pair is also read row by row.
!x = tensor<4xf32>
func.func @apart(%xss: !ft.list<[N, M], !x>) -> (!ft.list<[M * N], !x>, !ft.list<[N], !x>) {
  %z = arith.constant dense<0.0> : !x
  // expected-error @+1 {{'ft.flatten' of a list whose second length is M: the access map would hold a product of lengths, which is not affine; make the inner length a constant, use both dimensions as one, or traverse the inner lists}}
  %xs = ft.flatten %xss : !ft.list<[N, M], !x>
  %a = ft.map (%x = %xs : !ft.list<[M * N], !x>) -> !ft.list<[M * N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  %b = ft.map (%row = %xss : !ft.list<[N, M], !x>) -> !ft.list<[N], !x> {
    // expected-note @+1 {{here they are two}}
    %s = ft.foldl (%y = %row : !ft.list<[M], !x>) init (%t = %z : !x) -> !x {
      %u = arith.addf %t, %y : !x
      ft.yield %u : !x
    }
    ft.yield %s : !x
  }
  return %a, %b : !ft.list<[M * N], !x>, !ft.list<[N], !x>
}

// -----

// A length of the pair is needed, and nothing else binds it.
!x = tensor<4xf32>
func.func @unbound(%xss: !ft.list<[N, M], !x>) -> (!ft.list<[M * N], !x>, !ft.list<[M], tensor<i64>>) {
  // expected-error @+1 {{'ft.flatten' of a list whose second length is M}}
  %xs = ft.flatten %xss : !ft.list<[N, M], !x>
  %a = ft.map (%x = %xs : !ft.list<[M * N], !x>) -> !ft.list<[M * N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  // expected-note @+1 {{here they are two}}
  %i = ft.iota : !ft.list<[M], tensor<i64>>
  return %a, %i : !ft.list<[M * N], !x>, !ft.list<[M], tensor<i64>>
}

// -----

// The result of a nest over both is written as two dimensions.
!x = tensor<4xf32>
func.func @computed(%xss: !ft.list<[N, M], !x>) -> !ft.list<[M * N], !x> {
  %yss = ft.map (%xs = %xss : !ft.list<[N, M], !x>) -> !ft.list<[N, M], !x> {
    // expected-note @+1 {{here they are two}}
    %ys = ft.map (%x = %xs : !ft.list<[M], !x>) -> !ft.list<[M], !x> {
      %e = math.exp %x : !x
      ft.yield %e : !x
    }
    ft.yield %ys : !ft.list<[M], !x>
  }
  // expected-error @+1 {{'ft.flatten' of a list whose second length is M}}
  %ys = ft.flatten %yss : !ft.list<[N, M], !x>
  %a = ft.map (%x = %ys : !ft.list<[M * N], !x>) -> !ft.list<[M * N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  return %a : !ft.list<[M * N], !x>
}

// -----

// Rows turned round are no list turned round.
!x = tensor<4xf32>
func.func @turned(%xss: !ft.list<[N, M], !x>) -> !ft.list<[M * N], !x> {
  // expected-note @+1 {{here they are two}}
  %yss = ft.reverse %xss : !ft.list<[N, M], !x>
  // expected-error @+1 {{'ft.flatten' of a list whose second length is M}}
  %ys = ft.flatten %yss : !ft.list<[N, M], !x>
  %a = ft.map (%x = %ys : !ft.list<[M * N], !x>) -> !ft.list<[M * N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  return %a : !ft.list<[M * N], !x>
}

// -----

// Inside a map; what stands in front of the pair may be turned round and moved.
!x = tensor<4xf32>

// CHECK-LABEL: etdg.graph @inside(
// CHECK-SAME: !etdg.buffer<[B, N_M], tensor<4xf32>>
// CHECK-SAME: -> !etdg.buffer<[N_M, B], tensor<4xf32>>
// CHECK-SAME: etdg.merged = {N_M = ["N", "M"]}
// CHECK: [map, map] (i, j) in [0, B) x [0, N_M)
// CHECK-NEXT: reads (%{{.*}} = %{{.*}}[B - i - 1, j] : tensor<4xf32>)
// CHECK-NEXT: writes (%{{.*}}[j, i])
func.func @inside(%xsss: !ft.list<[B, N, M], !x>) -> !ft.list<[N, M, B], !x>
    attributes {ft.bounds = #ft.bounds<"M >= 1">} {
  %rsss = ft.reverse %xsss : !ft.list<[B, N, M], !x>
  %ysss = ft.map (%xss = %rsss : !ft.list<[B, N, M], !x>) -> !ft.list<[B, N, M], !x> {
    %xs = ft.flatten %xss : !ft.list<[N, M], !x>
    %ys = ft.map (%x = %xs : !ft.list<[M * N], !x>) -> !ft.list<[M * N], !x> {
      %e = math.exp %x : !x
      ft.yield %e : !x
    }
    %yss = ft.split %ys by M : !ft.list<[M * N], !x>
    ft.yield %yss : !ft.list<[N, M], !x>
  }
  %t = ft.transpose %ysss [1, 2, 0] : !ft.list<[B, N, M], !x>
  return %t : !ft.list<[N, M, B], !x>
}

// -----

// Three lengths, then one of them a constant, then one that is zero.
!x = tensor<4xf32>

// CHECK-LABEL: etdg.graph @more(
// CHECK-SAME: !etdg.buffer<[N_M_K], tensor<4xf32>>, %{{.*}}: !etdg.buffer<[P_3], tensor<4xf32>>
// CHECK-SAME: etdg.merged = {N_M = ["N", "M"], N_M_K = ["N_M", "K"], P_3 = [3, "P"]}
// CHECK: in [0, N_M_K)
// CHECK: in [0, P_3)
func.func @more(%xsss: !ft.list<[N, M, K], !x>, %yss: !ft.list<[3, P], !x>, %zss: !ft.list<[N, 0], !x>)
    -> (!ft.list<[K * M * N], !x>, !ft.list<[3 * P], !x>, !ft.list<[0], !x>) {
  %xss = ft.flatten %xsss : !ft.list<[N, M, K], !x>
  %xs = ft.flatten %xss : !ft.list<[M * N, K], !x>
  %ys = ft.flatten %yss : !ft.list<[3, P], !x>
  %zs = ft.flatten %zss : !ft.list<[N, 0], !x>
  %a = ft.map (%x = %xs : !ft.list<[K * M * N], !x>) -> !ft.list<[K * M * N], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  %b = ft.map (%x = %ys : !ft.list<[3 * P], !x>) -> !ft.list<[3 * P], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  %c = ft.map (%x = %zs : !ft.list<[0], !x>) -> !ft.list<[0], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  return %a, %b, %c : !ft.list<[K * M * N], !x>, !ft.list<[3 * P], !x>, !ft.list<[0], !x>
}
