// RUN: ft-opt %s --ft-compile="to=ft" | FileCheck %s --check-prefix=FT
// RUN: ft-opt %s --ft-compile="to=etdg" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=ft" | ft-opt --ft-compile="from=ft to=etdg" | FileCheck %s
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" --remarks-filter="phase.*" 2>&1 | FileCheck %s --check-prefixes=CHECK,REMARK
// RUN: rm -rf %t && mkdir %t && ft-opt %s --ft-compile="dump=%t" -o /dev/null
// RUN: ft-opt %t/2-etdg.mlir --ft-compile="from=etdg to=reorder" | FileCheck %s
// RUN: FileCheck %s --check-prefix=FT < %t/1-ft.mlir
// RUN: FileCheck %s < %t/7-storage.mlir
// RUN: FileCheck %s --check-prefix=TILE < %t/8-tile.mlir
// RUN: FileCheck %s --check-prefix=TEAM < %t/9-threads.mlir
// RUN: FileCheck %s --check-prefix=THREADS < %t/11-target.mlir
// RUN: ft-opt %t/7-storage.mlir --ft-compile="from=storage to=tile" | FileCheck %s --check-prefix=TILE
// RUN: ft-opt %t/8-tile.mlir --ft-compile="from=tile to=threads" | diff - %t/9-threads.mlir
// RUN: ft-opt %t/8-tile.mlir --ft-compile="from=tile" | FileCheck %s --check-prefix=THREADS
// RUN: ft-opt %t/9-threads.mlir --ft-compile="from=threads" | FileCheck %s --check-prefix=THREADS

// RUN: not ft-opt %s --ft-compile="to=nowhere" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not ft-opt %s --ft-compile="from=etdg to=ft" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not ft-opt %s --ft-compile="from=etdg" 2>&1 | FileCheck %s --check-prefix=CONTRACT
// RUN: not ft-opt %s --ft-compile="target=vax" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not ft-opt %s --ft-compile="machine=%t/none.json" 2>&1 | FileCheck %s --check-prefix=MACHINE
// RUN: not ft-opt %s --ft-compile="dump=%t/none" 2>&1 | FileCheck %s --check-prefix=DUMP

// RUN: not ft-opt %s --ft-compile="to=tile tagret=cpu" 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: error: ft-compile: expected one of the options barrier-limit, candidate, {{.*}}, target, threads, to, validate, verify, verify-each, found 'tagret'
// RUN: not ft-opt %s --ft-compile="lengths=N" 2>&1 | FileCheck %s --check-prefix=LENGTHS
// LENGTHS: error: ft-compile: lengths: expected NAME=NUMBER with a number of at least 0, found 'N'
// RUN: not ft-opt %s --ft-compile="steps=some" 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: error: ft-compile: steps: expected choose, always or never, found 'some'

// NAME: error: ft-compile: to: expected one of input, ft, etdg, coarsen, reorder, partition, schedule, storage, tile, threads, pipeline, target, found 'nowhere'
// ORDER: error: ft-compile: phase 'etdg' comes after 'ft'
// CONTRACT: [[@LINE+29]]:1: error: phase 'etdg': a function over lists has become a graph, 'main' has not
// TARGET: error: ft-compile: target: expected one of cpu, sm_80, sm_90a, found 'vax'
// MACHINE: error: can't read the machine file '{{.*}}none.json'
// DUMP: error: ft-compile: dump: no such folder

// REMARK-DAG: remark: [Analysis] identity | Category:phase:partition | Reason="phase 'partition' is not built
// TILE: loops.program @main lengths ["N"]
// TILE: func.func @main_k0({{.*}}) attributes {loops.kernel}
// TILE: loops.chunks {{.*}} level <core, dynamic>
// TILE: loops.leaf
// TEAM: func.func @main_k0_count(
// TEAM: func.func @main_k0(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// TEAM-NOT: loops.chunks
// TEAM: loops.leaf
// THREADS: func.func @main_k0_count(
// THREADS: func.func @main_k0(%{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64)
// THREADS-NOT: loops.leaf
// THREADS: call @leaf0(
// FT: func.func @main
// FT-NOT: call
// FT: ft.map
// CHECK: etdg.graph @main
// CHECK-NOT: ft.map
// CHECK: etdg.block @r0 [map] (i) in [0, N)
!x = tensor<4xf32>
func.func private @cell(%x: !x) -> !x {
  %y = math.exp %x : !x
  return %y : !x
}
func.func @main(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = func.call @cell(%x) : (!x) -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
// RUN: ft-opt %s --ft-compile="to=tile skip=partition,storage" 2>&1 | FileCheck %s --check-prefix=SKIP
// SKIP-NOT: phase:partition
// SKIP: loops.program @main
// SKIP-NOT: phase:partition
// RUN: not ft-opt %s --ft-compile="skip=etdg" 2>&1 | FileCheck %s --check-prefix=NOSKIP
// RUN: not ft-opt %s --ft-compile="skip=schedule" 2>&1 | FileCheck %s --check-prefix=NOSCHEDULE
// NOSKIP: error: ft-compile: skip: expected coarsen, reorder, partition or storage, found 'etdg'
// NOSCHEDULE: error: ft-compile: skip: expected coarsen, reorder, partition or storage, found 'schedule'
