// RUN: ft-opt %s --etdg-verify --split-input-file --verify-diagnostics

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @pieces_overlap(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V1) read 0: pieces 0 and 1 overlap; for example at N = 2, i = 1}}
  etdg.block [map] (i) in [0, N) reads (%a = {i <= 1: splat 0.0 : f32, i >= 1: %x[i - 1]} : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @pieces_gap(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V1) read 0: no piece covers part of the domain; for example at N = 2, i = 1}}
  etdg.block [map] (i) in [0, N) reads (%a = {i = 0: splat 0.0 : f32, i >= 2: %x[i - 1]} : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

// Even and odd leave no gap, and 'i mod 3' does.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @pieces_mod(%x: !b) -> !b {
  %y = etdg.buffer : !b
  %z = etdg.buffer : !b
  etdg.block @ok [map] (i) in [0, N) reads (%a = {mod(i, 2) = 0: splat 0.0 : f32, mod(i, 2) = 1: %x[i - 1]} : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  // expected-error @+1 {{(V1) read 0: no piece covers part of the domain; for example at N = 3, i = 2}}
  etdg.block [map] (i) in [0, N) reads (%a = {mod(i, 3) = 0: splat 0.0 : f32, mod(i, 3) = 1: %x[i - 1]} : tensor<f32>) writes (%z[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

// Inside an element.
!b = !etdg.buffer<[N], tensor<4xf32>>
etdg.graph @pieces_element(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V1) read 0: no piece covers part of the domain; for example at N = 1, i = 0, e0 = 0}}
  etdg.block [map] (i) in [0, N) reads (%a = elem (a) {a >= 1: %x[i, a - 1]} : tensor<4xf32>) writes (%y[i]) {
    etdg.yield %a : tensor<4xf32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-note @+1 {{argument 0 is here}}
etdg.graph @bounds_low(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V2) read 0 is out of bounds: index 0, 'i - 1', may be negative; for example at N = 1, i = 0}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i - 1] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-note @+1 {{argument 0 is here}}
etdg.graph @bounds_high(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V2) read 0, piece 1 is out of bounds: index 0, 'i + 1', may be at least the length 'N'; for example at N = 2, i = 1}}
  etdg.block [map] (i) in [0, N) reads (%a = {i = 0: splat 0.0 : f32, i >= 1: %x[i + 1]} : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @bounds_write(%x: !b) {
  // expected-note @+1 {{buffer 'ys' is here}}
  %y = etdg.buffer {name_hint = "ys"} : !b
  // expected-error @+1 {{(V2) write 0 is out of bounds: index 0, '2 * i', may be at least the length 'N'; for example at N = 2, i = 1}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[2 * i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return
}

// -----

// The length that a bound would give.
!b = !etdg.buffer<[N], tensor<f32>>
// expected-note @+1 {{argument 0 is here}}
etdg.graph @bounds_needed(%x: !b) -> !etdg.buffer<[], tensor<f32>> {
  %y = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  // expected-error @+1 {{(V2) read 0 is out of bounds: index 0, '2', may be at least the length 'N'; for example at N = 0}}
  etdg.block [] () reads (%a = %x[2] : tensor<f32>) writes (%y[]) {
    etdg.yield %a : tensor<f32>
  } : !b, !etdg.buffer<[], tensor<f32>>
  etdg.return %y : !etdg.buffer<[], tensor<f32>>
}

// -----

// `assume` is enough.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @bounds_assumed(%x: !b) -> !etdg.buffer<[], tensor<f32>> {
  etdg.assume "N" in [3, 100]
  %y = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  etdg.block [] () reads (%a = %x[2] : tensor<f32>) writes (%y[]) {
    etdg.yield %a : tensor<f32>
  } : !b, !etdg.buffer<[], tensor<f32>>
  etdg.return %y : !etdg.buffer<[], tensor<f32>>
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @written_twice(%x: !b) -> !b {
  %y = etdg.buffer {name_hint = "ys"} : !b
  // expected-note @+1 {{the other write is here}}
  etdg.block @a [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  // expected-error @+1 {{(V3) write 0 writes an element of buffer 'ys' that write 0 of block @a writes too; for example at N = 1, i = 0, i' = 0}}
  etdg.block @b [map] (i) in [0, 1) where N >= 1 reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @not_injective(%x: !b) {
  %y = etdg.buffer {name_hint = "ys"} : !b
  // expected-error @+2 {{(V3) write 0 writes an element of buffer 'ys' that another iteration writes too; for example at N = 2, i = 0, i' = 1}}
  // expected-note @+1 {{the other write is here}}
  etdg.block @a [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[floordiv(i, 2)]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @never_written(%x: !b) -> !b {
  // expected-note @+1 {{buffer 't' is here}}
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [1, N) reads (%a = %x[i] : tensor<f32>) writes (%t[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  // expected-error @+1 {{(V4) read 0 reads an element of buffer 't' that no block writes; for example at N = 1, i = 0}}
  etdg.block @b [map] (i) in [0, N) reads (%a = %t[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @textual_order(%x: !b) -> !b {
  %t = etdg.buffer {name_hint = "t"} : !b
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V4) read 0 reads an element of buffer 't' before it is written; for example at N = 1, i = 0}}
  etdg.block @b [map] (i) in [0, N) reads (%a = %t[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  // expected-note @+1 {{it is written here, write 0 of block @a}}
  etdg.block @a [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%t[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

// Lexicographically negative: the next iteration's state.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @future(%x: !b) -> !b {
  %y = etdg.buffer {name_hint = "y"} : !b
  // expected-error @+2 {{(V4) read 0 reads an element of buffer 'y' before it is written; for example at N = 2, i = 0}}
  // expected-note @+1 {{it is written here, write 0 of block}}
  etdg.block [scanl] (i) in [0, N) reads (%a = {i + 1 < N: %y[i + 1], i + 1 = N: splat 0.0 : f32} : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b
  etdg.return %y : !b
}

// -----

// A dependence of distance (1, -1) is carried by the scan: legal.
!b = !etdg.buffer<[T, N], tensor<f32>>
etdg.graph @skewed(%x: !b) -> !b {
  %y = etdg.buffer {name_hint = "y"} : !b
  etdg.nest {
    etdg.block @r0 [scanl, map] (t, i) in = 0 x [0, N) where T >= 1 reads (%a = %x[t, i] : tensor<f32>) writes (%y[t, i]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
    etdg.block @r1 [scanl, map] (t, i) in [1, T) x [0, N)
        reads (%a = {i + 1 < N: %y[t - 1, i + 1], i + 1 = N: splat 0.0 : f32} : tensor<f32>) writes (%y[t, i]) {
      etdg.yield %a : tensor<f32>
    } : !b
  }
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @map_carries(%x: !b) -> !b {
  %y = etdg.buffer {name_hint = "y"} : !b
  // expected-error @+2 {{(V5) read 0, piece 1 depends on another iteration of map dimension 'i' through buffer 'y'; for example at N = 2, i = 1}}
  // expected-note @+1 {{it is written here}}
  etdg.block [map] (i) in [0, N) reads (%a = {i = 0: splat 0.0 : f32, i >= 1: %y[i - 1]} : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-error @+1 {{(V6) no block writes an element of result buffer 'y'; for example at N = 1, index 0 = 0}}
etdg.graph @result(%x: !b) -> !b {
  // expected-note @+1 {{buffer 'y' is here}}
  %y = etdg.buffer {name_hint = "y"} : !b
  etdg.block [map] (i) in [0, N) where i <= N - 2 reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @nest_overlap(%x: !b) -> (!b, !b) {
  %y = etdg.buffer : !b
  %z = etdg.buffer : !b
  etdg.nest {
    // expected-note @+1 {{the other block is here}}
    etdg.block @a [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
    // expected-error @+1 {{(V7) the domains of a nest's blocks are disjoint (N2), this one meets that of block @a; for example at N = 1, i = 0}}
    etdg.block @b [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%z[i]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
  }
  etdg.return %y, %z : !b, !b
}

// -----

// Lag 2 with one live plane.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @live(%x: !b) -> !b {
  // expected-note @+1 {{buffer 's' is here}}
  %s = etdg.buffer live [1] {name_hint = "s"} : !b
  %y = etdg.buffer : !b
  // expected-error @+2 {{(V8) read 0, piece 1 needs a plane of buffer 's' that another has taken: more planes must be `live`; for example at N = 3, i = 2}}
  // expected-note @+1 {{the plane is overwritten here}}
  etdg.block [foldl] (i) in [0, N)
      reads (%a = {i <= 1: splat 0.0 : f32, i >= 2: %s[i - 2]} : tensor<f32>) writes (%s[i], %y[i]) {
    etdg.yield %a, %a : tensor<f32>, tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

// Two are enough.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @live_two(%x: !b) -> !b {
  %s = etdg.buffer live [2] {name_hint = "s"} : !b
  %y = etdg.buffer : !b
  etdg.block [foldl] (i) in [0, N)
      reads (%a = {i <= 1: splat 0.0 : f32, i >= 2: %s[i - 2]} : tensor<f32>) writes (%s[i], %y[i]) {
    etdg.yield %a, %a : tensor<f32>, tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

// A later nest reads planes that are gone.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @live_later(%x: !b) -> !b {
  // expected-note @+1 {{buffer 's' is here}}
  %s = etdg.buffer live [1] {name_hint = "s"} : !b
  %y = etdg.buffer : !b
  // expected-note @+1 {{the plane is overwritten here}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%s[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  // expected-error @+1 {{(V8) read 0 needs a plane of buffer 's' that another has taken}}
  etdg.block [map] (i) in [0, N) reads (%a = %s[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-error @+1 {{(V8) result buffer 'y' keeps all its planes, `live` says fewer}}
etdg.graph @live_result(%x: !b) -> !b {
  // expected-note @+1 {{buffer 'y' is here}}
  %y = etdg.buffer live [1] {name_hint = "y"} : !b
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

// A gather reads its whole dimension: of a buffer half of which is written before.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @gather(%x: !b, %idx: !etdg.buffer<[N], tensor<1xi64>>) -> !b {
  // expected-note @+1 {{buffer 's' is here}}
  %s = etdg.buffer {name_hint = "s"} : !b
  %y = etdg.buffer : !b
  etdg.block [map] (i) in [1, N) reads (%a = %x[i] : tensor<f32>) writes (%s[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  // expected-error @+1 {{(V4) read 0 reads an element of buffer 's' that no block writes; for example at N = 1, i = 0, index 0 = 0}}
  etdg.block [map] (i) in [0, N) reads (%a = %s[%idx[i]] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !etdg.buffer<[N], tensor<1xi64>>, !b
  etdg.return %y : !b
}

// -----

// A private buffer exists once for each iteration of its block.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @private(%x: !b) -> !b {
  %y = etdg.buffer : !b
  etdg.block [map] (i) in [0, N) {
    // expected-note @+1 {{buffer 's' is here}}
    %s = etdg.buffer {name_hint = "s"} : !b
    etdg.block @w [] (i |) reads (%a = %x[i] : tensor<f32>) writes (%s[0]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
    etdg.block @ok [] (i |) reads (%a = %s[0] : tensor<f32>) writes (%y[i]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
    %t = etdg.buffer : !b
    // expected-error @+1 {{(V4) read 0 reads an element of buffer 's' that no block writes; for example at N = 2, i = 1}}
    etdg.block @wrong [] (i |) reads (%a = %s[i] : tensor<f32>) writes (%t[i]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
  }
  etdg.return %y : !b
}

// -----

// A dimension times a length is no set.
etdg.graph @product(%x: !etdg.buffer<[N, M], tensor<f32>>) -> !etdg.buffer<[N * M], tensor<f32>> {
  %y = etdg.buffer : !etdg.buffer<[N * M], tensor<f32>>
  // expected-error @+1 {{(V) a set or map is not quasi-affine: a dimension is multiplied or divided by a length}}
  etdg.block [map, map] (i, j) in [0, N) x [0, M) reads (%a = %x[i, j] : tensor<f32>) writes (%y[M * i + j]) {
    etdg.yield %a : tensor<f32>
  } : !etdg.buffer<[N, M], tensor<f32>>, !etdg.buffer<[N * M], tensor<f32>>
  etdg.return %y : !etdg.buffer<[N * M], tensor<f32>>
}

// -----

// A product of lengths is a symbol of its own.
etdg.graph @flat(%x: !etdg.buffer<[N * M], tensor<f32>>, %n: !etdg.buffer<[N, M], tensor<f32>>) -> !etdg.buffer<[N * M], tensor<f32>> {
  %y = etdg.buffer : !etdg.buffer<[N * M], tensor<f32>>
  etdg.block [map] (i) in [0, M * N) reads (%a = %x[i] : tensor<f32>) writes (%y[N * M - i - 1]) {
    etdg.yield %a : tensor<f32>
  } : !etdg.buffer<[N * M], tensor<f32>>, !etdg.buffer<[N * M], tensor<f32>>
  etdg.return %y : !etdg.buffer<[N * M], tensor<f32>>
}

// -----

// Numbers that no sum of two can hold.
!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @large(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V) a set or map is not quasi-affine}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i + 4611686018427387904] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}
