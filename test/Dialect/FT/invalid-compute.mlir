// What compute operators refuse. Numbers are those of the group's description.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

!x = tensor<2xf32>
func.func @c1(%xs: !ft.list<[L], !x>, %ys: !ft.list<[K], !x>) {
  // expected-error @+1 {{(C1) all lists must have the same outermost length: list 0 has L, list 1 has K}}
  %0 = ft.map (%x, %y = %xs, %ys : !ft.list<[L], !x>, !ft.list<[K], !x>) {
    ft.yield %x : !x
  }
  return
}

// -----
func.func @c1() {
  // expected-error @+1 {{(C1) needs at least one list}}
  "ft.map"() ({
    "ft.yield"() <{operandSegmentSizes = array<i32: 0, 0>}> : () -> ()
  }) : () -> ()
  return
}

// -----
!x = tensor<2xf32>
func.func @c2(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C2) region arguments must be the states, then the elements: expected ('tensor<2xf32>', 'tensor<2xf32>'), found ('tensor<2xf32>')}}
  %0 = "ft.foldl"(%xs, %z) <{operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%x: !x):
    ft.yield %x : !x
  }, {}) : (!ft.list<[L], !x>, !x) -> !x
  return
}

// -----
!x = tensor<2xf32>
!y = tensor<3xf32>
func.func @c3(%xs: !ft.list<[L], !x>, %y: !y) {
  // expected-error @+1 {{(C3) the yielded states must have the states' types: expected ('tensor<3xf32>'), found ('tensor<2xf32>')}}
  %0 = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %y : !y) {
    // expected-note @+1 {{yielded here}}
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c3(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-note @+1 {{the operator is here}}
  %0, %1 = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    // expected-error @+1 {{(C3) expected to yield the 1 states, found 2 values}}
    ft.yield %x, %s : !x, !x
  }
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @c4(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(C4) without 'init' needs L >= 1: add it to ft.bounds of the function}}
  %0 = ft.foldl (%x = %xs : !ft.list<[L], !x>) state (%s) {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c4(%xs: !ft.list<[0], !x>) {
  // expected-error @+1 {{(C4) without 'init' the length must be at least 1, found 0}}
  %0 = ft.foldl (%x = %xs : !ft.list<[0], !x>) state (%s) {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c4(%xs: !ft.list<[4], !x>) {
  // expected-error @+1 {{(C4) without 'init' nothing is emitted}}
  %0, %1 = ft.foldl (%x = %xs : !ft.list<[4], !x>) state (%s) {
    ft.yield %x : !x emit %s : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c4(%xs: !ft.list<[4], !x>) {
  // expected-error @+1 {{(C4) without 'init' the lag is 1, found 2}}
  %0 = ft.scanl (%x = %xs : !ft.list<[4], !x>) state (%s) lag 2 {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c4(%xs: !ft.list<[4], !x>) {
  // expected-error @+1 {{(C4) without 'init' each list has one state: expected 1, found 2}}
  %0 = ft.scanl (%x = %xs : !ft.list<[4], !x>) state (%s, %t) {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c4(%xss: !ft.list<[N, ragged(r)], !x>) {
  %0 = ft.map (%xs = %xss : !ft.list<[N, ragged(r)], !x>) {
    // expected-error @+1 {{(C4) without 'init' no list may be empty, which is not known of the ragged dimension ragged(r)}}
    %1 = ft.foldl (%x = %xs : !ft.list<[ragged(r)], !x>) state (%s) {
      ft.yield %x : !x
    }
    ft.yield %1 : !x
  }
  return
}

// -----
!x = tensor<2xf32>
!y = tensor<3xf32>
func.func @c5(%xs: !ft.list<[L], !x>, %y: !y) {
  // expected-error @+1 {{(C5) may be re-associated only where state and element types agree or 'combine' is given: states 'tensor<3xf32>', elements 'tensor<2xf32>'; 'ft.foldl' keeps the order}}
  %0 = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%s = %y : !y) {
    ft.yield %s : !y
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c5(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{elements 'tensor<2xf32>', 'tensor<2xf32>'; 'ft.scanl' keeps the order}}
  %0 = ft.scan (%x, %y = %xs, %xs : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c5(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C5) emits nothing, because the states that the region sees depend on the association; 'ft.foldl' keeps the order}}
  %0, %1 = ft.fold (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x emit %s : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c5(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C5) is ordered: 'combine' and 'identity' are for reduce, fold and scan}}
  %0 = ft.foldr (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x
  } combine (%a, %b) {
    ft.yield %a : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c6(%xs: !ft.list<[L], !x>, %z: !x) {
  %0 = ft.fold (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x
  // expected-error @+1 {{(C6) 'combine' takes the states twice: expected 2 arguments, found 1}}
  } combine (%a) {
    ft.yield %a : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c6(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C6) 'combine' takes the states twice: expected ('tensor<2xf32>', 'tensor<2xf32>'), found ('tensor<2xf32>')}}
  %0 = "ft.fold"(%xs, %z) <{operandSegmentSizes = array<i32: 1, 1, 0>}> ({
  ^bb0(%s: !x, %x: !x):
    ft.yield %x : !x
  }, {
  ^bb0(%s: !x):
    ft.yield %s : !x
  }) : (!ft.list<[L], !x>, !x) -> !x
  return
}

// -----
!x = tensor<2xf32>
func.func @c6(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C6) 'combine' yields the states once: expected ('tensor<2xf32>'), found ('tensor<2xf32>', 'tensor<2xf32>')}}
  %0 = ft.fold (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x
  } combine (%a, %b) {
    // expected-note @+1 {{yielded here}}
    ft.yield %a, %b : !x, !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c6(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C6) 'combine' emits nothing}}
  %0 = ft.fold (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x
  } combine (%a, %b) {
    ft.yield %a : !x emit %b : !x
  }
  return
}

// -----
!x = tensor<2xf32>
!y = tensor<3xf32>
func.func @c6(%xs: !ft.list<[L], !x>, %z: !x, %y: !y) {
  // expected-error @+1 {{(C6) 'identity' must give one value for each state: expected 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = ft.fold (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x
  } identity (%y : !y)
  return
}

// -----
!x = tensor<2xf32>
func.func @c7(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C7) 'lag' must be at least 1, found 0}}
  %0 = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) lag 0 {
    ft.yield %s : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c7(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C7) 'lag' is for scans only}}
  %0 = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) lag 2 {
    ft.yield %s : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c8(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(C8) result types must be those inferred from the yield: expected ('!ft.list<[L], tensor<2xf32>>'), found ('!ft.list<[4], tensor<2xf32>>')}}
  %0 = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[4], !x> {
    // expected-note @+1 {{yielded here}}
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c9(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(C9) a map yields at least one value}}
  ft.map (%x = %xs : !ft.list<[L], !x>) {
    ft.yield
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c9(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(C9) a map carries no state, so all it yields comes before 'emit'}}
  %0, %1 = ft.map (%x = %xs : !ft.list<[L], !x>) {
    ft.yield %x : !x emit %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c10(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{region #0 ('body_') failed to verify constraint: region with 1 blocks}}
  %0 = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    cf.br ^bb1
  ^bb1:
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @c10(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C10) region 'combine' must have one block}}
  %0 = ft.fold (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    ft.yield %s : !x
  } combine (%a, %b) {
    cf.br ^bb1
  ^bb1:
    ft.yield %a : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @yield(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{region 'body' must end in 'ft.yield'}}
  %0 = ft.map (%x = %xs : !ft.list<[L], !x>) -> !ft.list<[L], !x> {
    llvm.unreachable
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @yield(%z: !x) {
  // expected-error @+1 {{'ft.yield' op expects parent op to be one of 'ft.map, ft.reduce, ft.fold, ft.foldl, ft.foldr, ft.scan, ft.scanl, ft.scanr'}}
  ft.yield %z : !x
}

// -----
!x = tensor<2xf32>
func.func @text(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{expected a region that ends in 'ft.yield', or the result types after '->'}}
  %0 = ft.map (%x = %xs : !ft.list<[L], !x>) {
    llvm.unreachable
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @text(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{expected a region that ends in 'ft.yield'}}
  %0 = ft.map (%x = %xs : !ft.list<[L], !x>) {}
  return
}

// -----
!x = tensor<2xf32>
func.func @text(%z: !x) {
  // expected-error @+1 {{expected lists to traverse, found 'tensor<2xf32>'}}
  %0 = ft.map (%x = %z : !x) {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @text(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{expected as many region arguments as operands, found 2 and 1}}
  %0 = ft.map (%x, %y = %xs : !ft.list<[L], !x>) {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @text(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{expected 'state', or 'init'}}
  %0 = ft.foldl (%x = %xs : !ft.list<[L], !x>) {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @text(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{'lag' has a syntax of its own}}
  %0 = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) attributes {lag = 2} {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @lag(%xs: !ft.list<[L], !x>, %ds: !ft.list<[D], !x>, %z: !x) {
  // expected-error @+1 {{(C7) 'lag' D needs D >= 1: add it to ft.bounds of the function}}
  %0 = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) lag D {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function is here}}
func.func @lag(%xs: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{(C7) 'lag': length 'K' is not bound}}
  %0 = ft.scanl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) lag K {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(C11) 'for' gives 2 values to lists of length L: there must be as many as elements, and at least one}}
  %0 = ft.map (%x = %xs : !ft.list<[L], !x>) for d in [1, 2] {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[0], !x>) {
  // expected-error @+1 {{(C11) 'for' gives 0 values}}
  %0 = ft.map (%x = %xs : !ft.list<[0], !x>) for d in [] {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[2], !x>) {
  // expected-error @+1 {{(C11) 'd' is a length, and none is -1}}
  %0 = ft.map (%x = %xs : !ft.list<[2], !x>) for d in [1, -1] {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[2], !x>, %ys: !ft.list<[d], !x>) {
  // expected-error @+1 {{(C11) the length 'd' is bound already}}
  %0 = ft.map (%x = %xs : !ft.list<[2], !x>) for d in [1, 2] {
    ft.yield %x : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[2], !x>) {
  %0 = ft.map (%x = %xs : !ft.list<[2], !x>) for d in [1, 2] {
    // expected-error @+1 {{(C11) the length 'd' is bound already}}
    %1 = ft.map (%y = %xs : !ft.list<[2], !x>) for d in [1, 2] {
      ft.yield %y : !x
    }
    ft.yield %x : !x
  }
  return
}

// -----
// After the operator its name means nothing.
!x = tensor<2xf32>
// expected-note @+1 {{the function is here}}
func.func @layers(%xs: !ft.list<[2], !x>) {
  // expected-error @+1 {{length 'd' is not bound}}
  %0 = ft.map (%x = %xs : !ft.list<[2], !x>) for d in [1, 2] {
    %1 = ft.repeat %x times d : !x
    ft.yield %1 : !ft.list<[d], !x>
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[2], !x>, %z: !x) {
  // expected-error @+1 {{(C11) takes its elements one by one: 'for' goes without 'combine'}}
  %0 = ft.reduce (%x = %xs : !ft.list<[2], !x>) init (%s = %z : !x) for d in [1, 2] {
    ft.yield %x : !x
  } combine (%a, %b) {
    ft.yield %a : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[2], !x>, %ds: !ft.list<[D], !x>, %z: !x) attributes {ft.bounds = #ft.bounds<"D >= 1">} {
  // expected-error @+1 {{(C11) takes its elements one by one: with 'for' the lag is a constant, found D}}
  %0 = ft.scanl (%x = %xs : !ft.list<[2], !x>) init (%s = %z : !x) lag D for d in [1, 2] {
    ft.yield %x : !x
  }
  return
}

// -----
// What an access needs holds of all values: 4 here.
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @layers(%xs: !ft.list<[2], !x>, %ys: !ft.list<[L], !x>) {
  %0 = ft.map (%x = %xs : !ft.list<[2], !x>) for d in [1, 4] {
    // expected-error @+1 {{(A1) index d needs L >= d + 1: add it to ft.bounds of the function}}
    %1 = ft.at %ys[d] : !ft.list<[L], !x>
    ft.yield %1 : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @layers(%xs: !ft.list<[2], !x>) {
  // expected-error @+1 {{'layers' has a syntax of its own}}
  %0 = ft.map (%x = %xs : !ft.list<[2], !x>) attributes {layers = array<i64: 1, 2>} {
    ft.yield %x : !x
  }
  return
}
