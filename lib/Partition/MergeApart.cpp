//===- MergeApart.cpp - merges but those that prices refuse ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/ProductMerges.h"
#include "ft/Machine/FindMachine.h"
#include "ft/Partition/Partition.h"
#include "ft/Partition/Passes.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGMERGEAPART
#include "ft/Partition/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

ArrayAttr ft::toAttribute(MLIRContext *context, ArrayRef<std::string> names) {
  Builder builder(context);
  return builder.getArrayAttr(llvm::map_to_vector(names, [&](const std::string &name) -> Attribute { return builder.getStringAttr(name); }));
}

SmallVector<std::string> ft::namesIn(Attribute list) {
  SmallVector<std::string> names;
  if (auto array = dyn_cast_or_null<ArrayAttr>(list))
    for (auto name : array.getAsRange<StringAttr>())
      names.push_back(name.str());
  return names;
}

namespace {
struct ETDGMergeApart : ft::impl::ETDGMergeApartBase<ETDGMergeApart> {
  using ETDGMergeApartBase::ETDGMergeApartBase;
  void runOnOperation() override {
    etdg::GraphOp graph = getOperation();
    FailureOr<MachineRef> model = findMachine(graph.getLoc(), machine, "cpu");
    if (failed(model))
      return signalPassFailure();
    etdg::ProductMerges products;
    products.apart = namesIn(graph->removeAttr(etdg::names::apart));
    etdg::mergeBlocksBut(graph, **model, products);
    if (!products.made.empty())
      graph->setAttr(etdg::names::together, toAttribute(&getContext(), products.made));
  }
};
} // namespace
