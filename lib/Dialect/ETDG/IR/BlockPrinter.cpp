//===- BlockPrinter.cpp - etdg.block as a person would write it -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   etdg.block @r3 [map, scanl, scanl] (i, j, k) in [0, N) x [1, D) x [1, L)
//     reads (%x = %ysss[i, j - 1, k] : tensor<1x512xf32>, ...)
//     writes (%ysss[i, j, k]) { ... } : types of the buffers
//
//===----------------------------------------------------------------------===//
#include "BlockForm.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class BlockPrinter {
public:
  BlockPrinter(BlockOp op, OpAsmPrinter &p)
      : op(op), p(p), os(p.getStream()), dims(op.getDimNames()), symbols(op.getSymbolNames()) {}

  void print();

private:
  void printHeader();
  void printDomain();
  void printInnerDims();
  void printRead(ReadAttr read);
  void printPiece(PieceAttr piece, ArrayRef<StringAttr> names);
  void printAccess(int64_t operand, AffineMap map, ArrayRef<GatherAttr> gathers,
                   ArrayRef<StringAttr> names);
  void printExpr(AffineExpr expr, ArrayRef<StringAttr> names) {
    ft::printNamedExpr(os, expr, names, symbols);
  }
  void printOperand(int64_t operand) {
    Value value = op.getBuffers()[operand];
    used.insert(value);
    p.printOperand(value);
  }
  /// The block's dimensions and names for an element's.
  SmallVector<StringAttr> withElementDims(int64_t rank);

  BlockOp op;
  OpAsmPrinter &p;
  raw_ostream &os;
  SmallVector<StringAttr> dims, symbols;
  llvm::SetVector<Value> used;
};
} // namespace

SmallVector<StringAttr> BlockPrinter::withElementDims(int64_t rank) {
  SmallVector<StringAttr> names = dims;
  unsigned next = 0;
  for (int64_t i = 0; i < rank; ++i) {
    StringAttr name;
    do
      name = StringAttr::get(op.getContext(), "e" + std::to_string(next++));
    while (llvm::is_contained(names, name) || llvm::is_contained(symbols, name));
    names.push_back(name);
  }
  return names;
}

void BlockPrinter::printHeader() {
  if (auto name = op.getBlockNameAttr()) {
    os << ' ';
    p.printSymbolName(name);
  }
  os << " [";
  llvm::interleaveComma(op.getOperators().getAsValueRange<StringAttr>(), os);
  os << "] (";
  unsigned ancestors = op.getNumAncestors();
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (i)
      os << (i == ancestors ? " | " : ", ");
    os << dim.getValue();
  }
  if (ancestors && ancestors == dims.size())
    os << " |";
  os << ")";
}

/// Which constraints bound a dimension: those whose last one it is. An equality stands for all, -1: none.
struct BoundsOfDim {
  int equal = -1;
  SmallVector<unsigned> lower, upper;
};

static BoundsOfDim findBounds(IntegerSet set, ArrayRef<LinearForm> forms, unsigned d) {
  BoundsOfDim found;
  for (unsigned i = 0; i < set.getNumConstraints(); ++i) {
    if (forms[i].getLastDim() != static_cast<int>(d))
      continue;
    switch (classifyConstraint(set.getConstraint(i), set.isEq(i), d)) {
    case BoundClass::Lower:
      found.lower.push_back(i);
      break;
    case BoundClass::Upper:
      found.upper.push_back(i);
      break;
    case BoundClass::Equal:
      found.equal = found.equal < 0 ? i : found.equal;
      break;
    case BoundClass::Other:
      break;
    }
  }
  return found;
}

void BlockPrinter::printDomain() {
  IntegerSet set = op.getDomainSet();
  unsigned numAncestors = op.getNumAncestors(), numConstraints = set.getNumConstraints();
  SmallVector<bool> printed(numConstraints);
  SmallVector<LinearForm> forms;
  for (AffineExpr constraint : set.getConstraints())
    forms.push_back(LinearForm::of(constraint));

  MLIRContext *context = op.getContext();
  /// The bound that `constraint` sets for `d`, its coefficient of d being ±1:
  /// d = bound, d ≥ bound or d < bound.
  auto boundOf = [&](unsigned constraint, unsigned d) {
    AffineExpr dim = getAffineDimExpr(d, context);
    LinearForm rest = forms[constraint];
    int64_t c = rest.coefficient(dim);
    llvm::erase_if(rest.terms, [&](auto &term) { return term.first == dim; });
    for (auto &term : rest.terms)
      term.second *= -c;
    rest.constant *= -c;
    if (c == -1 && !set.isEq(constraint))
      ++rest.constant;
    return rest.toExpr(context);
  };
  auto printBounds = [&](ArrayRef<AffineExpr> bounds, StringRef join) {
    if (bounds.empty()) {
      os << "*";
      return;
    }
    if (bounds.size() > 1)
      os << join << "(";
    llvm::interleaveComma(bounds, os, [&](AffineExpr e) { printExpr(e, dims); });
    if (bounds.size() > 1)
      os << ")";
  };

  for (unsigned d = numAncestors; d < dims.size(); ++d) {
    os << (d == numAncestors ? " in " : " x ");
    auto [equal, lower, upper] = findBounds(set, forms, d);
    if (equal >= 0) {
      os << "= ";
      printExpr(boundOf(equal, d), dims);
      printed[equal] = true;
      continue;
    }
    SmallVector<AffineExpr> los, his;
    for (unsigned i : lower) {
      los.push_back(boundOf(i, d));
      printed[i] = true;
    }
    for (unsigned i : upper) {
      his.push_back(boundOf(i, d));
      printed[i] = true;
    }
    os << "[";
    printBounds(los, "max");
    os << ", ";
    printBounds(his, "min");
    os << ")";
  }

  bool first = true;
  if (isUniverse(set))
    return;
  for (unsigned i = 0; i < numConstraints; ++i) {
    if (printed[i])
      continue;
    os << (first ? " where " : " and ");
    first = false;
    printCondition(os, set.getConstraint(i), set.isEq(i), dims, symbols);
  }
}

void BlockPrinter::printAccess(int64_t operand, AffineMap map, ArrayRef<GatherAttr> gathers,
                               ArrayRef<StringAttr> names) {
  printOperand(operand);
  os << "[";
  for (auto [i, result] : llvm::enumerate(map.getResults())) {
    if (i)
      os << ", ";
    auto it = llvm::find_if(
        gathers, [&, i = i](GatherAttr g) { return g.getPosition() == static_cast<int64_t>(i); });
    if (it != gathers.end())
      printAccess(it->getOperand(), it->getMap().getValue(), {}, names);
    else
      printExpr(result, names);
  }
  os << "]";
}

void BlockPrinter::printPiece(PieceAttr piece, ArrayRef<StringAttr> names) {
  switch (piece.getKind()) {
  case SourceKind::Buffer:
    printAccess(piece.getOperand(), piece.getMap().getValue(), piece.getGathers(), names);
    break;
  case SourceKind::Splat:
    os << "splat ";
    p.printAttribute(piece.getValue());
    break;
  case SourceKind::Index:
    os << "index(";
    printExpr(piece.getMap().getValue().getResult(0), names);
    os << ")";
    break;
  }
}

void BlockPrinter::printRead(ReadAttr read) {
  SmallVector<StringAttr> names = withElementDims(read.getElementRank());
  if (read.getElementRank()) {
    os << "elem (";
    llvm::interleaveComma(ArrayRef(names).drop_front(dims.size()), os,
                          [&](StringAttr name) { os << name.getValue(); });
    os << ") ";
  }
  ArrayRef<PieceAttr> pieces = read.getPieces();
  if (pieces.size() == 1 && isUniverse(pieces.front().getSet().getValue())) {
    printPiece(pieces.front(), names);
    return;
  }
  os << "{";
  llvm::interleave(
      pieces, os,
      [&](PieceAttr piece) {
        printConditions(os, piece.getSet().getValue(), names, symbols);
        os << ": ";
        printPiece(piece, names);
      },
      ", ");
  os << "}";
}

/// A linalg operation of a leaf is a block of its own (docs/etdg.md: `[map, scanl | map,
/// reduce] (i, j | n, c)`). It says so itself in the body, so what stands after the bar
/// is a comment, which the parser skips: the widest of the leaf's, unit dimensions dropped.
void BlockPrinter::printInnerDims() {
  SmallVector<std::pair<StringRef, int64_t>> widest;
  if (op.isLeaf() && !op.getBody().empty())
    for (auto inner : op.getBody().front().getOps<linalg::LinalgOp>()) {
      SmallVector<std::pair<StringRef, int64_t>> inside;
      for (auto [type, size] : llvm::zip(inner.getIteratorTypesArray(), inner.getStaticLoopRanges()))
        if (size != 1)
          inside.push_back({type == utils::IteratorType::reduction ? "reduce" : "map", size});
      if (inside.size() > widest.size())
        widest = std::move(inside);
    }
  if (widest.empty())
    return;
  os << " // [.. | ";
  llvm::interleaveComma(widest, os, [&](auto &dim) { os << dim.first; });
  os << "] (.. | ";
  char letter = 'n';
  auto isTaken = [&](char c) {
    return llvm::any_of(dims, [&](StringAttr name) { return name.getValue() == StringRef(&c, 1); });
  };
  llvm::interleaveComma(widest, os, [&](auto &) {
    while (letter < 'z' && isTaken(letter))
      ++letter;
    os << letter++;
  });
  os << ") in ";
  llvm::interleave(
      widest, os, [&](auto &dim) { os << "[0, " << dim.second << ")"; }, " x ");
}

void BlockPrinter::print() {
  printHeader();
  printDomain();
  printInnerDims();
  // Nothing but the body's text depends on whether it is printed on one line.
  auto newline = [&] {
    p.printNewline();
    os << "    ";
  };
  if (op.getNumReads()) {
    newline();
    os << "reads (";
    for (auto [i, argument] : llvm::enumerate(op.getBody().getArguments())) {
      if (i >= op.getNumReads())
        break;
      if (i)
        os << ", ";
      p.printRegionArgument(argument, {}, /*omitType=*/true);
      os << " = ";
      printRead(op.getRead(i));
      os << " : " << argument.getType();
    }
    os << ")";
  }
  if (op.getNumWrites()) {
    newline();
    os << "writes (";
    for (unsigned i = 0; i < op.getNumWrites(); ++i) {
      if (i)
        os << ", ";
      printAccess(op.getWrite(i).getOperand(), op.getWrite(i).getMap().getValue(), {}, dims);
    }
    os << ")";
  }
  if (ScheduleAttr schedule = op.getScheduleAttr()) {
    newline();
    os << "schedule ";
    p.printStrippedAttrOrType(schedule);
  }
  p.printOptionalAttrDictWithKeyword(
      op->getAttrs(), {op.getBlockNameAttrName(), op.getOperatorsAttrName(), op.getDimsAttrName(),
                       op.getNumAncestorsAttrName(), op.getSymbolsAttrName(),
                       op.getDomainAttrName(), op.getReadsAttrName(), op.getWritesAttrName(),
                       op.getIdentityAttrName(), op.getScheduleAttrName()});
  os << " ";
  YieldOp yield = op.getYield();
  p.printRegion(op.getBody(), /*printEntryBlockArgs=*/false,
                /*printBlockTerminators=*/!yield || yield->getNumOperands() > 0 ||
                    !yield->getAttrs().empty());
  if (!op.getCombine().empty()) {
    os << " combine (";
    llvm::interleaveComma(op.getCombine().getArguments(), os,
                          [&](BlockArgument argument) { p.printRegionArgument(argument); });
    os << ") ";
    p.printRegion(op.getCombine(), /*printEntryBlockArgs=*/false);
  }
  if (!op.getIdentity().empty()) {
    os << " identity (";
    llvm::interleaveComma(op.getIdentity().getAsRange<ReadAttr>(), os,
                          [&](ReadAttr read) { printRead(read); });
    os << ")";
  }
  if (!used.empty()) {
    os << " : ";
    llvm::interleaveComma(used, os, [&](Value value) { os << value.getType(); });
  }
}

void BlockOp::print(OpAsmPrinter &p) { BlockPrinter(*this, p).print(); }
