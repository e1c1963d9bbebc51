// Dilated LSTM, three layers (FractalTensor §6.1, Table 6).
//
// The cell of stacked_lstm.mlir; in layer l both of its states come from 2^l
// tokens before, and are 0 for the first 2^l. Results are h and c of the last
// layer; the c of the lower layers leave nowhere.
//
// The paper gives no listing.

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @dilated_lstm(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %wss: !ft.list<[3, 4], !w> {ft.gen = #ft.normal<0.125>},
    %uss: !ft.list<[3, 4], !w> {ft.gen = #ft.normal<0.125>},
    %bss: !ft.list<[3, 4], !x> {ft.gen = #ft.normal<0.1>})
    -> (!ft.list<[N, L], !x>, !ft.list<[N, L], !x>)
    attributes {ft.lengths = {N = 4 : i64, L = 32 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %one = arith.constant dense<1.0> : !x

  // Layer 0
  %ws0 = ft.at %wss[0] : !ft.list<[3, 4], !w>
  %us0 = ft.at %uss[0] : !ft.list<[3, 4], !w>
  %bs0 = ft.at %bss[0] : !ft.list<[3, 4], !x>
  %h0, %c0 = ft.map (%xs = %xss : !ft.list<[N, L], !x>)
      -> !ft.list<[N, L], !x>, !ft.list<[N, L], !x> {
    %hs, %cs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h, %c = %zero, %zero : !x, !x) lag 1
        -> !ft.list<[L], !x>, !ft.list<[L], !x> {
      %gs = ft.map (%w, %u, %b = %ws0, %us0, %bs0
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
      %cn = arith.addf %keep, %add : !x
      %t = math.tanh %cn : !x
      %hn = arith.mulf %o, %t : !x
      ft.yield %hn, %cn : !x, !x
    }
    ft.yield %hs, %cs : !ft.list<[L], !x>, !ft.list<[L], !x>
  }

  // Layer 1
  %ws1 = ft.at %wss[1] : !ft.list<[3, 4], !w>
  %us1 = ft.at %uss[1] : !ft.list<[3, 4], !w>
  %bs1 = ft.at %bss[1] : !ft.list<[3, 4], !x>
  %h1, %c1 = ft.map (%xs = %h0 : !ft.list<[N, L], !x>)
      -> !ft.list<[N, L], !x>, !ft.list<[N, L], !x> {
    %hs, %cs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h, %c = %zero, %zero : !x, !x) lag 2
        -> !ft.list<[L], !x>, !ft.list<[L], !x> {
      %gs = ft.map (%w, %u, %b = %ws1, %us1, %bs1
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
      %cn = arith.addf %keep, %add : !x
      %t = math.tanh %cn : !x
      %hn = arith.mulf %o, %t : !x
      ft.yield %hn, %cn : !x, !x
    }
    ft.yield %hs, %cs : !ft.list<[L], !x>, !ft.list<[L], !x>
  }

  // Layer 2
  %ws2 = ft.at %wss[2] : !ft.list<[3, 4], !w>
  %us2 = ft.at %uss[2] : !ft.list<[3, 4], !w>
  %bs2 = ft.at %bss[2] : !ft.list<[3, 4], !x>
  %h2, %c2 = ft.map (%xs = %h1 : !ft.list<[N, L], !x>)
      -> !ft.list<[N, L], !x>, !ft.list<[N, L], !x> {
    %hs, %cs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h, %c = %zero, %zero : !x, !x) lag 4
        -> !ft.list<[L], !x>, !ft.list<[L], !x> {
      %gs = ft.map (%w, %u, %b = %ws2, %us2, %bs2
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
      %cn = arith.addf %keep, %add : !x
      %t = math.tanh %cn : !x
      %hn = arith.mulf %o, %t : !x
      ft.yield %hn, %cn : !x, !x
    }
    ft.yield %hs, %cs : !ft.list<[L], !x>, !ft.list<[L], !x>
  }
  return %h2, %c2 : !ft.list<[N, L], !x>, !ft.list<[N, L], !x>
}
