// Sums that differ by how they are rounded: 2048 + 1 is 2048 in f16. Columns of a list's elements, and a product of matrices, all of ones.
!x = tensor<24x16xf16>
!w = tensor<16x16xf16>
!p = tensor<24x16xf16>
!c = tensor<16xf16>
func.func @sums(%xs: !ft.list<[N], !x> {ft.gen = #ft.uniform<1.0, 1.0>}, %w: !w {ft.gen = #ft.uniform<1.0, 1.0>})
    -> (!ft.list<[N], !c>, !ft.list<[N], !p>) attributes {ft.lengths = {N = 2 : i64}} {
  %begin = arith.constant dense<2048.0> : !c
  %first = arith.constant dense<2048.0> : !p
  %ys:2 = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !c>, !ft.list<[N], !p> {
    %s = linalg.reduce { arith.addf } ins(%x : !x) outs(%begin : !c) dimensions = [0]
    %q = linalg.matmul ins(%x, %w : !x, !w) outs(%first : !p) -> !p
    ft.yield %s, %q : !c, !p
  }
  return %ys#0, %ys#1 : !ft.list<[N], !c>, !ft.list<[N], !p>
}
