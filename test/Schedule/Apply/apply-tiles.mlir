// Loops over tiles that nests of a kernel share become dimensions of their own: a step of the kernel is a tile of the one nest, then of the other, and
// each walks its points, and what else it has, by itself.
//
// RUN: ft-opt %s --etdg-validate --etdg-apply-tiles --etdg-verify --etdg-validate | FileCheck %s
// RUN: ft-opt %s --etdg-apply-tiles --etdg-schedule-for-cpu --etdg-storage --convert-etdg-to-loops --cse | FileCheck %s --check-prefix=LOOPS
// RUN: ft-run %s --dim N=10 --skip=coarsen,reorder --order=random --seed=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal{{$}}
// What a tile needs of the next one is not there.
// RUN: sed 's/%as\[i, -k/%as[N - i - 1, -k/' %s | not ft-opt --etdg-validate=reproducer=none 2>&1 | FileCheck %s --check-prefix=NEXT
// NEXT: error: {{.*}}(T2) block @b: read 0 reads an element of a buffer
// RUN: sed '/etdg.block @a/,/arith/s/tile = 4/tile = 8/' %s | not ft-opt --etdg-apply-tiles 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: <stdin>:[[#]]:[[#]]: error: the nests of a kernel share loop 0, and have other tiles of it: expected 8, found 4
// OTHER: <stdin>:[[#]]:[[#]]: note: the first nest is here

!x = tensor<1x4xi32>

// CHECK-LABEL: etdg.graph @group
// CHECK:       etdg.kernel shared 1 {
// CHECK-NEXT:    etdg.block @a [map, map, map] (io, j, i) in [0, floordiv(N - 1, 4) + 1) x [0, 5) x [max(0, 4 * io), min(N, 4 * io + 4))
// CHECK-NEXT:        reads (%x = %arg0[i, j] : tensor<1x4xi32>)
// CHECK-NEXT:        writes (%[[A:.*]][i, j])
// CHECK-NEXT:        schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>, <dimension = 2, kind = sequential>] target = "cpu"> {
// CHECK:         etdg.block @b [map, map, map] (io, i, k) in [0, floordiv(N - 1, 4) + 1) x [max(0, 4 * io), min(N, 4 * io + 4)) x [0, 3)
// CHECK-NEXT:        reads (%x = %[[A]][i, 2 - k] : tensor<1x4xi32>
// CHECK:             schedule <map = #{{.*}}, loops = [<dimension = 0, kind = sequential, sync = cores>, <dimension = 1, kind = parallel, level = core, mapping = block>, <dimension = 2, kind = sequential>] before = cores target = "cpu"> {
// LOOPS-LABEL: func.func @group_k0
// LOOPS:       scf.for
// LOOPS:         scf.forall
// LOOPS:           scf.for
// LOOPS:             loops.leaf
// LOOPS:         loops.sync cores
// LOOPS:         scf.forall
// LOOPS:           scf.for
// LOOPS:             loops.leaf
// LOOPS:         loops.sync cores
etdg.graph @group(%xs: !etdg.buffer<[N, 5], !x>, %zs: !etdg.buffer<[N, 3], !x>) -> !etdg.buffer<[N, 3], !x> {
  %as = etdg.buffer : !etdg.buffer<[N, 5], !x>
  %ys = etdg.buffer : !etdg.buffer<[N, 3], !x>
  etdg.kernel shared 1 {
    etdg.block @a [map, map] (i, j) in [0, N) x [0, 5) reads (%x = %xs[i, j] : !x) writes (%as[i, j])
        schedule <map = affine_map<(i, j) -> (i, j)>, loops = [<dimension = 0, tile = 4, kind = sequential, sync = cores>,
            <dimension = 1, kind = parallel, level = core, mapping = block>, <dimension = 0, kind = sequential>] target = "cpu"> {
      %0 = arith.muli %x, %x : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 5], !x>
    etdg.block @b [map, map] (i, k) in [0, N) x [0, 3) reads (%a = %as[i, -k + 2] : !x, %z = %zs[i, k] : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = 4, kind = sequential, sync = cores>,
            <dimension = 0, kind = parallel, level = core, mapping = block>, <dimension = 1, kind = sequential>] before = cores target = "cpu"> {
      %0 = arith.subi %a, %z : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 3], !x>, !etdg.buffer<[N, 3], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, 3], !x>
}
