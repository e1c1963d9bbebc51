// A transformer's block: heads with their own projections, online attention (examples/flash_attention.mlir), what the heads come to, a norm, and a
// perceptron of F parts. All of it stands in one map over the sequences.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>
!x = tensor<32x64xf32>
!w = tensor<64x64xf32>
!p = tensor<32x32xf32>
!r = tensor<32xf32>
!g = tensor<64xf32>
func.func @transformer(%xss: !ft.list<[B, L], !x> {ft.gen = #ft.normal<1.0>}, %wq: !ft.list<[H], !w> {ft.gen = #ft.normal<0.1>}, %wk: !ft.list<[H], !w> {ft.gen = #ft.normal<0.1>},
    %wv: !ft.list<[H], !w> {ft.gen = #ft.normal<0.1>}, %wo: !ft.list<[H], !w> {ft.gen = #ft.normal<0.1>}, %gamma: !g {ft.gen = #ft.uniform<0.5, 1.5>}, %beta: !g {ft.gen = #ft.normal<0.1>},
    %w1: !ft.list<[F], !w> {ft.gen = #ft.normal<0.1>}, %w2: !ft.list<[F], !w> {ft.gen = #ft.normal<0.1>}) -> !ft.list<[B, L], !x>
   attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {B = 4 : i64, L = 32 : i64, H = 8 : i64, F = 16 : i64}} {
  %zx = arith.constant dense<0.0> : !x
  %zp = arith.constant dense<0.0> : !p
  %zr = arith.constant dense<0.0> : !r
  %low = arith.constant dense<-3.0e4> : !r
  %half = arith.constant dense<0.5> : !x
  %oss = ft.map (%xs = %xss : !ft.list<[B, L], !x>) -> !ft.list<[B, L], !x> {
    %heads = ft.map (%hq, %hk, %hv = %wq, %wk, %wv : !ft.list<[H], !w>, !ft.list<[H], !w>, !ft.list<[H], !w>) -> !ft.list<[H, L], !x> {
      %qs = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
        %q = linalg.matmul ins(%x, %hq : !x, !w) outs(%zx : !x) -> !x
        ft.yield %q : !x
      }
      %ks = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
        %k = linalg.matmul ins(%x, %hk : !x, !w) outs(%zx : !x) -> !x
        ft.yield %k : !x
      }
      %vs = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
        %v = linalg.matmul ins(%x, %hv : !x, !w) outs(%zx : !x) -> !x
        ft.yield %v : !x
      }
      %os = ft.map (%q = %qs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
        %mf, %sf, %of = ft.reduce (%k, %v = %ks, %vs : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%m, %s, %o = %low, %zr, %zx : !r, !r, !x) -> !r, !r, !x {
          %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !x, !x) outs(%zp : !p) -> !p
          %m1 = linalg.reduce { arith.maximumf } ins(%st : !p) outs(%m : !r) dimensions = [1]
          %pe = tensor.empty() : !p
          %mb = linalg.broadcast ins(%m1 : !r) outs(%pe : !p) dimensions = [1]
          %d = arith.subf %st, %mb : !p
          %e = math.exp %d : !p
          %dm = arith.subf %m, %m1 : !r
          %fix = math.exp %dm : !r
          %s0 = arith.mulf %s, %fix : !r
          %s1 = linalg.reduce { arith.addf } ins(%e : !p) outs(%s0 : !r) dimensions = [1]
          %oe = tensor.empty() : !x
          %fixb = linalg.broadcast ins(%fix : !r) outs(%oe : !x) dimensions = [1]
          %o0 = arith.mulf %o, %fixb : !x
          %o1 = linalg.matmul ins(%e, %v : !p, !x) outs(%o0 : !x) -> !x
          ft.yield %m1, %s1, %o1 : !r, !r, !x
        } combine (%ma, %sa, %oa, %mb, %sb, %ob) {
          %mx = arith.maximumf %ma, %mb : !r
          %da = arith.subf %ma, %mx : !r
          %db = arith.subf %mb, %mx : !r
          %fa = math.exp %da : !r
          %fb = math.exp %db : !r
          %ta = arith.mulf %sa, %fa : !r
          %tb = arith.mulf %sb, %fb : !r
          %sx = arith.addf %ta, %tb : !r
          %ce = tensor.empty() : !x
          %fab = linalg.broadcast ins(%fa : !r) outs(%ce : !x) dimensions = [1]
          %fbb = linalg.broadcast ins(%fb : !r) outs(%ce : !x) dimensions = [1]
          %ua = arith.mulf %oa, %fab : !x
          %ub = arith.mulf %ob, %fbb : !x
          %ox = arith.addf %ua, %ub : !x
          ft.yield %mx, %sx, %ox : !r, !r, !x
        } identity (%low, %zr, %zx : !r, !r, !x)
        %e = tensor.empty() : !x
        %sfb = linalg.broadcast ins(%sf : !r) outs(%e : !x) dimensions = [1]
        %o = arith.divf %of, %sfb : !x
        ft.yield %o : !x
      }
      ft.yield %os : !ft.list<[L], !x>
    }
    %byplace = ft.transpose %heads [1, 0] : !ft.list<[H, L], !x>
    %ys = ft.map (%x, %hs = %xs, %byplace : !ft.list<[L], !x>, !ft.list<[L, H], !x>) -> !ft.list<[L], !x> {
      %a = ft.reduce (%h, %o = %hs, %wo : !ft.list<[H], !x>, !ft.list<[H], !w>) init (%s = %x : !x) -> !x {
        %y = linalg.matmul ins(%h, %o : !x, !w) outs(%s : !x) -> !x
        ft.yield %y : !x
      } combine (%l, %r) {
        %c = arith.addf %l, %r : !x
        ft.yield %c : !x
      } identity (%zx : !x)
      %n = ft.layer_norm %a scale %gamma shift %beta epsilon 1.0e-5 : !x, !g
      %f = ft.reduce (%a1, %a2 = %w1, %w2 : !ft.list<[F], !w>, !ft.list<[F], !w>) init (%s = %n : !x) -> !x {
        %h1 = linalg.matmul ins(%n, %a1 : !x, !w) outs(%zx : !x) -> !x
        %t = math.tanh %h1 : !x
        %h2 = arith.mulf %t, %half : !x
        %h3 = linalg.matmul ins(%h2, %a2 : !x, !w) outs(%s : !x) -> !x
        ft.yield %h3 : !x
      } combine (%l, %r) {
        %c = arith.addf %l, %r : !x
        ft.yield %c : !x
      } identity (%zx : !x)
      ft.yield %f : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %oss : !ft.list<[B, L], !x>
}
