//===- TilePipeline.cpp - checks of roles, channels and products in flight -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Tile/IR/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tile;

//===----------------------------------------------------------------------===//
// Attributes and types
//===----------------------------------------------------------------------===//

LogicalResult PipelineAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots, int64_t loaders, int64_t computers,
                                   ArrayRef<int64_t> registers) {
  constexpr int64_t unit = 8, least = leastRegisters, most = 256, all = 65536, mostSlots = 1 << 10;
  if (slots < 1 || slots > mostSlots)
    return emitError() << "(K1) expected 1 to " << mostSlots << " slots, found " << slots;
  if (loaders != 1 || computers < 1 || computers > mostComputers)
    return emitError() << "(K2) expected one loader and 1 to " << mostComputers << " computers, found loaders = " << loaders
                       << ", computers = " << computers;
  if (registers.size() != 2 || llvm::any_of(registers, [](int64_t own) { return own % unit != 0 || own < least || own > most; }))
    return emitError() << "(K3) expected registers of loaders and of computers, in eights from " << least << " to " << most << ", found ["
                       << registers << "]";
  // What a block is launched with is dealt anew: threads that ask for more than that wait for ever.
  int64_t threads = (loaders + computers) * groupThreads, given = all / threads / unit * unit * threads;
  int64_t asked = (loaders * registers[0] + computers * registers[1]) * groupThreads;
  if (asked > given)
    return emitError() << "(K3) expected at most " << given << " registers for a block of " << threads << " threads, found " << asked;
  return success();
}

int64_t ChannelType::getSlotBytes() const {
  int64_t bytes = 0;
  for (SharedType tile : getTiles())
    bytes += tile.getBytes();
  return bytes;
}

LogicalResult ChannelType::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<SharedType> tiles, int64_t slots) {
  if (tiles.empty() || slots < 1 || llvm::any_of(tiles, [](SharedType tile) { return tile.getStages() != 1 || !tile.getSwizzle(); }))
    return emitError() << "(C1) expected a slot at least, and in it swizzled tiles of one stage, found " << slots << " slots of " << tiles.size()
                       << " tiles";
  for (SharedType tile : tiles)
    if (tile.getBytes() % alignment != 0)
      return emitError() << "(C2) expected tiles of a multiple of " << alignment << " bytes, found " << tile;
  return success();
}

//===----------------------------------------------------------------------===//
// Fetches
//===----------------------------------------------------------------------===//

/// Checks a box of a tile that has so many parts.
static LogicalResult verifyFetch(Operation *op, TensorMapType map, size_t coordinates, SharedType tile, int64_t parts) {
  ArrayRef<int64_t> box = map.getBox();
  if (coordinates != box.size())
    return op->emitOpError() << "(1) expected a coordinate for each of " << box.size() << " dimensions, found " << coordinates;
  if (map.getElementType() != tile.getElementType() || map.getSwizzle() != tile.getSwizzle() || !tile.getSwizzle() || tile.getStages() != 1)
    return op->emitOpError() << "(2) expected a tile of one stage with the map's elements and swizzle, found " << map << " and " << tile;
  int64_t rows = 1;
  for (int64_t size : box.drop_back())
    rows *= size;
  const bool isAlongRows = rows < tile.getShape()[0];
  if (rows * (isAlongRows ? parts : 1) != tile.getShape()[0] || box.back() != tile.getSlabColumns())
    return op->emitOpError() << "(3) expected boxes of " << tile.getShape()[0] / (isAlongRows ? parts : 1) << " rows and " << tile.getSlabColumns()
                             << " columns, found " << map;
  constexpr int64_t rowUnit = 8; // rows that a swizzle repeats after
  if (isAlongRows ? rows % rowUnit != 0 : tile.getShape()[1] % (parts * tile.getSlabColumns()) != 0)
    return op->emitOpError() << "(4) expected " << parts << " parts of whole eights of rows, or of whole slabs, found " << tile;
  return success();
}

ValueRange FetchOp::getCoordinatesOf(unsigned number) {
  size_t before = 0;
  for (Value map : getMaps().take_front(number))
    before += cast<TensorMapType>(map.getType()).getBox().size();
  return getCoordinates().slice(before, cast<TensorMapType>(getMaps()[number].getType()).getBox().size());
}

LogicalResult FetchOp::verify() {
  size_t dims = 0;
  for (Value map : getMaps())
    dims += cast<TensorMapType>(map.getType()).getBox().size();
  if (getMaps().empty() || dims != getCoordinates().size())
    return emitOpError() << "(1) expected a map at least, and a coordinate for each of " << dims << " dimensions, found " << getCoordinates().size();
  if (!getConditions().empty() && getConditions().size() + 1 != getMaps().size())
    return emitOpError() << "(5) expected no condition, or one for each map but the last, found " << getConditions().size() << " for " << getMaps().size()
                         << " maps";
  for (auto [i, map] : llvm::enumerate(getMaps()))
    if (failed(verifyFetch(*this, cast<TensorMapType>(map.getType()), getCoordinatesOf(unsigned(i)).size(), getType(), getParts())))
      return failure();
  return success();
}

LogicalResult StartFetchOp::verify() {
  if (getPart() >= getParts())
    return emitOpError() << "(5) expected one of " << getParts() << " parts, found number " << getPart();
  return verifyFetch(*this, getMap().getType(), getCoordinates().size(), getTile().getType(), int64_t(getParts()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

ArrayRef<int64_t> tile::shapeOf(Type tile) {
  auto shared = dyn_cast<SharedType>(tile);
  return shared ? shared.getShape() : cast<RegistersType>(tile).getShape();
}

Type tile::elementOf(Type tile) {
  auto shared = dyn_cast<SharedType>(tile);
  return shared ? shared.getElementType() : cast<RegistersType>(tile).getElementType();
}

LogicalResult tile::verifyGroupProduct(Operation *op, RegistersType sums, Type lhs, SharedType rhs, int64_t terms) {
  constexpr int64_t mostColumns = 256, columnUnit = 8;
  Type element = elementOf(lhs);
  auto shared = dyn_cast<SharedType>(lhs);
  if (element != rhs.getElementType() || !(element.isF16() || element.isBF16()) || !sums.getElementType().isF32() || (shared && !shared.getSwizzle()) ||
      !rhs.getSwizzle())
    return op->emitOpError() << "(5) wgmma multiplies swizzled tiles of f16 or bf16 and adds up to f32, found " << lhs << ", " << rhs << " and "
                             << sums.getElementType();
  if (auto registers = dyn_cast<RegistersType>(lhs); registers && registers.getLayout() != sums.getLayout())
    return op->emitOpError() << "(5) wgmma takes a left operand in registers with the sums' layout " << sums.getLayout() << ", found " << registers;
  BlockedAttr layout = sums.getLayout();
  if (layout.getVector() != ArrayRef<int64_t>{1, 2} || layout.getWarp() != ArrayRef<int64_t>{8, 4} ||
      layout.getRepeat() != ArrayRef<int64_t>{2, 1} || layout.getThreads()[1] != 4 ||
      layout.getNumThreads() % PipelineAttr::groupThreads != 0)
    return op->emitOpError() << "(5) wgmma needs a layout of vector = [1, 2], threads = [32, 4] for each warp group, warp = [8, 4] and repeat = "
                                "[2, 1], found "
                             << layout;
  if (int64_t columns = sums.getShape()[1]; columns > mostColumns || columns % columnUnit != 0)
    return op->emitOpError() << "(5) wgmma has at most " << mostColumns << " columns, in eights, found " << columns;
  if (terms % ProductAttr::fragmentTerms != 0)
    return op->emitOpError() << "(5) wgmma has " << ProductAttr::fragmentTerms << " terms at a time, found " << terms;
  return success();
}

LogicalResult StartMmaOp::verify() {
  RegistersType sums = getType().getSums();
  Type from = getAccumulator().getType();
  if (from != sums && from != getType())
    return emitOpError() << "(1) expected sums of " << sums << ", found " << from;
  SmallVector<int64_t> a(tile::shapeOf(getLhs().getType())), b(getRhs().getType().getShape());
  ArrayRef<int64_t> c = sums.getShape();
  if (getLhsTransposed())
    std::swap(a[0], a[1]);
  if (getRhsTransposed())
    std::swap(b[0], b[1]);
  if (a[0] != c[0] || b[1] != c[1] || a[1] != b[0])
    return emitOpError() << "(1) expected tiles of m x n, m x k and k x n, found " << c[0] << " x " << c[1] << ", " << a[0] << " x " << a[1] << " and "
                         << b[0] << " x " << b[1];
  return verifyGroupProduct(*this, sums, getLhs().getType(), getRhs().getType(), a[1]);
}

LogicalResult GroupMmaOp::verify() {
  constexpr size_t registers = 4;
  if (getLhs().size() != registers)
    return emitOpError() << "(1) expected " << registers << " registers of the left operand, found " << getLhs().size();
  auto type = cast<LLVM::LLVMStructType>(getType());
  if (int64_t(type.getBody().size()) != int64_t(getColumns()) / 2 || !llvm::all_of(type.getBody(), [](Type element) { return element.isF32(); }))
    return emitOpError() << "(2) expected a structure of " << getColumns() / 2 << " floats for " << getColumns() << " columns, found " << type;
  return success();
}

LogicalResult AwaitOp::verify() {
  if (getType() != getSums().getType().getSums())
    return emitOpError() << "(1) expected the tile " << getSums().getType().getSums() << ", found " << getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Roles and channels
//===----------------------------------------------------------------------===//

LogicalResult RolesOp::verify() {
  if (getLoad().front().getNumArguments() || getCompute().front().getNumArguments())
    return emitOpError("(1) expected blocks without arguments");
  auto kernel = dyn_cast<LLVM::LLVMFuncOp>((*this)->getParentOp());
  if (!kernel || !kernel->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
    return emitOpError("(2) expected to stand in a kernel");
  return success();
}

static LogicalResult verifyTiles(Operation *op, ChannelType channel, TypeRange tiles) {
  int64_t bytes = 0;
  for (Type tile : tiles)
    bytes += cast<SharedType>(tile).getBytes();
  if (!tiles.empty() && bytes <= channel.getSlotBytes() &&
      llvm::all_of(tiles, [](Type tile) { return cast<SharedType>(tile).getBytes() % ChannelType::alignment == 0; }))
    return success();
  return op->emitOpError() << "(1) expected tiles of multiples of " << ChannelType::alignment << " bytes that fit a slot of " << channel << ", found " << tiles;
}

LogicalResult AcquireOp::verify() { return verifyTiles(*this, getChannel().getType(), getTiles().getTypes()); }

LogicalResult AheadOp::verify() {
  auto roles = (*this)->getParentOfType<RolesOp>();
  if (!roles || !roles.getLoad().isAncestor((*this)->getParentRegion()))
    return emitOpError("(2) expected to stand in the loading role");
  return verifyTiles(*this, getChannel().getType(), getTiles().getTypes());
}

LogicalResult ReceiveOp::verify() { return verifyTiles(*this, getChannel().getType(), getTiles().getTypes()); }

/// The loop in whose first iteration alone a branch is taken; null: there is none.
static scf::ForOp loopOf(scf::IfOp branch) {
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  auto index = compare ? dyn_cast<BlockArgument>(compare.getLhs()) : BlockArgument();
  auto loop = index ? dyn_cast<scf::ForOp>(index.getOwner()->getParentOp()) : scf::ForOp();
  APInt lower, first;
  const bool isFirst = loop && compare.getPredicate() == arith::CmpIPredicate::eq && index == loop.getInductionVar() &&
                       (compare.getRhs() == loop.getLowerBound() ||
                        (matchPattern(loop.getLowerBound(), m_ConstantInt(&lower)) && matchPattern(compare.getRhs(), m_ConstantInt(&first)) && lower == first));
  return isFirst && loop == branch->getParentOp() ? loop : scf::ForOp();
}

LogicalResult RaisedOp::verify() {
  Operation *around = (*this)->getParentOp();
  if (auto branch = dyn_cast<scf::IfOp>(around); branch && branch.thenBlock() == (*this)->getBlock())
    if (scf::ForOp loop = loopOf(branch))
      around = loop->getParentOp();
  if (!isa<LLVM::LLVMFuncOp, RolesOp>(around))
    return emitOpError("expected no loop or branch around it, but a loop's first iteration: a kernel asks once, found '") << around->getName() << "'";
  return success();
}
