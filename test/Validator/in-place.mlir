// (T10) A result in an argument's memory overwrites no element of it that is still to be read.
//
// RUN: ft-opt %s --etdg-validate=reproducer=none --split-input-file --verify-diagnostics

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

// Each iteration reads the element that it overwrites.
etdg.graph @same(%xs: !b) -> !b attributes {etdg.in_place = array<i64: 0, 0>} {
  %y = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%y[i]) {
    %n = arith.addf %x, %x : !x
    etdg.yield %n : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

etdg.graph @turned(%xs: !b) -> !b attributes {etdg.in_place = array<i64: 0, 0>} {
  %y = etdg.buffer : !b
  // expected-error @+2 {{(T10) block @a: read 0 needs an element of argument 0 that a buffer of type !etdg.buffer<[N], tensor<4xf32>>, which is in its memory, may have taken; for example at N = 2}}
  // expected-note @+1 {{it is overwritten here, write 0 of block @a}}
  etdg.block @a [map] (i) in [0, N) reads (%x = %xs[N - 1 - i] : !x) writes (%y[i]) {
    %n = arith.addf %x, %x : !x
    etdg.yield %n : !x
  } : !b, !b
  etdg.return %y : !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

// Another block reads it afterwards: the order of the text is wrong.
etdg.graph @after(%xs: !b) -> (!b, !b) attributes {etdg.in_place = array<i64: 0, 0>} {
  %y = etdg.buffer : !b
  %z = etdg.buffer : !b
  // expected-note @+1 {{it is overwritten here}}
  etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%y[i]) {
    %n = arith.addf %x, %x : !x
    etdg.yield %n : !x
  } : !b, !b
  // expected-error @+1 {{(T10) block @b: read 0 needs an element of argument 0 that}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%z[i]) { etdg.yield %x : !x } : !b, !b
  etdg.return %y, %z : !b, !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

// What takes its own element leaves the memory as it is for all that read it later.
etdg.graph @kept(%xs: !b) -> (!b, !b) attributes {etdg.in_place = array<i64: 0, 0>} {
  %y = etdg.buffer : !b
  %z = etdg.buffer : !b
  etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%y[i]) { etdg.yield %x : !x } : !b, !b
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[N - 1 - i] : !x) writes (%z[i]) { etdg.yield %x : !x } : !b, !b
  etdg.return %y, %z : !b, !b
}

// -----

!x = tensor<4xf32>
!b = !etdg.buffer<[N], !x>

// One kernel, whose thread blocks do not wait between its nests.
etdg.graph @together(%xs: !b) -> (!b, !b) attributes {etdg.in_place = array<i64: 0, 0>} {
  %y = etdg.buffer : !b
  %z = etdg.buffer : !b
  etdg.kernel {
    // expected-error @+1 {{(T10) block @b: read 0 needs an element of argument 0 that}}
    etdg.block @b [map] (i) in [0, N) reads (%x = %xs[N - 1 - i] : !x) writes (%z[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>]> {
      etdg.yield %x : !x
    } : !b, !b
    // expected-note @+1 {{it is overwritten here}}
    etdg.block @a [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%y[i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>]> {
      %n = arith.addf %x, %x : !x
      etdg.yield %n : !x
    } : !b, !b
  }
  etdg.return %y, %z : !b, !b
}
