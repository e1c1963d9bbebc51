// Reads that schedules stage become copies in the graph: where one unit runs the nest, in memory of a body; where units share loops further
// in, in a buffer that they all see, with a wait between; made ahead, as a nest of their own some iterations further.
//
// RUN: ft-opt %s --etdg-validate --etdg-apply-placements=machine=%S/../../machines/cpu.json --etdg-verify --etdg-validate | FileCheck %s
// RUN: sed 's/sync = cores/sync = grid/; s/level = core, mapping = block/level = grid, mapping = cyclic/; s/level = l3/level = l2/; s/level = l1/level = shared/g' %s > %t.mlir
// RUN: ft-opt %t.mlir --etdg-apply-placements=target=sm_90a --etdg-verify --etdg-validate | FileCheck %s --check-prefix=GPU
// RUN: ft-opt %t.mlir --etdg-apply-placements=target=sm_90a --etdg-schedule-for-gpu --etdg-storage --etdg-place-buffers | FileCheck %s --check-prefix=PLACED

!x = tensor<1x6xi32>
!w = tensor<6x6xi32>
!y = tensor<1x4xi32>

// CHECK-LABEL: etdg.graph @row
// CHECK:       etdg.block @b [map] (i) in [0, N)
// CHECK-NEXT:      schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel>]> {
// CHECK-NEXT:    %[[W:.*]] = etdg.buffer : !etdg.buffer<[], tensor<6x6xi32>>
// CHECK-NEXT:    etdg.block @b_1 [] (i |)
// CHECK-NEXT:        reads (%x = %arg1[] : tensor<6x6xi32>)
// CHECK-NEXT:        writes (%[[W]][]) {
// CHECK:         %[[X:.*]] = etdg.buffer live [3] : !etdg.buffer<[L], tensor<1x6xi32>>
// CHECK-NEXT:    etdg.kernel shared 1 {
// CHECK-NEXT:      etdg.block @b_0 [map] (i | t) in [-2, L - 2)
// CHECK-NEXT:          reads (%x = %arg0[i, t + 2] : tensor<1x6xi32>)
// CHECK-NEXT:          writes (%[[X]][t + 2])
// CHECK-NEXT:          schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential>]> {
// CHECK:           etdg.block @b [scanl] (i | t) in [0, L)
// CHECK-NEXT:          reads (%x = %[[X]][t] : tensor<1x6xi32>, %x_{{.*}} = %[[W]][] : tensor<6x6xi32>, %s = {t = 0: splat 1 : i32, t >= 1: %{{.*}}[i, t - 1]} : tensor<1x6xi32>)
// CHECK-NEXT:          writes (%{{.*}}[i, t])
// CHECK-NEXT:          schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential>]> {
// GPU-LABEL:   etdg.graph @row
// GPU:         etdg.buffer in shared : !etdg.buffer<[], tensor<6x6xi32>>
// GPU:         etdg.buffer live [3] in shared : !etdg.buffer<[L], tensor<1x6xi32>>
// PLACED-LABEL: etdg.graph @row
// PLACED:      etdg.buffer live [3] in shared : !etdg.buffer<[L], tensor<1x6xi32>>
etdg.graph @row(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @b [map, scanl] (i, t) in [0, N) x [0, L)
      reads (%x = %xs[i, t] : !x, %m = %w[] : !w, %s = {t = 0: splat 1 : i32, t >= 1: %ys[i, t - 1]} : !x) writes (%ys[i, t])
      schedule <map = affine_map<(i, t) -> (i, t)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l1, stages = 3>,
                        <read = 1, loop = 1, level = l1, stages = 1>]> {
    %0 = linalg.matmul ins(%s, %m : !x, !w) outs(%x : !x) -> !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

// Steps that all units take: they copy what the next step reads, and wait before this one reads what is there.
// CHECK-LABEL: etdg.graph @steps
// CHECK:       %[[X:.*]] = etdg.buffer live [2, all] : !etdg.buffer<[L, N], tensor<1x6xi32>>
// CHECK-NEXT:  etdg.kernel shared 1 {
// CHECK-NEXT:    etdg.block @b_0 [map, map] (t, i) in [-1, L - 1) x [0, N)
// CHECK-NEXT:        reads (%x = %arg0[t + 1, i] : tensor<1x6xi32>)
// CHECK-NEXT:        writes (%[[X]][t + 1, i])
// CHECK-NEXT:        schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>]{{.*}}> {
// CHECK:         etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N)
// CHECK:             schedule <{{.*}}<dimension = 1, kind = parallel, level = core, mapping = block>] before = cores {{.*}}> {
// GPU-LABEL:   etdg.graph @steps
// GPU:         schedule <{{.*}}sync = grid>, <dimension = 1, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 64, shared = 98304>> {
// GPU:         schedule <{{.*}}sync = grid>, <dimension = 1, kind = parallel, level = grid, mapping = cyclic>] before = grid block = <threads = 64, shared = 98304>> {
// PLACED-LABEL: etdg.graph @steps
// PLACED:      etdg.buffer live [2, all] in call
etdg.graph @steps(%xs: !etdg.buffer<[L, N], !x>) -> !etdg.buffer<[L, N], !x> {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.block @b [scanl, map] (t, i) in [0, L) x [0, N)
      reads (%x = %xs[t, i] : !x, %s = {t = 0: splat 1 : i32, t >= 1: %ys[t - 1, N - i - 1]} : !x) writes (%ys[t, i])
      schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>, 
          <dimension = 1, kind = parallel, level = core, mapping = block>]
          block = <threads = 64, shared = 98304> placements = [<read = 0, loop = 1, level = l3, stages = 2>]> {
    %0 = arith.subi %s, %x : !x
    etdg.yield %0 : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}

// A loop over tiles is one over a dimension of its own, where copies stand after it: these have the size of a tile.
// CHECK-LABEL: etdg.graph @points
// CHECK:       %[[A:.*]] = etdg.buffer live [2, all] : !etdg.buffer<[ceildiv(K, 4), 4], tensor<1x4xi32>>
// CHECK-NEXT:  etdg.kernel shared 1 {
// CHECK-NEXT:    etdg.block @p_0 [map, map] (i | ko, k) in [-1, floordiv(K - 1, 4)) x [max(0, 4 * ko + 4), min(K, 4 * ko + 8))
// CHECK-NEXT:        reads (%x = %arg0[i, k] : tensor<1x4xi32>)
// CHECK-NEXT:        writes (%[[A]][ko + 1, k - 4 * ko - 4])
// CHECK:           etdg.block @p_1 [map, map] (i, ko | j, k) in [0, 3) x [max(0, 4 * ko), min(K, 4 * ko + 4))
// CHECK:           etdg.block @p [map, map] (i, ko | j, k) in [0, 3) x [max(0, 4 * ko), min(K, 4 * ko + 4))
etdg.graph @points(%as: !etdg.buffer<[N, K], !y>, %bs: !etdg.buffer<[K, 3], !y>) -> !etdg.buffer<[N, K, 3], !y> {
  %ys = etdg.buffer : !etdg.buffer<[N, K, 3], !y>
  etdg.block @p [map, map, map] (i, k, j) in [0, N) x [0, K) x [0, 3) reads (%a = %as[i, k] : !y, %b = %bs[k, -j + 2] : !y) writes (%ys[i, k, j])
      schedule <map = affine_map<(i, k, j) -> (i, k, j)>, loops = [<dimension = 0, kind = parallel>, <dimension = 1, tile = 4, kind = sequential>,
          <dimension = 2, kind = sequential>, <dimension = 1, kind = sequential>]
          placements = [<read = 0, loop = 2, level = l1, stages = 2>, <read = 1, loop = 2, level = l1, stages = 1>]> {
    %0 = arith.muli %a, %b : !y
    etdg.yield %0 : !y
  } : !etdg.buffer<[N, K], !y>, !etdg.buffer<[K, 3], !y>, !etdg.buffer<[N, K, 3], !y>
  etdg.return %ys : !etdg.buffer<[N, K, 3], !y>
}
