//===- StrideGroups.cpp - which dimensions lie by a caller's strides ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "StrideGroups.h"
#include "ft/Dialect/FT/IR/AttributeNames.h"

using namespace mlir;
using namespace mlir::ft::toetdg;

static func::FuncOp functionOf(BlockArgument argument) {
  return cast<func::FuncOp>(argument.getOwner()->getParentOp());
}

StrideGroups::StrideGroups(BlockArgument argument) : argument(argument) {
  func::FuncOp function = functionOf(argument);
  unsigned number = argument.getArgNumber();
  if (auto known = function.getArgAttrOfType<ArrayAttr>(number, ft::names::strides)) {
    for (auto group : known.getAsRange<DenseI64ArrayAttr>())
      groups.emplace_back(group.asArrayRef());
    return;
  }
  if (auto count = function.getArgAttrOfType<IntegerAttr>(number, ft::names::strided))
    for (int64_t d = 0; d < count.getInt(); ++d)
      groups.push_back({d});
}

void StrideGroups::join(unsigned at) {
  // The inner one may be dense: the caller's stride says so.
  if (at + 1 == groups.size())
    groups.push_back({groups.back().back() + 1});
  groups[at].append(groups[at + 1]);
  groups.erase(groups.begin() + at + 1);
}

void StrideGroups::cut(unsigned at) {
  SmallVector<int64_t> group = groups[at];
  groups.insert(groups.begin() + at, group);
}

void StrideGroups::write() {
  func::FuncOp function = functionOf(argument);
  Builder builder(function.getContext());
  SmallVector<Attribute> all;
  for (ArrayRef<int64_t> group : groups)
    all.push_back(builder.getDenseI64ArrayAttr(group));
  function.setArgAttr(argument.getArgNumber(), ft::names::strided, builder.getI64IntegerAttr(int64_t(groups.size())));
  function.setArgAttr(argument.getArgNumber(), ft::names::strides, builder.getArrayAttr(all));
}
