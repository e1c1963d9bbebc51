// Folding leaves constants in the leaves that compute with them, also those of regions inside.
// RUN: ft-opt %s --canonicalize | FileCheck %s
// RUN: ft-opt %s --sccp | FileCheck %s --check-prefix=SCCP
// RUN: ft-opt %s --canonicalize | ft-run - --engine=cpu --compare=interpret

// CHECK-LABEL: etdg.graph @f
// CHECK-NEXT: = etdg.buffer
// CHECK-NEXT: etdg.block @group
// CHECK-NEXT: etdg.block @leaf
// CHECK-DAG: %[[SIX:.*]] = arith.constant dense<6.000000e+00> : tensor<4xf32>
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: arith.mulf %{{.*}}, %[[SIX]]
// CHECK: linalg.generic
// CHECK-NOT: arith.constant
// CHECK: arith.addf %{{.*}}, %[[TWO]]

// SCCP-LABEL: etdg.graph @f
// SCCP: etdg.block @leaf
// SCCP: arith.constant dense<6.000000e+00> : tensor<4xf32>
!b = !etdg.buffer<[N], tensor<4xf32>>
#id = affine_map<(d0) -> (d0)>
etdg.graph @f(%xs: !b) -> !b attributes {ft.lengths = {N = 3 : i64}} {
  %ys = etdg.buffer : !b
  etdg.block @group [map] (i) in [0, N) {
    etdg.block @leaf [] (i |) reads (%x = %xs[i] : tensor<4xf32>) writes (%ys[i]) {
      %two = arith.constant dense<2.0> : tensor<4xf32>
      %three = arith.constant dense<3.0> : tensor<4xf32>
      %six = arith.mulf %two, %three : tensor<4xf32>
      %y = arith.mulf %x, %six : tensor<4xf32>
      %e = tensor.empty() : tensor<4xf32>
      %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
          ins(%y : tensor<4xf32>) outs(%e : tensor<4xf32>) {
      ^bb0(%a: f32, %o: f32):
        %one = arith.constant 1.0 : f32
        %more = arith.addf %one, %one : f32
        %s = arith.addf %a, %more : f32
        linalg.yield %s : f32
      } -> tensor<4xf32>
      etdg.yield %z : tensor<4xf32>
    } : !b, !b
    etdg.yield
  }
  etdg.return %ys : !b
}
