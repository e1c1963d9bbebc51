// An LSTM whose input products over all steps are four maps of their own, before the scan.

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

func.func @lstm_gates(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[4], !w>, %us: !ft.list<[4], !w>)
    -> !ft.list<[N, L], !x> attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %w0 = ft.at %ws[0] : !ft.list<[4], !w>
  %w1 = ft.at %ws[1] : !ft.list<[4], !w>
  %w2 = ft.at %ws[2] : !ft.list<[4], !w>
  %w3 = ft.at %ws[3] : !ft.list<[4], !w>
  %u0 = ft.at %us[0] : !ft.list<[4], !w>
  %u1 = ft.at %us[1] : !ft.list<[4], !w>
  %u2 = ft.at %us[2] : !ft.list<[4], !w>
  %u3 = ft.at %us[3] : !ft.list<[4], !w>
  %g0 = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %g = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%x, %w0 : !x, !w) outs(%zero : !x) -> !x
      ft.yield %p : !x
    }
    ft.yield %g : !ft.list<[L], !x>
  }
  %g1 = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %g = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%x, %w1 : !x, !w) outs(%zero : !x) -> !x
      ft.yield %p : !x
    }
    ft.yield %g : !ft.list<[L], !x>
  }
  %g2 = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %g = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%x, %w2 : !x, !w) outs(%zero : !x) -> !x
      ft.yield %p : !x
    }
    ft.yield %g : !ft.list<[L], !x>
  }
  %g3 = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %g = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%x, %w3 : !x, !w) outs(%zero : !x) -> !x
      ft.yield %p : !x
    }
    ft.yield %g : !ft.list<[L], !x>
  }
  %hss = ft.map (%a, %b, %c, %d = %g0, %g1, %g2, %g3
        : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>, !ft.list<[N, L], !x>, !ft.list<[N, L], !x>)
      -> !ft.list<[N, L], !x> {
    %hs, %cs = ft.scanl (%i, %f, %o, %z = %a, %b, %c, %d
          : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>)
        init (%h, %s = %zero, %zero : !x, !x) -> !ft.list<[L], !x>, !ft.list<[L], !x> {
      %i1 = linalg.matmul ins(%h, %u0 : !x, !w) outs(%i : !x) -> !x
      %f1 = linalg.matmul ins(%h, %u1 : !x, !w) outs(%f : !x) -> !x
      %o1 = linalg.matmul ins(%h, %u2 : !x, !w) outs(%o : !x) -> !x
      %z1 = linalg.matmul ins(%h, %u3 : !x, !w) outs(%z : !x) -> !x
      %k = arith.mulf %f1, %s : !x
      %n = arith.mulf %i1, %z1 : !x
      %s1 = arith.addf %k, %n : !x
      %t = math.tanh %s1 : !x
      %h1 = arith.mulf %o1, %t : !x
      ft.yield %h1, %s1 : !x, !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %hss : !ft.list<[N, L], !x>
}
