// Two iterations of a chain of products would have columns of the first right operand in two runs of memory, of which TMA brings no box. So
// their price has no warp groups, and one iteration at a time is chosen, which has them.
//
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a" --remark-policy=all --remarks-filter=gpu 2>&1 | FileCheck %s
// CHECK-NOT: warp groups don't multiply its matrices
// CHECK: 1 iterations at a time
// CHECK: tile.pipeline = #tile.pipeline<
!t = tensor<64x64xf16>
func.func @chain(%as: !ft.list<[M], !t>, %bs: !ft.list<[N], !t>, %cs: !ft.list<[N], !t>) -> !ft.list<[M], !t> attributes {ft.lengths = {M = 1024 : i64, N = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !t
  %ds = ft.map (%a = %as : !ft.list<[M], !t>) -> !ft.list<[M], !t> {
    %d = ft.reduce (%b, %c = %bs, %cs : !ft.list<[N], !t>, !ft.list<[N], !t>) init (%acc = %zero : !t) -> !t {
      %ab = linalg.matmul ins(%a, %b : !t, !t) outs(%zero : !t) -> !t
      %sum = linalg.matmul ins(%ab, %c : !t, !t) outs(%acc : !t) -> !t
      ft.yield %sum : !t
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !t
      ft.yield %pq : !t
    }
    ft.yield %d : !t
  }
  return %ds : !ft.list<[M], !t>
}
