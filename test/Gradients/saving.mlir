// What is saved changes no derivative: all, states alone, what prices say, what attributes say. Checkpoints at lengths
// below a chunk, of whole chunks, and with a rest.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "L=0,N=2" --dims "L=2,N=1" --dims "L=6,N=2" --dims "L=11,N=3" --options save=auto --options save=states --options save=all %s | FileCheck %s
// RUN: ft-opt %s --ft-differentiate="function=computed_indices save=all" | FileCheck %s --check-prefix=COMPUTED
// CHECK: 0 wrong

!x = tensor<3xf32>
!w = tensor<3x3xf32>

// The state of a cell that no result gives, two states, an emitted value.
func.func @cell(%xs: !ft.list<[L], !x>, %h0: !x, %c0: !x, %w: !w) -> (!x, !ft.list<[L], !x>) {
  %h, %c, %os = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%h, %c = %h0, %c0 : !x, !x) -> !x, !x, !ft.list<[L], !x> attributes {ft.checkpoint = [3]} {
    %z = arith.constant dense<0.0> : !x
    %g = linalg.vecmat ins(%h, %w : !x, !w) outs(%z : !x) -> !x
    %a = arith.addf %g, %x : !x
    %s = ft.sigmoid %a : !x
    %p = arith.mulf %s, %c : !x
    %t = math.tanh %x : !x
    %n = arith.addf %p, %t : !x
    %u = math.tanh %n : !x
    %m = arith.mulf %u, %s : !x
    %o = arith.mulf %m, %x : !x
    ft.yield %m, %n : !x, !x emit %o : !x
  }
  return %c, %os : !x, !ft.list<[L], !x>
}

// From the right, in chunks of chunks; matrices that don't commute.
func.func @right(%xs: !ft.list<[L], !x>, %ws: !ft.list<[L], !w>, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanr (%x, %w = %xs, %ws : !ft.list<[L], !x>, !ft.list<[L], !w>) init (%h = %h0 : !x) -> !ft.list<[L], !x> attributes {ft.checkpoint = [4, 2]} {
    %g = linalg.vecmat ins(%h, %w : !x, !w) outs(%x : !x) -> !x
    %t = math.sin %g : !x
    ft.yield %t : !x
  }
  return %hs : !ft.list<[L], !x>
}

// In a map, with values from around it, and positions that are read.
func.func @batch(%xss: !ft.list<[N, L], !x>, %h0: !x, %w: !w) -> !ft.list<[N], !x> {
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N], !x> {
    %is = ft.iota : !ft.list<[L], tensor<i64>>
    %first = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) -> !x {
      %e = math.sin %x : !x
      %n = arith.addf %s, %e : !x
      ft.yield %n : !x
    }
    %h = ft.foldl (%x, %i = %xs, %is : !ft.list<[L], !x>, !ft.list<[L], tensor<i64>>) init (%h = %first : !x) -> !x attributes {ft.checkpoint = [3]} {
      %f = arith.sitofp %i : tensor<i64> to tensor<f32>
      %d = arith.negf %f : tensor<f32>
      %decay = math.exp %d : tensor<f32>
      %k = ft.scale %h by %decay : !x, tensor<f32>
      %g = linalg.vecmat ins(%h, %w : !x, !w) outs(%x : !x) -> !x
      %t = math.tanh %g : !x
      %q = arith.mulf %t, %first : !x
      %n = arith.addf %q, %k : !x
      %c = math.cos %n : !x
      ft.yield %c : !x
    }
    ft.yield %h : !x
  }
  return %r : !ft.list<[N], !x>
}

// A scan in a scan, whose states are computed again; a map that is, and one that is not.
func.func @nested(%xss: !ft.list<[N, L], !x>, %h0: !x) -> !x {
  %r = ft.foldl (%xs = %xss : !ft.list<[N, L], !x>) init (%s = %h0 : !x) -> !x {
    %a = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> attributes {ft.saved = false} {
      %e = math.exp %x : !x
      %n = arith.mulf %e, %s : !x
      ft.yield %n : !x
    }
    %b = ft.map (%x = %a : !ft.list<[L], !x>) -> !ft.list<[L], !x> attributes {ft.saved = true} {
      %e = math.sin %x {ft.saved = false} : !x
      %m = math.sin %e : !x
      ft.yield %m : !x
    }
    %hs = ft.scanl (%x, %y = %a, %b : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%h = %s : !x) -> !ft.list<[L], !x> attributes {ft.saved = false} {
      %m = arith.mulf %h, %y : !x
      %n = arith.addf %m, %x : !x
      %t = math.tanh %n : !x
      ft.yield %t : !x
    }
    %l = ft.last %hs or %s : !ft.list<[L], !x>, !x
    %t = math.sin %l : !x
    ft.yield %t : !x
  }
  return %r : !x
}

// Indices that the function computes: where they are saved, no caller can sort them before. (Only functions ask callers for groups.)
// COMPUTED: func.func @computed_indices_backward
// COMPUTED-NOT: ft.group
// COMPUTED: return
func.func @computed_indices(%xs: !ft.list<[4], !x>, %zs: !ft.list<[L], !x>, %h0: !x) -> !x {
  %i = ft.iota : !ft.list<[L], tensor<i64>>
  %p = ft.map (%n = %i : !ft.list<[L], tensor<i64>>) -> !ft.list<[L], tensor<i64>> {
    %c = arith.constant dense<4> : tensor<i64>
    %r = arith.remui %n, %c : tensor<i64>
    ft.yield %r : tensor<i64>
  }
  %ys = ft.gather %xs[%p] : !ft.list<[4], !x>, !ft.list<[L], tensor<i64>>
  %s = ft.foldl (%y, %z = %ys, %zs : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%t = %h0 : !x) -> !x {
    %m = arith.mulf %t, %y : !x
    %n = arith.addf %m, %z : !x
    ft.yield %n : !x
  }
  return %s : !x
}
