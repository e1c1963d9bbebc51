// Attention in three nests: all scores, the running softmax over them, the division.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

!q = tensor<32x64xf32> // a block of queries
!k = tensor<32x64xf32> // of keys
!v = tensor<32x64xf32> // of values
!p = tensor<32x32xf32> // their scores
!r = tensor<32xf32>    // one number for each query
!o = tensor<32x64xf32> // a block of results

func.func @attention_nests(
    %qsss: !ft.list<[B, H, Q], !q> {ft.gen = #ft.normal<1.0>},
    %ksss: !ft.list<[B, H, K], !k> {ft.gen = #ft.normal<1.0>},
    %vsss: !ft.list<[B, H, K], !v> {ft.gen = #ft.normal<1.0>})
    -> !ft.list<[B, H, Q], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">,
                ft.lengths = {B = 1 : i64, H = 2 : i64, Q = 3 : i64, K = 4 : i64}} {
  %low = arith.constant dense<-3.0e4> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !o
  %zp = arith.constant dense<0.0> : !p
  %scale = arith.constant dense<0.125> : !p
  %ssss = ft.map (%qss, %kss = %qsss, %ksss : !ft.list<[B, H, Q], !q>, !ft.list<[B, H, K], !k>)
      -> !ft.list<[B, H, Q, K], !p> {
    %sss = ft.map (%qs, %ks = %qss, %kss : !ft.list<[H, Q], !q>, !ft.list<[H, K], !k>) -> !ft.list<[H, Q, K], !p> {
      %ss = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q, K], !p> {
        %s1 = ft.map (%k = %ks : !ft.list<[K], !k>) -> !ft.list<[K], !p> {
          %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
          %sc = arith.mulf %st, %scale : !p
          ft.yield %sc : !p
        }
        ft.yield %s1 : !ft.list<[K], !p>
      }
      ft.yield %ss : !ft.list<[Q, K], !p>
    }
    ft.yield %sss : !ft.list<[H, Q, K], !p>
  }
  %nsss, %tsss = ft.map (%sss, %vss = %ssss, %vsss : !ft.list<[B, H, Q, K], !p>, !ft.list<[B, H, K], !v>)
      -> !ft.list<[B, H, Q], !r>, !ft.list<[B, H, Q], !o> {
    %nss, %tss = ft.map (%ss, %vs = %sss, %vss : !ft.list<[H, Q, K], !p>, !ft.list<[H, K], !v>)
        -> !ft.list<[H, Q], !r>, !ft.list<[H, Q], !o> {
      %ns, %ts = ft.map (%srow = %ss : !ft.list<[Q, K], !p>) -> !ft.list<[Q], !r>, !ft.list<[Q], !o> {
        %mf, %sf, %of = ft.reduce (%sc, %v = %srow, %vs : !ft.list<[K], !p>, !ft.list<[K], !v>)
            init (%m, %s, %o = %low, %zr, %zo : !r, !r, !o) -> !r, !r, !o {
          %m1 = linalg.reduce { arith.maximumf } ins(%sc : !p) outs(%m : !r) dimensions = [1]
          %pe = tensor.empty() : !p
          %mb = linalg.broadcast ins(%m1 : !r) outs(%pe : !p) dimensions = [1]
          %d = arith.subf %sc, %mb : !p
          %p = math.exp %d : !p
          %dm = arith.subf %m, %m1 : !r
          %fix = math.exp %dm : !r
          %s0 = arith.mulf %s, %fix : !r
          %s1 = linalg.reduce { arith.addf } ins(%p : !p) outs(%s0 : !r) dimensions = [1]
          %oe = tensor.empty() : !o
          %fixb = linalg.broadcast ins(%fix : !r) outs(%oe : !o) dimensions = [1]
          %o0 = arith.mulf %o, %fixb : !o
          %o1 = linalg.matmul ins(%p, %v : !p, !v) outs(%o0 : !o) -> !o
          ft.yield %m1, %s1, %o1 : !r, !r, !o
        } combine (%ma, %sa, %oa, %mb, %sb, %ob) {
          %mx = arith.maximumf %ma, %mb : !r
          %da = arith.subf %ma, %mx : !r
          %db = arith.subf %mb, %mx : !r
          %fa = math.exp %da : !r
          %fb = math.exp %db : !r
          %ta = arith.mulf %sa, %fa : !r
          %tb = arith.mulf %sb, %fb : !r
          %sx = arith.addf %ta, %tb : !r
          %ce = tensor.empty() : !o
          %fab = linalg.broadcast ins(%fa : !r) outs(%ce : !o) dimensions = [1]
          %fbb = linalg.broadcast ins(%fb : !r) outs(%ce : !o) dimensions = [1]
          %ua = arith.mulf %oa, %fab : !o
          %ub = arith.mulf %ob, %fbb : !o
          %ox = arith.addf %ua, %ub : !o
          ft.yield %mx, %sx, %ox : !r, !r, !o
        } identity (%low, %zr, %zo : !r, !r, !o)
        ft.yield %sf, %of : !r, !o
      }
      ft.yield %ns, %ts : !ft.list<[Q], !r>, !ft.list<[Q], !o>
    }
    ft.yield %nss, %tss : !ft.list<[H, Q], !r>, !ft.list<[H, Q], !o>
  }
  %osss = ft.map (%nss, %tss = %nsss, %tsss : !ft.list<[B, H, Q], !r>, !ft.list<[B, H, Q], !o>) -> !ft.list<[B, H, Q], !o> {
    %oss = ft.map (%ns, %ts = %nss, %tss : !ft.list<[H, Q], !r>, !ft.list<[H, Q], !o>) -> !ft.list<[H, Q], !o> {
      %os = ft.map (%sf, %of = %ns, %ts : !ft.list<[Q], !r>, !ft.list<[Q], !o>) -> !ft.list<[Q], !o> {
        %e = tensor.empty() : !o
        %sfb = linalg.broadcast ins(%sf : !r) outs(%e : !o) dimensions = [1]
        %out = arith.divf %of, %sfb : !o
        ft.yield %out : !o
      }
      ft.yield %os : !ft.list<[Q], !o>
    }
    ft.yield %oss : !ft.list<[H, Q], !o>
  }
  return %osss : !ft.list<[B, H, Q], !o>
}
