// Loops that no kernel of the machine can run are refused where they stand.
//
// RUN: ft-opt %s "--convert-etdg-to-loops=target=sm_90a" --cse > %t.mlir
//
// Levels and syncs are the dialect's:
// RUN: sed 's/level <grid, cyclic>/level <core, dynamic>/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=LEVEL
// LEVEL: <stdin>:[[#]]:[[#]]: error: thread blocks run its kernel: expected the level grid, lifted, thread or none, found core (loops_grid2)
// RUN: sed 's/loops.leaf rows/loops.sync grid loops.leaf rows/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=SYNC
// SYNC: <stdin>:[[#]]:[[#]]: error: 'loops.sync' op units can't wait inside of what one of them runs (loops_sync1)
// SYNC: note: this loop is dealt to them
//
// Thread blocks and their memory are the machine's:
// RUN: sed 's/threads = 64/threads = 2048/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loops: block: threads are a multiple of 32, at most 1024 on {{.*}}, found 2048
// RUN: sed 's/shared = 65536/shared = 400000/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: the GPU engine can't run the loops: block: a block has at most 232448 bytes of shared memory on {{.*}}, found 400000
// RUN: sed 's/shared = 65536/shared = 200000/' %t.mlir | not ft-opt --loops-decide-for-gpu "--convert-loops-to-gpu=target=sm_80" 2>&1 | FileCheck %s --check-prefix=SMALLER
// SMALLER: error: the GPU engine can't run the loops: block: a block has at most 166912 bytes of shared memory on {{.*}}, found 200000
// RUN: sed 's/%c1 = arith.constant 1 : index/&\n%big = arith.constant 20000 : index\n%memory = loops.alloc %big in <shared> : memref<?xf32>/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALLOC
// RUN: sed 's/%c1 = arith.constant 1 : index/&\n%big = arith.constant 20 : index\n%memory = memref.alloc(%big) : memref<?xf32>/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PLACE
// PLACE: error: the GPU engine can't run the loops: expected loops.alloc, which has a place, found memref.alloc
// ALLOC: error: the GPU engine can't run the loops: expected shared memory of at most 65408 bytes, which is what the kernel's thread blocks have left, found 20000 elements of 'f32'
//
// Rows and columns have to fit the leaf:
// RUN: sed 's/most 3 level/most 4 level/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=ROWS
// ROWS: error: the GPU engine can't run the loops: expected room for 4 rows, which the loop around may give it, found most 3
// ROWS: note: the loop is here
// RUN: sed 's/most 8 unit 4 level/most 8 unit 3 level/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: error: the GPU engine can't run the loops: expected a loop over columns in multiples of the leaf's tile 4, found unit 3
//
// Operations that have no form in a kernel, kernels of a CPU, programs for none:
// RUN: sed 's/loops.leaf rows/func.call @other() : () -> () loops.leaf rows/; s/^module {/module { func.func private @other()/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CALL
// CALL: error: {{.*}}the GPU engine has no form of this operation through loops
// RUN: sed 's/loops.grid = #loops.grid<block = <[^>]*>>, //; /loops.sync/d; s/<grid, cyclic/<core, dynamic/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 \
// RUN:   | FileCheck %s --check-prefix=CORES
// CORES: error: expected a kernel of thread blocks (loops.grid), found one of the CPU
// RUN: sed 's/ for <target.*units = 132>//' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the program says no GPU that it is for
// RUN: not ft-opt %t.mlir --loops-decide-for-gpu "--convert-loops-to-gpu=target=sm_70" 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: convert-loops-to-gpu: expected target = sm_80 or sm_90a, found 'sm_70'
// RUN: sed 's/machine = "h200"/machine = "nowhere"/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: error: {{.*}}nowhere
// RUN: not ft-opt %t.mlir --loops-decide-for-gpu "--convert-loops-to-gpu=machine=cpu" 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error:

#id2 = affine_map<(d0, d1) -> (d0, d1)>
!x = tensor<1x8xf32>
!w = tensor<8x8xf32>

etdg.graph @steps(%xs: !etdg.buffer<[N, L], !x>, %w: !etdg.buffer<[], !w>) -> !etdg.buffer<[N, L], !x> {
  %ys = etdg.buffer : !etdg.buffer<[N, L], !x>
  etdg.block @r [map, scanl] (i, k) in [0, N) x [0, L)
      reads (%x = %xs[i, k] : !x, %w0 = %w[] : !w, %s = {k = 0: splat 0.0 : f32, k >= 1: %ys[i, k - 1]} : !x) writes (%ys[i, k])
      schedule <map = #id2, loops = [<dimension = 1, kind = sequential, sync = grid>,
        <dimension = 2, tile = ?, unit = 4, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, tile = ?, most = 3, kind = parallel, level = grid, mapping = cyclic>,
        <dimension = 0, most = 3, kind = parallel, level = rows>] block = <threads = 64, shared = 65536> columns = 8 target = "sm_90a"> {
    %y = linalg.matmul ins(%s, %w0 : !x, !w) outs(%x : !x) -> !x
    etdg.yield %y : !x
  } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[], !w>, !etdg.buffer<[N, L], !x>
  etdg.return %ys : !etdg.buffer<[N, L], !x>
}
