// Folds and canonicalisations: what changes, and what must not.
//
// RUN: ft-opt %s --canonicalize --split-input-file | FileCheck %s

!x = tensor<2xf32>

// CHECK-LABEL: func.func @shift
func.func @shift(%xs: !ft.list<[L], !x>, %z: !x, %u: !x, %k: !ft.list<[3], !x>)
    -> (!ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[3], !x>, !ft.list<[L], !x>) {
  // CHECK-DAG: %[[SUM:.*]] = ft.shift %arg0 by 3 fill %arg1
  %0 = ft.shift %xs by 1 fill %z : !ft.list<[L], !x>, !x
  %1 = ft.shift %0 by 2 fill %z : !ft.list<[L], !x>, !x
  // CHECK-DAG: %[[ONE:.*]] = ft.shift %arg0 by 1 fill %arg1
  // What the first shift lost does not come back.
  // CHECK-DAG: %[[BACK:.*]] = ft.shift %[[ONE]] by -1 fill %arg1
  %2 = ft.shift %0 by -1 fill %z : !ft.list<[L], !x>, !x
  // CHECK-DAG: %[[OTHER:.*]] = ft.shift %[[ONE]] by 2 fill %arg2
  %3 = ft.shift %0 by 2 fill %u : !ft.list<[L], !x>, !x
  %4 = ft.shift %xs by 0 fill %z : !ft.list<[L], !x>, !x
  // CHECK-DAG: %[[OUT:.*]] = ft.repeat %arg1 times 3
  %5 = ft.shift %k by -4 fill %z : !ft.list<[3], !x>, !x
  // CHECK-DAG: %[[LEFT:.*]] = ft.shift %arg0 by -1 fill %arg1
  // CHECK-DAG: %[[RIGHT:.*]] = ft.shift %[[LEFT]] by 2 fill %arg1
  %6 = ft.shift %xs by -1 fill %z : !ft.list<[L], !x>, !x
  %7 = ft.shift %6 by 2 fill %z : !ft.list<[L], !x>, !x
  // CHECK: return %[[SUM]], %[[BACK]], %[[OTHER]], %arg0, %[[OUT]], %[[RIGHT]]
  return %1, %2, %3, %4, %5, %7 : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[3], !x>, !ft.list<[L], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @order
func.func @order(%xs: !ft.list<[L, N, 4], !x>, %z: !x)
    -> (!ft.list<[L, N, 4], !x>, !ft.list<[3], !x>, !ft.list<[L, N, 4], !x>, !ft.list<[4, L, N], !x>, !ft.list<[L, N, 4], !x>) {
  %0 = ft.reverse %xs : !ft.list<[L, N, 4], !x>
  %1 = ft.reverse %0 : !ft.list<[L, N, 4], !x>
  // CHECK-DAG: %[[R:.*]] = ft.repeat %arg1 times 3
  %2 = ft.repeat %z times 3 : !x
  %3 = ft.reverse %2 : !ft.list<[3], !x>
  %4 = ft.transpose %xs [0, 1, 2] : !ft.list<[L, N, 4], !x>
  // CHECK: %[[T:.*]] = ft.transpose %arg0 [2, 0, 1]
  %5 = ft.transpose %xs [0, 2, 1] : !ft.list<[L, N, 4], !x>
  %6 = ft.transpose %5 [1, 0] : !ft.list<[L, 4, N], !x>
  %7 = ft.transpose %6 [1, 2, 0] : !ft.list<[4, L, N], !x>
  // CHECK: return %arg0, %[[R]], %arg0, %[[T]], %arg0
  return %1, %3, %4, %6, %7 : !ft.list<[L, N, 4], !x>, !ft.list<[3], !x>, !ft.list<[L, N, 4], !x>, !ft.list<[4, L, N], !x>, !ft.list<[L, N, 4], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @slice
func.func @slice(%xs: !ft.list<[L], !x>, %z: !x)
    -> (!ft.list<[L], !x>, !ft.list<[L - 5], !x>, !ft.list<[2], !x>, !ft.list<[L - 4, 3], !x>, !ft.list<[0, 3], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 9">} {
  %0 = ft.slice %xs[0 to L] : !ft.list<[L], !x>
  // CHECK-DAG: %[[INNER:.*]] = ft.slice %arg0[3 to L - 2]
  %1 = ft.slice %xs[1 to -1] : !ft.list<[L], !x>
  %2 = ft.slice %1[2 to -1] : !ft.list<[L - 2], !x>
  // CHECK-DAG: %[[R:.*]] = ft.repeat %arg1 times 2
  %3 = ft.repeat %z times L : !x
  %4 = ft.slice %3[1 to 3] : !ft.list<[L], !x>
  // CHECK-DAG: %[[PART:.*]] = ft.slice %arg0[1 to L - 1]
  // CHECK-DAG: %[[W:.*]] = ft.window %[[PART]] size 3 :
  %5 = ft.window %xs size 3 : !ft.list<[L], !x>
  %6 = ft.slice %5[1 to -1] : !ft.list<[L - 2, 3], !x>
  // No window is left, and no part of the list for it.
  // CHECK-DAG: %[[ALL:.*]] = ft.window %arg0 size 3
  // CHECK-DAG: %[[NONE:.*]] = ft.slice %[[ALL]][2 to 2]
  %7 = ft.slice %5[2 to 2] : !ft.list<[L - 2, 3], !x>
  // CHECK: return %arg0, %[[INNER]], %[[R]], %[[W]], %[[NONE]]
  return %0, %2, %4, %6, %7 : !ft.list<[L], !x>, !ft.list<[L - 5], !x>, !ft.list<[2], !x>, !ft.list<[L - 4, 3], !x>, !ft.list<[0, 3], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @stepped_windows
func.func @stepped_windows(%xs: !ft.list<[20], !x>) -> !ft.list<[3, 3], !x> {
  // Windows 2, 3 and 4 begin at 4, 6 and 8 and reach over 5 places.
  // CHECK: %[[PART:.*]] = ft.slice %arg0[4 to 13]
  // CHECK: %[[W:.*]] = ft.window %[[PART]] size 3 step 2 dilation 2
  %0 = ft.window %xs size 3 step 2 dilation 2 : !ft.list<[20], !x>
  %1 = ft.slice %0[2 to 5] : !ft.list<[8, 3], !x>
  // CHECK: return %[[W]]
  return %1 : !ft.list<[3, 3], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @stride
func.func @stride(%xs: !ft.list<[L], !x>, %three: !ft.list<[3], !x>)
    -> (!ft.list<[L], !x>, !ft.list<[ceildiv(L - 3, 4)], !x>, !ft.list<[0], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 9">} {
  %0 = ft.stride %xs from 0 step 1 : !ft.list<[L], !x>
  // CHECK: %[[S:.*]] = ft.stride %arg0 from 3 step 4
  %1 = ft.stride %xs from 1 step 2 : !ft.list<[L], !x>
  %2 = ft.stride %1 from 1 step 2 : !ft.list<[floordiv(L, 2)], !x>
  // From 4 of 3 would be beyond the end.
  // CHECK: %[[A:.*]] = ft.stride %arg1 from 0 step 2
  // CHECK: %[[B:.*]] = ft.stride %[[A]] from 2 step 2
  %3 = ft.stride %three from 0 step 2 : !ft.list<[3], !x>
  %4 = ft.stride %3 from 2 step 2 : !ft.list<[2], !x>
  // CHECK: return %arg0, %[[S]], %[[B]]
  return %0, %2, %4 : !ft.list<[L], !x>, !ft.list<[ceildiv(L - 3, 4)], !x>, !ft.list<[0], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @reshape
func.func @reshape(%xs: !ft.list<[4 * N], !x>, %ys: !ft.list<[N, L], !x>, %zs: !ft.list<[L], !x>)
    -> (!ft.list<[4 * N], !x>, !ft.list<[N, L], !x>, !ft.list<[4 * floordiv(L, 4)], !x>, !ft.list<[L], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %0 = ft.split %xs by 4 : !ft.list<[4 * N], !x>
  %1 = ft.flatten %0 : !ft.list<[N, 4], !x>
  %2 = ft.flatten %ys : !ft.list<[N, L], !x>
  %3 = ft.split %2 by L : !ft.list<[L * N], !x>
  // Not provably the same length: it is checked at the call.
  // CHECK: %[[A:.*]] = ft.split %arg2 by 4
  // CHECK: %[[B:.*]] = ft.flatten %[[A]]
  %4 = ft.split %zs by 4 : !ft.list<[L], !x>
  %5 = ft.flatten %4 : !ft.list<[floordiv(L, 4), 4], !x>
  %6 = ft.cast %zs : !ft.list<[L], !x> to !ft.list<[L], !x>
  // CHECK: return %arg0, %arg1, %[[B]], %arg2
  return %1, %3, %5, %6 : !ft.list<[4 * N], !x>, !ft.list<[N, L], !x>, !ft.list<[4 * floordiv(L, 4)], !x>, !ft.list<[L], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @concat
func.func @concat(%xs: !ft.list<[L], !x>, %ys: !ft.list<[2], !x>, %none: !ft.list<[0], !x>)
    -> (!ft.list<[L], !x>, !ft.list<[L + 4], !x>, !ft.list<[L], !x>) {
  %0 = ft.concat %xs : !ft.list<[L], !x>
  // CHECK: %[[C:.*]] = ft.concat %arg1, %arg0, %arg1
  %1 = ft.concat %xs, %none, %ys : !ft.list<[L], !x>, !ft.list<[0], !x>, !ft.list<[2], !x>
  %2 = ft.concat %ys, %1 : !ft.list<[2], !x>, !ft.list<[L + 2], !x>
  %3 = ft.concat %none, %xs : !ft.list<[0], !x>, !ft.list<[L], !x>
  // CHECK: return %arg0, %[[C]], %arg0
  return %0, %2, %3 : !ft.list<[L], !x>, !ft.list<[L + 4], !x>, !ft.list<[L], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @at
func.func @at(%xs: !ft.list<[L], !x>, %ys: !ft.list<[2], !x>, %z: !x) -> (!x, !x, !x, !x, !x, !x, !x, !x, tensor<i32>, !x)
    attributes {ft.bounds = #ft.bounds<"L >= 9">} {
  // CHECK-DAG: %[[SLICE:.*]] = ft.at %arg0[3]
  %0 = ft.slice %xs[1 to -1] : !ft.list<[L], !x>
  %1 = ft.at %0[2] : !ft.list<[L - 2], !x>
  // CHECK-DAG: %[[REVERSE:.*]] = ft.at %arg0[L - 1]
  %2 = ft.reverse %xs : !ft.list<[L], !x>
  %3 = ft.at %2[0] : !ft.list<[L], !x>
  // CHECK-DAG: %[[STRIDE:.*]] = ft.at %arg0[5]
  %4 = ft.stride %xs from 1 step 2 : !ft.list<[L], !x>
  %5 = ft.at %4[2] : !ft.list<[floordiv(L, 2)], !x>
  %6 = ft.repeat %z times 2 : !x
  %7 = ft.at %6[1] : !ft.list<[2], !x>
  // CHECK-DAG: %[[FIRST:.*]] = ft.at %arg0[1]
  // CHECK-DAG: %[[LAST:.*]] = ft.at %arg1[1]
  %8 = ft.concat %xs, %ys : !ft.list<[L], !x>, !ft.list<[2], !x>
  %9 = ft.at %8[1] : !ft.list<[L + 2], !x>
  %10 = ft.at %8[-1] : !ft.list<[L + 2], !x>
  // CHECK-DAG: %[[SHIFT:.*]] = ft.at %arg0[0]
  %11 = ft.shift %xs by 1 fill %z : !ft.list<[L], !x>, !x
  %12 = ft.at %11[0] : !ft.list<[L], !x>
  %13 = ft.at %11[1] : !ft.list<[L], !x>
  // CHECK-DAG: %[[C:.*]] = arith.constant dense<7> : tensor<i32>
  %14 = ft.iota : !ft.list<[9], tensor<i32>>
  %15 = ft.at %14[-2] : !ft.list<[9], tensor<i32>>
  %16 = ft.cast %ys : !ft.list<[2], !x> to !ft.list<[L], !x>
  // An index that is in bounds after the cast only.
  // CHECK-DAG: %[[CAST:.*]] = ft.cast
  // CHECK-DAG: %[[AT:.*]] = ft.at %[[CAST]][5]
  %17 = ft.at %16[5] : !ft.list<[L], !x>
  // CHECK: return %[[SLICE]], %[[REVERSE]], %[[STRIDE]], %arg2, %[[FIRST]], %[[LAST]], %arg2, %[[SHIFT]], %[[C]], %[[AT]]
  return %1, %3, %5, %7, %9, %10, %12, %13, %15, %17 : !x, !x, !x, !x, !x, !x, !x, !x, tensor<i32>, !x
}

// -----
!x = tensor<2xf32>
!y = tensor<3xf32>

// Lists of tuples go, wherever the members are taken.
// CHECK-LABEL: func.func @zip
func.func @zip(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L, K], !y>, %i: tensor<i64>)
    -> (!ft.list<[L], !x>, !ft.list<[K], !y>, !ft.list<[L, K], !y>, !ft.list<[L], !x>)
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %z = ft.zip %xs, %ys : !ft.list<[L], !x>, !ft.list<[L, K], !y>
  %0 = ft.get %z[0] : !ft.list<[L], tuple<!x, !ft.list<[K], !y>>>
  // CHECK: %[[AT:.*]] = ft.at %arg1[0]
  %1 = ft.at %z[0] : !ft.list<[L], tuple<!x, !ft.list<[K], !y>>>
  %2 = ft.get %1[1] : tuple<!x, !ft.list<[K], !y>>
  // CHECK: %[[R:.*]] = ft.reverse %arg1
  %3 = ft.reverse %z : !ft.list<[L], tuple<!x, !ft.list<[K], !y>>>
  %4 = ft.get %3[1] : !ft.list<[L], tuple<!x, !ft.list<[K], !y>>>
  // CHECK: %[[RX:.*]] = ft.reverse %arg0
  // CHECK: %[[M:.*]] = ft.map (%[[X:.*]] = %[[RX]] : !ft.list<[L], tensor<2xf32>>)
  // CHECK:   arith.addf %[[X]], %[[X]]
  %5 = ft.map (%t = %3 : !ft.list<[L], tuple<!x, !ft.list<[K], !y>>>) {
    %x = ft.get %t[0] : tuple<!x, !ft.list<[K], !y>>
    %a = arith.addf %x, %x : !x
    ft.yield %a : !x
  }
  // CHECK-NOT: tuple
  // CHECK: return %arg0, %[[AT]], %[[R]], %[[M]]
  return %0, %2, %4, %5 : !ft.list<[L], !x>, !ft.list<[K], !y>, !ft.list<[L, K], !y>, !ft.list<[L], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @map
func.func @map(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L], !x>, %c: !x)
    -> (!ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>) {
  // A result that is an element is the list; what remains unused goes.
  // CHECK-NEXT: %[[A:.*]] = ft.map (%y = %arg1 : !ft.list<[L], tensor<2xf32>>) -> !ft.list<[L], tensor<2xf32>> {
  // CHECK-NEXT:   %[[N:.*]] = arith.negf %y
  // CHECK-NEXT:   ft.yield %[[N]] : tensor<2xf32>
  // CHECK-NEXT: }
  %0, %1, %2 = ft.map (%x, %y = %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>) {
    %n = arith.negf %y : !x
    %u = arith.addf %x, %y : !x
    ft.yield %x, %n, %u : !x, !x, !x
  }
  // The same list twice is one list.
  // CHECK-NEXT: %[[B:.*]] = ft.map (%x = %arg0 : !ft.list<[L], tensor<2xf32>>)
  // CHECK-NEXT:   arith.mulf %x, %x
  %3 = ft.map (%x, %y = %xs, %xs : !ft.list<[L], !x>, !ft.list<[L], !x>) {
    %n = arith.mulf %x, %y : !x
    ft.yield %n : !x
  }
  // A list gives the length even where no element is used.
  // CHECK: %[[C:.*]] = ft.map (%x = %arg0 : !ft.list<[L], tensor<2xf32>>)
  // CHECK-NEXT:   ft.yield %arg2
  %4 = ft.map (%x = %xs : !ft.list<[L], !x>) {
    ft.yield %c : !x
  }
  // CHECK: return %arg0, %[[A]], %[[B]], %[[C]]
  return %0, %1, %3, %4 : !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !x>
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @states
func.func @states(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L], !x>, %z: !x) -> (!ft.list<[L], !x>, !ft.list<[L], !x>) {
  // The third state feeds nothing that is needed, though it feeds itself; the
  // second is needed by the first, though its result is not used.
  // CHECK-NEXT: %[[R:.*]]:3 = ft.scanl (%x = %arg0 : !ft.list<[L], tensor<2xf32>>) init (%a, %b = %arg2, %arg2 : tensor<2xf32>, tensor<2xf32>) lag 2
  // CHECK-SAME:   -> !ft.list<[L], tensor<2xf32>>, !ft.list<[L], tensor<2xf32>>, !ft.list<[L], tensor<2xf32>> attributes {note} {
  // CHECK-NEXT:   %[[P:.*]] = arith.addf %a, %b
  // CHECK-NEXT:   %[[Q:.*]] = arith.mulf %b, %x
  // CHECK-NEXT:   ft.yield %[[P]], %[[Q]] : tensor<2xf32>, tensor<2xf32> emit %[[P]] : tensor<2xf32>
  // CHECK: return %[[R]]#0, %[[R]]#2
  %0, %1, %2, %3, %4 = ft.scanl (%x, %y = %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>)
      init (%a, %b, %c = %z, %z, %z : !x, !x, !x) lag 2 attributes {note} {
    %p = arith.addf %a, %b : !x
    %q = arith.mulf %b, %x : !x
    %r = arith.mulf %c, %y : !x
    %e = arith.negf %r : !x
    ft.yield %p, %q, %r : !x, !x, !x emit %p, %e : !x, !x
  }
  return %0, %3 : !ft.list<[L], !x>, !ft.list<[L], !x>
}

// -----
!x = tensor<2xf32>
!y = tensor<3xf32>

// CHECK-LABEL: func.func @combined_states
func.func @combined_states(%xs: !ft.list<[L], !x>, %z: !x, %y: !y) -> (!y, !y) {
  // CHECK: %[[R:.*]] = ft.reduce (%x = %arg0 : {{.*}}) init (%b = %arg2 : tensor<3xf32>) -> tensor<3xf32> {
  // CHECK-NEXT: arith.negf %b
  // CHECK: } combine (%[[P:.*]], %[[Q:.*]]) {
  // CHECK-NEXT: arith.addf %[[P]], %[[Q]] : tensor<3xf32>
  // CHECK-NEXT: ft.yield %{{.*}} : tensor<3xf32>
  // CHECK-NEXT: } identity (%arg2 : tensor<3xf32>)
  %0, %1 = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%a, %b = %z, %y : !x, !y) {
    %p = arith.addf %a, %x : !x
    %q = arith.negf %b : !y
    ft.yield %p, %q : !x, !y
  } combine (%a1, %b1, %a2, %b2) {
    %p = arith.addf %a1, %a2 : !x
    %q = arith.addf %b1, %b2 : !y
    ft.yield %p, %q : !x, !y
  } identity (%z, %y : !x, !y)
  // `combine` needs both states for the second.
  // CHECK: %[[S:.*]]:2 = ft.reduce {{.*}} init (%a, %b = %arg1, %arg2
  %2, %3 = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%a, %b = %z, %y : !x, !y) {
    %p = arith.addf %a, %x : !x
    %q = arith.negf %b : !y
    ft.yield %p, %q : !x, !y
  } combine (%a1, %b1, %a2, %b2) {
    %p = arith.addf %a1, %a2 : !x
    %s = tensor.extract_slice %a1[0] [1] [1] : !x to tensor<1xf32>
    %q = tensor.insert_slice %s into %b2[0] [1] [1] : tensor<1xf32> into !y
    ft.yield %p, %q : !x, !y
  }
  // CHECK: return %[[R]], %[[S]]#1
  return %1, %3 : !y, !y
}

// -----
!x = tensor<2xf32>

// Where states and elements are paired (C4, C5) nothing goes alone.
// CHECK-LABEL: func.func @paired
func.func @paired(%xs: !ft.list<[L], !x>, %ys: !ft.list<[L], !x>, %z: !x) -> (!x, !x)
    attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  // CHECK: ft.reduce (%x, %y = %arg0, %arg1 : {{.*}}) init (%a, %b = %arg2, %arg2
  %0, %1 = ft.reduce (%x, %y = %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>) init (%a, %b = %z, %z : !x, !x) {
    %p = arith.addf %a, %x : !x
    %q = arith.addf %b, %y : !x
    ft.yield %p, %q : !x, !x
  }
  // CHECK: ft.foldl (%x, %y = %arg0, %arg1 : {{.*}}) state (%a, %b)
  %2, %3 = ft.foldl (%x, %y = %xs, %ys : !ft.list<[L], !x>, !ft.list<[L], !x>) state (%a, %b) {
    %p = arith.addf %a, %x : !x
    %q = arith.addf %b, %y : !x
    ft.yield %p, %q : !x, !x
  }
  return %0, %2 : !x, !x
}

// -----
!x = tensor<2xf32>

// CHECK-LABEL: func.func @unused
// CHECK-NEXT: return
func.func @unused(%xs: !ft.list<[L], !x>, %z: !x) {
  %0 = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %z : !x) {
    %y = ft.map (%u = %xs : !ft.list<[L], !x>) {
      ft.yield %u : !x
    }
    ft.yield %s : !x
  }
  %1 = ft.reverse %xs : !ft.list<[L], !x>
  return
}
