// One-dimensional convolution over N sequences, three taps, same length.
//
//     y[k] = b + Σ_w x[k + w - 1] W_w,   w = 0, 1, 2,   x outside the sequence is 0
//
// where x has 64 channels and y 64. `ft.window` reads overlapping neighbourhoods
// without making them; the padding is part of the access. The sum over taps may
// be taken in any order: `combine` adds, and 0 is its identity, while the sum of
// one position starts from the bias.
//
// Not in the paper, which names convolutions as the use of the window operator.

!x = tensor<1x64xf32>
!y = tensor<1x64xf32>
!w = tensor<64x64xf32>

func.func @conv1d(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.normal<1.0>},
    %ws: !ft.list<[3], !w> {ft.gen = #ft.normal<0.07>},
    %b: !y {ft.gen = #ft.normal<0.1>})
    -> !ft.list<[N, L], !y>
    attributes {ft.lengths = {N = 8 : i64, L = 128 : i64}} {
  %zero = arith.constant dense<0.0> : !y
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !y> {
    %windows = ft.window %xs size 3 boundary zero : !ft.list<[L], !x>
    %ys = ft.map (%window = %windows : !ft.list<[L, 3], !x>) -> !ft.list<[L], !y> {
      %y = ft.reduce (%x, %w = %window, %ws : !ft.list<[3], !x>, !ft.list<[3], !w>)
          init (%acc = %b : !y) -> !y {
        %s = linalg.matmul ins(%x, %w : !x, !w) outs(%acc : !y) -> !y
        ft.yield %s : !y
      } combine (%p, %q) {
        %pq = arith.addf %p, %q : !y
        ft.yield %pq : !y
      } identity (%zero : !y)
      ft.yield %y : !y
    }
    ft.yield %ys : !ft.list<[L], !y>
  }
  return %yss : !ft.list<[N, L], !y>
}
