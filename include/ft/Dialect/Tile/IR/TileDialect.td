//===- TileDialect.td - the tile dialect -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef TILE_DIALECT
#define TILE_DIALECT

include "mlir/IR/OpBase.td"

def Tile_Dialect : Dialect {
  let name = "tile";
  let cppNamespace = "::mlir::tile";
  let summary = "Tiles of matrices in the registers and the shared memory of a thread block (FT §5.3)";
  let description = [{
    What one thread block computes, between the schedule of a leaf and NVVM. A value is a whole tile, of which each
    thread holds the elements that the tile's *layout* gives to it; a tile in shared memory is one that all threads see.
    Operations stand in the code of a thread block: all its threads run them together.

    ```mlir
    // c += a b, a k step after the other, operands in two stages
    %v = tile.view %a strides(%lda, %one) sizes(%rows) : !llvm.ptr<1> -> !tile.view<f32, [-1], [4096], space = 1>
    %s = tile.shared %memory : !tile.shared<128x16xf32, pad = 4, stages = 2>
    tile.copy %v[%i, %k], %s[%slot] {layout = #tile.blocked<vector = [1, 4], threads = [64, 4]>, async}
        : !tile.view<f32, [-1], [4096], space = 1>, !tile.shared<128x16xf32, pad = 4, stages = 2>
    tile.commit
    tile.wait 0
    tile.barrier
    %next = tile.mma %acc, %s[%slot], %t[%slot] : ...
    ```

    The layouts of a kernel have as many threads as its blocks. `convert-tile-to-nvvm` turns a tile in registers into one value for each element that a thread holds.

    Beside matrices there are *rows*, which groups of lanes keep in registers (`!tile.rows`, `#tile.row`): what is walked several times
    along rows, as softmax is, from the first load to the last store, with reductions whose results each lane of a row has (`#tile.sliced`).

    ```mlir
    %l = tile.lanes %thread : !tile.points<[8], 4096, #row>
    %p = tile.points %l from %i to %n : !tile.points<[8], 4096, #row> -> !tile.points<[8], 4096, #row, masked>
    %x = tile.load_rows %p, %in stride %s at <f32, offset = 0, digits = [4096], step = 1> {width = 4 : i64} : …
    %t = tile.accumulate %p(%x) from(%zero) : … { … }     // by lane
    %sum = tile.reduce_rows %p, %t : … { … }              // of the lanes of each row
    %y = tile.map_rows %p(%x, %sum) : … { … }
    tile.store_rows %y, %p, %out stride %s at <f32, offset = 0, digits = [4096], step = 1> {width = 4 : i64} : …
    ```

    And *nests* of loops, of which each thread computes the points that a layout gives to it (`#tile.point_tiles`): what is inside of a `tile.nest`
    is said for one point, between elements of memory that it reads and writes.

    Attributes of a `gpu.module`, which `convert-loops-to-gpu` writes and the code that makes a bundle reads:
    - `tile.target`, a name: the GPU that its kernels are for, `"sm_90a"`;
    - `tile.plan`, a text: the launch plan as a bundle has it (JSON), what the host allocates, launches and passes.

    - (tile_module1) both stand on a `gpu.module`, one beside the other.
    - (tile_module2) each is a string, and not an empty one. (What a plan says is checked by the code that takes it apart.)

    An argument of a kernel may have the attribute `tile.tensor_map`, a type: the argument is the descriptor of such a tensor map, which the
    launch passes by value (`tile.tensor_map`).

    - (tile_module3) its value is a `!tile.tensor_map`; the function is a kernel, and the argument has `llvm.byval` of 128 bytes,
      `nvvm.grid_constant` and `llvm.align = 64`.

    A kernel may have the attribute `tile.pipeline` (`#tile.pipeline`), which says what roles its warp groups have.

    - (tile_module4) it is such an attribute, of a function.

    A loop over the tasks of a thread block may have the unit `tile.in_turn`. Then nothing relies on which block takes which
    task, and tasks may be given to blocks in another order. Iterations that are mapped `static` have none: a block's memory may hold what it is given in each step.
  }];
  let discardableAttrs = (ins "::mlir::StringAttr":$target, "::mlir::StringAttr":$plan, "::mlir::TypeAttr":$tensor_map,
                              "::mlir::tile::PipelineAttr":$pipeline, "::mlir::UnitAttr":$in_turn);
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

#endif // TILE_DIALECT
