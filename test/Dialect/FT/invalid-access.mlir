// What access operators refuse. Numbers are those of the descriptions.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

!x = tensor<2xf32>
func.func @s1(%xs: !ft.list<[L], !x>, %y: tensor<3xf32>) {
  // expected-error @+1 {{'ft.shift' op (S1) 'fill' must have the type of the elements 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = ft.shift %xs by 1 fill %y : !ft.list<[L], !x>, tensor<3xf32>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has #ft.bounds<"L >= 3">}}
func.func @l1(%xs: !ft.list<[L], !x>) attributes {ft.bounds = #ft.bounds<"L >= 3">} {
  // expected-error @+1 {{'ft.slice' op (L1) 2 to L - 2 needs L >= 4: add it to ft.bounds of the function}}
  %0 = ft.slice %xs[2 to -2] : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @l1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(L1) start L - 3 needs L >= 3: add it to ft.bounds of the function}}
  %0 = ft.slice %xs[-3 to -1] : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @l1(%xs: !ft.list<[L, K], !x>) {
  // expected-error @+1 {{(L1) end K needs L >= K: add it to ft.bounds of the function}}
  %0 = ft.slice %xs[0 to K] : !ft.list<[L, K], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @l1(%xs: !ft.list<[5], !x>) {
  // expected-error @+1 {{(L1) end 6 is beyond the length 5}}
  %0 = ft.slice %xs[0 to 6] : !ft.list<[5], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @l1(%xs: !ft.list<[5], !x>) {
  // expected-error @+1 {{(L1) start -1 is before the list}}
  %0 = ft.slice %xs[-6 to 3] : !ft.list<[5], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @l1(%xs: !ft.list<[5], !x>) {
  // expected-error @+1 {{(L1) 4 to 2 ends before it begins}}
  %0 = ft.slice %xs[4 to 2] : !ft.list<[5], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @l1(%xss: !ft.list<[N, ragged(r)], !x>) {
  %0 = ft.map (%xs = %xss : !ft.list<[N, ragged(r)], !x>) {
    // expected-error @+1 {{(L1) a ragged dimension ragged(r) cannot be sliced}}
    %1 = ft.slice %xs[0 to 1] : !ft.list<[ragged(r)], !x>
    ft.yield %1 : !ft.list<[1], !x>
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @d1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(D1) 'step' must be at least 1 and 'from' at least 0, found 0 and 0}}
  %0 = ft.stride %xs from 0 step 0 : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @d1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(D1) 'step' must be at least 1 and 'from' at least 0, found 1 and -1}}
  %0 = ft.stride %xs from -1 step 1 : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @d2(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(D2) start 1 needs L >= 1: add it to ft.bounds of the function}}
  %0 = ft.stride %xs from 1 step 2 : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @d2(%xs: !ft.list<[3], !x>) {
  // expected-error @+1 {{(D2) start 4 is beyond the length 3}}
  %0 = ft.stride %xs from 4 step 2 : !ft.list<[3], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @w1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(W1) 'size', 'step' and 'dilation' must be at least 1, found 0, 1 and 1}}
  %0 = ft.window %xs size 0 boundary zero : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @w1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(W1) the extent of a window does not fit 63 bits}}
  %0 = ft.window %xs size 9223372036854775807 dilation 4 boundary zero : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @w1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{expected boundary to be one of: 'none', 'zero', 'clamp', 'mirror', 'wrap'; found 'reflect'}}
  %0 = ft.window %xs size 3 boundary reflect : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @w2(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(W2) a window over 5 elements needs L >= 4: add it to ft.bounds of the function}}
  %0 = ft.window %xs size 3 dilation 2 : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @w2(%xs: !ft.list<[3], !x>) {
  // expected-error @+1 {{(W2) a window over 5 elements does not fit the length 3}}
  %0 = ft.window %xs size 3 dilation 2 : !ft.list<[3], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @w3(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(W3) boundary 'clamp' needs L >= 1: add it to ft.bounds of the function}}
  %0 = ft.window %xs size 4 boundary clamp : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @w3(%xs: !ft.list<[1], !x>) {
  // expected-error @+1 {{(W3) boundary 'wrap' needs a length of at least 2, found 1}}
  %0 = ft.window %xs size 4 boundary wrap : !ft.list<[1], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @w3(%xs: !ft.list<[2], !x>) {
  // expected-error @+1 {{(W3) boundary 'mirror' needs a length of at least 3, found 2}}
  %0 = ft.window %xs size 4 boundary mirror : !ft.list<[2], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @g1(%xs: !ft.list<[L], !x>, %i: tensor<1xi64>) {
  // expected-error @+1 {{(G1) indices must be tensor<iN> or tensor<index>, or a list of such, found 'tensor<1xi64>'}}
  %0 = ft.gather %xs[%i] : !ft.list<[L], !x>, tensor<1xi64>
  return
}

// -----
!x = tensor<2xf32>
func.func @g1(%xs: !ft.list<[L], !x>, %i: !ft.list<[M], tensor<f32>>) {
  // expected-error @+1 {{or a list of such, found '!ft.list<[M], tensor<f32>>'}}
  %0 = ft.gather %xs[%i] : !ft.list<[L], !x>, !ft.list<[M], tensor<f32>>
  return
}

// -----
!x = tensor<2xf32>
func.func @z1(%xs: !ft.list<[L], !x>, %ys: !ft.list<[K], !x>) {
  // expected-error @+1 {{(Z1) all lists must have the same outermost length: list 0 has L, list 1 has K}}
  %0 = ft.zip %xs, %ys : !ft.list<[L], !x>, !ft.list<[K], !x>
  return
}

// -----
func.func @z1() {
  // expected-error @+2 {{(Z1) needs at least one list}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "ft.zip"() : () -> !ft.list<[4], tuple<tensor<f32>>>
  return
}

// -----
!x = tensor<2xf32>
func.func @e1(%t: tuple<!x, !x>) {
  // expected-error @+1 {{(E1) index 2 is not below the number of members 2}}
  %0 = ft.get %t[2] : tuple<!x, !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @e1(%t: tuple<!x, !x>) {
  // expected-error @+1 {{(E1) index -1 is not below the number of members 2}}
  %0 = ft.get %t[-1] : tuple<!x, !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @get(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{'ft.get' op expects a tuple or a list of tuples, found '!ft.list<[L], tensor<2xf32>>'}}
  %0 = ft.get %xs[0] : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @a1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{'ft.at' op (A1) index 4 needs L >= 5: add it to ft.bounds of the function}}
  %0 = ft.at %xs[4] : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has #ft.bounds<"L >= 1">}}
func.func @a1(%xs: !ft.list<[L], !x>) attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  // expected-error @+1 {{(A1) index -2 needs L >= 2: add it to ft.bounds of the function}}
  %0 = ft.at %xs[-2] : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @a1(%xs: !ft.list<[3], !x>) {
  // expected-error @+1 {{(A1) index 3 is not below the length 3}}
  %0 = ft.at %xs[3] : !ft.list<[3], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @a1(%xs: !ft.list<[3], !x>) {
  // expected-error @+1 {{(A1) index -4 is before the list of length 3}}
  %0 = ft.at %xs[-4] : !ft.list<[3], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @a1(%xss: !ft.list<[N, ragged(r)], !x>) {
  %0 = ft.map (%xs = %xss : !ft.list<[N, ragged(r)], !x>) {
    // expected-error @+1 {{(A1) index 0 cannot be checked against a ragged dimension}}
    %1 = ft.at %xs[0] : !ft.list<[ragged(r)], !x>
    ft.yield %1 : !x
  }
  return
}

// -----
!x = tensor<2xf32>
func.func @k1(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L], tensor<3xf32>>) {
  // expected-error @+1 {{(K1) all lists must have the same elements: list 0 has 'tensor<2xf32>', list 1 has 'tensor<3xf32>'}}
  %0 = ft.concat %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], tensor<3xf32>>
  return
}

// -----
func.func @k1() {
  // expected-error @+2 {{(K1) needs at least one list}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "ft.concat"() : () -> !ft.list<[4], tensor<f32>>
  return
}

// -----
!x = tensor<2xf32>
func.func @f1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(F1) needs at least two programmable dimensions, none of them ragged, found '!ft.list<[L], tensor<2xf32>>'}}
  %0 = ft.flatten %xs : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @f1(%xs: !ft.list<[N, ragged(r)], !x>) {
  // expected-error @+1 {{(F1) needs at least two programmable dimensions, none of them ragged}}
  %0 = ft.flatten %xs : !ft.list<[N, ragged(r)], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @p1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(P1) the inner length must be at least 1, found 0}}
  %0 = ft.split %xs by 0 : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @p1(%xs: !ft.list<[L, K], !x>) {
  // expected-error @+1 {{(P1) inner length K needs K >= 1: add it to ft.bounds of the function}}
  %0 = ft.split %xs by K : !ft.list<[L, K], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @x1(%xs: !ft.list<[L, K], !x>) {
  // expected-error @+1 {{(X1) expects a permutation of at most 2 dimensions, found [0, 0]}}
  %0 = ft.transpose %xs [0, 0] : !ft.list<[L, K], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @x1(%xs: !ft.list<[L, K], !x>) {
  // expected-error @+1 {{(X1) expects a permutation of at most 2 dimensions, found [0, 2, 1]}}
  %0 = ft.transpose %xs [0, 2, 1] : !ft.list<[L, K], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @x1(%xs: !ft.list<[L, ragged(r)], !x>) {
  // expected-error @+1 {{(X1) a list with a ragged dimension cannot be transposed}}
  %0 = ft.transpose %xs [1, 0] : !ft.list<[L, ragged(r)], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @r1(%xs: !ft.list<[L], !x>, %x: !x) {
  // expected-error @+1 {{(R1) count L - 2 needs L >= 2: add it to ft.bounds of the function}}
  %0 = ft.repeat %x times L - 2 : !x
  return
}

// -----
!x = tensor<2xf32>
func.func @r1(%x: !x) {
  // expected-error @+1 {{(T3) length 0 of a list is negative: -1}}
  %0 = ft.repeat %x times -1 : !x
  return
}

// -----
func.func @i1(%xs: !ft.list<[L], tensor<f32>>) {
  // expected-error @+1 {{(I1) expects one dimension of tensor<iN> or tensor<index>, found '!ft.list<[L], tensor<f32>>'}}
  %0 = ft.iota : !ft.list<[L], tensor<f32>>
  return
}

// -----
// expected-note @+1 {{the function has no ft.bounds}}
func.func @i1(%xs: !ft.list<[L], tensor<f32>>) {
  // expected-error @+1 {{(I1) length L - 1 needs L >= 1: add it to ft.bounds of the function}}
  %0 = ft.iota : !ft.list<[L - 1], tensor<i64>>
  return
}

// -----
!x = tensor<2xf32>
func.func @q1(%xs: !ft.list<[L], !x>) {
  // expected-error @+1 {{(Q1) changes lengths only: expected the depth and elements of '!ft.list<[L], tensor<2xf32>>', found '!ft.list<[L, 1], tensor<2xf32>>'}}
  %0 = ft.cast %xs : !ft.list<[L], !x> to !ft.list<[L, 1], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @q1(%xs: !ft.list<[L], !x>, %ys: !ft.list<[ragged(r)], !x>) {
  // expected-error @+1 {{(Q1) dimension 0 is ragged on one side only: L and ragged(r)}}
  %0 = ft.cast %xs : !ft.list<[L], !x> to !ft.list<[ragged(r)], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @q1(%xs: !ft.list<[4], !x>) {
  // expected-error @+1 {{(Q1) dimension 0 can never be equal: 4 and 5}}
  %0 = ft.cast %xs : !ft.list<[4], !x> to !ft.list<[5], !x>
  return
}

// -----
// Types that are given and differ from those inferred.
!x = tensor<2xf32>
func.func @inferred(%xs: !ft.list<[4], !x>) {
  // expected-error @+2 {{failed to infer returned types}}
  // expected-error @+1 {{'ft.reverse' op inferred type(s) '!ft.list<[4], tensor<2xf32>>' are incompatible with return type(s) of operation '!ft.list<[5], tensor<2xf32>>'}}
  %0 = "ft.reverse"(%xs) : (!ft.list<[4], !x>) -> !ft.list<[5], !x>
  return
}

// -----
// Of a product of lengths no more is known than of its factors.
!x = tensor<2xf32>
// expected-note @+1 {{the function has #ft.bounds<"N >= 1">}}
func.func @product(%xs: !ft.list<[N, L], !x>) attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %0 = ft.flatten %xs : !ft.list<[N, L], !x>
  // expected-error @+1 {{(A1) index 0 needs L * N >= 1: add it to ft.bounds of the function}}
  %1 = ft.at %0[0] : !ft.list<[N * L], !x>
  return
}

// -----
// Sums that do not fit are refused where they arise.
func.func @fits(%a: !ft.list<[4611686018427387904], tensor<i8>>) {
  // expected-error @+1 {{'ft.concat' op needs lengths that are not ragged and fit 63 bits}}
  %0 = ft.concat %a, %a : !ft.list<[4611686018427387904], tensor<i8>>, !ft.list<[4611686018427387904], tensor<i8>>
  return
}

// -----
func.func @fits(%a: !ft.list<[L], tensor<i8>>) {
  // expected-error @+1 {{'ft.window' op (W1) the extent of a window does not fit 63 bits}}
  %0 = ft.window %a size 9223372036854775807 : !ft.list<[L], tensor<i8>>
  return
}

// -----
// The generic form reaches the verifiers without inference.
!x = tensor<2xf32>
func.func @generic(%a: !ft.list<[L], !x>) {
  // expected-error @+2 {{(W1) 'size', 'step' and 'dilation' must be at least 1}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "ft.window"(%a) <{size = #ft.len<-9223372036854775807>, step = -1, dilation = #ft.len<7>}> : (!ft.list<[L], !x>) -> !ft.list<[L, 3], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @generic(%a: !ft.list<[ragged(r)], !x>) {
  // expected-error @+2 {{(L1) a ragged dimension ragged(r) cannot be sliced}}
  // expected-error @+1 {{failed to infer returned types}}
  %0 = "ft.slice"(%a) <{lo = #ft.len<-1>, hi = #ft.len<ragged(r)>}> : (!ft.list<[ragged(r)], !x>) -> !ft.list<[3], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @generic(%a: !x) {
  // expected-error @+1 {{operand #0 must be list, but got 'tensor<2xf32>'}}
  %0 = "ft.reverse"(%a) : (!x) -> !ft.list<[3], !x>
  return
}

// -----
!x = tensor<2xf32>
func.func @generic(%a: !ft.list<[L], !x>) {
  // expected-error @+1 {{requires attribute 'lo'}}
  %0 = "ft.slice"(%a) <{hi = #ft.len<1>}> : (!ft.list<[L], !x>) -> !ft.list<[3], !x>
  return
}

// -----
// Lengths as sizes, dilations and offsets.
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @size(%a: !ft.list<[L], !x>, %b: !ft.list<[K], !x>) {
  // expected-error @+1 {{(W1) size K needs K >= 1: add it to ft.bounds of the function}}
  %0 = ft.window %a size K boundary zero : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has #ft.bounds<"K >= 1">}}
func.func @fits(%a: !ft.list<[L], !x>, %b: !ft.list<[K], !x>) attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  // expected-error @+1 {{(W2) a window over 2 * K - 1 elements needs L >= 2 * K - 2: add it to ft.bounds of the function}}
  %0 = ft.window %a size K dilation 2 : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has #ft.bounds<"K >= 1">}}
func.func @mirror(%a: !ft.list<[L], !x>, %b: !ft.list<[K], !x>) attributes {ft.bounds = #ft.bounds<"K >= 1">} {
  // expected-error @+1 {{(W3) boundary 'mirror' needs}}
  %0 = ft.window %a size K boundary mirror : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function has no ft.bounds}}
func.func @dilation(%a: !ft.list<[L], !x>, %b: !ft.list<[D], !x>) {
  // expected-error @+1 {{(W1) dilation D needs D >= 1: add it to ft.bounds of the function}}
  %0 = ft.window %a size 3 dilation D boundary zero : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function is here}}
func.func @unknown(%a: !ft.list<[L], !x>) {
  // expected-error @+1 {{length 'K' is not bound}}
  %0 = ft.window %a size K boundary zero : !ft.list<[L], !x>
  return
}

// -----
!x = tensor<2xf32>
// expected-note @+1 {{the function is here}}
func.func @unknown(%a: !ft.list<[L], !x>, %z: !x) {
  // expected-error @+1 {{length 'K' is not bound}}
  %0 = ft.shift %a by K fill %z : !ft.list<[L], !x>, !x
  return
}
