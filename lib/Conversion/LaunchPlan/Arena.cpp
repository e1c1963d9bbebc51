//===- Arena.cpp - the memory of a launch plan's own buffers --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Conversion/LaunchPlan/Arena.h"

#include "ft/Conversion/LaunchPlan/Entry.h"

using namespace mlir;
using namespace mlir::ft;
namespace rt = ::ft::rt;

void Arena::add(int64_t buffer, const rt::Expr &bytes, std::optional<int64_t> slot) {
  Slot &place = slots[slot ? *slot : -1 - buffer];
  if (!llvm::is_contained(place.sizes, bytes))
    place.sizes.push_back(bytes);
  place.buffers.push_back(buffer);
}

rt::Expr Arena::place(rt::Plan &plan) const {
  SizeSum all;
  for (const auto &[number, slot] : slots) {
    rt::Expr most = slot.sizes.front();
    for (const rt::Expr &size : ArrayRef(slot.sizes).drop_front())
      most = rt::Expr::binary(rt::Expr::max, most, size);
    for (int64_t buffer : slot.buffers)
      plan.buffers[size_t(buffer)].offset = all.get();
    all.add(alignHostBytes(most));
  }
  return all.get();
}
