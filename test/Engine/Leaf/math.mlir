// Elementary functions become straight lines, on vectors and on scalars.
//
// RUN: ft-opt %s --ft-expand-math | FileCheck %s
// RUN: ft-opt %s --ft-expand-math --ft-call-math-library | FileCheck %s --check-prefix=CALL

// CHECK-LABEL: func.func @vectors(
// CHECK-NOT: math.exp
// CHECK-COUNT-4: math.fma {{.*}} : vector<16xf32>
// CHECK: return
func.func @vectors(%x: vector<16xf32>) -> vector<16xf32> {
  %0 = math.exp %x : vector<16xf32>
  return %0 : vector<16xf32>
}

// CHECK-LABEL: func.func @halves(
// CHECK: arith.extf %{{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK-NOT: math.tanh
// CHECK: arith.truncf %{{.*}} : vector<8xf32> to vector<8xbf16>
func.func @halves(%x: vector<8xbf16>) -> vector<8xbf16> {
  %0 = math.tanh %x : vector<8xbf16>
  return %0 : vector<8xbf16>
}

// CHECK-LABEL: func.func @library(
// CHECK: math.acos
// CALL-LABEL: func.func @library(
// CALL-COUNT-2: call @acos(
func.func @library(%x: vector<2xf64>) -> vector<2xf64> {
  %0 = math.acos %x : vector<2xf64>
  return %0 : vector<2xf64>
}
