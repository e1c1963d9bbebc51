// Mamba's selective scan (S6) over N sequences of L tokens.
//
// Each token x of C channels makes its own step Δ, input vector B and output vector
// C of 16 states; the state h is a matrix, channels by states:
//
//     Δ = log(1 + exp(x W_Δ + b_Δ)),   B = x W_B,   C = x W_C
//     h' = exp(Δ ⊗ A) h + (Δ x) ⊗ B,   y = h' C + D x,      A = -exp(A_log)
//
// The products with weights do not depend on the state: they are a map before the
// scan. The outputs y leave the scan by `emit`; the states are its result, of which
// nothing is read here. Not in the paper, whose §7 hopes for such models.

!x = tensor<64xf32>
!s = tensor<16xf32>
!h = tensor<64x16xf32>
!w = tensor<64x64xf32>
!b = tensor<64x16xf32>

func.func @mamba(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %wd: !w {ft.gen = #ft.normal<0.06>},
    %bd: !x {ft.gen = #ft.uniform<-4.0, -1.0>},
    %wb: !b {ft.gen = #ft.normal<0.125>},
    %wc: !b {ft.gen = #ft.normal<0.125>},
    %alog: !h {ft.gen = #ft.uniform<0.0, 2.5>},
    %skip: !x {ft.gen = #ft.normal<1.0>})
    -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 4 : i64, L = 64 : i64}} {
  %zx = arith.constant dense<0.0> : !x
  %zs = arith.constant dense<0.0> : !s
  %zh = arith.constant dense<0.0> : !h
  %one = arith.constant dense<1.0> : !x
  %ea = math.exp %alog : !h
  %a = arith.negf %ea : !h
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %ds, %bs, %cs = ft.map (%x = %xs : !ft.list<[L], !x>)
        -> !ft.list<[L], !x>, !ft.list<[L], !s>, !ft.list<[L], !s> {
      %p = linalg.vecmat ins(%x, %wd : !x, !w) outs(%bd : !x) -> !x
      %e = math.exp %p : !x
      %e1 = arith.addf %one, %e : !x
      %d = math.log %e1 : !x
      %b = linalg.vecmat ins(%x, %wb : !x, !b) outs(%zs : !s) -> !s
      %c = linalg.vecmat ins(%x, %wc : !x, !b) outs(%zs : !s) -> !s
      ft.yield %d, %b, %c : !x, !s, !s
    }
    %hs, %ys = ft.scanl (%x, %d, %b, %c = %xs, %ds, %bs, %cs
          : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !s>, !ft.list<[L], !s>)
        init (%h = %zh : !h) -> !ft.list<[L], !h>, !ft.list<[L], !x> {
      %shape = tensor.empty() : !h
      %dd = linalg.broadcast ins(%d : !x) outs(%shape : !h) dimensions = [1]
      %da = arith.mulf %dd, %a : !h
      %decay = math.exp %da : !h
      %kept = arith.mulf %decay, %h : !h
      %dx = arith.mulf %d, %x : !x
      %dxb = linalg.broadcast ins(%dx : !x) outs(%shape : !h) dimensions = [1]
      %bb = linalg.broadcast ins(%b : !s) outs(%shape : !h) dimensions = [0]
      %in = arith.mulf %dxb, %bb : !h
      %h1 = arith.addf %kept, %in : !h
      %dskip = arith.mulf %skip, %x : !x
      %y = linalg.matvec ins(%h1, %c : !h, !s) outs(%dskip : !x) -> !x
      ft.yield %h1 : !h emit %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}
