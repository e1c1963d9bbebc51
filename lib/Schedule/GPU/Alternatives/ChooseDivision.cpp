//===- ChooseDivision.cpp - what runs ahead of the steps of a GPU ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of each item of a graph that has divisions (etdg.divisions): as it stands, or
// with its products that do not wait ahead of it. Each form is scheduled on a
// copy, as etdg-schedule-for-gpu will schedule it, and what that wrote is priced.
//
//===----------------------------------------------------------------------===//
#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Candidates.h"
#include "ft/Schedule/GPU/Prices/KernelPrices.h"

#include "ft/Dialect/ETDG/Transforms/ApplySchedule.h"
#include "ft/Schedule/Analysis/FormGuards.h"
#include "ft/Schedule/Apply/JoinForms.h"
#include "ft/Schedule/PassOptions.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGCHOOSEDIVISIONFORGPU
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Lengths at which forms are compared, at most.
static constexpr size_t mostPoints = 32;

namespace {
/// A form of the whole graph.
struct FormPrice : KernelPrice {
  double between = 0; // bytes that its parts leave each other

  std::string describe() const {
    std::string text = llvm::formatv("{0:F0} steps and {1:F0} barriers of the grid", steps, barriers);
    return between > 0 ? text + llvm::formatv("; {0:F1} MB between them", between / 1e6).str() : text;
  }
};

/// A form of the whole graph as it would be scheduled.
class ScheduledForm {
public:
  /// Null where a GPU can't run the form, or the model has no price for it.
  static std::unique_ptr<ScheduledForm> make(etdg::GraphOp form, etdg::Between between, const GpuScheduleOptions &options);
  /// At these lengths, and typical ones of others.
  FormPrice priceAt(const Lengths &lengths);

private:
  ScheduledForm(OwningOpRef<etdg::GraphOp> scheduled, etdg::Between between, const GpuScheduleOptions &options)
      : scheduled(std::move(scheduled)), between(std::move(between)), options(options), prices(*this->scheduled, options) {}

  OwningOpRef<etdg::GraphOp> scheduled;
  etdg::Between between;
  const GpuScheduleOptions &options;
  KernelPrices prices;
};

/// A division, and the graph with it.
struct DividedForm {
  etdg::Division division;
  OwningOpRef<etdg::GraphOp> graph;
  SmallVector<Operation *> own; // the items that stand for the divided one
  std::unique_ptr<ScheduledForm> scheduled;
};

/// Decides for one graph. What is decided for an item may replace the graph's body.
class DivisionChooser {
public:
  DivisionChooser(etdg::GraphOp graph, const GpuScheduleOptions &options) : graph(graph), options(options) {}
  LogicalResult run();

private:
  void chooseFor(unsigned number);
  /// Whether an order or division was asked for, and is taken.
  bool takeRank(unsigned number, ArrayRef<etdg::Division> divisions);
  void choosePriced(unsigned number, ArrayRef<etdg::Division> divisions);
  /// The divisions that this machine can run; all prices as text.
  std::vector<DividedForm> makeForms(unsigned number, ArrayRef<etdg::Division> divisions, std::string &prices);
  /// Puts the forms that were chosen in the place of the item; what is there then, and what it costs at typical lengths.
  std::string take(Operation *item, const FormChoice &choice, ScheduledForm &whole, std::vector<DividedForm> &forms, FormPrice &usual);

  etdg::GraphOp graph;
  const GpuScheduleOptions &options;
};
} // namespace

std::unique_ptr<ScheduledForm> ScheduledForm::make(etdg::GraphOp form, etdg::Between between, const GpuScheduleOptions &options) {
  // What a form can't do is no error of the program.
  QuietForms quiet(form.getContext());
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(form->clone());
  GpuScheduleOptions trial = options;
  trial.planSeed = 0;
  if (failed(etdg::applySchedules(*copy)) || failed(scheduleForGpu(*copy, trial)))
    return nullptr;
  std::unique_ptr<ScheduledForm> made(new ScheduledForm(std::move(copy), std::move(between), options));
  return failed(made->prices.priceGraph()) ? nullptr : std::move(made);
}

FormPrice ScheduledForm::priceAt(const Lengths &lengths) {
  prices.setLengths(lengths);
  FormPrice price{*prices.priceGraph()};
  // Written once and read once, by all SMs together.
  double moved = 0;
  for (auto [buffer, all] : llvm::zip_equal(between.buffers, between.times)) {
    double times = prices.getRanges().bytesTypically(buffer);
    price.between += times;
    for (LengthAttr length : all)
      times *= prices.getRanges().typically(length);
    moved += times;
  }
  price.seconds += 2 * moved / options.getMachine().levelFor(price.between).readBytesPerSecond;
  return price;
}

/// A division as a GPU runs it: the nests inside of a loop over layers are taken by the whole grid.
static OwningOpRef<etdg::GraphOp> makeDividedForGrid(etdg::GraphOp graph, unsigned number, const etdg::Division &division,
                                                     SmallVectorImpl<Operation *> &own, etdg::Between &between) {
  OwningOpRef<etdg::GraphOp> copy = etdg::makeDivided(graph, number, division, own, between);
  if (!copy || division.apart)
    return copy;
  for (Operation *&item : own)
    if (auto around = dyn_cast<BlockOp>(item))
      if (etdg::KernelOp kernel = etdg::shareLoops(*copy, around))
        item = kernel;
  return copy;
}

bool DivisionChooser::takeRank(unsigned number, ArrayRef<etdg::Division> divisions) {
  Operation *item = etdg::getTopItems(graph)[number];
  SmallVector<etdg::ScheduleAttr> orders = getOrders(item);
  size_t numOrders = std::max<size_t>(orders.size(), 1);
  std::optional<uint64_t> rank = getRank(options.candidate, options.planSeed, numOrders + divisions.size());
  if (!rank)
    return false;
  if (*rank >= numOrders && *rank < numOrders + divisions.size()) {
    SmallVector<Operation *> own;
    etdg::Between between;
    if (OwningOpRef<etdg::GraphOp> copy = makeDividedForGrid(graph, number, divisions[*rank - numOrders], own, between)) {
      graph.getBody().takeBody(copy->getBody());
      return true;
    }
  }
  if (!orders.empty() && options.candidate >= 0)
    etdg::setSchedule(item, orders[std::min<size_t>(*rank, orders.size() - 1)]);
  return true;
}

std::vector<DividedForm> DivisionChooser::makeForms(unsigned number, ArrayRef<etdg::Division> divisions, std::string &prices) {
  std::vector<DividedForm> forms;
  for (const etdg::Division &division : divisions) {
    etdg::Between between;
    DividedForm form{division, {}, {}, nullptr};
    form.graph = makeDividedForGrid(graph, number, division, form.own, between);
    if (form.graph)
      form.scheduled = ScheduledForm::make(*form.graph, std::move(between), options);
    prices += ", " + describe(division);
    prices += form.scheduled ? llvm::formatv(" {0:e2}", form.scheduled->priceAt({}).seconds).str() : " not on this machine";
    if (form.scheduled)
      forms.push_back(std::move(form));
  }
  return forms;
}

std::string DivisionChooser::take(Operation *item, const FormChoice &choice, ScheduledForm &whole, std::vector<DividedForm> &forms,
                                  FormPrice &usual) {
  auto name = [&](unsigned form) { return form == 0 ? std::string("whole") : describe(forms[form - 1].division); };
  usual = whole.priceAt({});
  if (choice.takesSeveral()) {
    SmallVector<FormInCopy> others;
    for (DividedForm &form : forms)
      others.push_back({*form.graph, form.own});
    if (!joinForms(graph, item, others, choice))
      return "whole";
    std::string text;
    for (auto [form, guard] : llvm::zip(choice.forms, choice.guards))
      text += llvm::formatv("{0} where {1}, else ", name(form), describe(guard)).str();
    return text + name(choice.forms.back());
  }
  unsigned form = choice.forms.front();
  if (form > 0) {
    usual = forms[form - 1].scheduled->priceAt({});
    graph.getBody().takeBody(forms[form - 1].graph->getBody());
  }
  return name(form);
}

void DivisionChooser::choosePriced(unsigned number, ArrayRef<etdg::Division> divisions) {
  Operation *item = etdg::getTopItems(graph)[number];
  Location loc = item->getLoc();
  BufferNumbers numbers(graph);
  std::unique_ptr<ScheduledForm> whole = ScheduledForm::make(graph, {}, options);
  if (!whole)
    return;
  std::string prices;
  std::vector<DividedForm> forms = makeForms(number, divisions, prices);
  constexpr double percent = 100; // the share is given in
  double share = double(options.getMachine().gpu.divisionShare) / percent;
  auto priceOf = [&](unsigned form, const Lengths &lengths) {
    if (form == 0)
      return whole->priceAt(lengths).seconds;
    return forms[form - 1].scheduled->priceAt(lengths).seconds;
  };
  double wholeSeconds = whole->priceAt({}).seconds;
  FormChoice choice = chooseForms(graph, sampleLengths(graph, item, mostPoints), unsigned(forms.size()) + 1, share, priceOf);
  FormPrice usual;
  std::string chosen = take(item, choice, *whole, forms, usual);
  remark::passed(loc, remark::RemarkOpts::name("choose-division").category("gpu"))
      << remark::add("{0}: {1} (whole {2:e2}{3} s)", chosen, usual.describe(), wholeSeconds, prices);
}

void DivisionChooser::chooseFor(unsigned number) {
  Operation *item = etdg::getTopItems(graph)[number];
  SmallVector<etdg::Division> divisions = etdg::getDivisions(item);
  item->removeAttr(etdg::names::divisions);
  bool asks = options.candidate >= 0 || (options.planSeed != 0 && !divisions.empty());
  if ((!asks || !takeRank(number, divisions)) && !divisions.empty())
    choosePriced(number, divisions);
}

LogicalResult DivisionChooser::run() {
  if (failed(checkRank(graph, options.candidate, [](Operation *item) { return etdg::getDivisions(item).size(); })))
    return failure();
  // From the last one on: a divided item becomes several, and what stands before keeps its number.
  for (unsigned number = etdg::getTopItems(graph).size(); number > 0; --number)
    chooseFor(number - 1);
  return success();
}

namespace {
struct ETDGChooseDivisionForGPU : ft::impl::ETDGChooseDivisionForGPUBase<ETDGChooseDivisionForGPU> {
  using ETDGChooseDivisionForGPUBase::ETDGChooseDivisionForGPUBase;
  void runOnOperation() override {
    FailureOr<GpuScheduleOptions> options =
        readGpuOptions(getOperation().getLoc(), {target, machine, steps, int64_t(multiprocessors), uint64_t(planSeed)});
    if (failed(options))
      return signalPassFailure();
    options->candidate = candidate;
    if (!getOperation().isExternal() && failed(DivisionChooser(getOperation(), *options).run()))
      signalPassFailure();
  }
};
} // namespace
