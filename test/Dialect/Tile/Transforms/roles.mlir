// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that is fetched becomes two roles with a channel between them, one pass after the other.
// RUN: ft-opt %s --tile-split-roles | FileCheck %s --check-prefix=ROLES
// RUN: ft-opt %s --tile-split-roles --tile-make-channels | FileCheck %s --check-prefix=CHANNELS
// RUN: ft-opt %s --tile-split-roles --tile-order-loops --tile-make-channels --tile-place-slots --tile-check-phases | FileCheck %s --check-prefix=SLOTS
// RUN: ft-opt %s --tile-split-roles --tile-order-loops --tile-make-channels --tile-place-slots --tile-check-phases --tile-lower-channels | FileCheck %s --check-prefix=BARRIERS

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!b = !tile.shared<64x128xf16, swizzle = 128, stages = 1>
!map_a = !tile.tensor_map<128x64xf16, swizzle = 128>
!map_b = !tile.tensor_map<64x64xf16, swizzle = 128>
#layout = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [2, 1]>
!sums = !tile.registers<128x128xf32, #layout>
!view = !tile.view<f32, [-1], [-1], space = 1>

gpu.module @kernels {
  llvm.mlir.global external @ft_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  // BARRIERS: @ft_shared() {{.*}}alignment = 1024
  // ROLES-LABEL: llvm.func @kernel
  // ROLES-SAME: nvvm.maxntid = array<i32: 384, 1, 1>
  llvm.func @kernel(%da: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_a},
                    %db: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !map_b},
                    %c: !llvm.ptr<1>, %rows: i64, %columns: i64, %steps: i64)
      attributes {nvvm.kernel, nvvm.maxntid = array<i32: 256, 1, 1>, tile.pipeline = #tile.pipeline<slots = 3, loaders = 1, computers = 2, registers = [24, 240]>} {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %step = arith.constant 64 : i64
    %tile = arith.constant 128 : i64
    %none = arith.constant 0.0 : f32
    // ROLES: tile.tensor_map
    // ROLES: tile.tensor_map
    %ma = tile.tensor_map %da : !map_a
    %mb = tile.tensor_map %db : !map_b
    // The loading role has the loops, and nothing of sums.
    // ROLES: tile.roles {{.*}} load {
    // ROLES:   scf.for %[[ROW:.*]] = {{.*}} {
    // ROLES-NOT: iter_args
    // ROLES:     scf.for %[[K:.*]] = {{.*}} {
    // ROLES:       %[[TERM:.*]] = arith.muli %[[K]]
    // ROLES:       tile.fetch %{{.*}}[%[[ROW]], %[[TERM]]]
    // ROLES:       tile.fetch
    // ROLES-NOT: tile.mma
    // ROLES-NOT: tile.store
    // ROLES: } compute {
    // ROLES:   scf.for
    // ROLES:     scf.for {{.*}} iter_args
    // ROLES:       tile.fetch
    // ROLES:       tile.mma
    // ROLES:     tile.store
    // ROLES:     nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}

    // CHANNELS: %[[CHANNEL:.*]] = tile.channel
    // CHANNELS: load {
    // CHANNELS: tile.acquire %[[CHANNEL]] :
    // CHANNELS-NEXT: tile.start_fetch
    // CHANNELS-NEXT: tile.start_fetch
    // CHANNELS-NEXT: tile.publish %[[CHANNEL]] :
    // CHANNELS: compute {
    // CHANNELS: %[[TILES:.*]]:2 = tile.receive %[[CHANNEL]] :
    // CHANNELS-NEXT: tile.mma {{.*}}%[[TILES]]#0{{.*}}%[[TILES]]#1
    // CHANNELS-NEXT: tile.release %[[CHANNEL]] :

    // Both loops count the slots.
    // SLOTS: load {
    // SLOTS: scf.for {{.*}} iter_args(%[[OUTER:.*]] = %{{.*}}) -> (i32)
    // SLOTS: scf.for {{.*}} iter_args(%[[INNER:.*]] = %[[OUTER]]) -> (i32)
    // SLOTS: tile.acquire %{{.*}} at %[[INNER]]
    // SLOTS: tile.publish %{{.*}} at %[[INNER]]
    // SLOTS: %[[NEXT:.*]] = arith.addi %[[INNER]]
    // SLOTS: scf.yield %[[NEXT]]
    // SLOTS: compute {
    // SLOTS: tile.receive %{{.*}} at %[[TAKEN:[^ ]*]]
    // SLOTS: tile.start_mma
    // SLOTS-NEXT: tile.await
    // SLOTS: tile.release %{{.*}} at %[[TAKEN]]

    // BARRIERS: scf.if
    // BARRIERS-COUNT-6: nvvm.mbarrier.init
    // BARRIERS: nvvm.fence.mbarrier.init
    // BARRIERS: nvvm.fence.proxy
    // BARRIERS: nvvm.barrier
    // BARRIERS: nvvm.shfl.sync
    // BARRIERS: nvvm.setmaxregister decrease 24
    // BARRIERS: nvvm.elect.sync
    // BARRIERS: nvvm.mbarrier.try_wait
    // BARRIERS: tile.start_fetch
    // BARRIERS: nvvm.mbarrier.arrive.expect_tx
    // BARRIERS: nvvm.setmaxregister increase 240
    // BARRIERS: nvvm.mbarrier.try_wait
    // BARRIERS: tile.start_mma
    // BARRIERS: tile.await
    // BARRIERS: nvvm.mbarrier.arrive
    scf.for %row = %zero to %rows step %tile : i64 {
      %start = tile.splat %none : f32 -> !sums
      %all = scf.for %k = %zero to %steps step %one iter_args(%sums = %start) -> (!sums) : i64 {
        %term = arith.muli %k, %step : i64
        %x = tile.fetch %ma[%row, %term] : !map_a -> !a
        %y = tile.fetch %mb[%term, %zero] : !map_b -> !b
        %next = tile.mma %sums, %x[%zero], %y[%zero] {wgmma} : !sums, !a, !b
        scf.yield %next : !sums
      }
      %out = tile.view %c strides(%columns, %one) sizes(%rows, %columns) : <1> -> !view
      tile.store %all, %out[%row, %zero] {width = 1 : i64} : !sums, !view
      tile.barrier
    }
    llvm.return
  }
}
