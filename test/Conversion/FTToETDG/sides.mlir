// Which element each iteration reads where lists are shifted, seen through windows that go beyond their
// ends, put together of three parts, or folded from the right: every side by its own formula.
//
// RUN: ft-opt %s --convert-ft-to-etdg --etdg-verify | FileCheck %s
// RUN: %python %ft_src/test/Programs/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s --check-prefix=VALUES
// VALUES: {{^}}8 programs, {{[1-9][0-9]+}} runs, 0 failures{{$}}

!s = tensor<i32>

// Two steps sooner: element i is that of i + 2, and the last two are the fill.
// CHECK-LABEL: etdg.graph @sooner(
// CHECK{LITERAL}: reads (%x = {i + 3 <= L: %arg0[i + 2], i + 2 >= L: %arg1[]} : tensor<i32>)
func.func @sooner(%xs: !ft.list<[L], !s>, %z: !s) -> !ft.list<[L], !s> {
  %y = ft.shift %xs by -2 fill %z : !ft.list<[L], !s>, !s
  %r = ft.map (%a = %y : !ft.list<[L], !s>) {
    %b = arith.addi %a, %a : !s
    ft.yield %b : !s
  }
  return %r : !ft.list<[L], !s>
}

// Two steps later, for the other side.
// CHECK-LABEL: etdg.graph @later(
// CHECK{LITERAL}: reads (%x = {i >= 2: %arg0[i - 2], i <= 1: %arg1[]} : tensor<i32>)
func.func @later(%xs: !ft.list<[L], !s>, %z: !s) -> !ft.list<[L], !s> {
  %y = ft.shift %xs by 2 fill %z : !ft.list<[L], !s>, !s
  %r = ft.map (%a = %y : !ft.list<[L], !s>) {
    %b = arith.addi %a, %a : !s
    ft.yield %b : !s
  }
  return %r : !ft.list<[L], !s>
}

// The last step of each window reaches two elements beyond the end: -1 - k mirrored there is 2L - 2 - k.
// CHECK-LABEL: etdg.graph @mirrored(
// CHECK{LITERAL}: reads (%x = {i + j >= 2 and i + j <= L + 1: %arg0[i + j - 2], i + j <= 1: %arg0[2 - i - j], i + j >= L + 2: %arg0[2 * L - i - j]} : tensor<i32>)
func.func @mirrored(%xs: !ft.list<[L], !s>) -> !ft.list<[L, 5], !s>
    attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  %w = ft.window %xs size 5 boundary mirror : !ft.list<[L], !s>
  %r = ft.map (%v = %w : !ft.list<[L, 5], !s>) {
    %q = ft.map (%a = %v : !ft.list<[5], !s>) {
      %b = arith.addi %a, %a : !s
      ft.yield %b : !s
    }
    ft.yield %q : !ft.list<[5], !s>
  }
  return %r : !ft.list<[L, 5], !s>
}

// CHECK-LABEL: etdg.graph @clamped(
// CHECK{LITERAL}: reads (%x = {i + j >= 1 and i + j <= L: %arg0[i + j - 1], i + j <= 0: %arg0[0], i + j >= L + 1: %arg0[L - 1]} : tensor<i32>)
func.func @clamped(%xs: !ft.list<[L], !s>) -> !ft.list<[L, 3], !s>
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %w = ft.window %xs size 3 boundary clamp : !ft.list<[L], !s>
  %r = ft.map (%v = %w : !ft.list<[L, 3], !s>) {
    %q = ft.map (%a = %v : !ft.list<[3], !s>) {
      %b = arith.addi %a, %a : !s
      ft.yield %b : !s
    }
    ft.yield %q : !ft.list<[3], !s>
  }
  return %r : !ft.list<[L, 3], !s>
}

// CHECK-LABEL: etdg.graph @wrapped(
// CHECK{LITERAL}: reads (%x = {i + j >= 1 and i + j <= L: %arg0[i + j - 1], i + j <= 0: %arg0[i + j + L - 1], i + j >= L + 1: %arg0[i + j - L - 1]} : tensor<i32>)
func.func @wrapped(%xs: !ft.list<[L], !s>) -> !ft.list<[L, 3], !s>
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %w = ft.window %xs size 3 boundary wrap : !ft.list<[L], !s>
  %r = ft.map (%v = %w : !ft.list<[L, 3], !s>) {
    %q = ft.map (%a = %v : !ft.list<[3], !s>) {
      %b = arith.addi %a, %a : !s
      ft.yield %b : !s
    }
    ft.yield %q : !ft.list<[3], !s>
  }
  return %r : !ft.list<[L, 3], !s>
}

// From the right: the first step takes the last element, and each state is that of one step before.
// CHECK-LABEL: etdg.graph @from_right(
// CHECK: [foldl] (i) in [0, L)
// CHECK: reads (%s = {i >= 1: %[[STATE:.*]][i - 1], i = 0: %arg1[]} : tensor<i32>, %x = %arg0[L - i - 1] : tensor<i32>)
// CHECK: writes (%[[STATE]][i], %{{.*}}[L - i - 1])
// CHECK: reads (%x = {L >= 1: %[[STATE]][L - 1], L = 0: %arg1[]} : tensor<i32>)
func.func @from_right(%xs: !ft.list<[L], !s>, %z: !s) -> (!s, !ft.list<[L], !s>) {
  %f, %e = ft.foldr (%x = %xs : !ft.list<[L], !s>) init (%h = %z : !s) {
    %t = arith.addi %h, %h : !s
    %n = arith.addi %t, %x : !s
    ft.yield %n : !s emit %t : !s
  }
  return %f, %e : !s, !ft.list<[L], !s>
}

// Three parts of lengths of their own: the third begins where both others end.
// CHECK-LABEL: etdg.graph @three_parts(
// CHECK: %arg2[i - L - M]
func.func @three_parts(%xs: !ft.list<[L], !s>, %ys: !ft.list<[M], !s>, %zs: !ft.list<[2], !s>) -> !ft.list<[L + M + 2], !s> {
  %c = ft.concat %xs, %ys, %zs : !ft.list<[L], !s>, !ft.list<[M], !s>, !ft.list<[2], !s>
  %r = ft.map (%a = %c : !ft.list<[L + M + 2], !s>) {
    %b = arith.addi %a, %a : !s
    ft.yield %b : !s
  }
  return %r : !ft.list<[L + M + 2], !s>
}

// Three dimensions turned round: a permutation that is not its own inverse.
// CHECK-LABEL: etdg.graph @turned_round(
// CHECK: %arg0[j, k, i]
func.func @turned_round(%xs: !ft.list<[L, M, 2], !s>) -> !ft.list<[2, L, M], !s> {
  %t = ft.transpose %xs [2, 0, 1] : !ft.list<[L, M, 2], !s>
  %r = ft.map (%p = %t : !ft.list<[2, L, M], !s>) {
    %q = ft.map (%v = %p : !ft.list<[L, M], !s>) {
      %w = ft.map (%a = %v : !ft.list<[M], !s>) {
        %b = arith.addi %a, %a : !s
        ft.yield %b : !s
      }
      ft.yield %w : !ft.list<[M], !s>
    }
    ft.yield %q : !ft.list<[L, M], !s>
  }
  return %r : !ft.list<[2, L, M], !s>
}
