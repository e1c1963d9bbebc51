// ft-reduce shrinks a program over lists while the oracle finds it interesting.
// RUN: ft-reduce %s --ft-shrink=test=%S/Inputs/has-exp.sh | FileCheck %s
// RUN: not ft-reduce %s -reduction-tree='traversal-mode=0 test=%S/Inputs/has-exp.sh' 2>&1 | FileCheck %s --check-prefix=TREE
// TREE: reduce.mlir:[[#@LINE+12]]:9: error: reduction-tree cannot shrink bodies of programs over lists: use --ft-shrink=test=SCRIPT
// TREE-NOT: error:
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

// RUN: not ft-reduce %s --ft-shrink=test=%S/Inputs/none.sh 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: ft-shrink: test: '{{.*}}none.sh' is no script that can be run
// RUN: not ft-reduce %s --ft-shrink=test=/bin/true 2>&1 | FileCheck %s --check-prefix=TRUE
// TRUE: ft-shrink: the input is not interesting: '/bin/true' ends with status 0
// RUN: not ft-reduce %s -o /dev/full 2>&1 | FileCheck %s --check-prefix=FULL
// FULL-NOT: LLVM ERROR
// FULL: error: cannot write '/dev/full': No space left on device
// RUN: not ft-reduce /dev/zero 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: /dev/zero:1:1: error: input has {{[0-9]+}} bytes, more than the limit of 268435456
