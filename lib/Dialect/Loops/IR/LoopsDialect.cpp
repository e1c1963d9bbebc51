//===- LoopsDialect.cpp - the loops dialect -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, attributes, types.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/Loops/IR/Loops.h"

#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Support/MemoryAlignment.h"
#include "ft/Support/RenamedWords.h"
#include "ft/Support/Swizzled.h"

#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

#include <climits>

using namespace mlir;
using namespace mlir::loops;
using ft::parseSwizzled, ft::printSwizzled;

#include "ft/Dialect/Loops/IR/LoopsDialect.cpp.inc"
#include "ft/Dialect/Loops/IR/LoopsEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/Loops/IR/LoopsAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/Loops/IR/LoopsTypes.cpp.inc"

void LoopsDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ft/Dialect/Loops/IR/LoopsAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ft/Dialect/Loops/IR/LoopsTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ft/Dialect/Loops/IR/LoopsOps.cpp.inc"
      >();
}

/// What the threads of a block run each for itself.
static LogicalResult verifyThreadLoop(Operation *loop) {
  auto points = dyn_cast<scf::ForallOp>(loop);
  if (!points || !llvm::all_of(points.getMixedLowerBound(), getConstantIntValue) ||
      !llvm::all_of(points.getMixedUpperBound(), getConstantIntValue))
    return loop->emitError("threads share a loop over points between constant bounds (loops_grid5)");
  WalkResult walked = loop->walk([&](Operation *op) {
    LevelAttr level = levelOf(op);
    bool fits = level ? level.getLevel() == etdg::LoopLevel::Thread
                      : isMemoryEffectFree(op) || isa<scf::IfOp, memref::LoadOp, memref::StoreOp, BoundedOp>(op) ||
                            op->hasTrait<OpTrait::IsTerminator>();
    if (fits)
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitError("a thread can't run it alone (loops_grid5)");
    diag.attachNote(loop->getLoc()) << "in this loop of level thread";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

/// Levels of the parallel loops of a kernel of thread blocks, and what they stand in.
static LogicalResult verifyGridLoop(Operation *loop, Operation *kernel) {
  LevelAttr level = levelOf(loop);
  bool isDealt = level.getLevel() == etdg::LoopLevel::Grid;
  bool isOfThreads = level.getLevel() == etdg::LoopLevel::Thread;
  if (!isDealt && !isOfThreads && level.getLevel() != etdg::LoopLevel::Lifted && level.getLevel() != etdg::LoopLevel::None)
    return loop->emitError("thread blocks run its kernel: expected the level grid, lifted, thread or none, found ")
           << etdg::stringifyLoopLevel(level.getLevel()) << " (loops_grid2)";
  if (isDealt != (level.getMapping() != etdg::IterationMapping::None))
    return loop->emitError("expected ") << (isDealt ? "a mapping" : "no mapping") << " with the level "
                                        << etdg::stringifyLoopLevel(level.getLevel()) << ", found "
                                        << etdg::stringifyIterationMapping(level.getMapping()) << " (loops_grid2)";
  if (isOfThreads)
    return verifyThreadLoop(loop);
  for (Operation *parent = loop->getParentOp(); parent != kernel; parent = parent->getParentOp()) {
    LevelAttr outside = levelOf(parent);
    bool fits = outside ? outside.getLevel() == etdg::LoopLevel::Grid ||
                              (!isDealt && outside.getLevel() == etdg::LoopLevel::None)
                        : !isDealt || isa<scf::ForOp, scf::WhileOp>(parent);
    if (fits)
      continue;
    InFlightDiagnostic diag =
        loop->emitError(isDealt ? "expected sequential loops and others of level grid around it (loops_grid3)"
                                : "a leaf computes the iterations around it at once: expected no parallel loop (loops_grid3)");
    diag.attachNote(parent->getLoc()) << "it stands in this operation";
    return diag;
  }
  return success();
}

static LogicalResult verifyGrid(Operation *op, GridAttr grid) {
  if (!op->hasAttr(names::kernel) || grid.getMost() < 0)
    return op->emitError("expected thread blocks of a kernel, ")
           << (grid.getMost() < 0 ? "not fewer than none" : "found no attribute loops.kernel") << " (loops_grid1)";
  WalkResult walked = op->walk([&](Operation *loop) {
    return levelOf(loop) && failed(verifyGridLoop(loop, op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

namespace {
/// What of shared memory an operation has.
struct SharedRange {
  int64_t begin, end;
  Operation *op;
  bool lasts; // as long as the kernel
};
} // namespace

/// What a memory takes of shared memory; none where it lies elsewhere, or has a size that is refused by itself.
static std::optional<SharedRange> rangeOf(AllocOp alloc) {
  if (!alloc.isShared() || !alloc.getConstantSize())
    return std::nullopt;
  MemoryAttr memory = alloc.getMemoryAttr();
  // (Swizzled memory has whole lines.)
  int64_t bytes = memory.getSwizzled() ? int64_t(llvm::alignTo(alloc.getBytesOfBlock(), MemoryAttr::lineBytes)) : alloc.getBytesOfBlock();
  return SharedRange{memory.getOffset(), memory.getOffset() + bytes, alloc, /*lasts=*/true};
}

/// All shared memory of a kernel, in the order of its operations.
static SmallVector<SharedRange> sharedRangesOf(Operation *kernel) {
  SmallVector<SharedRange> ranges;
  kernel->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto alloc = dyn_cast<AllocOp>(op))
      if (std::optional<SharedRange> range = rangeOf(alloc))
        ranges.push_back(*range);
    auto leaf = dyn_cast<LeafOp>(op);
    if (!leaf)
      return WalkResult::advance();
    for (Attribute attribute : leaf.getPlaces().value_or(ArrayAttr::get(op->getContext(), {})))
      if (auto place = dyn_cast<PlaceAttr>(attribute); place && place.getKind() == PlaceKind::Shared)
        ranges.push_back({place.getOffset(), place.getOffset() + place.getBytes(), op, /*lasts=*/false});
    return WalkResult::skip();
  });
  return ranges;
}

static LogicalResult verifyShared(Operation *op, SharedAttr shared) {
  if (!gridOf(op))
    return op->emitError("expected shared memory of a kernel of thread blocks, found no loops.grid (loops_grid6)");
  SmallVector<SharedRange> ranges = sharedRangesOf(op);
  for (auto [i, range] : llvm::enumerate(ranges)) {
    if (range.begin < shared.getWarps() || range.end > shared.getBytes())
      return range.op->emitError("expected a place in bytes ") << shared.getWarps() << " to " << shared.getBytes() << " of shared memory, found "
                                                               << (range.begin < 0 ? "none" : std::to_string(range.begin) + " to " + std::to_string(range.end))
                                                               << " (loops_grid6)";
    for (const SharedRange &other : ArrayRef(ranges).take_front(i))
      if ((range.lasts || other.lasts) && range.begin < other.end && other.begin < range.end) {
        InFlightDiagnostic diag = range.op->emitError("expected a place that overlaps no memory that lasts as long as the kernel, found bytes ")
                                  << range.begin << " to " << range.end << " (loops_grid6)";
        diag.attachNote(other.op->getLoc()) << "bytes " << other.begin << " to " << other.end << " are had here";
        return diag;
      }
  }
  return success();
}

static LogicalResult verifyConstant(SplatOp splat) {
  if (!splat.getStep() && matchPattern(splat.getValue(), m_Constant()))
    return success();
  return splat.emitOpError("expected a constant without a step, which lies in memory as one (loops_grid7)");
}

static LogicalResult verifyJoined(Operation *op, DenseI64ArrayAttr joined) {
  ArrayRef<int64_t> all = joined.asArrayRef();
  for (auto [number, with] : llvm::enumerate(all))
    if (with < -1 || with >= int64_t(all.size()) || (with >= 0 && (with == int64_t(number) || all[size_t(with)] != -1)))
      return op->emitOpError() << "(loops_grid9) 'loops.joined': loop nest " << number
                               << ": expected -1 or another loop nest that is joined with none, found " << with;
  return success();
}

static LogicalResult verifyGuards(Operation *op, ArrayAttr guards) {
  llvm::SmallDenseSet<int64_t> nests;
  for (Attribute attribute : guards) {
    auto guard = dyn_cast<GuardAttr>(attribute);
    if (!guard || !nests.insert(guard.getNest()).second)
      return op->emitOpError("(loops_grid8) 'loops.guards': expected #loops.guard, each of another loop nest, found ") << attribute;
  }
  return success();
}

static bool isInGrid(Operation *op) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  return kernel && gridOf(kernel);
}

/// What is wrong with one of a leaf's `loops.kept`, after one of output `before`; empty: nothing.
static std::string describeWrongKept(LeafOp leaf, KeptAttr kept, int64_t before, llvm::SmallDenseSet<int64_t> &inputs) {
  Block &body = leaf.getBody().front();
  if (kept.getOutput() <= before || kept.getOutput() >= int64_t(body.getTerminator()->getNumOperands()) ||
      kept.getInput() >= int64_t(body.getNumArguments()) || !inputs.insert(kept.getInput()).second)
    return "each of another one of its outputs, in their order, and of another input";
  auto made = dyn_cast<RankedTensorType>(body.getTerminator()->getOperand(unsigned(kept.getOutput())).getType());
  if (!made || made != body.getArgument(unsigned(kept.getInput())).getType())
    return "rows of one type";
  auto element = dyn_cast<FloatType>(made.getElementType());
  if (kept.getType() && (!element || cast<FloatType>(kept.getType()).getWidth() <= element.getWidth()))
    return "a wider float than its elements";
  return "";
}

static LogicalResult verifyKept(LeafOp leaf, ArrayAttr list) {
  auto refuse = [&] { return leaf.emitOpError("(loops_grid10) 'loops.kept': expected "); };
  if (leaf.getList() || !isa<scf::ForOp>(leaf->getParentOp()) || !isInGrid(leaf))
    return refuse() << "a leaf without a list in the body of a scf.for, in a kernel of thread blocks";
  // (What has no body, or no end, its own constraints refuse.)
  if (leaf.getBody().empty() || leaf.getBody().front().empty() || !leaf.getBody().front().mightHaveTerminator())
    return success();
  int64_t before = -1;
  llvm::SmallDenseSet<int64_t> inputs;
  for (Attribute attribute : list) {
    auto kept = dyn_cast<KeptAttr>(attribute);
    std::string wrong = kept ? describeWrongKept(leaf, kept, before, inputs) : "#loops.kept";
    if (!wrong.empty())
      return refuse() << wrong << ", found " << attribute;
    before = kept.getOutput();
  }
  return success();
}

static LogicalResult verifyRoundsLast(scf::ForOp loop) {
  if (isInGrid(loop))
    return success();
  return loop.emitError("'loops.rounds_last': expected a loop in a kernel of thread blocks (loops_grid11)");
}

LogicalResult LoopsDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  bool isFunction = isa<FunctionOpInterface>(op);
  if ((name == names::kernel || name == names::team) && isFunction && isa<UnitAttr>(attribute.getValue()))
    return success();
  if (auto grid = dyn_cast<GridAttr>(attribute.getValue()); name == names::grid && isFunction && grid)
    return verifyGrid(op, grid);
  if (auto shared = dyn_cast<SharedAttr>(attribute.getValue()); name == names::shared && isFunction && shared)
    return verifyShared(op, shared);
  if (auto splat = dyn_cast<SplatOp>(op); name == names::constant && splat && isa<UnitAttr>(attribute.getValue()))
    return verifyConstant(splat);
  if (name == names::syncs && isa<LeafOp>(op) && isa<DenseBoolArrayAttr>(attribute.getValue()))
    return success();
  auto outputs = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
  if (auto leaf = dyn_cast<LeafOp>(op); name == names::handed && leaf && outputs && llvm::all_of(outputs.asArrayRef(), [&](int64_t output) {
        return output >= 0 && output < int64_t(leaf.getOutputs().size());
      }))
    return success();
  auto lists = dyn_cast<ArrayAttr>(attribute.getValue());
  if (name == names::rowLoops && isa<LeafOp>(op) && lists && llvm::all_of(lists, llvm::IsaPred<DenseI64ArrayAttr>))
    return success();
  if (name == names::guards && isa<LeafOp>(op) && lists)
    return verifyGuards(op, lists);
  if (auto joined = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()); name == names::joined && isa<LeafOp>(op) && joined)
    return verifyJoined(op, joined);
  if (auto leaf = dyn_cast<LeafOp>(op); name == names::kept && leaf && lists)
    return verifyKept(leaf, lists);
  if (auto loop = dyn_cast<scf::ForOp>(op); name == names::roundsLast && loop && isa<UnitAttr>(attribute.getValue()))
    return verifyRoundsLast(loop);
  if (StringRef now = ft::findRenamed(ft::WordKind::Attribute, name); !now.empty())
    return op->emitError() << "attribute '" << name << "' is " << now << " now";
  return op->emitError() << "unknown attribute '" << name
                         << "': the loops dialect has 'loops.kernel' and 'loops.team' on functions, 'loops.grid' and 'loops.shared' on kernels. "
                            "Splats have 'loops.constant', loops 'loops.rounds_last'. "
                            "Leaves have 'loops.syncs', 'loops.joined', 'loops.row_loops', 'loops.guards', 'loops.handed' and 'loops.kept'";
}

//===----------------------------------------------------------------------===//
// #loops.level
//===----------------------------------------------------------------------===//

Attribute LevelAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  auto mapping = etdg::IterationMapping::None;
  if (parser.parseLess())
    return {};
  FailureOr<etdg::LoopLevel> level = FieldParser<etdg::LoopLevel>::parse(parser);
  if (failed(level) || (succeeded(parser.parseOptionalComma()) && etdg::parseMapping(parser, mapping)) || parser.parseGreater())
    return {};
  return parser.getChecked<LevelAttr>(loc, parser.getContext(), *level, mapping);
}

void LevelAttr::print(AsmPrinter &printer) const {
  printer << "<" << etdg::stringifyLoopLevel(getLevel());
  if (getMapping() != etdg::IterationMapping::None)
    printer << ", " << etdg::stringifyIterationMapping(getMapping());
  printer << ">";
}

LogicalResult LevelAttr::verify(function_ref<InFlightDiagnostic()> emitError, etdg::LoopLevel level, etdg::IterationMapping mapping) {
  return etdg::verifyMapping(emitError, level, mapping);
}

//===----------------------------------------------------------------------===//
// #loops.product and #loops.lanes
//===----------------------------------------------------------------------===//

/// Elements of a vector at most, more than any processor's registers have.
static constexpr int64_t widest = 64;

/// `, name = number`, where a comma has been read already.
static ParseResult parseField(AsmParser &parser, int64_t &number) {
  return failure(parser.parseEqual() || parser.parseInteger(number));
}

Attribute ProductAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t rows = 0, columns = 0, vector = 0, panel = 0, block = 0, ahead = 0, join = 0, line = 0, aheadRows = 0, rowLoop = -1;
  bool alongTerms = false, eachRow = false, packsLeft = false, packsRight = false, outlined = false, writtenOut = false;
  SmallVector<int64_t> rests;
  const std::pair<StringRef, int64_t *> numbers[] = {{"panel", &panel}, {"block", &block}, {"ahead", &ahead},
                                                     {"join", &join},   {"line", &line},   {"ahead_rows", &aheadRows},
                                                     {"row_loop", &rowLoop}};
  const std::pair<StringRef, bool *> flags[] = {{"along_terms", &alongTerms},
                                                {"each_row", &eachRow},
                                                {"pack_left", &packsLeft},
                                                {"pack_right", &packsRight},
                                                {"outlined", &outlined},
                                                {"written_out", &writtenOut}};
  auto parseRest = [&] { return parser.parseInteger(rests.emplace_back()); };
  if (parser.parseLess() || parser.parseKeyword("rows") || parseField(parser, rows) || parser.parseComma() ||
      parser.parseKeyword("columns") || parseField(parser, columns) || parser.parseComma() || parser.parseKeyword("vector") ||
      parseField(parser, vector))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    StringRef name;
    SMLoc at = parser.getCurrentLocation();
    if (parser.parseKeyword(&name))
      return {};
    const auto *number = llvm::find_if(numbers, [&](const auto &field) { return field.first == name; });
    const auto *flag = llvm::find_if(flags, [&](const auto &field) { return field.first == name; });
    if (flag != std::end(flags)) {
      *flag->second = true;
    } else if (name == "rests") {
      if (parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseRest))
        return {};
    } else if (number == std::end(numbers)) {
      return parser.emitError(at, "expected along_terms, row_loop, rests, join, panel, block, ahead, line, ahead_rows, each_row, pack_left, "
                                  "pack_right, outlined or written_out, found '")
                 << name << "'",
             Attribute();
    } else if (parseField(parser, *number->second)) {
      return {};
    }
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<ProductAttr>(loc, parser.getContext(), rows, columns, vector, alongTerms, panel, block, ahead, eachRow, packsLeft,
                                        packsRight, rests, join, line, aheadRows, outlined, rowLoop, writtenOut);
}

void ProductAttr::print(AsmPrinter &printer) const {
  printer << "<rows = " << getRows() << ", columns = " << getColumns() << ", vector = " << getVector();
  if (getAlongTerms())
    printer << ", along_terms";
  if (getRowLoop() != -1)
    printer << ", row_loop = " << getRowLoop();
  if (!getRests().empty()) {
    printer << ", rests = [";
    llvm::interleaveComma(getRests(), printer);
    printer << "]";
  }
  const std::pair<StringRef, int64_t> numbers[] = {{"join", getJoin()},   {"panel", getPanel()}, {"block", getBlock()},
                                                   {"ahead", getAhead()}, {"line", getLine()},   {"ahead_rows", getAheadRows()}};
  for (auto [name, number] : numbers)
    if (number)
      printer << ", " << name << " = " << number;
  printer << (getEachRow() ? ", each_row" : "") << (getPacksLeft() ? ", pack_left" : "") << (getPacksRight() ? ", pack_right" : "")
          << (getOutlined() ? ", outlined" : "") << (getWrittenOut() ? ", written_out" : "") << ">";
}

LogicalResult ProductAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, int64_t columns, int64_t vector,
                                  bool alongTerms, int64_t panel, int64_t block, int64_t ahead, bool, bool packsLeft,
                                  bool packsRight, ArrayRef<int64_t> rests, int64_t join, int64_t line, int64_t aheadRows, bool, int64_t rowLoop, bool writtenOut) {
  constexpr int64_t mostRows = 32;
  if (rows < 1 || rows > mostRows)
    return emitError() << "(C1) expected 1 to " << mostRows << " rows, found " << rows;
  if (vector < 1 || vector > widest || !llvm::isPowerOf2_64(uint64_t(vector)))
    return emitError() << "(C1) expected a vector of 1 to " << widest << " elements, a power of two, found " << vector;
  if (columns < 1 || columns > mostRows * widest || (!alongTerms && columns % vector != 0))
    return emitError() << "(C2) expected columns that are a multiple of the vector's " << vector << ", found " << columns;
  if (alongTerms && (columns > vector || !llvm::isPowerOf2_64(uint64_t(columns))))
    return emitError() << "(C2) expected a power of two of columns, at most the vector's " << vector << ", found " << columns;
  if (panel < 0 || block < 0 || (alongTerms && (panel || block)))
    return emitError() << "(C3) expected no panel and no block with along_terms, nor negative ones, found " << panel << " and " << block;
  if (ahead < 0 || (alongTerms && ahead))
    return emitError() << "(C3) expected nothing ahead with along_terms, nor a negative number of terms, found " << ahead;
  if (alongTerms && (packsLeft || packsRight))
    return emitError() << "(C3) expected no operand that is packed with along_terms";
  if (panel == 1 && block)
    return emitError() << "(C3) expected no block where all calls copy columns (panel = 1), found " << block;
  int64_t before = rows;
  for (int64_t rest : rests) {
    if (rest < 1 || rest >= before)
      return emitError() << "(C4) expected rests of 1 to " << before - 1 << " rows after tiles of " << before << ", found " << rest;
    before = rest;
  }
  if (join < 0 || join >= rows)
    return emitError() << "(C4) expected fewer than " << rows << " rows that join the last tile, found " << join;
  if (line < 0 || aheadRows < 0 || (ahead == 0) != (line == 0) || (ahead == 0 && aheadRows))
    return emitError() << "(C5) expected the columns of a line where some are asked for ahead, and there alone, found " << line << " and "
                       << aheadRows << " rows";
  if (rowLoop < -1)
    return emitError() << "(C6) expected the number of a loop as row_loop, found " << rowLoop;
  if (writtenOut && (alongTerms || block || panel == 1))
    return emitError() << "(C6) expected no terms that are written_out with along_terms, a block, or panel = 1";
  return success();
}

LogicalResult LanesAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t loop, int64_t vector, int64_t beside, int64_t turned,
                                ArrayAttr rests) {
  constexpr int64_t mostBeside = 16;
  if (loop < -1)
    return emitError() << "(C1) expected the number of a loop, or -1, found " << loop;
  if (vector < 1 || vector > widest || !llvm::isPowerOf2_64(uint64_t(vector)) || (loop < 0 && vector != 1))
    return emitError() << "(C1) expected a vector of 1 to " << widest << " elements, a power of two, 1 without a loop, found " << vector;
  if (beside < 1 || beside > mostBeside)
    return emitError() << "(C2) expected 1 to " << mostBeside << " vectors beside each other, found " << beside;
  if (turned < -1 || (turned >= 0 && (turned == loop || loop < 0 || vector < 2 || beside != 1)))
    return emitError() << "(C3) expected two loops of a matrix that is turned, vectors, and one at a time, found loop = " << loop << ", turned = " << turned
                       << ", vector = " << vector << ", beside = " << beside;
  auto isStraight = [](Attribute rest) { return isa<LanesAttr>(rest) && cast<LanesAttr>(rest).getTurned() < 0; };
  if (rests && (turned < 0 || rests.empty() || rests.size() > 2 || !llvm::all_of(rests, isStraight)))
    return emitError() << "(C4) expected one or two rests of a matrix that is turned, #loops.lanes that turn nothing, found " << rests;
  return success();
}

LogicalResult JoinedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t with) {
  return with >= 0 ? success() : LogicalResult(emitError() << "(C1) expected the number of a loop nest, found " << with);
}

LogicalResult GuardAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t nest, int64_t input, bool) {
  if (nest < 0 || input < 0)
    return emitError() << "(C1) expected the numbers of a loop nest and of an input, found nest = " << nest << ", input = " << input;
  return success();
}

LogicalResult KeptAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t output, int64_t input, KeptStore, Type type) {
  if (output < 0 || input < 0)
    return emitError() << "expected numbers that are not negative, found output " << output << " and input " << input << " (C1)";
  return !type || isa<FloatType>(type) ? success() : LogicalResult(emitError() << "expected a float, found " << type << " (C2)");
}

LogicalResult ScratchAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t value, ScratchKind, int64_t offset, int64_t bytes) {
  constexpr int64_t alignment = ft::memoryAlignment;
  if (value < 0 || offset < 0 || offset % alignment != 0)
    return emitError() << "(C1) expected the number of a value, and an offset that is a multiple of " << alignment << ", found " << value << " and "
                       << offset;
  if (bytes < 1 || bytes % alignment != 0)
    return emitError() << "(C1) expected bytes that are a multiple of " << alignment << ", found " << bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// What thread blocks are given
//===----------------------------------------------------------------------===//

Attribute ChunkLengthAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t each = 0, tasks = 0, full = 0;
  StringRef kind;
  if (parser.parseLess() || parser.parseKeyword(&kind))
    return {};
  ParseResult parsed = success();
  if (kind == "each")
    parsed = parseField(parser, each);
  else if (kind == "tasks")
    parsed = failure(parseField(parser, tasks) || parser.parseComma() || parser.parseKeyword("full") || parseField(parser, full));
  else if (kind != "blocks")
    return parser.emitError(loc, "expected each, tasks or blocks, found '") << kind << "'", Attribute();
  if (parsed || parser.parseGreater())
    return {};
  // (What is written is a number, and 0 is none.)
  if ((kind == "each" && each == 0) || (kind == "tasks" && tasks == 0))
    return parser.emitError(loc, "expected positive numbers of iterations and tasks, found 0"), Attribute();
  return parser.getChecked<ChunkLengthAttr>(loc, parser.getContext(), each, tasks, full);
}

void ChunkLengthAttr::print(AsmPrinter &printer) const {
  if (getEach())
    printer << "<each = " << getEach() << ">";
  else if (getTasks())
    printer << "<tasks = " << getTasks() << ", full = " << getFull() << ">";
  else
    printer << "<blocks>";
}

LogicalResult ChunkLengthAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t each, int64_t tasks, int64_t full) {
  if (each < 0 || (each && (tasks || full)))
    return emitError() << "(C1) expected a positive number of iterations that stands alone, found each = " << each;
  if (tasks < 0 || full < 0 || (tasks == 0) != (full == 0))
    return emitError() << "(C2) expected positive numbers of tasks and iterations, found tasks = " << tasks << " and full = " << full;
  return success();
}

LogicalResult MemoryAttr::verify(function_ref<InFlightDiagnostic()> emitError, MemoryKind kind, int64_t offset, bool swizzled) {
  if (offset < -1 || (offset >= 0 && (kind != MemoryKind::Shared || offset % alignment != 0)))
    return emitError() << "(C1) expected an offset in shared memory alone, a multiple of " << alignment << ", found " << offset;
  if (swizzled && (offset < 0 || offset % lineBytes != 0))
    return emitError() << "(C2) expected swizzled memory at a multiple of " << lineBytes << " bytes of shared memory, found " << offset;
  return success();
}

LogicalResult SharedAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t bytes, int64_t warps) {
  if (warps < 1 || warps > bytes)
    return emitError() << "(C1) expected bytes that warps have, and no fewer in all, found warps = " << warps << " and bytes = " << bytes;
  return success();
}

LogicalResult OverlapAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t output, int64_t input, OverlapKind) {
  if (output < 0 || input < 0)
    return emitError() << "(C1) expected the numbers of an output and of an input, found " << output << " and " << input;
  return success();
}

LogicalResult PlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, PlaceUse use, int64_t value, PlaceKind kind, int64_t output,
                                int64_t offset, int64_t bytes, bool swizzled) {
  constexpr int64_t alignment = MemoryAttr::alignment;
  if ((use == PlaceUse::Value) != (value >= 0) || (use != PlaceUse::Value && kind != PlaceKind::Shared))
    return emitError() << "(C1) expected the number of a value, or " << stringifyPlaceUse(PlaceUse::Operands) << " or "
                       << stringifyPlaceUse(PlaceUse::Sums) << " in shared memory, found " << stringifyPlaceUse(use) << " in "
                       << stringifyPlaceKind(kind);
  if ((kind == PlaceKind::Shared) != (offset >= 0) || (offset >= 0 && offset % alignment != 0))
    return emitError() << "(C2) expected an offset in shared memory alone, a multiple of " << alignment << ", found " << offset;
  bool hasBytes = kind != PlaceKind::Output;
  if (bytes < 0 || hasBytes != (bytes > 0) || bytes % alignment != 0)
    return emitError() << "(C3) expected bytes of its own, a multiple of " << alignment << ", but where it lies in an output, found " << bytes;
  if ((kind == PlaceKind::Output) != (output >= 0))
    return emitError() << "(C4) expected the number of an output, and that alone, found " << output;
  constexpr int64_t line = MemoryAttr::lineBytes;
  if (swizzled && (use != PlaceUse::Value || kind != PlaceKind::Shared || offset % line != 0 || bytes % line != 0))
    return emitError() << "(C5) expected what is swizzled to be a value in shared memory, at and of multiples of " << line << " bytes, found " << offset
                       << " and " << bytes;
  return success();
}

int64_t LevelAttr::getMappingId() const { return int64_t(getLevel()); }
bool LevelAttr::isLinearMapping() const { return true; }
int64_t LevelAttr::getRelativeIndex() const { return 0; }

bool loops::isKernel(func::FuncOp function) { return function->hasAttr(names::kernel); }

GridAttr loops::gridOf(Operation *kernel) { return kernel->getAttrOfType<GridAttr>(names::grid); }

void loops::setLevel(Operation *loop, LevelAttr level) {
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return chunks.setLevelAttr(level);
  cast<scf::ForallOp>(loop).setMappingAttr(ArrayAttr::get(loop->getContext(), {level}));
}

LevelAttr loops::levelOf(Operation *loop) {
  if (auto chunks = dyn_cast<ChunksOp>(loop))
    return chunks.getLevel();
  auto forall = dyn_cast<scf::ForallOp>(loop);
  if (!forall || forall.getRank() != 1 || !forall.getMapping() || forall.getMapping()->size() != 1)
    return {};
  return dyn_cast<LevelAttr>((*forall.getMapping())[0]);
}
