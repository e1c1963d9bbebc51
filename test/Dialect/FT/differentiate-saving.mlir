// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=step save=auto},canonicalize,cse)' --remarks-filter=gradients --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefixes=AUTO
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=step save=states},canonicalize,cse)' | FileCheck %s --check-prefixes=STATES
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=step save=all},canonicalize,cse)' | FileCheck %s --check-prefixes=ALL
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=bound},canonicalize,cse)' | FileCheck %s --check-prefixes=BOUND
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=chunks},canonicalize,cse)' | FileCheck %s --check-prefixes=CHUNKS
// RUN: ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=lagging})' --remarks-filter=gradients --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefixes=LAG
// RUN: not ft-opt %s --pass-pipeline='builtin.module(ft-differentiate{function=step save=some})' 2>&1 | FileCheck %s --check-prefixes=OPTION

!x = tensor<64xf32>
!w = tensor<64x64xf32>

// A product costs more than to move its row, a few additions cost less. States alone: nothing but states is saved.
// AUTO-DAG: residuals{{.*}}linalg.vecmat is saved: 4096 bytes
// AUTO-DAG: residuals{{.*}}arith.addf is computed again: 4096 bytes
// AUTO-LABEL: func.func @step_backward
// AUTO-SAME: ft.residuals = [{{.*}}"saved 0"{{.*}}"saved 1"
// AUTO-NOT: linalg.vecmat
// STATES-LABEL: func.func @step_forward
// STATES-SAME: -> (tensor<64xf32>, !ft.list<[L], tensor<64xf32>>)
// STATES-LABEL: func.func @step_backward
// STATES: linalg.vecmat
// ALL-LABEL: func.func @step_forward
// ALL-SAME: -> (tensor<64xf32>, !ft.list<[L], tensor<64xf32>>, !ft.list<[L], tensor<64xf32>>, !ft.list<[L], tensor<64xf32>>)
// OPTION: error: ft-differentiate: save is 'auto', 'states' or 'all', found 'some'
func.func @step(%xs: !ft.list<[L], !x>, %h0: !x, %w: !w) -> !x {
  %h = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !x {
    %z = arith.constant dense<0.0> : !x
    %p = linalg.vecmat ins(%h, %w : !x, !w) outs(%z : !x) -> !x
    %a = arith.addf %p, %x : !x
    %m = arith.mulf %a, %p : !x
    ft.yield %m : !x
  }
  return %h : !x
}

// What the attribute says binds, against the prices.
// BOUND-LABEL: func.func @bound_forward
// BOUND-SAME: -> (!ft.list<[L], tensor<64xf32>>, !ft.list<[L], tensor<64xf32>>)
// BOUND-LABEL: func.func @bound_backward
// BOUND-NOT: math.exp
// BOUND: math.sin
// BOUND-NOT: math.exp
func.func @bound(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %a = math.sin %x {ft.saved = false} : !x
    %b = math.exp %a {ft.saved = true} : !x
    %c = arith.mulf %a, %b : !x
    ft.yield %c : !x
  }
  return %ys : !ft.list<[L], !x>
}

// One state for each chunk and the last one; the states of a chunk are made again, then gone through from its end.
// CHUNKS-LABEL: func.func @chunks_forward
// CHUNKS-SAME: -> (tensor<64xf32>, tensor<64xf32>, !ft.list<[floordiv(L, 64)], tensor<64xf32>>)
// CHUNKS-LABEL: func.func @chunks_backward
// CHUNKS: ft.foldr ({{.*}} = {{.*}} : !ft.list<[floordiv(L, 64)
// CHUNKS:   ft.foldl {{.*}} !ft.list<[64]
// CHUNKS:   ft.foldr {{.*}} !ft.list<[64]
func.func @chunks(%xs: !ft.list<[L], !x>, %h0: !x) -> !x {
  %h = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !x attributes {ft.checkpoint = [64]} {
    %a = arith.mulf %h, %x : !x
    %m = math.sin %a : !x
    ft.yield %m : !x
  }
  return %h : !x
}

// LAG: checkpoint{{.*}}all states are saved: its states are of several iterations (lag)
func.func @lagging(%xs: !ft.list<[L], !x>, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) lag 2 -> !ft.list<[L], !x> attributes {ft.checkpoint = [64]} {
    %m = arith.mulf %h, %x : !x
    ft.yield %m : !x
  }
  return %hs : !ft.list<[L], !x>
}
