// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every operation of the tile dialect, printed and read again.
//
// RUN: ft-opt %s | ft-opt | FileCheck %s
// RUN: ft-opt %s --mlir-print-op-generic | ft-opt | FileCheck %s

#rows = #tile.blocked<vector = [1, 2], threads = [4, 8]>
#move = #tile.blocked<vector = [1, 4], threads = [8, 4]>

// CHECK-LABEL: llvm.func @product
llvm.func @product(%a: !llvm.ptr<1>, %b: !llvm.ptr, %m: !llvm.ptr<3>, %i: i64, %n: i64, %x: f32) {
  // CHECK: tile.view %{{.*}} strides(%{{.*}}, %{{.*}}, %{{.*}}) sizes(%{{.*}}) : <1> -> !tile.view<f32, [-1, 4], [16], space = 1>
  %va = tile.view %a strides(%i, %i, %i) sizes(%n) : !llvm.ptr<1> -> !tile.view<f32, [-1, 4], [16], space = 1>
  // CHECK: tile.view %{{.*}} strides(%{{.*}}, %{{.*}}) : !llvm.ptr -> !tile.view<f32, [16], [32]>
  %vb = tile.view %b strides(%i, %i) : !llvm.ptr -> !tile.view<f32, [16], [32]>
  // CHECK: tile.view %{{.*}} strides(%{{.*}}, %{{.*}}, %{{.*}}) borders(%{{.*}}, %{{.*}}) : <1> -> !tile.view<f32, [8, 4], [32], space = 1 borders[<steps = [1, 0, 1], size = 7>, <steps = [0, 2, 0], size = 5>]>
  %vc = tile.view %a strides(%i, %i, %i) borders(%i, %i) : !llvm.ptr<1> -> !tile.view<f32, [8, 4], [32], space = 1 borders[<steps = [1, 0, 1], size = 7>, <steps = [0, 2, 0], size = 5>]>
  // CHECK: tile.view %{{.*}} strides(%{{.*}}, %{{.*}}) : <3> -> !tile.view<f16, [16], [64], space = 3, swizzled>
  %vs = tile.view %m strides(%i, %i) : !llvm.ptr<3> -> !tile.view<f16, [16], [64], space = 3, swizzled>
  // CHECK: tile.memory %{{.*}} : !llvm.ptr<3> swizzled rows %{{.*}} -> !tile.memory<f16>
  %ms = tile.memory %m : !llvm.ptr<3> swizzled rows %i -> !tile.memory<f16>
  // CHECK: tile.shared %{{.*}} : !tile.shared<16x8xf32, pad = 4, stages = 2>
  %sa = tile.shared %m : !tile.shared<16x8xf32, pad = 4, stages = 2>
  %sb = tile.shared %m : !tile.shared<8x32xf32, pad = 0, stages = 2>
  // CHECK: tile.copy %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}}[%{{.*}}] {async, in_bounds = array<i1: false, true>, layout = #tile.blocked<vector = [1, 4], threads = [8, 4]>} : !tile.view<f32, [-1, 4], [16], space = 1>, !tile.shared<16x8xf32, pad = 4, stages = 2>
  tile.copy %va[%i, %i], %sa[%i] {layout = #move, in_bounds = array<i1: false, true>, async} : !tile.view<f32, [-1, 4], [16], space = 1>, !tile.shared<16x8xf32, pad = 4, stages = 2>
  tile.copy %vb[%i, %i], %sb[%i] {layout = #move} : !tile.view<f32, [16], [32]>, !tile.shared<8x32xf32, pad = 0, stages = 2>
  // CHECK: tile.commit
  tile.commit
  // CHECK: tile.wait 0
  tile.wait 0
  // CHECK: tile.barrier
  tile.barrier
  // CHECK: tile.splat %{{.*}} : f32 -> !tile.registers<16x32xf32, #tile.blocked<vector = [1, 2], threads = [4, 8]>>
  %c = tile.splat %x : f32 -> !tile.registers<16x32xf32, #rows>
  // CHECK: tile.numbers %{{.*}} along 1 : !tile.registers<16x32xi64, #tile.blocked<vector = [1, 2], threads = [4, 8]>>
  %numbers = tile.numbers %i along 1 : !tile.registers<16x32xi64, #rows>
  // CHECK: tile.mma %{{.*}}, %{{.*}}[%{{.*}}], %{{.*}}[%{{.*}}] : !tile.registers<16x32xf32, {{.*}}>, !tile.shared<16x8xf32, pad = 4, stages = 2>, !tile.shared<8x32xf32, pad = 0, stages = 2>
  %d = tile.mma %c, %sa[%i], %sb[%i] : !tile.registers<16x32xf32, #rows>, !tile.shared<16x8xf32, pad = 4, stages = 2>, !tile.shared<8x32xf32, pad = 0, stages = 2>
  // CHECK: tile.mma %{{.*}} {reads = #tile.reads<terms = 4, lhs = 4, rhs = 2>} : !tile.registers<16x32xf32
  %d2 = tile.mma %d, %sa[%i], %sb[%i] {reads = #tile.reads<terms = 4, lhs = 4, rhs = 2>} : !tile.registers<16x32xf32, #rows>, !tile.shared<16x8xf32, pad = 4, stages = 2>, !tile.shared<8x32xf32, pad = 0, stages = 2>
  // CHECK: tile.load %{{.*}}[%{{.*}}, %{{.*}}] {width = 2 : i64} : !tile.view<f32, [16], [32]> -> !tile.registers<16x32xf32
  %e = tile.load %vb[%i, %i] {width = 2 : i64} : !tile.view<f32, [16], [32]> -> !tile.registers<16x32xf32, #rows>
  // CHECK: tile.map(%{{.*}}, %{{.*}}) : (!tile.registers<16x32xf32, {{.*}}>, !tile.registers<16x32xf32, {{.*}}>) -> !tile.registers<16x32xf32
  %f = tile.map(%d, %e) : (!tile.registers<16x32xf32, #rows>, !tile.registers<16x32xf32, #rows>) -> !tile.registers<16x32xf32, #rows> {
  ^bb0(%p: f32, %q: f32):
    %s = arith.addf %p, %q : f32
    // CHECK: tile.yield %{{.*}} : f32
    tile.yield %s : f32
  }
  // CHECK: tile.concat %{{.*}}, %{{.*}} : !tile.registers<16x32xf32, {{.*}}>, !tile.registers<16x32xf32, {{.*}}> -> !tile.registers<16x64xf32, {{.*}}>
  %g = tile.concat %d, %e : !tile.registers<16x32xf32, #rows>, !tile.registers<16x32xf32, #rows> -> !tile.registers<16x64xf32, #rows>
  // CHECK: tile.part %{{.*}}[1] : !tile.registers<16x64xf32, {{.*}}> -> !tile.registers<16x32xf32, {{.*}}>
  %h = tile.part %g[1] : !tile.registers<16x64xf32, #rows> -> !tile.registers<16x32xf32, #rows>
  // CHECK: tile.store %{{.*}}, %{{.*}}[%{{.*}}, %{{.*}}] : !tile.registers<16x32xf32, {{.*}}>, !tile.view<f32, [16], [32]>
  tile.store %f, %vb[%i, %i] : !tile.registers<16x32xf32, #rows>, !tile.view<f32, [16], [32]>
  llvm.return
}

// CHECK: layouts = [#tile.blocked<vector = [1, 4], threads = [8, 16], warp = [4, 8]>, #tile.product<block = [64, 64], thread = [8, 4], step = 16, stages = 2>, #tile.product<block = [16, 8], thread = [1, 1], step = 4, stages = 1, fused = 2>, #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, mma>, #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, mma, fused = 1>, #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, mma, joined>, #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, fused = 1, result = #tile.blocked<vector = [4, 4], threads = [16, 8]>, lhs = #tile.move<width = 4, threads = [16, 8], async>, rhs = #tile.move<width = 1, threads = [2, 64]>>, #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, joined, carried>, #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, fused = 1, result = #tile.blocked<vector = [4, 4], threads = [16, 8]>, lhs = #tile.move<width = 4, threads = [16, 8]>, rhs = #tile.move<width = 1, threads = [2, 64]>, reads = #tile.reads<terms = 4, lhs = 4, rhs = 1>, accesses = [4, 0, 1]>, #tile.row_accesses<widths = [4, 1], line = 1>, #tile.row_accesses<widths = [8]>]
llvm.func @layouts() attributes {layouts = [
    #tile.blocked<vector = [1, 4], threads = [8, 16], warp = [4, 8]>,
    #tile.product<block = [64, 64], thread = [8, 4], step = 16, stages = 2>,
    #tile.product<block = [16, 8], thread = [1, 1], step = 4, stages = 1, fused = 2>,
    #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, mma>,
    #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, mma, fused = 1>,
    #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, mma, joined>,
    #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, fused = 1, result = #tile.blocked<vector = [4, 4], threads = [16, 8]>,
      lhs = #tile.move<width = 4, threads = [16, 8], async>, rhs = #tile.move<width = 1, threads = [2, 64]>>,
    #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, joined, carried>,
    #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, fused = 1, result = #tile.blocked<vector = [4, 4], threads = [16, 8]>,
      lhs = #tile.move<width = 4, threads = [16, 8]>, rhs = #tile.move<width = 1, threads = [2, 64]>, reads = #tile.reads<terms = 4, lhs = 4, rhs = 1>,
      accesses = [4, 0, 1]>,
    #tile.row_accesses<widths = [4, 1], line = 1>, #tile.row_accesses<widths = [8]>]} {
  llvm.return
}
