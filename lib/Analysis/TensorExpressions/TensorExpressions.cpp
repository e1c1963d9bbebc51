//===- TensorExpressions.cpp - statements, tensors and edges of a graph ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/TensorExpressions/TensorExpressions.h"

#include "ft/Analysis/Extents.h"
#include "ft/Analysis/GraphSummary.h"

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// Typical numbers of iterations of all dimensions of a block, those of the blocks around it first.
static SmallVector<double> typicalExtents(BlockOp block, const TypicalLengths &lengths, const SymbolSpace &space) {
  SmallVector<double> extents;
  for (BlockOp one : getBlockChain(block))
    for (int64_t extent : getTypicalExtents(getOwnRanges({one}, space), lengths))
      extents.push_back(double(extent));
  return extents;
}

/// Elements of one instance of a buffer.
static double elementsOf(BufferType type, const TypicalLengths &lengths) {
  double all = double(type.getElement().getNumElements());
  for (ft::LengthAttr length : type.getLengths())
    all *= double(std::max<int64_t>(lengths.evaluate(length), 1));
  return all;
}

/// Different elements that indices reach: no more than the buffer has in all of its instances.
static double countElements(ArrayRef<AffineExpr> index, Value buffer, const ElementRelation &relation, ArrayRef<double> extents, const TypicalLengths &lengths) {
  double reached = 1, instances = 1;
  unsigned owners = getNumOwnerDims(buffer);
  for (auto [number, variable] : llvm::enumerate(relation.variables)) {
    double size = number < extents.size() ? extents[number] : double(variable.size.value_or(TypicalLengths::unknown));
    if (number < owners)
      instances *= size;
    else if (llvm::any_of(index, [n = number](AffineExpr expr) { return expr.isFunctionOfDim(n); }))
      reached *= size;
  }
  return instances * std::min(reached, elementsOf(cast<BufferType>(buffer.getType()), lengths));
}

/// What reads no buffer is a constant: the zeros that a sum begins with.
static bool isConstant(BlockOp leaf) {
  auto readsBuffer = [](ReadAttr read) {
    return llvm::any_of(read.getPieces(), [](PieceAttr piece) { return piece.getKind() == SourceKind::Buffer; });
  };
  return llvm::none_of(leaf.getReads().getAsRange<ReadAttr>(), readsBuffer);
}

/// Whether nothing but constants write a buffer.
static bool isConstant(Value buffer) {
  if (!buffer.getDefiningOp())
    return false;
  return llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    auto leaf = dyn_cast<BlockOp>(user);
    auto writes = [&](WriteAttr write) { return leaf.getBuffers()[write.getOperand()] == buffer; };
    return !leaf || !leaf.isLeaf() || isConstant(leaf) || llvm::none_of(leaf.getWrites().getAsRange<WriteAttr>(), writes);
  });
}

void TensorExpressionAnalysis::addStatement(BlockOp leaf, const TypicalLengths &lengths, const SymbolSpace &space, double computeIntensive) {
  TensorExpression &statement = statements.emplace_back();
  statement.block = leaf;
  statement.number = unsigned(statements.size() - 1);
  statement.relations = getElementRelations(leaf);
  SmallVector<double> extents = typicalExtents(leaf, lengths, space);
  double points = 1;
  for (double extent : extents)
    points *= extent;
  statement.operations = points * countOperations(leaf);
  // (One element that several pieces or operations read is counted for each; a buffer has no more than it has.)
  llvm::MapVector<Value, double> read;
  for (const ElementRelation &relation : statement.relations) {
    if (relation.getReliance() == Reliance::Many)
      statement.reliance = Reliance::Many;
    if (isConstant(relation.input))
      continue;
    double &elements = read[relation.input];
    elements = std::max(elements, countElements(relation.inputIndex, relation.input, relation, extents, lengths));
  }
  for (auto [buffer, elements] : read)
    statement.elements += elements;
  for (unsigned write = 0; write < leaf.getNumWrites(); ++write) {
    auto type = cast<BufferType>(leaf.getBuffers()[leaf.getWrite(write).getOperand()].getType());
    statement.elements += points * double(type.getElement().getNumElements());
  }
  statement.isComputeIntensive = statement.getOperationsPerElement() >= computeIntensive;
}

const TensorExpression *TensorExpressionAnalysis::find(BlockOp leaf) const {
  const auto *found = llvm::find_if(statements, [&](const TensorExpression &statement) { return statement.block == leaf; });
  return found == statements.end() ? nullptr : found;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::pair<unsigned, unsigned> SharedTensor::getLiveRange(unsigned numStatements) const {
  unsigned first = !writers.empty() ? writers.front() : readers.empty() ? 0 : readers.front();
  unsigned last = isResult && numStatements > 0 ? numStatements - 1 : std::max(readers.empty() ? first : readers.back(), first);
  return {first, last};
}

static void addOnce(SmallVectorImpl<unsigned> &list, unsigned number) {
  if (list.empty() || list.back() != number)
    list.push_back(number);
}

void TensorExpressionAnalysis::addTensors(GraphOp graph, const TypicalLengths &lengths) {
  auto tensorOf = [&](Value buffer) -> SharedTensor & {
    auto [it, isNew] = numberOf.try_emplace(buffer, unsigned(tensors.size()));
    if (isNew)
      tensors.emplace_back().buffer = buffer;
    return tensors[it->second];
  };
  for (BlockArgument argument : graph.getArguments())
    tensorOf(argument);
  for (const TensorExpression &statement : statements) {
    BlockOp leaf = statement.block;
    for (ReadAttr read : leaf.getReads().getAsRange<ReadAttr>())
      for (PieceAttr piece : read.getPieces())
        if (piece.getKind() == SourceKind::Buffer) {
          addOnce(tensorOf(leaf.getBuffers()[piece.getOperand()]).readers, statement.number);
          for (GatherAttr gather : piece.getGathers())
            addOnce(tensorOf(leaf.getBuffers()[gather.getOperand()]).readers, statement.number);
        }
    for (WriteAttr write : leaf.getWrites().getAsRange<WriteAttr>())
      addOnce(tensorOf(leaf.getBuffers()[write.getOperand()]).writers, statement.number);
  }
  for (Value result : cast<ReturnOp>(graph.getBody().front().back()).getOperands())
    tensorOf(result).isResult = true;
  llvm::DenseMap<unsigned, unsigned> outputs; // of each statement
  unsigned constants = 0;
  SymbolSpace space(graph);
  for (SharedTensor &tensor : tensors) {
    if (auto argument = dyn_cast<BlockArgument>(tensor.buffer)) {
      tensor.name = "I" + std::to_string(argument.getArgNumber());
    } else if (tensor.writers.empty()) {
      tensor.name = "K" + std::to_string(constants++);
    } else {
      unsigned writer = tensor.writers.front(), number = outputs[writer]++;
      tensor.name = "O" + std::to_string(writer) + (number > 0 ? "_" + std::to_string(number) : "");
    }
    tensor.bytes = double(lengths.evaluate(getBytes(cast<BufferType>(tensor.buffer.getType()))));
    if (unsigned owners = getNumOwnerDims(tensor.buffer))
      for (double extent : ArrayRef(typicalExtents(tensor.buffer.getDefiningOp()->getParentOfType<BlockOp>(), lengths, space)).take_front(owners))
        tensor.bytes *= extent;
  }
}

/// Who needs whom; regions of a nest may need each other. A tensor that others share is reused in time by those that depend on each other, else in space.
void TensorExpressionAnalysis::findReuse() {
  reached.assign(statements.size(), llvm::BitVector(statements.size()));
  for (bool changes = true; changes;) {
    changes = false;
    for (const SharedTensor &tensor : tensors)
      for (unsigned reader : tensor.readers)
        for (unsigned writer : tensor.writers) {
          llvm::BitVector before = reached[reader];
          reached[reader].set(writer);
          reached[reader] |= reached[writer];
          changes |= before != reached[reader];
        }
  }
  for (SharedTensor &tensor : tensors)
    for (auto [place, one] : llvm::enumerate(tensor.readers))
      for (unsigned other : ArrayRef(tensor.readers).drop_front(place + 1)) {
        bool isNeeded = needs(other, one) || needs(one, other);
        tensor.hasTemporalReuse |= isNeeded;
        tensor.hasSpatialReuse |= !isNeeded;
      }
}

//===----------------------------------------------------------------------===//
// Edges
//===----------------------------------------------------------------------===//

/// Of several relations of a reader to one tensor: what needs more.
static TileRelation join(TileRelation a, TileRelation b) {
  bool isBandOfBlocks = (a == TileRelation::Band && b == TileRelation::BlockDiagonal) || (b == TileRelation::Band && a == TileRelation::BlockDiagonal);
  return isBandOfBlocks ? TileRelation::Band : std::max(a, b);
}

void TensorExpressionAnalysis::findEdges(const SymbolSpace &space) {
  for (const TensorExpression &statement : statements) {
    llvm::MapVector<Value, TileRelation> needed;
    for (const ElementRelation &relation : statement.relations) {
      if (getTensor(relation.input).writers.empty())
        continue;
      TileRelation tiles = getTileRelation(relation, space);
      auto [it, isNew] = needed.insert({relation.input, tiles});
      if (!isNew)
        it->second = join(it->second, tiles);
    }
    for (auto [buffer, tiles] : needed)
      for (unsigned writer : getTensor(buffer).writers)
        if (writer != statement.number)
          edges.push_back({writer, statement.number, buffer, tiles});
  }
}

TensorExpressionAnalysis::TensorExpressionAnalysis(GraphOp graph, double computeIntensive) {
  TypicalLengths lengths(graph);
  SymbolSpace space(graph);
  graph.getBody().walk<WalkOrder::PreOrder>([&](BlockOp block) {
    if (block.isLeaf() && !isConstant(block))
      addStatement(block, lengths, space, computeIntensive);
  });
  addTensors(graph, lengths);
  findReuse();
  findEdges(space);
}
