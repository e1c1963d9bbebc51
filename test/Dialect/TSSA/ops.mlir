// Every operation and step, printed as it was read; in generic form, too.
// RUN: ft-opt %s | ft-opt | FileCheck %s
// RUN: ft-opt %s --mlir-print-op-generic | ft-opt | FileCheck %s

// CHECK-LABEL: func.func @views(
func.func @views(%x: !tssa.tensor<4x6x8xf32>, %d: !tssa.tensor<?x8xf32>, %i: index) -> !tssa.tensor<6x8xf32> {
  // CHECK: tssa.view %{{.*}}[select(0, %{{.*}})] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<6x8xf32>
  %0 = tssa.view %x[select(0, %i)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<6x8xf32>
  // CHECK: tssa.view %{{.*}}[slice(1, -3, _, 2), permute(2, 0, 1)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<8x4x2xf32>
  %1 = tssa.view %x[slice(1, -3, _, 2), permute(2, 0, 1)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<8x4x2xf32>
  // CHECK: tssa.view %{{.*}}[narrow(2, %{{.*}}, 3, 1), reshape(24, -1)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<24x3xf32>
  %2 = tssa.view %x[narrow(2, %i, 3, 1), reshape(24, -1)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<24x3xf32>
  // CHECK: tssa.view %{{.*}}[unsqueeze(0), squeeze(0), expand(2, -1, 6, 8)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<2x4x6x8xf32>
  %3 = tssa.view %x[unsqueeze(0), squeeze(0), expand(2, -1, 6, 8)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<2x4x6x8xf32>
  // CHECK: tssa.view %{{.*}}[diagonal(1, 0, 2)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<6x4xf32>
  %4 = tssa.view %x[diagonal(1, 0, 2)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<6x4xf32>
  // CHECK: tssa.view %{{.*}}[unfold(1, 2, 2)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<4x3x8x2xf32>
  %5 = tssa.view %x[unfold(1, 2, 2)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<4x3x8x2xf32>
  // CHECK: tssa.view %{{.*}}[as_strided(%{{.*}}, 2, 3, 8, 1)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<2x3xf32>
  %6 = tssa.view %x[as_strided(%i, 2, 3, 8, 1)] : !tssa.tensor<4x6x8xf32> -> !tssa.tensor<2x3xf32>
  // CHECK: tssa.view %{{.*}}[slice(0, 1, _, 1)] : !tssa.tensor<?x8xf32> -> !tssa.tensor<?x8xf32>
  %7 = tssa.view %d[slice(0, 1, _, 1)] : !tssa.tensor<?x8xf32> -> !tssa.tensor<?x8xf32>
  return %0 : !tssa.tensor<6x8xf32>
}

// CHECK-LABEL: func.func @values(
func.func @values(%x: !tssa.tensor<4x6xf32>, %w: tensor<6xf32>, %i: index, %at: tensor<3xi64>) {
  // CHECK: %[[V:.*]] = tssa.read %{{.*}} : !tssa.tensor<4x6xf32>
  %v = tssa.read %x : !tssa.tensor<4x6xf32>
  // CHECK: tssa.new %[[V]] : tensor<4x6xf32>
  %n = tssa.new %v : tensor<4x6xf32>
  // CHECK: tssa.mutate %{{.*}}, %{{.*}} : !tssa.tensor<4x6xf32>, tensor<6xf32>
  tssa.mutate %n, %w : !tssa.tensor<4x6xf32>, tensor<6xf32>
  // CHECK: tssa.access %[[V]][select(0, %{{.*}})] : tensor<4x6xf32> -> tensor<6xf32>
  %a = tssa.access %v[select(0, %i)] : tensor<4x6xf32> -> tensor<6xf32>
  // CHECK: tssa.access %[[V]] : tensor<4x6xf32> -> tensor<4x6xf32>
  %whole = tssa.access %v : tensor<4x6xf32> -> tensor<4x6xf32>
  // CHECK: %[[T:.*]] = tssa.assign %{{.*}} into %[[V]][select(0, %{{.*}})] : tensor<6xf32> into tensor<4x6xf32>
  %t = tssa.assign %w into %v[select(0, %i)] : tensor<6xf32> into tensor<4x6xf32>
  // CHECK: tssa.update %[[T]], %[[V]] : tensor<4x6xf32>
  tssa.update %t, %v : tensor<4x6xf32>
  // CHECK: %[[R:.*]] = tssa.index %[[V]] [1] by %{{.*}} : tensor<4x6xf32>, tensor<3xi64> -> tensor<4x3xf32>
  %r = tssa.index %v [1] by %at : tensor<4x6xf32>, tensor<3xi64> -> tensor<4x3xf32>
  // CHECK: tssa.index_put %[[R]] into %[[V]] [1] by %{{.*}} : tensor<4x3xf32> into tensor<4x6xf32>, tensor<3xi64>
  %p = tssa.index_put %r into %v [1] by %at : tensor<4x3xf32> into tensor<4x6xf32>, tensor<3xi64>
  // CHECK: tssa.index_put accumulate %[[R]] into
  %q = tssa.index_put accumulate %r into %v [1] by %at : tensor<4x3xf32> into tensor<4x6xf32>, tensor<3xi64>
  return
}
