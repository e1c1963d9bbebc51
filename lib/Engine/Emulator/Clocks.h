//===- Clocks.h - what happened before what ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector clocks of a block. Its agents are its threads, and what runs beside
// them: the products of each warp, and the copies that each mbarrier counts. An
// agent's time goes up whenever it tells others what it did; a clock has, for
// each agent, the time up to which its actions happened before.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_ENGINE_EMULATOR_CLOCKS_H
#define FT_LIB_ENGINE_EMULATOR_CLOCKS_H

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

namespace ft::emulate {

/// Times of a block's agents; copies share them until one changes.
class Clock {
public:
  /// 0 for an agent that nothing is known of.
  uint32_t of(uint32_t agent) const { return times && agent < times->size() ? (*times)[agent] : 0; }

  void raise(uint32_t agent, uint32_t time) {
    if (of(agent) >= time)
      return;
    std::vector<uint32_t> &own = change(agent + 1);
    own[agent] = time;
  }

  void join(const Clock &other) {
    grid = std::max(grid, other.grid);
    if (!other.times || other.times == times)
      return;
    if (!times) {
      times = other.times;
      return;
    }
    std::vector<uint32_t> &own = change(other.times->size());
    for (size_t i = 0; i < other.times->size(); ++i)
      own[i] = std::max(own[i], (*other.times)[i]);
  }

  /// Barriers of the grid that happened before.
  uint32_t grid = 0;

private:
  std::vector<uint32_t> &change(size_t least) {
    if (!times)
      times = std::make_shared<std::vector<uint32_t>>();
    else if (times.use_count() > 1)
      times = std::make_shared<std::vector<uint32_t>>(*times);
    if (times->size() < least)
      times->resize(least);
    return *times;
  }

  std::shared_ptr<std::vector<uint32_t>> times;
};

/// The memory that a proxy fence is for.
enum class ProxySpace : uint32_t { shared, global, all };

/// What happened before, and what of it the async proxy sees, which is what a proxy fence came after:
/// of shared and of global memory.
struct Knowledge {
  Clock before, fenced[2];

  void join(const Knowledge &other) {
    before.join(other.before);
    for (int i : {0, 1})
      fenced[i].join(other.fenced[i]);
  }
};

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_CLOCKS_H
