// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The factors of an exponential that stands for a half are multiplied beforehand, and a maximum of scaled numbers is scaled once.
// RUN: ft-opt %s --tile-scale-exponents | FileCheck %s
// RUN: ft-opt %s --tile-scale-exponents --tile-use-special-functions | FileCheck %s --check-prefix=UNIT
// UNIT-COUNT-5: "ex2.approx.ftz.f32 $0, $1;"
//
// CHECK-LABEL: llvm.func @softmax
// CHECK-SAME: (%[[A:.*]]: f32, %[[B:.*]]: f32, %[[M:.*]]: f32)
// CHECK-DAG: %[[C:.*]] = arith.constant 1.250000e-01 : f32
// CHECK-DAG: %[[K:.*]] = arith.constant -1.44269502 : f32
// CHECK-DAG: %[[CK:.*]] = arith.constant 0.180336878 : f32
// CHECK: %[[MOST:.*]] = arith.maximumf %[[A]], %[[B]]
// CHECK-NEXT: arith.mulf %[[MOST]], %[[C]]
// CHECK: %[[LESS:.*]] = arith.mulf %{{.*}}, %[[K]]
// CHECK-NEXT: %[[X:.*]] = math.fma %[[A]], %[[CK]], %[[LESS]]
// CHECK-NEXT: %[[P:.*]] = math.exp2 %[[X]] fastmath<afn>
// CHECK: %[[Y:.*]] = math.fma %[[B]], %[[CK]], %
// CHECK-NEXT: %[[Q:.*]] = math.exp2 %[[Y]] fastmath<afn>
// A sum adds them up as they are before they are rounded.
// CHECK: arith.addf %[[P]], %[[Q]]
llvm.func @softmax(%a: f32, %b: f32, %m: f32) -> f32 {
  %c = arith.constant 0.125 : f32
  %ac = arith.mulf %a, %c : f32
  %bc = arith.mulf %b, %c : f32
  %most = arith.maximumf %ac, %bc : f32
  %all = arith.maximumf %m, %most : f32
  %ad = arith.subf %ac, %all : f32
  %bd = arith.subf %bc, %all : f32
  %ae = math.exp %ad fastmath<afn> : f32
  %be = math.exp %bd fastmath<afn> : f32
  %ah = arith.truncf %ae : f32 to f16
  %bh = arith.truncf %be : f32 to f16
  %aw = arith.extf %ah : f16 to f32
  %bw = arith.extf %bh : f16 to f32
  %sum = arith.addf %aw, %bw : f32
  llvm.return %sum : f32
}
// The same of what was rounded in pairs.
// CHECK-LABEL: llvm.func @pair
// CHECK: %[[P:.*]] = math.exp2
// CHECK: %[[Q:.*]] = math.exp2
// CHECK: arith.subf %[[P]], %[[Q]]
llvm.func @pair(%a: f32, %b: f32) -> f32 {
  %none = llvm.mlir.poison : vector<2xf32>
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %p = math.exp %a fastmath<afn> : f32
  %q = math.exp %b fastmath<afn> : f32
  %first = llvm.insertelement %p, %none[%zero : i32] : vector<2xf32>
  %both = llvm.insertelement %q, %first[%one : i32] : vector<2xf32>
  %halves = arith.truncf %both : vector<2xf32> to vector<2xbf16>
  %ph = llvm.extractelement %halves[%zero : i32] : vector<2xbf16>
  %qh = llvm.extractelement %halves[%one : i32] : vector<2xbf16>
  %pw = arith.extf %ph : bf16 to f32
  %qw = arith.extf %qh : bf16 to f32
  %d = arith.subf %pw, %qw : f32
  llvm.return %d : f32
}
// A number that is not scaled.
// CHECK-LABEL: llvm.func @plain
// CHECK: math.fma
// CHECK-NOT: arith.subf
llvm.func @plain(%a: f32, %m: f32) -> f32 {
  %d = arith.subf %a, %m : f32
  %e = math.exp %d fastmath<afn> : f32
  llvm.return %e : f32
}
// Where roundings are written, or a number is read as it is rounded, or a factor is negative, all stays.
// CHECK-LABEL: llvm.func @stays
// CHECK: arith.subf
// CHECK-NEXT: math.exp
// CHECK: arith.truncf
// CHECK-NEXT: arith.extf
// CHECK: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.maximumf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.maximumf
llvm.func @stays(%a: f32, %b: f32, %m: f32) -> f32 {
  %c = arith.constant 0.125 : f32
  %n = arith.constant -0.125 : f32
  %d = arith.subf %a, %m : f32
  %e = math.exp %d : f32
  %h = arith.truncf %e : f32 to f16
  %w = arith.extf %h : f16 to f32
  %ac = arith.mulf %a, %c : f32
  %bc = arith.mulf %b, %c : f32
  %most = arith.maximumf %ac, %bc : f32
  %an = arith.mulf %a, %n : f32
  %bn = arith.mulf %b, %n : f32
  %least = arith.maximumf %an, %bn : f32
  %s = arith.addf %w, %ac : f32
  %t = arith.addf %s, %most : f32
  %u = arith.addf %t, %least : f32
  llvm.return %u : f32
}
