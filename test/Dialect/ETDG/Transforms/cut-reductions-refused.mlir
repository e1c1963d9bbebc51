// Associative loops that can't be cut: each says which loop, and why.
//
// RUN: ft-opt %s --pass-pipeline='builtin.module(etdg.graph(etdg-cut-reductions))' --split-input-file --verify-diagnostics

!x = tensor<2xf32>

// Some states are another region's.
etdg.graph @scan(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  etdg.nest schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
    // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: other regions of the nest have some of the scan's states}}
    etdg.block @r [scan] (k) in [1, L)
        reads (%x = %xs[k] : !x, %s = %ys[k - 1] : !x) writes (%ys[k]) {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } combine (%a: !x, %b: !x) {
      %y = arith.addf %a, %b : !x
      etdg.yield %y : !x
    } identity (splat 0.0 : f32) : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
    etdg.block @first [scan] (k) in = 0 where L >= 1 reads (%x = %xs[k] : !x) writes (%ys[k]) {
      etdg.yield %x : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  }
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @ordered(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: the block has no 'combine'}}
  etdg.block @r [foldl] (k) in [0, L)
      reads (%x = %xs[k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[k - 1]} : !x) writes (%ys[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @seen(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  %ss = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: other states than the last ones are read}}
  etdg.block @r [reduce] (k) in [0, L)
      reads (%x = %xs[k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ss[k - 1]} : !x) writes (%ss[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } combine (%a: !x, %b: !x) {
    %y = arith.addf %a, %b : !x
    etdg.yield %y : !x
  } identity (splat 0.0 : f32) : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @all [map] (k) in [0, L) reads (%s = %ss[k] : !x) writes (%ys[k]) {
    etdg.yield %s : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @restarts(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[], !x> attributes {ft.bounds = #ft.bounds<"L >= 7">} {
  %ys = etdg.buffer : !etdg.buffer<[], !x>
  %ss = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: state 0 comes from outside at other iterations than the first}}
  etdg.block @r [reduce] (k) in [0, L)
      reads (%x = %xs[k] : !x, %s = {k <= 1: splat 0.0 : f32, k >= 2: %ss[k - 1]} : !x) writes (%ss[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } combine (%a: !x, %b: !x) {
    %y = arith.addf %a, %b : !x
    etdg.yield %y : !x
  } identity (splat 0.0 : f32) : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.block @last [] () reads (%s = %ss[L - 1] : !x) writes (%ys[]) {
    etdg.yield %s : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[], !x>
  etdg.return %ys : !etdg.buffer<[], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @layers(%xs: !etdg.buffer<[D, L], !x>) -> !etdg.buffer<[], !x> attributes {ft.bounds = #ft.bounds<"L >= 1", "D >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[], !x>
  %ss = etdg.buffer : !etdg.buffer<[D, L], !x>
  // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: another of its dimensions is ordered, d}}
  etdg.block @r [foldl, reduce] (d, k) in [0, D) x [0, L)
      reads (%x = %xs[d, k] : !x, %s = {d = 0 and k = 0: splat 0.0 : f32, d >= 1 and k = 0: %ss[d - 1, L - 1], k >= 1: %ss[d, k - 1]} : !x) writes (%ss[d, k])
      schedule <map = affine_map<(d, k) -> (d, k)>, loops = [<dimension = 0, kind = sequential>, <dimension = 1, tile = 4, kind = associative>, <dimension = 1, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } combine (%a: !x, %b: !x) {
    %y = arith.addf %a, %b : !x
    etdg.yield %y : !x
  } identity (splat 0.0 : f32) : !etdg.buffer<[D, L], !x>, !etdg.buffer<[D, L], !x>
  etdg.block @last [] () reads (%s = %ss[D - 1, L - 1] : !x) writes (%ys[]) {
    etdg.yield %s : !x
  } : !etdg.buffer<[D, L], !x>, !etdg.buffer<[], !x>
  etdg.return %ys : !etdg.buffer<[], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @twice(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: expected one associative loop, found 2}}
  etdg.block @r [foldl] (k) in [0, L)
      reads (%x = %xs[k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[k - 1]} : !x) writes (%ys[k])
      schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 8, kind = associative>, <dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

!x = tensor<2xf32>

etdg.graph @skewed(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: the schedule is not applied, expected the identity as its map}}
  etdg.block @r [foldl] (k) in [0, L)
      reads (%x = %xs[k] : !x, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[k - 1]} : !x) writes (%ys[k])
      schedule <map = affine_map<(k) -> (k + 1)>, loops = [<dimension = 0, tile = 8, kind = associative>, <dimension = 0, kind = sequential>]> {
    %y = arith.addf %x, %s : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

etdg.graph @variants(%xs: !etdg.buffer<[L], tensor<i64>>) -> !etdg.buffer<[], tensor<i64>> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[], tensor<i64>>
  %ss = etdg.buffer : !etdg.buffer<[L], tensor<i64>>
  etdg.variants when <[L] below 10> {
    etdg.block @r [reduce] (k) in [0, L)
        reads (%x = %xs[k] : tensor<i64>, %s = {k = 0: splat 0 : i64, k >= 1: %ss[k - 1]} : tensor<i64>) writes (%ss[k]) {
      %y = arith.addi %x, %s : tensor<i64>
      etdg.yield %y : tensor<i64>
    } : !etdg.buffer<[L], tensor<i64>>, !etdg.buffer<[L], tensor<i64>>
  } else {
    // expected-error @+1 {{the schedule's loop over k is associative, but can't be cut: the nest is in one of several variants, which share their buffers}}
    etdg.block @r [reduce] (k) in [0, L)
        reads (%x = %xs[k] : tensor<i64>, %s = {k = 0: splat 0 : i64, k >= 1: %ss[k - 1]} : tensor<i64>) writes (%ss[k])
        schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 4, kind = associative>, <dimension = 0, kind = sequential>]> {
      %y = arith.addi %x, %s : tensor<i64>
      etdg.yield %y : tensor<i64>
    } combine (%a: tensor<i64>, %b: tensor<i64>) {
      %y = arith.addi %a, %b : tensor<i64>
      etdg.yield %y : tensor<i64>
    } identity (splat 0 : i64) : !etdg.buffer<[L], tensor<i64>>, !etdg.buffer<[L], tensor<i64>>
  }
  etdg.block @last [] () reads (%s = %ss[L - 1] : tensor<i64>) writes (%ys[]) {
    etdg.yield %s : tensor<i64>
  } : !etdg.buffer<[L], tensor<i64>>, !etdg.buffer<[], tensor<i64>>
  etdg.return %ys : !etdg.buffer<[], tensor<i64>>
}

// -----

// What is specified for shares that are no leaf's, or of a dimension that the leaf does not have.
#set = affine_set<(k) : (k >= 0)>
// expected-error @+1 {{'etdg.cut' is an attribute of a leaf}}
module attributes {etdg.cut = #etdg.cut<dimension = 0, tile = 4, domain = #set>} {}

// -----

#set = affine_set<(k) : (k >= 0)>
!x = tensor<2xf32>

etdg.graph @said(%xs: !etdg.buffer<[L], !x>) -> !etdg.buffer<[L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L], !x>
  // expected-error @+1 {{'etdg.cut' is #etdg.cut: its dimension is an own one but the last}}
  etdg.block @r [map] (k) in [0, L) reads (%x = %xs[k] : !x) writes (%ys[k])
      attributes {etdg.cut = #etdg.cut<dimension = 0, tile = 4, domain = #set>} {
    etdg.yield %x : !x
  } : !etdg.buffer<[L], !x>, !etdg.buffer<[L], !x>
  etdg.return %ys : !etdg.buffer<[L], !x>
}

// -----

// A dictionary, as other decisions are not.
!x = tensor<2xf32>

etdg.graph @resumed(%xs: !etdg.buffer<[4, L], !x>) -> !etdg.buffer<[4, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[4, L], !x>
  // expected-error @+1 {{'etdg.cut' is #etdg.cut}}
  etdg.block @r [map, map] (s, k) in [0, 4) x [0, L) reads (%x = %xs[s, k] : !x) writes (%ys[s, k])
      attributes {etdg.cut = {dimension = 0 : i64, domain = affine_set<(k)[L] : (k >= 0)>, tile = 4 : i64, resumed}} {
    etdg.yield %x : !x
  } : !etdg.buffer<[4, L], !x>, !etdg.buffer<[4, L], !x>
  etdg.return %ys : !etdg.buffer<[4, L], !x>
}
