// RUN: ft-translate --mlir-to-bundle --target=sm_90a %s -o %t.ftb
// RUN: FileCheck %s --input-file=%t.ftb
// RUN: ft-translate --mlir-to-bundle %s -o %t.both.ftb
// RUN: FileCheck %s --input-file=%t.both.ftb --check-prefix=BOTH

// CHECK: FTBUNDLE
// CHECK: "name":"scale"
// CHECK-SAME: "name":"N"
// CHECK-SAME: "shape":["N",4096]
// CHECK-SAME: "target":"sm_90a"
// CHECK-SAME: "kernels":["scale_k0"]
// CHECK-SAME: "step":"launch"
// CHECK: .visible .entry scale_k0
// CHECK: "scale"

// BOTH: "target":"sm_80"
// BOTH-SAME: "target":"sm_90a"

func.func @scale(%xs: !ft.list<[N], tensor<4096xf32>>) -> !ft.list<[N], tensor<4096xf32>>
    attributes {ft.lengths = {N = 4 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<4096xf32>>) -> !ft.list<[N], tensor<4096xf32>> {
    %y = arith.addf %x, %x : tensor<4096xf32>
    ft.yield %y : tensor<4096xf32>
  }
  return %ys : !ft.list<[N], tensor<4096xf32>>
}
