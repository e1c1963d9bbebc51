// Elements that nothing defines are those of no buffer: no block is left that only makes room.
//
// RUN: ft-opt %s --pass-pipeline="builtin.module(etdg.graph(etdg-fuse-accesses))" | FileCheck %s
// RUN: ft-run %s --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL

// CHECK: etdg.graph @room
// CHECK-NOT: tensor.empty
// CHECK: etdg.block @read
// CHECK: reads (%{{.*}} = %{{.*}}[i] : tensor<4xf32>, %{{.*}} = splat 0.0
// EQUAL: equal

!x = tensor<4xf32>
!b = !etdg.buffer<[3], !x>
#id = affine_map<(d) -> (d)>

etdg.graph @room(%xs: !b) -> !b {
  %t = etdg.buffer : !etdg.buffer<[], tensor<3x4xf32>>
  %y = etdg.buffer : !b
  etdg.block @room [] () writes (%t[]) {
    %e = tensor.empty() : tensor<3x1x4xf32>
    %c = tensor.collapse_shape %e [[0, 1], [2]] : tensor<3x1x4xf32> into tensor<3x4xf32>
    etdg.yield %c : tensor<3x4xf32>
  } : !etdg.buffer<[], tensor<3x4xf32>>
  etdg.block @read [map] (i) in [0, 3) reads (%x = %xs[i] : !x, %o = elem (e0) %t[i, e0] : !x) writes (%y[i]) {
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : !x) outs(%o : !x) {
    ^bb0(%a: f32, %old: f32):
      %s = math.absf %a : f32
      linalg.yield %s : f32
    } -> !x
    etdg.yield %r : !x
  } : !b, !etdg.buffer<[], tensor<3x4xf32>>, !b
  etdg.return %y : !b
}
