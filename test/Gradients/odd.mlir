// Odd bodies: states with a lag, states and arguments that are emitted, positions and gathers below checkpoints, states that are lists or
// places, lists of states that later loops capture, windows and pieces inside of maps.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "L=0,M=2,N=1" --dims "L=7,M=3,N=5" %s | FileCheck %s
// CHECK: 0 wrong

!x = tensor<3xf32>
!w = tensor<3x3xf32>
!i = tensor<i64>
!s = tensor<f32>

func.func @lag_two(%xs: !ft.list<[L], !x>, %a0: !x, %b0: !x, %w: !w) -> (!ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>) {
  %a, %b, %e = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s, %t = %a0, %b0 : !x, !x) lag 2 -> !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x> {
    %m = linalg.vecmat ins(%s, %w : !x, !w) outs(%t : !x) -> !x
    %n = math.tanh %m : !x
    %p = arith.mulf %n, %x : !x
    %q = arith.mulf %t, %s : !x
    ft.yield %p, %n : !x, !x emit %q : !x
  }
  return %a, %b, %e : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>
}

func.func @emit_only(%xs: !ft.list<[L], !x>, %a0: !x, %b0: !x) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %a, %b, %e, %f = ft.foldr (%x = %xs : !ft.list<[L], !x>) init (%s, %t = %a0, %b0 : !x, !x) -> !x, !x, !ft.list<[L], !x>, !ft.list<[L], !x> {
    %p = arith.mulf %s, %x : !x
    %q = math.sin %t : !x
    %r = arith.addf %q, %p : !x
    ft.yield %r, %s : !x, !x emit %t, %s : !x, !x
  }
  return %e, %f : !ft.list<[L], !x>, !ft.list<[L], !x>
}

func.func @checkpoint_positions(%xs: !ft.list<[L], !x>, %a0: !x, %ys: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !x) {
  %is = ft.iota : !ft.list<[L], !i>
  %a, %e = ft.foldl (%x, %i = %xs, %is : !ft.list<[L], !x>, !ft.list<[L], !i>) init (%s = %a0 : !x) -> !x, !ft.list<[L], !x> attributes {ft.checkpoint = [4, 2]} {
    %f = arith.sitofp %i : !i to !s
    %y = ft.gather %ys[%i] : !ft.list<[L], !x>, !i
    %k = ft.scale %s by %f : !x, !s
    %kk = math.sin %k : !x
    %z = arith.mulf %kk, %y : !x
    %u = arith.addf %z, %x : !x
    ft.yield %u : !x emit %kk : !x
  }
  return %e, %a : !ft.list<[L], !x>, !x
}

func.func @gather_inside(%xs: !ft.list<[N], !x>, %is: !ft.list<[L], !i> {ft.gen = #ft.index<0, N>}, %c: !x) -> !ft.list<[L], !x> attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %h, %e = ft.foldl (%i = %is : !ft.list<[L], !i>) init (%s = %c : !x) -> !x, !ft.list<[L], !x> {
    %y = ft.gather %xs[%i] : !ft.list<[N], !x>, !i
    %m = arith.mulf %y, %s : !x
    %t = math.tanh %m : !x
    %u = arith.addf %t, %y : !x
    ft.yield %u : !x emit %t : !x
  }
  return %e : !ft.list<[L], !x>
}

// States that are lists, with what is emitted of them, from the right with a lag.
func.func @list_states(%xss: !ft.list<[M, L], !x>, %h0: !ft.list<[L], !x>, %c: !x) -> (!ft.list<[M, L], !x>, !ft.list<[M], !x>) {
  %hs, %e = ft.scanr (%xs = %xss : !ft.list<[M, L], !x>) init (%h = %h0 : !ft.list<[L], !x>) lag 2 -> !ft.list<[M, L], !x>, !ft.list<[M], !x> {
    %n = ft.map (%x, %g = %xs, %h : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %a = arith.mulf %x, %g : !x
      %b = arith.addf %a, %c : !x
      ft.yield %b : !x
    }
    %l = ft.last %h or %c : !ft.list<[L], !x>, !x
    %k = math.sin %l : !x
    ft.yield %n : !ft.list<[L], !x> emit %k : !x
  }
  return %hs, %e : !ft.list<[M, L], !x>, !ft.list<[M], !x>
}

// An inner scan's initial state is the outer's state, and its list of states is the outer's element after.
func.func @grid(%xss: !ft.list<[M, L], !x>, %w: !w, %u: !w) -> !ft.list<[M, L], !x> {
  %zero = arith.constant dense<0.1> : !x
  %row0 = ft.repeat %zero times L : !x
  %all = ft.scanl (%xs = %xss : !ft.list<[M, L], !x>) init (%above = %row0 : !ft.list<[L], !x>) -> !ft.list<[M, L], !x> {
    %hs = ft.scanr (%x, %a = %xs, %above : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s = %zero : !x) -> !ft.list<[L], !x> {
      %m = linalg.vecmat ins(%s, %w : !x, !w) outs(%x : !x) -> !x
      %n = linalg.vecmat ins(%a, %u : !x, !w) outs(%m : !x) -> !x
      %t = math.tanh %n : !x
      ft.yield %t : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %all : !ft.list<[M, L], !x>
}

// Windows in a scan in a map; a captured window.
func.func @windows(%xss: !ft.list<[M, L + 2], !x>, %l: !ft.list<[L], !i>, %k: !ft.list<[3], !x>, %h0: !x) -> !ft.list<[M, L], !x> {
  %r = ft.map (%xs = %xss : !ft.list<[M, L + 2], !x>) -> !ft.list<[M, L], !x> {
    %ws = ft.window %xs size 3 : !ft.list<[L + 2], !x>
    %hs = ft.scanl (%wn = %ws : !ft.list<[L, 3], !x>) init (%h = %h0 : !x) lag 2 -> !ft.list<[L], !x> {
      %d = ft.foldl (%a, %b = %wn, %k : !ft.list<[3], !x>, !ft.list<[3], !x>) init (%s = %h : !x) -> !x {
        %p = arith.mulf %a, %b : !x
        %t = math.sin %s : !x
        %q = arith.addf %t, %p : !x
        ft.yield %q : !x
      }
      ft.yield %d : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %r : !ft.list<[M, L], !x>
}

// An inner loop over the outer's states so far is a captured list; states reversed and shifted.
func.func @states_again(%xs: !ft.list<[L], !x>, %h0: !x) -> (!ft.list<[L], !x>, !x) {
  %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %t = arith.mulf %x, %h : !x
    %u = math.cos %t : !x
    ft.yield %u : !x
  }
  %rs = ft.reverse %hs : !ft.list<[L], !x>
  %sh = ft.shift %rs by 2 fill %h0 : !ft.list<[L], !x>, !x
  %os, %ms = ft.foldr (%a, %b, %c = %hs, %rs, %sh : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s = %h0 : !x) -> !x, !ft.list<[L], !x> {
    %m = ft.reduce (%y = %hs : !ft.list<[L], !x>) init (%z = %s : !x) -> !x {
      %p = arith.mulf %y, %c : !x
      %q = arith.addf %p, %z : !x
      ft.yield %q : !x
    }
    %k = arith.mulf %m, %b : !x
    %kk = math.tanh %k : !x
    %v = arith.addf %kk, %a : !x
    ft.yield %v : !x emit %m : !x
  }
  return %ms, %os : !ft.list<[L], !x>, !x
}

// Without init, in a map, over split lists; emitted states of a right scan with several states.
func.func @open_nested(%xss: !ft.list<[M, 4 * L + 4], !x>, %l: !ft.list<[L], !i>) -> (!ft.list<[M, L + 1], !x>, !ft.list<[M, L + 1, 4], !x>) {
  %a, %b = ft.map (%xs = %xss : !ft.list<[M, 4 * L + 4], !x>) -> !ft.list<[M, L + 1], !x>, !ft.list<[M, L + 1, 4], !x> {
    %ps = ft.split %xs by 4 : !ft.list<[4 * L + 4], !x>
    %r, %q = ft.map (%p = %ps : !ft.list<[L + 1, 4], !x>) -> !ft.list<[L + 1], !x>, !ft.list<[L + 1, 4], !x> {
      %f = ft.foldl (%x = %p : !ft.list<[4], !x>) state (%s) -> !x {
        %t = math.sin %s : !x
        %u = arith.mulf %t, %x : !x
        ft.yield %u : !x
      }
      %g = ft.scanr (%x = %p : !ft.list<[4], !x>) state (%s) -> !ft.list<[4], !x> {
        %t = arith.mulf %s, %f : !x
        %u = arith.addf %t, %x : !x
        ft.yield %u : !x
      }
      ft.yield %f, %g : !x, !ft.list<[4], !x>
    }
    ft.yield %r, %q : !ft.list<[L + 1], !x>, !ft.list<[L + 1, 4], !x>
  }
  return %a, %b : !ft.list<[M, L + 1], !x>, !ft.list<[M, L + 1, 4], !x>
}

// Gathered indices that are computed, below a checkpoint; a gather of a gather.
func.func @pointer(%xs: !ft.list<[N], !x>, %is: !ft.list<[N], !i> {ft.gen = #ft.index<0, N>}, %h0: !x, %l: !ft.list<[L], !x>) -> (!ft.list<[N], !x>, !ft.list<[L], !x>) attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %a = ft.gather %xs[%is] : !ft.list<[N], !x>, !ft.list<[N], !i>
  %b = ft.gather %a[%is] : !ft.list<[N], !x>, !ft.list<[N], !i>
  %zero = arith.constant dense<0> : !i
  %k, %h, %e = ft.foldl (%x = %l : !ft.list<[L], !x>) init (%j, %h = %zero, %h0 : !i, !x) -> !i, !x, !ft.list<[L], !x> attributes {ft.checkpoint = [2]} {
    %next = ft.gather %is[%j] : !ft.list<[N], !i>, !i
    %v = ft.gather %b[%j] : !ft.list<[N], !x>, !i
    %p = arith.mulf %v, %h : !x
    %q = math.sin %p : !x
    %r = arith.addf %q, %x : !x
    ft.yield %next, %r : !i, !x emit %p : !x
  }
  return %b, %e : !ft.list<[N], !x>, !ft.list<[L], !x>
}

func.func @stride_state(%xs: !ft.list<[2 * L + 1], !x>, %l: !ft.list<[L], !x>, %h0: !ft.list<[4], !x>) -> (!ft.list<[L], !x>, !ft.list<[4], !x>) {
  %o = ft.stride %xs from 0 step 2 : !ft.list<[2 * L + 1], !x>
  %e = ft.stride %xs from 1 step 2 : !ft.list<[2 * L + 1], !x>
  %o2 = ft.cast %o : !ft.list<[ceildiv(2 * L + 1, 2)], !x> to !ft.list<[L + 1], !x>
  %o1 = ft.slice %o2[0 to L] : !ft.list<[L + 1], !x>
  %e1 = ft.cast %e : !ft.list<[L], !x> to !ft.list<[L], !x>
  %h, %r = ft.foldl (%a, %b, %c = %o1, %e1, %l : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>) init (%h = %h0 : !ft.list<[4], !x>) -> !ft.list<[4], !x>, !ft.list<[L], !x> attributes {ft.checkpoint = [2]} {
    %n = ft.shift %h by 1 fill %a : !ft.list<[4], !x>, !x
    %f = ft.at %n[3] : !ft.list<[4], !x>
    %t = arith.mulf %f, %b : !x
    %m = ft.map (%y = %n : !ft.list<[4], !x>) -> !ft.list<[4], !x> {
      %p = arith.addf %y, %t : !x
      %q = math.tanh %p : !x
      %u = arith.mulf %q, %c : !x
      ft.yield %u : !x
    }
    ft.yield %m : !ft.list<[4], !x> emit %t : !x
  }
  return %r, %h : !ft.list<[L], !x>, !ft.list<[4], !x>
}
