// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s

// Halves are computed in f32 and rounded once after each op. Sums of products stay f32: on matrix units where the product
// is large enough for tiles, else in fused multiply-adds.
// CHECK-LABEL: .visible .entry gemm_k0(
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// CHECK: cvt.rn.bf16
// CHECK-LABEL: .visible .entry step_k0(
// CHECK-NOT: mma.sync
// CHECK: fma.rn.f32
// CHECK-NOT: mma.sync
// CHECK: cvt.rn.bf16

func.func @gemm(%xs: !ft.list<[N], tensor<16x64xbf16>>, %w: tensor<64x64xbf16>) -> !ft.list<[N], tensor<16x64xbf16>> {
  %zero = arith.constant dense<0.0> : tensor<16x64xbf16>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<16x64xbf16>>) -> !ft.list<[N], tensor<16x64xbf16>> {
    %y = linalg.matmul ins(%x, %w : tensor<16x64xbf16>, tensor<64x64xbf16>)
        outs(%zero : tensor<16x64xbf16>) -> tensor<16x64xbf16>
    ft.yield %y : tensor<16x64xbf16>
  }
  return %ys : !ft.list<[N], tensor<16x64xbf16>>
}

func.func @step(%xs: !ft.list<[N], tensor<1x4xbf16>>, %w: tensor<4x4xbf16>) -> !ft.list<[N], tensor<1x4xbf16>> {
  %zero = arith.constant dense<0.0> : tensor<1x4xbf16>
  %ys = ft.scanl (%x = %xs : !ft.list<[N], tensor<1x4xbf16>>) init (%s = %zero : tensor<1x4xbf16>)
      -> !ft.list<[N], tensor<1x4xbf16>> {
    %y = linalg.matmul ins(%s, %w : tensor<1x4xbf16>, tensor<4x4xbf16>)
        outs(%x : tensor<1x4xbf16>) -> tensor<1x4xbf16>
    ft.yield %y : tensor<1x4xbf16>
  }
  return %ys : !ft.list<[N], tensor<1x4xbf16>>
}
