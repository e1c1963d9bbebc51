// Regions of a scheduled nest that differ in where they read alone are one, whose reads say where from. All else stays apart.
//
// RUN: ft-opt %s --etdg-join-regions --etdg-validate | FileCheck %s
// RUN: ft-opt %s --etdg-join-regions --remarks-filter=storage -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: ft-opt %s --etdg-join-regions | ft-opt --etdg-join-regions | FileCheck %s
//
// Results stay, on a GPU's loops and by the graph.
// RUN: ft-opt %s --etdg-join-regions -o %t.mlir
// RUN: ft-run %t.mlir --entry=layers --engine=interpret --order=random --compare=interpret --dim D=4 --dim L=5 --dim N=3
// RUN: ft-run %S/../../../examples/grid_rnn.mlir --engine=emulate --compare=interpret --dim D=2 --dim S=3 --dim T=2 --dim N=2
//
// Nothing joins regions of a nest that a GPU does not run.
// RUN: sed 's/ target = "sm_90a"//' %s | ft-opt --etdg-join-regions --remarks-filter=storage 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN-NOT: join-regions
// Nor of one that runs nothing in order.
// RUN: sed 's/kind = sequential, sync = grid/kind = parallel, level = grid, mapping = cyclic/; s/kind = sequential/kind = parallel/' %s | ft-opt --etdg-join-regions --remarks-filter=storage 2>&1 | FileCheck %s --check-prefix=OPEN
//
// The phase storage does it.
// RUN: ft-opt %S/../../../examples/grid_rnn.mlir --ft-compile="to=storage target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter=storage -o /dev/null 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: join-regions{{.*}}"regions r0 and r4 are one leaf's code"
// GRID: join-regions{{.*}}"regions r3 and r7 are one leaf's code"

#two = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#sequential = #etdg.schedule<map = #two, loops = [<dimension = 0, kind = sequential, sync = grid>, <dimension = 1, kind = parallel, level = grid, mapping = cyclic>, <dimension = 2, tile = 4, kind = parallel, level = grid, mapping = cyclic>, <dimension = 2, most = 4, kind = parallel, level = rows>] block = <threads = 32, shared = 4096> target = "sm_90a">
#rows = #etdg.schedule<map = #two, loops = [<dimension = 0, kind = sequential, sync = grid>, <dimension = 2, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, tile = 4, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, most = 4, kind = parallel, level = rows>] block = <threads = 32, shared = 4096> target = "sm_90a">
!x = tensor<1x8xf32>

// Steps of a wavefront: the first layer reads the argument, others the layer before. Its own state is a value at first, so that two of four are left.
// REMARK: [Passed] join-regions{{.*}}"regions r0 and r2 are one leaf's code"
// REMARK: [Passed] join-regions{{.*}}"regions r1 and r3 are one leaf's code"
// CHECK-LABEL: etdg.graph @layers
// CHECK: etdg.block @r0 [scanl, map, map] (t, j, i) in [0, D) x = t x [0, N) where L >= 1
// CHECK-NEXT: reads (%{{.*}} = {t = 0: %{{.*}}[i, t - j], t >= 1: %{{.*}}[i, j - 1, t - j]} : tensor<1x8xf32>, %{{.*}} = splat
// CHECK-NOT: etdg.block @r2
// CHECK: etdg.block @r1 [scanl, map, map] (t, j, i) in [1, D + L - 1) x [max(0, t - L + 1), min(D, t)) x [0, N)
// CHECK-NEXT: reads (%{{.*}} = {j = 0: %{{.*}}[i, t - j], j >= 1: %{{.*}}[i, j - 1, t - j]} : tensor<1x8xf32>, %{{.*}} = %{{.*}}[i, j, t - j - 1]
// CHECK-NOT: etdg.block
// CHECK: etdg.return
etdg.graph @layers(%xs: !etdg.buffer<[N, L], !x>, %ws: !etdg.buffer<[D], !x>) -> !etdg.buffer<[N, D, L], !x> {
  %ys = etdg.buffer in call : !etdg.buffer<[N, D, L], !x>
  etdg.nest schedule #sequential {
    etdg.block @r0 [scanl, map, map] (t, j, i) in = 0 x = 0 x [0, N) where D >= 1 and L >= 1
        reads (%x = %xs[i, t - j] : !x, %s = splat 0.0 : f32 : !x) writes (%ys[i, j, t - j]) {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, D, L], !x>
    etdg.block @r1 [scanl, map, map] (t, j, i) in [1, L) x = 0 x [0, N) where D >= 1
        reads (%x = %xs[i, t - j] : !x, %s = %ys[i, j, t - j - 1] : !x) writes (%ys[i, j, t - j]) {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, D, L], !x>
    etdg.block @r2 [scanl, map, map] (t, j, i) in [1, D) x = t x [0, N) where L >= 1
        reads (%x = %ys[i, j - 1, t - j] : !x, %s = splat 0.0 : f32 : !x) writes (%ys[i, j, t - j]) {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, D, L], !x>
    etdg.block @r3 [scanl, map, map] (t, j, i) in [2, D + L - 1) x [max(1, t - L + 1), min(D, t)) x [0, N)
        reads (%x = %ys[i, j - 1, t - j] : !x, %s = %ys[i, j, t - j - 1] : !x) writes (%ys[i, j, t - j]) {
      %y = arith.addf %x, %s : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, D, L], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, D, L], !x>
}

// REMARK-NOT: join-regions
// Rows of one leaf are in both regions: one leaf would choose for each of them.
// CHECK-LABEL: etdg.graph @rows
// CHECK: etdg.block @r0
// CHECK: etdg.block @r1
etdg.graph @rows(%xs: !etdg.buffer<[N, L], !x>, %ws: !etdg.buffer<[D], !x>) -> !etdg.buffer<[L, D, N], !x> {
  %ys = etdg.buffer in call : !etdg.buffer<[L, D, N], !x>
  etdg.nest schedule #rows {
    etdg.block @r0 [scanl, map, map] (t, j, i) in [1, L) x = 0 x [0, N) where D >= 1 reads (%x = %xs[i, t] : !x) writes (%ys[t, j, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, D, N], !x>
    etdg.block @r1 [scanl, map, map] (t, j, i) in [1, L) x [1, D) x [0, N) reads (%x = %ys[t - 1, j, i] : !x) writes (%ys[t, j, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L, D, N], !x>
    etdg.block @r2 [scanl, map, map] (t, j, i) in = 0 x [0, D) x [0, N) where L >= 1 reads (%x = splat 1.0 : f32 : !x) writes (%ys[t, j, i]) {
      %y = arith.mulf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L, D, N], !x>
  }
  etdg.return %ys : !etdg.buffer<[L, D, N], !x>
}

// Another body, another place of results, a value in the place of memory.
// CHECK-LABEL: etdg.graph @different
// CHECK: etdg.block @r0
// CHECK: etdg.block @r1
// CHECK: etdg.block @r2
// CHECK: etdg.block @r3
etdg.graph @different(%xs: !etdg.buffer<[N, L], !x>, %as: !etdg.buffer<[N, L], !x>) -> (!etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>) {
  %ys = etdg.buffer in call : !etdg.buffer<[L, N], !x>
  %zs = etdg.buffer in call : !etdg.buffer<[L, N], !x>
  etdg.nest schedule #sequential {
    etdg.block @r0 [scanl, map, map] (t, j, i) in [0, L) x = 0 x [0, N) reads (%x = %xs[i, t] : !x) writes (%ys[t, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @r1 [scanl, map, map] (t, j, i) in [3, L) x = 1 x [0, N) reads (%x = %as[i, t] : !x) writes (%zs[t, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @r2 [scanl, map, map] (t, j, i) in = 0 x = 1 x [0, N) where L >= 1 reads (%x = %as[i, t] : !x) writes (%zs[t, i]) {
      %y = arith.mulf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @r3 [scanl, map, map] (t, j, i) in [1, min(3, L)) x = 1 x [0, N) reads (%x = splat 1.0 : f32 : !x) writes (%zs[t, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[L, N], !x>
  }
  etdg.return %ys, %zs : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
}

// Between the two are points that a third one has: together they are no domain.
// CHECK-LABEL: etdg.graph @between
// CHECK: etdg.block @r0
// CHECK: etdg.block @r1
// CHECK: etdg.block @r2
etdg.graph @between(%xs: !etdg.buffer<[N, L], !x>, %as: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer in call : !etdg.buffer<[L, N], !x>
  etdg.nest schedule #sequential {
    etdg.block @r0 [scanl, map, map] (t, j, i) in = 0 x = 0 x [0, N) where L >= 1 reads (%x = %xs[i, t] : !x) writes (%ys[t, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @r1 [scanl, map, map] (t, j, i) in [1, min(3, L)) x = 0 x [0, N) reads (%x = %as[i, t] : !x) writes (%ys[t, i]) {
      %y = arith.mulf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @r2 [scanl, map, map] (t, j, i) in [3, L) x = 0 x [0, N) reads (%x = %as[i, t] : !x) writes (%ys[t, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
  }
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// Layouts that differ, and memory of two kinds: a thread has one way to reach both.
// CHECK-LABEL: etdg.graph @memory
// CHECK: etdg.block @r0
// CHECK: etdg.block @r1
// CHECK: etdg.block @s0
// CHECK: etdg.block @s1
etdg.graph @memory(%xs: !etdg.buffer<[N, L], !x>, %as: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer in call : !etdg.buffer<[L, N], !x>
  etdg.block @b [map] (n) in [0, N) schedule #etdg.schedule<map = affine_map<(d0) -> (d0)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 32, shared = 4096> target = "sm_90a"> {
    %own = etdg.buffer live [1] in shared : !etdg.buffer<[L], !x>
    etdg.nest schedule #etdg.schedule<map = affine_map<(d0) -> (d0)>, loops = [<dimension = 0, kind = sequential>] target = "sm_90a"> {
      etdg.block @r0 [scanl] (n | t) in = 0 where L >= 1 reads (%x = %xs[n, t] : !x) writes (%own[t]) {
        %y = arith.addf %x, %x : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L], !x>
      etdg.block @r1 [scanl] (n | t) in [1, L) reads (%x = %own[t - 1] : !x) writes (%own[t]) {
        %y = arith.addf %x, %x : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[L], !x>
    }
    etdg.yield
  }
  etdg.nest schedule #sequential {
    etdg.block @s0 [scanl, map, map] (t, j, i) in = 0 x = 0 x [0, N) where L >= 1 reads (%x = %xs[i, t] : !x) writes (%ys[t, i]) attributes {etdg.layouts = [#etdg.tiling<vector = 0>]} {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
    etdg.block @s1 [scanl, map, map] (t, j, i) in [1, L) x = 0 x [0, N) reads (%x = %as[i, t] : !x) writes (%ys[t, i]) attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 4>]} {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L, N], !x>
  }
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}
