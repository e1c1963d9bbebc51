// A copy that goes takes the block with it that holds nothing else (a fold that keeps
// its first element, over a split list).
// RUN: ft-opt %s --ft-compile="to=storage" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: ft-run %s --compare=interpret --dim L=7
// CHECK: etdg.graph
// CHECK-NOT: [map]
module {
  func.func @emptied(%arg0: !ft.list<[2, L], tensor<5xi32>>, %arg1: !ft.list<[L], tensor<15xi32>>, %arg2: tensor<15xi32>, %arg3: tensor<i32>, %arg4: tensor<i64> {ft.gen = #ft.index<0, L>}) -> (!ft.list<[L], tensor<15xi32>>, tensor<i32>) attributes {ft.bounds = #ft.bounds<"L >= 2">, ft.lengths = {L = 2 : i64}} {
    %0 = ft.shift %arg1 by 2 fill %arg2 : !ft.list<[L], tensor<15xi32>>, tensor<15xi32>
    %cst = arith.constant dense<1> : tensor<15xi32>
    %cst_0 = arith.constant dense<0> : tensor<15xi32>
    %1:2 = ft.scan (%x, %x_2 = %arg1, %0 : !ft.list<[L], tensor<15xi32>>, !ft.list<[L], tensor<15xi32>>) init (%s, %s_1 = %cst, %cst_0 : tensor<15xi32>, tensor<15xi32>) -> !ft.list<[L], tensor<15xi32>>, !ft.list<[L], tensor<15xi32>> {
      %5 = arith.muli %s, %x : tensor<15xi32>
      %6 = arith.muli %s_1, %x : tensor<15xi32>
      %7 = arith.addi %6, %x_2 : tensor<15xi32>
      ft.yield %5, %7 : tensor<15xi32>, tensor<15xi32>
    }
    %2 = ft.split %1#0 by 1 : !ft.list<[L], tensor<15xi32>>
    %3 = ft.zip %2, %1#0 : !ft.list<[L, 1], tensor<15xi32>>, !ft.list<[L], tensor<15xi32>>
    %4 = ft.map (%x = %3 : !ft.list<[L], tuple<!ft.list<[1], tensor<15xi32>>, tensor<15xi32>>>) -> !ft.list<[L], tensor<15xi32>> {
      %5 = ft.get %x[0] : tuple<!ft.list<[1], tensor<15xi32>>, tensor<15xi32>>
      %6 = ft.foldl (%x_1 = %5 : !ft.list<[1], tensor<15xi32>>) state (%s) -> tensor<15xi32> {
        ft.yield %x_1 : tensor<15xi32>
      }
      ft.yield %6 : tensor<15xi32>
    }
    return %4, %arg3 : !ft.list<[L], tensor<15xi32>>, tensor<i32>
  }
}
