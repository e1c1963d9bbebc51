// RUN: ft-opt %s --convert-ft-to-etdg --split-input-file --verify-diagnostics

!x = tensor<4xf32>

func.func @ragged(%xs: !ft.list<[N, ragged(len)], !x>) -> !ft.list<[N, ragged(len)], !x> {
  // expected-error @+1 {{ragged levels are interpreted, but have no affine domain}}
  %ys = ft.map (%x = %xs : !ft.list<[N, ragged(len)], !x>) {
    %y = ft.map (%e = %x : !ft.list<[ragged(len)], !x>) {
      %z = math.exp %e : !x
      ft.yield %z : !x
    }
    ft.yield %y : !ft.list<[ragged(len)], !x>
  }
  return %ys : !ft.list<[N, ragged(len)], !x>
}

// -----

!x = tensor<4xf32>

func.func private @g(%x: !x) -> !x

func.func @call(%xs: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[L], !x>) {
    // expected-error @+1 {{'func.call' has no place in a graph}}
    %y = func.call @g(%x) : (!x) -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[L], !x>
}
