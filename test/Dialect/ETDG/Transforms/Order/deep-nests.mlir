// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans inside scans in mixed directions, grids and sweeps, and the steps that they take,
// by hand. Integers: the same bit for bit.
//
// RUN: %python %S/Inputs/nests.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 8 programs, 16 runs, 0 failures{{$}}

!x = tensor<1xi32>

// From the right, from the right, from the left.
// steps: D + E + L - 2
func.func @deep3_rrl(%xs: !ft.list<[L], !x>, %w0: !ft.list<[D], !x>, %w1: !ft.list<[E], !x>) -> !ft.list<[D, E, L], !x>
    attributes {ft.lengths = {D = 3 : i64, E = 4 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %a1 = ft.repeat %xs times E : !ft.list<[L], !x>
  %a2 = ft.repeat %c0 times L : !x
  %a3 = ft.repeat %a2 times E : !ft.list<[L], !x>
  %r25 = ft.scanr (%e4 = %w0 : !ft.list<[D], !x>) init (%s5 = %a1 : !ft.list<[E, L], !x>) -> !ft.list<[D, E, L], !x> {
    %a6 = ft.repeat %c0 times L : !x
    %r24 = ft.scanr (%e7, %e8 = %s5, %w1 : !ft.list<[E, L], !x>, !ft.list<[E], !x>) init (%s9 = %a6 : !ft.list<[L], !x>) -> !ft.list<[E, L], !x> {
      %r23 = ft.scanl (%e10, %e11 = %e7, %s9 : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s12 = %c0 : !x) -> !ft.list<[L], !x> {
        %v13 = arith.muli %e10, %c1 : !x
        %v14 = arith.addi %v13, %e11 : !x
        %v15 = arith.subi %v14, %c2 : !x
        %v16 = arith.muli %v15, %c3 : !x
        %v17 = arith.xori %v16, %e4 : !x
        %v18 = arith.muli %v17, %c1 : !x
        %v19 = arith.addi %v18, %e8 : !x
        %v20 = arith.subi %v19, %c2 : !x
        %v21 = arith.muli %v20, %c3 : !x
        %v22 = arith.xori %v21, %s12 : !x
        ft.yield %v22 : !x
      }
      ft.yield %r23 : !ft.list<[L], !x>
    }
    ft.yield %r24 : !ft.list<[E, L], !x>
  }
  return %r25 : !ft.list<[D, E, L], !x>
}

// All four directions mixed.
// steps: D + E + S + T - 3
func.func @deep4_rlrl(%xs: !ft.list<[T], !x>, %w0: !ft.list<[D], !x>, %w1: !ft.list<[E], !x>, %w2: !ft.list<[S], !x>) -> !ft.list<[D, E, S, T], !x>
    attributes {ft.lengths = {D = 3 : i64, E = 4 : i64, S = 5 : i64, T = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %a1 = ft.repeat %xs times S : !ft.list<[T], !x>
  %a2 = ft.repeat %a1 times E : !ft.list<[S, T], !x>
  %a3 = ft.repeat %c0 times T : !x
  %a4 = ft.repeat %a3 times S : !ft.list<[T], !x>
  %a5 = ft.repeat %a4 times E : !ft.list<[S, T], !x>
  %r40 = ft.scanr (%e6 = %w0 : !ft.list<[D], !x>) init (%s7 = %a2 : !ft.list<[E, S, T], !x>) -> !ft.list<[D, E, S, T], !x> {
    %a8 = ft.repeat %c0 times T : !x
    %a9 = ft.repeat %a8 times S : !ft.list<[T], !x>
    %r39 = ft.scanl (%e10, %e11 = %s7, %w1 : !ft.list<[E, S, T], !x>, !ft.list<[E], !x>) init (%s12 = %a9 : !ft.list<[S, T], !x>) -> !ft.list<[E, S, T], !x> {
      %a13 = ft.repeat %c0 times T : !x
      %r38 = ft.scanr (%e14, %e15, %e16 = %e10, %s12, %w2 : !ft.list<[S, T], !x>, !ft.list<[S, T], !x>, !ft.list<[S], !x>) init (%s17 = %a13 : !ft.list<[T], !x>) -> !ft.list<[S, T], !x> {
        %r37 = ft.scanl (%e18, %e19, %e20 = %e14, %e15, %s17 : !ft.list<[T], !x>, !ft.list<[T], !x>, !ft.list<[T], !x>) init (%s21 = %c0 : !x) -> !ft.list<[T], !x> {
          %v22 = arith.muli %e18, %c1 : !x
          %v23 = arith.addi %v22, %e19 : !x
          %v24 = arith.subi %v23, %c2 : !x
          %v25 = arith.muli %v24, %c3 : !x
          %v26 = arith.xori %v25, %e20 : !x
          %v27 = arith.muli %v26, %c1 : !x
          %v28 = arith.addi %v27, %e6 : !x
          %v29 = arith.subi %v28, %c2 : !x
          %v30 = arith.muli %v29, %c3 : !x
          %v31 = arith.xori %v30, %e11 : !x
          %v32 = arith.muli %v31, %c1 : !x
          %v33 = arith.addi %v32, %e16 : !x
          %v34 = arith.subi %v33, %c2 : !x
          %v35 = arith.muli %v34, %c3 : !x
          %v36 = arith.xori %v35, %s21 : !x
          ft.yield %v36 : !x
        }
        ft.yield %r37 : !ft.list<[T], !x>
      }
      ft.yield %r38 : !ft.list<[S, T], !x>
    }
    ft.yield %r39 : !ft.list<[E, S, T], !x>
  }
  return %r40 : !ft.list<[D, E, S, T], !x>
}

// Layers of three-dimensional grids: states are a plane, a row and a cell.
// steps: D + S + T + U - 3
func.func @grid3d(%xs: !ft.list<[U], !x>, %ys: !ft.list<[T], !x>, %vs: !ft.list<[S], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, S, T, U], !x>
    attributes {ft.lengths = {D = 2 : i64, S = 3 : i64, T = 3 : i64, U = 4 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %a1 = ft.repeat %xs times T : !ft.list<[U], !x>
  %a2 = ft.repeat %a1 times S : !ft.list<[T, U], !x>
  %a3 = ft.repeat %c0 times U : !x
  %a4 = ft.repeat %a3 times T : !ft.list<[U], !x>
  %r36 = ft.scanl (%e5 = %ws : !ft.list<[D], !x>) init (%s6 = %a2 : !ft.list<[S, T, U], !x>) -> !ft.list<[D, S, T, U], !x> {
    %r35 = ft.scanl (%e7, %e8 = %s6, %vs : !ft.list<[S, T, U], !x>, !ft.list<[S], !x>) init (%s9 = %a4 : !ft.list<[T, U], !x>) -> !ft.list<[S, T, U], !x> {
      %r34 = ft.scanl (%e10, %e11, %e12 = %e7, %s9, %ys : !ft.list<[T, U], !x>, !ft.list<[T, U], !x>, !ft.list<[T], !x>) init (%s13 = %a3 : !ft.list<[U], !x>) -> !ft.list<[T, U], !x> {
        %r33 = ft.scanl (%e14, %e15, %e16 = %e10, %e11, %s13 : !ft.list<[U], !x>, !ft.list<[U], !x>, !ft.list<[U], !x>) init (%s17 = %c0 : !x) -> !ft.list<[U], !x> {
          %v18 = arith.muli %e14, %c1 : !x
          %v19 = arith.addi %v18, %e15 : !x
          %v20 = arith.subi %v19, %c2 : !x
          %v21 = arith.muli %v20, %c3 : !x
          %v22 = arith.xori %v21, %e16 : !x
          %v23 = arith.muli %v22, %c1 : !x
          %v24 = arith.addi %v23, %e5 : !x
          %v25 = arith.subi %v24, %c2 : !x
          %v26 = arith.muli %v25, %c3 : !x
          %v27 = arith.xori %v26, %e8 : !x
          %v28 = arith.muli %v27, %c1 : !x
          %v29 = arith.addi %v28, %e12 : !x
          %v30 = arith.subi %v29, %c2 : !x
          %v31 = arith.muli %v30, %c3 : !x
          %v32 = arith.xori %v31, %s17 : !x
          ft.yield %v32 : !x
        }
        ft.yield %r33 : !ft.list<[U], !x>
      }
      ft.yield %r34 : !ft.list<[T, U], !x>
    }
    ft.yield %r35 : !ft.list<[S, T, U], !x>
  }
  return %r36 : !ft.list<[D, S, T, U], !x>
}

// A shift register of 4 whose cells also take their new left neighbour: (1, -1), (0, 1).
// steps: 2 * L + 2
func.func @ring_scan(%xs: !ft.list<[L], !x>) -> !ft.list<[L, 4], !x>
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %a1 = ft.repeat %c0 times 4 : !x
  %r13 = ft.scanl (%e2 = %xs : !ft.list<[L], !x>) init (%s3 = %a1 : !ft.list<[4], !x>) -> !ft.list<[L, 4], !x> {
    %a4 = ft.slice %s3[1 to 4] : !ft.list<[4], !x>
    %a5 = ft.repeat %e2 times 1 : !x
    %a6 = ft.concat %a4, %a5 : !ft.list<[3], !x>, !ft.list<[1], !x>
    %r12 = ft.scanl (%e7 = %a6 : !ft.list<[4], !x>) init (%s8 = %e2 : !x) -> !ft.list<[4], !x> {
      %v9 = arith.muli %e7, %c1 : !x
      %v10 = arith.addi %v9, %s8 : !x
      %v11 = arith.subi %v10, %c2 : !x
      ft.yield %v11 : !x
    }
    ft.yield %r12 : !ft.list<[4], !x>
  }
  return %r13 : !ft.list<[L, 4], !x>
}

// Gauss-Seidel sweeps: the new left and the old right neighbour.
// steps: L + 2 * T - 2
func.func @seidel(%xs: !ft.list<[L], !x>, %ts: !ft.list<[T], !x>) -> !ft.list<[T, L], !x>
    attributes {ft.lengths = {L = 6 : i64, T = 4 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r16 = ft.scanl (%e1 = %ts : !ft.list<[T], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[T, L], !x> {
    %a3 = ft.shift %s2 by -1 fill %c0 : !ft.list<[L], !x>, !x
    %r15 = ft.scanl (%e4, %e5 = %s2, %a3 : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s6 = %c0 : !x) -> !ft.list<[L], !x> {
      %v7 = arith.muli %e4, %c1 : !x
      %v8 = arith.addi %v7, %e5 : !x
      %v9 = arith.subi %v8, %c2 : !x
      %v10 = arith.muli %v9, %c3 : !x
      %v11 = arith.xori %v10, %e1 : !x
      %v12 = arith.muli %v11, %c1 : !x
      %v13 = arith.addi %v12, %s6 : !x
      %v14 = arith.subi %v13, %c2 : !x
      ft.yield %v14 : !x
    }
    ft.yield %r15 : !ft.list<[L], !x>
  }
  return %r16 : !ft.list<[T, L], !x>
}

// The same in two dimensions.
// steps: S + 2 * T + U - 3
func.func @seidel2d(%xss: !ft.list<[S, U], !x>, %ts: !ft.list<[T], !x>) -> !ft.list<[T, S, U], !x>
    attributes {ft.lengths = {S = 4 : i64, U = 5 : i64, T = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %a1 = ft.repeat %c0 times U : !x
  %r29 = ft.scanl (%e2 = %ts : !ft.list<[T], !x>) init (%s3 = %xss : !ft.list<[S, U], !x>) -> !ft.list<[T, S, U], !x> {
    %a4 = ft.shift %s3 by -1 fill %a1 : !ft.list<[S, U], !x>, !ft.list<[U], !x>
    %r28 = ft.scanl (%e5, %e6 = %s3, %a4 : !ft.list<[S, U], !x>, !ft.list<[S, U], !x>) init (%s7 = %a1 : !ft.list<[U], !x>) -> !ft.list<[S, U], !x> {
      %a8 = ft.shift %e5 by -1 fill %c0 : !ft.list<[U], !x>, !x
      %r27 = ft.scanl (%e9, %e10, %e11, %e12 = %e5, %e6, %s7, %a8 : !ft.list<[U], !x>, !ft.list<[U], !x>, !ft.list<[U], !x>, !ft.list<[U], !x>) init (%s13 = %c0 : !x) -> !ft.list<[U], !x> {
        %v14 = arith.muli %e9, %c1 : !x
        %v15 = arith.addi %v14, %e10 : !x
        %v16 = arith.subi %v15, %c2 : !x
        %v17 = arith.muli %v16, %c3 : !x
        %v18 = arith.xori %v17, %e11 : !x
        %v19 = arith.muli %v18, %c1 : !x
        %v20 = arith.addi %v19, %e12 : !x
        %v21 = arith.subi %v20, %c2 : !x
        %v22 = arith.muli %v21, %c3 : !x
        %v23 = arith.xori %v22, %e2 : !x
        %v24 = arith.muli %v23, %c1 : !x
        %v25 = arith.addi %v24, %s13 : !x
        %v26 = arith.subi %v25, %c2 : !x
        ft.yield %v26 : !x
      }
      ft.yield %r27 : !ft.list<[U], !x>
    }
    ft.yield %r28 : !ft.list<[S, U], !x>
  }
  return %r29 : !ft.list<[T, S, U], !x>
}

// Edit distance: three neighbours.
// steps: S + T - 1
func.func @edit(%a: !ft.list<[S], !x>, %b: !ft.list<[T], !x>) -> !ft.list<[S, T], !x>
    attributes {ft.lengths = {S = 4 : i64, T = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %a1 = ft.repeat %c0 times T : !x
  %r18 = ft.scanl (%e2 = %a : !ft.list<[S], !x>) init (%s3 = %a1 : !ft.list<[T], !x>) -> !ft.list<[S, T], !x> {
    %a4 = ft.shift %s3 by 1 fill %c0 : !ft.list<[T], !x>, !x
    %r17 = ft.scanl (%e5, %e6, %e7 = %b, %s3, %a4 : !ft.list<[T], !x>, !ft.list<[T], !x>, !ft.list<[T], !x>) init (%s8 = %c0 : !x) -> !ft.list<[T], !x> {
      %v9 = arith.muli %e6, %c1 : !x
      %v10 = arith.addi %v9, %e2 : !x
      %v11 = arith.subi %v10, %c2 : !x
      %v12 = arith.muli %s8, %c1 : !x
      %v13 = arith.addi %v12, %e5 : !x
      %v14 = arith.subi %v13, %c2 : !x
      %v15 = arith.maxsi %v11, %v14 : !x
      %v16 = arith.maxsi %v15, %e7 : !x
      ft.yield %v16 : !x
    }
    ft.yield %r17 : !ft.list<[T], !x>
  }
  return %r18 : !ft.list<[S, T], !x>
}

// Two sublayers: each is one step after the other.
// steps: 2 * D + L - 1
func.func @two_scans_a_layer(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {L = 5 : i64, D = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r19 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %r10 = ft.scanl (%e3 = %s2 : !ft.list<[L], !x>) init (%s4 = %c0 : !x) -> !ft.list<[L], !x> {
      %v5 = arith.muli %e3, %c1 : !x
      %v6 = arith.addi %v5, %e1 : !x
      %v7 = arith.subi %v6, %c2 : !x
      %v8 = arith.muli %v7, %c3 : !x
      %v9 = arith.xori %v8, %s4 : !x
      ft.yield %v9 : !x
    }
    %r18 = ft.scanl (%e11 = %r10 : !ft.list<[L], !x>) init (%s12 = %c0 : !x) -> !ft.list<[L], !x> {
      %v13 = arith.muli %s12, %c1 : !x
      %v14 = arith.addi %v13, %e11 : !x
      %v15 = arith.subi %v14, %c2 : !x
      %v16 = arith.muli %v15, %c3 : !x
      %v17 = arith.xori %v16, %e1 : !x
      ft.yield %v17 : !x
    }
    ft.yield %r18 : !ft.list<[L], !x>
  }
  return %r19 : !ft.list<[D, L], !x>
}
