// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention with masks, in the registers of warp groups: causal, windows, rows without scores, other keys than queries, a bias of positions with a soft cap;
// widths that are no multiple of a slab, lengths that no tile divides. Thread by thread and by the definitions of operations on tiles, beside the interpreter.
// Each is made of the function below by replacements (masks.py). Where scores are as low as what hides others, thread blocks compute all of them.
// RUN: %python %S/Inputs/masks.py %ft_bin %s %S/../../machines/h200.json | FileCheck %s
// CHECK: causal: blocks of 128 columns have a mask where it cuts them; blocks without scores are left out
// CHECK: window: {{.*}}; blocks without scores are left out
// CHECK: narrow: {{.*}}; blocks without scores are left out
// CHECK: twice: {{.*}}; blocks without scores are left out
// CHECK: late: {{.*}}; blocks without scores are left out
// CHECK: keys: {{.*}}; blocks without scores are left out
// CHECK: alibi: {{.*}}; blocks without scores are left out
// CHECK: bf16: {{.*}}; blocks without scores are left out
// CHECK: weights: {{.*}}; blocks without scores are left out
// A sum that each block adds to.
// CHECK: counted: {{.*}}; blocks without scores stay, as they may change what the loop carries
// Scores that are as low.
// CHECK: low: {{.*}}; blocks without scores are left out
// CHECK: lower: {{.*}}; blocks without scores are left out
// Other forms of the same conditions.
// CHECK: hides: {{.*}}; blocks without scores are left out
// CHECK: either: {{.*}}; blocks without scores are left out
// CHECK: near: {{.*}}; blocks without scores are left out
// CHECK: wide: {{.*}}; blocks without scores are left out
// CHECK: one: {{.*}}; blocks without scores are left out
// Conditions that limits don't tell: some rows have no score.
// CHECK: parity: {{.*}}; blocks without scores are left out
// CHECK: none: {{.*}}; blocks without scores are left out
// CHECK: {{[1-9][0-9]*}} runs, 0 wrong
//
// The branch with the mask stands after both products of a rotated loop, whose range depends on the task; tasks with more blocks come first.
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/; s/L = 4/L = 32/' %examples/flash_attention_causal.mlir | ft-opt --ft-compile="to=threads target=sm_90a machine=%S/../../machines/h200.json" \
// RUN:   | ft-opt --tile-split-masks --tile-hoist-fetches --tile-rotate-loops | FileCheck %s --check-prefix=LOOP
// Tasks that a thread block is given in each step stay as they are dealt.
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/; s/L = 4/L = 32/' %examples/flash_attention_causal.mlir | ft-opt --ft-compile="to=threads target=sm_90a machine=%S/../../machines/h200.json" \
// RUN:   | sed 's/{tile.in_turn}//' | ft-opt --tile-split-masks | FileCheck %s --check-prefix=FIXED
// FIXED: scf.for %[[TASK:[a-z0-9]+]] = %{{[0-9]+}} to %{{[0-9]+}} step %{{[0-9]+}} : i64 {
// FIXED: scf.if
// FIXED-NEXT: arith.remui %[[TASK]], %{{.*}} : i64
// FIXED-NEXT: arith.divui %[[TASK]], %{{.*}} : i64
//
// LOOP: scf.for %[[TURN:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[ASKED:.*]] = %{{.*}}) -> (i32)
// LOOP: %[[FIRST:.*]] = arith.cmpi eq, %[[TURN]]
// LOOP: scf.for %[[TASK:.*]] = %[[OWN:[0-9]+]] to %{{.*}} step %[[BLOCKS:[0-9]+]]
// LOOP: arith.andi %[[ASKED]], %{{.*}}
// LOOP-NEXT: arith.constant 0
// LOOP-NEXT: arith.cmpi ne
// LOOP-NEXT: scf.if
// LOOP: %[[FROM:.*]] = arith.subi %[[TASK]], %[[OWN]] : i64
// LOOP-NEXT: arith.divui %[[FROM]], %[[BLOCKS]] : i64
// LOOP: arith.andi %{{.*}}, %[[FIRST]] : i1
// LOOP: tile.mma
// LOOP: scf.for %[[J:[a-z0-9]+]] = %{{.*}} iter_args
// LOOP: tile.mma
// LOOP: tile.mma
// LOOP: %[[CUT:.*]] = arith.cmpi sge, %[[J]], %{{.*}} : i64
// LOOP: scf.if %[[CUT]] ->
// LOOP: arith.cmpi sge
// LOOP: arith.select
// LOOP: } else {
// LOOP-NOT: arith.select
// LOOP: scf.yield
// LOOP: tile.raise %[[FLAG:[0-9]+]], %{{.*}}
// LOOP: scf.if %[[FIRST]] -> (i32)
// LOOP-NEXT: tile.raised %[[FLAG]]

// A result that may lie where the queries do can't be computed again.
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a machine=%S/../../machines/h200.json" | sed 's/\(.*\\22writeback\\22:\)-1/\10/' \
// RUN:   | ft-opt --tile-split-masks --remarks-filter=gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: blocks without scores stay, as results may lie where operands do

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#none = affine_map<(r, c) -> ()>
#both = affine_map<(r, c) -> (r, c)>

!x = tensor<32x48xf16>
!p = tensor<32x32xf16>
!r = tensor<32xf16>

func.func @attention(%qs: !ft.list<[L], !x> {ft.gen = #ft.normal<1.0>}, %ks: !ft.list<[L], !x> {ft.gen = #ft.normal<1.0>},
    %vs: !ft.list<[L], !x> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[L], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %low = arith.constant dense<-3.0e4> : !r
  %lp = arith.constant dense<-3.0e4> : !p
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !x
  %zp = arith.constant dense<0.0> : !p
  %scale = arith.constant dense<0.125> : !p
  %is = ft.iota : !ft.list<[L], tensor<i64>>
  %js = ft.iota : !ft.list<[L], tensor<i64>>
  %os = ft.map (%q, %i = %qs, %is : !ft.list<[L], !x>, !ft.list<[L], tensor<i64>>) -> !ft.list<[L], !x> {
    %mf, %sf, %of = ft.reduce (%k, %v, %j = %ks, %vs, %js : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], tensor<i64>>)
        init (%m, %s, %o = %low, %zr, %zo : !r, !r, !x) -> !r, !r, !x {
      %st = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%q, %k : !x, !x) outs(%zp : !p) -> !p
      %sc = arith.mulf %st, %scale : !p
      %be = tensor.empty() : !p
      %seen = linalg.generic {indexing_maps = [#none, #none, #both, #both], iterator_types = ["parallel", "parallel"]}
          ins(%i, %j, %sc : tensor<i64>, tensor<i64>, !p) outs(%be : !p) {
      ^bb0(%bi: i64, %bj: i64, %x: f16, %old: f16):
        %n = arith.constant 32 : i64
        %lowest = arith.constant -3.0e4 : f16
        %r = linalg.index 0 : index
        %c = linalg.index 1 : index
        %ri = arith.index_cast %r : index to i64
        %ci = arith.index_cast %c : index to i64
        %qi = arith.muli %bi, %n : i64
        %kj = arith.muli %bj, %n : i64
        %row = arith.addi %qi, %ri : i64
        %col = arith.addi %kj, %ci : i64
        // The mask.
        %ok = arith.cmpi sge, %row, %col : i64
        // What of the score is kept.
        %z = arith.addf %x, %x : f16
        %y = arith.select %ok, %z, %lowest : f16
        linalg.yield %y : f16
      } -> !p
      %m1 = linalg.reduce { arith.maximumf } ins(%seen : !p) outs(%m : !r) dimensions = [1]
      %mb = linalg.broadcast ins(%m1 : !r) outs(%be : !p) dimensions = [1]
      %d = arith.subf %seen, %mb : !p
      %p = math.exp %d : !p
      %dm = arith.subf %m, %m1 : !r
      %fix = math.exp %dm : !r
      %s0 = arith.mulf %s, %fix : !r
      %s1 = linalg.reduce { arith.addf } ins(%p : !p) outs(%s0 : !r) dimensions = [1]
      %oe = tensor.empty() : !x
      %fixb = linalg.broadcast ins(%fix : !r) outs(%oe : !x) dimensions = [1]
      %o0 = arith.mulf %o, %fixb : !x
      %o1 = linalg.matmul ins(%p, %v : !p, !x) outs(%o0 : !x) -> !x
      ft.yield %m1, %s1, %o1 : !r, !r, !x
    } combine (%ma, %sa, %oa, %mc, %sb, %ob) {
      %mx = arith.maximumf %ma, %mc : !r
      %da = arith.subf %ma, %mx : !r
      %db = arith.subf %mc, %mx : !r
      %fa = math.exp %da : !r
      %fb = math.exp %db : !r
      %ta = arith.mulf %sa, %fa : !r
      %tb = arith.mulf %sb, %fb : !r
      %sx = arith.addf %ta, %tb : !r
      %ce = tensor.empty() : !x
      %fab = linalg.broadcast ins(%fa : !r) outs(%ce : !x) dimensions = [1]
      %fbb = linalg.broadcast ins(%fb : !r) outs(%ce : !x) dimensions = [1]
      %ua = arith.mulf %oa, %fab : !x
      %ub = arith.mulf %ob, %fbb : !x
      %ox = arith.addf %ua, %ub : !x
      ft.yield %mx, %sx, %ox : !r, !r, !x
    } identity (%low, %zr, %zo : !r, !r, !x)
    %e = tensor.empty() : !x
    %sfb = linalg.broadcast ins(%sf : !r) outs(%e : !x) dimensions = [1]
    %out = arith.divf %of, %sfb : !x
    ft.yield %out : !x
  }
  return %os : !ft.list<[L], !x>
}
