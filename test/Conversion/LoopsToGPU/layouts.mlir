// Layouts that do not fit a leaf, and kernels that need more than a block has, are refused by what emits them.
//
// RUN: sed 's/LAYOUT/#etdg.tiling<vector = 0, width = 3>/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=WIDTH
// WIDTH: :[[#]]:[[#]]: error: the GPU engine can't run the leaf's 'etdg.layouts': loop nest 0: width = 3 is no power of two that divides the 256 iterations of loop 0
// RUN: sed 's/LAYOUT/#etdg.tiling<vector = 1, width = 2>/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=LOOP
// LOOP: loop nest 0: vector = 1: the nest has 1 loops
// RUN: sed 's/LAYOUT/#etdg.tiling<vector = 0, lanes = 32>/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=LANES
// LANES: loop nest 0: threads that share a point go along a sum's loop, found vector = 0
// RUN: sed 's/LAYOUT/#etdg.tiling<vector = 0, rows = 4>/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: loop nest 0: rows = 4: the nest is computed for one row
// RUN: sed 's/LAYOUT/#etdg.tiling<>, #etdg.tiling<>/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: expected one for each of its 1 loop nests, found 2
// RUN: sed 's/LAYOUT/#etdg.row_lanes<lanes = 32, width = 8>/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=ACCESS
// ACCESS: error: the GPU engine can't run the layout #etdg.row_lanes<lanes = 32, width = 8>: width = 8: a row has 256 elements of 4 bytes, an access at most 16 bytes
// RUN: sed 's/LAYOUT/#etdg.row_lanes<lanes = 1, width = 4>/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: a lane keeps 256 words of its rows, with 28 registers beside more than the 255 that a thread has
// RUN: sed 's/LAYOUT/#etdg.row_lanes<lanes = 32, width = 4>/' %s | ft-translate --mlir-to-ptx - | FileCheck %s --check-prefix=TAKEN
// TAKEN: .visible .entry f_k0(
// TAKEN: .maxntid 64

!r = tensor<256xf32>

etdg.graph @f(%xs: !etdg.buffer<[N], !r>) -> !etdg.buffer<[N], !r> {
  %ys = etdg.buffer : !etdg.buffer<[N], !r>
  etdg.block @t [map] (i) in [0, N) reads (%x = %xs[i] : !r) writes (%ys[i])
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid>] block = <threads = 64, shared = 1024>>
      attributes {etdg.layouts = [LAYOUT]} {
    %y = arith.addf %x, %x : !r
    etdg.yield %y : !r
  } : !etdg.buffer<[N], !r>, !etdg.buffer<[N], !r>
  etdg.return %ys : !etdg.buffer<[N], !r>
}
