// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the threads of a block compute of loop nests, point by point, is written on leaves by a pass, and read where kernels are made.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/guarded.mlir --loops-choose-layouts --loops-choose-tasks --loops-find-alignment --loops-place-memory --loops-choose-points -o %t/chosen.mlir
// RUN: FileCheck %s --check-prefix=GUARD --input-file=%t/chosen.mlir
//
// Sums that nothing reads where a flag is not true are left out there.
// GUARD: loops.leaf
// GUARD-SAME: nests [#tile.nest<loops = [8, 64], rows, tiles = <threads = 32, vector = 1, width = 2, loop = 0, tile = 8, lanes = 32>, accesses = [2, 1], guard = <input = 0, is = true>>,
// GUARD-SAME:   #tile.nest<loops = [8], rows, tiles = <threads = 32, vector = 0>, accesses = [1, 1, 1, 1]>]
//
// Where each row has a flag of its own the threads of a block do not agree.
// RUN: sed 's/varies \[false, true\]/varies [true, true]/' %t/guarded.mlir | ft-opt --loops-decide-for-gpu | FileCheck %s --check-prefix=EACH
// EACH: nests [#tile.nest<loops = [8, 64], rows, tiles = <{{[^>]*}}>, accesses = [2, 1]>, #tile.nest<
// EACH-NOT: guard =
//
// What it writes once stays.
// RUN: ft-opt %t/chosen.mlir --loops-choose-points | diff - %t/chosen.mlir
//
// Rows that are fewer than a tile has are computed one by one, with an access as wide as the addresses allow.
// RUN: ft-opt %S/../../../../Schedule/GPU/product-prices.mlir --ft-compile="to=tile target=sm_90a" -o %t/short.mlir && FileCheck %s --check-prefix=SHORT --input-file=%t/short.mlir
// SHORT-LABEL: func.func @short_k0
// SHORT: nests [#tile.nest<loops = [1024, 4], rows, tiles = <threads = 256, vector = 0, width = 4, tile = 4, rows = true, unroll = [1]>,
// SHORT-SAME: rest = <threads = 256, vector = 0, width = 4, unroll = [1]>, accesses =
// Where threads are idle anyway there is no rest; sums are cut into slices, whose granule divides them.
// RUN: ft-opt %S/../../../../Engine/Emulator/reuse.mlir --ft-compile="to=tile target=sm_90a" -o %t/reuse.mlir && FileCheck %s --check-prefix=SLICES --input-file=%t/reuse.mlir
// SLICES: #tile.nest<loops = [3, 200], tiles = <threads = 256, vector = 1, lanes = 256, reuse = true>
// SLICES: #tile.nest<loops = [160, 160], rows, tiles = <threads = 256, vector = 0, width = 4, tile = 4, rows = true, slices = 20, granule = 8, unroll = [1]>, accesses =
// Iterations that a leaf computes at once.
// RUN: ft-opt %examples/dilated_lstm.mlir --ft-compile="to=tile target=sm_90a" | FileCheck %s --check-prefix=LIFTS
// LIFTS: nests [{{.*}}#tile.nest<loops = [64, 64], rows, lifts = 4,
// Columns that thread blocks share, and what the first of them does alone.
// RUN: ft-opt %t/columns.mlir --loops-decide-for-gpu -o %t/cut.mlir && FileCheck %s --check-prefix=COLUMNS --input-file=%t/cut.mlir
// COLUMNS: nests [#tile.nest<loops = [64, 16], columns = 0, tiles = <{{.*}}>, accesses = [{{.*}}]>, #tile.nest<loops = [16], first, tiles =
// RUN: ft-opt %t/cut.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=FIRST
// FIRST: tile.nest %{{.*}} columns(%[[C:.*]], %{{.*}}) of 0
// FIRST: %[[FIRST:.*]] = arith.cmpi eq, %[[C]], %c0_i64
// FIRST: scf.if %[[FIRST]] {
// FIRST: tile.nest %{{.*}} loops [16]

// Kernels are what is specified: without a guard the flag is asked by nothing, narrower accesses are narrower, and without a rest a tile is short of rows.
// RUN: ft-opt %t/guarded.mlir --loops-decide-for-gpu -o %t/decided.mlir
// RUN: ft-opt %t/decided.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=ASKED
// ASKED: %[[FLAG:.*]] = arith.trunci {{.*}} : i8 to i1
// ASKED: scf.if %{{.*}} {
// ASKED: tile.memory
// ASKED: tile.nest %{{.*}} rows(%{{.*}}) loops [8, 64]
// RUN: sed 's/, guard = <input = 0, is = true>//; s/accesses = \[2, 1\]/accesses = [1, 1]/' %t/decided.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=UNASKED
// UNASKED-NOT: scf.if
// UNASKED: tile.nest %{{.*}} rows(%{{.*}}) loops [8, 64]
// UNASKED-NEXT: tile.read %{{.*}} at <offset = 0, strides = [64, 1]> :
// RUN: sed 's/, rest = <[^>]*>//' %t/short.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=WHOLE
// WHOLE-LABEL: llvm.func @short_k0
// WHOLE-NOT: arith.cmpi sge
// WHOLE: tile.nest %{{.*}} rows(%{{.*}}) loops [1024, 4] {{.*}} tile = 4, rows = true
// WHOLE-NOT: tile.nest

// Nothing says it, or more than is known.
// RUN: sed 's/ nests \[.*\] {$/ {/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the GPU engine can't run the leaf's nests: loop nest 0: it is not specified which points a thread computes: loops-choose-points does
// RUN: sed 's/nests \[#tile.nest<loops = \[8, 64\], rows/nests [#tile.nest<loops = [8, 64], rows, lifts = 2/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=SHAPE
// SHAPE: error: the GPU engine can't run the leaf's nests: loop nest 0: expected loops, rows, lifts, columns and accesses of #tile.nest<loops = [8, 64], rows, tiles = {{.*}}, found #tile.nest<loops = [8, 64], rows, lifts = 2, tiles
// RUN: sed 's/tiles = <threads = 32, vector = 1, width = 2, loop = 0, tile = 8, lanes = 32>/tiles = <threads = 32, vector = 0, width = 2>/' %t/decided.mlir \
// RUN:   | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: error: the GPU engine can't run the leaf's nests: loop nest 0: tiles: expected threads, vector, tile and lanes of its layout, #tile.point_tiles<threads = 32, vector = 1, width = 2, loop = 0, tile = 8, lanes = 32>, found #tile.point_tiles<threads = 32, vector = 0, width = 2>
// RUN: sed 's/accesses = \[1, 1, 1, 1\]/accesses = [1, 0, 1, 1]/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: error: the GPU engine can't run the leaf's nests: loop nest 1: access 1: expected at least one element, and at most 1 that are known to be one access, found 0
// RUN: sed 's/accesses = \[2, 1\]/accesses = [2, 2]/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: the GPU engine can't run the leaf's nests: loop nest 0: access 1: expected at least one element, and at most 1 that are known to be one access, found 2
// RUN: sed 's/accesses = \[1, 1, 1, 1\]>/accesses = [1, 1, 1, 1], guard = <input = 0, is = true>>/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=LOOKED
// LOOKED: error: the GPU engine can't run the leaf's nests: loop nest 1: guard: expected none, as no flag that all rows share makes it superfluous, found #tile.flag<input = 0, is = true>
// RUN: sed 's/is = true/is = false/' %t/decided.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the GPU engine can't run the leaf's nests: loop nest 0: guard: expected #tile.flag<input = 0, is = true>, found #tile.flag<input = 0, is = false>
// RUN: sed 's/slices = 20, granule/slices = 21, granule/' %t/reuse.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: error: the GPU engine can't run the leaf's nests: loop nest 0: tiles: expected at most 20 slices, for which there is memory, found #tile.point_tiles<{{.*}}slices = 21
// RUN: sed 's/slices = 20, granule = 8/slices = 20, granule = 7/' %t/reuse.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=GRANULE
// GRANULE: error: the GPU engine can't run the leaf's nests: loop nest 0: tiles: expected a granule that divides the sum's 160 terms, found #tile.point_tiles<{{.*}}granule = 7
// RUN: sed 's/rest = <threads = 256, vector = 0, width = 4, unroll = \[1\]>/rest = <threads = 256, vector = 0, width = 4, together = 2>/' %t/short.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=TOGETHER
// TOGETHER: error: the GPU engine can't run the leaf's nests: loop nest 0: rest: expected tiles one after the other (together = 1) where threads have sums, found #tile.point_tiles<{{.*}}together = 2>

//--- guarded.mlir
!m = memref<?x8x64xf32, strided<[?, 64, 1], offset: ?>>
!r = memref<?x8xf32, strided<[?, 1], offset: ?>>
!f = memref<?xi1, strided<[?], offset: ?>>
#all = affine_map<(i) -> (i)>
#one = affine_map<(i) -> ()>
loops.program @f lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %g = loops.buffer argument 0 : <[], tensor<i1>>
  %x = loops.buffer argument 1 : <[N], tensor<8x64xf32>>
  %y = loops.buffer result 0 : <[N], tensor<8xf32>>
  loops.launch @f_k0(%n, %g, %x, %y) : index, !etdg.buffer<[], tensor<i1>>, !etdg.buffer<[N], tensor<8x64xf32>>, !etdg.buffer<[N], tensor<8xf32>>
}
func.func @f_k0(%n: index, %g: memref<?xi1>, %x: memref<?xf32>, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c512 = arith.constant 512 : index
  scf.forall (%i) in (%n) {
    %at = arith.muli %i, %c512 : index
    %to = arith.muli %i, %c8 : index
    %flag = loops.view %g[%c0] strides [1] steps [%c0] rows %c1 : memref<?xi1> -> !f
    %from = loops.view %x[%at] strides [1] steps [%c512] rows %c1 : memref<?xf32> -> !m
    %out = loops.view %y[%to] strides [1] steps [%c8] rows %c1 : memref<?xf32> -> !r
    loops.leaf rows(%c1) most 2 ins(%flag, %from : !f, !m) varies [false, true] outs(%out : !r) overlaps [] {
    ^bb0(%f: tensor<i1>, %a: tensor<8x64xf32>):
      %e = tensor.empty() : tensor<8xf32>
      %zero = arith.constant 0.0 : f32
      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
      %s = linalg.reduce { arith.addf } ins(%a : tensor<8x64xf32>) outs(%z : tensor<8xf32>) dimensions = [1]
      %old = tensor.extract_slice %a[0, 0] [8, 1] [1, 1] : tensor<8x64xf32> to tensor<8xf32>
      %b = linalg.generic {indexing_maps = [#one, #all, #all, #all], iterator_types = ["parallel"]}
          ins(%f, %s, %old : tensor<i1>, tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) {
      ^bb1(%is: i1, %new: f32, %before: f32, %o: f32):
        %v = arith.select %is, %new, %before : f32
        linalg.yield %v : f32
      } -> tensor<8xf32>
      loops.yield %b : tensor<8xf32>
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
//--- columns.mlir
!m = memref<?x64x16xf32, strided<[?, 16, 1], offset: ?>>
!r = memref<?x16xf32, strided<[?, 1], offset: ?>>
loops.program @c lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], tensor<64x16xf32>>
  %r = loops.buffer argument 1 : <[N], tensor<16xf32>>
  %y = loops.buffer result 0 : <[N], tensor<64x16xf32>>
  %z = loops.buffer result 1 : <[N], tensor<16xf32>>
  loops.launch @c_k0(%n, %x, %r, %y, %z) : index, !etdg.buffer<[N], tensor<64x16xf32>>, !etdg.buffer<[N], tensor<16xf32>>, !etdg.buffer<[N], tensor<64x16xf32>>, !etdg.buffer<[N], tensor<16xf32>>
}
func.func @c_k0(%n: index, %x: memref<?xf32>, %r: memref<?xf32>, %y: memref<?xf32>, %z: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  scf.forall (%i) in (%n) {
    %at = arith.muli %i, %c1024 : index
    %to = arith.muli %i, %c16 : index
    loops.chunks (%column, %count) = %c0 to %c64 most 64 unit 16 level <grid, cyclic> {
      %from = loops.view %x[%at] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !m
      %row = loops.view %r[%to] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !r
      %out = loops.view %y[%at] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !m
      %other = loops.view %z[%to] strides [1] steps [%c0] rows %c1 : memref<?xf32> -> !r
      loops.leaf rows(%c1) most 1 columns(%column, %count) tile 16 of 64 cuts [0, -2] ins(%from, %row : !m, !r) varies [false, false] outs(%out, %other : !m, !r) overlaps [] {
      ^bb0(%a: tensor<64x16xf32>, %b: tensor<16xf32>):
        %c = arith.addf %a, %a : tensor<64x16xf32>
        %d = arith.addf %b, %b : tensor<16xf32>
        loops.yield %c, %d : tensor<64x16xf32>, tensor<16xf32>
      }
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
