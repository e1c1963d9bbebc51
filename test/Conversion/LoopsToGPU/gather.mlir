// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s

// One thread notes an index that is out of range, the code last; all read element 0.
// CHECK: .visible .entry pick_k0(
// CHECK: fence.acq_rel.sys
// CHECK: st.global.b32

func.func @pick(%xs: !ft.list<[N], tensor<64xf32>>, %is: !ft.list<[M], tensor<i64>>) -> !ft.list<[M], tensor<64xf32>> {
  %gs = ft.gather %xs[%is] : !ft.list<[N], tensor<64xf32>>, !ft.list<[M], tensor<i64>>
  %ys = ft.map (%x = %gs : !ft.list<[M], tensor<64xf32>>) -> !ft.list<[M], tensor<64xf32>> {
    %y = arith.addf %x, %x : tensor<64xf32>
    ft.yield %y : tensor<64xf32>
  }
  return %ys : !ft.list<[M], tensor<64xf32>>
}
