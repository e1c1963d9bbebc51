// Loops that end on data and bound a counter: of known length, under a flag (docs/raising.md, Loops that end on data).
// RUN: ft-opt %s --convert-scf-to-etdg | FileCheck %s --check-prefix=GRAPH
// RUN: ft-opt %s --ft-compile="to=schedule target=cpu" | FileCheck %s --check-prefix=GRAPH
// RUN: ft-run %s --entry=decode --engine=cpu --compare=interpret | FileCheck %s --check-prefix=DECODE
// RUN: ft-run %s --entry=decode --engine=emulate --compare=interpret | FileCheck %s --check-prefix=DECODE
// RUN: ft-run %s --entry=decode --engine=interpret --order=declared --compare=interpret | FileCheck %s --check-prefix=DECODE
// RUN: ft-run %s --entry=down --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=down --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=divide --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=open --engine=cpu --dim=L=7 --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=open --engine=cpu --dim=L=1 --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=never --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=leaves --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=leaves --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=two_ends --engine=cpu --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=two_ends --engine=emulate --compare=interpret | FileCheck %s
// RUN: ft-run %s --entry=meets --engine=cpu --dim=L=7 --compare=interpret | FileCheck %s
// CHECK: equal
// DECODE: result 0 9xi32: equal
// DECODE: result 1 1x5xi32: equal
// DECODE: result 2 1xi64: equal

// `going = h[0] < 40 and i < 9`, made at the end of a step; the steps are counted, rows are written.
// GRAPH-LABEL: etdg.graph @decode
// GRAPH: (i) in [0, 9)
func.func @decode(%w: tensor<5x5xi32>) -> (tensor<9xi32>, tensor<1x5xi32>, tensor<1xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %forty = arith.constant 40 : i32
  %true = arith.constant true
  %zero = arith.constant dense<0> : tensor<1x5xi32>
  %one = arith.constant dense<1> : tensor<5x5xi32>
  %first = arith.constant dense<1> : tensor<1x5xi32>
  %rows = arith.constant dense<-7> : tensor<9xi32>
  %r:4 = scf.while (%going = %true, %i = %c0, %h = %first, %out = %rows) : (i1, index, tensor<1x5xi32>, tensor<9xi32>) -> (i1, index, tensor<1x5xi32>, tensor<9xi32>) {
    scf.condition(%going) %going, %i, %h, %out : i1, index, tensor<1x5xi32>, tensor<9xi32>
  } do {
  ^bb0(%was: i1, %i: index, %h: tensor<1x5xi32>, %out: tensor<9xi32>):
    %p = linalg.matmul ins(%h, %one : tensor<1x5xi32>, tensor<5x5xi32>) outs(%zero : tensor<1x5xi32>) -> tensor<1x5xi32>
    %v = tensor.extract %p[%c0, %c0] : tensor<1x5xi32>
    %o = tensor.insert %v into %out[%i] : tensor<9xi32>
    %n = arith.addi %i, %c1 : index
    %small = arith.cmpi slt, %v, %forty : i32
    %left = arith.cmpi slt, %n, %c9 : index
    %go = arith.andi %small, %left : i1
    scf.yield %go, %n, %p, %o : i1, index, tensor<1x5xi32>, tensor<9xi32>
  }
  %steps = arith.index_cast %r#1 : index to i64
  %count = tensor.from_elements %steps : tensor<1xi64>
  return %r#3, %r#2, %count : tensor<9xi32>, tensor<1x5xi32>, tensor<1xi64>
}

// Down by two, ended by a condition that control flow spells: `if done: False else: i >= 1`.
// GRAPH-LABEL: etdg.graph @down
// GRAPH: (i) in [0, 6)
func.func @down(%x: tensor<12xi32>) -> (tensor<12xi32>, tensor<i32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %minus2 = arith.constant -2 : index
  %c11 = arith.constant 11 : index
  %false = arith.constant false
  %zero = arith.constant 0 : i32
  %limit = arith.constant 20 : i32
  %r:4 = scf.while (%i = %c11, %done = %false, %s = %zero, %a = %x) : (index, i1, i32, tensor<12xi32>) -> (index, i1, i32, tensor<12xi32>) {
    %go = scf.if %done -> i1 {
      scf.yield %false : i1
    } else {
      %more = arith.cmpi sge, %i, %c1 : index
      scf.yield %more : i1
    }
    scf.condition(%go) %i, %done, %s, %a : index, i1, i32, tensor<12xi32>
  } do {
  ^bb0(%i: index, %done: i1, %s: i32, %a: tensor<12xi32>):
    %v = tensor.extract %a[%i] : tensor<12xi32>
    %t = arith.addi %s, %v : i32
    %before = arith.subi %i, %c1 : index
    // Two cells in a step.
    %a1 = tensor.insert %t into %a[%i] : tensor<12xi32>
    %a2 = tensor.insert %v into %a1[%before] : tensor<12xi32>
    %d = arith.cmpi sgt, %t, %limit : i32
    %n = arith.addi %i, %minus2 : index
    scf.yield %n, %d, %t, %a2 : index, i1, i32, tensor<12xi32>
  }
  %sum = tensor.from_elements %r#2 : tensor<i32>
  return %r#3, %sum : tensor<12xi32>, tensor<i32>
}

// The divisor is 0 where the loop has ended.
// GRAPH-LABEL: etdg.graph @divide
func.func @divide(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %three = arith.constant 3 : i32
  %one = arith.constant 1 : i32
  %zero = arith.constant 0 : i32
  %r:3 = scf.while (%n = %three, %t = %c0, %s = %x) : (i32, index, tensor<4xi32>) -> (i32, index, tensor<4xi32>) {
    %more = arith.cmpi sgt, %n, %zero : i32
    %left = arith.cmpi sle, %t, %c9 : index
    %go = arith.andi %more, %left : i1
    scf.condition(%go) %n, %t, %s : i32, index, tensor<4xi32>
  } do {
  ^bb0(%n: i32, %t: index, %s: tensor<4xi32>):
    %hundred = arith.constant 100 : i32
    %q = arith.divsi %hundred, %n : i32
    %e = tensor.empty() : tensor<4xi32>
    %all = linalg.fill ins(%q : i32) outs(%e : tensor<4xi32>) -> tensor<4xi32>
    %u = arith.addi %s, %all : tensor<4xi32>
    %m = arith.subi %n, %one : i32
    %k = arith.addi %t, %c1 : index
    scf.yield %m, %k, %u : i32, index, tensor<4xi32>
  }
  return %r#2 : tensor<4xi32>
}

// The bound is a length.
// GRAPH-LABEL: etdg.graph @open
// GRAPH: (i) in [0, L)
func.func @open(%x: tensor<?x3xi32> {etdg.dims = ["L"]}) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x3xi32>
  %zero = arith.constant dense<0> : tensor<3xi32>
  %limit = arith.constant 30 : i32
  %r:2 = scf.while (%i = %c0, %s = %zero) : (index, tensor<3xi32>) -> (index, tensor<3xi32>) {
    %v = tensor.extract %s[%c0] : tensor<3xi32>
    %small = arith.cmpi slt, %v, %limit : i32
    %left = arith.cmpi slt, %i, %n : index
    %go = arith.andi %left, %small : i1
    scf.condition(%go) %i, %s : index, tensor<3xi32>
  } do {
  ^bb0(%i: index, %s: tensor<3xi32>):
    %row = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<?x3xi32> to tensor<3xi32>
    %u = arith.addi %s, %row : tensor<3xi32>
    %k = arith.addi %i, %c1 : index
    scf.yield %k, %u : index, tensor<3xi32>
  }
  return %r#1 : tensor<3xi32>
}

// No iteration at all.
// GRAPH-LABEL: etdg.graph @never
func.func @never(%x: tensor<4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %limit = arith.constant -1000000 : i32
  %r:2 = scf.while (%i = %c0, %s = %x) : (index, tensor<4xi32>) -> (index, tensor<4xi32>) {
    %v = tensor.extract %s[%c0] : tensor<4xi32>
    %small = arith.cmpi slt, %v, %limit : i32
    %left = arith.cmpi slt, %i, %c3 : index
    %go = arith.andi %left, %small : i1
    scf.condition(%go) %i, %s : index, tensor<4xi32>
  } do {
  ^bb0(%i: index, %s: tensor<4xi32>):
    %u = arith.addi %s, %s : tensor<4xi32>
    %k = arith.addi %i, %c1 : index
    scf.yield %k, %u : index, tensor<4xi32>
  }
  return %r#1 : tensor<4xi32>
}

// `for` with a `break`: what follows it stands under a flag, loops and products too.
// GRAPH-LABEL: etdg.graph @leaves
func.func @leaves(%x: tensor<7x2x2xi32>, %w: tensor<2x2xi32>) -> (tensor<2x2xi32>, tensor<7x2x2xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c7 = arith.constant 7 : index
  %true = arith.constant true
  %false = arith.constant false
  %limit = arith.constant 50 : i32
  %zero = arith.constant dense<0> : tensor<2x2xi32>
  %none = arith.constant dense<-1> : tensor<7x2x2xi32>
  %r:3 = scf.for %i = %c0 to %c7 step %c1 iter_args(%left = %false, %h = %w, %out = %none) -> (i1, tensor<2x2xi32>, tensor<7x2x2xi32>) {
    %s:3 = scf.if %left -> (i1, tensor<2x2xi32>, tensor<7x2x2xi32>) {
      scf.yield %true, %h, %out : i1, tensor<2x2xi32>, tensor<7x2x2xi32>
    } else {
      %row = tensor.extract_slice %x[%i, 0, 0] [1, 2, 2] [1, 1, 1] : tensor<7x2x2xi32> to tensor<2x2xi32>
      %p = linalg.matmul ins(%h, %row : tensor<2x2xi32>, tensor<2x2xi32>) outs(%zero : tensor<2x2xi32>) -> tensor<2x2xi32>
      %o = scf.for %k = %c0 to %c2 step %c1 iter_args(%a = %out) -> tensor<7x2x2xi32> {
        %half = tensor.extract_slice %p[%k, 0] [1, 2] [1, 1] : tensor<2x2xi32> to tensor<2xi32>
        %b = tensor.insert_slice %half into %a[%i, %k, 0] [1, 1, 2] [1, 1, 1] : tensor<2xi32> into tensor<7x2x2xi32>
        scf.yield %b : tensor<7x2x2xi32>
      }
      %v = tensor.extract %p[%c0, %c0] : tensor<2x2xi32>
      %big = arith.cmpi sgt, %v, %limit : i32
      scf.yield %big, %p, %o : i1, tensor<2x2xi32>, tensor<7x2x2xi32>
    }
    scf.yield %s#0, %s#1, %s#2 : i1, tensor<2x2xi32>, tensor<7x2x2xi32>
  }
  return %r#1, %r#2 : tensor<2x2xi32>, tensor<7x2x2xi32>
}

// `if i == 10: break`, `if the sum is large: break`, `i += 2` after both: the counter grows wherever the loop goes on.
// GRAPH-LABEL: etdg.graph @two_ends
// GRAPH: in [0, 6)
func.func @two_ends(%x: tensor<12xi32>) -> (tensor<i32>, tensor<1xi64>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c10 = arith.constant 10 : index
  %true = arith.constant true
  %false = arith.constant false
  %limit = arith.constant 30 : i32
  %none = arith.constant dense<0> : tensor<i32>
  %r:3 = scf.while (%left = %false, %i = %c0, %s = %none) : (i1, index, tensor<i32>) -> (i1, index, tensor<i32>) {
    %go = arith.xori %left, %true : i1
    scf.condition(%go) %left, %i, %s : i1, index, tensor<i32>
  } do {
  ^bb0(%left: i1, %i: index, %s: tensor<i32>):
    %last = arith.cmpi eq, %i, %c10 : index
    %n:3 = scf.if %last -> (i1, index, tensor<i32>) {
      scf.yield %true, %i, %s : i1, index, tensor<i32>
    } else {
      %v = tensor.extract %x[%i] : tensor<12xi32>
      %old = tensor.extract %s[] : tensor<i32>
      %sum = arith.addi %old, %v : i32
      %t = tensor.from_elements %sum : tensor<i32>
      %big = arith.cmpi sgt, %sum, %limit : i32
      %k = scf.if %big -> (index) {
        scf.yield %i : index
      } else {
        %next = arith.addi %i, %c2 : index
        scf.yield %next : index
      }
      scf.yield %big, %k, %t : i1, index, tensor<i32>
    }
    scf.yield %n#0, %n#1, %n#2 : i1, index, tensor<i32>
  }
  %e = arith.index_cast %r#1 : index to i64
  %end = tensor.from_elements %e : tensor<1xi64>
  return %r#2, %end : tensor<i32>, tensor<1xi64>
}

// `while i != len(x)`: from 0 in steps of 1 a size is met.
// GRAPH-LABEL: etdg.graph @meets
func.func @meets(%x: tensor<?x3xi32> {etdg.dims = ["L"]}, %z: tensor<3xi32>) -> tensor<3xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %limit = arith.constant 9 : i32
  %n = tensor.dim %x, %c0 : tensor<?x3xi32>
  %r:2 = scf.while (%i = %c0, %s = %z) : (index, tensor<3xi32>) -> (index, tensor<3xi32>) {
    %left = arith.cmpi ne, %n, %i : index
    %v = tensor.extract %s[%c0] : tensor<3xi32>
    %small = arith.cmpi slt, %v, %limit : i32
    %go = arith.andi %left, %small : i1
    scf.condition(%go) %i, %s : index, tensor<3xi32>
  } do {
  ^bb0(%i: index, %s: tensor<3xi32>):
    %row = tensor.extract_slice %x[%i, 0] [1, 3] [1, 1] : tensor<?x3xi32> to tensor<3xi32>
    %u = arith.addi %s, %row : tensor<3xi32>
    %k = arith.addi %i, %c1 : index
    scf.yield %k, %u : index, tensor<3xi32>
  }
  return %r#1 : tensor<3xi32>
}
