// Each access operator: its vjp is its transpose.
// RUN: %python %ft_src/scripts/gradients.py --build %ft_build --dims "L=0,M=3,N=2" --dims "L=1,M=0,N=1" --dims "L=7,M=5,N=3" %s | FileCheck %s
// CHECK: 0 wrong

!x = tensor<2xf32>
!i = tensor<i64>

func.func @shift(%xs: !ft.list<[L], !x>, %z: !x) -> (!ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>) {
  %a = ft.shift %xs by 1 fill %z : !ft.list<[L], !x>, !x
  %b = ft.shift %xs by -1 fill %z : !ft.list<[L], !x>, !x
  %c = ft.shift %xs by 3 fill %z : !ft.list<[L], !x>, !x
  %d = ft.shift %xs by -2 fill %z : !ft.list<[L], !x>, !x
  return %a, %b, %c, %d : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>
}

func.func @order(%xs: !ft.list<[L, 3], !x>) -> (!ft.list<[L, 3], !x>, !ft.list<[3, L], !x>, !ft.list<[3 * L], !x>) {
  %a = ft.reverse %xs : !ft.list<[L, 3], !x>
  %b = ft.transpose %xs [1, 0] : !ft.list<[L, 3], !x>
  %c = ft.flatten %xs : !ft.list<[L, 3], !x>
  return %a, %b, %c : !ft.list<[L, 3], !x>, !ft.list<[3, L], !x>, !ft.list<[3 * L], !x>
}

func.func @flatten(%xs: !ft.list<[L, M], !x>) -> !ft.list<[L * M], !x> {
  %c = ft.flatten %xs : !ft.list<[L, M], !x>
  return %c : !ft.list<[L * M], !x>
}

func.func @permute(%xs: !ft.list<[L, M, 2], !x>) -> !ft.list<[2, L, M], !x> {
  %c = ft.transpose %xs [2, 0, 1] : !ft.list<[L, M, 2], !x>
  return %c : !ft.list<[2, L, M], !x>
}

func.func @parts(%xs: !ft.list<[L + 4], !x>, %ys: !ft.list<[L], !x>) -> (!ft.list<[L], !x>, !x, !x, !ft.list<[2 * L + 4], !x>) {
  %a = ft.slice %xs[2 to -2] : !ft.list<[L + 4], !x>
  %b = ft.at %xs[1] : !ft.list<[L + 4], !x>
  %c = ft.at %xs[-1] : !ft.list<[L + 4], !x>
  %d = ft.concat %ys, %xs : !ft.list<[L], !x>, !ft.list<[L + 4], !x>
  return %a, %b, %c, %d : !ft.list<[L], !x>, !x, !x, !ft.list<[2 * L + 4], !x>
}

func.func @stride(%xs: !ft.list<[L + 2], !x>, %ys: !ft.list<[L], !x>) -> (!ft.list<[ceildiv(L + 1, 3)], !x>, !ft.list<[ceildiv(L, 2)], !x>) {
  %a = ft.stride %xs from 1 step 3 : !ft.list<[L + 2], !x>
  %b = ft.stride %ys from 0 step 2 : !ft.list<[L], !x>
  return %a, %b : !ft.list<[ceildiv(L + 1, 3)], !x>, !ft.list<[ceildiv(L, 2)], !x>
}

func.func @window(%xs: !ft.list<[L + 4], !x>, %bind: !ft.list<[L], !i>) -> (!ft.list<[L + 2, 3], !x>, !ft.list<[L + 4, 3], !x>, !ft.list<[L + 4, 3], !x>, !ft.list<[L + 4, 4], !x>, !ft.list<[L + 4, 3], !x>) {
  %a = ft.window %xs size 3 : !ft.list<[L + 4], !x>
  %b = ft.window %xs size 3 boundary zero : !ft.list<[L + 4], !x>
  %c = ft.window %xs size 3 boundary clamp : !ft.list<[L + 4], !x>
  %d = ft.window %xs size 4 boundary mirror : !ft.list<[L + 4], !x>
  %e = ft.window %xs size 3 boundary wrap : !ft.list<[L + 4], !x>
  return %a, %b, %c, %d, %e : !ft.list<[L + 2, 3], !x>, !ft.list<[L + 4, 3], !x>, !ft.list<[L + 4, 3], !x>, !ft.list<[L + 4, 4], !x>, !ft.list<[L + 4, 3], !x>
}

func.func @window_steps(%xs: !ft.list<[L + 4], !x>, %bind: !ft.list<[L], !i>) -> (!ft.list<[floordiv(L - 1, 2) + 1, 3], !x>, !ft.list<[ceildiv(L + 4, 3), 3], !x>) {
  %a = ft.window %xs size 3 step 2 dilation 2 : !ft.list<[L + 4], !x>
  %b = ft.window %xs size 3 step 3 boundary clamp : !ft.list<[L + 4], !x>
  return %a, %b : !ft.list<[floordiv(L - 1, 2) + 1, 3], !x>, !ft.list<[ceildiv(L + 4, 3), 3], !x>
}

func.func @window_open(%xs: !ft.list<[L + N], !x>, %n: !ft.list<[N], !x>, %l: !ft.list<[L], !x>) -> !ft.list<[L + 1, N], !x> attributes {ft.bounds = #ft.bounds<"N >= 1">} {
  %a = ft.window %xs size N : !ft.list<[L + N], !x>
  return %a : !ft.list<[L + 1, N], !x>
}

func.func @pieces(%xs: !ft.list<[4 * L], !x>, %l: !ft.list<[L], !x>) -> !ft.list<[L, 4], !x> {
  %a = ft.split %xs by 4 : !ft.list<[4 * L], !x>
  return %a : !ft.list<[L, 4], !x>
}

func.func @repeat(%x: !x, %l: !ft.list<[L], !x>, %m: !ft.list<[M], !x>) -> (!ft.list<[L], !x>, !ft.list<[M, L], !x>) {
  %a = ft.repeat %x times L : !x
  %b = ft.repeat %l times M : !ft.list<[L], !x>
  return %a, %b : !ft.list<[L], !x>, !ft.list<[M, L], !x>
}

func.func @last(%xs: !ft.list<[L], !x>, %f: !x) -> !x {
  %a = ft.last %xs or %f : !ft.list<[L], !x>, !x
  %s = math.sin %a : !x
  return %s : !x
}

func.func @gather(%xs: !ft.list<[N], !x>, %i: !i {ft.gen = #ft.index<0, N>}, %is: !ft.list<[M], !i> {ft.gen = #ft.index<0, N>}, %iss: !ft.list<[L, M], !i> {ft.gen = #ft.index<0, N>})
    -> (!x, !ft.list<[M], !x>, !ft.list<[L, M], !x>) {
  %a = ft.gather %xs[%i] : !ft.list<[N], !x>, !i
  %b = ft.gather %xs[%is] : !ft.list<[N], !x>, !ft.list<[M], !i>
  %c = ft.gather %xs[%iss] : !ft.list<[N], !x>, !ft.list<[L, M], !i>
  return %a, %b, %c : !x, !ft.list<[M], !x>, !ft.list<[L, M], !x>
}

func.func @tuples(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L], !x>) -> !ft.list<[L], !x> {
  %z = ft.zip %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>
  %r = ft.map (%t = %z : !ft.list<[L], tuple<!x, !x>>) -> !ft.list<[L], !x> {
    %a = ft.get %t[0] : tuple<!x, !x>
    %b = ft.get %t[1] : tuple<!x, !x>
    %c = arith.mulf %a, %b : !x
    ft.yield %c : !x
  }
  return %r : !ft.list<[L], !x>
}
