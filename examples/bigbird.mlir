// BigBird, block-sparse attention (FractalTensor, Listing 4, made right).
//
// Of L blocks of 32 positions, block i of the queries attends to a *set* of blocks of
// keys: its window i-1, i, i+1, the two global blocks 0 and L-1, and R random ones,
// whose numbers are data. The two global blocks of queries attend to everything. The
// softmax is the online one of flash_attention.mlir.
//
// Window, global and random blocks may name the same block twice (always for i = 1):
// the keys are the list
//
//     0, i-1, i, i+1, L-1, random_0 … random_{R-1}
//
// and an entry that equals an earlier one is masked. The result is the concatenation
// of the first row, the middle rows and the last row.
//
// Against the paper: Listing 4 leaves the random blocks out; adds the global
// products without knowing of duplicates; multiplies the weights of the window by the
// scores (`wqk`) instead of the values (`wvs`); names its three parts gy1, gy2, oy
// after having computed go1, go2, wo; computes L-4 rows, without the first and last
// two; and leaves 1/√d out.
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
!see = tensor<32x32xi1>
!i = tensor<i64> // the number of a block
!t = tensor<i1>

func.func @bigbird(
    %qss: !ft.list<[B, L], !q> {ft.gen = #ft.normal<1.0>},
    %kss: !ft.list<[B, L], !k> {ft.gen = #ft.normal<1.0>},
    %vss: !ft.list<[B, L], !v> {ft.gen = #ft.normal<1.0>},
    %random: !ft.list<[L - 2, R], !i> {ft.gen = #ft.index<0, L>})
    -> !ft.list<[B, L], !o>
    attributes {ft.bounds = #ft.bounds<"L >= 3">,
                ft.lengths = {B = 2 : i64, L = 8 : i64, R = 2 : i64}} {
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
  %lp = tensor.splat %lowest : !p
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
  %false = arith.constant dense<false> : !t
  %numbers = ft.iota : !ft.list<[L], !i>
  %places = ft.iota : !ft.list<[R + 5], !i>

  // Which blocks each middle row attends to, and which of them it has already.
  %idw = ft.window %numbers size 3 : !ft.list<[L], !i>
  %id0 = ft.slice %numbers[0 to 1] : !ft.list<[L], !i>
  %idl = ft.slice %numbers[-1 to L] : !ft.list<[L], !i>
  %dups = ft.map (%idm, %idr = %idw, %random : !ft.list<[L - 2, 3], !i>, !ft.list<[L - 2, R], !i>)
      -> !ft.list<[L - 2, R + 5], !t> {
    %ids = ft.concat %id0, %idm, %idl, %idr
        : !ft.list<[1], !i>, !ft.list<[3], !i>, !ft.list<[1], !i>, !ft.list<[R], !i>
    %dup = ft.map (%id, %at = %ids, %places : !ft.list<[R + 5], !i>, !ft.list<[R + 5], !i>)
        -> !ft.list<[R + 5], !t> {
      %any = ft.foldl (%id2, %at2 = %ids, %places : !ft.list<[R + 5], !i>, !ft.list<[R + 5], !i>)
          init (%found = %false : !t) -> !t {
        %same = arith.cmpi eq, %id, %id2 : !i
        %earlier = arith.cmpi slt, %at2, %at : !i
        %hit = arith.andi %same, %earlier : !t
        %now = arith.ori %found, %hit : !t
        ft.yield %now : !t
      }
      ft.yield %any : !t
    }
    ft.yield %dup : !ft.list<[R + 5], !t>
  }

  %oss = ft.map (%qs, %ks, %vs = %qss, %kss, %vss
        : !ft.list<[B, L], !q>, !ft.list<[B, L], !k>, !ft.list<[B, L], !v>)
      -> !ft.list<[B, L], !o> {
    // The two global rows.
    %qfirst = ft.slice %qs[0 to 1] : !ft.list<[L], !q>
    %first = ft.map (%q = %qfirst : !ft.list<[1], !q>) -> !ft.list<[1], !o> {
      %mf, %sf, %of = ft.reduce (%k, %v = %ks, %vs
            : !ft.list<[L], !k>, !ft.list<[L], !v>)
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
    %qlast = ft.slice %qs[-1 to L] : !ft.list<[L], !q>
    %last = ft.map (%q = %qlast : !ft.list<[1], !q>) -> !ft.list<[1], !o> {
      %mf, %sf, %of = ft.reduce (%k, %v = %ks, %vs
            : !ft.list<[L], !k>, !ft.list<[L], !v>)
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

    // The rows between them.
    %qm = ft.slice %qs[1 to -1] : !ft.list<[L], !q>
    %kw = ft.window %ks size 3 : !ft.list<[L], !k>
    %vw = ft.window %vs size 3 : !ft.list<[L], !v>
    %k0 = ft.slice %ks[0 to 1] : !ft.list<[L], !k>
    %kl = ft.slice %ks[-1 to L] : !ft.list<[L], !k>
    %v0 = ft.slice %vs[0 to 1] : !ft.list<[L], !v>
    %vl = ft.slice %vs[-1 to L] : !ft.list<[L], !v>
    %middle = ft.map (%q, %km, %vm, %rnd, %dup = %qm, %kw, %vw, %random, %dups
          : !ft.list<[L - 2], !q>, !ft.list<[L - 2, 3], !k>, !ft.list<[L - 2, 3], !v>,
            !ft.list<[L - 2, R], !i>, !ft.list<[L - 2, R + 5], !t>)
        -> !ft.list<[L - 2], !o> {
      %kr = ft.gather %ks[%rnd] : !ft.list<[L], !k>, !ft.list<[R], !i>
      %vr = ft.gather %vs[%rnd] : !ft.list<[L], !v>, !ft.list<[R], !i>
      %keys = ft.concat %k0, %km, %kl, %kr
          : !ft.list<[1], !k>, !ft.list<[3], !k>, !ft.list<[1], !k>, !ft.list<[R], !k>
      %values = ft.concat %v0, %vm, %vl, %vr
          : !ft.list<[1], !v>, !ft.list<[3], !v>, !ft.list<[1], !v>, !ft.list<[R], !v>
      %mf, %sf, %of = ft.reduce (%k, %v, %twice = %keys, %values, %dup
            : !ft.list<[R + 5], !k>, !ft.list<[R + 5], !v>, !ft.list<[R + 5], !t>)
          init (%m, %s, %o = %low, %zr, %zo : !r, !r, !o) -> !r, !r, !o {
        %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
        %sc = arith.mulf %st, %scale : !p
        // A block that stands earlier in the list counts once.
        %de = tensor.empty() : !see
        %again = linalg.broadcast ins(%twice : !t) outs(%de : !see) dimensions = [0, 1]
        %seen = arith.select %again, %lp, %sc : !see, !p
        %m1 = linalg.reduce { arith.maximumf } ins(%seen : !p) outs(%m : !r) dimensions = [1]
        %pe = tensor.empty() : !p
        %mb = linalg.broadcast ins(%m1 : !r) outs(%pe : !p) dimensions = [1]
        %d = arith.subf %seen, %mb : !p
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
    %os = ft.concat %first, %middle, %last
        : !ft.list<[1], !o>, !ft.list<[L - 2], !o>, !ft.list<[1], !o>
    ft.yield %os : !ft.list<[L], !o>
  }
  return %oss : !ft.list<[B, L], !o>
}
