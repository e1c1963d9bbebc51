// Attention in plain steps, as a textbook writes it: softmax(q kᵀ / √d) v, with a list
// for each of them. B batches, H heads, Q blocks of 32 queries, K blocks of 32 keys
// and values.
//
//     S = q kᵀ / √d      m = rowmax S      p = exp(S - m)      l = rowsum p      o = (p / l) v
//
// Each of m, l and o needs all blocks of what is before it, so as it stands scores and
// weights of a block of queries are held for all keys. The pass `etdg-online` finds that
// l and o have online forms, exp(x - m) factoring, and makes of the six steps the one
// reduction of flash_attention.mlir; the division moves after it. Nothing in the
// program says so. Not in the paper, which writes the online form by hand (Listing 3).
//
// The numbers that depend on shapes and element types (1/√d, the lowest score) are
// computed from them, as in flash_attention.mlir, so that `--type` may change both.

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

func.func @attention_three_step(
    %qsss: !ft.list<[B, H, Q], !q> {ft.gen = #ft.normal<1.0>},
    %ksss: !ft.list<[B, H, K], !k> {ft.gen = #ft.normal<1.0>},
    %vsss: !ft.list<[B, H, K], !v> {ft.gen = #ft.normal<1.0>})
    -> !ft.list<[B, H, Q], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">,
                ft.lengths = {B = 1 : i64, H = 4 : i64, Q = 4 : i64, K = 4 : i64}} {
  // The lowest score: -1e30, or -3e4 where that overflows. x + (x - x) is NaN where x
  // overflowed, and the smaller number of it and -3e4 is -3e4.
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
        %ss = ft.map (%k = %ks : !ft.list<[K], !k>) -> !ft.list<[K], !p> {
          %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
          %s = arith.mulf %st, %scale : !p
          ft.yield %s : !p
        }
        %m = ft.reduce (%s = %ss : !ft.list<[K], !p>) init (%a = %low : !r) -> !r {
          %b = linalg.reduce { arith.maximumf } ins(%s : !p) outs(%a : !r) dimensions = [1]
          ft.yield %b : !r
        } combine (%a, %b) {
          %c = arith.maximumf %a, %b : !r
          ft.yield %c : !r
        } identity (%low : !r)
        %ps = ft.map (%s = %ss : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
          %e = tensor.empty() : !p
          %mb = linalg.broadcast ins(%m : !r) outs(%e : !p) dimensions = [1]
          %d = arith.subf %s, %mb : !p
          %p = math.exp %d : !p
          ft.yield %p : !p
        }
        %l = ft.reduce (%p = %ps : !ft.list<[K], !p>) init (%a = %zr : !r) -> !r {
          %b = linalg.reduce { arith.addf } ins(%p : !p) outs(%a : !r) dimensions = [1]
          ft.yield %b : !r
        } combine (%a, %b) {
          %c = arith.addf %a, %b : !r
          ft.yield %c : !r
        } identity (%zr : !r)
        %ws = ft.map (%p = %ps : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
          %e = tensor.empty() : !p
          %lb = linalg.broadcast ins(%l : !r) outs(%e : !p) dimensions = [1]
          %w = arith.divf %p, %lb : !p
          ft.yield %w : !p
        }
        %o = ft.reduce (%w, %v = %ws, %vs : !ft.list<[K], !p>, !ft.list<[K], !v>) init (%a = %zo : !o) -> !o {
          %b = linalg.matmul ins(%w, %v : !p, !v) outs(%a : !o) -> !o
          ft.yield %b : !o
        } combine (%a, %b) {
          %c = arith.addf %a, %b : !o
          ft.yield %c : !o
        } identity (%zo : !o)
        ft.yield %o : !o
      }
      ft.yield %os : !ft.list<[Q], !o>
    }
    ft.yield %oss : !ft.list<[H, Q], !o>
  }
  return %osss : !ft.list<[B, H, Q], !o>
}
