func.func @listed(%n: index, %x: memref<?x4xf32, strided<[4, 1]>>, %y: memref<?x4xf32, strided<[4, 1]>>) {
  %list = loops.list most 8 : !loops.list<tensor<4xf32>, tensor<4xf32>>
  loops.append %list rows(%n) (%x, %y : memref<?x4xf32, strided<[4, 1]>>, memref<?x4xf32, strided<[4, 1]>>) : !loops.list<tensor<4xf32>, tensor<4xf32>>
  %rows = loops.count %list : !loops.list<tensor<4xf32>, tensor<4xf32>>
  loops.leaf rows(%rows) most 8 list(%list : !loops.list<tensor<4xf32>, tensor<4xf32>>) varies [true] overlaps [] {
  ^bb0(%a: tensor<4xf32>):
    %t = math.tanh %a : tensor<4xf32>
    loops.yield %t : tensor<4xf32>
  }
  return
}
