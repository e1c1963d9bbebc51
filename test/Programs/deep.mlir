// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// More scans inside each other than split into first iterations and the rest: the code would double with each.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s --engine=interpret --to=storage --order=random --seed=3 | FileCheck %s
// RUN: ft-run %s --engine=emulate --target=sm_80 --compare=interpret --dim A=2 --dim B=3 --dim C=2 --dim D=2 --dim E=2 --dim L=4
// RUN: ft-opt %s --ft-compile=to=etdg --remarks-filter='etdg.*' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=GRAPH < %t.mlir
// CHECK: 1 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

// REMARK: remark: [Missed] whole {{.*}}'ft.scanr' stays one block: 6 scans are inside each other here
// REMARK: remark: [Missed] whole {{.*}}'ft.scanl' stays one block: 5 scans are inside each other here
// REMARK-NOT: stays one block

// Four scans split: sixteen leaves, not sixty-four. What the outer two carry is pieces of a read.
// GRAPH: etdg.block @r0 [scanl] (i) in [0, A) {
// GRAPH: etdg.block @r1 [scanl] (i | j) in [0, B) {
// GRAPH-COUNT-16: arith.subf
// GRAPH-NOT: arith.subf

!x = tensor<2xf32>
!v = !ft.list<[L], !x>
// Six scans inside each other: the outer two stay whole. One goes from the right, one has a lag of two.
// lengths: A * B * C * D * E * L <= 5000
// also: A=1 B=1 C=0 D=1 E=1 L=2; A=3 B=5 C=1 D=2 E=1 L=7; A=1 B=1 C=1 D=1 E=3 L=3
func.func @deep(%a: !ft.list<[A], !x>, %b: !ft.list<[B], !x>, %c: !ft.list<[C], !x>, %d: !ft.list<[D], !x>, %e: !ft.list<[E], !x>,
                %v: !v, %q: !x) -> (!ft.list<[A, L], !x>, !ft.list<[A], !x>) {
  %quarter = arith.constant dense<0.25> : !x
  %r0, %sums = ft.scanr (%a0 = %a : !ft.list<[A], !x>) init (%s0 = %v : !v) -> !ft.list<[A, L], !x>, !ft.list<[A], !x> {
    %r1 = ft.scanl (%b0 = %b : !ft.list<[B], !x>) init (%s1 = %s0 : !v) lag 2 -> !ft.list<[B, L], !x> {
      %r2 = ft.scanl (%c0 = %c : !ft.list<[C], !x>) init (%s2 = %s1 : !v) -> !ft.list<[C, L], !x> {
        %r3 = ft.scanl (%d0 = %d : !ft.list<[D], !x>) init (%s3 = %s2 : !v) -> !ft.list<[D, L], !x> {
          %r4 = ft.scanl (%e0 = %e : !ft.list<[E], !x>) init (%s4 = %s3 : !v) -> !ft.list<[E, L], !x> {
            %t = ft.scanl (%x = %s4 : !v) init (%h = %q : !x) -> !v {
              %y = arith.subf %x, %h : !x
              %y2 = arith.mulf %y, %e0 : !x
              %y3 = arith.addf %y2, %b0 : !x
              %y4 = arith.addf %y3, %a0 : !x
              %y5 = arith.mulf %y4, %quarter : !x
              ft.yield %y5 : !x
            }
            ft.yield %t : !v
          }
          %l4 = ft.last %r4 or %s3 : !ft.list<[E, L], !x>, !v
          ft.yield %l4 : !v
        }
        %l3 = ft.last %r3 or %s2 : !ft.list<[D, L], !x>, !v
        ft.yield %l3 : !v
      }
      %l2 = ft.last %r2 or %s1 : !ft.list<[C, L], !x>, !v
      ft.yield %l2 : !v
    }
    %sum = ft.foldl (%w = %s0 : !v) init (%h = %q : !x) -> !x {
      %y = arith.addf %w, %h : !x
      ft.yield %y : !x
    }
    %l1 = ft.last %r1 or %s0 : !ft.list<[B, L], !x>, !v
    ft.yield %l1 : !v emit %sum : !x
  }
  return %r0, %sums : !ft.list<[A, L], !x>, !ft.list<[A], !x>
}
