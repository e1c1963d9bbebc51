//===- Emitter.cpp - The function, its memory and lane values -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Emitter.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace mlir::ft::leaf;

//===----------------------------------------------------------------------===//
// Index arithmetic and loops
//===----------------------------------------------------------------------===//

Value Emitter::index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

Value Emitter::addIndex(Value x, Value y) {
  if (!x || matchPattern(x, m_Zero()))
    return y;
  if (!y || matchPattern(y, m_Zero()))
    return x;
  return arith::AddIOp::create(b, x, y);
}

Value Emitter::mulIndex(Value x, int64_t y) {
  if (y == 1)
    return x;
  if (y == 0 || matchPattern(x, m_Zero()))
    return index(0);
  return arith::MulIOp::create(b, x, index(y));
}

scf::ForOp Emitter::keptLoop(Value begin, Value end, int64_t step, ValueRange inits) {
  auto loop = scf::ForOp::create(b, begin, end, index(step), inits);
  MLIRContext *context = b.getContext();
  auto yes = BoolAttr::get(context, true);
  auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  auto vectorize = LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  loop->setAttr("loop_annotation",
                LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {}, {}, {}, {},
                                              {}, {}, {}, {}, {}, {}, {}));
  if (inits.empty()) // with no iteration arguments the builder adds the yield
    b.setInsertionPoint(loop.getBody()->getTerminator());
  else
    b.setInsertionPointToStart(loop.getBody());
  return loop;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// i1 scratch is kept in bytes, so that a vector of it is not packed bits.
static Type storageType(const Buffer &buffer) {
  if (buffer.kind == Buffer::Kind::Scratch && buffer.elementType.isInteger(1))
    return IntegerType::get(buffer.elementType.getContext(), 8);
  return buffer.elementType;
}

Emitter::Memory Emitter::flatMemoryOf(Value memref, bool batched) {
  if (isa<LLVM::LLVMPointerType>(memref.getType()))
    return {{}, {}, {}, /*list=*/memref};
  auto type = cast<MemRefType>(memref.getType());
  auto metadata = memref::ExtractStridedMetadataOp::create(b, memref);
  auto flatType = MemRefType::get({ShapedType::kDynamic}, type.getElementType());
  // The size is never asked for.
  OpFoldResult size = rows;
  Value flat = memref::ReinterpretCastOp::create(
      b, flatType, metadata.getBaseBuffer(), OpFoldResult(b.getIndexAttr(0)),
      ArrayRef<OpFoldResult>{size}, ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
  return {flat, metadata.getOffset(), batched ? Value(metadata.getStrides()[0]) : Value(), {}};
}

Value Emitter::flatOfRow(int buffer, Value row) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value at = arith::IndexCastOp::create(b, b.getI64Type(), row);
  Value slot = LLVM::GEPOp::create(b, pointer, pointer, memories[buffer].list,
                                   ArrayRef<LLVM::GEPArg>{at});
  Value address = LLVM::LoadOp::create(b, pointer, slot);
  // A descriptor of memory without an end.
  Type i64 = b.getI64Type();
  auto array = LLVM::LLVMArrayType::get(i64, 1);
  auto type = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                               {pointer, pointer, i64, array, array});
  auto number = [&](int64_t value) -> Value {
    return LLVM::ConstantOp::create(b, i64, b.getI64IntegerAttr(value));
  };
  Value descriptor = LLVM::PoisonOp::create(b, type);
  auto set = [&](Value value, ArrayRef<int64_t> where) {
    descriptor = LLVM::InsertValueOp::create(b, descriptor, value, where);
  };
  set(address, {0});
  set(address, {1});
  set(number(0), {2});
  set(number(int64_t(1) << 62), {3, 0});
  set(number(1), {4, 0});
  auto flat = MemRefType::get({ShapedType::kDynamic}, graph.buffers[buffer].elementType);
  return UnrealizedConversionCastOp::create(b, flat, descriptor).getResult(0);
}

void Emitter::bindMemory(func::FuncOp func) {
  auto numInputs =
      llvm::count_if(graph.buffers, [](const Buffer &x) { return x.kind == Buffer::Kind::Input; });
  Value scratch = func.getArguments().back();
  Block *moduleBody = func->getBlock();
  SymbolTable symbols(func->getParentOp());
  for (const Buffer &buffer : graph.buffers) {
    Memory memory;
    switch (buffer.kind) {
    case Buffer::Kind::Input:
      memory = flatMemoryOf(func.getArgument(1 + buffer.number), buffer.batched);
      break;
    case Buffer::Kind::Output:
      memory = flatMemoryOf(func.getArgument(1 + numInputs + buffer.number), true);
      break;
    case Buffer::Kind::Constant: {
      auto type = MemRefType::get(buffer.numElements, buffer.elementType);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(moduleBody, func->getIterator());
      auto global = memref::GlobalOp::create(b, (func.getName() + "_constant").str(),
                                             b.getStringAttr("private"), type, buffer.constant,
                                             /*constant=*/true, b.getI64IntegerAttr(64));
      // Insertion into the table makes the name unique.
      global->remove();
      StringAttr name = symbols.insert(global, func->getIterator());
      b.setInsertionPointToEnd(&func.getBody().front());
      Value value = memref::GetGlobalOp::create(b, type, name.getValue());
      memory.flat = memref::CastOp::create(
          b, MemRefType::get({ShapedType::kDynamic}, buffer.elementType), value);
      break;
    }
    case Buffer::Kind::Scratch: {
      if (!buffer.inMemory || buffer.byteOffset < 0)
        break;
      Value at = index(buffer.byteOffset);
      if (!buffer.isFixed()) {
        memory.rowStride = index(buffer.numElements);
        at = addIndex(index(graph.scratch.fixedBytes), mulIndex(rows, buffer.byteOffset));
      }
      memory.flat = memref::ViewOp::create(
          b, MemRefType::get({ShapedType::kDynamic}, storageType(buffer)), scratch, at, rows);
      break;
    }
    }
    memories.push_back(memory);
  }
}

Value Emitter::rowOffset(int buffer) {
  const Memory &memory = memories[buffer];
  if (!row || !memory.rowStride)
    return memory.base;
  Value &cached = rowOffsets[buffer];
  if (!cached)
    cached = addIndex(memory.base, arith::MulIOp::create(b, row, memory.rowStride));
  return cached;
}

Value Emitter::beginOfView(const ElementView &view) {
  if (view.isSplat())
    return index(0);
  Value begin = addIndex(rowOffset(view.buffer), view.offset ? index(view.offset) : Value());
  if (column && view.columnStride)
    begin = addIndex(begin, mulIndex(column, view.columnStride));
  for (const DynamicTerm &term : view.terms) {
    ElementView at;
    at.buffer = term.buffer;
    Value where = addIndex(rowOffset(term.buffer), term.offset ? index(term.offset) : Value());
    Value value = loadLanes(at, where ? where : index(0), 0, {});
    if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(b, b.getIndexType(), value);
    begin = addIndex(begin, mulIndex(checked(value, term.bound, term.op, {}), term.stride));
  }
  return begin ? begin : index(0);
}

Value Emitter::checked(Value index, int64_t bound, Operation *op, LaneShape shape) {
  if (!errors)
    return index;
  auto all = [&](int64_t value) -> Value {
    auto element = IntegerAttr::get(getElementTypeOrSelf(index.getType()), value);
    auto vector = dyn_cast<VectorType>(index.getType());
    return arith::ConstantOp::create(
        b, vector ? TypedAttr(DenseElementsAttr::get(vector, Attribute(element))) : element);
  };
  // A negative one is a large one.
  Value outside = arith::CmpIOp::create(b, arith::CmpIPredicate::uge, index, all(bound));
  Value any = outside, shown = index;
  if (isVector(index)) {
    if (!shape.full())
      outside = arith::AndIOp::create(b, outside, maskOf(shape));
    any = vector::ReductionOp::create(b, vector::CombiningKind::OR, outside);
    Value wrong = arith::SelectOp::create(b, outside, index, all(0));
    shown = vector::ReductionOp::create(b, vector::CombiningKind::MAXUI, wrong);
  }
  auto branch = scf::IfOp::create(b, any, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Type i64 = b.getI64Type();
    auto store = [&](int32_t position, Value value) {
      Value at = LLVM::GEPOp::create(b, errors.getType(), i64, errors,
                                     ArrayRef<LLVM::GEPArg>{position});
      LLVM::StoreOp::create(b, value, at);
    };
    auto number = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, value, 64).getResult();
    };
    store(1, number(options.placeOf(op->getLoc())));
    store(2, shown.getType().isIndex() ? arith::IndexCastOp::create(b, i64, shown).getResult()
                                       : arith::ExtSIOp::create(b, i64, shown).getResult());
    store(3, number(bound));
    store(0, number(1));
  }
  return arith::SelectOp::create(b, outside, all(0), index);
}

Value Emitter::maskOf(LaneShape shape) {
  SmallVector<bool> bits(shape.width);
  std::fill_n(bits.begin(), shape.valid, true);
  auto type = VectorType::get(shape.width, b.getI1Type());
  return arith::ConstantOp::create(b, DenseElementsAttr::get(type, bits));
}

Value Emitter::loadLanes(const ElementView &view, Value offset, int64_t stride, LaneShape shape,
                         Value memory) {
  if (view.isSplat())
    return constantOf(view.splat.getType(), view.splat);
  const Buffer &buffer = graph.buffers[view.buffer];
  memory = memory ? memory : flat(view.buffer);
  Type stored = cast<MemRefType>(memory.getType()).getElementType();
  Value value;
  if (shape.width == 1 || stride == 0) {
    value = memref::LoadOp::create(b, memory, offset);
  } else {
    auto type = VectorType::get(shape.width, stored);
    if (stride == 1 && !stored.isInteger(1)) {
      if (shape.full()) {
        value = vector::LoadOp::create(b, type, memory, offset);
      } else {
        Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
        value = vector::MaskedLoadOp::create(b, type, memory, offset, maskOf(shape), zero);
      }
    } else {
      SmallVector<int64_t> steps;
      for (int64_t lane = 0; lane < shape.width; ++lane)
        steps.push_back(lane < shape.valid ? lane * stride : 0);
      Value indices = arith::ConstantOp::create(b, b.getIndexVectorAttr(steps));
      value = gatherLanes(view.buffer, offset, indices, shape, memory);
    }
  }
  if (stored != buffer.elementType) { // i1 in a byte
    Type to = buffer.elementType;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      to = vector.clone(to);
    if (getElementTypeOrSelf(value.getType()) != buffer.elementType)
      value = arith::TruncIOp::create(b, to, value);
  }
  return value;
}

bool Emitter::isGathered(Type stored) { return stored.isIndex() || stored.getIntOrFloatBitWidth() >= 32; }

Value Emitter::gatherLanes(int buffer, Value offset, Value indices, LaneShape shape,
                           Value memory) {
  memory = memory ? memory : flat(buffer);
  Type stored = cast<MemRefType>(memory.getType()).getElementType();
  if (!isVector(indices))
    return memref::LoadOp::create(b, memory, addIndex(offset, indices));
  auto type = VectorType::get(shape.width, stored);
  if (isGathered(stored)) {
    Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
    return vector::GatherOp::create(b, type, memory, offset, indices, maskOf(shape), zero);
  }
  SmallVector<Value> lanes;
  for (int64_t lane = 0; lane < shape.valid; ++lane) {
    Value at = vector::ExtractOp::create(b, indices, lane);
    lanes.push_back(memref::LoadOp::create(b, memory, addIndex(offset, at)));
  }
  if (!shape.full())
    lanes.resize(shape.width, arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(stored))));
  return vector::FromElementsOp::create(b, type, lanes);
}

void Emitter::storeLanes(const ElementView &view, Value offset, int64_t stride, LaneShape shape,
                         Value value, Value memory) {
  const Buffer &buffer = graph.buffers[view.buffer];
  memory = memory ? memory : flat(view.buffer);
  Type stored = cast<MemRefType>(memory.getType()).getElementType();
  value = toElementType(value, buffer.elementType);
  if (stored != buffer.elementType) {
    Type to = stored;
    if (auto vector = dyn_cast<VectorType>(value.getType()))
      to = vector.clone(to);
    value = arith::ExtUIOp::create(b, to, value);
  }
  if (shape.width == 1 || (stride == 0 && !isVector(value))) {
    memref::StoreOp::create(b, value, memory, offset);
    return;
  }
  value = broadcast(value, shape.width);
  if (stride == 1 && !stored.isInteger(1)) {
    if (shape.full())
      vector::StoreOp::create(b, value, memory, offset);
    else
      vector::MaskedStoreOp::create(b, memory, offset, maskOf(shape), value);
    return;
  }
  for (int64_t lane = 0; lane < shape.valid; ++lane) {
    Value element = vector::ExtractOp::create(b, value, lane);
    memref::StoreOp::create(b, element, memory, addIndex(offset, lane * stride));
  }
}

//===----------------------------------------------------------------------===//
// Lane values
//===----------------------------------------------------------------------===//

Value Emitter::broadcast(Value value, int64_t width) {
  if (width == 1 || isVector(value))
    return value;
  return vector::BroadcastOp::create(b, VectorType::get(width, value.getType()), value);
}

Value Emitter::constantOf(Type type, TypedAttr value) {
  return arith::ConstantOp::create(b, type, value);
}

static Type withElement(Value like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like.getType()))
    return vector.clone(element);
  return element;
}

Value Emitter::lanesToFloat32(Value value) {
  if (!isHalf(getElementTypeOrSelf(value.getType())))
    return value;
  return arith::ExtFOp::create(b, withElement(value, b.getF32Type()), value);
}

/// From the f32 in which halves are computed, back.
Value Emitter::toElementType(Value value, Type type) {
  Type from = getElementTypeOrSelf(value.getType());
  if (from == type)
    return value;
  return arith::TruncFOp::create(b, withElement(value, type), value);
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void Emitter::branchOnGuard(const Nest &nest) {
  // One condition for all rows at once, or each row's own.
  if (!nest.guard)
    return;
  ElementView flag;
  flag.buffer = nest.guard->buffer;
  flag.offset = nest.guard->offset;
  // What is computed once for a row must not lie in the branch.
  for (int buffer = 0; row && buffer < int(graph.buffers.size()); ++buffer)
    (void)rowOffset(buffer);
  Value holds = loadLanes(flag, beginOfView(flag), 0, {});
  if (!nest.guard->when)
    holds = arith::XOrIOp::create(b, holds, arith::ConstantIntOp::create(b, 1, 1));
  auto branch = scf::IfOp::create(b, holds, /*withElseRegion=*/false);
  b.setInsertionPointToStart(branch.thenBlock());
}

static MemRefType rowsType(Type tensor, ArrayRef<int64_t> given = {}) {
  auto type = cast<RankedTensorType>(tensor);
  SmallVector<int64_t> shape{ShapedType::kDynamic}, strides{ShapedType::kDynamic};
  llvm::append_range(shape, type.getShape());
  if (given.empty())
    llvm::append_range(strides, rowMajorStrides(type.getShape()));
  llvm::append_range(strides, given);
  auto layout = StridedLayoutAttr::get(type.getContext(), ShapedType::kDynamic, strides);
  return MemRefType::get(shape, type.getElementType(), layout);
}

func::FuncOp Emitter::emitFunction(ArrayRef<Segment> segments) {
  func::FuncOp source = graph.func;
  SmallVector<Type> types{b.getIndexType()};
  unsigned inputs = source.getNumArguments();
  for (auto [i, type] : llvm::enumerate(source.getArgumentTypes()))
    types.push_back(rowsType(type, options.stridesOf(i)));
  for (Type type : source.getResultTypes())
    types.push_back(rowsType(type));
  if (options.listed)
    for (const Buffer &buffer : graph.buffers)
      if (buffer.kind == Buffer::Kind::Output ||
          (buffer.kind == Buffer::Kind::Input && buffer.batched))
        types[1 + buffer.number + (buffer.kind == Buffer::Kind::Output ? inputs : 0)] =
            LLVM::LLVMPointerType::get(b.getContext());
  if (options.columns.tile)
    types.push_back(b.getIndexType());
  bool checks = options.placeOf && hasDataIndices(graph);
  if (checks)
    types.push_back(LLVM::LLVMPointerType::get(b.getContext()));
  types.push_back(MemRefType::get({ShapedType::kDynamic}, b.getI8Type()));
  b.setInsertionPoint(source);
  auto func = func::FuncOp::create(b, source.getName(), b.getFunctionType(types, {}));
  func.setPrivate();
  func->setAttr(mlir::ft::names::scratchFixed, b.getI64IntegerAttr(graph.scratch.fixedBytes));
  func->setAttr(mlir::ft::names::scratchPerRow, b.getI64IntegerAttr(graph.scratch.bytesPerRow));
  if (checks)
    func->setAttr(mlir::ft::names::leafChecks, b.getUnitAttr());
  Block *entry = func.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  rows = entry->getArgument(0);
  if (checks)
    errors = entry->getArgument(entry->getNumArguments() - 2);
  if (options.columns.tile)
    column = entry->getArgument(entry->getNumArguments() - 2 - checks);
  bindMemory(func);
  for (const Segment &segment : segments) {
    OpBuilder::InsertionGuard guard(b);
    if (segment.perRow) {
      scf::ForOp rowLoop = keptLoop(index(0), rows, 1);
      row = rowLoop.getInductionVar();
      for (int buffer = 0; buffer < int(graph.buffers.size()); ++buffer)
        if (isListed(buffer))
          rowFlats[buffer] = flatOfRow(buffer, row);
    }
    for (unsigned i = segment.begin; i < segment.end; ++i) {
      OpBuilder::InsertionGuard nestGuard(b);
      const Nest &nest = graph.nests[i];
      b.setLoc(nest.members.front().op->getLoc());
      branchOnGuard(nest);
      if (nest.contraction)
        emitContraction(nest);
      else
        emitLoopNest(nest);
    }
    row = Value();
    rowOffsets.clear();
    rowFlats.clear();
  }
  func::ReturnOp::create(b);
  return func;
}

func::FuncOp mlir::ft::leaf::emitLeafFunction(LeafGraph &graph, ArrayRef<Segment> segments,
                                      const LeafOptions &options) {
  OpBuilder builder(graph.func.getContext());
  return Emitter(graph, options, graph.func.getLoc(), builder).emitFunction(segments);
}
