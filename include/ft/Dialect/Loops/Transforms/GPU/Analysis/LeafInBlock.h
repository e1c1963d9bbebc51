//===- LeafInBlock.h - what leaves of loops are to a block --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can be told of leaves and lifted loops before anything is emitted, read off the loops alone: how memory may be chosen,
// what grows with lifted iterations, a leaf's normal form and what surrounds it. `loops-choose-layouts` asks it to decide, the
// walk over the loops to see whether what was decided fits.
//
//===----------------------------------------------------------------------===//
#ifndef FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_LEAFINBLOCK_H
#define FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_LEAFINBLOCK_H

#include "ft/Analysis/LeafGraph/NestAccesses.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Schedule/GPU/Layouts/Chains.h"
#include "ft/Schedule/GPU/Plan/GpuPlan.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::ft::togpu {

/// Iterations that a leaf computes at once, and the values that grow with them by the same amount each.
struct Lift {
  int64_t begin = 0, count = 1;
  llvm::DenseSet<Value> growing;
};

/// A loop of level lifted so; nothing where its range is no constant one, it holds not one leaf, or something changes with
/// its iterations in another way.
std::optional<Lift> readLift(scf::ForallOp loop);

/// The lifted iterations that a leaf computes at once.
Lift liftOf(loops::LeafOp leaf);

/// How much an expression grows with one of its dimensions or symbols.
AffineExpr stepOf(AffineMap map, unsigned operand);

/// What memory may be that is chosen at run time.
struct MemoryForm {
  bool hasMemory = false, hasValue = false, hasStep = false, hasIndex = false, hasLift = false;
};
MemoryForm memoryFormOf(Value memory, const Lift &lift);

/// The normal form of a leaf that KernelChecks.cpp lets through: loop nests over buffers, those computed together that it says so of.
LogicalResult makeForm(loops::LeafOp leaf, const Lift &lift, schedule::LeafForm &form);
/// The same before anything is computed together.
LogicalResult buildForm(loops::LeafOp leaf, const Lift &lift, schedule::LeafForm &form);

/// A leaf, and what its layouts are chosen and read for.
struct LeafInBlock {
  schedule::LeafForm form; // with what its columns cut
  schedule::LeafContext context;
  SmallVector<bool> lifted; // by buffer: differs between lifted iterations
  bool rowWise = false;
};
/// The leaf in thread blocks like these. An error at it where its cuts are none of its loop nests.
FailureOr<LeafInBlock> readLeaf(loops::LeafOp leaf, etdg::ThreadBlockAttr block, const Lift &lift);

/// How threads share a leaf: rows that stay in registers, a chain of products, or tiles of each loop nest.
struct LeafTiling {
  std::optional<schedule::RowPlan> rows;
  std::optional<schedule::ChainPlan> chain;
  SmallVector<schedule::Tiles> tiles;
};
/// What the leaf's layouts say (ChooseLayouts.cpp). An error at it where they are missing or do not fit.
FailureOr<LeafTiling> readTiling(loops::LeafOp leaf, const LeafInBlock &own, const Machine &machine);

/// Says of values that products of a leaf read that they lie in memory, or checks that it is said (PlaceConstants.cpp).
void keepConstants(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling);
LogicalResult checkConstants(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling);

/// What a leaf needs memory of a thread block for (PlaceMemory.cpp).
struct LeafNeeds {
  struct Need {
    int64_t bytes = 0;             // 0: none
    unsigned first = ~0u, last = 0; // loop nests from the first to the last in which it is needed
    int output = -1;                // of the leaf, in whose memory it may lie
    void use(unsigned nest) {
      first = std::min(first, nest);
      last = std::max(last, nest);
    }
  };
  SmallVector<int> buffers;  // by value: its number in the leaf's graph
  SmallVector<Need> values;
  Need operands, sums;
};
/// Takes out of memory what is in registers while a product's tile is.
LeafNeeds findNeeds(loops::LeafOp leaf, LeafInBlock &own, const LeafTiling &tiling, etdg::ThreadBlockAttr block);

/// Where it has it, as its places say; null: nowhere.
struct LeafPlaces {
  SmallVector<int> buffers;               // by value
  SmallVector<loops::PlaceAttr> values;
  loops::PlaceAttr operands, sums;
};
/// An error at the leaf where something has no place, or one that it can't have.
FailureOr<LeafPlaces> readPlaces(loops::LeafOp leaf, const LeafNeeds &needs);

/// A leaf as it stands in its thread block, with all that is specified for it up to its memory (PlacedLeaf.cpp).
struct PlacedLeaf {
  LeafInBlock own;
  LeafTiling tiling;
  LeafPlaces places;
};
/// An error at the leaf where layouts or places are missing or do not fit.
FailureOr<PlacedLeaf> readPlacedLeaf(loops::LeafOp leaf, etdg::ThreadBlockAttr block, const Lift &lift, const Machine &machine);

/// Whether what a leaf's view has is said to begin, in each row, where accesses as wide as its elements allow may.
bool isAligned(loops::LeafOp leaf, unsigned view);

/// Where a buffer of a leaf's graph lies, and whether its rows begin evenly.
struct BufferFacts {
  bool isAligned = false, isGlobal = false;
};
/// The same for all buffers, as emission binds them: a view, a constant, or a value with a place (ChooseAccesses.cpp).
SmallVector<BufferFacts> findFacts(loops::LeafOp leaf, const leaf::LeafGraph &graph, const LeafPlaces &places);

/// What the threads of a block compute of a loop nest, point by point. Nothing is specified for nests that are products, or computed with one.
struct LeafNest {
  tile::NestAttr said;
  leaf::Nest nest; // with its loops as they are said
  SmallVector<leaf::NestAccess> accesses; // in the order of those that are said
};
/// What is specified for each nest (ChoosePoints.cpp). An error at the leaf where something is missing or does not fit.
FailureOr<std::vector<LeafNest>> readNests(loops::LeafOp leaf, const LeafInBlock &own, const LeafTiling &tiling, const LeafPlaces &places,
                                           const Machine &machine);

/// An error at a leaf whose layouts say more of its products' accesses than holds, or nothing (ChooseAccesses.cpp).
LogicalResult checkAccesses(loops::LeafOp leaf, const leaf::LeafGraph &graph, const LeafTiling &tiling, const LeafPlaces &places, int64_t threads,
                            const Machine &machine);

/// After which of its loop nests the threads of a block wait, as a leaf says; an error where it does not (PlaceSyncs.cpp).
FailureOr<SmallVector<bool>> readSyncs(loops::LeafOp leaf, const LeafTiling &tiling, size_t nests);

/// Accesses of a leaf are no wider than what divides a row of a view: so many elements, by which rows begin evenly at best.
int64_t evenElements(MemRefType view);

} // namespace mlir::ft::togpu

#endif // FT_DIALECT_LOOPS_TRANSFORMS_GPU_ANALYSIS_LEAFINBLOCK_H
