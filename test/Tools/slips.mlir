// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slips on the command line: errors about a whole file stand at its beginning, lengths
// that no program has are refused, and --help shows what the tool has, not what LLVM has.
//
// RUN: not ft-opt %s --ft-compile=to=nowhere 2>&1 | FileCheck %s --check-prefix=PHASE
// PHASE: slips.mlir:1:1: error: ft-compile: to: expected one of input, ft,
// RUN: not ft-translate --etdg-to-json %s --dim=Q=3 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ft-translate --etdg-to-html %s --dim=Q=3 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: slips.mlir:1:1: error: --dim names 'Q', a length that no graph has
// NAME-NOT: builtin.module
// RUN: not ft-fuzz %s --at Q=1 2>&1 | FileCheck %s --check-prefix=AT
// AT: error: --at Q=1: no function has a length 'Q'
// RUN: ft-fuzz %s --at L=3 | FileCheck %s --check-prefix=RAN
// RAN: 1 programs: 1 equal
// RUN: not ft-run %s --dim K=3 --dim L=2 2>&1 | FileCheck %s --check-prefix=BOUND
// BOUND: slips.mlir:[[#@LINE+4]]:{{[0-9]+}}: error: {{.*}}the bound L >= K: K = 3
// RUN: ft-run --help | FileCheck %s --check-prefix=HELP
// HELP-NOT: amdgpu
// HELP: --compare=
func.func @f(%x: !ft.list<[L], tensor<f32>>, %y: !ft.list<[K], tensor<f32>>) -> !ft.list<[K], tensor<f32>>
    attributes {ft.bounds = #ft.bounds<"K <= L">, ft.lengths = {K = 2 : i64, L = 4 : i64}} {
  %s = ft.slice %x[0 to K] : !ft.list<[L], tensor<f32>>
  %r = ft.map (%a, %b = %s, %y : !ft.list<[K], tensor<f32>>, !ft.list<[K], tensor<f32>>) {
    %c = arith.addf %a, %b : tensor<f32>
    ft.yield %c : tensor<f32>
  }
  return %r : !ft.list<[K], tensor<f32>>
}
