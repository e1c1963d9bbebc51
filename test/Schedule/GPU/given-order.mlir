// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph that is brought with an order is compiled in that order, though it is not applied yet: on the wavefront that the program itself
// gets, on a GPU and on the processor.
//
// RUN: ft-opt %S/../../../examples/stacked_lstm.mlir --ft-compile="to=reorder target=sm_90a" -o %t.order.mlir
// RUN: FileCheck %s --input-file=%t.order.mlir --check-prefix=OPEN
// OPEN: affine_map<(d0, d1, d2) -> (d1 + d2, d1, d0)>
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always %t.order.mlir -o %t.order.ptx
// RUN: ft-opt %t.order.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule))" -o %t.applied.mlir
// RUN: ft-translate --mlir-to-ptx --target=sm_90a --gpu-steps=always %t.applied.mlir -o %t.applied.ptx
// RUN: diff %t.order.ptx %t.applied.ptx
// RUN: ft-translate --mlir-to-llvmir --target=x86-64-v3 %t.order.mlir -o %t.order.ll
// RUN: ft-translate --mlir-to-llvmir --target=x86-64-v3 %t.applied.mlir -o %t.applied.ll
// RUN: diff %t.order.ll %t.applied.ll
