//===- TileMaps.td - tensor maps ---------------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors of the device's memory of which boxes go to shared memory and back (TMA). Part of TileOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_MAPS
#define TILE_MAPS

def Tile_TensorMapType : Tile_Type<"TensorMap", "tensor_map"> {
  let summary = "a tensor in the device's memory, and the boxes of it that one copy moves";
  let description = [{
    `!tile.tensor_map<1x64x64xf16, swizzle = 128>`: a tensor of three dimensions, the slowest first, of which a copy by TMA moves boxes of
    1 x 64 x 64 elements. A box lies in shared memory row by row, without gaps. With `swizzle` bits 4 to 6 of each address are combined
    with bits 7 to 9, as many of them as rows of so many bytes need. Elements of a box that lie outside of the tensor are zeros, and they count among the box's bytes.

    How long the tensor is and what its strides are, the launch plan says (PTX ISA, "Tensor copies"; CUDA driver API, `cuTensorMapEncodeTiled`).

    (T1) 1 to 5 dimensions, of each of which a box has 1 to 256 elements. (T2) Elements are i8, i16, i32, i64, f16, bf16, f32 or f64.
    (T3) `swizzle` is 0, 32, 64 or 128. (T4) A box's row is a multiple of 16 bytes, and not longer than `swizzle`, where that is not 0.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$box, "Type":$elementType, DefaultValuedParameter<"int64_t", "0">:$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    unsigned getRank() const { return unsigned(getBox().size()); }
    /// Bytes that a copy of a box moves, and that an mbarrier counts.
    int64_t getBytes() const;
  }];
}

def Tile_Descriptor : LLVM_PointerInAddressSpace<0>;

def Tile_TensorMapOp : Tile_Op<"tensor_map", [Pure]> {
  let summary = "an argument of a kernel as a tensor map";
  let description = [{
    The argument is the descriptor itself, which the launch passes by value. It says with `tile.tensor_map` what it describes:

    ```mlir
    llvm.func @k(%d: !llvm.ptr {llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant, llvm.align = 64 : i64,
                                tile.tensor_map = !tile.tensor_map<64x64xf16, swizzle = 128>}) attributes {nvvm.kernel} {
      %m = tile.tensor_map %d : !tile.tensor_map<64x64xf16, swizzle = 128>
    ```

    (1) the operand is an argument of a function that describes such a tensor map.
  }];
  let arguments = (ins Tile_Descriptor:$descriptor);
  let results = (outs Tile_TensorMapType:$result);
  let assemblyFormat = "$descriptor attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

#endif // TILE_MAPS
