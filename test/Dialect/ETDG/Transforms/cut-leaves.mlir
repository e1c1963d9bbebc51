// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of whole tensors are shares of their longest loop and a join, each a leaf; so are sums over a list whose iterations can be joined.
//
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a" -o %t.graph.mlir
// RUN: ft-opt %t.graph.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-apply-schedule,etdg-cut-leaves{terms=16 joined=4},etdg-verify,etdg-validate))' --remarks-filter=etdg -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REFUSED --input-file=%t.remarks
// RUN: not ft-opt %t.graph.mlir --pass-pipeline='builtin.module(etdg.graph(etdg-cut-leaves{terms=0}))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=FEW
// FEW: error: expected shares of at least 1 term, found 0
//
// The seed draws cuts; the values are those of the program. Shares of any length, of sizes that none divides.
// RUN: ft-run %s --entry=whole --engine=emulate --plan-seed=1 --compare=interpret
// RUN: ft-run %s --entry=whole --engine=emulate --plan-seed=2 --compare=interpret
// RUN: ft-run %s --entry=columns --engine=emulate --plan-seed=1 --compare=interpret
// RUN: ft-run %s --entry=numbered --engine=emulate --plan-seed=1 --compare=interpret
// RUN: ft-run %s --entry=numbered --engine=emulate --plan-seed=2 --compare=interpret
// RUN: ft-run %s --entry=halves --engine=emulate --plan-seed=1 --compare=interpret
// What was cut computes the same on the emulator as by definition: a list's end within a share, at one, after one.
// RUN: ft-run %t.mlir --entry=list --engine=emulate --compare=interpret --dim L=0
// RUN: ft-run %t.mlir --entry=list --engine=emulate --compare=interpret --dim L=1
// RUN: ft-run %t.mlir --entry=list --engine=emulate --compare=interpret --dim L=64
// RUN: ft-run %t.mlir --entry=list --engine=emulate --compare=interpret --dim L=81

// Both loops are one, so that a share is one row.
// CHECK-LABEL: etdg.graph @whole
// CHECK: etdg.block @[[W:.*]]_shares [map] (share) in [0, 2) // [.. | reduce] (.. | n) in [0, 848)
// CHECK-NEXT: reads ({{.*}} = elem (e0) %arg0[16 * share + floordiv(e0, 53), mod(e0, 53)] : tensor<848xf32>)
// CHECK-NEXT: writes (%[[PARTS:.*]][share])
// CHECK: arith.constant dense<0.000000e+00>
// CHECK: etdg.block @[[W]]_rest [] () // [.. | reduce] (.. | n) in [0, 265)
// CHECK-NEXT: reads ({{.*}} = elem (e0) %arg0[floordiv(e0, 53) + 32, mod(e0, 53)] : tensor<265xf32>)
// CHECK-NEXT: writes (%[[PARTS]][2])
// CHECK: etdg.block @[[W]]_join [] () // [.. | reduce] (.. | n) in [0, 3)
// CHECK-NEXT: reads ({{.*}} = elem (e0) %[[PARTS]][e0] : tensor<3xf32>)
// CHECK: arith.constant dense<5.000000e-01>
func.func @whole(%x: tensor<37x53xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.5> : tensor<f32>
  %r = linalg.reduce ins(%x : tensor<37x53xf32>) outs(%z : tensor<f32>) dimensions = [0, 1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %r : tensor<f32>
}

// What a sum begins from is joined once.
// CHECK-LABEL: etdg.graph @columns
// CHECK: etdg.block @{{.*}}_shares [map] (share) in [0, 6) // [.. | reduce, map] (.. | n, o) in [0, 16) x [0, 3)
// CHECK: arith.constant dense<0xFF800000> : tensor<3xf32>
// CHECK: etdg.block @{{.*}}_join [] () // [.. | reduce, map] (.. | n, o) in [0, 7) x [0, 3)
// CHECK-NEXT: reads (%{{.*}} = %arg1[] : tensor<3xf32>,
func.func @columns(%x: tensor<101x3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %r = linalg.reduce ins(%x : tensor<101x3xf32>) outs(%y : tensor<3xf32>) dimensions = [0] (%a: f32, %b: f32) {
    %s = arith.maximumf %a, %b : f32
    linalg.yield %s : f32
  }
  return %r : tensor<3xf32>
}

// Who asks which iteration it is counts from where the share begins. Two sums of integers at once.
// CHECK-LABEL: etdg.graph @numbered
// CHECK: etdg.block @{{.*}}_shares [map] (share) in [0, 6)
// CHECK-NEXT: reads ({{.*}} = elem (e0) %arg0[16 * share + e0] : tensor<16xi32>, %[[BEGIN:.*]] = index(16 * share) : tensor<index>)
// CHECK: linalg.index 0
// CHECK-NEXT: arith.addi
func.func @numbered(%x: tensor<101xi32>) -> (tensor<i32>, tensor<i32>) {
  %z = arith.constant dense<7> : tensor<i32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<101xi32>) outs(%z, %z : tensor<i32>, tensor<i32>) {
  ^bb0(%a: i32, %m: i32, %n: i32):
    %k = linalg.index 0 : index
    %kk = arith.index_cast %k : index to i32
    %c = arith.muli %a, %kk : i32
    %s = arith.addi %m, %c : i32
    %t = arith.ori %n, %c : i32
    linalg.yield %s, %t : i32, i32
  } -> (tensor<i32>, tensor<i32>)
  return %r#0, %r#1 : tensor<i32>, tensor<i32>
}

// Halves are added up, and kept between the leaves, as f32. What is after the sum stands after the join.
// RUN: ft-opt %s --ft-compile="to=reorder target=sm_90a rounding=exact" \
// RUN:   | ft-opt --pass-pipeline='builtin.module(etdg.graph(etdg-apply-schedule,etdg-cut-leaves{terms=16 joined=4},etdg-verify,etdg-validate))' | FileCheck %s --check-prefix=EXACT
// EXACT-LABEL: etdg.graph @halves
// EXACT: etdg.buffer : !etdg.buffer<[13], tensor<f32>>
// CHECK-LABEL: etdg.graph @halves
// CHECK: etdg.buffer : !etdg.buffer<[13], tensor<f32>>
// CHECK: etdg.block @{{.*}}_shares
// CHECK: arith.mulf %{{.*}} : f32
// CHECK-NEXT: arith.addf %{{.*}} : f32
// CHECK: etdg.block @{{.*}}_join
// CHECK: arith.addf %{{.*}} : f32
// CHECK: arith.mulf
// CHECK: arith.truncf
func.func @halves(%x: tensor<203xf16>, %y: tensor<203xf16>) -> tensor<f16> {
  %z = arith.constant dense<0.0> : tensor<f16>
  %c = arith.constant dense<0.125> : tensor<f16>
  %r = linalg.dot ins(%x, %y : tensor<203xf16>, tensor<203xf16>) outs(%z : tensor<f16>) -> tensor<f16>
  %m = arith.mulf %r, %c : tensor<f16>
  return %m : tensor<f16>
}

// A list: whole shares, the one that ends within, and four of what they come to at a time. No bound is a quotient.
// CHECK-LABEL: etdg.graph @list
// CHECK: etdg.block @[[L:.*]]_shares [map] (i) in [0, *) where 16 * i + 16 <= L
// CHECK-NEXT: reads (%{{.*}} = splat 0.000000e+00 : f32 : tensor<f32>, %{{.*}} = elem (e0) %arg0[16 * i + e0] : tensor<16xf32>)
// CHECK: etdg.block @[[L]]_rest [map] (i)
// CHECK-SAME: 16 * i
// CHECK: splat 0.000000e+00 : f32} : tensor<16xf32>, %{{.*}} = index(L - 16 * i) : tensor<index>)
// CHECK: arith.cmpi slt
// CHECK-NEXT: arith.constant 0.000000e+00
// CHECK-NEXT: arith.select
// CHECK: etdg.block @[[L]]_join_joined [fold] (i)
// CHECK: tensor<4xf32>
func.func @list(%xs: !ft.list<[L], tensor<f32>>) -> tensor<f32> {
  %z = arith.constant dense<0.5> : tensor<f32>
  %r = ft.reduce (%x = %xs : !ft.list<[L], tensor<f32>>) init (%a = %z : tensor<f32>) {
    %n = arith.addf %a, %x : tensor<f32>
    ft.yield %n : tensor<f32>
  }
  return %r : tensor<f32>
}

// What grows by an operation without a neutral element stays.
// REFUSED: no loop of the leaf is cut: linalg.generic grows by what has no neutral element
// CHECK-LABEL: etdg.graph @ordered
// CHECK-NOT: _shares
func.func @ordered(%x: tensor<101xf32>) -> tensor<f32> {
  %z = arith.constant dense<0.5> : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<101xf32>) outs(%z : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %d = arith.divf %b, %a : f32
    linalg.yield %d : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// A softmax's sum needs the maximum of all.
// REFUSED: no loop of the leaf is cut: {{.*}} needs the sum whole
// CHECK-LABEL: etdg.graph @rows
// CHECK-NOT: _shares
func.func @rows(%x: tensor<3x64xf32>) -> tensor<3xf32> {
  %z = arith.constant dense<0.0> : tensor<3xf32>
  %i = arith.constant dense<0xFF800000> : tensor<3xf32>
  %m = linalg.reduce ins(%x : tensor<3x64xf32>) outs(%i : tensor<3xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %s = arith.maximumf %a, %b : f32
    linalg.yield %s : f32
  }
  %e = tensor.empty() : tensor<3x64xf32>
  %b = linalg.broadcast ins(%m : tensor<3xf32>) outs(%e : tensor<3x64xf32>) dimensions = [1]
  %d = arith.subf %x, %b : tensor<3x64xf32>
  %p = math.exp %d : tensor<3x64xf32>
  %r = linalg.reduce ins(%p : tensor<3x64xf32>) outs(%z : tensor<3xf32>) dimensions = [1] (%a: f32, %c: f32) {
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  }
  return %r : tensor<3xf32>
}
