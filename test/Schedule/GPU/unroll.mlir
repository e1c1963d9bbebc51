// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many copies of a sum's term a thread computes between two tests stands in the leaf's layout: the emitter reads it.
//
// RUN: sed 's/COPIES/unroll = [1, 4]/; s/SUMS//' %s | ft-translate --mlir-to-ptx - | FileCheck %s --check-prefix=FOUR
// FOUR: .entry sums_k0(
// FOUR-COUNT-4: add{{(.rn)?}}.f32
// FOUR-NOT: add{{(.rn)?}}.f32
// FOUR: ret
// RUN: sed 's/COPIES/unroll = [1, 1]/; s/SUMS//' %s | ft-translate --mlir-to-ptx - | FileCheck %s --check-prefix=ONE
// ONE: .entry sums_k0(
// ONE-COUNT-1: add{{(.rn)?}}.f32
// ONE-NOT: add{{(.rn)?}}.f32
// ONE: ret
// RUN: sed 's/COPIES/slices = 4, unroll = [1, 5]/; s/SUMS//' %s | ft-translate --mlir-to-ptx - | FileCheck %s --check-prefix=SLICES
// Five terms of a slice, and one sum of two slices.
// SLICES: .entry sums_k0(
// SLICES-COUNT-6: add{{(.rn)?}}.f32
// SLICES-NOT: add{{(.rn)?}}.f32
// SLICES: ret
//
// What a planner leaves is seen there too: eight terms at a time, and a loop over tiles that stays one.
// RUN: ft-opt %ft_src/examples/stacked_lstm.mlir --ft-compile="to=schedule target=sm_90a" | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: #etdg.tiling<vector = 0, width = 4, unroll = [1, 8]>
//
// RUN: sed 's/COPIES/unroll = [1, 2, 3]/; s/SUMS//' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=NUMBER
// NUMBER: :[[#]]:[[#]]: error: the GPU engine can't run the leaf's 'etdg.layouts': loop nest 0: unroll has 3 numbers: the loop over tiles and those of 1 sums have one each
// RUN: sed 's/COPIES/slices = 4, unroll = [1, 3]/; s/SUMS//' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=DIVIDES
// DIVIDES: loop nest 0: unroll: slices have whole multiples of 3 terms, which does not divide the sum's 40
// RUN: sed 's/COPIES/unroll = [65]/; s/SUMS//' %s | not ft-opt 2>&1 | FileCheck %s --check-prefix=MOST
// MOST: :[[#]]:[[#]]: error: 'unroll' has copies of loops, 0 to 64, found 65
// RUN: sed 's/COPIES/rest_unroll = [1]/; s/SUMS//' %s | not ft-opt 2>&1 | FileCheck %s --check-prefix=REST
// REST: error: 'rest_unroll' is of what 'rows' leave, found none
//
// So does the memory in which threads leave the sums of slices.
// RUN: sed 's/COPIES/slices = 4/; s/SUMS/, sums = 8/' %s | env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a - | FileCheck %s --check-prefix=EIGHT
// EIGHT: "shared_bytes":640
// RUN: sed 's/COPIES/slices = 4/; s/SUMS//' %s | env FT_NO_PTXAS=1 ft-translate --mlir-to-bundle --target=sm_90a - | FileCheck %s --check-prefix=USUAL
// USUAL: "shared_bytes":8320
// RUN: sed 's/COPIES/slices = 4/; s/SUMS/, sums = 0/' %s | not ft-translate --mlir-to-ptx - 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: loop nest 0: a thread leaves 4 bytes of sums, there is shared memory for 0
// RUN: sed 's/COPIES/slices = 4/; s/SUMS/, sums = 12/' %s | not ft-opt 2>&1 | FileCheck %s --check-prefix=WORDS
// WORDS: error: {{.*}}the bytes for a thread's sums are a multiple of 8, found 12

!m = tensor<7x40xf32>
!v = tensor<7xf32>

etdg.graph @sums(%xs: !etdg.buffer<[N], !m>) -> !etdg.buffer<[N], !v> {
  %ys = etdg.buffer : !etdg.buffer<[N], !v>
  etdg.block @t [map] (i) in [0, N) reads (%x = %xs[i] : !m) writes (%ys[i])
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid>] block = <threads = 64, shared = 16384SUMS>>
      attributes {etdg.layouts = [#etdg.tiling<COPIES>]} {
    %z = arith.constant dense<0.0> : !v
    %y = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i, k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x : !m) outs(%z : !v) {
    ^bb0(%a: f32, %s: f32):
      %t = arith.addf %s, %a : f32
      linalg.yield %t : f32
    } -> !v
    etdg.yield %y : !v
  } : !etdg.buffer<[N], !m>, !etdg.buffer<[N], !v>
  etdg.return %ys : !etdg.buffer<[N], !v>
}
