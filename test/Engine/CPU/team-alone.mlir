// One of the threads computes what all of them read in the same step, and that is long enough for the
// others to be ahead of it, did they not wait.

// RUN: %ft_bin/ft-run %s --entry=alone --engine=cpu --compare=interpret | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=alone --engine=cpu --compare=interpret --dim N=1 --dim T=3 | FileCheck %s

// CHECK: equal
// CHECK-NOT: NOT EQUAL

!m = tensor<64x64xi32>
etdg.graph @alone(%xs: !etdg.buffer<[T], !m>, %ys: !etdg.buffer<[N], !m>) -> !etdg.buffer<[T, N], !m>
    attributes {ft.bounds = #ft.bounds<"N >= 1">, ft.lengths = {N = 8 : i64, T = 12 : i64}} {
  %out = etdg.buffer : !etdg.buffer<[T, N], !m>
  etdg.block @steps [scanl] (t) in [0, T)
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = cores>] target = "cpu"> {
    %w = etdg.buffer : !etdg.buffer<[], !m>
    etdg.block @one [] (t |)
        reads (%x = %xs[t] : !m, %s = {t >= 1: %out[t - 1, N - 1], t = 0: splat 1 : i32} : !m)
        writes (%w[]) {
      %p = linalg.matmul ins(%x, %s : !m, !m) outs(%x : !m) -> !m
      %q = linalg.matmul ins(%p, %x : !m, !m) outs(%p : !m) -> !m
      etdg.yield %q : !m
    } : !etdg.buffer<[T], !m>, !etdg.buffer<[T, N], !m>, !etdg.buffer<[], !m>
    etdg.block @all [map] (t | i) in [0, N)
        reads (%m = %w[] : !m, %y = %ys[i] : !m)
        writes (%out[t, i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core>] before = cores target = "cpu"> {
      %r = linalg.matmul ins(%y, %m : !m, !m) outs(%y : !m) -> !m
      etdg.yield %r : !m
    } : !etdg.buffer<[], !m>, !etdg.buffer<[N], !m>, !etdg.buffer<[T, N], !m>
  }
  etdg.return %out : !etdg.buffer<[T, N], !m>
}
