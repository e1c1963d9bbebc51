// What coarsening rewrites most, exactly comparable: readers in another order than their producer,
// a step after, over other ranges; products that repeat; a short fold that writes its result.

!x = tensor<4xi32>
!w = tensor<48x48xi32>
!r = tensor<1x48xi32>

func.func @transposed(%xs: !ft.list<[N, L], !x> {ft.gen = #ft.uniform<-3, 3>}) -> !ft.list<[L, N], !x>
    attributes {ft.lengths = {N = 5 : i64, L = 7 : i64}} {
  %t = ft.map (%row = %xs : !ft.list<[N, L], !x>) -> !ft.list<[N, L], !x> {
    %o = ft.map (%e = %row : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
      %0 = arith.addi %e, %e : !x
      ft.yield %0 : !x
    }
    ft.yield %o : !ft.list<[L], !x>
  }
  %u = ft.transpose %t [1, 0] : !ft.list<[N, L], !x>
  %y = ft.map (%row = %u : !ft.list<[L, N], !x>) -> !ft.list<[L, N], !x> {
    %o = ft.map (%e = %row : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
      %0 = arith.muli %e, %e : !x
      ft.yield %0 : !x
    }
    ft.yield %o : !ft.list<[N], !x>
  }
  return %y : !ft.list<[L, N], !x>
}

func.func @behind(%xs: !ft.list<[L], !x> {ft.gen = #ft.uniform<-3, 3>}) -> !ft.list<[L], !x>
    attributes {ft.lengths = {L = 40 : i64}} {
  %one = arith.constant dense<1> : !x
  %t = ft.map (%e = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %0 = arith.muli %e, %e : !x
    ft.yield %0 : !x
  }
  %p = ft.shift %t by 1 fill %one : !ft.list<[L], !x>, !x
  %y = ft.map (%e = %p : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    %0 = arith.subi %e, %one : !x
    ft.yield %0 : !x
  }
  return %y : !ft.list<[L], !x>
}

func.func @repeated(%qs: !ft.list<[N], !r> {ft.gen = #ft.uniform<-3, 3>}, %ks: !ft.list<[L], !r> {ft.gen = #ft.uniform<-3, 3>},
    %w: !w {ft.gen = #ft.uniform<-3, 3>}) -> !ft.list<[N, L], !r>
    attributes {ft.lengths = {N = 24 : i64, L = 33 : i64}} {
  %y = ft.map (%q = %qs : !ft.list<[N], !r>) -> !ft.list<[N, L], !r> {
    %o = ft.map (%k = %ks : !ft.list<[L], !r>) -> !ft.list<[L], !r> {
      %0 = linalg.matmul ins(%q, %w : !r, !w) outs(%k : !r) -> !r
      %1 = arith.muli %0, %k : !r
      ft.yield %1 : !r
    }
    ft.yield %o : !ft.list<[L], !r>
  }
  return %y : !ft.list<[N, L], !r>
}

func.func @grid(%as: !ft.list<[N], !r> {ft.gen = #ft.uniform<-3, 3>}, %bs: !ft.list<[L], !r> {ft.gen = #ft.uniform<-3, 3>},
    %w: !w {ft.gen = #ft.uniform<-3, 3>}) -> !ft.list<[N, L], !r>
    attributes {ft.lengths = {N = 30 : i64, L = 41 : i64}} {
  %zero = arith.constant dense<0> : !r
  %none = ft.repeat %zero times L : !r
  %y = ft.scanl (%a = %as : !ft.list<[N], !r>) init (%above = %none : !ft.list<[L], !r>) -> !ft.list<[N, L], !r> {
    %row = ft.scanl (%b, %up = %bs, %above : !ft.list<[L], !r>, !ft.list<[L], !r>) init (%left = %zero : !r)
        -> !ft.list<[L], !r> {
      %0 = arith.maxsi %up, %left : !r
      %1 = linalg.matmul ins(%a, %w : !r, !w) outs(%0 : !r) -> !r
      %2 = linalg.matmul ins(%b, %w : !r, !w) outs(%1 : !r) -> !r
      ft.yield %2 : !r
    }
    ft.yield %row : !ft.list<[L], !r>
  }
  return %y : !ft.list<[N, L], !r>
}

func.func @folds(%xs: !ft.list<[N, 3], !x> {ft.gen = #ft.uniform<-3, 3>}) -> !ft.list<[N], !x>
    attributes {ft.lengths = {N = 50 : i64}} {
  %zero = arith.constant dense<0> : !x
  %y = ft.map (%row = %xs : !ft.list<[N, 3], !x>) -> !ft.list<[N], !x> {
    %s = ft.foldl (%e = %row : !ft.list<[3], !x>) init (%a = %zero : !x) -> !x {
      %0 = arith.muli %a, %e : !x
      %1 = arith.subi %e, %0 : !x
      ft.yield %1 : !x
    }
    ft.yield %s : !x
  }
  return %y : !ft.list<[N], !x>
}
