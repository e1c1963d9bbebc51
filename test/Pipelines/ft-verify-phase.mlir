// RUN: ft-opt %s --ft-verify-phase=phase=ft --split-input-file --verify-diagnostics

!x = tensor<4xf32>
// expected-note @+1 {{it is here}}
func.func private @cell(%x: !x) -> !x {
  return %x : !x
}
func.func @main(%xs: !ft.list<[N], !x>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    // expected-error @+1 {{phase 'ft': a function over lists calls no other, this one calls 'cell' (run ft-inline)}}
    %y = func.call @cell(%x) : (!x) -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
