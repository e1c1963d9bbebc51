// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What verifiers refuse, by the number of the constraint.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{(L1) expected two positive numbers for rows and columns each, found vector = [1], threads = [4, 8]}}
llvm.func @layout() attributes {l = #tile.blocked<vector = [1], threads = [4, 8]>}

// -----

// expected-error @+1 {{(L2) expected two positive numbers that divide those of the threads, found threads = [4, 8], warp = [3, 8]}}
llvm.func @warp() attributes {l = #tile.blocked<vector = [1, 1], threads = [4, 8], warp = [3, 8]>}

// -----

// expected-error @+1 {{(P1) expected two positive numbers each, 'thread' dividing 'block'; found block = [64, 64], thread = [8, 3]}}
llvm.func @thread() attributes {l = #tile.product<block = [64, 64], thread = [8, 3], step = 16, stages = 2>}

// -----

// expected-error @+1 {{(P2) expected a power of two of terms in a step, at least one stage and no negative number of fused nests; found step = 12, stages = 2, fused = 0}}
llvm.func @step() attributes {l = #tile.product<block = [64, 64], thread = [8, 8], step = 12, stages = 2>}

// -----

// expected-error @+1 {{(M1) expected a power of two of adjacent elements and two positive numbers of threads, found width = 3, threads = [4, 8]}}
llvm.func @move() attributes {l = #tile.move<width = 3, threads = [4, 8]>}

// -----

// expected-error @+1 {{(P4) expected a result of which each thread has [8, 8] elements of [64, 64], found #tile.blocked<vector = [4, 4], threads = [8, 4]>}}
llvm.func @result() attributes {l = #tile.product<block = [64, 64], thread = [8, 8], step = 16, stages = 2, result = #tile.blocked<vector = [4, 4], threads = [8, 4]>, lhs = #tile.move<width = 4, threads = [4, 8]>, rhs = #tile.move<width = 4, threads = [4, 8]>>}

// -----

// expected-error @+1 {{(P4) fragments lie in a warp as vector = [1, 2], warp = [8, 4], found #tile.blocked<vector = [2, 2], threads = [16, 16]>}}
llvm.func @fragments() attributes {l = #tile.product<block = [64, 64], thread = [4, 4], step = 16, stages = 2, mma, result = #tile.blocked<vector = [2, 2], threads = [16, 16]>, lhs = #tile.move<width = 4, threads = [4, 8]>, rhs = #tile.move<width = 4, threads = [4, 8]>>}

// -----

// expected-error @+1 {{(R2) the layout spans 16 columns, which do not divide 24}}
llvm.func @spans(!tile.registers<16x24xf32, #tile.blocked<vector = [1, 2], threads = [4, 8]>>)

// -----

// expected-error @+1 {{(R1) expected a matrix of integers or floats, found 16x24x2xf32}}
llvm.func @rank(!tile.registers<16x24x2xf32, #tile.blocked<vector = [1, 2], threads = [4, 8]>>)

// -----

// expected-error @+1 {{(S1) expected a matrix of integers or floats of whole bytes, found 8x8xi1}}
llvm.func @bits(!tile.shared<8x8xi1, pad = 0, stages = 1>)

// -----

// expected-error @+1 {{(S2) expected pad >= 0 and stages >= 1, found pad = 0, stages = 0}}
llvm.func @stages(!tile.shared<8x8xf32, pad = 0, stages = 0>)

// -----

// expected-error @+1 {{(V1) expected elements that are integers or floats of whole bytes, found 'index'}}
llvm.func @digits(!tile.view<index, [4], [8]>)

// -----

// expected-error @+1 {{(V2) sizes of digits are at least 1, the first may be -1; found -1}}
llvm.func @open(!tile.view<f32, [8, -1], [8]>)

// -----

// expected-error @+1 {{(V3) expected a step of a border for each of 2 digits, found 3}}
llvm.func @border(!tile.view<f32, [8], [8] borders[<steps = [1, 1, 0], size = 8>]>)

// -----

// expected-error @+1 {{(B1) expected memory inside of a border, found size = 0}}
llvm.func @nothing() attributes {l = #tile.border<steps = [1, 1], size = 0>}

// -----

llvm.func @begins(%p: !llvm.ptr, %i: i64) {
  // expected-error @+1 {{(4) the type has 1 borders, found 0 indices along them}}
  %v = tile.view %p strides(%i, %i) : !llvm.ptr -> !tile.view<f32, [8], [8] borders[<steps = [1, 1], size = 8>]>
  llvm.return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @cut(%v: !tile.view<f32, [8], [16] borders[<steps = [0, 1], size = 9>]>, %i: i64) {
  // expected-error @+1 {{(2) expected accesses of one side of each border, found width 2}}
  %t = tile.load %v[%i, %i] {width = 2 : i64} : !tile.view<f32, [8], [16] borders[<steps = [0, 1], size = 9>]> -> !tile.registers<16x16xf32, #l>
  return
}

// -----

#l = #tile.blocked<vector = [1, 4], threads = [8, 4]>
func.func @cut_copy(%v: !tile.view<f32, [8], [2, 6] borders[<steps = [1, 1, 0], size = 9>]>, %s: !tile.shared<8x32xf32, pad = 0, stages = 2>, %i: i64) {
  // expected-error @+1 {{(4) expected accesses of one side of each border, found 4 elements in one}}
  tile.copy %v[%i, %i], %s[%i] {layout = #l} : !tile.view<f32, [8], [2, 6] borders[<steps = [1, 1, 0], size = 9>]>, !tile.shared<8x32xf32, pad = 0, stages = 2>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @written(%v: !tile.view<f32, [8], [16] borders[<steps = [0, 1], size = 9>]>, %t: !tile.registers<16x16xf32, #l>, %i: i64) {
  // expected-error @+1 {{(3) expected a matrix without borders}}
  tile.store %t, %v[%i, %i] : !tile.registers<16x16xf32, #l>, !tile.view<f32, [8], [16] borders[<steps = [0, 1], size = 9>]>
  return
}

// -----

llvm.func @strides(%p: !llvm.ptr<1>, %i: i64) {
  // expected-error @+1 {{(1) expected a stride for each of 3 digits, found 2}}
  %v = tile.view %p strides(%i, %i) : !llvm.ptr<1> -> !tile.view<f32, [8, 4], [16], space = 1>
  llvm.return
}

// -----

llvm.func @sizes(%p: !llvm.ptr<1>, %i: i64) {
  // expected-error @+1 {{(2) the type leaves 1 sizes open, found 0}}
  %v = tile.view %p strides(%i, %i) : !llvm.ptr<1> -> !tile.view<f32, [-1], [16], space = 1>
  llvm.return
}

// -----

llvm.func @space(%p: !llvm.ptr<1>, %i: i64) {
  // expected-error @+1 {{(3) expected a pointer to the type's space 0, found space 1}}
  %v = tile.view %p strides(%i, %i) : !llvm.ptr<1> -> !tile.view<f32, [8], [16]>
  llvm.return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @load(%v: !tile.view<f16, [8], [16]>, %i: i64) {
  // expected-error @+1 {{(1) expected one type of elements, found 'f32' and 'f16'}}
  %t = tile.load %v[%i, %i] : !tile.view<f16, [8], [16]> -> !tile.registers<16x16xf32, #l>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @width(%v: !tile.view<f32, [8], [16]>, %i: i64) {
  // expected-error @+1 {{(2) expected a width that is a power of two, divides the layout's 2 adjacent columns and takes at most 16 bytes; found 4}}
  %t = tile.load %v[%i, %i] {width = 4 : i64} : !tile.view<f32, [8], [16]> -> !tile.registers<16x16xf32, #l>
  return
}

// -----

#l = #tile.blocked<vector = [1, 8], threads = [8, 4]>
func.func @copy(%v: !tile.view<f32, [8], [16]>, %s: !tile.shared<8x32xf32, pad = 0, stages = 2>, %i: i64) {
  // expected-error @+1 {{(2) expected adjacent elements of one row, a power of two that divides the tile's rows and what is free after them and takes at most 16 bytes; found vector = [1, 8]}}
  tile.copy %v[%i, %i], %s[%i] {layout = #l} : !tile.view<f32, [8], [16]>, !tile.shared<8x32xf32, pad = 0, stages = 2>
  return
}

// -----

#l = #tile.blocked<vector = [1, 4], threads = [8, 4]>
func.func @async(%v: !tile.view<f32, [8], [16], space = 3>, %s: !tile.shared<8x32xf32, pad = 0, stages = 2>, %i: i64) {
  // expected-error @+1 {{(3) asynchronous accesses are of 4, 8 or 16 bytes of global memory (space = 1), found 16 bytes and space = 3}}
  tile.copy %v[%i, %i], %s[%i] {layout = #l, async} : !tile.view<f32, [8], [16], space = 3>, !tile.shared<8x32xf32, pad = 0, stages = 2>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @mma(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x8xf32, pad = 4, stages = 1>, %i: i64) {
  // expected-error @+1 {{(1) expected tiles of m x n, m x k and k x n, found 16 x 16, 16 x 8 and 16 x 8}}
  %d = tile.mma %c, %s[%i], %s[%i] : !tile.registers<16x16xf32, #l>, !tile.shared<16x8xf32, pad = 4, stages = 1>, !tile.shared<16x8xf32, pad = 4, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @wide(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf64, pad = 4, stages = 1>, %i: i64) {
  // expected-error @+1 {{(2) expected operands that extend to the accumulator's 'f32', found 'f64'}}
  %d = tile.mma %c, %s[%i], %s[%i] : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf64, pad = 4, stages = 1>, !tile.shared<16x16xf64, pad = 4, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @map(%c: !tile.registers<16x16xf32, #l>) {
  // expected-error @+1 {{(2) expected a body from elements of the operands to elements of the results}}
  %d = tile.map(%c) : (!tile.registers<16x16xf32, #l>) -> !tile.registers<16x16xf16, #l> {
  ^bb0(%x: f32):
    tile.yield %x : f32
  }
  return
}

// -----

// expected-error @+1 {{(P3) expected even rows and columns for each thread, threads in multiples of 8 x 4 and at least 16 terms in a step for mma; found block = [64, 64], thread = [4, 8], step = 8}}
llvm.func @terms() attributes {l = #tile.product<block = [64, 64], thread = [4, 8], step = 8, stages = 2, mma>}

// -----

// expected-error @+1 {{(P3) expected even rows and columns for each thread, threads in multiples of 8 x 4 and at least 16 terms in a step for mma; found block = [64, 64], thread = [1, 32], step = 16}}
llvm.func @rows() attributes {l = #tile.product<block = [64, 64], thread = [1, 32], step = 16, stages = 2, mma>}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [8, 4], warp = [8, 4]>
func.func @types(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf32, pad = 4, stages = 1>, %i: i64) {
  // expected-error @+1 {{(3) fragments are of f16 or bf16 and add up to f32, found 'f32', 'f32' and 'f32'}}
  %d = tile.mma %c, %s[%i], %s[%i] {fragments} : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf32, pad = 4, stages = 1>, !tile.shared<16x16xf32, pad = 4, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @lanes(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf16, pad = 8, stages = 1>, %i: i64) {
  // expected-error @+1 {{(3) fragments need a layout of vector = [1, 2] and warp = [8, 4] and an even number of rows for each thread, found #tile.blocked<vector = [1, 2], threads = [4, 8]> with 4 rows}}
  %d = tile.mma %c, %s[%i], %s[%i] {fragments} : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf16, pad = 8, stages = 1>, !tile.shared<16x16xf16, pad = 8, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [8, 4], warp = [8, 4]>
func.func @stride(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf16, pad = 4, stages = 1>, %i: i64) {
  // expected-error @+1 {{(3) fragments are read from rows that begin at multiples of 16 bytes, found 40}}
  %d = tile.mma %c, %s[%i], %s[%i] {fragments} : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf16, pad = 4, stages = 1>, !tile.shared<16x16xf16, pad = 4, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [8, 4], warp = [8, 4]>
func.func @reduce_body(%c: !tile.registers<16x16xf32, #l>, %z: f32) {
  // expected-error @+1 {{(1) expected a body that combines two elements of 'f32'}}
  %d = tile.reduce %c neutral %z columns 16 : !tile.registers<16x16xf32, #l> {
  ^bb0(%a: f32, %b: f64):
    tile.yield %a : f32
  }
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [8, 8], warp = [8, 4]>
func.func @reduce_warps(%c: !tile.registers<16x16xf32, #l>, %z: f32) {
  // expected-error @+1 {{(2) expected rows that are shared by a power of two of neighbouring threads, at most 32 of one warp, found #tile.blocked<vector = [1, 2], threads = [8, 8], warp = [8, 4]>}}
  %d = tile.reduce %c neutral %z columns 16 : !tile.registers<16x16xf32, #l> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [8, 4]>
func.func @reduce_columns(%c: !tile.registers<16x16xf32, #l>, %z: f32) {
  // expected-error @+1 {{(3) expected 1 to 16 columns, found 17}}
  %d = tile.reduce %c neutral %z columns 17 : !tile.registers<16x16xf32, #l> {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  }
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [8, 4]>
func.func @reduce_bits(%c: !tile.registers<16x16xi1, #l>, %z: i1) {
  // expected-error @+1 {{(4) expected elements of 8, 16, 32 or 64 bits, found 'i1'}}
  %d = tile.reduce %c neutral %z columns 16 : !tile.registers<16x16xi1, #l> {
  ^bb0(%a: i1, %b: i1):
    tile.yield %a : i1
  }
  return
}

// -----

// expected-error @+1 {{(P6) expected no nests of its own after a product that is joined, found fused = 1}}
llvm.func @joined() attributes {l = #tile.product<block = [64, 64], thread = [8, 8], step = 16, stages = 2, joined, fused = 1>}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
llvm.func @concat(%x: f32) {
  %a = tile.splat %x : f32 -> !tile.registers<16x32xf32, #l>
  // expected-error @+1 {{(1) expected tiles of one type and a result with all their columns}}
  %b = tile.concat %a, %a : !tile.registers<16x32xf32, #l>, !tile.registers<16x32xf32, #l> -> !tile.registers<16x32xf32, #l>
  llvm.return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
llvm.func @part(%x: f32) {
  %a = tile.splat %x : f32 -> !tile.registers<16x64xf32, #l>
  // expected-error @+1 {{(1) expected columns that divide those of the operand, and else its type}}
  %b = tile.part %a[0] : !tile.registers<16x64xf32, #l> -> !tile.registers<16x32xf16, #l>
  llvm.return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
llvm.func @number(%x: f32) {
  %a = tile.splat %x : f32 -> !tile.registers<16x64xf32, #l>
  // expected-error @+1 {{(2) expected a number less than the 2 parts, found 2}}
  %b = tile.part %a[2] : !tile.registers<16x64xf32, #l> -> !tile.registers<16x32xf32, #l>
  llvm.return
}

// -----

// expected-error @+1 {{(P6) expected a product that is joined to go on with the sums of another one (carried)}}
llvm.func @carried() attributes {l = #tile.product<block = [64, 64], thread = [8, 8], step = 16, stages = 2, carried>}

// -----

// expected-error @+1 {{(D1) expected powers of two of terms and of elements in an access, found terms = 3, lhs = 1, rhs = 1}}
llvm.func @reads() attributes {l = #tile.reads<terms = 3, lhs = 1, rhs = 1>}

// -----

// expected-error @+1 {{(P7) expected 'reads' and 'accesses' beside the 'result' of a product that is not joined, and there alone}}
llvm.func @reads_joined() attributes {l = #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, joined, result = #tile.blocked<vector = [4, 4], threads = [16, 8]>, lhs = #tile.move<width = 4, threads = [16, 8]>, rhs = #tile.move<width = 1, threads = [2, 64]>, accesses = [4]>}

// -----

// expected-error @+1 {{(P7) expected no 'reads' with mma, which reads fragments; found #tile.reads<terms = 1, lhs = 1, rhs = 1>}}
llvm.func @reads_fragments() attributes {l = #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, mma, result = #tile.blocked<vector = [1, 2], threads = [16, 8], warp = [8, 4]>, lhs = #tile.move<width = 4, threads = [16, 8]>, rhs = #tile.move<width = 1, threads = [2, 64]>, reads = #tile.reads<terms = 1, lhs = 1, rhs = 1>>}

// -----

// expected-error @+1 {{(P7) expected accesses of 0 elements, or of a power of two that divides the result's 4 adjacent columns; found accesses = [4, 8]}}
llvm.func @accesses() attributes {l = #tile.product<block = [64, 64], thread = [4, 8], step = 32, stages = 2, result = #tile.blocked<vector = [4, 4], threads = [16, 8]>, lhs = #tile.move<width = 4, threads = [16, 8]>, rhs = #tile.move<width = 1, threads = [2, 64]>, accesses = [4, 8]>}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @mma_terms(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf32, pad = 4, stages = 1>, %i: i64) {
  // expected-error @+1 {{(4) expected terms that divide the tiles' 16, found #tile.reads<terms = 32, lhs = 4, rhs = 2>}}
  %d = tile.mma %c, %s[%i], %s[%i] {reads = #tile.reads<terms = 32, lhs = 4, rhs = 2>} : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf32, pad = 4, stages = 1>, !tile.shared<16x16xf32, pad = 4, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @mma_columns(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf32, pad = 4, stages = 1>, %i: i64) {
  // expected-error @+1 {{(4) rhs: expected an access of at most 16 bytes that divides the layout's adjacent elements, 2, and what separates rows in shared memory, 20; found 4}}
  %d = tile.mma %c, %s[%i], %s[%i] {reads = #tile.reads<terms = 4, lhs = 4, rhs = 4>} : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf32, pad = 4, stages = 1>, !tile.shared<16x16xf32, pad = 4, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
func.func @mma_rows(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf32, pad = 1, stages = 1>, %i: i64) {
  // expected-error @+1 {{(4) lhs: expected an access of at most 16 bytes that divides the terms, 4, and what separates rows in shared memory, 17; found 4}}
  %d = tile.mma %c, %s[%i], %s[%i] {reads = #tile.reads<terms = 4, lhs = 4, rhs = 1>} : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf32, pad = 1, stages = 1>, !tile.shared<16x16xf32, pad = 1, stages = 1>
  return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [8, 4], warp = [8, 4]>
func.func @mma_fragments(%c: !tile.registers<16x16xf32, #l>, %s: !tile.shared<16x16xf16, pad = 8, stages = 1>, %i: i64) {
  // expected-error @+1 {{(4) expected nothing of 'reads' beside fragments, which are read as they lie}}
  %d = tile.mma %c, %s[%i], %s[%i] {fragments, reads = #tile.reads<terms = 4, lhs = 4, rhs = 1>} : !tile.registers<16x16xf32, #l>, !tile.shared<16x16xf16, pad = 8, stages = 1>, !tile.shared<16x16xf16, pad = 8, stages = 1>
  return
}

// -----

// Numbers whose products leave 64 bits: this layout's span was 0.
// expected-error @+1 {{(L3) expected numbers of at most 1048576, found 4611686018427387904}}
llvm.func @span() attributes {l = #tile.blocked<vector = [4611686018427387904, 1], threads = [16, 8]>}

// -----

// expected-error @+1 {{(L3) expected numbers of at most 1048576, found 2097152}}
llvm.func @repeated() attributes {l = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [2097152, 1]>}

// -----

// expected-error @+1 {{(L4) expected two positive numbers beside 'warp', found repeat = [0, 1]}}
llvm.func @no_repeat() attributes {l = #tile.blocked<vector = [1, 2], threads = [64, 4], warp = [8, 4], repeat = [0, 1]>}

// -----

// expected-error @+1 {{(M2) expected numbers of at most 1048576, found 4611686018427387904}}
llvm.func @move() attributes {l = #tile.move<width = 4611686018427387904, threads = [4, 8]>}

// -----

// expected-error @+1 {{(P8) expected numbers of at most 1048576, found 9223372036854775807}}
llvm.func @fused() attributes {l = #tile.product<block = [64, 64], thread = [8, 8], step = 16, stages = 2, fused = 9223372036854775807>}

// -----

// expected-error @+1 {{(R3) expected at most 65536 elements for each thread, found 1048576 x 1048576 by #tile.blocked<vector = [1, 1], threads = [16, 8]>}}
llvm.func @own(!tile.registers<1048576x1048576xf32, #tile.blocked<vector = [1, 1], threads = [16, 8]>>)

// -----

// expected-error @+1 {{(S3) expected numbers of at most 1048576, found 9223372036854775807}}
llvm.func @pad(!tile.shared<8x8xf32, pad = 9223372036854775807, stages = 1>)

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
llvm.func @numbers(%i: i64) {
  // expected-error @+1 {{(1) expected elements of i64, found 'i32'}}
  %a = tile.numbers %i along 0 : !tile.registers<16x64xi32, #l>
  llvm.return
}

// -----

#l = #tile.blocked<vector = [1, 2], threads = [4, 8]>
llvm.func @numbers_along(%i: i64) {
  // expected-error @+1 {{attribute 'along' failed to satisfy constraint}}
  %a = tile.numbers %i along 2 : !tile.registers<16x64xi64, #l>
  llvm.return
}

// -----

llvm.func @swizzled(%p: !llvm.ptr<1>, %s: i64) {
  // expected-error @below {{(V4) expected swizzled memory to be shared, of space 3, found space 1}}
  %v = tile.view %p strides(%s, %s) : !llvm.ptr<1> -> !tile.view<f16, [16], [64], space = 1, swizzled>
  llvm.return
}

// -----

llvm.func @swizzled_memory(%p: !llvm.ptr<1>) {
  // expected-error @below {{(4) expected swizzled memory to be shared, of space 3}}
  %m = tile.memory %p : !llvm.ptr<1> swizzled -> !tile.memory<f16>
  llvm.return
}

// -----

llvm.func @asked_twice(%n: i64) {
  %flag = tile.flag 0
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  scf.for %i = %zero to %n step %one : i64 {
    // expected-error @below {{expected no loop or branch around it, but a loop's first iteration: a kernel asks once, found 'scf.for'}}
    %again = tile.raised %flag
  }
  llvm.return
}

// -----

!a = !tile.shared<128x64xf16, swizzle = 128, stages = 1>
!channel = !tile.channel<[!a], slots = 4>

llvm.func @ahead_of_what(%memory: !llvm.ptr<3>) {
  %none = arith.constant 0 : i32
  %c = tile.channel %memory : !channel
  // expected-error @below {{(2) expected to stand in the loading role}}
  %l, %full = tile.ahead %c at %none : !channel -> !a
  llvm.return
}
