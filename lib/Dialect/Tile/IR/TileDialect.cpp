//===- TileDialect.cpp - layouts and types of tiles -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Tile/IR/Tile.h"

#include "Numbers.h"
#include "ft/Dialect/Tile/IR/AttributeNames.h"
#include "ft/Support/Swizzled.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;
using ft::parseSwizzled, ft::printSwizzled;

#include "ft/Dialect/Tile/IR/TileDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "ft/Dialect/Tile/IR/TileAttrs.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "ft/Dialect/Tile/IR/TileTypes.cpp.inc"

namespace {
/// Layouts of rows stand in each type of them: they are named once.
struct TileAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &out) const override {
    if (!isa<RowAttr, SlicedAttr>(attribute))
      return AliasResult::NoAlias;
    out << (isa<RowAttr>(attribute) ? "row" : "sliced");
    return AliasResult::FinalAlias;
  }
};
} // namespace

void TileDialect::initialize() {
  addInterfaces<TileAliases>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ft/Dialect/Tile/IR/TileAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ft/Dialect/Tile/IR/TileTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ft/Dialect/Tile/IR/TileOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Discardable attributes
//===----------------------------------------------------------------------===//

LogicalResult TileDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  const StringRef name = attribute.getName().getValue();
  if (name == names::pipeline) {
    if (isa<FunctionOpInterface>(op) && isa<PipelineAttr>(attribute.getValue()))
      return success();
    return op->emitOpError() << "(tile_module4) '" << name << "' is a #tile.pipeline of a function, found " << attribute.getValue();
  }
  if (name == names::inTurn)
    return isa<scf::ForOp>(op) && isa<UnitAttr>(attribute.getValue())
               ? success()
               : LogicalResult(op->emitOpError() << "'" << name << "' is a unit of an scf.for, found " << attribute.getValue());
  if (name != names::target && name != names::plan)
    return op->emitOpError() << "no attribute of tile is called '" << name << "': expected '" << names::plan << "' or '" << names::target << "'";
  if (!isa<gpu::GPUModuleOp>(op))
    return op->emitOpError() << "(tile_module1) '" << name << "' is an attribute of a gpu.module";
  const StringRef other = name == names::target ? StringRef(names::plan) : StringRef(names::target);
  if (!op->hasAttr(other))
    return op->emitOpError() << "(tile_module1) kernels say what they are for and how they are launched: expected '" << other
                             << "' beside '" << name << "'";
  auto text = dyn_cast<StringAttr>(attribute.getValue());
  if (!text || text.empty())
    return op->emitOpError() << "(tile_module2) '" << name << "' is a text, found " << attribute.getValue();
  return success();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

static bool arePositivePair(ArrayRef<int64_t> numbers) {
  return numbers.size() == 2 && numbers[0] >= 1 && numbers[1] >= 1;
}

LogicalResult BlockedAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> vector,
                                  ArrayRef<int64_t> threads, ArrayRef<int64_t> warp, ArrayRef<int64_t> repeat) {
  if (!arePositivePair(vector) || !arePositivePair(threads))
    return emitError() << "(L1) expected two positive numbers for rows and columns each, found vector = [" << vector
                       << "], threads = [" << threads << "]";
  if (!warp.empty() && (!arePositivePair(warp) || threads[0] % warp[0] != 0 || threads[1] % warp[1] != 0))
    return emitError() << "(L2) expected two positive numbers that divide those of the threads, found threads = [" << threads
                       << "], warp = [" << warp << "]";
  if (!repeat.empty() && (!arePositivePair(repeat) || warp.empty()))
    return emitError() << "(L4) expected two positive numbers beside 'warp', found repeat = [" << repeat << "]";
  for (ArrayRef<int64_t> numbers : {vector, threads, repeat})
    if (int64_t number = findTooGreat(numbers))
      return emitError() << "(L3) expected numbers of at most " << mostNumber << ", found " << number;
  return success();
}

bool BlockedAttr::hasRowsInWarps() const {
  int64_t across = getThreads()[1];
  return llvm::isPowerOf2_64(uint64_t(across)) && across <= warpThreads && getNumThreads() % warpThreads == 0 &&
         (getWarp().empty() || getWarp()[1] == across);
}

LogicalResult MoveAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t width, ArrayRef<int64_t> threads, bool) {
  if (width < 1 || !llvm::isPowerOf2_64(uint64_t(width)) || !arePositivePair(threads))
    return emitError() << "(M1) expected a power of two of adjacent elements and two positive numbers of threads, found width = " << width
                       << ", threads = [" << threads << "]";
  if (int64_t number = findTooGreat({width, threads[0], threads[1]}))
    return emitError() << "(M2) expected numbers of at most " << mostNumber << ", found " << number;
  return success();
}

LogicalResult ReadsAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t terms, int64_t lhs, int64_t rhs) {
  for (int64_t number : {terms, lhs, rhs})
    if (number < 1 || !llvm::isPowerOf2_64(uint64_t(number)))
      return emitError() << "(D1) expected powers of two of terms and of elements in an access, found terms = " << terms << ", lhs = " << lhs
                         << ", rhs = " << rhs;
  return success();
}

/// What is specified for how threads read operands, and of what tiles in registers come from and go to.
static LogicalResult verifyReads(function_ref<InFlightDiagnostic()> emitError, bool mma, bool joined, BlockedAttr result, ReadsAttr reads,
                                 ArrayRef<int64_t> accesses) {
  if ((reads || !accesses.empty()) && (!result || joined))
    return emitError() << "(P7) expected 'reads' and 'accesses' beside the 'result' of a product that is not joined, and there alone";
  if (reads && mma)
    return emitError() << "(P7) expected no 'reads' with mma, which reads fragments; found " << reads;
  for (int64_t access : accesses)
    if (access < 0 || (access > 0 && (!llvm::isPowerOf2_64(uint64_t(access)) || result.getVector()[1] % access != 0)))
      return emitError() << "(P7) expected accesses of 0 elements, or of a power of two that divides the result's " << result.getVector()[1]
                         << " adjacent columns; found accesses = [" << accesses << "]";
  return success();
}

/// What is specified for warp groups.
static LogicalResult verifyGroups(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> block, ArrayRef<int64_t> thread, int64_t step,
                                  int64_t stages, bool mma, BlockedAttr result) {
  using P = ProductAttr;
  const int64_t down = block[0] / thread[0], across = block[1] / thread[1];
  if (mma || stages != 1 || step != P::groupStep || across != 4 || down % 32 != 0 || thread[0] % 2 != 0 || block[1] > P::mostGroupColumns ||
      block[1] % P::groupColumnUnit != 0)
    return emitError() << "(P9) expected one stage, steps of " << P::groupStep << " terms, at most " << P::mostGroupColumns << " columns in "
                       << P::groupColumnUnit << "s and 32 x 4 threads of each warp group; found block = [" << block
                       << "], thread = [" << thread << "], step = " << step << ", stages = " << stages;
  if (result && (result.getVector() != ArrayRef<int64_t>{1, 2} || result.getWarp() != ArrayRef<int64_t>{8, 4} ||
                 result.getRepeat() != ArrayRef<int64_t>{2, 1}))
    return emitError() << "(P9) sums of wgmma lie as vector = [1, 2], warp = [8, 4], repeat = [2, 1], found " << result;
  return success();
}

LogicalResult ProductAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> block,
                                  ArrayRef<int64_t> thread, int64_t step, int64_t stages, bool mma, bool wgmma, bool joined, bool carried, int64_t fused,
                                  BlockedAttr result, MoveAttr lhs, MoveAttr rhs, ReadsAttr reads, ArrayRef<int64_t> accesses) {
  if (!arePositivePair(block) || !arePositivePair(thread) || block[0] % thread[0] != 0 || block[1] % thread[1] != 0)
    return emitError() << "(P1) expected two positive numbers each, 'thread' dividing 'block'; found block = [" << block
                       << "], thread = [" << thread << "]";
  if (step < 1 || !llvm::isPowerOf2_64(step) || stages < 1 || fused < 0)
    return emitError() << "(P2) expected a power of two of terms in a step, at least one stage and no negative number of fused "
                          "nests; found step = "
                       << step << ", stages = " << stages << ", fused = " << fused;
  if (int64_t number = findTooGreat({block[0], block[1], step, stages, fused}))
    return emitError() << "(P8) expected numbers of at most " << mostNumber << ", found " << number;
  if (mma && (thread[0] % 2 != 0 || thread[1] % 2 != 0 || block[0] / thread[0] % 8 != 0 || block[1] / thread[1] % 4 != 0 ||
              step < fragmentTerms))
    return emitError() << "(P3) expected even rows and columns for each thread, threads in multiples of 8 x 4 and at least "
                       << fragmentTerms << " terms in a step for mma; found block = [" << block << "], thread = [" << thread
                       << "], step = " << step;
  if (joined && fused > 0)
    return emitError() << "(P6) expected no nests of its own after a product that is joined, found fused = " << fused;
  if (carried && !joined)
    return emitError() << "(P6) expected a product that is joined to go on with the sums of another one (carried)";
  if (wgmma ? lhs || rhs : !result != !lhs || !result != !rhs)
    return emitError() << "(P5) expected 'result', 'lhs' and 'rhs' together, or none of them; with wgmma 'result' alone";
  if (wgmma && failed(verifyGroups(emitError, block, thread, step, stages, mma, result)))
    return failure();
  if (failed(verifyReads(emitError, mma || wgmma, joined, result, reads, accesses)))
    return failure();
  if (!result)
    return success();
  for (unsigned d : {0u, 1u})
    if (result.getThreads()[d] * thread[d] != block[d] || thread[d] % result.getVector()[d] != 0)
      return emitError() << "(P4) expected a result of which each thread has [" << thread << "] elements of [" << block << "], found " << result;
  if (mma && (result.getVector() != ArrayRef<int64_t>{1, 2} || result.getWarp() != ArrayRef<int64_t>{8, 4}))
    return emitError() << "(P4) fragments lie in a warp as vector = [1, 2], warp = [8, 4], found " << result;
  return success();
}

/// `name = [1, 2]`.
static ParseResult parsePair(AsmParser &parser, StringRef name, SmallVectorImpl<int64_t> &numbers) {
  auto one = [&] { return parser.parseInteger(numbers.emplace_back()); };
  return failure(parser.parseKeyword(name) || parser.parseEqual() ||
                 parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one));
}

static ParseResult parseNumber(AsmParser &parser, StringRef name, int64_t &number) {
  return failure(parser.parseComma() || parser.parseKeyword(name) || parser.parseEqual() || parser.parseInteger(number));
}

Attribute MoveAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  int64_t width = 0;
  SmallVector<int64_t> threads;
  if (parser.parseLess() || parser.parseKeyword("width") || parser.parseEqual() || parser.parseInteger(width) || parser.parseComma() ||
      parsePair(parser, "threads", threads))
    return {};
  bool isAsync = succeeded(parser.parseOptionalComma());
  if ((isAsync && parser.parseKeyword("async")) || parser.parseGreater())
    return {};
  return parser.getChecked<MoveAttr>(loc, parser.getContext(), width, threads, isAsync);
}

void MoveAttr::print(AsmPrinter &printer) const {
  printer << "<width = " << getWidth() << ", threads = [" << getThreads() << (getAsync() ? "], async>" : "]>");
}

namespace {
/// What of a product `loops-choose-accesses` says.
struct ProductAccesses {
  BlockedAttr result;
  MoveAttr lhs, rhs;
  ReadsAttr reads;
  SmallVector<int64_t> accesses;
  ParseResult parse(AsmParser &parser);
};
} // namespace

/// `result = #tile.blocked<...>, lhs = #tile.move<...>, rhs = #tile.move<...>, reads = #tile.reads<...>, accesses = [4, 0]`, the last two if
/// they are there.
ParseResult ProductAccesses::parse(AsmParser &parser) {
  auto named = [&](StringRef name, auto &attribute) -> ParseResult {
    return failure(parser.parseKeyword(name) || parser.parseEqual() || parser.parseAttribute(attribute));
  };
  if (named("result", result))
    return failure();
  bool more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("lhs"))) {
    if (parser.parseEqual() || parser.parseAttribute(lhs) || parser.parseComma() || named("rhs", rhs))
      return failure();
    more = succeeded(parser.parseOptionalComma());
  }
  if (more && succeeded(parser.parseOptionalKeyword("reads"))) {
    if (parser.parseEqual() || parser.parseAttribute(reads))
      return failure();
    more = succeeded(parser.parseOptionalComma());
  }
  if (!more)
    return success();
  auto one = [&] { return parser.parseInteger(accesses.emplace_back()); };
  return failure(parser.parseKeyword("accesses") || parser.parseEqual() || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, one));
}

Attribute ProductAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> block, thread;
  int64_t step = 0, stages = 0, fused = 0;
  if (parser.parseLess() || parsePair(parser, "block", block) || parser.parseComma() ||
      parsePair(parser, "thread", thread) || parseNumber(parser, "step", step) || parseNumber(parser, "stages", stages))
    return {};
  bool more = succeeded(parser.parseOptionalComma());
  const bool mma = more && succeeded(parser.parseOptionalKeyword("mma")), wgmma = more && !mma && succeeded(parser.parseOptionalKeyword("wgmma"));
  if (mma || wgmma)
    more = succeeded(parser.parseOptionalComma());
  bool joined = more && succeeded(parser.parseOptionalKeyword("joined"));
  if (joined)
    more = succeeded(parser.parseOptionalComma());
  bool carried = more && succeeded(parser.parseOptionalKeyword("carried"));
  if (carried)
    more = succeeded(parser.parseOptionalComma());
  if (more && succeeded(parser.parseOptionalKeyword("fused"))) {
    if (parser.parseEqual() || parser.parseInteger(fused))
      return {};
    more = succeeded(parser.parseOptionalComma());
  }
  ProductAccesses said;
  if ((more && said.parse(parser)) || parser.parseGreater())
    return {};
  return parser.getChecked<ProductAttr>(loc, parser.getContext(), block, thread, step, stages, mma, wgmma, joined, carried, fused, said.result, said.lhs,
                                        said.rhs, said.reads, said.accesses);
}

void ProductAttr::print(AsmPrinter &printer) const {
  printer << "<block = [" << getBlock() << "], thread = [" << getThread() << "], step = " << getStep()
          << ", stages = " << getStages();
  if (getMma() || getWgmma())
    printer << (getMma() ? ", mma" : ", wgmma");
  if (getJoined())
    printer << ", joined";
  if (getCarried())
    printer << ", carried";
  if (getFused())
    printer << ", fused = " << getFused();
  if (getResult())
    printer << ", result = " << getResult();
  if (getLhs())
    printer << ", lhs = " << getLhs() << ", rhs = " << getRhs();
  if (getReads())
    printer << ", reads = " << getReads();
  if (!getAccesses().empty())
    printer << ", accesses = [" << getAccesses() << "]";
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isMatrixOfNumbers(ArrayRef<int64_t> shape, Type element) {
  return arePositivePair(shape) && element.isSignlessIntOrFloat();
}

static InFlightDiagnostic &printShape(InFlightDiagnostic &diag, ArrayRef<int64_t> shape, Type element) {
  for (int64_t size : shape)
    diag << size << "x";
  std::string text;
  llvm::raw_string_ostream(text) << element;
  return diag << text;
}

LogicalResult RegistersType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                                    BlockedAttr layout) {
  if (!isMatrixOfNumbers(shape, elementType)) {
    InFlightDiagnostic diag = emitError() << "(R1) expected a matrix of integers or floats, found ";
    return printShape(diag, shape, elementType);
  }
  for (unsigned d : {0u, 1u})
    if (shape[d] % layout.getSpan(d) != 0)
      return emitError() << "(R2) the layout spans " << layout.getSpan(d) << (d == 0 ? " rows" : " columns")
                         << ", which do not divide " << shape[d];
  int64_t own[] = {shape[0] / layout.getThreads()[0], shape[1] / layout.getThreads()[1]};
  if (findTooGreat(own) || own[0] * own[1] > mostElements)
    return emitError() << "(R3) expected at most " << mostElements << " elements for each thread, found " << shape[0] << " x " << shape[1]
                       << " by " << layout;
  return success();
}

LogicalResult RowVectorType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows, Type elementType, BlockedAttr layout) {
  if (rows < 1 || rows > mostElements || !elementType.isSignlessIntOrFloat())
    return emitError() << "(V1) expected rows of integers or floats, found " << rows << " of " << elementType;
  if (rows % layout.getSpan(0) != 0)
    return emitError() << "(V2) the layout spans " << layout.getSpan(0) << " rows, which do not divide " << rows;
  return success();
}

LogicalResult ChainAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t rows) {
  constexpr int64_t unit = ProductAttr::groupRows, most = unit * PipelineAttr::mostComputers;
  if (rows < unit || rows > most || rows % unit != 0)
    return emitError() << "(N1) expected rows for 1 to " << PipelineAttr::mostComputers << " warp groups, " << unit << " each, found " << rows;
  return success();
}

int64_t ChainAttr::getNumThreads() const { return getRows() / ProductAttr::groupRows * PipelineAttr::groupThreads; }

LogicalResult SharedType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> shape, Type elementType,
                                 int64_t pad, int64_t stages, int64_t swizzle) {
  if (!isMatrixOfNumbers(shape, elementType) || elementType.getIntOrFloatBitWidth() % 8 != 0) {
    InFlightDiagnostic diag = emitError() << "(S1) expected a matrix of integers or floats of whole bytes, found ";
    return printShape(diag, shape, elementType);
  }
  if (pad < 0 || stages < 1)
    return emitError() << "(S2) expected pad >= 0 and stages >= 1, found pad = " << pad << ", stages = " << stages;
  if (int64_t number = findTooGreat({shape[0], shape[1], pad, stages}))
    return emitError() << "(S3) expected numbers of at most " << mostNumber << ", found " << number;
  if (!swizzle)
    return success();
  constexpr int64_t rowsOfSwizzle = 8;
  const int64_t bytes = shape[1] * elementType.getIntOrFloatBitWidth() / 8;
  if ((swizzle != 32 && swizzle != 64 && swizzle != 128) || pad != 0 || bytes % swizzle != 0 || shape[0] % rowsOfSwizzle != 0)
    return emitError() << "(S4) expected a swizzle of 32, 64 or 128 bytes that divides a row, no pad and rows in eights, found swizzle = " << swizzle
                       << ", pad = " << pad << ", " << shape[0] << " rows of " << bytes << " bytes";
  return success();
}

LogicalResult BorderAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t>, int64_t size) {
  if (size < 1)
    return emitError() << "(B1) expected memory inside of a border, found size = " << size;
  return success();
}

LogicalResult ViewType::verify(function_ref<InFlightDiagnostic()> emitError, Type elementType, ArrayRef<int64_t> rows,
                               ArrayRef<int64_t> columns, int64_t space, bool swizzled, ArrayRef<BorderAttr> borders) {
  if (!elementType.isSignlessIntOrFloat() || elementType.getIntOrFloatBitWidth() % 8 != 0)
    return emitError() << "(V1) expected elements that are integers or floats of whole bytes, found " << elementType;
  for (ArrayRef<int64_t> digits : {rows, columns}) {
    if (digits.empty())
      return emitError() << "(V1) expected at least one digit for rows and for columns, found none";
    for (auto [i, size] : llvm::enumerate(digits))
      if (size < 1 && !(i == 0 && size == -1))
        return emitError() << "(V2) sizes of digits are at least 1, the first may be -1; found " << size;
  }
  for (BorderAttr border : borders)
    if (border.getSteps().size() != rows.size() + columns.size())
      return emitError() << "(V3) expected a step of a border for each of " << rows.size() + columns.size() << " digits, found "
                         << border.getSteps().size();
  if (swizzled && space != sharedSpace)
    return emitError() << "(V4) expected swizzled memory to be shared, of space " << sharedSpace << ", found space " << space;
  return success();
}

/// `128x128xf32`.
static ParseResult parseMatrix(AsmParser &parser, SmallVectorImpl<int64_t> &shape, Type &element) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) || parser.parseType(element));
}

static void printMatrix(AsmPrinter &printer, ArrayRef<int64_t> shape, Type element) {
  for (int64_t size : shape)
    printer << size << "x";
  printer << element;
}

Type RegistersType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  BlockedAttr layout;
  if (parser.parseLess() || parseMatrix(parser, shape, element) || parser.parseComma() || parser.parseAttribute(layout) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<RegistersType>(loc, parser.getContext(), shape, element, layout);
}

void RegistersType::print(AsmPrinter &printer) const {
  printer << "<";
  printMatrix(printer, getShape(), getElementType());
  printer << ", " << getLayout() << ">";
}

Type SharedType::parse(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<int64_t> shape;
  Type element;
  int64_t pad = 0, stages = 1, swizzle = 0;
  if (parser.parseLess() || parseMatrix(parser, shape, element) || parser.parseComma())
    return {};
  const bool isSwizzled = succeeded(parser.parseOptionalKeyword("swizzle"));
  if ((!isSwizzled && parser.parseKeyword("pad")) || parser.parseEqual() || parser.parseInteger(isSwizzled ? swizzle : pad) ||
      parseNumber(parser, "stages", stages) || parser.parseGreater())
    return {};
  return parser.getChecked<SharedType>(loc, parser.getContext(), shape, element, pad, stages, swizzle);
}

void SharedType::print(AsmPrinter &printer) const {
  printer << "<";
  printMatrix(printer, getShape(), getElementType());
  if (getSwizzle())
    printer << ", swizzle = " << getSwizzle();
  else
    printer << ", pad = " << getPad();
  printer << ", stages = " << getStages() << ">";
}
