// A copy with one addition: the rate that kernels of this path can reach.
!x = tensor<1x4096xf32>

func.func @copy(%xs: !ft.list<[N], !x> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 8 : i64}} {
  %one = arith.constant dense<1.0> : !x
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %y = arith.addf %x, %one : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
