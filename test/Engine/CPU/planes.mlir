// Planes that take each other's places: rows of a leaf end where the planes of a buffer begin again, a state of one plane
// is right whichever thread comes first, and shares of iterations that weigh more than one leave none out.
//
// RUN: %ft_bin/ft-run %s --entry=wrapped --compare=interpret | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=wrapped --compare=interpret --dim D=17 --dim L=5 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=wrapped --compare=interpret --dim D=1 --dim L=1 | FileCheck %s
// RUN: env FT_NUM_THREADS=4 %ft_bin/ft-run %s --entry=in_place --order=random --seed=2 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=3 %ft_bin/ft-run %s --entry=in_place --order=random --seed=7 --dim N=10 --dim T=2 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=5 %ft_bin/ft-run %s --entry=in_place --compare=interpret --dim N=31 | FileCheck %s
// RUN: env FT_NUM_THREADS=4 %ft_bin/ft-run %s --entry=weighed --order=random --seed=5 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=3 %ft_bin/ft-run %s --entry=weighed --order=random --seed=6 --dim N=7 --compare=interpret | FileCheck %s
// Rows that a user wants one by one are right, too; all at once they would take each other's planes.
// RUN: sed 's/level = rows>]>/& attributes {etdg.rows = #etdg.rows<one_by_one>}/' %s > %t.mlir
// RUN: %ft_bin/ft-run %t.mlir --entry=wrapped --compare=interpret | FileCheck %s
// RUN: sed 's/level = rows>]>/& attributes {etdg.rows = #etdg.rows<at_once>}/' %s > %t.mlir
// RUN: not %ft_bin/ft-run %t.mlir --entry=wrapped 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: planes.mlir.tmp.mlir:[[#]]:{{[0-9]+}}: error: rows of this leaf, along k, can't be computed as 'etdg.rows' says: write 0 goes around the planes that are kept; expected runs or one_by_one, found at_once
// CHECK: {{^}}equal

!x = tensor<1x4xi32>

// s[k, j] = s[k, j - 1] + s[k - 1, j], a wavefront at a time; three planes of j for each k.
etdg.graph @wrapped(%xs: !etdg.buffer<[L], !x>, %ks: !etdg.buffer<[D], !x>) -> !etdg.buffer<[D], !x>
    attributes {ft.bounds = #ft.bounds<"L >= 1", "D >= 1">, ft.lengths = {D = 9 : i64, L = 13 : i64}} {
  %s = etdg.buffer live [all, 3] : !etdg.buffer<[D, L], !x>
  %ys = etdg.buffer : !etdg.buffer<[D], !x>
  etdg.block @grid [scanl, map] (t, k) in [0, D + L - 1) x [max(0, t - L + 1), min(D, t + 1))
      reads (%left = {t - k >= 1: %s[k, t - k - 1], t - k <= 0: %ks[k]} : !x,
             %up = {k >= 1: %s[k - 1, t - k], k <= 0: %xs[t]} : !x)
      writes (%s[k, t - k])
      schedule <map = affine_map<(t, k) -> (t, k)>, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, tile = ?, most = 64, kind = parallel, level = core, mapping = block>, <dimension = 1, most = 64, kind = parallel, level = rows>]> {
    %y = arith.addi %left, %up : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[D, L], !x>, !etdg.buffer<[D], !x>, !etdg.buffer<[L], !x>
  etdg.block @last [map] (k) in [0, D) reads (%y = %s[k, L - 1] : !x) writes (%ys[k]) {
    etdg.yield %y : !x
  } : !etdg.buffer<[D, L], !x>, !etdg.buffer<[D], !x>
  etdg.return %ys : !etdg.buffer<[D], !x>
}

// s = 3 s + x at each step.
etdg.graph @in_place(%xs: !etdg.buffer<[N], !x>, %ts: !etdg.buffer<[T], !x>) -> !etdg.buffer<[N], !x>
    attributes {ft.bounds = #ft.bounds<"T >= 1">, ft.lengths = {N = 13 : i64, T = 5 : i64}} {
  %s = etdg.buffer live [1, all] : !etdg.buffer<[T, N], !x>
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @step [scanl, map] (t, i) in [0, T) x [0, N)
      reads (%a = {t = 0: %xs[i], t >= 1: %s[t - 1, i]} : !x, %b = %ts[t] : !x) writes (%s[t, i])
      schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>,
        <dimension = 1, kind = parallel, level = core, mapping = block>]> {
    %c = arith.addi %a, %a : !x
    %d = arith.addi %c, %a : !x
    %y = arith.addi %d, %b : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T], !x>
  etdg.block @last [map] (i) in [0, N) reads (%x = %s[T - 1, i] : !x) writes (%ys[i]) {
    etdg.yield %x : !x
  } : !etdg.buffer<[T, N], !x>, !etdg.buffer<[N], !x>
  etdg.return %ys : !etdg.buffer<[N], !x>
}

// Two regions of which one weighs five times as much as the other: shares that divide no weight.
etdg.graph @weighed(%xs: !etdg.buffer<[N], !x>, %ts: !etdg.buffer<[T], !x>) -> !etdg.buffer<[T, N], !x>
    attributes {ft.bounds = #ft.bounds<"N >= 2">, ft.lengths = {N = 13 : i64, T = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[T, N], !x>
  etdg.nest schedule <map = affine_map<(t, i) -> (t, i)>, loops = [<dimension = 0, kind = sequential, sync = cores>,
      <dimension = 1, kind = parallel, level = core, mapping = block>] weights = [1, 5]> {
    etdg.block @edge [scanl, map] (t, i) in [0, T) x = 0
        reads (%a = {t = 0: %xs[0], t >= 1: %ys[t - 1, N - 1]} : !x) writes (%ys[t, i]) {
      etdg.yield %a : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[T, N], !x>
    etdg.block @inside [scanl, map] (t, i) in [0, T) x [1, N)
        reads (%a = {t = 0: %xs[i], t >= 1: %ys[t - 1, i - 1]} : !x, %b = %ts[t] : !x) writes (%ys[t, i]) {
      %y = arith.addi %a, %b : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T], !x>
  }
  etdg.return %ys : !etdg.buffer<[T, N], !x>
}
