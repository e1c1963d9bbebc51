//===- Characterize.cpp - arithmetic of statements, and tiles of edges ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Souffle §5.3 divides: arithmetic operations by elements read or written. And
// which tiles of its input a relation needs, dimension by dimension: how far an index
// may lie from the output's index that moves it is asked of the sets.
//
//===----------------------------------------------------------------------===//
#include "ft/Analysis/Dependences.h"
#include "ft/Analysis/TensorExpressions/TensorExpressions.h"
#include "ft/Dialect/ETDG/IR/SetText.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/CastInterfaces.h"

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isArithmetic(Operation &op) {
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op.getDialect()) && !op.hasTrait<OpTrait::ConstantLike>() &&
         !isa<CastOpInterface>(op);
}

static double product(ArrayRef<int64_t> sizes) {
  double all = 1;
  for (int64_t size : sizes)
    all *= ShapedType::isDynamic(size) ? 1 : double(size);
  return all;
}

static double elementsOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? product(tensor.getShape()) : 1;
}

double etdg::countOperations(BlockOp leaf) {
  /// Of an element of a softmax: its maximum, difference, exponential, sum and quotient.
  constexpr double ofSoftmax = 5;
  double all = 0;
  for (Operation &op : leaf.getBody().front()) {
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
      all += product(linalgOp.getStaticLoopRanges()) * double(llvm::count_if(op.getRegion(0).front(), isArithmetic));
    else if (isa<linalg::SoftmaxOp>(op))
      all += ofSoftmax * elementsOf(op.getResult(0).getType());
    else if (isArithmetic(op))
      all += elementsOf(op.getResult(0).getType());
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

StringRef etdg::stringify(TileRelation relation) {
  constexpr StringLiteral names[] = {"identity", "band", "block-diagonal", "all"};
  return names[unsigned(relation)];
}

namespace {
/// Of one dimension of an input.
enum class DimTiles { Trivial, Same, Near, Whole };

/// The points of a relation, and what its indices are there.
class RelationSet {
public:
  RelationSet(const ElementRelation &relation, const SymbolSpace &space)
      : relation(relation), block(relation.statement), names(block.getSymbolNames()), builder(space, unsigned(relation.variables.size())) {}
  /// A failure where the sets can't be asked.
  LogicalResult build();
  DimTiles tilesOf(AffineExpr index, std::optional<int64_t> extent);

private:
  const ElementRelation &relation;
  BlockOp block;
  SmallVector<StringAttr> names;
  SetBuilder builder;
};
} // namespace

LogicalResult RelationSet::build() {
  if (failed(addDomain(builder, block)))
    return failure();
  for (auto [number, variable] : llvm::enumerate(relation.variables)) {
    if (number < block.getNumDims())
      continue;
    builder.add(builder.variable(unsigned(number)), /*isEq=*/false);
    if (!variable.size)
      continue;
    LinearExpr upper = builder.variable(unsigned(number));
    upper *= -1;
    upper.constant = *variable.size - 1;
    builder.add(upper, /*isEq=*/false);
  }
  IntegerSet where = relation.where;
  return where ? builder.add(where, names) : success();
}

/// Whether a variable of a relation moves its output.
static bool movesOutput(const ElementRelation &relation, unsigned number) {
  return llvm::any_of(relation.outputIndex, [&](AffineExpr expr) { return expr.isFunctionOfDim(number); });
}

DimTiles RelationSet::tilesOf(AffineExpr index, std::optional<int64_t> extent) {
  if (extent == 1)
    return DimTiles::Trivial;
  std::optional<unsigned> moved;
  for (auto [number, variable] : llvm::enumerate(relation.variables)) {
    if (!index.isFunctionOfDim(number) || !movesOutput(relation, unsigned(number)))
      continue;
    if (moved || LinearForm::of(index).coefficient(getAffineDimExpr(number, index.getContext())) == 0)
      return DimTiles::Whole;
    moved = unsigned(number);
  }
  if (!moved)
    return DimTiles::Whole;
  // A stride moves tiles apart, and each still needs neighbours alone: in units of the stride.
  int64_t stride = LinearForm::of(index).coefficient(getAffineDimExpr(*moved, index.getContext()));
  std::optional<LinearExpr> distance = builder.flatten(index - stride * getAffineDimExpr(*moved, index.getContext()), names);
  if (!distance)
    return DimTiles::Whole;
  DistanceRange range = DependenceAnalysis::getRange(builder, *distance);
  if (!range.low || !range.high)
    return DimTiles::Whole;
  if (stride == 1 && range.isZero())
    return DimTiles::Same;
  return extent && *range.high - *range.low + 1 >= *extent ? DimTiles::Whole : DimTiles::Near;
}

TileRelation etdg::getTileRelation(const ElementRelation &relation, const SymbolSpace &space) {
  RelationSet set(relation, space);
  if (failed(set.build()))
    return TileRelation::All;
  auto type = cast<BufferType>(relation.input.getType());
  // (Where the buffer is private to iterations of a block, each reads its own.)
  unsigned same = getNumOwnerDims(relation.input) > 0, near = 0, whole = 0;
  for (auto [dim, index] : llvm::enumerate(relation.inputIndex)) {
    std::optional<int64_t> extent;
    if (dim >= type.getDepth())
      extent = type.getElement().getDimSize(dim - type.getDepth());
    else if (ft::LengthAttr length = type.getLengths()[dim]; length.isConstant())
      extent = length.getConstant();
    DimTiles tiles = set.tilesOf(index, extent);
    same += tiles == DimTiles::Same;
    near += tiles == DimTiles::Near;
    whole += tiles == DimTiles::Whole;
  }
  if (near > 0)
    return TileRelation::Band;
  if (whole > 0)
    return same > 0 ? TileRelation::BlockDiagonal : TileRelation::All;
  // A single element is one tile: that of others, where there are others.
  bool isSingle = same == 0 && llvm::any_of(llvm::seq<unsigned>(0, relation.variables.size()), [&](unsigned v) { return movesOutput(relation, v); });
  return isSingle ? TileRelation::All : TileRelation::Identity;
}
