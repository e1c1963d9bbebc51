//===- LeafBody.cpp - memory that the bodies of a leaf's members read ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LeafEmitter.h"

#include "ft/Analysis/LeafGraph/NestAccesses.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::togpu;

Value LeafBody::loadCaptured(const leaf::ElementView &view) { return e.loadOne(view, e.beginOf(view, at), at); }

Value LeafBody::evaluateExtract(tensor::ExtractOp extract, const leaf::ElementView &view) {
  Code &b = e.b;
  Value offset = view.isSplat() ? b.number(0) : e.beginOf(view, at);
  for (auto [position, stride, extent] :
       llvm::zip_equal(extract.getIndices(), view.strides, extract.getTensor().getType().getShape())) {
    Value index = lookup(position);
    if (!leaf::isInRange(member, position, extent))
      index = e.checkIndex(index, extent, extract);
    if (!view.isSplat())
      offset = b.add(offset, b.mul(index, stride));
  }
  return e.loadOne(view, offset, at);
}
