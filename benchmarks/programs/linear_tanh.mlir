// A linear layer and its activation on whole tensors: three operations that one kernel computes.
!x = tensor<4096x768xf32>
!w = tensor<768x3072xf32>
!b = tensor<3072xf32>
!y = tensor<4096x3072xf32>

func.func @linear_tanh(%x: !x {ft.gen = #ft.normal<1.0>}, %w: !w {ft.gen = #ft.normal<0.04>}, %b: !b {ft.gen = #ft.normal<0.1>}) -> !y {
  %zero = arith.constant dense<0.0> : !y
  %product = linalg.matmul ins(%x, %w : !x, !w) outs(%zero : !y) -> !y
  %shape = tensor.empty() : !y
  %bias = linalg.broadcast ins(%b : !b) outs(%shape : !y) dimensions = [0]
  %sum = arith.addf %product, %bias : !y
  %y = math.tanh %sum : !y
  return %y : !y
}
