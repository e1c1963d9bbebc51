// Rows that stay in registers: every element is loaded once, sums go through
// shuffles, and where rows share a warp no thread waits at a barrier.
//
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: ft-translate --mlir-to-ptx --target=sm_80 %s | FileCheck %s
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=LONG
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=PRODUCT

// 8 lanes have a row of 64 elements: 2 accesses of 16 bytes, 3 shuffles, for 2 rows.
// CHECK: .visible .entry short_k0(
// CHECK: .maxntid 256
// CHECK-COUNT-4: ld.global.v4
// CHECK-NOT: ld.global
// CHECK-NOT: bar.sync
// CHECK-COUNT-6: shfl.sync.bfly
// CHECK-NOT: shfl
// CHECK-COUNT-4: st.global.v4
// CHECK-NOT: st.global
// CHECK: .visible .entry long_k0(

// 256 threads have a row of 4099, which begins anywhere: 17 accesses of 4 bytes from the line of memory on in
// which the row begins; sums of 8 warps meet once, and the places of these are free at a second barrier.
// LONG: .visible .entry long_k0(
// LONG: .maxntid 256
// LONG-COUNT-17: ld.global.b32
// LONG-NOT: ld.global
// LONG-COUNT-5: shfl.sync.bfly
// LONG: bar.sync
// LONG: ld.shared
// LONG-COUNT-3: shfl.sync.bfly
// LONG-NOT: ld.global
// LONG-COUNT-17: st.global.b32
// LONG-NOT: st.global
// LONG: .visible .entry product_k0(

// In a product no operand is one result's alone: threads have several results, not one row each, from operands in
// shared memory, and so another bound of registers.
// PRODUCT: .visible .entry product_k0(
// PRODUCT: .minnctapersm 2
// PRODUCT: ld.shared
// PRODUCT: fma.rn.f32

!r = tensor<1xf32>

func.func @short(%xs: !ft.list<[N], tensor<1x64xf32>>) -> !ft.list<[N], tensor<1x64xf32>> attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x64xf32>>) -> !ft.list<[N], tensor<1x64xf32>> {
    %shape = tensor.empty() : tensor<1x64xf32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<1x64xf32>) outs(%zero : !r) dimensions = [1]
    %sb = linalg.broadcast ins(%s : !r) outs(%shape : tensor<1x64xf32>) dimensions = [1]
    %y = arith.mulf %x, %sb : tensor<1x64xf32>
    ft.yield %y : tensor<1x64xf32>
  }
  return %ys : !ft.list<[N], tensor<1x64xf32>>
}

func.func @long(%xs: !ft.list<[N], tensor<1x4099xf32>>) -> !ft.list<[N], tensor<1x4099xf32>> attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x4099xf32>>) -> !ft.list<[N], tensor<1x4099xf32>> {
    %shape = tensor.empty() : tensor<1x4099xf32>
    %s = linalg.reduce { arith.addf } ins(%x : tensor<1x4099xf32>) outs(%zero : !r) dimensions = [1]
    %sb = linalg.broadcast ins(%s : !r) outs(%shape : tensor<1x4099xf32>) dimensions = [1]
    %y = arith.mulf %x, %sb : tensor<1x4099xf32>
    ft.yield %y : tensor<1x4099xf32>
  }
  return %ys : !ft.list<[N], tensor<1x4099xf32>>
}

// Both operands lie along the sum.
func.func @product(%xs: !ft.list<[N], tensor<1x64xf32>>, %w: tensor<48x64xf32>) -> !ft.list<[N], tensor<1x48xf32>> attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : tensor<1x48xf32>
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<1x64xf32>>) -> !ft.list<[N], tensor<1x48xf32>> {
    %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<1x64xf32>, tensor<48x64xf32>) outs(%zero : tensor<1x48xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %q = arith.addf %c, %p : f32
      linalg.yield %q : f32
    } -> tensor<1x48xf32>
    ft.yield %y : tensor<1x48xf32>
  }
  return %ys : !ft.list<[N], tensor<1x48xf32>>
}
