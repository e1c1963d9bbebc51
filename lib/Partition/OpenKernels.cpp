//===- OpenKernels.cpp - kernels of one nest are that nest again ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Partition/Passes.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGOPENKERNELS
#include "ft/Partition/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

/// The numbers of nests into which an edge of kind `grid` leads.
static llvm::SmallDenseSet<int64_t> findWaiting(etdg::KernelOp kernel) {
  llvm::SmallDenseSet<int64_t> waiting;
  if (auto edges = kernel->getAttrOfType<ArrayAttr>(etdg::names::edges))
    for (auto edge : edges.getAsRange<etdg::EdgeAttr>())
      if (edge.getKind() == etdg::SyncKind::Grid)
        waiting.insert(edge.getTo());
  return waiting;
}

static void open(etdg::KernelOp kernel) {
  llvm::SmallDenseSet<int64_t> waiting = findWaiting(kernel);
  kernel->removeAttr(etdg::names::edges);
  Block &body = kernel.getBody().front();
  for (Operation &item : body) {
    auto number = dyn_cast_or_null<IntegerAttr>(item.removeAttr(etdg::names::number));
    if (number && waiting.contains(number.getInt()) && kernel.getShared() == 0)
      item.setAttr(etdg::names::before, StringAttr::get(kernel.getContext(), etdg::stringifySyncKind(etdg::SyncKind::Grid)));
  }
  if (!llvm::hasSingleElement(body) || kernel.getShared() > 0 || kernel.getExitAttr())
    return;
  body.front().moveBefore(kernel);
  kernel.erase();
}

namespace {
struct ETDGOpenKernels : ft::impl::ETDGOpenKernelsBase<ETDGOpenKernels> {
  using ETDGOpenKernelsBase::ETDGOpenKernelsBase;
  void runOnOperation() override {
    SmallVector<etdg::KernelOp> kernels;
    getOperation().walk([&](etdg::KernelOp kernel) {
      if (kernel->hasAttr(etdg::names::edges))
        kernels.push_back(kernel);
    });
    for (etdg::KernelOp kernel : kernels)
      open(kernel);
  }
};
} // namespace
