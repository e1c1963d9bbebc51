// A sequential loop around parallel ones that no dependence-free dimension surrounds: the threads
// share the points of each step. Each point of a step reads its neighbours in the step before, so
// the map is not free; --plan-seed tries other arrangements of the loops.

// RUN: %ft_bin/ft-run %s --entry=stencil --engine=cpu --compare=interpret | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=stencil --engine=cpu --compare=interpret --dim N=1 --dim T=1 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=stencil --engine=cpu --compare=interpret --dim N=127 --dim T=7 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=stencil --engine=cpu --compare=interpret --dim N=7 --dim T=3 --plan-seed=1 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=stencil --engine=cpu --compare=interpret --dim N=7 --dim T=3 --plan-seed=2 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=stencil --engine=cpu --compare=interpret --dim N=7 --dim T=3 --plan-seed=3 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=stencil --engine=cpu --compare=interpret --dim N=7 --dim T=3 --plan-seed=4 | FileCheck %s

// Two nests under one common loop, the second a step after the first, which reads what the second wrote:
// textual order inside a step is all that makes this legal.

// RUN: %ft_bin/ft-run %s --entry=pair --engine=cpu --compare=interpret | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=pair --engine=cpu --compare=interpret --dim N=1 --dim T=1 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=pair --engine=cpu --compare=interpret --dim N=33 --dim T=7 --plan-seed=1 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=pair --engine=cpu --compare=interpret --dim N=33 --dim T=7 --plan-seed=5 | FileCheck %s

// Steps of a triangle, coefficients other than one, a piece that changes along the rows.

// RUN: %ft_bin/ft-run %s --entry=triangle --engine=cpu --compare=interpret | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=triangle --engine=cpu --compare=interpret --dim T=1 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=triangle --engine=cpu --compare=interpret --dim T=31 --plan-seed=1 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=triangle --engine=cpu --compare=interpret --dim T=31 --plan-seed=2 | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=triangle --engine=cpu --compare=interpret --dim T=31 --plan-seed=3 | FileCheck %s

// CHECK: equal
// CHECK-NOT: NOT EQUAL

!x = tensor<1x4xi32>

etdg.graph @stencil(%xs: !etdg.buffer<[N], !x>, %ts: !etdg.buffer<[T], !x>) -> !etdg.buffer<[T + 1, N], !x>
    attributes {ft.lengths = {N = 9 : i64, T = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[T + 1, N], !x>
  etdg.block @first [map] (i) in [0, N) reads (%x = %xs[i] : !x) writes (%ys[0, i]) {
    etdg.yield %x : !x
  } : !etdg.buffer<[N], !x>, !etdg.buffer<[T + 1, N], !x>
  etdg.block @step [scanl, map] (t, i) in [1, T + 1) x [0, N)
      reads (%l = {i = 0: splat 1 : i32, i >= 1: %ys[t - 1, i - 1]} : !x,
             %r = {i = N - 1: splat 2 : i32, i <= N - 2: %ys[t - 1, i + 1]} : !x)
      writes (%ys[t, i]) {
    %y = arith.addi %l, %r : !x
    etdg.yield %y : !x
  } : !etdg.buffer<[T + 1, N], !x>
  etdg.return %ys : !etdg.buffer<[T + 1, N], !x>
}

#first = #etdg.schedule<map = affine_map<(t, i) -> (t, i)>,
  loops = [<dimension = 0, kind = sequential>, <dimension = 1, kind = parallel>]>

etdg.graph @pair(%xs: !etdg.buffer<[T, N], !x>) -> (!etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>)
    attributes {ft.lengths = {N = 6 : i64, T = 5 : i64}} {
  %as = etdg.buffer : !etdg.buffer<[T, N], !x>
  %bs = etdg.buffer : !etdg.buffer<[T, N], !x>
  etdg.kernel shared 1 {
    etdg.nest schedule #first {
      etdg.block @a [scanl, map] (t, i) in [0, T) x [0, N)
          reads (%x = %xs[t, i] : !x, %b = {t = 0: splat 3 : i32, t >= 1: %bs[t - 1, N - 1 - i]} : !x) writes (%as[t, i]) {
        %y = arith.addi %x, %b : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>
    }
    etdg.nest schedule #first {
      etdg.block @b [scanl, map] (t, i) in [0, T) x [0, N)
          reads (%x = %as[t, N - 1 - i] : !x) writes (%bs[t, i]) {
        %y = arith.addi %x, %x : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>
    }
  }
  etdg.return %as, %bs : !etdg.buffer<[T, N], !x>, !etdg.buffer<[T, N], !x>
}

// Cell (a, b) with 2a + b = t: the row dimension's bounds have the coefficient 2.
etdg.graph @triangle(%xs: !etdg.buffer<[T], !x>) -> !etdg.buffer<[T, T], !x>
    attributes {ft.lengths = {T = 8 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[T, T], !x>
  etdg.block @cell [scanl, map] (t, a) in [0, 3 * T - 2) x [0, T) where t - 2 * a >= 0 and T - 1 - t + 2 * a >= 0
      reads (%x = %xs[a] : !x, %s = {t - 2 * a = 0: splat 1 : i32, t - 2 * a >= 1: %ys[a, t - 2 * a - 1]} : !x,
             %u = {a = 0: splat 1 : i32, a >= 1: %ys[a - 1, t - 2 * a]} : !x)
      writes (%ys[a, t - 2 * a])
      schedule #first {
    %y = arith.addi %x, %s : !x
    %z = arith.addi %y, %u : !x
    etdg.yield %z : !x
  } : !etdg.buffer<[T], !x>, !etdg.buffer<[T, T], !x>
  etdg.return %ys : !etdg.buffer<[T, T], !x>
}
