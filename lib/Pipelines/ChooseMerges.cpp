//===- ChooseMerges.cpp - products that stay apart, by price --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The pass `ft-choose-merges`: what coarsening makes of a graph with each merge of
// products left out, ordered and priced on a copy.
//
//===----------------------------------------------------------------------===//
#include "PhasePasses.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
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
  std::optional<GraphPrice> price;
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
  /// From before `coarsen` to where kernels are scheduled. Products that are left alone may be cut into shares, as merged ones may not.
  void addPasses(OpPassManager &graphs) const {
    const std::string model = machine.empty() ? Machine::forTarget(target)->reference : machine.getValue();
    addCoarsenApart(graphs, model, rounding);
    graphs.addPass(etdg::createETDGReorder());
    graphs.addPass(etdg::createETDGApplySchedule());
    graphs.addPass(etdg::createETDGFlattenProducts());
    ETDGChooseCutsForGPUOptions cuts;
    cuts.target = target;
    cuts.machine = machine;
    cuts.multiprocessors = multiprocessors;
    graphs.addPass(createETDGChooseCutsForGPU(cuts));
  }

  /// A failure where the passes were interrupted: what they can't do to a copy has no price.
  FailureOr<MergedForm> tryWithout(etdg::GraphOp graph, ArrayRef<std::string> apart, const GpuScheduleOptions &options) {
    etdg::GraphOp copy = graph.clone();
    SymbolTable symbols(getOperation());
    symbols.insert(copy); // (which renames it)
    copy->setAttr(etdg::names::apart, toAttribute(&getContext(), apart));
    OpPassManager graphs(etdg::GraphOp::getOperationName());
    addPasses(graphs);
    MergedForm form;
    if (succeeded(runPipeline(graphs, copy))) {
      form.made = namesIn(copy->removeAttr(etdg::names::together));
      form.price = priceItems(copy, options);
    }
    copy.erase();
    if (isInterrupted())
      return failure();
    return form;
  }

  LogicalResult choose(etdg::GraphOp graph, const GpuScheduleOptions &options);
};
} // namespace

namespace {
/// Looks for the merges to leave out whose graph takes least time.
class MergeSearch {
public:
  using Try = std::function<FailureOr<MergedForm>(ArrayRef<std::string>)>;
  MergeSearch(Try attempt, double share, unsigned most) : attempt(std::move(attempt)), share(share), left(most) {}
  /// A failure where the passes were interrupted; false where there is nothing to choose.
  FailureOr<bool> run();

  SmallVector<std::string> apart; // "*": all
  std::string text;               // all prices

private:
  FailureOr<MergedForm> priced(ArrayRef<std::string> names, const Twine &what);
  /// Whether a form saves enough of what it does in another way.
  bool isCheaper(const MergedForm &form) const {
    const double saved = form.price ? best.price->seconds - form.price->seconds : 0;
    return saved > 0 && saved >= (1 - share) * best.price->ofItemsMissingIn(*form.price);
  }
  LogicalResult leaveOutProducts();
  LogicalResult changeEach();

  Try attempt;
  double share;
  unsigned left; // forms that may still be tried
  MergedForm best;
};
} // namespace

FailureOr<MergedForm> MergeSearch::priced(ArrayRef<std::string> names, const Twine &what) {
  constexpr double micro = 1e6;
  FailureOr<MergedForm> form = attempt(names);
  if (succeeded(form))
    text += ((text.empty() ? "" : ", ") + what + (form->price ? llvm::formatv(" {0:F2} us", form->price->seconds * micro).str() : " no price")).str();
  return form;
}

/// All merges of products: where one is left out, another one may be made, which the next round leaves out as well.
LogicalResult MergeSearch::leaveOutProducts() {
  SmallVector<std::string> names;
  MergedForm form = best;
  constexpr unsigned mostRounds = 4;
  for (unsigned round = 0; round < mostRounds && !form.made.empty(); ++round) {
    llvm::append_range(names, form.made);
    FailureOr<MergedForm> next = priced(names, "without " + Twine(names.size()) + " of products");
    if (failed(next))
      return failure();
    form = std::move(*next);
    if (isCheaper(form)) {
      best = form;
      apart = names;
    }
  }
  return success();
}

/// Merges that are made are left out one by one, or those that are left out are made again, as long as the graph becomes cheaper.
LogicalResult MergeSearch::changeEach() {
  SmallVector<std::string> names = apart.empty() ? best.made : apart, tried;
  if (names.size() < 2)
    return success();
  while (left > 0) {
    auto next = llvm::find_if(names, [&](const std::string &name) { return !llvm::is_contained(tried, name); });
    if (next == names.end())
      break;
    tried.push_back(*next);
    SmallVector<std::string> changed = apart;
    const bool isBack = llvm::is_contained(apart, tried.back());
    if (isBack)
      llvm::erase(changed, tried.back());
    else
      changed.push_back(tried.back());
    --left;
    FailureOr<MergedForm> form = priced(changed, (isBack ? "with " : "without ") + tried.back());
    if (failed(form))
      return failure();
    if (!isCheaper(*form))
      continue;
    best = std::move(*form);
    apart = std::move(changed);
    for (const std::string &made : best.made) // what was merged may be another block now
      if (!isBack && !llvm::is_contained(names, made))
        names.push_back(made);
  }
  return success();
}

FailureOr<bool> MergeSearch::run() {
  FailureOr<MergedForm> all = priced({}, "all merged");
  if (failed(all))
    return failure();
  best = std::move(*all);
  if (!best.price || best.made.empty())
    return false;
  FailureOr<MergedForm> none = priced({"*"}, "without any");
  if (failed(none) || failed(leaveOutProducts()) || failed(changeEach()))
    return failure();
  if (isCheaper(*none))
    apart = {"*"};
  return true;
}

LogicalResult FTChooseMerges::choose(etdg::GraphOp graph, const GpuScheduleOptions &options) {
  constexpr double percent = 100; // shares are given in
  MergeSearch search([&](ArrayRef<std::string> names) { return tryWithout(graph, names, options); },
                     double(options.getMachine().gpu.divisionShare) / percent, most);
  FailureOr<bool> found = search.run();
  if (failed(found) || !*found)
    return success(succeeded(found));
  if (!search.apart.empty())
    graph->setAttr(etdg::names::apart, toAttribute(&getContext(), search.apart));
  auto about = remark::RemarkOpts::name("merges").category("partition");
  (search.apart.empty() ? remark::missed(graph.getLoc(), about) : remark::passed(graph.getLoc(), about))
      << remark::reason("left out of what coarsening merges: {0} ({1})", search.apart.empty() ? "nothing" : llvm::join(search.apart, ", "), search.text);
  return success();
}
