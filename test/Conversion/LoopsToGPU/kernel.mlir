// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=NONE
// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s --check-prefix=SM80
// RUN: not ft-translate --mlir-to-ptx --target=sm_70 %s 2>&1 | FileCheck %s --check-prefix=TARGET

// TARGET: --target=sm_70: expected sm_80 or sm_90a
// SM80: .target sm_80

// Rows are reduced by the whole block: adjacent loads, shuffles, partial results
// of the warps in shared memory.
// CHECK: .target sm_90a
// CHECK: .extern .shared .align 16 .b8 ft_shared[]
// CHECK: .visible .entry softmax_k0(
// CHECK: .maxntid 256
// CHECK-DAG: ld.global.v4.b32
// CHECK-DAG: shfl.sync.bfly
// CHECK-DAG: bar.sync
// CHECK-DAG: ex2.approx.ftz.f32
// CHECK-DAG: st.global.v4.b32

// No function is called, and nothing lies in local memory.
// NONE-NOT: {{^[[:space:]]*}}call
// NONE-NOT: .local
// NONE: .visible .entry softmax_k0(
// NONE-NOT: {{^[[:space:]]*}}call
// NONE-NOT: .local

!x = tensor<1x4096xf32>
!r = tensor<1xf32>

func.func @softmax(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %zero = arith.constant dense<0.0> : !r
  %low = arith.constant dense<-3.0e4> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %shape = tensor.empty() : !x
    %m = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%low : !r) dimensions = [1]
    %mb = linalg.broadcast ins(%m : !r) outs(%shape : !x) dimensions = [1]
    %d = arith.subf %x, %mb : !x
    %e = math.exp %d : !x
    %s = linalg.reduce { arith.addf } ins(%e : !x) outs(%zero : !r) dimensions = [1]
    %sb = linalg.broadcast ins(%s : !r) outs(%shape : !x) dimensions = [1]
    %y = arith.divf %e, %sb : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
