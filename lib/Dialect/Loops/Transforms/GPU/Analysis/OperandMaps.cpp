//===- OperandMaps.cpp - operands of products as boxes of tensors ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/OperandMaps.h"

#include "ft/Dialect/Loops/Transforms/GPU/Analysis/IndexForms.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/LeafInBlock.h"
#include "ft/Dialect/Loops/Transforms/GPU/Analysis/WritesBeside.h"


#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::leaf;
using namespace mlir::ft::togpu;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The buffer that the operand lies in, and that no thread writes it meanwhile: threads and TMA are two views of memory.
std::string OperandMap::readMemory(const leaf::Buffer &buffer, const InputPlace &place) {
  auto kernel = leaf->getParentOfType<func::FuncOp>();
  auto memory = dyn_cast<BlockArgument>(place.memory);
  if (!memory || memory.getOwner() != &kernel.getBody().front())
    return "it is no memory of the call";
  if (isWrittenBeside(memory, leaf, kernel, launches))
    return "the kernel may write it";
  argument = memory.getArgNumber();
  loops::BufferOp first = bufferOf(launches.front());
  for (loops::LaunchOp launch : launches) {
    loops::BufferOp given = bufferOf(launch);
    if (given.getKind() == loops::BufferKind::Constant || given.getKind() == loops::BufferKind::Splat)
      return "it is a constant";
    if (given.getType() != first.getType() || given.getPlanes() != first.getPlanes() || given.getStrided() != first.getStrided())
      return "launches give buffers of several types";
  }
  isBatched = buffer.batched && leaf.getMost() > 1;
  element = first.getType().getElement().getElementType();
  elementNumbers = first.getType().getElement().getNumElements();
  return readDims(place, first);
}

/// A length in terms of what the kernel is given; nothing where it is not.
static std::optional<IndexForm> formOfLength(AffineExpr expr, ArrayRef<StringAttr> names, IndexForms &forms, loops::LaunchOp launch, func::FuncOp kernel) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexForm(constant.getValue());
  if (auto both = dyn_cast<AffineBinaryOpExpr>(expr)) {
    std::optional<IndexForm> left = formOfLength(both.getLHS(), names, forms, launch, kernel), right = formOfLength(both.getRHS(), names, forms, launch, kernel);
    if (!left || !right || (expr.getKind() != AffineExprKind::Add && expr.getKind() != AffineExprKind::Mul))
      return std::nullopt;
    return expr.getKind() == AffineExprKind::Add ? *left + *right : *left * *right;
  }
  auto dim = dyn_cast<AffineDimExpr>(expr);
  StringAttr name = names[dim ? dim.getPosition() : cast<AffineSymbolExpr>(expr).getPosition()];
  for (auto [given, argument] : llvm::zip_equal(launch.getArguments(), kernel.getArguments()))
    if (auto length = given.getDefiningOp<loops::LengthOp>(); length && length.getNameAttr() == name)
      return forms.formOf(argument, IndexPlace());
  return std::nullopt;
}

/// Whether a view's stride is that of the buffer, as each launch gives it.
bool OperandMap::hasStrideOf(loops::BufferOp buffer, unsigned dim, OpFoldResult stride) const {
  auto kernel = leaf->getParentOfType<func::FuncOp>();
  ArrayRef<int64_t> planes = buffer.getPlanes().value_or(ArrayRef<int64_t>());
  return llvm::all_of(launches, [&](loops::LaunchOp launch) {
    if (dim < buffer.getStrided().value_or(0)) {
      auto given = dyn_cast_if_present<BlockArgument>(dyn_cast<Value>(stride));
      bool isGiven = given && given.getOwner() == &kernel.getBody().front();
      auto asked = isGiven ? launch.getArguments()[given.getArgNumber()].getDefiningOp<loops::StrideOp>() : loops::StrideOp();
      return asked && asked.getBuffer() == bufferOf(launch).getResult() && asked.getDimension() == dim;
    }
    IndexForms forms(launch);
    std::optional<IndexForm> expected = IndexForm(elementNumbers);
    for (unsigned d = dim + 1; d < buffer.getType().getDepth() && expected; ++d) {
      LengthAttr length = buffer.getType().getLengths()[d];
      std::optional<IndexForm> factor = !planes.empty() && planes[d] != 0
                                            ? IndexForm(planes[d])
                                            : formOfLength(length.getExpr(), length.getNames(), forms, launch, kernel);
      expected = factor ? std::optional(*expected * *factor) : std::nullopt;
    }
    std::optional<IndexForm> found = forms.formOf(stride, IndexPlace());
    return expected && found && *expected == *found;
  });
}

/// An index for each dimension of the buffer. What is 0 an offset has no term of.
SmallVector<loops::ViewOp::Dim> OperandMap::dimsOf(const InputPlace &place, loops::BufferOp buffer) const {
  if (!place.isChosen)
    return place.dims;
  SmallVector<loops::ViewOp::Dim> dims;
  const loops::ViewOp::Dim *next = place.dims.begin();
  Builder b(buffer.getContext());
  for (unsigned d = 0; d < buffer.getType().getDepth(); ++d)
    if (next != place.dims.end() && hasStrideOf(buffer, d, next->stride))
      dims.push_back(*next++);
    else
      dims.push_back({b.getIndexAttr(0), OpFoldResult(), b.getIndexAttr(0)});
  return next == place.dims.end() ? dims : SmallVector<loops::ViewOp::Dim>();
}

/// The dimensions of the buffer as the view has them, then those of its element.
std::string OperandMap::readDims(const InputPlace &place, loops::BufferOp buffer) {
  SmallVector<loops::ViewOp::Dim> said = dimsOf(place, buffer);
  ArrayRef<LengthAttr> lengths = buffer.getType().getLengths();
  ArrayRef<int64_t> planes = buffer.getPlanes().value_or(ArrayRef<int64_t>());
  if (!place.isChosen && said.size() == lengths.size() + 1 && getConstantIntValue(said.back().stride) == 1) {
    loops::ViewOp::Dim last = said.pop_back_val();
    std::optional<int64_t> step = getConstantIntValue(last.step);
    if (!step)
      return "its rows move by a number that is not known";
    insideStep = isBatched ? *step : 0;
    inside = isZeroInteger(last.index) ? OpFoldResult() : last.index;
  }
  if (said.size() != lengths.size())
    return "its view does not have an index for each dimension of the buffer";
  for (auto [d, dim] : llvm::enumerate(said)) {
    if (dim.stride && !hasStrideOf(buffer, unsigned(d), dim.stride))
      return "its view has other strides than the buffer";
    std::optional<int64_t> step = getConstantIntValue(dim.step);
    if (isBatched && (!step || *step < 0 || *step > 1))
      return "its rows do not follow each other along one dimension";
    int64_t extent = !planes.empty() && planes[d] != 0 ? planes[d] : lengths[d].getConstant().value_or(-1);
    dims.push_back({dim.index, dim.stride ? getConstantIntValue(dim.stride) : strideOf(buffer, unsigned(d)), extent});
    dims.back().moves = isBatched && *step == 1;
    dims.back().buffers = int(d);
  }
  if (llvm::count_if(dims, [](const Dim &dim) { return dim.moves; }) + (insideStep != 0) > 1)
    return "its rows move along several dimensions";
  int64_t stride = elementNumbers;
  for (int64_t extent : buffer.getType().getElement().getShape()) {
    stride /= std::max<int64_t>(extent, 1);
    dims.push_back({Builder(buffer.getContext()).getIndexAttr(0), stride, extent});
  }
  return elementNumbers > 0 ? "" : "it has no elements";
}

int OperandMap::movedDim() const {
  const Dim *found = llvm::find_if(dims, [](const Dim &dim) { return dim.moves; });
  return found == dims.end() ? -1 : int(found - dims.begin());
}

/// What a dimension's stride is where inner lengths are constants.
std::optional<int64_t> OperandMap::strideOf(loops::BufferOp buffer, unsigned dim) const {
  ArrayRef<int64_t> planes = buffer.getPlanes().value_or(ArrayRef<int64_t>());
  int64_t stride = elementNumbers;
  if (dim < buffer.getStrided().value_or(0))
    return std::nullopt;
  for (unsigned d = dim + 1; d < buffer.getType().getDepth(); ++d) {
    int64_t extent = !planes.empty() && planes[d] != 0 ? planes[d] : buffer.getType().getLengths()[d].getConstant().value_or(-1);
    if (extent < 0)
      return std::nullopt;
    stride *= extent;
  }
  return stride;
}

//===----------------------------------------------------------------------===//
// Rows and columns
//===----------------------------------------------------------------------===//

/// The digits of an axis as one: neighbours lie at one distance, from the first to the last.
std::string OperandMap::readRun(const ElementView &view, const Axis &axis, LoopNumber loopOf, Run &run) const {
  run.most = axis.most;
  bool isFirst = true;
  int64_t size = 1; // of the digit before, in steps of the run
  std::optional<int64_t> before;
  for (const Axis::Digit &digit : axis.digits) {
    std::optional<int64_t> stride;
    if (digit.kind == Axis::Digit::ofRows) {
      run.hasRows = true;
      int moved = movedDim();
      if (!isBatched || (moved < 0 && insideStep == 0))
        return "all its rows are one";
      stride = insideStep ? std::optional(insideStep) : dims[size_t(moved)].stride;
    } else {
      int own = digit.loop < 0 ? -1 : loopOf(digit.loop);
      if (digit.kind != Axis::Digit::ofColumns && digit.size == 1)
        continue;
      stride = own < 0 ? 0 : view.strides[size_t(own)];
      run.hasColumns |= digit.kind == Axis::Digit::ofColumns;
      if (*stride <= 0)
        return "it is the same along one of the matrix's axes, or goes backwards";
    }
    size = digit.size;
    if (!isFirst && (!before || !stride || *before != *stride * size))
      return "one of the matrix's axes is several runs of memory";
    before = run.stride = stride;
    isFirst = false;
  }
  if (isFirst)
    return "it has one row or one column";
  if (run.hasColumns)
    for (const Axis::Digit &digit : ArrayRef(axis.digits).drop_front())
      run.columnsRatio *= digit.size;
  return "";
}

/// Divides what is added to the view among the dimensions, the slowest first.
std::string OperandMap::addOffset(int64_t offset) {
  for (Dim &dim : dims) {
    if (!dim.stride || *dim.stride <= 0 || dim.extent == 1)
      continue;
    dim.first += offset / *dim.stride;
    offset %= *dim.stride;
  }
  return offset == 0 ? "" : "it begins between the elements of the buffer";
}

std::string OperandMap::addBatch(const ElementView &view, LoopNumber loopOf, ArrayRef<int> batch) {
  for (auto [i, loop] : llvm::enumerate(batch)) {
    int own = loopOf(loop);
    int64_t stride = own < 0 ? 0 : view.strides[size_t(own)];
    if (stride == 0)
      continue;
    Dim *along = nullptr;
    for (Dim &dim : dims)
      if (dim.stride == stride && dim.extent != 1)
        along = &dim;
    if (!along)
      return "products side by side lie along no dimension of the buffer";
    along->batch.push_back(unsigned(i));
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Dimensions of the tensor
//===----------------------------------------------------------------------===//

int64_t OperandMap::extentOf(const Group &group) const {
  int64_t extent = 1;
  for (unsigned d = group.first; d <= group.last; ++d) {
    if (dims[d].extent < 0)
      return -1;
    extent *= dims[d].extent;
  }
  return extent;
}

int64_t OperandMap::ratioOf(const Group &group, unsigned dim) const {
  int64_t ratio = 1;
  for (unsigned d = dim + 1; d <= group.last; ++d)
    ratio *= dims[d].extent;
  return ratio;
}

/// Takes slower dimensions into a group until a run fits, or all that follow without gaps.
std::string OperandMap::merge(Group &group, const Run &run, bool all) const {
  int moved = run.hasRows ? movedDim() : -1;
  auto isEnough = [&] {
    int64_t extent = extentOf(group);
    return !all && (moved < 0 || unsigned(moved) >= group.first) && (extent < 0 || extent >= run.most || unsigned(moved) == group.first);
  };
  while (!isEnough() && group.first > 0) {
    const Dim &next = dims[group.first - 1];
    int64_t extent = extentOf(group);
    bool follows = next.stride && dims[group.last].stride && extent >= 0 && *next.stride == *dims[group.last].stride * extent;
    if (!follows && !(next.extent == 1 && all))
      break;
    --group.first;
  }
  int64_t extent = extentOf(group);
  bool fits = (moved < 0 || unsigned(moved) >= group.first) && (extent < 0 || extent >= run.most || moved >= 0);
  return fits ? "" : "one of the matrix's axes goes over dimensions with gaps in between";
}

std::string OperandMap::groupDims(const MapRequest &request) {
  // Dimensions of one element say nothing.
  for (unsigned d = unsigned(dims.size()); d-- > 0;)
    if (dims[d].extent == 1 && !dims[d].moves && dims[d].batch.empty())
      dims.erase(dims.begin() + d);
  if (dims.empty() || dims.back().stride != 1 || columns.stride != 1)
    return "its columns are not neighbours in memory";
  unsigned inner = unsigned(dims.size());
  for (unsigned d = 0; d < dims.size(); ++d)
    if (rows.stride ? dims[d].stride == rows.stride : dims[d].moves)
      inner = d;
  if (inner + 1 >= dims.size())
    return "no dimension of the buffer has the distance of its rows";
  Group ofRows{inner, inner}, ofColumns{unsigned(dims.size()) - 1, unsigned(dims.size()) - 1};
  if (std::string why = merge(ofColumns, columns, /*all=*/false); !why.empty())
    return why;
  if (std::string why = merge(ofRows, rows, /*all=*/bool(inside)); !why.empty())
    return why;
  if (ofRows.last >= ofColumns.first)
    return "its rows overlap in memory";
  ofRows.box = request.rows;
  ofColumns.box = request.columns;
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (d == ofRows.first) {
      rowGroup = unsigned(groups.size());
      groups.push_back(ofRows);
      d = ofRows.last;
    } else if (d == ofColumns.first) {
      columnGroup = unsigned(groups.size());
      groups.push_back(ofColumns);
      d = ofColumns.last;
    } else if (!isZeroInteger(dims[d].index) || dims[d].first != 0 || dims[d].moves || !dims[d].batch.empty() || (inside && dims[d].buffers < 0)) {
      groups.push_back({d, d});
    }
  }
  if (groups.size() > size_t(tile::mostMapDims))
    return "its place has more than five dimensions";
  return "";
}

/// Whether rows are elements of the buffer. Then an index inside of an element has a digit in each of the element's dimensions, since all that
/// is read of an element lies in it.
bool OperandMap::canSplitInside() const {
  const Dim &row = dims[groups[rowGroup].last];
  return insideStep == 0 && row.buffers >= 0 && row.stride == elementNumbers;
}

/// Another index inside of an element must be whole rows: nothing else is known of it.
std::string OperandMap::checkInside() {
  splitsInside = inside && canSplitInside();
  if (!inside || splitsInside)
    return "";
  const Dim &row = dims[groups[rowGroup].last];
  IndexForms forms(launches);
  std::optional<IndexForm> form = forms.formOf(inside, IndexPlace());
  if (!row.stride || !form || !form->isMultipleOf(*row.stride))
    return "it begins inside of an element at a number that is not known to be a multiple of its rows";
  for (auto [g, group] : llvm::enumerate(groups))
    if (g != rowGroup && g != columnGroup && dims[group.last].stride && *dims[group.last].stride > *row.stride)
      return "it begins inside of an element that has more dimensions than its matrix";
  return "";
}

/// Whether the first index of a group is a constant, and which.
bool OperandMap::isConstant(const Group &group, int64_t &first) {
  first = 0;
  bool isRows = &group == &groups[rowGroup];
  if (inside && (isRows || splitsInside))
    return false;
  for (unsigned d = group.first; d <= group.last; ++d) {
    std::optional<int64_t> index = getConstantIntValue(dims[d].index);
    bool movesByCall = dims[d].moves && !rows.hasRows && !columns.hasRows;
    if (!index || !dims[d].batch.empty() || movesByCall)
      return false;
    first += (*index + dims[d].first) * ratioOf(group, d);
  }
  return !(isRows ? rows.hasColumns : columns.hasColumns) || !leaf.getColumn();
}

/// Lets the tensor end where the terms do, so that what a last step lacks is zeros; checks what else lies in a row.
std::string OperandMap::cutTerms(const MapRequest &request) {
  for (auto [axis, number, run] : {std::tuple(MapRequest::Terms::rows, rowGroup, &rows), {MapRequest::Terms::columns, columnGroup, &columns}}) {
    Group &group = groups[number];
    int64_t first = 0, extent = extentOf(group);
    bool isKnown = isConstant(group, first);
    if (isKnown && extent >= 0 && !run->hasRows && first + run->most > extent)
      return "it goes on after the end of a row";
    if (request.terms != axis || run->most % request.step == 0)
      continue;
    if (!isKnown)
      return "its last step has no whole number of terms, and where they begin is not known";
    group.extent = first + run->most;
  }
  return "";
}

std::string OperandMap::checkStrides() const {
  int64_t bytes = element.getIntOrFloatBitWidth() / 8;
  for (auto [g, group] : llvm::enumerate(groups)) {
    // (Strides of callers are multiples of what an element has, and so are those that lengths decide.)
    int64_t stride = dims[group.last].stride.value_or(elementNumbers) * bytes;
    if (g != columnGroup && stride % tile::accessBytes != 0)
      return "a distance of " + std::to_string(stride) + " bytes is no multiple of " + std::to_string(tile::accessBytes);
  }
  return "";
}

std::string OperandMap::read(const ElementView &view, const InputPlace &place, const Axis &rowAxis, const Axis &columnAxis, LoopNumber loopOf,
                             ArrayRef<int> batch, const MapRequest &request) {
  if (view.isSplat() || !view.terms.empty())
    return "it is gathered, or no memory";
  if (view.hasBorders())
    return "it is read beyond a border";
  if (liftOf(leaf).count > 1)
    return "the leaf computes several iterations at once";
  swizzle = request.swizzle;
  std::string why = readMemory(graph.buffers[size_t(view.buffer)], place);
  auto then = [&](llvm::function_ref<std::string()> next) {
    if (why.empty())
      why = next();
  };
  then([&] { return readRun(view, rowAxis, loopOf, rows); });
  then([&] { return readRun(view, columnAxis, loopOf, columns); });
  then([&] { return addOffset(view.offset); });
  then([&] { return addBatch(view, loopOf, batch); });
  then([&] { return groupDims(request); });
  then([&] { return checkInside(); });
  then([&] { return cutTerms(request); });
  then([&] { return checkStrides(); });
  then([&]() -> std::string {
    SmallVector<int64_t> box = llvm::map_to_vector(groups, [](const Group &group) { return group.box; });
    return tile::describeWrongMap(box, element, swizzle);
  });
  return why;
}

tile::TensorMapType OperandMap::getType() const {
  SmallVector<int64_t> box = llvm::map_to_vector(groups, [](const Group &group) { return group.box; });
  return tile::TensorMapType::get(element.getContext(), box, element, swizzle);
}
