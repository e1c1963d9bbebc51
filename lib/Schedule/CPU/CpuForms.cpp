//===- CpuForms.cpp - forms of an item for calls of other lengths ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle serves calls of any lengths. Each order and division of an item is priced
// at several lengths around typical ones; where one is clearly better at some and
// another at others, both are kept as `etdg.variants`.
//
//===----------------------------------------------------------------------===//

#include "CpuChooser.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Apply/JoinForms.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// Lengths at which forms are compared, at most: each asks the cost model for plans of each form.
static constexpr size_t mostPoints = 4;
/// Forms that are compared there, at most: those that take least time at typical lengths.
static constexpr size_t mostCompared = 3;

bool CpuChooser::apply(Form &form) {
  form.applied = cast<etdg::GraphOp>(form.graph->clone());
  etdg::ScheduleApplier ofCopy(*form.applied, known.domains);
  // (Items are numbered alike in the copy.)
  SmallVector<Operation *> items = etdg::getTopItems(*form.graph), copies = etdg::getTopItems(*form.applied);
  for (auto [item, copy] : llvm::zip_equal(items, copies)) {
    if (!llvm::is_contained(form.own, item))
      continue;
    FailureOr<Operation *> done = ofCopy.apply(copy);
    if (failed(done))
      return false;
    form.ownApplied.push_back(*done);
    form.items.push_back(JoinableItem::make(*done, options, known.leaves));
  }
  return true;
}

std::vector<CpuChooser::Form> CpuChooser::makeOrders(unsigned number, ArrayRef<Price> prices) {
  std::vector<Form> forms;
  Operation *item = etdg::getTopItems(graph)[number];
  etdg::ScheduleAttr own = etdg::scheduleOf(item);
  auto add = [&](etdg::ScheduleAttr order, const Price &price, std::string name) {
    Form form;
    form.order = order;
    form.name = std::move(name);
    form.price = price;
    forms.push_back(std::move(form));
  };
  SmallVector<etdg::ScheduleAttr> orders = getOrders(item);
  auto *chosen = llvm::find(orders, own);
  add(own, prices[chosen == orders.end() ? 0 : chosen - orders.begin()], "whole");
  for (auto [rank, order] : llvm::enumerate(orders))
    if (order != own)
      add(order, prices[rank], "order " + std::to_string(rank + 1));
  return forms;
}

void CpuChooser::makeOrder(Form &form, unsigned number) {
  form.graph = cast<etdg::GraphOp>(graph->clone());
  form.own = {etdg::getTopItems(*form.graph)[number]};
  if (form.order)
    etdg::setSchedule(form.own.front(), form.order);
  form.own.front()->removeAttr(etdg::names::candidates);
}

double CpuChooser::weigh(const Price &price) const {
  return price.barriers > 0 ? price.seconds / options.getMachine().cpu.sureGain : price.seconds;
}

FailureOr<Price> CpuChooser::priceApplied(Form &form, const Lengths &lengths) {
  CpuScheduleOptions there = options;
  there.lengths = lengths;
  CpuChooser inside(*form.applied, there, known);
  Price total;
  for (auto [item, joinable] : llvm::zip_equal(form.ownApplied, form.items)) {
    if (joinable) {
      auto [nest, costs] = joinable->at(lengths);
      total += priceIn(costs, nest);
      continue;
    }
    FailureOr<Price> one = inside.price(item, nullptr);
    if (failed(one))
      return failure();
    total += *one;
  }
  CostModel costs(*form.applied, there);
  addBetween(total, costs, form.between);
  return total;
}

double CpuChooser::priceAt(Form &form, const Lengths &lengths) {
  etdg::TypicalLengths typical(graph);
  Lengths others = lengths;
  llvm::erase_if(others, [&](auto &entry) { return entry.second == typical.get(entry.first); });
  if (others.empty())
    return weigh(form.price);
  auto *found = llvm::find_if(form.prices, [&](auto &entry) { return entry.first == others; });
  if (found != form.prices.end())
    return found->second;
  FailureOr<Price> price = priceApplied(form, others);
  double seconds = failed(price) ? std::numeric_limits<double>::infinity() : weigh(*price);
  form.prices.push_back({std::move(others), seconds});
  return seconds;
}

void CpuChooser::keepBest(SmallVectorImpl<Form *> &forms) {
  if (forms.size() <= mostCompared)
    return;
  SmallVector<std::pair<double, Form *>> others;
  for (Form *form : llvm::drop_begin(forms))
    others.push_back({weigh(form->price), form});
  llvm::stable_sort(others, llvm::less_first());
  forms.truncate(1);
  for (auto [seconds, form] : ArrayRef(others).take_front(mostCompared - 1))
    forms.push_back(form);
}

bool CpuChooser::chooseOverLengths(unsigned number, MutableArrayRef<Form> divisions, ArrayRef<Price> ofOrders) {
  Operation *item = etdg::getTopItems(graph)[number];
  std::vector<Lengths> points = sampleLengths(graph, item, mostPoints);
  if (points.size() < 2)
    return false;
  std::vector<Form> orders = makeOrders(number, ofOrders);
  SmallVector<Form *> forms;
  for (Form &form : llvm::concat<Form>(orders, divisions))
    forms.push_back(&form);
  keepBest(forms);
  for (Form *form : forms)
    if (!form->graph)
      makeOrder(*form, number);
  if (forms.size() < 2 || !llvm::all_of(forms, [&](Form *form) { return apply(*form); }))
    return false;
  FormChoice choice = chooseForms(graph, points, unsigned(forms.size()), options.getMachine().cpu.sureGain,
                                  [&](unsigned form, const Lengths &lengths) { return priceAt(*forms[form], lengths); });
  Location loc = item->getLoc();
  SmallVector<FormInCopy> others;
  for (Form *form : llvm::drop_begin(forms))
    others.push_back({*form->graph, form->own});
  if (!choice.takesSeveral() || !joinForms(graph, item, others, choice))
    return false;
  std::string text;
  for (auto [form, guard] : llvm::zip(choice.forms, choice.guards))
    text += llvm::formatv("{0} where {1}, else ", forms[form]->name, describe(guard)).str();
  remark::passed(loc, remark::RemarkOpts::name("choose-forms").category("cpu"))
      << remark::add("{0}{1}", text, forms[choice.forms.back()]->name);
  return true;
}
