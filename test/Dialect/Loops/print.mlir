// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One space stands between the words of an operation.
//
// RUN: ft-opt %s | FileCheck %s --strict-whitespace
// RUN: ft-opt %s | ft-opt | FileCheck %s --strict-whitespace
//
// CHECK: = loops.length "N"{{$}}
// CHECK: = loops.buffer argument 0 : <[N], tensor<4xf32>>{{$}}
// CHECK: = loops.buffer intermediate planes [2] slot 1 : <[N], tensor<4xf32>>{{$}}
// CHECK: = loops.buffer splat value(1.000000e+00 : f32) : <[], tensor<4xf32>>{{$}}
// CHECK: = loops.buffer result 0 : <[N], tensor<4xf32>>{{$}}
// CHECK: loops.launch @f_k0({{[^ ]*}}, {{[^ ]*}}) : !etdg.buffer
loops.program @f lengths ["N"] places [] {
  %n = loops.length "N"
  %x = loops.buffer argument 0 : <[N], tensor<4xf32>>
  %t = loops.buffer intermediate planes [2] slot 1 : <[N], tensor<4xf32>>
  %s = loops.buffer splat value(1.0 : f32) : <[], tensor<4xf32>>
  %y = loops.buffer result 0 : <[N], tensor<4xf32>>
  loops.launch @f_k0(%x, %y) : !etdg.buffer<[N], tensor<4xf32>>, !etdg.buffer<[N], tensor<4xf32>>
}
// CHECK: {{^}}    loops.sync cores{{$}}
func.func @f_k0(%x: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel} {
  loops.sync cores
  return
}
// CHECK: {{^}}    loops.sync grid{{$}}
func.func @g_k0() attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  loops.sync grid
  return
}
// What the threads of a block wait for may stand in loops that thread blocks share.
// CHECK: scf.forall
// CHECK-NEXT: loops.sync block{{$}}
func.func @h_k0() attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  scf.forall (%i) in (4) {
    loops.sync block
  } {mapping = [#loops.level<grid, cyclic>]}
  return
}
