// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one thread does: 4 rows and 2 columns of the sums in registers, carried by the loop; operands in
// accesses of 16 bytes; copies of what may lie beyond the matrix that read fewer bytes there.
//
// RUN: ft-opt %s --convert-tile-to-nvvm | FileCheck %s
// RUN: ft-opt %s --convert-tile-to-nvvm | FileCheck %s --check-prefix=NONE
// NONE-NOT: tile.

#own = #tile.blocked<vector = [1, 2], threads = [4, 8]>
#move = #tile.blocked<vector = [1, 4], threads = [8, 4]>
!a = !tile.view<f32, [-1], [16], space = 1>
!c = !tile.registers<16x16xf32, #own>
!sa = !tile.shared<16x16xf32, pad = 4, stages = 2>
!sb = !tile.shared<16x16xf32, pad = 0, stages = 2>

// CHECK-LABEL: llvm.func @step(
// CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %{{[a-z0-9]+}}: !llvm.ptr<3>, %[[ROWS:[a-z0-9]+]]: i64,
llvm.func @step(%a: !llvm.ptr<1>, %m: !llvm.ptr<3>, %rows: i64, %stride: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %none = arith.constant 0.0 : f32
  %v = tile.view %a strides(%stride, %one) sizes(%rows) : !llvm.ptr<1> -> !a
  %sa = tile.shared %m : !sa
  %sb = tile.shared %m : !sb
  // A row beyond the matrix: no byte is read, 16 become 0.
  // CHECK: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[ROWS]] : i64
  // CHECK: %[[BYTES:.*]] = arith.select %[[IN]], %{{.*}}, %{{.*}} : i32
  // CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg, %[[BYTES]]
  tile.copy %v[%zero, %zero], %sa[%zero] {layout = #move, in_bounds = array<i1: false, true>, async} : !a, !sa
  // CHECK: nvvm.cp.async.commit.group
  // CHECK: nvvm.cp.async.wait.group 0
  // CHECK: nvvm.barrier
  tile.commit
  tile.wait 0
  tile.barrier
  %c = tile.splat %none : f32 -> !c
  // CHECK: scf.for {{.*}} -> (f32, f32, f32, f32, f32, f32, f32, f32) : i64
  %sum = scf.for %i = %zero to %two step %one iter_args(%acc = %c) -> (!c) : i64 {
    // The left operand's terms are adjacent: four of each row at once; of the right one two columns. So it is said.
    // CHECK-COUNT-4: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
    // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
    // CHECK-COUNT-8: llvm.intr.fma
    // CHECK: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
    %next = tile.mma %acc, %sa[%i], %sb[%i] {reads = #tile.reads<terms = 4, lhs = 4, rhs = 2>} : !c, !sa, !sb
    // CHECK: scf.yield {{.*}} : f32, f32, f32, f32, f32, f32, f32, f32
    scf.yield %next : !c
  }
  // CHECK-COUNT-8: math.tanh
  %t = tile.map(%sum) : (!c) -> !c {
  ^bb0(%x: f32):
    %y = math.tanh %x : f32
    tile.yield %y : f32
  }
  // CHECK-COUNT-4: llvm.store %{{.*}} {alignment = 8 : i64} : vector<2xf32>, !llvm.ptr<1>
  tile.store %t, %v[%zero, %zero] {in_bounds = array<i1: true, true>, width = 2 : i64} : !c, !a
  llvm.return
}

// Four terms at a time in accesses of two; columns one by one; the terms in their order.
// CHECK-LABEL: llvm.func @narrow(
llvm.func @narrow(%m: !llvm.ptr<3>, %x: f32) {
  %zero = arith.constant 0 : i64
  %sa = tile.shared %m : !sa
  %sb = tile.shared %m : !sb
  %c = tile.splat %x : f32 -> !c
  // CHECK-COUNT-8: llvm.load %{{.*}} {alignment = 8 : i64} : !llvm.ptr<3> -> vector<2xf32>
  // CHECK-NOT: -> vector
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
  // CHECK-COUNT-8: llvm.intr.fma
  // CHECK-COUNT-2: llvm.load %{{.*}} {alignment = 4 : i64} : !llvm.ptr<3> -> f32
  %d = tile.mma %c, %sa[%zero], %sb[%zero] {reads = #tile.reads<terms = 4, lhs = 2, rhs = 1>} : !c, !sa, !sb
  llvm.return
}

// Without a word of it element by element, term by term.
// CHECK-LABEL: llvm.func @elements(
// CHECK-NOT: llvm.load {{.*}} vector
// CHECK-LABEL: llvm.func @digits(
llvm.func @elements(%m: !llvm.ptr<3>, %x: f32) {
  %zero = arith.constant 0 : i64
  %sa = tile.shared %m : !sa
  %sb = tile.shared %m : !sb
  %c = tile.splat %x : f32 -> !c
  %d = tile.mma %c, %sa[%zero], %sb[%zero] : !c, !sa, !sb
  llvm.return
}

// Integers are extended and multiplied; rows of two digits.
!ci = !tile.registers<16x16xi32, #own>
!vi = !tile.view<i32, [-1, 4], [16]>
!si = !tile.shared<16x16xi8, pad = 16, stages = 1>
llvm.func @digits(%a: !llvm.ptr, %m: !llvm.ptr<3>, %n: i64, %s0: i64, %s1: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = tile.view %a strides(%s0, %s1, %one) sizes(%n) : !llvm.ptr -> !vi
  %s = tile.shared %m : !si
  // CHECK: arith.remui
  // CHECK: arith.divui
  // CHECK: scf.if
  // CHECK: llvm.load {{.*}} -> i32
  %c = tile.load %v[%zero, %zero] : !vi -> !ci
  // CHECK: arith.extui %{{.*}} : i8 to i32
  // CHECK: arith.extsi %{{.*}} : i8 to i32
  // CHECK: arith.muli
  // CHECK: arith.addi
  %d = tile.mma %c, %s[%zero], %s[%zero] {lhs_unsigned} : !ci, !si, !si
  tile.store %d, %v[%zero, %zero] : !ci, !vi
  llvm.return
}

// Pieces of 4 x 8 threads, two beside each other: thread t is in row (t / 32 / 2) * 4 + t mod 32 / 8.
// CHECK-LABEL: llvm.func @warps(
#warps = #tile.blocked<vector = [1, 1], threads = [8, 16], warp = [4, 8]>
llvm.func @warps(%a: !llvm.ptr, %x: f32, %s0: i64, %s1: i64) {
  %zero = arith.constant 0 : i64
  %v = tile.view %a strides(%s0, %s1) : !llvm.ptr -> !tile.view<f32, [8], [16]>
  %c = tile.splat %x : f32 -> !tile.registers<8x16xf32, #warps>
  // CHECK: %[[T:.*]] = nvvm.read.ptx.sreg.tid.x
  // CHECK: %[[W:.*]] = arith.divui %[[T]], %{{.*}} : i32
  // CHECK: %[[WR:.*]] = arith.divui %[[W]], %{{.*}} : i32
  // CHECK: %[[L:.*]] = arith.remui %[[T]], %{{.*}} : i32
  // CHECK: %[[LR:.*]] = arith.divui %[[L]], %{{.*}} : i32
  // CHECK: %[[FIRST:.*]] = arith.muli %[[WR]], %{{.*}} : i32
  // CHECK: arith.addi %[[FIRST]], %[[LR]] : i32
  tile.store %c, %v[%zero, %zero] {in_bounds = array<i1: true, true>} : !tile.registers<8x16xf32, #warps>, !tile.view<f32, [8], [16]>
  llvm.return
}

// Warps multiply fragments: four pieces of 8 x 8 halves of the left operand, whose terms are adjacent, and of the right one,
// which is transposed on its way; two groups of rows and two of columns for each of two steps of 16 terms.
// CHECK-LABEL: llvm.func @fragments(
#lanes = #tile.blocked<vector = [1, 2], threads = [16, 8], warp = [8, 4]>
!f = !tile.registers<32x32xf32, #lanes>
!fa = !tile.shared<32x32xf16, pad = 8, stages = 2>
!fb = !tile.shared<32x32xf16, pad = 8, stages = 2>
llvm.func @fragments(%m: !llvm.ptr<3>, %i: i64) {
  %none = arith.constant 0.0 : f32
  %c = tile.splat %none : f32 -> !f
  %a = tile.shared %m : !fa
  %b = tile.shared %m : !fb
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK: nvvm.ldmatrix %{{.*}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, num = 4 : i32
  // CHECK-COUNT-2: nvvm.mma.sync
  // CHECK: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<col>
  // CHECK: nvvm.ldmatrix %{{.*}} layout = #nvvm.mma_layout<row>
  // CHECK-COUNT-2: nvvm.mma.sync {{.*}}shape = #nvvm.shape<m = 16, n = 8, k = 16>
  // CHECK-NOT: nvvm.mma.sync
  %d = tile.mma %c, %a[%i], %b[%i] {fragments} : !f, !fa, !fb
  // CHECK: llvm.return
  llvm.return
}

// Twice as many threads as the tile has rows: half of them move nothing.
#wide = #tile.blocked<vector = [1, 4], threads = [32, 4]>
// CHECK-LABEL: llvm.func @beyond(
// CHECK: %[[ROWS:.*]] = arith.constant 16 : i64
// CHECK-NEXT: %[[IN:.*]] = arith.cmpi slt, %{{.*}}, %[[ROWS]] : i64
// CHECK: scf.if %[[IN]] {
// CHECK: nvvm.cp.async.shared.global %{{.*}}, %{{.*}}, 16, cache =  cg
llvm.func @beyond(%a: !llvm.ptr<1>, %m: !llvm.ptr<3>, %rows: i64, %stride: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = tile.view %a strides(%stride, %one) sizes(%rows) : !llvm.ptr<1> -> !a
  %sa = tile.shared %m : !sa
  tile.copy %v[%zero, %zero], %sa[%zero] {layout = #wide, in_bounds = array<i1: true, true>, async} : !a, !sa
  llvm.return
}

// Tiles side by side: a thread has the same elements, a row of each after the other; and of a part of them, none of the others.
// CHECK-LABEL: llvm.func @beside(
// CHECK-SAME: %[[X:[a-z0-9]+]]: f32, %[[Y:[a-z0-9]+]]: f32
// CHECK-COUNT-2: llvm.store %[[X]], %{{.*}} : f32, !llvm.ptr
// CHECK-COUNT-2: llvm.store %[[Y]], %{{.*}} : f32, !llvm.ptr
// CHECK-COUNT-2: llvm.store %[[X]], %{{.*}} : f32, !llvm.ptr
// CHECK-COUNT-2: llvm.store %[[Y]], %{{.*}} : f32, !llvm.ptr
// CHECK-COUNT-4: llvm.store %[[Y]], %{{.*}} : f32, !llvm.ptr
// CHECK-NOT: llvm.store
!one = !tile.registers<8x16xf32, #own>
!two = !tile.registers<8x32xf32, #own>
llvm.func @beside(%x: f32, %y: f32, %a: !llvm.ptr, %stride: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %v = tile.view %a strides(%stride, %one) : !llvm.ptr -> !tile.view<f32, [8], [32]>
  %p = tile.splat %x : f32 -> !one
  %q = tile.splat %y : f32 -> !one
  %all = tile.concat %p, %q : !one, !one -> !two
  tile.store %all, %v[%zero, %zero] {in_bounds = array<i1: true, true>} : !two, !tile.view<f32, [8], [32]>
  %second = tile.part %all[1] : !two -> !one
  tile.store %second, %v[%zero, %zero] {in_bounds = array<i1: true, true>} : !one, !tile.view<f32, [8], [32]>
  llvm.return
}
