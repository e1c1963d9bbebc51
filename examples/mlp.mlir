// The feed-forward block of a transformer, with its residual, on N blocks of rows.
//
//     y = x + gelu(x W1 + b1) W2 + b2,   gelu(h) = h/2 (1 + tanh(√(2/π) (h + 0.044715 h³)))
//
// The hidden layer is a list of F pieces of 64 units: a piece is made, used and
// forgotten, and the pieces add up in any order (as in back_to_back_gemm.mlir).
// Not in the paper. The usual ratio of hidden to model width is F = 4.

!x = tensor<16x64xf32>
!h = tensor<16x64xf32>
!w = tensor<64x64xf32>
!b = tensor<64xf32>

func.func @mlp(
    %xs: !ft.list<[N], !x> {ft.gen = #ft.normal<1.0>},
    %w1s: !ft.list<[F], !w> {ft.gen = #ft.normal<0.125>},
    %b1s: !ft.list<[F], !b> {ft.gen = #ft.normal<0.1>},
    %w2s: !ft.list<[F], !w> {ft.gen = #ft.normal<0.06>},
    %b2: !b {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 16 : i64, F = 4 : i64}} {
  %none = arith.constant dense<0.0> : !x
  %half = arith.constant dense<0.5> : !h
  %one = arith.constant dense<1.0> : !h
  %cubic = arith.constant dense<0.044715> : !h
  %slope = arith.constant dense<0.7978845608> : !h
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %sum = ft.reduce (%w1, %b1, %w2 = %w1s, %b1s, %w2s
          : !ft.list<[F], !w>, !ft.list<[F], !b>, !ft.list<[F], !w>)
        init (%acc = %none : !x) -> !x {
      %shape = tensor.empty() : !h
      %bias = linalg.broadcast ins(%b1 : !b) outs(%shape : !h) dimensions = [0]
      %h = linalg.matmul ins(%x, %w1 : !x, !w) outs(%bias : !h) -> !h
      %h2 = arith.mulf %h, %h : !h
      %h3 = arith.mulf %h2, %h : !h
      %ch3 = arith.mulf %cubic, %h3 : !h
      %in = arith.addf %h, %ch3 : !h
      %arg = arith.mulf %slope, %in : !h
      %t = math.tanh %arg : !h
      %t1 = arith.addf %one, %t : !h
      %hh = arith.mulf %half, %h : !h
      %g = arith.mulf %hh, %t1 : !h
      %s = linalg.matmul ins(%g, %w2 : !h, !w) outs(%acc : !x) -> !x
      ft.yield %s : !x
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !x
      ft.yield %pq : !x
    }
    %shape = tensor.empty() : !x
    %bias = linalg.broadcast ins(%b2 : !b) outs(%shape : !x) dimensions = [0]
    %sb = arith.addf %sum, %bias : !x
    %y = arith.addf %x, %sb : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
