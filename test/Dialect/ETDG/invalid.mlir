// RUN: ft-opt %s --split-input-file --verify-diagnostics

!b = !etdg.buffer<[N], tensor<f32>>
// expected-error @+1 {{(G1) arguments and results are buffers, argument 0 is 'f32'}}
"etdg.graph"() <{function_type = (f32) -> (), sym_name = "g1"}> ({
^bb0(%x: f32):
  "etdg.return"() : () -> ()
}) : () -> ()

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-note @+1 {{the graph is here}}
etdg.graph @g2_types(%x: !b) -> !b {
  // expected-error @+1 {{(G2) returns}}
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @g2_argument(%x: !b) -> !b {
  // expected-error @+1 {{(G2) every result is defined by an etdg.buffer of the graph's body, result 0 is not}}
  etdg.return %x : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @g2_twice(%x: !b) -> (!b, !b) {
  // expected-note @+1 {{the buffer is here}}
  %y = etdg.buffer : !b
  // expected-error @+1 {{(G2) no buffer is returned twice, results 0 and 1 are one}}
  etdg.return %y, %y : !b, !b
}

// -----

// expected-note @+1 {{the graph is here}}
etdg.graph @g3(%x: !etdg.buffer<[N, 2 * N], tensor<f32>>) {
  // expected-error @+1 {{(G3) 'M' is no length of an argument; the arguments bind 'N'}}
  %y = etdg.buffer : !etdg.buffer<[M], tensor<f32>>
  etdg.return
}

// -----

// expected-note @+1 {{the graph is here}}
etdg.graph @g3_assume(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(G3) 'K' is no length of an argument; the arguments bind 'N'}}
  etdg.assume "K" in [1, 2]
  etdg.return
}

// -----

etdg.graph @b1(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(B1) `live` has one entry for each length: expected 1, found 2}}
  %y = etdg.buffer live [1, all] : !etdg.buffer<[N], tensor<f32>>
  etdg.return
}

// -----

etdg.graph @b1_zero(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(B1) an entry of `live` is positive or `all`, found 0}}
  %y = etdg.buffer live [0] : !etdg.buffer<[N], tensor<f32>>
  etdg.return
}

// -----

etdg.graph @b2(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(B2) the memory of a graph's own buffer: expected call, found shared}}
  %y = etdg.buffer in shared : !etdg.buffer<[2], tensor<f32>>
  etdg.return
}

// -----

etdg.graph @b2_block(%x: !etdg.buffer<[N], tensor<f32>>) {
  etdg.block @p [map] (i) in [0, N) {
    // expected-error @+1 {{(B2) the memory of a block's buffer: expected shared or workspace, found call}}
    %y = etdg.buffer in call : !etdg.buffer<[2], tensor<f32>>
    etdg.yield
  }
  etdg.return
}

// -----

etdg.graph @b3(%x: !etdg.buffer<[N], tensor<f32>>) {
  etdg.block @p [map] (i) in [0, N) {
    // expected-error @+1 {{(B3) a buffer in shared memory has a size that is known, found lengths of the call without `live` planes}}
    %y = etdg.buffer in shared : !etdg.buffer<[N], tensor<f32>>
    etdg.yield
  }
  etdg.return
}

// -----

etdg.graph @constant_depth(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(K1) a constant's buffer has depth 0}}
  %y = etdg.constant dense<1.0> : tensor<f32> as !etdg.buffer<[N], tensor<f32>>
  etdg.return
}

// -----

etdg.graph @constant_type(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(K1) the value has the buffer's element type: expected 'tensor<f32>', found 'tensor<2xf32>'}}
  %y = etdg.constant dense<1.0> : tensor<2xf32> as !etdg.buffer<[], tensor<f32>>
  etdg.return
}

// -----

etdg.graph @n1_other(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(N1) a nest holds blocks only}}
  etdg.nest {
    // expected-note @+1 {{found 'etdg.buffer'}}
    %y = etdg.buffer : !etdg.buffer<[N], tensor<f32>>
  }
  etdg.return
}

// -----

etdg.graph @n1_empty(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(N1) a nest holds at least one block}}
  etdg.nest {
  }
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @n1_dims(%x: !b) -> !b {
  %y = etdg.buffer : !b
  etdg.nest {
    // expected-note @+1 {{the nest's first block is here}}
    etdg.block [map] (i) in [1, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
    // expected-error @+1 {{(N1) blocks of a nest have equal dimensions and ancestors}}
    etdg.block [map] (j) in [0, 1) reads (%a = %x[j] : tensor<f32>) writes (%y[j]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
  }
  etdg.return %y : !b
}

// -----

etdg.graph @m1_negative(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(M1) `shared` is not negative, found -1}}
  etdg.kernel shared -1 {
  }
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @m1_dims(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(M1) `shared` is at most the dimension of each nest, found 2}}
  etdg.kernel shared 2 {
    // expected-note @+1 {{this one has dimension 1}}
    etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
  }
  etdg.return %y : !b
}

// -----

etdg.graph @a1_range(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(A1) the lower end is at most the upper, found [3, 2]}}
  etdg.assume "N" in [3, 2]
  etdg.return
}

// -----

etdg.graph @a1_typical(%x: !etdg.buffer<[N], tensor<f32>>) {
  // expected-error @+1 {{(A1) typical values lie in [1, 2], found 3}}
  etdg.assume "N" in [1, 2] typical [1, 3]
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k1_count(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K1) one operator for each own dimension: found 2 operators and 1 own dimensions}}
  etdg.block [map, map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k1_right(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K1) 'scanr' runs from the left in etdg: write 'scanl' and reverse the maps}}
  etdg.block [scanr] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k1_name(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{expected an operator: map, reduce, fold, foldl, scan or scanl, found 'filter'}}
  etdg.block [filter] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k1_twice(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{dimension 'i' is named twice}}
  etdg.block [map, map] (i, i) in [0, N) x [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k1_ancestors(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-note @+1 {{the parent is here}}
  etdg.block [map] (i) in [0, N) {
    // expected-error @+1 {{(K1) a block's dimensions ["j"] begin with its parent's ["i"]}}
    etdg.block [] (j |) reads (%a = %x[j] : tensor<f32>) writes (%y[j]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
  }
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k1_no_ancestors(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-note @+1 {{the parent is here}}
  etdg.block [map] (i) in [0, N) {
    // expected-error @+1 {{(K1) a block's ancestors are its parent's dimensions: expected 1, found 0}}
    etdg.block [map] (j) in [0, N) reads (%a = %x[j] : tensor<f32>) writes (%y[j]) {
      etdg.yield %a : tensor<f32>
    } : !b, !b
  }
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k2(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K2) the domain has 2 dimensions and 0 symbols, expected 1 and 0}}
  "etdg.block"(%y) <{operators = ["map"], dims = ["i"], num_ancestors = 0 : i64, symbols = [],
      domain = affine_set<(d0, d1) : (d0 >= 0)>, reads = [], identity = [],
      writes = [#etdg.write<operand = 0, map = affine_map<(d0) -> (d0)>>]}> ({
    %0 = arith.constant dense<0.0> : tensor<f32>
    etdg.yield %0 : tensor<f32>
  }, {
  }) : (!b) -> ()
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k3_yield(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K3) the yield has one operand for each write: expected 1, found 2}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    // expected-note @+1 {{the yield is here}}
    etdg.yield %a, %a : tensor<f32>, tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k3_type(%x: !etdg.buffer<[N], tensor<2xf32>>) -> !b {
  // expected-note @+1 {{the buffer is}}
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K3) write 0: the buffer holds 'tensor<f32>', the yielded value is 'tensor<2xf32>'}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<2xf32>) writes (%y[i]) {
    etdg.yield %a : tensor<2xf32>
  } : !etdg.buffer<[N], tensor<2xf32>>, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-note @+1 {{the buffer is}}
etdg.graph @k4_depth(%x: !etdg.buffer<[N, N], tensor<f32>>) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K4) read 0: the map has 1 results, expected 2}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !etdg.buffer<[N, N], tensor<f32>>, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-note @+1 {{the buffer is}}
etdg.graph @k4_type(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K4) read 0: the buffer holds 'tensor<f32>', the read is 'tensor<f64>'}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f64>) writes (%y[i]) {
    %0 = arith.truncf %a : tensor<f64> to tensor<f32>
    etdg.yield %0 : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k4_splat(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K4) read 0: the splat is 'f64', the read holds 'f32'}}
  etdg.block [map] (i) in [0, N) reads (%a = splat 1.0 : f64 : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k4_index(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K4) read 0: an index is an integer, the read holds 'f32'}}
  etdg.block [map] (i) in [0, N) reads (%a = index(i) : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k4_gather(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K4) read 0: a gather's index is an integer}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[%x[i]] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<4xf32>>
etdg.graph @k4_element_rank(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K4) read 0 ranges over 2 element dimensions, its type 'tensor<4xf32>' has 1}}
  etdg.block [map] (i) in [0, N) reads (%a = elem (a, b) %x[i, a] : tensor<4xf32>) writes (%y[i]) {
    etdg.yield %a : tensor<4xf32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k5_no_write(%x: !b) {
  // expected-error @+1 {{(K5) a leaf has at least one write}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) {
  } : !b
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k5_both(%x: !b) {
  // expected-error @+1 {{(K5) a block with blocks or buffers inside has no reads and writes of its own}}
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) {
    %y = etdg.buffer : !b
  } : !b
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
// expected-note @+1 {{it is here}}
etdg.graph @k6(%x: !b) {
  // expected-error @+1 {{(K6) no graph argument or constant is written, write 0 does}}
  etdg.block [map] (i) in [0, N) reads (%a = splat 1.0 : f32 : tensor<f32>) writes (%x[i]) {
    etdg.yield %a : tensor<f32>
  } : !b
  etdg.return
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k7(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K7) combine takes the states twice and yields them once}}
  etdg.block [reduce] (i) in [0, N)
      reads (%a = %x[i] : tensor<f32>, %s = {i = 0: splat 0.0 : f32, i >= 1: %y[i - 1]} : tensor<f32>) writes (%y[i]) {
    %0 = arith.addf %a, %s : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } combine (%p: tensor<f32>) {
    etdg.yield %p : tensor<f32>
  } identity (splat 0.0 : f32) : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k7_operator(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K7) combine belongs to a dimension that may be re-associated (reduce, fold, scan), found ["foldl"]}}
  etdg.block [foldl] (i) in [0, N)
      reads (%a = %x[i] : tensor<f32>, %s = {i = 0: splat 0.0 : f32, i >= 1: %y[i - 1]} : tensor<f32>) writes (%y[i]) {
    %0 = arith.addf %a, %s : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } combine (%p: tensor<f32>, %q: tensor<f32>) {
    %0 = arith.addf %p, %q : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } identity (splat 0.0 : f32) : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @k7_identity(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{(K7) combine has one identity for each state: expected 1, found 0}}
  etdg.block [reduce] (i) in [0, N)
      reads (%a = %x[i] : tensor<f32>, %s = {i = 0: splat 0.0 : f32, i >= 1: %y[i - 1]} : tensor<f32>) writes (%y[i]) {
    %0 = arith.addf %a, %s : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } combine (%p: tensor<f32>, %q: tensor<f32>) {
    %0 = arith.addf %p, %q : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

// Text that is no block.

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @no_condition(%x: !b) -> !b {
  %y = etdg.buffer : !b
  // expected-error @+1 {{expected one of '>=', '<=', '=', '>', '<' in a condition}}
  etdg.block [map] (i) in [0, N) reads (%a = {i: %x[i]} : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}

// -----

!b = !etdg.buffer<[N], tensor<f32>>
etdg.graph @types(%x: !b) -> !b {
  %y = etdg.buffer : !b
  etdg.block [map] (i) in [0, N) reads (%a = %x[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  // expected-error @+1 {{expected one type for each buffer after the body: 2 buffers, found 1 types}}
  } : !b
  etdg.return %y : !b
}

// -----

// expected-error @+1 {{a buffer's element has a static shape, found 'tensor<?xf32>'}}
etdg.graph @dynamic(%x: !etdg.buffer<[N], tensor<?xf32>>) {
  etdg.return
}

// -----

// expected-error @+1 {{a length is not negative, found -1}}
etdg.graph @negative(%x: !etdg.buffer<[0 - 1], tensor<f32>>) {
  etdg.return
}

// -----

// expected-error @+1 {{the size of the buffer's constant dimensions in bytes does not fit 63 bits}}
etdg.graph @overflow(%x: !etdg.buffer<[4000000000, 4000000000], tensor<4xf32>>) {
  etdg.return
}

// -----

// expected-error @+1 {{every transformed dimension has a loop, dimension 1 has none}}
#s = #etdg.schedule<map = affine_map<(i, j) -> (i + j, j)>, loops = [<dimension = 0, kind = sequential>]>

// -----

// expected-error @+1 {{the loops over dimension 0 have falling tile sizes, found 8 inside 4}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = 4, kind = parallel>, <dimension = 0, tile = 8, kind = vector>]>

// -----

// What computes stands in leaves; a constant outside of them is what folding must not leave after.
!b = !etdg.buffer<[N], tensor<4xf32>>
// expected-note @+1 {{the graph is here}}
etdg.graph @g4(%xs: !b) -> !b {
  // expected-error @+1 {{(G4) a graph holds operations of etdg alone, found 'arith.constant'; what computes belongs in a leaf}}
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %ys = etdg.buffer : !b
  etdg.block @y [map] (i) in [0, N) reads (%x = %xs[i] : tensor<4xf32>) writes (%ys[i]) {
    %y = arith.mulf %x, %two : tensor<4xf32>
    etdg.yield %y : tensor<4xf32>
  } : !b, !b
  etdg.return %ys : !b
}

// -----

!b = !etdg.buffer<[], tensor<4xf32>>
// expected-note @+1 {{it is defined here}}
etdg.graph @k8(%xs: !b) -> !b {
  %ys = etdg.buffer : !b
  // expected-error @+1 {{(K8) a leaf uses its reads and what it computes, no value from outside}}
  etdg.block @y [] () reads (%x = %xs[] : tensor<4xf32>) writes (%ys[]) {
    // expected-note @+1 {{operand 0 of this 'builtin.unrealized_conversion_cast' is one}}
    %y = builtin.unrealized_conversion_cast %xs : !b to tensor<4xf32>
    %z = arith.addf %x, %y : tensor<4xf32>
    etdg.yield %z : tensor<4xf32>
  } : !b, !b
  etdg.return %ys : !b
}

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{only a parallel loop may have the tile '?', this one is sequential}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, kind = sequential>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{expected one of none, grid, cluster, block, warp, thread, core, rows, listed_rows, lifted, found 'gird'}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = gird>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{expected dimension, tile, most, unit, kind, level, mapping or sync, found 'size'}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, size = 3, kind = parallel>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{'tile' is given twice}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = 3, tile = 4, kind = parallel>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{a loop has a dimension and a kind}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{the iterations of a sequential loop are not run by a level, found core}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = sequential, level = core>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{iterations are mapped to the units of grid, cluster, block or core, not of rows}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = rows, mapping = block>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{only a sequential loop syncs after each iteration, this one is parallel}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, sync = cores>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{'most' is a multiple of 'unit', neither is negative; found most = 7, unit = 4}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = ?, most = 7, unit = 4, kind = parallel>]>

// -----

// expected-error @+1 {{the loops over dimension 0 have falling tile sizes, found ? inside 4}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = 4, kind = parallel>, <dimension = 0, tile = ?, kind = parallel>]>

// -----

// What is for an engine leaves nothing open.
// expected-error @+1 {{every transformed dimension has a loop, dimension 0 has none}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)> target = "cpu">

// -----

// expected-error @+1 {{every transformed dimension has a loop, dimension 0 has none}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)> block = <threads = 128>>

// -----

// expected-error @+1 {{a region's weight is at least 1 and at most 1048576, found 9223372036854775807}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel>] weights = [9223372036854775807]>

// -----

// expected-error @+1 {{a region's weight is at least 1 and at most 1048576, found 0}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel>] weights = [0]>

// -----

// A placement names a memory of machine files, not any word.
// expected-error @+3 {{expected one of [register, shared, l1, l2, l3, device] for a memory that a read is staged in}}
// expected-error @+2 {{failed to parse ETDG_PlacementAttr parameter 'level'}}
// expected-error @+1 {{failed to parse ETDG_ScheduleAttr parameter 'placements'}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 0, loop = 0, level = attic, stages = 1>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'placements'}}
// expected-error @+1 {{a placement names a read, a loop, and at least one stage, found read = 0, loop = 0, stages = 0}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 0, loop = 0, level = shared, stages = 0>]>

// -----

// expected-error @+1 {{a placement stands at one of the schedule's 1 loops or after them, found loop = 2}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = sequential>] placements = [<read = 0, loop = 2, level = shared, stages = 1>]>

// -----

// What bounds the pieces of a range is specified for loops that have pieces.
// expected-error @+1 {{'most' is of rows and of loops that are cut anywhere (tile = ?), found most = 8 on another loop over dimension 0}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, most = 8, kind = parallel, level = grid, mapping = cyclic>]>

// -----

// expected-error @+1 {{'most' is of rows and of loops that are cut anywhere (tile = ?), found most = 8 on another loop over dimension 1}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid>, <dimension = 1, tile = 4, most = 8, kind = parallel, level = grid>] columns = 16>

// -----

// expected-error @+1 {{'unit' is of columns, rows and loops that are cut anywhere (tile = ?), found unit = 2 on another loop over dimension 0}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = 4, unit = 2, kind = parallel>, <dimension = 0, kind = sequential>]>

// -----

// Words of before are errors that give those of now.
// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{'dealing' is 'mapping' now}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, dealing = turn>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{'turn' is 'dynamic' of cores, 'cyclic' of thread blocks now}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = turn>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{expected one of none, dynamic, cyclic, block, static, found 'even'}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = even>]>

// -----

// A core that is free takes what is left; a thread block knows its iterations from its number.
// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{the mapping of iterations to level core is dynamic, block or static, found cyclic}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = cyclic>]>

// -----

// expected-error @+2 {{failed to parse ETDG_ScheduleAttr parameter 'loops'}}
// expected-error @+1 {{the mapping of iterations to level grid is cyclic, block or static, found dynamic}}
#s = #etdg.schedule<map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = dynamic>]>
