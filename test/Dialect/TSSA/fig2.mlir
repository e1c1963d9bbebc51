// Fig. 2 (DAC'24): a is written as a whole and b in part, in both branches. The paper's
// TorchScript form carries a alone; here the branch gives what both hold.
//
// RUN: ft-opt %s --tssa-functionalize=stop-after=propagate | FileCheck %s --check-prefix=STEP
// RUN: ft-opt %s --tssa-functionalize | FileCheck %s
// RUN: ft-fuzz --imperative %s | FileCheck %s --check-prefix=EQUAL

// if idx >= 0: a += 1; b[idx] = a[idx]
// else:        a -= 1; b[1] = a[1]
func.func @fig2(%a: !tssa.tensor<4xi32>, %b: !tssa.tensor<4xi32>, %at: tensor<i64> {ft.gen = #ft.index<0, 4>}) {
  %n = tensor.extract %at[] : tensor<i64>
  %idx = arith.index_cast %n : i64 to index
  %c0 = arith.constant 0 : index
  %ones = arith.constant dense<1> : tensor<4xi32>
  %test = arith.cmpi sge, %idx, %c0 : index
  scf.if %test {
    %0 = tssa.read %a : !tssa.tensor<4xi32>
    %1 = arith.addi %0, %ones : tensor<4xi32>
    tssa.mutate %a, %1 : !tssa.tensor<4xi32>, tensor<4xi32>
    %2 = tssa.view %b[select(0, %idx)] : !tssa.tensor<4xi32> -> !tssa.tensor<i32>
    %3 = tssa.view %a[select(0, %idx)] : !tssa.tensor<4xi32> -> !tssa.tensor<i32>
    %4 = tssa.read %3 : !tssa.tensor<i32>
    tssa.mutate %2, %4 : !tssa.tensor<i32>, tensor<i32>
  } else {
    %0 = tssa.read %a : !tssa.tensor<4xi32>
    %1 = arith.subi %0, %ones : tensor<4xi32>
    tssa.mutate %a, %1 : !tssa.tensor<4xi32>, tensor<4xi32>
    %2 = tssa.view %b[select(0, 1)] : !tssa.tensor<4xi32> -> !tssa.tensor<i32>
    %3 = tssa.view %a[select(0, 1)] : !tssa.tensor<4xi32> -> !tssa.tensor<i32>
    %4 = tssa.read %3 : !tssa.tensor<i32>
    tssa.mutate %2, %4 : !tssa.tensor<i32>, tensor<i32>
  }
  return
}

// One result for each storage, however often it is written.
// STEP:      %[[R:.*]]:2 = scf.if %{{.*}} -> (tensor<4xi32>, tensor<4xi32>) {
// STEP:        tssa.update %{{.*}}, %[[A:.*]] : tensor<4xi32>
// STEP:        tssa.update %{{.*}}, %[[B:.*]] : tensor<4xi32>
// STEP:        scf.yield %[[A]], %[[B]]
// STEP:      } else {
// STEP:        scf.yield %[[A]], %[[B]]
// STEP:      }
// STEP-NEXT: tssa.update %[[R]]#0, %[[A]]
// STEP-NEXT: tssa.update %[[R]]#1, %[[B]]

// CHECK-LABEL: func.func @fig2(
// CHECK-SAME:    %[[A:.*]]: tensor<4xi32>, %[[B:.*]]: tensor<4xi32>, %{{.*}}) -> (tensor<4xi32>, tensor<4xi32>)
// CHECK-SAME:    tssa.writeback = array<i64: 0, 0, 1, 1>
// CHECK:       %[[R:.*]]:2 = scf.if
// CHECK-NEXT:    %[[A1:.*]] = arith.addi %[[A]]
// CHECK-NEXT:    %[[X:.*]] = tssa.access %[[A1]][select(0, %[[I:.*]])]
// CHECK-NEXT:    %[[B1:.*]] = tssa.assign %[[X]] into %[[B]][select(0, %[[I]])]
// CHECK-NEXT:    scf.yield %[[A1]], %[[B1]]
// CHECK-NEXT:  } else {
// CHECK-NEXT:    %[[A2:.*]] = arith.subi %[[A]]
// CHECK-NEXT:    %[[Y:.*]] = tssa.access %[[A2]][select(0, 1)]
// CHECK-NEXT:    %[[B2:.*]] = tssa.assign %[[Y]] into %[[B]][select(0, 1)]
// CHECK-NEXT:    scf.yield %[[A2]], %[[B2]]
// CHECK-NEXT:  }
// CHECK-NEXT:  return %[[R]]#0, %[[R]]#1

// EQUAL: 1 programs: 1 equal, {{.*}} 0 refused, 0 failed
