// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements are written at places that the body computes from data: histograms, permutations, indices
// that count from the end, a place that was itself read at a computed one.
//
// RUN: %python %S/Inputs/sizes.py %ft_bin/ft-run %s | FileCheck %s
// CHECK: 5 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
//
// RUN: ft-run %s --entry=from_the_end --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=histogram --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=counting_sort --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=blocks_at --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=by_a_table --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!i = tensor<i32>
!v = tensor<4xf32>

// As `x[i] = 1` where i may be negative.
func.func @from_the_end(%xs: !ft.list<[N], !v>, %is: !ft.list<[N], tensor<1x1xi64>> {ft.gen = #ft.index<0 - 4, 4>}) -> !ft.list<[N], !v>
    attributes {ft.lengths = {N = 5 : i64}} {
  %ys = ft.map (%x, %i = %xs, %is : !ft.list<[N], !v>, !ft.list<[N], tensor<1x1xi64>>) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %one = arith.constant 1.0 : f32
    %e = tensor.extract %i[%c0, %c0] : tensor<1x1xi64>
    %k = arith.index_cast %e : i64 to index
    %isBack = arith.cmpi slt, %k, %c0 : index
    %back = arith.addi %k, %c4 : index
    %at = arith.select %isBack, %back, %k : index
    %t = math.tanh %x : !v
    %y = tensor.insert %one into %t[%at] : !v
    ft.yield %y : !v
  }
  return %ys : !ft.list<[N], !v>
}

func.func @histogram(%xs: !ft.list<[N, L], !i> {ft.gen = #ft.uniform<0, 100>}) -> !ft.list<[N], tensor<7xi32>>
    attributes {ft.lengths = {L = 9 : i64, N = 5 : i64}} {
  %none = arith.constant dense<0> : tensor<7xi32>
  %hs = ft.map (%row = %xs : !ft.list<[N, L], !i>) {
    %h = ft.foldl (%x = %row : !ft.list<[L], !i>) init (%s = %none : tensor<7xi32>) {
      %seven = arith.constant 7 : i32
      %one = arith.constant 1 : i32
      %e = tensor.extract %x[] : !i
      %m = arith.remui %e, %seven : i32
      %at = arith.index_cast %m : i32 to index
      %old = tensor.extract %s[%at] : tensor<7xi32>
      %new = arith.addi %old, %one : i32
      %t = tensor.insert %new into %s[%at] : tensor<7xi32>
      ft.yield %t : tensor<7xi32>
    }
    ft.yield %h : tensor<7xi32>
  }
  return %hs : !ft.list<[N], tensor<7xi32>>
}

// Two elements change places at each step; where is what the state says.
func.func @counting_sort(%xs: !ft.list<[L], !i> {ft.gen = #ft.uniform<0, 4>}) -> (!ft.list<[L], tensor<5xi32>>, tensor<5xi32>)
    attributes {ft.lengths = {L = 9 : i64}} {
  %order = arith.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %steps = ft.scanl (%x = %xs : !ft.list<[L], !i>) init (%s = %order : tensor<5xi32>) {
    %c4 = arith.constant 4 : index
    %e = tensor.extract %x[] : !i
    %i = arith.index_cast %e : i32 to index
    %j = arith.subi %c4, %i : index
    %a = tensor.extract %s[%i] : tensor<5xi32>
    %b = tensor.extract %s[%j] : tensor<5xi32>
    %t = tensor.insert %b into %s[%i] : tensor<5xi32>
    %u = tensor.insert %a into %t[%j] : tensor<5xi32>
    ft.yield %u : tensor<5xi32>
  }
  %last = ft.foldl (%t = %steps : !ft.list<[L], tensor<5xi32>>) init (%s = %order : tensor<5xi32>) {
    %r = arith.addi %s, %t : tensor<5xi32>
    ft.yield %r : tensor<5xi32>
  }
  return %steps, %last : !ft.list<[L], tensor<5xi32>>, tensor<5xi32>
}

// A part of a row is replaced; where it begins is data, and so is which part is taken.
func.func @blocks_at(%xs: !ft.list<[N], tensor<3x8xf32>>, %is: !ft.list<[N], !i> {ft.gen = #ft.uniform<0, 5>}) -> !ft.list<[N], tensor<3x8xf32>>
    attributes {ft.lengths = {N = 5 : i64}} {
  %ys = ft.map (%x, %i = %xs, %is : !ft.list<[N], tensor<3x8xf32>>, !ft.list<[N], !i>) {
    %c5 = arith.constant 5 : index
    %e = tensor.extract %i[] : !i
    %from = arith.index_cast %e : i32 to index
    %to = arith.subi %c5, %from : index
    %part = tensor.extract_slice %x[0, %from] [2, 3] [1, 1] : tensor<3x8xf32> to tensor<2x3xf32>
    %twice = arith.addf %part, %part : tensor<2x3xf32>
    %y = tensor.insert_slice %twice into %x[1, %to] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<3x8xf32>
    ft.yield %y : tensor<3x8xf32>
  }
  return %ys : !ft.list<[N], tensor<3x8xf32>>
}

// The place is read from a table at a place that is data.
func.func @by_a_table(%xs: !ft.list<[N], !v>, %is: !ft.list<[N], !i> {ft.gen = #ft.uniform<0, 6>}, %table: tensor<7xi32> {ft.gen = #ft.uniform<0, 3>}) -> !ft.list<[N], !v>
    attributes {ft.lengths = {N = 5 : i64}} {
  %ys = ft.map (%x, %i = %xs, %is : !ft.list<[N], !v>, !ft.list<[N], !i>) {
    %c0 = arith.constant 0 : index
    %e = tensor.extract %i[] : !i
    %k = arith.index_cast %e : i32 to index
    %p = tensor.extract %table[%k] : tensor<7xi32>
    %at = arith.index_cast %p : i32 to index
    %first = tensor.extract %x[%c0] : !v
    %two = arith.addf %first, %first : f32
    %y = tensor.insert %two into %x[%at] : !v
    ft.yield %y : !v
  }
  return %ys : !ft.list<[N], !v>
}
