// RUN: ft-opt %s --ft-compile="to=schedule" | FileCheck %s
// RUN: ft-run %s --engine=cpu --dim L=77 --compare=interpret --seed=1 | FileCheck %s --check-prefix=EQUAL

// Two folds of one list are one kernel that goes along the list, and one point each in a step. Cores that share its steps would wait for each
// other at each of them, so that the folds run one after the other.

// CHECK-LABEL: etdg.graph @two_folds
// CHECK-NOT: etdg.kernel
// CHECK: etdg.block @r0 [foldl]
// CHECK: loops = [<dimension = 0, kind = sequential>] target = "cpu"
// CHECK: etdg.block @r1 [reduce]
// CHECK: loops = [<dimension = 0, kind = sequential>] target = "cpu"
// EQUAL: {{^}}equal
func.func @two_folds(%xs: !ft.list<[L], tensor<f64>>) -> (tensor<f64>, tensor<f64>) attributes {ft.lengths = {L = 100 : i64}} {
  %z = arith.constant dense<0.0> : tensor<f64>
  %c = arith.constant dense<0.5> : tensor<f64>
  %a = ft.foldl (%x = %xs : !ft.list<[L], tensor<f64>>) init (%h = %z : tensor<f64>) -> tensor<f64> {
    %p = arith.mulf %h, %c : tensor<f64>
    %q = arith.addf %p, %x : tensor<f64>
    ft.yield %q : tensor<f64>
  }
  %b = ft.reduce (%x = %xs : !ft.list<[L], tensor<f64>>) init (%h = %z : tensor<f64>) -> tensor<f64> {
    %q = arith.addf %h, %x : tensor<f64>
    ft.yield %q : tensor<f64>
  }
  return %a, %b : tensor<f64>, tensor<f64>
}
