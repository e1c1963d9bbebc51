// RUN: ft-fuzz --emulate %s | FileCheck %s
// RUN: ft-fuzz %s | FileCheck %s

// Accumulators that are met from their end: neighbouring threads' lanes take two of them at a time, the
// second one before the first.

// CHECK: 2 programs: 2 equal, 0 refused, 0 failed{{$}}

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
