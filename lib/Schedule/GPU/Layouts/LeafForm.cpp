//===- LeafForm.cpp - a leaf as loop nests over buffers -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The normal form of a leaf (LeafGraph.h) for one row or for the rows of a task,
// and what of it differs between rows and between lifts.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/LeafGraph/CopyBody.h"
#include "ft/Dialect/ETDG/IR/Sums.h"
#include "ft/Schedule/Analysis/Boxes.h"
#include "ft/Schedule/Analysis/Dimensions.h"
#include "ft/Schedule/GPU/Layouts/GpuLeaf.h"
#include "ft/Schedule/GPU/Plan/StagedReads.h"


using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

int64_t schedule::elementBytes(Type element) {
  return element.isIndex() ? 8 : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
}

SmallVector<bool> schedule::findReadsOfRows(BlockOp block, std::optional<unsigned> rowDim, bool rowWise, llvm::function_ref<bool(Value)> isPerRow) {
  SmallVector<bool> ofRows;
  for (unsigned i = 0; i < block.getNumReads() && rowWise; ++i) {
    bool varies = false;
    for (etdg::PieceAttr piece : block.getRead(i).getPieces()) {
      if (piece.getKind() == etdg::SourceKind::Splat)
        continue;
      varies |= piece.getMap().getValue().isFunctionOfDim(*rowDim);
      if (piece.getKind() == etdg::SourceKind::Buffer)
        varies |= isPerRow(block.getBuffers()[piece.getOperand()]);
    }
    ofRows.push_back(varies);
  }
  return ofRows;
}

LogicalResult schedule::makeLeafForm(LeafForm &form, BlockOp block, const Machine &machine, std::optional<unsigned> rowDim, bool rowWise,
                                     llvm::function_ref<bool(Value)> isPerRow,
                                     llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  // A single row takes all as its own, so that results are computed in place.
  if (failed(buildLeafForm(form, block, findReadsOfRows(block, rowDim, rowWise, isPerRow), getReadStrides(block, planesOf))))
    return failure();
  leaf::fuseNests(form.graph, machine.gpu.fusedOps);
  leaf::findGuards(form.graph);
  return success();
}

SmallVector<SmallVector<int64_t>> schedule::getReadStrides(BlockOp leaf,
                                                           llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  SmallVector<SmallVector<int64_t>> strides(leaf.getNumReads());
  for (unsigned i = 0; i < leaf.getNumReads(); ++i) {
    auto type = cast<RankedTensorType>(leaf.getBody().getArgument(i).getType());
    if (std::optional<StagedRead> staged = getStagedRead(leaf, i)) {
      strides[i] = staged->strides;
      continue;
    }
    if (!readsScalars(leaf, leaf.getRead(i)) && !readsDivided(leaf.getRead(i)))
      continue;
    if (std::optional<Box> box = getBox(leaf, leaf.getRead(i), type, planesOf); box && !box->inOrder)
      strides[i] = box->strides;
  }
  return strides;
}

void schedule::setLeaf(LeafForm &form, BlockOp leaf) {
  form.block = leaf;
  form.splits.clear();
  form.inputs.clear();
  for (unsigned i = 0; i < leaf.getNumReads(); ++i) {
    auto holds = [&](etdg::SourceKind kind) {
      return llvm::any_of(leaf.getRead(i).getPieces(), [&](etdg::PieceAttr piece) { return piece.getKind() == kind; });
    };
    form.inputs.push_back({cast<RankedTensorType>(leaf.getBody().getArgument(i).getType()), holds(etdg::SourceKind::Index),
                           holds(etdg::SourceKind::Splat)});
  }
}

LogicalResult schedule::buildLeafForm(LeafForm &form, BlockOp block, ArrayRef<bool> batched,
                                      ArrayRef<SmallVector<int64_t>> strides) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(block.getLoc());
  OpBuilder builder = OpBuilder::atBlockEnd(module->getBody());
  func::FuncOp function = leaf::copyBody(block.getBody().front(), builder, block.getLoc());
  setLeaf(form, block);
  return buildLeafForm(form, std::move(module), function, batched, strides);
}

LogicalResult schedule::buildLeafForm(LeafForm &form, OwningOpRef<ModuleOp> module, func::FuncOp function,
                                      ArrayRef<bool> batched, ArrayRef<SmallVector<int64_t>> strides) {
  LeafOptions leafOptions;
  leafOptions.sums = etdg::getSumsOfHalves(function.getContext());
  leafOptions.batched.assign(batched.begin(), batched.end());
  leafOptions.strides.assign(strides.begin(), strides.end());
  if (failed(leaf::normalizeLeaf(function)))
    return failure();
  FailureOr<leaf::LeafGraph> graph = leaf::buildLeafGraph(function, leafOptions);
  if (failed(graph))
    return failure();
  form.graph = std::move(*graph);
  form.module = std::move(module);
  return success();
}

bool schedule::readsInside(BlockOp leaf, unsigned number, llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  etdg::ReadAttr read = leaf.getRead(number);
  auto type = cast<RankedTensorType>(leaf.getBody().getArgument(number).getType());
  return readsScalars(leaf, read) && !getBox(leaf, read, type, planesOf);
}

bool schedule::isUniform(BlockOp leaf, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf) {
  return isRowUniform(leaf, dim, planesOf);
}

//===----------------------------------------------------------------------===//
// Lifts
//===----------------------------------------------------------------------===//

/// All that one nest touches.
static bool anyView(const leaf::Nest &nest, llvm::function_ref<bool(const leaf::ElementView &)> holds) {
  for (const leaf::NestMember &member : nest.members) {
    if (llvm::any_of(member.reads, holds) || llvm::any_of(member.inits, holds) || llvm::any_of(member.writes, holds))
      return true;
    for (const auto &[value, view] : member.captured)
      if (holds(view))
        return true;
  }
  return false;
}

SmallVector<bool> schedule::findLifted(const leaf::LeafGraph &graph, SmallVector<bool> lifted) {
  auto isLifted = [&](const leaf::ElementView &view) {
    return (!view.isSplat() && lifted[view.buffer]) ||
           llvm::any_of(view.terms, [&](const leaf::DynamicTerm &term) { return lifted[term.buffer]; });
  };
  // What a nest computes from such values, and what shares a nest with it.
  for (bool changed = true; changed;) {
    changed = false;
    for (const leaf::Nest &nest : graph.nests) {
      if (!anyView(nest, isLifted))
        continue;
      for (const leaf::NestMember &member : nest.members)
        for (const leaf::ElementView &view : member.writes)
          if (graph.buffers[view.buffer].kind == leaf::Buffer::Kind::Scratch && !lifted[view.buffer])
            changed = lifted[view.buffer] = true;
    }
  }
  return lifted;
}

/// Whether what a read gets may differ between iterations of `dim` that are computed at once. Where
/// pieces are chosen at run time, one of them that lies in memory has a stride, be it 0.
static bool readIsLifted(BlockOp block, unsigned number, unsigned dim) {
  ArrayRef<etdg::PieceAttr> pieces = block.getRead(number).getPieces();
  if (readsInside(block, number, [](Value, unsigned) { return 0; }))
    return false;
  for (etdg::PieceAttr piece : pieces) {
    if (piece.getKind() == etdg::SourceKind::Splat)
      continue;
    if (pieces.size() > 1 || piece.getMap().getValue().isFunctionOfDim(dim))
      return true;
  }
  return false;
}

SmallVector<bool> schedule::findLifted(const LeafForm &form, unsigned dim) {
  SmallVector<bool> lifted(form.graph.buffers.size());
  BlockOp block = form.block;
  for (auto [i, buffer] : llvm::enumerate(form.graph.buffers)) {
    if (buffer.kind == leaf::Buffer::Kind::Input)
      lifted[i] = readIsLifted(block, buffer.number, dim);
    else if (buffer.kind == leaf::Buffer::Kind::Output)
      lifted[i] = block.getWrite(buffer.number).getMap().getValue().isFunctionOfDim(dim);
  }
  return findLifted(form.graph, std::move(lifted));
}
