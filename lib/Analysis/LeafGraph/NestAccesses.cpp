//===- NestAccesses.cpp - what emitters ask of a nest ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Analysis/LeafGraph/NestAccesses.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::ft::leaf;

/// Two loops that every access walks as if they were one become one.
void mlir::ft::leaf::collapseLoops(Nest &nest, int *kept) {
  SmallVector<bool> pinned(nest.sizes.size());
  if (kept)
    pinned[*kept] = true;
  for (const NestMember &member : nest.members)
    if (member.body)
      for (auto index : member.body->getOps<linalg::IndexOp>())
        if (int loop = member.loops[index.getDim()]; loop >= 0)
          pinned[loop] = true;
  auto forViews = [&](auto callback) {
    for (NestMember &member : nest.members)
      for (auto *views : {&member.reads, &member.inits, &member.writes})
        for (ElementView &view : *views)
          callback(view);
  };
  auto erase = [](auto &list, unsigned i) { list.erase(list.begin() + i); };
  for (unsigned outer = 0; outer < nest.sizes.size();) {
    int with = -1;
    for (unsigned inner = 0; inner < nest.sizes.size() && with < 0; ++inner) {
      bool merges = inner != outer && !pinned[inner] && !pinned[outer] &&
                    nest.reduced[inner] == nest.reduced[outer];
      forViews([&](ElementView &view) {
        if (!view.isSplat())
          view.forEachStrides([&](SmallVectorImpl<int64_t> &strides) {
            merges &= strides[outer] == strides[inner] * nest.sizes[inner];
          });
      });
      if (merges)
        with = inner;
    }
    if (with < 0) {
      ++outer;
      continue;
    }
    nest.sizes[with] *= nest.sizes[outer];
    erase(nest.sizes, outer);
    erase(nest.reduced, outer);
    erase(pinned, outer);
    if (kept && *kept > int(outer))
      --*kept;
    forViews([&](ElementView &view) { view.forEachStrides([&](SmallVectorImpl<int64_t> &strides) { erase(strides, outer); }); });
    for (NestMember &member : nest.members)
      for (int &loop : member.loops)
        loop = loop == int(outer) ? -1 : loop > int(outer) ? loop - 1 : loop;
    outer = 0;
  }
}

void mlir::ft::leaf::forEachAccess(const Nest &nest, llvm::function_ref<void(const ElementView &, bool)> access) {
  for (const NestMember &member : nest.members) {
    for (const ElementView &view : member.reads)
      access(view, false);
    for (const ElementView &view : member.inits)
      access(view, false);
    for (const ElementView &view : member.writes)
      access(view, true);
  }
}

SmallVector<std::pair<NestMember *, unsigned>> mlir::ft::leaf::getReductions(Nest &nest) {
  SmallVector<std::pair<NestMember *, unsigned>> result;
  for (NestMember &member : nest.members)
    for (unsigned i = 0; i < member.accumulators.size(); ++i)
      result.push_back({&member, i});
  return result;
}

void mlir::ft::leaf::allowContraction(Operation *op) {
  auto fast = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!fast || !isa<arith::AddFOp, arith::MulFOp, arith::SubFOp>(op))
    return;
  arith::FastMathFlags flags = fast.getFastMathFlagsAttr().getValue();
  op->setAttr(
      fast.getFastMathAttrName(),
      arith::FastMathFlagsAttr::get(op->getContext(), flags | arith::FastMathFlags::contract));
}
