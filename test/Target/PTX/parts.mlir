// Kernels are compiled in parts, on all threads, and their texts are one module: head and declarations stand once, kernels in the order of the program,
// and what a part defines for itself has the part's name. The text does not depend on the number of threads.
//
// RUN: env FT_NUM_THREADS=1 ft-translate %s --mlir-to-ptx --target=sm_90a -o %t.1
// RUN: env FT_NUM_THREADS=3 ft-translate %s --mlir-to-ptx --target=sm_90a -o %t.3
// RUN: cmp %t.1 %t.3
// RUN: FileCheck %s --input-file=%t.1
//
// CHECK: .version
// CHECK: .address_size 64
// CHECK: .global {{.*}} constant0_part0[
// CHECK-NOT: _part1[
// CHECK: .visible .entry first_k0(
// CHECK: constant0_part0
// CHECK-NOT: .version
// CHECK-NOT: .address_size
// CHECK-NOT: _part0[
// CHECK: .global {{.*}} [[SECOND:constant[0-9_]*_part1]][
// CHECK: .visible .entry second_k0(
// CHECK: [[SECOND]]
//
// Two forms of one program, whose kernels declare the same shared memory.
// RUN: ft-translate %S/../../../examples/grid_rnn.mlir --mlir-to-ptx --target=sm_90a | FileCheck %s --check-prefix=GRID
// GRID: {{^}}.extern .shared
// GRID: .visible .entry grid_rnn_k0(
// GRID-NOT: {{^}}.version
// GRID-NOT: {{^}}.extern .shared
// GRID: .visible .entry grid_rnn_k1(

!x = tensor<4x64xf32>
!r = tensor<4xf32>
!w = tensor<64x64xf32>

func.func @first(%xs: !ft.list<[N], !x>, %w: !w) -> !ft.list<[N], !x> {
  %c = arith.constant dense<[1.0, 2.0, 4.0, 8.0]> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %e = tensor.empty() : !x
    %b = linalg.broadcast ins(%c : !r) outs(%e : !x) dimensions = [1]
    %m = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
    %y = math.tanh %m : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}

func.func @second(%xs: !ft.list<[N], !x>, %w: !w) -> !ft.list<[N], !x> {
  %c = arith.constant dense<[3.0, 5.0, 7.0, 9.0]> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %e = tensor.empty() : !x
    %b = linalg.broadcast ins(%c : !r) outs(%e : !x) dimensions = [1]
    %m = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
    %y = arith.mulf %m, %x : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
