// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,convert-linalg-to-etdg,etdg.graph(etdg-spread-rows,etdg-verify))' | FileCheck %s
// RUN: ft-opt %s --pass-pipeline='builtin.module(convert-ft-to-etdg,convert-linalg-to-etdg,etdg.graph(etdg-spread-rows))' --remarks-filter="coarsen.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Rows of x and of the result; the weights are read whole. The shapes that a caller sees stay.
// CHECK-LABEL: etdg.graph @product(
// CHECK-SAME: !etdg.buffer<[6], tensor<4xf32>>, %{{.*}}: !etdg.buffer<[], tensor<4x3xf32>>) -> !etdg.buffer<[6], tensor<3xf32>>
// CHECK: etdg.block @r0 [map] (i) in [0, 6)
// CHECK: reads (%{{.*}} = %{{.*}}[i] : tensor<4xf32>, %{{.*}} = %{{.*}}[] : tensor<4x3xf32>)
// CHECK: writes (%{{.*}}[i])
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
func.func @product(%x: tensor<6x4xf32>, %w: tensor<4x3xf32>) -> tensor<6x3xf32> {
  %z = arith.constant dense<0.0> : tensor<6x3xf32>
  %y = linalg.matmul ins(%x, %w : tensor<6x4xf32>, tensor<4x3xf32>) outs(%z : tensor<6x3xf32>) -> tensor<6x3xf32>
  return %y : tensor<6x3xf32>
}

// A vector alone stays one element; numbers of rows that a statement beside makes are rows.
// CHECK-LABEL: etdg.graph @numbers(
// CHECK-SAME: %{{.*}}: !etdg.buffer<[6], tensor<4xi32>>, %{{.*}}: !etdg.buffer<[], tensor<9xi32>>) -> (!etdg.buffer<[6], tensor<i32>>, !etdg.buffer<[], tensor<9xi32>>)
// CHECK: etdg.block @r0 [map] (i) in [0, 6) // [.. | reduce]
// CHECK: etdg.block @r1 [map] (i) in [0, 6)
// CHECK: reads (%{{.*}} = %{{.*}}[i] : tensor<i32>)
// CHECK: etdg.block @r2 [] ()
func.func @numbers(%x: tensor<6x4xi32>, %v: tensor<9xi32>) -> (tensor<6xi32>, tensor<9xi32>) {
  %z = arith.constant dense<0> : tensor<6xi32>
  %s = linalg.reduce { arith.addi } ins(%x : tensor<6x4xi32>) outs(%z : tensor<6xi32>) dimensions = [1]
  %t = arith.addi %s, %s : tensor<6xi32>
  %u = arith.muli %v, %v : tensor<9xi32>
  return %t, %u : tensor<6xi32>, tensor<9xi32>
}

// One buffer by rows and whole; what only permutes reads as it permutes.
// CHECK-LABEL: etdg.graph @both(
// CHECK-SAME: %{{.*}}: !etdg.buffer<[], tensor<6x6xf32>>)
// CHECK: etdg.block @r0 [map] (i) in [0, 6)
// CHECK: reads (%{{.*}} = elem (e0) %{{.*}}[i, e0] : tensor<6xf32>, %{{.*}} = %{{.*}}[] : tensor<6x6xf32>)
// CHECK: etdg.block @r1 [map] (i) in [0, 6)
// CHECK: reads (%{{.*}} = elem (e0) %{{.*}}[e0, i] : tensor<6xf32>)
// CHECK-NOT: linalg.transpose
func.func @both(%x: tensor<6x6xf32>) -> (tensor<6x6xf32>, tensor<6x6xf32>) {
  %z = arith.constant dense<0.0> : tensor<6x6xf32>
  %y = linalg.matmul ins(%x, %x : tensor<6x6xf32>, tensor<6x6xf32>) outs(%z : tensor<6x6xf32>) -> tensor<6x6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %t = linalg.transpose ins(%y : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) permutation = [1, 0]
  return %y, %t : tensor<6x6xf32>, tensor<6x6xf32>
}

// Statements between lists are taken apart where that pays, as the machine's numbers say.
// REMARK: [Passed] spread-rows {{.*}}2 statements of {{.*}} are taken apart: rows on {{[0-9]+}} units gain {{[0-9]+}} ns, blocks by themselves cost {{[0-9]+}} ns
// CHECK-LABEL: etdg.graph @beside(
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 512)
// CHECK: linalg.softmax dimension(0)
// CHECK: etdg.block @{{.*}} [map] (i) in [0, L)
func.func @beside(%xs: !ft.list<[L], tensor<512x70xf32>>, %p: tensor<512x70xf32>) -> !ft.list<[L], tensor<512x70xf32>> {
  %e = tensor.empty() : tensor<512x70xf32>
  %s = linalg.softmax dimension(1) ins(%p : tensor<512x70xf32>) outs(%e : tensor<512x70xf32>) -> tensor<512x70xf32>
  %q = arith.addf %s, %s : tensor<512x70xf32>
  %ys = ft.map (%x = %xs : !ft.list<[L], tensor<512x70xf32>>) {
    %y = arith.mulf %x, %q : tensor<512x70xf32>
    ft.yield %y : tensor<512x70xf32>
  }
  return %ys : !ft.list<[L], tensor<512x70xf32>>
}

// A few numbers are not worth a kernel of their own.
// CHECK-LABEL: etdg.graph @few(
// CHECK: etdg.block @r0 [] ()
// CHECK: linalg.softmax dimension(1)
// CHECK: etdg.block @{{.*}} [map] (i) in [0, L)
func.func @few(%xs: !ft.list<[L], tensor<5x7xf32>>, %p: tensor<5x7xf32>) -> !ft.list<[L], tensor<5x7xf32>> {
  %e = tensor.empty() : tensor<5x7xf32>
  %s = linalg.softmax dimension(1) ins(%p : tensor<5x7xf32>) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %q = arith.addf %s, %s : tensor<5x7xf32>
  %ys = ft.map (%x = %xs : !ft.list<[L], tensor<5x7xf32>>) {
    %y = arith.mulf %x, %q : tensor<5x7xf32>
    ft.yield %y : tensor<5x7xf32>
  }
  return %ys : !ft.list<[L], tensor<5x7xf32>>
}

// Dimensions of length 1 at the end don't count.
// CHECK-LABEL: etdg.graph @ones(
// CHECK: etdg.block @r0 [] ()
// CHECK: etdg.block @r1 [map] (i) in [0, 3)
// CHECK: tensor<1x4xf32>
func.func @ones(%x: tensor<1x4xf32>, %y: tensor<3x1x4xf32>, %n: tensor<0x4xf32>) -> (tensor<1x4xf32>, tensor<3x1x4xf32>, tensor<0x4xf32>) {
  %a = math.exp %x : tensor<1x4xf32>
  %b = math.exp %y : tensor<3x1x4xf32>
  %c = math.exp %n : tensor<0x4xf32>
  return %a, %b, %c : tensor<1x4xf32>, tensor<3x1x4xf32>, tensor<0x4xf32>
}

// A product with a transposed tensor reads it as it lies, by the rows of the product alone.
// CHECK-LABEL: etdg.graph @transposed(
// CHECK-NOT: linalg.transpose
// CHECK: etdg.block @r1 [map, map] (i, j) in [0, 2) x [0, 5)
// CHECK: reads (%{{.*}} = %{{.*}}[i, j] : tensor<4xf32>, %{{.*}} = %{{.*}}[i{{.*}}] : tensor<6x4xf32>)
// CHECK-NOT: etdg.block
// CHECK: etdg.return
func.func @transposed(%q: tensor<2x5x4xf32>, %k: tensor<2x6x4xf32>) -> tensor<2x5x6xf32> {
  %e = tensor.empty() : tensor<2x4x6xf32>
  %kt = linalg.transpose ins(%k : tensor<2x6x4xf32>) outs(%e : tensor<2x4x6xf32>) permutation = [0, 2, 1]
  %z = arith.constant dense<0.0> : tensor<2x5x6xf32>
  %s = linalg.batch_matmul ins(%q, %kt : tensor<2x5x4xf32>, tensor<2x4x6xf32>) outs(%z : tensor<2x5x6xf32>) -> tensor<2x5x6xf32>
  return %s : tensor<2x5x6xf32>
}

// Columns stay with a product, unless there is but one row.
// CHECK-LABEL: etdg.graph @columns(
// CHECK: etdg.block @r0 [map] (i) in [0, 5) // [.. | map, reduce]
// CHECK: etdg.block @r1 [map, map] (i, j) in = 0 x [0, 6) // [.. | reduce]
func.func @columns(%x: tensor<5x4xf32>, %y: tensor<1x4xf32>, %w: tensor<6x4xf32>) -> (tensor<5x6xf32>, tensor<1x6xf32>) {
  %z = arith.constant dense<0.0> : tensor<5x6xf32>
  %a = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%x, %w : tensor<5x4xf32>, tensor<6x4xf32>) outs(%z : tensor<5x6xf32>) -> tensor<5x6xf32>
  %z1 = arith.constant dense<0.0> : tensor<1x6xf32>
  %b = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%y, %w : tensor<1x4xf32>, tensor<6x4xf32>) outs(%z1 : tensor<1x6xf32>) -> tensor<1x6xf32>
  return %a, %b : tensor<5x6xf32>, tensor<1x6xf32>
}

// Heads that are merged back: the product writes them where the row has them, and nothing permutes.
// CHECK-LABEL: etdg.graph @merged(
// CHECK: etdg.block @r0 [map, map] (i, j) in [0, 3) x [0, 7)
// CHECK: writes (%[[BUF:.*]][j, i])
// CHECK-NOT: linalg.transpose
// CHECK: etdg.block @{{.*}} [map] (i) in [0, 7)
func.func @merged(%p: tensor<3x7x7xf32>, %v: tensor<3x7x5xf32>, %w: tensor<15x4xf32>) -> tensor<7x4xf32> {
  %zo = arith.constant dense<0.0> : tensor<3x7x5xf32>
  %o = linalg.batch_matmul ins(%p, %v : tensor<3x7x7xf32>, tensor<3x7x5xf32>) outs(%zo : tensor<3x7x5xf32>) -> tensor<3x7x5xf32>
  %e = tensor.empty() : tensor<7x3x5xf32>
  %t = linalg.transpose ins(%o : tensor<3x7x5xf32>) outs(%e : tensor<7x3x5xf32>) permutation = [1, 0, 2]
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<7x3x5xf32> into tensor<7x15xf32>
  %z = arith.constant dense<0.0> : tensor<7x4xf32>
  %y = linalg.matmul ins(%c, %w : tensor<7x15xf32>, tensor<15x4xf32>) outs(%z : tensor<7x4xf32>) -> tensor<7x4xf32>
  return %y : tensor<7x4xf32>
}

// Who reads one element of a permuted tensor doesn't read the tensor by another map.
// CHECK-LABEL: etdg.graph @element(
// CHECK: reads (%{{.*}} = elem (e0, e1) %{{.*}}[e1, e0] : tensor<1x5xi64>)
// CHECK: reads (%{{.*}} = %{{.*}}[0, 3] : tensor<i64>)
etdg.graph @element(%x: !etdg.buffer<[], tensor<5x1xi64>>) -> !etdg.buffer<[], tensor<i64>> {
  %t = etdg.buffer : !etdg.buffer<[], tensor<1x5xi64>>
  %y = etdg.buffer : !etdg.buffer<[], tensor<i64>>
  etdg.block @r0 [] ()
      reads (%a = %x[] : tensor<5x1xi64>)
      writes (%t[]) {
    %e = tensor.empty() : tensor<1x5xi64>
    %p = linalg.transpose ins(%a : tensor<5x1xi64>) outs(%e : tensor<1x5xi64>) permutation = [1, 0]
    etdg.yield %p : tensor<1x5xi64>
  } : !etdg.buffer<[], tensor<5x1xi64>>, !etdg.buffer<[], tensor<1x5xi64>>
  etdg.block @r1 [] ()
      reads (%a = %t[0, 3] : tensor<i64>)
      writes (%y[]) {
    %e = tensor.empty() : tensor<i64>
    %d = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []} ins(%a : tensor<i64>) outs(%e : tensor<i64>) {
    ^bb0(%in: i64, %out: i64):
      %s = arith.addi %in, %in : i64
      linalg.yield %s : i64
    } -> tensor<i64>
    etdg.yield %d : tensor<i64>
  } : !etdg.buffer<[], tensor<1x5xi64>>, !etdg.buffer<[], tensor<i64>>
  etdg.return %y : !etdg.buffer<[], tensor<i64>>
}
