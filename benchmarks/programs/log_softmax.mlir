// The logarithm of the softmax of each row: one read, one write.
!x = tensor<1x4096xf32>
!r = tensor<1xf32>

func.func @log_softmax(%xs: !ft.list<[N], !x> {ft.gen = #ft.normal<1.0>}) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 8 : i64}} {
  %zero = arith.constant dense<0.0> : !r
  %low = arith.constant dense<-3.0e4> : !r
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %shape = tensor.empty() : !x
    %m = linalg.reduce { arith.maximumf } ins(%x : !x) outs(%low : !r) dimensions = [1]
    %mb = linalg.broadcast ins(%m : !r) outs(%shape : !x) dimensions = [1]
    %d = arith.subf %x, %mb : !x
    %e = math.exp %d : !x
    %s = linalg.reduce { arith.addf } ins(%e : !x) outs(%zero : !r) dimensions = [1]
    %l = math.log %s : !r
    %lb = linalg.broadcast ins(%l : !r) outs(%shape : !x) dimensions = [1]
    %y = arith.subf %d, %lb : !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
