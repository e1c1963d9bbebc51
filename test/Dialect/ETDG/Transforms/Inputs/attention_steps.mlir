// softmax(q kT) v, each step a nest of its own over all rows.
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhsT = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

!q = tensor<3x8xf32>
!k = tensor<4x8xf32>
!v = tensor<4x5xf32>
!p = tensor<3x4xf32>
!r = tensor<3xf32>
!o = tensor<3x5xf32>

func.func @attention_steps(%qs: !ft.list<[Q], !q> {ft.gen = #ft.normal<1.0>},
                           %ks: !ft.list<[K], !k> {ft.gen = #ft.normal<1.0>},
                           %vs: !ft.list<[K], !v> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[Q], !o>
    attributes {ft.bounds = #ft.bounds<"K >= 1">, ft.lengths = {Q = 3 : i64, K = 5 : i64}} {
  %low = arith.constant dense<-1.0e30> : !r
  %zr = arith.constant dense<0.0> : !r
  %zo = arith.constant dense<0.0> : !o
  %zp = arith.constant dense<0.0> : !p
  %sss = ft.map (%q = %qs : !ft.list<[Q], !q>) -> !ft.list<[Q, K], !p> {
    %ss = ft.map (%k = %ks : !ft.list<[K], !k>) -> !ft.list<[K], !p> {
      %st = linalg.matmul indexing_maps = [#lhs, #rhsT, #out] ins(%q, %k : !q, !k) outs(%zp : !p) -> !p
      ft.yield %st : !p
    }
    ft.yield %ss : !ft.list<[K], !p>
  }
  %ms = ft.map (%ss = %sss : !ft.list<[Q, K], !p>) -> !ft.list<[Q], !r> {
    %m = ft.reduce (%s = %ss : !ft.list<[K], !p>) init (%acc = %low : !r) -> !r {
      %x = linalg.reduce { arith.maximumf } ins(%s : !p) outs(%acc : !r) dimensions = [1]
      ft.yield %x : !r
    } combine (%a, %b) {
      %x = arith.maximumf %a, %b : !r
      ft.yield %x : !r
    } identity (%low : !r)
    ft.yield %m : !r
  }
  %ess = ft.map (%ss, %m = %sss, %ms : !ft.list<[Q, K], !p>, !ft.list<[Q], !r>) -> !ft.list<[Q, K], !p> {
    %es = ft.map (%s = %ss : !ft.list<[K], !p>) -> !ft.list<[K], !p> {
      %e = tensor.empty() : !p
      %mb = linalg.broadcast ins(%m : !r) outs(%e : !p) dimensions = [1]
      %d = arith.subf %s, %mb : !p
      %x = math.exp %d : !p
      ft.yield %x : !p
    }
    ft.yield %es : !ft.list<[K], !p>
  }
  %ns = ft.map (%es = %ess : !ft.list<[Q, K], !p>) -> !ft.list<[Q], !r> {
    %n = ft.reduce (%s = %es : !ft.list<[K], !p>) init (%acc = %zr : !r) -> !r {
      %x = linalg.reduce { arith.addf } ins(%s : !p) outs(%acc : !r) dimensions = [1]
      ft.yield %x : !r
    } combine (%a, %b) {
      %x = arith.addf %a, %b : !r
      ft.yield %x : !r
    } identity (%zr : !r)
    ft.yield %n : !r
  }
  %os = ft.map (%es, %n = %ess, %ns : !ft.list<[Q, K], !p>, !ft.list<[Q], !r>) -> !ft.list<[Q], !o> {
    %o = ft.reduce (%s, %v = %es, %vs : !ft.list<[K], !p>, !ft.list<[K], !v>) init (%acc = %zo : !o) -> !o {
      %x = linalg.matmul ins(%s, %v : !p, !v) outs(%acc : !o) -> !o
      ft.yield %x : !o
    } combine (%a, %b) {
      %x = arith.addf %a, %b : !o
      ft.yield %x : !o
    } identity (%zo : !o)
    %e = tensor.empty() : !o
    %nb = linalg.broadcast ins(%n : !r) outs(%e : !o) dimensions = [1]
    %y = arith.divf %o, %nb : !o
    ft.yield %y : !o
  }
  return %os : !ft.list<[Q], !o>
}
