// How threads hold a product's result and move its operands stands in the loops, once it is known where operands begin and lie: accesses as wide as
// that allows, copies that are on their way where an operand lies in the device's own memory; how operands are read there, and where tiles come from and go to.
//
// RUN: ft-opt %s "--ft-compile=to=tile target=sm_90a" -o %t.mlir && FileCheck %s --input-file=%t.mlir
// RUN: ft-opt %t.mlir --loops-choose-accesses | diff - %t.mlir
//
// What is specified makes the kernel: narrower accesses, another order of threads, copies that nothing goes on beside.
// RUN: sed 's/lhs = #tile.move<width = 4, threads = \[\([0-9]*\), \([0-9]*\)\], async>/lhs = #tile.move<width = 2, threads = [\2, \1]>/' %t.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=OTHER
// OTHER: tile.copy {{.*}}vector = [1, 2]
// RUN: sed 's/reads = #tile.reads<terms = 4, lhs = 4, rhs = 4>/reads = #tile.reads<terms = 2, lhs = 2, rhs = 1>/; s/accesses = \[4\]/accesses = [2]/' %t.mlir | ft-opt --convert-loops-to-gpu | FileCheck %s --check-prefix=READS
// READS-LABEL: @even
// READS: tile.mma {{.*}}reads = #tile.reads<terms = 2, lhs = 2, rhs = 1>
// READS: tile.store {{.*}}width = 2 : i64
//
// How wide an access is the machine says.
// RUN: sed 's/"access_bytes": 16/"access_bytes": 8/' %S/../../../../machines/h200.json > %t.json
// RUN: ft-opt %s "--ft-compile=to=tile target=sm_90a machine=%t.json" | FileCheck %s --check-prefix=EIGHT
// EIGHT: vector = [1, 2], {{.*}}lhs = #tile.move<width = 2, {{.*}}, reads = #tile.reads<terms = 2, lhs = 2, rhs = 2>, accesses = [2]>
//
// Nothing is made of what is left out, or says more than holds.
// RUN: sed 's/, result = #tile.blocked<[^>]*>, lhs = #tile.move<[^>]*>, rhs = #tile.move<[^>]*>, reads = #tile.reads<[^>]*>, accesses = \[[^]]*\]//' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: the GPU engine can't run the leaf's layouts: loop nest {{[0-9]+}}: it is not specified how threads move its operands, read them, and hold its result (result, lhs, rhs, reads, accesses): loops-choose-accesses does
// RUN: sed 's/, reads = #tile.reads<[^>]*>//' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed 's/reads = #tile.reads<terms = 4, lhs = 4, rhs = 4>/reads = #tile.reads<terms = 4, lhs = 4, rhs = 8>/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=SHARED
// SHARED: error: the GPU engine can't run the leaf's layouts: loop nest {{[0-9]+}}: reads: expected terms that divide a step of {{[0-9]+}}, and at most 4 and 4 adjacent elements of the operands in an access, found #tile.reads<terms = 4, lhs = 4, rhs = 8>
// RUN: sed 's/reads = #tile.reads<terms = 4, lhs = 4, rhs = 4>/reads = #tile.reads<terms = 64, lhs = 4, rhs = 4>/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=TERMS
// TERMS: error: the GPU engine can't run the leaf's layouts: loop nest {{[0-9]+}}: reads: expected terms that divide a step of {{[0-9]+}}
// RUN: sed 's/accesses = \[1\]/accesses = [4]/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=TILES
// TILES: error: the GPU engine can't run the leaf's layouts: loop nest {{[0-9]+}}: accesses: place 0: at least 1 and at most 1 adjacent columns are one access, found 4
// RUN: sed 's/accesses = \[1\]/accesses = [0]/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=MEMORY
// MEMORY: accesses: place 0: at least 1 and at most 1 adjacent columns are one access, found 0
// RUN: sed 's/accesses = \[1\]/accesses = [1, 1]/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=PLACES
// PLACES: accesses: its tiles have 1 places, found 2
// RUN: sed 's/rhs = #tile.move<width = 1, /rhs = #tile.move<width = 4, /' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=WIDE
// WIDE: error: the GPU engine can't run the leaf's layouts: loop nest {{[0-9]+}}: rhs: at most 1 adjacent elements are one access, found #tile.move<width = 4
// RUN: sed 's/lhs = #tile.move<width = 4, threads = \[[0-9]*, /lhs = #tile.move<width = 4, threads = [3, /' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=THREADS
// THREADS: error: the GPU engine can't run the leaf's layouts: loop nest {{[0-9]+}}: lhs: expected {{[0-9]+}} threads, found #tile.move<width = 4, threads = [3,
// RUN: sed 's/lhs = #tile.move<width = 4, threads = \(\[[0-9]*, [0-9]*\]\)>/lhs = #tile.move<width = 4, threads = \1, async>/' %t.mlir | not ft-opt --convert-loops-to-gpu 2>&1 | FileCheck %s --check-prefix=ASYNC
// ASYNC: error: the GPU engine can't run the leaf's layouts: loop nest {{[0-9]+}}: lhs: only 4 bytes and more of the device's own memory are copied while threads go on, found #tile.move<

// Both in the device's own memory; rows of 64 begin evenly.
// CHECK-LABEL: func.func @even_k0
// CHECK: #tile.product<{{.*}}, result = #tile.blocked<vector = [{{[124]}}, 4], threads = [{{[0-9]+, [0-9]+}}], warp = [4, 8]>, lhs = #tile.move<width = 4, threads = [{{[0-9]+, [0-9]+}}], async>, rhs = #tile.move<width = 4, threads = [{{[0-9]+, [0-9]+}}], async>, reads = #tile.reads<terms = 4, lhs = 4, rhs = 4>, accesses = [4]>
!x = tensor<128x64xf32>
func.func @even(%xs: !ft.list<[N], !x>, %w: tensor<64x64xf32>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.constant dense<0.0> : !x
    %y = linalg.matmul ins(%x, %w : !x, tensor<64x64xf32>) outs(%z : !x) -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}

// Rows of 63 begin anywhere.
// CHECK-LABEL: func.func @odd_k0
// CHECK: #tile.product<{{.*}}, lhs = #tile.move<width = 4, {{.*}}, async>, rhs = #tile.move<width = 1, threads = [{{[0-9]+, [0-9]+}}], async>, reads = #tile.reads<terms = 4, lhs = 4, rhs = 4>, accesses = [1]>
func.func @odd(%xs: !ft.list<[N], !x>, %w: tensor<64x63xf32>) -> !ft.list<[N], tensor<128x63xf32>> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], tensor<128x63xf32>> {
    %z = arith.constant dense<0.0> : tensor<128x63xf32>
    %y = linalg.matmul ins(%x, %w : !x, tensor<64x63xf32>) outs(%z : tensor<128x63xf32>) -> tensor<128x63xf32>
    ft.yield %y : tensor<128x63xf32>
  }
  return %ys : !ft.list<[N], tensor<128x63xf32>>
}

// The second product reads the first one's result from shared memory.
// CHECK-LABEL: func.func @twice_k0
// CHECK: #tile.product<{{.*}}, lhs = #tile.move<width = 4, threads = [{{[0-9]+, [0-9]+}}]>, rhs = #tile.move<width = 4, {{.*}}, async>, reads = #tile.reads<terms = {{[0-9]+}}, lhs = {{[0-9]+}}, rhs = {{[0-9]+}}>, accesses = [4]>
func.func @twice(%xs: !ft.list<[N], !x>, %w: tensor<64x64xf32>) -> !ft.list<[N], !x> {
  %ys = ft.map (%x = %xs : !ft.list<[N], !x>) -> !ft.list<[N], !x> {
    %z = arith.constant dense<0.0> : !x
    %a = linalg.matmul ins(%x, %w : !x, tensor<64x64xf32>) outs(%z : !x) -> !x
    %y = linalg.matmul ins(%a, %w : !x, tensor<64x64xf32>) outs(%z : !x) -> !x
    ft.yield %y : !x
  }
  return %ys : !ft.list<[N], !x>
}
