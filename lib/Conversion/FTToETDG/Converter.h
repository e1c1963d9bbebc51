//===- Converter.h - one ft function to one graph ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// State of the conversion of one function. FTToETDG.cpp sets up the graph,
// Nests.cpp turns compute operators into nests, Leaves.cpp writes leaves and
// copies.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_CONVERSION_FTTOETDG_CONVERTER_H
#define FT_LIB_CONVERSION_FTTOETDG_CONVERTER_H

#include "View.h"

#include "ft/Conversion/GraphWriter/ConstraintSets.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::ft::toetdg {

/// The iteration vector that a region runs under, and whose `combine` its block takes.
struct RegionVector : graphwriter::IterationVector {
  RegionVector() = default;
  RegionVector(graphwriter::IterationVector vector) : IterationVector(std::move(vector)) {}
  ComputeOp combining;
};

/// One member of a value: values of tuple type have several.
struct MemberRef {
  Value value;
  unsigned member;
  bool operator<(const MemberRef &o) const {
    return std::make_pair(value.getAsOpaquePointer(), member) < std::make_pair(o.value.getAsOpaquePointer(), o.member);
  }
};

/// A yielded member that needs an identity copy block.
struct CopyRequest {
  MemberRef source;
  Place dest;
};

class Converter {
public:
  Converter(func::FuncOp function) : function(function), builder(function.getContext()) {}

  /// Builds the graph before the function; null (with errors emitted) when it can't.
  etdg::GraphOp convert();

private:
  // FTToETDG.cpp
  LogicalResult checkConvertible();
  Value createBuffer(Location loc, ArrayRef<LengthAttr> lengths, RankedTensorType element, ArrayRef<int64_t> live = {});
  Value constantBuffer(Location loc, ElementsAttr value);
  ListView bufferView(Value buffer, const Member &member);
  ArrayRef<ListView> viewsOf(Value value);
  LogicalResult recordChecks();

  // Nests.cpp
  using Places = std::map<MemberRef, Place>;
  /// Assigns destinations to fresh results; what is not fresh becomes a copy.
  void planDest(Block &body, MemberRef source, Place dest, Places &dests, SmallVectorImpl<CopyRequest> &copies);
  /// A graph body: blocks for everything in `body` at the builder's insertion point.
  LogicalResult lowerBody(Block &body, const RegionVector &at, ArrayRef<Place> yields);
  LogicalResult lowerCompute(ComputeOp op, const RegionVector &at, const Places &dests);
  /// No iteration at any lengths that the bounds allow.
  bool neverRuns(const RegionVector &at);
  /// Whether a block can hold the operator's `combine`; a remark says why not.
  bool canCombine(ComputeOp op);
  LogicalResult lowerNest(ComputeOp op, const RegionVector &at, ArrayRef<Place> results);
  LogicalResult lowerRegion(ComputeOp op, const RegionVector &at, ArrayRef<Place> yields);
  struct RegionForm;
  LogicalResult analyseRegion(ComputeOp op, RegionForm &form);
  LogicalResult viewAccesses(Block &body, RegionForm &form);
  std::optional<SmallVector<Place>> destsOfInner(Block &body, const RegionForm &form, ArrayRef<Place> yields);
  bool isLeafForm(const RegionForm &form);
  LogicalResult lowerChildren(ComputeOp op, const RegionVector &at, ArrayRef<Place> yields);
  void openDim(ComputeOp op, RegionVector &at);
  void viewStates(ComputeOp op, ArrayRef<Place> states, AffineExpr t, AffineExpr lag, AffineExpr previous);
  unsigned scanDepth(ComputeOp op);
  bool splits(ComputeOp scan);
  void viewScanStates(ComputeOp op, ArrayRef<Place> states, bool initial, AffineExpr previous);
  Place createPlanes(ComputeOp op, const Member &member);
  SmallVector<Place> placeResults(ComputeOp op, const Places &dests, SmallVectorImpl<etdg::BufferOp> &planes);
  void viewLastPlanes(ComputeOp op, ArrayRef<Place> results);
  /// `lowerNest` into `nest`, such that all its blocks have the same dimensions.
  LogicalResult fillNest(etdg::NestOp nest, ComputeOp op, const RegionVector &at, ArrayRef<Place> results);
  LogicalResult lowerAccess(Operation *op, const RegionVector *copiesAllowed, bool &needsCopy);
  SmallVector<Value> terminatorOperands(Block &body);

  // Leaves.cpp
  bool isTensorStatement(Operation *op);
  bool isRepeatable(Operation *op);
  LogicalResult lowerRun(ArrayRef<Operation *> run, const RegionVector &at, const Places &dests);
  LogicalResult emitLeaf(Location loc, const RegionVector &at, ArrayRef<Operation *> statements,
                         ArrayRef<std::pair<Value, Place>> yields);
  LogicalResult emitCopy(Location loc, const RegionVector &at, const ListView &view, const Place &dest, StringRef why);
  FailureOr<etdg::ReadAttr> makeRead(Location loc, etdg::BlockBuilder &block, const RegionVector &at, const ListView &view);
  LogicalResult makeWrite(Location loc, etdg::BlockBuilder &block, const RegionVector &at, const Place &dest);
  etdg::BlockBuilder startBlock(const RegionVector &at) {
    return graphwriter::startBlock(at, at.domain, names.names, names.context, numBlocks++);
  }
  LogicalResult attachCombine(etdg::BlockBuilder &spec, const RegionVector &at);
  void cloneCombine(etdg::BlockOp block, const RegionVector &at);
  /// The constant computations that `value` is, operands first; false where it is none.
  bool collectRepeated(Value value, llvm::SetVector<Operation *> &repeated);
  /// Those that a `combine` uses from outside; false where it uses anything else.
  bool collectCombineConstants(ComputeOp op, llvm::SetVector<Operation *> &constants);

  func::FuncOp function;
  OpBuilder builder;
  etdg::GraphOp graph;
  Numbering names;
  BoundsAttr bounds;
  std::unique_ptr<graphwriter::ConstraintSets> sets;
  DenseMap<Value, std::vector<ListView>> environment;
  DenseMap<Attribute, Value> constants;
  unsigned numBlocks = 0;
  /// How the body of an operator was lowered in the regions of the nest that is being built, one or both.
  enum HowLowered : unsigned { GoesOnInside = 1, BecomesChildren = 2 };
  DenseMap<Operation *, unsigned> howLowered;
  DenseMap<Operation *, unsigned> scanDepths;
  /// Whose bodies become children although some region does not need it.
  DenseSet<Operation *> asChildren;
};

} // namespace mlir::ft::toetdg

#endif // FT_LIB_CONVERSION_FTTOETDG_CONVERTER_H
