// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction that leaves multiprocessors idle is cut into shares, which blocks of threads take beside each other, and their join.
//
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" --remarks-filter="gpu" -o %t.mlir 2> %t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// The pass alone, in the place where the pipeline has it; what is cut is proved.
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%S/../../machines/h200.json" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-choose-cuts-for-gpu{machine=%S/../../machines/h200.json},etdg-verify,etdg-validate))" | FileCheck %s --check-prefix=ALONE
//
// Values, at lengths that no share divides.
// RUN: ft-run %s --entry=sum --engine=emulate --compare=interpret --dim L=0
// RUN: ft-run %s --entry=sum --engine=emulate --compare=interpret --dim L=1
// RUN: ft-run %s --entry=sum --engine=emulate --compare=interpret --dim L=1237
// RUN: ft-run %s --entry=vectors --engine=emulate --compare=interpret --dim L=1501
// RUN: ft-run %s --entry=vectors --schedule-for=sm_90a --order=random --seed=3 --compare=interpret --dim L=1501
// RUN: ft-run %s --entry=beside --engine=emulate --compare=interpret --dim N=3 --dim L=37

!s = tensor<f32>
!v = tensor<1x32xf32>

// CHECK-LABEL: etdg.graph @sum
// CHECK: schedule <{{.*}}dimension = 0, {{.*}}level = grid
// CHECK-SAME: etdg.cut = {dimension = 0 : i64, {{.*}}tile = {{[0-9][0-9][0-9]+}} : i64}
// CHECK: etdg.block @{{.*}}_join
// REMARK: choose-cuts.mlir:[[#]]:[[#]]: remark: [Passed] cut-reduction | Category:gpu | {{.*}}shares of [[#]] iterations (percent of the time of all in order, by iterations of a share: [[#]]: {{[0-9.]+}}, [[#]]: {{[0-9.]+}}
// ALONE-LABEL: etdg.graph @sum
// ALONE: etdg.cut
func.func @sum(%xs: !ft.list<[L], !s>) -> !s attributes {ft.lengths = {L = 1048576 : i64}} {
  %z = arith.constant dense<0.5> : !s
  %r = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) {
    %n = arith.addf %a, %x : !s
    ft.yield %n : !s
  }
  return %r : !s
}

// CHECK-LABEL: etdg.graph @vectors
// CHECK: etdg.cut
// ALONE-LABEL: etdg.graph @vectors
// ALONE: etdg.cut
func.func @vectors(%xs: !ft.list<[L], !v>) -> !v attributes {ft.lengths = {L = 65536 : i64}} {
  %z = arith.constant dense<0.0> : !v
  %r = ft.reduce (%x = %xs : !ft.list<[L], !v>) init (%a = %z : !v) {
    %n = arith.maximumf %a, %x : !v
    ft.yield %n : !v
  }
  return %r : !v
}

// A short one costs less in order.
// CHECK-LABEL: etdg.graph @short
// CHECK-NOT: etdg.cut
// ALONE-LABEL: etdg.graph @short
// ALONE-NOT: etdg.cut
func.func @short(%xs: !ft.list<[L], !s>) -> !s attributes {ft.lengths = {L = 12 : i64}} {
  %z = arith.constant dense<0.5> : !s
  %r = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) {
    %n = arith.mulf %a, %x : !s
    ft.yield %n : !s
  }
  return %r : !s
}

// Who knows how many points there are beside: the call decides, and may have enough.
// CHECK-LABEL: etdg.graph @beside
// CHECK-NOT: etdg.cut
// ALONE-LABEL: etdg.graph @beside
// ALONE-NOT: etdg.cut
func.func @beside(%xss: !ft.list<[N, L], !s>) -> !ft.list<[N], !s> attributes {ft.lengths = {N = 2 : i64, L = 1048576 : i64}} {
  %z = arith.constant dense<0.5> : !s
  %r = ft.map (%xs = %xss : !ft.list<[N, L], !s>) {
    %q = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) {
      %n = arith.addf %a, %x : !s
      ft.yield %n : !s
    }
    ft.yield %q : !s
  }
  return %r : !ft.list<[N], !s>
}

// Where nothing can be cut, a remark says that one block of threads runs it.
// REMARK: choose-cuts.mlir:[[#@LINE+6]]:{{.*}} remark: [Missed] one-block | Category:gpu | Remark="one block of threads runs all of it: no points wait for nobody, and what a point computes has no columns that could be shared"
// CHECK-LABEL: etdg.graph @ordered
// CHECK-NOT: etdg.cut
// ALONE-LABEL: etdg.graph @ordered
func.func @ordered(%xs: !ft.list<[L], !s>) -> !ft.list<[L], !s> attributes {ft.lengths = {L = 1048576 : i64}} {
  %z = arith.constant dense<0.5> : !s
  %r = ft.scanl (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) {
    %p = arith.mulf %a, %x : !s
    %n = math.tanh %p : !s
    ft.yield %n : !s
  }
  return %r : !ft.list<[L], !s>
}
