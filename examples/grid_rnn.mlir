// Stacked grid RNN, two directions (FractalTensor §6.1, Fig. 9; the cell of its
// published programs).
//
// Each of D layers is an S x T grid. The cell at (i, j) reads its two inputs from
// the layer below and one state from each neighbour, hx from above and hy from
// the left:
//
//     s         = hx[d, i-1, j] Ux_d + hy[d, i, j-1] Uy_d + b_d
//     hx[d,i,j] = tanh(x W_d + s),     hy[d,i,j] = tanh(y W_d + s)
//
// where x = hx[d-1, i, j], y = hy[d-1, i, j], and below the first layer x is word
// i of the source sentence, y word j of the target. States outside the grid are 0.
// All cells with the same d + i + j may run at once: D + S + T - 2 steps.
//
// The paper gives no listing. Its published cell multiplies the concatenation of
// the two states by one matrix of twice the height; Ux and Uy are its two halves.

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @grid_rnn(
    %srcs: !ft.list<[N, S], !x> {ft.gen = #ft.normal<1.0>},
    %trgs: !ft.list<[N, T], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[D], !w> {ft.gen = #ft.normal<0.125>},
    %uxs: !ft.list<[D], !w> {ft.gen = #ft.normal<0.088>},
    %uys: !ft.list<[D], !w> {ft.gen = #ft.normal<0.088>},
    %bs: !ft.list<[D], !x> {ft.gen = #ft.normal<0.1>})
    -> (!ft.list<[N, D, S, T], !x>, !ft.list<[N, D, S, T], !x>)
    attributes {ft.lengths = {N = 4 : i64, D = 3 : i64, S = 8 : i64, T = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %hxs, %hys = ft.map (%src, %trg = %srcs, %trgs : !ft.list<[N, S], !x>, !ft.list<[N, T], !x>)
      -> !ft.list<[N, D, S, T], !x>, !ft.list<[N, D, S, T], !x> {
    // Word i all along row i, word j all along column j: access only, no copies.
    %columns = ft.repeat %src times T : !ft.list<[S], !x>
    %x0 = ft.transpose %columns [1, 0] : !ft.list<[T, S], !x>
    %y0 = ft.repeat %trg times S : !ft.list<[T], !x>
    %border = ft.repeat %zero times T : !x
    %hx, %hy = ft.scanl (%w, %ux, %uy, %b = %ws, %uxs, %uys, %bs
          : !ft.list<[D], !w>, !ft.list<[D], !w>, !ft.list<[D], !w>, !ft.list<[D], !x>)
        init (%xss, %yss = %x0, %y0 : !ft.list<[S, T], !x>, !ft.list<[S, T], !x>)
        -> !ft.list<[D, S, T], !x>, !ft.list<[D, S, T], !x> {
      // Down the rows: the state is the row above.
      %hx1, %hy1 = ft.scanl (%xs, %ys = %xss, %yss : !ft.list<[S, T], !x>, !ft.list<[S, T], !x>)
          init (%above = %border : !ft.list<[T], !x>)
          -> !ft.list<[S, T], !x>, !ft.list<[S, T], !x> {
        // Along the row: the state is the cell to the left.
        %hyr, %hxr = ft.scanl (%x, %y, %up = %xs, %ys, %above
              : !ft.list<[T], !x>, !ft.list<[T], !x>, !ft.list<[T], !x>)
            init (%left = %zero : !x) -> !ft.list<[T], !x>, !ft.list<[T], !x> {
          %s0 = linalg.matmul ins(%up, %ux : !x, !w) outs(%b : !x) -> !x
          %s1 = linalg.matmul ins(%left, %uy : !x, !w) outs(%s0 : !x) -> !x
          %gx = linalg.matmul ins(%x, %w : !x, !w) outs(%s1 : !x) -> !x
          %gy = linalg.matmul ins(%y, %w : !x, !w) outs(%s1 : !x) -> !x
          %nx = math.tanh %gx : !x
          %ny = math.tanh %gy : !x
          ft.yield %ny : !x emit %nx : !x
        }
        ft.yield %hxr : !ft.list<[T], !x> emit %hyr : !ft.list<[T], !x>
      }
      ft.yield %hx1, %hy1 : !ft.list<[S, T], !x>, !ft.list<[S, T], !x>
    }
    ft.yield %hx, %hy : !ft.list<[D, S, T], !x>, !ft.list<[D, S, T], !x>
  }
  return %hxs, %hys : !ft.list<[N, D, S, T], !x>, !ft.list<[N, D, S, T], !x>
}
