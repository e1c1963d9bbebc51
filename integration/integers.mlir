// Whole numbers of 32 and 64 bits on N sequences of L tokens: sums, products,
// maxima and comparisons, exact on every engine.
//
//     s' = max(s, x) + (x W) mod 97,   c' = c + [s' odd] (64 bits)

!x = tensor<1x32xi32>
!w = tensor<32x32xi32>
!c = tensor<1x32xi64>

func.func @integers(
    %xss: !ft.list<[N, L], !x> {ft.gen = #ft.uniform<-9.0, 9.0>},
    %w: !w {ft.gen = #ft.uniform<-3.0, 3.0>})
    -> (!ft.list<[N, L], !x>, !ft.list<[N, L], !c>)
    attributes {ft.lengths = {N = 5 : i64, L = 9 : i64}} {
  %zx = arith.constant dense<0> : !x
  %zc = arith.constant dense<0> : !c
  %m = arith.constant dense<97> : !x
  %one = arith.constant dense<1> : !x
  %hss, %css = ft.map (%xs = %xss : !ft.list<[N, L], !x>)
      -> !ft.list<[N, L], !x>, !ft.list<[N, L], !c> {
    %hs, %cs = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s, %c = %zx, %zc : !x, !c)
        -> !ft.list<[L], !x>, !ft.list<[L], !c> {
      %p = linalg.matmul ins(%x, %w : !x, !w) outs(%zx : !x) -> !x
      %r = arith.remsi %p, %m : !x
      %b = arith.maxsi %s, %x : !x
      %n = arith.addi %b, %r : !x
      %o = arith.andi %n, %one : !x
      %w64 = arith.extsi %o : !x to !c
      %c1 = arith.addi %c, %w64 : !c
      ft.yield %n, %c1 : !x, !c
    }
    ft.yield %hs, %cs : !ft.list<[L], !x>, !ft.list<[L], !c>
  }
  return %hss, %css : !ft.list<[N, L], !x>, !ft.list<[N, L], !c>
}
