// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The list of numbers of four joined blocks of keys, which threads fill in each iteration, becomes numbers from the first one on. It stays where a leaf
// is no chain of products.
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/; s/L = 4/L = 32/' %examples/flash_attention_causal.mlir \
// RUN:   | ft-opt --ft-compile="to=storage target=sm_90a machine=%S/../../../../machines/h200.json" \
// RUN:   | ft-opt --convert-etdg-to-loops="target=sm_90a machine=%S/../../../../machines/h200.json" --loops-choose-layouts --loops-choose-tasks --loops-find-alignment \
// RUN:     --loops-choose-pipelines -o %t.mlir
// RUN: ft-opt %t.mlir --loops-keep-numbers | FileCheck %s
// RUN: ft-opt %t.mlir | FileCheck %s --check-prefix=BEFORE
// RUN: sed "s/ layouts .#tile.chain<rows = 128>.//" %t.mlir | ft-opt --loops-keep-numbers | FileCheck %s --check-prefix=BEFORE
// BEFORE: memref.store {{.*}} : memref<?xi64>
// CHECK: scf.for %[[J:.*]] = %{{.*}} to %{{.*}} step
// CHECK: %[[FIRST:.*]] = affine.apply #{{.*}}(%[[J]], %{{.*}})
// CHECK: %[[ONE:.*]] = arith.constant 1 : index
// CHECK: %[[LIST:.*]] = loops.splat %{{.*}} step %[[ONE]] elements 1 rows 4 : index -> memref<?xi64>
// CHECK-NOT: memref.store
// CHECK: loops.view %[[LIST]][0] strides [1] steps [0]
