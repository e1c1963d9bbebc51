// RUN: %ft_bin/ft-run %s --engine=cpu --compare=interpret
// RUN: %ft_bin/ft-run %s --engine=cpu --compare=interpret --dim N=1 --dim D=1 --dim L=1
// RUN: %ft_bin/ft-run %s --engine=cpu --compare=interpret --dim N=7 --dim D=1 --dim L=7
// RUN: %ft_bin/ft-run %s --engine=cpu --compare=interpret --dim N=1 --dim D=7 --dim L=1
// RUN: %ft_bin/ft-run %s --engine=cpu --compare=interpret --dim N=1 --dim D=5 --dim L=8
// RUN: %ft_bin/ft-run %s --engine=cpu --compare=interpret --dim N=3 --dim D=127 --dim L=7
// RUN: %ft_bin/ft-run %s --engine=cpu --compare=interpret --dim N=0 --dim D=2 --dim L=2

// The stacked RNN of examples/stacked_rnn.mlir along its wavefront: T of Fig. 6, t = j + k first,
// then the layer and the sequence. Cells of one step run on all threads.

#wave = #etdg.schedule<map = affine_map<(t, j, i) -> (t, j, i)>,
  loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>, <dimension = 2, kind = parallel>]>

etdg.graph @stacked_rnn(%xs: !etdg.buffer<[N, L], tensor<1x16xf32>> {ft.gen = #ft.normal<1.0>},
                        %ws: !etdg.buffer<[D], tensor<16x16xf32>> {ft.gen = #ft.normal<0.05>})
    -> !etdg.buffer<[N, D, L], tensor<1x16xf32>>
    attributes {ft.lengths = {D = 4 : i64, L = 9 : i64, N = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, D, L], tensor<1x16xf32>>
  etdg.nest schedule #wave {
    etdg.block @r0 [scanl, map, map] (t, j, i) in = 0 x = 0 x [0, N) where D >= 1 and L >= 1
        reads (%x = %xs[i, t] : tensor<1x16xf32>, %w = %ws[j] : tensor<16x16xf32>, %s = splat 0.0 : f32 : tensor<1x16xf32>)
        writes (%ys[i, j, t - j]) {
      %y = linalg.matmul ins(%x, %w : tensor<1x16xf32>, tensor<16x16xf32>) outs(%s : tensor<1x16xf32>) -> tensor<1x16xf32>
      etdg.yield %y : tensor<1x16xf32>
    } : !etdg.buffer<[N, L], tensor<1x16xf32>>, !etdg.buffer<[D], tensor<16x16xf32>>, !etdg.buffer<[N, D, L], tensor<1x16xf32>>
    etdg.block @r1 [scanl, map, map] (t, j, i) in [1, L) x = 0 x [0, N) where D >= 1
        reads (%x = %xs[i, t] : tensor<1x16xf32>, %w = %ws[j] : tensor<16x16xf32>, %s = %ys[i, j, t - j - 1] : tensor<1x16xf32>)
        writes (%ys[i, j, t - j]) {
      %y = linalg.matmul ins(%x, %w : tensor<1x16xf32>, tensor<16x16xf32>) outs(%s : tensor<1x16xf32>) -> tensor<1x16xf32>
      etdg.yield %y : tensor<1x16xf32>
    } : !etdg.buffer<[N, L], tensor<1x16xf32>>, !etdg.buffer<[D], tensor<16x16xf32>>, !etdg.buffer<[N, D, L], tensor<1x16xf32>>
    etdg.block @r2 [scanl, map, map] (t, j, i) in [1, D) x = t x [0, N) where L >= 1
        reads (%x = %ys[i, j - 1, t - j] : tensor<1x16xf32>, %w = %ws[j] : tensor<16x16xf32>, %s = splat 0.0 : f32 : tensor<1x16xf32>)
        writes (%ys[i, j, t - j]) {
      %y = linalg.matmul ins(%x, %w : tensor<1x16xf32>, tensor<16x16xf32>) outs(%s : tensor<1x16xf32>) -> tensor<1x16xf32>
      etdg.yield %y : tensor<1x16xf32>
    } : !etdg.buffer<[N, D, L], tensor<1x16xf32>>, !etdg.buffer<[D], tensor<16x16xf32>>
    etdg.block @r3 [scanl, map, map] (t, j, i) in [2, D + L - 1) x [1, D) x [0, N) where t - j - 1 >= 0 and j + L - t - 1 >= 0
        reads (%x = %ys[i, j - 1, t - j] : tensor<1x16xf32>, %w = %ws[j] : tensor<16x16xf32>, %s = %ys[i, j, t - j - 1] : tensor<1x16xf32>)
        writes (%ys[i, j, t - j]) {
      %y = linalg.matmul ins(%x, %w : tensor<1x16xf32>, tensor<16x16xf32>) outs(%s : tensor<1x16xf32>) -> tensor<1x16xf32>
      etdg.yield %y : tensor<1x16xf32>
    } : !etdg.buffer<[N, D, L], tensor<1x16xf32>>, !etdg.buffer<[D], tensor<16x16xf32>>
  }
  etdg.return %ys : !etdg.buffer<[N, D, L], tensor<1x16xf32>>
}
