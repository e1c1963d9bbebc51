// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each iteration fetches alike is fetched before a loop that carries tiles in registers; what moves with the loop, and what a loop without
// such tiles fetches, stays. The tile that stays has a channel of one slot, those that come and go share another one.
// RUN: ft-opt %s --tile-hoist-fetches | FileCheck %s
// RUN: ft-opt %s --tile-hoist-fetches --tile-split-roles --tile-order-loops --tile-make-channels --tile-place-slots --tile-check-phases | FileCheck %s --check-prefix=CHANNELS

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!b = !tile.shared<64x64xf16, swizzle = 128, stages = 1>
!c = !tile.shared<32x64xf16, swizzle = 128, stages = 1>
!map_a = !tile.tensor_map<128x64xf16, swizzle = 128>
!map_b = !tile.tensor_map<64x64xf16, swizzle = 128>
!map_c = !tile.tensor_map<32x64xf16, swizzle = 128>
#layout = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [2, 1]>
!sums = !tile.registers<128x64xf32, #layout>
!thin = !tile.registers<128x32xf32, #layout>

  llvm.mlir.global external @ft_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>

// CHANNELS: = tile.channel {{.*}} slots = 1>
// CHANNELS: = tile.channel {{.*}} : !tile.channel<[<64x64xf16, {{.*}}>], slots = 3>
// CHANNELS-NOT: = tile.channel
// CHANNELS: tile.publish {{.*}} {bytes = 4096 : i64}
// CHECK-LABEL: llvm.func @kernel
llvm.func @kernel(%da: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_a},
                  %db: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_b},
                  %dc: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_c}, %n: i64)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, tile.pipeline = #tile.pipeline<slots = 3, loaders = 1, computers = 2, registers = [24, 240]>} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %nothing = arith.constant 0.0 : f32
  %none = tile.splat %nothing : f32 -> !sums
  %few = tile.splat %nothing : f32 -> !thin
  %ma = tile.tensor_map %da : !map_a
  %mb = tile.tensor_map %db : !map_b
  %mc = tile.tensor_map %dc : !map_c
  // CHECK: scf.for %[[TASK:.*]] =
  scf.for %task = %zero to %n step %one : i64 {
    // CHECK: %[[ROW:.*]] = arith.addi %[[TASK]]
    // CHECK: tile.fetch %{{.*}}[%[[ROW]], %{{.*}}] : !tile.tensor_map<128x64xf16
    // CHECK: scf.for %[[STEP:.*]] = {{.*}} iter_args
    %s = scf.for %step = %zero to %n step %one iter_args(%sum = %none) -> (!sums) : i64 {
      %row = arith.addi %task, %one : i64
      %fa = tile.fetch %ma[%row, %zero] : !map_a -> !a
      // CHECK: tile.fetch %{{.*}}[%[[STEP]], %{{.*}}] : !tile.tensor_map<64x64xf16
      %fb = tile.fetch %mb[%step, %zero] : !map_b -> !b
      %m = tile.mma %sum, %fa[%zero], %fb[%zero] {wgmma} : !sums, !a, !b
      %u = tile.map(%m) : (!sums) -> !sums {
      ^bb0(%x: f32):
        %y = arith.negf %x : f32
        tile.yield %y : f32
      }
      // CHECK: tile.fetch %{{.*}}[%[[STEP]], %{{.*}}] : !tile.tensor_map<32x64xf16
      %fc = tile.fetch %mc[%step, %zero] : !map_c -> !c
      %t = tile.mma %few, %fa[%zero], %fc[%zero] {rhs_transposed, wgmma} : !thin, !a, !c
      scf.yield %u : !sums
    }
  }
  llvm.return
}
