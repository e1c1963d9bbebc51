// A program that goes through its layers at each step may as well go through the steps of each layer: the products with what
// comes from the layer below are one product of all steps then. Not so where a step reads the layer above at the step before.
// RUN: ft-opt %s --ft-compile="to=coarsen" | ft-opt --etdg-distribute="outer=1 first=1" --remarks-filter=".*" --remark-policy=all 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: env FT_NUM_THREADS=2 ft-opt %s --mlir-disable-threading --ft-compile="to=schedule machine=%S/../../../../machines/cpu.json" --remarks-filter="cpu" --remark-policy=all 2>&1 >/dev/null | FileCheck %s --check-prefix=CHOSEN
// RUN: ft-run %s --entry=layers --compare=interpret | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=layers --compare=interpret --candidate=2 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=layers --compare=interpret --candidate=3 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=layers --compare=interpret --candidate=4 --order=random --seed=2 | FileCheck %s --check-prefix=EQUAL
// RUN: ft-run %s --entry=above --compare=interpret | FileCheck %s --check-prefix=EQUAL

// EQUAL: equal
// CHOSEN: choose-division {{.*}}Remark="products ahead inside 1 loop, sequential dimension 1 outermost: team j
// (What is priced for the second function are other forms: none has its layers outermost.)
// CHOSEN: choose-division {{.*}}(whole {{[^,]*}}, products ahead inside 1 loop
// CHOSEN-NOT: outermost

// CHECK-LABEL: etdg.graph @layers
// CHECK: etdg.block @r0_around [scanl] (j) in [0, 7) {
// CHECK:   etdg.block @r0_ahead [map] (j | i) in [0, 30)
// CHECK:     linalg.matmul
// CHECK:   etdg.block @r0 [foldl] (j | i) in [0, 30)
// CHECK:     linalg.matmul
func.func @layers(%x: tensor<30x1x256xi32>, %w: tensor<7x256x256xi32>, %u: tensor<7x256x256xi32>) -> tensor<7x1x256xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c30 = arith.constant 30 : index
  %e = tensor.empty() : tensor<1x256xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x256xi32>) -> tensor<1x256xi32>
  %se = tensor.empty() : tensor<7x1x256xi32>
  %sf = linalg.fill ins(%zero : i32) outs(%se : tensor<7x1x256xi32>) -> tensor<7x1x256xi32>
  %r = scf.for %t = %c0 to %c30 step %c1 iter_args(%s = %sf) -> tensor<7x1x256xi32> {
    %v = tensor.extract_slice %x[%t, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<30x1x256xi32> to tensor<1x256xi32>
    %r2:2 = scf.for %l = %c0 to %c7 step %c1 iter_args(%below = %v, %state = %s) -> (tensor<1x256xi32>, tensor<7x1x256xi32>) {
      %h = tensor.extract_slice %state[%l, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<7x1x256xi32> to tensor<1x256xi32>
      %wl = tensor.extract_slice %w[%l, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<7x256x256xi32> to tensor<256x256xi32>
      %ul = tensor.extract_slice %u[%l, 0, 0] [1, 256, 256] [1, 1, 1] : tensor<7x256x256xi32> to tensor<256x256xi32>
      %p = linalg.matmul ins(%below, %wl : tensor<1x256xi32>, tensor<256x256xi32>) outs(%f : tensor<1x256xi32>) -> tensor<1x256xi32>
      %q = linalg.matmul ins(%h, %ul : tensor<1x256xi32>, tensor<256x256xi32>) outs(%f : tensor<1x256xi32>) -> tensor<1x256xi32>
      %a = arith.addi %p, %q : tensor<1x256xi32>
      %n = arith.xori %a, %h : tensor<1x256xi32>
      %state2 = tensor.insert_slice %n into %state[%l, 0, 0] [1, 1, 256] [1, 1, 1] : tensor<1x256xi32> into tensor<7x1x256xi32>
      scf.yield %n, %state2 : tensor<1x256xi32>, tensor<7x1x256xi32>
    }
    scf.yield %r2#1 : tensor<7x1x256xi32>
  }
  return %r : tensor<7x1x256xi32>
}

// REMARK: remark: [Missed] distribute {{.*}}sequential dimension 1 can't come first: a dependence would point back
// CHECK-LABEL: etdg.graph @above
// CHECK-NOT: _ahead
func.func @above(%x: tensor<30x1x64xi32>, %w: tensor<7x64x64xi32>, %u: tensor<7x64x64xi32>) -> tensor<8x1x64xi32> {
  %zero = arith.constant 0 : i32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %c30 = arith.constant 30 : index
  %e = tensor.empty() : tensor<1x64xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x64xi32>) -> tensor<1x64xi32>
  %se = tensor.empty() : tensor<8x1x64xi32>
  %sf = linalg.fill ins(%zero : i32) outs(%se : tensor<8x1x64xi32>) -> tensor<8x1x64xi32>
  %r = scf.for %t = %c0 to %c30 step %c1 iter_args(%s = %sf) -> tensor<8x1x64xi32> {
    %v = tensor.extract_slice %x[%t, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<30x1x64xi32> to tensor<1x64xi32>
    %r2:2 = scf.for %l = %c0 to %c7 step %c1 iter_args(%below = %v, %state = %s) -> (tensor<1x64xi32>, tensor<8x1x64xi32>) {
      %up = arith.addi %l, %c1 : index
      %h = tensor.extract_slice %state[%up, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<8x1x64xi32> to tensor<1x64xi32>
      %wl = tensor.extract_slice %w[%l, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<7x64x64xi32> to tensor<64x64xi32>
      %ul = tensor.extract_slice %u[%l, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<7x64x64xi32> to tensor<64x64xi32>
      %p = linalg.matmul ins(%below, %wl : tensor<1x64xi32>, tensor<64x64xi32>) outs(%f : tensor<1x64xi32>) -> tensor<1x64xi32>
      %q = linalg.matmul ins(%h, %ul : tensor<1x64xi32>, tensor<64x64xi32>) outs(%f : tensor<1x64xi32>) -> tensor<1x64xi32>
      %n = arith.addi %p, %q : tensor<1x64xi32>
      %state2 = tensor.insert_slice %n into %state[%l, 0, 0] [1, 1, 64] [1, 1, 1] : tensor<1x64xi32> into tensor<8x1x64xi32>
      scf.yield %n, %state2 : tensor<1x64xi32>, tensor<8x1x64xi32>
    }
    scf.yield %r2#1 : tensor<8x1x64xi32>
  }
  return %r : tensor<8x1x64xi32>
}
