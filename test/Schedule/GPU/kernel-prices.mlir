// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the prices of kernels say of reads, of threads and of what is fused. Machines on which one thing takes a second tell who waits for it.
//
// RUN: ft-opt %s --ft-compile="to=coarsen target=sm_90a" -o %t.mlir
// RUN: ft-opt %t.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-apply-schedule,etdg-schedule-for-gpu{steps=never machine=%S/../../machines/h200.json}))" -o %t.scheduled.mlir
//
// A graph stays as it is; its kernels are told with their thread blocks, for which registers and shared memory are left.
// RUN: ft-opt %t.scheduled.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%S/../../machines/h200.json}))" --remarks-filter="gpu.*" 2>%t.usual | FileCheck %s --check-prefix=GRAPH
// GRAPH-LABEL: etdg.graph @recurrence
// RUN: FileCheck %s --check-prefix=USUAL --input-file=%t.usual
// USUAL: leaf-price {{.*}}loop nest 0 of @r1, 8.00 rows
// USUAL: leaf-price {{.*}}loop nest 0 of @r3, 1.00 rows
// USUAL: leaf-price {{.*}}loop nest 0 of @r4, 8.00 rows
// USUAL: Remark="{{[0-9.]+}} us: 0 steps and 0 barriers of the grid, 5 thread blocks on an SM
// USUAL: price-of-all
//
// The device's memory: elements of an argument that nothing has met.
// RUN: sed 's/"latency_seconds": 3.5e-7/"latency_seconds": 1.0/' %S/../../machines/h200.json > %t.device.json
// RUN: ft-opt %t.scheduled.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%t.device.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: of @r1, {{.*}}: {{[0-9]+}}000000.{{[0-9]+}} us waiting
// DEVICE: of @r3, {{.*}}: {{[0-9]}}.{{[0-9]+}} us waiting
// DEVICE: of @r4, {{.*}}: {{[0-9]}}.{{[0-9]+}} us waiting
//
// The common cache: weights that the nearest cache has no room for, and what a task has left in the workspace, which lies in the nearest cache
// where that is large enough.
// RUN: sed 's/"latency_seconds": 1.4e-7/"latency_seconds": 1.0/' %S/../../machines/h200.json > %t.common.json
// RUN: ft-opt %t.scheduled.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%t.common.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: sed 's/"level": "shared", "bytes": 233472/"level": "shared", "bytes": 20480/' %t.common.json > %t.small.json
// RUN: ft-opt %t.scheduled.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%t.small.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=COMMON
// COMMON: of @r3, {{.*}}: 9000000.{{[0-9]+}} us waiting
// COMMON: of @r4, {{.*}}: {{[0-9]+}}000000.{{[0-9]+}} us waiting
//
// Where all tasks at a time leave more than the common cache holds, they find it in the device's memory.
// RUN: sed 's/"level": "shared", "bytes": 233472/"level": "shared", "bytes": 20480/; s/"bytes": 62914560/"bytes": 262144/' %t.device.json > %t.full.json
// RUN: ft-opt %t.scheduled.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%t.full.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FULL
// FULL: of @r4, {{.*}}: {{[0-9]+}}000000.{{[0-9]+}} us waiting
//
// The terms of a sum each need the one before.
// RUN: sed 's/"operation": 2.1e-9/"operation": 1.0/' %S/../../machines/h200.json > %t.chain.json
// RUN: ft-opt %t.scheduled.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%t.chain.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHAIN
// CHAIN: of @r3, {{.*}}us waiting, 64000000.000 us computing
//
// Halves become f32.
// RUN: sed 's/"conversions_per_second": 1.608e13/"conversions_per_second": 1.0e6/' %S/../../machines/h200.json > %t.halves.json
// RUN: ft-opt %t.scheduled.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%t.halves.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WORDS
// WORDS: of @r3, {{.*}}us waiting, {{[0-9]}}.{{[0-9]+}} us computing
// RUN: ft-opt %s "--type=x=tensor<1x64xf16>" "--type=w=tensor<64x64xf16>" --ft-compile="to=coarsen target=sm_90a" | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-apply-schedule,etdg-schedule-for-gpu{steps=never machine=%S/../../machines/h200.json},etdg-price-for-gpu{leaves=true lengths=N=1000,L=16 machine=%t.halves.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=HALVES
// HALVES: leaf-price {{.*}} of @r3, {{.*}}us waiting, {{[0-9]+[0-9][0-9][0-9]}}.{{[0-9]+}} us computing
//
// What is computed while a tile is in registers is no nest of its own; stages, and values in shared memory, bound the thread blocks.
// RUN: ft-opt %S/../../../examples/flash_attention.mlir --ft-compile="to=coarsen target=sm_90a" -o %t.flash.mlir
// RUN: ft-opt %t.flash.mlir --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-apply-schedule,etdg-choose-iterations-for-gpu{iterations=8 machine=%S/../../machines/h200.json},etdg-schedule-for-gpu{machine=%S/../../machines/h200.json},etdg-price-for-gpu{leaves=true lengths=B=4,H=16,Q=32,K=32 machine=%S/../../machines/h200.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FLASH
// FLASH: loop nest 0 of @r1_joined
// FLASH-NOT: loop nest 1 of @r1_joined
// FLASH: loop nest 5 of @r1_joined
// FLASH: 2 thread blocks on an SM, 9{{[0-9]+}} bytes of shared memory each
//
// What a product begins with lies where its sums come to lie, in an output; and values between loop nests that find no room in shared memory lie in the workspace,
// beside which as many thread blocks fit an SM as before. (Of warps that multiply fragments: warp groups would keep all of it in registers.)
// RUN: sed 's/"sm_90a"/"sm_80"/' %S/../../machines/h200.json > %t.fragments.json
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/' %S/../../../examples/flash_attention.mlir | ft-opt --ft-compile="to=coarsen target=sm_90a" \
// RUN:   | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-apply-schedule,etdg-schedule-for-gpu{machine=%t.fragments.json},etdg-price-for-gpu{machine=%t.fragments.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BECOMES
// BECOMES: price | {{.*}} 3 thread blocks on an SM, 68608 bytes of shared memory each
// RUN: ft-opt %S/../../../examples/back_to_back_gemm.mlir --ft-compile="to=coarsen target=sm_90a" \
// RUN:   | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-apply-schedule,etdg-choose-iterations-for-gpu{iterations=8 machine=%S/../../machines/h200.json},etdg-schedule-for-gpu{machine=%S/../../machines/h200.json},etdg-price-for-gpu{machine=%S/../../machines/h200.json}))" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROOM
// ROOM: price | {{.*}} 2 thread blocks on an SM, 67584 bytes of shared memory each
//
// Thread blocks that are too few for an SM compute beside each other: two of them, with two iterations of an attention at a time, are not
// dearer than three with one.
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/' %S/../../../examples/flash_attention_causal.mlir \
// RUN:   | ft-opt --ft-compile="to=schedule target=sm_80 machine=%t.fragments.json" --remarks-filter="gpu.*" -o /dev/null 2>&1 | FileCheck %s --check-prefix=BESIDE
// BESIDE: choose-iterations | {{.*}}2 iterations at a time

!x = tensor<1x64xf32>
!w = tensor<64x64xf32>
func.func @recurrence(%xss: !ft.list<[N, L], !x>, %w: !w) -> !ft.list<[N, L], !x>
    attributes {ft.lengths = {N = 1000 : i64, L = 16 : i64}} {
  %zero = arith.constant dense<0.0> : !x
  %yss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %hs = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %e = math.tanh %x : !x
      ft.yield %e : !x
    }
    %ys = ft.scanl (%h = %hs : !ft.list<[L], !x>) init (%s = %zero : !x) -> !ft.list<[L], !x> {
      %p = linalg.matmul ins(%s, %w : !x, !w) outs(%h : !x) -> !x
      ft.yield %p : !x
    }
    %zs = ft.map (%y, %h = %ys, %hs : !ft.list<[L], !x>, !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %a = arith.addf %y, %h : !x
      ft.yield %a : !x
    }
    ft.yield %zs : !ft.list<[L], !x>
  }
  return %yss : !ft.list<[N, L], !x>
}
