// RUN: ft-opt %s --ft-generate-leaf --split-input-file --verify-diagnostics

func.func private @dynamic(%a: tensor<?xf32>) -> tensor<?xf32> attributes {ft.leaf} {
  // expected-error@above {{a leaf works on tensors of static shape, found 'tensor<?xf32>'}}
  %0 = arith.addf %a, %a : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func private @element(%a: tensor<4xi7>) -> tensor<4xi7> attributes {ft.leaf} {
  // expected-error@above {{a leaf cannot compute on elements of type 'i7'}}
  return %a : tensor<4xi7>
}

// -----

func.func private @loop(%a: tensor<4xf32>) -> tensor<4xf32> attributes {ft.leaf} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-error@+1 {{the leaf code generator has no rule for this op}}
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%x = %a) -> tensor<4xf32> {
    %y = arith.addf %x, %a : tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func private @inputs(%a: tensor<4xf32>) -> tensor<4xf32>
    attributes {ft.leaf, ft.leaf_batched = array<i1: true, false>} {
  // expected-error@-2 {{expected to know of each of 1 inputs whether it varies with the row, found 2}}
  return %a : tensor<4xf32>
}
