// What callers of a program are asked for stands in its loops: strides (also of dimensions that are one to the program), bounds of
// lengths, checks, names, results in the memory of arguments. Launch plans are made of these (plans.test).
//
// RUN: ft-opt %s -mlir-print-debuginfo --ft-compile="to=storage target=sm_90a" --convert-etdg-to-loops=target=sm_90a | FileCheck %s
// RUN: ft-opt %s -mlir-print-debuginfo --ft-compile="to=threads target=sm_90a" | FileCheck %s --check-prefix=PLAN

!x = tensor<2xf32>

// CHECK: loops.program @flat lengths ["N_M"]
// CHECK: loops.buffer argument 0 {name = "rows", strided = 1 : i64, strides = [array<i64: 0, 1>]}
// CHECK: loops.stride %{{.*}}[0]
// PLAN: gpu.module @flat
// PLAN-SAME: \22name\22:\22rows\22
// PLAN-SAME: \22strided_dims\22:1
// PLAN-SAME: dimensions 0 to 1 of
func.func @flat(%xs: !ft.list<[N, M], !x> {ft.strided = 2 : i64} loc("rows")) -> !ft.list<[N * M], !x> {
  %ys = ft.flatten %xs : !ft.list<[N, M], !x>
  %zs = ft.map (%y = %ys : !ft.list<[N * M], !x>) -> !ft.list<[N * M], !x> {
    %z = arith.addf %y, %y : !x
    ft.yield %z : !x
  }
  return %zs : !ft.list<[N * M], !x>
}

// CHECK: loops.program @cut
// CHECK-SAME: bounds = #ft.bounds<
// CHECK: loops.buffer argument 0 {strided = 2 : i64, strides = [array<i64: 0>, array<i64: 0>]}
// PLAN: module @cut
// PLAN-SAME: \22requirements\22:[{
func.func @cut(%xs: !ft.list<[N], !x> {ft.strided = 1 : i64}, %ks: !ft.list<[K], !x>) -> !ft.list<[floordiv(N, K)], !x>
    attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  %zero = arith.constant dense<0.0> : !x
  %ys = ft.split %xs by K : !ft.list<[N], !x>
  %zs = ft.map (%y = %ys : !ft.list<[floordiv(N, K), K], !x>) -> !ft.list<[floordiv(N, K)], !x> {
    %s = ft.foldl (%v = %y : !ft.list<[K], !x>) init (%a = %zero : !x) -> !x {
      %z = arith.addf %a, %v : !x
      ft.yield %z : !x
    }
    ft.yield %s : !x
  }
  return %zs : !ft.list<[floordiv(N, K)], !x>
}

// CHECK: loops.program @quarters
// CHECK-SAME: checks = [{{.*}}because = "
// PLAN: module @quarters
// PLAN-SAME: \22requirements\22:[{
func.func @quarters(%xs: !ft.list<[L], !x>) -> !ft.list<[4 * floordiv(L, 4)], !x> {
  %s = ft.split %xs by 4 : !ft.list<[L], !x>
  %f = ft.flatten %s : !ft.list<[floordiv(L, 4), 4], !x>
  %ys = ft.map (%a = %f : !ft.list<[4 * floordiv(L, 4)], !x>) {
    %y = math.exp %a : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[4 * floordiv(L, 4)], !x>
}

// CHECK: loops.program @backwards
// CHECK-SAME: in_place = array<i64: 0, 0>
// PLAN: module @backwards
// PLAN-SAME: \22writeback\22:0
func.func @backwards(%old: tensor<9x4xf32>) -> tensor<9x4xf32> attributes {tssa.writeback = array<i64: 0, 0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %all = scf.for %i = %c0 to %c9 step %c1 iter_args(%all = %old) -> (tensor<9x4xf32>) {
    %x = tensor.extract_slice %old[%i, 0] [1, 4] [1, 1] : tensor<9x4xf32> to tensor<4xf32>
    %m = arith.mulf %x, %x : tensor<4xf32>
    %put = tensor.insert_slice %m into %all[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<9x4xf32>
    scf.yield %put : tensor<9x4xf32>
  }
  return %all : tensor<9x4xf32>
}
