//===- ETDGMachine.cpp - Buffers and single iterations of a graph ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads by pieces, the leaf's body, writes; and every error an access can make.
//
//===----------------------------------------------------------------------===//
#include "ETDGMachine.h"
#include "HostValues.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::interp;
using etdg::BlockOp;
using etdg::PieceAttr;
using etdg::ReadAttr;

//===----------------------------------------------------------------------===//
// Names and messages
//===----------------------------------------------------------------------===//

std::string mlir::ft::interp::blockName(BlockOp block) {
  if (auto name = block.getBlockName())
    return ("@" + *name).str();
  return "block";
}

static std::string positionToString(ArrayRef<int64_t> position) {
  std::string text = "[";
  for (auto [i, index] : llvm::enumerate(position))
    text += (i ? ", " : "") + std::to_string(index);
  return text + "]";
}

static SmallVector<int64_t> positionOf(ArrayRef<int64_t> shape, int64_t offset) {
  SmallVector<int64_t> position(shape.size());
  for (int64_t i = static_cast<int64_t>(shape.size()) - 1; i >= 0; --i) {
    position[i] = offset % shape[i];
    offset /= shape[i];
  }
  return position;
}

static std::string bufferName(Value value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  value.printAsOperand(os, OpPrintingFlags());
  return text;
}

std::string mlir::ft::interp::elementName(CellRef cell) {
  return bufferName(cell.buffer->value) +
         positionToString(positionOf(cell.buffer->shape, cell.offset));
}

/// "@r3 at (i = 0, k = 2) ": the start of every message about an iteration.
InFlightDiagnostic ETDGMachine::error(BlockOp block, ArrayRef<int64_t> point) {
  InFlightDiagnostic diag = mlir::emitError(block.getLoc());
  diag << blockName(block);
  if (!point.empty()) {
    diag << " at (";
    for (auto [i, name, value] : llvm::enumerate(block.getDimNames(), point))
      diag << (i ? ", " : "") << name.getValue() << " = " << value;
    diag << ")";
  }
  diag << " ";
  return diag;
}

void ETDGMachine::reportUnwritten(BlockOp block, ArrayRef<int64_t> point, CellRef cell,
                                  StringRef why) {
  InFlightDiagnostic diag = error(block, point);
  diag << "reads " << elementName(cell) << " before it is written" << why;
  diag.attachNote(cell.buffer->value.getLoc()) << "the buffer is here";
}

//===----------------------------------------------------------------------===//
// Buffers and blocks
//===----------------------------------------------------------------------===//

FailureOr<BufferState *> ETDGMachine::bufferAt(Operation *user, Value value,
                                               ArrayRef<int64_t> point) {
  Operation *def = value.getDefiningOp();
  BlockOp owner = def ? def->getParentOfType<BlockOp>() : BlockOp();
  unsigned depth = owner ? owner.getNumDims() : 0;
  std::vector<int64_t> key(point.begin(), point.begin() + depth);
  std::unique_ptr<BufferState> &state = buffers[value][key];
  if (state)
    return state.get();
  auto type = cast<etdg::BufferType>(value.getType());
  auto fresh = std::make_unique<BufferState>();
  fresh->value = value;
  for (LengthAttr length : type.getLengths()) {
    std::optional<int64_t> size = lengths.evaluate(length);
    if (!size || *size < 0)
      return mlir::emitError(user->getLoc(), "the length ")
             << length.str() << " of the buffer " << bufferName(value) << " is "
             << (size ? "negative" : "not known");
    fresh->shape.push_back(*size);
  }
  std::optional<int64_t> count = countElements(fresh->shape);
  if (!count)
    return mlir::emitError(user->getLoc(), "the buffer ")
           << bufferName(value) << " is too large: " << sizesToString(fresh->shape);
  fresh->cells.resize(*count);
  if (auto constant = dyn_cast_or_null<etdg::ConstantOp>(def)) {
    FailureOr<Tensor> contents = eval.materialize(def, constant.getValue(), type.getElement());
    if (failed(contents))
      return failure();
    fresh->cells[0] = *contents;
  }
  state = std::move(fresh);
  return state.get();
}

ETDGMachine::BlockInfo &ETDGMachine::infoOf(BlockOp block) {
  std::unique_ptr<BlockInfo> &info = infos[block];
  if (!info) {
    info = std::make_unique<BlockInfo>();
    for (StringAttr name : block.getSymbolNames())
      info->symbols.push_back(lengths.names.lookup(name));
    info->points = PointEnumerator(block.getDomainSet(), info->symbols);
  }
  return *info;
}

LogicalResult ETDGMachine::forEachPoint(BlockOp block, ArrayRef<int64_t> ancestors,
                                        llvm::function_ref<LogicalResult(ArrayRef<int64_t>)> fn) {
  BlockInfo &info = infoOf(block);
  if (succeeded(info.points.forEach(ancestors, fn)))
    return success();
  if (info.points.unboundedDim)
    return mlir::emitError(block.getLoc(), "the domain of ")
           << blockName(block) << " does not bound "
           << block.getDimNames()[*info.points.unboundedDim].getValue();
  return failure();
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

FailureOr<int64_t> ETDGMachine::offsetOf(BlockOp block, ArrayRef<int64_t> point,
                                         const BufferState &buffer, ArrayRef<int64_t> position,
                                         StringRef access) {
  int64_t offset = 0;
  for (auto [dim, index, size] : llvm::enumerate(position, buffer.shape)) {
    if (index < 0 || index >= size) {
      InFlightDiagnostic diag = error(block, point);
      diag << access << " " << bufferName(buffer.value) << positionToString(position)
           << ", out of bounds: dimension " << dim << " has size " << size;
      diag.attachNote(buffer.value.getLoc()) << "the buffer is here";
      return diag;
    }
    offset = offset * size + index;
  }
  return offset;
}

/// In the declared order: what another iteration of the same parallel loop
/// writes must not be read, whichever of the two happened to run first.
LogicalResult ETDGMachine::checkRace(BlockOp block, ArrayRef<int64_t> point, CellRef cell) {
  if (!currentPath || cell.buffer->writers.empty())
    return success();
  const std::shared_ptr<const LoopPath> &writer = cell.buffer->writers[cell.offset];
  if (!writer)
    return success();
  for (auto [mine, theirs] : llvm::zip(*currentPath, *writer)) {
    if (mine.loop != theirs.loop)
      return success();
    if (mine.iteration == theirs.iteration)
      continue;
    if (!mine.parallel)
      return success();
    InFlightDiagnostic diag = error(block, point);
    diag << "reads " << elementName(cell) << ", which another iteration of the parallel dimension '"
         << mine.name << "' writes";
    diag.attachNote(cell.buffer->value.getLoc()) << "the buffer is here";
    return diag;
  }
  return success();
}

FailureOr<PieceAttr> ETDGMachine::pieceAt(BlockOp block, unsigned index, ReadAttr read,
                                          ArrayRef<int64_t> at) {
  ArrayRef<int64_t> symbols = infoOf(block).symbols;
  PieceAttr found;
  for (PieceAttr piece : read.getPieces()) {
    if (!containsPoint(piece.getSet().getValue(), at, symbols))
      continue;
    if (found)
      return error(block, at.take_front(block.getNumDims()))
             << "has two pieces of read " << index << " at element "
             << positionToString(at.drop_front(block.getNumDims()));
    found = piece;
  }
  if (!found)
    return error(block, at.take_front(block.getNumDims()))
           << "has no piece of read " << index << " at element "
           << positionToString(at.drop_front(block.getNumDims()));
  return found;
}

ETDGMachine::Found ETDGMachine::element(BlockOp block, ArrayRef<int64_t> point, BufferState *buffer,
                                        ArrayRef<int64_t> position, Tensor &value) {
  FailureOr<int64_t> offset = offsetOf(block, point, *buffer, position, "reads");
  if (failed(offset))
    return Found::Error;
  CellRef cell{buffer, *offset};
  value = buffer->cells[*offset];
  if (!value) {
    missing = cell;
    return Found::Missing;
  }
  return failed(checkRace(block, point, cell)) ? Found::Error : Found::Value;
}

ETDGMachine::Found ETDGMachine::locate(BlockOp block, PieceAttr piece, ArrayRef<int64_t> at,
                                       ArrayRef<int64_t> point, BufferState *&buffer,
                                       SmallVectorImpl<int64_t> &position) {
  ArrayRef<int64_t> symbols = infoOf(block).symbols;
  FailureOr<BufferState *> source = bufferAt(block, block.getBuffers()[piece.getOperand()], point);
  if (failed(source))
    return Found::Error;
  buffer = *source;
  for (AffineExpr expr : piece.getMap().getValue().getResults())
    position.push_back(evaluateExpr(expr, at, symbols));
  for (etdg::GatherAttr gather : piece.getGathers()) {
    FailureOr<BufferState *> indices =
        bufferAt(block, block.getBuffers()[gather.getOperand()], point);
    if (failed(indices))
      return Found::Error;
    SmallVector<int64_t> where;
    for (AffineExpr expr : gather.getMap().getValue().getResults())
      where.push_back(evaluateExpr(expr, at, symbols));
    Tensor index;
    ArrayRef<int64_t> outer = ArrayRef(where).take_front((*indices)->shape.size());
    if (Found found = element(block, point, *indices, outer, index); found != Found::Value)
      return found;
    // The rest of the map picks a scalar of the index element.
    int64_t offset = 0;
    ArrayRef<int64_t> inner = ArrayRef(where).drop_front(outer.size());
    for (auto [dim, size] : llvm::zip(inner, index.getShape())) {
      if (dim < 0 || dim >= size) {
        error(block, point) << "takes scalar " << positionToString(inner)
                            << " of an index element of " << sizesToString(index.getShape());
        return Found::Error;
      }
      offset = offset * size + dim;
    }
    int64_t value = index.getInt(offset);
    int64_t dim = gather.getPosition();
    int64_t size = dim < static_cast<int64_t>(buffer->shape.size())
                       ? buffer->shape[dim]
                       : cast<etdg::BufferType>(buffer->value.getType())
                             .getElement()
                             .getShape()[dim - buffer->shape.size()];
    if (value < 0 || value >= size) {
      InFlightDiagnostic diag = error(block, point);
      diag << "gathers at index " << value << ", which is out of range: dimension " << dim << " of "
           << bufferName(buffer->value) << " has size " << size;
      diag.attachNote((*indices)->value.getLoc()) << "the indices are here";
      return Found::Error;
    }
    position[dim] = value;
  }
  return Found::Value;
}

ETDGMachine::Found ETDGMachine::read(BlockOp block, unsigned index, ReadAttr read,
                                     RankedTensorType type, ArrayRef<int64_t> point, Tensor &value,
                                     CellRef &source) {
  Type elementType = type.getElementType();
  const bool byElement = read.getElementRank() != 0;
  ArrayRef<int64_t> symbols = infoOf(block).symbols;

  SmallVector<int64_t> at(point);
  at.append(byElement ? type.getRank() : 0, 0);
  int64_t count = byElement ? type.getNumElements() : 1;
  Cell *cells = nullptr;
  if (byElement) {
    value = Tensor::zeros(elementType, type.getShape());
    cells = value.mutableData();
  }
  for (int64_t flat = 0; flat < count; ++flat) {
    if (byElement)
      llvm::copy(positionOf(type.getShape(), flat), at.begin() + point.size());
    FailureOr<PieceAttr> piece = pieceAt(block, index, read, at);
    if (failed(piece))
      return Found::Error;
    Cell cell;
    if (piece->getKind() == etdg::SourceKind::Splat) {
      FailureOr<Tensor> scalar = eval.materialize(block, piece->getValue(), elementType);
      if (failed(scalar))
        return Found::Error;
      cell = scalar->data()[0];
    } else if (piece->getKind() == etdg::SourceKind::Index) {
      cell.i = wrapToWidth(evaluateExpr(piece->getMap().getValue().getResult(0), at, symbols),
                           integerWidth(elementType));
    } else {
      BufferState *buffer = nullptr;
      SmallVector<int64_t> position;
      if (Found found = locate(block, *piece, at, point, buffer, position); found != Found::Value)
        return found;
      Tensor whole;
      ArrayRef<int64_t> outer = ArrayRef(position).take_front(buffer->shape.size());
      if (Found found = this->element(block, point, buffer, outer, whole); found != Found::Value)
        return found;
      ArrayRef<int64_t> inner = ArrayRef(position).drop_front(outer.size());
      if (inner.empty() && whole.getRank() == type.getRank() && !byElement) {
        value = whole;
        int64_t offset = 0;
        for (auto [index, size] : llvm::zip_equal(outer, buffer->shape))
          offset = offset * size + index;
        source = {buffer, offset};
        return Found::Value;
      }
      int64_t offset = 0;
      for (auto [dim, size] : llvm::zip(inner, whole.getShape())) {
        if (dim < 0 || dim >= size) {
          error(block, point) << "reads scalar " << positionToString(inner) << " of an element of "
                              << sizesToString(whole.getShape());
          return Found::Error;
        }
        offset = offset * size + dim;
      }
      cell = whole.data()[offset];
    }
    if (!byElement) {
      value = Tensor::splat(elementType, type.getShape(), cell);
      return Found::Value;
    }
    cells[flat] = cell;
  }
  return Found::Value;
}

//===----------------------------------------------------------------------===//
// One iteration
//===----------------------------------------------------------------------===//

Outcome ETDGMachine::run(BlockOp block, ArrayRef<int64_t> point,
                         std::shared_ptr<const LoopPath> path, CellRef &waitsFor) {
  written.clear();
  currentPath = std::move(path);
  Block &body = block.getBody().front();
  SmallVector<Tensor> values(block.getNumReads());
  SmallVector<CellRef> sources(block.getNumReads());
  for (auto [i, value] : llvm::enumerate(values)) {
    auto type = cast<RankedTensorType>(body.getArgument(i).getType());
    switch (read(block, i, block.getRead(i), type, point, value, sources[i])) {
    case Found::Value:
      break;
    case Found::Missing:
      waitsFor = missing;
      return Outcome::Waiting;
    case Found::Error:
      return Outcome::Failed;
    }
  }
  if (observer)
    observer(block.getBlockName().value_or(""), point);
  SmallVector<State> states = findStates(block, point, sources);
  FailureOr<std::unique_ptr<Part>> part = enterPart(block, point, states, sources, values);
  if (failed(part))
    return Outcome::Failed;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), values))
    env.bind(argument, value);
  if (failed(eval.evalBlock(body, env)))
    return Outcome::Failed;

  SmallVector<Tensor> results;
  for (Value operand : block.getYield().getOperands()) {
    FailureOr<Tensor> value = eval.readTensor(block.getYield(), operand, env);
    if (failed(value))
      return Outcome::Failed;
    results.push_back(*value);
  }
  if (*part && failed(joinPart(block, **part, states, results)))
    return Outcome::Failed;
  for (auto [i, value] : llvm::enumerate(results))
    if (failed(write(block, point, i, value)))
      return Outcome::Failed;
  if (*part) {
    CellRef first = written[states.front().write];
    parts[{first.buffer, first.offset}] = std::move(*part);
  }
  return Outcome::Ran;
}

LogicalResult ETDGMachine::write(BlockOp block, ArrayRef<int64_t> point, unsigned index,
                                 Tensor value) {
  etdg::WriteAttr write = block.getWrite(index);
  FailureOr<BufferState *> buffer = bufferAt(block, block.getBuffers()[write.getOperand()], point);
  if (failed(buffer))
    return failure();
  SmallVector<int64_t> position;
  for (AffineExpr expr : write.getMap().getValue().getResults())
    position.push_back(evaluateExpr(expr, point, infoOf(block).symbols));
  FailureOr<int64_t> offset = offsetOf(block, point, **buffer, position, "writes");
  if (failed(offset))
    return failure();
  CellRef cell{*buffer, *offset};
  Tensor &target = (*buffer)->cells[*offset];
  if (target) {
    InFlightDiagnostic diag = error(block, point);
    diag << "writes " << elementName(cell) << " a second time";
    diag.attachNote((*buffer)->value.getLoc()) << "the buffer is here";
    return diag;
  }
  target = std::move(value);
  if (currentPath) {
    (*buffer)->writers.resize((*buffer)->cells.size());
    (*buffer)->writers[*offset] = currentPath;
  }
  written.push_back(cell);
  return success();
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

/// A state is a buffer that the block writes and of which it reads, whole, another element. A block
/// that also writes what is no state shows its states to others before they are joined: it runs uncut.
SmallVector<ETDGMachine::State> ETDGMachine::findStates(BlockOp block, ArrayRef<int64_t> point,
                                                        ArrayRef<CellRef> sources) {
  SmallVector<State> states;
  if (!cuts || block.getCombine().empty() ||
      block.getIdentity().size() != block.getNumWrites())
    return {};
  for (unsigned w = 0; w < block.getNumWrites(); ++w) {
    FailureOr<BufferState *> buffer =
        bufferAt(block, block.getBuffers()[block.getWrite(w).getOperand()], point);
    if (failed(buffer))
      return {};
    std::optional<unsigned> from;
    for (auto [r, source] : llvm::enumerate(sources)) {
      if (source.buffer != *buffer)
        continue;
      if (from) // two of its elements: there is no one state
        return {};
      from = r;
    }
    if (!from || block.getBody().getArgument(*from).getType() !=
                     block.getCombine().getArgument(w).getType())
      return {};
    states.push_back({*from, w});
  }
  return states;
}

/// The part that an iteration goes on with: its states come instead of the joined ones.
std::unique_ptr<ETDGMachine::Part> ETDGMachine::resumePart(const Part &known, ArrayRef<State> states,
                                                           MutableArrayRef<Tensor> values) {
  auto part = std::make_unique<Part>();
  part->before = known.before;
  for (auto [i, state] : llvm::enumerate(states))
    values[state.read] = known.states[i];
  return part;
}

FailureOr<std::unique_ptr<ETDGMachine::Part>>
ETDGMachine::enterPart(BlockOp block, ArrayRef<int64_t> point, ArrayRef<State> states,
                       ArrayRef<CellRef> sources, MutableArrayRef<Tensor> values) {
  std::unique_ptr<Part> part;
  if (states.empty())
    return part;
  CellRef first = sources[states.front().read];
  auto known = parts.find({first.buffer, first.offset});
  bool isCut = (*cuts)() % 3 == 0;
  if (!isCut && known == parts.end())
    return part;
  if (!isCut)
    return resumePart(*known->second, states, values);
  part = std::make_unique<Part>();
  SmallVector<Tensor> identities(states.size());
  for (auto [i, identity] : llvm::enumerate(identities)) {
    auto type = cast<RankedTensorType>(block.getCombine().getArgument(i).getType());
    CellRef source;
    switch (read(block, i, cast<ReadAttr>(block.getIdentity()[i]), type, point, identity, source)) {
    case Found::Value:
      break;
    case Found::Missing: // not computed yet: no cut here
      if (known == parts.end())
        return std::unique_ptr<Part>();
      return resumePart(*known->second, states, values);
    case Found::Error:
      return failure();
    }
  }
  ++cutCount;
  for (auto [i, state] : llvm::enumerate(states)) {
    part->before.push_back(values[state.read]);
    values[state.read] = identities[i];
  }
  // A part that nothing was left for changes nothing, on either side.
  uint64_t empty = (*cuts)() % 4;
  if (empty < 2) {
    FailureOr<SmallVector<Tensor>> joined =
        empty ? join(block, identities, part->before) : join(block, part->before, identities);
    if (failed(joined))
      return failure();
    part->before = std::move(*joined);
  }
  return part;
}

/// `combine` of two partial results.
FailureOr<SmallVector<Tensor>> ETDGMachine::join(BlockOp block, ArrayRef<Tensor> first, ArrayRef<Tensor> second) {
  Block &combine = block.getCombine().front();
  for (unsigned i = 0; i < first.size(); ++i) {
    env.bind(combine.getArgument(i), first[i]);
    env.bind(combine.getArgument(first.size() + i), second[i]);
  }
  if (failed(eval.evalBlock(combine, env)))
    return failure();
  SmallVector<Tensor> joined;
  for (Value operand : combine.getTerminator()->getOperands()) {
    FailureOr<Tensor> value = eval.readTensor(combine.getTerminator(), operand, env);
    if (failed(value))
      return failure();
    joined.push_back(std::move(*value));
  }
  return joined;
}

LogicalResult ETDGMachine::joinPart(BlockOp block, Part &part, ArrayRef<State> states,
                                    MutableArrayRef<Tensor> values) {
  for (const State &state : states)
    part.states.push_back(values[state.write]);
  FailureOr<SmallVector<Tensor>> joined = join(block, part.before, part.states);
  if (failed(joined))
    return failure();
  for (auto [state, value] : llvm::zip_equal(states, *joined))
    values[state.write] = std::move(value);
  return success();
}
