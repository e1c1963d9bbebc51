// All that is violated is reported, with the number of the pass's description.
//
// RUN: ft-opt %s --ft-verify --split-input-file --verify-diagnostics

!x = tensor<2xf32>

// expected-error @+4 {{(V1) argument 0: length 'L' is not bound: no argument of 'names' has a dimension that is just L}}
// expected-error @+3 {{(V1) argument 1: length 'K' is not bound}}
// expected-error @+2 {{(V1) result 0: length 'M' is not bound}}
// expected-note @+1 {{the function is here}}
func.func private @names(!ft.list<[L - 2], !x>, !ft.list<[2 * K], !x>) -> !ft.list<[M], !x>

// A second function is looked at as well.

// expected-error @+1 {{(V5) must have one block: control flow over lists is not branches but map, fold and scan}}
func.func @blocks(%xs: !ft.list<[L], !x>) {
  // expected-note @+1 {{the first block ends here}}
  cf.br ^bb1
^bb1:
  return
}

// -----
!x = tensor<2xf32>
func.func @values(%xs: !ft.list<[L], !x>, %m: memref<2xf32>, %i: index) {
  // expected-error @-1 {{(V3) values are lists, static tensors, tuples of these or scalars, found 'memref<2xf32>'}}
  // expected-error @+1 {{(V3) values are lists, static tensors, tuples of these or scalars, found 'tensor<?xf32>'}}
  %0 = tensor.empty(%i) : tensor<?xf32>
  // expected-note @+1 {{the operator is here}}
  %1 = ft.map (%x = %xs : !ft.list<[L], !x>) {
    %c = arith.constant 0 : index
    %e = tensor.extract %x[%c] : !x
    // expected-error @+1 {{(V4) has side effects in the body of an operator whose order of iteration is free}}
    memref.store %e, %m[%c] : memref<2xf32>
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the callee has #ft.bounds<"L >= 3", "L <= 9">}}
func.func private @layer(!ft.list<[L], !x>) attributes {ft.bounds = #ft.bounds<"L >= 3", "L <= 9">}
func.func @caller(%xs: !ft.list<[L], !x>) {
  // expected-error @+2 {{(V2) call of 'layer' needs L >= 3: add it to ft.bounds of the caller}}
  // expected-error @+1 {{(V2) call of 'layer' needs L <= 9: add it to ft.bounds of the caller}}
  call @layer(%xs) : (!ft.list<[L], !x>) -> ()
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{'self' is here}}
func.func @self(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(V2) calls 'self' from inside of it: a program of lists has a finite nest}}
  call @self(%xs) : (!ft.list<[L], !x>) -> ()
  return
}
