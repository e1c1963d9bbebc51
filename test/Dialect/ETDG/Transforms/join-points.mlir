// A block with a few points of maps inside becomes one leaf, which computes each of them.
// RUN: ft-opt %s --ft-compile="to=etdg" -o %t.before.mlir
// RUN: ft-opt %t.before.mlir --etdg-join-points -o %t.after.mlir
// RUN: FileCheck %s --input-file=%t.after.mlir
// RUN: ft-opt %t.before.mlir --etdg-join-points=most-points=6 | FileCheck %s --check-prefix=MOST
// RUN: ft-opt %t.before.mlir --etdg-join-points --remarks-filter=coarsen --remark-policy=all 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// The same numbers, to the bit.
// RUN: ft-run %t.before.mlir --entry=cell --engine=interpret --out=%t.before.npy
// RUN: ft-run %t.after.mlir --entry=cell --engine=interpret --out=%t.after.npy
// RUN: cmp %t.before.npy %t.after.npy
// RUN: ft-run %t.after.mlir --entry=cell --engine=cpu --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: equal

// Gates at two dimensions, and what is made of the later ones: all are values of one leaf, the last dimension's points next to each other.
// CHECK-LABEL: etdg.graph @cell
// CHECK-NOT: etdg.buffer : !etdg.buffer<[2, 2]
// CHECK: etdg.block {{.*}}[map, scanl]
// CHECK-SAME: (i, j) in
// CHECK: reads ({{.*}}%arg1[0, 0] {{.*}}%arg1[0, 1] {{.*}}%arg1[1, 0] {{.*}}%arg1[1, 1]
// CHECK-COUNT-4: linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK-COUNT-2: arith.xori
// REMARK: join-points {{.*}}Reason="the points inside of a block are one leaf"

// Four points and two, and one after: seven, more than may be.
// MOST-LABEL: etdg.graph @cell
// MOST: etdg.block {{.*}}[map, map] (i, j | k, l) in [0, 2) x [0, 2)
// MOST: etdg.block {{.*}}[map, map] (i, j | k, l) in [0, 2) x [0, 2)
// MOST-LABEL: etdg.graph @whole
func.func @cell(%xss: !ft.list<[N, L], tensor<1x8xi32>>, %uss: !ft.list<[2, 2], tensor<8x8xi32>>) -> !ft.list<[N, L], tensor<1x8xi32>>
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<1> : tensor<1x8xi32>
  %hss = ft.map (%xs = %xss : !ft.list<[N, L], tensor<1x8xi32>>) -> !ft.list<[N, L], tensor<1x8xi32>> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], tensor<1x8xi32>>) init (%h = %zero : tensor<1x8xi32>) -> !ft.list<[L], tensor<1x8xi32>> {
      %gss = ft.map (%us = %uss : !ft.list<[2, 2], tensor<8x8xi32>>) -> !ft.list<[2, 2], tensor<1x8xi32>> {
        %gs = ft.map (%u = %us : !ft.list<[2], tensor<8x8xi32>>) -> !ft.list<[2], tensor<1x8xi32>> {
          %g = linalg.matmul ins(%h, %u : tensor<1x8xi32>, tensor<8x8xi32>) outs(%x : tensor<1x8xi32>) -> tensor<1x8xi32>
          ft.yield %g : tensor<1x8xi32>
        }
        ft.yield %gs : !ft.list<[2], tensor<1x8xi32>>
      }
      %later = ft.slice %gss[1 to 2] : !ft.list<[2, 2], tensor<1x8xi32>>
      %qss = ft.map (%qs = %later : !ft.list<[1, 2], tensor<1x8xi32>>) -> !ft.list<[1, 2], tensor<1x8xi32>> {
        %rs = ft.map (%q = %qs : !ft.list<[2], tensor<1x8xi32>>) -> !ft.list<[2], tensor<1x8xi32>> {
          %r = arith.xori %q, %x : tensor<1x8xi32>
          ft.yield %r : tensor<1x8xi32>
        }
        ft.yield %rs : !ft.list<[2], tensor<1x8xi32>>
      }
      %g0 = ft.at %gss[0] : !ft.list<[2, 2], tensor<1x8xi32>>
      %a = ft.at %g0[0] : !ft.list<[2], tensor<1x8xi32>>
      %b = ft.at %g0[1] : !ft.list<[2], tensor<1x8xi32>>
      %q0 = ft.at %qss[0] : !ft.list<[1, 2], tensor<1x8xi32>>
      %c = ft.at %q0[0] : !ft.list<[2], tensor<1x8xi32>>
      %d = ft.at %q0[1] : !ft.list<[2], tensor<1x8xi32>>
      %ab = arith.subi %a, %b : tensor<1x8xi32>
      %cd = arith.muli %c, %d : tensor<1x8xi32>
      %n = arith.addi %ab, %cd : tensor<1x8xi32>
      ft.yield %n : tensor<1x8xi32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x8xi32>>
  }
  return %hss : !ft.list<[N, L], tensor<1x8xi32>>
}

// A length is no number of points.
// CHECK-LABEL: etdg.graph @whole
// CHECK: etdg.block @r0 [map] (i) in [0, N) {
// CHECK: etdg.block @r1 [map] (i | j) in [0, M)
func.func @whole(%xs: !ft.list<[N], tensor<4xi32>>, %ys: !ft.list<[M], tensor<4xi32>>) -> (!ft.list<[N, M], tensor<4xi32>>, !ft.list<[N], tensor<4xi32>>) {
  %rss, %ss = ft.map (%x = %xs : !ft.list<[N], tensor<4xi32>>) -> !ft.list<[N, M], tensor<4xi32>>, !ft.list<[N], tensor<4xi32>> {
    %rs = ft.map (%y = %ys : !ft.list<[M], tensor<4xi32>>) -> !ft.list<[M], tensor<4xi32>> {
      %r = arith.addi %x, %y : tensor<4xi32>
      ft.yield %r : tensor<4xi32>
    }
    %s = arith.muli %x, %x : tensor<4xi32>
    ft.yield %rs, %s : !ft.list<[M], tensor<4xi32>>, tensor<4xi32>
  }
  return %rss, %ss : !ft.list<[N, M], tensor<4xi32>>, !ft.list<[N], tensor<4xi32>>
}

// Iterations of a fold are no points: each takes the state of the one before.
// CHECK-LABEL: etdg.graph @ordered
// CHECK: etdg.block @r0 [map] (i) in [0, N) {
// CHECK: etdg.block @r1 [foldl] (i | j) in [0, 3)
func.func @ordered(%xs: !ft.list<[N], tensor<4xi32>>, %zs: !ft.list<[3], tensor<4xi32>>) -> !ft.list<[N], tensor<4xi32>> {
  %zero = arith.constant dense<0> : tensor<4xi32>
  %ss = ft.map (%x = %xs : !ft.list<[N], tensor<4xi32>>) -> !ft.list<[N], tensor<4xi32>> {
    %s = ft.foldl (%z = %zs : !ft.list<[3], tensor<4xi32>>) init (%acc = %zero : tensor<4xi32>) -> tensor<4xi32> {
      %p = arith.muli %z, %x : tensor<4xi32>
      %a = arith.subi %p, %acc : tensor<4xi32>
      ft.yield %a : tensor<4xi32>
    }
    ft.yield %s : tensor<4xi32>
  }
  return %ss : !ft.list<[N], tensor<4xi32>>
}

// Nor are those of a scan whose last state is taken.
// CHECK-LABEL: etdg.graph @steps
// CHECK: etdg.block {{.*}}[scanl] (i, j | k) in [1, 3)
// CHECK: etdg.block {{.*}}[scanl] (i, j | k) in [1, 3)
func.func @steps(%xss: !ft.list<[N, L], tensor<1x8xi32>>, %us: !ft.list<[3], tensor<8x8xi32>>) -> !ft.list<[N, L], tensor<1x8xi32>>
    attributes {ft.lengths = {N = 3 : i64, L = 5 : i64}} {
  %zero = arith.constant dense<1> : tensor<1x8xi32>
  %hss = ft.map (%xs = %xss : !ft.list<[N, L], tensor<1x8xi32>>) -> !ft.list<[N, L], tensor<1x8xi32>> {
    %hs = ft.scanl (%x = %xs : !ft.list<[L], tensor<1x8xi32>>) init (%h = %zero : tensor<1x8xi32>) -> !ft.list<[L], tensor<1x8xi32>> {
      %gs = ft.scanl (%u = %us : !ft.list<[3], tensor<8x8xi32>>) init (%g = %h : tensor<1x8xi32>) -> !ft.list<[3], tensor<1x8xi32>> {
        %n = linalg.matmul ins(%g, %u : tensor<1x8xi32>, tensor<8x8xi32>) outs(%x : tensor<1x8xi32>) -> tensor<1x8xi32>
        ft.yield %n : tensor<1x8xi32>
      }
      %last = ft.at %gs[2] : !ft.list<[3], tensor<1x8xi32>>
      ft.yield %last : tensor<1x8xi32>
    }
    ft.yield %hs : !ft.list<[L], tensor<1x8xi32>>
  }
  return %hss : !ft.list<[N, L], tensor<1x8xi32>>
}
