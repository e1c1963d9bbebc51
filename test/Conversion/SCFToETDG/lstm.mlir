// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-scf-to-etdg,etdg.graph(etdg-verify))' -o /dev/null

// RUN: ft-opt %s --pass-pipeline="builtin.module(convert-scf-to-etdg,etdg.graph(etdg-reorder))" | FileCheck %s --check-prefix=WAVE

// Both run as wavefronts: L + D - 1 steps.
// WAVE: #[[T:.*]] = affine_map<(d0, d1) -> (d0 + d1, d0)>
// WAVE-LABEL: etdg.graph @lstm
// WAVE: etdg.nest schedule <map = #[[T]], loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]>
// WAVE-LABEL: etdg.graph @sequences
// WAVE: etdg.nest schedule <map = #[[T]], loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]>

// The four regions of FractalTensor's Listing 2, with distances (1, 0) and (0, 1).
// CHECK-LABEL: etdg.graph @lstm
// CHECK: %[[H:.*]] = etdg.buffer : !etdg.buffer<[D, L], tensor<1x8xf32>>
// CHECK-NEXT: %[[C:.*]] = etdg.buffer : !etdg.buffer<[D, L], tensor<1x8xf32>>
// CHECK-NEXT: etdg.nest
// CHECK-NEXT: [scanl, scanl] (i, j) in = 0 x = 0 where D >= 1 and L >= 1
// CHECK: [scanl, scanl] (i, j) in = 0 x [1, L) where D >= 1
// CHECK: [scanl, scanl] (i, j) in [1, D) x = 0 where L >= 1
// CHECK: [scanl, scanl] (i, j) in [1, D) x [1, L)
// CHECK-NEXT: reads (%{{.*}} = %[[H]][i - 1, j] : tensor<1x8xf32>, {{.*}} = %[[H]][i, j - 1] : tensor<1x8xf32>, {{.*}} = %[[C]][i, j - 1] : tensor<1x8xf32>)
// CHECK-NEXT: writes (%[[C]][i, j], %[[H]][i, j])
// CHECK-NOT: etdg.block
// CHECK: etdg.return %[[H]], %[[C]]

// CHECK-LABEL: etdg.graph @sequences
// CHECK: %[[H:.*]] = etdg.buffer : !etdg.buffer<[D, L], tensor<1x8xf32>>
// CHECK: [scanl, scanl] (i, j) in [1, D) x [1, L)
// CHECK-NEXT: reads (%{{.*}} = %[[H]][i - 1, j] : {{.*}} = %[[H]][i, j - 1] : tensor<1x8xf32>)
// CHECK-NEXT: writes (%[[H]][i, j])
// The last layer, copied because it is returned twice.
// CHECK: [map] (i) in [0, L)
// CHECK-NEXT: {D >= 1: %[[H]][D - 1, i], D = 0: %{{.*}}[i]}
// A stacked LSTM as one writes it by hand: two loops that write h and c of each
// layer and time.
!x = tensor<1x8xf32>
!w = tensor<8x8xf32>
func.func @lstm(%xs: tensor<?x1x8xf32> {etdg.dims = ["L"]}, %ws: tensor<?x8x8xf32> {etdg.dims = ["D"]},
                %us: tensor<?x8x8xf32> {etdg.dims = ["D"]}, %bs: tensor<?x1x8xf32> {etdg.dims = ["D"]})
    -> (tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %xs, %c0 : tensor<?x1x8xf32>
  %D = tensor.dim %ws, %c0 : tensor<?x8x8xf32>
  %zero = arith.constant dense<0.0> : !x
  %h0 = tensor.empty(%D, %L) : tensor<?x?x1x8xf32>
  %c00 = tensor.empty(%D, %L) : tensor<?x?x1x8xf32>
  %r:2 = scf.for %l = %c0 to %D step %c1 iter_args(%hs = %h0, %cs = %c00) -> (tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>) {
    %w = tensor.extract_slice %ws[%l, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<?x8x8xf32> to !w
    %u = tensor.extract_slice %us[%l, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<?x8x8xf32> to !w
    %b = tensor.extract_slice %bs[%l, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<?x1x8xf32> to !x
    %q:4 = scf.for %t = %c0 to %L step %c1 iter_args(%hs1 = %hs, %cs1 = %cs, %h = %zero, %c = %zero)
        -> (tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>, !x, !x) {
      %first = arith.cmpi eq, %l, %c0 : index
      %x = scf.if %first -> !x {
        %x0 = tensor.extract_slice %xs[%t, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<?x1x8xf32> to !x
        scf.yield %x0 : !x
      } else {
        %lm = arith.subi %l, %c1 : index
        %x1 = tensor.extract_slice %hs1[%lm, %t, 0, 0] [1, 1, 1, 8] [1, 1, 1, 1] : tensor<?x?x1x8xf32> to !x
        scf.yield %x1 : !x
      }
      %xw = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
      %g = linalg.matmul ins(%h, %u : !x, !w) outs(%xw : !x) -> !x
      %i = math.tanh %g : !x
      %keep = arith.mulf %i, %c : !x
      %cn = arith.addf %keep, %i : !x
      %hn = math.tanh %cn : !x
      %hs2 = tensor.insert_slice %hn into %hs1[%l, %t, 0, 0] [1, 1, 1, 8] [1, 1, 1, 1] : !x into tensor<?x?x1x8xf32>
      %cs2 = tensor.insert_slice %cn into %cs1[%l, %t, 0, 0] [1, 1, 1, 8] [1, 1, 1, 1] : !x into tensor<?x?x1x8xf32>
      scf.yield %hs2, %cs2, %hn, %cn : tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>, !x, !x
    }
    scf.yield %q#0, %q#1 : tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x1x8xf32>, tensor<?x?x1x8xf32>
}

// The same by a sequence that each layer makes anew.
func.func @sequences(%xs: tensor<?x1x8xf32> {etdg.dims = ["L"]}, %ws: tensor<?x8x8xf32> {etdg.dims = ["D"]})
    -> (tensor<?x?x1x8xf32>, tensor<?x1x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %xs, %c0 : tensor<?x1x8xf32>
  %D = tensor.dim %ws, %c0 : tensor<?x8x8xf32>
  %zero = arith.constant dense<0.0> : !x
  %h0 = tensor.empty(%D, %L) : tensor<?x?x1x8xf32>
  %r:2 = scf.for %l = %c0 to %D step %c1 iter_args(%hs = %h0, %below = %xs) -> (tensor<?x?x1x8xf32>, tensor<?x1x8xf32>) {
    %w = tensor.extract_slice %ws[%l, 0, 0] [1, 8, 8] [1, 1, 1] : tensor<?x8x8xf32> to !w
    %empty = tensor.empty(%L) : tensor<?x1x8xf32>
    %q:2 = scf.for %t = %c0 to %L step %c1 iter_args(%seq = %empty, %h = %zero) -> (tensor<?x1x8xf32>, !x) {
      %x = tensor.extract_slice %below[%t, 0, 0] [1, 1, 8] [1, 1, 1] : tensor<?x1x8xf32> to !x
      %xw = linalg.matmul ins(%x, %w : !x, !w) outs(%h : !x) -> !x
      %hn = math.tanh %xw : !x
      %seq1 = tensor.insert_slice %hn into %seq[%t, 0, 0] [1, 1, 8] [1, 1, 1] : !x into tensor<?x1x8xf32>
      scf.yield %seq1, %hn : tensor<?x1x8xf32>, !x
    }
    %hs1 = tensor.insert_slice %q#0 into %hs[%l, 0, 0, 0] [1, %L, 1, 8] [1, 1, 1, 1] : tensor<?x1x8xf32> into tensor<?x?x1x8xf32>
    scf.yield %hs1, %q#0 : tensor<?x?x1x8xf32>, tensor<?x1x8xf32>
  }
  return %r#0, %r#1 : tensor<?x?x1x8xf32>, tensor<?x1x8xf32>
}
