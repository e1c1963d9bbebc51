// A reduction that runs in step with a scan, in a kernel inside of a block, has no shares: they would read what the scan has not written.
//
// RUN: ft-run %s --engine=cpu --plan-seed=5 --compare=interpret | FileCheck %s
// RUN: ft-run %s --engine=cpu --plan-seed=13 --compare=interpret | FileCheck %s
// RUN: ft-run %s --engine=cpu --plan-seed=17 --compare=interpret | FileCheck %s
// RUN: ft-run %s --engine=emulate --plan-seed=5 --compare=interpret | FileCheck %s
// CHECK: {{^equal$}}
func.func @f(%arg0: !ft.list<[L], tensor<2xi32>>) -> !ft.list<[L], tensor<i32>> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {L = 7 : i64}} {
  %z = arith.constant dense<0> : tensor<i32>
  %1 = ft.map (%x = %arg0 : !ft.list<[L], tensor<2xi32>>) {
    %3 = ft.scan (%y = %arg0 : !ft.list<[L], tensor<2xi32>>) init (%s = %z : tensor<i32>) {
      ft.yield %s : tensor<i32>
    } combine (%a, %b) {
      ft.yield %b : tensor<i32>
    } identity (%z : tensor<i32>)
    %5 = ft.reduce (%y = %3 : !ft.list<[L], tensor<i32>>) init (%s = %z : tensor<i32>) {
      %9 = arith.addi %s, %y : tensor<i32>
      ft.yield %9 : tensor<i32>
    }
    ft.yield %5 : tensor<i32>
  }
  return %1 : !ft.list<[L], tensor<i32>>
}
