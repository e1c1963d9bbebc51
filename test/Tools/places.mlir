// Messages point at what is at fault, not at what met it first.
//
// RUN: split-file %s %t
// RUN: not ft-opt %t/states.mlir 2>&1 | FileCheck %s --check-prefix=STATES
// STATES: states.mlir:6:5: error: (C3) expected to yield the 2 states, found 1 values
// STATES: states.mlir:4:21: note: the operator is here
//
// On every engine where the operation stands; a bundle, which has no program, names it.
// RUN: not ft-run %t/cast.mlir --engine=cpu 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not ft-run %t/cast.mlir --engine=emulate 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: not ft-run %t/cast.mlir --engine=interpret --order=random 2>&1 | FileCheck %s --check-prefix=CAST
// CAST: cast.mlir:3:8: error: 'ft.cast' of length M to N does not come out even
// RUN: ft-run %t/cast.mlir --engine=cpu --compare=interpret --dim M=3
// RUN: ft-translate --mlir-to-bundle %t/cast.mlir -o %t/cast.ftb
// RUN: not ft-run %t/cast.ftb 2>&1 | FileCheck %s --check-prefix=BUNDLE
// BUNDLE: error: entry "f": needs 'ft.cast' of length M to N (cast.mlir:3:8), found M = 4, N = 3
//
// RUN: not ft-opt %t/length.mlir 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: length.mlir:2:15: error: argument 0: length 'K' is not bound
//
// RUN: not ft-run %t/again.mlir --entry=f --engine=cpu --dim N=2 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: again.mlir:7:8: error: {{.*}}(V2) calls 'f' from inside of it
// AGAIN: again.mlir:2:1: note: 'f' is here
// AGAIN: again.mlir:3:8: note: by the call of 'g' here
// RUN: not ft-run %t/again.mlir --entry=f --engine=interpret --dim N=2 2>&1 | FileCheck %s --check-prefix=DEEP
// DEEP: again.mlir:{{3|7}}:8: error: calls nest deeper than 200
// DEEP-COUNT-5: remark: called from here
// DEEP-NOT: remark: called from here

//--- states.mlir
!x = tensor<4xf32>
func.func @f(%v: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %z = arith.constant dense<0.0> : !x
  %r, %s = ft.scanl (%x = %v : !ft.list<[N], !x>) init (%a, %b = %z, %z : !x, !x) {
    %y = arith.addf %x, %a : !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[N], !x>
}
//--- cast.mlir
!x = tensor<4xf32>
func.func @f(%v: !ft.list<[N], !x>, %w: !ft.list<[M], !x>) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 3 : i64, M = 4 : i64}} {
  %c = ft.cast %w : !ft.list<[M], !x> to !ft.list<[N], !x>
  %r = ft.map (%x, %y = %v, %c : !ft.list<[N], !x>, !ft.list<[N], !x>) {
    %z = arith.addf %x, %y : !x
    ft.yield %z : !x
  }
  return %r : !ft.list<[N], !x>
}
//--- length.mlir
!x = tensor<4xf32>
func.func @f( %v: !ft.list<[K - 2], !x>) -> !ft.list<[K - 2], !x> {
  %r = ft.map (%x = %v : !ft.list<[K - 2], !x>) {
    %y = arith.addf %x, %x : !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[K - 2], !x>
}
//--- again.mlir
!x = tensor<4xf32>
func.func @f(%v: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %r = func.call @g(%v) : (!ft.list<[N], !x>) -> !ft.list<[N], !x>
  return %r : !ft.list<[N], !x>
}
func.func @g(%v: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %r = func.call @f(%v) : (!ft.list<[N], !x>) -> !ft.list<[N], !x>
  return %r : !ft.list<[N], !x>
}
