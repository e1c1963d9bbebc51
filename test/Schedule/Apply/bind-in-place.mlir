// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is a new version of an argument takes the argument's memory, where no old element is read after a new one has been
// written. A cache that a recurrence reads and writes gets its new rows when the loop has ended; the rows that it keeps are
// copied only where a call gives the result memory of its own.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=cpu" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a" | FileCheck %s
//
// The pass alone: new rows go to a buffer of their own, from which a last block copies them.
// RUN: ft-opt %s --ft-compile="to=reorder" | ft-opt --pass-pipeline='builtin.module(etdg.graph(etdg-bind-in-place))' | FileCheck %s --check-prefix=ALONE
// ALONE: etdg.graph @cache({{.*}}attributes {etdg.in_place = array<i64: 1, 1>
// ALONE: %[[RESULT:.*]] = etdg.buffer : !etdg.buffer<[11], tensor<4xf32>>
// ALONE: %[[NEW:.*]] = etdg.buffer : !etdg.buffer<[11], tensor<4xf32>>
// ALONE: writes (%[[NEW]][i + 3])
// ALONE: etdg.block [map] (i0) in [3, 8)
// ALONE-NEXT: reads (%x = %[[NEW]][i0]
// ALONE-NEXT: writes (%[[RESULT]][i0])
//
// RUN: env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a %s | FileCheck %s --check-prefix=PLAN
// RUN: ft-translate --mlir-to-ptx --target=sm_90a %s | FileCheck %s --check-prefix=PTX
// RUN: ft-run %s --entry=cache --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=cache --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=twice --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=backwards --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=backwards --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

// PLAN-DAG: "name":"result1"{{[^}]*}}"writeback":1

// The other copy, of rows [0, 3) and [8, 11), looks whether it moves anything.
// PTX-LABEL: .entry cache_k0(
// PTX: setp.{{eq|ne}}.b64 {{.*}}, %rd{{[0-9]+}}, %rd{{[0-9]+}};

!row = tensor<4xf32>

// Rows 3 to 7 are new.
// CHECK-LABEL: etdg.graph @cache
// CHECK-SAME: etdg.in_place = array<i64: 1, 1>
// CHECK: %[[NEW:.*]] = etdg.buffer : !etdg.buffer<[11], tensor<4xf32>>
// CHECK: etdg.block [map] (i0) in [3, 8)
// CHECK-NEXT: reads (%{{.*}} = %{{.*}}[i0] : tensor<4xf32>)
func.func @cache(%x: !row, %old: tensor<11x4xf32>) -> (!row, tensor<11x4xf32>) attributes {tssa.writeback = array<i64: 1, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %none = arith.constant dense<0.0> : !row
  %h, %all = scf.for %i = %c0 to %c5 step %c1 iter_args(%h = %x, %all = %old) -> (!row, tensor<11x4xf32>) {
    %at = arith.addi %i, %c3 : index
    %put = tensor.insert_slice %h into %all[%at, 0] [1, 4] [1, 1] : !row into tensor<11x4xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%put : tensor<11x4xf32>) outs(%none : !row) {
    ^bb0(%a: f32, %c: f32):
      %p = arith.addf %a, %c : f32
      linalg.yield %p : f32
    } -> !row
    %next = math.tanh %s : !row
    scf.yield %next, %put : !row, tensor<11x4xf32>
  }
  return %h, %all : !row, tensor<11x4xf32>
}

// All that reads old rows stands before all that writes new ones: the sum first.
// CHECK-LABEL: etdg.graph @twice
// CHECK-SAME: etdg.in_place = array<i64: 0, 1>
// CHECK-NOT: etdg.block [map] (i0)
func.func @twice(%a: tensor<7x4xf32>, %b: tensor<7x4xf32>) -> (!row, tensor<7x4xf32>) attributes {tssa.writeback = array<i64: 0, 1>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %none = arith.constant dense<0.0> : !row
  %h = scf.for %i = %c0 to %c7 step %c1 iter_args(%h = %none) -> (!row) {
    %x = tensor.extract_slice %a[%i, 0] [1, 4] [1, 1] : tensor<7x4xf32> to !row
    %m = arith.addf %h, %x : !row
    %t = math.tanh %m : !row
    scf.yield %t : !row
  }
  %all = scf.for %i = %c0 to %c7 step %c1 iter_args(%all = %a) -> (tensor<7x4xf32>) {
    %x = tensor.extract_slice %b[%i, 0] [1, 4] [1, 1] : tensor<7x4xf32> to !row
    %m = arith.mulf %h, %x : !row
    %put = tensor.insert_slice %m into %all[%i, 0] [1, 4] [1, 1] : !row into tensor<7x4xf32>
    scf.yield %put : tensor<7x4xf32>
  }
  return %h, %all : !row, tensor<7x4xf32>
}

// Every other row: the rows that are written are no box.
// CHECK-LABEL: etdg.graph @backwards
// CHECK-SAME: etdg.in_place = array<i64: 0, 0>
func.func @backwards(%old: tensor<9x4xf32>) -> tensor<9x4xf32> attributes {tssa.writeback = array<i64: 0, 0>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %all = scf.for %i = %c0 to %c4 step %c1 iter_args(%all = %old) -> (tensor<9x4xf32>) {
    %at = arith.muli %i, %c2 : index
    %behind = arith.addi %at, %c2 : index
    %x = tensor.extract_slice %all[%at, 0] [1, 4] [1, 1] : tensor<9x4xf32> to !row
    %y = tensor.extract_slice %all[%behind, 0] [1, 4] [1, 1] : tensor<9x4xf32> to !row
    %m = arith.mulf %x, %y : !row
    %t = math.tanh %m : !row
    %put = tensor.insert_slice %t into %all[%behind, 0] [1, 4] [1, 1] : !row into tensor<9x4xf32>
    scf.yield %put : tensor<9x4xf32>
  }
  return %all : tensor<9x4xf32>
}
