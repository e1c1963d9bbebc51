// Data that indexes a tensor of one value: folding takes its elements for that value, wherever they are, but an index
// out of range is an error all the same, on each engine.
//
// RUN: not ft-run %s --entry=constant --engine=interpret --dim N=9 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: not ft-run %s --entry=constant --engine=cpu --dim N=9 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: ft-run %s --entry=constant --engine=cpu --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=constant --engine=emulate --dim N=9 2>&1 | FileCheck %s --check-prefix=CONSTANT
// RUN: ft-run %s --entry=constant --engine=emulate --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=filled --engine=interpret --dim N=9 2>&1 | FileCheck %s --check-prefix=FILLED
// RUN: not ft-run %s --entry=filled --engine=cpu --dim N=9 2>&1 | FileCheck %s --check-prefix=FILLED
// RUN: ft-run %s --entry=filled --engine=cpu --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=filled --engine=emulate --dim N=9 2>&1 | FileCheck %s --check-prefix=FILLED
// RUN: ft-run %s --entry=filled --engine=emulate --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=splatted --engine=interpret --dim N=9 2>&1 | FileCheck %s --check-prefix=SPLATTED
// RUN: not ft-run %s --entry=splatted --engine=cpu --dim N=9 2>&1 | FileCheck %s --check-prefix=SPLATTED
// RUN: ft-run %s --entry=splatted --engine=cpu --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=splatted --engine=emulate --dim N=9 2>&1 | FileCheck %s --check-prefix=SPLATTED
// RUN: ft-run %s --entry=splatted --engine=emulate --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=part --engine=interpret --dim N=9 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not ft-run %s --entry=part --engine=cpu --dim N=9 2>&1 | FileCheck %s --check-prefix=PART
// RUN: ft-run %s --entry=part --engine=cpu --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=part --engine=emulate --dim N=9 2>&1 | FileCheck %s --check-prefix=PART
// RUN: ft-run %s --entry=part --engine=emulate --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=generic --engine=interpret --dim N=8 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: not ft-run %s --entry=generic --engine=cpu --dim N=8 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: ft-run %s --entry=generic --engine=cpu --compare=interpret --dim N=7 | FileCheck %s
// RUN: not ft-run %s --entry=generic --engine=emulate --dim N=8 2>&1 | FileCheck %s --check-prefix=GENERIC
// RUN: ft-run %s --entry=generic --engine=emulate --compare=interpret --dim N=7 | FileCheck %s
// RUN: not ft-run %s --entry=written --engine=interpret --dim N=9 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: not ft-run %s --entry=written --engine=cpu --dim N=9 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: ft-run %s --entry=written --engine=cpu --compare=interpret --dim N=8 | FileCheck %s
// RUN: not ft-run %s --entry=written --engine=emulate --dim N=9 2>&1 | FileCheck %s --check-prefix=WRITTEN
// RUN: ft-run %s --entry=written --engine=emulate --compare=interpret --dim N=8 | FileCheck %s
//
// CHECK: {{^}}equal

func.func @constant(%xs: !ft.list<[N], tensor<f32>>) -> !ft.list<[N], tensor<f32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<f32>>, !ft.list<[N], tensor<i64>>) {
    %c = arith.constant dense<2.0> : tensor<8xf32>
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    // CONSTANT: data-index-uniform.mlir:[[#@LINE+1]]:10: {{.*}}out of range
    %v = tensor.extract %c[%k] : tensor<8xf32>
    %t = tensor.from_elements %v : tensor<f32>
    %u = arith.addf %t, %x : tensor<f32>
    ft.yield %u : tensor<f32>
  }
  return %r : !ft.list<[N], tensor<f32>>
}

func.func @filled(%xs: !ft.list<[N], tensor<f32>>) -> !ft.list<[N], tensor<f32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<f32>>, !ft.list<[N], tensor<i64>>) {
    %s = tensor.extract %x[] : tensor<f32>
    %none = tensor.empty() : tensor<8xf32>
    %c = linalg.fill ins(%s : f32) outs(%none : tensor<8xf32>) -> tensor<8xf32>
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    // FILLED: data-index-uniform.mlir:[[#@LINE+1]]:10: {{.*}}out of range
    %v = tensor.extract %c[%k] : tensor<8xf32>
    %t = tensor.from_elements %v : tensor<f32>
    ft.yield %t : tensor<f32>
  }
  return %r : !ft.list<[N], tensor<f32>>
}

func.func @splatted(%xs: !ft.list<[N], tensor<f32>>) -> !ft.list<[N], tensor<f32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<f32>>, !ft.list<[N], tensor<i64>>) {
    %s = tensor.extract %x[] : tensor<f32>
    %c = tensor.splat %s : tensor<8xf32>
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    // SPLATTED: data-index-uniform.mlir:[[#@LINE+1]]:10: {{.*}}out of range
    %v = tensor.extract %c[%k] : tensor<8xf32>
    %t = tensor.from_elements %v : tensor<f32>
    ft.yield %t : tensor<f32>
  }
  return %r : !ft.list<[N], tensor<f32>>
}

func.func @part(%xs: !ft.list<[N], tensor<f32>>) -> !ft.list<[N], tensor<3xf32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<f32>>, !ft.list<[N], tensor<i64>>) {
    %c = arith.constant dense<2.0> : tensor<10xf32>
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    // PART: data-index-uniform.mlir:[[#@LINE+1]]:10: {{.*}}out of range
    %v = tensor.extract_slice %c[%k] [3] [1] : tensor<10xf32> to tensor<3xf32>
    %s = tensor.extract %x[] : tensor<f32>
    %f = tensor.splat %s : tensor<3xf32>
    %u = arith.addf %v, %f : tensor<3xf32>
    ft.yield %u : tensor<3xf32>
  }
  return %r : !ft.list<[N], tensor<3xf32>>
}

func.func @generic(%xs: !ft.list<[N], tensor<4xi64>>) -> !ft.list<[N], tensor<4xf32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<4xi64>>, !ft.list<[N], tensor<i64>>) {
    %c = arith.constant dense<2.0> : tensor<10xf32>
    %none = tensor.empty() : tensor<4xf32>
    %v = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xi64>) outs(%none : tensor<4xf32>) {
    ^bb0(%any: i64, %o: f32):
      %d = linalg.index 0 : index
      %zero = arith.constant 0 : i64
      %none2 = arith.muli %any, %zero : i64
      %at = tensor.extract %i[] : tensor<i64>
      %sum = arith.addi %at, %none2 : i64
      %first = arith.index_cast %sum : i64 to index
      %k = arith.addi %first, %d : index
      // GENERIC: data-index-uniform.mlir:[[#@LINE+1]]:12: {{.*}}out of range
      %e = tensor.extract %c[%k] : tensor<10xf32>
      linalg.yield %e : f32
    } -> tensor<4xf32>
    ft.yield %v : tensor<4xf32>
  }
  return %r : !ft.list<[N], tensor<4xf32>>
}

func.func @written(%xs: !ft.list<[N], tensor<f32>>) -> !ft.list<[N], tensor<8xf32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<f32>>, !ft.list<[N], tensor<i64>>) {
    %c = arith.constant dense<2.0> : tensor<8xf32>
    %two = arith.constant 2.0 : f32
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    // WRITTEN: data-index-uniform.mlir:[[#@LINE+1]]:10: {{.*}}out of range
    %v = tensor.insert %two into %c[%k] : tensor<8xf32>
    %s = tensor.extract %x[] : tensor<f32>
    %f = tensor.splat %s : tensor<8xf32>
    %u = arith.mulf %v, %f : tensor<8xf32>
    ft.yield %u : tensor<8xf32>
  }
  return %r : !ft.list<[N], tensor<8xf32>>
}
