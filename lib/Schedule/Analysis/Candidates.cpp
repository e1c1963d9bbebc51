//===- Candidates.cpp - among what a schedule is chosen -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Dialect/ETDG/IR/AttributeNames.h"
#include "ft/Schedule/Analysis/Candidates.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace mlir::ft;

/// More than these are not looked at, the last one excepted.
static constexpr unsigned mostCandidates = 6;

SmallVector<etdg::ScheduleAttr> schedule::getOrders(Operation *item) {
  SmallVector<etdg::ScheduleAttr> schedules;
  auto candidates = item->getAttrOfType<ArrayAttr>(etdg::names::candidates);
  if (!candidates)
    return schedules;
  for (auto [i, attr] : llvm::enumerate(candidates))
    if (auto schedule = dyn_cast<etdg::ScheduleAttr>(attr);
        schedule && (i < mostCandidates || i + 1 == candidates.size()))
      schedules.push_back(schedule);
  return schedules;
}

std::string schedule::describe(const etdg::Division &division) {
  if (division.apart)
    return "taken apart";
  std::string text = "products ahead";
  if (division.outer > 0)
    text += " inside " + std::to_string(division.outer) + (division.outer == 1 ? " loop" : " loops");
  if (division.first > 0)
    text += ", sequential dimension " + std::to_string(division.first) + " outermost";
  return text + (division.lags ? ", in step" : "");
}

std::optional<uint64_t> schedule::getRank(int64_t candidate, uint64_t planSeed, size_t count) {
  if (candidate >= 0)
    return candidate;
  if (planSeed == 0)
    return std::nullopt;
  return llvm::hash_combine(planSeed, count) % count;
}

LogicalResult schedule::checkRank(etdg::GraphOp graph, int64_t candidate, llvm::function_ref<size_t(Operation *)> countDivisions) {
  if (candidate <= 0 || llvm::range_size(graph->getBlock()->getOps<etdg::GraphOp>()) > 1)
    return success();
  size_t count = 1;
  for (Operation *item : etdg::getTopItems(graph))
    count = std::max(count, std::max<size_t>(getOrders(item).size(), 1) + countDivisions(item));
  if (uint64_t(candidate) < count)
    return success();
  InFlightDiagnostic error = graph.emitError() << "candidate: expected ";
  if (count > 1)
    error << "a rank from 0 to " << count - 1;
  else
    error << "0, the only order that this program has";
  return error << ", found " << candidate;
}
