// Canonicalisation keeps the values: the interpreter gives the same bits before
// and after, at the least length that the bounds allow and at others.
//
// RUN: ft-opt %s --canonicalize --cse -o %t.mlir
// RUN: ft-run %s --engine=interpret --seed=5 --dim L=12 --out=%t.a0.npy --out=%t.a1.npy --out=%t.a2.npy --out=%t.a3.npy --out=%t.a4.npy --out=%t.a5.npy
// RUN: ft-run %t.mlir --engine=interpret --seed=5 --dim L=12 --out=%t.b0.npy --out=%t.b1.npy --out=%t.b2.npy --out=%t.b3.npy --out=%t.b4.npy --out=%t.b5.npy
// RUN: cmp %t.a0.npy %t.b0.npy
// RUN: cmp %t.a1.npy %t.b1.npy
// RUN: cmp %t.a2.npy %t.b2.npy
// RUN: cmp %t.a3.npy %t.b3.npy
// RUN: cmp %t.a4.npy %t.b4.npy
// RUN: cmp %t.a5.npy %t.b5.npy
// RUN: ft-run %s --engine=interpret --seed=6 --dim L=31 --out=%t.a0.npy --out=%t.a1.npy --out=%t.a2.npy --out=%t.a3.npy --out=%t.a4.npy --out=%t.a5.npy
// RUN: ft-run %t.mlir --engine=interpret --seed=6 --dim L=31 --out=%t.b0.npy --out=%t.b1.npy --out=%t.b2.npy --out=%t.b3.npy --out=%t.b4.npy --out=%t.b5.npy
// RUN: cmp %t.a0.npy %t.b0.npy
// RUN: cmp %t.a1.npy %t.b1.npy
// RUN: cmp %t.a2.npy %t.b2.npy
// RUN: cmp %t.a3.npy %t.b3.npy
// RUN: cmp %t.a4.npy %t.b4.npy
// RUN: cmp %t.a5.npy %t.b5.npy

// RUN: FileCheck %s --input-file=%t.mlir
// CHECK: func.func
// CHECK-NOT: ft.zip
// CHECK-NOT: ft.get
// CHECK-NOT: ft.reverse

!x = tensor<2xf32>

func.func @main(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L, 4], !x>, %z: !x)
    -> (!ft.list<[L], !x>, !ft.list<[L - 7, 3], !x>, !ft.list<[4, L], !x>, !x, !ft.list<[L], !x>, !ft.list<[7], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 12">} {
  // Shifts that add up and shifts that do not.
  %s1 = ft.shift %xs by 2 fill %z : !ft.list<[L], !x>, !x
  %s2 = ft.shift %s1 by 1 fill %z : !ft.list<[L], !x>, !x
  %s3 = ft.shift %s2 by -1 fill %z : !ft.list<[L], !x>, !x
  // Windows of a part, taken twice.
  %w1 = ft.slice %xs[1 to -1] : !ft.list<[L], !x>
  %w2 = ft.window %w1 size 3 : !ft.list<[L - 2], !x>
  %w3 = ft.slice %w2[1 to -1] : !ft.list<[L - 4, 3], !x>
  %w4 = ft.slice %w3[1 to L - 6] : !ft.list<[L - 6, 3], !x>
  // A permutation in three steps.
  %t0 = ft.reverse %ys : !ft.list<[L, 4], !x>
  %t1 = ft.reverse %t0 : !ft.list<[L, 4], !x>
  %t2 = ft.transpose %t1 [1, 0] : !ft.list<[L, 4], !x>
  %t3 = ft.transpose %t2 [1, 0] : !ft.list<[4, L], !x>
  %t4 = ft.transpose %t3 [1, 0] : !ft.list<[L, 4], !x>
  // One element through everything.
  %a1 = ft.concat %xs, %s3 : !ft.list<[L], !x>, !ft.list<[L], !x>
  %a2 = ft.reverse %a1 : !ft.list<[2 * L], !x>
  %a3 = ft.slice %a2[2 to -3] : !ft.list<[2 * L], !x>
  %a4 = ft.at %a3[-2] : !ft.list<[2 * L - 5], !x>
  // Tuples, dead states, lists used twice.
  %p1 = ft.zip %xs, %ys : !ft.list<[L], !x>, !ft.list<[L, 4], !x>
  %p2, %p3, %p4 = ft.scanl (%p, %q = %p1, %xs : !ft.list<[L], tuple<!x, !ft.list<[4], !x>>>, !ft.list<[L], !x>)
      init (%s, %t = %z, %a4 : !x, !x) lag 2 {
    %e = ft.get %p[0] : tuple<!x, !ft.list<[4], !x>>
    %l = ft.get %p[1] : tuple<!x, !ft.list<[4], !x>>
    %f = ft.at %l[-1] : !ft.list<[4], !x>
    %g = arith.subf %s, %f : !x
    %h = arith.addf %g, %q : !x
    %i = arith.subf %t, %e : !x
    ft.yield %h, %i : !x, !x emit %e : !x
  }
  // Strides of strides.
  %d1 = ft.slice %xs[0 to 12] : !ft.list<[L], !x>
  %d2 = ft.concat %d1, %d1, %d1 : !ft.list<[12], !x>, !ft.list<[12], !x>, !ft.list<[12], !x>
  %d3 = ft.stride %d2 from 1 step 5 : !ft.list<[36], !x>
  return %s3, %w4, %t4, %a4, %p2, %d3 : !ft.list<[L], !x>, !ft.list<[L - 7, 3], !x>, !ft.list<[4, L], !x>, !x, !ft.list<[L], !x>, !ft.list<[7], !x>
}
