// Two leaves of one point: the second needs all columns of what the first has computed, so that thread blocks share those of
// the second alone. Cores in their place don't share columns then.
//
// RUN: ft-opt %s "--convert-etdg-to-loops=target=sm_90a" | FileCheck %s
// CHECK: loops.leaf {{.*}} columns({{.*}}) tile 1 of 8 cuts [-1]
// CHECK: loops.leaf {{.*}} columns({{.*}}) tile 1 of 8 cuts [0]
// RUN: ft-opt %s "--convert-etdg-to-loops=target=sm_90a" --loops-grid-to-cores | FileCheck %s --check-prefix=CORES
// CORES: scf.forall ({{.*}}) in (1) {
// CORES-NOT: columns(
// RUN: env FT_NUM_THREADS=4 %ft_bin/ft-run %s --schedule-for=sm_90a --order=random --seed=4 --compare=interpret | FileCheck %s --check-prefix=RAN
// RUN: %ft_bin/ft-run %s --engine=emulate --compare=interpret | FileCheck %s --check-prefix=RAN
// RAN: {{^}}equal

#id1 = affine_map<(d0) -> (d0)>
!x = tensor<1x8xf32>
!w = tensor<8x8xf32>
etdg.graph @two(%xs: !etdg.buffer<[N], !x>, %a: !etdg.buffer<[], !w>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N], !x> attributes {ft.lengths = {N = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @p [map] (i) in [0, N)
      schedule <map = #id1, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, tile = ?, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 32, shared = 4096> columns = 8 target = "sm_90a"> {
    %h = etdg.buffer in shared : !etdg.buffer<[], !x>
    etdg.block @first [] (i |) reads (%x = %xs[i] : !x, %a0 = %a[] : !w) writes (%h[]) {
      %z = arith.constant dense<0.0> : !x
      %y = linalg.matmul ins(%x, %a0 : !x, !w) outs(%z : !x) -> !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[], !x>
    etdg.block @second [] (i |) reads (%x = %h[] : !x, %w0 = %w[] : !w) writes (%ys[i]) {
      %z = arith.constant dense<0.0> : !x
      %y = linalg.matmul ins(%x, %w0 : !x, !w) outs(%z : !x) -> !x
      etdg.yield %y : !x
    } : !etdg.buffer<[], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}
