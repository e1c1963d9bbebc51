// Dilated RNN, four layers (FractalTensor §6.1).
//
// In layer l the state comes from 2^l tokens before:
//
//     h[l, k] = tanh(x[l, k] W_l + h[l, k - 2^l] U_l + b_l),   x[0, k] = token k,  x[l, k] = h[l-1, k]
//
// with 0 before the first 2^l tokens. `lag` says so. The distance is a constant of
// the operator, hence one scan per layer; the 2^l interleaved chains of a layer
// are independent of one another. The result is the last layer.
//
// The paper gives no listing; its published program rearranges the tokens of each
// layer into 2^l sequences instead. Any L is legal here, also one that 8 does not divide.

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @dilated_rnn(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[4], !w> {ft.gen = #ft.normal<0.125>},
    %us: !ft.list<[4], !w> {ft.gen = #ft.normal<0.125>},
    %bs: !ft.list<[4], !x> {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 8 : i64, L = 40 : i64}} {
  %zero = arith.constant dense<0.0> : !x

  // Layer 0
  %w0 = ft.at %ws[0] : !ft.list<[4], !w>
  %u0 = ft.at %us[0] : !ft.list<[4], !w>
  %b0 = ft.at %bs[0] : !ft.list<[4], !x>
  %h0 = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) lag 1 -> !ft.list<[L], !x> {
      %xw = linalg.matmul ins(%x, %w0 : !x, !w) outs(%b0 : !x) -> !x
      %g = linalg.matmul ins(%h, %u0 : !x, !w) outs(%xw : !x) -> !x
      %hn = math.tanh %g : !x
      ft.yield %hn : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }

  // Layer 1
  %w1 = ft.at %ws[1] : !ft.list<[4], !w>
  %u1 = ft.at %us[1] : !ft.list<[4], !w>
  %b1 = ft.at %bs[1] : !ft.list<[4], !x>
  %h1 = ft.map (%xs = %h0 : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) lag 2 -> !ft.list<[L], !x> {
      %xw = linalg.matmul ins(%x, %w1 : !x, !w) outs(%b1 : !x) -> !x
      %g = linalg.matmul ins(%h, %u1 : !x, !w) outs(%xw : !x) -> !x
      %hn = math.tanh %g : !x
      ft.yield %hn : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }

  // Layer 2
  %w2 = ft.at %ws[2] : !ft.list<[4], !w>
  %u2 = ft.at %us[2] : !ft.list<[4], !w>
  %b2 = ft.at %bs[2] : !ft.list<[4], !x>
  %h2 = ft.map (%xs = %h1 : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) lag 4 -> !ft.list<[L], !x> {
      %xw = linalg.matmul ins(%x, %w2 : !x, !w) outs(%b2 : !x) -> !x
      %g = linalg.matmul ins(%h, %u2 : !x, !w) outs(%xw : !x) -> !x
      %hn = math.tanh %g : !x
      ft.yield %hn : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }

  // Layer 3
  %w3 = ft.at %ws[3] : !ft.list<[4], !w>
  %u3 = ft.at %us[3] : !ft.list<[4], !w>
  %b3 = ft.at %bs[3] : !ft.list<[4], !x>
  %h3 = ft.map (%xs = %h2 : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) lag 8 -> !ft.list<[L], !x> {
      %xw = linalg.matmul ins(%x, %w3 : !x, !w) outs(%b3 : !x) -> !x
      %g = linalg.matmul ins(%h, %u3 : !x, !w) outs(%xw : !x) -> !x
      %hn = math.tanh %g : !x
      ft.yield %hn : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %h3 : !ft.list<[N, L], !x>
}
