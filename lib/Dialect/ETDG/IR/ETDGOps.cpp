//===- ETDGOps.cpp - graphs, buffers, nests and the smaller operations ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constraints G1-G4, B1, K1 of constants, N1, M1, A1 of ETDGOps.td. Those of
// blocks are in BlockVerifier.cpp.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Dialect/ETDG/IR/SetText.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace mlir::etdg;

static ParseResult parseLive(OpAsmParser &parser, DenseI64ArrayAttr &live);
static void printLive(OpAsmPrinter &printer, Operation *op, DenseI64ArrayAttr live);

#define GET_OP_CLASSES
#include "ft/Dialect/ETDG/IR/ETDGOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

ParseResult GraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false, getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void GraphOp::print(OpAsmPrinter &p) {
  function_interface_impl::printFunctionOp(p, *this, /*isVariadic=*/false,
                                           getFunctionTypeAttrName(), getArgAttrsAttrName(),
                                           getResAttrsAttrName());
}

SmallVector<StringAttr> GraphOp::getSymbolNames() {
  SmallVector<StringAttr> names;
  for (Type type : getArgumentTypes())
    if (auto buffer = dyn_cast<BufferType>(type))
      for (ft::LengthAttr length : buffer.getLengths())
        if (StringAttr name = length.getSingleName())
          names.push_back(name);
  llvm::sort(names, [](StringAttr a, StringAttr b) { return a.getValue() < b.getValue(); });
  names.erase(llvm::unique(names), names.end());
  return names;
}

/// `etdg.checks`: what a call's lengths satisfy, why, and at which operation of the program.
static LogicalResult verifyChecks(GraphOp graph) {
  Attribute given = graph->getAttr(names::checks);
  if (!given)
    return success();
  auto isCheck = [](Attribute check) {
    auto entry = dyn_cast<DictionaryAttr>(check);
    return entry && entry.getAs<ft::BoundsAttr>("holds") && entry.getAs<StringAttr>("because") &&
           (!entry.get("at") || entry.getAs<LocationAttr>("at"));
  };
  auto checks = dyn_cast<ArrayAttr>(given);
  if (checks && llvm::all_of(checks, isCheck))
    return success();
  return graph.emitOpError() << "'etdg.checks' is a list of {holds = #ft.bounds<...>, because = \"...\"}, "
                             << "each with its place (at = loc(...)) or without, found " << given;
}

/// G2: what a graph returns.
static LogicalResult verifyReturn(GraphOp graph, ReturnOp results) {
  if (results.getOperandTypes() != TypeRange(graph.getResultTypes())) {
    InFlightDiagnostic diag = results.emitOpError()
                              << "(G2) returns " << results.getOperandTypes()
                              << " where the graph's results are " << graph.getResultTypes();
    diag.attachNote(graph.getLoc()) << "the graph is here";
    return diag;
  }
  llvm::SmallDenseMap<Value, unsigned> seen;
  for (auto [i, value] : llvm::enumerate(results.getOperands())) {
    auto buffer = value.getDefiningOp<BufferOp>();
    if (!buffer || buffer->getParentOp() != graph.getOperation())
      return results.emitOpError()
             << "(G2) every result is defined by an etdg.buffer of the graph's body, result " << i
             << " is not";
    auto [it, isNew] = seen.insert({value, i});
    if (!isNew) {
      InFlightDiagnostic diag = results.emitOpError()
                                << "(G2) no buffer is returned twice, results " << it->second
                                << " and " << i << " are one";
      diag.attachNote(buffer.getLoc()) << "the buffer is here";
      return diag;
    }
  }
  return success();
}

/// G3: names are lengths of arguments.
static LogicalResult verifyLengthNames(GraphOp graph) {
  SmallVector<StringAttr> names = graph.getSymbolNames();
  auto list = [&](InFlightDiagnostic &diag) -> InFlightDiagnostic & {
    diag << "; the arguments bind ";
    if (names.empty())
      return diag << "none";
    llvm::interleaveComma(names, diag,
                          [&](StringAttr name) { diag << "'" << name.getValue() << "'"; });
    return diag;
  };
  auto checkName = [&](Operation *op, StringAttr name) -> LogicalResult {
    if (llvm::is_contained(names, name))
      return success();
    InFlightDiagnostic diag = op->emitOpError()
                              << "(G3) '" << name.getValue() << "' is no length of an argument";
    list(diag);
    diag.attachNote(graph.getLoc()) << "the graph is here";
    return diag;
  };
  auto checkType = [&](Operation *op, Type type) -> LogicalResult {
    if (auto buffer = dyn_cast<BufferType>(type))
      for (ft::LengthAttr length : buffer.getLengths())
        for (StringAttr name : length.getNames())
          if (failed(checkName(op, name)))
            return failure();
    return success();
  };
  for (Type type : llvm::concat<const Type>(graph.getArgumentTypes(), graph.getResultTypes()))
    if (failed(checkType(graph, type)))
      return failure();
  auto checkGuards = [&](VariantsOp op) -> LogicalResult {
    for (auto guard : op.getGuards().getAsRange<GuardAttr>())
      for (StringAttr name : guard.getNames())
        if (failed(checkName(op, name)))
          return failure();
    return success();
  };
  WalkResult walk = graph.getBody().walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(checkType(op, type)))
        return WalkResult::interrupt();
    if (auto variants = dyn_cast<VariantsOp>(op); variants && failed(checkGuards(variants)))
      return WalkResult::interrupt();
    if (auto block = dyn_cast<BlockOp>(op))
      for (Attribute symbol : block.getSymbols())
        if (failed(checkName(op, cast<StringAttr>(symbol))))
          return WalkResult::interrupt();
    if (auto assume = dyn_cast<AssumeOp>(op))
      if (failed(checkName(op, assume.getLengthAttr())))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult GraphOp::verify() {
  if (failed(verifyChecks(*this)))
    return failure();
  // G1
  auto allBuffers = [&](TypeRange types, StringRef what) -> LogicalResult {
    for (auto [i, type] : llvm::enumerate(types))
      if (!isa<BufferType>(type))
        return emitOpError() << "(G1) arguments and results are buffers, " << what << " " << i
                             << " is " << type;
    return success();
  };
  if (failed(allBuffers(getArgumentTypes(), "argument")) ||
      failed(allBuffers(getResultTypes(), "result")))
    return failure();
  if (isExternal())
    return success();

  // G2
  Block &body = getBody().front();
  auto results = body.empty() ? ReturnOp() : dyn_cast<ReturnOp>(body.back());
  if (!getBody().hasOneBlock() || !results)
    return emitOpError() << "(G2) its body is one block that ends in etdg.return";
  for (Operation &op : body) // G4
    if (!isa<BufferOp, ConstantOp, AssumeOp, NestOp, BlockOp, KernelOp, VariantsOp, ReturnOp>(op)) {
      InFlightDiagnostic diag = op.emitError()
                                << "(G4) a graph holds operations of etdg alone, found '"
                                << op.getName() << "'; what computes belongs in a leaf";
      diag.attachNote(getLoc()) << "the graph is here";
      return diag;
    }
  return failure(failed(verifyReturn(*this, results)) || failed(verifyLengthNames(*this)));
}

//===----------------------------------------------------------------------===//
// Buffer, constant
//===----------------------------------------------------------------------===//

static ParseResult parseLive(OpAsmParser &parser, DenseI64ArrayAttr &live) {
  SmallVector<int64_t> planes;
  auto parseOne = [&]() -> ParseResult {
    if (succeeded(parser.parseOptionalKeyword("all"))) {
      planes.push_back(-1);
      return success();
    }
    return parser.parseInteger(planes.emplace_back());
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  live = DenseI64ArrayAttr::get(parser.getContext(), planes);
  return success();
}

static void printLive(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr live) {
  printer << "[";
  llvm::interleaveComma(live.asArrayRef(), printer, [&](int64_t planes) {
    if (planes == -1)
      printer << "all";
    else
      printer << planes;
  });
  printer << "]";
}

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getResult(), getNameHint().value_or("buf"));
}

bool BufferOp::keepsAllPlanes() {
  return !getLiveAttr() ||
         llvm::all_of(getLiveAttr().asArrayRef(), [](int64_t planes) { return planes == -1; });
}

SmallVector<int64_t> BufferOp::getPlanes() {
  SmallVector<int64_t> planes;
  if (std::optional<ArrayRef<int64_t>> live = getLive())
    llvm::append_range(planes, llvm::map_range(*live, planesOf));
  return planes;
}

std::optional<int64_t> BufferOp::getBytes(std::optional<int64_t> open) {
  RankedTensorType element = getType().getElement();
  Type scalar = element.getElementType();
  int64_t bytes = element.getNumElements() *
                  (scalar.isIndex() ? int64_t(sizeof(int64_t)) : int64_t(llvm::divideCeil(scalar.getIntOrFloatBitWidth(), CHAR_BIT)));
  SmallVector<int64_t> planes = getPlanes();
  for (auto [d, length] : llvm::enumerate(getType().getLengths())) {
    std::optional<int64_t> extent = !planes.empty() && planes[d] ? planes[d] : length.getConstant();
    if (!extent && !(extent = open))
      return std::nullopt;
    bytes *= std::max<int64_t>(*extent, 1);
  }
  return bytes;
}

/// (B2), (B3)
static LogicalResult verifyMemory(BufferOp buffer, BufferMemory memory) {
  bool isOfCall = !buffer->getParentOfType<BlockOp>();
  if (isOfCall != (memory == BufferMemory::Call))
    return buffer.emitOpError() << "(B2) the memory of " << (isOfCall ? "a graph's own buffer: expected call" : "a block's buffer: expected shared or workspace")
                                << ", found " << stringifyBufferMemory(memory);
  if (memory == BufferMemory::Shared && !buffer.getBytes())
    return buffer.emitOpError() << "(B3) a buffer in shared memory has a size that is known, found lengths of the call without `live` planes";
  return success();
}

LogicalResult BufferOp::verify() {
  if (getLiveAttr()) {
    ArrayRef<int64_t> live = getLiveAttr();
    unsigned depth = getResult().getType().getDepth();
    if (live.size() != depth)
      return emitOpError() << "(B1) `live` has one entry for each length: expected " << depth
                           << ", found " << live.size();
    for (int64_t planes : live)
      if (planes != -1 && planes < 1)
        return emitOpError() << "(B1) an entry of `live` is positive or `all`, found " << planes;
  }
  std::optional<BufferMemory> memory = getMemory();
  return memory ? verifyMemory(*this, *memory) : success();
}

LogicalResult ConstantOp::verify() {
  BufferType type = getResult().getType();
  if (type.getDepth() != 0)
    return emitOpError() << "(K1) a constant's buffer has depth 0, found " << type;
  if (getValue().getShapedType() != type.getElement())
    return emitOpError() << "(K1) the value has the buffer's element type: expected "
                         << type.getElement() << ", found " << getValue().getShapedType();
  return success();
}

//===----------------------------------------------------------------------===//
// Nest, kernel, assume
//===----------------------------------------------------------------------===//

LogicalResult NestOp::verify() {
  BlockOp first;
  for (Operation &op : getBody().front()) {
    auto block = dyn_cast<BlockOp>(op);
    if (!block) {
      InFlightDiagnostic diag = emitOpError() << "(N1) a nest holds blocks only";
      diag.attachNote(op.getLoc()) << "found '" << op.getName() << "'";
      return diag;
    }
    if (!first)
      first = block;
    if (block.getDims() != first.getDims() || block.getNumAncestors() != first.getNumAncestors()) {
      InFlightDiagnostic diag = block.emitOpError()
                                << "(N1) blocks of a nest have equal dimensions and ancestors: "
                                << block.getDims() << " with " << block.getNumAncestors()
                                << " against " << first.getDims() << " with "
                                << first.getNumAncestors();
      diag.attachNote(first.getLoc()) << "the nest's first block is here";
      return diag;
    }
  }
  if (!first)
    return emitOpError() << "(N1) a nest holds at least one block";
  if (ScheduleAttr schedule = getScheduleAttr())
    if (schedule.getMap().getValue().getNumDims() != first.getNumOwnDims())
      return emitOpError() << "(N1) the schedule's map takes the " << first.getNumOwnDims()
                           << " own dimensions, found "
                           << schedule.getMap().getValue().getNumDims();
  return success();
}

static LogicalResult verifyExit(KernelOp kernel) {
  ExitAttr exit = kernel.getExitAttr();
  if (!exit)
    return success();
  if (kernel.getShared() != 1)
    return kernel.emitOpError() << "(M2) an exit needs nests that share one dimension, found " << kernel.getShared();
  SmallVector<SmallVector<BlockOp>> nests = getNests(kernel.getBody());
  if (exit.getNest() < 0 || exit.getNest() >= int64_t(nests.size()))
    return kernel.emitOpError() << "(M2) the exit is of nest " << exit.getNest() << ", expected one of the " << nests.size() << " here";
  BlockOp writer = nests[exit.getNest()].front();
  if (exit.getWrite() < 0 || exit.getWrite() >= int64_t(writer.getNumWrites()))
    return kernel.emitOpError() << "(M2) the exit is result " << exit.getWrite() << " of its nest, which has " << writer.getNumWrites();
  auto type = cast<BufferType>(writer.getBuffers()[writer.getWrite(exit.getWrite()).getOperand()].getType());
  if (type.getDepth() != 1 || type.getElement().getRank() != 0 || !type.getElement().getElementType().isInteger(1))
    return kernel.emitOpError() << "(M2) the exit is a single i1 for each step, found " << type;
  return success();
}

LogicalResult KernelOp::verify() {
  int64_t shared = getShared();
  if (shared < 0)
    return emitOpError() << "(M1) `shared` is not negative, found " << shared;
  for (Operation &op : getBody().front()) {
    auto nest = dyn_cast<NestOp>(op);
    BlockOp block =
        nest ? (nest.getBody().front().empty() ? BlockOp()
                                               : dyn_cast<BlockOp>(nest.getBody().front().front()))
             : dyn_cast<BlockOp>(op);
    if (!nest && !block) {
      InFlightDiagnostic diag = emitOpError() << "(M1) a kernel holds nests and blocks only";
      diag.attachNote(op.getLoc()) << "found '" << op.getName() << "'";
      return diag;
    }
    if (block && shared > static_cast<int64_t>(block.getNumOwnDims())) {
      InFlightDiagnostic diag =
          emitOpError() << "(M1) `shared` is at most the dimension of each nest, found " << shared;
      diag.attachNote(op.getLoc()) << "this one has dimension " << block.getNumOwnDims();
      return diag;
    }
  }
  return verifyExit(*this);
}

LogicalResult AssumeOp::verify() {
  int64_t lo = getLo(), hi = getHi();
  if (lo > hi)
    return emitOpError() << "(A1) the lower end is at most the upper, found [" << lo << ", " << hi
                         << "]";
  for (int64_t value : getTypical())
    if (value < lo || value > hi)
      return emitOpError() << "(A1) typical values lie in [" << lo << ", " << hi << "], found "
                           << value;
  return success();
}

//===----------------------------------------------------------------------===//
// Walking
//===----------------------------------------------------------------------===//

SmallVector<BlockOp> etdg::blocksOf(Operation *item) {
  if (auto nest = dyn_cast<NestOp>(item))
    return llvm::to_vector(nest.getBody().getOps<BlockOp>());
  auto block = dyn_cast<BlockOp>(item);
  return block ? SmallVector<BlockOp>{block} : SmallVector<BlockOp>();
}

ScheduleAttr etdg::scheduleOf(Operation *item) {
  auto scheduled = dyn_cast<ScheduledOpInterface>(item);
  return scheduled ? scheduled.getScheduleAttr() : ScheduleAttr();
}

void etdg::setSchedule(Operation *item, ScheduleAttr schedule) { cast<ScheduledOpInterface>(item).setScheduleAttr(schedule); }

SmallVector<SmallVector<BlockOp>> etdg::getNests(Region &body) {
  SmallVector<SmallVector<BlockOp>> nests;
  for (Operation &op : body.getOps()) {
    if (isa<ScheduledOpInterface>(op))
      nests.push_back(blocksOf(&op));
    else if (auto kernel = dyn_cast<KernelOp>(op))
      llvm::append_range(nests, getNests(kernel.getBody()));
  }
  return nests;
}
