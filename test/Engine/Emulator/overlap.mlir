// Launches that overlap the one before them: what they read of it before they have waited is an error, in the kernels of both roles, too.
//
// RUN: ft-opt %s --ft-compile="to=threads target=sm_90a skip=coarsen" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: ft-run %s --entry=chain --engine=emulate --kernels=%t.mlir --dim N=7 --compare=interpret | FileCheck %s --check-prefix=EQUAL
// EQUAL: {{^}}equal
//
// RUN: sed '/griddepcontrol *wait/d' %t.mlir > %t.hasty.mlir
// RUN: not ft-run %s --entry=chain --engine=emulate --kernels=%t.hasty.mlir --dim N=7 2>&1 | FileCheck %s --check-prefix=HASTY
// HASTY: (E13) reads the workspace + {{.*}} which a launch before it wrote, before it has waited for the launches that it overlaps
//
// What another launch may read or write is not overwritten early.
// RUN: not ft-run %s --entry=apart --engine=emulate --kernels=%t.hasty.mlir --dim N=7 2>&1 | FileCheck %s --check-prefix=WRITES
// WRITES: (E13) writes {{.*}} before it has waited for the launches that it overlaps
//
// Both roles of a kernel that has some wait, each by itself.
// RUN: ft-opt %s --ft-compile="to=pipeline target=sm_90a skip=coarsen" | FileCheck %s --check-prefix=ROLES
// ROLES-LABEL: llvm.func @layers_k0
// ROLES-NOT: nvvm.griddepcontrol {{ *}}wait
// ROLES: nvvm.setmaxregister {{ *}}decrease
// ROLES: nvvm.griddepcontrol {{ *}}wait
// ROLES: nvvm.setmaxregister {{ *}}increase
// ROLES-NEXT: nvvm.griddepcontrol {{ *}}wait

// Of N rows each SM of 233472 bytes takes its share of the thread blocks.
// CHECK: gpu.module @chain
// CHECK-SAME: overlaps\22:true,\22overlap_bytes\22:
// CHECK-LABEL: llvm.func @chain_k0
// CHECK: nvvm.griddepcontrol {{ *}}launch_dependents
// CHECK: nvvm.griddepcontrol {{ *}}wait
// CHECK: gpu.module @layers
// CHECK-SAME: overlap_bytes\22:115713,

!r = tensor<64xf32>
func.func @chain(%xs: !ft.list<[N], !r>, %ws: tensor<64x64xf32>) -> !ft.list<[N], !r> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !r>) {
    %z = arith.constant dense<0.0> : !r
    %y = linalg.vecmat ins(%x, %ws : !r, tensor<64x64xf32>) outs(%z : !r) -> !r
    ft.yield %y : !r
  }
  %s = ft.map (%x = %ys : !ft.list<[N], !r>) {
    %y = math.tanh %x : !r
    ft.yield %y : !r
  }
  %t = ft.map (%x = %s : !ft.list<[N], !r>) {
    %z = arith.constant dense<0.0> : !r
    %y = linalg.vecmat ins(%x, %ws : !r, tensor<64x64xf32>) outs(%z : !r) -> !r
    ft.yield %y : !r
  }
  return %t : !ft.list<[N], !r>
}

func.func @apart(%xs: !ft.list<[N], !r>) -> (!ft.list<[N], !r>, !ft.list<[N], !r>) {
  %ys = ft.map (%x = %xs : !ft.list<[N], !r>) {
    %y = math.tanh %x : !r
    ft.yield %y : !r
  }
  %zs = ft.map (%x = %xs : !ft.list<[N], !r>) {
    %y = math.exp %x : !r
    ft.yield %y : !r
  }
  return %ys, %zs : !ft.list<[N], !r>, !ft.list<[N], !r>
}

!m = tensor<1024x1024xf16>
func.func @layers(%x: !m, %w: !m) -> !m {
  %zero = arith.constant dense<0.0> : !m
  %y = linalg.matmul ins(%x, %w : !m, !m) outs(%zero : !m) -> !m
  %z = linalg.matmul ins(%y, %w : !m, !m) outs(%zero : !m) -> !m
  return %z : !m
}
