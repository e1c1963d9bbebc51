//===- CpuForms.cpp - forms of an item for calls of other lengths ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle serves calls of any lengths. Each order and division of an item is priced
// at several lengths around typical ones; where one is clearly better at some and
// another at others, both are kept as `etdg.variants`.
//
//===----------------------------------------------------------------------===//

#include "CpuChooser.h"

#include "ft/Schedule/JoinForms.h"

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
  etdg::ScheduleApplier ofCopy(*form.applied);
  // (Items are numbered alike in the copy.)
  SmallVector<Operation *> items = etdg::getTopItems(*form.graph), copies = etdg::getTopItems(*form.applied);
  for (auto [item, copy] : llvm::zip_equal(items, copies)) {
    if (!llvm::is_contained(form.own, item))
      continue;
    FailureOr<Operation *> done = ofCopy.apply(copy);
    if (failed(done))
      return false;
    form.ownApplied.push_back(*done);
  }
  return true;
}

std::vector<CpuChooser::Form> CpuChooser::makeOrders(unsigned number) {
  std::vector<Form> forms;
  Operation *item = etdg::getTopItems(graph)[number];
  etdg::ScheduleAttr own = getOrder(item);
  auto add = [&](etdg::ScheduleAttr order, std::string name) {
    Form form;
    form.graph = cast<etdg::GraphOp>(graph->clone());
    form.own = {etdg::getTopItems(*form.graph)[number]};
    if (order)
      setOrder(form.own.front(), order);
    form.own.front()->removeAttr(candidatesName);
    form.name = std::move(name);
    forms.push_back(std::move(form));
  };
  add(own, "whole");
  for (auto [rank, order] : llvm::enumerate(getOrders(item)))
    if (order != own)
      add(order, "order " + std::to_string(rank + 1));
  return forms;
}

double CpuChooser::priceAt(Form &form, const Lengths &lengths) {
  CpuScheduleOptions there = options;
  there.lengths = lengths;
  FailureOr<Price> price = CpuChooser(*form.applied, there).priceDivided(*form.applied, form.ownApplied, form.between, /*chooses=*/false);
  if (failed(price))
    return std::numeric_limits<double>::infinity();
  // (As among orders.)
  return price->barriers > 0 ? price->seconds / options.getMachine().cpu.sureGain : price->seconds;
}

void CpuChooser::keepBest(SmallVectorImpl<Form *> &forms) {
  if (forms.size() <= mostCompared)
    return;
  SmallVector<std::pair<double, Form *>> others;
  for (Form *form : llvm::drop_begin(forms))
    others.push_back({priceAt(*form, {}), form});
  llvm::stable_sort(others, llvm::less_first());
  forms.truncate(1);
  for (auto [seconds, form] : ArrayRef(others).take_front(mostCompared - 1))
    forms.push_back(form);
}

bool CpuChooser::chooseOverLengths(unsigned number, MutableArrayRef<Form> divisions) {
  Operation *item = etdg::getTopItems(graph)[number];
  std::vector<Lengths> points = sampleLengths(graph, item, mostPoints);
  if (points.size() < 2)
    return false;
  std::vector<Form> orders = makeOrders(number);
  SmallVector<Form *> forms;
  for (Form &form : llvm::concat<Form>(orders, divisions))
    if (apply(form))
      forms.push_back(&form);
    else if (forms.empty())
      return false; // the first one is the item
  if (forms.size() < 2)
    return false;
  keepBest(forms);
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
    text += llvm::formatv("{0} for lengths {1}, else ", forms[form]->name, guard).str();
  remark::passed(loc, remark::RemarkOpts::name("choose-forms").category("cpu"))
      << remark::add("{0}{1}", text, forms[choice.forms.back()]->name);
  return true;
}
