// Kernels of loops take adjacent elements as one access where sums and products in an address say that it begins evenly. The
// emulator refuses an access that does not.
//
// RUN: ft-opt %s "--ft-compile=to=target target=sm_90a" | FileCheck %s
// RUN: %python %S/../../Engine/Emulator/Inputs/emulate.py --multiprocessors=3 %ft_bin/ft-run %s 1 7 | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{[1-9][0-9]*}} programs, {{[1-9][0-9]*}} runs, 0 failures{{$}}

// CHECK-LABEL: llvm.func @eights_k0
// CHECK: llvm.load {{.*}} -> vector<4xf32>
// CHECK: llvm.store {{.*}} : vector<4xf32>
func.func @eights(%x: tensor<64x8xf32>) -> tensor<64x8xf32> {
  %r = arith.mulf %x, %x : tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// Every row begins at another place.
// CHECK-LABEL: llvm.func @sevens_k0
// CHECK-NOT: vector<
func.func @sevens(%x: tensor<64x7xf32>) -> tensor<64x7xf32> {
  %r = arith.mulf %x, %x : tensor<64x7xf32>
  return %r : tensor<64x7xf32>
}

// Columns from the fifth on begin evenly in rows of sixteen, those from the second on don't.
// CHECK-LABEL: llvm.func @fifth_k0
// CHECK: llvm.load {{.*}} -> vector<4xf32>
func.func @fifth(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
  %s = tensor.extract_slice %x[0, 4] [64, 8] [1, 1] : tensor<64x16xf32> to tensor<64x8xf32>
  %r = arith.mulf %s, %s : tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}

// CHECK-LABEL: llvm.func @second_k0
// CHECK-NOT: -> vector<
// CHECK: llvm.store {{.*}} : vector<4xf32>
func.func @second(%x: tensor<64x16xf32>) -> tensor<64x8xf32> {
  %s = tensor.extract_slice %x[0, 1] [64, 8] [1, 1] : tensor<64x16xf32> to tensor<64x8xf32>
  %r = arith.mulf %s, %s : tensor<64x8xf32>
  return %r : tensor<64x8xf32>
}
