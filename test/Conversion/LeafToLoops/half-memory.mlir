// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code generators for processors move halves one by one, integers together: halves are loaded and stored as i16.
//
// RUN: ft-opt %s --ft-half-memory | FileCheck %s

// Where something is computed, what is loaded becomes the number again, and what is stored is its bits.
// CHECK-LABEL: llvm.func @computes(
// CHECK: %[[BITS:.*]] = llvm.load %{{.*}} : !llvm.ptr -> vector<8xi16>
// CHECK: %[[HALVES:.*]] = llvm.bitcast %[[BITS]] : vector<8xi16> to vector<8xf16>
// CHECK: %[[SUM:.*]] = llvm.fadd %[[HALVES]], %[[HALVES]] : vector<8xf16>
// CHECK: %[[OUT:.*]] = llvm.bitcast %[[SUM]] : vector<8xf16> to vector<8xi16>
// CHECK: llvm.store %[[OUT]], %{{.*}} : vector<8xi16>, !llvm.ptr
llvm.func @computes(%from: !llvm.ptr, %to: !llvm.ptr) {
  %0 = llvm.load %from : !llvm.ptr -> vector<8xf16>
  %1 = llvm.fadd %0, %0 : vector<8xf16>
  llvm.store %1, %to : vector<8xf16>, !llvm.ptr
  llvm.return
}

// So are what a mask lets through and what stands in its place.
// CHECK-LABEL: llvm.func @masked(
// CHECK: %[[NONE:.*]] = llvm.bitcast %{{.*}} : vector<4xbf16> to vector<4xi16>
// CHECK: %[[BITS:.*]] = llvm.intr.masked.load %{{.*}}, %{{.*}}, %[[NONE]] {{.*}} -> vector<4xi16>
// CHECK: %[[HALVES:.*]] = llvm.bitcast %[[BITS]] : vector<4xi16> to vector<4xbf16>
// CHECK: llvm.fneg %[[HALVES]] : vector<4xbf16>
// CHECK: llvm.intr.masked.store %{{.*}} : vector<4xi16>, vector<4xi1> into !llvm.ptr
llvm.func @masked(%from: !llvm.ptr, %to: !llvm.ptr, %mask: vector<4xi1>, %none: vector<4xbf16>) {
  %0 = llvm.intr.masked.load %from, %mask, %none {alignment = 2 : i32} : (!llvm.ptr, vector<4xi1>, vector<4xbf16>) -> vector<4xbf16>
  %1 = llvm.fneg %0 : vector<4xbf16>
  llvm.intr.masked.store %1, %to, %mask {alignment = 2 : i32} : vector<4xbf16>, vector<4xi1> into !llvm.ptr
  llvm.return
}

// A function that only moves bf16 holds no bf16 at all: 1.0 is 0x3F80.
// CHECK-LABEL: llvm.func @moves(
// CHECK-NOT: bf16
// CHECK: llvm.mlir.constant(16256 : i16) : i16
// CHECK: llvm.mlir.constant(dense<16256> : vector<4xi16>) : vector<4xi16>
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> i16
// CHECK: llvm.select %{{.*}} : i1, i16
// CHECK: llvm.store %{{.*}} : i16, !llvm.ptr
// CHECK-NOT: bf16
// CHECK: llvm.return
llvm.func @moves(%from: !llvm.ptr, %to: !llvm.ptr, %which: i1) {
  %one = llvm.mlir.constant(1.0 : bf16) : bf16
  %ones = llvm.mlir.constant(dense<1.0> : vector<4xbf16>) : vector<4xbf16>
  %0 = llvm.load %from : !llvm.ptr -> bf16
  %1 = llvm.select %which, %0, %one : i1, bf16
  llvm.store %1, %to : bf16, !llvm.ptr
  llvm.store %ones, %to : vector<4xbf16>, !llvm.ptr
  llvm.return
}

// What is no half stays as it is.
// CHECK-LABEL: llvm.func @floats(
// CHECK-NOT: bitcast
// CHECK: llvm.store %{{.*}} : vector<8xf32>, !llvm.ptr
llvm.func @floats(%from: !llvm.ptr, %to: !llvm.ptr) {
  %0 = llvm.load %from : !llvm.ptr -> vector<8xf32>
  llvm.store %0, %to : vector<8xf32>, !llvm.ptr
  llvm.return
}
