// Elements and parts of a tensor at a place that is data: the first one out of range is an error at the
// operation, on each engine, and the last one in range is none.
//
// RUN: not ft-run %s --entry=element --engine=cpu --dim N=9 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: not ft-run %s --entry=element --engine=emulate --dim N=9 2>&1 | FileCheck %s --check-prefix=ELEMENT
// RUN: ft-run %s --entry=element --engine=cpu --compare=interpret --dim N=8 | FileCheck %s
// RUN: ft-run %s --entry=element --engine=emulate --compare=interpret --dim N=8 | FileCheck %s
// ELEMENT: data-index-range.mlir:[[#@LINE+30]]:10: index 8 is out of range [0, 8), in entry "element"
//
// RUN: not ft-run %s --entry=put --engine=cpu --dim N=9 2>&1 | FileCheck %s --check-prefix=PUT
// RUN: not ft-run %s --entry=put --engine=emulate --dim N=9 2>&1 | FileCheck %s --check-prefix=PUT
// RUN: ft-run %s --entry=put --engine=cpu --compare=interpret --dim N=8 | FileCheck %s
// RUN: ft-run %s --entry=put --engine=emulate --compare=interpret --dim N=8 | FileCheck %s
// Many thread blocks find such an index at once: one of them says so.
// RUN: not ft-run %s --entry=put --engine=emulate --dim N=300 --multiprocessors=5 --seed=2 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: data-index-range.mlir:[[#@LINE+37]]:10: index -{{[0-9]+}} is out of range [0, 8), in entry "put"
// PUT: data-index-range.mlir:[[#@LINE+36]]:10: index -1 is out of range [0, 8), in entry "put"
//
// RUN: not ft-run %s --entry=part --engine=cpu --dim N=7 2>&1 | FileCheck %s --check-prefix=PART
// RUN: not ft-run %s --entry=part --engine=emulate --dim N=7 2>&1 | FileCheck %s --check-prefix=PART
// RUN: ft-run %s --entry=part --engine=cpu --compare=interpret --dim N=6 | FileCheck %s
// RUN: ft-run %s --entry=part --engine=emulate --compare=interpret --dim N=6 | FileCheck %s
// PART: data-index-range.mlir:[[#@LINE+41]]:10: index 6 is out of range [0, 6), in entry "part"
//
// RUN: not ft-run %s --entry=lanes --engine=cpu --dim N=20 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not ft-run %s --entry=lanes --engine=emulate --dim N=20 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: ft-run %s --entry=lanes --engine=cpu --compare=interpret --dim N=19 | FileCheck %s
// RUN: ft-run %s --entry=lanes --engine=emulate --compare=interpret --dim N=19 | FileCheck %s
// LANES: data-index-range.mlir:[[#@LINE+52]]:12: index 37 is out of range [0, 37), in entry "lanes"
//
// CHECK: {{^}}equal

func.func @element(%xs: !ft.list<[N], tensor<8xf32>>) -> !ft.list<[N], tensor<f32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<8xf32>>, !ft.list<[N], tensor<i64>>) {
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    %v = tensor.extract %x[%k] : tensor<8xf32>
    %t = tensor.from_elements %v : tensor<f32>
    ft.yield %t : tensor<f32>
  }
  return %r : !ft.list<[N], tensor<f32>>
}

func.func @put(%xs: !ft.list<[N], tensor<8xf32>>) -> !ft.list<[N], tensor<8xf32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<8xf32>>, !ft.list<[N], tensor<i64>>) {
    %c7 = arith.constant 7 : index
    %v = arith.constant 1.0 : f32
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    %back = arith.subi %c7, %k : index
    %y = tensor.insert %v into %x[%back] : tensor<8xf32>
    ft.yield %y : tensor<8xf32>
  }
  return %r : !ft.list<[N], tensor<8xf32>>
}

func.func @part(%xs: !ft.list<[N], tensor<2x8xi32>>) -> !ft.list<[N], tensor<2x3xi32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<2x8xi32>>, !ft.list<[N], tensor<i64>>) {
    %e = tensor.extract %i[] : tensor<i64>
    %k = arith.index_cast %e : i64 to index
    %y = tensor.extract_slice %x[0, %k] [2, 3] [1, 1] : tensor<2x8xi32> to tensor<2x3xi32>
    ft.yield %y : tensor<2x3xi32>
  }
  return %r : !ft.list<[N], tensor<2x3xi32>>
}

// One lane of many: place 18 + i of 37, only for the last of 18 elements.
func.func @lanes(%xs: !ft.list<[N], tensor<37xf32>>) -> !ft.list<[N], tensor<19xf32>> {
  %is = ft.iota : !ft.list<[N], tensor<i64>>
  %r = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<37xf32>>, !ft.list<[N], tensor<i64>>) {
    %e = tensor.extract %i[] : tensor<i64>
    %none = tensor.empty() : tensor<19xf32>
    %y = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>], iterator_types = ["parallel"]} outs(%none : tensor<19xf32>) {
    ^bb0(%o: f32):
      %d = linalg.index 0 : index
      %k = arith.index_cast %e : i64 to index
      %p = arith.addi %d, %k : index
      %v = tensor.extract %x[%p] : tensor<37xf32>
      linalg.yield %v : f32
    } -> tensor<19xf32>
    ft.yield %y : tensor<19xf32>
  }
  return %r : !ft.list<[N], tensor<19xf32>>
}
