// Attributes of etdg that an operation may drop are checked where they stand.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{no attribute of etdg is called 'layout': expected apart, before, candidates, checks, cut, dims, divisions, edges, excess, handed, in_place, kept_together, layouts, merged, number, partitioned, rows, slot, snapshots or together}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.layout = 1} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.layouts' is a list of #etdg.tiling and #tile.product, or one #etdg.row_lanes or #tile.chain, found [1]}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.layouts = [1]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<4xf32>
etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.rows' is #etdg.rows<at_once>, #etdg.rows<runs> or #etdg.rows<one_by_one>, found "runs"}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.rows = "runs"} {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<4xf32>
// expected-error @+1 {{'etdg.rows' is an attribute of a leaf}}
etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> attributes {etdg.rows = #etdg.rows<runs>} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.layouts' is a list of #etdg.tiling and #tile.product, or one #etdg.row_lanes or #tile.chain}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.layouts = [#etdg.row_lanes<lanes = 32>, #etdg.tiling<>]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.slot' is an attribute of a buffer}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.slot = 1} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.candidates' is a list of schedules, found [1]}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.candidates = [1]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.divisions' is a list of #etdg.division, found [1]}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.divisions = [1]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.kept_together' is a unit, found 1}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.kept_together = 1} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.checks' is an attribute of a function or graph}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.checks = []} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.dims' is an attribute of an argument}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.dims = []} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  // expected-error @+1 {{'etdg.slot' is a number of 64 bits, not negative, found -1}}
  %ys = etdg.buffer {etdg.slot = -1 : i64} : !etdg.buffer<[N], !x>
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])  {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

  // expected-error @+1 {{'etdg.merged' is a dictionary of products, found 1}}
etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> attributes {etdg.merged = 1} {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])  {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{adjacent elements lie along a loop: width = 2 without 'vector'}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.layouts = [#etdg.tiling<width = 2>]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{adjacent elements and the tile are of different loops, found 0 twice}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.layouts = [#etdg.tiling<vector = 0, loop = 0, tile = 2>]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{a thread takes iterations of a loop or rows beside, found tile = 2 and rows = 2}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.layouts = [#etdg.tiling<vector = 0, loop = 1, tile = 2, rows = 2>]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

!x = tensor<8xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer  : !etdg.buffer<[N], !x>
  // expected-error @+1 {{the lanes of a row are a power of two, found 24}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.layouts = [#etdg.row_lanes<lanes = 24>]} {
    %y = arith.addf %x, %x : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

// expected-error @+1 {{'etdg.in_place' is pairs of an argument's and a result's number, found array<i64: 1, 0>}}
etdg.graph @g(%xs: !etdg.buffer<[N], tensor<2xf32>>) -> !etdg.buffer<[N], tensor<2xf32>> attributes {etdg.in_place = array<i64: 1, 0>} {
  etdg.return %xs : !etdg.buffer<[N], tensor<2xf32>>
}

// -----

!x = tensor<4xf32>
etdg.graph @f(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  // expected-error @+1 {{'etdg.handed' is of a leaf, pairs of a write's and a dimension's number, found array<i64: 0, 1>}}
  etdg.block @b [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i]) attributes {etdg.handed = array<i64: 0, 1>} {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// -----

// expected-error @+1 {{the dimensions around the parts are not negative, found outer = -1, first = 0}}
#d = #etdg.division<kind = ahead, outer = -1>

// -----

// expected-error @+1 {{no dimension stays around parts that are apart, found outer = 1, first = 0}}
#d = #etdg.division<kind = apart, outer = 1>

// -----

// A set stands in an attribute of ours by its alias.
#set = affine_set<(k) : (k >= 0)>
// expected-error @+1 {{a cut has a dimension, and shares of at least one iteration, found dimension = 0, tile = 0}}
#c = #etdg.cut<dimension = 0, tile = 0, domain = #set>

// -----

// expected-error @+1 {{the kind of an edge is none, block, grid or kernel, found cores}}
#e = #etdg.edge<from = 0, to = 1, kind = cores>

// -----

// expected-error @+1 {{the numbers of nests are not negative, found from = -1, to = 1}}
#e = #etdg.edge<from = -1, to = 1, kind = grid>
