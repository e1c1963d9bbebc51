//===- DataMovement.cpp - Slices, reshapes and assembled tensors ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What only moves elements becomes other strides where strides can say it, and
// a copy where they cannot. A tensor that is put together from parts is put
// together in place: its parts are computed where they end up.
//
//===----------------------------------------------------------------------===//
#include "LeafGraphBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

ElementView GraphBuilder::newBuffer(Buffer::Kind kind, Type type, bool isBatched) {
  Buffer buffer;
  buffer.kind = kind;
  buffer.elementType = getElementTypeOrSelf(type);
  buffer.numElements = computeProduct(shapeOf(type));
  buffer.batched = isBatched;
  ElementView view;
  view.buffer = graph.buffers.size();
  view.strides = rowMajorStrides(shapeOf(type));
  graph.buffers.push_back(buffer);
  return view;
}

static void slice(ElementView &view, const Piece &piece) {
  for (auto [i, offset] : llvm::enumerate(piece.offsets)) {
    view.offset += offset * view.strides[i];
    view.strides[i] *= piece.steps[i];
  }
}

/// Drops the dimensions of size 1 that `shape` lacks.
static ElementView dropUnitDims(const ElementView &view, ArrayRef<int64_t> sizes, ArrayRef<int64_t> shape) {
  ElementView result = view;
  result.strides.clear();
  unsigned next = 0;
  for (auto [size, stride] : llvm::zip_equal(sizes, view.strides))
    if (next < shape.size() && size == shape[next]) {
      result.strides.push_back(stride);
      ++next;
    }
  // Dropped and kept unit dimensions are interchangeable: their stride is never used.
  result.strides.resize(shape.size(), 0);
  return result;
}

ElementView GraphBuilder::storageFor(Value value) {
  if (auto known = storages.find(value); known != storages.end())
    return known->second;
  ElementView view;
  auto destination = destinations.find(value);
  if (destination != destinations.end() &&
      batched.contains(value) == batched.contains(destination->second.whole)) {
    const Piece &piece = destination->second.piece;
    ElementView whole = storageFor(destination->second.whole);
    slice(whole, piece);
    view = dropUnitDims(whole, piece.sizes, shapeOf(value.getType()));
  } else {
    view = newBuffer(Buffer::Kind::Scratch, value.getType(), batched.contains(value));
  }
  storages[value] = view;
  return view;
}

//===----------------------------------------------------------------------===//
// Views
//===----------------------------------------------------------------------===//

std::optional<ElementView> mlir::ft::leaf::reshapeView(const ElementView &view, ArrayRef<int64_t> from,
                                                ArrayRef<int64_t> to) {
  ElementView result = view;
  result.strides.assign(to.size(), 0);
  if (view.isSplat() || computeProduct(from) == 0)
    return result;
  // Match runs of dimensions of equal product, ignoring those of size 1.
  SmallVector<int64_t> sizes, strides;
  for (auto [size, stride] : llvm::zip_equal(from, view.strides))
    if (size != 1) {
      sizes.push_back(size);
      strides.push_back(stride);
    }
  unsigned i = 0, j = 0;
  while (j < to.size()) {
    if (to[j] == 1) {
      ++j;
      continue;
    }
    unsigned iBegin = i, jBegin = j;
    int64_t left = sizes[i++], right = to[j++];
    while (left != right) {
      if (left < right)
        left *= sizes[i++];
      else
        right *= to[j++];
    }
    for (unsigned d = iBegin; d + 1 < i; ++d)
      if (strides[d] != strides[d + 1] * sizes[d + 1])
        return std::nullopt;
    int64_t stride = strides[i - 1];
    for (unsigned d = j; d > jBegin; --d) {
      result.strides[d - 1] = stride;
      stride *= to[d - 1];
    }
  }
  return result;
}

LogicalResult GraphBuilder::addReshape(Operation *op, Value source) {
  Value result = op->getResult(0);
  ElementView from = views.lookup(source);
  ArrayRef<int64_t> fromShape = shapeOf(source.getType()), toShape = shapeOf(result.getType());
  if (std::optional<ElementView> view = reshapeView(from, fromShape, toShape)) {
    views[result] = *view;
    return success();
  }
  ElementView copy = newBuffer(Buffer::Kind::Scratch, source.getType(), batched.contains(source));
  addCopy(op, from, copy, fromShape);
  views[result] = *reshapeView(copy, fromShape, toShape);
  return success();
}

/// Gives one value for all places a place: an index into them is in range or not, whatever they hold.
void GraphBuilder::placeSplat(ElementView &view, Type element) {
  auto type = RankedTensorType::get({1}, element);
  Attribute value = view.splat ? Attribute(view.splat) : Builder(element.getContext()).getZeroAttr(element);
  ElementView place = newBuffer(Buffer::Kind::Constant, type, false);
  graph.buffers.back().constant = DenseElementsAttr::get(type, value);
  view.buffer = place.buffer;
  view.offset = 0;
  view.splat = {};
  view.undefined = false;
}

/// Adds `index * stride` to where `view` begins. The index should be in [0, bound).
LogicalResult GraphBuilder::addOffset(ElementView &view, Value index, int64_t stride, int64_t bound,
                                      Operation *op) {
  if (bound <= 0)
    return op->emitError("has no element to begin at: the size leaves no index in range");
  ElementView at = readable(index, views.lookup(index));
  if (at.isSplat()) {
    int64_t value = cast<IntegerAttr>(at.splat).getInt();
    if (value < 0 || value >= bound)
      return op->emitError("index ") << value << " is out of range [0, " << bound << ")";
    view.offset += value * stride;
    return success();
  }
  if (view.isSplat())
    placeSplat(view, getElementTypeOrSelf(op->getOperand(0)));
  if (!at.terms.empty()) { // an index found by an index: keep it first
    ElementView copy = newBuffer(Buffer::Kind::Scratch, index.getType(), batched.contains(index));
    addCopy(index.getDefiningOp(), at, copy, {});
    at = copy;
  }
  view.terms.push_back({at.buffer, at.offset, stride, bound, op});
  return success();
}

/// The least place at which a slice of so many elements may no longer begin.
static int64_t boundOf(int64_t extent, int64_t size, int64_t step) {
  return size == 0 ? extent + 1 : extent - (size - 1) * step;
}

//===----------------------------------------------------------------------===//
// Assembled tensors
//===----------------------------------------------------------------------===//

bool Assembly::disjoint() const {
  for (const Piece &piece : pieces)
    if (!piece.dynamicOffsets.empty())
      return false;
  for (unsigned i = 0; i < pieces.size(); ++i)
    for (unsigned j = 0; j < i; ++j) {
      bool apart = false;
      for (unsigned d = 0; d < pieces[i].offsets.size(); ++d) {
        auto end = [&](const Piece &p) {
          return p.offsets[d] + std::max<int64_t>(p.sizes[d] - 1, 0) * p.steps[d];
        };
        apart |= end(pieces[i]) < pieces[j].offsets[d] || end(pieces[j]) < pieces[i].offsets[d];
      }
      if (!apart)
        return false;
    }
  return true;
}

static bool setOffsets(Piece &piece, ArrayRef<OpFoldResult> offsets) {
  for (auto [d, offset] : llvm::enumerate(offsets)) {
    std::optional<int64_t> constant = getConstantIntValue(offset);
    piece.offsets.push_back(constant.value_or(0));
    if (!constant)
      piece.dynamicOffsets.push_back({cast<Value>(offset), unsigned(d)});
  }
  return true;
}

static std::optional<Piece> pieceOf(tensor::InsertSliceOp op) {
  Piece piece;
  piece.source = op.getSource();
  setOffsets(piece, op.getMixedOffsets());
  for (auto [size, step] : llvm::zip_equal(op.getStaticSizes(), op.getStaticStrides())) {
    if (ShapedType::isDynamic(size) || ShapedType::isDynamic(step))
      return std::nullopt;
    piece.sizes.push_back(size);
    piece.steps.push_back(step);
  }
  return piece;
}

static bool assembles(Operation *op) {
  return isa<tensor::ConcatOp, tensor::FromElementsOp, tensor::InsertOp, tensor::InsertSliceOp,
             tensor::PadOp>(op);
}

/// What an op assembles; nothing for other ops.
std::optional<Assembly> GraphBuilder::assemblyOf(Operation *op) {
  Assembly assembly;
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0).getType());
  auto unit = [&](Value source) {
    Piece piece;
    piece.source = source;
    piece.offsets.assign(shape.size(), 0);
    piece.sizes.assign(shape.size(), 1);
    piece.steps.assign(shape.size(), 1);
    return piece;
  };
  if (auto concat = dyn_cast<tensor::ConcatOp>(op)) {
    int64_t at = 0;
    for (Value input : concat.getInputs()) {
      Piece piece = unit(input);
      piece.sizes.assign(shapeOf(input.getType()).begin(), shapeOf(input.getType()).end());
      piece.offsets[concat.getDim()] = at;
      at += piece.sizes[concat.getDim()];
      assembly.pieces.push_back(piece);
    }
    return assembly;
  }
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op)) {
    SmallVector<int64_t> strides = rowMajorStrides(shape);
    for (auto [i, element] : llvm::enumerate(elements.getElements())) {
      Piece piece = unit(element);
      for (unsigned d = 0; d < shape.size(); ++d)
        piece.offsets[d] = int64_t(i) / strides[d] % shape[d];
      assembly.pieces.push_back(piece);
    }
    return assembly;
  }
  if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
    assembly.base = insert.getDest();
    Piece piece = unit(insert.getScalar());
    piece.offsets.clear();
    setOffsets(piece, getAsOpFoldResult(insert.getIndices()));
    assembly.pieces.push_back(piece);
    return assembly;
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value value = pad.getConstantPaddingValue();
    if (!value)
      return std::nullopt;
    assembly.base = value;
    Piece piece = unit(pad.getSource());
    piece.sizes.assign(pad.getSourceType().getShape().begin(),
                       pad.getSourceType().getShape().end());
    piece.offsets.clear();
    setOffsets(piece, pad.getMixedLowPad());
    if (!piece.dynamicOffsets.empty())
      return std::nullopt;
    assembly.pieces.push_back(piece);
    return assembly;
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
    // A chain of insertions is one assembly, if nothing reads its middle.
    SmallVector<tensor::InsertSliceOp> chain;
    for (auto link = insert; link;) {
      chain.push_back(link);
      assembly.base = link.getDest();
      auto before = link.getDest().getDefiningOp<tensor::InsertSliceOp>();
      link = before && before->hasOneUse() ? before : nullptr;
    }
    for (tensor::InsertSliceOp link : llvm::reverse(chain)) {
      std::optional<Piece> piece = pieceOf(link);
      if (!piece)
        return std::nullopt;
      assembly.pieces.push_back(*piece);
      if (link != insert)
        absorbed.insert(link);
    }
    return assembly;
  }
  return std::nullopt;
}

/// Whether all that use a padded value compute on its elements, through strides of their own.
static bool isReadInPlace(tensor::PadOp op) {
  return llvm::all_of(op->getUses(), [&](OpOperand &use) {
    if (auto generic = dyn_cast<linalg::GenericOp>(use.getOwner()))
      return generic.isDpsInput(&use) && !GraphBuilder::isView(generic);
    Operation *user = use.getOwner();
    return user->getBlock() == op->getBlock() && user->getNumRegions() == 0 && OpTrait::hasElementwiseMappableTraits(user);
  });
}

/// Indices of padded values are compared as numbers of 32 bits.
static constexpr int64_t longestPadded = int64_t(1) << 30;

/// A value padded with one scalar is what it pads, with borders: no element is copied.
bool GraphBuilder::tryBorder(tensor::PadOp op) {
  TypedAttr outside;
  Value value = op.getConstantPaddingValue();
  ElementView view = views.lookup(op.getSource());
  if (!value || !matchPattern(value, m_Constant(&outside)) || !op.getLow().empty() || view.isSplat() || view.undefined ||
      view.hasBorders() || op.getSourceType().getNumElements() == 0 || !isReadInPlace(op) ||
      llvm::any_of(op.getType().getShape(), [](int64_t size) { return size > longestPadded; }))
    return false;
  unsigned rank = op.getSourceType().getRank();
  for (auto [d, low] : llvm::enumerate(op.getStaticLow())) {
    view.offset -= low * view.strides[d];
    Border border;
    border.offset = -low;
    border.size = op.getSourceType().getDimSize(d);
    border.strides.assign(rank, 0);
    border.strides[d] = 1;
    if (op.getType().getDimSize(d) != border.size || low != 0)
      view.borders.push_back(std::move(border));
  }
  view.outside = outside;
  views[op] = view;
  return true;
}

/// Decides which values are computed inside of the tensor that they end up in.
void GraphBuilder::findDestinations(Block &block) {
  // From the end, so that a chain of insertions is met at its last link.
  for (Operation &op : llvm::reverse(block)) {
    if (op.getNumResults() != 1 || absorbed.contains(&op))
      continue;
    std::optional<Assembly> assembly = assemblyOf(&op);
    if (!assembly)
      continue;
    bool fresh = !assembly->base || assembly->base.getDefiningOp<tensor::EmptyOp>();
    if (fresh && assembly->disjoint())
      for (Piece &piece : assembly->pieces) {
        Operation *producer = piece.source.getDefiningOp();
        if (producer && !storages.contains(piece.source) &&
            (!isDataMovement(producer) || assembles(producer)))
          destinations.try_emplace(piece.source, Destination{op.getResult(0), piece});
      }
    assemblies.try_emplace(&op, std::move(*assembly));
  }
}

LogicalResult GraphBuilder::addAssembly(Operation *op, const Assembly &assembly) {
  Value result = op->getResult(0);
  ArrayRef<int64_t> shape = shapeOf(result.getType());
  ElementView whole = storageFor(result);
  views[result] = whole;
  if (assembly.base) {
    ElementView base = views.lookup(assembly.base);
    if (shapeOf(assembly.base.getType()).size() != shape.size())
      base.strides.assign(shape.size(), 0);
    addCopy(op, base, whole, shape);
  }
  for (const Piece &piece : assembly.pieces) {
    ElementView part = whole;
    slice(part, piece);
    for (auto [index, dim] : piece.dynamicOffsets)
      if (failed(addOffset(part, index, whole.strides[dim],
                           boundOf(shape[dim], piece.sizes[dim], piece.steps[dim]), op)))
        return failure();
    ArrayRef<int64_t> pieceShape = shapeOf(piece.source.getType());
    addCopy(op, readable(piece.source, views.lookup(piece.source)),
            dropUnitDims(part, piece.sizes, pieceShape), pieceShape);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

bool GraphBuilder::isDataMovement(Operation *op) {
  return isa<arith::ConstantOp, tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp,
             tensor::EmptyOp, tensor::ExpandShapeOp, tensor::ExtractOp, tensor::ExtractSliceOp,
             tensor::FromElementsOp, tensor::InsertOp, tensor::InsertSliceOp, tensor::PadOp,
             tensor::ReshapeOp, tensor::SplatOp>(op);
}

LogicalResult GraphBuilder::addConstant(arith::ConstantOp op) {
  ElementView view;
  view.strides.assign(shapeOf(op.getType()).size(), 0);
  if (auto dense = dyn_cast<ElementsAttr>(op.getValue())) {
    if (dense.isSplat()) {
      view.splat = dyn_cast<TypedAttr>(dense.getSplatValue<Attribute>());
    } else {
      auto plain = dyn_cast<DenseElementsAttr>(op.getValue());
      if (!plain) {
        auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
        AsmResourceBlob *blob = resource ? resource.getRawHandle().getBlob() : nullptr;
        bool isSplat = false;
        if (!blob ||
            !DenseElementsAttr::isValidRawBuffer(dense.getShapedType(), blob->getData(), isSplat))
          return op.emitError("a constant of a leaf is a list of elements");
        plain = DenseElementsAttr::getFromRawBuffer(dense.getShapedType(), blob->getData());
      }
      view = newBuffer(Buffer::Kind::Constant, op.getType(), false);
      graph.buffers.back().constant =
          plain.reshape(RankedTensorType::get(plain.getNumElements(), plain.getElementType()));
    }
  } else {
    view.splat = dyn_cast<TypedAttr>(op.getValue());
  }
  views[op] = view;
  return success();
}

LogicalResult GraphBuilder::addDataMovement(Operation *op) {
  if (absorbed.contains(op))
    return success();
  if (auto pad = dyn_cast<tensor::PadOp>(op); pad && tryBorder(pad))
    return success();
  if (auto found = assemblies.find(op); found != assemblies.end())
    return addAssembly(op, found->second);
  auto refuse = [&]() -> LogicalResult {
    return op->emitError("the sizes and steps of a leaf's slices are constants");
  };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp constant) { return addConstant(constant); })
      .Case([&](tensor::EmptyOp empty) {
        ElementView view;
        view.undefined = true;
        view.strides.assign(empty.getType().getRank(), 0);
        views[empty] = view;
        return success();
      })
      .Case<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          [&](auto reshape) { return addReshape(op, reshape.getSrc()); })
      .Case<tensor::CastOp, tensor::ReshapeOp>(
          [&](auto reshape) { return addReshape(op, reshape.getSource()); })
      .Case([&](tensor::SplatOp splat) {
        ElementView view = readable(splat.getInput(), views.lookup(splat.getInput()));
        view.strides.assign(splat.getType().getRank(), 0);
        views[splat] = view;
        return success();
      })
      .Case([&](tensor::ExtractOp extract) -> LogicalResult {
        ElementView view = readable(extract.getTensor(), views.lookup(extract.getTensor()));
        SmallVector<int64_t> strides = std::move(view.strides);
        view.strides.clear();
        for (auto [index, stride, extent] :
             llvm::zip_equal(extract.getIndices(), strides, extract.getTensor().getType().getShape()))
          if (failed(addOffset(view, index, stride, extent, op)))
            return failure();
        views[extract] = view;
        return success();
      })
      .Case([&](tensor::ExtractSliceOp extract) -> LogicalResult {
        ElementView view = views.lookup(extract.getSource());
        SmallVector<int64_t> strides = view.strides;
        ArrayRef<int64_t> extents = extract.getSourceType().getShape();
        for (auto [d, step] : llvm::enumerate(extract.getStaticStrides())) {
          if (ShapedType::isDynamic(step) || ShapedType::isDynamic(extract.getStaticSizes()[d]))
            return refuse();
          view.strides[d] *= step;
        }
        for (auto [d, offset] : llvm::enumerate(extract.getMixedOffsets())) {
          if (std::optional<int64_t> constant = getConstantIntValue(offset)) {
            view.offset += *constant * strides[d];
            continue;
          }
          int64_t bound = boundOf(extents[d], extract.getStaticSizes()[d], extract.getStaticStrides()[d]);
          if (failed(addOffset(view, cast<Value>(offset), strides[d], bound, op)))
            return failure();
        }
        views[extract] = dropUnitDims(view, extract.getStaticSizes(), extract.getType().getShape());
        return success();
      })
      .Default([&](Operation *) { return refuse(); });
}
