// (T15) Of a state that a leaf says it hands on, others than its next iteration read the last one alone.
//
// RUN: ft-opt %s --etdg-validate=reproducer=none --split-input-file --verify-diagnostics

!x = tensor<6xf32>

// Another block reads the last one; of a nest with an outer loop the one before is read there, once the inner one has ended.
etdg.graph @good(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @fold [scanl, foldl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %s = {i = 0 and t = 0: splat 0.0 : f32, i >= 1 and t = 0: %ys[i - 1, L - 1], t >= 1: %ys[i, t - 1]} : !x)
      writes (%ys[i, t]) attributes {etdg.handed = array<i64: 0, 1>} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  etdg.block @last [map] (i) in [0, N) reads (%y = %ys[i, L - 1] : !x) writes (%zs[i]) {
    %0 = math.exp %y : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N], !x>
  etdg.return %zs : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<6xf32>

// Along the outer loop of the same nest the one that is read in its next iteration has gone through the inner loop: it is not handed by one iteration.
etdg.graph @outer(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  // expected-note @+3 {{it is written here, write 0 of block @fold}}
  // expected-error @+2 {{(T15) block @fold: read 1, piece 1 reads a state of a buffer of type !etdg.buffer<[N, L], tensor<6xf32>> that is not the last one along i, though 'etdg.handed' says that the leaf alone does; for example at}}
  // expected-error @+1 {{(T15) block @fold: read 1, piece 2 reads a state of a buffer of type !etdg.buffer<[N, L], tensor<6xf32>> that is not the last one along i, though 'etdg.handed' says that the leaf alone does; for example at}}
  etdg.block @fold [scanl, foldl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %s = {i = 0 and t = 0: splat 0.0 : f32, i >= 1 and t = 0: %ys[i - 1, L - 1], t >= 1: %ys[i, t - 1]} : !x)
      writes (%ys[i, t]) attributes {etdg.handed = array<i64: 0, 0>} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{(T15) block @last: read 0 reads a state of a buffer of type !etdg.buffer<[N, L], tensor<6xf32>> that is not the last one along i, though 'etdg.handed' says that the leaf alone does; for example at}}
  etdg.block @last [map] (i) in [0, N) reads (%y = %ys[i, L - 1] : !x) writes (%zs[i]) {
    %0 = math.exp %y : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N], !x>
  etdg.return %zs : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<6xf32>

// One of the states before the last.
etdg.graph @earlier(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N], !x> attributes {ft.bounds = #ft.bounds<"L >= 2">} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  %zs = etdg.buffer : !etdg.buffer<[N], !x>
  // expected-note @+1 {{it is written here, write 0 of block @fold}}
  etdg.block @fold [map, foldl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[i, t - 1]} : !x)
      writes (%ys[i, t]) attributes {etdg.handed = array<i64: 0, 1>} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
  // expected-error @+1 {{(T15) block @last: read 0 reads a state of a buffer of type !etdg.buffer<[N, L], tensor<6xf32>> that is not the last one along t, though 'etdg.handed' says that the leaf alone does; for example at}}
  etdg.block @last [map] (i) in [0, N) reads (%y = %ys[i, L - 2] : !x) writes (%zs[i]) {
    %0 = math.exp %y : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N], !x>
  etdg.return %zs : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<6xf32>

// The leaf's own read of two iterations before.
etdg.graph @second(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  %z = etdg.buffer : !etdg.buffer<[], !x>
  // expected-note @+2 {{it is written here, write 0 of block @fold}}
  // expected-error @+1 {{(T15) block @fold: read 1, piece 1 reads a state of a buffer of type !etdg.buffer<[L], tensor<6xf32>> that is not the last one along t, though 'etdg.handed' says that the leaf alone does; for example at}}
  etdg.block @fold [foldl] (t) in [0, L)
      reads (%x = %xs[t] : !x, %s = {t <= 1: splat 0.0 : f32, t >= 2: %ys[t - 2]} : !x) writes (%ys[t]) attributes {etdg.handed = array<i64: 0, 0>} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @last [] () reads (%y = %ys[L - 1] : !x) writes (%z[]) {
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !x>
  etdg.return %z : !etdg.buffer<[], !x>
}

// -----

!x = tensor<6xf32>

// What a caller gets.
etdg.graph @result(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{(T15) block @fold: a buffer of type !etdg.buffer<[L], tensor<6xf32>> is a result of the graph, whose caller gets all states}}
  etdg.block @fold [scanl] (t) in [0, L)
      reads (%x = %xs[t] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1]} : !x) writes (%ys[t]) attributes {etdg.handed = array<i64: 0, 0>} {
    %0 = arith.addf %x, %s : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}
