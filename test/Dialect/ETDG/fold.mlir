// Folding leaves constants in the leaves that compute with them, also those of regions inside, and in what joins partial states.
// RUN: ft-opt %s --canonicalize | FileCheck %s
// RUN: ft-opt %s --sccp | FileCheck %s --check-prefix=SCCP
// RUN: ft-opt %s --canonicalize | ft-run - --entry=f --engine=cpu --compare=interpret
// RUN: ft-opt %s --canonicalize | ft-run - --entry=join --engine=cpu --compare=interpret

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

// CHECK-LABEL: etdg.graph @join
// CHECK-NOT: arith.constant
// CHECK: etdg.block @group
// CHECK: } combine
// CHECK-DAG: arith.constant dense<2.500000e-01> : tensor<4xf32>
!s = !etdg.buffer<[], tensor<4xf32>>
!p = !etdg.buffer<[N], tensor<4xf32>>
etdg.graph @join(%xs: !b, %s0: !s) -> !p attributes {ft.lengths = {N = 3 : i64}} {
  %ys = etdg.buffer : !p
  etdg.block @group [scan] (i) in [0, N) {
    etdg.block @leaf [] (i |) reads (%x = %xs[i] : tensor<4xf32>, %s = {i >= 1: %ys[i - 1], i = 0: %s0[]} : tensor<4xf32>) writes (%ys[i]) {
      %y = arith.addf %x, %s : tensor<4xf32>
      etdg.yield %y : tensor<4xf32>
    } : !b, !p, !s
    etdg.yield
  } combine (%a: tensor<4xf32>, %b: tensor<4xf32>) {
    %half = arith.constant dense<0.5> : tensor<4xf32>
    %quarter = arith.mulf %half, %half : tensor<4xf32>
    %four = arith.constant dense<4.0> : tensor<4xf32>
    %c = arith.mulf %a, %quarter : tensor<4xf32>
    %e = arith.mulf %c, %four : tensor<4xf32>
    %d = arith.addf %e, %b : tensor<4xf32>
    etdg.yield %d : tensor<4xf32>
  } identity (splat 0.0 : f32)
  etdg.return %ys : !p
}
