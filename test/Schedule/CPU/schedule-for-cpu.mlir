// What the CPU engine will do is written into the schedules, and what they say is done.
//
// RUN: ft-opt %s --etdg-schedule-for-cpu | FileCheck %s
// RUN: ft-opt %s --etdg-schedule-for-cpu | ft-opt --etdg-schedule-for-cpu | FileCheck %s
// Sequences run side by side, each in order: rows along the batch.
// CHECK-LABEL: etdg.graph @recurrence
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, tile = ?, most = 64, kind = parallel, level = core, mapping = dynamic>, <dimension = 1, kind = sequential>, <dimension = 0, most = 64, kind = parallel, level = rows>] target = "cpu"> {
// The gates of a cell are computed by the thread that has the cell.
// CHECK-LABEL: etdg.graph @nested
// CHECK: etdg.block @cell
// CHECK-SAME: [map]
// CHECK: schedule <{{.*}}level = core{{.*}}level = rows
// CHECK: etdg.block @gates [map]
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential>] target = "cpu">
//
// A schedule that binds already stays as it is and decides the plan; values stay the same.
// RUN: %ft_bin/ft-run %s --entry=by_hand --engine=cpu --compare=interpret --bench | FileCheck %s --check-prefix=HAND
// HAND: by_hand_k0: team k, rows i: 5 steps of 9.0 points, {{.*}} 5 barriers
// HAND: equal
// RUN: ft-opt %s --etdg-schedule-for-cpu | FileCheck %s --check-prefix=KEPT
// KEPT-LABEL: etdg.graph @by_hand
// KEPT: schedule <map = #{{.*}}, loops = [<dimension = 1, kind = sequential, sync = cores>, <dimension = 0, tile = ?, most = 3, kind = parallel, level = core, mapping = block>, <dimension = 0, most = 3, kind = parallel, level = rows>]> {
//
// One number there changes the loops that are emitted: rows of a call, 3 or 5.
// RUN: ft-translate --mlir-to-llvmir --target=x86-64-v3 %s | FileCheck %s --check-prefix=THREE
// RUN: sed 's/most = 3/most = 5/g' %s | ft-translate --mlir-to-llvmir --target=x86-64-v3 - | FileCheck %s --check-prefix=FIVE
// THREE-LABEL: define internal {{.*}}by_hand_k0(
// THREE: call i64 @llvm.{{[us]}}min.i64(i64 {{.*}}, i64 3)
// FIVE-LABEL: define internal {{.*}}by_hand_k0(
// FIVE: call i64 @llvm.{{[us]}}min.i64(i64 {{.*}}, i64 5)

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

etdg.graph @recurrence(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x>
    attributes {ft.lengths = {N = 9 : i64, L = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x)
      writes (%ys[i, k]) {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

etdg.graph @nested(%xs: !etdg.buffer<[N], !x>, %ws: !etdg.buffer<[4], !w>) -> !etdg.buffer<[N], !x>
    attributes {ft.lengths = {N = 9 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @cell [map] (i) in [0, N) {
    %gs = etdg.buffer : !etdg.buffer<[4], !x>
    etdg.block @gates [map] (i | g) in [0, 4)
        reads (%x = %xs[i] : !x, %w = %ws[g] : !w) writes (%gs[g]) {
      %y = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[4], !w>, !etdg.buffer<[4], !x>
    etdg.block @sum [] (i |) reads (%a = %gs[0] : !x, %b = %gs[3] : !x) writes (%ys[i]) {
      %y = arith.addf %a, %b : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[4], !x>, !etdg.buffer<[N], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}

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
