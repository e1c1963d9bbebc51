// Each row over its root mean square, times a weight for each feature: one read, one
// write. The number of features is counted by a sum over ones, as in layer_norm.mlir.
!x = tensor<1x4096xf32>
!r = tensor<1xf32>
!g = tensor<4096xf32>

func.func @rms_norm(%xs: !ft.list<[N], !x> {ft.gen = #ft.normal<1.0>}, %gamma: !g {ft.gen = #ft.uniform<0.5, 1.5>})
    -> !ft.list<[N], !x> attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %ones = arith.constant dense<1.0> : !x
  %eps = arith.constant dense<1.0e-5> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %shape = tensor.empty() : !x
    %count = linalg.reduce { arith.addf } ins(%ones : !x) outs(%zero : !r) dimensions = [1]
    %sq = arith.mulf %x, %x : !x
    %squares = linalg.reduce { arith.addf } ins(%sq : !x) outs(%zero : !r) dimensions = [1]
    %mean = arith.divf %squares, %count : !r
    %safe = arith.addf %mean, %eps : !r
    %inv = math.rsqrt %safe : !r
    %invs = linalg.broadcast ins(%inv : !r) outs(%shape : !x) dimensions = [1]
    %gs = linalg.broadcast ins(%gamma : !g) outs(%shape : !x) dimensions = [0]
    %n = arith.mulf %x, %invs : !x
    %y = arith.mulf %n, %gs : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
