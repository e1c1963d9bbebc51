// Gated recurrent unit over N sequences of L tokens.
//
//     r = σ(x W_0 + h U_0 + b_0),   z = σ(x W_1 + h U_1 + b_1)
//     n = tanh(x W_2 + b_2 + r (h U_2 + b_h)),   h' = (1 - z) n + z h
//
// Not in the paper. The reset gate is applied after the product with U_2, as in
// cuDNN and PyTorch, hence a bias b_h of its own inside the bracket.

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @gru(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %us: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %bs: !ft.list<[3], !x> {ft.gen = #ft.normal<0.1>},
    %bh: !x {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 8 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %wn = ft.at %ws[2] : !ft.list<[3], !w>
  %un = ft.at %us[2] : !ft.list<[3], !w>
  %bn = ft.at %bs[2] : !ft.list<[3], !x>
  %w2 = ft.slice %ws[0 to 2] : !ft.list<[3], !w>
  %u2 = ft.slice %us[0 to 2] : !ft.list<[3], !w>
  %b2 = ft.slice %bs[0 to 2] : !ft.list<[3], !x>
  %hss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %gs = ft.map (%w, %u, %b = %w2, %u2, %b2
            : !ft.list<[2], !w>, !ft.list<[2], !w>, !ft.list<[2], !x>) -> !ft.list<[2], !x> {
        %xw = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
        %g = linalg.matmul ins(%h, %u : !x, !w) outs(%xw : !x) -> !x
        %m = arith.negf %g : !x
        %e = math.exp %m : !x
        %d = arith.addf %one, %e : !x
        %s = arith.divf %one, %d : !x
        ft.yield %s : !x
      }
      %r = ft.at %gs[0] : !ft.list<[2], !x>
      %z = ft.at %gs[1] : !ft.list<[2], !x>
      %hu = linalg.matmul ins(%h, %un : !x, !w) outs(%bh : !x) -> !x
      %rhu = arith.mulf %r, %hu : !x
      %xw = linalg.matmul ins(%x, %wn : !x, !w) outs(%bn : !x) -> !x
      %a = arith.addf %xw, %rhu : !x
      %n = math.tanh %a : !x
      %nz = arith.subf %one, %z : !x
      %new = arith.mulf %nz, %n : !x
      %old = arith.mulf %z, %h : !x
      %h1 = arith.addf %new, %old : !x
      ft.yield %h1 : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %hss : !ft.list<[N, L], !x>
}
