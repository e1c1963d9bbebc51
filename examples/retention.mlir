// RetNet's retention in chunks of B = 16 positions: N sequences, H heads, L chunks.
//
// Retention is attention with a decay γ^(n-m) in place of the softmax. A chunk works
// on itself as a matrix product and on all earlier ones through a state R, a d x d
// matrix; with B = 16 positions in a chunk, n the row and m the column,
//
//     O  = ((Q Kᵀ) ∘ D) V + ξ ∘ (Q R)         D[n,m] = γ^(n-m) where n ≥ m, else 0
//     R' = γ^B R + Kᵀ (ζ ∘ V)                 ξ[n] = γ^(n+1),   ζ[m] = γ^(B-1-m)
//
// The logarithm of each head's γ is an argument, and D, ξ, ζ are made once per head.
// The outputs O leave the scan by `emit`. Not in the paper, whose §7 hopes for such
// models. The factor 1/√d is part of the generated keys; the group norm that follows
// is left out.

// q kᵀ reads both along the second dimension, kᵀ v both along the first.
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#lhsT = affine_map<(m, n, k) -> (k, m)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(n, m) -> (n, m)>
#row = affine_map<(n) -> (n)>

!q = tensor<16x32xf32>
!k = tensor<16x32xf32>
!v = tensor<16x32xf32>
!p = tensor<16x16xf32>
!c = tensor<16xf32>
!r = tensor<32x32xf32>
!g = tensor<f32>
!ip = tensor<16x16xi64>
!ic = tensor<16xi64>
!see = tensor<16x16xi1>

func.func @retention(
    %qsss: !ft.list<[N, H, L], !q> {ft.gen = #ft.normal<1.0>},
    %ksss: !ft.list<[N, H, L], !k> {ft.gen = #ft.normal<0.177>},
    %vsss: !ft.list<[N, H, L], !v> {ft.gen = #ft.normal<1.0>},
    %logs: !ft.list<[H], !g> {ft.gen = #ft.uniform<-0.2, -0.02>})
    -> !ft.list<[N, H, L], !v>
    attributes {ft.lengths = {N = 2 : i64, H = 4 : i64, L = 8 : i64}} {
  %zp = arith.constant dense<0.0> : !p
  %zv = arith.constant dense<0.0> : !v
  %zr = arith.constant dense<0.0> : !r
  %zip = arith.constant dense<0> : !ip
  // The number of positions in a chunk.
  %c0 = arith.constant 0 : index
  %qe = tensor.empty() : !q
  %places = tensor.dim %qe, %c0 : !q
  %ps = arith.index_cast %places : index to i64
  %pt = tensor.from_elements %ps : tensor<i64>
  %pf = arith.sitofp %pt : tensor<i64> to !g
  %pn = tensor.extract %pf[] : !g
  %size = tensor.splat %pn : !r

  // The exponents n - m and n + 1 (the chunk's places only, no data).
  %ipe = tensor.empty() : !ip
  %diff = linalg.generic {indexing_maps = [#n], iterator_types = ["parallel", "parallel"]}
      outs(%ipe : !ip) {
  ^bb0(%old: i64):
    %n = linalg.index 0 : index
    %m = linalg.index 1 : index
    %d = arith.subi %n, %m : index
    %di = arith.index_cast %d : index to i64
    linalg.yield %di : i64
  } -> !ip
  %ice = tensor.empty() : !ic
  %up = linalg.generic {indexing_maps = [#row], iterator_types = ["parallel"]} outs(%ice : !ic) {
  ^bb0(%old: i64):
    %n = linalg.index 0 : index
    %ni = arith.index_cast %n : index to i64
    %one = arith.constant 1 : i64
    %n1 = arith.addi %ni, %one : i64
    linalg.yield %n1 : i64
  } -> !ic
  %causal = arith.cmpi sge, %diff, %zip : !ip
  %fdiff = arith.sitofp %diff : !ip to !p
  %fup = arith.sitofp %up : !ic to !c
  %all = tensor.splat %ps : !ic
  %down = arith.subi %all, %up : !ic
  %fdown = arith.sitofp %down : !ic to !c

  %osss = ft.map (%qss, %kss, %vss = %qsss, %ksss, %vsss
        : !ft.list<[N, H, L], !q>, !ft.list<[N, H, L], !k>, !ft.list<[N, H, L], !v>)
      -> !ft.list<[N, H, L], !v> {
    %oss = ft.map (%qs, %ks, %vs, %log = %qss, %kss, %vss, %logs
          : !ft.list<[H, L], !q>, !ft.list<[H, L], !k>, !ft.list<[H, L], !v>, !ft.list<[H], !g>)
        -> !ft.list<[H, L], !v> {
      %pe = tensor.empty() : !p
      %ce = tensor.empty() : !c
      %ve = tensor.empty() : !v
      %re = tensor.empty() : !r
      %lp = linalg.broadcast ins(%log : !g) outs(%pe : !p) dimensions = [0, 1]
      %lc = linalg.broadcast ins(%log : !g) outs(%ce : !c) dimensions = [0]
      %lr = linalg.broadcast ins(%log : !g) outs(%re : !r) dimensions = [0, 1]
      // Masked before the exponential, which would overflow for small γ.
      %ed = arith.mulf %lp, %fdiff : !p
      %em = arith.select %causal, %ed, %zp : !see, !p
      %dx = math.exp %em : !p
      %decay = arith.select %causal, %dx, %zp : !see, !p
      %eu = arith.mulf %lc, %fup : !c
      %xi = math.exp %eu : !c
      %xib = linalg.broadcast ins(%xi : !c) outs(%ve : !v) dimensions = [1]
      %ez = arith.mulf %lc, %fdown : !c
      %zeta = math.exp %ez : !c
      %zetab = linalg.broadcast ins(%zeta : !c) outs(%ve : !v) dimensions = [1]
      %eb = arith.mulf %lr, %size : !r
      %gb = math.exp %eb : !r
      %rs, %os = ft.scanl (%q, %k, %v = %qs, %ks, %vs
            : !ft.list<[L], !q>, !ft.list<[L], !k>, !ft.list<[L], !v>)
          init (%r = %zr : !r) -> !ft.list<[L], !r>, !ft.list<[L], !v> {
        %s = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
        %sd = arith.mulf %s, %decay : !p
        %qr = linalg.matmul ins(%q, %r : !q, !r) outs(%zv : !v) -> !v
        %cross = arith.mulf %qr, %xib : !v
        %o = linalg.matmul ins(%sd, %v : !p, !v) outs(%cross : !v) -> !v
        %zeta_v = arith.mulf %v, %zetab : !v
        %kept = arith.mulf %gb, %r : !r
        %r1 = linalg.matmul indexing_maps = [#lhsT, #rhs, #out] ins(%k, %zeta_v : !k, !v) outs(%kept : !r) -> !r
        ft.yield %r1 : !r emit %o : !v
      }
      ft.yield %os : !ft.list<[L], !v>
    }
    ft.yield %oss : !ft.list<[H, L], !v>
  }
  return %osss : !ft.list<[N, H, L], !v>
}
