// RUN: split-file %s %t
// RUN: ft-opt %t/layers.mlir --ft-unroll --canonicalize | FileCheck %t/layers.mlir
// RUN: ft-opt %t/layers.mlir | ft-opt | FileCheck %t/layers.mlir --check-prefix=TEXT
// RUN: ft-opt %t/bad.mlir --ft-unroll --split-input-file --verify-diagnostics
// RUN: not ft-opt %t/layers.mlir --convert-ft-to-etdg 2>&1 | FileCheck %t/layers.mlir --check-prefix=UNROLLED

//--- layers.mlir
!x = tensor<2xf32>
// CHECK-LABEL: @fold
// TEXT: ft.foldl (%[[W:.*]] = %{{.*}} : !ft.list<[3], tensor<2xf32>>) init (%[[S:.*]] = %{{.*}} : !ft.list<[L], tensor<2xf32>>) for d in [1, 2, 4] ->
// TEXT: ft.shift %[[S]] by d fill
// UNROLLED: layers.mlir:[[#@LINE+11]]:{{.*}} error: {{.*}}has a length of its own at each element ('for d in'), which no block has: 'ft-unroll' puts its layers in its place
// CHECK-SAME: (%[[IN:.*]]: !ft.list<[L], tensor<2xf32>>, %[[WS:.*]]: !ft.list<[3], tensor<2xf32>>)
// CHECK: %[[P0:.*]] = ft.shift %[[IN]] by 1 fill
// CHECK: %[[H0:.*]] = ft.map {{.*}}%[[IN]], %[[P0]]
// CHECK: %[[P1:.*]] = ft.shift %[[H0]] by 2 fill
// CHECK: %[[H1:.*]] = ft.map {{.*}}%[[H0]], %[[P1]]
// CHECK: %[[P2:.*]] = ft.shift %[[H1]] by 4 fill
// CHECK: %[[H2:.*]] = ft.map {{.*}}%[[H1]], %[[P2]]
// CHECK: return %[[H2]]
func.func @fold(%in: !ft.list<[L], !x>, %ws: !ft.list<[3], !x>) -> !ft.list<[L], !x> {
  %z = arith.constant dense<0.0> : !x
  %r = ft.foldl (%w = %ws : !ft.list<[3], !x>) init (%s = %in : !ft.list<[L], !x>) for d in [1, 2, 4] {
    %p = ft.shift %s by d fill %z : !ft.list<[L], !x>, !x
    %y = ft.map (%a, %b = %s, %p : !ft.list<[L], !x>, !ft.list<[L], !x>) {
      %c = arith.mulf %b, %w : !x
      %e = arith.addf %a, %c : !x
      ft.yield %e : !x
    }
    ft.yield %y : !ft.list<[L], !x>
  }
  return %r : !ft.list<[L], !x>
}

// A lag between layers, from the right: the state of the last layer but one before.
// CHECK-LABEL: @lag
// CHECK-SAME: (%[[XS:.*]]: !ft.list<[3], tensor<2xf32>>, %[[Z:.*]]: tensor<2xf32>)
// CHECK: %[[X2:.*]] = ft.at %[[XS]][2]
// CHECK: %[[S2:.*]] = arith.addf %[[X2]], %[[Z]]
// CHECK: %[[X1:.*]] = ft.at %[[XS]][1]
// CHECK: %[[S1:.*]] = arith.addf %[[X1]], %[[Z]]
// CHECK: %[[X0:.*]] = ft.at %[[XS]][0]
// CHECK: %[[S0:.*]] = arith.addf %[[X0]], %[[S2]]
// CHECK: %[[A:.*]] = ft.repeat %[[S0]] times 1
// CHECK: %[[B:.*]] = ft.repeat %[[S1]] times 1
// CHECK: %[[C:.*]] = ft.repeat %[[S2]] times 1
// CHECK: ft.concat %[[A]], %[[B]], %[[C]]
func.func @lag(%xs: !ft.list<[3], !x>, %z: !x) -> !ft.list<[3], !x> {
  %r = ft.scanr (%x = %xs : !ft.list<[3], !x>) init (%s = %z : !x) lag 2 for d in [1, 2, 4] {
    %y = arith.addf %x, %s : !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[3], !x>
}

//--- bad.mlir
!x = tensor<2xf32>
func.func private @g(!ft.list<[d], !x>) -> !x
func.func @call(%xs: !ft.list<[2], !x>) -> !ft.list<[2], !x> {
  // expected-note @+1 {{the values are here}}
  %r = ft.map (%x = %xs : !ft.list<[2], !x>) for d in [1, 2] {
    %l = ft.repeat %x times d : !x
    // expected-error @+1 {{has a type with the length 'd', which is a number in each layer}}
    %y = func.call @g(%l) : (!ft.list<[d], !x>) -> !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[2], !x>
}

// -----
!x = tensor<2xf32>
func.func @negative(%xs: !ft.list<[2], !x>, %ys: !ft.list<[L], !x>, %z: !x) -> !ft.list<[2], !x> {
  // expected-note @+1 {{the values are here}}
  %r = ft.map (%x = %xs : !ft.list<[2], !x>) for d in [1, 9] {
    // expected-error @+1 {{has a type of length 5 - d, which is negative for d = 9}}
    %l = ft.cast %ys : !ft.list<[L], !x> to !ft.list<[5 - d], !x>
    %y = ft.last %l or %z : !ft.list<[5 - d], !x>, !x
    ft.yield %y : !x
  }
  return %r : !ft.list<[2], !x>
}
