// RUN: ft-opt %s --split-input-file --verify-diagnostics

// expected-error @below {{has lengths, buffers, strides, launches and variants alone (loops_program1)}}
loops.program @f lengths [] places [] {
  // expected-note @below {{found 'arith.constant' here}}
  %c = arith.constant 0 : index
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected one of the program's lengths ["N"], found "M" (loops_length1)}}
  %m = loops.length "M"
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{arguments and results have an index, others have none (loops_buffer1)}}
  %x = loops.buffer argument : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{constants and splats have a value, others have none (loops_buffer2)}}
  %x = loops.buffer splat : <[], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected planes for 1 lengths, found 2 (loops_buffer3)}}
  %x = loops.buffer intermediate planes [0, 2] : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{only intermediates have a slot, and none is negative (loops_buffer4)}}
  %x = loops.buffer result 0 slot 1 : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  %x = loops.buffer argument 0 {strided = 1} : <[N, N], tensor<4xf32>>
  // expected-error @below {{expected one of the argument's 1 strided dimensions, found 1 (loops_stride1)}}
  %s = loops.stride %x[1] : <[N, N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{only intermediates have a slot, and none is negative (loops_buffer4)}}
  %x = loops.buffer intermediate slot -1 : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{only arguments have a name and strides (loops_buffer5)}}
  %x = loops.buffer result 0 {name = "y"} : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected strides of at most 1 dimensions, found 2 (loops_buffer5)}}
  %x = loops.buffer argument 0 {strided = 2} : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected the caller's dimensions in order, array<i64: ...> for each of 1 with strides, found [array<i64: 1>] (loops_buffer6)}}
  %x = loops.buffer argument 0 {strided = 1, strides = [array<i64: 1>]} : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected a buffer of depth 0 with the value of 'f32', found '!etdg.buffer<[], tensor<4xf32>>' with 1 : i32 (loops_buffer7)}}
  %x = loops.buffer splat value(1 : i32) : <[], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected a buffer of depth 0 with the value of 'tensor<4xf32>', found}}
  %x = loops.buffer constant value(dense<1.0> : tensor<2xf32>) : <[], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  %x = loops.buffer argument 0 : <[N], tensor<4xf32>>
  // expected-error @below {{expected arguments numbered from 0 on, each one once; found number 2 in the place of 1 (loops_program2)}}
  %y = loops.buffer argument 2 : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  %x = loops.buffer result 0 : <[N], tensor<4xf32>>
  // expected-error @below {{expected results numbered from 0 on, each one once; found number 0 in the place of 1 (loops_program2)}}
  %y = loops.buffer result 0 : <[N], tensor<4xf32>>
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected a buffer over the program's lengths ["N"], found "M" (loops_program3)}}
  %x = loops.buffer argument 0 : <[M], tensor<4xf32>>
}

// -----

// expected-error @below {{expected bounds over the program's lengths ["N"], found "M" (loops_program3)}}
loops.program @f lengths ["N"] places [] attributes {bounds = #ft.bounds<"M >= 1">} {
}

// -----

// expected-error @below {{expected checks {holds = #ft.bounds<...>, because = "..."}, with a place (at = loc(...)) or without, found {because = "it is so"} (loops_program4)}}
loops.program @f lengths ["N"] places [] attributes {checks = [{because = "it is so"}]} {
}

// -----

// expected-error @below {{expected pairs of an argument's and a result's number, no result twice, found in_place = array<i64: 0, 1> (loops_program5)}}
loops.program @f lengths ["N"] places [] attributes {in_place = array<i64: 0, 1>} {
  %x = loops.buffer argument 0 : <[N], tensor<4xf32>>
  %y = loops.buffer result 0 : <[N], tensor<4xf32>>
}

// -----

// expected-error @below {{expected places that are locations, found "here" (loops_program6)}}
loops.program @f lengths ["N"] places ["here"] {
}

// -----

// expected-error @below {{expected at least one SM, found units = 0}}
loops.program @f lengths ["N"] places [] for <target = "sm_90a", machine = "h200", units = 0> {
}

// -----

// expected-error @below {{expected the target of a GPU, found none}}
loops.program @f lengths ["N"] places [] for <target = "", machine = "h200", units = 1> {
}

// -----

func.func @k(%n: index) { return }
loops.program @f lengths ["N"] places [] {
  %n = loops.length "N"
  // expected-error @below {{expected a function with the attribute loops.kernel, found a function without: k (loops_launch1)}}
  loops.launch @k(%n) : index
}

// -----

// expected-note @below {{the kernel is here}}
func.func @k(%x: memref<?xf16>) attributes {loops.kernel} { return }
loops.program @f lengths ["N"] places [] {
  %x = loops.buffer argument 0 : <[N], tensor<4xf32>>
  // expected-error @below {{argument 0 is given as 'memref<?xf32>', the kernel takes 'memref<?xf16>' (loops_launch2)}}
  loops.launch @k(%x) : !etdg.buffer<[N], tensor<4xf32>>
}

// -----

func.func @k(%n: index) {
  // expected-error @below {{expected positive sizes of chunks, found most 0 (loops_chunks1)}}
  loops.chunks (%i, %c) = %n to %n most 0 level <core, dynamic> {
  }
  return
}

// -----

func.func @k(%n: index) {
  // expected-error @below {{expected a body of two indices, the first iteration and their number (loops_chunks2)}}
  "loops.chunks"(%n, %n) <{level = #loops.level<core>, most = 4 : i64}> ({
  ^bb0(%i: index):
    loops.yield
  }) : (index, index) -> ()
  return
}

// -----

func.func @k(%n: index) {
  // expected-error @below {{expected a parallel loop after it (loops_weight1)}}
  loops.weight %n
  return
}

// -----

func.func @k(%n: index) {
  // expected-note @below {{this loop is dealt to them}}
  scf.forall (%i) = (0) to (%n) step (1) {
    // expected-error @below {{units can't wait inside of what one of them runs (loops_sync1)}}
    loops.sync cores
  } {mapping = [#loops.level<core, block>]}
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32>) {
  // expected-error @below {{expected 1 views of inputs and 1 of outputs, found 1 and 0 (loops_leaf1)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x4xf32>) varies [true] {
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32>) {
  // expected-error @below {{view 0 is 'memref<?x4xf32>', which does not hold rows of 'tensor<5xf32>' (loops_leaf2)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x4xf32>) varies [true] outs(%x : memref<?x4xf32>) {
  ^bb0(%a: tensor<5xf32>):
    %b = tensor.empty() : tensor<4xf32>
    loops.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32>) {
  %l = loops.list most 4 : !loops.list<tensor<4xf32>>
  // expected-error @below {{(loops_leaf3)}}
  loops.leaf rows(%n) most 4 list(%l : !loops.list<tensor<4xf32>>) varies [true] {
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32>) {
  // expected-error @below {{expected a positive number of rows, found most 0 (loops_leaf4)}}
  loops.leaf rows(%n) most 0 ins(%x : memref<?x4xf32>) varies [true] outs(%x : memref<?x4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @k() {
  // expected-error @below {{expected a positive number of rows, found most 0 (loops_list1)}}
  %l = loops.list most 0 : !loops.list<tensor<4xf32>>
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32>, %l: !loops.list<tensor<5xf32>>) {
  // expected-error @below {{view 0 is 'memref<?x4xf32>', which does not hold rows of 'tensor<5xf32>' (loops_append1)}}
  loops.append %l rows(%n) (%x : memref<?x4xf32>) : !loops.list<tensor<5xf32>>
  return
}

// -----

func.func @k(%n: index) {
  // expected-error @below {{expected the number of a place, found -1 (loops_bounded1)}}
  %i = loops.bounded %n below %n place -1
  return
}

// -----

// expected-error @below {{unknown attribute 'loops.colour'}}
func.func @k() attributes {loops.colour} { return }

// -----

func.func @k(%n: index, %x: memref<?x4xf32>) {
  // expected-error @below {{expected 1 to 4 columns of rows that no list holds, found a tile of 5 (loops_leaf5)}}
  loops.leaf rows(%n) most 4 columns(%n) tile 5 of 4 ins(%x : memref<?x4xf32>) varies [true] outs(%x : memref<?x4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32>) {
  // expected-error @below {{found a tile of 0 (loops_leaf5)}}
  loops.leaf rows(%n) most 4 columns(%n) tile 0 of 4 ins(%x : memref<?x4xf32>) varies [true] outs(%x : memref<?x4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @k(%n: index) {
  %l = loops.list most 4 : !loops.list<tensor<4xf32>, tensor<4xf32>>
  // expected-error @below {{found a tile of 2 and a list (loops_leaf5)}}
  loops.leaf rows(%n) most 4 list(%l : !loops.list<tensor<4xf32>, tensor<4xf32>>) columns(%n) tile 2 of 4 varies [true] {
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32>) {
  // expected-error @below {{expected a first column, a tile and a number of columns, or none of them (loops_leaf5)}}
  "loops.leaf"(%n, %n, %x, %x) <{columns = 4 : i64, most = 4 : i64, operandSegmentSizes = array<i32: 1, 0, 0, 1, 1, 1>, varies = array<i1: true>}> ({
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }) : (index, index, memref<?x4xf32>, memref<?x4xf32>) -> ()
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4xf32, strided<[?, ?], offset: ?>>, %y: memref<?x4xf32>) {
  // expected-error @below {{expected inputs at known distances inside of a row, found 'memref<?x4xf32, strided<[?, ?], offset: ?>>' (loops_leaf6)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x4xf32, strided<[?, ?], offset: ?>>) varies [true] outs(%y : memref<?x4xf32>) {
  ^bb0(%a: tensor<4xf32>):
    loops.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4x2xf32, strided<[?, 1, 4], offset: ?>>) {
  // expected-error @below {{expected outputs in order and without gaps, found 'memref<?x4x2xf32, strided<[?, 1, 4], offset: ?>>' (loops_leaf6)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x4x2xf32, strided<[?, 1, 4], offset: ?>>) varies [true] outs(%x : memref<?x4x2xf32, strided<[?, 1, 4], offset: ?>>) {
  ^bb0(%a: tensor<4x2xf32>):
    loops.yield %a : tensor<4x2xf32>
  }
  return
}

// -----

func.func @k(%n: index, %x: memref<?x4x2xf32, strided<[?, 1, 4], offset: ?>>) {
  %l = loops.list most 4 : !loops.list<tensor<4x2xf32>>
  // expected-error @below {{(loops_append1)}}
  loops.append %l rows(%n) (%x : memref<?x4x2xf32, strided<[?, 1, 4], offset: ?>>) : !loops.list<tensor<4x2xf32>>
  return
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected two variants at least, and a guard for each but the last, found 1 and 1 guards (loops_variants1)}}
  loops.variants [#etdg.guard<[N] below 16>] {
    %c = arith.constant 0 : index
  }
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{expected guards over the program's lengths ["N"], found "M" (loops_variants2)}}
  loops.variants [#etdg.guard<[M] below 16>] {
    %c = arith.constant 0 : index
  }, {
    %c = arith.constant 0 : index
  }
}

// -----

loops.program @f lengths ["N"] places [] {
  // expected-error @below {{has launches alone (loops_variants3)}}
  loops.variants [#etdg.guard<[N] below 16>] {
    // expected-note @below {{found 'arith.constant' here}}
    %c = arith.constant 0 : index
  }, {
    %d = arith.constant 1 : index
  }
}

// -----

// expected-error @below {{(C1) expected 1 to 32 rows, found 0}}
func.func private @rows() attributes {tile = #loops.product<rows = 0, columns = 8, vector = 8>}

// -----

// expected-error @below {{(C1) expected a vector of 1 to 64 elements, a power of two, found 12}}
func.func private @vector() attributes {tile = #loops.product<rows = 6, columns = 12, vector = 12>}

// -----

// expected-error @below {{(C2) expected columns that are a multiple of the vector's 8, found 12}}
func.func private @columns() attributes {tile = #loops.product<rows = 6, columns = 12, vector = 8>}

// -----

// expected-error @below {{(C2) expected a power of two of columns, at most the vector's 4, found 8}}
func.func private @folded() attributes {tile = #loops.product<rows = 2, columns = 8, vector = 4, along_terms>}

// -----

// expected-error @below {{(C3) expected no panel and no block with along_terms, nor negative ones, found 24 and 0}}
func.func private @panel() attributes {tile = #loops.product<rows = 2, columns = 4, vector = 4, along_terms, panel = 24>}

// -----

// expected-error @below {{(C3) expected no block where all calls copy columns (panel = 1), found 32}}
func.func private @block() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, panel = 1, block = 32>}

// -----

// expected-error @below {{expected along_terms, row_loop, rests, join, panel, block, ahead, line, ahead_rows, each_row, pack_left, pack_right, outlined or written_out, found 'unroll'}}
func.func private @unknown() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, unroll = 2>}

// -----

// expected-error @below {{(C3) expected nothing ahead with along_terms, nor a negative number of terms, found -1}}
func.func private @ahead() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, ahead = -1>}

// -----

// expected-error @below {{(C3) expected no operand that is packed with along_terms}}
func.func private @packed() attributes {tile = #loops.product<rows = 2, columns = 4, vector = 4, along_terms, pack_right>}

// -----

// expected-error @below {{(C4) expected rests of 1 to 5 rows after tiles of 6, found 6}}
func.func private @rests() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, rests = [6]>}

// -----

// expected-error @below {{(C4) expected rests of 1 to 3 rows after tiles of 4, found 4}}
func.func private @again() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, rests = [4, 4]>}

// -----

// expected-error @below {{(C4) expected fewer than 6 rows that join the last tile, found 6}}
func.func private @join() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, join = 6>}

// -----

// expected-error @below {{(C5) expected the columns of a line where some are asked for ahead, and there alone, found 0 and 4 rows}}
func.func private @line() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, ahead = 3, ahead_rows = 4>}

// -----

// expected-error @below {{(C5) expected the columns of a line where some are asked for ahead, and there alone, found 16 and 0 rows}}
func.func private @lines() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, line = 16>}

// -----

// expected-error @below {{(C1) expected the number of a value, and an offset that is a multiple of 64, found 0 and 32}}
func.func private @offset() attributes {place = #loops.scratch<value = 0, row, offset = 32, bytes = 64>}

// -----

// expected-error @below {{(C1) expected bytes that are a multiple of 64, found 0}}
func.func private @bytes() attributes {place = #loops.scratch<value = 0, rows, offset = 64, bytes = 0>}

// -----

func.func @scratch(%n: index, %x: memref<?x8xf32, strided<[?, 1], offset: ?>>) {
  // expected-error @below {{expected #loops.scratch of values after 1, found #loops.scratch<value = 1, once, offset = 64, bytes = 64> (loops_leaf7)}}
  loops.leaf rows(%n) most 4 ins(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>) varies [true] outs(%x : memref<?x8xf32, strided<[?, 1], offset: ?>>) scratch [#loops.scratch<value = 1, once, offset = 0, bytes = 64>, #loops.scratch<value = 1, once, offset = 64, bytes = 64>] {
  ^bb0(%a: tensor<8xf32>):
    loops.yield %a : tensor<8xf32>
  }
  return
}

// -----

// expected-error @below {{(C1) expected a vector of 1 to 64 elements, a power of two, 1 without a loop, found 8}}
func.func private @scalars() attributes {tile = #loops.lanes<loop = -1, vector = 8, beside = 1>}

// -----

// expected-error @+1 {{(C4) expected one or two rests of a matrix that is turned, #loops.lanes that turn nothing, found []}}
func.func private @untaken() attributes {tile = #loops.lanes<loop = 0, vector = 8, beside = 1, turned = 1, rests = []>}

// -----

// expected-error @+1 {{(C1) expected the number of a loop nest, found -1}}
func.func private @joined() attributes {tile = #loops.joined<with = -1>}

// -----

// expected-error @+1 {{(C6) expected the number of a loop as row_loop, found -2}}
func.func private @rowloop() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, row_loop = -2>}

// -----

// expected-error @+1 {{(C6) expected no terms that are written_out with along_terms, a block, or panel = 1}}
func.func private @written() attributes {tile = #loops.product<rows = 6, columns = 8, vector = 8, block = 32, written_out>}

// -----

// expected-error @below {{(C1) expected the number of a loop, or -1, found -2}}
func.func private @loop() attributes {tile = #loops.lanes<loop = -2, vector = 8, beside = 1>}

// -----

// expected-error @below {{(C2) expected 1 to 16 vectors beside each other, found 0}}
func.func private @beside() attributes {tile = #loops.lanes<loop = 0, vector = 8, beside = 0>}

// -----

func.func @staged(%m: memref<?xf32>) {
  // expected-error @below {{expected a positive number of iterations of the loop in which it stands, found 2 in 'func.func' (loops_staged1)}}
  loops.staged %m ahead 2 : memref<?xf32>
  return
}

// -----

func.func @commit() {
  // expected-error @below {{expected a kernel of thread blocks (loops.grid) around it (loops_commit1)}}
  loops.commit
  return
}

// -----

func.func @groups() attributes {loops.kernel, loops.grid = #loops.grid<block = <threads = 32, shared = 4096>>} {
  // expected-error @below {{expected a number of groups that is not negative, found -1 (loops_wait1)}}
  loops.wait -1
  return
}

// -----

// expected-error @below {{(C2) expected swizzled memory at a multiple of 128 bytes of shared memory, found 16}}
func.func private @swizzled() attributes {memory = #loops.memory<shared, offset = 16, swizzled>}

// -----

// expected-error @below {{expected 'offset'}}
func.func private @nowhere() attributes {memory = #loops.memory<workspace, swizzled>}

// -----

// expected-error @below {{(C5) expected what is swizzled to be a value in shared memory, at and of multiples of 128 bytes, found 256 and 160}}
func.func private @lines() attributes {place = #loops.place<value = 0 in shared at 256, bytes = 160, swizzled>}

// -----

// expected-error @below {{(C5) expected what is swizzled to be a value in shared memory, at and of multiples of 128 bytes, found 256 and 1024}}
func.func private @operands() attributes {place = #loops.place<operands in shared at 256, bytes = 1024, swizzled>}

// -----

// expected-error @+1 {{'shares' is 'block' now}}
func.func private @old() attributes {level = #loops.level<core, shares>}

// -----

// expected-error @+1 {{the mapping of iterations to level grid is cyclic, block or static, found dynamic}}
func.func private @unmapped() attributes {level = #loops.level<grid, dynamic>}
