// Where a GPU has each buffer: a graph's own in the memory of the call, a block's in shared memory as long as it fits, for as many rows as a
// task has, else in the workspace. What is specified already stays, and takes its part.
//
// RUN: ft-opt %s --etdg-place-buffers --remarks-filter="storage" 2>&1 | FileCheck %s
// RUN: sed 's/%large = etdg.buffer/& in workspace/; s/%a = etdg.buffer/& in shared/' %s | ft-opt --etdg-place-buffers | FileCheck %s --check-prefix=SAID
// RUN: ft-opt %s --etdg-place-buffers | ft-opt --etdg-place-buffers | FileCheck %s
// RUN: ft-opt %s --etdg-place-buffers | not grep "etdg.buffer.* in  "
//
// The loops say what the buffers say, and nothing is made of one of which nothing is said.
// RUN: ft-opt %s --etdg-place-buffers --convert-etdg-to-loops=target=sm_90a --cse | FileCheck %s --check-prefix=LOOPS
// RUN: not ft-opt %s --convert-etdg-to-loops=target=sm_90a 2>&1 | FileCheck %s --check-prefix=OPEN
// OPEN: place-buffers.mlir:[[#]]:{{[0-9]+}}: error: it is not specified where a thread block has this buffer (in shared, in workspace): etdg-place-buffers does
// RUN: not ft-opt %s --etdg-place-buffers=machine=cpu 2>&1 | FileCheck %s --check-prefix=KIND
// KIND: error: {{.*}}cpu
//
// The phase storage does it, also where its planes are left out.
// RUN: ft-opt %s --ft-compile="from=schedule to=storage target=sm_90a" | FileCheck %s --check-prefix=PHASE
// RUN: ft-opt %s --ft-compile="from=schedule to=storage skip=storage target=sm_90a" | FileCheck %s --check-prefix=PHASE
// RUN: sed 's/ schedule #[a-z]*//' %s | ft-opt --ft-compile="from=schedule to=storage" | FileCheck %s --check-prefix=CPU
// PHASE: etdg.buffer{{.*}} in call :
// PHASE: etdg.buffer{{.*}} in shared :
// CPU-NOT: in {{call|shared|workspace}} :

#id1 = affine_map<(d0) -> (d0)>
#rows = #etdg.schedule<map = #id1, loops = [<dimension = 0, tile = 4, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 4, kind = parallel, level = rows>] block = <threads = 32, shared = 4096> target = "sm_90a">
#inner = #etdg.schedule<map = #id1, loops = [<dimension = 0, kind = parallel>] target = "sm_90a">
!x = tensor<1x8xf32>

// 2730 bytes of the 4096 are for buffers, of which warps leave each other sums in 64: %a takes 128 for each of four rows, %large would take 2560 more,
// %b fits after it.
// CHECK-LABEL: etdg.graph @points
// CHECK: etdg.buffer in call : !etdg.buffer<[N], tensor<1x8xf32>>
// CHECK: etdg.buffer in shared : !etdg.buffer<[4], tensor<1x8xf32>>
// CHECK: etdg.buffer in workspace : !etdg.buffer<[20], tensor<1x8xf32>>
// CHECK: etdg.buffer in workspace : !etdg.buffer<[L], tensor<1x8xf32>>
// CHECK: etdg.buffer live [3] in shared : !etdg.buffer<[L], tensor<1x8xf32>>
// CHECK: etdg.buffer in shared : !etdg.buffer<[12], tensor<1x8xf32>>
// SAID: etdg.buffer in shared : !etdg.buffer<[4]
// SAID: etdg.buffer in workspace : !etdg.buffer<[20]
// SAID: etdg.buffer in shared : !etdg.buffer<[12]
// LOOPS-LABEL: func.func @points_k0(
// LOOPS: loops.alloc %c128{{.*}} in <shared>
// LOOPS: loops.alloc %c640{{.*}} in <workspace>
// LOOPS: loops.alloc {{.*}} in <workspace>
// LOOPS: loops.alloc %c128{{.*}} in <shared>
// LOOPS: loops.alloc %c384{{.*}} in <shared>
etdg.graph @points(%xs: !etdg.buffer<[N, L], !x>) -> !etdg.buffer<[N], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %ys = etdg.buffer : !etdg.buffer<[N], !x>
  etdg.block @p [map] (i) in [0, N) schedule #rows {
    %a = etdg.buffer : !etdg.buffer<[4], !x>
    %large = etdg.buffer : !etdg.buffer<[20], !x>
    %long = etdg.buffer : !etdg.buffer<[L], !x>
    %live = etdg.buffer live [3] : !etdg.buffer<[L], !x>
    %b = etdg.buffer : !etdg.buffer<[12], !x>
    etdg.block @first [map] (i | k) in [0, 4) reads (%x = %xs[i, 0] : !x) writes (%a[k]) schedule #inner {
      etdg.yield %x : !x
    } : !etdg.buffer<[N, L], !x>, !etdg.buffer<[4], !x>
    etdg.block @last [] (i |) reads (%x = %a[0] : !x, %y = %a[3] : !x) writes (%ys[i]) {
      %z = arith.addf %x, %y : !x
      etdg.yield %z : !x
    } : !etdg.buffer<[4], !x>, !etdg.buffer<[N], !x>
    etdg.yield
  }
  etdg.return %ys : !etdg.buffer<[N], !x>
}
