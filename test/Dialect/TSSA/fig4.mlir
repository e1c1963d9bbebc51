// The loop of Fig. 4 (DAC'24), from the program as written, (b), over the rewritten mutation,
// (c), and block propagation, (d), to the pure form, (e), and on to one block.
//
// RUN: ft-opt %s --tssa-functionalize=stop-after=rewrite | FileCheck %s --check-prefix=REWRITE
// RUN: ft-opt %s --tssa-functionalize=stop-after=propagate | FileCheck %s --check-prefix=PROPAGATE
// RUN: ft-opt %s --tssa-functionalize=stop-after=rename | FileCheck %s --check-prefix=RENAME
// RUN: ft-opt %s --tssa-functionalize | FileCheck %s --check-prefix=PURE
// RUN: ft-opt %s --ft-compile="to=etdg" | FileCheck %s --check-prefix=GRAPH
// RUN: ft-run %s --engine=cpu --compare=interpret --json | FileCheck %s --check-prefix=ONE

// b = b.clone(); for i in range(n): b[i] = b[i] + 1; return b
func.func @fig4(%b0: !tssa.tensor<8x4xi32>) -> !tssa.tensor<8x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %ones = arith.constant dense<1> : tensor<4xi32>
  %0 = tssa.read %b0 : !tssa.tensor<8x4xi32>
  %b1 = tssa.new %0 : tensor<8x4xi32>
  scf.for %i = %c0 to %c8 step %c1 {
    %bi0 = tssa.view %b1[select(0, %i)] : !tssa.tensor<8x4xi32> -> !tssa.tensor<4xi32>
    %x = tssa.read %bi0 : !tssa.tensor<4xi32>
    %y = arith.addi %x, %ones : tensor<4xi32>
    %bi1 = tssa.view %b1[select(0, %i)] : !tssa.tensor<8x4xi32> -> !tssa.tensor<4xi32>
    tssa.mutate %bi1, %y : !tssa.tensor<4xi32>, tensor<4xi32>
  }
  return %b1 : !tssa.tensor<8x4xi32>
}

// REWRITE-LABEL: func.func @fig4(
// REWRITE-SAME:    %[[B0:.*]]: tensor<8x4xi32>) -> tensor<8x4xi32>
// REWRITE:         %[[CLONE:.*]] = tssa.access %[[B0]] : tensor<8x4xi32> -> tensor<8x4xi32>
// REWRITE-NEXT:    %[[B1:.*]] = tssa.access %[[CLONE]] : tensor<8x4xi32> -> tensor<8x4xi32>
// REWRITE:         scf.for %[[I:.*]] =
// REWRITE-NEXT:      %[[BI:.*]] = tssa.access %[[B1]][select(0, %[[I]])]
// REWRITE-NEXT:      %[[Y:.*]] = arith.addi %[[BI]]
// REWRITE-NEXT:      %[[B2:.*]] = tssa.assign %[[Y]] into %[[B1]][select(0, %[[I]])]
// REWRITE-NEXT:      tssa.update %[[B2]], %[[B1]]
// REWRITE:         %[[R:.*]] = tssa.access %[[B1]]
// REWRITE:         return %[[R]]

// PROPAGATE:       %[[B4:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[B3:.*]] = %[[B1:.*]]) -> (tensor<8x4xi32>)
// PROPAGATE-NEXT:    tssa.update %[[B3]], %[[B1]]
// PROPAGATE:         %[[B2:.*]] = tssa.assign %{{.*}} into %[[B1]][select(0, %[[I]])]
// PROPAGATE-NEXT:    tssa.update %[[B2]], %[[B1]]
// PROPAGATE-NEXT:    scf.yield %[[B1]]
// PROPAGATE:       tssa.update %[[B4]], %[[B1]]

// RENAME-NOT:      tssa.update
// RENAME:          %[[B4:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[B3:.*]] =
// RENAME:            tssa.access %[[B3]][select(0, %[[I]])]
// RENAME:            %[[B2:.*]] = tssa.assign %{{.*}} into %[[B3]]
// RENAME:            scf.yield %[[B2]]

// PURE-LABEL: func.func @fig4(
// PURE-SAME:    %[[B0:.*]]: tensor<8x4xi32>) -> tensor<8x4xi32>
// PURE-NOT:     tssa.new
// PURE:         %[[B4:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[B3:.*]] = %[[B0]]) -> (tensor<8x4xi32>) {
// PURE-NEXT:      %[[BI:.*]] = tssa.access %[[B3]][select(0, %[[I]])] : tensor<8x4xi32> -> tensor<4xi32>
// PURE-NEXT:      %[[Y:.*]] = arith.addi %[[BI]]
// PURE-NEXT:      %[[B2:.*]] = tssa.assign %[[Y]] into %[[B3]][select(0, %[[I]])] : tensor<4xi32> into tensor<8x4xi32>
// PURE-NEXT:      scf.yield %[[B2]]
// PURE-NEXT:    }
// PURE-NEXT:    return %[[B4]]

// GRAPH-COUNT-1: etdg.block {{.*}} [map] (i) in [0, 8)
// GRAPH-NOT:     etdg.block

// ONE: "kernels":1,
