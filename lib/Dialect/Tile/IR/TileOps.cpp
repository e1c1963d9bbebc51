//===- TileOps.cpp - checks of the operations on tiles --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Tile/IR/Tile.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tile;

#define GET_OP_CLASSES
#include "ft/Dialect/Tile/IR/TileOps.cpp.inc"

static int64_t bytesOf(Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8); }

static LogicalResult verifyPair(Operation *op, ArrayRef<bool> inBounds) {
  if (inBounds.size() == 2)
    return success();
  return op->emitOpError() << "expected in_bounds for rows and columns, found " << inBounds.size() << " of them";
}

//===----------------------------------------------------------------------===//
// Tiles in memory
//===----------------------------------------------------------------------===//

LogicalResult ViewOp::verify() {
  ViewType type = getType();
  if (getStrides().size() != type.getNumDigits())
    return emitOpError() << "(1) expected a stride for each of " << type.getNumDigits() << " digits, found "
                         << getStrides().size();
  if (getSizes().size() != type.getNumDynamic())
    return emitOpError() << "(2) the type leaves " << type.getNumDynamic() << " sizes open, found " << getSizes().size();
  if (int64_t space = cast<LLVM::LLVMPointerType>(getPointer().getType()).getAddressSpace(); space != type.getSpace())
    return emitOpError() << "(3) expected a pointer to the type's space " << type.getSpace() << ", found space " << space;
  if (getBegins().size() != type.getBorders().size())
    return emitOpError() << "(4) the type has " << type.getBorders().size() << " borders, found " << getBegins().size() << " indices along them";
  return success();
}

/// Whether elements of an access may be on both sides of a border.
static bool isCut(ViewType view, int64_t width) {
  return width > 1 && llvm::any_of(view.getBorders(), [&](BorderAttr border) {
           ArrayRef<int64_t> columns = border.getSteps().take_back(view.getColumns().size());
           bool isMoved = llvm::any_of(columns, [](int64_t step) { return step != 0; });
           return isMoved && (columns.back() != 0 || view.getColumns().back() % width != 0);
         });
}

/// What tiles in registers and matrices have to agree on.
static LogicalResult verifyAccess(Operation *op, RegistersType tile, ViewType view, int64_t width, ArrayRef<bool> inBounds) {
  if (tile.getElementType() != view.getElementType())
    return op->emitOpError() << "(1) expected one type of elements, found " << tile.getElementType() << " and "
                             << view.getElementType();
  if (width < 1 || !llvm::isPowerOf2_64(width) || tile.getLayout().getVector()[1] % width != 0 ||
      (width > 1 && width * bytesOf(tile.getElementType()) > accessBytes))
    return op->emitOpError() << "(2) expected a width that is a power of two, divides the layout's "
                             << tile.getLayout().getVector()[1] << " adjacent columns and takes at most " << accessBytes
                             << " bytes; found " << width;
  if (isCut(view, width))
    return op->emitOpError() << "(2) expected accesses of one side of each border, found width " << width;
  return verifyPair(op, inBounds);
}

LogicalResult LoadOp::verify() { return verifyAccess(*this, getType(), getSource().getType(), getWidth(), getInBounds()); }

LogicalResult StoreOp::verify() {
  if (!getTarget().getType().getBorders().empty())
    return emitOpError() << "(3) expected a matrix without borders, found " << getTarget().getType();
  return verifyAccess(*this, getValue().getType(), getTarget().getType(), getWidth(), getInBounds());
}

LogicalResult CopyOp::verify() {
  SharedType target = getTarget().getType();
  Type element = target.getElementType();
  if (element != getSource().getType().getElementType())
    return emitOpError() << "(1) expected one type of elements, found " << getSource().getType().getElementType() << " and "
                         << element;
  int64_t width = getLayout().getVector()[1];
  if (getLayout().getVector()[0] != 1 || target.getShape()[1] % width != 0 || target.getPad() % width != 0 ||
      !llvm::isPowerOf2_64(width) || (width > 1 && width * bytesOf(element) > accessBytes))
    return emitOpError() << "(2) expected adjacent elements of one row, a power of two that divides the tile's rows and what is "
                            "free after them and takes at most "
                         << accessBytes << " bytes; found vector = [" << getLayout().getVector() << "]";
  int64_t bytes = width * bytesOf(element);
  int64_t space = getSource().getType().getSpace();
  if (getAsync() && ((bytes != 4 && bytes != 8 && bytes != 16) || space != 1))
    return emitOpError() << "(3) asynchronous accesses are of 4, 8 or 16 bytes of global memory (space = 1), found " << bytes
                         << " bytes and space = " << space;
  if (isCut(getSource().getType(), width))
    return emitOpError() << "(4) expected accesses of one side of each border, found " << width << " elements in one";
  return verifyPair(*this, getInBounds());
}

//===----------------------------------------------------------------------===//
// Tiles in registers
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  if (getValue().getType() == getType().getElementType())
    return success();
  return emitOpError() << "(1) expected a value of " << getType().getElementType() << ", found " << getValue().getType();
}

/// Whether `all` is `parts` tiles of the type `one`, side by side.
static bool liesSideBySide(RegistersType all, RegistersType one, int64_t parts) {
  return all.getLayout() == one.getLayout() && all.getElementType() == one.getElementType() && all.getShape()[0] == one.getShape()[0] &&
         all.getShape()[1] == parts * one.getShape()[1];
}

LogicalResult ConcatOp::verify() {
  if (getInputs().empty() || !llvm::all_equal(getInputs().getTypes()) ||
      !liesSideBySide(getType(), cast<RegistersType>(getInputs().front().getType()), int64_t(getInputs().size())))
    return emitOpError() << "(1) expected tiles of one type and a result with all their columns, found " << getInputs().getTypes() << " and "
                         << getType();
  return success();
}

LogicalResult PartOp::verify() {
  int64_t parts = getInput().getType().getShape()[1] / getType().getShape()[1];
  if (!liesSideBySide(getInput().getType(), getType(), parts))
    return emitOpError() << "(1) expected columns that divide those of the operand, and else its type; found " << getInput().getType()
                         << " and " << getType();
  if (int64_t(getNumber()) >= parts)
    return emitOpError() << "(2) expected a number less than the " << parts << " parts, found " << getNumber();
  return success();
}

static LogicalResult verifyRowValues(Operation *op, RegistersType tile, RowVectorType rows) {
  if (tile.getShape()[0] == rows.getRows() && tile.getElementType() == rows.getElementType() && tile.getLayout() == rows.getLayout())
    return success();
  return op->emitOpError() << "(1) expected a tile and a vector of the same rows, elements and layout, found " << tile << " and " << rows;
}

LogicalResult RowValuesOp::verify() { return verifyRowValues(*this, getInput().getType(), getType()); }

LogicalResult BroadcastOp::verify() { return verifyRowValues(*this, getType(), getInput().getType()); }

LogicalResult MmaOp::verify() {
  ArrayRef<int64_t> c = getType().getShape();
  SmallVector<int64_t> a(tile::shapeOf(getLhs().getType())), b(getRhs().getType().getShape());
  if (!getLhsType() && !getWgmma())
    return emitOpError() << "(5) expected wgmma beside a left operand in registers, found " << getLhs().getType();
  if (getLhsTransposed())
    std::swap(a[0], a[1]);
  if (getRhsTransposed())
    std::swap(b[0], b[1]);
  if (a[0] != c[0] || b[1] != c[1] || a[1] != b[0])
    return emitOpError() << "(1) expected tiles of m x n, m x k and k x n, found " << c[0] << " x " << c[1] << ", " << a[0]
                         << " x " << a[1] << " and " << b[0] << " x " << b[1];
  Type sum = getType().getElementType();
  for (Type element : {tile::elementOf(getLhs().getType()), getRhs().getType().getElementType()})
    if (isa<FloatType>(element) != isa<FloatType>(sum) || element.getIntOrFloatBitWidth() > sum.getIntOrFloatBitWidth() ||
        (element.getIntOrFloatBitWidth() == sum.getIntOrFloatBitWidth() && element != sum))
      return emitOpError() << "(2) expected operands that extend to the accumulator's " << sum << ", found " << element;
  if (getFragments() && getWgmma())
    return emitOpError("(5) expected fragments or wgmma, found both");
  if (getReads() && getWgmma())
    return emitOpError("(4) expected nothing of 'reads' beside wgmma, which reads tiles as they lie");
  if (failed(verifyReads()))
    return failure();
  if (getWgmma())
    return verifyGroupProduct(*this, getType(), getLhs().getType(), getRhs().getType(), a[1]);
  return getFragments() ? verifyFragments() : success();
}

LogicalResult MmaOp::verifyReads() {
  if (!getReads())
    return success();
  if (getFragments())
    return emitOpError("(4) expected nothing of 'reads' beside fragments, which are read as they lie");
  ReadsAttr reads = *getReads();
  if (int64_t terms = getLhsType().getShape()[getLhsTransposed() ? 0 : 1]; terms % reads.getTerms() != 0)
    return emitOpError() << "(4) expected terms that divide the tiles' " << terms << ", found " << reads;
  for (auto [name, type, alongTerms, dim, width] :
       {std::tuple("lhs", getLhsType(), !getLhsTransposed(), 0u, reads.getLhs()),
        std::tuple("rhs", getRhs().getType(), getRhsTransposed(), 1u, reads.getRhs())}) {
    int64_t adjacent = alongTerms ? reads.getTerms() : getType().getLayout().getVector()[dim];
    if (adjacent % width != 0 || type.getRowStride() % width != 0 || (width > 1 && width * type.getElementBytes() > accessBytes))
      return emitOpError() << "(4) " << name << ": expected an access of at most " << accessBytes << " bytes that divides "
                           << (alongTerms ? "the terms" : "the layout's adjacent elements") << ", " << adjacent
                           << ", and what separates rows in shared memory, " << type.getRowStride() << "; found " << width;
  }
  return success();
}

LogicalResult MmaOp::verifyFragments() {
  Type lhs = getLhsType().getElementType(), rhs = getRhs().getType().getElementType();
  if (lhs != rhs || !(lhs.isF16() || lhs.isBF16()) || !getType().getElementType().isF32())
    return emitOpError() << "(3) fragments are of f16 or bf16 and add up to f32, found " << lhs << ", " << rhs << " and "
                         << getType().getElementType();
  BlockedAttr layout = getType().getLayout();
  if (layout.getVector() != ArrayRef<int64_t>{1, 2} || layout.getWarp() != ArrayRef<int64_t>{8, 4} || getType().getOwn(0) % 2 != 0)
    return emitOpError() << "(3) fragments need a layout of vector = [1, 2] and warp = [8, 4] and an even number of rows for each "
                            "thread, found "
                         << layout << " with " << getType().getOwn(0) << " rows";
  for (SharedType type : {getLhsType(), getRhs().getType()})
    if (type.getRowStride() * type.getElementBytes() % accessBytes != 0)
      return emitOpError() << "(3) fragments are read from rows that begin at multiples of " << accessBytes << " bytes, found "
                           << type.getRowStride() * type.getElementBytes();
  if (int64_t terms = getLhsType().getShape()[getLhsTransposed() ? 0 : 1]; terms % ProductAttr::fragmentTerms != 0)
    return emitOpError() << "(3) fragments have " << ProductAttr::fragmentTerms << " terms, found " << terms;
  return success();
}

LogicalResult NumbersOp::verify() {
  if (!getType().getElementType().isInteger(64))
    return emitOpError() << "(1) expected elements of i64, found " << getType().getElementType();
  return success();
}

LogicalResult MapOp::verify() {
  RegistersType first;
  auto agrees = [&](Type type) {
    auto tile = cast<RegistersType>(type);
    if (!first)
      first = tile;
    return tile.getShape() == first.getShape() && tile.getLayout() == first.getLayout();
  };
  if (!llvm::all_of(getInputs().getTypes(), agrees) || !llvm::all_of(getResultTypes(), agrees))
    return emitOpError("(1) expected tiles of one shape and layout");
  auto elements = [](TypeRange types) {
    return llvm::map_to_vector(types, [](Type type) { return cast<RegistersType>(type).getElementType(); });
  };
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(elements(getInputs().getTypes())) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(elements(getResultTypes())))
    return emitOpError("(2) expected a body from elements of the operands to elements of the results");
  return success();
}

LogicalResult ReduceOp::verify() {
  Type element = getType().getElementType();
  Block &body = getBody().front();
  if (TypeRange(body.getArgumentTypes()) != TypeRange(ArrayRef<Type>{element, element}) ||
      TypeRange(body.getTerminator()->getOperandTypes()) != TypeRange(ArrayRef<Type>{element}))
    return emitOpError() << "(1) expected a body that combines two elements of " << element;
  if (!getType().getLayout().hasRowsInWarps())
    return emitOpError() << "(2) expected rows that are shared by a power of two of neighbouring threads, at most "
                         << warpThreads << " of one warp, found " << getType().getLayout();
  if (int64_t columns = getColumns(), all = getType().getShape()[1]; columns < 1 || columns > all)
    return emitOpError() << "(3) expected 1 to " << all << " columns, found " << columns;
  if (unsigned bits = element.getIntOrFloatBitWidth(); bits != 8 && bits != 16 && bits != 32 && bits != 64)
    return emitOpError() << "(4) expected elements of 8, 16, 32 or 64 bits, found " << element;
  return success();
}

/// What a map without a body of its own ends in.
void YieldOp::build(OpBuilder &, OperationState &) {}
