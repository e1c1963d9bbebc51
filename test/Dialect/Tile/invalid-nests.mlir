// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What verifiers refuse of loop nests, by the number of the constraint.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{(T1) expected numbers of at least 1, found 0}}
llvm.func @numbers() attributes {l = #tile.point_tiles<threads = 256, width = 0>}

// -----

// expected-error @+1 {{(T1) expected numbers of copies of at least 0, found array<i64: 1, -2>}}
llvm.func @copies() attributes {l = #tile.point_tiles<threads = 256, unroll = [1, -2]>}

// -----

// expected-error @+1 {{(T2) expected a loop for a vector, and another loop, or rows, for a tile of several iterations; found vector = -1, width = 4, loop = -1, tile = 1}}
llvm.func @vector() attributes {l = #tile.point_tiles<threads = 256, width = 4>}

// -----

// expected-error @+1 {{(T2) expected a loop for a vector, and another loop, or rows, for a tile of several iterations; found vector = 1, width = 4, loop = 1, tile = 2}}
llvm.func @tile() attributes {l = #tile.point_tiles<threads = 256, vector = 1, width = 4, loop = 1, tile = 2>}

// -----

// expected-error @+1 {{(T2) expected a loop for a vector, and another loop, or rows, for a tile of several iterations; found vector = -1, width = 1, loop = 1, tile = 2, rows}}
llvm.func @rows() attributes {l = #tile.point_tiles<threads = 256, loop = 1, tile = 2, rows = true>}

// -----

// expected-error @+1 {{(T3) expected 1 lane, a power of two of a warp's 32, or all threads, whole warps; found lanes = 64 of 256 threads}}
llvm.func @lanes() attributes {l = #tile.point_tiles<threads = 256, vector = 0, lanes = 64>}

// -----

// expected-error @+1 {{(T3) expected 1 lane, a power of two of a warp's 32, or all threads, whole warps; found lanes = 12 of 256 threads}}
llvm.func @odd_lanes() attributes {l = #tile.point_tiles<threads = 256, vector = 0, lanes = 12>}

// -----

// expected-error @+1 {{(T3) expected 1 lane, a power of two of a warp's 32, or all threads, whole warps; found lanes = 4 of 48 threads}}
llvm.func @part_of_warp() attributes {l = #tile.point_tiles<threads = 48, vector = 0, lanes = 4>}

// -----

// expected-error @+1 {{(T4) expected at most one of lanes, slices and together; found lanes = 32, slices = 4, together = 1}}
llvm.func @both() attributes {l = #tile.point_tiles<threads = 256, vector = 0, lanes = 32, slices = 4>}

// -----

// expected-error @+1 {{(T5) expected reuse of what lanes of a block join through, and a granule of slices; found lanes = 32, granule = 1, slices = 1}}
llvm.func @reuse() attributes {l = #tile.point_tiles<threads = 256, vector = 0, lanes = 32, reuse = true>}

// -----

// expected-error @+1 {{(T5) expected reuse of what lanes of a block join through, and a granule of slices; found lanes = 1, granule = 4, slices = 1}}
llvm.func @granule() attributes {l = #tile.point_tiles<threads = 256, granule = 4>}

// -----

// expected-error @+1 {{(F1) expected the number of an input, found -1}}
llvm.func @flag() attributes {l = #tile.flag<input = -1, is = true>}

// -----

// expected-error @+1 {{(G1) expected loops of sizes that are not negative, and at least one lift; found [4, -1], lifts = 1}}
llvm.func @sizes() attributes {l = #tile.nest<loops = [4, -1], tiles = <threads = 256>, accesses = []>}

// -----

// expected-error @+1 {{(G2) expected columns of one of 2 loops, or the first block's; found columns = 2}}
llvm.func @columns_of() attributes {l = #tile.nest<loops = [4, 8], columns = 2, tiles = <threads = 256>, accesses = []>}

// -----

// expected-error @+1 {{(G2) expected columns of one of 2 loops, or the first block's; found columns = 0, first}}
llvm.func @first() attributes {l = #tile.nest<loops = [4, 8], columns = 0, first, tiles = <threads = 256>, accesses = []>}

// -----

// expected-error @+1 {{(G3) expected a rest of tiles of rows, one by one, of 256 threads; found #tile.point_tiles<threads = 256>}}
llvm.func @rest() attributes {l = #tile.nest<loops = [4, 8], tiles = <threads = 256>, rest = <threads = 256>, accesses = []>}

// -----

// expected-error @+1 {{(G4) expected accesses of 0, 1 or 4 elements, found 2}}
llvm.func @accesses() attributes {l = #tile.nest<loops = [4, 8], tiles = <threads = 256, vector = 1, width = 4>, accesses = [4, 1, 0, 2]>}

// -----

// expected-error @+1 {{(E1) expected, for each of 1 borders, 1 steps and where it begins, and what is outside if there are any}}
llvm.func @borders() attributes {l = #tile.point_place<offset = 0, strides = [1], borders = [<steps = [1, 0], size = 4>], begins = [0], outside = 0 : i32>}

// -----

// expected-error @+1 {{(N1) expected elements that are integers or floats, 'i1' or of whole bytes; found 'i7'}}
llvm.func @element(!tile.memory<i7>)

// -----

llvm.func @no_memory(%v: i64) {
  // expected-error @+1 {{(1) expected a pointer or a value}}
  %a = tile.memory -> !tile.memory<f32>
  llvm.return
}

// -----

llvm.func @no_condition(%p: !llvm.ptr<1>, %v: f32) {
  // expected-error @+1 {{(2) expected a condition with a value, distances with a pointer, and steps with a value}}
  %a = tile.memory %p : !llvm.ptr<1> value %v : f32 -> !tile.memory<f32>
  llvm.return
}

// -----

llvm.func @value(%c: i1, %v: i64) {
  // expected-error @+1 {{(3) expected a value of 'f32' or an index, found 'i64'}}
  %a = tile.memory if %c value %v : i64 -> !tile.memory<f32>
  llvm.return
}

// -----

llvm.func @flags(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(1) expected as many loops as flags, none of a negative size, and at least one lift; found [4, 4], 1 flags, lifts = 1}}
  tile.nest %t loops [4, 4] reduced [false] layout <threads = 32> {
  }
  llvm.return
}

// -----

llvm.func @kinds(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(2) expected a vector of a loop that is not reduced, a tile and columns of loops that are not; found #tile.point_tiles<threads = 32, vector = 1, width = 2>}}
  tile.nest %t loops [4, 4] reduced [false, true] layout <threads = 32, vector = 1, width = 2> {
  }
  llvm.return
}

// -----

llvm.func @lane_kinds(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(2) expected a vector of a loop that is reduced, a tile and columns of loops that are not; found #tile.point_tiles<threads = 32, vector = 0, lanes = 32>}}
  tile.nest %t loops [4, 4] reduced [false, true] layout <threads = 32, vector = 0, lanes = 32> {
  }
  llvm.return
}

// -----

llvm.func @divides(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(3) expected a tile that divides loop 0 of 6, found 4}}
  tile.nest %t loops [6] reduced [false] layout <threads = 32, vector = 0, width = 4> {
  }
  llvm.return
}

// -----

llvm.func @no_rows(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(3) expected rows, of which a tile takes some}}
  tile.nest %t loops [6] reduced [false] layout <threads = 32, tile = 4, rows = true> {
  }
  llvm.return
}

// -----

llvm.func @shares(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(4) expected a reduced loop, which threads share}}
  tile.nest %t partials %s loops [6] reduced [false] layout <threads = 32, slices = 4> {
  }
  llvm.return
}

// -----

llvm.func @no_scratch(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(5) expected memory that lanes of the block, or slices, join through, and no other; found #tile.point_tiles<threads = 64, vector = 1, lanes = 64, reuse = true>}}
  tile.nest %t loops [6, 64] reduced [false, true] layout <threads = 64, vector = 1, lanes = 64, reuse = true> {
  }
  llvm.return
}

// -----

llvm.func @scratch(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(5) expected memory that lanes of the block, or slices, join through, and no other; found #tile.point_tiles<threads = 64>}}
  tile.nest %t scratch %s loops [6] reduced [false] layout <threads = 64> {
  }
  llvm.return
}

// -----

llvm.func @no_reuse(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(6) expected reuse of what lanes join through, found #tile.point_tiles<threads = 64, vector = 1, lanes = 64>}}
  tile.nest %t scratch %s loops [6, 64] reduced [false, true] layout <threads = 64, vector = 1, lanes = 64> {
  }
  llvm.return
}

// -----

llvm.func @one_tile(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(6) expected no reuse of what lanes join through, found #tile.point_tiles<threads = 64, vector = 1, lanes = 64, reuse = true>}}
  tile.nest %t scratch %s loops [1, 64] reduced [false, true] layout <threads = 64, vector = 1, lanes = 64, reuse = true> {
  }
  llvm.return
}

// -----

llvm.func @part(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  // expected-error @+1 {{(7) expected a granule that divides the 30 iterations of loop 1, found 4}}
  tile.nest %t partials %s loops [6, 30] reduced [false, true] layout <threads = 64, slices = 3, granule = 4> {
  }
  llvm.return
}

// -----

llvm.func @joins(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [4, 64] reduced [false, true] layout <threads = 32, vector = 1, lanes = 32> {
    %x = tile.read %a at <offset = 0, strides = [1, 0]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(4) of the nest: expected how threads join what they have}}
    %r = tile.reduce_points(%x) from(%x) : (f32, f32) -> f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tile.yield %w : f32
    }
  }
  llvm.return
}

// -----

llvm.func @sum_together(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [4, 64] reduced [false, true] layout <threads = 32, together = 2> {
    %x = tile.read %a at <offset = 0, strides = [1, 0]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(8) of the nest: stands in tiles whose loads are together}}
    %r = tile.reduce_points(%x) from(%x) : (f32, f32) -> f32 {
    ^bb0(%u: f32, %v: f32):
      %w = arith.addf %u, %v : f32
      tile.yield %w : f32
    }
  }
  llvm.return
}

// -----

llvm.func @other(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [4] reduced [false] layout <threads = 32> {
    // expected-error @+1 {{(9) of the nest: is nothing that a nest computes}}
    %c = arith.constant 0 : i32
  }
  llvm.return
}

// -----

func.func @unknown_memory(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64, %m: !tile.memory<f32>) {
  tile.nest %t loops [4] reduced [false] layout <threads = 32> {
    // expected-error @+1 {{(9) of the nest: expected memory that a 'tile.memory' makes}}
    %x = tile.read %m at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
  }
  return
}

// -----

llvm.func @strides(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    // expected-error @+1 {{(1) expected a stride for each of 1 loops, found #tile.point_place<offset = 0, strides = [1, 2]>}}
    %x = tile.read %a at <offset = 0, strides = [1, 2]> : !tile.memory<f32> -> f32
  }
  llvm.return
}

// -----

llvm.func @wide(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    // expected-error @+1 {{(2) expected accesses of one element, or of 4 that are adjacent and take at most 16 bytes; found 2}}
    %x = tile.read %a at <offset = 0, strides = [1]> {width = 2 : i64} : !tile.memory<f32> -> f32
  }
  llvm.return
}

// -----

llvm.func @gaps(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    // expected-error @+1 {{(2) expected accesses of one element, or of 4 that are adjacent and take at most 16 bytes; found 4}}
    %x = tile.read %a at <offset = 0, strides = [2]> {width = 4 : i64} : !tile.memory<f32> -> f32
  }
  llvm.return
}

// -----

llvm.func @type(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    // expected-error @+1 {{(3) expected elements of '!tile.memory<f32>', found 'f64'}}
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f64
  }
  llvm.return
}

// -----

llvm.func @begin(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    // expected-error @+1 {{(4) expected a body that yields where elements begin, an i64}}
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32 {
      tile.yield
    }
  }
  llvm.return
}

// -----

llvm.func @border(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(5) expected a place without borders}}
    tile.write %x, %a at <offset = 0, strides = [1], borders = [<steps = [1], size = 4>], begins = [0], outside = 0.0 : f32> : f32, !tile.memory<f32>
  }
  llvm.return
}

// -----

llvm.func @into_value(%t: i32, %c: i1, %v: f32) {
  %a = tile.memory if %c value %v : f32 -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(6) expected memory with a pointer}}
    tile.write %x, %a at <offset = 0, strides = [1]> : f32, !tile.memory<f32>
  }
  llvm.return
}

// -----

llvm.func @map(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(1) expected a body from the operands to the results}}
    %y = tile.map_points(%x) : (f32) -> f64 {
    ^bb0(%u: f32):
      tile.yield %u : f32
    }
  }
  llvm.return
}

// -----

llvm.func @inits(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(1) expected a value to begin with for each result, of its type}}
    %y = tile.reduce_points(%x) from(%x) : (f32, f32) -> f64 {
    ^bb0(%u: f32, %g: f64):
      tile.yield %g : f64
    }
  }
  llvm.return
}

// -----

llvm.func @sum_body(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(2) expected a body from the operands and what is combined to what is combined then}}
    %y = tile.reduce_points(%x) from(%x) : (f32, f32) -> f32 {
    ^bb0(%g: f32):
      tile.yield %g : f32
    }
  }
  llvm.return
}

// -----

llvm.func @neutral(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    // expected-error @+1 {{(3) expected a neutral value and a body that combines two for each result, or none at all}}
    %y = tile.reduce_points(%x) from(%x) neutral [0.0 : f32] : (f32, f32) -> f32 {
    ^bb0(%u: f32, %g: f32):
      tile.yield %g : f32
    }
  }
  llvm.return
}

// -----

llvm.func @index(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>, %n: i64) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      // expected-error @+1 {{(1) expected a number below 3, found 3}}
      %i = tile.index 3
      tile.yield %u : f32
    }
  }
  llvm.return
}

// -----

// expected-error @+1 {{(T6) expected numbers of at most 1048576, found 4611686018427387904}}
llvm.func @wide() attributes {l = #tile.point_tiles<threads = 256, slices = 4611686018427387904>}

// -----

llvm.func @computed(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  %b = tile.memory %s : !llvm.ptr<3> -> !tile.memory<f32>
  // expected-error @+1 {{(10) expected the element that is read to be written as it is}}
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> async {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      %v = arith.negf %u : f32
      tile.yield %v : f32
    }
    tile.write %y, %b at <offset = 0, strides = [1]> : f32, !tile.memory<f32>
  }
  llvm.return
}

// -----

llvm.func @to_device(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  %b = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f32>
  // expected-error @+1 {{(10) expected a read without borders of memory of the device, and a write of shared memory}}
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> async {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f32> -> f32
    %y = tile.map_points(%x) : (f32) -> f32 {
    ^bb0(%u: f32):
      tile.yield %u : f32
    }
    tile.write %y, %b at <offset = 0, strides = [1]> : f32, !tile.memory<f32>
  }
  llvm.return
}

// -----

llvm.func @halves(%t: i32, %p: !llvm.ptr<1>, %s: !llvm.ptr<3>) {
  %a = tile.memory %p : !llvm.ptr<1> -> !tile.memory<f16>
  %b = tile.memory %s : !llvm.ptr<3> -> !tile.memory<f16>
  // expected-error @+1 {{(10) expected accesses of 4, 8 or 16 bytes, found 2}}
  tile.nest %t loops [64] reduced [false] layout <threads = 32, vector = 0, width = 4> async {
    %x = tile.read %a at <offset = 0, strides = [1]> : !tile.memory<f16> -> f16
    %y = tile.map_points(%x) : (f16) -> f16 {
    ^bb0(%u: f16):
      tile.yield %u : f16
    }
    tile.write %y, %b at <offset = 0, strides = [1]> : f16, !tile.memory<f16>
  }
  llvm.return
}

// -----

// expected-error @+1 {{(G5) expected two accesses of memory, by threads that share no point, of what is copied while they go on}}
llvm.func @async() attributes {l = #tile.nest<loops = [4, 8], async, tiles = <threads = 256>, accesses = [1, 0]>}
