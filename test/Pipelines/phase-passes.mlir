// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that stand between phases, each alone: what they leave in the module, and what they only say.
//
// What graphs are called with is remembered, compared, and forgotten.
// RUN: ft-opt %s --etdg-take-snapshots | FileCheck %s --check-prefix=TAKEN
// RUN: ft-opt %s --etdg-take-snapshots --etdg-validate-phase=phase=coarsen | FileCheck %s --check-prefix=TAKEN
// RUN: ft-opt %s --etdg-take-snapshots --etdg-drop-snapshots | FileCheck %s --check-prefix=DROPPED --implicit-check-not=etdg.snapshots
// TAKEN: module attributes {etdg.snapshots = {g = [(!etdg.buffer<[N], tensor<2xf32>>) -> !etdg.buffer<[N], tensor<2xf32>>, []]}}
// TAKEN: etdg.graph @g(
// DROPPED: etdg.graph @g(
//
// A graph that is gone, or is called with something else, was no work of a phase.
// RUN: ft-opt %s --etdg-take-snapshots | sed 's/etdg.graph @g(/etdg.graph @h(/' > %t.gone.mlir
// RUN: not ft-opt %t.gone.mlir --etdg-validate-phase=phase=coarsen 2>&1 | FileCheck %s --check-prefix=GONE
// GONE: error: {{.*}}(T9)
//
// The rest says something and leaves the module alone.
// RUN: ft-opt %s -o %t.plain.mlir
// RUN: ft-opt %s --etdg-validation-off --remarks-filter=".*" -o %t.off.mlir 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: cmp %t.plain.mlir %t.off.mlir
// OFF: remark: {{.*}}validat
// RUN: ft-opt %s --ft-skip-phase=phase=partition --remarks-filter=".*" -o %t.skip.mlir 2>&1 | FileCheck %s --check-prefix=SKIP
// RUN: cmp %t.plain.mlir %t.skip.mlir
// SKIP: remark: {{.*}}identity {{.*}}phase 'partition'
// RUN: rm -rf %t.d && mkdir %t.d
// RUN: ft-opt %s --ft-dump-phase="phase=coarsen folder=%t.d" -o %t.dump.mlir
// RUN: cmp %t.plain.mlir %t.dump.mlir
// RUN: ft-opt %t.d/3-coarsen.mlir | FileCheck %s --check-prefix=DUMPED
// DUMPED: etdg.graph @g(
//
// And what stands in the place of a pipeline that cannot be made says why.
// RUN: not ft-opt %s --ft-check-compile-options="from=coarsen to=ft" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: error: {{.*}}ft
// RUN: not ft-opt %s --ft-check-compile-options="to=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: {{.*}}nowhere
etdg.graph @g(%x: !etdg.buffer<[N], tensor<2xf32>>) -> !etdg.buffer<[N], tensor<2xf32>> {
  %y = etdg.buffer : !etdg.buffer<[N], tensor<2xf32>>
  etdg.block @negate [map] (i) in [0, N) reads (%v = %x[i] : tensor<2xf32>) writes (%y[i]) {
    %m = arith.negf %v : tensor<2xf32>
    etdg.yield %m : tensor<2xf32>
  } : !etdg.buffer<[N], tensor<2xf32>>, !etdg.buffer<[N], tensor<2xf32>>
  etdg.return %y : !etdg.buffer<[N], tensor<2xf32>>
}
