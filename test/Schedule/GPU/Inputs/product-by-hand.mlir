// A product of 30 rows of a list of three, whose tile is said by hand.
!x = tensor<30x44xf32>
!w = tensor<44x36xf32>
!y = tensor<30x36xf32>
etdg.graph @f(%xs: !etdg.buffer<[N], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N], !y> attributes {ft.lengths = {N = 3 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !y>
  etdg.block @p [map] (i) in [0, N) reads (%x = %xs[i] : !x, %w0 = %w[] : !w) writes (%ys[i])
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, tile = 2, kind = parallel, level = grid>, <dimension = 0, most = 2, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>>
      attributes {etdg.layouts = [LAYOUT]} {
    %z = arith.constant dense<0.0> : !y
    %y = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w0 : !x, !w) outs(%z : !y) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %p = arith.mulf %a, %b : f32
      %s = arith.addf %c, %p : f32
      linalg.yield %s : f32
    } -> !y
    etdg.yield %y : !y
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N], !y>
  etdg.return %ys : !etdg.buffer<[N], !y>
}
