// RUN: ft-opt %s --split-input-file --etdg-online --remarks-filter="online.*" 2>&1 | FileCheck %s
//
// A minimum that starts at what a sum has come to waits for it, and nothing else of its group
// could run beside it: it stays as it is (it used to be rewritten for ever).

// CHECK: block @least has no online form: starts at what another reduction has come to
// CHECK-NOT: merged
// CHECK: etdg.block @sum [fold]
// CHECK: etdg.block @least [fold]
// CHECK-SAME: (i) in [0, L)
// CHECK-NOT: merged
etdg.graph @f(%xs: !etdg.buffer<[L], tensor<f32>>) -> !etdg.buffer<[], tensor<f32>>
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %sums = etdg.buffer live [1] : !etdg.buffer<[L], tensor<f32>>
  %all = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  %least = etdg.buffer live [1] : !etdg.buffer<[L], tensor<f32>>
  etdg.block @sum [fold] (i) in [0, L)
      reads (%s = {i >= 1: %sums[i - 1], i = 0: splat 0.000000e+00 : f32} : tensor<f32>, %x = %xs[i] : tensor<f32>)
      writes (%sums[i]) {
    %0 = arith.addf %s, %x : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[L], tensor<f32>>
  etdg.block @last [] () reads (%x = %sums[L - 1] : tensor<f32>) writes (%all[]) {
    %0 = math.absf %x : tensor<f32>
    %1 = arith.negf %0 : tensor<f32>
    %2 = math.exp %1 : tensor<f32>
    etdg.yield %2 : tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[], tensor<f32>>
  etdg.block @least [fold] (i) in [0, L)
      reads (%s = {i >= 1: %least[i - 1], i = 0: %all[]} : tensor<f32>, %x = %xs[i] : tensor<f32>)
      writes (%least[i]) {
    %0 = arith.minimumf %s, %x : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[], tensor<f32>>, !etdg.buffer<[L], tensor<f32>>
  %end = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  etdg.block @end [] () reads (%x = %least[L - 1] : tensor<f32>) writes (%end[]) {
    etdg.yield %x : tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[], tensor<f32>>
  etdg.return %end : !etdg.buffer<[], tensor<f32>>
}

// -----

// Beside the sum is a list of what each iteration made, which the minimum reads, too: nothing but
// the start waits, and that is enough.

// CHECK-LABEL: etdg.graph @both
// CHECK: etdg.block @sum [fold]
// CHECK: etdg.block @least [fold]

etdg.graph @both(%xs: !etdg.buffer<[L], tensor<f32>>) -> !etdg.buffer<[], tensor<f32>>
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %sums = etdg.buffer live [1] : !etdg.buffer<[L], tensor<f32>>
  %squares = etdg.buffer : !etdg.buffer<[L], tensor<f32>>
  %least = etdg.buffer live [1] : !etdg.buffer<[L], tensor<f32>>
  etdg.block @sum [fold] (i) in [0, L)
      reads (%s = {i >= 1: %sums[i - 1], i = 0: splat 0.000000e+00 : f32} : tensor<f32>, %x = %xs[i] : tensor<f32>)
      writes (%sums[i], %squares[i]) {
    %0 = arith.addf %s, %x : tensor<f32>
    %1 = arith.mulf %x, %x : tensor<f32>
    etdg.yield %0, %1 : tensor<f32>, tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[L], tensor<f32>>
  etdg.block @least [fold] (i) in [0, L)
      reads (%s = {i >= 1: %least[i - 1], i = 0: %sums[L - 1]} : tensor<f32>, %x = %squares[i] : tensor<f32>)
      writes (%least[i]) {
    %0 = arith.minimumf %s, %x : tensor<f32>
    etdg.yield %0 : tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[L], tensor<f32>>
  %end = etdg.buffer : !etdg.buffer<[], tensor<f32>>
  etdg.block @end [] () reads (%x = %least[L - 1] : tensor<f32>) writes (%end[]) {
    etdg.yield %x : tensor<f32>
  } : !etdg.buffer<[L], tensor<f32>>, !etdg.buffer<[], tensor<f32>>
  etdg.return %end : !etdg.buffer<[], tensor<f32>>
}
