// Sums of a product that an iteration hands to the next one stay in registers from the first to the last: the leaf says which of its inputs has what which output got before,
// when it is stored, and in which type. What stands there makes the kernel: a loop that carries tiles.
//
// RUN: ft-opt %s "--ft-compile=to=tile target=sm_90a machine=%S/../../../../machines/h200.json" --remarks-filter="gpu.*" -o %t.mlir 2> %t.remarks && FileCheck %s --input-file=%t.mlir
// RUN: grep keep-sums %t.remarks | FileCheck %s --check-prefix=REMARK
// RUN: ft-opt %t.mlir --loops-keep-sums | diff - %t.mlir
// RUN: ft-opt %t.mlir --convert-loops-to-gpu | FileCheck %s --check-prefix=KERNEL
// REMARK: Passed] keep-sums{{.*}}input 2 stays in registers from the first iteration to the last", words=64
// REMARK: Passed] keep-sums{{.*}}input 2 stays in registers from the first iteration to the last", words=
//
// More than half of a thread's registers they don't take.
// RUN: sed 's/loops.kept = [^]]*\], //; s/resident = [0-9]*/resident = 8/' %t.mlir | ft-opt --loops-keep-sums --remarks-filter="gpu.*" 2>&1 | FileCheck %s --check-prefix=WORDS
// WORDS: Missed] keep-sums{{.*}}input 2 goes through memory at each iteration: with it a thread has 64 words of sums and of what is computed of them at a time, of 32
// WORDS-NOT: loops.kept
//
// KERNEL-LABEL: llvm.func @sums_k0
// KERNEL: scf.if
// KERNEL: %[[FIRST:.*]] = scf.if {{.*}} -> (!tile.registers<
// KERNEL: %[[LAST:.*]] = scf.for {{.*}} iter_args(%[[NOW:.*]] = %[[FIRST]]) -> (!tile.registers<
// KERNEL-NOT: tile.store
// KERNEL: scf.for {{.*}} iter_args(%{{.*}} = %[[NOW]])
// KERNEL-NOT: tile.store
// KERNEL: }
// KERNEL: tile.store %[[LAST]]
// KERNEL: nvvm.barrier0
// Halves are rounded after the loop.
// KERNEL-LABEL: llvm.func @halves_k0
// KERNEL: scf.for {{.*}} -> (!tile.registers<{{[0-9x]*}}f32
// KERNEL-NOT: arith.truncf
// KERNEL: tile.mma
// KERNEL-NOT: tile.store
// KERNEL: arith.truncf
// KERNEL: tile.store
//
// Where each iteration is to store them, it does, and nothing is stored after the loop.
// RUN: sed 's/input = 2, last/input = 2, each/' %t.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=EACH
// EACH-LABEL: llvm.func @sums_k0
// EACH: scf.for {{.*}} iter_args
// EACH: tile.mma
// EACH: tile.store
// EACH: nvvm.barrier0
// EACH: scf.yield {{.*}} !tile.registers
// EACH-NOT: tile.store
// EACH-LABEL: llvm.func @halves_k0
//
// With the program's roundings states of halves are rounded at each step, in registers as well.
// RUN: ft-opt %s "--ft-compile=to=tile target=sm_90a rounding=exact machine=%S/../../../../machines/h200.json" | FileCheck %s --check-prefix=EXACT
// EXACT-LABEL: func.func @halves_k0
// EXACT-NOT: loops.rounds_last
// EXACT: loops.kept = [#loops.kept<output = 0, input = 2, last>]
// EXACT-NOT: loops.rounds_last
//
// Nothing is made of what does not hold: another input, a state of two iterations before, after the loop one of another iteration than the last,
// RUN: sed 's/input = 2, last>/input = 0, last>/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: error: the GPU engine can't keep #loops.kept<output = 0, input = 0, last> in registers: by their addresses input 0 is not what output 0 was in the iteration before
// RUN: sed 's/^            \(%[0-9]* = affine.apply\) #map(%arg9)/\1 affine_map<(d0) -> (d0 - 2)>(%arg9)/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=BEFORE
// BEFORE: error: the GPU engine can't keep #loops.kept<output = 0, input = 2, last> in registers: by their addresses input 2 is not what output 0 was in the iteration before
// RUN: sed 's/^          \(%[0-9]* = affine.apply\) #map(%arg2)/\1 affine_map<(d0) -> (d0 - 2)>(%arg2)/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=BEHIND
// BEHIND: error: the GPU engine can't keep #loops.kept<output = 0, input = 2, last> in registers: stored after the last iteration alone, where what is read after the loop may be of another iteration than the last one
//
// something else that writes or reads in the loop,
// RUN: sed '/loops.view %alloc\[.*memref<?xf32> ->/i %%zero = arith.constant 0 : index\n%%one = arith.constant 1.0 : f32\nmemref.store %%one, %%alloc[%%zero] : memref<?xf32>' %t.mlir | sed 's/%%%%/%%/g' > %t.written.mlir
// RUN: not ft-opt %t.written.mlir --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=WRITTEN
// WRITTEN: error: the GPU engine can't keep #loops.kept<output = 0, input = 2, last> in registers: something else in the loop may write their memory
// RUN: sed '/loops.view %alloc\[.*memref<?xf32> ->/i %%zero = arith.constant 0 : index\n%%seen = memref.load %%alloc[%%zero] : memref<?xf32>' %t.mlir | sed 's/%%%%/%%/g' > %t.seen.mlir
// RUN: not ft-opt %t.seen.mlir --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=SEEN
// SEEN: error: the GPU engine can't keep #loops.kept<output = 0, input = 2, last> in registers: stored after the last iteration alone, where something else in the loop reads it
// RUN: sed 's/loops.kept = [^]]*\], //' %t.seen.mlir | ft-opt --loops-keep-sums | FileCheck %s --check-prefix=CHOSEN
// CHOSEN: loops.kept = [#loops.kept<output = 0, input = 2, each>]
//
// a type in which nothing adds up, or in a loop that rounds; a barrier that is left out.
// RUN: sed 's/last in f32>/last in f64>/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: error: the GPU engine can't keep #loops.kept<output = 0, input = 2, last in f64> in registers: products add up to it in another type, 'f32'
// RUN: sed 's/{loops.rounds_last}//' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=ROUNDS
// ROUNDS: error: the GPU engine can't keep #loops.kept<output = 0, input = 2, last in f32> in registers: the loop's iterations round what they hand on (it says no loops.rounds_last)
// RUN: sed '/loops.sync block/d' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=SYNC
// SYNC: error: the GPU engine can't run the loops: sums that stay in registers are stored after the loop; expected a loops.sync block before something reads: loops-place-syncs places it

!x = tensor<64x64xf32>
// CHECK-LABEL: func.func @sums_k0
// CHECK: scf.for
// CHECK: loops.leaf
// CHECK: } {loops.kept = [#loops.kept<output = 0, input = 2, last>], loops.syncs
// CHECK: loops.sync block
// CHECK-NEXT: loops.leaf
func.func @sums(%as: !ft.list<[M, K], !x>, %bs: !ft.list<[N, K], !x>) -> !ft.list<[M, N], !x> {
  %zero = arith.constant dense<0.0> : !x
  %cs = ft.map (%a = %as : !ft.list<[M, K], !x>) -> !ft.list<[M, N], !x> {
    %row = ft.map (%b = %bs : !ft.list<[N, K], !x>) -> !ft.list<[N], !x> {
      %c = ft.reduce (%x, %y = %a, %b : !ft.list<[K], !x>, !ft.list<[K], !x>) init (%acc = %zero : !x) -> !x {
        %sum = linalg.matmul ins(%x, %y : !x, !x) outs(%acc : !x) -> !x
        ft.yield %sum : !x
      } combine (%p, %q) {
        %pq = arith.addf %p, %q : !x
        ft.yield %pq : !x
      }
      ft.yield %c : !x
    }
    ft.yield %row : !ft.list<[N], !x>
  }
  return %cs : !ft.list<[M, N], !x>
}

!h = tensor<64x64xf16>
// CHECK-LABEL: func.func @halves_k0
// CHECK: loops.kept = [#loops.kept<output = 0, input = 2, last in f32>]
// CHECK: } {loops.rounds_last}
func.func @halves(%as: !ft.list<[M, K], !h>, %bs: !ft.list<[N, K], !h>) -> !ft.list<[M, N], !h> {
  %zero = arith.constant dense<0.0> : !h
  %cs = ft.map (%a = %as : !ft.list<[M, K], !h>) -> !ft.list<[M, N], !h> {
    %row = ft.map (%b = %bs : !ft.list<[N, K], !h>) -> !ft.list<[N], !h> {
      %c = ft.reduce (%x, %y = %a, %b : !ft.list<[K], !h>, !ft.list<[K], !h>) init (%acc = %zero : !h) -> !h {
        %sum = linalg.matmul ins(%x, %y : !h, !h) outs(%acc : !h) -> !h
        ft.yield %sum : !h
      } combine (%p, %q) {
        %pq = arith.addf %p, %q : !h
        ft.yield %pq : !h
      }
      ft.yield %c : !h
    }
    ft.yield %row : !ft.list<[N], !h>
  }
  return %cs : !ft.list<[M, N], !h>
}
