// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests beside each other: which share a wavefront, which must not, and the
// steps that they take, by hand. Integers: the same bit for bit.
//
// RUN: %python %S/Inputs/nests.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 11 programs, 22 runs, 0 failures{{$}}

!x = tensor<1xi32>

// The second scan starts from the last state of the first.
// steps: L; M
func.func @encoder_decoder(%xs: !ft.list<[L], !x>, %ys: !ft.list<[M], !x>) -> (!ft.list<[L], !x>, !ft.list<[M], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {L = 5 : i64, M = 4 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %a7 = ft.at %r6[-1] : !ft.list<[L], !x>
  %r13 = ft.scanl (%e8 = %ys : !ft.list<[M], !x>) init (%s9 = %a7 : !x) -> !ft.list<[M], !x> {
    %v10 = arith.muli %e8, %c1 : !x
    %v11 = arith.addi %v10, %s9 : !x
    %v12 = arith.subi %v11, %c2 : !x
    ft.yield %v12 : !x
  }
  return %r6, %r13 : !ft.list<[L], !x>, !ft.list<[M], !x>
}

// The same with layers.
// steps: D + L - 1; D + M - 1
func.func @encoder_decoder_stacked(%xs: !ft.list<[L], !x>, %ys: !ft.list<[M], !x>, %ws: !ft.list<[D], !x>) -> (!ft.list<[D, L], !x>, !ft.list<[D, M], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {L = 5 : i64, M = 4 : i64, D = 3 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r11 = ft.scanl (%e1 = %ws : !ft.list<[D], !x>) init (%s2 = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %r10 = ft.scanl (%e3 = %s2 : !ft.list<[L], !x>) init (%s4 = %c0 : !x) -> !ft.list<[L], !x> {
      %v5 = arith.muli %e3, %c1 : !x
      %v6 = arith.addi %v5, %e1 : !x
      %v7 = arith.subi %v6, %c2 : !x
      %v8 = arith.muli %v7, %c3 : !x
      %v9 = arith.xori %v8, %s4 : !x
      ft.yield %v9 : !x
    }
    ft.yield %r10 : !ft.list<[L], !x>
  }
  %r14 = ft.map (%e12 = %r11 : !ft.list<[D, L], !x>) -> !ft.list<[D], !x> {
    %a13 = ft.at %e12[-1] : !ft.list<[L], !x>
    ft.yield %a13 : !x
  }
  %r26 = ft.scanl (%e15, %e16 = %ws, %r14 : !ft.list<[D], !x>, !ft.list<[D], !x>) init (%s17 = %ys : !ft.list<[M], !x>) -> !ft.list<[D, M], !x> {
    %r25 = ft.scanl (%e18 = %s17 : !ft.list<[M], !x>) init (%s19 = %e16 : !x) -> !ft.list<[M], !x> {
      %v20 = arith.muli %e18, %c1 : !x
      %v21 = arith.addi %v20, %e15 : !x
      %v22 = arith.subi %v21, %c2 : !x
      %v23 = arith.muli %v22, %c3 : !x
      %v24 = arith.xori %v23, %s19 : !x
      ft.yield %v24 : !x
    }
    ft.yield %r25 : !ft.list<[M], !x>
  }
  return %r11, %r26 : !ft.list<[D, L], !x>, !ft.list<[D, M], !x>
}

// The second scan begins where the first one ends.
// steps: L; L
func.func @back_over_forth(%xs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>)
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %a7 = ft.reverse %r6 : !ft.list<[L], !x>
  %r13 = ft.scanl (%e8 = %a7 : !ft.list<[L], !x>) init (%s9 = %c0 : !x) -> !ft.list<[L], !x> {
    %v10 = arith.muli %e8, %c1 : !x
    %v11 = arith.addi %v10, %s9 : !x
    %v12 = arith.subi %v11, %c2 : !x
    ft.yield %v12 : !x
  }
  return %r6, %r13 : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// The second is one step after.
// steps: L + 1
func.func @same_direction(%xs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>)
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %r12 = ft.scanl (%e7 = %r6 : !ft.list<[L], !x>) init (%s8 = %c0 : !x) -> !ft.list<[L], !x> {
    %v9 = arith.muli %e7, %c1 : !x
    %v10 = arith.addi %v9, %s8 : !x
    %v11 = arith.subi %v10, %c2 : !x
    ft.yield %v11 : !x
  }
  return %r6, %r12 : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// Twins that must not merge: one starts with the other's last state.
// steps: L; L
func.func @last_plane_of_twin(%xs: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %a7 = ft.at %r6[-1] : !ft.list<[L], !x>
  %r13 = ft.scanl (%e8 = %xs : !ft.list<[L], !x>) init (%s9 = %a7 : !x) -> !ft.list<[L], !x> {
    %v10 = arith.muli %e8, %c1 : !x
    %v11 = arith.addi %v10, %s9 : !x
    %v12 = arith.subi %v11, %c2 : !x
    ft.yield %v12 : !x
  }
  return %r6, %r13 : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// Twins that do.
// steps: L
func.func @twins(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !ft.list<[L], !x>)
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %r12 = ft.scanl (%e7 = %ys : !ft.list<[L], !x>) init (%s8 = %c0 : !x) -> !ft.list<[L], !x> {
    %v9 = arith.muli %s8, %c1 : !x
    %v10 = arith.addi %v9, %e7 : !x
    %v11 = arith.subi %v10, %c2 : !x
    ft.yield %v11 : !x
  }
  return %r6, %r12 : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// Both directions, then a map of both.
// steps: L
func.func @bidirectional(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %r12 = ft.scanr (%e7 = %xs : !ft.list<[L], !x>) init (%s8 = %c0 : !x) -> !ft.list<[L], !x> {
    %v9 = arith.muli %e7, %c1 : !x
    %v10 = arith.addi %v9, %s8 : !x
    %v11 = arith.subi %v10, %c2 : !x
    ft.yield %v11 : !x
  }
  %r18 = ft.map (%e13, %e14 = %r6, %r12 : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %v15 = arith.muli %e13, %c1 : !x
    %v16 = arith.addi %v15, %e14 : !x
    %v17 = arith.subi %v16, %c2 : !x
    ft.yield %v17 : !x
  }
  return %r18 : !ft.list<[L], !x>
}

// A lag of 2 from the right over one of 3 from the left.
// steps: ceildiv(L, 3); ceildiv(L, 2)
func.func @lag_stack_rl(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 17 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) lag 3 -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %r12 = ft.scanr (%e7 = %r6 : !ft.list<[L], !x>) init (%s8 = %c0 : !x) lag 2 -> !ft.list<[L], !x> {
    %v9 = arith.muli %e7, %c1 : !x
    %v10 = arith.addi %v9, %s8 : !x
    %v11 = arith.subi %v10, %c2 : !x
    ft.yield %v11 : !x
  }
  return %r12 : !ft.list<[L], !x>
}

// Scan, map, scan.
// steps: L + 2
func.func @map_between(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %r11 = ft.map (%e7 = %r6 : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %v8 = arith.muli %e7, %c1 : !x
    %v9 = arith.addi %v8, %e7 : !x
    %v10 = arith.subi %v9, %c2 : !x
    ft.yield %v10 : !x
  }
  %r17 = ft.scanl (%e12 = %r11 : !ft.list<[L], !x>) init (%s13 = %c0 : !x) -> !ft.list<[L], !x> {
    %v14 = arith.muli %e12, %c1 : !x
    %v15 = arith.addi %v14, %s13 : !x
    %v16 = arith.subi %v15, %c2 : !x
    ft.yield %v16 : !x
  }
  return %r17 : !ft.list<[L], !x>
}

// The second scan needs one element ahead.
// steps: L + 2
func.func @windows_of_result(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 5 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %c3 = arith.constant dense<5> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %a7 = ft.window %r6 size 3 boundary zero : !ft.list<[L], !x>
  %r21 = ft.scanl (%e8 = %a7 : !ft.list<[L, 3], !x>) init (%s9 = %c0 : !x) -> !ft.list<[L], !x> {
    %a10 = ft.at %e8[0] : !ft.list<[3], !x>
    %a11 = ft.at %e8[1] : !ft.list<[3], !x>
    %a12 = ft.at %e8[2] : !ft.list<[3], !x>
    %v13 = arith.muli %a10, %c1 : !x
    %v14 = arith.addi %v13, %a11 : !x
    %v15 = arith.subi %v14, %c2 : !x
    %v16 = arith.muli %v15, %c3 : !x
    %v17 = arith.xori %v16, %a12 : !x
    %v18 = arith.muli %v17, %c1 : !x
    %v19 = arith.addi %v18, %s9 : !x
    %v20 = arith.subi %v19, %c2 : !x
    ft.yield %v20 : !x
  }
  return %r21 : !ft.list<[L], !x>
}

// Every second element: the distance in steps grows, no kernel.
// steps: L; ceildiv(L, 2)
func.func @strided_half(%xs: !ft.list<[L], !x>) -> !ft.list<[ceildiv(L, 2)], !x>
    attributes {ft.lengths = {L = 7 : i64}} {
  %c0 = arith.constant dense<0> : !x
  %c1 = arith.constant dense<3> : !x
  %c2 = arith.constant dense<1> : !x
  %r6 = ft.scanl (%e1 = %xs : !ft.list<[L], !x>) init (%s2 = %c0 : !x) -> !ft.list<[L], !x> {
    %v3 = arith.muli %e1, %c1 : !x
    %v4 = arith.addi %v3, %s2 : !x
    %v5 = arith.subi %v4, %c2 : !x
    ft.yield %v5 : !x
  }
  %a7 = ft.stride %r6 from 0 step 2 : !ft.list<[L], !x>
  %r13 = ft.scanl (%e8 = %a7 : !ft.list<[ceildiv(L, 2)], !x>) init (%s9 = %c0 : !x) -> !ft.list<[ceildiv(L, 2)], !x> {
    %v10 = arith.muli %e8, %c1 : !x
    %v11 = arith.addi %v10, %s9 : !x
    %v12 = arith.subi %v11, %c2 : !x
    ft.yield %v12 : !x
  }
  return %r13 : !ft.list<[ceildiv(L, 2)], !x>
}
