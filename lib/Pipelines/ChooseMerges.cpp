//===- ChooseMerges.cpp - products that stay apart, by price --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass `ft-choose-merges`: what coarsening makes of a graph with each merge of
// products left out, ordered and priced on a copy.
//
//===----------------------------------------------------------------------===//
#include "PhasePasses.h"

#include "ft/Dialect/ETDG/Transforms/Passes.h"
#include "ft/Partition/Partition.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/Passes.h"
#include "ft/Support/Interrupt.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::ft {
#define GEN_PASS_DEF_FTCHOOSEMERGES
#include "ft/Pipelines/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;

namespace {
/// A graph with some merges left out.
struct MergedForm {
  std::optional<double> seconds;
  SmallVector<std::string> made; // merges of products
};

struct FTChooseMerges : ft::impl::FTChooseMergesBase<FTChooseMerges> {
  using FTChooseMergesBase::FTChooseMergesBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    OpPassManager graphs(etdg::GraphOp::getOperationName());
    addPasses(graphs);
    graphs.addPass(createETDGScheduleForGPU()); // what copies are scheduled with
    graphs.getDependentDialects(registry);
  }

  void runOnOperation() override {
    FailureOr<GpuScheduleOptions> options = readGpuOptions(getOperation().getLoc(), {target, machine, "choose", int64_t(multiprocessors), 0});
    if (failed(options))
      return signalPassFailure();
    for (auto graph : llvm::to_vector(getOperation().getOps<etdg::GraphOp>()))
      if (!graph.isExternal() && failed(choose(graph, *options)))
        return signalPassFailure();
  }

private:
  /// From before `coarsen` to after `reorder`.
  void addPasses(OpPassManager &graphs) const {
    addCoarsenApart(graphs, machine.empty() ? Machine::forTarget(target)->reference : machine.getValue(), rounding);
    graphs.addPass(etdg::createETDGReorder());
    graphs.addPass(etdg::createETDGFlattenProducts());
  }

  /// A failure where the passes were interrupted: what they can't do to a copy has no price.
  FailureOr<MergedForm> tryWithout(etdg::GraphOp graph, ArrayRef<std::string> apart, const GpuScheduleOptions &options) {
    etdg::GraphOp copy = graph.clone();
    SymbolTable symbols(getOperation());
    symbols.insert(copy); // (which renames it)
    copy->setAttr(etdg::apartName, toAttribute(&getContext(), apart));
    OpPassManager graphs(etdg::GraphOp::getOperationName());
    addPasses(graphs);
    MergedForm form;
    if (succeeded(runPipeline(graphs, copy))) {
      form.made = namesIn(copy->removeAttr(etdg::togetherName));
      form.seconds = priceOrdered(copy, options);
    }
    copy.erase();
    if (isInterrupted())
      return failure();
    return form;
  }

  LogicalResult choose(etdg::GraphOp graph, const GpuScheduleOptions &options) {
    constexpr double micro = 1e6, percent = 100; // shares are given in
    FailureOr<MergedForm> best = tryWithout(graph, {}, options);
    if (failed(best))
      return failure();
    SmallVector<std::string> apart, tried;
    if (!best->seconds || best->made.empty())
      return success();
    std::string text = llvm::formatv("all merged {0:F2} us", *best->seconds * micro).str();
    const double share = double(options.getMachine().gpu.divisionShare) / percent;
    FailureOr<MergedForm> none = tryWithout(graph, {"*"}, options);
    if (failed(none))
      return failure();
    if (none->seconds)
      text += llvm::formatv(", without any {0:F2} us", *none->seconds * micro).str();
    if (none->seconds && *none->seconds <= *best->seconds * share) {
      apart = {"*"};
      best = std::move(none);
    }
    for (unsigned count = 0; apart != SmallVector<std::string>{"*"} && count < most; ++count) {
      auto next = llvm::find_if(best->made, [&](const std::string &name) { return !llvm::is_contained(tried, name); });
      if (next == best->made.end())
        break;
      tried.push_back(*next);
      SmallVector<std::string> more = apart;
      more.push_back(tried.back());
      FailureOr<MergedForm> form = tryWithout(graph, more, options);
      if (failed(form))
        return failure();
      text += form->seconds ? llvm::formatv(", without {0} {1:F2} us", tried.back(), *form->seconds * micro).str() : ", without " + tried.back() + " no price";
      if (!form->seconds || *form->seconds > *best->seconds * share)
        continue;
      apart = std::move(more);
      best = std::move(form);
    }
    if (!apart.empty())
      graph->setAttr(etdg::apartName, toAttribute(&getContext(), apart));
    auto about = remark::RemarkOpts::name("merges").category("partition");
    (apart.empty() ? remark::missed(graph.getLoc(), about) : remark::passed(graph.getLoc(), about))
        << remark::reason("left out of what coarsening merges: {0} ({1})", apart.empty() ? "nothing" : llvm::join(apart, ", "), text);
    return success();
  }
};
} // namespace
