// Each constraint by its number.
// RUN: ft-opt %s --split-input-file --verify-diagnostics

func.func @t1(%x: tensor<2xf32>) {
  // expected-error@below {{a mutable tensor has integers, indices or floats, found 'complex<f32>' (T1)}}
  %0 = "tssa.new"(%x) : (tensor<2xf32>) -> !tssa.tensor<2xcomplex<f32>>
  return
}

// -----

func.func @v1(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{'select' names dimension 2 of a tensor of rank 2 (V1)}}
  %0 = tssa.view %x[select(2, 0)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<2xf32>
  return
}

// -----

func.func @v1_twice(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{'permute' names dimension 0 twice (V1)}}
  %0 = tssa.view %x[permute(0, 0)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<2x2xf32>
  return
}

// -----

func.func @v2(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{gives sizes that fit 'tensor<3xf32>', found 'tensor<2xf32>' (V2)}}
  %0 = tssa.view %x[select(0, 1)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<2xf32>
  return
}

// -----

func.func @v3(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{'slice' takes 4 numbers, found 2 (V3)}}
  %0 = tssa.view %x[slice(0, 1)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<2x3xf32>
  return
}

// -----

func.func @v4(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{'select' takes index -3 of dimension 0, whose size is 2 (V4)}}
  %0 = tssa.view %x[select(0, -3)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<3xf32>
  return
}

// -----

func.func @v4_step(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{'slice' needs a constant step of at least 1 (V4)}}
  %0 = tssa.view %x[slice(0, 0, _, -1)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<2x3xf32>
  return
}

// -----

func.func @v4_reshape(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{'reshape' has 6 elements, which its sizes do not make (V4)}}
  %0 = tssa.view %x[reshape(4, -1)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<4x1xf32>
  return
}

// -----

func.func @v4_expand(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{'expand' repeats dimension 0, whose size is 2 and not 1 (V4)}}
  %0 = tssa.view %x[expand(4, 3)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<4x3xf32>
  return
}

// -----

func.func @m1(%x: !tssa.tensor<2x3xf32>, %v: tensor<2xf32>) {
  // expected-error@below {{cannot broadcast 'tensor<2xf32>' to '!tssa.tensor<2x3xf32>' (M1)}}
  tssa.mutate %x, %v : !tssa.tensor<2x3xf32>, tensor<2xf32>
  return
}

// -----

func.func @s2(%x: tensor<1x3xf32>, %v: tensor<2x3xf32>) {
  // expected-error@below {{writes through 'expand', which repeats elements (S2)}}
  %0 = tssa.assign %v into %x[expand(2, 3)] : tensor<2x3xf32> into tensor<1x3xf32>
  return
}

// -----

func.func @i1(%x: tensor<2x3xf32>, %i: tensor<4xf32>) {
  // expected-error@below {{expects indices that are integers, found 'tensor<4xf32>' (I1)}}
  %0 = tssa.index %x [0] by %i : tensor<2x3xf32>, tensor<4xf32> -> tensor<4x3xf32>
  return
}

// -----

func.func @i2(%x: tensor<2x3xf32>, %i: tensor<4xi64>) {
  // expected-error@below {{gives 'tensor<4x3xf32>', found 'tensor<3x4xf32>' (I2)}}
  %0 = tssa.index %x [0] by %i : tensor<2x3xf32>, tensor<4xi64> -> tensor<3x4xf32>
  return
}

// -----

func.func @p2(%x: tensor<2x3xf32>, %i: tensor<4xi64>, %v: tensor<2xf32>) {
  // expected-error@below {{cannot broadcast 'tensor<2xf32>' to 'tensor<4x3xf32>' (P2)}}
  %0 = tssa.index_put %v into %x [0] by %i : tensor<2xf32> into tensor<2x3xf32>, tensor<4xi64>
  return
}

// -----

func.func @step(%x: !tssa.tensor<2x3xf32>) {
  // expected-error@below {{there is no view step 'selekt'; expected select, slice, narrow}}
  %0 = tssa.view %x[selekt(0, 1)] : !tssa.tensor<2x3xf32> -> !tssa.tensor<3xf32>
  return
}

// -----

// expected-error@below {{'tssa.writeback' names argument 1 and result 0, there are 1 and 1}}
func.func @writeback(%x: tensor<2xf32>) -> tensor<2xf32> attributes {tssa.writeback = array<i64: 1, 0>} {
  return %x : tensor<2xf32>
}
