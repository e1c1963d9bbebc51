// RUN: ft-opt %s --split-input-file --verify-diagnostics
//
// What short forms refuse, by the numbers of their constraints.

!x = tensor<2xf32>
func.func @m1(%xs: !ft.list<[L], !x>, %y: tensor<3xf32>) -> !x {
  // expected-error @+1 {{'ft.last' op (M1) the value of an empty list must have the type of the elements 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = ft.last %xs or %y : !ft.list<[L], !x>, tensor<3xf32>
  return %0 : !x
}

// -----
func.func @o1() -> tensor<2xindex> {
  // expected-error @+1 {{(O1) expects a static tensor of integers or floats, found 'tensor<2xindex>'}}
  %0 = ft.lowest : tensor<2xindex>
  return %0 : tensor<2xindex>
}

// -----
func.func @o2(%x: tensor<2xf32>, %s: tensor<f16>) -> tensor<2xf32> {
  // expected-error @+1 {{(O2) the factor must be 'tensor<f32>', found 'tensor<f16>'}}
  %0 = ft.scale %x by %s : tensor<2xf32>, tensor<f16>
  return %0 : tensor<2xf32>
}

// -----
func.func @o3(%x: tensor<3xf32>) -> tensor<4x2xf32> {
  // expected-error @+1 {{(O3) 'tensor<3xf32>' cannot be repeated to 'tensor<4x2xf32>'}}
  %0 = ft.broadcast %x : tensor<3xf32> to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----
func.func @o4(%x: tensor<3xi32>) -> tensor<3xi32> {
  // expected-error @+1 {{(O4) expects a static tensor of floats, found 'tensor<3xi32>'}}
  %0 = ft.sigmoid %x : tensor<3xi32>
  return %0 : tensor<3xi32>
}

// -----
func.func @o5(%x: tensor<3xf32>) -> tensor<3xf32> {
  // expected-error @+1 {{(O5) dimension 1 is not one of the 1 of 'tensor<3xf32>'}}
  %0 = ft.softmax %x dim 1 : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----
func.func @o6(%x: tensor<4x3xf32>, %g: tensor<4xf32>) -> tensor<4x3xf32> {
  // expected-error @+1 {{(O6) scale and shift must be 'tensor<3xf32>', found 'tensor<4xf32>'}}
  %0 = ft.layer_norm %x scale %g shift %g epsilon 1.0e-5 : tensor<4x3xf32>, tensor<4xf32>
  return %0 : tensor<4x3xf32>
}
