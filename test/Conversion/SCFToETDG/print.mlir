// RUN: ft-opt %s --scf-print-raising -o /dev/null | FileCheck %s
// RUN: ft-opt %s --scf-print-raising 2>&1 | FileCheck %s --check-prefix=KEPT

// What the analysis hands to the writer, without a graph: each array with its writers, each buffer, each block with
// its domain and the pieces that it reads. The program stays as it is.
// KEPT: func.func @triangle
// KEPT-NOT: etdg.graph

// An array that each iteration of a triangle writes again is kept by its writers: a plane for each of both loops, and
// the result is the last one of each row.
// CHECK-LABEL: program @triangle
// CHECK-NEXT: array tensor<5x6xi32>, kept by its writers
// CHECK-NEXT: tensor.insert_slice [i, 0] sizes [1, 6] where i >= 0 and i <= 4 and j >= 0 and i >= j
// CHECK-NEXT: buffer 0: [5], tensor<6xi32>, a result
// CHECK-NEXT: buffer 1: [5, 5], tensor<6xi32>, planes of 2 loops
// CHECK-NEXT: buffer 2: [5], tensor<6xi32>, an argument
// CHECK-NEXT: buffer 3: [5], tensor<6xi32>, an argument
// CHECK-NEXT: nest
// CHECK-NEXT: leaf r0 [scanl, scanl] where i >= 0 and i <= 4 and j >= 0 and i >= j
// CHECK-NEXT: read tensor<6xi32> = buffer 2[j]
// CHECK-NEXT: read tensor<6xi32> = buffer 3[i] where j = 0 | buffer 1[i, j - 1] where j >= 1
// CHECK-NEXT: arith.addi
// CHECK-NEXT: write buffer 1[i, j]
// CHECK-NEXT: nest
// CHECK-NEXT: copy r1 [map] where i >= 0 and i <= 4
// CHECK-NEXT: read tensor<6xi32> = buffer 1[i, i]
// CHECK-NEXT: write buffer 0[i]
func.func @triangle(%xs: tensor<5x6xi32>, %ys: tensor<5x6xi32>) -> tensor<5x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%a = %ys) -> (tensor<5x6xi32>) {
    %end = arith.addi %i, %c1 : index
    %inner = scf.for %j = %c0 to %end step %c1 iter_args(%b = %a) -> (tensor<5x6xi32>) {
      %x = tensor.extract_slice %xs[%j, 0] [1, 6] [1, 1] : tensor<5x6xi32> to tensor<6xi32>
      %y = tensor.extract_slice %b[%i, 0] [1, 6] [1, 1] : tensor<5x6xi32> to tensor<6xi32>
      %sum = arith.addi %x, %y : tensor<6xi32>
      %next = tensor.insert_slice %sum into %b[%i, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<5x6xi32>
      scf.yield %next : tensor<5x6xi32>
    }
    scf.yield %inner : tensor<5x6xi32>
  }
  return %r : tensor<5x6xi32>
}

// An array that is written once at each cell is a buffer; a read at data has the index as a buffer of its own.
// CHECK-LABEL: program @gathered
// CHECK-NEXT: array tensor<?x4xi32>, written once at each cell, {{.*}}: buffer [[Y:[0-9]+]][c0, c1]
// CHECK-NEXT: tensor.insert_slice [i, 0] sizes [1, 4] where i >= 0 and i + 1 <= L
// CHECK: leaf r0 [scanl] where i >= 0 and i + 1 <= L
// CHECK-NEXT: read tensor<4xi32> = buffer {{[0-9]+}}[0] with 0 = buffer {{[0-9]+}}[i]
// CHECK: write buffer [[Y]][i]
func.func @gathered(%xs: tensor<9x4xi32>, %at: tensor<?xindex> {etdg.dims = ["L"]}) -> tensor<?x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %at, %c0 : tensor<?xindex>
  %empty = tensor.empty(%L) : tensor<?x4xi32>
  %r = scf.for %i = %c0 to %L step %c1 iter_args(%a = %empty) -> (tensor<?x4xi32>) {
    %k = tensor.extract %at[%i] : tensor<?xindex>
    %x = tensor.extract_slice %xs[%k, 0] [1, 4] [1, 1] : tensor<9x4xi32> to tensor<4xi32>
    %y = arith.addi %x, %x : tensor<4xi32>
    %next = tensor.insert_slice %y into %a[%i, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<?x4xi32>
    scf.yield %next : tensor<?x4xi32>
  }
  return %r : tensor<?x4xi32>
}

// Of a function that is refused, the reason.
// CHECK-LABEL: program @refused is refused: the step of the loop is no positive constant
func.func @refused(%xs: tensor<5x6xi32>, %step: tensor<index>) -> tensor<5x6xi32> {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %by = tensor.extract %step[] : tensor<index>
  %r = scf.for %i = %c0 to %c5 step %by iter_args(%a = %xs) -> (tensor<5x6xi32>) {
    scf.yield %a : tensor<5x6xi32>
  }
  return %r : tensor<5x6xi32>
}
