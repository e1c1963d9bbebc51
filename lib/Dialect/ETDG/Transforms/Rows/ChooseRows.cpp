//===- ChooseRows.cpp - how many dimensions of a statement are iterated ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All rows that leave something to compute inside, but for the columns of products, of
// which many share what they read. Statements of which nothing would be
// left (a vector with one number for each row) follow those that they exchange
// their numbers with.
//
//===----------------------------------------------------------------------===//
#include "SpreadRows.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::etdg;

/// Whether points along row `row` read something in common that is more than a number.
static bool sharesOperand(ArrayRef<Type> inputs, const RowSpace &space, unsigned row) {
  for (auto [i, type] : llvm::enumerate(inputs)) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    ArrayRef<AffineExpr> index = space.getIndex(i, row + 1);
    bool varies = llvm::any_of(index, [&](AffineExpr e) { return e.isFunctionOfDim(row); });
    if (tensor && !varies && tensor.getNumElements() > 1 && tensor.getRank() > int64_t(index.size()))
      return true;
  }
  return false;
}

unsigned etdg::chooseRowsAlone(Operation *op, const RowSpace &space) {
  unsigned rows = 0;
  for (unsigned r = 1; r <= space.lengths.size() && space.getInnerPoints(r) > 1; ++r)
    rows = r;
  // The last dimension of a product stays with it, unless it is the only one.
  auto destination = dyn_cast_or_null<DestinationStyleOpInterface>(op);
  if (destination && rows == unsigned(cast<RankedTensorType>(op->getResult(0).getType()).getRank())) {
    SmallVector<Type> inputs;
    for (OpOperand *input : destination.getDpsInputOperands())
      inputs.push_back(input->get().getType());
    bool isOnly = llvm::all_of(ArrayRef(space.lengths).take_front(rows - 1), [](int64_t n) { return n == 1; });
    if (!isOnly && sharesOperand(inputs, space, rows - 1))
      --rows;
  }
  // (Nor are rows of length 1 at the end any.)
  while (rows > 0 && space.lengths[rows - 1] == 1)
    --rows;
  return rows;
}

namespace {
/// Which statements read and write a buffer at each of its elements by itself.
class Neighbours {
public:
  explicit Neighbours(MutableArrayRef<Statement> statements) : statements(statements) {
    for (auto [s, statement] : llvm::enumerate(statements))
      for (WriteAttr write : statement.block.getWrites().getAsRange<WriteAttr>())
        writers[statement.block.getBuffers()[write.getOperand()]] = s;
    for (auto [s, statement] : llvm::enumerate(statements))
      for (unsigned i = 0; i < statement.getOperands().size(); ++i)
        if (Value buffer = getSource(statement, i))
          readers[buffer].push_back({unsigned(s), i});
  }

  /// Whether the statement's rows down to single numbers are those of one beside it.
  bool areShared(Statement &statement);
  /// The reduction (a convolution, a pooling) whose rows a statement of one step for each number takes, so that
  /// both are one leaf: the one that it continues, or the only one that it begins. Null where there is none.
  Statement *getReduction(Statement &statement);

private:
  Statement *getContinued(Statement &statement);
  Statement *getBegun(Statement &statement);
  static Value getSource(Statement &statement, unsigned operand);
  MutableArrayRef<Statement> statements;
  llvm::DenseMap<Value, unsigned> writers;
  llvm::DenseMap<Value, SmallVector<std::pair<unsigned, unsigned>>> readers;
};
} // namespace

/// Whether a read takes the numbers of a whole tensor in their order, through a shape that differs by dimensions of one element alone.
static bool takesInOrder(PieceAttr piece, unsigned rank, RankedTensorType type, BufferType buffer) {
  AffineMap map = piece.getMap().getValue();
  if (buffer.getDepth() != 0 || map.getNumDims() != rank || !isUniverse(piece.getSet().getValue()) || !piece.getGathers().empty() ||
      type.getNumElements() != buffer.getElement().getNumElements())
    return false;
  unsigned next = 0;
  for (auto [result, size] : llvm::zip_equal(map.getResults(), buffer.getElement().getShape())) {
    while (next < rank && type.getDimSize(next) == 1)
      ++next;
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (size == 1 ? dim && type.getDimSize(dim.getPosition()) != 1 : !dim || dim.getPosition() != next++)
      return false;
  }
  return true;
}

/// The buffer that an operand is, as a whole, or null.
Value Neighbours::getSource(Statement &statement, unsigned operand) {
  auto argument = dyn_cast<BlockArgument>(statement.getOperands()[operand]);
  if (!argument || argument.getOwner() != &statement.block.getBody().front())
    return {};
  ReadAttr read = statement.block.getRead(argument.getArgNumber());
  if (read.getPieces().size() != 1 || read.getPieces().front().getKind() != SourceKind::Buffer)
    return {};
  PieceAttr piece = read.getPieces().front();
  Value buffer = statement.block.getBuffers()[piece.getOperand()];
  unsigned rank = read.getElementRank();
  bool isWhole = rank == 0 || takesInOrder(piece, rank, cast<RankedTensorType>(argument.getType()), cast<BufferType>(buffer.getType()));
  return isWhole ? buffer : Value();
}

/// Whether rows of a tensor leave one number of it inside, and there are some.
static bool leavesOneNumber(Value buffer, unsigned rows) {
  ArrayRef<int64_t> shape = cast<BufferType>(buffer.getType()).getElement().getShape();
  return rows > 0 && llvm::all_of(shape.drop_front(std::min<size_t>(rows, shape.size())), [](int64_t size) { return size == 1; });
}

/// How many rows leave one number inside. Rows of length 1 at the end are none.
static unsigned countFullRows(const RowSpace &space) {
  unsigned rows = space.lengths.size();
  while (rows > 0 && space.lengths[rows - 1] == 1)
    --rows;
  return rows;
}

bool Neighbours::areShared(Statement &statement) {
  unsigned all = statement.space.lengths.size();
  for (unsigned i = 0; i < statement.getOperands().size(); ++i) {
    Value buffer = getSource(statement, i);
    auto writer = buffer ? writers.find(buffer) : writers.end();
    if (writer == writers.end())
      continue;
    // Each of its numbers is one of the statement's, at all of its rows.
    if (leavesOneNumber(buffer, statements[writer->second].rows) && statement.space.getIndex(i, all).size() == all)
      return true;
  }
  for (WriteAttr write : statement.block.getWrites().getAsRange<WriteAttr>()) {
    Value buffer = statement.block.getBuffers()[write.getOperand()];
    for (auto [s, operand] : readers.lookup(buffer)) {
      Statement &reader = statements[s];
      if (reader.rows > 0 && reader.space.getIndex(operand, reader.rows).size() == all &&
          cast<BufferType>(buffer.getType()).getElementRank() == all)
        return true;
    }
  }
  return false;
}

/// How many numbers an operation's results have.
static int64_t countNumbers(Statement &statement) {
  return cast<RankedTensorType>(statement.op->getResult(0).getType()).getNumElements();
}

static bool isOfStaticShape(Statement &statement) {
  return statement.op && cast<RankedTensorType>(statement.op->getResult(0).getType()).hasStaticShape();
}

/// Whether a statement takes many steps for each of its numbers, of which one is left inside of its rows.
static bool isReduction(Statement &statement) {
  return isOfStaticShape(statement) && statement.space.points > countNumbers(statement);
}

Statement *Neighbours::getContinued(Statement &statement) {
  Statement *found = nullptr;
  unsigned all = statement.space.lengths.size();
  for (unsigned i = 0; i < statement.getOperands().size(); ++i) {
    Value buffer = getSource(statement, i);
    auto writer = buffer ? writers.find(buffer) : writers.end();
    if (writer == writers.end() || statement.space.getIndex(i, all).size() != all ||
        cast<BufferType>(buffer.getType()).getElementRank() != all)
      continue;
    Statement &before = statements[writer->second];
    Statement *reduction = before.follows ? before.follows : isReduction(before) ? &before : nullptr;
    if (reduction && (!found || found->space.points < reduction->space.points))
      found = reduction;
  }
  return found;
}

Statement *Neighbours::getBegun(Statement &statement) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(statement.op);
  bool readsTensors = !destination || llvm::any_of(destination.getDpsInputs(), [](Value v) { return isa<ShapedType>(v.getType()); });
  if (readsTensors || statement.block.getWrites().size() != 1)
    return nullptr;
  Value buffer = statement.block.getBuffers()[cast<WriteAttr>(statement.block.getWrites()[0]).getOperand()];
  bool isOnlyReader = llvm::all_of(buffer.getUsers(), [&](Operation *user) {
    return user == statement.block || (!readers[buffer].empty() && user == statements[readers[buffer].front().first].block);
  });
  if (readers[buffer].size() != 1 || !isOnlyReader)
    return nullptr;
  Statement &reader = statements[readers[buffer].front().first];
  return isReduction(reader) ? &reader : nullptr;
}

Statement *Neighbours::getReduction(Statement &statement) {
  unsigned all = statement.space.lengths.size();
  if (!isOfStaticShape(statement) || statement.space.points != countNumbers(statement) ||
      all != unsigned(cast<RankedTensorType>(statement.op->getResult(0).getType()).getRank()))
    return nullptr;
  Statement *reduction = getContinued(statement);
  return reduction ? reduction : getBegun(statement);
}

/// Statements of one step for each number, beside a reduction of fewer rows, take the rows of this one.
static void followReductions(MutableArrayRef<Statement> statements, Neighbours &neighbours) {
  for (Statement &statement : statements)
    if (Statement *reduction = neighbours.getReduction(statement); reduction && reduction->rows < statement.rows) {
      statement.rows = reduction->rows;
      statement.follows = reduction;
    }
}

void etdg::chooseRows(MutableArrayRef<Statement> statements) {
  for (Statement &statement : statements)
    statement.rows = chooseRowsAlone(statement.op, statement.space);
  Neighbours neighbours(statements);
  followReductions(statements, neighbours);
  for (bool changed = true; changed;) {
    changed = false;
    for (Statement &statement : statements) {
      unsigned full = countFullRows(statement.space);
      if (statement.rows >= full || statement.space.points <= 1 || statement.space.getInnerPoints(full) != 1)
        continue;
      if (neighbours.areShared(statement)) {
        statement.rows = full;
        changed = true;
      }
    }
  }
}
