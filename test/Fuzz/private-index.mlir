// RUN: ft-fuzz %s | FileCheck %s

// The index of a gather is made in the nest that uses it: rows that are computed
// at once must not share it.

// CHECK: 1 programs: 1 equal, 0 refused, 0 failed{{$}}

func.func @private_index(%xs: !ft.list<[L], tensor<i64>> {ft.gen = #ft.uniform<0, 100>}, %table: !ft.list<[3], tensor<4xi32>>)
    -> !ft.list<[L], tensor<4xi32>> attributes {ft.lengths = {L = 9 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[L], tensor<i64>>) -> !ft.list<[L], tensor<4xi32>> {
    %three = arith.constant dense<3> : tensor<i64>
    %i = arith.remui %x, %three : tensor<i64>
    %y = ft.gather %table[%i] : !ft.list<[3], tensor<4xi32>>, tensor<i64>
    ft.yield %y : tensor<4xi32>
  }
  return %ys : !ft.list<[L], tensor<4xi32>>
}
