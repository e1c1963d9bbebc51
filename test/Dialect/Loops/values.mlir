// RUN: ft-opt %s --split-input-file --verify-diagnostics | ft-opt --split-input-file | FileCheck %s
//
// Memory that nothing fills, and loops that the threads of a block share.

// CHECK-LABEL: func.func @values
func.func @values(%m: memref<?xf32>, %n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>, most = 4>} {
  %c = arith.constant 0.5 : f32
  %one = arith.constant 1 : index
  // CHECK: loops.splat %{{.*}} elements 256 rows 1 : f32 -> memref<?xf32>
  %a = loops.splat %c elements 256 rows 1 : f32 -> memref<?xf32>
  // CHECK: loops.splat %{{.*}} step %{{.*}} elements 1 rows 64 : index -> memref<?xi64>
  %b = loops.splat %n step %one elements 1 rows 64 : index -> memref<?xi64>
  // CHECK: scf.forall
  // CHECK: mapping = [#loops.level<thread>]
  scf.forall (%i) = (0) to (64) step (1) {
    %x = memref.load %m[%i] : memref<?xf32>
    memref.store %x, %m[%i] : memref<?xf32>
  } {mapping = [#loops.level<thread>]}
  return
}
// -----
func.func @type(%n: index, %c: f32) {
  // expected-error @below {{expected memref<?xT> of the value's type, or of an integer for an index, found 'memref<?xf16>' of 'f32' (loops_splat1)}}
  %a = loops.splat %c elements 4 rows 1 : f32 -> memref<?xf16>
  return
}
// -----
func.func @shape(%c: f32) {
  // expected-error @below {{expected memref<?xT> of the value's type, or of an integer for an index, found 'memref<4xf32>' of 'f32' (loops_splat1)}}
  %a = loops.splat %c elements 4 rows 1 : f32 -> memref<4xf32>
  return
}
// -----
func.func @index_in_floats(%n: index) {
  // expected-error @below {{found 'memref<?xf32>' of 'index' (loops_splat1)}}
  %a = loops.splat %n elements 4 rows 1 : index -> memref<?xf32>
  return
}
// -----
func.func @step(%n: index, %c: f32) {
  // expected-error @below {{expected an index as value beside a step, found 'f32' (loops_splat2)}}
  %a = loops.splat %c step %n elements 4 rows 2 : f32 -> memref<?xf32>
  return
}
// -----
func.func @rows(%c: f32) {
  // expected-error @below {{expected elements, and at least one row, found 4 and 0 (loops_splat3)}}
  %a = loops.splat %c elements 4 rows 0 : f32 -> memref<?xf32>
  return
}
// -----
func.func @bounds(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>, most = 4>} {
  // expected-error @below {{threads share a loop over points between constant bounds (loops_grid5)}}
  scf.forall (%i) = (0) to (%n) step (1) {
  } {mapping = [#loops.level<thread>]}
  return
}
// -----
func.func @waits(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>, most = 4>} {
  // expected-note @below {{in this loop of level thread}}
  scf.forall (%i) = (0) to (8) step (1) {
    // expected-error @below {{a thread can't run it alone (loops_grid5)}}
    %m = loops.alloc %n in <workspace> : memref<?xf32>
  } {mapping = [#loops.level<thread>]}
  return
}
// -----
func.func @constant(%c: f32) {
  // expected-error @below {{expected a constant without a step, which lies in memory as one (loops_grid7)}}
  %a = loops.splat %c elements 4 rows 1 {loops.constant} : f32 -> memref<?xf32>
  return
}
