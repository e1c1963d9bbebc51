//===- ChooseSchedule.cpp - the candidate of least time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Of each item of a graph: the order of least estimated time, and whether its
// products that do not wait run before it (etdg.divisions). Each is tried on a
// copy and priced by the cost model of the CPU engine.
//
//===----------------------------------------------------------------------===//

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/CPU/ChooseSchedule.h"
#include "CpuChooser.h"

#include "ft/Schedule/Apply/JoinForms.h"
#include "ft/Schedule/PassOptions.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Remarks.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/Format.h"

namespace mlir::ft {
#define GEN_PASS_DEF_ETDGCHOOSESCHEDULE
#include "ft/Schedule/Passes.h.inc"
} // namespace mlir::ft

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

Price &Price::operator+=(const Price &next) {
  seconds += next.seconds;
  barriers += next.barriers;
  plans += next.plans;
  isOverBudget |= next.isOverBudget;
  text += (text.empty() ? "" : "; then ") + next.text;
  return *this;
}

FailureOr<Price> CpuChooser::price(Operation *item, etdg::ScheduleAttr schedule) {
  OpBuilder builder(item);
  Operation *copy = builder.clone(*item);
  copy->removeAttr(etdg::names::candidates);
  if (schedule)
    etdg::setSchedule(copy, schedule);
  if (!applier)
    applier = std::make_unique<etdg::ScheduleApplier>(graph, known.domains);
  FailureOr<Operation *> applied = applier->apply(copy);
  if (failed(applied))
    return failure();
  Operation *joined = joinSteps(*applied, options, /*says=*/false, known.leaves);
  // (A model of its own: it remembers blocks by their address.)
  CostModel costs(graph, options, known.leaves);
  Price price = priceIn(costs, etdg::blocksOf(joined));
  joined->erase();
  return price;
}

Price CpuChooser::priceIn(CostModel &costs, ArrayRef<BlockOp> nest) {
  auto [plan, estimate] = costs.chooseAtTop(nest);
  return Price{estimate.seconds, estimate.barriers, CostModel::describe(nest, plan, estimate), costs.numPriced(), costs.wasOverBudget()};
}

FailureOr<Price> CpuChooser::chooseOrder(Operation *item, bool says, SmallVectorImpl<Price> *ofAll) {
  SmallVector<etdg::ScheduleAttr> schedules = getOrders(item);
  if (schedules.size() < 2) {
    FailureOr<Price> one = price(item, nullptr);
    if (ofAll && succeeded(one))
      ofAll->push_back(*one);
    return one;
  }
  std::optional<size_t> best;
  Price least;
  uint64_t plans = 0;
  bool isOverBudget = false;
  std::string others;
  const CpuPlanning &planning = options.getMachine().cpu;
  for (auto [i, schedule] : llvm::enumerate(schedules)) {
    FailureOr<Price> priced = price(item, schedule);
    if (failed(priced))
      return failure();
    if (ofAll)
      ofAll->push_back(*priced);
    plans += priced->plans;
    isOverBudget |= priced->isOverBudget;
    others += llvm::formatv("{0}{1:e2}", i ? ", " : "", priced->seconds).str();
    // No barriers win unless some promise clearly less time.
    double margin = !best                                         ? 1
                    : least.barriers == 0 && priced->barriers > 0 ? planning.sureGain
                    : least.barriers > 0 && priced->barriers == 0 ? 1 / planning.sureGain
                                                                  : 1;
    // Of orders that cost the same, the program's own, the last one: its bounds are simplest.
    if (best && i + 1 == schedules.size())
      margin = std::max(margin, 1.03);
    if (!best || priced->seconds < margin * least.seconds) {
      best = i;
      least = *priced;
    }
  }
  etdg::setSchedule(item, schedules[*best]);
  if (!says)
    return least;
  remark::analysis(item->getLoc(), remark::RemarkOpts::name("plans-priced").category("cpu"))
      << remark::add("{0} plans priced for {1} orders{2}", plans, schedules.size(),
                     isOverBudget ? ": beyond the budget inner nests kept the plan that was best before"
                                  : "");
  remark::passed(item->getLoc(), remark::RemarkOpts::name("choose-schedule").category("cpu"))
      << remark::add("candidate {0} of {1}: {2} (all: {3} s)", *best + 1, schedules.size(), least.text,
                     others);
  return least;
}

//===----------------------------------------------------------------------===//
// Divisions
//===----------------------------------------------------------------------===//

FailureOr<Price> CpuChooser::priceDivided(etdg::GraphOp copy, ArrayRef<Operation *> own, const etdg::Between &between) {
  Price total;
  CpuChooser inside(copy, options, known);
  for (Operation *item : own) {
    FailureOr<Price> one = inside.chooseOrder(item, /*says=*/false);
    if (failed(one))
      return failure();
    total += *one;
  }
  CostModel costs(copy, options);
  addBetween(total, costs, between);
  return total;
}

// Written once and read once, by all threads together.
void CpuChooser::addBetween(Price &total, CostModel &costs, const etdg::Between &between) const {
  const Machine &machine = options.getMachine();
  double bytes = 0, moved = 0;
  for (auto [buffer, lengths] : llvm::zip_equal(between.buffers, between.times)) {
    double times = costs.bytesTypically(buffer);
    bytes += times;
    for (LengthAttr length : lengths)
      times *= costs.typically(length);
    moved += times;
  }
  total.seconds += 2 * moved / (machine.levelFor(bytes).rateOfUnit(costs.threads()) * costs.threads());
  total.text += llvm::formatv("; {0:F1} MB between them", bytes / 1e6).str();
}

void CpuChooser::replaceBody(etdg::GraphOp copy) {
  graph.getBody().takeBody(copy.getBody());
  applier.reset();
}

bool CpuChooser::divide(unsigned number, const etdg::Division &division) {
  SmallVector<Operation *> own;
  etdg::Between between;
  OwningOpRef<etdg::GraphOp> copy = etdg::makeDivided(graph, number, division, own, between);
  if (!copy || failed(priceDivided(*copy, own, between)))
    return false;
  replaceBody(*copy);
  return true;
}

FailureOr<std::vector<CpuChooser::Form>> CpuChooser::makeDivisions(unsigned number, ArrayRef<etdg::Division> divisions) {
  std::vector<Form> forms;
  for (const etdg::Division &division : divisions) {
    Form form;
    form.graph = etdg::makeDivided(graph, number, division, form.own, form.between);
    if (!form.graph)
      continue;
    FailureOr<Price> price = priceDivided(*form.graph, form.own, form.between);
    if (failed(price))
      return failure();
    form.price = std::move(*price);
    form.name = describe(division);
    forms.push_back(std::move(form));
  }
  return forms;
}

void CpuChooser::chooseDivision(unsigned number, MutableArrayRef<Form> divisions, const Price &whole) {
  Location loc = etdg::getTopItems(graph)[number]->getLoc();
  const Price *least = &whole;
  Form *best = nullptr;
  std::string others;
  for (Form &form : divisions) {
    others += llvm::formatv(", {0} {1:e2}", form.name, form.price.seconds).str();
    // (As among orders.)
    bool addsBarriers = least->barriers == 0 && form.price.barriers > 0;
    if (form.price.seconds < (addsBarriers ? options.getMachine().cpu.sureGain : 1) * least->seconds) {
      least = &form.price;
      best = &form;
    }
  }
  if (best)
    replaceBody(*best->graph);
  if (!others.empty())
    remark::passed(loc, remark::RemarkOpts::name("choose-division").category("cpu"))
        << remark::add("{0}: {1} (whole {2:e2}{3} s)", best ? best->name : "whole", least->text, whole.seconds, others);
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

LogicalResult CpuChooser::chooseFor(unsigned number) {
  Operation *item = etdg::getTopItems(graph)[number];
  SmallVector<etdg::ScheduleAttr> orders = getOrders(item);
  SmallVector<etdg::Division> divisions = etdg::getDivisions(item);
  item->removeAttr(etdg::names::divisions);
  // (Cores share out loops inside of one, too.)
  llvm::erase_if(divisions, [](const etdg::Division &division) { return division.apart; });
  if (orders.size() < 2 && divisions.empty())
    return success();
  // Ranks: the orders, then the divisions.
  size_t numOrders = std::max<size_t>(orders.size(), 1);
  if (auto rank = getRank(options.candidate, options.planSeed, numOrders + divisions.size())) {
    if (*rank >= numOrders && *rank < numOrders + divisions.size() && divide(number, divisions[*rank - numOrders]))
      return success();
    if (!orders.empty())
      etdg::setSchedule(item, orders[std::min<size_t>(*rank, orders.size() - 1)]);
    return success();
  }
  SmallVector<Price> ofOrders;
  FailureOr<Price> whole = chooseOrder(item, /*says=*/true, &ofOrders);
  if (failed(whole))
    return failure();
  BufferNumbers numbers(graph);
  FailureOr<std::vector<Form>> forms = makeDivisions(number, divisions);
  if (failed(forms))
    return failure();
  // Code for a call of known lengths has one form.
  if (!options.lengths.empty() || !chooseOverLengths(number, *forms, ofOrders))
    chooseDivision(number, *forms, *whole);
  return success();
}

LogicalResult CpuChooser::run() {
  if (failed(checkRank(graph, options.candidate, [](Operation *item) {
        return llvm::count_if(etdg::getDivisions(item), [](const etdg::Division &division) { return !division.apart; });
      })))
    return failure();
  // From the last one on: a divided item becomes several, and what stands before keeps its number.
  for (unsigned number = etdg::getTopItems(graph).size(); number > 0; --number)
    if (failed(chooseFor(number - 1)))
      return failure();
  return success();
}

static LogicalResult chooseAll(etdg::GraphOp graph, const CpuScheduleOptions &options) {
  return graph.isExternal() ? success() : CpuChooser(graph, options).run();
}

namespace {
struct ETDGChooseSchedule : ft::impl::ETDGChooseScheduleBase<ETDGChooseSchedule> {
  using ETDGChooseScheduleBase::ETDGChooseScheduleBase;
  void runOnOperation() override {
    FailureOr<CpuScheduleOptions> options = readCpuOptions(getOperation().getLoc(), machine, threads, lengths);
    if (failed(options))
      return signalPassFailure();
    options->candidate = candidate;
    options->planSeed = planSeed;
    if (failed(chooseAll(getOperation(), *options)))
      signalPassFailure();
  }
};
} // namespace
