//===- FormGuards.cpp - lengths that decide between two forms -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ft/Schedule/FormGuards.h"

#include "ft/Analysis/Extents.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::schedule;
using etdg::BlockOp;

/// Of a length of which nobody says what is typical: from the `farApart`th part to as many times what stands for it, by
/// steps of `apart`. That is a decode of a few tokens beside a prompt of thousands.
static constexpr int64_t farApart = 16, apart = 4;
/// Points at most: where all combinations are more, lengths keep their least and greatest values; further lengths stay as they are.
static constexpr size_t mostPoints = 32;

//===----------------------------------------------------------------------===//
// At which lengths
//===----------------------------------------------------------------------===//

static SmallVector<StringAttr> namesOf(Operation *item) {
  llvm::SetVector<StringAttr> names;
  item->walk([&](BlockOp block) {
    for (StringAttr name : block.getSymbolNames())
      names.insert(name);
  });
  return names.takeVector();
}

/// What `ft.typical` says, [least, greatest].
static std::optional<std::pair<int64_t, int64_t>> typicalRange(etdg::GraphOp graph, StringAttr name) {
  auto ranges = graph->getAttrOfType<DictionaryAttr>("ft.typical");
  auto range = ranges ? dyn_cast_or_null<ArrayAttr>(ranges.get(name)) : ArrayAttr();
  if (!range || range.size() != 2 || !llvm::all_of(range, llvm::IsaPred<IntegerAttr>))
    return std::nullopt;
  return std::pair(cast<IntegerAttr>(range[0]).getInt(), cast<IntegerAttr>(range[1]).getInt());
}

static SmallVector<int64_t> valuesOf(etdg::GraphOp graph, StringAttr name, int64_t typical) {
  std::pair<int64_t, int64_t> bounds(1, std::numeric_limits<int64_t>::max());
  for (auto assume : graph.getBody().getOps<etdg::AssumeOp>())
    if (assume.getLengthAttr() == name) {
      if (!assume.getTypical().empty())
        return llvm::to_vector(assume.getTypical());
      bounds = {std::max<int64_t>(assume.getLo(), 1), assume.getHi()};
    }
  llvm::SetVector<int64_t> values;
  auto add = [&](int64_t value) { values.insert(std::clamp(value, bounds.first, std::max(bounds.first, bounds.second))); };
  if (auto range = typicalRange(graph, name)) {
    for (int64_t value : {range->first, typical, range->second})
      add(value);
  } else {
    typical = std::max<int64_t>(typical, 1);
    for (int64_t part = farApart; part >= 1; part /= apart)
      add(typical / part);
    for (int64_t times = apart; times <= farApart; times *= apart)
      add(typical * times);
  }
  return values.takeVector();
}

std::vector<Lengths> schedule::sampleLengths(etdg::GraphOp graph, Operation *item) {
  etdg::TypicalLengths typical(graph);
  llvm::MapVector<StringAttr, SmallVector<int64_t>> values;
  size_t all = 1;
  for (StringAttr name : namesOf(item)) {
    values[name] = valuesOf(graph, name, typical.get(name));
    all *= values[name].size();
  }
  std::vector<Lengths> points(1);
  for (auto &[name, some] : values) {
    if (all > mostPoints && some.size() > 2)
      some = {some.front(), some.back()};
    if (points.size() * some.size() > mostPoints)
      some = {typical.get(name)};
    std::vector<Lengths> longer;
    for (const Lengths &point : points)
      for (int64_t value : some) {
        longer.push_back(point);
        longer.back().push_back({name, value});
      }
    points = std::move(longer);
  }
  return points;
}

//===----------------------------------------------------------------------===//
// By which guard
//===----------------------------------------------------------------------===//

namespace {
/// One length cuts the points: those where it has less than `limit`, and the others.
struct Cut {
  StringAttr name;
  int64_t below = 0, limit = 0; // sampled values on either side
  bool isFirstBelow = true;
  double loss = 0; // sum of logarithms of the seconds
  /// On either side, sums of logarithms of what the form that is taken there promises of the other's time, and numbers of points.
  double gains[2] = {0, 0};
  unsigned counts[2] = {0, 0};

  bool isWorth(double share) const {
    return counts[0] > 0 && counts[1] > 0 && gains[0] <= counts[0] * std::log(share) && gains[1] <= counts[1] * std::log(share);
  }
};
} // namespace

static std::optional<int64_t> valueOf(const Lengths &point, StringAttr name) {
  for (auto [other, value] : point)
    if (other == name)
      return value;
  return std::nullopt;
}

static void weigh(Cut &cut, ArrayRef<Lengths> points, ArrayRef<TwoPrices> prices) {
  for (auto [point, price] : llvm::zip_equal(points, prices)) {
    bool isFirst = (*valueOf(point, cut.name) < cut.limit) == cut.isFirstBelow;
    double own = std::log(isFirst ? price.first : price.second), other = std::log(isFirst ? price.second : price.first);
    cut.loss += own;
    cut.gains[isFirst] += own - other;
    ++cut.counts[isFirst];
  }
}

/// The one that loses least.
static std::optional<Cut> findCut(ArrayRef<Lengths> points, ArrayRef<TwoPrices> prices) {
  std::optional<Cut> best;
  for (auto [name, first] : points.front()) {
    SmallVector<int64_t> values;
    for (const Lengths &point : points)
      values.push_back(*valueOf(point, name));
    llvm::sort(values);
    values.erase(llvm::unique(values), values.end());
    for (auto [below, limit] : llvm::zip(values, ArrayRef(values).drop_front()))
      for (bool isFirstBelow : {true, false}) {
        Cut cut{name, below, limit, isFirstBelow};
        weigh(cut, points, prices);
        if (!best || cut.loss < best->loss)
          best = cut;
      }
  }
  return best;
}

/// Where the two forms' times cross between the values of a cut, other lengths being typical.
static int64_t findLimit(const Cut &cut, Lengths point, llvm::function_ref<TwoPrices(const Lengths &)> price) {
  int64_t below = cut.below, limit = cut.limit;
  constexpr int64_t close = 8; // an eighth of the length is near enough: prices are no better
  while (limit - below > std::max<int64_t>(below / close, 1)) {
    int64_t middle = std::clamp<int64_t>(std::llround(std::sqrt(double(below) * double(limit))), below + 1, limit - 1);
    for (auto &[name, value] : point)
      if (name == cut.name)
        value = middle;
    TwoPrices two = price(point);
    ((two.first < two.second) == cut.isFirstBelow ? below : limit) = middle;
  }
  return limit;
}

FormChoice schedule::chooseForm(etdg::GraphOp graph, ArrayRef<Lengths> points, double share,
                                llvm::function_ref<TwoPrices(const Lengths &)> price) {
  SmallVector<TwoPrices> prices;
  FormChoice choice;
  choice.takesFirst = false;
  for (const Lengths &point : points) {
    prices.push_back(price(point));
    choice.takesFirst |= prices.back().first <= share * prices.back().second;
    choice.takesSecond |= prices.back().second <= share * prices.back().first;
  }
  choice.takesFirst |= !choice.takesSecond;
  if (!choice.takesBoth())
    return choice;
  // Where no length tells the forms apart, the first stays unless the second one promises less all in all.
  std::optional<Cut> cut = findCut(points, prices);
  if (!cut || !cut->isWorth(share)) {
    double gain = 0;
    for (TwoPrices two : prices)
      gain += std::log(two.second / two.first);
    choice.takesSecond = gain <= double(prices.size()) * std::log(share);
    choice.takesFirst = !choice.takesSecond;
    return choice;
  }
  etdg::TypicalLengths typical(graph);
  Lengths usual = points.front();
  for (auto &[name, value] : usual)
    value = typical.get(name);
  MLIRContext *context = graph.getContext();
  auto length = LengthAttr::get(context, {cut->name}, getAffineSymbolExpr(0, context));
  choice.guard = etdg::GuardAttr::get(context, ArrayAttr::get(context, {length}), findLimit(*cut, usual, price));
  choice.isFirstBelow = cut->isFirstBelow;
  return choice;
}
