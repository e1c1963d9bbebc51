// A chosen entry does not ask for what is wrong with the functions beside it; what it calls comes along.
// RUN: ft-run %s --entry=good --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=good --engine=interpret --order=random | FileCheck %s
// RUN: not ft-run %s --entry=bad --engine=cpu 2>&1 | FileCheck %s --check-prefix=BAD
// CHECK: @good on
// BAD: entry.mlir:[[#@LINE+15]]:1: error: {{.*}}(V5) must have one block

!x = tensor<2xf32>
!l = !ft.list<[N], !x>
func.func @callee(%x: !x) -> !x {
  %y = arith.addf %x, %x : !x
  return %y : !x
}
func.func @good(%v: !l) -> !l attributes {ft.lengths = {N = 3 : i64}} {
  %r = ft.map (%x = %v : !l) {
    %y = func.call @callee(%x) : (!x) -> !x
    ft.yield %y : !x
  }
  return %r : !l
}
func.func @bad(%v: !l) -> !l attributes {ft.lengths = {N = 3 : i64}} {
  cf.br ^bb1
^bb1:
  cf.br ^bb1
}
