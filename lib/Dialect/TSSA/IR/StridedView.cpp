//===- StridedView.cpp - where the elements of a view lie -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each step does to offset, sizes and strides.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/TSSA/IR/StridedView.h"

using namespace mlir;
using namespace mlir::tssa;

StridedView StridedView::dense(ArrayRef<int64_t> sizes) {
  StridedView view;
  view.sizes.assign(sizes.begin(), sizes.end());
  view.strides.assign(sizes.size(), 1);
  for (int64_t i = int64_t(sizes.size()) - 2; i >= 0; --i)
    view.strides[i] = view.strides[i + 1] * std::max<int64_t>(1, sizes[i + 1]);
  return view;
}

int64_t StridedView::numElements() const {
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  return count;
}

std::pair<int64_t, int64_t> mlir::tssa::clampSlice(int64_t size, int64_t from, int64_t to,
                                                   int64_t by) {
  if (from < 0)
    from += size;
  if (to < 0)
    to += size;
  from = std::clamp<int64_t>(from, 0, size);
  to = std::clamp<int64_t>(to, from, size);
  return {from, (to - from) / by + ((to - from) % by != 0)};
}

std::optional<SmallVector<int64_t, 4>>
mlir::tssa::reshapeStrides(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                           ArrayRef<int64_t> newSizes) {
  SmallVector<int64_t, 4> result(newSizes.size(), 1);
  if (llvm::is_contained(newSizes, 0) || llvm::is_contained(sizes, 0))
    return StridedView::dense(newSizes).strides;
  // Runs of dimensions that lie densely within each other, from the last: a run can be cut
  // anew in any way, and sizes of the new shape must fill each run exactly.
  int64_t next = int64_t(newSizes.size()) - 1, run = 1, base = sizes.empty() ? 1 : strides.back();
  for (int64_t d = int64_t(sizes.size()) - 1; d >= 0; --d) {
    run *= sizes[d];
    bool ends = d == 0 || (sizes[d - 1] != 1 && strides[d - 1] != run * base);
    if (!ends)
      continue;
    int64_t filled = 1;
    while (next >= 0 && (filled < run || newSizes[next] == 1)) {
      result[next] = filled * base;
      filled *= newSizes[next--];
    }
    if (filled != run)
      return std::nullopt;
    if (d > 0) {
      run = 1;
      base = strides[d - 1];
    }
  }
  for (; next >= 0; --next)
    if (newSizes[next] != 1)
      return std::nullopt;
  return result;
}

void StridedView::forEach(function_ref<void(int64_t)> visit) const {
  if (llvm::is_contained(sizes, 0))
    return;
  SmallVector<int64_t> point(sizes.size(), 0);
  int64_t at = offset;
  while (true) {
    visit(at);
    int64_t d = int64_t(sizes.size()) - 1;
    for (; d >= 0; --d) {
      at += strides[d];
      if (++point[d] < sizes[d])
        break;
      at -= sizes[d] * strides[d];
      point[d] = 0;
    }
    if (d < 0)
      return;
  }
}

bool StridedView::repeats() const {
  if (llvm::is_contained(sizes, 0))
    return false;
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    if (size > 1 && stride == 0)
      return true;
  return false;
}

bool StridedView::isInjective() const {
  if (llvm::is_contained(sizes, 0))
    return true;
  SmallVector<std::pair<int64_t, int64_t>> dims; // stride, size
  for (auto [size, stride] : llvm::zip_equal(sizes, strides))
    if (size > 1)
      dims.push_back({stride, size});
  llvm::sort(dims);
  int64_t reach = 0; // of the dimensions inside
  for (auto [stride, size] : dims) {
    if (stride <= reach)
      return false;
    reach += stride * (size - 1);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

/// "index 4 of dimension 0 is out of range: its size is 4"
static std::string outOfRange(int64_t index, int64_t dim, int64_t size) {
  return "index " + std::to_string(index) + " of dimension " + std::to_string(dim) +
         " is out of range: its size is " + std::to_string(size);
}

static std::string sizesText(ArrayRef<int64_t> sizes) {
  std::string text;
  for (int64_t size : sizes)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

static std::string applyReshape(StridedView &view, ArrayRef<int64_t> numbers) {
  SmallVector<int64_t, 4> sizes(numbers);
  int64_t known = 1, total = view.numElements();
  for (int64_t size : sizes)
    known *= size == -1 ? 1 : size;
  for (int64_t &size : sizes)
    if (size == -1)
      size = known > 0 && total % known == 0 ? total / known : 0;
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size;
  if (product != total)
    return "a tensor of sizes " + sizesText(view.sizes) + " has no view of sizes " + sizesText(sizes);
  auto strides = reshapeStrides(view.sizes, view.strides, sizes);
  if (!strides)
    return "a view of sizes " + sizesText(sizes) + " of a tensor of sizes " +
           sizesText(view.sizes) + " and strides " + sizesText(view.strides) + " needs a copy";
  view.sizes = sizes;
  view.strides = *strides;
  return "";
}

static std::string applyExpand(StridedView &view, ArrayRef<int64_t> numbers) {
  StridedView result{view.offset, {}, {}};
  int64_t extra = int64_t(numbers.size()) - int64_t(view.sizes.size());
  for (auto [i, number] : llvm::enumerate(numbers)) {
    int64_t old = int64_t(i) < extra ? 1 : view.sizes[i - extra];
    int64_t size = number == -1 ? old : number;
    bool repeats = int64_t(i) < extra || (old == 1 && size != 1);
    if (!repeats && size != old)
      return "dimension " + std::to_string(i) + " of size " + std::to_string(old) +
             " can't be repeated to size " + std::to_string(size);
    result.sizes.push_back(size);
    result.strides.push_back(repeats ? 0 : view.strides[i - extra]);
  }
  view = result;
  return "";
}

static std::string applyAsStrided(StridedView &view, ArrayRef<int64_t> numbers, int64_t storage) {
  unsigned rank = numbers.size() / 2;
  view.offset = numbers[0];
  view.sizes.assign(numbers.begin() + 1, numbers.begin() + 1 + rank);
  view.strides.assign(numbers.begin() + 1 + rank, numbers.end());
  int64_t last = view.offset;
  for (auto [size, stride] : llvm::zip_equal(view.sizes, view.strides)) {
    if (size < 0 || stride < 0)
      return "a size or stride is negative";
    last += size > 0 ? (size - 1) * stride : 0;
  }
  if (!llvm::is_contained(view.sizes, 0) && (view.offset < 0 || last >= storage))
    return "elements " + std::to_string(view.offset) + " to " + std::to_string(last) +
           " are out of range: the storage has " + std::to_string(storage);
  return "";
}

static std::string applyDiagonal(StridedView &view, ArrayRef<int64_t> numbers) {
  int64_t offset = numbers[0], first = numbers[1], second = numbers[2];
  int64_t rows = view.sizes[first], columns = view.sizes[second];
  int64_t count = std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset)
                                                   : std::min(rows + offset, columns));
  if (count > 0)
    view.offset += offset >= 0 ? offset * view.strides[second] : -offset * view.strides[first];
  int64_t stride = view.strides[first] + view.strides[second];
  for (int64_t dim : {std::max(first, second), std::min(first, second)}) {
    view.sizes.erase(view.sizes.begin() + dim);
    view.strides.erase(view.strides.begin() + dim);
  }
  view.sizes.push_back(count);
  view.strides.push_back(stride);
  return "";
}

static std::string applyRange(StridedView &view, StepKind kind, ArrayRef<int64_t> numbers) {
  int64_t dim = numbers[0], size = view.sizes[dim], stride = view.strides[dim];
  if (kind == StepKind::Select) {
    int64_t index = numbers[1] < 0 ? numbers[1] + size : numbers[1];
    if (index < 0 || index >= size)
      return outOfRange(numbers[1], dim, size);
    view.offset += index * stride;
    view.sizes.erase(view.sizes.begin() + dim);
    view.strides.erase(view.strides.begin() + dim);
    return "";
  }
  int64_t from = numbers[1], count = numbers[2], by = numbers[3];
  if (kind == StepKind::Slice) {
    std::tie(from, count) = clampSlice(size, from, numbers[2], by);
  } else if (count < 0 || from < 0 || from > size || (count > 0 && from + (count - 1) * by >= size)) {
    return std::to_string(count) + " elements from " + std::to_string(from) + " by " +
           std::to_string(by) + " in dimension " + std::to_string(dim) +
           " are out of range: its size is " + std::to_string(size);
  }
  view.offset += from * stride;
  view.sizes[dim] = count;
  view.strides[dim] = stride * by;
  return "";
}

std::string StridedView::apply(StepKind kind, ArrayRef<int64_t> numbers, int64_t storage) {
  switch (kind) {
  case StepKind::Select:
  case StepKind::Slice:
  case StepKind::Narrow:
    return applyRange(*this, kind, numbers);
  case StepKind::Permute: {
    StridedView old = *this;
    for (auto [i, dim] : llvm::enumerate(numbers)) {
      sizes[i] = old.sizes[dim];
      strides[i] = old.strides[dim];
    }
    return "";
  }
  case StepKind::Reshape:
    return applyReshape(*this, numbers);
  case StepKind::Squeeze:
    if (sizes[numbers[0]] == 1) {
      sizes.erase(sizes.begin() + numbers[0]);
      strides.erase(strides.begin() + numbers[0]);
    }
    return "";
  case StepKind::Unsqueeze: {
    int64_t dim = numbers[0];
    int64_t stride = dim < int64_t(sizes.size()) ? sizes[dim] * strides[dim] : 1;
    sizes.insert(sizes.begin() + dim, 1);
    strides.insert(strides.begin() + dim, stride);
    return "";
  }
  case StepKind::Expand:
    return applyExpand(*this, numbers);
  case StepKind::Diagonal:
    return applyDiagonal(*this, numbers);
  case StepKind::Unfold: {
    int64_t dim = numbers[0], window = numbers[1], by = numbers[2];
    if (window > sizes[dim])
      return "windows of " + std::to_string(window) + " in dimension " + std::to_string(dim) +
             " are out of range: its size is " + std::to_string(sizes[dim]);
    int64_t stride = strides[dim];
    sizes[dim] = (sizes[dim] - window) / by + 1;
    strides[dim] = stride * by;
    sizes.push_back(window);
    strides.push_back(stride);
    return "";
  }
  case StepKind::AsStrided:
    return applyAsStrided(*this, numbers, storage);
  }
  llvm_unreachable("unknown step");
}
