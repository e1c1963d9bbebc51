// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last product of an iteration is multiplied in the next one, after its first product: the first iteration begins before the loop, the last one ends
// after it. Each product is awaited before its sums are used, and a slot is released after that. A loop that may have no iteration stays.
// RUN: ft-opt %s --tile-rotate-loops | FileCheck %s
// RUN: ft-opt %s --tile-rotate-loops --tile-split-roles --tile-order-loops --tile-make-channels --tile-place-slots --tile-check-phases | FileCheck %s --check-prefix=FLIGHT

!q = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!k = !tile.shared<64x64xf16, swizzle = 128, stages = 1>
!map_q = !tile.tensor_map<128x64xf16, swizzle = 128>
!map_k = !tile.tensor_map<64x64xf16, swizzle = 128>
#layout = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [2, 1]>
!sums = !tile.registers<128x64xf32, #layout>
!halves = !tile.registers<128x64xf16, #layout>

llvm.mlir.global external @ft_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
// CHECK-LABEL: llvm.func @kernel
// CHECK: scf.if
// CHECK: tile.fetch {{.*}} : !tile.tensor_map<128x64xf16
// CHECK: tile.fetch
// CHECK: tile.mma
// CHECK: %[[P0:.*]] = tile.map
// CHECK: scf.for %[[J:[a-z0-9]*]] =
// CHECK: tile.fetch %{{.*}}[%[[J]],
// CHECK: %[[S:.*]] = tile.mma
// CHECK: %[[BEFORE:.*]] = arith.subi %[[J]]
// CHECK: %[[V:.*]] = tile.fetch %{{.*}}[%[[BEFORE]],
// CHECK: %[[O:.*]] = tile.mma %{{.*}}, %{{.*}}[%{{.*}}], %[[V]][
// CHECK: %[[P:.*]] = tile.map(%[[S]])
// CHECK: scf.yield
// CHECK: tile.fetch
// CHECK: tile.mma
// CHECK-LABEL: llvm.func @empty
// CHECK: tile.fetch
// CHECK-NOT: tile.mma
// CHECK: scf.for
//
// FLIGHT-LABEL: llvm.func @kernel
// FLIGHT: } compute {
// FLIGHT: scf.for
// FLIGHT: %[[S:[0-9]+]] = tile.start_mma
// FLIGHT: %[[O:[0-9]+]] = tile.start_mma
// FLIGHT: tile.await %[[S]] {behind = 1 : i32}
// FLIGHT-NEXT: tile.release
// FLIGHT: tile.await %[[O]] :
// FLIGHT-NEXT: tile.release
// FLIGHT: scf.yield
llvm.func @kernel(%dq: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_q},
                  %dk: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_k}, %n: i64)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, tile.pipeline = #tile.pipeline<slots = 2, loaders = 1, computers = 2, registers = [24, 240]>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %nothing = arith.constant 0.0 : f32
  %none = tile.splat %nothing : f32 -> !sums
  %mq = tile.tensor_map %dq : !map_q
  %mk = tile.tensor_map %dk : !map_k
  %some = arith.cmpi slt, %zero, %n : i64
  scf.if %some {
    %q = tile.fetch %mq[%zero, %zero] : !map_q -> !q
    %o = scf.for %j = %zero to %n step %one iter_args(%sum = %none) -> (!sums) : i64 {
      %k = tile.fetch %mk[%j, %zero] : !map_k -> !k
      %s = tile.mma %none, %q[%zero], %k[%zero] {wgmma} : !sums, !q, !k
      %p = tile.map(%s) : (!sums) -> !halves {
      ^bb0(%x: f32):
        %h = arith.truncf %x : f32 to f16
        tile.yield %h : f16
      }
      %v = tile.fetch %mk[%j, %one] : !map_k -> !k
      %r = tile.mma %sum, %p[%zero], %v[%zero] {wgmma} : !sums, !halves, !k
      scf.yield %r : !sums
    }
  }
  llvm.return
}
llvm.func @empty(%dq: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_q},
                 %dk: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_k}, %n: i64)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, tile.pipeline = #tile.pipeline<slots = 2, loaders = 1, computers = 2, registers = [24, 240]>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %nothing = arith.constant 0.0 : f32
  %none = tile.splat %nothing : f32 -> !sums
  %mq = tile.tensor_map %dq : !map_q
  %mk = tile.tensor_map %dk : !map_k
  %q = tile.fetch %mq[%zero, %zero] : !map_q -> !q
  %o = scf.for %j = %zero to %n step %one iter_args(%sum = %none) -> (!sums) : i64 {
    %k = tile.fetch %mk[%j, %zero] : !map_k -> !k
    %s = tile.mma %none, %q[%zero], %k[%zero] {wgmma} : !sums, !q, !k
    %p = tile.map(%s) : (!sums) -> !halves {
    ^bb0(%x: f32):
      %h = arith.truncf %x : f32 to f16
      tile.yield %h : f16
    }
    %v = tile.fetch %mk[%j, %one] : !map_k -> !k
    %r = tile.mma %sum, %p[%zero], %v[%zero] {wgmma} : !sums, !halves, !k
    scf.yield %r : !sums
  }
  llvm.return
}
