// An element that is put together out of scalars is so by all threads of a block: loops of level thread, which they share as one.
//
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" --convert-etdg-to-loops=target=sm_90a -o %t.mlir
// RUN: FileCheck %s --check-prefix=LOOPS --input-file=%t.mlir
// RUN: ft-opt %t.mlir --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s
// RUN: %ft_bin/ft-run %s --engine=emulate --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
//
// LOOPS: loops.chunks
// LOOPS: loops.alloc
// LOOPS: %[[own:.*]] = loops.alloc %c40{{.*}} : memref<?xf32>
// LOOPS: loops.leaf
// LOOPS: scf.forall (%[[column:.*]]) in (40) {
// LOOPS: memref.load
// LOOPS: memref.store %{{.*}}, %[[own]]
// LOOPS: mapping = [#loops.level<thread>]
// LOOPS: loops.leaf
//
// CHECK: llvm.func @reversed_k0(
// CHECK: %[[thread:.*]] = nvvm.read.ptx.sreg.tid.x
// CHECK: nvvm.barrier0
// CHECK: %[[points:.*]] = arith.constant 40 : i32
// CHECK: scf.for %[[point:.*]] = %[[thread]] to %[[points]] step
// CHECK: %[[column:.*]] = arith.extui %[[point]]
// CHECK: llvm.store
// CHECK: }
// CHECK: nvvm.barrier0

func.func @reversed(%x: tensor<33x40xf32>, %y: tensor<33x40xf32>) -> tensor<33x40xf32> {
  %a = tensor.extract_slice %x[0, 0] [33, 20] [1, 1] : tensor<33x40xf32> to tensor<33x20xf32>
  %b = tensor.extract_slice %x[0, 20] [33, 20] [1, 1] : tensor<33x40xf32> to tensor<33x20xf32>
  %n = arith.negf %b : tensor<33x20xf32>
  %r = tensor.concat dim(1) %n, %a : (tensor<33x20xf32>, tensor<33x20xf32>) -> tensor<33x40xf32>
  %m = arith.mulf %r, %y : tensor<33x40xf32>
  return %m : tensor<33x40xf32>
}
