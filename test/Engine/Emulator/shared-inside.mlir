// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two scans in the body of a map become one kernel whose nests share their loop, so that of the
// first one's states only those live that the second one still reads. A GPU's code must walk the
// nests in that order, with the guards that their different ranges need.
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" | FileCheck %s
// CHECK-COUNT-3: etdg.kernel shared 1
// RUN: %python %S/Inputs/emulate.py %ft_bin/ft-run %s 1 7 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 3 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!x = tensor<1x3xi32>
!w = tensor<3x3xi32>

func.func @lags(%xss: !ft.list<[N, L], !x>, %w: !w) -> (!ft.list<[N, L], !x>, !ft.list<[N, L], !x>) {
  %z = arith.constant dense<0> : !x
  %one = arith.constant dense<1> : !x
  %a, %b = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %first = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !x) {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      ft.yield %m : !x
    }
    %p, %q = ft.scanl (%x, %f = %xs, %first : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%h, %k = %z, %one : !x, !x) lag 3 {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = arith.addi %m, %f : !x
      %kt = arith.muli %k, %m : !x
      ft.yield %t, %kt : !x, !x
    }
    ft.yield %p, %q : !ft.list<[L], !x>, !ft.list<[L], !x>
  }
  return %a, %b : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>
}

// The second scan begins two elements later.
func.func @later(%xss: !ft.list<[N, L], !x>, %w: !w) -> !ft.list<[N, L - 2], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %z = arith.constant dense<1> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %first = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !x) {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      ft.yield %m : !x
    }
    %some = ft.slice %first[2 to L] : !ft.list<[L], !x>
    %p = ft.scanl (%f = %some : !ft.list<[L - 2], !x>) init (%h = %z : !x) {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%f : !x) -> !x
      ft.yield %m : !x
    }
    ft.yield %p : !ft.list<[L - 2], !x>
  }
  return %r : !ft.list<[N, L - 2], !x>
}

// Three in a row.
func.func @three(%xss: !ft.list<[N, L], !x>, %w: !w) -> !ft.list<[N, L], !x> {
  %z = arith.constant dense<2> : !x
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %first = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %z : !x) {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      ft.yield %m : !x
    }
    %second = ft.scanl (%x = %first : !ft.list<[L], !x>) init (%h = %z : !x) lag 2 {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      ft.yield %m : !x
    }
    %third = ft.scanl (%x = %second : !ft.list<[L], !x>) init (%h = %z : !x) {
      %m = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      ft.yield %m : !x
    }
    ft.yield %third : !ft.list<[L], !x>
  }
  return %r : !ft.list<[N, L], !x>
}
