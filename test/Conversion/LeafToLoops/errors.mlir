// RUN: ft-opt %s --ft-choose-leaf --ft-generate-leaf --split-input-file --verify-diagnostics

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
  // expected-error@-2 {{'ft.leaf_batched': expected a truth value for each argument, array<i1: ...>, found array<i1: true, false>}}
  return %a : tensor<4xf32>
}

// -----

// A running sum: linalg gives a reduction no order.
func.func private @running(%a: tensor<4x6xf32>, %s: tensor<4xf32>) -> (tensor<4x6xf32>, tensor<4xf32>)
    attributes {ft.leaf} {
  %e = tensor.empty() : tensor<4x6xf32>
  // expected-error@+1 {{result 0 uses what result 1 has accumulated so far: a reduction has no order; compute one after the other}}
  %r:2 = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>],
      iterator_types = ["parallel", "reduction"]} ins(%a : tensor<4x6xf32>) outs(%e, %s : tensor<4x6xf32>, tensor<4xf32>) {
  ^bb0(%x: f32, %old: f32, %sum: f32):
    %t = arith.addf %sum, %x : f32
    linalg.yield %t, %t : f32, f32
  } -> (tensor<4x6xf32>, tensor<4xf32>)
  return %r#0, %r#1 : tensor<4x6xf32>, tensor<4xf32>
}
