// Flash attention (FractalTensor, Listing 3, made right): B batches, H heads, Q
// blocks of 32 queries, K blocks of 32 keys and values.
//
// For each block q of queries the keys and values are visited once, block by block,
// with a running maximum m, sum s and unnormalised result o per query:
//
//     S  = q kᵀ / √d            m' = max(m, rowmax S)        p = exp(S - m')
//     s' = s exp(m - m') + rowsum p                          o' = o exp(m - m') + p v
//
// and o / s once at the end (deferred normalisation). Two partial states of
// different blocks join by `combine`, so the blocks may be visited in any order and
// in parallel pieces.
//
// Against the paper: Listing 3 has 32 batches of queries and 16 of keys and values;
// multiplies q by k instead of kᵀ and leaves 1/√d out; divides by the *old* s, which
// is 0 at the first step, and so normalises at every step by the wrong sum; and
// rescales by exp(m' - m), which grows where it should shrink.
// The numbers that depend on shapes and element types (1/√d, the lowest score) are
// computed from them, so that `--type` may change both; they fold into constants.

// q kᵀ: both operands are read along their second dimension.
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

!q = tensor<32x64xf32> // a block of queries
!k = tensor<32x64xf32> // of keys
!v = tensor<32x64xf32> // of values
!p = tensor<32x32xf32> // their scores
!r = tensor<32xf32>    // one number for each query
!o = tensor<32x64xf32> // a block of results
!s = tensor<f32>       // one number

func.func @flash_attention(
    %qsss: !ft.list<[B, H, Q], !q> {ft.gen = #ft.normal<1.0>},
    %ksss: !ft.list<[B, H, K], !k> {ft.gen = #ft.normal<1.0>},
    %vsss: !ft.list<[B, H, K], !v> {ft.gen = #ft.normal<1.0>})
    -> !ft.list<[B, H, Q], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">,
                ft.lengths = {B = 1 : i64, H = 4 : i64, Q = 4 : i64, K = 4 : i64}} {
  // The lowest score: -1e30, or -3e4 where that overflows (in f16, whose scores stay
  // below 65504 / √d): exp(-inf + inf) is NaN. x + (x - x) is NaN where x overflowed,
  // and the smaller number of it and -3e4 is -3e4.
  %huge = arith.constant dense<-1.0e30> : !s
  %mild = arith.constant dense<-3.0e4> : !s
  %none = arith.subf %huge, %huge : !s
  %huger = arith.addf %huge, %none : !s
  %pick = arith.minnumf %huger, %mild : !s
  %lowest = tensor.extract %pick[] : !s
  %low = tensor.splat %lowest : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !o
  %zp = arith.constant dense<0.0> : !p
  // 1/√d for heads of width d.
  %c1 = arith.constant 1 : index
  %qe = tensor.empty() : !q
  %width = tensor.dim %qe, %c1 : !q
  %wi = arith.index_cast %width : index to i64
  %wt = tensor.from_elements %wi : tensor<i64>
  %wf = arith.sitofp %wt : tensor<i64> to !s
  %root = math.sqrt %wf : !s
  %unit = arith.constant dense<1.0> : !s
  %inverse = arith.divf %unit, %root : !s
  %factor = tensor.extract %inverse[] : !s
  %scale = tensor.splat %factor : !p
  %osss = ft.map (%qss, %kss, %vss = %qsss, %ksss, %vsss
        : !ft.list<[B, H, Q], !q>, !ft.list<[B, H, K], !k>, !ft.list<[B, H, K], !v>)
      -> !ft.list<[B, H, Q], !o> {
    %oss = ft.map (%qs, %ks, %vs = %qss, %kss, %vss
          : !ft.list<[H, Q], !q>, !ft.list<[H, K], !k>, !ft.list<[H, K], !v>)
        -> !ft.list<[H, Q], !o> {
      %os = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q], !o> {
        %mf, %sf, %of = ft.reduce (%k, %v = %ks, %vs
              : !ft.list<[K], !k>, !ft.list<[K], !v>)
            init (%m, %s, %o = %low, %zr, %zo : !r, !r, !o) -> !r, !r, !o {
          %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
          %sc = arith.mulf %st, %scale : !p
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
