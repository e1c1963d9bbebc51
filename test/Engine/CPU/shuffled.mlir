// The threads of the CPU one at a time, in orders that seeds give, with fresh memory all ones: the schedules' syncs are enough.
//
// RUN: env FT_NUM_THREADS=4 %ft_bin/ft-run %S/team.mlir --entry=stencil --order=random --seed=3 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=4 %ft_bin/ft-run %S/team.mlir --entry=stencil --order=random --seed=8 --plan-seed=2 --dim N=7 --dim T=3 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=3 %ft_bin/ft-run %S/team.mlir --entry=pair --order=random --seed=5 --plan-seed=5 --dim N=33 --dim T=7 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=5 %ft_bin/ft-run %S/team.mlir --entry=triangle --order=random --seed=6 --plan-seed=1 --dim T=31 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=4 %ft_bin/ft-run %s --order=random --seed=1 --compare=interpret | FileCheck %s
// RUN: env FT_NUM_THREADS=4 %ft_bin/ft-run %s --order=random --seed=2 --compare=interpret | FileCheck %s
// RUN: not %ft_bin/ft-run %s --order=declared 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: error: --order is the interpreter's: add --engine=interpret (the CPU's threads have --order=random)
// CHECK: equal
// CHECK-NOT: NOT EQUAL

// A step of the cores: a leaf that one of them runs, then what it gave is shared out.
!x = tensor<1x4xi32>
etdg.graph @alone(%xs: !etdg.buffer<[N], !x>, %ts: !etdg.buffer<[T], !x>) -> !etdg.buffer<[T, N], !x>
    attributes {ft.lengths = {N = 9 : i64, T = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[T, N], !x>
  %cs = etdg.buffer : !etdg.buffer<[T], !x>
  etdg.block @step [scanl] (t) in [0, T)
      schedule <map = affine_map<(t) -> (t)>, loops = [<dimension = 0, kind = sequential, sync = cores>]> {
    etdg.block @sum [] (t |) reads (%a = %ts[t] : !x, %b = {t = 0: splat 1 : i32, t >= 1: %cs[t - 1]} : !x) writes (%cs[t]) {
      %c = arith.addi %a, %b : !x
      etdg.yield %c : !x
    } : !etdg.buffer<[T], !x>, !etdg.buffer<[T], !x>
    etdg.block @all [map] (t | i) in [0, N) reads (%x = %xs[i] : !x, %c = %cs[t] : !x) writes (%ys[t, i])
        schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = core, mapping = block>] before = cores> {
      %y = arith.addi %x, %c : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[T], !x>, !etdg.buffer<[T, N], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[T, N], !x>
}
