// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=rnn wrt=1,2},canonicalize,cse)' | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=sum},canonicalize,cse)' | FileCheck %s --check-prefix=SUM
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=rnn mode=forward wrt=0},canonicalize,cse)' | FileCheck %s --check-prefix=JVP

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

// The scan runs backwards as a fold whose state is the cotangent of the state. Of tanh its result is read, which is the
// state: nothing is saved. The parts of the weight's gradient, xᵀg, are made by the sum outside of the fold.
// CHECK-LABEL: func.func @rnn_forward
// CHECK-SAME:    -> !ft.list<[L], tensor<1x8xf32>> {
// CHECK-LABEL: func.func @rnn_backward
// CHECK-SAME:    ft.residuals = [
// CHECK-NOT:     saved
// CHECK:         %[[BEFORE:.*]] = ft.shift %{{.*}} by 1 fill
// CHECK:         %[[F:.*]]:2 = ft.foldr ({{.*}}) init (%{{.*}} = %{{.*}} : tensor<1x8xf32>)
// CHECK:           arith.subf
// CHECK:           linalg.generic
// CHECK:           ft.yield %{{.*}} : tensor<1x8xf32> emit %{{.*}} : tensor<1x8xf32>
// CHECK:         ft.reduce (%{{.*}}, %{{.*}} = %{{.*}}, %{{.*}}
// CHECK:           linalg.generic
// CHECK:         } combine

// JVP-LABEL: func.func @rnn_jvp
// JVP:         ft.scanl ({{.*}}) init (%{{.*}}, %{{.*}} = %{{.*}}, %{{.*}} : tensor<1x8xf32>, tensor<1x8xf32>)
func.func @rnn(%xs: !ft.list<[L], !x>, %h0: !x, %u: !w) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %g = linalg.matmul ins(%h, %u : !x, !w) outs(%x : !x) -> !x
    %n = math.tanh %g : !x
    ft.yield %n : !x
  }
  return %hs : !ft.list<[L], !x>
}

// The cotangent of a sum is the same at each step: no order, and nothing is read.
// SUM-LABEL: func.func @sum_backward
// SUM-NOT:     ft.fold
// SUM:         return
func.func @sum(%xs: !ft.list<[L], !x>, %h0: !x) -> !x {
  %s = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !x {
    %n = arith.addf %h, %x : !x
    ft.yield %n : !x
  }
  return %s : !x
}
