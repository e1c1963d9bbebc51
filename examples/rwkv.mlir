// RWKV's time mixing (version 4) over N sequences of L tokens.
//
// Every token is mixed with the one before it, by a vector μ for each of r, k, v:
//
//     r = σ((μ_r x + (1 - μ_r) x⁻) W_r),   k = (μ_k x + (1 - μ_k) x⁻) W_k,   v alike
//
// (x⁻ is the token before, 0 at the start: an `ft.shift`). Then a sum over the past
// with a decay w per channel and a bonus u for the present,
//
//     wkv[t] = (Σ_{i<t} exp(k_i - (t-1-i) w) v_i + exp(u + k_t) v_t) / (the same without v)
//
// is a scan whose states are numerator a, denominator b and their common exponent p,
// the largest so far, so that no exponential overflows; and y = (r ∘ wkv) W_o.
// Not in the paper, whose §7 hopes for such models.

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @rwkv(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %mus: !ft.list<[3], !x> {ft.gen = #ft.uniform<0.0, 1.0>},
    %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.125>},
    %wo: !w {ft.gen = #ft.normal<0.125>},
    %decay: !x {ft.gen = #ft.uniform<0.05, 1.0>},
    %bonus: !x {ft.gen = #ft.normal<0.5>})
    -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 4 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  // The lowest exponent; -inf in f16, which is as good: every token raises it at once.
  %low = arith.constant dense<-1.0e30> : !x
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %before = ft.shift %xs by 1 fill %zero : !ft.list<[L], !x>, !x
    %gs, %ks, %vs = ft.map (%x, %xp = %xs, %before : !ft.list<[L], !x>, !ft.list<[L], !x>)
        -> !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x> {
      %mixed = ft.map (%mu, %w = %mus, %ws : !ft.list<[3], !x>, !ft.list<[3], !w>)
          -> !ft.list<[3], !x> {
        %nu = arith.subf %one, %mu : !x
        %here = arith.mulf %mu, %x : !x
        %there = arith.mulf %nu, %xp : !x
        %both = arith.addf %here, %there : !x
        %m = linalg.matmul ins(%both, %w : !x, !w) outs(%zero : !x) -> !x
        ft.yield %m : !x
      }
      %r = ft.at %mixed[0] : !ft.list<[3], !x>
      %k = ft.at %mixed[1] : !ft.list<[3], !x>
      %v = ft.at %mixed[2] : !ft.list<[3], !x>
      %nr = arith.negf %r : !x
      %er = math.exp %nr : !x
      %dr = arith.addf %one, %er : !x
      %g = arith.divf %one, %dr : !x
      ft.yield %g, %k, %v : !x, !x, !x
    }
    %as, %bs, %ps, %wkvs = ft.scanl (%k, %v = %ks, %vs : !ft.list<[L], !x>, !ft.list<[L], !x>)
        init (%a, %b, %p = %zero, %zero, %low : !x, !x, !x)
        -> !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x> {
      // The output sees the past and, with the bonus, the present.
      %uk = arith.addf %bonus, %k : !x
      %q = arith.maximumf %p, %uk : !x
      %d1 = arith.subf %p, %q : !x
      %d2 = arith.subf %uk, %q : !x
      %e1 = math.exp %d1 : !x
      %e2 = math.exp %d2 : !x
      %na = arith.mulf %e1, %a : !x
      %nv = arith.mulf %e2, %v : !x
      %num = arith.addf %na, %nv : !x
      %nb = arith.mulf %e1, %b : !x
      %den = arith.addf %nb, %e2 : !x
      %wkv = arith.divf %num, %den : !x
      // The state decays and takes the present in.
      %pw = arith.subf %p, %decay : !x
      %p1 = arith.maximumf %pw, %k : !x
      %d3 = arith.subf %pw, %p1 : !x
      %d4 = arith.subf %k, %p1 : !x
      %e3 = math.exp %d3 : !x
      %e4 = math.exp %d4 : !x
      %ka = arith.mulf %e3, %a : !x
      %kv = arith.mulf %e4, %v : !x
      %a1 = arith.addf %ka, %kv : !x
      %kb = arith.mulf %e3, %b : !x
      %b1 = arith.addf %kb, %e4 : !x
      ft.yield %a1, %b1, %p1 : !x, !x, !x emit %wkv : !x
    }
    %ys = ft.map (%g, %wkv = %gs, %wkvs : !ft.list<[L], !x>, !ft.list<[L], !x>)
        -> !ft.list<[L], !x> {
      %gated = arith.mulf %g, %wkv : !x
      %y = linalg.matmul ins(%gated, %wo : !x, !w) outs(%zero : !x) -> !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}
