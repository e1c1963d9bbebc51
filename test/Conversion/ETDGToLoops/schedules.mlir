// The loops are those of the schedule, in its order; one tile, level or mapping changed there changes them.
//
// RUN: ft-opt %s --convert-etdg-to-loops --cse | FileCheck %s
// RUN: sed 's/most = 3/most = 5/g' %s | ft-opt --convert-etdg-to-loops --cse | FileCheck %s --check-prefix=FIVE
// RUN: sed 's/level = rows/level = listed_rows/g' %s | ft-opt --convert-etdg-to-loops --cse | FileCheck %s --check-prefix=LISTED
// RUN: sed 's/<dimension = 1, kind = sequential, sync = cores>, \(<.*most = 3, kind = parallel, level = core, mapping = \)block>/\1dynamic>, <dimension = 1, kind = sequential>/' %s \
// RUN:   | ft-opt --convert-etdg-to-loops --cse | FileCheck %s --check-prefix=TURN
// RUN: sed 's/tile = ?, most = 3, kind = parallel, level = core, mapping = block>, <.*level = rows>/kind = parallel, level = core, mapping = block>/' %s \
// RUN:   | ft-opt --convert-etdg-to-loops --cse | FileCheck %s --check-prefix=POINTS

// CHECK-LABEL: loops.program @by_hand lengths ["L", "N"] places [] {
// CHECK-DAG: %[[L:.*]] = loops.length "L"
// CHECK-DAG: %[[N:.*]] = loops.length "N"
// CHECK-DAG: %[[XS:.*]] = loops.buffer argument 0
// CHECK-DAG: %[[W:.*]] = loops.buffer argument 1
// CHECK-DAG: %[[YS:.*]] = loops.buffer result 0
// CHECK-DAG: %[[ZERO:.*]] = loops.buffer splat value(0.000000e+00 : f32)
// CHECK: loops.launch @by_hand_k0(%[[L]], %[[N]], %[[XS]], %[[W]], %[[ZERO]], %[[YS]])

// Rows of a step are cut anywhere, in chunks of 3 at most; all wait after each step.
// CHECK: func.func @by_hand_k0(%[[l:.*]]: index, %[[n:.*]]: index, %[[xs:.*]]: memref<?xf32>, %[[w:.*]]: memref<?xf32>, %[[zero:.*]]: memref<?xf32>, %[[ys:.*]]: memref<?xf32>) attributes {loops.kernel} {
// CHECK: %[[LINE:.*]] = arith.muli %[[l]], %c8
// CHECK: scf.for %[[k:.*]] = %c0{{.*}} to %[[l]]
// CHECK-NEXT: loops.chunks (%[[first:.*]], %[[count:.*]]) = %c0{{.*}} to %[[n]] most 3 level <core, block> {
// %xs[i, k]: rows step by a line, elements follow each other.
// CHECK: %[[row:.*]] = arith.muli %[[first]], %[[LINE]]
// CHECK: arith.muli %[[k]], %c8
// CHECK: memref.reinterpret_cast %[[xs]] to offset: [{{.*}}], sizes: [%[[count]], 1, 8], strides: [{{.*}}, 8, 1] : memref<?xf32> to memref<?x1x8xf32, strided<[?, 8, 1], offset: ?>>
// %w[]: the same for all rows.
// CHECK: memref.reinterpret_cast %[[w]] to
// A piece of a read is chosen, not both of them read.
// CHECK: %[[isFirst:.*]] = arith.cmpi eq, %[[k]], %c0
// CHECK: scf.if %[[isFirst]] -> (memref<?xf32>, index, index)
// CHECK: scf.yield %[[zero]],
// CHECK: } else {
// CHECK: affine.apply #{{.*}}(%[[k]])
// CHECK: scf.yield %[[ys]],
// CHECK: loops.leaf rows(%[[count]]) most 3 ins({{.*}}) varies [true, false, true] outs({{.*}}) overlaps [] {
// CHECK: ^bb0(%[[x0:.*]]: tensor<1x8xf32>, %[[w0:.*]]: tensor<8x8xf32>, %[[s0:.*]]: tensor<1x8xf32>):
// CHECK: %[[y0:.*]] = linalg.matmul ins(%[[s0]], %[[w0]]
// CHECK: loops.yield %[[y0]] : tensor<1x8xf32>
// CHECK: }
// CHECK: }
// CHECK-NEXT: loops.sync cores
// CHECK-NEXT: }
// CHECK-NEXT: return

// FIVE: loops.chunks {{.*}} most 5 level <core, block>
// FIVE: loops.leaf rows({{.*}}) most 5

// LISTED: scf.for
// LISTED: loops.chunks (%[[first:.*]], %[[count:.*]]) = {{.*}} most 3 unit 1 level <core, block> {
// LISTED: %[[list:.*]] = loops.list most 3 : <tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>>
// LISTED: loops.append %[[list]] rows({{.*}})
// LISTED: %[[rows:.*]] = loops.count %[[list]]
// LISTED: loops.leaf rows(%[[rows]]) most 3 list(%[[list]] : {{.*}}) ins({{.*}}memref<?x8x8xf32, {{.*}}) varies [true, false, true] overlaps [] {
// LISTED: loops.sync cores

// TURN: loops.chunks {{.*}} most 3 level <core, dynamic> {
// TURN: scf.for
// TURN-NOT: loops.sync

// POINTS: scf.for
// POINTS: scf.forall (%{{.*}}) {{.*}} {
// POINTS: loops.leaf rows(%c1{{.*}}) most 1
// POINTS: } {mapping = [#loops.level<core, block>]}
// POINTS-NEXT: loops.sync cores

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

etdg.graph @by_hand(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x>
    attributes {ft.lengths = {N = 9 : i64, L = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x)
      writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential, sync = cores>, <dimension = 0, tile = ?, most = 3, kind = parallel, level = core, mapping = block>, <dimension = 0, most = 3, kind = parallel, level = rows>]> {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
