// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that is brought with an order is compiled in that order, whether or not it is applied: on a wavefront here, on the processor and
// on a GPU.
//
// RUN: ft-opt %S/../../../examples/stacked_rnn.mlir --ft-compile="to=reorder skip=coarsen" -o %t.order.mlir
// RUN: FileCheck %s --input-file=%t.order.mlir --check-prefix=OPEN
// OPEN: affine_map<(d0, d1, d2) -> (d1 + d2, d1, d0)>
// OPEN: etdg.nest schedule <map = #map
// RUN: ft-opt %t.order.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule))" -o %t.applied.mlir
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always %t.order.mlir -o %t.order.ptx
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always %t.applied.mlir -o %t.applied.ptx
// RUN: diff %t.order.ptx %t.applied.ptx
// RUN: ft-translate --mlir-to-llvmir --target=x86-64-v3 %t.order.mlir -o %t.order.ll
// RUN: ft-translate --mlir-to-llvmir --target=x86-64-v3 %t.applied.mlir -o %t.applied.ll
// RUN: diff %t.order.ll %t.applied.ll
