//===- LoopsViews.cpp - memory, and views that keep their coordinates -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/IR/Loops.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <climits>

using namespace mlir;
using namespace mlir::loops;

void ViewOp::build(OpBuilder &builder, OperationState &state, MemRefType type, Value memory, ArrayRef<OpFoldResult> indices,
                   ArrayRef<OpFoldResult> strides, ArrayRef<OpFoldResult> steps, Value rows) {
  SmallVector<Value> values[3];
  SmallVector<int64_t> constants[3];
  dispatchIndexOpFoldResults(indices, values[0], constants[0]);
  dispatchIndexOpFoldResults(strides, values[1], constants[1]);
  dispatchIndexOpFoldResults(steps, values[2], constants[2]);
  build(builder, state, type, memory, values[0], values[1], values[2], rows, constants[0], constants[1], constants[2]);
}

SmallVector<OpFoldResult> ViewOp::getMixedIndices() { return getMixedValues(getStaticIndices(), getIndices(), getContext()); }
SmallVector<OpFoldResult> ViewOp::getMixedStrides() { return getMixedValues(getStaticStrides(), getStrides(), getContext()); }
SmallVector<OpFoldResult> ViewOp::getMixedSteps() { return getMixedValues(getStaticSteps(), getSteps(), getContext()); }

SmallVector<ViewOp::Dim> ViewOp::getDims() {
  SmallVector<Dim> dims;
  for (auto [index, stride, step] : llvm::zip_equal(getMixedIndices(), getMixedStrides(), getMixedSteps()))
    dims.push_back({index, stride, step});
  return dims;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void AllocOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getResult(), "alloc"); }

std::optional<int64_t> AllocOp::getConstantSize() { return getConstantIntValue(getSize()); }

int64_t AllocOp::getBytesOfBlock() {
  std::optional<int64_t> count = getConstantSize();
  if (!count)
    return 0;
  Type element = getType().getElementType();
  if (!element.isIntOrIndexOrFloat()) // (the verifier refuses it)
    return 0;
  int64_t bytes = element.isIndex() ? sizeof(int64_t) : llvm::divideCeil(element.getIntOrFloatBitWidth(), CHAR_BIT);
  return *count / std::max<int64_t>(getParts().value_or(1), 1) * bytes;
}

LogicalResult AllocOp::verify() {
  auto kernel = (*this)->getParentOfType<FunctionOpInterface>();
  if (!kernel || !gridOf(kernel))
    return emitOpError("expected a kernel of thread blocks (loops.grid) around it (loops_alloc1)");
  MemRefType type = dyn_cast<MemRefType>(getResult().getType());
  if (!type || type.getRank() != 1 || !type.isDynamicDim(0) || !type.getLayout().isIdentity() || type.getMemorySpace() ||
      !type.getElementType().isIntOrIndexOrFloat())
    return emitOpError("expected memory of type memref<?xT> with elements that are numbers, found ") << getResult().getType() << " (loops_alloc2)";
  std::optional<int64_t> size = getConstantSize();
  if (isShared() && !size)
    return emitOpError("expected shared memory of a constant size (loops_alloc3)");
  if (std::optional<uint64_t> parts = getParts(); parts && (!isShared() || int64_t(*parts) <= 0 || *size % int64_t(*parts) != 0))
    return emitOpError("expected shared memory of a size that its parts divide, found ") << int64_t(*parts) << " parts (loops_alloc4)";
  return success();
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  auto listed = [](ArrayRef<int64_t> constants, ValueRange values) { return size_t(llvm::count(constants, ShapedType::kDynamic)) == values.size(); };
  size_t dims = getStaticIndices().size();
  if (dims == 0 || getStaticStrides().size() != dims || getStaticSteps().size() != dims || !listed(getStaticIndices(), getIndices()) ||
      !listed(getStaticStrides(), getStrides()) || !listed(getStaticSteps(), getSteps()))
    return emitOpError("expected one stride and one step for each of at least one index, found ")
           << dims << " indices, " << getStaticStrides().size() << " strides and " << getStaticSteps().size() << " steps (loops_view1)";
  auto memory = dyn_cast<MemRefType>(getMemory().getType());
  auto type = dyn_cast<MemRefType>(getResult().getType());
  bool isFlat = memory && memory.getRank() == 1 && memory.isDynamicDim(0) && memory.getLayout().isIdentity();
  if (!isFlat)
    return emitOpError("expected a memory of type memref<?xT>, found ") << getMemory().getType() << " (loops_view2)";
  auto layout = type ? dyn_cast<StridedLayoutAttr>(type.getLayout()) : StridedLayoutAttr();
  if (!layout || type.getElementType() != memory.getElementType() || !type.isDynamicDim(0) ||
      ShapedType::isDynamicShape(type.getShape().drop_front()) || !ShapedType::isDynamic(layout.getOffset()) ||
      !ShapedType::isDynamic(layout.getStrides().front()) || ShapedType::isDynamicShape(layout.getStrides().drop_front()))
    return emitOpError("expected rows of ") << memory.getElementType() << " as memref<? x shape x T, strided<[?, ...], offset: ?>>, found "
                                            << getResult().getType() << " (loops_view2)";
  return success();
}

//===----------------------------------------------------------------------===//
// Flat offsets
//===----------------------------------------------------------------------===//

/// The sum of each number times its stride.
static Value emitSum(OpBuilder &b, Location loc, ArrayRef<OpFoldResult> numbers, ArrayRef<OpFoldResult> strides) {
  Value sum;
  for (auto [number, stride] : llvm::zip_equal(numbers, strides)) {
    if (isZeroInteger(number))
      continue;
    Value one = b.createOrFold<arith::MulIOp>(loc, getValueOrCreateConstantIndexOp(b, loc, number), getValueOrCreateConstantIndexOp(b, loc, stride));
    sum = sum ? b.createOrFold<arith::AddIOp>(loc, sum, one) : one;
  }
  return sum ? sum : arith::ConstantIndexOp::create(b, loc, 0).getResult();
}

void loops::expandViews(Operation *root) {
  SmallVector<ViewOp> views;
  root->walk([&](ViewOp view) { views.push_back(view); });
  for (ViewOp view : views) {
    OpBuilder b(view);
    Location loc = view.getLoc();
    MemRefType type = view.getType();
    Value offset = emitSum(b, loc, view.getMixedIndices(), view.getMixedStrides());
    Value step = emitSum(b, loc, view.getMixedSteps(), view.getMixedStrides());
    SmallVector<OpFoldResult> sizes = {view.getRows()}, strides = {step};
    for (auto [extent, stride] : llvm::zip_equal(type.getShape().drop_front(), cast<StridedLayoutAttr>(type.getLayout()).getStrides().drop_front())) {
      sizes.push_back(b.getIndexAttr(extent));
      strides.push_back(b.getIndexAttr(stride));
    }
    Value flat = memref::ReinterpretCastOp::create(b, loc, type, view.getMemory(), OpFoldResult(offset), sizes, strides);
    view.getResult().replaceAllUsesWith(flat);
    view.erase();
  }
}
