// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles that nests share and that units share out: one unit runs a tile of the one nest, then of the other, and what is between them is as large as a tile.
//
// RUN: ft-opt %s --etdg-apply-tiles --etdg-verify --etdg-validate | FileCheck %s
// RUN: sed 's/level = grid, mapping = cyclic/level = core, mapping = block/; s/ block = <threads = 64, shared = 98304>//' %s > %t.mlir
// RUN: %python %S/../Engine/Emulator/Inputs/emulate.py --multiprocessors=3 --skip=coarsen,reorder %ft_bin/ft-run %s 1 4 9 | FileCheck %s --check-prefix=EQUAL
// EQUAL: 2 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// RUN: ft-run %t.mlir --entry=group --dim N=10 --skip=coarsen,reorder --threads=2 --compare=interpret | FileCheck %s --check-prefix=SAME
// RUN: ft-run %t.mlir --entry=group --dim N=9 --skip=coarsen,reorder --order=random --seed=3 --compare=interpret | FileCheck %s --check-prefix=SAME
// RUN: ft-run %t.mlir --entry=rows --dim N=5 --skip=coarsen,reorder --order=random --seed=3 --compare=interpret | FileCheck %s --check-prefix=SAME
// SAME: {{^}}equal{{$}}
//
// A tile that needs what another unit makes:
// RUN: sed 's/%as\[i, -k/%as[N - i - 1, -k/' %s | not ft-opt --etdg-validate=reproducer=none 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: sed 's/%as\[i, -k/%as[N - i - 1, -k/' %s | ft-opt --etdg-apply-tiles | not ft-opt --etdg-validate=reproducer=none 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: {{.*}}(T2) block @b: read 0 reads an element of a buffer

!x = tensor<1x4xi32>

// CHECK-LABEL: etdg.graph @group
// CHECK:       etdg.block @a [map] (io) in [0, floordiv(N - 1, 4) + 1)
// CHECK-NEXT:      schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block = <threads = 64, shared = 98304>
// CHECK-NEXT:    %[[A:.*]] = etdg.buffer : !etdg.buffer<[4, 5], tensor<1x4xi32>>
// CHECK-NEXT:    etdg.block @a [map, map] (io | j, i) in [0, 5) x [max(0, 4 * io), min(N, 4 * io + 4))
// CHECK-NEXT:        reads (%x = %arg0[i, j] : tensor<1x4xi32>)
// CHECK-NEXT:        writes (%[[A]][i - 4 * io, j])
// CHECK:         etdg.block @b [map, map] (io | i, k) in [max(0, 4 * io), min(N, 4 * io + 4)) x [0, 3)
// CHECK-NEXT:        reads (%x = %[[A]][i - 4 * io, 2 - k] : tensor<1x4xi32>
// CHECK-NOT:   etdg.kernel
etdg.graph @group(%xs: !etdg.buffer<[N, 5], !x>, %zs: !etdg.buffer<[N, 3], !x>) -> !etdg.buffer<[N, 3], !x> {
  %as = etdg.buffer : !etdg.buffer<[N, 5], !x>
  %ys = etdg.buffer : !etdg.buffer<[N, 3], !x>
  etdg.kernel shared 1 {
    etdg.block @a [map, map] (i, j) in [0, N) x [0, 5) reads (%x = %xs[i, j] : !x) writes (%as[i, j])
        schedule <map = affine_map<(i, j) -> (i, j)>, loops = [<dimension = 0, tile = 4, kind = parallel, level = grid, mapping = cyclic>,
            <dimension = 1, kind = sequential>, <dimension = 0, kind = sequential>] block = <threads = 64, shared = 98304>> {
      %0 = arith.muli %x, %x : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 5], !x>
    etdg.block @b [map, map] (i, k) in [0, N) x [0, 3) reads (%a = %as[i, -k + 2] : !x, %z = %zs[i, k] : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = 4, kind = parallel, level = grid, mapping = cyclic>,
            <dimension = 0, kind = sequential>, <dimension = 1, kind = sequential>] block = <threads = 64, shared = 98304>> {
      %0 = arith.subi %a, %z : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 3], !x>, !etdg.buffer<[N, 3], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, 3], !x>
}

// Points in the place of tiles: an iteration's part has none of their dimension.
// CHECK-LABEL: etdg.graph @rows
// CHECK:       etdg.block @a [map] (i) in [0, N)
// CHECK:         %[[A:.*]] = etdg.buffer : !etdg.buffer<[5], tensor<1x4xi32>>
// CHECK:             writes (%[[A]][j])
etdg.graph @rows(%xs: !etdg.buffer<[N, 5], !x>) -> !etdg.buffer<[N, 3], !x> {
  %as = etdg.buffer : !etdg.buffer<[N, 5], !x>
  %ys = etdg.buffer : !etdg.buffer<[N, 3], !x>
  etdg.kernel shared 1 {
    etdg.block @a [map, map] (i, j) in [0, N) x [0, 5) reads (%x = %xs[i, j] : !x) writes (%as[i, j])
        schedule <map = affine_map<(i, j) -> (i, j)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>,
            <dimension = 1, kind = sequential>] block = <threads = 64, shared = 98304>> {
      %0 = arith.muli %x, %x : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 5], !x>
    etdg.block @b [map, map] (row, k) in [0, N) x [0, 3) reads (%a = %as[row, k + 2] : !x, %c = %as[row, k] : !x) writes (%ys[row, k])
        schedule <map = affine_map<(row, k) -> (row, k)>, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>,
            <dimension = 1, kind = sequential>] block = <threads = 64, shared = 98304>> {
      %0 = arith.subi %a, %c : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 3], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, 3], !x>
}
