//===- Prices.cpp - what a kernel of several nests costs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Prices.h"

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Dialect/ETDG/Transforms/ApplySchedule.h"
#include "ft/Partition/Partition.h"
#include "ft/Schedule/GPU/Plan/GpuPlanner.h"
#include "ft/Schedule/GPU/Plan/ScheduleForGpu.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::partition;
using namespace mlir::ft::schedule;

/// The operations beside items that these use, in the order in which they do.
static llvm::SetVector<Operation *> findUsed(ArrayRef<Operation *> items) {
  llvm::SetVector<Operation *> used;
  for (Operation *item : items)
    item->walk([&](Operation *op) {
      for (Value operand : op->getOperands())
        if (Operation *definition = operand.getDefiningOp(); definition && definition->getBlock() == item->getBlock())
          used.insert(definition);
    });
  return used;
}

SmallVector<Operation *> Prices::membersOf(const Group &group) const {
  return llvm::map_to_vector<6>(group, [&](unsigned number) { return items[number]; });
}

OwningOpRef<etdg::GraphOp> Prices::extract(const Group &group) {
  SmallVector<Operation *> members = membersOf(group), all = members;
  all.push_back(graph.getBody().front().getTerminator());
  llvm::SetVector<Operation *> used = findUsed(all);
  used.insert(all.begin(), all.end());
  IRMapping mapping;
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->cloneWithoutRegions());
  Block &from = graph.getBody().front(), &to = copy->getBody().emplaceBlock();
  for (BlockArgument argument : from.getArguments())
    mapping.map(argument, to.addArgument(argument.getType(), argument.getLoc()));
  OpBuilder builder = OpBuilder::atBlockEnd(&to);
  for (Operation &op : from)
    if (used.contains(&op))
      builder.clone(op, mapping);
  Items own(*copy);
  Group inOrder;
  for (Operation *member : members)
    for (unsigned n = 0; n < own.size(); ++n)
      if (own[n] == mapping.lookup(member))
        inOrder.push_back(n);
  if (group.size() > 1)
    formKernels(*copy, own, {inOrder});
  (*copy)->setAttr(etdg::names::partitioned, StringAttr::get(graph.getContext(), "group"));
  return succeeded(etdg::applySchedules(*copy)) ? std::move(copy) : nullptr;
}

/// A text in which each name is the number with which it comes.
static std::string withNumbers(StringRef text) {
  std::string out;
  llvm::StringMap<unsigned> numbers;
  for (size_t at = 0; at < text.size();) {
    if (text[at] != '%' && text[at] != '@') {
      out += text[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() && (llvm::isAlnum(text[end]) || StringRef("_$.-#").contains(text[end])))
      ++end;
    // (A block's name stands in one place.)
    if (text[at] == '%')
      out += "%" + std::to_string(numbers.try_emplace(text.slice(at, end), numbers.size()).first->second);
    at = end;
  }
  return out;
}

double GraphPrice::ofItemsMissingIn(const GraphPrice &other) const {
  std::multimap<std::string, double> left = other.items;
  double missing = 0;
  for (const auto &[text, price] : items) {
    if (auto same = left.find(text); same != left.end())
      left.erase(same);
    else
      missing += price;
  }
  return missing;
}

std::optional<GraphPrice> ft::priceItems(etdg::GraphOp graph, const GpuScheduleOptions &options) {
  QuietForms quiet(graph.getContext());
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
  GpuScheduleOptions trial = options;
  trial.planSeed = 0;
  if (failed(scheduleForGpu(*copy, trial)))
    return std::nullopt;
  KernelPrices prices(*copy, trial);
  FailureOr<KernelPrice> all = prices.priceGraph();
  if (failed(all))
    return std::nullopt;
  GraphPrice price{all->seconds, {}};
  AsmState names(*copy);
  for (Operation &item : copy->getBody().front())
    if (isa<etdg::VariantsOp, etdg::KernelOp, etdg::NestOp, etdg::BlockOp>(item)) {
      std::string text;
      llvm::raw_string_ostream stream(text);
      item.print(stream, names);
      price.items.emplace(withNumbers(text), prices.priceItem(item)->seconds);
    }
  return price;
}

std::string Prices::keyOf(const Group &group) {
  if (texts.empty()) {
    // (Names of the whole graph are found once.)
    AsmState names(graph);
    for (Operation &op : graph.getBody().front()) {
      llvm::raw_string_ostream stream(texts[&op]);
      op.print(stream, names);
    }
  }
  std::string text;
  SmallVector<Operation *> members = membersOf(group);
  for (Operation *member : members)
    text += texts[member] + "\n";
  for (Operation *definition : findUsed(members))
    text += texts[definition] + "\n";
  return withNumbers(text);
}

std::optional<KernelPrice> Prices::of(const Group &group) {
  auto [place, isNew] = ofNumbers.try_emplace(std::vector<unsigned>(group.begin(), group.end()));
  if (!isNew)
    return place->second;
  auto [entry, isUnknown] = known.try_emplace(keyOf(group));
  if (!isUnknown)
    return place->second = entry->second;
  if (known.size() > budget) {
    known.erase(entry);
    return std::nullopt;
  }
  // What a form can't do is no error of the program.
  QuietForms quiet(graph.getContext());
  OwningOpRef<etdg::GraphOp> copy = extract(group);
  GpuScheduleOptions trial = options;
  trial.planSeed = 0;
  if (!copy || failed(scheduleForGpu(*copy, trial)))
    return std::nullopt;
  KernelPrices prices(*copy, trial);
  KernelPrice all;
  for (Operation &op : copy->getBody().front()) {
    if (!isa<etdg::VariantsOp, etdg::KernelOp, etdg::NestOp, etdg::BlockOp>(op))
      continue;
    FailureOr<KernelPrice> one = prices.priceItem(op);
    if (failed(one))
      return std::nullopt;
    all.seconds += one->seconds;
    all.tasks = std::max(all.tasks, one->tasks);
    all.registers = std::max(all.registers, one->registers);
    all.shared = std::max(all.shared, one->shared);
    all.barriers += one->barriers;
    all.steps += one->steps;
    all.products += one->products;
  }
  return place->second = entry->second = all;
}

std::optional<double> Prices::ofAll(ArrayRef<Group> groups) {
  double all = 0;
  for (const Group &group : groups) {
    std::optional<KernelPrice> one = of(group);
    if (!one)
      return std::nullopt;
    all += one->seconds;
  }
  return all;
}

std::optional<SmallVector<Group>> Prices::joinShort() {
  QuietForms quiet(graph.getContext());
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
  if (failed(etdg::applySchedules(*copy)))
    return std::nullopt;
  // (What the orders replaced stands where it stood.)
  unsigned number = 0;
  for (Operation &op : copy->getBody().front())
    if (isa<etdg::VariantsOp, etdg::KernelOp, etdg::NestOp, etdg::BlockOp>(op))
      op.setAttr(etdg::names::number, IntegerAttr::get(IntegerType::get(graph.getContext(), 64), number++));
  GpuPlanner planner(options);
  if (number != items.size() || failed(planner.joinShortNests(copy->getBody().front())))
    return std::nullopt;
  SmallVector<Group> groups;
  auto numberOf = [](Operation &op) { return unsigned(op.getAttrOfType<IntegerAttr>(etdg::names::number).getInt()); };
  for (Operation &op : copy->getBody().front()) {
    auto kernel = dyn_cast<etdg::KernelOp>(op);
    if (op.hasAttr(etdg::names::number))
      groups.push_back({numberOf(op)});
    else if (kernel)
      groups.push_back(llvm::map_to_vector<6>(kernel.getBody().front(), numberOf));
  }
  return groups;
}
