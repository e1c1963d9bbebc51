// Each operator, with and without `init`, with `combine`, `emit`, `lag` and several states. Matrices that don't commute.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "L=1" --dims "L=2" --dims "L=7" %s | FileCheck %s
// CHECK: 0 wrong

!x = tensor<3xf32>
!w = tensor<3x3xf32>




func.func @map(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L], !x>, %c: !x) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %a, %b = ft.map (%x, %y = %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
    %p = arith.mulf %x, %y : !x
    %q = arith.mulf %p, %c : !x
    %t = math.tanh %q : !x
    ft.yield %q, %t : !x, !x
  }
  return %a, %b : !ft.list<[L], !x>, !ft.list<[L], !x>
}

func.func @foldl(%xs: !ft.list<[L], !x>, %h0: !x, %w: !w) -> (!x, !ft.list<[L], !x>) {
  %h, %e = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) -> !x, !ft.list<[L], !x> {
    %m = linalg.vecmat ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    %n = math.tanh %m : !x
    %o = arith.mulf %n, %x : !x
    ft.yield %n : !x emit %o : !x
  }
  return %h, %e : !x, !ft.list<[L], !x>
}

func.func @foldr(%xs: !ft.list<[L], !x>, %ws: !ft.list<[L], !w>, %h0: !x) -> !x {
  %h = ft.foldr (%x, %w = %xs, %ws : !ft.list<[L], !x>, !ft.list<[L], !w>) init (%s = %h0 : !x) -> !x {
    %m = linalg.vecmat ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    %n = math.sin %m : !x
    ft.yield %n : !x
  }
  return %h : !x
}

func.func @scanl(%xs: !ft.list<[L], !x>, %ws: !ft.list<[L], !w>, %h0: !x, %u: !w) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %h, %e = ft.scanl (%x, %w = %xs, %ws : !ft.list<[L], !x>, !ft.list<[L], !w>) init (%s = %h0 : !x) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
    %m = linalg.vecmat ins(%s, %w : !x, !w) outs(%x : !x) -> !x
    %k = linalg.vecmat ins(%m, %u : !x, !w) outs(%x : !x) -> !x
    %n = math.tanh %k : !x
    %o = arith.mulf %s, %n : !x
    ft.yield %n : !x emit %o : !x
  }
  return %h, %e : !ft.list<[L], !x>, !ft.list<[L], !x>
}

func.func @scanr(%xs: !ft.list<[L], !x>, %h0: !x, %u: !w) -> !ft.list<[L], !x> {
  %h = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) -> !ft.list<[L], !x> {
    %m = linalg.vecmat ins(%s, %u : !x, !w) outs(%x : !x) -> !x
    %n = math.tanh %m : !x
    ft.yield %n : !x
  }
  return %h : !ft.list<[L], !x>
}

func.func @lag3(%xs: !ft.list<[L], !x>, %h0: !x, %u: !w) -> !ft.list<[L], !x> {
  %h = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) lag 3 -> !ft.list<[L], !x> {
    %m = linalg.vecmat ins(%s, %u : !x, !w) outs(%x : !x) -> !x
    %n = math.tanh %m : !x
    ft.yield %n : !x
  }
  return %h : !ft.list<[L], !x>
}

func.func @lagr2(%xs: !ft.list<[L], !x>, %h0: !x) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  %h, %e = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) lag 2 -> !ft.list<[L], !x>, !ft.list<[L], !x> {
    %m = arith.mulf %s, %x : !x
    %n = math.sin %m : !x
    %o = arith.addf %m, %n : !x
    ft.yield %o : !x emit %m : !x
  }
  return %h, %e : !ft.list<[L], !x>, !ft.list<[L], !x>
}

func.func @states(%xs: !ft.list<[L], !x>, %a0: !x, %b0: !x) -> (!x, !x, tensor<i64>) {
  %zero = arith.constant dense<0> : tensor<i64>
  %one = arith.constant dense<1> : tensor<i64>
  %a, %b, %n = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s, %t, %k = %a0, %b0, %zero : !x, !x, tensor<i64>) -> !x, !x, tensor<i64> {
    %p = arith.mulf %t, %x : !x
    %q = math.cos %s : !x
    %r = arith.addf %q, %x : !x
    %k1 = arith.addi %k, %one : tensor<i64>
    ft.yield %p, %r, %k1 : !x, !x, tensor<i64>
  }
  return %a, %b, %n : !x, !x, tensor<i64>
}

func.func @reduce(%xs: !ft.list<[L], !x>, %h0: !x, %c: !x) -> (!x, !x) {
  %s = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%a = %h0 : !x) -> !x {
    %b = arith.addf %a, %x : !x
    ft.yield %b : !x
  }
  %p = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%a = %c : !x) -> !x {
    %b = arith.mulf %a, %x : !x
    ft.yield %b : !x
  }
  return %s, %p : !x, !x
}

func.func @reduce_open(%xs: !ft.list<[L], !x>) -> (!x, !ft.list<[L], !x>, !ft.list<[L], !x>) attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %p = ft.reduce (%x = %xs : !ft.list<[L], !x>) state (%a) -> !x {
    %b = arith.mulf %a, %x : !x
    ft.yield %b : !x
  }
  %q = ft.scanl (%x = %xs : !ft.list<[L], !x>) state (%a) -> !ft.list<[L], !x> {
    %c = math.sin %a : !x
    %b = arith.mulf %c, %x : !x
    ft.yield %b : !x
  }
  %r = ft.scanr (%x = %xs : !ft.list<[L], !x>) state (%a) -> !ft.list<[L], !x> {
    %c = math.cos %a : !x
    %b = arith.mulf %c, %x : !x
    ft.yield %b : !x
  }
  return %p, %q, %r : !x, !ft.list<[L], !x>, !ft.list<[L], !x>
}

func.func @combine(%xs: !ft.list<[L], !x>, %as: !ft.list<[L], !x>, %h0: !x) -> (!ft.list<[L], !x>, !x) {
  %one = arith.constant dense<1.0> : !x
  %zero = arith.constant dense<0.0> : !x
  %p, %h = ft.scan (%x, %a = %xs, %as : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%q, %s = %one, %h0 : !x, !x) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
    %q1 = arith.mulf %q, %a : !x
    %t = arith.mulf %s, %a : !x
    %u = arith.addf %t, %x : !x
    ft.yield %q1, %u : !x, !x
  } combine (%pa, %sa, %pb, %sb) {
    %pc = arith.mulf %pa, %pb : !x
    %t = arith.mulf %sa, %pb : !x
    %sc = arith.addf %t, %sb : !x
    ft.yield %pc, %sc : !x, !x
  } identity (%one, %zero : !x, !x)
  %n = ft.reduce (%x, %a = %xs, %as : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s = %zero : !x) -> !x {
    %t = arith.mulf %x, %a : !x
    %u = arith.addf %s, %t : !x
    ft.yield %u : !x
  } combine (%sa, %sb) {
    %u = arith.addf %sa, %sb : !x
    ft.yield %u : !x
  } identity (%zero : !x)
  return %h, %n : !ft.list<[L], !x>, !x
}

// A value that is captured at two levels, twice at the inner one.
func.func @captured(%xss: !ft.list<[L, 2], !x>, %c: !x, %w: !w) -> !ft.list<[L], !x> {
  %r = ft.map (%xs = %xss : !ft.list<[L, 2], !x>) -> !ft.list<[L], !x> {
    %h = ft.foldl (%x = %xs : !ft.list<[2], !x>) init (%s = %c : !x) -> !x {
      %m = linalg.vecmat ins(%s, %w : !x, !w) outs(%c : !x) -> !x
      %t = arith.mulf %m, %c : !x
      %k = linalg.vecmat ins(%t, %w : !x, !w) outs(%x : !x) -> !x
      %n = math.tanh %k : !x
      ft.yield %n : !x
    }
    %o = arith.mulf %h, %c : !x
    ft.yield %o : !x
  }
  return %r : !ft.list<[L], !x>
}

// States that are lists.
func.func @layers(%xs: !ft.list<[L], !x>, %ws: !ft.list<[3], !w>) -> (!ft.list<[3, L], !x>, !ft.list<[L], !x>) {
  %zero = arith.constant dense<0.0> : !x
  %all = ft.scanl (%w = %ws : !ft.list<[3], !w>) init (%below = %xs : !ft.list<[L], !x>) -> !ft.list<[3, L], !x> {
    %hs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%s = %zero : !x) -> !ft.list<[L], !x> {
      %m = linalg.vecmat ins(%s, %w : !x, !w) outs(%x : !x) -> !x
      %n = math.tanh %m : !x
      ft.yield %n : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  %top = ft.at %all[-1] : !ft.list<[3, L], !x>
  return %all, %top : !ft.list<[3, L], !x>, !ft.list<[L], !x>
}

func.func @unrolled(%xs: !ft.list<[L], !x>, %ws: !ft.list<[3], !x>) -> !ft.list<[L], !x> {
  %zero = arith.constant dense<0.0> : !x
  %out = ft.foldl (%w = %ws : !ft.list<[3], !x>) init (%s = %xs : !ft.list<[L], !x>) for d in [1, 2, 4] -> !ft.list<[L], !x> {
    %past = ft.shift %s by d fill %w : !ft.list<[L], !x>, !x
    %n = ft.map (%x, %p = %s, %past : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %t = arith.mulf %p, %w : !x
      %u = arith.addf %t, %x : !x
      %v = math.tanh %u : !x
      ft.yield %v : !x
    }
    ft.yield %n : !ft.list<[L], !x>
  }
  return %out : !ft.list<[L], !x>
}
