!l = !ft.list<[N], tensor<2xf32>>
func.func @f(%v: !l) -> !l {
  cf.br ^bb1(%v : !l)
^bb1(%w: !l):
  return %w : !l
}
