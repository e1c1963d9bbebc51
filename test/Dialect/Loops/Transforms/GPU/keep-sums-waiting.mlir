// Sums that an iteration hands to the next one take registers while other products of the leaf are computed, and what is fused after them. While an elementary function or a
// quotient is computed, whatever is needed of an element afterwards is in a register for each sum of a thread. Where both find no room in half of a thread's registers, the sums go through memory.
//
// Two iterations at a time, by hand.
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%S/../../../../machines/h200.json" \
// RUN:   | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-choose-iterations-for-gpu{iterations=2 target=sm_90a machine=%S/../../../../machines/h200.json},etdg-schedule-for-gpu{target=sm_90a machine=%S/../../../../machines/h200.json}))" \
// RUN:   | ft-opt --ft-compile="from=schedule to=tile target=sm_90a machine=%S/../../../../machines/h200.json" --remarks-filter="gpu.*" 2> %t.remarks | FileCheck %s
// RUN: grep keep-sums %t.remarks | FileCheck %s --check-prefix=REMARK

!x = tensor<16x64xf32>
!w = tensor<64x64xf32>

// A function's operand is nothing else's: nothing waits.
// CHECK-LABEL: func.func @alone_k0
// CHECK: loops.kept = [#loops.kept<output = 0, input = 3, last>]
// REMARK: Passed] keep-sums{{.*}}stays in registers{{.*}}words=96
func.func @alone(%xs: !ft.list<[N], !x>, %ws: !ft.list<[F], !w>, %vs: !ft.list<[F], !w>) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 4096 : i64, F = 4 : i64}} {
  %none = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %sum = ft.reduce (%w, %v = %ws, %vs : !ft.list<[F], !w>, !ft.list<[F], !w>) init (%acc = %none : !x) -> !x {
      %h = linalg.matmul ins(%x, %w : !x, !w) outs(%none : !x) -> !x
      %g = math.tanh %h : !x
      %s = linalg.matmul ins(%g, %v : !x, !w) outs(%acc : !x) -> !x
      ft.yield %s : !x
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !x
      ft.yield %pq : !x
    }
    ft.yield %sum : !x
  }
  return %ys : !ft.list<[N], !x>
}

// Here the operand is needed again; in the iterations that are left after joined ones a thread has half as many sums.
// CHECK-LABEL: func.func @again_k0
// CHECK: loops.leaf
// CHECK-NOT: loops.kept
// CHECK: scf.for
// CHECK: loops.kept = [#loops.kept<output = 0, input = 3, last>]
// REMARK: Missed] keep-sums{{.*}}with it a thread has 160 words of sums and of what is computed of them at a time, of 127
// REMARK: Passed] keep-sums{{.*}}stays in registers{{.*}}words=96
func.func @again(%xs: !ft.list<[N], !x>, %ws: !ft.list<[F], !w>, %vs: !ft.list<[F], !w>) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 4096 : i64, F = 4 : i64}} {
  %none = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %sum = ft.reduce (%w, %v = %ws, %vs : !ft.list<[F], !w>, !ft.list<[F], !w>) init (%acc = %none : !x) -> !x {
      %h = linalg.matmul ins(%x, %w : !x, !w) outs(%none : !x) -> !x
      %t = math.tanh %h : !x
      %g = arith.mulf %h, %t : !x
      %s = linalg.matmul ins(%g, %v : !x, !w) outs(%acc : !x) -> !x
      ft.yield %s : !x
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !x
      ft.yield %pq : !x
    }
    ft.yield %sum : !x
  }
  return %ys : !ft.list<[N], !x>
}

// The same said as one operation over elements.
// CHECK-LABEL: func.func @body_k0
// REMARK: Missed] keep-sums{{.*}}with it a thread has 160 words
func.func @body(%xs: !ft.list<[N], !x>, %ws: !ft.list<[F], !w>, %vs: !ft.list<[F], !w>) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 4096 : i64, F = 4 : i64}} {
  %none = arith.constant dense<0.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %sum = ft.reduce (%w, %v = %ws, %vs : !ft.list<[F], !w>, !ft.list<[F], !w>) init (%acc = %none : !x) -> !x {
      %h = linalg.matmul ins(%x, %w : !x, !w) outs(%none : !x) -> !x
      %g = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%h : !x) outs(%none : !x) {
      ^bb0(%in: f32, %out: f32):
        %n = arith.negf %in : f32
        %e = math.exp %n : f32
        %one = arith.constant 1.0 : f32
        %d = arith.addf %one, %e : f32
        %q = arith.divf %in, %d : f32
        linalg.yield %q : f32
      } -> !x
      %s = linalg.matmul ins(%g, %v : !x, !w) outs(%acc : !x) -> !x
      ft.yield %s : !x
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !x
      ft.yield %pq : !x
    }
    ft.yield %sum : !x
  }
  return %ys : !ft.list<[N], !x>
}
