//===- WriteRows.cpp - a statement over its rows --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The block that computes one row of a statement at each of its points: what its
// operation takes becomes reads of rows, constants are made for one row.
//
//===----------------------------------------------------------------------===//
#include "SpreadRows.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::etdg;

namespace {
class RowWriter {
public:
  RowWriter(Statement &statement, ArrayRef<StringAttr> dims)
      : statement(statement), block(statement.block), old(BlockBuilder::from(block)), builder(block) {
    spec = old;
    spec.reads.clear();
    spec.dims.assign(dims.begin(), dims.end());
    spec.operators.assign(dims.size(), ft::OperatorKind::Map);
  }
  BlockOp run();

private:
  /// A value of the old body as the new one has it: read, or made of constants.
  struct Need {
    Value value;
    SmallVector<AffineExpr> index;
    std::optional<unsigned> read;
  };
  void require(Value value, ArrayRef<AffineExpr> index);
  void requireAbove(Operation *op);
  ReadAttr readRow(ReadAttr read, RankedTensorType type, ArrayRef<AffineExpr> index);
  ReadAttr readConstant(DenseElementsAttr value, ArrayRef<AffineExpr> index);
  Value get(Value value, ArrayRef<AffineExpr> index, IRMapping &whole);
  Value getWhole(Value value, IRMapping &whole);

  Statement &statement;
  BlockOp block, made;
  BlockBuilder old, spec;
  OpBuilder builder;
  SmallVector<Need> needs;
  SmallVector<Type> types;
};
} // namespace

/// A constant of several numbers, which a row has to read.
static DenseElementsAttr getTable(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && !constant.isSplat() ? constant : DenseElementsAttr();
}

/// The read at some rows: dimensions of the element that `index` determines become expressions of the iteration.
ReadAttr RowWriter::readRow(ReadAttr read, RankedTensorType type, ArrayRef<AffineExpr> index) {
  MLIRContext *context = block.getContext();
  read = toScalars(read, type, 0);
  unsigned rows = spec.dims.size(), rank = read.getElementRank(), taken = index.size();
  SmallVector<AffineExpr> dims(index);
  for (unsigned e = taken; e < rank; ++e)
    dims.push_back(getAffineDimExpr(rows + e - taken, context));
  unsigned count = rows + rank - taken;
  SmallVector<PieceAttr> pieces;
  for (PieceAttr piece : read.getPieces()) {
    auto at = [&](AffineMap map) {
      SmallVector<AffineExpr> symbols;
      for (unsigned s = 0; s < map.getNumSymbols(); ++s)
        symbols.push_back(getAffineSymbolExpr(s, context));
      return AffineMapAttr::get(simplifyAffineMap(map.replaceDimsAndSymbols(dims, symbols, count, map.getNumSymbols())));
    };
    IntegerSet set = piece.getSet().getValue();
    SmallVector<AffineExpr> symbols;
    for (unsigned s = 0; s < set.getNumSymbols(); ++s)
      symbols.push_back(getAffineSymbolExpr(s, context));
    set = set.replaceDimsAndSymbols(dims, symbols, count, set.getNumSymbols());
    SmallVector<GatherAttr> gathers;
    for (GatherAttr gather : piece.getGathers())
      gathers.push_back(GatherAttr::get(context, gather.getPosition(), gather.getOperand(), at(gather.getMap().getValue())));
    pieces.push_back(PieceAttr::get(context, IntegerSetAttr::get(canonicalizeSet(set)), piece.getKind(),
                                    piece.getOperand(), at(piece.getMap().getValue()), gathers, piece.getValue()));
  }
  return ReadAttr::get(context, pieces, rank - taken);
}

ReadAttr RowWriter::readConstant(DenseElementsAttr value, ArrayRef<AffineExpr> index) {
  auto type = cast<RankedTensorType>(value.getType());
  MLIRContext *context = block.getContext();
  Value buffer = ConstantOp::create(builder, block.getLoc(), BufferType::get(context, {}, type), value);
  int64_t operand = spec.operandFor(buffer);
  auto whole = PieceAttr::getBuffer(getUniverse(context, 0, 0), operand, AffineMap::get(0, 0, context));
  return readRow(ReadAttr::get(context, whole, 0), type, index);
}

void RowWriter::require(Value value, ArrayRef<AffineExpr> index) {
  for (const Need &need : needs)
    if (need.value == value && ArrayRef(need.index) == index)
      return;
  Need need{value, SmallVector<AffineExpr>(index), std::nullopt};
  auto argument = dyn_cast<BlockArgument>(value);
  auto type = dyn_cast<RankedTensorType>(value.getType());
  DenseElementsAttr table = index.empty() ? DenseElementsAttr() : getTable(value);
  if (table || (argument && argument.getOwner() == &block.getBody().front())) {
    need.read = spec.reads.size();
    spec.reads.push_back(table ? readConstant(table, index) : readRow(old.reads[argument.getArgNumber()], type, index));
    types.push_back(dropLeading(type, index.size()));
  } else if (Operation *def = value.getDefiningOp(); def && index.empty()) {
    for (Value operand : def->getOperands())
      require(operand, {});
    requireAbove(def);
  }
  needs.push_back(need);
}

void RowWriter::requireAbove(Operation *op) {
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(op->getRegions(), above);
  for (Value value : above)
    require(value, {});
}

Value RowWriter::getWhole(Value value, IRMapping &whole) {
  if (Value known = whole.lookupOrNull(value))
    return known;
  Operation *def = value.getDefiningOp();
  llvm::SetVector<Value> inputs(def->operand_begin(), def->operand_end());
  getUsedValuesDefinedAbove(def->getRegions(), inputs);
  for (Value input : inputs)
    whole.map(input, getWhole(input, whole));
  builder.clone(*def, whole);
  return whole.lookup(value);
}

Value RowWriter::get(Value value, ArrayRef<AffineExpr> index, IRMapping &whole) {
  for (const Need &need : needs)
    if (need.value == value && ArrayRef(need.index) == index && need.read)
      return made.getBody().getArgument(*need.read);
  if (index.empty())
    return getWhole(value, whole);
  // Constants of one value and tensors without values: as long as a row.
  auto type = dropLeading(cast<RankedTensorType>(value.getType()), index.size());
  DenseElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, value.getLoc(), type, constant.resizeSplat(type));
  return tensor::EmptyOp::create(builder, value.getLoc(), type.getShape(), type.getElementType());
}

BlockOp RowWriter::run() {
  MLIRContext *context = block.getContext();
  unsigned rows = statement.rows;
  auto indexOf = [&](unsigned operand) { return statement.space.getIndex(operand, rows); };
  for (auto [i, operand] : llvm::enumerate(statement.getOperands()))
    require(operand, indexOf(i));
  if (statement.op)
    requireAbove(statement.op);

  SmallVector<AffineExpr> constraints, index;
  for (unsigned d = 0; d < rows; ++d) {
    AffineExpr dim = getAffineDimExpr(d, context);
    constraints.push_back(dim);
    constraints.push_back(statement.space.lengths[d] - 1 - dim);
    index.push_back(dim);
  }
  if (!statement.order.empty()) {
    SmallVector<AffineExpr> rowsInOrder(std::move(index));
    index.clear();
    for (unsigned row : statement.order)
      index.push_back(rowsInOrder[row]);
  }
  unsigned numSymbols = spec.symbols.size();
  SmallVector<bool> eqs(constraints.size(), false);
  spec.domain = IntegerSet::get(rows, numSymbols, constraints, eqs);
  for (WriteAttr &write : spec.writes)
    write = WriteAttr::get(context, write.getOperand(), AffineMapAttr::get(AffineMap::get(rows, numSymbols, index, context)));
  made = spec.build(builder, block.getLoc(), types);

  builder.setInsertionPointToStart(&made.getBody().front());
  IRMapping whole;
  for (const Need &need : needs)
    if (need.read && need.index.empty())
      whole.map(need.value, made.getBody().getArgument(*need.read));
  SmallVector<Value> operands, results;
  for (auto [i, operand] : llvm::enumerate(statement.getOperands()))
    operands.push_back(get(operand, indexOf(i), whole));
  if (!statement.op) {
    results = operands;
  } else {
    llvm::SetVector<Value> above;
    getUsedValuesDefinedAbove(statement.op->getRegions(), above);
    for (Value value : above)
      getWhole(value, whole);
    SmallVector<Value> row = createRow(builder, statement.op, statement.space, rows, operands, whole);
    for (Value yielded : block.getYield().getOperands())
      results.push_back(row[cast<OpResult>(yielded).getResultNumber()]);
  }
  YieldOp::create(builder, block.getLoc(), results);
  block.erase();
  return made;
}

BlockOp etdg::writeRows(Statement &statement, ArrayRef<StringAttr> dims) {
  statement.block = RowWriter(statement, dims).run();
  return statement.block;
}
