// Every operation in custom form, back and forth, in generic form, as bytecode,
// and with locations, which hold the names of region arguments.
//
// RUN: ft-opt %s | FileCheck %s
// RUN: ft-opt %s | ft-opt | FileCheck %s
// RUN: ft-opt %s --mlir-print-op-generic | ft-opt | FileCheck %s --check-prefix=GENERIC
// RUN: ft-opt %s --verify-roundtrip
// RUN: ft-opt %s --emit-bytecode | ft-opt --allow-unsafe-bytecode | FileCheck %s
// RUN: ft-opt %s --mlir-print-debuginfo | ft-opt | FileCheck %s
// RUN: ft-opt %s --ft-verify

!x = tensor<1x4xf32>
!w = tensor<4x4xf32>
!r = tensor<1xf32>

//===----------------------------------------------------------------------===//
// Compute operators
//===----------------------------------------------------------------------===//

// The generic form keeps no names.
// GENERIC-LABEL: func.func @stacked_rnn
// GENERIC: ft.map (%[[XS:.*]] = %arg0 : !ft.list<[N, L], tensor<1x4xf32>>) -> !ft.list<[N, D, L], tensor<1x4xf32>> {
// GENERIC: ft.scanl (%{{.*}} = %arg1 : !ft.list<[D], tensor<4x4xf32>>) init (%{{.*}} = %[[XS]] : !ft.list<[L], tensor<1x4xf32>>) -> !ft.list<[D, L], tensor<1x4xf32>> {

// CHECK-LABEL: func.func @stacked_rnn
// CHECK: %[[YSSS:.*]] = ft.map (%xs = %arg0 : !ft.list<[N, L], tensor<1x4xf32>>) -> !ft.list<[N, D, L], tensor<1x4xf32>> {
// CHECK:   ft.scanl (%w = %arg1 : !ft.list<[D], tensor<4x4xf32>>) init (%ss = %xs : !ft.list<[L], tensor<1x4xf32>>) -> !ft.list<[D, L], tensor<1x4xf32>> {
// CHECK:     ft.scanl (%x = %ss : !ft.list<[L], tensor<1x4xf32>>) init (%s = %cst : tensor<1x4xf32>) -> !ft.list<[L], tensor<1x4xf32>> {
// CHECK:       linalg.matmul ins(%x, %w : {{.*}}) outs(%s : {{.*}})
// CHECK:       ft.yield %{{.*}} : tensor<1x4xf32>
// CHECK:     ft.yield %{{.*}} : !ft.list<[L], tensor<1x4xf32>>
// CHECK: return %[[YSSS]]
func.func @stacked_rnn(%xss: !ft.list<[N, L], !x>, %ws: !ft.list<[D], !w>) -> !ft.list<[N, D, L], !x> {
  %zero = arith.constant dense<0.0> : !x
  // Result types may be left out.
  %ysss = ft.map (%xs = %xss : !ft.list<[N, L], !x>) {
    %yss = ft.scanl (%w = %ws : !ft.list<[D], !w>) init (%ss = %xs : !ft.list<[L], !x>) {
      %ys = ft.scanl (%x = %ss : !ft.list<[L], !x>) init (%s = %zero : !x) lag 1 -> !ft.list<[L], !x> {
        %y = linalg.matmul ins(%x, %w : !x, !w) outs(%s : !x) -> !x
        ft.yield %y : !x
      }
      ft.yield %ys : !ft.list<[L], !x>
    }
    ft.yield %yss : !ft.list<[D, L], !x>
  }
  return %ysss : !ft.list<[N, D, L], !x>
}

// Several lists, states and emits.
// CHECK-LABEL: func.func @scans
// CHECK: %{{.*}}:3 = ft.scanl (%x, %w = %arg0, %arg1 : !ft.list<[L], tensor<1x4xf32>>, !ft.list<[L], tensor<4x4xf32>>) init (%h, %c = %arg2, %arg2 : tensor<1x4xf32>, tensor<1x4xf32>) lag 2 -> !ft.list<[L], tensor<1x4xf32>>, !ft.list<[L], tensor<1x4xf32>>, !ft.list<[L], tensor<4x4xf32>> {
// CHECK:   ft.yield %{{.*}}, %h : tensor<1x4xf32>, tensor<1x4xf32> emit %w : tensor<4x4xf32>
// CHECK: ft.scanr (%x = %arg0 : !ft.list<[L], tensor<1x4xf32>>) init (%s = %arg2 : tensor<1x4xf32>) -> !ft.list<[L], tensor<1x4xf32>> attributes {note = "from the end"} {
// CHECK: ft.scan (%x = %arg0 : !ft.list<[L], tensor<1x4xf32>>) init (%s = %arg2 : tensor<1x4xf32>) -> !ft.list<[L], tensor<1x4xf32>> {
func.func @scans(%xs: !ft.list<[L], !x>, %ws: !ft.list<[L], !w>, %h0: !x) {
  %hs, %cs, %es = ft.scanl (%x, %w = %xs, %ws : !ft.list<[L], !x>, !ft.list<[L], !w>)
      init (%h, %c = %h0, %h0 : !x, !x) lag 2
      -> !ft.list<[L], !x>, !ft.list<[L], !x>, !ft.list<[L], !w> {
    %y = arith.addf %x, %c : !x
    ft.yield %y, %h : !x, !x emit %w : !w
  }
  %r = ft.scanr (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) attributes {note = "from the end"} {
    %y = arith.mulf %x, %s : !x
    ft.yield %y : !x
  }
  %s = ft.scan (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) {
    %y = arith.addf %x, %s : !x
    ft.yield %y : !x
  }
  return
}

// CHECK-LABEL: func.func @folds
// CHECK: ft.reduce (%x = %arg0 : !ft.list<[L], tensor<1x4xf32>>) state (%s) -> tensor<1x4xf32> {
// CHECK: ft.fold (%x = %arg0 : {{.*}}) init (%s = %arg1 : tensor<1x4xf32>) -> tensor<1x4xf32> {
// CHECK: %{{.*}}:2 = ft.foldl (%x = %arg0 : {{.*}}) init (%s = %arg1 : tensor<1x4xf32>) -> tensor<1x4xf32>, !ft.list<[L], tensor<1x4xf32>> {
// CHECK:   ft.yield %[[Y:.*]] : tensor<1x4xf32> emit %[[Y]] : tensor<1x4xf32>
// CHECK: ft.foldr (%x = %arg0 : {{.*}}) init (%s = %arg1 : tensor<1x4xf32>) -> tensor<1x4xf32> {
func.func @folds(%xs: !ft.list<[L], !x>, %h0: !x) attributes {ft.bounds = #ft.bounds<"L >= 1">} {
  %0 = ft.reduce (%x = %xs : !ft.list<[L], !x>) state (%s) {
    %y = arith.maximumf %s, %x : !x
    ft.yield %y : !x
  }
  %1 = ft.fold (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) {
    %y = arith.maximumf %s, %x : !x
    ft.yield %y : !x
  }
  %2, %3 = ft.foldl (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) {
    %y = arith.subf %s, %x : !x
    ft.yield %y : !x emit %y : !x
  }
  %4 = ft.foldr (%x = %xs : !ft.list<[L], !x>) init (%s = %h0 : !x) {
    %y = arith.subf %s, %x : !x
    ft.yield %y : !x
  }
  return
}

// CHECK-LABEL: func.func @combine
// CHECK: %{{.*}}:2 = ft.reduce (%x = %arg0 : !ft.list<[L], tensor<1x4xf32>>) init (%m, %s = %arg1, %arg2 : tensor<1xf32>, tensor<1x4xf32>) -> tensor<1xf32>, tensor<1x4xf32> {
// CHECK: } combine (%ma, %sa, %mb, %sb) {
// CHECK:   arith.maximumf %ma, %mb
// CHECK:   arith.addf %sa, %sb
// CHECK: } identity (%arg1, %arg2 : tensor<1xf32>, tensor<1x4xf32>)
func.func @combine(%xs: !ft.list<[L], !x>, %lo: !r, %z: !x) {
  %m, %s = ft.reduce (%x = %xs : !ft.list<[L], !x>) init (%m, %s = %lo, %z : !r, !x) -> !r, !x {
    %t = arith.addf %s, %x : !x
    %n = tensor.extract_slice %t[0, 0] [1, 1] [1, 1] : !x to !r
    %u = arith.maximumf %m, %n : !r
    ft.yield %u, %t : !r, !x
  } combine (%ma, %sa, %mb, %sb) {
    %m = arith.maximumf %ma, %mb : !r
    %s = arith.addf %sa, %sb : !x
    ft.yield %m, %s : !r, !x
  } identity (%lo, %z : !r, !x)
  return
}

//===----------------------------------------------------------------------===//
// Access operators
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @access
// CHECK-SAME: (%[[XS:.*]]: !ft.list<[L], tensor<1x4xf32>>, %[[XSS:.*]]: !ft.list<[N, 4], tensor<1x4xf32>>,
func.func @access(%xs: !ft.list<[L], !x>, %xss: !ft.list<[N, 4], !x>, %zero: !x,
                  %idx: !ft.list<[M], tensor<i64>>, %i: tensor<index>)
    attributes {ft.bounds = #ft.bounds<"L >= 5", "N >= 1">} {
  // CHECK: ft.shift %[[XS]] by -1 fill %{{.*}} : !ft.list<[L], tensor<1x4xf32>>, tensor<1x4xf32>
  %shift = ft.shift %xs by -1 fill %zero : !ft.list<[L], !x>, !x
  // CHECK: ft.reverse %[[XS]] : !ft.list<[L], tensor<1x4xf32>>
  %reverse = ft.reverse %xs : !ft.list<[L], !x>
  // CHECK: %[[SLICE:.*]] = ft.slice %[[XS]][2 to -2] : !ft.list<[L], tensor<1x4xf32>>
  // CHECK: ft.reverse %[[SLICE]] : !ft.list<[L - 4], tensor<1x4xf32>>
  %slice = ft.slice %xs[2 to -2] : !ft.list<[L], !x>
  %slice.r = ft.reverse %slice : !ft.list<[L - 4], !x>
  // CHECK: ft.slice %[[XS]][floordiv(L, 2) to L] : !ft.list<[L], tensor<1x4xf32>>
  %half = ft.slice %xs[floordiv(L, 2) to L] : !ft.list<[L], !x>
  %half.r = ft.reverse %half : !ft.list<[L - floordiv(L, 2)], !x>
  // CHECK: ft.stride %[[XS]] from 1 step 2 : !ft.list<[L], tensor<1x4xf32>>
  %stride = ft.stride %xs from 1 step 2 : !ft.list<[L], !x>
  // CHECK: ft.reverse %{{.*}} : !ft.list<[floordiv(L, 2)], tensor<1x4xf32>>
  %stride.r = ft.reverse %stride : !ft.list<[floordiv(L, 2)], !x>
  // CHECK: ft.window %[[XS]] size 3 : !ft.list<[L], tensor<1x4xf32>>
  %window = ft.window %xs size 3 step 1 dilation 1 boundary none : !ft.list<[L], !x>
  %window.r = ft.reverse %window : !ft.list<[L - 2, 3], !x>
  // CHECK: ft.window %[[XS]] size 3 step 2 dilation 2 boundary mirror : !ft.list<[L], tensor<1x4xf32>>
  %mirror = ft.window %xs size 3 step 2 dilation 2 boundary mirror : !ft.list<[L], !x>
  %mirror.r = ft.reverse %mirror : !ft.list<[ceildiv(L, 2), 3], !x>
  // CHECK: ft.gather %[[XS]][%{{.*}}] : !ft.list<[L], tensor<1x4xf32>>, !ft.list<[M], tensor<i64>>
  %gather = ft.gather %xs[%idx] : !ft.list<[L], !x>, !ft.list<[M], tensor<i64>>
  %gather.r = ft.reverse %gather : !ft.list<[M], !x>
  // CHECK: ft.gather %[[XSS]][%{{.*}}] : !ft.list<[N, 4], tensor<1x4xf32>>, tensor<index>
  %one = ft.gather %xss[%i] : !ft.list<[N, 4], !x>, tensor<index>
  %one.r = ft.reverse %one : !ft.list<[4], !x>
  // CHECK: %[[ZIP:.*]] = ft.zip %[[XS]], %[[XS]] : !ft.list<[L], tensor<1x4xf32>>, !ft.list<[L], tensor<1x4xf32>>
  %zip = ft.zip %xs, %xs : !ft.list<[L], !x>, !ft.list<[L], !x>
  // CHECK: ft.get %[[ZIP]][0] : !ft.list<[L], tuple<tensor<1x4xf32>, tensor<1x4xf32>>>
  %get = ft.get %zip[0] : !ft.list<[L], tuple<!x, !x>>
  // CHECK: %[[TUPLE:.*]] = ft.at %[[ZIP]][-1] : !ft.list<[L], tuple<tensor<1x4xf32>, tensor<1x4xf32>>>
  %tuple = ft.at %zip[-1] : !ft.list<[L], tuple<!x, !x>>
  // CHECK: ft.get %[[TUPLE]][1] : tuple<tensor<1x4xf32>, tensor<1x4xf32>>
  %member = ft.get %tuple[1] : tuple<!x, !x>
  // CHECK: ft.at %[[XS]][L - 5] : !ft.list<[L], tensor<1x4xf32>>
  %at = ft.at %xs[L - 5] : !ft.list<[L], !x>
  // CHECK: ft.concat %[[XS]], %[[SLICE]] : !ft.list<[L], tensor<1x4xf32>>, !ft.list<[L - 4], tensor<1x4xf32>>
  %concat = ft.concat %xs, %slice : !ft.list<[L], !x>, !ft.list<[L - 4], !x>
  %concat.r = ft.reverse %concat : !ft.list<[2 * L - 4], !x>
  // CHECK: %[[FLAT:.*]] = ft.flatten %[[XSS]] : !ft.list<[N, 4], tensor<1x4xf32>>
  %flat = ft.flatten %xss : !ft.list<[N, 4], !x>
  // CHECK: ft.split %[[FLAT]] by 2 : !ft.list<[4 * N], tensor<1x4xf32>>
  %split = ft.split %flat by 2 : !ft.list<[4 * N], !x>
  %split.r = ft.reverse %split : !ft.list<[2 * N, 2], !x>
  // CHECK: ft.transpose %[[XSS]] [1, 0] : !ft.list<[N, 4], tensor<1x4xf32>>
  %transpose = ft.transpose %xss [1, 0] : !ft.list<[N, 4], !x>
  %transpose.r = ft.reverse %transpose : !ft.list<[4, N], !x>
  // CHECK: ft.repeat %{{.*}} times N + 1 : tensor<1x4xf32>
  %repeat = ft.repeat %zero times N + 1 : !x
  %repeat.r = ft.reverse %repeat : !ft.list<[N + 1], !x>
  // CHECK: ft.iota : !ft.list<[L], tensor<i64>>
  %iota = ft.iota : !ft.list<[L], tensor<i64>>
  // CHECK: ft.cast %[[XS]] : !ft.list<[L], tensor<1x4xf32>> to !ft.list<[2 * N], tensor<1x4xf32>>
  %cast = ft.cast %xs : !ft.list<[L], !x> to !ft.list<[2 * N], !x>
  return
}

// What follows from the bounds and from the lengths of the arguments.
// CHECK-LABEL: func.func @bounds
func.func @bounds(%xs: !ft.list<[L - 2], !x>, %ys: !ft.list<[L], !x>, %zs: !ft.list<[K], !x>, %us: !ft.list<[N, 3], !x>)
    attributes {ft.bounds = #ft.bounds<"2 * K >= L + 3", "N >= 1">} {
  // A list of length L - 2 is there, so L >= 2.
  %0 = ft.slice %ys[2 to L] : !ft.list<[L], !x>
  // 2K >= L + 3 >= 5 makes K at least 3.
  %1 = ft.at %zs[2] : !ft.list<[K], !x>
  %2 = ft.slice %zs[0 to ceildiv(L, 2)] : !ft.list<[K], !x>
  %3 = ft.slice %ys[0 to floordiv(L, 4)] : !ft.list<[L], !x>
  %4 = ft.slice %ys[0 to mod(L, 4)] : !ft.list<[L], !x>
  %5 = ft.flatten %us : !ft.list<[N, 3], !x>
  %6 = ft.at %5[3 * N - 1] : !ft.list<[3 * N], !x>
  return
}

// A product is bounded by what bounds its factors.
// CHECK-LABEL: func.func @products
func.func @products(%xs: !ft.list<[N, L, K], !x>) attributes {ft.bounds = #ft.bounds<"N >= 2", "L >= 1", "K >= 1">} {
  %0 = ft.flatten %xs : !ft.list<[N, L, K], !x>
  %1 = ft.slice %0[0 to 2 * L] : !ft.list<[L * N, K], !x>
  %2 = ft.flatten %0 : !ft.list<[L * N, K], !x>
  %3 = ft.at %2[1] : !ft.list<[K * L * N], !x>
  return
}
