// RUN: ft-opt %s --convert-loops-to-cpu | FileCheck %s

// What a kernel writes before anything else, too, its first thread does alone; which thread one is, all know, and the shares of
// a loop after it are theirs.
// CHECK-LABEL: func.func @first(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[tid:.*]]: i64, %[[threads:.*]]: i64) attributes {loops.kernel, loops.team}
// CHECK: %[[own:.*]] = arith.index_cast %[[tid]]
// CHECK: %[[all:.*]] = arith.index_cast %[[threads]]
// CHECK: %[[isFirst:.*]] = arith.cmpi eq, %[[own]], %c0
// CHECK: scf.if %[[isFirst]] {
// CHECK: memref.store
// CHECK-NEXT: }
// CHECK-NEXT: llvm.call
// CHECK: arith.divui %{{.*}}, %[[all]]
// CHECK: scf.for
func.func @first(%n: index, %x: memref<?xi32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %v = arith.constant 3 : i32
  memref.store %v, %x[%c0] : memref<?xi32>
  loops.sync cores
  scf.forall (%i) = (1) to (%n) step (1) {
    memref.store %v, %x[%i] : memref<?xi32>
  } {mapping = [#loops.level<core, block>]}
  return
}
