//===- BlockVerifier.cpp - constraints K1-K8 of etdg.block ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Local structure only: what needs sets (pieces cover, accesses in bounds, …) is
// asked by `etdg-verify`.
//
//===----------------------------------------------------------------------===//
#include "BlockForm.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::etdg;

//===----------------------------------------------------------------------===//
// Accessors
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> toNames(ArrayAttr array) {
  return llvm::map_to_vector(array, [](Attribute attr) { return cast<StringAttr>(attr); });
}

ft::OperatorKind BlockOp::getOperator(unsigned ownDim) {
  return *ft::symbolizeOperatorKind(cast<StringAttr>(getOperators()[ownDim]).getValue());
}

SmallVector<StringAttr> BlockOp::getDimNames() { return toNames(getDims()); }
SmallVector<StringAttr> BlockOp::getSymbolNames() { return toNames(getSymbols()); }

YieldOp BlockOp::getYield() {
  if (getBody().empty() || getBody().front().empty())
    return {};
  return dyn_cast<YieldOp>(getBody().front().back());
}

BlockOp BlockOp::getParentBlock() { return (*this)->getParentOfType<BlockOp>(); }
NestOp BlockOp::getNest() { return dyn_cast_or_null<NestOp>((*this)->getParentOp()); }

ScheduledOpInterface BlockOp::getScheduledOp() {
  NestOp nest = getNest();
  return nest ? cast<ScheduledOpInterface>(nest.getOperation()) : cast<ScheduledOpInterface>(getOperation());
}

ScheduleAttr BlockOp::getEffectiveSchedule() {
  ScheduleAttr schedule = getScheduledOp().getScheduleAttr();
  return schedule ? schedule : getScheduleAttr();
}

void BlockOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  if (&region == &getCombine()) {
    unsigned half = region.getNumArguments() / 2;
    for (auto [i, argument] : llvm::enumerate(region.getArguments()))
      setName(argument, i < half ? "a" : "b");
    return;
  }
  if (&region != &getBody())
    return;
  // What the block itself writes is a state.
  llvm::SmallDenseSet<Value> written;
  for (WriteAttr write : getWrites().getAsRange<WriteAttr>())
    if (write.getOperand() >= 0 && write.getOperand() < static_cast<int64_t>(getBuffers().size()))
      written.insert(getBuffers()[write.getOperand()]);
  for (auto [i, argument] : llvm::enumerate(region.getArguments())) {
    StringRef name = "x";
    if (i < getNumReads())
      for (PieceAttr piece : getRead(i).getPieces()) {
        if (piece.getKind() == SourceKind::Index)
          name = "i";
        else if (piece.getKind() == SourceKind::Buffer && piece.getOperand() >= 0 &&
                 piece.getOperand() < static_cast<int64_t>(getBuffers().size()) &&
                 written.contains(getBuffers()[piece.getOperand()]))
          name = "s";
      }
    setName(argument, name);
  }
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

namespace {
class BlockVerifier {
public:
  explicit BlockVerifier(BlockOp op)
      : op(op), numDims(op.getDims().size()), numSymbols(op.getSymbols().size()) {}
  LogicalResult verify() {
    return failure(failed(verifyDims()) || failed(verifySpaces()) || failed(verifyKind()) ||
                   failed(verifyBody()) || failed(verifyWrites()) || failed(verifyCombine()) ||
                   failed(verifyCaptures()));
  }

private:
  InFlightDiagnostic error(StringRef number) { return op.emitOpError() << "(" << number << ") "; }
  LogicalResult verifyDims();
  LogicalResult verifySpaces();
  LogicalResult verifyKind();
  LogicalResult verifyBody();
  LogicalResult verifyWrites();
  LogicalResult verifyCombine();
  LogicalResult verifyCaptures();
  LogicalResult checkSpace(Twine what, unsigned dims, unsigned symbols, int64_t elementRank);
  LogicalResult checkRead(ReadAttr read, Type type, Twine what);
  LogicalResult checkPiece(PieceAttr piece, int64_t rank, RankedTensorType type, Twine what);
  FailureOr<BufferType> getBuffer(int64_t operand, Twine what);

  BlockOp op;
  unsigned numDims, numSymbols;
};
} // namespace

LogicalResult BlockVerifier::verifyDims() {
  for (Attribute kind : op.getOperators()) {
    StringRef name = cast<StringAttr>(kind).getValue();
    if (!ft::symbolizeOperatorKind(name))
      return error("K1") << "'" << name << "' is no operator";
    if (name == "foldr" || name == "scanr")
      return error("K1") << "'" << name << "' runs from the left in etdg: write '"
                         << name.drop_back() << "l' and reverse the maps";
  }
  if (static_cast<int64_t>(op.getNumAncestors()) < 0 ||
      op.getNumAncestors() + op.getNumOwnDims() != numDims)
    return error("K1") << "one operator for each own dimension: " << op.getNumOwnDims()
                       << " operators, " << numDims << " dimensions of which "
                       << op.getNumAncestors() << " are ancestors'";
  llvm::SmallDenseSet<StringAttr> seen;
  for (StringAttr name : op.getDimNames())
    if (!seen.insert(name).second)
      return error("K1") << "dimension '" << name.getValue() << "' is named twice";
  for (StringAttr name : op.getSymbolNames())
    if (!seen.insert(name).second)
      return error("K2") << "'" << name.getValue() << "' is a dimension or symbol already";
  if (!llvm::is_sorted(op.getSymbolNames(),
                       [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); }))
    return error("K2") << "symbols are sorted, found " << op.getSymbols();

  BlockOp parent = op.getParentBlock();
  unsigned expected = parent ? parent.getNumDims() : 0;
  if (op.getNumAncestors() != expected) {
    InFlightDiagnostic diag = error("K1")
                              << "a block's ancestors are its parent's dimensions: expected "
                              << expected << ", found " << op.getNumAncestors();
    if (parent)
      diag.attachNote(parent.getLoc()) << "the parent is here";
    return diag;
  }
  if (parent && ArrayRef(op.getDimNames()).take_front(expected) != ArrayRef(parent.getDimNames())) {
    InFlightDiagnostic diag = error("K1") << "a block's dimensions " << op.getDims()
                                          << " begin with its parent's " << parent.getDims();
    diag.attachNote(parent.getLoc()) << "the parent is here";
    return diag;
  }
  return success();
}

LogicalResult BlockVerifier::checkSpace(Twine what, unsigned dims, unsigned symbols,
                                        int64_t elementRank) {
  if (dims == numDims + elementRank && symbols == numSymbols)
    return success();
  InFlightDiagnostic diag = error("K2") << what << " has " << dims << " dimensions and " << symbols
                                        << " symbols, expected " << numDims;
  if (elementRank)
    diag << " + " << elementRank << " of the element";
  return diag << " and " << numSymbols;
}

LogicalResult BlockVerifier::verifySpaces() {
  IntegerSet domain = op.getDomainSet();
  if (failed(checkSpace("the domain", domain.getNumDims(), domain.getNumSymbols(), 0)))
    return failure();
  auto checkReads = [&](ArrayAttr reads, StringRef what) -> LogicalResult {
    for (auto [i, read] : llvm::enumerate(reads.getAsRange<ReadAttr>())) {
      int64_t rank = read.getElementRank();
      if (rank < 0)
        return error("K2") << what << " " << i << " has a negative element rank";
      if (read.getPieces().empty())
        return error("K4") << what << " " << i << " has no pieces";
      for (PieceAttr piece : read.getPieces()) {
        IntegerSet set = piece.getSet().getValue();
        AffineMap map = piece.getMap().getValue();
        if (failed(checkSpace(what + " " + Twine(i) + ": a piece's set", set.getNumDims(),
                              set.getNumSymbols(), rank)) ||
            failed(checkSpace(what + " " + Twine(i) + ": a piece's map", map.getNumDims(),
                              map.getNumSymbols(), rank)))
          return failure();
        for (GatherAttr gather : piece.getGathers()) {
          AffineMap index = gather.getMap().getValue();
          if (failed(checkSpace(what + " " + Twine(i) + ": a gather's map", index.getNumDims(),
                                index.getNumSymbols(), rank)))
            return failure();
        }
      }
    }
    return success();
  };
  if (failed(checkReads(op.getReads(), "read")) || failed(checkReads(op.getIdentity(), "identity")))
    return failure();
  for (auto [i, write] : llvm::enumerate(op.getWrites().getAsRange<WriteAttr>()))
    if (failed(checkSpace("the map of write " + Twine(i), write.getMap().getValue().getNumDims(),
                          write.getMap().getValue().getNumSymbols(), 0)))
      return failure();
  if (ScheduleAttr schedule = op.getScheduleAttr())
    if (schedule.getMap().getValue().getNumDims() != op.getNumOwnDims())
      return error("K2") << "the schedule's map takes the " << op.getNumOwnDims()
                         << " own dimensions, found " << schedule.getMap().getValue().getNumDims();
  return success();
}

LogicalResult BlockVerifier::verifyKind() {
  bool isGraph = false;
  for (Operation &inner : op.getBody().front().getOperations())
    isGraph |= isa<BlockOp, NestOp, BufferOp, KernelOp>(inner);
  if (isGraph && (op.getNumReads() || op.getNumWrites()))
    return error("K5")
           << "a block with blocks or buffers inside has no reads and writes of its own";
  if (!isGraph && !op.getNumWrites())
    return error("K5") << "a leaf has at least one write";
  if (isGraph)
    for (Operation &inner : op.getBody().front().getOperations())
      if (!isa<BlockOp, NestOp, BufferOp, KernelOp, ConstantOp, YieldOp>(inner)) {
        InFlightDiagnostic diag =
            error("K5") << "a graph block holds buffers, constants, nests and blocks only";
        diag.attachNote(inner.getLoc()) << "found '" << inner.getName() << "'";
        return diag;
      }
  return success();
}

FailureOr<BufferType> BlockVerifier::getBuffer(int64_t operand, Twine what) {
  if (operand >= 0 && operand < static_cast<int64_t>(op.getBuffers().size()))
    return cast<BufferType>(op.getBuffers()[operand].getType());
  return error("K4") << what << " names operand " << operand << ", there are "
                     << op.getBuffers().size();
}

LogicalResult BlockVerifier::checkPiece(PieceAttr piece, int64_t rank, RankedTensorType type,
                                        Twine what) {
  AffineMap map = piece.getMap().getValue();
  switch (piece.getKind()) {
  case SourceKind::Splat:
    if (!piece.getValue())
      return error("K4") << what << ": a splat has a value";
    if (piece.getValue().getType() != type.getElementType())
      return error("K4") << what << ": the splat is " << piece.getValue().getType()
                         << ", the read holds " << type.getElementType();
    break;
  case SourceKind::Index:
    if (map.getNumResults() != 1)
      return error("K4") << what << ": an index is one expression, found " << map.getNumResults();
    if (!type.getElementType().isIntOrIndex())
      return error("K4") << what << ": an index is an integer, the read holds "
                         << type.getElementType();
    break;
  case SourceKind::Buffer: {
    FailureOr<BufferType> buffer = getBuffer(piece.getOperand(), what);
    if (failed(buffer))
      return failure();
    unsigned depth = buffer->getDepth(), elementRank = buffer->getElementRank();
    RankedTensorType element = buffer->getElement();
    bool whole = map.getNumResults() == depth && rank == 0;
    bool scalar = map.getNumResults() == depth + elementRank && rank == type.getRank();
    if (!whole && !scalar) {
      InFlightDiagnostic diag = error("K4") << what << ": the map has " << map.getNumResults()
                                            << " results, expected " << depth;
      if (elementRank)
        diag << " (the element) or " << depth + elementRank << " (its scalars, with "
             << type.getRank() << " element dimensions)";
      diag.attachNote(op.getBuffers()[piece.getOperand()].getLoc()) << "the buffer is " << *buffer;
      return diag;
    }
    if (whole && !scalar ? element != type : element.getElementType() != type.getElementType()) {
      InFlightDiagnostic diag = error("K4") << what << ": the buffer holds " << element
                                            << ", the read is " << type;
      diag.attachNote(op.getBuffers()[piece.getOperand()].getLoc()) << "the buffer is " << *buffer;
      return diag;
    }
    if (whole && scalar && element != type)
      return error("K4") << what << ": the buffer holds " << element << ", the read is " << type;
    break;
  }
  }
  llvm::SmallDenseSet<int64_t> positions;
  for (GatherAttr gather : piece.getGathers()) {
    if (piece.getKind() != SourceKind::Buffer || gather.getPosition() < 0 ||
        gather.getPosition() >= static_cast<int64_t>(map.getNumResults()) ||
        !positions.insert(gather.getPosition()).second)
      return error("K4")
             << what
             << ": a gather stands at a result of a buffer's map, each at its own; found position "
             << gather.getPosition();
    FailureOr<BufferType> index = getBuffer(gather.getOperand(), what);
    if (failed(index))
      return failure();
    RankedTensorType element = index->getElement();
    unsigned results = gather.getMap().getValue().getNumResults();
    if (!element.getElementType().isIntOrIndex())
      return error("K4") << what << ": a gather's index is an integer, found " << *index;
    bool one = element.getNumElements() == 1 && results == index->getDepth();
    if (!one && results != index->getDepth() + index->getElementRank())
      return error("K4") << what << ": a gather's map has " << results << " results, expected "
                         << index->getDepth() + index->getElementRank() << " for " << *index;
  }
  return success();
}

LogicalResult BlockVerifier::checkRead(ReadAttr read, Type type, Twine what) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape())
    return error("K3") << what << " is a tensor of static shape, found " << type;
  int64_t rank = read.getElementRank();
  if (rank != 0 && rank != tensor.getRank())
    return error("K4") << what << " ranges over " << rank << " element dimensions, its type "
                       << type << " has " << tensor.getRank();
  for (PieceAttr piece : read.getPieces())
    if (failed(checkPiece(piece, rank, tensor, what)))
      return failure();
  return success();
}

LogicalResult BlockVerifier::verifyBody() {
  Block &body = op.getBody().front();
  if (!op.getBody().hasOneBlock() || !op.getYield())
    return error("K3") << "its body is one block that ends in etdg.yield";
  if (body.getNumArguments() != op.getNumReads())
    return error("K3") << "the body has one argument for each read: expected " << op.getNumReads()
                       << ", found " << body.getNumArguments();
  for (unsigned i = 0; i < op.getNumReads(); ++i)
    if (failed(checkRead(op.getRead(i), body.getArgument(i).getType(), "read " + Twine(i))))
      return failure();
  YieldOp yield = op.getYield();
  if (yield.getNumOperands() != op.getNumWrites()) {
    InFlightDiagnostic diag = error("K3")
                              << "the yield has one operand for each write: expected "
                              << op.getNumWrites() << ", found " << yield.getNumOperands();
    diag.attachNote(yield.getLoc()) << "the yield is here";
    return diag;
  }
  return success();
}

LogicalResult BlockVerifier::verifyWrites() {
  for (unsigned i = 0; i < op.getNumWrites(); ++i) {
    WriteAttr write = op.getWrite(i);
    FailureOr<BufferType> buffer = getBuffer(write.getOperand(), "write " + Twine(i));
    if (failed(buffer))
      return failure();
    Value value = op.getBuffers()[write.getOperand()];
    AffineMap map = write.getMap().getValue();
    if (map.getNumResults() != buffer->getDepth()) {
      InFlightDiagnostic diag = error("K4")
                                << "write " << i << ": the map has " << map.getNumResults()
                                << " results, the buffer's depth is " << buffer->getDepth();
      diag.attachNote(value.getLoc()) << "the buffer is " << *buffer;
      return diag;
    }
    Type yielded = op.getYield().getOperand(i).getType();
    if (yielded != buffer->getElement()) {
      InFlightDiagnostic diag = error("K3")
                                << "write " << i << ": the buffer holds " << buffer->getElement()
                                << ", the yielded value is " << yielded;
      diag.attachNote(value.getLoc()) << "the buffer is " << *buffer;
      return diag;
    }
    if (!value.getDefiningOp<BufferOp>()) {
      InFlightDiagnostic diag = error("K6") << "no graph argument or constant is written, write "
                                            << i << " does";
      diag.attachNote(value.getLoc()) << "it is here";
      return diag;
    }
  }
  return success();
}

LogicalResult BlockVerifier::verifyCombine() {
  Region &combine = op.getCombine();
  if (combine.empty()) {
    if (!op.getIdentity().empty())
      return error("K7") << "an identity belongs to a combine";
    return success();
  }
  unsigned count = combine.front().getNumArguments();
  auto yield = combine.front().empty() ? YieldOp() : dyn_cast<YieldOp>(combine.front().back());
  if (!combine.hasOneBlock() || !yield)
    return error("K7") << "combine is one block that ends in etdg.yield";
  TypeRange types = combine.front().getArgumentTypes();
  if (count % 2 || types.take_front(count / 2) != types.drop_front(count / 2) ||
      yield.getOperandTypes() != types.take_front(count / 2))
    return error("K7") << "combine takes the states twice and yields them once: it takes " << types
                       << " and yields " << yield.getOperandTypes();
  if (op.getIdentity().size() != count / 2)
    return error("K7") << "combine has one identity for each state: expected " << count / 2
                       << ", found " << op.getIdentity().size();
  bool reassociable =
      llvm::any_of(op.getOperators().getAsValueRange<StringAttr>(), [](StringRef name) {
        return name == "reduce" || name == "fold" || name == "scan";
      });
  if (!reassociable)
    return error("K7") << "combine belongs to a dimension that may be re-associated (reduce, fold, "
                          "scan), found "
                       << op.getOperators();
  for (auto [i, read] : llvm::enumerate(op.getIdentity().getAsRange<ReadAttr>()))
    if (failed(checkRead(read, types[i], "identity " + Twine(i))))
      return failure();
  return success();
}

/// Engines run a leaf away from where it stands, with its reads alone.
LogicalResult BlockVerifier::verifyCaptures() {
  if (!op.isLeaf())
    return success();
  OpOperand *captured = nullptr;
  auto keepFirst = [&](OpOperand *use) { captured = captured ? captured : use; };
  visitUsedValuesDefinedAbove(op.getBody(), op.getBody(), keepFirst);
  if (!op.getCombine().empty())
    visitUsedValuesDefinedAbove(op.getCombine(), op.getCombine(), keepFirst);
  if (!captured)
    return success();
  InFlightDiagnostic diag = error("K8")
                            << "a leaf uses its reads and what it computes, no value from outside";
  diag.attachNote(captured->getOwner()->getLoc())
      << "operand " << captured->getOperandNumber() << " of this '" << captured->getOwner()->getName()
      << "' is one";
  diag.attachNote(captured->get().getLoc()) << "it is defined here";
  return diag;
}

LogicalResult BlockOp::verify() { return BlockVerifier(*this).verify(); }
