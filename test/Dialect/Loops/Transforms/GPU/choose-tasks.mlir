// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long chunks are, and how many thread blocks there are where nothing can count tasks, is written into the loops by a pass, and read
// where kernels and launch plans are made.
//
// RUN: split-file %s %t
// RUN: cat %t/rows.mlir %t/units.mlir %t/columns.mlir %t/depends.mlir %t/waits.mlir %t/cores.mlir > %t/kernels.mlir
// RUN: ft-opt %t/kernels.mlir --loops-choose-tasks -o %t/chosen.mlir && FileCheck %s --input-file=%t/chosen.mlir
// What is written stays.
// RUN: ft-opt %t/chosen.mlir --loops-choose-tasks | diff - %t/chosen.mlir
//
// The host knows all rows and points, and nothing waits: two tasks for each of 132 SMs.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>
// CHECK: loops.chunks {{.*}} most 64 level <grid, cyclic> length <tasks = 264, full = 4> {
// Whole units, as nothing has a choice; what is left the host can count still.
// CHECK-LABEL: func.func @units(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>
// CHECK: loops.chunks {{.*}} most 64 level <grid, cyclic> length <tasks = 264, full = 4> {
// CHECK: loops.chunks {{.*}} most 16 unit 16 level <grid, cyclic> length <each = 16> {
// Columns are cut by the thread blocks, which the host can't count then: some for each SM.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 32, shared = 4096>, most = 1056>
// CHECK: loops.chunks {{.*}} most 64 level <grid, cyclic> length <blocks> {
// CHECK: loops.chunks {{.*}} most 64 unit 16 level <grid, cyclic> length <blocks> {
// So are rows where ranges depend on points, and where thread blocks wait for each other: one for each SM.
// CHECK-LABEL: func.func @depends(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 32, shared = 4096>, most = 1056>
// CHECK: loops.chunks {{.*}} most 64 level <grid, cyclic> length <blocks> {
// CHECK-LABEL: func.func @waits(
// CHECK-SAME: loops.grid = #loops.grid<block = <threads = 32, shared = 4096>, most = 132>
// CHECK: loops.chunks {{.*}} most 64 level <grid, cyclic> length <blocks> {
// What a thread block runs in order, and a CPU's, has none.
// CHECK: loops.chunks {{.*}} most 64 level <none> {
// CHECK-LABEL: func.func @cores(
// CHECK: loops.chunks {{.*}} most 64 level <core, dynamic> {

// Plans and kernels are what they say: rows in 100 tasks, or 5 each, whatever the machine.
// RUN: ft-opt %t/rows.mlir --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=HOST
// HOST: tile.plan = "{{.*}}\22grid\22:[{{.*}}\22arguments\22:[{{.*}}]],264],1],{{.*}}],4]],64],\22bits\22:64}]
// HOST: llvm.func @rows(
// RUN: ft-opt %t/rows.mlir --loops-decide-for-gpu | sed 's/tasks = 264, full = 4/tasks = 100, full = 7/' | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=HUNDRED
// HUNDRED: tile.plan = "{{.*}}\22grid\22:[{{.*}}\22arguments\22:[{{.*}}]],100],1],{{.*}}],7]],64],\22bits\22:64}]
// RUN: ft-opt %t/rows.mlir --loops-decide-for-gpu | sed 's/<tasks = 264, full = 4>/<each = 5>/' | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=FIVE
// FIVE: \22grid\22:{{\[\[}}\22min\22,[\22mul\22,[\22max\22,\22M\22,0],[\22ceildiv\22,[\22max\22,\22N\22,0],5]],
// FIVE: llvm.func @rows(
// FIVE: arith.divui %{{.*}}, %[[EACH:c5_i64.*]] : i64
// FIVE: arith.minsi %{{.*}}, %[[EACH]] : i64
// RUN: ft-opt %t/rows.mlir --loops-decide-for-gpu | sed 's/<tasks = 264, full = 4>/<blocks>/; s/shared = 4096>>/shared = 4096>, most = 77>/' | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=BLOCKS
// BLOCKS: \22grid\22:[77,1,1]
// BLOCKS: llvm.func @rows(
// BLOCKS: %[[NUMBER:.*]] = nvvm.read.ptx.sreg.nctaid.x
// BLOCKS: %[[MORE:.*]] = nvvm.read.ptx.sreg.nctaid.x
// BLOCKS: %[[BLOCKS:.*]] = arith.extui %[[MORE]]
// BLOCKS: arith.divui %[[BLOCKS]],

// What is left out, or does not fit, is refused.
// RUN: not ft-opt %t/rows.mlir --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: rows.mlir:[[#]]:[[#]]: error: the GPU engine can't run a loop over chunks without a length: loops-choose-tasks says how long they are
// RUN: ft-opt %t/rows.mlir --loops-decide-for-gpu | sed 's/<tasks = 264, full = 4>/<blocks>/' | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=UNCOUNTED
// UNCOUNTED: error: the GPU engine can't run the loops: expected how many thread blocks there are (most in loops.grid), as the host can't count the tasks; loops-choose-tasks says it
// RUN: sed 's/level <grid, cyclic> {/level <grid, cyclic> length <tasks = 10, full = 2> {/' %t/depends.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=HOSTS
// HOSTS: error: the GPU engine can't run the loops: the host can't cut a loop into 10 tasks that it can't count: expected each or blocks, found #loops.chunk_length<tasks = 10, full = 2>
// RUN: sed 's/level <grid, cyclic> {/level <grid, cyclic> length <tasks = 10, full = 2> {/' %t/waits.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=WAITS
// WAITS: error: the GPU engine can't run the loops: the host can't cut a loop into 10 tasks whose thread blocks wait for each other: expected each or blocks

//--- rows.mlir
loops.program @rows_program lengths ["N", "M"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %m = loops.length "M"
  %x = loops.buffer argument 0 : <[N, M], tensor<f32>>
  %y = loops.buffer result 0 : <[N], tensor<f32>>
  loops.launch @rows(%n, %m, %y) : index, index, !etdg.buffer<[N], tensor<f32>>
}
func.func @rows(%n: index, %m: index, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%m) {
    loops.chunks (%row, %rows) = %c0 to %n most 64 level <grid, cyclic> {
      memref.store %one, %y[%row] : memref<?xf32>
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}

//--- units.mlir
loops.program @units_program lengths ["N", "M"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %m = loops.length "M"
  %x = loops.buffer argument 0 : <[N, M], tensor<f32>>
  %y = loops.buffer result 0 : <[N], tensor<f32>>
  loops.launch @units(%n, %m, %y) : index, index, !etdg.buffer<[N], tensor<f32>>
}
func.func @units(%n: index, %m: index, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  loops.chunks (%row, %rows) = %c0 to %n most 64 level <grid, cyclic> {
    loops.chunks (%column, %columns) = %c0 to %m most 16 unit 16 level <grid, cyclic> {
      memref.store %one, %y[%row] : memref<?xf32>
    }
  }
  return
}

//--- columns.mlir
loops.program @columns_program lengths ["N", "M"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %m = loops.length "M"
  %x = loops.buffer argument 0 : <[N, M], tensor<f32>>
  %y = loops.buffer result 0 : <[N], tensor<f32>>
  loops.launch @columns(%n, %m, %y) : index, index, !etdg.buffer<[N], tensor<f32>>
}
func.func @columns(%n: index, %m: index, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  loops.chunks (%row, %rows) = %c0 to %n most 64 level <grid, cyclic> {
    loops.chunks (%column, %columns) = %c0 to %m most 64 unit 16 level <grid, cyclic> {
      memref.store %one, %y[%row] : memref<?xf32>
    }
  }
  return
}

//--- depends.mlir
loops.program @depends_program lengths ["N", "M"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %m = loops.length "M"
  %x = loops.buffer argument 0 : <[N, M], tensor<f32>>
  %y = loops.buffer result 0 : <[N], tensor<f32>>
  loops.launch @depends(%n, %m, %y) : index, index, !etdg.buffer<[N], tensor<f32>>
}
func.func @depends(%n: index, %m: index, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.forall (%i) in (%m) {
    %end = arith.addi %i, %n : index
    loops.chunks (%row, %rows) = %c0 to %end most 64 level <grid, cyclic> {
      memref.store %one, %y[%row] : memref<?xf32>
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}

//--- waits.mlir
loops.program @waits_program lengths ["N", "M"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %m = loops.length "M"
  %x = loops.buffer argument 0 : <[N, M], tensor<f32>>
  %y = loops.buffer result 0 : <[N], tensor<f32>>
  loops.launch @waits(%n, %m, %y) : index, index, !etdg.buffer<[N], tensor<f32>>
}
func.func @waits(%n: index, %m: index, %y: memref<?xf32>)
    attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %step = %c0 to %m step %c1 {
    loops.chunks (%row, %rows) = %c0 to %n most 64 level <grid, cyclic> {
      loops.chunks (%inner, %inners) = %c0 to %m most 64 level <none> {
        memref.store %one, %y[%row] : memref<?xf32>
      }
    }
    loops.sync grid
  }
  return
}

//--- cores.mlir
loops.program @cores_program lengths ["N", "M"] places [] {
  %n = loops.length "N"
  %m = loops.length "M"
  %x = loops.buffer argument 0 : <[N, M], tensor<f32>>
  %y = loops.buffer result 0 : <[N], tensor<f32>>
  loops.launch @cores(%n, %m, %y) : index, index, !etdg.buffer<[N], tensor<f32>>
}
func.func @cores(%n: index, %m: index, %y: memref<?xf32>)
    attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  loops.chunks (%row, %rows) = %c0 to %n most 64 level <core, dynamic> {
    memref.store %one, %y[%row] : memref<?xf32>
  }
  return
}
