//===- PricedAlternatives.cpp - the best of several forms of an item ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/GPU/Alternatives/PricedAlternatives.h"

#include "ft/Schedule/GPU/Prices/KernelPrices.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

/// A copy of a graph with one of its items alone.
static OwningOpRef<etdg::GraphOp> copyAlone(Operation *item) {
  auto graph = item->getParentOfType<etdg::GraphOp>();
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
  SmallVector<Operation *> others;
  for (auto [own, copied] : llvm::zip_equal(graph.getBody().front(), copy->getBody().front()))
    if (&own != item && isa<etdg::VariantsOp, etdg::KernelOp, etdg::NestOp, etdg::BlockOp>(own))
      others.push_back(&copied);
  for (Operation *other : others)
    other->erase();
  return copy;
}

PricedAlternatives::PricedAlternatives(Operation *item, const GpuScheduleOptions &options, Shares shares, Lengths lengths)
    : alone(copyAlone(item)), options(options), shares(shares), lengths(std::move(lengths)), whole(priceAsScheduled(*alone, options, this->lengths)) {
  if (whole)
    limit = *whole * shares.ofWhole;
}

void PricedAlternatives::consider(int64_t number, llvm::function_ref<bool(etdg::GraphOp)> change) {
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>((*alone)->clone());
  std::optional<double> seconds = change(*copy) ? priceAsScheduled(*copy, options, lengths) : std::nullopt;
  prices.emplace_back(number, seconds);
  if (!seconds || *seconds > limit)
    return;
  limit = *seconds * shares.ofBest;
  best = number;
}

std::string PricedAlternatives::describe(unsigned digits) const {
  constexpr double percent = 100; // of the time of the item as it is
  std::string text;
  llvm::raw_string_ostream out(text);
  llvm::interleave(
      prices, out,
      [&](const auto &price) {
        out << price.first << ": ";
        if (price.second)
          out << llvm::format("%.*f", int(digits), *price.second / *whole * percent);
        else
          out << "not on this machine";
      },
      ", ");
  return text;
}
