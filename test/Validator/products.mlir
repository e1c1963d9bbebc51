// A product of lengths is 0, or each of its factors is at least 1: nothing is asked of iterations that are there at no lengths.
//
// RUN: ft-opt %s --etdg-validate=reproducer=none --split-input-file --verify-diagnostics

!x = tensor<4xf32>

// Where L is 0 or 1 there is no iteration.
etdg.graph @first(%ls: !etdg.buffer<[L], !x>, %xs: !etdg.buffer<[ceildiv(L, 2)], !x>) -> !etdg.buffer<[L * floordiv(L, 2)], !x> {
  %y = etdg.buffer : !etdg.buffer<[L * floordiv(L, 2)], !x>
  etdg.block @a [map] (i) in [0, L * floordiv(L, 2)) reads (%x = %xs[0] : !x) writes (%y[i]) { etdg.yield %x : !x } : !etdg.buffer<[ceildiv(L, 2)], !x>, !etdg.buffer<[L * floordiv(L, 2)], !x>
  etdg.return %y : !etdg.buffer<[L * floordiv(L, 2)], !x>
}

// -----

!x = tensor<4xf32>

// What is read of a buffer is written where the product is not 0.
etdg.graph @written(%ms: !etdg.buffer<[M], !x>, %xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L * M], !x> {
  %t = etdg.buffer : !etdg.buffer<[L], !x>
  %y = etdg.buffer : !etdg.buffer<[L * M], !x>
  etdg.block @a [map] (i) in [0, L) reads (%x = %xs[i] : !x) writes (%t[i]) { etdg.yield %x : !x } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @b [map] (i) in [0, L * M) reads (%x = %t[0] : !x) writes (%y[i]) { etdg.yield %x : !x } : !etdg.buffer<[L], !x>, !etdg.buffer<[L * M], !x>
  etdg.return %y : !etdg.buffer<[L * M], !x>
}

// -----

!x = tensor<4xf32>

// At L = 2 there are two iterations, and one element.
// expected-note @+1 {{argument 1 is here}}
etdg.graph @second(%ls: !etdg.buffer<[L], !x>, %xs: !etdg.buffer<[ceildiv(L, 2)], !x>) -> !etdg.buffer<[L * floordiv(L, 2)], !x> {
  %y = etdg.buffer : !etdg.buffer<[L * floordiv(L, 2)], !x>
  // expected-error @+1 {{(T7) block @a: read 0 is out of bounds: index 0 may be at least the length 'ceildiv(L, 2)'}}
  etdg.block @a [map] (i) in [0, L * floordiv(L, 2)) reads (%x = %xs[1] : !x) writes (%y[i]) { etdg.yield %x : !x } : !etdg.buffer<[ceildiv(L, 2)], !x>, !etdg.buffer<[L * floordiv(L, 2)], !x>
  etdg.return %y : !etdg.buffer<[L * floordiv(L, 2)], !x>
}
