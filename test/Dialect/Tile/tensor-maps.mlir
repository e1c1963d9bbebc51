// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps, printed and read again; each way in which one can be wrong.
//
// RUN: ft-opt %s --split-input-file --verify-diagnostics | ft-opt --split-input-file | FileCheck %s
// RUN: ft-opt %s --split-input-file --verify-diagnostics --mlir-print-op-generic | ft-opt --split-input-file | FileCheck %s

// CHECK-LABEL: llvm.func @right
// CHECK-SAME: tile.tensor_map = !tile.tensor_map<1x64x64xf16, swizzle = 128>
llvm.func @right(%d: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !tile.tensor_map<1x64x64xf16, swizzle = 128>},
                 %e: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !tile.tensor_map<4xf32>})
    attributes {nvvm.kernel} {
  // CHECK: tile.tensor_map %{{.*}} : !tile.tensor_map<1x64x64xf16, swizzle = 128>
  %m = tile.tensor_map %d : !tile.tensor_map<1x64x64xf16, swizzle = 128>
  // CHECK: tile.tensor_map %{{.*}} : !tile.tensor_map<4xf32>
  %n = tile.tensor_map %e : !tile.tensor_map<4xf32>
  llvm.return
}

// -----

// expected-error @+1 {{(T1) expected a box of 1 to 5 dimensions of 1 to 256 elements each, found [64, 257]}}
llvm.func @box(%m: !tile.tensor_map<64x257xf16>)

// -----

// expected-error @+1 {{(T1) expected a box of 1 to 5 dimensions of 1 to 256 elements each, found [1, 1, 1, 1, 1, 16]}}
llvm.func @rank(%m: !tile.tensor_map<1x1x1x1x1x16xf16>)

// -----

// expected-error @+1 {{(T2) expected elements of i8, i16, i32, i64, f16, bf16, f32 or f64, found i1}}
llvm.func @element(%m: !tile.tensor_map<64x128xi1>)

// -----

// expected-error @+1 {{(T3) expected a swizzle of 0, 32, 64 or 128 bytes, found 16}}
llvm.func @swizzle(%m: !tile.tensor_map<64x8xf16, swizzle = 16>)

// -----

// expected-error @+1 {{(T4) expected a row of the box that is a multiple of 16 bytes, found 14 bytes}}
llvm.func @bytes(%m: !tile.tensor_map<64x7xf16>)

// -----

// expected-error @+1 {{(T4) expected a row of the box of at most 64 bytes, which its swizzle repeats after, found 128 bytes}}
llvm.func @long(%m: !tile.tensor_map<64x64xf16, swizzle = 64>)

// -----

// expected-error @+1 {{(tile_module3) expected a !tile.tensor_map of argument 0, found f16}}
llvm.func @type(%d: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = f16}) attributes {nvvm.kernel} {
  llvm.return
}

// -----

// expected-error @+1 {{(tile_module3) only kernels take tensor maps, found argument 0 of another function}}
llvm.func @host(%d: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, tile.tensor_map = !tile.tensor_map<8xf16>}) {
  llvm.return
}

// -----

// expected-error @+1 {{(tile_module3) expected argument 0 by value, constant for the grid and aligned: llvm.byval = '!llvm.array<128 x i8>', nvvm.grid_constant, llvm.align = 64}}
llvm.func @bytes(%d: !llvm.ptr {llvm.byval = !llvm.array<64 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !tile.tensor_map<8xf16>}) attributes {nvvm.kernel} {
  llvm.return
}

// -----

// expected-error @+1 {{(tile_module3) expected argument 0 by value}}
llvm.func @constant(%d: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, llvm.align = 64 : i64, tile.tensor_map = !tile.tensor_map<8xf16>}) attributes {nvvm.kernel} {
  llvm.return
}

// -----

// expected-error @+1 {{no attribute of an argument is called 'tile.map': expected 'tile.tensor_map'}}
llvm.func @name(%d: !llvm.ptr {tile.map = !tile.tensor_map<8xf16>}) attributes {nvvm.kernel} {
  llvm.return
}

// -----

llvm.func @other(%d: !llvm.ptr) attributes {nvvm.kernel} {
  // expected-error @+1 {{(1) expected an argument of a kernel that describes a tensor map ('tile.tensor_map')}}
  %m = tile.tensor_map %d : !tile.tensor_map<8xf16>
  llvm.return
}

// -----

llvm.func @differs(%d: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64, tile.tensor_map = !tile.tensor_map<8xf16>}) attributes {nvvm.kernel} {
  // expected-error @+1 {{(1) the argument describes '!tile.tensor_map<8xf16>', found '!tile.tensor_map<16xf16>'}}
  %m = tile.tensor_map %d : !tile.tensor_map<16xf16>
  llvm.return
}
