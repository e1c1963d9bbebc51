// Structured loops as one thread runs them: tasks, shares, and what the first thread does alone.
//
// RUN: ft-opt %s --convert-loops-to-cpu --cse | FileCheck %s
// RUN: ft-opt %s --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --cse --loops-lower-leaves | FileCheck %s --check-prefix=LEAF
// RUN: ft-opt %s --loops-decide-for-cpu="vector-bytes=32 vector-registers=16" --convert-loops-to-cpu --loops-lower-leaves --ft-leaf-to-llvm -o /dev/null

!row = memref<?x8xf32, strided<[?, 1], offset: ?>>

// Tasks are numbered over the box, chunks innermost; the same arithmetic counts them.
// CHECK-LABEL: func.func @turn_count(
// CHECK: %[[extent:.*]] = arith.maxsi
// CHECK: %[[tile:.*]] = arith.minsi %{{.*}}, %c4
// CHECK: %[[tiles:.*]] = arith.ceildivsi %{{.*}}, %[[tile]]
// CHECK: arith.muli {{.*}}, %[[tiles]]
// CHECK: return
// CHECK-LABEL: func.func @turn(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %[[begin:.*]]: i64, %[[end:.*]]: i64) attributes {loops.kernel}
// Memory of an iteration is made once, for the longest chunk.
// CHECK: %[[tile:.*]] = arith.minsi %{{.*}}, %c4
// CHECK: %[[size:.*]] = arith.muli %[[tile]], %c8
// CHECK: %[[memory:.*]] = memref.alloc(%[[size]])
// CHECK: scf.for %[[task:.*]] =
// CHECK-NEXT: %[[chunk:.*]] = arith.remsi %[[task]],
// CHECK-NEXT: %[[j:.*]] = arith.divsi %[[task]],
// CHECK-NOT: memref.alloc
// CHECK: loops.leaf
// CHECK: memref.dealloc %[[memory]]
func.func @turn(%n: index, %m: index, %x: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  scf.forall (%j) in (%m) {
    loops.chunks (%i, %rows) = %c0 to %n most 4 level <core, dynamic> {
      %size = arith.muli %rows, %c8 : index
      %own = memref.alloc(%size) : memref<?xf32>
      %at = arith.muli %i, %c8 : index
      %from = memref.reinterpret_cast %x to offset: [%at], sizes: [%rows, 8], strides: [%c8, 1] : memref<?xf32> to !row
      %between = memref.reinterpret_cast %own to offset: [%c0], sizes: [%rows, 8], strides: [%c8, 1] : memref<?xf32> to !row
      %to = memref.reinterpret_cast %y to offset: [%at], sizes: [%rows, 8], strides: [%c8, 1] : memref<?xf32> to !row
      loops.leaf rows(%rows) most 4 ins(%from : !row) varies [true] outs(%between : !row) overlaps [] {
      ^bb0(%a: tensor<8xf32>):
        %b = arith.negf %a : tensor<8xf32>
        loops.yield %b : tensor<8xf32>
      }
      loops.leaf rows(%rows) most 4 ins(%between : !row) varies [true] outs(%to : !row) overlaps [] {
      ^bb0(%a: tensor<8xf32>):
        %b = arith.negf %a : tensor<8xf32>
        loops.yield %b : tensor<8xf32>
      }
      memref.dealloc %own : memref<?xf32>
    }
  } {mapping = [#loops.level<core, dynamic>]}
  return
}

// Equal leaves are one function, whose scratch is the kernel's.
// LEAF-LABEL: func.func @turn(
// LEAF: memref.alloc({{.*}}) {alignment = 64 : i64} : memref<?xi8>
// LEAF: call @leaf0(
// LEAF: call @leaf0(

// A triangle's points are counted line by line, and what they weigh; each thread has its share.
// CHECK-LABEL: func.func @shares(
// CHECK-SAME: %[[env:.*]]: !llvm.ptr, %[[tid:.*]]: i64, %{{.*}}: i64) attributes {loops.kernel, loops.team}
// CHECK-DAG: %[[t:.*]] = arith.index_cast %[[tid]]
// CHECK-DAG: %[[first:.*]] = arith.cmpi eq, %[[t]], %c0
// CHECK: scf.for %[[step:.*]] =
// CHECK: %[[total:.*]] = scf.for %{{.*}} iter_args(%[[sum:.*]] =
// CHECK: arith.muli %{{.*}}, %{{.*}}
// CHECK: %[[product:.*]] = arith.muli %[[total]], %[[t]]
// CHECK: arith.divui %[[product]]
// CHECK: scf.for %{{.*}} iter_args(
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1
// CHECK: memref.store
// CHECK: scf.yield
// CHECK: llvm.call %{{.*}}(%[[env]], %[[tid]])
// What stands beside is done by one thread, after it all wait again.
// CHECK: scf.if %[[first]] {
// CHECK-NEXT: %[[value:.*]] = memref.load
// CHECK-NEXT: memref.store %[[value]]
// CHECK-NEXT: }
// CHECK-NEXT: llvm.call %{{.*}}(%[[env]], %[[tid]])
// CHECK-NEXT: %[[next:.*]] = memref.load
// CHECK: memref.store %[[next]]
func.func @shares(%n: index, %w: index, %x: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %k = %c0 to %n step %c1 {
    scf.forall (%i) = (0) to (%n) step (1) {
      %end = arith.addi %i, %c1 : index
      loops.weight %w
      scf.forall (%j) = (0) to (%end) step (1) {
        %at = arith.addi %i, %j : index
        memref.store %one, %x[%at] : memref<?xf32>
      } {mapping = [#loops.level<core, block>]}
    } {mapping = [#loops.level<core, block>]}
    loops.sync cores
    %value = memref.load %x[%k] : memref<?xf32>
    memref.store %value, %x[%c0] : memref<?xf32>
    loops.sync cores
    %next = memref.load %x[%c0] : memref<?xf32>
    loops.weight %w
    scf.forall (%i) = (1) to (%n) step (1) {
      memref.store %next, %x[%i] : memref<?xf32>
    } {mapping = [#loops.level<core, block>]}
    loops.sync cores
  }
  return
}

// Listed rows are cut into parts of about equal length.
// CHECK-LABEL: func.func @parts(
// CHECK: arith.ceildivui %{{.*}}, %c6
// CHECK: arith.minui %{{.*}}, %c6
func.func @parts(%n: index, %x: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  loops.chunks (%first, %rows) = %c0 to %n most 6 unit 3 level <core, block> {
    %list = loops.list most 6 : !loops.list<tensor<8xf32>, tensor<8xf32>>
    %view = memref.reinterpret_cast %x to offset: [%first], sizes: [%rows, 8], strides: [%c1, 1] : memref<?xf32> to !row
    loops.append %list rows(%rows) (%view, %view : !row, !row) : !loops.list<tensor<8xf32>, tensor<8xf32>>
    %count = loops.count %list : !loops.list<tensor<8xf32>, tensor<8xf32>>
    loops.leaf rows(%count) most 6 list(%list : !loops.list<tensor<8xf32>, tensor<8xf32>>) varies [true] overlaps [] {
    ^bb0(%a: tensor<8xf32>):
      %b = arith.negf %a : tensor<8xf32>
      loops.yield %b : tensor<8xf32>
    }
  }
  return
}
// LEAF-LABEL: func.func @parts(
// LEAF: memref.alloc({{.*}}) {alignment = 64 : i64} : memref<?xi64>
// LEAF: call @leaf{{[0-9]+}}({{.*}}) : (index, !llvm.ptr, !llvm.ptr, memref<?xi8>) -> ()

// An index that is data, and nothing that is dealt: one task.
// CHECK-LABEL: func.func @gather_count(
// CHECK: %[[one:.*]] = arith.constant 1 : i64
// CHECK: return %[[one]]
// LEAF-LABEL: func.func @gather(
// LEAF: %[[errors:.*]] = llvm.load
// LEAF: arith.cmpi sge
// LEAF: arith.cmpi slt
// LEAF: scf.if
// LEAF: llvm.store
// LEAF: arith.select
func.func @gather(%n: index, %at: memref<?xi32>, %x: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %raw = memref.load %at[%c0] : memref<?xi32>
  %index = arith.index_cast %raw : i32 to index
  %i = loops.bounded %index below %n place 0
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %x[%c0] : memref<?xf32>
  return
}

// Tasks are chunks of rows and tiles of columns. There are 3 tiles of each chunk, and chunks are about equally long.
// CHECK-LABEL: func.func @columns_count(
// CHECK: %[[width:.*]] = arith.subi %c3, %c0
// CHECK: %[[tiles:.*]] = arith.maxsi %[[width]], %c0
// CHECK: %[[others:.*]] = arith.muli %c1, %[[tiles]]
// CHECK: %[[all:.*]] = arith.muli %{{.*}}, %[[others]]
// CHECK: %[[share:.*]] = arith.ceildivsi %[[all]],
// CHECK: %[[least:.*]] = arith.maxsi %[[share]], %c1
// CHECK: %[[tile:.*]] = arith.minsi %[[least]], %c4
// CHECK: %[[chunks:.*]] = arith.ceildivsi %{{.*}}, %[[tile]]
// CHECK: %[[some:.*]] = arith.maxsi %[[chunks]], %c1
// CHECK: arith.ceildivsi %{{.*}}, %[[some]]
// CHECK-LABEL: func.func @columns(
// CHECK: scf.for %[[task:.*]] =
// CHECK: %[[number:.*]] = arith.remsi %[[task]],
// CHECK: %[[tile:.*]] = arith.addi %c0, %[[number]]
// CHECK: %[[first:.*]] = arith.muli %[[tile]], %c4
// CHECK: loops.leaf rows({{.*}}) most 4 columns(%[[first]]) tile 4 of 12
// The first column goes after the operands; the product's second operand is read as it lies, transposed.
// LEAF-LABEL: func.func @columns(
// LEAF: call @leaf{{[0-9]+}}({{.*}}) : (index, memref<?x5xf32, strided<[?, 1], offset: ?>>, memref<?x5x12xf32, strided<[?, 1, 5], offset: ?>>, memref<?x12xf32, strided<[?, 1], offset: ?>>, index, memref<?xi8>) -> ()
func.func @columns(%n: index, %x: memref<?xf32>, %w: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  loops.chunks (%i, %rows) = %c0 to %n most 4 unit 1 level <core, dynamic> {
    scf.forall (%t) in (3) {
      %first = arith.muli %t, %c4 : index
      %xi = affine.apply affine_map<(i) -> (i * 5)>(%i)
      %yi = affine.apply affine_map<(i) -> (i * 12)>(%i)
      %a = memref.reinterpret_cast %x to offset: [%xi], sizes: [%rows, 5], strides: [5, 1] : memref<?xf32> to memref<?x5xf32, strided<[5, 1], offset: ?>>
      %b = memref.reinterpret_cast %w to offset: [0], sizes: [%c1, 5, 12], strides: [60, 1, 5] : memref<?xf32> to memref<?x5x12xf32, strided<[60, 1, 5]>>
      %c = memref.reinterpret_cast %y to offset: [%yi], sizes: [%rows, 12], strides: [12, 1] : memref<?xf32> to memref<?x12xf32, strided<[12, 1], offset: ?>>
      loops.leaf rows(%rows) most 4 columns(%first) tile 4 of 12
          ins(%a, %b : memref<?x5xf32, strided<[5, 1], offset: ?>>, memref<?x5x12xf32, strided<[60, 1, 5]>>) varies [true, false]
          outs(%c : memref<?x12xf32, strided<[12, 1], offset: ?>>) overlaps [] {
      ^bb0(%r: tensor<5xf32>, %m: tensor<5x12xf32>):
        %z = arith.constant dense<0.0> : tensor<12xf32>
        %p = linalg.vecmat ins(%r, %m : tensor<5xf32>, tensor<5x12xf32>) outs(%z : tensor<12xf32>) -> tensor<12xf32>
        loops.yield %p : tensor<12xf32>
      }
    } {mapping = [#loops.level<core, dynamic>]}
  }
  return
}
// (Functions of leaves stand at the end.)
// LEAF: func.func private @leaf0(%{{.*}}: index, %{{.*}}: memref<?x8xf32, strided<[?, 1], offset: ?>>, %{{.*}}: memref<?x8xf32, strided<[?, 1], offset: ?>>, %{{.*}}: memref<?xi8>)
// LEAF: vector.store
