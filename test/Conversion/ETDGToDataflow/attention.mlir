// A program of attention in three steps, softmax written as maximum, difference, sum and quotient, becomes three
// operators; the search finds its flash schedule without a hint.

// RUN: ft-translate --etdg-to-dataflow %examples/attention_three_step.mlir --dim K=8 > %t.json
// RUN: FileCheck %s --check-prefix=GRAPH --input-file=%t.json
// GRAPH: "name": "t0"
// GRAPH-NEXT: "kind": "product"
// GRAPH: "kind": "row"
// GRAPH: "over": [
// GRAPH-NEXT: "l",
// GRAPH: "states": 2
// GRAPH: "kind": "product"
// GRAPH-NOT: "kind"

// RUN: ft-translate --etdg-to-dataflow-table %examples/attention_three_step.mlir --dim K=8 | FileCheck %s --check-prefix=TABLE
// TABLE: attention_three_step: {{.*}}l = 8
// TABLE-NEXT: t0[i,j,k,l,e0,e01] = product t0(arg0[i,j,k,e0,e1], arg1[i,j,l,e01,e1]): 8388608 points, moves at least
// TABLE-NEXT: t4[i,j,k,l,e0,e01] = row t4(t0[i,j,k,l,e0,e01]) over l,e01: 131072 points, moves at least 262144
// TABLE-NEXT: t5[i,j,k,e0,e11] = product t5(t4[i,j,k,l,e0,e01], arg2[i,j,l,e01,e11]): 8388608 points, moves at least 229376, a result

// RUN: ft-dataflow %t.json --buffer=8000 | FileCheck %s --check-prefix=FLASH
// FLASH: for l in
// FLASH-NEXT: for e01 in
// FLASH-NEXT: for e1 in
// FLASH-NEXT: = t0(
// FLASH-NEXT: = t4({{.*}}  online
// FLASH-NEXT: for e11 in
// FLASH-NEXT: = t5(
// FLASH: (proved)

// RUN: ft-opt %examples/attention_three_step.mlir --ft-compile="to=etdg" > %t.mlir
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{buffer=8000}))" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=REMARK
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{machine=h200 fusion=intra}))" \
// RUN:   -o /dev/null 2>&1 | FileCheck %s --check-prefix=INTRA
// REMARK: remark: dataflow: [[#]] elements move, at least [[#]]; the buffer holds [[#]] of 8000
// REMARK: note: group moves
// REMARK: remark: t0 reads arg0: MA [[#]], BR [[#]]
// REMARK: remark: t4 writes t4: MA 0, BR [[#]], fused
// INTRA: remark: t4 writes t4: MA [[#]], BR [[#]]
// INTRA-NOT: fused

// RUN: not ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-explore-dataflow{buffer=2}))" -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SMALL
// SMALL: error: no schedule fits into a buffer of 2 elements: operator 't0' alone needs at least 3

// A recurrence is no operator of such a graph.
// RUN: not ft-translate --etdg-to-dataflow %examples/stacked_lstm.mlir 2>&1 | FileCheck %s --check-prefix=SCAN
// SCAN: stacked_lstm.mlir:{{[0-9]+}}:{{[0-9]+}}: error:
