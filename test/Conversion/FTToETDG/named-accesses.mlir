// Accesses that are affine with names in them, and those that are not, which are refused by name.
// RUN: split-file %s %t
// RUN: ft-opt %t/affine.mlir --convert-ft-to-etdg | FileCheck %t/affine.mlir
// RUN: ft-opt %t/bad.mlir --convert-ft-to-etdg --split-input-file --verify-diagnostics

//--- affine.mlir
!x = tensor<2xf32>
// CHECK-LABEL: @size
// CHECK: etdg.block {{.*}} [map] (i) in [0, L - 2 * K + 2)
// CHECK: etdg.block {{.*}} [foldl] (i | j) in [0, K)
// CHECK-NEXT: %arg0[i + 2 * j]
func.func @size(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>) -> !ft.list<[L - 2 * K + 2], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1", "L >= 2 * K">} {
  %z = arith.constant dense<0.0> : !x
  %v = ft.window %xs size K dilation 2 : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L - 2 * K + 2, K], !x>) {
    %s = ft.foldl (%a = %w : !ft.list<[K], !x>) init (%t = %z : !x) {
      %n = arith.addf %a, %t : !x
      ft.yield %n : !x
    }
    ft.yield %s : !x
  }
  return %r : !ft.list<[L - 2 * K + 2], !x>
}

// Each place of a window whose dilation is a name is a piece; so is each end.
// CHECK-LABEL: @dilation
// CHECK: etdg.block {{.*}} [map, map] (i, j) in [0, L) x [0, 2)
// CHECK: {j = 0: %arg0[i], i + D + 1 <= L and j = 1: %arg0[i + D], i + D >= L and j = 1: splat 0.0
func.func @dilation(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>) -> !ft.list<[L, 2], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1">} {
  %v = ft.window %xs size 2 dilation D boundary zero : !ft.list<[L], !x>
  %r = ft.map (%w = %v : !ft.list<[L, 2], !x>) {
    %s = ft.map (%a = %w : !ft.list<[2], !x>) {
      %n = math.exp %a : !x
      ft.yield %n : !x
    }
    ft.yield %s : !ft.list<[2], !x>
  }
  return %r : !ft.list<[L, 2], !x>
}

// The first D iterations have the initial state, the others that of D iterations before.
// CHECK-LABEL: @lag
// CHECK: [scanl] (i) {{.*}}
// CHECK: [scanl] (i) in [D, L)
// CHECK: %buf[i - D]
func.func @lag(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>, %z: !x) -> !ft.list<[L], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1">} {
  %v = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) lag D {
    %y = arith.addf %x, %s : !x
    ft.yield %y : !x
  }
  return %v : !ft.list<[L], !x>
}

//--- bad.mlir
!x = tensor<2xf32>
func.func @both(%xs: !ft.list<[L], !x>, %ws: !ft.list<[K], !x>, %ds: !ft.list<[D], !x>) -> !ft.list<[L, K], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1", "D >= 1">} {
  // expected-error @+1 {{'ft.window' of size K and dilation D: the access map would hold a product of lengths, which is not affine}}
  %v = ft.window %xs size K dilation D boundary zero : !ft.list<[L], !x>
  %r = ft.map (%ys = %v : !ft.list<[L, K], !x>) {
    ft.yield %ys : !ft.list<[K], !x>
  }
  return %v : !ft.list<[L, K], !x>
}

// -----
!x = tensor<2xf32>
func.func @many(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>) -> !ft.list<[L, 65], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1">} {
  // expected-error @+1 {{'ft.window' of size 65 and dilation D (more than 64 places)}}
  %v = ft.window %xs size 65 dilation D boundary zero : !ft.list<[L], !x>
  return %v : !ft.list<[L, 65], !x>
}

// -----
!x = tensor<2xf32>
func.func @shift(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D, N], !x>, %z: !x) -> !ft.list<[L], !x> {
  // expected-error @+1 {{'ft.shift' by D * N: the access map would hold a product of lengths}}
  %v = ft.shift %xs by D * N fill %z : !ft.list<[L], !x>, !x
  return %v : !ft.list<[L], !x>
}

// -----
!x = tensor<2xf32>
func.func @lag(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D, N], !x>, %z: !x) -> !ft.list<[L], !x>
    attributes {ft.bounds = #ft.bounds<"D >= 1", "N >= 1">} {
  // expected-error @+1 {{has the lag D * N: a product of lengths is not affine; make one of them a constant}}
  %v = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) lag D * N {
    %y = arith.addf %x, %s : !x
    ft.yield %y : !x
  }
  return %v : !ft.list<[L], !x>
}
