// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be computed before the loops in which others wait (etdg-distribute): the divisions that
// etdg-reorder leaves of each program, found by hand, and that each computes the same. `outer=n`: with n
// sequential dimensions around both parts; `lags`: as regions of one wavefront. Integers: the same bit for bit.
//
// RUN: %python %S/Inputs/distribute.py %ft_bin/ft-opt %ft_bin/ft-run %s | FileCheck %s
// CHECK: 15 programs, {{[0-9]+}} runs, 0 failures{{$}}

!x = tensor<1x3xi32>
!w = tensor<3x3xi32>
!h = tensor<1x4xf16>
!v = tensor<4x4xf16>

// One layer: all products with the inputs.
// divisions: outer=0
func.func @one_layer(%xs: !ft.list<[L], !x>, %w: !w, %u: !w, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%h : !x) -> !x
    %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
    ft.yield %1 : !x
  }
  return %hs : !ft.list<[L], !x>
}

// Layers: those of the first one before everything, those of a layer before its steps.
// divisions: outer=0; outer=1; outer=1 lags
func.func @layers(%xs: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !w>, %us: !ft.list<[D], !w>, %bs: !ft.list<[D], !x>) -> !ft.list<[N, D, L], !x> {
  %zero = arith.constant dense<0> : !x
  %all = ft.map (%one = %xs : !ft.list<[N, L], !x>) -> !ft.list<[N, D, L], !x> {
    %r = ft.scanl (%w, %u, %b = %ws, %us, %bs : !ft.list<[D], !w>, !ft.list<[D], !w>, !ft.list<[D], !x>)
        init (%below = %one : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
      %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
        %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
        %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
        ft.yield %1 : !x
      }
      ft.yield %hs : !ft.list<[L], !x>
    }
    ft.yield %r : !ft.list<[D, L], !x>
  }
  return %all : !ft.list<[N, D, L], !x>
}

// The product with the state comes first: the other one is taken out of the sum. A residual beside.
// divisions: outer=0; outer=1; outer=1 lags
func.func @residual(%xs: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !w>, %us: !ft.list<[D], !w>, %h0: !x) -> !ft.list<[N, D, L], !x> {
  %all = ft.map (%one = %xs : !ft.list<[N, L], !x>) -> !ft.list<[N, D, L], !x> {
    %r = ft.scanl (%w, %u = %ws, %us : !ft.list<[D], !w>, !ft.list<[D], !w>) init (%below = %one : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
      %hs, %outs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
        %0 = linalg.matmul ins(%h, %u : !x, !w) outs(%h0 : !x) -> !x
        %1 = linalg.matmul ins(%x, %w : !x, !w) outs(%0 : !x) -> !x
        %2 = arith.addi %1, %x : !x
        ft.yield %1 : !x emit %2 : !x
      }
      ft.yield %outs : !ft.list<[L], !x>
    }
    ft.yield %r : !ft.list<[D, L], !x>
  }
  return %all : !ft.list<[N, D, L], !x>
}

// Every layer reads the one below in reverse: no wavefront, but the products of a layer are free.
// divisions: outer=0; outer=1; outer=1 lags
func.func @back_and_forth(%xs: !ft.list<[L], !x>, %ws: !ft.list<[D], !w>, %us: !ft.list<[D], !w>) -> !ft.list<[D, L], !x> {
  %zero = arith.constant dense<1> : !x
  %r = ft.scanl (%w, %u = %ws, %us : !ft.list<[D], !w>, !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
    %turned = ft.reverse %below : !ft.list<[L], !x>
    %hs = ft.scanl (%x = %turned : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
      %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
      ft.yield %1 : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %r : !ft.list<[D, L], !x>
}

// What the state is projected with lies on the cycle, the product with the input does not.
// divisions: outer=0
func.func @projected(%xs: !ft.list<[N, L], !x>, %w: !w, %u: !w, %p: !w) -> !ft.list<[N, L], !x> {
  %zero = arith.constant dense<0> : !x
  %all = ft.map (%one = %xs : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %one : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
      %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
      %2 = arith.muli %1, %x : !x
      %3 = linalg.matmul ins(%2, %p : !x, !w) outs(%zero : !x) -> !x
      ft.yield %3 : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %all : !ft.list<[N, L], !x>
}

// The only product has the state as its factor.
// divisions: none
func.func @all_wait(%xs: !ft.list<[L], !x>, %u: !w, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %0 = linalg.matmul ins(%h, %u : !x, !w) outs(%x : !x) -> !x
    ft.yield %0 : !x
  }
  return %hs : !ft.list<[L], !x>
}

// No product: nothing is worth a pass over memory.
// divisions: none
func.func @no_product(%xs: !ft.list<[L], !x>, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %0 = arith.muli %x, %x : !x
    %1 = arith.addi %0, %h : !x
    ft.yield %1 : !x
  }
  return %hs : !ft.list<[L], !x>
}

// A chain that does not wait goes as a whole, with all between its products.
// divisions: outer=0
func.func @chain(%xs: !ft.list<[L], !x>, %w: !w, %u: !w, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%h0 : !x) -> !x
    %1 = arith.maxsi %0, %x : !x
    %2 = linalg.matmul ins(%1, %u : !x, !w) outs(%x : !x) -> !x
    %3 = arith.muli %2, %h : !x
    %4 = arith.addi %3, %x : !x
    ft.yield %4 : !x
  }
  return %hs : !ft.list<[L], !x>
}

// Weights of each step; two sums, one added to the other after the state.
// divisions: outer=0
func.func @weights_of_steps(%xs: !ft.list<[L], !x>, %ws: !ft.list<[L], !w>, %u: !w, %h0: !x) -> !ft.list<[L], !x> {
  %hs = ft.scanl (%x, %w = %xs, %ws : !ft.list<[L], !x>, !ft.list<[L], !w>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %0 = linalg.matmul ins(%h, %w : !x, !w) outs(%x : !x) -> !x
    %1 = linalg.matmul ins(%x, %w : !x, !w) outs(%0 : !x) -> !x
    %2 = linalg.matmul ins(%x, %u : !x, !w) outs(%1 : !x) -> !x
    ft.yield %2 : !x
  }
  return %hs : !ft.list<[L], !x>
}

// A grid: what comes from the left waits, what comes from above does not inside a row, what comes from the layer
// below waits for no cell of its layer.
// divisions: outer=0; outer=1; outer=1 lags; outer=2; outer=2 lags
func.func @grid(%xss: !ft.list<[S, T], !x>, %ws: !ft.list<[D], !w>, %us: !ft.list<[D], !w>) -> !ft.list<[D, S, T], !x> {
  %zero = arith.constant dense<2> : !x
  %r = ft.scanl (%w, %u = %ws, %us : !ft.list<[D], !w>, !ft.list<[D], !w>) init (%below = %xss : !ft.list<[S, T], !x>) -> !ft.list<[D, S, T], !x> {
    %border = ft.repeat %zero times T : !x
    %rows = ft.scanl (%xs = %below : !ft.list<[S, T], !x>) init (%above = %border : !ft.list<[T], !x>) -> !ft.list<[S, T], !x> {
      %cells = ft.scanl (%x, %up = %xs, %above : !ft.list<[T], !x>, !ft.list<[T], !x>) init (%left = %zero : !x) -> !ft.list<[T], !x> {
        %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
        %1 = linalg.matmul ins(%left, %u : !x, !w) outs(%0 : !x) -> !x
        %2 = linalg.matmul ins(%up, %u : !x, !w) outs(%1 : !x) -> !x
        ft.yield %2 : !x
      }
      ft.yield %cells : !ft.list<[T], !x>
    }
    ft.yield %rows : !ft.list<[S, T], !x>
  }
  return %r : !ft.list<[D, S, T], !x>
}

// Gates as a list in the body: products of a block inside.
// divisions: outer=0; outer=1; outer=1 lags
func.func @gates(%xs: !ft.list<[N, L], !x>, %ws: !ft.list<[D, 2], !w>, %us: !ft.list<[D, 2], !w>) -> !ft.list<[N, D, L], !x> {
  %zero = arith.constant dense<0> : !x
  %all = ft.map (%one = %xs : !ft.list<[N, L], !x>) -> !ft.list<[N, D, L], !x> {
    %r = ft.scanl (%ws1, %us1 = %ws, %us : !ft.list<[D, 2], !w>, !ft.list<[D, 2], !w>) init (%below = %one : !ft.list<[L], !x>) -> !ft.list<[D, L], !x> {
      %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
        %gs = ft.map (%w, %u = %ws1, %us1 : !ft.list<[2], !w>, !ft.list<[2], !w>) -> !ft.list<[2], !x> {
          %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
          %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
          ft.yield %1 : !x
        }
        %a = ft.at %gs[0] : !ft.list<[2], !x>
        %b = ft.at %gs[1] : !ft.list<[2], !x>
        %m = arith.xori %a, %b : !x
        ft.yield %m : !x
      }
      ft.yield %hs : !ft.list<[L], !x>
    }
    ft.yield %r : !ft.list<[D, L], !x>
  }
  return %all : !ft.list<[N, D, L], !x>
}

// Halves: what is taken apart is kept in f32 and rounded once.
// divisions: outer=0; outer=1; outer=1 lags
func.func @halves(%xs: !ft.list<[N, L], !h>, %ws: !ft.list<[D], !v>, %us: !ft.list<[D], !v>) -> !ft.list<[N, D, L], !h> {
  %zero = arith.constant dense<0.0> : !h
  %all = ft.map (%one = %xs : !ft.list<[N, L], !h>) -> !ft.list<[N, D, L], !h> {
    %r = ft.scanl (%w, %u = %ws, %us : !ft.list<[D], !v>, !ft.list<[D], !v>) init (%below = %one : !ft.list<[L], !h>) -> !ft.list<[D, L], !h> {
      %hs = ft.scanl (%x = %below : !ft.list<[L], !h>) init (%h = %zero : !h) -> !ft.list<[L], !h> {
        %0 = linalg.matmul ins(%h, %u : !h, !v) outs(%x : !h) -> !h
        %1 = linalg.matmul ins(%x, %w : !h, !v) outs(%0 : !h) -> !h
        %2 = math.tanh %1 : !h
        ft.yield %2 : !h
      }
      ft.yield %hs : !ft.list<[L], !h>
    }
    ft.yield %r : !ft.list<[D, L], !h>
  }
  return %all : !ft.list<[N, D, L], !h>
}

// The last state of each layer, too.
// divisions: outer=1; outer=1 lags
func.func @last_states(%xs: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !w>, %us: !ft.list<[D], !w>) -> (!ft.list<[N, L], !x>, !ft.list<[N, D], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1", "D >= 1">} {
  %zero = arith.constant dense<0> : !x
  %a, %b = ft.map (%one = %xs : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x>, !ft.list<[N, D], !x> {
    %top, %lasts = ft.foldl (%w, %u = %ws, %us : !ft.list<[D], !w>, !ft.list<[D], !w>) init (%below = %one : !ft.list<[L], !x>)
        -> !ft.list<[L], !x>, !ft.list<[D], !x> {
      %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
        %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
        %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
        ft.yield %1 : !x
      }
      %last = ft.at %hs[L - 1] : !ft.list<[L], !x>
      ft.yield %hs : !ft.list<[L], !x> emit %last : !x
    }
    ft.yield %top, %lasts : !ft.list<[L], !x>, !ft.list<[D], !x>
  }
  return %a, %b : !ft.list<[N, L], !x>, !ft.list<[N, D], !x>
}

// A fold: only the last state is asked for.
// divisions: outer=0
func.func @folded(%xs: !ft.list<[N, L], !x>, %w: !w, %u: !w) -> !ft.list<[N], !x> {
  %zero = arith.constant dense<5> : !x
  %all = ft.map (%one = %xs : !ft.list<[N, L], !x>) -> !ft.list<[N], !x> {
    %h1 = ft.foldl (%x = %one : !ft.list<[L], !x>) init (%h = %zero : !x) -> !x {
      %0 = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
      %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
      ft.yield %1 : !x
    }
    ft.yield %h1 : !x
  }
  return %all : !ft.list<[N], !x>
}

// After a map that is computed before, and read by two.
// divisions: outer=0
func.func @behind_a_map(%xs: !ft.list<[L], !x>, %w: !w, %u: !w, %h0: !x) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %ys = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %0 = arith.muli %x, %x : !x
    ft.yield %0 : !x
  }
  %hs = ft.scanl (%x, %y = %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%h = %h0 : !x) -> !ft.list<[L], !x> {
    %0 = linalg.matmul ins(%y, %w : !x, !w) outs(%x : !x) -> !x
    %1 = linalg.matmul ins(%h, %u : !x, !w) outs(%0 : !x) -> !x
    ft.yield %1 : !x
  }
  return %hs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>
}
