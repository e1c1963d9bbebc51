// How many iterations of a reduction are computed at a time is decided by the price of what is scheduled then.
//
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a machine=%S/../../machines/h200.json" -o %t.mlir
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-choose-iterations-for-gpu{machine=%S/../../machines/h200.json},etdg-validate))" --remarks-filter="gpu.*" -o %t.chosen.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.chosen.mlir
// RUN: FileCheck %s --check-prefix=PRICES --input-file=%t.remarks
//
// By hand: so many, or none; and what is bound to a target stays.
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-choose-iterations-for-gpu{iterations=2}))" | FileCheck %s --check-prefix=TWO
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-choose-iterations-for-gpu{iterations=1}))" | FileCheck %s --check-prefix=NONE
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-schedule-for-gpu,etdg-choose-iterations-for-gpu{iterations=2}))" | FileCheck %s --check-prefix=NONE
// NONE-NOT: _joined
//
// How much more of them have to save is the machine's to say: at a hundredth of the time nothing does.
// RUN: sed 's/"iterations_share": 97/"iterations_share": 1/' %S/../../machines/h200.json > %t.json
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-choose-iterations-for-gpu{machine=%t.json}))" | FileCheck %s --check-prefix=NONE
//
// In the pipeline.
// RUN: ft-opt %s --ft-compile="to=schedule target=sm_90a machine=%S/../../machines/h200.json" | FileCheck %s --check-prefix=LAYOUTS

!a = tensor<63x20xf32>
!b = tensor<20x47xf32>
!c = tensor<63x47xf32>
// Sums that come from shared memory and go there with every product of 20 terms: 160 terms are cheaper.
// CHECK-LABEL: etdg.graph @short
// CHECK: etdg.block @r1_joined [reduce] (i | j) in [0, floordiv(L, 8))
// CHECK: etdg.block @r1 [reduce] (i | j) in [floordiv(L, 8), L - 7 * floordiv(L, 8))
// PRICES-DAG: [Passed] choose-iterations{{.*}}Remark="8 iterations at a time (percent of the time of one by one: 2: {{[0-9]+}}, 4: {{[0-9]+}}, 8: {{[0-9]+}})"
// TWO-LABEL: etdg.graph @short
// TWO: etdg.block @r1_joined [reduce] (i | j) in [0, floordiv(L, 2))
// LAYOUTS-LABEL: etdg.graph @short
// LAYOUTS: etdg.block @r1_joined
// LAYOUTS: #tile.product<
func.func @short(%as: !ft.list<[N, L], !a>, %bs: !ft.list<[L], !b>) -> !ft.list<[N], !c>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 64 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !c
  %cs = ft.map (%row = %as : !ft.list<[N, L], !a>) -> !ft.list<[N], !c> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !a>, !ft.list<[L], !b>) init (%acc = %zero : !c) -> !c {
      %s = linalg.matmul ins(%a, %b : !a, !b) outs(%acc : !c) -> !c
      ft.yield %s : !c
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !c
      ft.yield %pq : !c
    }
    %c = math.tanh %sum : !c
    ft.yield %c : !c
  }
  return %cs : !ft.list<[N], !c>
}

!d = tensor<64x4096xf32>
!e = tensor<4096x64xf32>
!f = tensor<64x64xf32>
// A product of 4096 terms gains nothing that a percent of its time shows.
// CHECK-LABEL: etdg.graph @long
// CHECK-NOT: _joined
// PRICES-DAG: [Missed] choose-iterations{{.*}}Remark="1 iterations at a time
// TWO-LABEL: etdg.graph @long
// TWO: etdg.block @r1_joined [reduce]
func.func @long(%as: !ft.list<[N, L], !d>, %bs: !ft.list<[L], !e>) -> !ft.list<[N], !f>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 64 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !f
  %cs = ft.map (%row = %as : !ft.list<[N, L], !d>) -> !ft.list<[N], !f> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !d>, !ft.list<[L], !e>) init (%acc = %zero : !f) -> !f {
      %s = linalg.matmul ins(%a, %b : !d, !e) outs(%acc : !f) -> !f
      ft.yield %s : !f
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !f
      ft.yield %pq : !f
    }
    %c = math.tanh %sum : !f
    ft.yield %c : !f
  }
  return %cs : !ft.list<[N], !f>
}

// Typically three iterations: no more than two are tried.
// CHECK-LABEL: etdg.graph @few
// PRICES-DAG: iterations at a time (percent of the time of one by one: 2: {{[0-9]+}})
func.func @few(%as: !ft.list<[N, L], !a>, %bs: !ft.list<[L], !b>) -> !ft.list<[N], !c>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 64 : i64, L = 3 : i64}} {
  %zero = arith.constant dense<0.0> : !c
  %cs = ft.map (%row = %as : !ft.list<[N, L], !a>) -> !ft.list<[N], !c> {
    %sum = ft.reduce (%a, %b = %row, %bs : !ft.list<[L], !a>, !ft.list<[L], !b>) init (%acc = %zero : !c) -> !c {
      %s = linalg.matmul ins(%a, %b : !a, !b) outs(%acc : !c) -> !c
      ft.yield %s : !c
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !c
      ft.yield %pq : !c
    }
    %c = math.tanh %sum : !c
    ft.yield %c : !c
  }
  return %cs : !ft.list<[N], !c>
}

!g = tensor<8xf32>
// No product: nothing is tried.
// CHECK-LABEL: etdg.graph @plain
// CHECK-NOT: _joined
// TWO-LABEL: etdg.graph @plain
// TWO-NOT: _joined
func.func @plain(%as: !ft.list<[N, L], !g>) -> !ft.list<[N], !g>
    attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 64 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !g
  %cs = ft.map (%row = %as : !ft.list<[N, L], !g>) -> !ft.list<[N], !g> {
    %sum = ft.reduce (%a = %row : !ft.list<[L], !g>) init (%acc = %zero : !g) -> !g {
      %s = arith.addf %acc, %a : !g
      ft.yield %s : !g
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !g
      ft.yield %pq : !g
    }
    %c = math.tanh %sum : !g
    ft.yield %c : !g
  }
  return %cs : !ft.list<[N], !g>
}
