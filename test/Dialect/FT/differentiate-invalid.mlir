// RUN: ft-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(ft-differentiate)'

!x = tensor<2xf32>
func.func @bits(%a: !x) -> !x {
  // expected-error @+1 {{has no derivative: it takes bits for a number of another type}}
  %i = arith.bitcast %a : !x to tensor<2xi32>
  %b = arith.bitcast %i : tensor<2xi32> to !x
  return %b : !x
}

// -----

!x = tensor<2xf32>
func.func @ragged(%a: !ft.list<[N, ragged(r)], !x>) -> !ft.list<[N, ragged(r)], !x> {
  // expected-error @+1 {{is of the ragged list}}
  %b = ft.map (%y = %a : !ft.list<[N, ragged(r)], !x>) -> !ft.list<[N, ragged(r)], !x> {
    ft.yield %y : !ft.list<[ragged(r)], !x>
  }
  return %b : !ft.list<[N, ragged(r)], !x>
}

// -----

!x = tensor<4x4xf32>
func.func @joined(%a: !x, %r: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{a reduction joins its terms by a sum, product, maximum or minimum; found another body}}
  %0 = linalg.reduce ins(%a : !x) outs(%r : tensor<4xf32>) dimensions = [1] (%in: f32, %out: f32) {
    // expected-note @+1 {{the value is made here}}
    %s = math.powf %out, %in : f32
    linalg.yield %s : f32
  }
  return %0 : tensor<4xf32>
}

// -----

func.func private @callee(%a: tensor<2xf32>) -> tensor<2xf32>
func.func @call(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @+1 {{run ft-inline before ft-differentiate}}
  %b = func.call @callee(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %b : tensor<2xf32>
}
