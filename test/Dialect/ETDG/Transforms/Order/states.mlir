// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// States of many kinds (lists, rings, transposed, gathered, several shapes), folds in scans
// in maps, and the steps that they take, by hand. Integers: the same bit for bit.
//
// RUN: %python %S/Inputs/nests.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 11 programs, 22 runs, 0 failures{{$}}

!x = tensor<1xi32>
!y = tensor<2x1xi32>

// A scan in a fold in a map: the fold's state is a list.
// steps: K + L - 1
func.func @scan_in_fold_in_map(%xss: !ft.list<[N, L], !x>, %ks: !ft.list<[K], !x>) -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 2 : i64, L = 5 : i64, K = 4 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r13 = ft.map (%e1 = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %r12 = ft.foldl (%e2 = %ks : !ft.list<[K], !x>) init (%s3 = %e1 : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %r11 = ft.scanl (%e4 = %s3 : !ft.list<[L], !x>) init (%s5 = %c0 : !x) -> !ft.list<[L], !x> {
        %v6 = arith.muli %e4, %c1 : !x
        %v7 = arith.addi %v6, %e2 : !x
        %v8 = arith.subi %v7, %c2 : !x
        %v9 = arith.muli %v8, %c3 : !x
        %v10 = arith.xori %v9, %s5 : !x
        ft.yield %v10 : !x
      }
      ft.yield %r11 : !ft.list<[L], !x>
    }
    ft.yield %r12 : !ft.list<[L], !x>
  }
  return %r13 : !ft.list<[N, L], !x>
}

// A map in a scan in a fold; the last plane is copied.
// steps: K + M - 1; 1
func.func @map_in_scan_in_fold(%xs: !ft.list<[L], !x>, %ks: !ft.list<[K], !x>, %vs: !ft.list<[M], !x>) -> !ft.list<[M, L], !x>
    attributes {ft.lengths = {L = 4 : i64, K = 4 : i64, M = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %a1 = ft.repeat %xs times M : !ft.list<[L], !x>
  %r19 = ft.foldl (%e2 = %ks : !ft.list<[K], !x>) init (%s3 = %a1 : !ft.list<[M, L], !x>) -> !ft.list<[M, L], !x> {
    %r18 = ft.scanl (%e4, %e5 = %s3, %vs : !ft.list<[M, L], !x>, !ft.list<[M], !x>) init (%s6 = %xs : !ft.list<[L], !x>) -> !ft.list<[M, L], !x> {
      %r17 = ft.map (%e7, %e8 = %e4, %s6 : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
        %v9 = arith.muli %e7, %c1 : !x
        %v10 = arith.addi %v9, %e2 : !x
        %v11 = arith.subi %v10, %c2 : !x
        %v12 = arith.muli %v11, %c3 : !x
        %v13 = arith.xori %v12, %e5 : !x
        %v14 = arith.muli %v13, %c1 : !x
        %v15 = arith.addi %v14, %e8 : !x
        %v16 = arith.subi %v15, %c2 : !x
        ft.yield %v16 : !x
      }
      ft.yield %r17 : !ft.list<[L], !x>
    }
    ft.yield %r18 : !ft.list<[M, L], !x>
  }
  return %r19 : !ft.list<[M, L], !x>
}

// A fold inside each cell of stacked scans, in each of the four regions.
// steps: D + L - 1; K; K; K; K
func.func @fold_in_scan_in_scan(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>, %ks: !ft.list<[K], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64, K = 4 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r17 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %r16 = ft.scanl (%e3 = %s2 : !ft.list<[L], !x>) init (%s4 = %c0 : !x) -> !ft.list<[L], !x> {
      %r15 = ft.foldl (%e5 = %ks : !ft.list<[K], !x>) init (%s6 = %s4 : !x) -> !x {
        %v7 = arith.muli %s6, %c1 : !x
        %v8 = arith.addi %v7, %e5 : !x
        %v9 = arith.subi %v8, %c2 : !x
        %v10 = arith.muli %v9, %c3 : !x
        %v11 = arith.xori %v10, %e3 : !x
        %v12 = arith.muli %v11, %c1 : !x
        %v13 = arith.addi %v12, %e1 : !x
        %v14 = arith.subi %v13, %c2 : !x
        ft.yield %v14 : !x
      }
      ft.yield %r15 : !x
    }
    ft.yield %r16 : !ft.list<[L], !x>
  }
  return %r17 : !ft.list<[D, L], !x>
}

// Every layer needs both directions of the one below, whole; regions 0 and 1.. of layers.
// steps: D; L; L
func.func @bidirectional_stacked(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {L = 5 : i64, D = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r25 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %r10 = ft.scanl (%e3 = %s2 : !ft.list<[L], !x>) init (%s4 = %c0 : !x) -> !ft.list<[L], !x> {
      %v5 = arith.muli %e3, %c1 : !x
      %v6 = arith.addi %v5, %e1 : !x
      %v7 = arith.subi %v6, %c2 : !x
      %v8 = arith.muli %v7, %c3 : !x
      %v9 = arith.xori %v8, %s4 : !x
      ft.yield %v9 : !x
    }
    %r18 = ft.scanr (%e11 = %s2 : !ft.list<[L], !x>) init (%s12 = %c0 : !x) -> !ft.list<[L], !x> {
      %v13 = arith.muli %e11, %c1 : !x
      %v14 = arith.addi %v13, %e1 : !x
      %v15 = arith.subi %v14, %c2 : !x
      %v16 = arith.muli %v15, %c3 : !x
      %v17 = arith.xori %v16, %s12 : !x
      ft.yield %v17 : !x
    }
    %r24 = ft.map (%e19, %e20 = %r10, %r18 : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %v21 = arith.muli %e19, %c1 : !x
      %v22 = arith.addi %v21, %e20 : !x
      %v23 = arith.subi %v22, %c2 : !x
      ft.yield %v23 : !x
    }
    ft.yield %r24 : !ft.list<[L], !x>
  }
  return %r25 : !ft.list<[D, L], !x>
}

// A shift register: the state is a list of 4 that moves by one.
// steps: L
func.func @ring(%xs: !ft.list<[L], !x>) -> (!ft.list<[L, 4], !x>, !ft.list<[L], !x>)
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %a1 = ft.repeat %c0 times 4 : !x
  %r16, %r17 = ft.scanl (%e2 = %xs : !ft.list<[L], !x>) init (%s3 = %a1 : !ft.list<[4], !x>) -> !ft.list<[L, 4], !x>, !ft.list<[L], !x> {
    %a4 = ft.repeat %e2 times 1 : !x
    %a5 = ft.slice %s3[1 to 4] : !ft.list<[4], !x>
    %a6 = ft.concat %a5, %a4 : !ft.list<[3], !x>, !ft.list<[1], !x>
    %a7 = ft.at %s3[0] : !ft.list<[4], !x>
    %r12 = ft.map (%e8 = %a6 : !ft.list<[4], !x>) -> !ft.list<[4], !x> {
      %v9 = arith.muli %e8, %c1 : !x
      %v10 = arith.addi %v9, %a7 : !x
      %v11 = arith.subi %v10, %c2 : !x
      ft.yield %v11 : !x
    }
    %v13 = arith.muli %a7, %c1 : !x
    %v14 = arith.addi %v13, %e2 : !x
    %v15 = arith.subi %v14, %c2 : !x
    ft.yield %r12 : !ft.list<[4], !x> emit %v15 : !x
  }
  return %r16, %r17 : !ft.list<[L, 4], !x>, !ft.list<[L], !x>
}

// Grids over the transposed layer below: (1, *, *), one grid after the other.
// steps: 2 * D * S - D
func.func @transposed_state(%xss: !ft.list<[S, S], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, S, S], !x>
    attributes {ft.lengths = {S = 4 : i64, D = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r20 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xss : !ft.list<[S, S], !x>) -> !ft.list<[D, S, S], !x> {
    %a3 = ft.transpose %s2 [1, 0] : !ft.list<[S, S], !x>
    %a4 = ft.repeat %c0 times S : !x
    %r19 = ft.scanl (%e5 = %a3 : !ft.list<[S, S], !x>) init (%s6 = %a4 : !ft.list<[S], !x>) -> !ft.list<[S, S], !x> {
      %r18 = ft.scanl (%e7, %e8 = %e5, %s6 : !ft.list<[S], !x>, !ft.list<[S], !x>) init (%s9 = %c0 : !x) -> !ft.list<[S], !x> {
        %v10 = arith.muli %e7, %c1 : !x
        %v11 = arith.addi %v10, %e8 : !x
        %v12 = arith.subi %v11, %c2 : !x
        %v13 = arith.muli %v12, %c3 : !x
        %v14 = arith.xori %v13, %e1 : !x
        %v15 = arith.muli %v14, %c1 : !x
        %v16 = arith.addi %v15, %s9 : !x
        %v17 = arith.subi %v16, %c2 : !x
        ft.yield %v17 : !x
      }
      ft.yield %r18 : !ft.list<[S], !x>
    }
    ft.yield %r19 : !ft.list<[S, S], !x>
  }
  return %r20 : !ft.list<[D, S, S], !x>
}

// Columns of what rows of scans wrote.
// steps: T; S
func.func @transposed_map(%xss: !ft.list<[S, T], !x>) -> !ft.list<[S, T], !x>
    attributes {ft.lengths = {S = 4 : i64, T = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r8 = ft.map (%e1 = %xss : !ft.list<[S, T], !x>) -> !ft.list<[S, T], !x> {
    %r7 = ft.scanl (%e2 = %e1 : !ft.list<[T], !x>) init (%s3 = %c0 : !x) -> !ft.list<[T], !x> {
      %v4 = arith.muli %e2, %c1 : !x
      %v5 = arith.addi %v4, %s3 : !x
      %v6 = arith.subi %v5, %c2 : !x
      ft.yield %v6 : !x
    }
    ft.yield %r7 : !ft.list<[T], !x>
  }
  %a9 = ft.transpose %r8 [1, 0] : !ft.list<[S, T], !x>
  %r17 = ft.map (%e10 = %a9 : !ft.list<[T, S], !x>) -> !ft.list<[T, S], !x> {
    %r16 = ft.scanl (%e11 = %e10 : !ft.list<[S], !x>) init (%s12 = %c0 : !x) -> !ft.list<[S], !x> {
      %v13 = arith.muli %s12, %c1 : !x
      %v14 = arith.addi %v13, %e11 : !x
      %v15 = arith.subi %v14, %c2 : !x
      ft.yield %v15 : !x
    }
    ft.yield %r16 : !ft.list<[S], !x>
  }
  %a18 = ft.transpose %r17 [1, 0] : !ft.list<[T, S], !x>
  return %a18 : !ft.list<[S, T], !x>
}

// Each layer picks from all of the one below.
// steps: D * L
func.func @gathered_state_scan(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>, %idx: !ft.list<[L], tensor<i64>> {ft.gen = #ft.index<0, L>}) -> !ft.list<[D, L], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {L = 5 : i64, D = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r12 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %a3 = ft.gather %s2[%idx] : !ft.list<[L], !x>, !ft.list<[L], tensor<i64>>
    %r11 = ft.scanl (%e4 = %a3 : !ft.list<[L], !x>) init (%s5 = %c0 : !x) -> !ft.list<[L], !x> {
      %v6 = arith.muli %e4, %c1 : !x
      %v7 = arith.addi %v6, %e1 : !x
      %v8 = arith.subi %v7, %c2 : !x
      %v9 = arith.muli %v8, %c3 : !x
      %v10 = arith.xori %v9, %s5 : !x
      ft.yield %v10 : !x
    }
    ft.yield %r11 : !ft.list<[L], !x>
  }
  return %r12 : !ft.list<[D, L], !x>
}

// Two states of different shapes, one of which feeds the next layer.
// steps: D + L - 1
func.func @lstm_like(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D, L], !y>)
    attributes {ft.lengths = {L = 5 : i64, D = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<0> : !y
  %c2 = arith.constant dense<3> : !x
  %c3 = arith.constant dense<1> : !x
  %c4 = arith.constant dense<5> : !x
  %c5 = arith.constant dense<3> : !y
  %r18, %r19 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x>, !ft.list<[D, L], !y> {
    %r16, %r17 = ft.scanl (%e3 = %s2 : !ft.list<[L], !x>) init (%s4, %s5 = %c0, %c1 : !x, !y) -> !ft.list<[L], !x>, !ft.list<[L], !y> {
      %v6 = arith.muli %e3, %c2 : !x
      %v7 = arith.addi %v6, %s4 : !x
      %v8 = arith.subi %v7, %c3 : !x
      %v9 = arith.muli %v8, %c4 : !x
      %v10 = arith.xori %v9, %e1 : !x
      %v11 = tensor.empty() : !y
      %v12 = linalg.broadcast ins(%v10 : !x) outs(%v11 : !y) dimensions = [0]
      %v13 = arith.muli %s5, %c5 : !y
      %v14 = arith.xori %v13, %v12 : !y
      %v15 = linalg.reduce { arith.addi } ins(%v14 : !y) outs(%v10 : !x) dimensions = [0]
      ft.yield %v15, %v14 : !x, !y
    }
    ft.yield %r16 : !ft.list<[L], !x> emit %r17 : !ft.list<[L], !y>
  }
  return %r18, %r19 : !ft.list<[D, L], !x>, !ft.list<[D, L], !y>
}

// Slices: a shorter scan after the first, one back over it.
// steps: L - 2; L + 1
func.func @shrinking(%xs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L - 1], !x>, !ft.list<[L - 2], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 4">, ft.lengths = {L = 7 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %a7 = ft.slice %r6[1 to L] : !ft.list<[L], !x>
  %r13 = ft.scanl (%e8 = %a7 : !ft.list<[L - 1], !x>) init (%s9 = %c0 : !x) -> !ft.list<[L - 1], !x> {
    %v10 = arith.muli %e8, %c1 : !x
    %v11 = arith.addi %v10, %s9 : !x
    %v12 = arith.subi %v11, %c2 : !x
    ft.yield %v12 : !x
  }
  %a14 = ft.slice %r13[1 to L - 1] : !ft.list<[L - 1], !x>
  %r20 = ft.scanr (%e15 = %a14 : !ft.list<[L - 2], !x>) init (%s16 = %c0 : !x) -> !ft.list<[L - 2], !x> {
    %v17 = arith.muli %e15, %c1 : !x
    %v18 = arith.addi %v17, %s16 : !x
    %v19 = arith.subi %v18, %c2 : !x
    ft.yield %v19 : !x
  }
  return %r6, %r13, %r20 : !ft.list<[L], !x>, !ft.list<[L - 1], !x>, !ft.list<[L - 2], !x>
}

// What a grid emits, folded along its rows.
// steps: L + N
func.func @emit_of_emit(%xss: !ft.list<[N, L], !x>) -> (!ft.list<[N, L], !x>, !ft.list<[N], !x>)
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %a1 = ft.repeat %c0 times L : !x
  %r17, %r18 = ft.scanl (%e2 = %xss : !ft.list<[N, L], !x>) init (%s3 = %a1 : !ft.list<[L], !x>) -> !ft.list<[N, L], !x>, !ft.list<[N, L], !x> {
    %r15, %r16 = ft.scanl (%e4, %e5 = %e2, %s3 : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s6 = %c0 : !x) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
      %v7 = arith.muli %e4, %c1 : !x
      %v8 = arith.addi %v7, %e5 : !x
      %v9 = arith.subi %v8, %c2 : !x
      %v10 = arith.muli %v9, %c3 : !x
      %v11 = arith.xori %v10, %s6 : !x
      %v12 = arith.muli %s6, %c1 : !x
      %v13 = arith.addi %v12, %e4 : !x
      %v14 = arith.subi %v13, %c2 : !x
      ft.yield %v11 : !x emit %v14 : !x
    }
    ft.yield %r15 : !ft.list<[L], !x> emit %r16 : !ft.list<[L], !x>
  }
  %r26 = ft.map (%e19 = %r18 : !ft.list<[N, L], !x>) -> !ft.list<[N], !x> {
    %r25 = ft.foldl (%e20 = %e19 : !ft.list<[L], !x>) init (%s21 = %c0 : !x) -> !x {
      %v22 = arith.muli %s21, %c1 : !x
      %v23 = arith.addi %v22, %e20 : !x
      %v24 = arith.subi %v23, %c2 : !x
      ft.yield %v24 : !x
    }
    ft.yield %r25 : !x
  }
  return %r17, %r26 : !ft.list<[N, L], !x>, !ft.list<[N], !x>
}

