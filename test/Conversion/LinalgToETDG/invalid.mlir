// RUN: ft-opt %s --convert-linalg-to-etdg --split-input-file --verify-diagnostics

func.func @reduced(%x: tensor<?xf32>) -> tensor<f32> {
  %c = arith.constant dense<0.0> : tensor<f32>
  // expected-error @+1 {{'linalg.reduce' op has an open size that is no row: expected dimensions of open size to lead in results and operands}}
  %r = linalg.reduce { arith.addf } ins(%x : tensor<?xf32>) outs(%c : tensor<f32>) dimensions = [0]
  return %r : tensor<f32>
}

// -----

func.func @names(%x: tensor<?x2xf32>, %y: tensor<?x2xf32>) -> tensor<?x2xf32> {
  // expected-error @+1 {{'arith.addf' op dimension 0 of operand 1 is n1_0 long, the result's rows are n0_0; equal lengths have one name ('etdg.dims')}}
  %r = arith.addf %x, %y : tensor<?x2xf32>
  return %r : tensor<?x2xf32>
}

// -----

func.func @computed(%x: tensor<?x2xi64>) -> tensor<?x2xi64> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xi64>
  %i = arith.index_cast %n : index to i64
  %e = tensor.empty(%n) : tensor<?x2xi64>
  // expected-error @+1 {{'linalg.fill' op computes with an open size; expected sizes in 'tensor.empty' alone}}
  %r = linalg.fill ins(%i : i64) outs(%e : tensor<?x2xi64>) -> tensor<?x2xi64>
  return %r : tensor<?x2xi64>
}

// -----

func.func @unknown(%x: tensor<?x2xi64>, %m: tensor<index>) -> tensor<?x2xi64> {
  %n = tensor.extract %m[] : tensor<index>
  // expected-error @+1 {{an open size here is not known as a length}}
  %e = tensor.empty(%n) : tensor<?x2xi64>
  %c = arith.constant 1 : i64
  %r = linalg.fill ins(%c : i64) outs(%e : tensor<?x2xi64>) -> tensor<?x2xi64>
  return %r : tensor<?x2xi64>
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

// -----

// Nothing, from a place on that data say: there is no element that could find its index.
func.func @nothing(%x: tensor<?x4xf32>, %a: tensor<3x4xf32>, %n: tensor<index>) -> (tensor<?x4xf32>, tensor<0x4xf32>) {
  %i = tensor.extract %n[] : tensor<index>
  %y = arith.addf %x, %x : tensor<?x4xf32>
  // expected-error @+1 {{'tensor.extract_slice' op begins at data, or takes steps of data, in dimension 0, where a size is open; expected both to be constants}}
  %r = tensor.extract_slice %a[%i, 0] [0, 4] [1, 1] : tensor<3x4xf32> to tensor<0x4xf32>
  return %y, %r : tensor<?x4xf32>, tensor<0x4xf32>
}
