// Schedules for a GPU become structured loops, too: what thread blocks share has the level `grid`, and one tile, level or
// mapping changed in the schedule changes them.
//
// RUN: ft-opt %s --etdg-schedule-for-gpu=target=sm_90a "--convert-etdg-to-loops=target=sm_90a" --cse | FileCheck %s
// RUN: sed 's/most = 3/most = 5/g; s/mapping = cyclic/mapping = static/g' %s | ft-opt "--etdg-schedule-for-gpu=target=sm_90a multiprocessors=7" "--convert-etdg-to-loops=target=sm_90a multiprocessors=7" --cse | FileCheck %s --check-prefix=FIXED
// RUN: sed 's/tile = ?, most = 3/tile = 2/g; s/tile = ?, unit = 4/tile = 4, unit = 4/; s/mapping = cyclic/mapping = block/g' %s \
// RUN:   | ft-opt --etdg-schedule-for-gpu=target=sm_90a "--convert-etdg-to-loops=target=sm_90a" --cse | FileCheck %s --check-prefix=TILES
// RUN: ft-opt %s --etdg-schedule-for-gpu=target=sm_90a "--convert-etdg-to-loops=target=sm_90a" --loops-grid-to-cores | FileCheck %s --check-prefix=CORES
// What a GPU's schedule says no kernel of a CPU runs, and the reverse.
// RUN: not ft-opt %s --convert-etdg-to-loops 2>&1 | FileCheck %s --check-prefix=CPU
// CPU: error: the schedule is for "sm_90a", the engine for "cpu"
// RUN: not ft-opt %s "--convert-etdg-to-loops=target=sm_80" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the schedule is for "sm_90a", the engine for "sm_80"
// RUN: not ft-opt %s "--convert-etdg-to-loops=target=sm_90" 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: {{.*}}sm_90

// The grid takes steps together, and waits after each; columns, then rows, are dealt to its thread blocks.
// CHECK-LABEL: func.func @steps_k0(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 64, shared = 65536>>
// CHECK: scf.for %[[k:.*]] = %c0{{.*}} to
// CHECK-NEXT: loops.chunks (%[[c:.*]], %[[width:.*]]) = %c0{{.*}} to %c8{{.*}} most 8 unit 4 level <grid, cyclic> {
// CHECK-NEXT: loops.chunks (%{{.*}}, %[[rows:.*]]) = %c0{{.*}} to %{{.*}} most 3 level <grid, cyclic> {
// CHECK: loops.leaf rows(%[[rows]]) most 3 columns(%[[c]], %[[width]]) tile 4 of 8 cuts [{{[0-9, -]+}}] ins({{.*}}) varies [true, false, true] outs({{.*}}) overlaps [] layouts [#etdg.tiling<vector = 1, width = 4>] {
// CHECK: }
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: loops.sync grid
// CHECK-NEXT: }
// CHECK-NEXT: return
// FIXED-LABEL: func.func @steps_k0(
// FIXED-SAME: loops.grid = #loops.grid<block = <threads = 64, shared = 65536>>
// FIXED: loops.chunks {{.*}} most 8 unit 4 level <grid, static>
// FIXED-NEXT: loops.chunks {{.*}} most 5 level <grid, static>
// A tile that is a number is what a thread block gets; there is room for as many rows.
// TILES-LABEL: func.func @steps_k0(
// TILES: loops.chunks {{.*}} most 4 unit 4 level <grid, block>
// TILES-NEXT: loops.chunks {{.*}} most 2 unit 2 level <grid, block>
// TILES: loops.leaf rows({{.*}}) most 2 columns
// A core in place of a thread block: parts of the columns, which a leaf takes one unit after the other.
// CORES: loops.program @steps lengths ["L", "N"] places [] {
// CORES-LABEL: func.func @steps_k0(
// CORES-NOT: loops.grid
// CORES: scf.for
// CORES: scf.forall (%[[part:.*]]) in (2) {
// CORES: %[[first:.*]] = arith.muli %[[part]], %c4
// CORES: %[[least:.*]] = arith.minsi
// CORES: loops.chunks {{.*}} most 3 level <core, block> {
// CORES: %[[end:.*]] = arith.addi %[[first]], %[[least]]
// CORES: scf.for %[[at:.*]] = %[[first]] to %[[end]] step %c4
// CORES: loops.leaf {{.*}} columns(%[[at]]) tile 4 of 8 {{.*}}
// CORES: mapping = [#loops.level<core, block>]
// CORES: loops.sync cores

#id1 = affine_map<(d0) -> (d0)>
#id2 = affine_map<(d0, d1) -> (d0, d1)>
#id3 = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

etdg.graph @steps(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = #id2, loops = [<dimension = 1, kind = sequential, sync = grid>,
        <dimension = 2, tile = ?, unit = 4, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, tile = ?, most = 3, kind = parallel, level = grid, mapping = cyclic>,
        <dimension = 0, most = 3, kind = parallel, level = rows>] block = <threads = 64, shared = 65536> columns = 8 target = "sm_90a">
      attributes {etdg.layouts = [#etdg.tiling<vector = 1, width = 4>]} {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// Independent points, mapped cyclic. In one of them loops run in order, with memory of its
// own, and a leaf computes the iterations of a lifted one at once.
// CHECK-LABEL: func.func @points_k0(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>, loops.kernel
// CHECK: scf.forall (%[[i:.*]]) in (%{{.*}}) {
// CHECK: %[[own:.*]] = loops.alloc %c32{{.*}} in <shared> : memref<?xf32>
// CHECK: %[[large:.*]] = loops.alloc %{{.*}} in <workspace> : memref<?xf32>
// CHECK: loops.chunks (%{{.*}}, %[[own_rows:.*]]) = {{.*}} most [[T:.*]] unit [[T]] level <none> {
// CHECK: loops.leaf rows(%[[own_rows]])
// CHECK: scf.forall (%[[g:.*]]) in (%c4{{.*}}) {
// CHECK: loops.view %[[own]][%[[g]]] strides [8] steps [0]
// CHECK: loops.leaf rows(%c1{{.*}}) most 1 ins({{.*}}) varies [false] outs({{.*}}) overlaps [] layouts [#etdg.tiling<{{.*}}>] {
// CHECK: mapping = [#loops.level<lifted>]
// CHECK: mapping = [#loops.level<grid, cyclic>]
// CHECK-NOT: loops.sync
// CHECK: return
// CORES-LABEL: func.func @points_k0(
// CORES-NOT: loops.alloc
// CORES: memref.alloc(%{{.*}}) {alignment = 64 : i64} : memref<?xf32>
// CORES: mapping = [#loops.level<none>]
// CORES: mapping = [#loops.level<core, dynamic>]
etdg.graph @points(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @p [map] (i) in [0, N)
      schedule <map = #id1, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 32, shared = 4096> target = "sm_90a"> {
    %own = etdg.buffer in shared : !etdg.buffer<[4], !x>
    %large = etdg.buffer in workspace : !etdg.buffer<[L], !x>
    etdg.block @a [map] (i | k) in [0, L) reads (%x = %xs[i, k] : !x) writes (%large[k])
        schedule <map = #id1, loops = [<dimension = 0, kind = parallel>]> {
      etdg.yield %x : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L], !x>
    etdg.block @b [map] (i | g) in [0, 4) reads (%x = {L >= 1: %large[L - 1], L = 0: splat 0.0 : f32} : !x) writes (%own[g])
        schedule <map = #id1, loops = [<dimension = 0, kind = parallel, level = lifted>]> {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L], !x>, !etdg.buffer<[4], !x>
    etdg.block @c [] (i |) reads (%a = %own[0] : !x, %b = %own[3] : !x) writes (%ys[i]) {
      %y = arith.addf %a, %b : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[4], !x>, !etdg.buffer<[N], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// Nests of one launch: they share their steps, and the grid waits before the second of them.
// CHECK-LABEL: func.func @pair_k0(
// CHECK: scf.for
// CHECK: scf.forall
// CHECK: loops.leaf
// CHECK: mapping = [#loops.level<grid, block>]
// CHECK-NEXT: loops.sync grid
// CHECK-NEXT: scf.forall
// CHECK: loops.leaf
// CHECK: mapping = [#loops.level<grid, block>]
// CHECK-NEXT: loops.sync grid
// CHECK-NEXT: }
// CHECK-NEXT: return
// CORES-LABEL: func.func @pair_k0(
// CORES: mapping = [#loops.level<core, block>]
// CORES-NEXT: loops.sync cores
etdg.graph @pair(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %as = etdg.buffer : !etdg.buffer<[L, N], !x>
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.kernel shared 1 {
    etdg.block @a [scanl, map] (t, i) in [0, L) x [0, N)
        reads (%x = %xs[t, i] : !x, %s = {t = 0: splat 0.0 : f32, t >= 1: %ys[t - 1, N - 1 - i]} : !x) writes (%as[t, i])
        schedule <map = #id2, loops = [<dimension = 0, kind = sequential, sync = grid>, <dimension = 1, kind = parallel, level = grid, mapping = block>] block = <threads = 64, shared = 65536> target = "sm_90a"> {
      %0 = arith.addf %x, %s : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N) reads (%a = %as[t, N - 1 - i] : !x) writes (%ys[t, i])
        schedule <map = #id2, loops = [<dimension = 0, kind = sequential, sync = grid>, <dimension = 1, kind = parallel, level = grid, mapping = block>] before = grid block = <threads = 64, shared = 65536> target = "sm_90a"> {
      %0 = arith.mulf %a, %a : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  }
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// The call's lengths choose; what one thread block runs alone has no loop of level grid.
// CHECK-LABEL: loops.program @choose
// CHECK: loops.variants [#etdg.guard<[N] below 4>] {
// CHECK-NEXT: loops.launch @choose_k0(
// CHECK: loops.launch @choose_k1(
// CHECK-LABEL: func.func @choose_k0(
// CHECK-NOT: mapping
// CHECK: scf.for
// CHECK: loops.leaf
// CHECK-LABEL: func.func @choose_k1(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 64, shared = 65536>>, loops.kernel
// CHECK: scf.forall
// CHECK: mapping = [#loops.level<grid, cyclic>]
etdg.graph @choose(%xs: !etdg.buffer<[N], !x>) -> !etdg.buffer<[N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.variants when <[N] below 4> {
    etdg.block @few [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])
        schedule <map = #id1, loops = [<dimension = 0, kind = sequential>] block = <threads = 64, shared = 65536> target = "sm_90a"> {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  } else {
    etdg.block @many [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[i])
        schedule <map = #id1, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 64, shared = 65536> target = "sm_90a"> {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[N], !x>
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}
