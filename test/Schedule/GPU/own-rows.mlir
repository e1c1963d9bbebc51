// Few points of a nest whose body has nests with many points of their own: each is a task by itself, so the rows of leaves are the
// body's, as far inside as there are more of them. Where the length of the outer list is open, the price at typical lengths decides.
//
// RUN: ft-opt %s --etdg-schedule-for-gpu | FileCheck %s
// RUN: %ft_bin/ft-run %s --entry=few --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=open --engine=emulate --dim N=5 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal

!x = tensor<2xf32>

// CHECK-LABEL: etdg.graph @few
// CHECK: etdg.block @c [map] (c)
// CHECK: loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block
// CHECK: etdg.block @i [map] (c | i)
// CHECK: loops = [<dimension = 0, kind = parallel>] target
// CHECK: etdg.block @j [map] (c, i | j)
// CHECK: loops = [<dimension = 0, tile = [[T:[0-9]+]], kind = parallel>, <dimension = 0, most = [[T]], kind = parallel, level = rows>] target
etdg.graph @few(%xs: !etdg.buffer<[5, 37], !x>) -> !etdg.buffer<[5, 37, 41], !x> {
  %ys = etdg.buffer : !etdg.buffer<[5, 37, 41], !x>
  etdg.block @c [map] (c) in [0, 5) {
    %own = etdg.buffer : !etdg.buffer<[37, 41], !x>
    etdg.block @i [map] (c | i) in [0, 37) {
      etdg.block @j [map] (c, i | j) in [0, 41) reads (%x = %xs[c, i] : !x) writes (%own[i, j]) {
        %y = arith.mulf %x, %x : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[5, 37], !x>, !etdg.buffer<[37, 41], !x>
      etdg.yield
    }
    etdg.block @back [map, map] (c | i, j) in [0, 37) x [0, 41) reads (%x = %own[-i + 36, -j + 40] : !x) writes (%ys[c, i, j]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[37, 41], !x>, !etdg.buffer<[5, 37, 41], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[5, 37, 41], !x>
}

// CHECK-LABEL: etdg.graph @open
// CHECK: etdg.block @c [map] (c)
// CHECK: loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block
// CHECK: etdg.block @i [map] (c | i)
// CHECK: loops = [<dimension = 0, tile = [[U:[0-9]+]], kind = parallel>, <dimension = 0, most = [[U]], kind = parallel, level = rows>] target
etdg.graph @open(%xs: !etdg.buffer<[N, 37], !x>) -> !etdg.buffer<[N, 37], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, 37], !x>
  etdg.block @c [map] (c) in [0, N) {
    %own = etdg.buffer : !etdg.buffer<[37], !x>
    etdg.block @i [map] (c | i) in [0, 37) reads (%x = %xs[c, i] : !x) writes (%own[i]) {
      %y = arith.mulf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N, 37], !x>, !etdg.buffer<[37], !x>
    etdg.block @back [map] (c | i) in [0, 37) reads (%x = %own[-i + 36] : !x) writes (%ys[c, i]) {
      %y = arith.addf %x, %x : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[37], !x>, !etdg.buffer<[N, 37], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[N, 37], !x>
}
