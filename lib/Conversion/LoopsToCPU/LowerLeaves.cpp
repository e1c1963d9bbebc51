//===- LowerLeaves.cpp - leaves, lists of rows and checked indices --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal leaves are one function of the leaf generator. A list is memory: the number
// of rows, then for each operand the addresses of its rows.
//
//===----------------------------------------------------------------------===//

#include "ft/Analysis/LeafGraph/CopyBody.h"
#include "ft/Conversion/LeafToLoops/LeafCodegen.h"
#include "ft/Conversion/LoopsToCPU/LoopsToCPU.h"
#include "ft/Dialect/Loops/IR/AttributeNames.h"
#include "LeafDecisions.h"
#include "Spmd.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::tocpu;

/// In a list's memory the number of rows comes first, the addresses from here on (in eights of bytes).
static constexpr int64_t firstAddress = 8;

namespace {
class LeafLowering {
public:
  explicit LeafLowering(ModuleOp module)
      : module(module), b(module.getLoc(), module.getContext()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())), i64(b.getI64Type()) {}
  LogicalResult lowerAll();
  /// Leaves of any function alone.
  LogicalResult vectorizeAll();

private:
  LogicalResult lowerKernel(func::FuncOp function);
  LogicalResult lowerLeaf(loops::LeafOp leaf);
  FailureOr<func::FuncOp> functionOf(loops::LeafOp leaf);
  /// The number of a place at which an index out of range is reported.
  int64_t addPlace(Location place);
  Value errorRecord();
  Value scratchFor(func::FuncOp generated, int64_t rows);
  void lowerList(loops::ListOp list);
  void lowerAppend(loops::AppendOp append);
  void lowerCount(loops::CountOp count);
  void lowerBounded(loops::BoundedOp bounded);

  /// Memory of the kernel, where all of it can use it.
  Value emitMemory(Type elementType, Value size);
  Value addressAt(Value memory, Value at);
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value toI64(Value value) { return arith::IndexCastOp::create(b, i64, value); }
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value times(Value x, Value y) { return arith::MulIOp::create(b, x, y); }
  int64_t mostOf(Value list) { return list.getDefiningOp<loops::ListOp>().getMost(); }

  ModuleOp module;
  ImplicitLocOpBuilder b;
  Type pointer, i64;
  llvm::StringMap<func::FuncOp> functions; // by body

  // Of the current kernel.
  func::FuncOp kernel;
  loops::ProgramOp program; // that launches it, if any
  Value scratch;
  arith::ConstantIndexOp scratchSize;
  int64_t scratchBytes = 0;
  DenseMap<Value, Value> memoryOf; // of lists
};
} // namespace

Value LeafLowering::emitMemory(Type elementType, Value size) {
  auto type = MemRefType::get({ShapedType::kDynamic}, elementType);
  Value memory = memref::AllocOp::create(b, type, ValueRange{size}, b.getI64IntegerAttr(64));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(kernel.getBody().front().getTerminator());
  memref::DeallocOp::create(b, memory);
  return memory;
}

Value LeafLowering::addressAt(Value memory, Value at) {
  return LLVM::GEPOp::create(b, pointer, i64, memory, ArrayRef<LLVM::GEPArg>{toI64(at)});
}

//===----------------------------------------------------------------------===//
// Leaves
//===----------------------------------------------------------------------===//

func::FuncOp tocpu::outlineLeaf(OpBuilder &builder, loops::LeafOp leaf) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(leaf->getParentOfType<ModuleOp>().getBody());
  func::FuncOp function = leaf::copyBody(leaf.getBody().front(), builder, leaf.getLoc());
  function.setPrivate();
  return function;
}

FailureOr<func::FuncOp> LeafLowering::functionOf(loops::LeafOp leaf) {
  func::FuncOp function = outlineLeaf(b, leaf);
  std::string key;
  llvm::raw_string_ostream stream(key);
  function.print(stream, OpPrintingFlags().useLocalScope());
  for (bool varies : leaf.getVaries())
    stream << varies;
  for (bool last : loops::outputsWrittenLast(leaf))
    stream << (last ? " last" : "");
  if (leaf.getSums())
    stream << " sums " << *leaf.getSums();
  stream << (leaf.getList() ? " listed" : "") << (program ? program.getSymName() : "");
  if (leaf.getColumn())
    stream << " columns " << *leaf.getTile() << " of " << *leaf.getColumns();
  if (leaf.getLayouts())
    stream << leaf.getLayoutsAttr();
  if (leaf.getScratch())
    stream << " scratch " << leaf.getScratchAttr();
  if (Attribute rowLoops = leaf->getAttr(loops::names::rowLoops))
    stream << " row loops " << rowLoops;
  if (Attribute guards = leaf->getAttr(loops::names::guards))
    stream << " guards " << guards;
  for (ArrayRef<int64_t> strides : stridesOfInputs(leaf)) {
    stream << " strides";
    for (int64_t stride : strides)
      stream << ' ' << stride;
  }
  // What may fail says where.
  function.getBody().walk([&](Operation *op) {
    if (isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp, tensor::InsertSliceOp>(op) &&
        !llvm::all_of(op->getOperands().drop_front(), [](Value v) { return matchPattern(v, m_Constant()); }))
      stream << op->getLoc();
  });
  auto [known, isNew] = functions.try_emplace(key);
  if (!isNew) {
    function.erase();
    return known->second;
  }
  std::string name;
  for (unsigned n = functions.size() - 1; name.empty() || module.lookupSymbol(name); ++n)
    name = "leaf" + std::to_string(n);
  function.setSymName(name);
  FailureOr<LeafOptions> options = optionsOf(leaf, function);
  if (failed(options))
    return failure();
  options->placeOf = [&](Location place) { return addPlace(place); };
  FailureOr<func::FuncOp> generated = generateLeaf(function, *options, decisionsOf(leaf).getRowLoops().value_or(RowLoops()));
  if (succeeded(generated))
    known->second = *generated;
  return generated;
}

int64_t LeafLowering::addPlace(Location place) {
  if (!program)
    return 0;
  SmallVector<Attribute> places(program.getPlaces().getValue());
  places.push_back(place);
  program.setPlacesAttr(b.getArrayAttr(places));
  return int64_t(places.size()) - 1;
}

Value LeafLowering::errorRecord() {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&kernel.getBody().front());
  return loadSlot(b, b.getLoc(), kernel.getArgument(0), Environment::kError, pointer);
}

/// Leaves run one after the other: the largest scratch serves all.
Value LeafLowering::scratchFor(func::FuncOp generated, int64_t rows) {
  int64_t size = getLeafScratch(generated).forRows(rows);
  if (scratch && size <= scratchBytes)
    return scratch;
  scratchBytes = size;
  if (scratch) {
    scratchSize.setValueAttr(b.getIndexAttr(size));
    return scratch;
  }
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&kernel.getBody().front());
  scratchSize = arith::ConstantIndexOp::create(b, size);
  return scratch = emitMemory(b.getI8Type(), scratchSize);
}

LogicalResult LeafLowering::lowerLeaf(loops::LeafOp leaf) {
  FailureOr<func::FuncOp> function = functionOf(leaf);
  if (failed(function))
    return failure();
  b.setLoc(leaf.getLoc());
  b.setInsertionPoint(leaf);
  SmallVector<Value> operands = {leaf.getRows()};
  int64_t next = firstAddress;
  auto addListed = [&] {
    operands.push_back(addressAt(memoryOf.lookup(leaf.getList()), index(next)));
    next += mostOf(leaf.getList());
  };
  size_t view = 0;
  for (bool varies : leaf.getVaries()) {
    if (leaf.getList() && varies)
      addListed();
    else
      operands.push_back(leaf.getInputs()[view++]);
  }
  llvm::append_range(operands, leaf.getOutputs());
  if (leaf.getColumn())
    operands.push_back(leaf.getColumn());
  if (leaf.getList())
    for (size_t i = 0; i < leaf.getBody().front().getTerminator()->getNumOperands(); ++i)
      addListed();
  if (leafChecksIndices(*function)) {
    if (kernel.getNumArguments() == 0 || kernel.getArgumentTypes().front() != pointer)
      return leaf.emitError("it checks indices that are data, which a thread's kernel reports (run convert-loops-to-cpu, and loops-lower-leaves)");
    operands.push_back(errorRecord());
  }
  operands.push_back(scratchFor(*function, leaf.getMost()));
  // (Views may know more of themselves than the function asks for.)
  for (auto [operand, type] : llvm::zip_equal(operands, function->getArgumentTypes()))
    if (isa<MemRefType>(type) && operand.getType() != type)
      operand = memref::CastOp::create(b, type, operand);
  func::CallOp::create(b, *function, operands);
  leaf.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

void LeafLowering::lowerList(loops::ListOp list) {
  b.setLoc(list.getLoc());
  b.setInsertionPointToStart(&kernel.getBody().front());
  int64_t operands = list.getType().getRows().size();
  Value memory = emitMemory(i64, index(firstAddress + operands * int64_t(list.getMost())));
  Value number = toI64(memref::ExtractAlignedPointerAsIndexOp::create(b, memory));
  Value address = LLVM::IntToPtrOp::create(b, pointer, number);
  memoryOf[list] = address;
  b.setInsertionPoint(list);
  LLVM::StoreOp::create(b, toI64(index(0)), address);
}

void LeafLowering::lowerCount(loops::CountOp count) {
  b.setLoc(count.getLoc());
  b.setInsertionPoint(count);
  Value loaded = LLVM::LoadOp::create(b, i64, memoryOf.lookup(count.getList()));
  count.replaceAllUsesWith(arith::IndexCastOp::create(b, b.getIndexType(), loaded).getResult());
  count.erase();
}

void LeafLowering::lowerAppend(loops::AppendOp append) {
  b.setLoc(append.getLoc());
  b.setInsertionPoint(append);
  Value memory = memoryOf.lookup(append.getList()), rows = append.getRows();
  Value loaded = LLVM::LoadOp::create(b, i64, memory);
  Value before = arith::IndexCastOp::create(b, b.getIndexType(), loaded);
  /// Where each operand's first row lies, and bytes to the next.
  SmallVector<std::pair<Value, Value>> operands;
  for (Value view : append.getViews()) {
    auto metadata = memref::ExtractStridedMetadataOp::create(b, view);
    Type scalar = cast<MemRefType>(view.getType()).getElementType();
    Value bytes = index(scalar.isIndex() ? 8 : llvm::divideCeil(scalar.getIntOrFloatBitWidth(), 8));
    Value base = memref::ExtractAlignedPointerAsIndexOp::create(b, metadata.getBaseBuffer());
    operands.push_back({plus(base, times(metadata.getOffset(), bytes)), times(metadata.getStrides()[0], bytes)});
  }
  int64_t most = mostOf(append.getList());
  {
    OpBuilder::InsertionGuard guard(b);
    Value row = index(0);
    if (!matchPattern(rows, m_One())) {
      auto loop = scf::ForOp::create(b, index(0), rows, index(1));
      b.setInsertionPointToStart(loop.getBody());
      row = loop.getInductionVar();
    }
    Value at = plus(before, row);
    for (auto [o, operand] : llvm::enumerate(operands)) {
      Value where = addressAt(memory, plus(at, index(firstAddress + int64_t(o) * most)));
      LLVM::StoreOp::create(b, toI64(plus(operand.first, times(row, operand.second))), where);
    }
  }
  LLVM::StoreOp::create(b, toI64(plus(before, rows)), memory);
  append.erase();
}

//===----------------------------------------------------------------------===//
// Indices that are data
//===----------------------------------------------------------------------===//

void LeafLowering::lowerBounded(loops::BoundedOp bounded) {
  b.setLoc(bounded.getLoc());
  b.setInsertionPoint(bounded);
  Value errors = errorRecord();
  Value zero = index(0), value = bounded.getValue();
  Value low = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, value, zero);
  Value high = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, value, bounded.getBound());
  Value inside = arith::AndIOp::create(b, low, high);
  Value outside = arith::XOrIOp::create(b, inside, arith::ConstantIntOp::create(b, 1, 1));
  auto branch = scf::IfOp::create(b, outside, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    auto store = [&](int32_t position, Value number) {
      Value at = LLVM::GEPOp::create(b, pointer, i64, errors, ArrayRef<LLVM::GEPArg>{position});
      LLVM::StoreOp::create(b, number, at);
    };
    store(1, arith::ConstantIntOp::create(b, int64_t(bounded.getPlace()), 64));
    store(2, toI64(value));
    store(3, toI64(bounded.getBound()));
    store(0, arith::ConstantIntOp::create(b, 1, 64));
  }
  bounded.replaceAllUsesWith(arith::SelectOp::create(b, inside, value, zero).getResult());
  bounded.erase();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

LogicalResult LeafLowering::lowerKernel(func::FuncOp function) {
  kernel = function;
  scratch = Value();
  scratchBytes = 0;
  memoryOf.clear();
  program = loops::ProgramOp();
  for (auto candidate : module.getOps<loops::ProgramOp>())
    candidate.walk([&](loops::LaunchOp launch) {
      if (launch.getCallee() == function.getSymName())
        program = candidate;
    });
  if (function.getNumArguments() != 3 || function.getArgumentTypes().front() != pointer)
    return function.emitError("expected a kernel as a thread runs it (run convert-loops-to-cpu)");
  SmallVector<Operation *> own;
  SmallVector<loops::ListOp> lists;
  function.walk([&](Operation *op) {
    if (auto list = dyn_cast<loops::ListOp>(op))
      lists.push_back(list);
    else if (isa_and_nonnull<loops::LoopsDialect>(op->getDialect()) && !isa<loops::YieldOp>(op))
      own.push_back(op);
  });
  // First: others ask where they lie.
  for (loops::ListOp list : lists) {
    for (Operation *user : list->getUsers())
      if (!isa<loops::AppendOp, loops::CountOp, loops::LeafOp>(user))
        return user->emitError("a list is appended to, counted and computed, nothing else");
    lowerList(list);
  }
  for (Operation *op : own) {
    if (auto leaf = dyn_cast<loops::LeafOp>(op)) {
      if (failed(lowerLeaf(leaf)))
        return failure();
    } else if (auto append = dyn_cast<loops::AppendOp>(op)) {
      lowerAppend(append);
    } else if (auto count = dyn_cast<loops::CountOp>(op)) {
      lowerCount(count);
    } else if (auto bounded = dyn_cast<loops::BoundedOp>(op)) {
      lowerBounded(bounded);
    } else {
      return op->emitError("expected no structured loop any more (run convert-loops-to-cpu)");
    }
  }
  for (loops::ListOp list : lists)
    list.erase();
  return success();
}

LogicalResult LeafLowering::lowerAll() {
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>()))
    if (loops::isKernel(function) && !function.isExternal() && failed(lowerKernel(function)))
      return failure();
  return success();
}

LogicalResult LeafLowering::vectorizeAll() {
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    if (function.isExternal())
      continue;
    kernel = function;
    scratch = Value();
    scratchBytes = 0;
    SmallVector<loops::LeafOp> leaves;
    function.walk([&](loops::LeafOp leaf) { leaves.push_back(leaf); });
    for (loops::LeafOp leaf : leaves) {
      if (leaf.getList())
        return leaf.emitError("its rows are a list, which is a kernel's: expected rows of views (loops-lower-leaves lowers lists)");
      if (failed(lowerLeaf(leaf)))
        return failure();
    }
  }
  return success();
}

LogicalResult mlir::ft::vectorizeLeaves(ModuleOp module) {
  module.getContext()->loadDialect<LLVM::LLVMDialect>();
  return LeafLowering(module).vectorizeAll();
}

LogicalResult mlir::ft::lowerLeaves(ModuleOp module) { return LeafLowering(module).lowerAll(); }
