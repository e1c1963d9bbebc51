// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What verifiers refuse of rows in registers, by the number of the constraint.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{(W1) expected numbers of at least 1, 'lanes' and 'line' powers of two; found threads = 256, lanes = 12, width = 4, rows = 1, line = 1}}
llvm.func @lanes() attributes {l = #tile.row<threads = 256, lanes = 12, width = 4>}

// -----

// expected-error @+1 {{(W2) expected lanes of one warp of 32, or all threads of at most as many warps with one row at a time; found lanes = 64 of 256 threads with rows = 1}}
llvm.func @part() attributes {l = #tile.row<threads = 256, lanes = 64>}

// -----

// expected-error @+1 {{(W2) expected lanes of one warp of 32, or all threads of at most as many warps with one row at a time; found lanes = 64 of 64 threads with rows = 2}}
llvm.func @whole() attributes {l = #tile.row<threads = 64, lanes = 64, rows = 2>}

// -----

// expected-error @+1 {{(C1) expected elements that are integers or floats, 'i1' or of whole bytes; found 'index'}}
llvm.func @place() attributes {l = #tile.row_place<index, offset = 0, digits = [], step = 1>}

// -----

// expected-error @+1 {{(F1) expected a layout of rows, whole or sliced; found 1 : i64}}
llvm.func @layout(!tile.rows<8x64xf32, 1 : i64>)

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
// expected-error @+1 {{(F1) expected a number of rows and of their elements, in accesses of 4, of integers or floats; found [8, 66] of 'f32'}}
llvm.func @accesses(!tile.rows<8x66xf32, #row>)

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
// expected-error @+1 {{(F1) expected a number of rows, of integers or floats; found [8, 64] of 'f32'}}
llvm.func @value(!tile.rows<8x64xf32, #tile.sliced<of = #row>>)

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4, rows = 2>
// expected-error @+1 {{(F2) the layout has 16 rows at a time, found 8}}
llvm.func @rows(!tile.rows<8x64xf32, #row>)

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
// expected-error @+1 {{(Q1) expected numbers of at least 1 and a length in accesses of 4; found [0], 64}}
llvm.func @digits(!tile.points<[0], 64, #row>)

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
// expected-error @+1 {{(Q2) what is shifted has lines of more than one access}}
llvm.func @shifted(!tile.points<[], 64, #row, shifted>)

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
llvm.func @masked(%t: i32) {
  // expected-error @+1 {{(1) expected one row for each group of lanes, neither masked nor shifted}}
  %l = tile.lanes %t : !tile.points<[], 64, #row, masked>
  llvm.return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
func.func @other(%l: !tile.points<[], 64, #row>, %i: i64) {
  // expected-error @+1 {{(1) expected the points and the layout of the lanes}}
  %p = tile.points %l from %i to %i : !tile.points<[], 64, #row> -> !tile.points<[2], 64, #row, masked>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
func.func @unmasked(%l: !tile.points<[], 64, #row>, %i: i64) {
  // expected-error @+1 {{(2) expected a mask if and only if there is more than one row at a time, found 8 rows}}
  %p = tile.points %l from %i to %i : !tile.points<[], 64, #row> -> !tile.points<[], 64, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 256, line = 32>
func.func @line(%l: !tile.points<[], 4099, #row>, %i: i64) {
  // expected-error @+1 {{(3) expected a pointer with a place of 0 digits, as rows are shifted}}
  %p = tile.points %l from %i to %i : !tile.points<[], 4099, #row> -> !tile.points<[], 4099, #row, shifted>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @element(%p: !p, %m: !llvm.ptr<1>) {
  // expected-error @+1 {{(1) expected rows of '!tile.points<[3], 64, #tile.row<threads = 256, lanes = 32, width = 4>, masked>' with elements of}}
  %x = tile.load_rows %p, %m at <f16, offset = 0, digits = [64], step = 1> : !p, !llvm.ptr<1> -> !tile.rows<8x64xf32, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @step(%p: !p, %m: !llvm.ptr<1>) {
  // expected-error @+1 {{(1) expected rows of}}
  %x = tile.load_rows %p, %m at <f32, offset = 0, digits = [64], step = 0> : !p, !llvm.ptr<1> -> !tile.rows<8x64xf32, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @place_digits(%p: !p, %m: !llvm.ptr<1>) {
  // expected-error @+1 {{(2) expected a place of 1 digits, found 2}}
  %x = tile.load_rows %p, %m at <f32, offset = 0, digits = [64, 1], step = 1> : !p, !llvm.ptr<1> -> !tile.rows<8x64xf32, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @store_width(%x: !tile.rows<8x64xf64, #row>, %p: !p, %m: !llvm.ptr<1>) {
  // expected-error @+1 {{(3) expected accesses of one element, or of 4 that are adjacent and take at most 16 bytes; found 4}}
  tile.store_rows %x, %p, %m at <f64, offset = 0, digits = [64], step = 1> {width = 4 : i64} : !tile.rows<8x64xf64, #row>, !p, !llvm.ptr<1>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @condition(%p: !p, %m: !llvm.ptr<1>, %v: f32) {
  // expected-error @+1 {{(4) expected a value and the condition under which it is read, or neither}}
  %x = tile.load_rows %p, %m value %v : f32 at <f32, offset = 0, digits = [64], step = 1> : !p, !llvm.ptr<1> -> !tile.rows<8x64xf32, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @value_type(%p: !p, %m: !llvm.ptr<1>, %v: f64, %c: i1) {
  // expected-error @+1 {{(4) expected a value of 'f32' or an index, found 'f64'}}
  %x = tile.load_rows %p, %m if %c value %v : f64 at <f32, offset = 0, digits = [64], step = 1> : !p, !llvm.ptr<1> -> !tile.rows<8x64xf32, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @uniform(%p: !p, %m: !llvm.ptr<1>) {
  // expected-error @+1 {{(5) expected a place that is the same for all rows, as they are uniform}}
  %x = tile.load_rows %p, %m at <f32, offset = 0, digits = [64], step = 1> {uniform} : !p, !llvm.ptr<1> -> !tile.rows<8x64xf32, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, rows = 2, line = 32>
!p = !tile.points<[], 64, #row, masked, shifted>
func.func @uniform_lanes(%p: !p, %m: !llvm.ptr<1>) {
  // expected-error @+1 {{(5) expected a place that is the same for all rows, as they are uniform}}
  %x = tile.load_rows %p, %m at <f32, offset = 0, digits = [], step = 1> {uniform} : !p, !llvm.ptr<1> -> !tile.rows<16x64xf32, #row>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[3], 64, #row, masked>
func.func @begin(%p: !p, %m: !llvm.ptr<1>, %i: i32) {
  // expected-error @+1 {{(6) expected a body that yields where an access begins, an i64}}
  %x = tile.load_rows %p, %m at <f32, offset = 0, digits = [64], step = 1> : !p, !llvm.ptr<1> -> !tile.rows<8x64xf32, #row> {
    tile.yield %i : i32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
func.func @results(%p: !p, %x: !x) {
  // expected-error @+1 {{(1) expected a body from the operands to the results}}
  %y = tile.sweep (%p, %x) : (!p, !x) -> !x {
  ^bb0(%q: !p, %a: !x):
    tile.yield
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
func.func @outside(%p: !p, %x: !x) {
  %y = tile.sweep (%p) : (!p) -> !x {
  ^bb0(%q: !p):
    // expected-error @+1 {{(2) expected rows and points that are operands of the sweep around}}
    %e = tile.map_rows %q(%x) : (!p, !x) -> !x {
    ^bb0(%f: f32):
      tile.yield %f : f32
    }
    tile.yield %e : !x
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
func.func @scalar(%p: !p, %x: !x) {
  tile.sweep (%p, %x) : (!p, !x) -> () {
  ^bb0(%q: !p, %a: !x):
    // expected-error @+1 {{(3) is nothing that a sweep computes}}
    %c = arith.constant 1.0 : f32
    tile.yield
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
!s = !tile.rows<8xf32, #tile.sliced<of = #row>>
func.func @mixed(%p: !p, %x: !x, %s: !s) {
  %y:2 = tile.sweep (%p, %x, %s) : (!p, !x, !s) -> (!x, !s) {
  ^bb0(%q: !p, %a: !x, %b: !s):
    %e = tile.map_rows %q(%a) : (!p, !x) -> !x {
    ^bb0(%f: f32):
      tile.yield %f : f32
    }
    // expected-error @+1 {{(4) works on other elements than what is before it in the sweep}}
    %g = tile.map_rows %q(%b) : (!p, !s) -> !s {
    ^bb0(%f: f32):
      tile.yield %f : f32
    }
    tile.yield %e, %g : !x, !s
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
!s = !tile.rows<8xf32, #tile.sliced<of = #row>>
func.func @gathered(%p: !p, %x: !x) {
  // expected-error @+1 {{(1) expected operands with a value for each row, as results are}}
  %y = tile.map_rows %p(%x) : (!p, !x) -> !s {
  ^bb0(%f: f32):
    tile.yield %f : f32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
!z = !tile.rows<8x128xf32, #row>
func.func @length(%p: !p, %z: !z) {
  // expected-error @+1 {{(2) expected rows of}}
  %y = tile.map_rows %p(%z) : (!p, !z) -> !x {
  ^bb0(%f: f32):
    tile.yield %f : f32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
func.func @body(%p: !p, %x: !x) {
  // expected-error @+1 {{(3) expected a body from elements of the operands to elements of the results}}
  %y = tile.map_rows %p(%x) : (!p, !x) -> !x {
  ^bb0(%f: f64):
    tile.yield %f : f64
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
func.func @partial(%p: !p, %x: !x, %z: f32) {
  // expected-error @+1 {{(2) expected, for each of 1 values that it begins with, an access for each lane of}}
  %y = tile.accumulate %p(%x) from (%z) : (!p, !x, f32) -> !x {
  ^bb0(%f: f32, %a: f32):
    tile.yield %a : f32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!x = !tile.rows<8x64xf32, #row>
func.func @sum(%p: !p, %x: !x, %z: f32) {
  // expected-error @+1 {{(3) expected a body from elements of the operands and what is combined to what is combined then}}
  %y = tile.accumulate %p(%x) from (%z) : (!p, !x, f32) -> !tile.rows<8x128xf32, #row> {
  ^bb0(%f: f32):
    tile.yield %f : f32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!s = !tile.rows<8xf32, #tile.sliced<of = #row>>
func.func @access(%p: !p, %x: !tile.rows<8x64xf32, #row>) {
  // expected-error @+1 {{(1) expected an access for each lane and a value for each row of}}
  %y = tile.reduce_rows %p, %x : !p, !tile.rows<8x64xf32, #row> -> !s {
  ^bb0(%f: f32, %g: f32):
    tile.yield %f : f32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!s = !tile.rows<8xf32, #tile.sliced<of = #row>>
func.func @combine(%p: !p, %x: !tile.rows<8x128xf32, #row>) {
  // expected-error @+1 {{(2) expected a body that combines two elements of 'f32'}}
  %y = tile.reduce_rows %p, %x : !p, !tile.rows<8x128xf32, #row> -> !s {
  ^bb0(%f: f32):
    tile.yield %f : f32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 256, width = 4>
!p = !tile.points<[], 4096, #row>
!s = !tile.rows<1xf32, #tile.sliced<of = #row>>
func.func @through(%p: !p, %x: !tile.rows<1x1024xf32, #row>) {
  // expected-error @+1 {{(3) expected memory to go through, as 256 lanes share a row}}
  %y = tile.reduce_rows %p, %x : !p, !tile.rows<1x1024xf32, #row> -> !s {
  ^bb0(%f: f32, %g: f32):
    tile.yield %f : f32
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[], 64, #row, masked>
!s = !tile.rows<8xi24, #tile.sliced<of = #row>>
func.func @bits(%p: !p, %x: !tile.rows<8x128xi24, #row>) {
  // expected-error @+1 {{(4) expected elements of 1, 8, 16, 32 or 64 bits, found 'i24'}}
  %y = tile.reduce_rows %p, %x : !p, !tile.rows<8x128xi24, #row> -> !s {
  ^bb0(%f: i24, %g: i24):
    tile.yield %f : i24
  }
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32>
#two = #tile.row<threads = 256, lanes = 16, rows = 2>
func.func @spread(%s: !tile.rows<8xf32, #tile.sliced<of = #row>>) {
  // expected-error @+1 {{(1) expected a value for each row, of which each group of lanes has one before}}
  %y = tile.spread %s : !tile.rows<8xf32, #tile.sliced<of = #row>> -> !tile.rows<32xf32, #tile.sliced<of = #two>>
  return
}

// -----

#row = #tile.row<threads = 256, lanes = 32, width = 4>
!p = !tile.points<[7], 64, #row, masked>
!s = !tile.rows<8xi64, #tile.sliced<of = #row>>
func.func @which(%p: !p) {
  %y = tile.map_rows %p() : (!p) -> !s {
    // expected-error @+1 {{(1) expected a number below 2, found 2}}
    %i = tile.index 2
    tile.yield %i : i64
  }
  return
}

// -----

// expected-error @+1 {{(A1) expected powers of two of adjacent elements, found widths = [4, 0]}}
llvm.func @no_width() attributes {l = #tile.row_accesses<widths = [4, 0]>}

// -----

// expected-error @+1 {{(A2) expected the number of one of 2 places, or -1, found line = 2}}
llvm.func @no_place() attributes {l = #tile.row_accesses<widths = [4, 1], line = 2>}

// -----

// expected-error @+1 {{(W3) expected numbers of at most 1048576, found 4611686018427387904}}
llvm.func @many() attributes {l = #tile.row<threads = 256, lanes = 32, rows = 4611686018427387904>}

// -----

// expected-error @+1 {{(F3) expected at most 65536 elements for each lane, found 8 x 1048580 by #tile.row<threads = 256, lanes = 32, width = 4>}}
llvm.func @long(!tile.rows<8x1048580xf32, #tile.row<threads = 256, lanes = 32, width = 4>>)

// -----

// expected-error @+1 {{(Q3) expected rows of at most 1048576 elements, found 9223372036854775804}}
llvm.func @points(!tile.points<[8], 9223372036854775804, #tile.row<threads = 256, lanes = 32, width = 4>>)
