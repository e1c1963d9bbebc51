// RUN: ft-opt %s --ft-verify-phase=phase=etdg --verify-diagnostics
// RUN: not ft-opt %s --ft-verify-phase=phase=storage 2>&1 | FileCheck %s

// All that violates a contract is reported.
// CHECK: phase 'storage': a function over lists has become a graph, 'list' has not
// CHECK: phase 'storage': no operation of ft is left, found 'ft.iota'
// CHECK: (V4)

!b = !etdg.buffer<[N], tensor<f32>>
// expected-error @+1 {{phase 'etdg': a function over lists has become a graph, 'list' has not}}
func.func @list(%xs: !ft.list<[N], tensor<f32>>) -> !ft.list<[N], tensor<f32>> {
  return %xs : !ft.list<[N], tensor<f32>>
}
func.func private @source() -> tensor<f32>
func.func @rest() {
  // expected-error @+1 {{phase 'etdg': no operation of ft is left, found 'ft.iota'}}
  %i = ft.iota : !ft.list<[4], tensor<i64>>
  return
}
etdg.graph @graph(%x: !b) -> !b {
  // expected-note @+1 {{is here}}
  %t = etdg.buffer : !b
  %y = etdg.buffer : !b
  // expected-error @+1 {{(V4) read 0 reads an element of}}
  etdg.block @b [map] (i) in [0, N) reads (%a = %t[i] : tensor<f32>) writes (%y[i]) {
    etdg.yield %a : tensor<f32>
  } : !b, !b
  etdg.return %y : !b
}
