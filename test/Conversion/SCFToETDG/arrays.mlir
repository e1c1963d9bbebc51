func.func @prefix(%xs: tensor<?x4xi32> {etdg.dims = ["L"]}) -> tensor<?x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = tensor.dim %xs, %c0 : tensor<?x4xi32>
  %zero = arith.constant dense<0> : tensor<4xi32>
  %empty = tensor.empty(%L) : tensor<?x4xi32>
  %r:2 = scf.for %t = %c0 to %L step %c1 iter_args(%ys = %empty, %s = %zero) -> (tensor<?x4xi32>, tensor<4xi32>) {
    %x = tensor.extract_slice %xs[%t, 0] [1, 4] [1, 1] : tensor<?x4xi32> to tensor<4xi32>
    %s1 = arith.addi %s, %x : tensor<4xi32>
    %ys1 = tensor.insert_slice %s1 into %ys[%t, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<?x4xi32>
    scf.yield %ys1, %s1 : tensor<?x4xi32>, tensor<4xi32>
  }
  return %r#0 : tensor<?x4xi32>
}

func.func @sum(%xs: tensor<7x4xi32>) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %L = arith.constant 7 : index
  %zero = arith.constant dense<0> : tensor<4xi32>
  %r = scf.for %t = %c0 to %L step %c1 iter_args(%s = %zero) -> (tensor<4xi32>) {
    %x = tensor.extract_slice %xs[%t, 0] [1, 4] [1, 1] : tensor<7x4xi32> to tensor<4xi32>
    %s1 = arith.addi %s, %x : tensor<4xi32>
    scf.yield %s1 : tensor<4xi32>
  }
  return %r : tensor<4xi32>
}

// Reversed and lagged.
func.func @reversed(%xs: tensor<9x4xi32>) -> tensor<9x4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %r = scf.for %t = %c0 to %c9 step %c1 iter_args(%ys = %xs) -> (tensor<9x4xi32>) {
    %i = arith.subi %c8, %t : index
    %x = tensor.extract_slice %ys[%i, 0] [1, 4] [1, 1] : tensor<9x4xi32> to tensor<4xi32>
    %j = arith.addi %i, %c2 : index
    %k = arith.minsi %j, %c8 : index
    %y = tensor.extract_slice %ys[%k, 0] [1, 4] [1, 1] : tensor<9x4xi32> to tensor<4xi32>
    %s1 = arith.addi %x, %y : tensor<4xi32>
    %ys1 = tensor.insert_slice %s1 into %ys[%i, 0] [1, 4] [1, 1] : tensor<4xi32> into tensor<9x4xi32>
    scf.yield %ys1 : tensor<9x4xi32>
  }
  return %r : tensor<9x4xi32>
}

// Accumulation into cells, triangular.
func.func @triangle(%a: tensor<5x6xi32>, %c: tensor<5x6xi32>) -> tensor<5x6xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%o = %c) -> (tensor<5x6xi32>) {
    %i1 = arith.addi %i, %c1 : index
    %q = scf.for %j = %c0 to %i1 step %c1 iter_args(%p = %o) -> (tensor<5x6xi32>) {
      %x = tensor.extract_slice %a[%j, 0] [1, 6] [1, 1] : tensor<5x6xi32> to tensor<6xi32>
      %y = tensor.extract_slice %p[%i, 0] [1, 6] [1, 1] : tensor<5x6xi32> to tensor<6xi32>
      %s = arith.addi %x, %y : tensor<6xi32>
      %u = tensor.insert_slice %s into %p[%i, 0] [1, 6] [1, 1] : tensor<6xi32> into tensor<5x6xi32>
      scf.yield %u : tensor<5x6xi32>
    }
    scf.yield %q : tensor<5x6xi32>
  }
  return %r : tensor<5x6xi32>
}
