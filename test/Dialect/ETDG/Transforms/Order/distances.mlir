// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distances and lags of stacked scans, and the steps that they take, by hand. Integers:
// the same bit for bit.
//
// RUN: %python %S/Inputs/nests.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 13 programs, 26 runs, 0 failures{{$}}

!x = tensor<1xi32>

// Two cells ahead in the layer below: distances (1, -2), (0, 1).
// steps: 3 * D + L - 3
func.func @ahead2(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r12 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %a3 = ft.shift %s2 by -2 fill %c0 : !ft.list<[L], !x>, !x
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

// One cell after, two layers below, (2, 1): columns alone carry all.
// steps: L
func.func @behind_lag2(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r12 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) lag 2 -> !ft.list<[D, L], !x> {
    %a3 = ft.shift %s2 by 1 fill %c0 : !ft.list<[L], !x>, !x
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

// (2, 1), (2, 0) and (0, 1): even and odd layers never meet.
// steps: L + ceildiv(D, 2) - 1
func.func @behind_lag2_and_here(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r16 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) lag 2 -> !ft.list<[D, L], !x> {
    %a3 = ft.shift %s2 by 1 fill %c0 : !ft.list<[L], !x>, !x
    %r15 = ft.scanl (%e4, %e5 = %a3, %s2 : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s6 = %c0 : !x) -> !ft.list<[L], !x> {
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
  return %r16 : !ft.list<[D, L], !x>
}

// (1, 2), (0, 1): columns alone.
// steps: L
func.func @behind2(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r12 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %a3 = ft.shift %s2 by 2 fill %c0 : !ft.list<[L], !x>, !x
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

// A map that sees both neighbours below: a step for each layer.
// steps: D
func.func @ahead_map(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r13 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %a3 = ft.shift %s2 by 1 fill %c0 : !ft.list<[L], !x>, !x
    %a4 = ft.shift %s2 by -1 fill %c0 : !ft.list<[L], !x>, !x
    %r12 = ft.map (%e5, %e6 = %a3, %a4 : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %v7 = arith.muli %e5, %c1 : !x
      %v8 = arith.addi %v7, %e6 : !x
      %v9 = arith.subi %v8, %c2 : !x
      %v10 = arith.muli %v9, %c3 : !x
      %v11 = arith.xori %v10, %e1 : !x
      ft.yield %v11 : !x
    }
    ft.yield %r12 : !ft.list<[L], !x>
  }
  return %r13 : !ft.list<[D, L], !x>
}

// Stacked scans with a lag of 3: three chains in each layer.
// steps: D + ceildiv(L, 3) - 1
func.func @inner_lag3(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 9 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r11 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %r10 = ft.scanl (%e3 = %s2 : !ft.list<[L], !x>) init (%s4 = %c0 : !x) lag 3 -> !ft.list<[L], !x> {
      %v5 = arith.muli %e3, %c1 : !x
      %v6 = arith.addi %v5, %e1 : !x
      %v7 = arith.subi %v6, %c2 : !x
      %v8 = arith.muli %v7, %c3 : !x
      %v9 = arith.xori %v8, %s4 : !x
      ft.yield %v9 : !x
    }
    ft.yield %r10 : !ft.list<[L], !x>
  }
  return %r11 : !ft.list<[D, L], !x>
}

// Lags in both dimensions: ten wavefronts side by side.
// steps: ceildiv(D, 5) + ceildiv(L, 2) - 1
func.func @outer_lag5_inner_lag2(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 11 : i64, L = 9 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r11 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) lag 5 -> !ft.list<[D, L], !x> {
    %r10 = ft.scanl (%e3 = %s2 : !ft.list<[L], !x>) init (%s4 = %c0 : !x) lag 2 -> !ft.list<[L], !x> {
      %v5 = arith.muli %e3, %c1 : !x
      %v6 = arith.addi %v5, %e1 : !x
      %v7 = arith.subi %v6, %c2 : !x
      %v8 = arith.muli %v7, %c3 : !x
      %v9 = arith.xori %v8, %s4 : !x
      ft.yield %v9 : !x
    }
    ft.yield %r10 : !ft.list<[L], !x>
  }
  return %r11 : !ft.list<[D, L], !x>
}

// Windows of the layer two below, (2, -1..1): no chains, they meet in the window.
// steps: D + L - 1
func.func @win_lag2(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 9 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r20 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) lag 2 -> !ft.list<[D, L], !x> {
    %a3 = ft.window %s2 size 3 boundary zero : !ft.list<[L], !x>
    %r19 = ft.scanl (%e4 = %a3 : !ft.list<[L, 3], !x>) init (%s5 = %c0 : !x) -> !ft.list<[L], !x> {
      %a6 = ft.at %e4[0] : !ft.list<[3], !x>
      %a7 = ft.at %e4[1] : !ft.list<[3], !x>
      %a8 = ft.at %e4[2] : !ft.list<[3], !x>
      %v9 = arith.muli %a6, %c1 : !x
      %v10 = arith.addi %v9, %a7 : !x
      %v11 = arith.subi %v10, %c2 : !x
      %v12 = arith.muli %v11, %c3 : !x
      %v13 = arith.xori %v12, %a8 : !x
      %v14 = arith.muli %v13, %c1 : !x
      %v15 = arith.addi %v14, %e1 : !x
      %v16 = arith.subi %v15, %c2 : !x
      %v17 = arith.muli %v16, %c3 : !x
      %v18 = arith.xori %v17, %s5 : !x
      ft.yield %v18 : !x
    }
    ft.yield %r19 : !ft.list<[L], !x>
  }
  return %r20 : !ft.list<[D, L], !x>
}

// Dilated windows of the layer below: (1, -2), (1, 0), (1, 2).
// steps: 3 * D + L - 3
func.func @win_dil2(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.lengths = {D = 3 : i64, L = 9 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r20 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %a3 = ft.window %s2 size 3 dilation 2 boundary zero : !ft.list<[L], !x>
    %r19 = ft.scanl (%e4 = %a3 : !ft.list<[L, 3], !x>) init (%s5 = %c0 : !x) -> !ft.list<[L], !x> {
      %a6 = ft.at %e4[0] : !ft.list<[3], !x>
      %a7 = ft.at %e4[1] : !ft.list<[3], !x>
      %a8 = ft.at %e4[2] : !ft.list<[3], !x>
      %v9 = arith.muli %a6, %c1 : !x
      %v10 = arith.addi %v9, %a7 : !x
      %v11 = arith.subi %v10, %c2 : !x
      %v12 = arith.muli %v11, %c3 : !x
      %v13 = arith.xori %v12, %a8 : !x
      %v14 = arith.muli %v13, %c1 : !x
      %v15 = arith.addi %v14, %e1 : !x
      %v16 = arith.subi %v15, %c2 : !x
      %v17 = arith.muli %v16, %c3 : !x
      %v18 = arith.xori %v17, %s5 : !x
      ft.yield %v18 : !x
    }
    ft.yield %r19 : !ft.list<[L], !x>
  }
  return %r20 : !ft.list<[D, L], !x>
}

// Windows that repeat the ends.
// steps: 2 * D + L - 2
func.func @win_clamp(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 9 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r20 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %a3 = ft.window %s2 size 3 boundary clamp : !ft.list<[L], !x>
    %r19 = ft.scanl (%e4 = %a3 : !ft.list<[L, 3], !x>) init (%s5 = %c0 : !x) -> !ft.list<[L], !x> {
      %a6 = ft.at %e4[0] : !ft.list<[3], !x>
      %a7 = ft.at %e4[1] : !ft.list<[3], !x>
      %a8 = ft.at %e4[2] : !ft.list<[3], !x>
      %v9 = arith.muli %a6, %c1 : !x
      %v10 = arith.addi %v9, %a7 : !x
      %v11 = arith.subi %v10, %c2 : !x
      %v12 = arith.muli %v11, %c3 : !x
      %v13 = arith.xori %v12, %a8 : !x
      %v14 = arith.muli %v13, %c1 : !x
      %v15 = arith.addi %v14, %e1 : !x
      %v16 = arith.subi %v15, %c2 : !x
      %v17 = arith.muli %v16, %c3 : !x
      %v18 = arith.xori %v17, %s5 : !x
      ft.yield %v18 : !x
    }
    ft.yield %r19 : !ft.list<[L], !x>
  }
  return %r20 : !ft.list<[D, L], !x>
}

// Windows of a ring: the last cell sees the first, no distance.
// steps: D * L
func.func @win_wrap(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !x>) -> !ft.list<[D, L], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {D = 3 : i64, L = 9 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r20 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %a3 = ft.window %s2 size 3 boundary wrap : !ft.list<[L], !x>
    %r19 = ft.scanl (%e4 = %a3 : !ft.list<[L, 3], !x>) init (%s5 = %c0 : !x) -> !ft.list<[L], !x> {
      %a6 = ft.at %e4[0] : !ft.list<[3], !x>
      %a7 = ft.at %e4[1] : !ft.list<[3], !x>
      %a8 = ft.at %e4[2] : !ft.list<[3], !x>
      %v9 = arith.muli %a6, %c1 : !x
      %v10 = arith.addi %v9, %a7 : !x
      %v11 = arith.subi %v10, %c2 : !x
      %v12 = arith.muli %v11, %c3 : !x
      %v13 = arith.xori %v12, %a8 : !x
      %v14 = arith.muli %v13, %c1 : !x
      %v15 = arith.addi %v14, %e1 : !x
      %v16 = arith.subi %v15, %c2 : !x
      %v17 = arith.muli %v16, %c3 : !x
      %v18 = arith.xori %v17, %s5 : !x
      ft.yield %v18 : !x
    }
    ft.yield %r19 : !ft.list<[L], !x>
  }
  return %r20 : !ft.list<[D, L], !x>
}

// A lag of 5 alone.
// steps: ceildiv(L, 5)
func.func @lag5_alone(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 17 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) lag 5 -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  return %r6 : !ft.list<[L], !x>
}

// Lags 1, 2 and 4 in three nests: one wavefront, for the first has one chain.
// steps: L + 2
func.func @lag_stack(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 17 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %r12 = ft.scanl (%e7 = %r6 : !ft.list<[L], !x>) init (%s8 = %c0 : !x) lag 2 -> !ft.list<[L], !x> {
    %v9 = arith.muli %e7, %c1 : !x
    %v10 = arith.addi %v9, %s8 : !x
    %v11 = arith.subi %v10, %c2 : !x
    ft.yield %v11 : !x
  }
  %r18 = ft.scanl (%e13 = %r12 : !ft.list<[L], !x>) init (%s14 = %c0 : !x) lag 4 -> !ft.list<[L], !x> {
    %v15 = arith.muli %e13, %c1 : !x
    %v16 = arith.addi %v15, %s14 : !x
    %v17 = arith.subi %v16, %c2 : !x
    ft.yield %v17 : !x
  }
  return %r18 : !ft.list<[L], !x>
}
