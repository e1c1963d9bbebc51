// RUN: ft-opt %s --convert-linalg-to-etdg --split-input-file --verify-diagnostics

// expected-error @+1 {{argument 0 has type 'tensor<?xf32>'; a graph of tensor expressions needs tensors of static shape}}
func.func @dynamic(%x: tensor<?xf32>) -> tensor<4xf32> {
  %c = arith.constant dense<0.0> : tensor<4xf32>
  return %c : tensor<4xf32>
}

// -----

func.func @loop(%x: tensor<4xf32>, %n: tensor<index>) -> tensor<4xf32> {
  %i = tensor.extract %n[] : tensor<index>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+1 {{'scf.for' has no place in a graph of tensor expressions}}
  %r = scf.for %k = %c0 to %i step %c1 iter_args(%t = %x) -> tensor<4xf32> {
    %y = arith.addf %t, %t : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
