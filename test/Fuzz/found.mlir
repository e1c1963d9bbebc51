// RUN: ft-fuzz %s | FileCheck %s

// What random programs have found, minimised. Each function is checked as a random
// program is: on both interpreters in all orders, on the CPU, by etdg-verify.

// CHECK: 9 programs: 9 equal, 0 refused, 0 failed{{$}}

!x = tensor<4xi32>

// A length that is 0 for good: no iteration, no block, no read without a piece.
func.func @never(%xs: !ft.list<[0], !x>, %ys: !ft.list<[N], !x>, %s: !x) -> (!x, !ft.list<[0], !x>, !ft.list<[0], !x>)
    attributes {ft.lengths = {N = 3 : i64}} {
  %f, %e = ft.foldl (%x = %xs : !ft.list<[0], !x>) init (%a = %s : !x) -> !x, !ft.list<[0], !x> {
    %b = arith.addi %a, %x : !x
    ft.yield %b : !x emit %b : !x
  }
  %moved = ft.shift %xs by 1 fill %s : !ft.list<[0], !x>, !x
  return %f, %e, %moved : !x, !ft.list<[0], !x>, !ft.list<[0], !x>
}

// A region with nothing in it that runs.
func.func @never_inside(%xs: !ft.list<[N, 0], !x>, %s: !x) -> !ft.list<[N, 0], !x> attributes {ft.lengths = {N = 3 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[N, 0], !x>) -> !ft.list<[N, 0], !x> {
    %a = ft.scanl (%e = %x : !ft.list<[0], !x>) init (%c = %s : !x) -> !ft.list<[0], !x> {
      %d = arith.addi %c, %e : !x
      ft.yield %d : !x
    }
    %b = ft.map (%e = %a : !ft.list<[0], !x>) -> !ft.list<[0], !x> {
      %d = arith.muli %e, %e : !x
      ft.yield %d : !x
    }
    ft.yield %b : !ft.list<[0], !x>
  }
  return %ys : !ft.list<[N, 0], !x>
}

// One state becomes the other's: its plane is read after the other was written.
func.func @swapped(%xs: !ft.list<[N, M], !x>, %s: !x, %t: !x) -> (!x, !x) attributes {ft.lengths = {M = 2 : i64, N = 5 : i64}} {
  %a, %b = ft.foldl (%row = %xs : !ft.list<[N, M], !x>) init (%p, %q = %s, %t : !x, !x) -> !x, !x {
    %sum = ft.foldl (%x = %row : !ft.list<[M], !x>) init (%c = %q : !x) -> !x {
      %d = arith.addi %c, %x : !x
      ft.yield %d : !x
    }
    %r = arith.muli %sum, %p : !x
    ft.yield %q, %r : !x, !x
  }
  return %a, %b : !x, !x
}

// A state that is a list, reversed in each step: both planes are needed at once.
func.func @reversed_state(%xs: !ft.list<[N], !x>, %ys: !ft.list<[M], !x>) -> !ft.list<[M], !x>
    attributes {ft.lengths = {M = 4 : i64, N = 3 : i64}} {
  %r = ft.foldr (%x = %xs : !ft.list<[N], !x>) init (%s = %ys : !ft.list<[M], !x>) -> !ft.list<[M], !x> {
    %t = ft.reverse %s : !ft.list<[M], !x>
    %u = ft.map (%e = %t : !ft.list<[M], !x>) -> !ft.list<[M], !x> {
      %f = arith.addi %e, %x : !x
      ft.yield %f : !x
    }
    ft.yield %u : !ft.list<[M], !x>
  }
  return %r : !ft.list<[M], !x>
}

// `combine` over lists: a block combines tensors, so the fold stays in order.
func.func @combine_lists(%xs: !ft.list<[N, M], !x>) -> !ft.list<[M], !x> attributes {ft.lengths = {M = 2 : i64, N = 5 : i64}} {
  %z = arith.constant dense<0> : !x
  %zero = ft.repeat %z times M : !x
  %r = ft.reduce (%row = %xs : !ft.list<[N, M], !x>) init (%s = %zero : !ft.list<[M], !x>) -> !ft.list<[M], !x> {
    %t = ft.map (%a, %b = %s, %row : !ft.list<[M], !x>, !ft.list<[M], !x>) -> !ft.list<[M], !x> {
      %c = arith.addi %a, %b : !x
      ft.yield %c : !x
    }
    ft.yield %t : !ft.list<[M], !x>
  } combine (%p, %q) {
    %t = ft.map (%a, %b = %p, %q : !ft.list<[M], !x>, !ft.list<[M], !x>) -> !ft.list<[M], !x> {
      %c = arith.addi %a, %b : !x
      ft.yield %c : !x
    }
    ft.yield %t : !ft.list<[M], !x>
  } identity (%zero : !ft.list<[M], !x>)
  return %r : !ft.list<[M], !x>
}

// A gather inside a nest, of what a shift outside made: the copy serves the gather
// alone.
func.func @copy_inside(%xs: !ft.list<[N], !x>, %fill: !x, %at: !ft.list<[M], tensor<i64>> {ft.gen = #ft.index<0, N>})
    -> (!ft.list<[M], !x>, !ft.list<[N], !x>) attributes {ft.bounds = #ft.bounds<"N >= 1">, ft.lengths = {M = 3 : i64, N = 4 : i64}} {
  %moved = ft.shift %xs by 2 fill %fill : !ft.list<[N], !x>, !x
  %ys = ft.map (%i = %at : !ft.list<[M], tensor<i64>>) -> !ft.list<[M], !x> {
    %y = ft.gather %moved[%i] : !ft.list<[N], !x>, tensor<i64>
    %z = arith.addi %y, %y : !x
    ft.yield %z : !x
  }
  return %ys, %moved : !ft.list<[M], !x>, !ft.list<[N], !x>
}

// In bounds because the split comes out even, which each call checks.
func.func @split_even(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> attributes {ft.lengths = {N = 6 : i64}} {
  %pairs = ft.split %xs by 2 : !ft.list<[N], !x>
  %swapped = ft.map (%p = %pairs : !ft.list<[floordiv(N, 2), 2], !x>) -> !ft.list<[floordiv(N, 2), 2], !x> {
    %r = ft.reverse %p : !ft.list<[2], !x>
    ft.yield %r : !ft.list<[2], !x>
  }
  %flat = ft.flatten %swapped : !ft.list<[floordiv(N, 2), 2], !x>
  %all = ft.cast %flat : !ft.list<[2 * floordiv(N, 2)], !x> to !ft.list<[N], !x>
  %ys = ft.map (%a, %b = %xs, %all : !ft.list<[N], !x>, !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %c = arith.addi %a, %b : !x
    ft.yield %c : !x
  }
  return %ys : !ft.list<[N], !x>
}

// A gather from a fold's state: data chooses the element, not the plane.
func.func @gather_state(%xs: !ft.list<[N], !x>, %ys: !ft.list<[M], !x>, %at: !ft.list<[M], tensor<i64>> {ft.gen = #ft.index<0, M>})
    -> !ft.list<[M], !x> attributes {ft.bounds = #ft.bounds<"M >= 1">, ft.lengths = {M = 4 : i64, N = 3 : i64}} {
  %r = ft.foldl (%x = %xs : !ft.list<[N], !x>) init (%s = %ys : !ft.list<[M], !x>) -> !ft.list<[M], !x> {
    %t = ft.gather %s[%at] : !ft.list<[M], !x>, !ft.list<[M], tensor<i64>>
    %u = ft.map (%e = %t : !ft.list<[M], !x>) -> !ft.list<[M], !x> {
      %f = arith.addi %e, %x : !x
      ft.yield %f : !x
    }
    ft.yield %u : !ft.list<[M], !x>
  }
  return %r : !ft.list<[M], !x>
}

// Arguments without attributes print, and parse, as such.
func.func @plain(%x: !x, %y: !x, %z: !ft.list<[1], !x>) -> !x {
  %r = arith.addi %x, %y : !x
  return %r : !x
}
