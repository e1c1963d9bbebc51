// A ReLU, every second row, and a transposition (ASPLOS'24, Figure 4).
func.func @figure4(%a: tensor<4x8xf32>) -> tensor<8x2xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x8xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%empty : tensor<4x8xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = arith.maximumf %x, %zero : f32
    linalg.yield %y : f32
  } -> tensor<4x8xf32>
  %c = tensor.extract_slice %b[0, 0] [2, 8] [2, 1] : tensor<4x8xf32> to tensor<2x8xf32>
  %turned = tensor.empty() : tensor<8x2xf32>
  %d = linalg.transpose ins(%c : tensor<2x8xf32>) outs(%turned : tensor<8x2xf32>) permutation = [1, 0]
  return %d : tensor<8x2xf32>
}
