// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles, channels and products in flight: what is printed is read again.
// RUN: ft-opt %s | ft-opt | FileCheck %s

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!b = !tile.shared<64x256xf16, swizzle = 128, stages = 1>
!map_a = !tile.tensor_map<128x64xf16, swizzle = 128>
!map_b = !tile.tensor_map<64x64xf16, swizzle = 128>
#layout = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [2, 1]>
!sums = !tile.registers<128x256xf32, #layout>
!flight = !tile.in_flight<!sums>
!channel = !tile.channel<[!a, !b], slots = 4>

// CHECK-LABEL: llvm.func @kernel
// CHECK-SAME: tile.pipeline = #tile.pipeline<slots = 4, loaders = 1, computers = 2, registers = [24, 240]>
llvm.func @kernel(%da: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_a},
                  %db: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_b},
                  %memory: !llvm.ptr<3>)
    attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, tile.pipeline = #tile.pipeline<slots = 4, loaders = 1, computers = 2, registers = [24, 240]>} {
  %zero = arith.constant 0 : i64
  %none = arith.constant 0 : i32
  %nothing = arith.constant 0.0 : f32
  %sums = tile.splat %nothing : f32 -> !sums
  %ma = tile.tensor_map %da : !map_a
  %mb = tile.tensor_map %db : !map_b
  // CHECK: tile.fetch %{{.*}}[%{{.*}}, %{{.*}}] : !tile.tensor_map<128x64xf16, swizzle = 128> -> !tile.shared<128x64xf16, swizzle = 128, stages = 1>
  %fa = tile.fetch %ma[%zero, %zero] : !map_a -> !a
  %fb = tile.fetch %mb[%zero, %zero] : !map_b -> !b
  // CHECK: tile.mma {{.*}} {wgmma}
  %m = tile.mma %sums, %fa[%zero], %fb[%zero] {wgmma} : !sums, !a, !b
  // CHECK: tile.channel %{{.*}} : !tile.channel<[<128x64xf16, swizzle = 128, stages = 1>, <64x256xf16, swizzle = 128, stages = 1>], slots = 4>
  %c = tile.channel %memory : !channel
  // CHECK: %[[FLAG:.*]] = tile.flag 0
  %flag = tile.flag 0
  // CHECK: tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
  tile.roles <slots = 4, loaders = 1, computers = 2, registers = [24, 240]> load {
    // CHECK: tile.ahead %{{.*}} at %{{.*}} : !tile.channel<
    %e:2, %first = tile.ahead %c at %none : !channel -> !a, !b
    // CHECK: %[[A:.*]]:2, %[[FULL:.*]] = tile.acquire
    %l:2, %full = tile.acquire %c at %none : !channel -> !a, !b
    // CHECK: tile.start_fetch %{{.*}}[%{{.*}}, %{{.*}}] to %[[A]]#0 counts %[[FULL]]
    tile.start_fetch %ma[%zero, %zero] to %l#0 counts %full : !map_a -> !a
    tile.start_fetch %mb[%zero, %zero] to %l#1 counts %full : !map_b -> !b
    // CHECK: tile.publish %{{.*}} at %{{.*}} :
    tile.publish %c at %none : !channel
  } compute {
    // CHECK: tile.receive %{{.*}} at %{{.*}} :
    %r:2 = tile.receive %c at %none : !channel -> !a, !b
    // CHECK: tile.start_mma
    %s = tile.start_mma %sums, %r#0, %r#1 : !sums, !a, !b -> !flight
    %t = tile.start_mma %s, %r#0, %r#1 : !flight, !a, !b -> !flight
    // CHECK: tile.await %{{.*}} : !tile.in_flight<
    %w = tile.await %t : !flight -> !sums
    // CHECK: tile.await %{{.*}} {behind = 1 : i32}
    %q = tile.await %t {behind = 1 : i32} : !flight -> !sums
    // CHECK: tile.release
    tile.release %c at %none : !channel
    // CHECK: tile.raise %[[FLAG]], %{{.*}}
    tile.raise %flag, %none
    // CHECK: tile.raised %[[FLAG]]
    %again = tile.raised %flag
  }
  llvm.return
}
