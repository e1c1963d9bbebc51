// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory of a thread block is an operation whose place is its own. It round-trips as text and bytecode, and upstream's passes keep its size, its
// place and its parts, and two memories apart.
//
// RUN: ft-opt %s | FileCheck %s --strict-whitespace
// RUN: ft-opt %s | ft-opt | FileCheck %s --strict-whitespace
// RUN: ft-opt %s --emit-bytecode | ft-opt --allow-unsafe-bytecode | FileCheck %s --strict-whitespace
// RUN: ft-opt %s --canonicalize --cse | FileCheck %s --strict-whitespace
// RUN: ft-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC
// On a core it lies on the heap.
// RUN: ft-opt %s --loops-grid-to-cores | FileCheck %s --check-prefix=CORES
//
// CHECK-LABEL: func.func @memory
// CHECK: %[[A:.*]] = loops.alloc %c64{{.*}} in <shared, offset = 128, swizzled> : memref<?xf32>{{$}}
// CHECK: %[[B:.*]] = loops.alloc %c64{{.*}} in <shared, offset = 512> : memref<?xf32>{{$}}
// CHECK: %[[C:.*]] = loops.alloc %c64{{.*}} in <shared, offset = 512> : memref<?xf32>{{$}}
// CHECK: %[[D:.*]] = loops.alloc %c64{{.*}} parts 4 in <shared> : memref<?xf32>{{$}}
// CHECK: %[[E:.*]] = loops.alloc %arg0 in <workspace> : memref<?xf32>{{$}}
// CHECK: %[[F:.*]] = loops.alloc %arg0 : memref<?xf32>{{$}}
// CHECK-COUNT-6: memref.store %arg2
// CHECK: memref.load %[[C]]
// CHECK: memref.load %[[B]]
// CHECK-COUNT-6: memref.dealloc
// GENERIC: "loops.alloc"(%{{.*}}) <{memory = #loops.memory<shared>, parts = 4 : i64}> : (index) -> memref<?xf32>
// CORES-NOT: loops.alloc
// CORES-COUNT-6: memref.alloc({{.*}}) {alignment = 64 : i64}
// CORES-NOT: loops.alloc
func.func @memory(%n: index, %x: memref<?xf32>, %v: f32) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %a = loops.alloc %c64 in <shared, offset = 128, swizzled> : memref<?xf32>
  %b = loops.alloc %c64 in <shared, offset = 512> : memref<?xf32>
  %c = loops.alloc %c64 in <shared, offset = 512> : memref<?xf32>
  %d = loops.alloc %c64 parts 4 in <shared> : memref<?xf32>
  %e = loops.alloc %n in <workspace> : memref<?xf32>
  %f = loops.alloc %n : memref<?xf32>
  memref.store %v, %a[%c0] : memref<?xf32>
  memref.store %v, %b[%c0] : memref<?xf32>
  memref.store %v, %c[%c0] : memref<?xf32>
  memref.store %v, %d[%c0] : memref<?xf32>
  memref.store %v, %e[%c0] : memref<?xf32>
  memref.store %v, %f[%c0] : memref<?xf32>
  %y = memref.load %c[%c0] : memref<?xf32>
  %z = memref.load %b[%c0] : memref<?xf32>
  %s = arith.addf %y, %z : f32
  memref.store %s, %x[%c0] : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  memref.dealloc %b : memref<?xf32>
  memref.dealloc %c : memref<?xf32>
  memref.dealloc %d : memref<?xf32>
  memref.dealloc %e : memref<?xf32>
  memref.dealloc %f : memref<?xf32>
  return
}
