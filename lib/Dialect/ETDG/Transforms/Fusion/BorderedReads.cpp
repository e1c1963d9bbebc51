//===- BorderedReads.cpp - reads of a box with one scalar around ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `elem (e0, e1) {e0 >= 1 and e0 <= 8 and e1 >= 1: %x[i, e0 - 1, e1 - 1], …: splat 0}` is `%x[i]`, padded. Engines read what a leaf
// pads in place, with borders (LeafGraph.h), so the leaf reads the box and pads it itself: no
// padded copy is in memory.
//
//===----------------------------------------------------------------------===//
#include "BorderedReads.h"

#include "ft/Dialect/ETDG/IR/SetText.h"
#include "ft/Dialect/ETDG/Transforms/ElementForm.h"
#include "ft/Dialect/ETDG/Transforms/MergeUtils.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::etdg;

/// Narrows [low, high] of one dimension of the element to a constraint; false where it is none on one such dimension.
static bool narrow(AffineExpr expr, bool isEquality, unsigned numDims, MutableArrayRef<int64_t> low, MutableArrayRef<int64_t> high) {
  LinearForm form = LinearForm::of(expr);
  auto dim = form.terms.size() == 1 ? dyn_cast<AffineDimExpr>(form.terms.front().first) : AffineDimExpr(nullptr);
  if (!dim || dim.getPosition() < numDims || form.terms.front().second == 0)
    return false;
  unsigned e = dim.getPosition() - numDims;
  int64_t factor = form.terms.front().second, bound = -form.constant; // factor * e >= bound
  if (isEquality && bound % factor != 0)
    return false;
  if (isEquality || factor > 0)
    low[e] = std::max(low[e], isEquality ? bound / factor : llvm::divideCeilSigned(bound, factor));
  if (isEquality || factor < 0)
    high[e] = std::min(high[e], isEquality ? bound / factor : llvm::divideFloorSigned(bound, factor));
  return true;
}

/// The piece in memory, where all others are one scalar, which is `value` then.
static PieceAttr findBox(ReadAttr read, TypedAttr &value) {
  PieceAttr box;
  for (PieceAttr piece : read.getPieces()) {
    if (piece.getKind() == SourceKind::Buffer && piece.getGathers().empty() && !box)
      box = piece;
    else if (piece.getKind() == SourceKind::Splat && (!value || value == piece.getValue()))
      value = piece.getValue();
    else
      return nullptr;
  }
  return value ? box : nullptr;
}

std::optional<BorderedRead> etdg::matchBorder(ReadAttr read, RankedTensorType type, ValueRange buffers, unsigned numDims) {
  unsigned rank = read.getElementRank();
  BorderedRead found;
  PieceAttr box = rank ? findBox(read, found.value) : nullptr;
  if (!box)
    return std::nullopt;
  MLIRContext *context = read.getContext();
  SmallVector<int64_t> first(rank, 0), last;
  for (int64_t size : type.getShape())
    last.push_back(size - 1);
  IntegerSet set = box.getSet().getValue();
  for (auto [expr, isEquality] : llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    if (!narrow(expr, isEquality, numDims, first, last))
      return std::nullopt;
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> dims;
  for (unsigned d = 0; d < numDims; ++d)
    dims.push_back(getAffineDimExpr(d, context));
  for (unsigned e = 0; e < rank; ++e) {
    if (first[e] > last[e])
      return std::nullopt;
    found.low.push_back(first[e]);
    found.high.push_back(type.getDimSize(e) - 1 - last[e]);
    shape.push_back(last[e] - first[e] + 1);
    dims.push_back(getAffineDimExpr(numDims + e, context) + first[e]);
  }
  AffineMap map = box.getMap().getValue();
  SmallVector<AffineExpr> index;
  for (AffineExpr result : map.getResults())
    index.push_back(simplifyAffineExpr(result.replaceDims(dims), numDims + rank, map.getNumSymbols()));
  auto whole = PieceAttr::get(context, IntegerSetAttr::get(getUniverse(context, numDims + rank, set.getNumSymbols())),
                              SourceKind::Buffer, box.getOperand(),
                              AffineMapAttr::get(AffineMap::get(numDims + rank, map.getNumSymbols(), index, context)), {}, {});
  found.read = ReadAttr::get(context, {whole}, rank);
  found.type = RankedTensorType::get(shape, type.getElementType());
  if (!hasConstantSteps(found.read, buffers, numDims))
    return std::nullopt;
  return found;
}

/// Whether an operation gives its operand back, in another order or more often.
static bool onlyMoves(linalg::LinalgOp op) {
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  return op.getNumReductionLoops() == 0 && isa<BlockArgument>(yielded);
}

bool etdg::isComputedInPlace(BlockArgument argument) {
  return llvm::all_of(argument.getUses(), [](OpOperand &use) {
    auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return op && op.isDpsInput(&use) && !onlyMoves(op);
  });
}

StringRef etdg::whyCopied(tensor::PadOp op) {
  auto isCutOff = [](int64_t amount) { return amount < 0; }; // (or not known)
  Value value = op.getConstantPaddingValue();
  if (!value || !matchPattern(value, m_Constant()))
    return "its border is no constant";
  if (llvm::any_of(op.getStaticLow(), isCutOff) || llvm::any_of(op.getStaticHigh(), isCutOff))
    return "how wide its border is depends on data, or it is cut off at a side";
  return "";
}

void etdg::padArgument(BlockArgument argument, const BorderedRead &bordered) {
  auto type = cast<RankedTensorType>(argument.getType());
  argument.setType(bordered.type);
  OpBuilder builder = OpBuilder::atBlockBegin(argument.getOwner());
  Location loc = argument.getOwner()->getParentOp()->getLoc();
  Value value = arith::ConstantOp::create(builder, loc, bordered.value);
  SmallVector<OpFoldResult> low, high;
  for (auto [before, behind] : llvm::zip_equal(bordered.low, bordered.high)) {
    low.push_back(builder.getIndexAttr(before));
    high.push_back(builder.getIndexAttr(behind));
  }
  auto padded = tensor::PadOp::create(builder, loc, type, argument, low, high, value);
  argument.replaceAllUsesExcept(padded, padded);
}
