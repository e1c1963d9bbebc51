// RUN: ft-opt %s --split-input-file --convert-loops-to-cpu --loops-lower-leaves --verify-diagnostics

func.func @grid(%n: index) attributes {loops.kernel} {
  // expected-error @below {{a CPU deals loops to its cores: expected level core, found grid}}
  scf.forall (%i) = (0) to (%n) step (1) {
  } {mapping = [#loops.level<grid, block>]}
  return
}

// -----

func.func @fixed(%n: index) attributes {loops.kernel} {
  // expected-error @below {{expected iterations of the mapping dynamic or block, found static}}
  scf.forall (%i) = (0) to (%n) step (1) {
  } {mapping = [#loops.level<core, static>]}
  return
}

// -----

func.func @triangle(%n: index) attributes {loops.kernel} {
  // expected-error @below {{iterations are mapped dynamically where they are a box; expected the mapping block}}
  scf.forall (%i) = (0) to (%n) step (1) {
    scf.forall (%j) = (0) to (%i) step (1) {
    } {mapping = [#loops.level<core, dynamic>]}
  } {mapping = [#loops.level<core, dynamic>]}
  return
}

// -----

func.func @turns(%n: index, %x: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  // expected-error @below {{iterations that are mapped dynamically are all that a kernel runs}}
  %v = memref.load %x[%c0] : memref<?xf32>
  memref.store %v, %x[%c0] : memref<?xf32>
  scf.forall (%i) = (0) to (%n) step (1) {
  } {mapping = [#loops.level<core, dynamic>]}
  return
}

// -----

func.func @twice(%n: index, %x: memref<?xf32>) attributes {loops.kernel} {
  %v = arith.constant 0.0 : f32
  // expected-error @below {{a core runs what is inside of this loop}}
  scf.forall (%i) = (0) to (%n) step (1) {
    memref.store %v, %x[%i] : memref<?xf32>
    scf.forall (%j) = (0) to (%n) step (1) {
    } {mapping = [#loops.level<core, block>]}
  } {mapping = [#loops.level<core, block>]}
  return
}

// -----

func.func @memory(%n: index) attributes {loops.kernel} {
  %v = arith.constant 0.0 : f32
  // expected-error @below {{memory of the kernel in a loop that several threads run: each would have its own; expected a buffer of the program}}
  %own = memref.alloc(%n) : memref<?xf32>
  scf.forall (%i) = (0) to (%n) step (1) {
    // expected-note @below {{it is used here}}
    memref.store %v, %own[%i] : memref<?xf32>
  } {mapping = [#loops.level<core, block>]}
  memref.dealloc %own : memref<?xf32>
  return
}

// -----

// expected-error @below {{a kernel takes indices and memref<?xT>, found 'f32'}}
func.func @scalar(%n: f32) attributes {loops.kernel} {
  return
}

// -----

// A row's sum needs all of its columns.
func.func @sum(%n: index, %c: index, %x: memref<?xf32>, %y: memref<?xf32>) attributes {loops.kernel} {
  %c0 = arith.constant 0 : index
  %from = memref.reinterpret_cast %x to offset: [%c0], sizes: [%n, 8], strides: [8, 1] : memref<?xf32> to memref<?x8xf32, strided<[8, 1], offset: ?>>
  %to = memref.reinterpret_cast %y to offset: [%c0], sizes: [%n], strides: [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: ?>>
  // expected-error @below {{column c of what the leaf computes does not depend on column c alone, or it doesn't have the columns; found 8 of them}}
  loops.leaf rows(%n) most 4 columns(%c) tile 4 of 8 ins(%from : memref<?x8xf32, strided<[8, 1], offset: ?>>) varies [true] outs(%to : memref<?xf32, strided<[1], offset: ?>>) overlaps [] {
  ^bb0(%a: tensor<8xf32>):
    %z = arith.constant dense<0.0> : tensor<f32>
    %s = linalg.reduce {arith.addf} ins(%a : tensor<8xf32>) outs(%z : tensor<f32>) dimensions = [0]
    loops.yield %s : tensor<f32>
  }
  return
}
