// What the validator refuses in domains, pieces and maps.
// RUN: ft-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(etdg.graph(etdg-validate{reproducer=none}))"

etdg.graph @twice(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  // expected-note @+1 {{the other write is here}}
  etdg.block @a [map] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>) writes (%ys[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  // expected-error @+1 {{(T3) block @b: write 0 writes an element of a buffer of type !etdg.buffer<[L], tensor<1xf32>> that write 0 of block @a writes too; for example at L = 8, k = 7, k' = 7}}
  etdg.block @b [map] (k) in = 7 where L >= 8
      reads (%x = %xs[k] : tensor<1xf32>) writes (%ys[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

etdg.graph @folded(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[2], tensor<1xf32>> attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %ys = etdg.buffer : !etdg.buffer<[2], tensor<1xf32>>
  // expected-note @+2 {{the other write is here}}
  // expected-error @+1 {{(T3) block @a: write 0 writes an element of a buffer of type !etdg.buffer<[2], tensor<1xf32>> that another iteration writes too; for example at L = 3, k = 0, k' = 2}}
  etdg.block @a [map] (k) in [0, L)
      reads (%x = %xs[k] : tensor<1xf32>) writes (%ys[mod(k, 2)]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[2], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[2], tensor<1xf32>>
}

// -----

// An iteration is lost.
// expected-error @+1 {{(T4) no block writes an element of the result a buffer of type !etdg.buffer<[L], tensor<1xf32>>; for example at L = 1, index 0 = 0}}
etdg.graph @lost(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  // expected-note @+1 {{the buffer is here}}
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  etdg.block @a [map] (k) in [0, L - 1)
      reads (%x = %xs[k] : tensor<1xf32>) writes (%ys[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

etdg.graph @regions(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> (!etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>) {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  %zs = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  etdg.nest {
    // expected-note @+1 {{the other block is here}}
    etdg.block @a [map] (k) in [0, L)
        reads (%x = %xs[k] : tensor<1xf32>) writes (%ys[k]) {
      etdg.yield %x : tensor<1xf32>
    } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
    // expected-error @+1 {{(T5) block @b: shares iterations with block @a of the same nest; for example at L = 1, k = 0}}
    etdg.block @b [map] (k) in [0, L)
        reads (%x = %xs[k] : tensor<1xf32>) writes (%zs[k]) {
      etdg.yield %x : tensor<1xf32>
    } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  }
  etdg.return %ys, %zs : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
}

// -----

etdg.graph @pieces(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  // expected-error @+2 {{(T6) block @a: read 0: pieces 0 and 1 overlap; for example at L = 4, k = 3}}
  // expected-error @+1 {{(T6) block @a: read 1: no piece covers part of the domain; for example at L = 4, k = 3}}
  etdg.block @a [map] (k) in [0, L)
      reads (%x = {k <= 3: %xs[k], k >= 3: splat 0.0 : f32} : tensor<1xf32>, %y = {k <= 2: %xs[k], k >= 4: splat 0.0 : f32} : tensor<1xf32>) writes (%ys[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}

// -----

// expected-note @+1 {{argument 0 is here}}
etdg.graph @bounds(%xs: !etdg.buffer<[L], tensor<1xf32>>) -> !etdg.buffer<[L], tensor<1xf32>> {
  %ys = etdg.buffer : !etdg.buffer<[L], tensor<1xf32>>
  // expected-error @+1 {{(T7) block @a: read 0 is out of bounds: index 0 may be at least the length 'L'; for example at L = 1, k = 0}}
  etdg.block @a [map] (k) in [0, L)
      reads (%x = %xs[k + 1] : tensor<1xf32>) writes (%ys[k]) {
    etdg.yield %x : tensor<1xf32>
  } : !etdg.buffer<[L], tensor<1xf32>>, !etdg.buffer<[L], tensor<1xf32>>
  etdg.return %ys : !etdg.buffer<[L], tensor<1xf32>>
}
