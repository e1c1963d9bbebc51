// What a GPU will run is written into the schedules, and what they say is done.
//
// RUN: ft-opt %s --etdg-schedule-for-gpu | FileCheck %s
// RUN: ft-opt %s --etdg-schedule-for-gpu | ft-opt --etdg-schedule-for-gpu | FileCheck %s
// RUN: ft-opt %s --etdg-schedule-for-gpu=target=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: ft-opt %s --etdg-schedule-for-gpu | ft-opt --etdg-verify --etdg-validate | FileCheck %s
// RUN: not ft-opt %s --etdg-schedule-for-gpu=target=cpu 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: etdg-schedule-for-gpu: expected target = sm_80 or sm_90a, found 'cpu'

// Sequences are independent: the host counts tasks of some rows each; a thread block runs one sequence in order.
// CHECK-LABEL: etdg.graph @recurrence
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, tile = ?, most = 64, kind = parallel, level = grid, mapping = cyclic>, <dimension = 1, kind = sequential>, <dimension = 0, most = 64, kind = parallel, level = rows>] block = <threads = 256, shared = 98304> target = "sm_90a">
// CHECK-SAME: etdg.layouts = [#etdg.tiling<
// SM80-LABEL: etdg.graph @recurrence
// SM80: block = <threads = 256, shared = 81920> target = "sm_80">

// The gates of a cell are computed at once, where the cell is.
// CHECK-LABEL: etdg.graph @nested
// CHECK: etdg.block @cell
// CHECK: schedule <{{.*}}level = grid{{.*}}level = rows
// CHECK: etdg.block @gates [map]
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel, level = lifted>] target = "sm_90a">

// Rows of a sum stay in registers: a layout of the whole leaf.
// CHECK-LABEL: etdg.graph @centred
// CHECK: etdg.layouts = [#etdg.row_lanes<lanes = 16, width = 4>]

// What is written by hand stays, and is run: steps of all thread blocks, a barrier after each.
// CHECK-LABEL: etdg.graph @by_hand
// CHECK: schedule <map = #{{.*}}, loops = [<dimension = 1, kind = sequential, sync = grid>, <dimension = 0, tile = 3, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 3, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>>
// RUN: ft-translate --mlir-to-ptx %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=HAND
// HAND: .visible .entry by_hand_k0(
// HAND: .maxntid 64
// HAND: atom.add.acq_rel.gpu.global.u32
//
// One number there, a level, or a mapping changes what is emitted.
// RUN: sed 's/threads = 64/threads = 128/' %s | ft-translate --mlir-to-ptx - | FileCheck %s --check-prefix=THREADS
// THREADS: .visible .entry by_hand_k0(
// THREADS: .maxntid 128
// RUN: sed 's/tile = 3, kind/tile = 2, kind/' %s | ft-translate --mlir-to-ptx - -o %t.tile
// RUN: not cmp -s %t.ptx %t.tile
// RUN: sed 's/mapping = cyclic/mapping = block/' %s | ft-translate --mlir-to-ptx - -o %t.mapping
// RUN: not cmp -s %t.ptx %t.mapping
// RUN: sed 's/, sync = grid>, <dimension = 0, tile = 3, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 3/>, <dimension = 0, kind/; s/= parallel, level = rows>\] block/= sequential>] block/; s/<dimension = 0, kind, kind/<dimension = 0, kind/' %s | ft-translate --mlir-to-ptx - | FileCheck %s --check-prefix=LEVEL
// LEVEL: .visible .entry by_hand_k0(
// LEVEL-NOT: atom.add

// All of them compute the same.
// RUN: %ft_bin/ft-run %s --entry=by_hand --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/tile = 3, kind/tile = 2, kind/' %s > %t.2.mlir && %ft_bin/ft-run %t.2.mlir --entry=by_hand --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/mapping = cyclic/mapping = block/' %s > %t.3.mlir && %ft_bin/ft-run %t.3.mlir --entry=by_hand --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %t.3.mlir --entry=by_hand --engine=emulate --multiprocessors=2 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: sed 's/mapping = cyclic/mapping = static/' %s > %t.4.mlir && %ft_bin/ft-run %t.4.mlir --entry=by_hand --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: %ft_bin/ft-run %s --entry=tiled --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
//
// The host starts as many thread blocks as a tile by hand leaves tasks.
// RUN: ft-opt %s --etdg-schedule-for-gpu=target=sm_80 | sed 's/tile = ?, most = 64, kind = parallel, level = grid/tile = 3, kind = parallel, level = grid/; s/most = 64, kind = parallel, level = rows/most = 3, kind = parallel, level = rows/' > %t.5.mlir
// RUN: ft-translate --mlir-to-bundle --target=sm_80 %t.5.mlir -o %t.ftb
// RUN: FileCheck %s --input-file=%t.ftb --check-prefix=TASKS
// TASKS: "kernels":["recurrence_k0"]
// TASKS-SAME: "grid":{{\[\[}}"min",["ceildiv",["max","N",0],3],1073741824],1,1]
// RUN: %ft_bin/ft-run %t.5.mlir --entry=recurrence --engine=emulate --target=sm_80 --compare=interpret | FileCheck %s --check-prefix=EQUAL
//
// A layout by hand: a thread takes two adjacent elements instead of four.
// CHECK-LABEL: etdg.graph @tiled
// CHECK: etdg.layouts = [#etdg.tiling<vector = 0, width = 2>]
// HAND: .visible .entry tiled_k0(
// HAND: ld.global.v2.b32

!x = tensor<1x8xf32>
!w = tensor<8x8xf32>
!r = tensor<256xf32>
!s = tensor<f32>

etdg.graph @recurrence(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x>
    attributes {ft.lengths = {N = 9 : i64, L = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x)
      writes (%ys[i, k]) {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

etdg.graph @nested(%xs: !etdg.buffer<[N], !x>, %ws: !etdg.buffer<[4], !w>) -> !etdg.buffer<[N], !x>
    attributes {ft.lengths = {N = 9 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @cell [map] (i) in [0, N) {
    %gs = etdg.buffer : !etdg.buffer<[4], !x>
    etdg.block @gates [map] (i | g) in [0, 4)
        reads (%x = %xs[i] : !x, %w = %ws[g] : !w) writes (%gs[g]) {
      %y = linalg.matmul ins(%x, %w : !x, !w) outs(%x : !x) -> !x
      etdg.yield %y : !x
    } : !etdg.buffer<[N], !x>, !etdg.buffer<[4], !w>, !etdg.buffer<[4], !x>
    etdg.block @sum [] (i |) reads (%a = %gs[0] : !x, %b = %gs[3] : !x) writes (%ys[i]) {
      %y = arith.addf %a, %b : !x
      etdg.yield %y : !x
    } : !etdg.buffer<[4], !x>, !etdg.buffer<[N], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}

etdg.graph @centred(%xs: !etdg.buffer<[N], !r>) -> !etdg.buffer<[N], !r> attributes {ft.lengths = {N = 9 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !r>
  etdg.block @c [map] (i) in [0, N) reads (%x = %xs[i] : !r) writes (%ys[i]) {
    %zero = arith.constant dense<0.0> : !s
    %shape = tensor.empty() : !r
    %s = linalg.reduce { arith.addf } ins(%x : !r) outs(%zero : !s) dimensions = [0]
    %b = linalg.broadcast ins(%s : !s) outs(%shape : !r) dimensions = [0]
    %y = arith.subf %x, %b : !r
    etdg.yield %y : !r
  } : !etdg.buffer<[N], !r>, !etdg.buffer<[N], !r>
  etdg.return %ys : !etdg.buffer<[N], !r>
}

etdg.graph @by_hand(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x>
    attributes {ft.lengths = {N = 9 : i64, L = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x)
      writes (%ys[i, k])
      schedule <map = affine_map<(i, k) -> (i, k)>, loops = [<dimension = 1, kind = sequential, sync = grid>, <dimension = 0, tile = 3, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 3, kind = parallel, level = rows>] block = <threads = 64, shared = 65536>> {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}

etdg.graph @tiled(%xs: !etdg.buffer<[N], !r>) -> !etdg.buffer<[N], !r> attributes {ft.lengths = {N = 5 : i64}} {
  %ys = etdg.buffer : !etdg.buffer<[N], !r>
  etdg.block @t [map] (i) in [0, N) reads (%x = %xs[i] : !r) writes (%ys[i])
      schedule <map = affine_map<(i) -> (i)>, loops = [<dimension = 0, kind = parallel, level = grid>] block = <threads = 64, shared = 1024>>
      attributes {etdg.layouts = [#etdg.tiling<vector = 0, width = 2>]} {
    %y = arith.addf %x, %x : !r
    etdg.yield %y : !r
  } : !etdg.buffer<[N], !r>, !etdg.buffer<[N], !r>
  etdg.return %ys : !etdg.buffer<[N], !r>
}
