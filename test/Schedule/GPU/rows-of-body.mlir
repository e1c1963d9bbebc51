// Whose points the rows of leaves are, the kernel's or those of nests in its body, prices decide; where it depends on lengths, there are both.
//
// (Where the loop around may be taken apart that is another question: these stay whole.)
// RUN: ft-opt %s --ft-compile="to=coarsen target=cpu machine=%S/../../machines/cpu.json" -o %t.coarse.mlir
// RUN: ft-opt %t.coarse.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-apply-schedule,etdg-schedule-for-gpu{machine=%S/../../machines/h200.json}))" --remarks-filter="gpu.*" -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=PRICES --input-file=%t.remarks
//
// RUN: ft-opt %examples/mamba.mlir --ft-compile="to=coarsen target=cpu machine=%S/../../machines/cpu.json" -o %t.mamba.mlir
// RUN: ft-opt %t.mamba.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-apply-schedule,etdg-schedule-for-gpu{machine=%S/../../machines/h200.json}))" | FileCheck %s --check-prefix=MAMBA
// MAMBA: etdg.block @r1 [map] (i) in [0, N)
// MAMBA-NEXT: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block
// MAMBA: etdg.block @r2 [map] (i | j) in [0, L)
// MAMBA: loops = [<dimension = 0, tile = 8, kind = parallel>, <dimension = 0, most = 8, kind = parallel, level = rows>]

!x = tensor<64xf32>
!w = tensor<64x64xf32>

// A product for each element of lists: where these are few, thread blocks have one list each, and eight elements of it at a time.
// CHECK-LABEL: etdg.graph @lists
// CHECK: etdg.variants when <[N] from {{[0-9]+}}> {
// CHECK: etdg.block @{{.*}} [map] (i) in [0, N)
// CHECK-NEXT: loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 8, kind = parallel, level = rows>] block
// CHECK: } else {
// CHECK: etdg.block @{{.*}} [map] (i) in [0, N)
// CHECK-NEXT: loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block
// CHECK: loops = [<dimension = 0, tile = 8, kind = parallel>, <dimension = 0, most = 8, kind = parallel, level = rows>]
// PRICES: [Passed] choose-rows{{.*}}Remark="rows of nests in the body: {{[0-9]+}} percent of the time of the kernel's own rows; the kernel's where N >= {{[0-9]+}}"
func.func @lists(%xss: !ft.list<[N, L], !x>, %w: !w) -> !ft.list<[N, L], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 4 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %ps = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %p = linalg.vecmat ins(%x, %w : !x, !w) outs(%zero : !x) -> !x
      ft.yield %p : !x
    }
    %hs = ft.scanl (%p = %ps : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %t = math.tanh %h : !x
      %s = arith.addf %t, %p : !x
      ft.yield %s : !x
    }
    ft.yield %hs : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}

// Of very many lists each thread block has some, whose steps read the weights once for all of them.
// CHECK-LABEL: etdg.graph @steps
// CHECK: etdg.variants when <[N] below {{[0-9]+}}> {
// CHECK: etdg.block @{{.*}} [map] (i) in [0, N)
// CHECK-NEXT: loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block
// CHECK: } else {
// CHECK: etdg.block @{{.*}} [map] (i) in [0, N)
// CHECK-NEXT: loops = [<dimension = 0, tile = ?, most = 8, kind = parallel, level = grid, mapping = cyclic>, <dimension = 0, most = 8, kind = parallel, level = rows>] block
// PRICES: [Passed] choose-rows{{.*}}Remark="rows of nests in the body: {{[0-9]+}} percent of the time of the kernel's own rows; the body's where N < {{[0-9]+}}"
func.func @steps(%xss: !ft.list<[N, L], !x>, %w: !w) -> !ft.list<[N, L], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 8192 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : !x) -> !ft.list<[L], !x> {
      %t = math.tanh %h : !x
      %s = linalg.vecmat ins(%t, %w : !x, !w) outs(%x : !x) -> !x
      ft.yield %s : !x
    }
    %ys = ft.map (%h, %g = %hs, %xs : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %y = arith.mulf %h, %g : !x
      ft.yield %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}

// A state of 4 KiB that each list has for itself is no weight that lists share: one list at a time fills the threads.
// CHECK-LABEL: etdg.graph @states
// CHECK: etdg.block @{{.*}} [map] (i) in [0, N)
// CHECK-NEXT: schedule <map = #{{.*}}, loops = [<dimension = 0, kind = parallel, level = grid, mapping = cyclic>] block
func.func @states(%xss: !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> attributes {ft.bounds = #ft.bounds<"L >= 1">, ft.lengths = {N = 4 : i64, L = 64 : i64}} {
  %zero = arith.constant dense<0.0> : tensor<64x16xf32>
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs, %ys = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%h = %zero : tensor<64x16xf32>) -> !ft.list<[L], tensor<64x16xf32>>, !ft.list<[L], !x> {
      %t = math.tanh %h : tensor<64x16xf32>
      %y = linalg.reduce { arith.addf } ins(%t : tensor<64x16xf32>) outs(%x : !x) dimensions = [1]
      ft.yield %t : tensor<64x16xf32> emit %y : !x
    }
    ft.yield %ys : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}
