// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where a thread block has its memory is written into the loops by a pass: a map of shared memory, the workspace, and outputs that a value
// becomes. Kernels have memory nowhere else.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/softmax.mlir --loops-choose-layouts --loops-choose-tasks --loops-find-alignment --loops-place-memory --loops-choose-accesses --loops-choose-points --loops-place-syncs -o %t/chosen.mlir
// RUN: FileCheck %s --input-file=%t/chosen.mlir
// What is written stays.
// RUN: ft-opt %t/chosen.mlir --loops-place-memory | diff - %t/chosen.mlir
//
// First what warps leave each other, then memory that lasts as long as the kernel, then what the leaf needs. Its rows' sums are not needed
// together with those of the exponentials, but those of eight rows are both needed while these are. Blocks with memory in the workspace are no more than
// four for each SM.
// CHECK-LABEL: func.func @softmax_k0(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 64, shared = 8192>, most = 528>
// CHECK-SAME: loops.shared = #loops.shared<bytes = 2496, warps = 128>
// CHECK: loops.alloc {{.*}} in <shared, offset = 128>
// CHECK: loops.alloc {{.*}} in <workspace>
// CHECK: loops.leaf
// CHECK-SAME: places [#loops.place<value = 0 in shared at 384, bytes = 32>, #loops.place<value = 2 in shared at 416, bytes = 2048>, #loops.place<value = 3 in shared at 2464, bytes = 32>]
//
// Two thirds of shared memory are for memory of which nothing is said, and what does not fit a leaf's rest lies in the workspace. Memory that is said to be shared
// is, and leaves have the rest.
// RUN: sed 's/shared = 8192/shared = 2048/; s/%kept = loops.alloc %c64/%kept = loops.alloc %many/' %t/softmax.mlir > %t/large.mlir
// RUN: not ft-opt %t/large.mlir --loops-decide-for-gpu 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: error: the GPU engine can't run the loops: expected shared memory of at most 1920 bytes
// RUN: sed 's/shared = 8192/shared = 2048/; s/%c64 = arith.constant 64 /%few = arith.constant 400 : index\n&/; s/%kept = loops.alloc %c64/%kept = loops.alloc %few/' %t/softmax.mlir > %t/some.mlir
// RUN: ft-opt %t/some.mlir --loops-decide-for-gpu | FileCheck %s --check-prefix=SAID
// SAID: loops.shared = #loops.shared<bytes = 1792, warps = 128>
// SAID: loops.alloc {{.*}} in <shared, offset = 128>
// SAID: loops.alloc {{.*}} in <workspace>
// SAID: places [#loops.place<value = 0 in shared at 1728, bytes = 32>, #loops.place<value = 2 in workspace, bytes = 2048>, #loops.place<value = 3 in shared at 1760, bytes = 32>]
// RUN: sed 's/ in <shared>//' %t/some.mlir | ft-opt --loops-decide-for-gpu | FileCheck %s --check-prefix=SOME
// SOME: loops.shared = #loops.shared<bytes = 192, warps = 128>
// SOME-COUNT-2: loops.alloc {{.*}} in <workspace>
// SOME: places [#loops.place<value = 0 in shared at 128, bytes = 32>, #loops.place<value = 2 in workspace, bytes = 2048>, #loops.place<value = 3 in shared at 160, bytes = 32>]
//
// Stages of a product's operands, and a sum that lies where the product adds to it; sums of slices.
// RUN: ft-opt %examples/attention_three_step.mlir --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu \
// RUN:   | FileCheck %s --check-prefix=ATTENTION
// ATTENTION: loops.shared = #loops.shared<bytes = 71168, warps = 256>
// ATTENTION: places [#loops.place<value = 3 in shared at 54528, bytes = 16384>, #loops.place<value = 5 in shared at 70912, bytes = 256>, #loops.place<value = 7 in output = 2>, #loops.place<operands in shared at 34048, bytes = 20480>]
// RUN: ft-opt %S/../../../../Engine/Emulator/paths.mlir --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu \
// RUN:   | FileCheck %s --check-prefix=SLICES
// SLICES: slices = {{.*}} places [#loops.place<sums in shared at 512, bytes = 32768>]

// Rows of one value that a product reads lie in memory, as constants: a window's border.
// RUN: ft-opt %examples/conv1d.mlir --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a --loops-decide-for-gpu > %t/border.mlir
// RUN: FileCheck %s --check-prefix=BORDER --input-file=%t/border.mlir
// BORDER: loops.splat {{.*}} {loops.constant} : f32
// RUN: ft-opt %t/border.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=GLOBAL
// GLOBAL: llvm.mlir.global internal constant @constant
// RUN: sed 's/ {loops.constant}//' %t/border.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=VALUE
// VALUE: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf: its product reads operands from memory, where one of them is a value: expected loops.constant, which loops-place-memory gives it
// VALUE: <stdin>:[[#]]:[[#]]: note: the value is here
// RUN: sed 's/ elements [0-9]* rows \([0-9]*\) {loops.constant}/ elements 100000 rows \1 {loops.constant}/' %t/border.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MANY
// MANY: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loops: 100000 elements of 'f32' are too many for a constant (loops.constant)

// Kernels are what the places say: another byte, and the workspace.
// RUN: sed 's/value = 2 in shared at 416/value = 2 in shared at 4096/; s/bytes = 2496/bytes = 8192/' %t/chosen.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=MOVED
// MOVED: \22shared_bytes\22:8192,
// MOVED: arith.constant 4096 : i64
// RUN: sed 's/value = 2 in shared at 416/value = 2 in workspace/' %t/chosen.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=WORKSPACE
// WORKSPACE-COUNT-2: \22kind\22:\22workspace\22
// WORKSPACE: \22grid\22:{{\[\[}}\22min\22,{{.*}},528],1,1]
// WORKSPACE-SAME: \22shared_bytes\22:2496,

// Memory whose pieces change places where fragments of a product meet its rows, by hand: another place, another kind, and what does not know of it.
// RUN: sed 's/^\(!.* = tensor<[0-9x]*\)f32/\1f16/' %examples/back_to_back_gemm.mlir > %t/halves.mlir
// RUN: ft-opt %t/halves.mlir --ft-compile="to=reorder target=sm_80 machine=%S/../../../../machines/a100.json" \
// RUN:   | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-schedule-for-gpu{target=sm_80 machine=%S/../../../../machines/a100.json}))" \
// RUN:   | ft-opt --ft-compile="from=schedule to=tile target=sm_80 machine=%S/../../../../machines/a100.json" -o %t/swizzled.mlir
// RUN: FileCheck %s --check-prefix=SWIZZLED --input-file=%t/swizzled.mlir
// SWIZZLED: loops.alloc {{.*}} in <shared, offset = 256, swizzled>
// SWIZZLED: places [#loops.place<value = 0 in shared at {{[0-9]+}}, bytes = {{[0-9]+}}, swizzled>, #loops.place<operands
// RUN: sed 's/offset = 256, swizzled/offset = 256/' %t/swizzled.mlir | ft-opt --convert-loops-to-gpu -o %t/plain.mlir
// RUN: ft-opt %t/swizzled.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=VIEWS
// RUN: FileCheck %s --check-prefix=PLAIN --input-file=%t/plain.mlir
// VIEWS: tile.store {{.*}}!tile.view<f16, [-1, 64], [64], space = 3, swizzled>
// VIEWS: tile.load {{.*}}!tile.view<f16, [-1, 64], [64], space = 3, swizzled>
// VIEWS: tile.copy {{.*}}!tile.view<f16, [-1, 64], [64], space = 3, swizzled>
// VIEWS: tile.memory {{.*}} swizzled
// PLAIN: tile.store {{.*}}!tile.view<f16, [-1, 64], [64], space = 3, swizzled>
// PLAIN: tile.load {{.*}}!tile.view<f16, [-1, 64], [64], space = 3>
// PLAIN-NOT: tile.memory {{.*}} swizzled
// RUN: sed 's/memref.dealloc %alloc/%c0_end = arith.constant 0 : index\n%end = memref.load %alloc[%c0_end] : memref<?xf16>\nmemref.store %end, %arg5[%c0_end] : memref<?xf16>\n&/' %t/swizzled.mlir \
// RUN:   | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=LOADED
// LOADED: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loops: expected that leaves alone read and write swizzled memory, and keep no rows of it in registers
// RUN: sed 's/%alloc = loops.alloc.*/&\n%zone = loops.alloc %c16384 in <workspace> : memref<?xf16>/; s/%[0-9]* = loops.splat .* elements 4096.*//; s/scf.yield %[0-9]*, %c0_\([0-9]*\), %c0_\([0-9]*\) :/scf.yield %zone, %c0_\1, %c0_\2 :/; s/resident = 3, shared = 98304>>/resident = 3, shared = 98304>, most = 264>/' %t/swizzled.mlir \
// RUN:   | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loops: expected all memory that is chosen to be swizzled, or none of it
// CHOSEN: <stdin>:[[#]]:[[#]]: note: this is not swizzled

// Memory that a branch chooses is swizzled together, or not at all: not where something reads an element of one of them by itself.
// RUN: ft-opt %t/halves.mlir --ft-compile="to=reorder target=sm_80 machine=%S/../../../../machines/a100.json" \
// RUN:   | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-apply-schedule,etdg-schedule-for-gpu{target=sm_80 machine=%S/../../../../machines/a100.json},etdg-place-buffers{target=sm_80 machine=%S/../../../../machines/a100.json}),convert-etdg-to-loops{target=sm_80 machine=%S/../../../../machines/a100.json},cse,loops-choose-layouts,loops-choose-tasks,loops-find-alignment)" -o %t/open.mlir
// RUN: ft-opt %t/open.mlir --loops-place-memory | FileCheck %s --check-prefix=ALONE
// ALONE: loops.alloc {{.*}} in <shared, offset = 256, swizzled>
// RUN: sed 's/%alloc = loops.alloc.*/&\n%zone = loops.alloc %c16384 in <shared> : memref<?xf16>/; s/%[0-9]* = loops.splat .* elements 4096.*//; s/scf.yield %[0-9]*, %c0, %c0 :/scf.yield %zone, %c0, %c0 :/; s/memref.dealloc %alloc/%one = memref.load %zone[%c0] : memref<?xf16>\nmemref.store %one, %arg5[%c0] : memref<?xf16>\n&/' %t/open.mlir \
// RUN:   | ft-opt --loops-place-memory | FileCheck %s --check-prefix=TOGETHER
// TOGETHER-NOT: offset = {{[0-9]+}}, swizzled
// TOGETHER: loops.alloc {{.*}} in <shared, offset = {{[0-9]+}}>
// TOGETHER-NOT: offset = {{[0-9]+}}, swizzled
// TOGETHER: return

// Operands of some leaves lie where sums of others do, as leaves take turns: the first layer's products ahead of steps whose sums are cut into slices.
// RUN: sed 's/1x64xf32/1x256xf32/; s/<64x64xf32/<256x256xf32/; s/ft.lengths = {/ft.typical = {N = [16, 16], D = [10, 10], L = [100, 100]}, &/' %examples/stacked_lstm.mlir | ft-opt --ft-compile="to=coarsen target=sm_90a machine=%S/../../../../machines/h200.json" \
// RUN:   | ft-opt --pass-pipeline="builtin.module(etdg.graph(etdg-reorder,etdg-choose-division-for-gpu{steps=never machine=%S/../../../../machines/h200.json},etdg-apply-schedule,etdg-schedule-for-gpu{steps=never machine=%S/../../../../machines/h200.json},etdg-place-buffers{machine=%S/../../../../machines/h200.json}),convert-etdg-to-loops{target=sm_90a machine=%S/../../../../machines/h200.json},cse,loops-decide-for-gpu)" \
// RUN:   | FileCheck %s --check-prefix=TURNS
// TURNS: #loops.place<operands in shared at [[AT:[0-9]+]], bytes = {{[0-9]+}}>
// TURNS: #loops.place<sums in shared at [[AT]], bytes = {{[0-9]+}}>

// What is left out, does not fit, or overlaps is refused.
// RUN: not ft-opt %t/softmax.mlir --loops-choose-layouts --loops-choose-tasks --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: softmax.mlir:[[#]]:[[#]]: error: the GPU engine can't run the loops: it is not specified where a thread block has its memory (loops.shared): loops-place-memory does
// RUN: sed 's/in shared at 416/in shared at 400/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OVERLAP
// OVERLAP: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: value 2 is needed while value 0 is, which has bytes 384 to 416, found 400 to 2448
// RUN: sed 's/at 416, bytes = 2048/at 416, bytes = 1024/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=SMALL
// SMALL: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: value 2 has 2048 bytes, found #loops.place<value = 2 in shared at 416, bytes = 1024>
// RUN: sed 's/#loops.place<value = 0 in shared at 384, bytes = 32>, //' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MISSING
// MISSING: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: value 0 lies in memory, expected a #loops.place of 32 bytes: loops-place-memory gives it
// RUN: sed 's/value = 3 in/value = 9 in/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: its loop nests hand on {{[4-8]}} values, found a place of value 9
// RUN: sed 's/#loops.place<value = 2 in/#loops.place<value = 1 in shared at 128, bytes = 16>, &/; s/in <shared, offset = 128>/in <workspace>/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=REGISTERS
// REGISTERS: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: value 1 stays in registers, found #loops.place<value = 1 in shared at 128, bytes = 16>
// RUN: sed 's/value = 3 in shared at 2464, bytes = 32>/&, #loops.place<operands in shared at 384, bytes = 32>/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OPERANDS
// OPERANDS: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: operands are none that it has, found #loops.place<operands in shared at 384, bytes = 32>
// RUN: sed 's/value = 2 in shared at 416, bytes = 2048/value = 2 in output = 0/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OUTPUT
// OUTPUT: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: value 2 can't lie in output 0: no product alone makes that of it, in memory that the threads of a block share
// RUN: sed 's/value = 0 in shared at 384, bytes = 32/value = 0 in workspace, bytes = 32/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=PART
// PART: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf's places: parts of the workspace are multiples of 256 bytes, found #loops.place<value = 0 in workspace, bytes = 32>
// RUN: sed 's/warps = 128/warps = 64/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=WARPS
// WARPS: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loops: the warps of 64 threads leave each other sums in 128 bytes of shared memory, found warps = 64
// RUN: sed 's/bytes = 2496, warps/bytes = 400000, warps/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MACHINE
// MACHINE: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loops: block: the kernel uses 400000 bytes of shared memory, a block has at most 232448 on {{.*}}; fewer threads use less
// RUN: sed 's/, most = 528//' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MOST
// MOST: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the loops: each thread block has memory in the workspace, expected how many there are at most (most in loops.grid)
// RUN: sed 's/value = 0 in shared at 384/value = 0 in shared at 352/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=KERNEL
// KERNEL: <stdin>:[[#]]:[[#]]: error: expected a place that overlaps no memory that lasts as long as the kernel, found bytes 352 to 384 (loops_grid6)
// RUN: sed 's/bytes = 2496, warps/bytes = 2480, warps/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=TOTAL
// TOTAL: <stdin>:[[#]]:[[#]]: error: expected a place in bytes 128 to 2480 of shared memory, found 2464 to 2496 (loops_grid6)
// RUN: sed 's/<shared, offset = 128>/<shared>/' %t/chosen.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OFFSET
// OFFSET: <stdin>:[[#]]:[[#]]: error: expected a place in bytes 128 to 2496 of shared memory, found none (loops_grid6)

//--- softmax.mlir
!x = memref<?x64xf32, strided<[?, 1], offset: ?>>
loops.program @softmax lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], tensor<64xf32>>
  %y = loops.buffer result 0 : <[N], tensor<64xf32>>
  loops.launch @softmax_k0(%n, %x, %y) : index, !etdg.buffer<[N], tensor<64xf32>>, !etdg.buffer<[N], tensor<64xf32>>
}
func.func @softmax_k0(%n: index, %xs: memref<?xf32>, %ys: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 64, shared = 8192>>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %many = arith.constant 4096 : index
  loops.chunks (%row, %rows) = %c0 to %n most 8 unit 8 level <grid, cyclic> {
    %begin = arith.muli %row, %c64 : index
    %kept = loops.alloc %c64 in <shared> : memref<?xf32>
    %far = loops.alloc %many in <workspace> : memref<?xf32>
    %x = loops.view %xs[%begin] strides [1] steps [%c64] rows %rows : memref<?xf32> -> !x
    %y = loops.view %ys[%begin] strides [1] steps [%c64] rows %rows : memref<?xf32> -> !x
    loops.leaf rows(%rows) most 8 ins(%x : !x) varies [true] outs(%y : !x) overlaps [] {
    ^bb0(%a: tensor<64xf32>):
      %z = arith.constant dense<0.0> : tensor<f32>
      %empty = tensor.empty() : tensor<64xf32>
      %s = linalg.reduce {arith.addf} ins(%a : tensor<64xf32>) outs(%z : tensor<f32>) dimensions = [0]
      %t = linalg.broadcast ins(%s : tensor<f32>) outs(%empty : tensor<64xf32>) dimensions = [0]
      %b = arith.subf %a, %t : tensor<64xf32>
      %c = math.exp %b : tensor<64xf32>
      %u = linalg.reduce {arith.addf} ins(%c : tensor<64xf32>) outs(%z : tensor<f32>) dimensions = [0]
      %v = linalg.broadcast ins(%u : tensor<f32>) outs(%empty : tensor<64xf32>) dimensions = [0]
      %r = arith.divf %c, %v : tensor<64xf32>
      loops.yield %r : tensor<64xf32>
    }
    memref.dealloc %far : memref<?xf32>
    memref.dealloc %kept : memref<?xf32>
  } 
  return
}
