// ft-reduce shrinks a program over lists while the oracle finds it interesting.
// RUN: ft-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-exp.sh' | FileCheck %s
// CHECK-NOT: @other
// CHECK: @kept
// CHECK: math.exp
// CHECK-NOT: @other
!x = tensor<4xf32>
func.func @other(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %r = ft.reverse %xs : !ft.list<[N], !x>
  return %r : !ft.list<[N], !x>
}
func.func @kept(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = math.exp %x : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
