// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What schedules are chosen for is said by options of passes alone: a pipeline that was printed chooses the same again.
//
// RUN: ft-opt %s --ft-compile="to=coarsen" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-reorder))" -o %t.mlir
// RUN: ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-choose-schedule{candidate=1 threads=4 lengths=N=4,L=7},etdg-apply-schedule,etdg-schedule-for-cpu{plan-seed=3 lengths=D=3}))' --dump-pass-pipeline -o %t.first 2> %t.pipeline
// RUN: FileCheck %s --check-prefix=PRINTED < %t.pipeline
// PRINTED: etdg-choose-schedule{candidate=1 lengths={N=4,L=7} machine= plan-seed=0 threads=4}
// PRINTED: etdg-schedule-for-cpu{lengths={D=3} machine= plan-seed=3 threads=0}
// RUN: %python -c "import sys; print(''.join(open(sys.argv[1]).read().split('passes:')[-1].split('\n')), end='')" %t.pipeline > %t.again
// RUN: sh -c 'ft-opt %t.mlir --pass-pipeline="$(cat %t.again)" -o %t.second'
// RUN: cmp %t.first %t.second
//
// Another candidate is another order, another seed another plan.
// RUN: ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-choose-schedule{candidate=0},etdg-apply-schedule,etdg-schedule-for-cpu{plan-seed=3 lengths=D=3}))' -o %t.other
// RUN: not cmp -s %t.first %t.other
// RUN: ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-choose-schedule{candidate=1},etdg-apply-schedule,etdg-schedule-for-cpu))' -o %t.cheapest
// RUN: not cmp -s %t.first %t.cheapest
//
// RUN: not ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-choose-schedule{lengths=N}))' 2>&1 | FileCheck %s --check-prefix=LENGTH
// LENGTH: error: lengths: expected NAME=NUMBER with a number of at least 0, found 'N'
// RUN: not ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-cpu{lengths=N=-2}))' 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: lengths: expected NAME=NUMBER with a number of at least 0, found 'N=-2'
// RUN: not ft-opt %t.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-schedule-for-gpu{steps=maybe}))' 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: error: etdg-schedule-for-gpu: expected steps = choose, always or never, found 'maybe'

func.func @stacked(%xss: !ft.list<[N, L], tensor<1x8xf32>>, %ws: !ft.list<[D], tensor<8x8xf32>>) -> !ft.list<[N, D, L], tensor<1x8xf32>> {
  %zero = arith.constant dense<0.0> : tensor<1x8xf32>
  %0 = ft.map (%xs = %xss : !ft.list<[N, L], tensor<1x8xf32>>) -> !ft.list<[N, D, L], tensor<1x8xf32>> {
    %1 = ft.scanl (%w = %ws : !ft.list<[D], tensor<8x8xf32>>) init (%seq = %xs : !ft.list<[L], tensor<1x8xf32>>) -> !ft.list<[D, L], tensor<1x8xf32>> {
      %2 = ft.scanl (%x = %seq : !ft.list<[L], tensor<1x8xf32>>) init (%h = %zero : tensor<1x8xf32>) -> !ft.list<[L], tensor<1x8xf32>> {
        %3 = linalg.matmul ins(%x, %w : tensor<1x8xf32>, tensor<8x8xf32>) outs(%h : tensor<1x8xf32>) -> tensor<1x8xf32>
        ft.yield %3 : tensor<1x8xf32>
      }
      ft.yield %2 : !ft.list<[L], tensor<1x8xf32>>
    }
    ft.yield %1 : !ft.list<[D, L], tensor<1x8xf32>>
  }
  return %0 : !ft.list<[N, D, L], tensor<1x8xf32>>
}
