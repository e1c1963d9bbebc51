// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In which type a leaf adds up halves, and which of its outputs may lie where its inputs do, print and are verified.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics | FileCheck %s

!x = memref<?x4x8xf16, strided<[32, 8, 1], offset: ?>>
!y = memref<?x8xf16, strided<[8, 1], offset: ?>>
// CHECK-LABEL: func.func @printed(
func.func @printed(%n: index, %x: !x, %y: !y, %e: memref<?x0xf16>) attributes {loops.kernel} {
  // CHECK: loops.leaf {{.*}} outs(%{{.*}} : {{.*}}) sums f32 overlaps [] {
  loops.leaf rows(%n) most 4 ins(%x : !x) varies [true] outs(%y : !y) sums f32 overlaps [] {
  ^bb0(%a: tensor<4x8xf16>):
    %z = arith.constant dense<0.0> : tensor<8xf16>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf16>) outs(%z : tensor<8xf16>) dimensions = [0]
    loops.yield %s : tensor<8xf16>
  }
  // Each step rounds.
  // CHECK: loops.leaf {{.*}} outs(%{{.*}} : {{.*}}) sums f16 overlaps [#loops.overlap<output = 0, input = 0, any>] {
  loops.leaf rows(%n) most 4 ins(%x : !x) varies [true] outs(%y : !y) sums f16 overlaps [#loops.overlap<output = 0, input = 0, any>] {
  ^bb0(%a: tensor<4x8xf16>):
    %z = arith.constant dense<0.0> : tensor<8xf16>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<4x8xf16>) outs(%z : tensor<8xf16>) dimensions = [0]
    loops.yield %s : tensor<8xf16>
  }
  // One view as input and output, where that is said, or nothing is.
  // CHECK: loops.leaf {{.*}} overlaps [#loops.overlap<output = 0, input = 0, in_place>] {
  loops.leaf rows(%n) most 4 ins(%y : !y) varies [true] outs(%y : !y) overlaps [#loops.overlap<output = 0, input = 0, in_place>] {
  ^bb0(%a: tensor<8xf16>):
    %t = math.tanh %a : tensor<8xf16>
    loops.yield %t : tensor<8xf16>
  }
  // CHECK: loops.leaf {{.*}} varies [true] outs(%{{.*}} : {{.*}}) {
  loops.leaf rows(%n) most 4 ins(%y : !y) varies [true] outs(%y : !y) {
  ^bb0(%a: tensor<8xf16>):
    %t = math.tanh %a : tensor<8xf16>
    loops.yield %t : tensor<8xf16>
  }
  // Nothing overlaps nothing.
  // CHECK: loops.leaf {{.*}} outs(%{{.*}} : memref<?x0xf16>) overlaps [] {
  loops.leaf rows(%n) most 4 ins(%e : memref<?x0xf16>) varies [true] outs(%e : memref<?x0xf16>) overlaps [] {
  ^bb0(%a: tensor<0xf16>):
    loops.yield %a : tensor<0xf16>
  }
  return
}

// -----

func.func @no_sum(%n: index, %x: memref<?x8xf16>, %y: memref<?x8xf16>) attributes {loops.kernel} {
  // expected-error @below {{expected no sums where no operation adds up f16 or bf16, found sums 'f32' (loops_leaf11)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf16>) varies [true] outs(%y : memref<?x8xf16>) sums f32 overlaps [] {
  ^bb0(%a: tensor<8xf16>):
    %t = arith.addf %a, %a : tensor<8xf16>
    loops.yield %t : tensor<8xf16>
  }
  return
}

// -----

func.func @no_wider(%n: index, %x: memref<?x8xbf16>, %y: memref<?xbf16>) attributes {loops.kernel} {
  // expected-error @below {{expected sums in a float that is wider than 'bf16', which it adds up, or in that, found sums 'f16' (loops_leaf11)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xbf16>) varies [true] outs(%y : memref<?xbf16>) sums f16 overlaps [] {
  ^bb0(%a: tensor<8xbf16>):
    %z = arith.constant dense<0.0> : tensor<bf16>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<8xbf16>) outs(%z : tensor<bf16>) dimensions = [0]
    loops.yield %s : tensor<bf16>
  }
  return
}

// -----

func.func @no_float(%n: index, %x: memref<?x8xf16>, %y: memref<?xf16>) attributes {loops.kernel} {
  // expected-error @below {{attribute 'sums' failed to satisfy constraint}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf16>) varies [true] outs(%y : memref<?xf16>) sums i32 overlaps [] {
  ^bb0(%a: tensor<8xf16>):
    %z = arith.constant dense<0.0> : tensor<f16>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<8xf16>) outs(%z : tensor<f16>) dimensions = [0]
    loops.yield %s : tensor<f16>
  }
  return
}

// -----

func.func @negative(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{(C1) expected the numbers of an output and of an input, found 0 and -1}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32>) varies [true] outs(%x : memref<?x8xf32>) overlaps [#loops.overlap<output = 0, input = -1, any>] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @no_input(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{expected #loops.overlap of its 1 outputs and 1 inputs, in their order, each pair once, found #loops.overlap<output = 0, input = 1, any> (loops_leaf12)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32>) varies [true] outs(%x : memref<?x8xf32>) overlaps [#loops.overlap<output = 0, input = 1, any>] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @twice(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{in their order, each pair once, found #loops.overlap<output = 0, input = 0, in_place> (loops_leaf12)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32>) varies [true] outs(%x : memref<?x8xf32>)
    overlaps [#loops.overlap<output = 0, input = 0, any>, #loops.overlap<output = 0, input = 0, in_place>] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @other_rows(%n: index, %x: memref<?x8xf32>, %y: memref<?xf32>) attributes {loops.kernel} {
  // expected-error @below {{expected rows of one type where an output takes the memory of an input, found 'tensor<f32>' and 'tensor<8xf32>' in #loops.overlap<output = 0, input = 0, in_place> (loops_leaf12)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32>) varies [true] outs(%y : memref<?xf32>) overlaps [#loops.overlap<output = 0, input = 0, in_place>] {
  ^bb0(%a: tensor<8xf32>):
    %z = arith.constant dense<0.0> : tensor<f32>
    %s = linalg.reduce { arith.addf } ins(%a : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0]
    loops.yield %s : tensor<f32>
  }
  return
}

// -----

func.func @gaps(%n: index, %x: memref<?x8xf32, strided<[16, 2], offset: ?>>, %y: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{expected an input in order and without gaps where an output takes its memory, found 'memref<?x8xf32, strided<[16, 2], offset: ?>>' (loops_leaf12)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32, strided<[16, 2], offset: ?>>) varies [true] outs(%y : memref<?x8xf32>)
    overlaps [#loops.overlap<output = 0, input = 0, in_place>] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

// What surely lies where it is read is not apart: one view, one beginning, or elements between.
func.func @one_view(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} { // expected-note {{the input's rows are here}}
  // expected-error @below {{overlaps say that output 0 overlaps no input, but it begins where input 0 has rows (loops_leaf12)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32>) varies [true] outs(%x : memref<?x8xf32>) overlaps [] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

!row = memref<?x8xf32, strided<[8, 1], offset: ?>>
func.func @one_begin(%n: index, %at: index, %m: memref<?xf32>) attributes {loops.kernel} {
  // expected-note @below {{the input's rows are here}}
  %x = memref.reinterpret_cast %m to offset: [%at], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  %y = memref.reinterpret_cast %m to offset: [%at], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  // expected-error @below {{overlaps say that output 0 overlaps no input, but it begins where input 0 has rows (loops_leaf12)}}
  loops.leaf rows(%n) most 4 ins(%x : !row) varies [true] outs(%y : !row) overlaps [] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

!from = memref<?x8xf32, strided<[32, 1], offset: 0>>
!to = memref<?x8xf32, strided<[32, 1], offset: 7>>
!behind = memref<?x8xf32, strided<[32, 1], offset: 8>>
func.func @between(%n: index, %m: memref<?xf32>) attributes {loops.kernel} {
  // expected-note @below {{the input's rows are here}}
  %x = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 8], strides: [32, 1] : memref<?xf32> to !from
  %y = memref.reinterpret_cast %m to offset: [7], sizes: [%n, 8], strides: [32, 1] : memref<?xf32> to !to
  %z = memref.reinterpret_cast %m to offset: [8], sizes: [%n, 8], strides: [32, 1] : memref<?xf32> to !behind
  // The one after its last element is another.
  loops.leaf rows(%n) most 4 ins(%x : !from) varies [true] outs(%z : !behind) overlaps [] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  // expected-error @below {{overlaps say that output 0 overlaps no input, but it begins where input 0 has rows (loops_leaf12)}}
  loops.leaf rows(%n) most 4 ins(%x : !from) varies [true] outs(%y : !to) overlaps [] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

// Two buffers in one slot are one memory: the leaf that reads one of them and writes the other has to know.
!row = memref<?x8xf32, strided<[8, 1], offset: ?>>
func.func @k(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %x = memref.reinterpret_cast %a to offset: [%c0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  %y = memref.reinterpret_cast %b to offset: [%c0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  // expected-note @below {{the leaf is here}}
  loops.leaf rows(%n) most 4 ins(%x : !row) varies [true] outs(%y : !row) overlaps [] {
  ^bb0(%v: tensor<8xf32>):
    %t = math.tanh %v : tensor<8xf32>
    loops.yield %t : tensor<8xf32>
  }
  return
}
loops.program @p lengths ["N"] places [] {
  %n = loops.length "N"
  %a = loops.buffer intermediate slot 0 : <[N], tensor<8xf32>>
  %b = loops.buffer intermediate slot 0 : <[N], tensor<8xf32>>
  %c = loops.buffer intermediate slot 1 : <[N], tensor<8xf32>>
  loops.launch @k(%n, %a, %c) : index, !etdg.buffer<[N], tensor<8xf32>>, !etdg.buffer<[N], tensor<8xf32>>
  // expected-error @below {{gives arguments 1 and 2 one memory, and a leaf says that its output 0 does not overlap its input 0 (loops_launch3)}}
  loops.launch @k(%n, %a, %b) : index, !etdg.buffer<[N], tensor<8xf32>>, !etdg.buffer<[N], tensor<8xf32>>
}

// -----

// So are a result and the argument whose memory a call may give it.
!row = memref<?x8xf32, strided<[8, 1], offset: ?>>
func.func @k(%n: index, %a: memref<?xf32>, %b: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %x = memref.reinterpret_cast %a to offset: [%c0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  %y = memref.reinterpret_cast %b to offset: [%c0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to !row
  // expected-note @below {{the leaf is here}}
  loops.leaf rows(%n) most 4 ins(%x : !row) varies [true] outs(%y : !row) overlaps [] {
  ^bb0(%v: tensor<8xf32>):
    loops.yield %v : tensor<8xf32>
  }
  return
}
loops.program @p lengths ["N"] places [] attributes {in_place = array<i64: 0, 0>} {
  %n = loops.length "N"
  %a = loops.buffer argument 0 : <[N], tensor<8xf32>>
  %b = loops.buffer result 0 : <[N], tensor<8xf32>>
  // expected-error @below {{gives arguments 1 and 2 one memory, and a leaf says that its output 0 does not overlap its input 0 (loops_launch3)}}
  loops.launch @k(%n, %a, %b) : index, !etdg.buffer<[N], tensor<8xf32>>, !etdg.buffer<[N], tensor<8xf32>>
}
