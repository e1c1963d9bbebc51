// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many threads share a product's tile. Fewer of them read more of its operands at once, and two thread blocks wait for their copies in turn:
// where registers hold the sums, and each SM has two blocks.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s
// RUN: sed 's/xf32>/xf16>/g' %s | ft-opt --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=HALF
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s --check-prefix=PTX
// PTX: .visible .entry large_k0(
// PTX: .maxntid 128
// PTX: .minnctapersm 2
//
// In a grid whose thread blocks wait for each other an SM has one of them.
// RUN: sed "s/tensor<1x64xf32>/tensor<1x256xf32>/; s/tensor<64x64xf32>/tensor<256x256xf32>/" %S/../../../examples/stacked_rnn.mlir | sed 's/ft.lengths = {[^}]*}/ft.lengths = {N = 4096, D = 8, L = 64}, ft.typical = {N = [4096, 4096], D = [8, 8], L = [64, 64]}/' | ft-opt --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=WAITS
// WAITS: kind = sequential, sync = grid
// WAITS-SAME: block = <threads = 256, shared
// WAITS: #tile.product<block = [128, 128], thread = [8, 8]

!x = tensor<4096x4096xf32>
// CHECK-LABEL: etdg.graph @large
// CHECK: block = <threads = 128, resident = 2, shared
// CHECK-SAME: #tile.product<block = [128, 128], thread = [16, 8]
// HALF-LABEL: etdg.graph @large
// HALF: block = <threads = 256, shared
// HALF-SAME: #tile.product<block = [128, 256], thread = [2, 64], step = 64, stages = 1, wgmma>
func.func @large(%x: !x, %w: !x) -> !x {
  %z = arith.constant dense<0.0> : !x
  %y = linalg.matmul ins(%x, %w : !x, !x) outs(%z : !x) -> !x
  return %y : !x
}

// What is computed after takes the registers.
// CHECK-LABEL: etdg.graph @behind
// CHECK: block = <threads = 256, shared
// CHECK-SAME: #tile.product<block = [128, 128], thread = [8, 8]{{.*}} fused = 1>
// HALF-LABEL: etdg.graph @behind
func.func @behind(%x: !x, %w: !x) -> !x {
  %z = arith.constant dense<0.0> : !x
  %y = linalg.matmul ins(%x, %w : !x, !x) outs(%z : !x) -> !x
  %t = math.tanh %y : !x
  return %t : !x
}

// Fewer tiles than SMs, at lengths that are typical: each is one block's alone, with all of its threads.
!r = tensor<1x256xf32>
!w = tensor<256x256xf32>
// CHECK-LABEL: etdg.graph @typical
// CHECK: block = <threads = 256, shared
func.func @typical(%xs: !ft.list<[N], !r>, %w: !w) -> !ft.list<[N], !r> attributes {ft.typical = {N = [4096, 4096]}} {
  %z = arith.constant dense<0.0> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !r>) -> !ft.list<[N], !r> {
    %y = linalg.matmul ins(%x, %w : !r, !w) outs(%z : !r) -> !r
    ft.yield %y : !r
  }
  return %ys : !ft.list<[N], !r>
}
// CHECK-LABEL: etdg.graph @many
// CHECK: block = <threads = 128, resident = 2, shared
// CHECK-SAME: thread = [16, 8]
func.func @many(%xs: !ft.list<[N], !r>, %w: !w) -> !ft.list<[N], !r> attributes {ft.typical = {N = [65536, 65536]}} {
  %z = arith.constant dense<0.0> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !r>) -> !ft.list<[N], !r> {
    %y = linalg.matmul ins(%x, %w : !r, !w) outs(%z : !r) -> !r
    ft.yield %y : !r
  }
  return %ys : !ft.list<[N], !r>
}
