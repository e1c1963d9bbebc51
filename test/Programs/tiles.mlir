// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Nests of a kernel that share tiles give what they gave, on both targets, at lengths below, at and above a tile; in their order they also
// keep no more of what is between them than tiles.
//
// RUN: ft-opt %s --etdg-validate --etdg-apply-tiles --etdg-verify --etdg-validate -o /dev/null
// RUN: %python %S/../Engine/Emulator/Inputs/emulate.py %ft_bin/ft-run %s 1 4 9 | FileCheck %s
// CHECK: 2 programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}
// RUN: %python %S/../Engine/CPU/Inputs/staged.py %ft_bin/ft-run %s %s | FileCheck %s --check-prefix=CPU
// CPU: 18 runs, 0 failures

!x = tensor<1x4xi32>

// A producer and its consumer share tiles of i, and walk j and k by themselves.
etdg.graph @group(%xs: !etdg.buffer<[N, 5], !x>, %zs: !etdg.buffer<[N, 3], !x>) -> !etdg.buffer<[N, 3], !x> {
  %as = etdg.buffer : !etdg.buffer<[N, 5], !x>
  %ys = etdg.buffer : !etdg.buffer<[N, 3], !x>
  etdg.kernel shared 1 {
    etdg.block @a [map, map] (i, j) in [0, N) x [0, 5) reads (%x = %xs[i, j] : !x) writes (%as[i, j])
        schedule <map = affine_map<(i, j) -> (i, j)>, loops = [<dimension = 0, tile = 4, kind = sequential>, <dimension = 1, kind = sequential>, <dimension = 0, kind = sequential>]> {
      %0 = arith.muli %x, %x : !x
      etdg.yield %0 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 5], !x>
    etdg.block @b [map, map] (i, k) in [0, N) x [0, 3) reads (%a = %as[i, -k + 2] : !x, %b = %as[i, k + 2] : !x, %z = %zs[i, k] : !x) writes (%ys[i, k])
        schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 0, tile = 4, kind = sequential>, <dimension = 0, kind = sequential>, <dimension = 1, kind = sequential>]> {
      %0 = arith.subi %a, %b : !x
      %1 = arith.addi %0, %z : !x
      etdg.yield %1 : !x
    } : !etdg.buffer<[N, 5], !x>, !etdg.buffer<[N, 3], !x>, !etdg.buffer<[N, 3], !x>
  }
  etdg.return %ys : !etdg.buffer<[N, 3], !x>
}

// Inside of what one unit runs: tiles of a state, which the second nest reads a tile at a time, backwards.
etdg.graph @inside(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @row [map] (i) in [0, N) {
    %as = etdg.buffer : !etdg.buffer<[L], !x>
    etdg.kernel shared 1 {
      etdg.block @a [scanl] (i | k) in [0, L) reads (%x = %xs[i, k] : !x, %s = {k = 0: splat 1 : i32, k >= 1: %as[k - 1]} : !x) writes (%as[k])
          schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 3, kind = sequential>, <dimension = 0, kind = sequential>]> {
        %y = arith.subi %x, %s : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[L], !x>
      etdg.block @b [map] (i | k) in [0, L) reads (%x = %as[k] : !x, %z = %xs[i, -k + L - 1] : !x) writes (%ys[i, k])
          schedule <map = affine_map<(k) -> (k)>, loops = [<dimension = 0, tile = 3, kind = sequential>, <dimension = 0, kind = sequential>]> {
        %y = arith.muli %x, %z : !x
        etdg.yield %y : !x
      } : !etdg.buffer<[L], !x>, !etdg.buffer<[N, L], !x>, !etdg.buffer<[N, L], !x>
    }
  }
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
