// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction that leaves SMs idle is cut into shares, which thread blocks take beside each other, and their join.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu" -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: FileCheck %s --check-prefix=QUIET --input-file=%t.remarks
// The pass alone, in the place where the pipeline has it; what is cut is proved.
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%S/../../machines/h200.json" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-choose-cuts-for-gpu{machine=%S/../../machines/h200.json},etdg-verify,etdg-validate))" | FileCheck %s --check-prefix=ALONE

!s = tensor<f32>

// CHECK-LABEL: etdg.graph @whole
// CHECK: etdg.block @{{.*}}_shares [map] (share)
// CHECK: schedule <{{.*}}dimension = 0, {{.*}}level = grid
// CHECK-SAME: #etdg.row_lanes
// CHECK: etdg.block @{{.*}}_join []
// REMARK: choose-cuts.mlir:[[#@LINE+5]]:{{.*}} remark: [Passed] cut-reduction | Category:gpu | {{.*}}shares of [[#]] iterations{{.*}}(percent of the time of one block, by iterations of a share: [[#]]: {{[0-9.]+}}, [[#]]: {{[0-9.]+}}
// ALONE-LABEL: etdg.graph @whole
// ALONE: _shares
func.func @whole(%x: tensor<4096x4096xf32>) -> !s {
  %z = arith.constant dense<0.0> : !s
  %r = linalg.reduce ins(%x : tensor<4096x4096xf32>) outs(%z : !s) dimensions = [0, 1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %r : !s
}

// CHECK-LABEL: etdg.graph @list
// CHECK: etdg.block @{{.*}}_shares [map] (i)
// CHECK: level = grid
// CHECK: etdg.block @{{.*}}_join_joined [fold] (i)
// ALONE-LABEL: etdg.graph @list
// ALONE: _shares
func.func @list(%xs: !ft.list<[L], !s>) -> !s attributes {ft.lengths = {L = 1048576 : i64}} {
  %z = arith.constant dense<0.5> : !s
  %r = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) {
    %n = arith.addf %a, %x : !s
    ft.yield %n : !s
  }
  return %r : !s
}

// A short one costs less as it stands.
// CHECK-LABEL: etdg.graph @short
// CHECK-NOT: _shares
// ALONE-LABEL: etdg.graph @short
// ALONE-NOT: _shares
func.func @short(%x: tensor<12x8xf32>) -> !s {
  %z = arith.constant dense<0.0> : !s
  %r = linalg.reduce ins(%x : tensor<12x8xf32>) outs(%z : !s) dimensions = [0, 1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %r : !s
}

// Enough points beside: nothing is tried.
// QUIET-NOT: choose-cuts.mlir:[[#@LINE+7]]:{{.*}} cut-reduction
// CHECK-LABEL: etdg.graph @beside
// CHECK-NOT: _shares
// ALONE-LABEL: etdg.graph @beside
// ALONE-NOT: _shares
func.func @beside(%x: tensor<132x65536xf32>) -> tensor<132xf32> {
  %z = arith.constant dense<0.0> : tensor<132xf32>
  %r = linalg.reduce ins(%x : tensor<132x65536xf32>) outs(%z : tensor<132xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %r : tensor<132xf32>
}

// Nothing knows how many points there are beside: the call may have enough, so that nothing is tried.
// QUIET-NOT: choose-cuts.mlir:[[#@LINE+9]]:{{.*}} cut-reduction
// QUIET-NOT: choose-cuts.mlir:[[#@LINE+5]]:{{.*}} cut-reduction
// CHECK-LABEL: etdg.graph @unknown
// CHECK-NOT: _shares
// ALONE-LABEL: etdg.graph @unknown
// ALONE-NOT: _shares
func.func @unknown(%xs: !ft.list<[N], tensor<65536xf32>>) -> !ft.list<[N], !s> attributes {ft.lengths = {N = 2 : i64}} {
  %r = ft.map (%x = %xs : !ft.list<[N], tensor<65536xf32>>) {
    %z = arith.constant dense<0.0> : !s
    %q = linalg.reduce ins(%x : tensor<65536xf32>) outs(%z : !s) dimensions = [0] (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
    ft.yield %q : !s
  }
  return %r : !ft.list<[N], !s>
}

// What takes long beside it is no reason against shares.
// CHECK-LABEL: etdg.graph @neighbour
// CHECK: _shares
// ALONE-LABEL: etdg.graph @neighbour
// ALONE: _shares
func.func @neighbour(%x: tensor<1024x1024xf32>, %a: tensor<4096x4096xf32>, %b: tensor<4096x4096xf32>) -> (!s, tensor<4096x4096xf32>) {
  %z = arith.constant dense<0.0> : !s
  %r = linalg.reduce ins(%x : tensor<1024x1024xf32>) outs(%z : !s) dimensions = [0, 1] (%p: f32, %q: f32) {
    %s = arith.addf %p, %q : f32
    linalg.yield %s : f32
  }
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4096x4096xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%start : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r, %c : !s, tensor<4096x4096xf32>
}
