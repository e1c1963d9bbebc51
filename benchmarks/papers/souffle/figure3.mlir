// Two products of unequal shapes that do not need each other (ASPLOS'24, Figure 3).
func.func @figure3(%a1: tensor<4x8xf32>, %b1: tensor<8x16xf32>, %a2: tensor<2x8xf32>, %b2: tensor<8x16xf32>) -> (tensor<4x16xf32>, tensor<2x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty1 = tensor.empty() : tensor<4x16xf32>
  %start1 = linalg.fill ins(%zero : f32) outs(%empty1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %c1 = linalg.matmul ins(%a1, %b1 : tensor<4x8xf32>, tensor<8x16xf32>) outs(%start1 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %empty2 = tensor.empty() : tensor<2x16xf32>
  %start2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<2x16xf32>) -> tensor<2x16xf32>
  %c2 = linalg.matmul ins(%a2, %b2 : tensor<2x8xf32>, tensor<8x16xf32>) outs(%start2 : tensor<2x16xf32>) -> tensor<2x16xf32>
  return %c1, %c2 : tensor<4x16xf32>, tensor<2x16xf32>
}
