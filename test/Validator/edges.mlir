// (T14) What a nest of a kernel takes from another nest it waits for: by a barrier of the grid inside of a kernel, by the boundary
// between two.
//
// RUN: ft-opt %s --etdg-validate=reproducer=none --split-input-file --verify-diagnostics

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

etdg.graph @strong(%xs: !b) -> (!b, !b) {
  %t = etdg.buffer : !b
  %y = etdg.buffer : !b
  %z = etdg.buffer : !b
  etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = grid>]} {
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%t[i]) attributes {etdg.number = 0} { etdg.yield %x : !x } : !b, !b
    etdg.block @b [map] (i) in [0, N) reads (%x = %t[N - 1 - i] : !x) writes (%y[i]) attributes {etdg.number = 1} { etdg.yield %x : !x } : !b, !b
  }
  etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 2, kind = kernel>]} {
    etdg.block @c [map] (i) in [0, N) reads (%x = %t[i] : !x) writes (%z[i]) attributes {etdg.number = 2} { etdg.yield %x : !x } : !b, !b
  }
  etdg.return %y, %z : !b, !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

// A thread block waits for its own threads alone.
etdg.graph @weak(%xs: !b) -> !b {
  %t = etdg.buffer : !b
  %y = etdg.buffer : !b
  etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = block>]} {
    // expected-note @+1 {{it is written here, write 0 of block @a}}
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%t[i]) attributes {etdg.number = 0} { etdg.yield %x : !x } : !b, !b
    // expected-error @+1 {{(T14) block @b: read 0 reads an element of a buffer of type !etdg.buffer<[N], tensor<4xf32>> that another nest writes, and the edge between them is 'block'; expected 'grid'; for example at}}
    etdg.block @b [map] (i) in [0, N) reads (%x = %t[i] : !x) writes (%y[i]) attributes {etdg.number = 1} { etdg.yield %x : !x } : !b, !b
  }
  etdg.return %y : !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

// A kernel that says of one edge what it is says it of all.
etdg.graph @lost(%xs: !b) -> !b {
  %t = etdg.buffer : !b
  %y = etdg.buffer : !b
  etdg.kernel attributes {etdg.edges = []} {
    // expected-note @+1 {{it is written here}}
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%t[i]) attributes {etdg.number = 0} { etdg.yield %x : !x } : !b, !b
  }
  etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = grid>]} {
    // expected-error @+1 {{the edge between them is 'grid'; expected 'kernel'}}
    etdg.block @b [map] (i) in [0, N) reads (%x = %t[i] : !x) writes (%y[i]) attributes {etdg.number = 1} { etdg.yield %x : !x } : !b, !b
  }
  etdg.return %y : !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>
!c = !etdg.buffer<[2 * N], !x>

// The two share a buffer, and no element of it: nothing has to wait.
etdg.graph @halves(%xs: !b) -> (!c, !b) {
  %t = etdg.buffer : !c
  %y = etdg.buffer : !b
  etdg.kernel attributes {etdg.edges = []} {
    etdg.block @low [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%t[i]) attributes {etdg.number = 0} { etdg.yield %x : !x } : !b, !c
  }
  etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 1, to = 2, kind = grid>]} {
    etdg.block @high [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%t[i + N]) attributes {etdg.number = 1} { etdg.yield %x : !x } : !b, !c
    etdg.block @read [map] (i) in [0, N) reads (%x = %t[2 * N - 1 - i] : !x) writes (%y[i]) attributes {etdg.number = 2} { etdg.yield %x : !x } : !c, !b
  }
  etdg.return %t, %y : !c, !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

// Nests that share loops hand on to the next step, too.
etdg.graph @steps(%xs: !b) -> (!b, !b) {
  %t = etdg.buffer : !b
  %y = etdg.buffer : !b
  etdg.kernel shared 1 attributes {etdg.edges = [#etdg.edge<from = 0, to = 1, kind = grid>]} {
    // expected-error @+1 {{the edge between them is 'none'; expected 'grid'}}
    etdg.block @a [scanl] (i) in [0, N) reads (%x = %xs[i] : !x, %s = {i = 0: splat 0.0 : f32, i >= 1: %y[i - 1]} : !x) writes (%t[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = sequential>]> attributes {etdg.number = 0} {
      %r = arith.addf %x, %s : !x
      etdg.yield %r : !x
    } : !b, !b, !b
    // expected-note @+1 {{it is written here}}
    etdg.block @b [map] (i) in [0, N) reads (%x = %t[i] : !x) writes (%y[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = sequential>]> attributes {etdg.number = 1} { etdg.yield %x : !x } : !b, !b
  }
  etdg.return %t, %y : !b, !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

etdg.graph @wrong(%xs: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(T14) an edge leads to nest 7, which the kernel has not}}
  etdg.kernel attributes {etdg.edges = [#etdg.edge<from = 0, to = 7, kind = grid>]} {
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%y[i]) attributes {etdg.number = 0} { etdg.yield %x : !x } : !b, !b
  }
  etdg.return %y : !b
}
