// A product of whole matrices, as linalg has it: no list, so that all of the program is one operation.
!x = tensor<4096x4096xf32>
!w = tensor<4096x4096xf32>
!y = tensor<4096x4096xf32>

func.func @product(%x: !x {ft.gen = #ft.normal<1.0>}, %w: !w {ft.gen = #ft.normal<0.02>}) -> !y {
  %zero = arith.constant dense<0.0> : !y
  %y = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !y) -> !y
  return %y : !y
}
