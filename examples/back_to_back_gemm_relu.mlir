// Back-to-back GEMM with ReLU (FractalTensor §6.1, Table 6).
//
//     D = relu(A B) C
//
// A is M blocks of rows, B is N blocks of columns, C the N matching blocks of rows:
//
//     D_i = Σ_j relu(A_i B_j) C_j
//
// so that a block of A B never leaves the place where it was made. The sum may be
// taken in any order: `combine` adds two partial sums.
//
// The paper gives no listing; it has the plain product only.

!a = tensor<64x64xf32>
!b = tensor<64x64xf32>
!c = tensor<64x64xf32>
!t = tensor<64x64xf32>
!d = tensor<64x64xf32>

func.func @back_to_back_gemm_relu(
    %as: !ft.list<[M], !a> {ft.gen = #ft.normal<1.0>},
    %bs: !ft.list<[N], !b> {ft.gen = #ft.normal<0.125>},
    %cs: !ft.list<[N], !c> {ft.gen = #ft.normal<0.06>})
    -> !ft.list<[M], !d>
    attributes {ft.lengths = {M = 8 : i64, N = 4 : i64}} {
  %zero = arith.constant dense<0.0> : !t
  %none = arith.constant dense<0.0> : !d
  %ds = ft.map (%a = %as : !ft.list<[M], !a>) -> !ft.list<[M], !d> {
    %d = ft.reduce (%b, %c = %bs, %cs : !ft.list<[N], !b>, !ft.list<[N], !c>)
        init (%acc = %none : !d) -> !d {
      %ab = linalg.matmul ins(%a, %b : !a, !b) outs(%zero : !t) -> !t
      %t = arith.maximumf %ab, %zero : !t
      %sum = linalg.matmul ins(%t, %c : !t, !c) outs(%acc : !d) -> !d
      ft.yield %sum : !d
    } combine (%p, %q) {
      %pq = arith.addf %p, %q : !d
      ft.yield %pq : !d
    }
    ft.yield %d : !d
  }
  return %ds : !ft.list<[M], !d>
}
