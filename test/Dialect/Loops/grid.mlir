// RUN: ft-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{expected thread blocks of a kernel, found no attribute loops.kernel (loops_grid1)}}
func.func @k() attributes {loops.grid = #loops.grid<block = <threads = 32>>} {
  return
}
// -----
// expected-error @below {{expected thread blocks of a kernel, not fewer than none (loops_grid1)}}
func.func @k() attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>, most = -1>} {
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>, most = 4>} {
  // expected-error @below {{thread blocks run its kernel: expected the level grid, lifted, thread or none, found core (loops_grid2)}}
  scf.forall (%i) = (0) to (%n) step (1) {
  } {mapping = [#loops.level<core, block>]}
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{expected a mapping with the level grid, found none (loops_grid2)}}
  loops.chunks (%i, %c) = %n to %n most 4 level <grid> {
  }
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{expected no mapping with the level lifted, found block (loops_grid2)}}
  scf.forall (%i) = (0) to (%n) step (1) {
  } {mapping = [#loops.level<lifted, block>]}
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %c = arith.cmpi eq, %n, %n : index
  // expected-note @below {{it stands in this operation}}
  scf.if %c {
    // expected-error @below {{expected sequential loops and others of level grid around it (loops_grid3)}}
    scf.forall (%i) = (0) to (%n) step (1) {
    } {mapping = [#loops.level<grid, static>]}
  }
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-note @below {{it stands in this operation}}
  scf.forall (%i) = (0) to (%n) step (1) {
    // expected-error @below {{a leaf computes the iterations around it at once: expected no parallel loop (loops_grid3)}}
    scf.forall (%j) = (0) to (%n) step (1) {
    } {mapping = [#loops.level<none>]}
  } {mapping = [#loops.level<lifted>]}
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel} {
  // expected-error @below {{expected a kernel of thread blocks (loops.grid) around it (loops_alloc1)}}
  %m = loops.alloc %n in <workspace> : memref<?xf32>
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{expected shared memory of a constant size (loops_alloc3)}}
  %m = loops.alloc %n in <shared> : memref<?xf32>
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{expected memory of type memref<?xT> with elements that are numbers, found 'memref<8xf32>' (loops_alloc2)}}
  %m = loops.alloc %n in <workspace> : memref<8xf32>
  return
}
// -----
func.func @k() attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  %n = arith.constant 8 : index
  // expected-error @below {{expected memory of type memref<?xT> with elements that are numbers, found 'memref<?xcomplex<f32>>' (loops_alloc2)}}
  %m = loops.alloc %n in <shared> : memref<?xcomplex<f32>>
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{expected shared memory of a size that its parts divide, found 4 parts (loops_alloc4)}}
  %m = loops.alloc %n parts 4 in <workspace> : memref<?xf32>
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{attribute 'loops.memory' is `in` of loops.alloc now}}
  %m = memref.alloc(%n) {loops.memory = #loops.memory<workspace>} : memref<?xf32>
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{attribute 'loops.parts' is `parts` of loops.alloc now}}
  %m = memref.alloc(%n) {loops.parts = 4 : i64} : memref<?xf32>
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{thread blocks run the kernel: expected grid or block, found cores (loops_sync2)}}
  loops.sync cores
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel} {
  // expected-error @below {{expected a kernel of thread blocks (loops.grid) around it, found none and block (loops_sync2)}}
  loops.sync block
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-note @below {{in this loop of level thread}}
  scf.forall (%i) in (32) {
    // expected-error @below {{a thread can't run it alone (loops_grid5)}}
    loops.sync block
  } {mapping = [#loops.level<thread>]}
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{unknown attribute 'loops.syncs'}}
  loops.sync block {loops.syncs = array<i1: true>}
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{(loops_grid8) 'loops.guards': expected #loops.guard, each of another loop nest, found 3 : i64}}
  loops.leaf rows(%n) most 1 ins(%x : memref<?x8xf32>) varies [true] outs(%x : memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  } {loops.guards = [3 : i64]}
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{(loops_grid9) 'loops.joined': loop nest 1: expected -1 or another loop nest that is joined with none, found 1}}
  loops.leaf rows(%n) most 1 ins(%x : memref<?x8xf32>) varies [true] outs(%x : memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  } {loops.joined = array<i64: -1, 1>}
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{(loops_grid10) 'loops.kept': expected a leaf without a list in the body of a scf.for, in a kernel of thread blocks}}
  loops.leaf rows(%n) most 1 ins(%x, %x : memref<?x8xf32>, memref<?x8xf32>) varies [true, true] outs(%y, %y : memref<?x8xf32>, memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    loops.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } {loops.kept = [#loops.kept<output = 0, input = 1, last>]}
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {loops.kernel} {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{(loops_grid10) 'loops.kept': expected a leaf without a list in the body of a scf.for, in a kernel of thread blocks}}
  loops.leaf rows(%n) most 1 ins(%x, %x : memref<?x8xf32>, memref<?x8xf32>) varies [true, true] outs(%y, %y : memref<?x8xf32>, memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    loops.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } {loops.kept = [#loops.kept<output = 0, input = 1, last>]}
  }
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{(loops_grid10) 'loops.kept': expected each of another one of its outputs, in their order, and of another input, found #loops.kept<output = 0, input = 0, each>}}
  loops.leaf rows(%n) most 1 ins(%x, %x : memref<?x8xf32>, memref<?x8xf32>) varies [true, true] outs(%y, %y : memref<?x8xf32>, memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    loops.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } {loops.kept = [#loops.kept<output = 1, input = 1, last>, #loops.kept<output = 0, input = 0, each>]}
  }
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{(loops_grid10) 'loops.kept': expected each of another one of its outputs, in their order, and of another input, found #loops.kept<output = 1, input = 1, each>}}
  loops.leaf rows(%n) most 1 ins(%x, %x : memref<?x8xf32>, memref<?x8xf32>) varies [true, true] outs(%y, %y : memref<?x8xf32>, memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    loops.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } {loops.kept = [#loops.kept<output = 0, input = 1, last>, #loops.kept<output = 1, input = 1, each>]}
  }
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{(loops_grid10) 'loops.kept': expected each of another one of its outputs, in their order, and of another input, found #loops.kept<output = 0, input = 2, last>}}
  loops.leaf rows(%n) most 1 ins(%x, %x : memref<?x8xf32>, memref<?x8xf32>) varies [true, true] outs(%y, %y : memref<?x8xf32>, memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    loops.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } {loops.kept = [#loops.kept<output = 0, input = 2, last>]}
  }
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{(loops_grid10) 'loops.kept': expected a wider float than its elements, found #loops.kept<output = 0, input = 1, last in f32>}}
  loops.leaf rows(%n) most 1 ins(%x, %x : memref<?x8xf32>, memref<?x8xf32>) varies [true, true] outs(%y, %y : memref<?x8xf32>, memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    loops.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } {loops.kept = [#loops.kept<output = 0, input = 1, last in f32>]}
  }
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>, %y: memref<?x8xf32>) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  scf.for %i = %n to %n step %n {
  // expected-error @below {{(loops_grid10) 'loops.kept': expected #loops.kept, found 3 : i64}}
  loops.leaf rows(%n) most 1 ins(%x, %x : memref<?x8xf32>, memref<?x8xf32>) varies [true, true] outs(%y, %y : memref<?x8xf32>, memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    loops.yield %a, %b : tensor<8xf32>, tensor<8xf32>
  } {loops.kept = [3 : i64]}
  }
  return
}
// -----
// expected-error @below {{expected numbers that are not negative, found output 0 and input -1 (C1)}}
#kept = #loops.kept<output = 0, input = -1, last>
// -----
// expected-error @below {{expected a float, found 'i32' (C2)}}
#kept = #loops.kept<output = 0, input = 1, last in i32>
// -----
func.func @k(%n: index) attributes {loops.kernel} {
  // expected-error @below {{'loops.rounds_last': expected a loop in a kernel of thread blocks (loops_grid11)}}
  scf.for %i = %n to %n step %n {
  } {loops.rounds_last}
  return
}
// -----
func.func @k(%n: index) attributes {loops.kernel} {
  // expected-error @below {{expected a kernel of thread blocks (loops.grid) around it, found none and grid (loops_sync2)}}
  loops.sync grid
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{expected a first column beside their number (loops_leaf5)}}
  "loops.leaf"(%n, %n, %x, %x) <{most = 1 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 1, 1, 1>, varies = array<i1: true>}> ({
  ^bb0(%a: tensor<8xf32>):
    "loops.yield"(%a) : (tensor<8xf32>) -> ()
  }) : (index, index, memref<?x8xf32>, memref<?x8xf32>) -> ()
  return
}
// -----
// Which memory, and how many thread blocks, is specified for memory and of kernels alone.
// expected-error @below {{unknown attribute 'loops.most'}}
func.func @k() attributes {loops.most = #loops.memory<shared>} {
  return
}
// -----
func.func @k(%n: index, %x: memref<?x8xf32>) attributes {loops.kernel} {
  // expected-error @below {{expected a number of columns with the cuts of loop nests (loops_leaf5)}}
  loops.leaf rows(%n) most 1 columns(%n) tile 4 of 8 cuts [0] ins(%x : memref<?x8xf32>) varies [true] outs(%x : memref<?x8xf32>) {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @k(%n: index) attributes {loops.kernel} {
  // expected-error @below {{expected a length of chunks of level grid alone, found #loops.chunk_length<blocks> (loops_chunks3)}}
  loops.chunks (%i, %c) = %n to %n most 4 level <core, dynamic> length <blocks> {
  }
  return
}

// -----

func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{expected chunks of at most 8 iterations, a multiple of 4, found #loops.chunk_length<each = 6> (loops_chunks3)}}
  loops.chunks (%i, %c) = %n to %n most 8 unit 4 level <grid, cyclic> length <each = 6> {
  }
  return
}

// -----

func.func @k(%n: index) attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32>>} {
  // expected-error @below {{expected chunks of at most 8 iterations, a multiple of 1, found #loops.chunk_length<each = 9> (loops_chunks3)}}
  loops.chunks (%i, %c) = %n to %n most 8 level <grid, cyclic> length <each = 9> {
  }
  return
}

// -----

// expected-error @below {{(C1) expected a positive number of iterations that stands alone, found each = -1}}
func.func private @each() attributes {length = #loops.chunk_length<each = -1>}

// -----

// expected-error @below {{expected positive numbers of iterations and tasks, found 0}}
func.func private @none() attributes {length = #loops.chunk_length<each = 0>}

// -----

// expected-error @below {{(C2) expected positive numbers of tasks and iterations, found tasks = 3 and full = 0}}
func.func private @full() attributes {length = #loops.chunk_length<tasks = 3, full = 0>}

// -----

// expected-error @below {{expected each, tasks or blocks, found 'some'}}
func.func private @some() attributes {length = #loops.chunk_length<some>}

// -----

func.func @k(%n: index, %x: memref<?x8xf32, strided<[?, 1], offset: ?>>) {
  // expected-error @below {{expected positive numbers of bytes for its 2 views, found aligned array<i64: 16> (loops_leaf8)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>) varies [true] outs(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>) aligned [16] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

// expected-error @below {{(C1) expected an offset in shared memory alone, a multiple of 16, found 16}}
func.func private @far() attributes {memory = #loops.memory<workspace, offset = 16>}

// -----

// expected-error @below {{(C1) expected an offset in shared memory alone, a multiple of 16, found 8}}
func.func private @uneven() attributes {memory = #loops.memory<shared, offset = 8>}

// -----

// expected-error @below {{(C1) expected bytes that warps have, and no fewer in all, found warps = 64 and bytes = 32}}
func.func private @warps() attributes {shared = #loops.shared<bytes = 32, warps = 64>}

// -----

// expected-error @below {{expected shared memory of a kernel of thread blocks, found no loops.grid (loops_grid6)}}
func.func @k() attributes {loops.kernel, loops.shared = #loops.shared<bytes = 64, warps = 64>} {
  return
}

// -----

// expected-error @below {{(C1) expected the number of a value, or operands or sums in shared memory, found sums in workspace}}
func.func private @sums() attributes {place = #loops.place<sums in workspace, bytes = 256>}

// -----

// expected-error @below {{(C2) expected an offset in shared memory alone, a multiple of 16, found 24}}
func.func private @offset() attributes {place = #loops.place<value = 0 in shared at 24, bytes = 16>}

// -----

// expected-error @below {{(C3) expected bytes of its own, a multiple of 16, but where it lies in an output, found 0}}
func.func private @bytes() attributes {place = #loops.place<value = 0 in workspace>}

// -----

// expected-error @below {{(C4) expected the number of an output, and that alone, found 1}}
func.func private @output() attributes {place = #loops.place<value = 0 in shared = 1 at 16, bytes = 16>}

// -----

func.func @k(%n: index, %x: memref<?x8xf32, strided<[?, 1], offset: ?>>) {
  // expected-error @below {{expected #loops.place of values in their order, of operands, of sums, each once, found #loops.place<value = 0 in workspace, bytes = 256> (loops_leaf9)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>) varies [true] outs(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>)
      places [#loops.place<operands in shared at 0, bytes = 16>, #loops.place<value = 0 in workspace, bytes = 256>] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x8xf32, strided<[?, 1], offset: ?>>) {
  // expected-error @below {{expected what threads compute (#tile.nest), or unit, for each of its 1 layouts, found [unit, unit] (loops_leaf10)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>) varies [true] outs(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>)
      layouts [#etdg.tiling<>] nests [unit, unit] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x8xf32, strided<[?, 1], offset: ?>>) {
  // expected-error @below {{expected one of its 1 outputs, found #loops.place<value = 0 in output = 1> (loops_leaf9)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>) varies [true] outs(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>)
      places [#loops.place<value = 0 in output = 1>] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}
