// RUN: ft-fuzz --emulate %s | FileCheck %s
// RUN: ft-fuzz %s | FileCheck %s

// What random programs have found in kernels. Accumulators that are met from their end: neighbouring threads' lanes take two of them at a time, the
// second one before the first.

// CHECK: 4 programs: 4 equal, 0 refused, 0 failed{{$}}

#id = affine_map<(i, j) -> (i, j)>
#back = affine_map<(i, j) -> (-i + 7)>
#there = affine_map<(i, j) -> (i)>

func.func @met_backwards(%xs: !ft.list<[N], tensor<8x2xf32>>, %ys: !ft.list<[N], tensor<8xf32>>) -> !ft.list<[N], tensor<8xf32>>
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.map (%x, %y = %xs, %ys : !ft.list<[N], tensor<8x2xf32>>, !ft.list<[N], tensor<8xf32>>) {
    %m = linalg.generic {indexing_maps = [#id, #back], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<8x2xf32>) outs(%y : tensor<8xf32>) {
    ^bb0(%a: f32, %s: f32):
      %t = arith.maximumf %s, %a : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    ft.yield %m : tensor<8xf32>
  }
  return %r : !ft.list<[N], tensor<8xf32>>
}

func.func @read_backwards(%xs: !ft.list<[N], tensor<8x2xi32>>, %ys: !ft.list<[N], tensor<8xi32>>) -> !ft.list<[N], tensor<8xi32>>
    attributes {ft.lengths = {N = 5 : i64}} {
  %r = ft.map (%x, %y = %xs, %ys : !ft.list<[N], tensor<8x2xi32>>, !ft.list<[N], tensor<8xi32>>) {
    %m = linalg.generic {indexing_maps = [#id, #back, #there], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<8x2xi32>, tensor<8xi32>) outs(%y : tensor<8xi32>) {
    ^bb0(%a: i32, %b: i32, %s: i32):
      %p = arith.muli %a, %b : i32
      %t = arith.addi %s, %p : i32
      linalg.yield %t : i32
    } -> tensor<8xi32>
    ft.yield %m : tensor<8xi32>
  }
  return %r : !ft.list<[N], tensor<8xi32>>
}

// Rows of numbers that do not count evenly: the remainder starts again within a block of them.
func.func @remainders(%xs: !ft.list<[L], tensor<2xf32>>) -> !ft.list<[1, 6 * L], tensor<i64>> attributes {ft.lengths = {L = 3 : i64}} {
  %0 = ft.map (%x = %xs : !ft.list<[L], tensor<2xf32>>) -> !ft.list<[L, 6], tensor<i64>> {
    %n = ft.iota : !ft.list<[6], tensor<i64>>
    ft.yield %n : !ft.list<[6], tensor<i64>>
  }
  %1 = ft.flatten %0 : !ft.list<[L, 6], tensor<i64>>
  %2 = ft.window %1 size 1 boundary zero : !ft.list<[6 * L], tensor<i64>>
  %3 = ft.transpose %2 [1, 0] : !ft.list<[6 * L, 1], tensor<i64>>
  return %3 : !ft.list<[1, 6 * L], tensor<i64>>
}

// A sum of nothing: no lanes can share its terms.
func.func @sum_of_nothing(%xs: !ft.list<[N], tensor<4x0xi32>>) -> !ft.list<[N], tensor<4xi32>> attributes {ft.lengths = {N = 3 : i64}} {
  %ys = ft.map (%x = %xs : !ft.list<[N], tensor<4x0xi32>>) -> !ft.list<[N], tensor<4xi32>> {
    %zero = arith.constant dense<2> : tensor<4xi32>
    %s = linalg.reduce ins(%x : tensor<4x0xi32>) outs(%zero : tensor<4xi32>) dimensions = [1]
      (%a: i32, %b: i32) {
        %c = arith.addi %a, %b : i32
        linalg.yield %c : i32
      }
    ft.yield %s : tensor<4xi32>
  }
  return %ys : !ft.list<[N], tensor<4xi32>>
}
