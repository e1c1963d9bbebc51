// Which mutable tensors share elements: over views with symbolic offsets, scf and calls.
// RUN: ft-opt %s --tssa-print-aliases --split-input-file --verify-diagnostics

func.func @offsets(%a: !tssa.tensor<8x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %next = arith.addi %i, %c1 : index
    // expected-remark@below {{x:}}
    %x = tssa.view %a[select(0, %i)] {alias = "x"} : !tssa.tensor<8x4xf32> -> !tssa.tensor<4xf32>
    // expected-remark@below {{y: x no}}
    %y = tssa.view %a[select(0, %next)] {alias = "y"} : !tssa.tensor<8x4xf32> -> !tssa.tensor<4xf32>
    // expected-remark@below {{again: x must y no}}
    %again = tssa.view %a[select(0, %i)] {alias = "again"} : !tssa.tensor<8x4xf32> -> !tssa.tensor<4xf32>
    // expected-remark@below {{column: x part y part again part}}
    %column = tssa.view %a[select(1, 2)] {alias = "column"} : !tssa.tensor<8x4xf32> -> !tssa.tensor<8xf32>
    // expected-remark@below {{other: x may y may again may column part}}
    %other = tssa.view %a[select(0, %n)] {alias = "other"} : !tssa.tensor<8x4xf32> -> !tssa.tensor<4xf32>
  }
  return
}

// -----

func.func @parts(%a: !tssa.tensor<8xf32>, %b: !tssa.tensor<8xf32>) {
  // expected-remark@below {{even:}}
  %even = tssa.view %a[slice(0, 0, _, 2)] {alias = "even"} : !tssa.tensor<8xf32> -> !tssa.tensor<4xf32>
  // expected-remark@below {{odd: even no}}
  %odd = tssa.view %a[slice(0, 1, _, 2)] {alias = "odd"} : !tssa.tensor<8xf32> -> !tssa.tensor<4xf32>
  // expected-remark@below {{last: even part odd part}}
  %last = tssa.view %a[slice(0, -3, _, 1)] {alias = "last"} : !tssa.tensor<8xf32> -> !tssa.tensor<3xf32>
  // expected-remark@below {{one: even no odd part last part}}
  %one = tssa.view %a[narrow(0, 7, 1, 1)] {alias = "one"} : !tssa.tensor<8xf32> -> !tssa.tensor<1xf32>
  // expected-remark@below {{other: even no odd no last no one no}}
  %other = tssa.view %b[slice(0, 0, _, 1)] {alias = "other"} : !tssa.tensor<8xf32> -> !tssa.tensor<8xf32>
  return
}

// -----

func.func private @first(%a: !tssa.tensor<4xf32>, %b: !tssa.tensor<4xf32>) -> !tssa.tensor<2xf32> {
  %v = tssa.view %a[slice(0, 0, 2, 1)] : !tssa.tensor<4xf32> -> !tssa.tensor<2xf32>
  return %v : !tssa.tensor<2xf32>
}

func.func @merges(%a: !tssa.tensor<4xf32>, %b: !tssa.tensor<4xf32>, %c: i1, %z: tensor<4xf32>) {
  // expected-remark@below {{new:}}
  %new = tssa.new %z {alias = "new"} : tensor<4xf32>
  // expected-remark@below {{either: new no}}
  %either = scf.if %c -> (!tssa.tensor<4xf32>) {
    scf.yield %a : !tssa.tensor<4xf32>
  } else {
    scf.yield %b : !tssa.tensor<4xf32>
  } {alias = "either"}
  // expected-remark@below {{called: new no either may}}
  %called = func.call @first(%a, %new) {alias = "called"} : (!tssa.tensor<4xf32>, !tssa.tensor<4xf32>) -> !tssa.tensor<2xf32>
  // expected-remark@below {{part: new no either part called may}}
  %part = tssa.view %either[select(0, 1)] {alias = "part"} : !tssa.tensor<4xf32> -> !tssa.tensor<f32>
  return
}
