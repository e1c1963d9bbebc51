// Stacked RNN (FractalTensor, Listing 1).
//
// N sequences of L tokens run through D layers. Layer d has one weight matrix
// W_d, and its token k at depth d is
//
//     y[d, k] = x[d, k] W_d + y[d, k-1],    x[0, k] = token k,  x[d, k] = y[d-1, k],
//
// with y[d, -1] = 0. The outer scan's state is a list, the whole layer below.
// Layer d can start on token k as soon as layer d-1 has finished it: D + L - 1
// steps of a wavefront, not D L.
//
// Against the paper: nothing mended; the sizes are smaller. The recurrence has no
// non-linearity, so the weights are generated small enough that D sums over L
// stay of scale 1.

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @stacked_rnn(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.005>})
    -> !ft.list<[N, D, L], !x>
    attributes {ft.lengths = {N = 8 : i64, D = 4 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %ysss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, D, L], !x> {
    %yss = ft.scanl (%w = %ws : !ft.list<[D], !w>) init (%below = %xs : !ft.list<[L], !x>)
        -> !ft.list<[D, L], !x> {
      %ys = ft.scanl (%x = %below : !ft.list<[L], !x>) init (%s = %zero : !x)
          -> !ft.list<[L], !x> {
        %y = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
        ft.yield %y : !x
      }
      ft.yield %ys : !ft.list<[L], !x>
    }
    ft.yield %yss : !ft.list<[D, L], !x>
  }
  return %ysss : !ft.list<[N, D, L], !x>
}
