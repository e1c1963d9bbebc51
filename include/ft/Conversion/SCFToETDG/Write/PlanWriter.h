//===- PlanWriter.h - the graph of a plan -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_CONVERSION_SCFTOETDG_WRITE_PLANWRITER_H
#define FT_CONVERSION_SCFTOETDG_WRITE_PLANWRITER_H

#include "ft/Conversion/SCFToETDG/Analyze/Plan.h"

namespace mlir::ft::raising {

/// Writes the graph that a plan describes, once. Asks nothing of the program; can't fail.
class PlanWriter {
public:
  PlanWriter(const GraphPlan &plan, Operation *before)
      : plan(plan), sets(*plan.sets), context(sets.getContext()), builder(before) {}

  etdg::GraphOp write();

private:
  etdg::GraphOp openGraph();
  void writeSteps(ArrayRef<Step> steps);
  void writeLeaf(const Step &step);
  void writeNest(const Step &step);
  void writeBody(const Step &step);
  etdg::BlockBuilder startBlock(const Step &step);
  etdg::BlockOp openLeaf(const Step &step);
  etdg::PieceAttr writePiece(etdg::BlockBuilder &block, const Piece &piece, unsigned numDims);
  Value argumentAs(Value program, Value argument);
  /// The value as a tensor of `type`, which differs in dimensions of size 1; a scalar as its one element.
  Value reshapeTo(Location loc, Value value, RankedTensorType type);
  Value bufferOf(const Home *home);
  void forgetBuffers(const Scope *scope);

  const GraphPlan &plan;
  const RaisingSets &sets;
  MLIRContext *context;
  OpBuilder builder;
  llvm::DenseMap<const Home *, Value> buffers; // of the bodies that are being written
  llvm::DenseMap<const Scope *, Block *> scopeBodies;
  llvm::DenseMap<const Scope *, Operation *> lastBuffer;
};

/// A buffer whose first `count` dimensions are the iterations of dimensions `first`, `first` + 1, … of the nest
/// that writes it; few of its planes may be needed at a time.
struct IterationPlanes {
  etdg::BufferOp buffer;
  unsigned first = 0, count = 0;
};

/// Finish.cpp: operators, planes and regions, which are asked of the finished graph. Names of new blocks begin at
/// `numBlocks`.
void finishGraph(etdg::GraphOp graph, const RaisingSets &sets, ArrayRef<IterationPlanes> planes, unsigned numBlocks);

} // namespace mlir::ft::raising

#endif // FT_CONVERSION_SCFTOETDG_WRITE_PLANWRITER_H
