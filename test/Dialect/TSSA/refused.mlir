// What tssa-functionalize refuses: the error is at the use, the note where the alias was made.
// RUN: ft-opt %s --split-input-file --verify-diagnostics --tssa-functionalize

func.func @expanded(%x: !tssa.tensor<1x3xf32>, %v: tensor<3xf32>) {
  // expected-note@below {{the alias is made here}}
  %e = tssa.view %x[expand(4, 3)] : !tssa.tensor<1x3xf32> -> !tssa.tensor<4x3xf32>
  %r = tssa.view %e[slice(0, 0, 2, 1)] : !tssa.tensor<4x3xf32> -> !tssa.tensor<2x3xf32>
  // expected-error@below {{writes through an alias that repeats elements: one storage would get several values}}
  tssa.mutate %r, %v : !tssa.tensor<2x3xf32>, tensor<3xf32>
  return
}

// -----

func.func @windows(%x: !tssa.tensor<5xf32>, %v: tensor<f32>) {
  // expected-note@below {{the alias is made here}}
  %u = tssa.view %x[unfold(0, 3, 1)] : !tssa.tensor<5xf32> -> !tssa.tensor<3x3xf32>
  // expected-error@below {{writes through an alias that repeats elements}}
  tssa.mutate %u, %v : !tssa.tensor<3x3xf32>, tensor<f32>
  return
}

// -----

func.func @overlapping(%x: !tssa.tensor<8xf32>, %v: tensor<f32>) {
  // expected-note@below {{the alias is made here}}
  %u = tssa.view %x[as_strided(0, 2, 3, 2, 1)] : !tssa.tensor<8xf32> -> !tssa.tensor<2x3xf32>
  // expected-error@below {{writes through an alias that repeats elements}}
  tssa.mutate %u, %v : !tssa.tensor<2x3xf32>, tensor<f32>
  return
}

// -----

func.func @copy_needed(%x: !tssa.tensor<2x3xf32>) -> !tssa.tensor<6xf32> {
  // expected-note@below {{the alias is made here}}
  %t = tssa.view %x[permute(1, 0), reshape(6)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<6xf32>
  // expected-error@below {{uses an alias that is no view: a view of sizes 6 of a tensor of sizes 3x2 and strides 1x3 needs a copy}}
  return %t : !tssa.tensor<6xf32>
}

// -----

func.func @unknown_strides(%x: !tssa.tensor<?x3xf32>, %n: index) -> !tssa.tensor<?xf32> {
  // expected-note@below {{the alias is made here}}
  %t = tssa.view %x[slice(1, 0, 2, 1), reshape(%n)] : !tssa.tensor<?x3xf32> -> !tssa.tensor<?xf32>
  // expected-error@below {{whether a view of these sizes needs a copy depends on sizes or strides that are not known}}
  return %t : !tssa.tensor<?xf32>
}

// -----

// expected-note@below {{the callee is here}}
func.func private @extern(!tssa.tensor<2xf32>)

func.func @calls_unknown(%x: !tssa.tensor<2xf32>) {
  // expected-error@below {{passes mutable tensors to a function whose effects are not known}}
  func.call @extern(%x) : (!tssa.tensor<2xf32>) -> ()
  return
}

// -----

// expected-note@below {{the callee is here}}
func.func @recursive(%x: !tssa.tensor<2xf32>) {
  // expected-error@below {{is recursive: a function with mutable tensors can't call itself}}
  func.call @recursive(%x) : (!tssa.tensor<2xf32>) -> ()
  return
}

// -----

// expected-note@+1 {{the alias is made here}}
func.func @forall(%x: !tssa.tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@below {{a mutable tensor that lives outside is written in 'scf.forall'}}
  scf.forall (%i) in (4) {
    %s = tssa.view %x[select(0, %i)] : !tssa.tensor<4xf32> -> !tssa.tensor<f32>
    tssa.mutate %s, %v : !tssa.tensor<f32>, tensor<f32>
  }
  return
}

// -----

func.func @unknown_user(%x: !tssa.tensor<4xf32>) {
  // expected-error@below {{takes or gives a mutable tensor, which only tssa, scf.for, scf.if, scf.while}}
  %0 = builtin.unrealized_conversion_cast %x : !tssa.tensor<4xf32> to memref<4xf32>
  return
}

// -----

// expected-error@below {{has several basic blocks}}
func.func @blocks(%x: !tssa.tensor<4xf32>) {
  cf.br ^bb1
^bb1:
  return
}

// -----

// Two carried names share storage that the body makes, and one of them is written.
// expected-note@below {{the alias is made here}}
func.func @shared(%x: !tssa.tensor<4xf32>, %one: tensor<f32>, %n: index) -> !tssa.tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error@below {{merges mutable tensors, and two of them share storage that its body makes}}
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (!tssa.tensor<4xf32>, !tssa.tensor<4xf32>) {
    tssa.mutate %a, %one : !tssa.tensor<4xf32>, tensor<f32>
    %v = tssa.read %b : !tssa.tensor<4xf32>
    // expected-note@below {{the alias is made here}}
    %m = tssa.new %v : tensor<4xf32>
    scf.yield %m, %m : !tssa.tensor<4xf32>, !tssa.tensor<4xf32>
  }
  return %r#1 : !tssa.tensor<4xf32>
}
