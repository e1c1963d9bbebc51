// Souffle's working example (ASPLOS'24, Figure 2): a product, its sigmoid, a second product, and the sum of the two.
func.func @figure2(%i0: tensor<64x64xf16>, %w0: tensor<64x64xf16>, %w2: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f16
  %one = arith.constant 1.0 : f16
  %empty = tensor.empty() : tensor<64x64xf16>
  %start = linalg.fill ins(%zero : f16) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %o0 = linalg.matmul ins(%i0, %w0 : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf16>) -> tensor<64x64xf16>
  %o1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%o0 : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) {
  ^bb0(%x: f16, %out: f16):
    %minus = arith.negf %x : f16
    %e = math.exp %minus : f16
    %sum = arith.addf %one, %e : f16
    %y = arith.divf %one, %sum : f16
    linalg.yield %y : f16
  } -> tensor<64x64xf16>
  %o2 = linalg.matmul ins(%o1, %w2 : tensor<64x64xf16>, tensor<64x64xf16>) outs(%start : tensor<64x64xf16>) -> tensor<64x64xf16>
  %o3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%o0, %o2 : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) {
  ^bb0(%x: f16, %y: f16, %out: f16):
    %sum = arith.addf %x, %y : f16
    linalg.yield %sum : f16
  } -> tensor<64x64xf16>
  return %o3 : tensor<64x64xf16>
}
