//===- LoopsOps.cpp - operations of the loops dialect ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/FT/IR/StrideGroups.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "ft/Dialect/Loops/IR/Loops.h"
#include "ft/Support/NestLayout.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace mlir::loops;

#define GET_OP_CLASSES
#include "ft/Dialect/Loops/IR/LoopsOps.cpp.inc"

//===----------------------------------------------------------------------===//
// The host's side
//===----------------------------------------------------------------------===//

LogicalResult VariantsOp::verifyRegions() {
  if (getVariants().size() < 2 || getGuards().size() + 1 != getVariants().size())
    return emitOpError("expected two variants at least, and a guard for each but the last, found ")
           << getVariants().size() << " and " << getGuards().size() << " guards (loops_variants1)";
  auto program = (*this)->getParentOfType<ProgramOp>();
  for (auto guard : getGuards().getAsRange<etdg::GuardAttr>())
    for (StringAttr name : guard.getNames())
      if (!llvm::is_contained(program.getLengths(), name))
        return emitOpError("expected guards over the program's lengths ")
               << program.getLengths() << ", found " << name << " (loops_variants2)";
  for (Region &variant : getVariants())
    for (Operation &op : variant.front())
      if (!isa<LaunchOp>(op)) {
        InFlightDiagnostic diag = emitOpError("has launches alone (loops_variants3)");
        diag.attachNote(op.getLoc()) << "found '" << op.getName() << "' here";
        return diag;
      }
  return success();
}

LogicalResult LengthOp::verify() {
  auto program = (*this)->getParentOfType<ProgramOp>();
  if (!llvm::is_contained(program.getLengths(), getNameAttr()))
    return emitOpError("expected one of the program's lengths ")
           << program.getLengths() << ", found " << getNameAttr() << " (loops_length1)";
  return success();
}

/// What a constant holds is one element, or one number for all of it.
static LogicalResult verifyValue(BufferOp buffer) {
  RankedTensorType element = buffer.getType().getElement();
  bool isSplat = buffer.getKind() == BufferKind::Splat;
  auto given = dyn_cast_or_null<TypedAttr>(buffer.getValue().value_or(Attribute()));
  if (!buffer.getValue() || (buffer.getType().getDepth() == 0 && given &&
                             given.getType() == (isSplat ? element.getElementType() : Type(element))))
    return success();
  return buffer.emitOpError("expected a buffer of depth 0 with the value of ")
         << (isSplat ? element.getElementType() : Type(element)) << ", found " << buffer.getType() << " with " << *buffer.getValue()
         << " (loops_buffer7)";
}

LogicalResult BufferOp::verify() {
  bool isOuter = getKind() == BufferKind::Argument || getKind() == BufferKind::Result;
  if (isOuter != getIndex().has_value())
    return emitOpError("arguments and results have an index, others have none (loops_buffer1)");
  bool isKnown = getKind() == BufferKind::Constant || getKind() == BufferKind::Splat;
  if (isKnown != getValue().has_value())
    return emitOpError("constants and splats have a value, others have none (loops_buffer2)");
  if (failed(verifyValue(*this)))
    return failure();
  if (std::optional<ArrayRef<int64_t>> planes = getPlanes()) {
    if (planes->size() != getType().getDepth())
      return emitOpError("expected planes for ")
             << getType().getDepth() << " lengths, found " << planes->size() << " (loops_buffer3)";
    for (int64_t count : *planes)
      if (count < 0)
        return emitOpError("expected no negative number of planes, found ") << count << " (loops_buffer3)";
  }
  if (getSlot() && (getKind() != BufferKind::Intermediate || int64_t(*getSlot()) < 0))
    return emitOpError("only intermediates have a slot, and none is negative (loops_buffer4)");
  if ((getName() || getStrided() || getStrides()) && getKind() != BufferKind::Argument)
    return emitOpError("only arguments have a name and strides (loops_buffer5)");
  if (int64_t count = getStrided().value_or(0); count < 0 || count > int64_t(getType().getDepth()))
    return emitOpError("expected strides of at most ") << getType().getDepth() << " dimensions, found " << count << " (loops_buffer5)";
  if (getStrides() && !ft::areStrideGroups(*getStrides(), getStrided().value_or(0)))
    return emitOpError("expected the caller's dimensions in order, array<i64: ...> for each of ")
           << int64_t(getStrided().value_or(0)) << " with strides, found " << *getStrides() << " (loops_buffer6)";
  return success();
}

LogicalResult StrideOp::verify() {
  auto buffer = getBuffer().getDefiningOp<BufferOp>();
  if (!buffer || buffer.getKind() != BufferKind::Argument)
    return emitOpError("callers give strides of arguments alone (loops_stride1)");
  int64_t dimension = getDimension(), strided = buffer.getStrided().value_or(0);
  if (dimension < 0 || dimension >= strided)
    return emitOpError("expected one of the argument's ") << strided << " strided dimensions, found " << dimension << " (loops_stride1)";
  return success();
}

// Not by `verify`: the kernel's body is looked into, which has been verified only where the module around asks of symbols.
/// What a kernel does before it has waited for the launches before it must not need them.
static LogicalResult verifyWaits(LaunchOp launch, FunctionOpInterface kernel) {
  auto refuse = [&](Location place, const Twine &what) {
    InFlightDiagnostic diag = launch.emitOpError("may begin before the launch before it has ended: ") << what << " (loops_launch4)";
    diag.attachNote(place) << "this is in its kernel";
    return diag;
  };
  if (!gridOf(kernel))
    return refuse(kernel.getLoc(), "expected a kernel of thread blocks (loops.grid)");
  WalkResult meets = kernel->walk([&](SyncOp sync) {
    return sync.getKind() == etdg::SyncKind::Grid ? WalkResult(refuse(sync.getLoc(), "its thread blocks wait for each other")) : WalkResult::advance();
  });
  if (meets.wasInterrupted())
    return failure();
  for (Operation &op : kernel.getFunctionBody().front()) {
    auto dependency = dyn_cast<GriddepcontrolOp>(op);
    if (dependency && dependency.getKind() == GridDependency::Wait)
      return success();
    if (!dependency && !isMemoryEffectFree(&op) && !op.hasTrait<OpTrait::IsTerminator>())
      return refuse(op.getLoc(), "expected loops.griddepcontrol wait before what touches memory");
  }
  return refuse(kernel.getLoc(), "expected loops.griddepcontrol wait in its kernel, found none");
}

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &) {
  auto module = (*this)->getParentOfType<ModuleOp>();
  auto callee = module ? module.lookupSymbol<FunctionOpInterface>(getCallee()) : FunctionOpInterface();
  if (!callee || !callee->hasAttr(names::kernel))
    return emitOpError("expected a function with the attribute loops.kernel, found ")
           << (callee ? "a function without: " : "no function ") << getCallee() << " (loops_launch1)";
  auto type = dyn_cast<FunctionType>(callee.getFunctionType());
  // What convert-loops-to-cpu has made takes an environment.
  if (!type || (type.getNumInputs() && !type.getInput(0).isIndex() && !isa<MemRefType>(type.getInput(0))))
    return success();
  auto refuse = [&]() -> InFlightDiagnostic {
    InFlightDiagnostic diag = emitOpError();
    diag.attachNote(callee.getLoc()) << "the kernel is here";
    return diag;
  };
  if (type.getNumInputs() != getArguments().size())
    return refuse() << "expected " << type.getNumInputs() << " arguments, found " << getArguments().size()
                    << " (loops_launch2)";
  for (auto [i, given, taken] : llvm::enumerate(getArguments(), type.getInputs())) {
    Type expected = given.getType();
    if (auto buffer = dyn_cast<etdg::BufferType>(expected))
      expected = MemRefType::get({ShapedType::kDynamic}, buffer.getElement().getElementType());
    if (expected != taken)
      return refuse() << "argument " << i << " is given as " << expected << ", the kernel takes " << taken
                      << " (loops_launch2)";
  }
  return failure(failed(verifyApart(*this, callee)) || (getOverlaps() && failed(verifyWaits(*this, callee))));
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void ChunksOp::build(OpBuilder &builder, OperationState &state, Value lower, Value upper, int64_t most,
                     std::optional<int64_t> unit, LevelAttr level) {
  OpBuilder::InsertionGuard guard(builder);
  state.addOperands({lower, upper});
  state.getOrAddProperties<Properties>().most = builder.getI64IntegerAttr(most);
  if (unit)
    state.getOrAddProperties<Properties>().unit = builder.getI64IntegerAttr(*unit);
  state.getOrAddProperties<Properties>().level = level;
  Type index = builder.getIndexType();
  builder.createBlock(state.addRegion(), {}, {index, index}, {state.location, state.location});
  YieldOp::create(builder, state.location);
}

ParseResult ChunksOp::parse(OpAsmParser &parser, OperationState &state) {
  Builder &builder = parser.getBuilder();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand, 2> bounds(2);
  int64_t most, unit;
  LevelAttr level;
  auto &properties = state.getOrAddProperties<Properties>();
  if (parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren) || parser.parseEqual() ||
      parser.parseOperand(bounds[0]) || parser.parseKeyword("to") || parser.parseOperand(bounds[1]) ||
      parser.parseKeyword("most") || parser.parseInteger(most))
    return failure();
  properties.most = builder.getI64IntegerAttr(most);
  if (succeeded(parser.parseOptionalKeyword("unit"))) {
    if (parser.parseInteger(unit))
      return failure();
    properties.unit = builder.getI64IntegerAttr(unit);
  }
  for (OpAsmParser::Argument &argument : arguments)
    argument.type = builder.getIndexType();
  if (parser.parseKeyword("level") || parser.parseCustomAttributeWithFallback(level))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("length")) && parser.parseCustomAttributeWithFallback(properties.length))
    return failure();
  if (parser.resolveOperands(bounds, builder.getIndexType(), state.operands) ||
      parser.parseRegion(*state.addRegion(), arguments) || parser.parseOptionalAttrDict(state.attributes))
    return failure();
  properties.level = level;
  ensureTerminator(*state.regions.front(), builder, state.location);
  return success();
}

void ChunksOp::print(OpAsmPrinter &printer) {
  printer << " (" << getFirst() << ", " << getCount() << ") = " << getLower() << " to " << getUpper() << " most "
          << getMost();
  if (getUnit())
    printer << " unit " << *getUnit();
  printer << " level ";
  printer.printStrippedAttrOrType(getLevel());
  if (getLengthAttr()) {
    printer << " length ";
    printer.printStrippedAttrOrType(getLengthAttr());
  }
  printer << ' ';
  printer.printRegion(getRegion(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"most", "unit", "level", "length"});
}

LogicalResult ChunksOp::verifyRegions() {
  int64_t most = getMost();
  if (most < 1 || (getUnit() && int64_t(*getUnit()) < 1))
    return emitOpError("expected positive sizes of chunks, found most ")
           << most << (getUnit() ? " and unit " + std::to_string(*getUnit()) : "") << " (loops_chunks1)";
  Block &body = getRegion().front();
  if (body.getNumArguments() != 2 || !body.getArgument(0).getType().isIndex() || !body.getArgument(1).getType().isIndex())
    return emitOpError("expected a body of two indices, the first iteration and their number (loops_chunks2)");
  ChunkLengthAttr length = getLengthAttr();
  if (length && getLevel().getLevel() != etdg::LoopLevel::Grid)
    return emitOpError("expected a length of chunks of level grid alone, found ") << length << " (loops_chunks3)";
  if (length && (length.getEach() > most || length.getEach() % int64_t(getUnit().value_or(1)) != 0))
    return emitOpError("expected chunks of at most ") << most << " iterations, a multiple of " << int64_t(getUnit().value_or(1)) << ", found "
                                                      << length << " (loops_chunks3)";
  return success();
}

LogicalResult WeightOp::verify() {
  Operation *next = (*this)->getNextNode();
  if (!next || !levelOf(next))
    return emitOpError("expected a parallel loop after it (loops_weight1)");
  return success();
}

LogicalResult SyncOp::verify() {
  if (getKind() == etdg::SyncKind::None)
    return emitOpError("expected who waits, found none (loops_sync1)");
  auto kernel = (*this)->getParentOfType<FunctionOpInterface>();
  bool isGrid = kernel && gridOf(kernel), isOfBlock = getKind() == etdg::SyncKind::Block;
  if (isGrid != (isOfBlock || getKind() == etdg::SyncKind::Grid))
    return emitOpError(isGrid ? "thread blocks run the kernel: expected grid or block, found "
                              : "expected a kernel of thread blocks (loops.grid) around it, found none and ")
           << etdg::stringifySyncKind(getKind()) << " (loops_sync2)";
  for (Operation *parent = (*this)->getParentOp(); parent; parent = parent->getParentOp())
    if (LevelAttr level = levelOf(parent);
        level && level.getLevel() != etdg::LoopLevel::None && !(isOfBlock && level.getLevel() == etdg::LoopLevel::Grid)) {
      InFlightDiagnostic diag = emitOpError("units can't wait inside of what one of them runs (loops_sync1)");
      diag.attachNote(parent->getLoc()) << "this loop is dealt to them";
      return diag;
    }
  return success();
}

LogicalResult GriddepcontrolOp::verify() {
  auto kernel = dyn_cast<FunctionOpInterface>((*this)->getParentOp());
  if (!kernel || !gridOf(kernel) || (*this)->getBlock() != &kernel.getFunctionBody().front())
    return emitOpError("expected the body of a kernel of thread blocks (loops.grid) around it, found '")
           << (*this)->getParentOp()->getName() << "' (loops_griddepcontrol1)";
  return success();
}

LogicalResult StagedOp::verify() {
  if (int64_t(getAhead()) < 1 || !isa<scf::ForOp>((*this)->getParentOp()))
    return emitOpError("expected a positive number of iterations of the loop in which it stands, found ")
           << int64_t(getAhead()) << " in '" << (*this)->getParentOp()->getName() << "' (loops_staged1)";
  return success();
}

/// Whether the threads of a block get to an operation. (A loop that they share has none of the kind, loops_grid5.)
static LogicalResult verifyOfThreads(Operation *op, StringRef rule) {
  auto kernel = op->getParentOfType<FunctionOpInterface>();
  if (kernel && gridOf(kernel))
    return success();
  return op->emitOpError("expected a kernel of thread blocks (loops.grid) around it (") << rule << ")";
}

LogicalResult CommitOp::verify() { return verifyOfThreads(*this, "loops_commit1"); }

LogicalResult WaitOp::verify() {
  if (int64_t(getGroups()) < 0)
    return emitOpError("expected a number of groups that is not negative, found ") << int64_t(getGroups()) << " (loops_wait1)";
  return verifyOfThreads(*this, "loops_wait1");
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  auto memory = dyn_cast<MemRefType>(getResult().getType());
  bool isFlat = memory && memory.getRank() == 1 && memory.isDynamicDim(0) && memory.getLayout().isIdentity();
  Type value = getValue().getType();
  if (!isFlat || (memory.getElementType() != value && !(value.isIndex() && isa<IntegerType>(memory.getElementType()))))
    return emitOpError("expected memref<?xT> of the value's type, or of an integer for an index, found ")
           << getResult().getType() << " of " << value << " (loops_splat1)";
  if (getStep() && !value.isIndex())
    return emitOpError("expected an index as value beside a step, found ") << value << " (loops_splat2)";
  if (int64_t(getElements()) < 0 || int64_t(getRows()) < 1)
    return emitOpError("expected elements, and at least one row, found ")
           << int64_t(getElements()) << " and " << int64_t(getRows()) << " (loops_splat3)";
  return success();
}

/// Whether `view` is memory of rows of `row`.
static bool holdsRows(Type view, Type row) {
  auto memory = dyn_cast<MemRefType>(view);
  auto tensor = dyn_cast<RankedTensorType>(row);
  return memory && tensor && tensor.hasStaticShape() && memory.getElementType() == tensor.getElementType() &&
         memory.getRank() == tensor.getRank() + 1 && memory.isDynamicDim(0) &&
         memory.getShape().drop_front() == tensor.getShape();
}

std::optional<SmallVector<int64_t>> loops::getRowStrides(MemRefType view) {
  SmallVector<int64_t> strides, inOrder = computeSuffixProduct(view.getShape().drop_front());
  int64_t offset;
  if (failed(view.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  strides.erase(strides.begin());
  for (auto [extent, stride, known] : llvm::zip_equal(view.getShape().drop_front(), strides, inOrder)) {
    if (extent <= 1)
      stride = known;
    if (ShapedType::isDynamic(stride))
      return std::nullopt;
  }
  return strides;
}

bool loops::holdsRowsInOrder(MemRefType view) {
  std::optional<SmallVector<int64_t>> strides = getRowStrides(view);
  return strides && *strides == computeSuffixProduct(view.getShape().drop_front());
}

void LeafOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

static LogicalResult verifyScratch(LeafOp leaf) {
  int64_t before = -1;
  for (Attribute attribute : leaf.getScratch().value_or(ArrayAttr::get(leaf.getContext(), {}))) {
    auto scratch = dyn_cast<ScratchAttr>(attribute);
    if (!scratch || scratch.getValue() <= before)
      return leaf.emitOpError("expected #loops.scratch of values after ") << before << ", found " << attribute << " (loops_leaf7)";
    before = scratch.getValue();
  }
  return success();
}

static LogicalResult verifyAligned(LeafOp leaf) {
  std::optional<ArrayRef<int64_t>> aligned = leaf.getAligned();
  size_t views = leaf.getInputs().size() + leaf.getOutputs().size();
  if (!aligned || (aligned->size() == views && llvm::all_of(*aligned, [](int64_t bytes) { return bytes > 0; })))
    return success();
  return leaf.emitOpError("expected positive numbers of bytes for its ") << views << " views, found aligned " << leaf.getAlignedAttr()
                                                                         << " (loops_leaf8)";
}

static LogicalResult verifyPlaces(LeafOp leaf) {
  std::pair<PlaceUse, int64_t> before = {PlaceUse::Value, -1};
  for (Attribute attribute : leaf.getPlaces().value_or(ArrayAttr::get(leaf.getContext(), {}))) {
    auto place = dyn_cast<PlaceAttr>(attribute);
    if (!place || std::pair(place.getUse(), place.getValue()) <= before)
      return leaf.emitOpError("expected #loops.place of values in their order, of operands, of sums, each once, found ")
             << attribute << " (loops_leaf9)";
    if (place.getOutput() >= int64_t(leaf.getOutputs().size()))
      return leaf.emitOpError("expected one of its ") << leaf.getOutputs().size() << " outputs, found " << place << " (loops_leaf9)";
    before = {place.getUse(), place.getValue()};
  }
  return success();
}

static LogicalResult verifyNests(LeafOp leaf) {
  std::optional<ArrayAttr> nests = leaf.getNests();
  if (!nests)
    return success();
  size_t layouts = leaf.getLayouts().value_or(ArrayAttr::get(leaf.getContext(), {})).size();
  auto isNest = [](Attribute item) { return isa<UnitAttr>(item) || item.hasTrait<ft::NestPointsTrait>(); };
  if (nests->size() == layouts && llvm::all_of(*nests, isNest))
    return success();
  return leaf.emitOpError("expected what threads compute (#tile.nest), or unit, for each of its ") << layouts << " layouts, found "
                                                                                                    << *nests << " (loops_leaf10)";
}

LogicalResult LeafOp::verifyRegions() {
  Block &body = getBody().front();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (body.getNumArguments() != getVaries().size() || !yield)
    return emitOpError("expected a region of ")
           << getVaries().size() << " tensors that ends in loops.yield, found one of " << body.getNumArguments()
           << " (loops_leaf1)";
  if (int64_t(getMost()) < 1)
    return emitOpError("expected a positive number of rows, found most ") << int64_t(getMost()) << " (loops_leaf4)";
  if (bool(getColumn()) != getTile().has_value() || bool(getColumn()) != getColumns().has_value())
    return emitOpError("expected a first column, a tile and a number of columns, or none of them (loops_leaf5)");
  if (getWidth() && !getColumn())
    return emitOpError("expected a first column beside their number (loops_leaf5)");
  if (getCuts() && !getWidth())
    return emitOpError("expected a number of columns with the cuts of loop nests (loops_leaf5)");
  if (getColumn() && (getList() || int64_t(*getTile()) < 1 || *getTile() > *getColumns()))
    return emitOpError("expected 1 to ") << *getColumns() << " columns of rows that no list holds, found a tile of "
                                         << int64_t(*getTile()) << (getList() ? " and a list" : "") << " (loops_leaf5)";
  SmallVector<Type> viewed, listed;
  for (auto [type, varies] : llvm::zip_equal(body.getArgumentTypes(), getVaries()))
    (getList() && varies ? listed : viewed).push_back(type);
  size_t inputs = viewed.size();
  llvm::append_range(getList() ? listed : viewed, yield.getOperandTypes());
  SmallVector<Type> given(getInputs().getTypes());
  llvm::append_range(given, getOutputs().getTypes());
  if (getInputs().size() != inputs || given.size() != viewed.size())
    return emitOpError("expected ") << inputs << " views of inputs and " << viewed.size() - inputs
                                    << " of outputs, found " << getInputs().size() << " and " << getOutputs().size()
                                    << (getList() ? " (loops_leaf3)" : " (loops_leaf1)");
  for (auto [i, view, row] : llvm::enumerate(given, viewed))
    if (!holdsRows(view, row))
      return emitOpError("view ") << i << " is " << view << ", which does not hold rows of " << row << " (loops_leaf2)";
  for (Type view : getInputs().getTypes())
    if (!getRowStrides(cast<MemRefType>(view)))
      return emitOpError("expected inputs at known distances inside of a row, found ") << view << " (loops_leaf6)";
  for (Type view : getOutputs().getTypes())
    if (!holdsRowsInOrder(cast<MemRefType>(view)))
      return emitOpError("expected outputs in order and without gaps, found ") << view << " (loops_leaf6)";
  if (getList() && getList().getType().getRows() != ArrayRef(listed))
    return emitOpError("the list's rows are ") << getList().getType() << ", the leaf has others (loops_leaf3)";
  return success(succeeded(verifyScratch(*this)) && succeeded(verifyAligned(*this)) && succeeded(verifyPlaces(*this)) &&
                 succeeded(verifyNests(*this)) && succeeded(verifySums(*this)) && succeeded(verifyOverlaps(*this)));
}

LogicalResult ListOp::verify() {
  if (int64_t(getMost()) < 1)
    return emitOpError("expected a positive number of rows, found most ") << int64_t(getMost()) << " (loops_list1)";
  return success();
}

LogicalResult AppendOp::verify() {
  ArrayRef<Type> rows = getList().getType().getRows();
  if (rows.size() != getViews().size())
    return emitOpError("expected ") << rows.size() << " views, found " << getViews().size() << " (loops_append1)";
  for (auto [i, view, row] : llvm::enumerate(getViews().getTypes(), rows))
    if (!holdsRows(view, row) || !holdsRowsInOrder(cast<MemRefType>(view)))
      return emitOpError("view ") << i << " is " << view << ", which does not hold rows of " << row
                                  << " (loops_append1)";
  return success();
}

LogicalResult BoundedOp::verify() {
  if (int64_t(getPlace()) < 0)
    return emitOpError("expected the number of a place, found ") << int64_t(getPlace()) << " (loops_bounded1)";
  return success();
}
