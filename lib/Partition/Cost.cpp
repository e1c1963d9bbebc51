//===- Cost.cpp - kernels of least price ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Items are taken one by one, each into the kernel at hand or as the first of another
// one. Two partial choices that have taken the same items and have the same kernel at
// hand go on alike: the cheaper is kept. On a chain that is dynamic programming, and
// exact; elsewhere as many are kept as the beam is wide.
//
//===----------------------------------------------------------------------===//
#include "Modes.h"

#include "mlir/IR/Remarks.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::partition;

namespace {
/// A choice for some of the items.
struct Partial {
  llvm::BitVector taken;
  Group open; // the kernel at hand
  SmallVector<Group> closed;
  double seconds = 0; // with the kernel at hand
};

class PriceChooser {
public:
  PriceChooser(const Items &items, Prices &prices, unsigned beam, unsigned longest)
      : items(items), prices(prices), beam(beam), longest(longest) {}
  /// None where an item has no price by itself.
  std::optional<SmallVector<Group>> run();

private:
  SmallVector<unsigned> readyIn(const Partial &partial) const;
  void extend(const Partial &partial, unsigned number);
  void keep(Partial partial);

  const Items &items;
  Prices &prices;
  unsigned beam, longest;
  std::map<std::pair<std::vector<unsigned>, std::vector<unsigned>>, Partial> next;
  bool isChain = true;
};
} // namespace

/// Items that may run next: all where they form a chain, else the first ones, since their order among each other is one of many alike.
SmallVector<unsigned> PriceChooser::readyIn(const Partial &partial) const {
  constexpr size_t mostReady = 4; // (of which each makes two partial choices)
  SmallVector<unsigned> ready;
  for (unsigned number = 0; number < items.size() && ready.size() < mostReady; ++number) {
    llvm::BitVector missing = items.needs(number);
    missing.reset(partial.taken);
    if (!partial.taken.test(number) && missing.none())
      ready.push_back(number);
  }
  return ready;
}

void PriceChooser::keep(Partial partial) {
  std::vector<unsigned> taken(partial.taken.set_bits_begin(), partial.taken.set_bits_end()), open(partial.open.begin(), partial.open.end());
  auto [place, isNew] = next.try_emplace({std::move(taken), std::move(open)}, partial);
  if (!isNew && partial.seconds < place->second.seconds)
    place->second = std::move(partial);
}

void PriceChooser::extend(const Partial &partial, unsigned number) {
  std::optional<schedule::KernelPrice> alone = prices.of({number});
  if (!alone)
    return;
  Partial apart = partial;
  apart.taken.set(number);
  if (!apart.open.empty())
    apart.closed.push_back(std::move(apart.open));
  apart.open = {number};
  apart.seconds += alone->seconds;
  keep(std::move(apart));
  if (partial.open.empty() || partial.open.size() >= longest || !items.mayJoin(number) || !items.mayJoin(partial.open.front()))
    return;
  Partial joined = partial;
  joined.taken.set(number);
  joined.open.push_back(number);
  std::optional<schedule::KernelPrice> before = prices.of(partial.open), after = prices.of(joined.open);
  // Loops without tiles cost more than their price, which knows no conflicts of threads: a product keeps the tiles that it has alone.
  if (!before || !after || after->products < before->products + alone->products)
    return;
  joined.seconds += after->seconds - before->seconds;
  keep(std::move(joined));
}

std::optional<SmallVector<Group>> PriceChooser::run() {
  Partial none;
  none.taken.resize(items.size());
  std::vector<Partial> level = {none};
  for (unsigned step = 0; step < items.size(); ++step) {
    next.clear();
    for (const Partial &partial : level) {
      SmallVector<unsigned> ready = readyIn(partial);
      isChain &= ready.size() == 1;
      for (unsigned number : ready)
        extend(partial, number);
    }
    level.clear();
    for (auto &[key, partial] : next)
      level.push_back(std::move(partial));
    llvm::stable_sort(level, [](const Partial &a, const Partial &b) { return a.seconds < b.seconds; });
    if (!isChain && level.size() > beam)
      level.resize(beam);
    if (level.empty())
      return std::nullopt;
  }
  level.front().closed.push_back(level.front().open);
  return std::move(level.front().closed);
}

/// Each kernel of several nests, and what it costs beside the kernels of its nests.
static void tell(const Items &items, Prices &prices, ArrayRef<Group> groups) {
  constexpr double micro = 1e6;
  for (const Group &group : groups) {
    if (group.size() < 2)
      continue;
    double apart = 0;
    for (unsigned number : group)
      if (std::optional<schedule::KernelPrice> one = prices.of({number}))
        apart += one->seconds;
    std::optional<schedule::KernelPrice> joined = prices.of(group);
    if (joined)
      remark::passed(items[group.front()]->getLoc(), remark::RemarkOpts::name("kernel").category("partition"))
          << remark::reason("{0} nests are one kernel: {1} us with {2} barriers, {3} us as kernels of their own", group.size(),
                            llvm::formatv("{0:F2}", joined->seconds * micro).str(), llvm::formatv("{0:F0}", joined->barriers).str(),
                            llvm::formatv("{0:F2}", apart * micro).str());
  }
}

SmallVector<Group> partition::chooseByPrice(etdg::GraphOp graph, const Items &items, Prices &prices, unsigned beam, unsigned longest) {
  constexpr double micro = 1e6;
  SmallVector<Group> best = boundaries(items);
  std::optional<double> least = prices.ofAll(best);
  std::string text = least ? llvm::formatv("boundaries {0:F2} us", *least * micro).str() : "boundaries have no price";
  StringRef name = "boundaries";
  auto consider = [&](StringRef what, std::optional<SmallVector<Group>> groups) {
    std::optional<double> seconds = groups ? prices.ofAll(*groups) : std::nullopt;
    text += seconds ? llvm::formatv(", {0} {1:F2} us", what, *seconds * micro).str() : (", " + what + " have no price").str();
    if (!seconds || (least && *seconds >= *least))
      return;
    least = seconds;
    best = std::move(*groups);
    name = what;
  };
  consider("short nests beside a recurrence", prices.joinShort());
  consider("groups by price", PriceChooser(items, prices, beam, longest).run());
  remark::passed(graph.getLoc(), remark::RemarkOpts::name("partition").category("partition"))
      << remark::reason("{0} of {1} nests, {2}: {3}; unlike groups priced: {4}", std::to_string(best.size()) + " kernels", items.size(), name, text,
                        prices.getNumPriced());
  tell(items, prices, best);
  return best;
}
