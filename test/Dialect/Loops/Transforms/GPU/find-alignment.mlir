// Kernels of loops take adjacent elements as one access where sums and products in an address say that it begins evenly. The
// emulator refuses an access that does not.
//
// RUN: ft-opt %s "--ft-compile=to=target target=sm_90a" | FileCheck %s
// RUN: %python %S/../../../../Engine/Emulator/Inputs/emulate.py --multiprocessors=3 %ft_bin/ft-run %s 1 7 | FileCheck %s --check-prefix=EQUAL
// What is known of addresses is written on the leaves; accesses are as wide as it says, and nothing may say more.
// RUN: ft-opt %s --ft-compile="to=storage target=sm_90a" | ft-opt --convert-etdg-to-loops=target=sm_90a --loops-find-alignment > %t.mlir
// RUN: FileCheck %s --check-prefix=FOUND --input-file=%t.mlir
// RUN: ft-opt %t.mlir --loops-find-alignment | diff - %t.mlir
// RUN: sed 's/aligned \[16, 16\]/aligned [8, 16]/' %t.mlir | ft-opt --loops-decide-for-gpu --convert-loops-to-gpu | FileCheck %s --check-prefix=LESS
// LESS-LABEL: llvm.func @eights_k0
// LESS: tile.read {{.*}} at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
// LESS: tile.write {{.*}} at <offset = 0, strides = [1]> {width = 4 : i64} : f32, !tile.memory<f32>
// RUN: sed 's/aligned \[4, 16\]/aligned [16, 16]/' %t.mlir | not ft-opt --loops-decide-for-gpu --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MORE
// MORE: <stdin>:[[#]]:[[#]]: error: the GPU engine can't run the leaf: rows of view 0 are said to begin at multiples of 16 bytes, what is known of their addresses is a multiple of 4
// EQUAL: {{[1-9][0-9]*}} programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

// FOUND-LABEL: func.func @eights_k0
// FOUND: loops.leaf {{.*}} aligned [16, 16] {
// CHECK-LABEL: llvm.func @eights_k0
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>
func.func @eights(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %r = arith.mulf %x, %x : tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// Every row begins at another place.
// FOUND-LABEL: func.func @sevens_k0
// FOUND: loops.leaf {{.*}} aligned [4, 4] {
// CHECK-LABEL: llvm.func @sevens_k0
// CHECK-NOT: vector<
func.func @sevens(%x: tensor<64x7xf32>) -> tensor<64x7xf32> {
  %r = arith.mulf %x, %x : tensor<64x7xf32>
  return %r : tensor<64x7xf32>
}

// Columns from the fifth on begin evenly in rows of sixteen, those from the second on don't.
// FOUND-LABEL: func.func @fifth_k0
// FOUND: loops.leaf {{.*}} aligned [16, 16] {
// CHECK-LABEL: llvm.func @fifth_k0
// CHECK: llvm.load {{.*}} -> vector<4xf32>
func.func @fifth(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
  %s = tensor.extract_slice %x[0, 4] [64, 8] [1, 1] : tensor<64x16xf32> to tensor<64x8xf32>
  %r = arith.mulf %s, %s : tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// FOUND-LABEL: func.func @second_k0
// FOUND: loops.leaf {{.*}} aligned [4, 16] {
// CHECK-LABEL: llvm.func @second_k0
// CHECK-NOT: -> vector<
// CHECK: llvm.store {{.*}} : vector<4xf32>
func.func @second(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
  %s = tensor.extract_slice %x[0, 1] [64, 8] [1, 1] : tensor<64x16xf32> to tensor<64x8xf32>
  %r = arith.mulf %s, %s : tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}
