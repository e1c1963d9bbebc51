// Stacked LSTM (FractalTensor, Listing 2).
//
// Layer d has four weight matrices for the input, four for the state and four
// biases, one per gate; for each token
//
//     g_n = x W_n + h U_n + b_n                       n = 0 … 3
//     i, f, o = σ(g_0), σ(g_1), σ(g_2)
//     c' = f c + i tanh(g_3),    h' = o tanh(c')
//
// and layer d reads the h of layer d-1. Results are h and c of all layers.
//
// Against the paper: Listing 2 writes `foldl` over the layers, which would return
// the last layer alone although its results are named hsss and csss (all layers);
// `scanl` is meant, as in Listing 1. c of a layer is not read by the next one: it
// leaves the scan by `emit`.

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @stacked_lstm(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %wss: !ft.list<[D, 4], !w> {ft.gen = #ft.normal<0.125>},
    %uss: !ft.list<[D, 4], !w> {ft.gen = #ft.normal<0.125>},
    %bss: !ft.list<[D, 4], !x> {ft.gen = #ft.normal<0.1>})
    -> (!ft.list<[N, D, L], !x>, !ft.list<[N, D, L], !x>)
    attributes {ft.lengths = {N = 4 : i64, D = 3 : i64, L = 32 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x
  %hsss, %csss = ft.map (%xs = %xss : !ft.list<[N, L], !x>)
      -> !ft.list<[N, D, L], !x>, !ft.list<[N, D, L], !x> {
    %hss, %css = ft.scanl (%ws, %us, %bs = %wss, %uss, %bss
          : !ft.list<[D, 4], !w>, !ft.list<[D, 4], !w>, !ft.list<[D, 4], !x>)
        init (%below = %xs : !ft.list<[L], !x>)
        -> !ft.list<[D, L], !x>, !ft.list<[D, L], !x> {
      %hs, %cs = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%h, %c = %zero, %zero : !x, !x)
          -> !ft.list<[L], !x>, !ft.list<[L], !x> {
        %gs = ft.map (%w, %u, %b = %ws, %us, %bs
              : !ft.list<[4], !w>, !ft.list<[4], !w>, !ft.list<[4], !x>) -> !ft.list<[4], !x> {
          %xw = linalg.matmul ins(%x, %w : !x, !w) outs(%b : !x) -> !x
          %g = linalg.matmul ins(%h, %u : !x, !w) outs(%xw : !x) -> !x
          ft.yield %g : !x
        }
        %three = ft.slice %gs[0 to 3] : !ft.list<[4], !x>
        %sg = ft.map (%g = %three : !ft.list<[3], !x>) -> !ft.list<[3], !x> {
          %n = arith.negf %g : !x
          %e = math.exp %n : !x
          %d = arith.addf %one, %e : !x
          %s = arith.divf %one, %d : !x
          ft.yield %s : !x
        }
        %i = ft.at %sg[0] : !ft.list<[3], !x>
        %f = ft.at %sg[1] : !ft.list<[3], !x>
        %o = ft.at %sg[2] : !ft.list<[3], !x>
        %g3 = ft.at %gs[3] : !ft.list<[4], !x>
        %cand = math.tanh %g3 : !x
        %keep = arith.mulf %f, %c : !x
        %add = arith.mulf %i, %cand : !x
        %c1 = arith.addf %keep, %add : !x
        %t = math.tanh %c1 : !x
        %h1 = arith.mulf %o, %t : !x
        ft.yield %h1, %c1 : !x, !x
      }
      ft.yield %hs : !ft.list<[L], !x> emit %cs : !ft.list<[L], !x>
    }
    ft.yield %hss, %css : !ft.list<[D, L], !x>, !ft.list<[D, L], !x>
  }
  return %hsss, %csss : !ft.list<[N, D, L], !x>, !ft.list<[N, D, L], !x>
}
