// The first index that is out of range is the length itself: an error at the gather, and the last index that
// is in range is none.
//
// RUN: not ft-run %s --entry=beyond --engine=cpu --dim N=1 --dim M=3 2>&1 | FileCheck %s
// RUN: not ft-run %s --entry=beyond --engine=emulate --dim N=1 --dim M=300 --multiprocessors=5 --seed=3 2>&1 | FileCheck %s
// CHECK: gather-range.mlir:[[#@LINE+10]]:9: index 1 is out of range [0, 1), in entry "beyond"
// RUN: ft-run %s --engine=cpu --compare=interpret --dim N=1 --dim M=3 --entry=last | FileCheck %s --check-prefix=LAST
// LAST: {{^}}equal

func.func @beyond(%xs: !ft.list<[N], tensor<2xf32>>, %ks: !ft.list<[M], tensor<i64>> {ft.gen = #ft.index<0, N>}) -> !ft.list<[M], tensor<2xf32>> {
  %one = arith.constant dense<1> : tensor<i64>
  %at = ft.map (%k = %ks : !ft.list<[M], tensor<i64>>) {
    %j = arith.addi %k, %one : tensor<i64>
    ft.yield %j : tensor<i64>
  }
  %ys = ft.gather %xs[%at] : !ft.list<[N], tensor<2xf32>>, !ft.list<[M], tensor<i64>>
  return %ys : !ft.list<[M], tensor<2xf32>>
}

func.func @last(%xs: !ft.list<[N], tensor<2xf32>>, %ks: !ft.list<[M], tensor<i64>> {ft.gen = #ft.index<0, N>}) -> !ft.list<[M], tensor<2xf32>> {
  %ys = ft.gather %xs[%ks] : !ft.list<[N], tensor<2xf32>>, !ft.list<[M], tensor<i64>>
  return %ys : !ft.list<[M], tensor<2xf32>>
}
