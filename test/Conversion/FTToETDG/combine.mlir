// What becomes of `combine`: constants of the surroundings move in; where a block
// cannot hold it, the operator keeps its order and a remark says why.
//
// RUN: ft-opt %s --convert-ft-to-etdg --split-input-file | FileCheck %s
// RUN: ft-opt %s --convert-ft-to-etdg --split-input-file --remarks-filter="etdg.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: etdg.graph @constants
// CHECK: [reduce]
// CHECK: combine
// CHECK-DAG: %[[two:.*]] = arith.constant dense<2.000000e+00> : tensor<f32>
// CHECK-DAG: %[[half:.*]] = arith.divf %{{.*}}, %[[two]]
// CHECK: arith.mulf %{{.*}}, %[[half]]
!s = tensor<f32>
func.func @constants(%xs: !ft.list<[L], !s>) -> !s {
  %z = arith.constant dense<0.0> : !s
  %n = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) -> !s {
    %b = arith.addf %a, %x : !s
    ft.yield %b : !s
  } combine (%a, %b) {
    %two = arith.constant dense<2.0> : !s
    %one = arith.divf %two, %two : !s
    %sum = arith.addf %a, %b : !s
    %r = arith.mulf %sum, %one : !s
    ft.yield %r : !s
  } identity (%z : !s)
  return %n : !s
}

// -----

// CHECK-LABEL: etdg.graph @from_outside
// CHECK: combine
// CHECK-NEXT: %[[one:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: arith.mulf %{{.*}}, %[[one]]
!s = tensor<f32>
func.func @from_outside(%xs: !ft.list<[L], !s>) -> !s {
  %z = arith.constant dense<0.0> : !s
  %one = arith.constant dense<1.0> : !s
  %n = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) -> !s {
    %b = arith.addf %a, %x : !s
    ft.yield %b : !s
  } combine (%a, %b) {
    %sum = arith.addf %a, %b : !s
    %r = arith.mulf %sum, %one : !s
    ft.yield %r : !s
  } identity (%z : !s)
  return %n : !s
}

// -----

// REMARK: remark: [Missed] ordered | Category:etdg{{.*}}'ft.reduce' keeps its order: its 'combine' uses a value from outside that is no constant
// CHECK-LABEL: etdg.graph @argument
// CHECK: [foldl]
// CHECK-NOT: combine
!s = tensor<f32>
func.func @argument(%xs: !ft.list<[L], !s>, %one: !s) -> !s {
  %z = arith.constant dense<0.0> : !s
  %n = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %z : !s) -> !s {
    %b = arith.addf %a, %x : !s
    ft.yield %b : !s
  } combine (%a, %b) {
    %sum = arith.addf %a, %b : !s
    %r = arith.mulf %sum, %one : !s
    ft.yield %r : !s
  } identity (%z : !s)
  return %n : !s
}

// -----

// REMARK: remark: [Missed] ordered | Category:etdg{{.*}}'ft.reduce' keeps its order: its states are lists, and a block's 'combine' joins tensors
// CHECK-LABEL: etdg.graph @lists
// CHECK: [foldl, map]
// CHECK-NOT: combine
!s = tensor<f32>
func.func @lists(%xs: !ft.list<[L], !s>) -> !ft.list<[5], !s> {
  %z = arith.constant dense<0.0> : !s
  %zs = ft.repeat %z times 5 : !s
  %n = ft.reduce (%x = %xs : !ft.list<[L], !s>) init (%a = %zs : !ft.list<[5], !s>) -> !ft.list<[5], !s> {
    %b = ft.map (%y = %a : !ft.list<[5], !s>) -> !ft.list<[5], !s> {
      %c = arith.addf %x, %y : !s
      ft.yield %c : !s
    }
    ft.yield %b : !ft.list<[5], !s>
  } combine (%a, %b) {
    %c = ft.map (%p, %q = %a, %b : !ft.list<[5], !s>, !ft.list<[5], !s>) -> !ft.list<[5], !s> {
      %d = arith.addf %p, %q : !s
      ft.yield %d : !s
    }
    ft.yield %c : !ft.list<[5], !s>
  } identity (%zs : !ft.list<[5], !s>)
  return %n : !ft.list<[5], !s>
}
