// A launch that follows another one begins before that has ended, where the machine gains by it, and waits before it touches memory.
//
// RUN: split-file %s %t
// RUN: ft-opt %t/chain.mlir --loops-place-dependency -o %t/placed.mlir && FileCheck %s --input-file=%t/placed.mlir
// RUN: ft-opt %t/placed.mlir --loops-place-dependency | diff - %t/placed.mlir
// RUN: ft-opt %t/chain.mlir --loops-place-dependency --remark-policy=all --remarks-filter=gpu -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
//
// No such thing on an A100, nor for its code on an H200.
// RUN: ft-opt %t/chain.mlir "--loops-place-dependency=target=sm_80" | FileCheck %s --check-prefix=PLAIN
// RUN: ft-opt %t/chain.mlir "--loops-place-dependency=target=sm_80 machine=h200" | FileCheck %s --check-prefix=PLAIN
// PLAIN-NOT: overlaps
// PLAIN-NOT: griddepcontrol
//
// Cores run the kernels one after the other.
// RUN: ft-opt %t/placed.mlir --loops-grid-to-cores | FileCheck %s --check-prefix=PLAIN
//
// What a user writes is checked.
// RUN: ft-opt %t/wrong.mlir -split-input-file -verify-diagnostics

// CHECK: loops.launch @first({{.*}}) : index,
// CHECK: loops.variants
// CHECK: loops.launch @few({{.*}}) {overlaps}
// CHECK: loops.launch @many({{.*}}) {overlaps}
// CHECK: loops.launch @last({{.*}}) {overlaps}
// CHECK: loops.launch @meeting({{.*}}) : index,
// CHECK: loops.launch @last({{.*}}) : index,
// The first of a call waits for none; the last one before a grid that must be resident is followed by none.
// CHECK-LABEL: func.func @first
// CHECK-NEXT: loops.griddepcontrol launch_dependents
// CHECK-NOT: loops.griddepcontrol
// CHECK-LABEL: func.func @few
// CHECK-NEXT: loops.griddepcontrol launch_dependents
// CHECK-NOT: memref.
// CHECK: loops.griddepcontrol wait
// CHECK-LABEL: func.func @many
// CHECK-NEXT: loops.griddepcontrol launch_dependents
// CHECK: loops.griddepcontrol wait
// CHECK-LABEL: func.func @last
// CHECK-NOT: launch_dependents
// CHECK: loops.griddepcontrol wait
// CHECK-LABEL: func.func @meeting
// CHECK-NOT: loops.griddepcontrol

// REMARK: few begins before the launch before it has ended
// REMARK: many begins before the launch before it has ended
// REMARK: last begins before the launch before it has ended
// REMARK: meeting waits for the launch before it to end: thread blocks of its own grid wait for each other
// REMARK: last waits for the launch before it to end: thread blocks of that one wait for each other

//--- chain.mlir
!x = tensor<1x8xf32>
!b = !etdg.buffer<[N], !x>
!m = memref<?xf32>
loops.program @chain lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], !x>
  %y = loops.buffer result 0 : <[N], !x>
  %a = loops.buffer intermediate : <[N], !x>
  loops.launch @first(%n, %x, %a) : index, !b, !b
  loops.variants [#etdg.guard<[N] below 16>] {
    loops.launch @few(%n, %a, %y) : index, !b, !b
  }, {
    loops.launch @many(%n, %a, %y) : index, !b, !b
  }
  loops.launch @last(%n, %y, %a) : index, !b, !b
  loops.launch @meeting(%n, %a, %y) : index, !b, !b
  loops.launch @last(%n, %y, %a) : index, !b, !b
}
func.func @first(%n: index, %x: !m, %y: !m) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %c8 step %c1 {
      %p = affine.apply affine_map<(i, j) -> (i * 8 + j)>(%i, %j)
      %v = memref.load %x[%p] : !m
      memref.store %v, %y[%p] : !m
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
func.func @few(%n: index, %x: !m, %y: !m) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %c8 step %c1 {
      %p = affine.apply affine_map<(i, j) -> (i * 8 + j)>(%i, %j)
      %v = memref.load %x[%p] : !m
      memref.store %v, %y[%p] : !m
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
func.func @many(%n: index, %x: !m, %y: !m) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %c8 step %c1 {
      %p = affine.apply affine_map<(i, j) -> (i * 8 + j)>(%i, %j)
      %v = memref.load %x[%p] : !m
      memref.store %v, %y[%p] : !m
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
func.func @last(%n: index, %x: !m, %y: !m) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %c8 step %c1 {
      %p = affine.apply affine_map<(i, j) -> (i * 8 + j)>(%i, %j)
      %v = memref.load %x[%p] : !m
      memref.store %v, %y[%p] : !m
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
func.func @meeting(%n: index, %x: !m, %y: !m) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  loops.sync grid
  scf.forall (%i) in (%n) {
    scf.for %j = %c0 to %c8 step %c1 {
      %p = affine.apply affine_map<(i, j) -> (i * 8 + j)>(%i, %j)
      %v = memref.load %x[%p] : !m
      memref.store %v, %y[%p] : !m
    }
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
//--- wrong.mlir
!b = !etdg.buffer<[N], tensor<8xf32>>
func.func @early(%n: index, %x: memref<?xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  // expected-note @below {{this is in its kernel}}
  %v = memref.load %x[%c0] : memref<?xf32>
  loops.griddepcontrol wait
  return
}
loops.program @p lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], tensor<8xf32>>
  // expected-error @below {{may begin before the launch before it has ended: expected loops.griddepcontrol wait before what touches memory (loops_launch4)}}
  loops.launch @early(%n, %x) {overlaps} : index, !b
}
// -----
!b = !etdg.buffer<[N], tensor<8xf32>>
// expected-note @below {{this is in its kernel}}
func.func @never(%n: index, %x: memref<?xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  loops.griddepcontrol launch_dependents
  return
}
loops.program @p lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], tensor<8xf32>>
  // expected-error @below {{may begin before the launch before it has ended: expected loops.griddepcontrol wait in its kernel, found none (loops_launch4)}}
  loops.launch @never(%n, %x) {overlaps} : index, !b
}
// -----
!b = !etdg.buffer<[N], tensor<8xf32>>
func.func @meets(%n: index, %x: memref<?xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  loops.griddepcontrol wait
  // expected-note @below {{this is in its kernel}}
  loops.sync grid
  return
}
loops.program @p lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 132> {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], tensor<8xf32>>
  // expected-error @below {{may begin before the launch before it has ended: its thread blocks wait for each other (loops_launch4)}}
  loops.launch @meets(%n, %x) {overlaps} : index, !b
}
// -----
func.func @inside(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c = arith.cmpi eq, %n, %n : index
  scf.if %c {
    // expected-error @below {{expected the body of a kernel of thread blocks (loops.grid) around it, found 'scf.if' (loops_griddepcontrol1)}}
    loops.griddepcontrol wait
  }
  return
}
// -----
func.func @core(%n: index) attributes {loops.kernel} {
  // expected-error @below {{expected the body of a kernel of thread blocks (loops.grid) around it, found 'func.func' (loops_griddepcontrol1)}}
  loops.griddepcontrol wait
  return
}
