// UNSUPPORTED: sanitized
// (A plugin with AddressSanitizer cannot be loaded by a program without it.)
// The distribution's own mlir-opt runs our dialects and passes. Both flags are
// needed, and passes only go by --pass-pipeline.
// RUN: mlir-opt %s --load-dialect-plugin=%ft_lib/FractalTensorPlugin.so --load-pass-plugin=%ft_lib/FractalTensorPlugin.so \
// RUN:   --pass-pipeline="builtin.module(convert-ft-to-etdg)" | FileCheck %s
// RUN: mlir-opt %examples/stacked_rnn.mlir --load-dialect-plugin=%ft_lib/FractalTensorPlugin.so | FileCheck %s --check-prefix=PARSED
// PARSED: ft.scanl
//
// What a pass cannot take is an error there, too.
// RUN: not mlir-opt %S/Inputs/several-blocks.mlir --load-dialect-plugin=%ft_lib/FractalTensorPlugin.so --load-pass-plugin=%ft_lib/FractalTensorPlugin.so \
// RUN:   --pass-pipeline="builtin.module(convert-ft-to-etdg)" 2>&1 | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: several-blocks.mlir:2:1: error: {{.*}}(V5) must have one block

// CHECK: etdg.graph
// CHECK: map
!x = tensor<4xf32>
func.func @double(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = arith.addf %x, %x : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
