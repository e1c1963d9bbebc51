// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s

// Halves are computed in f32 and rounded once after each op; sums of products are fused.
// CHECK: .visible .entry gemm_k0(
// CHECK: fma.rn.f32
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
