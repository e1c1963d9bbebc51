// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product whose columns are several tiles, and what is fused after it, are computed tile by tile: what the product reads is
// needed until the last tile is written, by the fused nest, to a place of its own. Where tasks have many rows and few is one.
//
// RUN: ft-opt %s --ft-compile="to=tile target=sm_90a" | FileCheck %s
// CHECK: layouts [{{.*}}#tile.product<{{.*}}fused = 1
// RUN: ft-run %s --engine=emulate --multiprocessors=1 --compare=interpret --dim R=64 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=interpret-tile --multiprocessors=1 --compare=interpret --dim R=64 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --engine=emulate --compare=interpret --dim R=7 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<97xf32>
!h = tensor<131xf32>
func.func @ffn(%xs: !ft.list<[R], !x>, %w1: tensor<97x131xf32> {ft.gen = #ft.normal<0.1>}, %w2: tensor<131x97xf32> {ft.gen = #ft.normal<0.1>}, %g: !x, %b: !x) -> !ft.list<[R], !x>
    attributes {ft.lengths = {R = 13 : i64}} {
  %z = arith.constant dense<0.0> : !h
  %y = ft.map (%x = %xs : !ft.list<[R], !x>) {
    %n = ft.layer_norm %x scale %g shift %b epsilon 1.0e-05 : !x, !x
    %p = linalg.vecmat ins(%n, %w1 : !x, tensor<97x131xf32>) outs(%z : !h) -> !h
    %a = ft.silu %p : !h
    %q = linalg.vecmat ins(%a, %w2 : !h, tensor<131x97xf32>) outs(%x : !x) -> !x
    ft.yield %q : !x
  }
  return %y : !ft.list<[R], !x>
}
