// Back-to-back GEMM as two nests: P = A B, then Q = P C over the same rows.

!t = tensor<8x8xi32>
func.func @b2b(%a: !ft.list<[M], !t>, %b: !ft.list<[N], !t>, %c: !ft.list<[N, P], !t>) -> !ft.list<[M, P], !t>
    attributes {ft.lengths = {M = 3 : i64, N = 5 : i64, P = 4 : i64}} {
  %zero = arith.constant dense<0> : !t
  %p = ft.map (%x = %a : !ft.list<[M], !t>) -> !ft.list<[M, N], !t> {
    %r = ft.map (%y = %b : !ft.list<[N], !t>) -> !ft.list<[N], !t> {
      %z = linalg.matmul ins(%x, %y : !t, !t) outs(%zero : !t) -> !t
      ft.yield %z : !t
    }
    ft.yield %r : !ft.list<[N], !t>
  }
  %q = ft.map (%r = %p : !ft.list<[M, N], !t>) -> !ft.list<[M, P], !t> {
    %ct = ft.transpose %c [1, 0] : !ft.list<[N, P], !t>
    %u = ft.map (%col = %ct : !ft.list<[P, N], !t>) -> !ft.list<[P], !t> {
      %s = ft.reduce (%y, %z = %r, %col : !ft.list<[N], !t>, !ft.list<[N], !t>) init (%acc = %zero : !t) -> !t {
        %w = linalg.matmul ins(%y, %z : !t, !t) outs(%acc : !t) -> !t
        ft.yield %w : !t
      } combine (%g, %h) {
        %w = arith.addi %g, %h : !t
        ft.yield %w : !t
      } identity (%zero : !t)
      ft.yield %s : !t
    }
    ft.yield %u : !ft.list<[P], !t>
  }
  return %q : !ft.list<[M, P], !t>
}
