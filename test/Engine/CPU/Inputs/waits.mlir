// A recurrence whose rows of a step the cores share; each step reads other rows of the one before.
!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

etdg.graph @waits(%xs: !etdg.buffer<[L, N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[L, N], !x>
    attributes {ft.lengths = {N = 9 : i64, L = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[L, N], !x>
  etdg.block @r [scanl, map] (k, i) in [0, L) x [0, N)
      reads (%x = %xs[k, i] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.5 : f32, k >= 1: %ys[k - 1, N - i - 1]} : !x)
      writes (%ys[k, i])
      schedule <map = affine_map<(k, i) -> (k, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>]> {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[L, N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[L, N], !x>
  etdg.return %ys : !etdg.buffer<[L, N], !x>
}
