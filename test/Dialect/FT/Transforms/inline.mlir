// RUN: ft-opt %s --ft-inline --split-input-file --verify-diagnostics | FileCheck %s

!x = tensor<2xf32>

// A private callee that is no longer called goes, through any number of calls.
// CHECK-NOT: func.func private
func.func private @leaf(%x: !x) -> !x {
  %0 = arith.negf %x : !x
  return %0 : !x
}
func.func private @layer(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %0 = ft.map (%x = %xs : !ft.list<[L], !x>) {
    %y = func.call @leaf(%x) : (!x) -> !x
    ft.yield %y : !x
  }
  return %0 : !ft.list<[L], !x>
}

// A public one stays.
// CHECK-LABEL: func.func @shown
// CHECK: ft.reverse
func.func @shown(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %0 = ft.reverse %xs : !ft.list<[L], !x>
  return %0 : !ft.list<[L], !x>
}

// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[A:.*]] = ft.map (%x = %arg0
// CHECK-NEXT:   arith.negf %x
// CHECK: %[[R:.*]] = ft.reverse %[[A]]
// CHECK: %[[B:.*]] = ft.map (%x = %[[R]]
// CHECK: return %[[B]]
// CHECK: func.func private @library
// CHECK: func.func @tensors
// CHECK-NEXT: return
func.func @main(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %0 = call @layer(%xs) : (!ft.list<[L], !x>) -> !ft.list<[L], !x>
  %1 = call @shown(%0) : (!ft.list<[L], !x>) -> !ft.list<[L], !x>
  %2 = call @layer(%1) : (!ft.list<[L], !x>) -> !ft.list<[L], !x>
  call @library(%2) : (!ft.list<[L], !x>) -> ()
  return %2 : !ft.list<[L], !x>
}
func.func private @library(!ft.list<[L], !x>)

// Calls that pass tensors alone are inlined in functions over tensors, too (test/Conversion/SCFToETDG/lifted.mlir).
func.func @tensors(%x: !x) -> !x {
  %0 = call @helper(%x) : (!x) -> !x
  return %0 : !x
}
func.func @helper(%x: !x) -> !x {
  return %x : !x
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the callee has #ft.bounds<"L >= 3">}}
func.func private @layer(%xs: !ft.list<[L], !x>) -> !x attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  %0 = ft.at %xs[2] : !ft.list<[L], !x>
  return %0 : !x
}
// expected-note @+1 {{the caller has #ft.bounds<"L >= 2">}}
func.func @main(%xs: !ft.list<[L], !x>) -> !x attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  // expected-error @+1 {{(V2) call of 'layer' needs L >= 3: add it to ft.bounds of the caller}}
  %0 = call @layer(%xs) : (!ft.list<[L], !x>) -> !x
  return %0 : !x
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{'a' is here}}
func.func private @a(%xs: !ft.list<[L], !x>) {
  // expected-note @+1 {{by the call of 'b' here}}
  call @b(%xs) : (!ft.list<[L], !x>) -> ()
  return
}
func.func private @b(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(V2) calls 'a' from inside of it: a program of lists has a finite nest}}
  call @a(%xs) : (!ft.list<[L], !x>) -> ()
  return
}
