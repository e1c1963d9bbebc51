// Layer normalisation of N blocks of 16 rows with 64 features.
//
//     μ = mean(x),  σ² = mean((x - μ)²),  y = (x - μ) / sqrt(σ² + ε) γ + β      per row
//
// The number of features is counted by a sum over ones, so that a type with
// another width needs no other change. The variance is taken around the mean, not
// as the difference of two large sums. Not in the paper.

!x = tensor<16x64xf32>
!r = tensor<16xf32>
!g = tensor<64xf32>

func.func @layer_norm(
    %xs: !ft.list<[N], !x> {ft.gen = #ft.normal<1.0>},
    %gamma: !g {ft.gen = #ft.uniform<0.5, 1.5>},
    %beta: !g {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %ones = arith.constant dense<1.0> : !x
  %eps = arith.constant dense<1.0e-5> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %count = linalg.reduce { arith.addf } ins(%ones : !x) outs(%zero : !r) dimensions = [1]
    %total = linalg.reduce { arith.addf } ins(%x : !x) outs(%zero : !r) dimensions = [1]
    %mean = arith.divf %total, %count : !r
    %shape = tensor.empty() : !x
    %means = linalg.broadcast ins(%mean : !r) outs(%shape : !x) dimensions = [1]
    %c = arith.subf %x, %means : !x
    %sq = arith.mulf %c, %c : !x
    %squares = linalg.reduce { arith.addf } ins(%sq : !x) outs(%zero : !r) dimensions = [1]
    %var = arith.divf %squares, %count : !r
    %safe = arith.addf %var, %eps : !r
    %inv = math.rsqrt %safe : !r
    %invs = linalg.broadcast ins(%inv : !r) outs(%shape : !x) dimensions = [1]
    %n = arith.mulf %c, %invs : !x
    %gs = linalg.broadcast ins(%gamma : !g) outs(%shape : !x) dimensions = [0]
    %bs = linalg.broadcast ins(%beta : !g) outs(%shape : !x) dimensions = [0]
    %scaled = arith.mulf %n, %gs : !x
    %y = arith.addf %scaled, %bs : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
