// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop around two things that need nothing of each other becomes two loops, each with all of its parallel dimensions.
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a" --remarks-filter="coarsen" --remark-policy=all -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=SAID
// Cores share out loops inside of one, too:
// RUN: ft-opt %s --ft-compile="to=coarsen target=cpu" --remarks-filter="coarsen" --remark-policy=all 2>&1 | FileCheck %s --check-prefix=CPU
// The pass alone, in a pipeline of one's own, has a machine of its own:
// RUN: ft-opt %s --ft-compile="to=coarsen target=cpu" -o %t.cpu.mlir
// RUN: ft-opt %t.cpu.mlir --etdg-fission="machine=h200" | FileCheck %s
// RUN: ft-opt %t.cpu.mlir --etdg-fission | FileCheck %s --check-prefix=ONE
// RUN: not ft-opt %t.cpu.mlir --etdg-fission="machine=nowhere" 2>&1 | FileCheck %s --check-prefix=NOWHERE
// NOWHERE: error: {{.*}}nowhere
// The same values, and the loops of the schedule give them:
// RUN: %ft_bin/ft-run %s --entry=apart --engine=emulate --compare=interpret --dim B=3 --dim L=5 --dim M=2 | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=three --engine=emulate --compare=interpret --dim B=2 --dim L=4 --dim M=3 | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=chained --engine=emulate --compare=interpret --dim B=3 --dim L=5 --dim M=2 | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=widened --engine=emulate --compare=interpret --dim A=2 --dim B=3 --dim L=5 --dim M=2 | FileCheck %s --check-prefix=EQUAL
// With a loop that gives each SM an iteration, what one part leaves to the next stays near:
// RUN: sed 's/A = 2/A = 50/' %s | ft-opt --ft-compile="to=coarsen target=sm_90a" --remarks-filter="coarsen" --remark-policy=all 2>&1 | FileCheck %s --check-prefix=NEAR
// NEAR: remark: [Missed] fission{{.*}}each unit of the machine has an iteration, and finds near what one leaves to the next"{{.*}}loops=1
// NEAR-LABEL: etdg.graph @widened
// NEAR: etdg.block @{{r[0-9]+}} [map, map] (i, j) in [0, A) x [0, B)
// NEAR: (i, j | k) in [0, L)
// EQUAL: {{^}}equal

!t = tensor<16x16xf32>

// CHECK-LABEL: etdg.graph @apart
// CHECK: etdg.block @[[A:r[0-9]+]] [map, map] (i, j) in [0, B) x [0, L)
// CHECK: linalg.matmul
// CHECK: etdg.block @[[A]]_1 [map, map] (i, j) in [0, B) x [0, M)
// CHECK: linalg.matmul
// CHECK-NOT: etdg.block
// SAID: remark: [Passed] fission{{.*}}each gets a loop of its own", block=[[A:r[0-9]+]], loops=2
// CPU: remark: [Missed] fission{{.*}}one loop: the cores of a machine share out the loops inside of one, too", block={{r[0-9]+}}, loops=1
// ONE-LABEL: etdg.graph @apart
// ONE: etdg.block @{{r[0-9]+}} [map] (i) in [0, B) {
// ONE: (i | j) in [0, L)
// ONE: (i | j) in [0, M)
func.func @apart(%as: !ft.list<[B, L], !t>, %bs: !ft.list<[B, M], !t>, %w: !t) -> (!ft.list<[B, L], !t>, !ft.list<[B, M], !t>) {
  %zero = arith.constant dense<0.0> : !t
  %ys, %zs = ft.map (%a, %b = %as, %bs : !ft.list<[B, L], !t>, !ft.list<[B, M], !t>) -> !ft.list<[B, L], !t>, !ft.list<[B, M], !t> {
    %ya = ft.map (%x = %a : !ft.list<[L], !t>) -> !ft.list<[L], !t> {
      %y = linalg.matmul ins(%x, %w : !t, !t) outs(%zero : !t) -> !t
      ft.yield %y : !t
    }
    %zb = ft.map (%x = %b : !ft.list<[M], !t>) -> !ft.list<[M], !t> {
      %z = linalg.matmul ins(%x, %w : !t, !t) outs(%x : !t) -> !t
      ft.yield %z : !t
    }
    ft.yield %ya, %zb : !ft.list<[L], !t>, !ft.list<[M], !t>
  }
  return %ys, %zs : !ft.list<[B, L], !t>, !ft.list<[B, M], !t>
}

// Two parts have no product: these stay one loop, beside that of the part that has one.
// CHECK-LABEL: etdg.graph @three
// CHECK: etdg.block @[[A:r[0-9]+]] [map] (i) in [0, B) {
// CHECK-NEXT: etdg.block @{{r[0-9]+}} [map] (i | j) in [0, L)
// CHECK: etdg.block @{{r[0-9]+}} [map] (i | j) in [0, M)
// CHECK: etdg.block @[[A]]_1 [map, map] (i, j) in [0, B) x [0, L + M)
// CHECK: linalg.matmul
// CHECK-NOT: etdg.block
// SAID: remark: [Passed] fission{{.*}}loops=2
func.func @three(%as: !ft.list<[B, L], !t>, %bs: !ft.list<[B, M], !t>, %cs: !ft.list<[B, L + M], !t>, %w: !t)
    -> (!ft.list<[B, L], !t>, !ft.list<[B, M], !t>, !ft.list<[B, L + M], !t>) {
  %zero = arith.constant dense<0.0> : !t
  %ys, %zs, %ps = ft.map (%a, %b, %c = %as, %bs, %cs : !ft.list<[B, L], !t>, !ft.list<[B, M], !t>, !ft.list<[B, L + M], !t>)
      -> !ft.list<[B, L], !t>, !ft.list<[B, M], !t>, !ft.list<[B, L + M], !t> {
    %ya = ft.map (%x = %a : !ft.list<[L], !t>) -> !ft.list<[L], !t> {
      %y = math.exp %x : !t
      ft.yield %y : !t
    }
    %zb = ft.map (%x = %b : !ft.list<[M], !t>) -> !ft.list<[M], !t> {
      %z = math.tanh %x : !t
      ft.yield %z : !t
    }
    %pc = ft.map (%x = %c : !ft.list<[L + M], !t>) -> !ft.list<[L + M], !t> {
      %p = linalg.matmul ins(%x, %w : !t, !t) outs(%zero : !t) -> !t
      ft.yield %p : !t
    }
    ft.yield %ya, %zb, %pc : !ft.list<[L], !t>, !ft.list<[M], !t>, !ft.list<[L + M], !t>
  }
  return %ys, %zs, %ps : !ft.list<[B, L], !t>, !ft.list<[B, M], !t>, !ft.list<[B, L + M], !t>
}

// Without any product all stays one loop.
// CHECK-LABEL: etdg.graph @none
// CHECK: etdg.block @{{r[0-9]+}} [map] (i) in [0, B) {
// CHECK-NEXT: etdg.block @{{r[0-9]+}} [map] (i | j) in [0, L)
// CHECK: etdg.block @{{r[0-9]+}} [map] (i | j) in [0, M)
// SAID: remark: [Missed] fission{{.*}}without a product more is read twice than is gained{{.*}}loops=1
func.func @none(%as: !ft.list<[B, L], !t>, %bs: !ft.list<[B, M], !t>) -> (!ft.list<[B, L], !t>, !ft.list<[B, M], !t>) {
  %ys, %zs = ft.map (%a, %b = %as, %bs : !ft.list<[B, L], !t>, !ft.list<[B, M], !t>) -> !ft.list<[B, L], !t>, !ft.list<[B, M], !t> {
    %ya = ft.map (%x = %a : !ft.list<[L], !t>) -> !ft.list<[L], !t> {
      %y = math.exp %x : !t
      ft.yield %y : !t
    }
    %zb = ft.map (%x = %b : !ft.list<[M], !t>) -> !ft.list<[M], !t> {
      %z = math.tanh %x : !t
      ft.yield %z : !t
    }
    ft.yield %ya, %zb : !ft.list<[L], !t>, !ft.list<[M], !t>
  }
  return %ys, %zs : !ft.list<[B, L], !t>, !ft.list<[B, M], !t>
}

// What one reads of the other is there in each iteration: they stay together.
// CHECK-LABEL: etdg.graph @chained
// CHECK: etdg.block @{{r[0-9]+}} [map] (i) in [0, B) {
// CHECK: etdg.block @{{r[0-9]+}} [map] (i | j) in [0, M)
func.func @chained(%as: !ft.list<[B, L], !t>, %bs: !ft.list<[B, M], !t>, %w: !t) -> !ft.list<[B, M], !t> {
  %zero = arith.constant dense<0.0> : !t
  %zs = ft.map (%a, %b = %as, %bs : !ft.list<[B, L], !t>, !ft.list<[B, M], !t>) -> !ft.list<[B, M], !t> {
    %sum = ft.reduce (%x = %a : !ft.list<[L], !t>) init (%s = %zero : !t) -> !t {
      %y = linalg.matmul ins(%x, %w : !t, !t) outs(%s : !t) -> !t
      ft.yield %y : !t
    } combine (%l, %r) {
      %y = arith.addf %l, %r : !t
      ft.yield %y : !t
    } identity (%zero : !t)
    %zb = ft.map (%x = %b : !ft.list<[M], !t>) -> !ft.list<[M], !t> {
      %z = linalg.matmul ins(%x, %sum : !t, !t) outs(%zero : !t) -> !t
      ft.yield %z : !t
    }
    ft.yield %zb : !ft.list<[M], !t>
  }
  return %zs : !ft.list<[B, M], !t>
}

// With work for more SMs than the loop has iterations it is taken apart; what is handed on gets planes for each of them.
// CHECK-LABEL: etdg.graph @widened
// CHECK: %[[KEPT:.*]] = etdg.buffer : !etdg.buffer<[A, B, L], tensor<64x64xf32>>
// CHECK: etdg.block @[[A:r[0-9]+]] [map, map, map] (i, j, k) in [0, A) x [0, B) x [0, L)
// CHECK: writes (%[[KEPT]][i, j, k])
// CHECK: etdg.block @[[A]]_1 [map, map, map] (i, j, k) in [0, A) x [0, B) x [0, M)
// CHECK: (i, j, k | l) in [0, L)
// CHECK: %[[KEPT]][i, j, l]
// SAID: remark: [Passed] fission{{.*}}that need each other: each gets a loop of its own{{.*}}loops=2
!l = tensor<64x64xf32>
func.func @widened(%as: !ft.list<[A, B, L], !l>, %bs: !ft.list<[A, B, M], !l>, %w: !l) -> !ft.list<[A, B, M], !l>
    attributes {ft.lengths = {A = 2 : i64, B = 3 : i64, L = 64 : i64, M = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !l
  %all = ft.map (%ar, %br = %as, %bs : !ft.list<[A, B, L], !l>, !ft.list<[A, B, M], !l>) -> !ft.list<[A, B, M], !l> {
    %zs = ft.map (%a, %b = %ar, %br : !ft.list<[B, L], !l>, !ft.list<[B, M], !l>) -> !ft.list<[B, M], !l> {
      %ks = ft.map (%x = %a : !ft.list<[L], !l>) -> !ft.list<[L], !l> {
        %k = linalg.matmul ins(%x, %w : !l, !l) outs(%zero : !l) -> !l
        ft.yield %k : !l
      }
      %zb = ft.map (%q = %b : !ft.list<[M], !l>) -> !ft.list<[M], !l> {
        %o = ft.reduce (%k = %ks : !ft.list<[L], !l>) init (%s = %zero : !l) -> !l {
          %z = linalg.matmul ins(%q, %k : !l, !l) outs(%s : !l) -> !l
          ft.yield %z : !l
        } combine (%l, %r) {
          %y = arith.addf %l, %r : !l
          ft.yield %y : !l
        } identity (%zero : !l)
        ft.yield %o : !l
      }
      ft.yield %zb : !ft.list<[M], !l>
    }
    ft.yield %zs : !ft.list<[B, M], !l>
  }
  return %all : !ft.list<[A, B, M], !l>
}
