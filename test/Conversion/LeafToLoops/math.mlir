// Elementary functions become straight lines, on vectors and on scalars.
//
// RUN: ft-opt %s --ft-expand-math | FileCheck %s

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

// No library either: lines of arithmetic for all of math, those of integers, too.
// CHECK-LABEL: func.func @rest(
// CHECK-NOT: math.{{(acos|sincos|ipowi|fpowi|isnormal|clampf|round) }}
// CHECK: return
func.func @rest(%x: vector<2xf64>, %n: vector<2xi32>) -> (vector<2xf64>, vector<2xf64>, vector<2xi32>, vector<2xf64>, vector<2xi1>, vector<2xf64>, vector<2xf64>) {
  %0 = math.acos %x : vector<2xf64>
  %s, %c = math.sincos %x : vector<2xf64>
  %1 = arith.addf %s, %c : vector<2xf64>
  %2 = math.ipowi %n, %n : vector<2xi32>
  %3 = math.fpowi %x, %n : vector<2xf64>, vector<2xi32>
  %4 = math.isnormal %x : vector<2xf64>
  %5 = math.clampf %x to [%0, %1] : vector<2xf64>
  %6 = math.round %x : vector<2xf64>
  return %0, %1, %2, %3, %4, %5, %6 : vector<2xf64>, vector<2xf64>, vector<2xi32>, vector<2xf64>, vector<2xi1>, vector<2xf64>, vector<2xf64>
}
