//===- Rows.cpp - which dimensions may be moved, and be rows --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dimension may become parallel tasks or the rows of leaves when no dependence
// crosses it and its range is rectangular. The dependence test here is a
// sufficient one on the maps' results; the optimiser has the exact one.
//
//===----------------------------------------------------------------------===//

#include "ft/Schedule/Analysis/Dimensions.h"

#include "ft/Schedule/Analysis/Boxes.h"

#include "mlir/IR/AffineExprVisitor.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

SmallVector<BlockOp> schedule::leavesOf(BlockOp block) {
  SmallVector<BlockOp> leaves;
  block->walk([&](BlockOp inner) {
    if (inner.isLeaf())
      leaves.push_back(inner);
  });
  return leaves;
}

/// Dimensions or names that an index is asked for; what has more is left as it is.
static constexpr unsigned mostNames = 64;

bool schedule::dependsOnlyOn(AffineExpr expr, unsigned dim, unsigned numDims) {
  if (!expr.isFunctionOfDim(dim))
    return false;
  for (unsigned d = 0; d < numDims; ++d)
    if (d != dim && expr.isFunctionOfDim(d))
      return false;
  MLIRContext *context = expr.getContext();
  AffineExpr step = simplifyAffineExpr(expr.replace(getAffineDimExpr(dim, context), getAffineDimExpr(dim, context) + 1) - expr,
                                       numDims, mostNames);
  auto constant = dyn_cast<AffineConstantExpr>(step);
  return constant && constant.getValue() != 0;
}

AffineExpr schedule::withNames(AffineExpr expr, BlockOp block, SmallVectorImpl<StringAttr> &names) {
  SmallVector<AffineExpr> symbols;
  for (StringAttr name : block.getSymbolNames()) {
    auto *it = llvm::find(names, name);
    unsigned position = it - names.begin();
    if (it == names.end())
      names.push_back(name);
    symbols.push_back(getAffineSymbolExpr(position, expr.getContext()));
  }
  return expr.replaceSymbols(symbols);
}

static bool isInside(Value buffer, BlockOp block) {
  Operation *def = buffer.getDefiningOp();
  return def && block->isProperAncestor(def);
}

bool schedule::isFreeDimension(ArrayRef<BlockOp> nest, unsigned dim) {
  SmallVector<StringAttr> names;
  if (!isRectangular(nest, dim))
    return false;

  // No dependence crosses it: every buffer that the nest both writes and reads has
  // an index that is the same function of dim alone in each access.
  struct Access {
    BlockOp leaf;
    AffineMap map;
  };
  llvm::DenseMap<Value, SmallVector<Access>> writes, reads;
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block)) {
      for (unsigned i = 0; i < leaf.getNumWrites(); ++i) {
        Value buffer = leaf.getBuffers()[leaf.getWrite(i).getOperand()];
        if (!isInside(buffer, block))
          writes[buffer].push_back({leaf, leaf.getWrite(i).getMap().getValue()});
      }
      for (unsigned i = 0; i < leaf.getNumReads(); ++i)
        for (etdg::PieceAttr piece : leaf.getRead(i).getPieces()) {
          if (piece.getKind() != etdg::SourceKind::Buffer)
            continue;
          AffineMap map = piece.getMap().getValue();
          // Gathered positions say nothing about where the read is.
          SmallVector<AffineExpr> results(map.getResults());
          for (etdg::GatherAttr gather : piece.getGathers()) {
            results[gather.getPosition()] = getAffineConstantExpr(0, map.getContext());
            Value indices = leaf.getBuffers()[gather.getOperand()];
            if (!isInside(indices, block))
              reads[indices].push_back({leaf, gather.getMap().getValue()});
          }
          Value buffer = leaf.getBuffers()[piece.getOperand()];
          if (!isInside(buffer, block))
            reads[buffer].push_back(
                {leaf, AffineMap::get(map.getNumDims(), map.getNumSymbols(), results, map.getContext())});
        }
    }
  for (auto &[buffer, writers] : writes) {
    auto it = reads.find(buffer);
    if (it == reads.end())
      continue;
    unsigned rank = cast<etdg::BufferType>(buffer.getType()).getDepth();
    bool separated = false;
    for (unsigned p = 0; p < rank && !separated; ++p) {
      AffineExpr position = withNames(writers.front().map.getResult(p), writers.front().leaf, names);
      separated = dependsOnlyOn(position, dim, mostNames);
      auto same = [&](const Access &access) {
        return withNames(access.map.getResult(p), access.leaf, names) == position;
      };
      separated = separated && llvm::all_of(writers, same) && llvm::all_of(it->second, same);
    }
    if (!separated)
      return false;
  }
  return true;
}

bool schedule::isLinearIn(AffineExpr expr, unsigned dim, unsigned numDims, unsigned numSymbols) {
  if (!expr.isFunctionOfDim(dim))
    return true;
  MLIRContext *context = expr.getContext();
  AffineExpr d = getAffineDimExpr(dim, context);
  AffineExpr step = simplifyAffineExpr(expr.replace(d, d + 1) - expr, numDims, numSymbols);
  return !step.isFunctionOfDim(dim);
}

/// Whether a read is put together of numbers and constants that are the same along the dimension.
static bool countsAlike(etdg::ReadAttr read, unsigned dim) {
  return llvm::all_of(read.getPieces(), [&](etdg::PieceAttr piece) {
    return piece.getKind() != etdg::SourceKind::Buffer && piece.getGathers().empty() &&
           (piece.getKind() == etdg::SourceKind::Splat || !piece.getMap().getValue().isFunctionOfDim(dim)) &&
           llvm::none_of(piece.getSet().getValue().getConstraints(), [&](AffineExpr e) { return e.isFunctionOfDim(dim); });
  });
}

namespace {
/// Asks one access of a leaf after the other how it behaves along the rows.
class RowLimitFinder {
public:
  RowLimitFinder(BlockOp leaf, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf, bool strided, bool onGpu)
      : leaf(leaf), dim(dim), planesOf(planesOf), strided(strided), onGpu(onGpu) {}
  RowLimit find();

private:
  void allow(RowUse use, StringRef why);
  bool isOneByOne() const { return limit.use == RowUse::OneByOne; }
  bool isEven(AffineExpr expr) { return isLinearIn(expr, dim, leaf.getNumDims(), unsigned(leaf.getSymbolNames().size())); }
  void askMap(AffineMap map, Value buffer);
  /// Whether that was all that is to be asked of a read of scalars.
  bool askScalars(etdg::ReadAttr read, unsigned number);
  void askPiece(etdg::PieceAttr piece);

  BlockOp leaf;
  const unsigned dim;
  llvm::function_ref<int64_t(Value, unsigned)> planesOf;
  const bool strided, onGpu;
  RowLimit limit;
  bool isWrite = true; // of the access at hand
  unsigned number = 0;
};
} // namespace

void RowLimitFinder::allow(RowUse use, StringRef why) {
  if (use > limit.use)
    limit = {use, isWrite, number, why};
}

void RowLimitFinder::askMap(AffineMap map, Value buffer) {
  for (auto [p, expr] : llvm::enumerate(map.getResults()))
    if (!isEven(expr))
      allow(RowUse::OneByOne, "does not step evenly from row to row");
    else if (expr.isFunctionOfDim(dim) && planesOf(buffer, p) != 0)
      allow(RowUse::Runs, "goes around the planes that are kept");
}

bool RowLimitFinder::askScalars(etdg::ReadAttr read, unsigned at) {
  bool scalars = readsScalars(leaf, read);
  if (!scalars && !readsDivided(read))
    return false;
  // Elements put together from scalars are put together row by row; a box steps like an element.
  auto type = cast<RankedTensorType>(leaf.getBody().getArgument(at).getType());
  std::optional<Box> box = getBox(leaf, read, type, planesOf, strided);
  if (box && isEven(box->offset) && llvm::all_of(box->index.getResults(), [&](AffineExpr expr) { return isEven(expr); })) {
    askMap(box->index, leaf.getBuffers()[box->operand]);
    return true;
  }
  // Numbers that count other iterations than rows are put together once for all of them.
  if (scalars && !countsAlike(read, dim))
    allow(RowUse::OneByOne, "is put together of scalars for each row");
  return scalars;
}

void RowLimitFinder::askPiece(etdg::PieceAttr piece) {
  if (llvm::any_of(piece.getSet().getValue().getConstraints(), [&](AffineExpr expr) { return expr.isFunctionOfDim(dim); }))
    allow(RowUse::Runs, "has other pieces at other rows");
  for (etdg::GatherAttr gather : piece.getGathers()) {
    // Each row has private indices of its own, whatever the map says.
    Operation *indices = leaf.getBuffers()[gather.getOperand()].getDefiningOp();
    if (gather.getMap().getValue().isFunctionOfDim(dim) || (indices && !isa<etdg::GraphOp>(indices->getParentOp())))
      allow(RowUse::OneByOne, "is where data of the row say");
  }
  if (piece.getKind() == etdg::SourceKind::Buffer)
    askMap(piece.getMap().getValue(), leaf.getBuffers()[piece.getOperand()]);
  if (onGpu && piece.getKind() == etdg::SourceKind::Index && !isEven(piece.getMap().getValue().getResult(0)))
    allow(RowUse::OneByOne, "does not count evenly from row to row");
}

RowLimit RowLimitFinder::find() {
  for (number = 0; number < leaf.getNumWrites() && !isOneByOne(); ++number)
    askMap(leaf.getWrite(number).getMap().getValue(), leaf.getBuffers()[leaf.getWrite(number).getOperand()]);
  isWrite = false;
  for (number = 0; number < leaf.getNumReads() && !isOneByOne(); ++number)
    if (etdg::ReadAttr read = leaf.getRead(number); !askScalars(read, number))
      llvm::for_each(read.getPieces(), [&](etdg::PieceAttr piece) { askPiece(piece); });
  return limit;
}

std::string RowLimit::describe() const {
  return ((isWrite ? "write " : "read ") + Twine(number) + " " + why).str();
}

RowLimit schedule::findRowLimit(BlockOp leaf, unsigned dim, llvm::function_ref<int64_t(Value, unsigned)> planesOf, bool strided,
                                bool onGpu) {
  return RowLimitFinder(leaf, dim, planesOf, strided, onGpu).find();
}

int64_t schedule::bytesOf(RankedTensorType type) {
  unsigned bits = type.getElementType().isIndex() ? 64 : type.getElementTypeBitWidth();
  return type.getNumElements() * ((bits + 7) / 8);
}

/// Bytes of a leaf's reads and writes that vary along one of `dims`.
static int64_t varyingBytes(BlockOp leaf, ArrayRef<unsigned> dims) {
  int64_t bytes = 0;
  for (unsigned i = 0; i < leaf.getNumReads(); ++i)
    for (etdg::PieceAttr piece : leaf.getRead(i).getPieces())
      if (piece.getKind() == etdg::SourceKind::Buffer &&
          llvm::any_of(dims, [&](unsigned d) { return piece.getMap().getValue().isFunctionOfDim(d); })) {
        bytes += bytesOf(cast<RankedTensorType>(leaf.getBody().getArgument(i).getType()));
        break;
      }
  for (unsigned i = 0; i < leaf.getNumWrites(); ++i)
    bytes += bytesOf(cast<etdg::BufferType>(leaf.getBuffers()[leaf.getWrite(i).getOperand()].getType()).getElement());
  return bytes;
}

int64_t schedule::varyingInputBytes(ArrayRef<BlockOp> nest, unsigned dim) {
  int64_t bytes = 0;
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block))
      for (unsigned i = 0; i < leaf.getNumReads(); ++i)
        for (etdg::PieceAttr piece : leaf.getRead(i).getPieces()) {
          if (piece.getKind() != etdg::SourceKind::Buffer || !piece.getMap().getValue().isFunctionOfDim(dim))
            continue;
          Value buffer = leaf.getBuffers()[piece.getOperand()];
          if (isa<BlockArgument>(buffer) || isa_and_nonnull<etdg::ConstantOp>(buffer.getDefiningOp()))
            bytes += bytesOf(cast<RankedTensorType>(leaf.getBody().getArgument(i).getType()));
        }
  return bytes;
}

std::optional<unsigned> schedule::chooseRowDimension(ArrayRef<BlockOp> nest, ArrayRef<unsigned> free) {
  std::optional<unsigned> best;
  int64_t bestBytes = 0;
  for (unsigned dim : free) {
    int64_t bytes = 0;
    for (BlockOp block : nest)
      for (BlockOp leaf : leavesOf(block))
        bytes += varyingBytes(leaf, dim);
    if (!best || bytes <= bestBytes) {
      best = dim;
      bestBytes = bytes;
    }
  }
  return best;
}

int64_t schedule::chooseMaxRows(ArrayRef<BlockOp> nest, ArrayRef<unsigned> dims, const Machine &machine) {
  int64_t largest = 1;
  for (BlockOp block : nest)
    for (BlockOp leaf : leavesOf(block))
      largest = std::max(largest, varyingBytes(leaf, dims));
  return std::clamp<int64_t>(machine.cpu.rowBytes / largest, 1, machine.cpu.mostRows);
}
