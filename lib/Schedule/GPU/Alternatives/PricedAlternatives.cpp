//===- PricedAlternatives.cpp - the best of several forms of a graph ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ft/Schedule/GPU/Alternatives/PricedAlternatives.h"

#include "ft/Schedule/GPU/Prices/KernelPrices.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;

PricedAlternatives::PricedAlternatives(etdg::GraphOp graph, const GpuScheduleOptions &options, Shares shares, Lengths lengths)
    : graph(graph), options(options), shares(shares), lengths(std::move(lengths)), whole(priceAsScheduled(graph, options, this->lengths)) {
  if (whole)
    limit = *whole * shares.ofWhole;
}

void PricedAlternatives::consider(int64_t number, llvm::function_ref<bool(etdg::GraphOp)> change) {
  OwningOpRef<etdg::GraphOp> copy = cast<etdg::GraphOp>(graph->clone());
  std::optional<double> seconds = change(*copy) ? priceAsScheduled(*copy, options, lengths) : std::nullopt;
  prices.emplace_back(number, seconds);
  if (!seconds || *seconds > limit)
    return;
  limit = *seconds * shares.ofBest;
  best = number;
}

std::string PricedAlternatives::describe(unsigned digits) const {
  constexpr double percent = 100; // of the time of the graph as it is
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
