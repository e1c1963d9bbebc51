//===- OutlinedProducts.cpp - One function for equal products -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that is outlined is a function, named by all that its code depends on, which
// equal products of all leaves call.
//
//===----------------------------------------------------------------------===//
#include "ContractionEmitter.h"

#include "ft/Dialect/FT/IR/AttributeNames.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

/// All that the code of a product depends on.
static std::string productKey(const Nest &nest, ArrayRef<const ElementView *> views, const Emitter &e,
                            ArrayRef<Value> strides, ArrayRef<Value> lists) {
  std::string key;
  llvm::raw_string_ostream os(key);
  const Contraction &product = *nest.contraction;
  const RegisterTile &tile = product.tile;
  llvm::interleave(nest.sizes, os, "x");
  for (ArrayRef<int> loops : {ArrayRef<int>(product.batch), ArrayRef<int>(product.m),
                              ArrayRef<int>(product.n), ArrayRef<int>(product.k)}) {
    os << ';';
    llvm::interleave(loops, os, ",");
  }
  os << (product.rowsAreM ? " rows" : "") << (tile.alongTerms ? " along-k" : "") << " tile " << product.tileLoop << ' ' << tile.rows << 'x'
     << tile.columns << 'x' << tile.vector << " rests ";
  llvm::interleave(tile.rests, os, ",");
  os << " join " << tile.join << " panel " << tile.panel << " block " << tile.block << " ahead " << tile.ahead << " line " << tile.line << " from "
     << tile.aheadRows << (tile.writtenOut ? " written-out" : "") << (product.lhsUnsigned ? " lhs-unsigned" : "") << (product.rhsUnsigned ? " rhs-unsigned" : "");
  for (auto [i, view] : llvm::enumerate(views)) {
    os << "; ";
    if (view->isSplat()) {
      os << view->splat;
      continue;
    }
    os << e.graph.buffers[view->buffer].elementType << ' ';
    llvm::interleave(view->strides, os, ",");
    for (const Border &border : view->borders) {
      os << " border " << border.offset << " of " << border.size << ' ' << view->outside << " by ";
      llvm::interleave(border.strides, os, ",");
      os << (border.columnStride ? " columns " + std::to_string(border.columnStride) : "");
    }
    os << (lists[i] ? " listed" : strides[i] ? " by row" : "");
    // Operands in one buffer share its memory in the code.
    for (auto [j, other] : llvm::enumerate(views.take_front(i)))
      if (other->buffer == view->buffer)
        os << " with " << j;
  }
  return key;
}

/// The function of a product, with an empty body, before the one that calls it.
static func::FuncOp declareProduct(ImplicitLocOpBuilder &b, func::FuncOp around, StringRef name, StringRef key, ValueRange operands) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(around);
  auto function = func::FuncOp::create(b, name, b.getFunctionType(operands.getTypes(), {}));
  function.setPrivate();
  function->setAttr(mlir::ft::names::product, b.getStringAttr(key));
  function->setAttr("llvm.linkage", LLVM::LinkageAttr::get(b.getContext(), LLVM::Linkage::Internal));
  function->setAttr("passthrough", b.getArrayAttr({b.getStringAttr("noinline")}));
  function.addEntryBlock();
  return function;
}

/// Whether the first column of a call moves a read along a border.
static bool isMovedByColumns(const Emitter &e, const Border &border) { return e.column && border.columnStride != 0; }

/// What its function is given of the borders of a product's factors: indices along them, which are constants else, and where
/// memory begins.
static void addBorderOperands(Emitter &e, ArrayRef<const ElementView *> views, const BorderPlaces &places, SmallVectorImpl<Value> &operands) {
  for (auto [view, ofOne] : llvm::zip(views, places)) {
    for (auto [border, place] : llvm::zip_equal(view->borders, ofOne))
      if (isMovedByColumns(e, border))
        operands.push_back(place);
    if (view->hasBorders())
      operands.push_back(e.addIndex(e.rowOffset(view->buffer), e.index(0)));
  }
}

/// The body of a product's function, whose arguments stand for the memory of its operands.
void Emitter::emitProductBody(Block *entry, const Nest &nest, ProductOperands of) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(entry);
  ContractionEmitter emitter(*this, nest);
  ArrayRef<const ElementView *> views(emitter.views);
  auto outerMemories = memories;
  auto outerOffsets = std::move(rowOffsets);
  auto outerFlats = std::move(rowFlats);
  rowOffsets.clear();
  rowFlats.clear();
  Value outerRow = std::exchange(row, Value()), outerRows = std::exchange(rows, entry->getArgument(0));
  unsigned next = 1;
  for (auto [i, view] : llvm::enumerate(views)) {
    if (view->isSplat())
      continue;
    (of.lists[i] ? memories[view->buffer].list : memories[view->buffer].flat) = entry->getArgument(next++);
    if (!of.lists[i])
      memories[view->buffer].list = Value();
    of.offsets[i] = entry->getArgument(next++);
    memories[view->buffer].rowStride = of.strides[i] ? entry->getArgument(next++) : Value();
  }
  if (int panel = nest.contraction->panel; panel >= 0)
    memories[panel].flat = entry->getArgument(next++);
  BorderPlaces places;
  for (auto [view, ofOne] : llvm::zip(views, places)) {
    for (const Border &border : view->borders)
      ofOne.push_back(isMovedByColumns(*this, border) ? Value(entry->getArgument(next++)) : index(border.offset));
    if (view->hasBorders())
      memories[view->buffer].base = entry->getArgument(next++);
  }
  for (auto [view, offset] : llvm::zip_equal(views, of.offsets))
    if (view->isSplat())
      offset = index(0);
  emitter.emitContraction(of.offsets, places);
  func::ReturnOp::create(b);
  memories = std::move(outerMemories);
  rowOffsets = std::move(outerOffsets);
  rowFlats = std::move(outerFlats);
  row = outerRow;
  rows = outerRows;
}

void Emitter::emitContraction(const Nest &nest) {
  ContractionEmitter emitter(*this, nest);
  ArrayRef<const ElementView *> views(emitter.views);
  ProductOperands of;
  for (const ElementView *view : views) {
    of.offsets.push_back(beginOfView(*view));
    of.lists.push_back(view->isSplat() || !nest.contraction->rowsAreM ? Value() : memories[view->buffer].list);
    of.strides.push_back(view->isSplat() ? Value() : rowStride(view->buffer));
  }
  // A row loop around would be part of the function: only rows that are m are.
  if (!nest.contraction->rowsAreM)
    of.strides.assign(views.size(), Value());
  BorderPlaces places;
  for (auto operand : {ContractionEmitter::A, ContractionEmitter::B})
    places[operand] = beginOfBorders(*views[operand]);
  if (!nest.contraction->tile.outlined)
    return emitter.emitContraction(of.offsets, places);

  SmallVector<Value> operands{rows};
  for (auto [view, offset, stride, list] : llvm::zip_equal(views, of.offsets, of.strides, of.lists)) {
    if (view->isSplat())
      continue;
    operands.append({list ? list : flat(view->buffer), offset});
    if (stride)
      operands.push_back(stride);
  }
  if (int panel = nest.contraction->panel; panel >= 0)
    operands.push_back(flat(panel));
  addBorderOperands(*this, views, places, operands);
  std::string key = productKey(nest, views, *this, of.strides, of.lists);
  auto around = cast<func::FuncOp>(rows.getParentBlock()->getParentOp());
  SymbolTable symbols(around->getParentOp());
  std::string name = "ft_product_" + llvm::utohexstr(llvm::xxh3_64bits(key), /*LowerCase=*/true);
  auto function = symbols.lookup<func::FuncOp>(name);
  if (function && function->getAttrOfType<StringAttr>(mlir::ft::names::product).getValue() != key)
    return emitter.emitContraction(of.offsets, places);
  if (!function) {
    function = declareProduct(b, around, name, key, operands);
    emitProductBody(&function.front(), nest, std::move(of));
  }
  func::CallOp::create(b, function, operands);
}
