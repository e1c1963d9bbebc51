//===- LeafCodegen.h - Tensor leaves to vector loops ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A *leaf* is a function whose body is straight-line upstream tensor code on
// static shapes (linalg, arith, math, tensor). The leaf code generator turns it
// into a function on memrefs that computes many independent *rows* of it at
// once: map dimensions of the surrounding nest become rows, so that a product
// with shared weights reads them once for all rows.
//
//===----------------------------------------------------------------------===//
#ifndef FT_CONVERSION_LEAFTOLOOPS_LEAFCODEGEN_H
#define FT_CONVERSION_LEAFTOLOOPS_LEAFCODEGEN_H

#include "ft/Analysis/LeafGraph/LeafOptions.h"
#include "ft/Machine/CpuTarget.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

namespace mlir {
class OpPassManager;

namespace ft {

/// Of a leaf's loop nests, by their numbers: those that one loop over the rows computes, or one alone that treats the rows itself or
/// does not depend on them; in the order in which they are computed (`loops.row_loops`).
using RowLoops = SmallVector<SmallVector<int64_t>>;

/// Replaces the tensor function `leaf(in_i: tensor<AxBxT>...) -> (tensor...)` by
/// a private one of the same name on memrefs:
///
///   leaf(%rows: index,
///        %in_i:  memref<? x A x B x T, strided<[?, B, 1], offset: ?>>...,
///        %out_i: memref<? x A x B x T, strided<[?, B, 1], offset: ?>>...,
///        %errors: !llvm.ptr,     // only with LeafOptions::placeOf, where indices are data
///        %scratch: memref<?xi8>)
///
/// with out_i[r] = body(in_0[r or 0], ...) for r in [0, rows). The elements of a
/// row are contiguous; rows may have any stride, also 0 or negative, as long as
/// offset + row * stride is not negative (offset counts from the memref's base
/// pointer). Outputs must not overlap each other, and may overlap inputs only as
/// LeafOptions says. With `listed`, an input that varies and an output is a
/// `!llvm.ptr` to an array of pointers instead, of which the r-th is to row r.
/// `scratch` is aligned to 64 bytes, not shared between
/// threads, and holds getLeafScratch(leaf).forRows(rows) bytes; it may be empty
/// when that is 0. Dense constants become private `memref.global`s.
///
/// How it is computed is said in the options and in the loops over rows, all of it: no processor is known here.
/// Emits an error at the op that has no rule, and leaves the function as it was,
/// if the body is not a leaf.
FailureOr<func::FuncOp> generateLeaf(func::FuncOp tensorFunc, const LeafOptions &options, const RowLoops &rowLoops);

/// How a core computes a leaf's loop nests: products, the others, and which are computed together with which.
struct NestTiles {
  RegisterTiles products;
  LaneTiles lanes;
  JoinedNests joined;
};

/// How a processor is best told to compute the loop nests (`layouts` of a leaf). The function stays as it is, here and below.
FailureOr<NestTiles> chooseNestTiles(func::FuncOp tensorFunc, const LeafOptions &options, const CpuTarget &target);

/// The order of loop nests whose tiles the options say, and which of them one loop over the rows computes (`loops.row_loops`).
FailureOr<RowLoops> chooseNestOrder(func::FuncOp tensorFunc, const LeafOptions &options);

/// Which of them a flag leaves out in that order (`loops.guards`).
FailureOr<SmallVector<NestGuard>> chooseNestGuards(func::FuncOp tensorFunc, const LeafOptions &options, const RowLoops &rowLoops);

/// Where values lie that they hand on to each other in that order (`scratch`).
FailureOr<ScratchPlaces> chooseNestPlaces(func::FuncOp tensorFunc, const LeafOptions &options, const RowLoops &rowLoops);

/// All of it.
struct LeafPlan {
  NestTiles tiles;
  RowLoops rowLoops;
  SmallVector<NestGuard> guards;
  ScratchPlaces places;
};

/// The four decisions, one after the other. Tiles are those of the options, if they say some, as are loops over rows.
FailureOr<LeafPlan> planLeaf(func::FuncOp tensorFunc, const LeafOptions &options, const CpuTarget &target,
                             const std::optional<RowLoops> &rowLoops = std::nullopt);

/// Plans a leaf and generates it so.
FailureOr<func::FuncOp> planAndGenerateLeaf(func::FuncOp tensorFunc, LeafOptions options, const CpuTarget &target);

/// Scratch of a function that generateLeaf made (it carries the attributes
/// `ft.scratch_fixed` and `ft.scratch_per_row`).
LeafScratch getLeafScratch(func::FuncOp generated);

/// Whether a function that generateLeaf made has the argument `errors` (it carries the attribute
/// `ft.leaf_checks`).
bool leafChecksIndices(func::FuncOp generated);

/// Lowers a module of generated leaves, and of scf/memref/vector/arith/func code
/// that calls them, to the LLVM dialect. Math goes through ExpandMath.h; f16 and
/// bf16 need no runtime library.
void buildLeafToLLVMPipeline(OpPassManager &pm);

/// Registers `ft-expand-math` and the pipeline `ft-leaf-to-llvm`.
void registerLeafPasses();

} // namespace ft
} // namespace mlir

#endif // FT_CONVERSION_LEAFTOLOOPS_LEAFCODEGEN_H
