// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access operators in combinations that no example has, in what they read and in
// what they write.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 9 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

!x = tensor<3x5xf32>
!v = tensor<7xf32>
!s = tensor<f32>
!i = tensor<i64>

// Every third element of the reversed tail, then what the list began with.
func.func @stride_reverse_concat(%xs: !ft.list<[L], !x>) -> !ft.list<[ceildiv(L - 1, 3) + 2], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %r = ft.reverse %xs : !ft.list<[L], !x>
  %t = ft.stride %r from 1 step 3 : !ft.list<[L], !x>
  %h = ft.slice %xs[0 to 2] : !ft.list<[L], !x>
  %c = ft.concat %t, %h : !ft.list<[ceildiv(L - 1, 3)], !x>, !ft.list<[2], !x>
  %y = ft.map (%x = %c : !ft.list<[ceildiv(L - 1, 3) + 2], !x>) -> !ft.list<[ceildiv(L - 1, 3) + 2], !x> {
    %e = math.exp %x : !x
    ft.yield %e : !x
  }
  return %y : !ft.list<[ceildiv(L - 1, 3) + 2], !x>
}

// Split, transpose, flatten: a matrix of lists turned over. lengths: L % 4 == 0
func.func @shuffle(%xs: !ft.list<[L], !v>) -> !ft.list<[floordiv(L, 4), 4], !v> {
  %b = ft.split %xs by 4 : !ft.list<[L], !v>
  %t = ft.transpose %b [1, 0] : !ft.list<[floordiv(L, 4), 4], !v>
  %r = ft.map (%row = %t : !ft.list<[4, floordiv(L, 4)], !v>) -> !ft.list<[4, floordiv(L, 4)], !v> {
    %z = arith.constant dense<0.0> : !v
    %ys = ft.scanl (%x = %row : !ft.list<[floordiv(L, 4)], !v>) init (%s = %z : !v) -> !ft.list<[floordiv(L, 4)], !v> {
      %y = arith.addf %s, %x : !v
      ft.yield %y : !v
    }
    ft.yield %ys : !ft.list<[floordiv(L, 4)], !v>
  }
  %u = ft.transpose %r [1, 0] : !ft.list<[4, floordiv(L, 4)], !v>
  return %u : !ft.list<[floordiv(L, 4), 4], !v>
}

// Flatten of a static inner length, twice, and a window over the seams.
func.func @seams(%xsss: !ft.list<[N, 3, 2], !v>) -> !ft.list<[6 * N], !v> {
  %f = ft.flatten %xsss : !ft.list<[N, 3, 2], !v>
  %g = ft.flatten %f : !ft.list<[3 * N, 2], !v>
  %w = ft.window %g size 3 boundary zero : !ft.list<[6 * N], !v>
  %y = ft.map (%three = %w : !ft.list<[6 * N, 3], !v>) -> !ft.list<[6 * N], !v> {
    %z = arith.constant dense<0.0> : !v
    %s = ft.foldl (%x = %three : !ft.list<[3], !v>) init (%a = %z : !v) -> !v {
      %t = arith.addf %a, %x : !v
      ft.yield %t : !v
    }
    ft.yield %s : !v
  }
  return %y : !ft.list<[6 * N], !v>
}

// A dilated window with steps, no boundary.
func.func @dilated_windows(%xs: !ft.list<[L], !v>) -> !ft.list<[floordiv(L - 7, 2) + 1], !v>
    attributes {ft.bounds = #ft.bounds<"L >= 7">} {
  %w = ft.window %xs size 3 step 2 dilation 3 : !ft.list<[L], !v>
  %y = ft.map (%three = %w : !ft.list<[floordiv(L - 7, 2) + 1, 3], !v>) -> !ft.list<[floordiv(L - 7, 2) + 1], !v> {
    %a = ft.at %three[0] : !ft.list<[3], !v>
    %b = ft.at %three[2] : !ft.list<[3], !v>
    %d = arith.subf %a, %b : !v
    ft.yield %d : !v
  }
  return %y : !ft.list<[floordiv(L - 7, 2) + 1], !v>
}

// All four boundaries at once.
func.func @boundaries(%xs: !ft.list<[L], !s>) -> !ft.list<[L], !s>
    attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  %a = ft.window %xs size 5 boundary zero : !ft.list<[L], !s>
  %b = ft.window %xs size 5 boundary clamp : !ft.list<[L], !s>
  %c = ft.window %xs size 5 boundary mirror : !ft.list<[L], !s>
  %d = ft.window %xs size 5 boundary wrap : !ft.list<[L], !s>
  %y = ft.map (%ai, %bi, %ci, %di = %a, %b, %c, %d
      : !ft.list<[L, 5], !s>, !ft.list<[L, 5], !s>, !ft.list<[L, 5], !s>, !ft.list<[L, 5], !s>) -> !ft.list<[L], !s> {
    %z = arith.constant dense<0.0> : !s
    %half = arith.constant dense<0.5> : !s
    %r = ft.foldl (%p, %q, %u, %v = %ai, %bi, %ci, %di
        : !ft.list<[5], !s>, !ft.list<[5], !s>, !ft.list<[5], !s>, !ft.list<[5], !s>) init (%t = %z : !s) -> !s {
      %m = arith.mulf %t, %half : !s
      %pq = arith.addf %p, %q : !s
      %uv = arith.subf %u, %v : !s
      %w = arith.mulf %pq, %uv : !s
      %n = arith.addf %m, %w : !s
      ft.yield %n : !s
    }
    ft.yield %r : !s
  }
  return %y : !ft.list<[L], !s>
}

// A scan with a lag over a zip of a list and a gathered one.
func.func @lag_of_zip_of_gather(%xs: !ft.list<[L], !v>, %table: !ft.list<[K], !v>,
    %idx: !ft.list<[L], !i> {ft.gen = #ft.index<0, K>}) -> !ft.list<[L], !v>
    attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %z = arith.constant dense<0.0> : !v
  %half = arith.constant dense<0.5> : !v
  %g = ft.gather %table[%idx] : !ft.list<[K], !v>, !ft.list<[L], !i>
  %zip = ft.zip %xs, %g : !ft.list<[L], !v>, !ft.list<[L], !v>
  %y = ft.scanl (%t = %zip : !ft.list<[L], tuple<!v, !v>>) init (%s = %z : !v) lag 2 -> !ft.list<[L], !v> {
    %x = ft.get %t[0] : tuple<!v, !v>
    %e = ft.get %t[1] : tuple<!v, !v>
    %p = arith.mulf %x, %e : !v
    %d = arith.mulf %s, %half : !v
    %n = arith.addf %d, %p : !v
    ft.yield %n : !v
  }
  return %y : !ft.list<[L], !v>
}

// Gather of windows, gather of a scan's result, a gathered row of a matrix of lists.
func.func @gathers(%xs: !ft.list<[L], !v>, %idx: !ft.list<[M], !i> {ft.gen = #ft.index<0, L - 2>},
    %rows: !ft.list<[K, L], !v>, %pick: !ft.list<[M], !i> {ft.gen = #ft.index<0, K>})
    -> (!ft.list<[M], !v>, !ft.list<[M], !v>, !ft.list<[M], !v>)
    attributes {ft.bounds = #ft.bounds<"L >= 3", "K >= 1">} {
  %z = arith.constant dense<0.0> : !v
  %w = ft.window %xs size 3 : !ft.list<[L], !v>
  %gw = ft.gather %w[%idx] : !ft.list<[L - 2, 3], !v>, !ft.list<[M], !i>
  %a = ft.map (%three = %gw : !ft.list<[M, 3], !v>) -> !ft.list<[M], !v> {
    %s = ft.reduce (%x = %three : !ft.list<[3], !v>) init (%t = %z : !v) -> !v {
      %u = arith.addf %t, %x : !v
      ft.yield %u : !v
    }
    ft.yield %s : !v
  }
  %sums = ft.scanl (%x = %xs : !ft.list<[L], !v>) init (%s = %z : !v) -> !ft.list<[L], !v> {
    %u = arith.addf %s, %x : !v
    ft.yield %u : !v
  }
  %b = ft.gather %sums[%idx] : !ft.list<[L], !v>, !ft.list<[M], !i>
  %gr = ft.gather %rows[%pick] : !ft.list<[K, L], !v>, !ft.list<[M], !i>
  %c = ft.map (%row = %gr : !ft.list<[M, L], !v>) -> !ft.list<[M], !v> {
    %first = ft.at %row[0] : !ft.list<[L], !v>
    %last = ft.at %row[-1] : !ft.list<[L], !v>
    %d = arith.subf %last, %first : !v
    ft.yield %d : !v
  }
  return %a, %b, %c : !ft.list<[M], !v>, !ft.list<[M], !v>, !ft.list<[M], !v>
}

// An index that is computed, and one that is itself gathered.
func.func @computed_indices(%xs: !ft.list<[L], !v>, %idx: !ft.list<[M], !i> {ft.gen = #ft.index<0, L>},
    %next: !ft.list<[L], !i> {ft.gen = #ft.index<0, L>}) -> (!ft.list<[M], !v>, !ft.list<[M], !v>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %half = ft.map (%i = %idx : !ft.list<[M], !i>) -> !ft.list<[M], !i> {
    %two = arith.constant dense<2> : !i
    %h = arith.divsi %i, %two : !i
    ft.yield %h : !i
  }
  %a = ft.gather %xs[%half] : !ft.list<[L], !v>, !ft.list<[M], !i>
  %hop = ft.gather %next[%idx] : !ft.list<[L], !i>, !ft.list<[M], !i>
  %b = ft.gather %xs[%hop] : !ft.list<[L], !v>, !ft.list<[M], !i>
  return %a, %b : !ft.list<[M], !v>, !ft.list<[M], !v>
}

// A list walked by pointers: the state is an index.
func.func @pointer_chase(%next: !ft.list<[L], !i> {ft.gen = #ft.index<0, L>}, %xs: !ft.list<[L], !v>)
    -> (!ft.list<[L], !i>, !ft.list<[L], !v>) attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %z = arith.constant dense<0> : !i
  %steps = ft.iota : !ft.list<[L], !i>
  %p, %v = ft.scanl (%k = %steps : !ft.list<[L], !i>) init (%at = %z : !i) -> !ft.list<[L], !i>, !ft.list<[L], !v> {
    %to = ft.gather %next[%at] : !ft.list<[L], !i>, !i
    %x = ft.gather %xs[%at] : !ft.list<[L], !v>, !i
    ft.yield %to : !i emit %x : !v
  }
  return %p, %v : !ft.list<[L], !i>, !ft.list<[L], !v>
}
