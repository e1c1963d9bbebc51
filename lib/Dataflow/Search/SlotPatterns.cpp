//===- SlotPatterns.cpp - who reads a tensor from one slot ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SlotPatterns.h"

using namespace ft::dataflow;
using namespace ft::dataflow::exact;

namespace {

/// Patterns of one group that are looked at.
constexpr size_t maxPatterns = 512;

class Enumeration {
public:
  explicit Enumeration(const GroupInfo &group) : group(group) {
    pattern.shared.assign(group.infos.size(), 0);
  }

  std::vector<SlotPattern> run(bool &all) {
    divide(0, 0, {});
    all = result.size() < maxPatterns;
    return std::move(result);
  }

private:
  /// Reader `at` of a tensor joins one of the slots that readers before it have, or has one of its own.
  void divide(size_t tensor, size_t at, std::vector<std::vector<Shareable::Reader>> parts) {
    if (result.size() >= maxPatterns)
      return;
    if (tensor == group.shareables.size()) {
      result.push_back(pattern);
      return;
    }
    const Shareable &shareable = group.shareables[tensor];
    if (at == shareable.readers.size())
      return take(tensor, parts);
    const Shareable::Reader reader = shareable.readers[at];
    parts.push_back({reader});
    divide(tensor, at + 1, parts);
    parts.pop_back();
    for (size_t p = 0; p < parts.size(); ++p) {
      parts[p].push_back(reader);
      divide(tensor, at + 1, parts);
      parts[p].pop_back();
    }
  }

  void take(size_t tensor, const std::vector<std::vector<Shareable::Reader>> &parts) {
    const SlotPattern before = pattern;
    for (const std::vector<Shareable::Reader> &part : parts)
      if (part.size() > 1)
        addSlot(group.shareables[tensor].tensor, part);
    divide(tensor + 1, 0, {});
    pattern = before;
  }

  void addSlot(int tensor, const std::vector<Shareable::Reader> &users) {
    PatternSlot slot;
    slot.tensor = tensor;
    slot.operands.assign(group.infos.size(), 0);
    for (const Shareable::Reader &user : users) {
      slot.users |= bit(user.op);
      slot.operands[user.op] = user.operand;
      pattern.shared[user.op] |= 1u << user.operand;
    }
    slot.block = group.infos[users.front().op].operands[users.front().operand];
    for (unsigned c = 0; c < group.classes.size(); ++c) {
      bool same = true;
      uint64_t any = 0;
      for (const Shareable::Reader &user : users) {
        any |= group.infos[user.op].operands[user.operand];
        same &= walked(user, c) == walked(users.front(), c);
      }
      if (!same)
        slot.mixed |= bit(c);
      else if (any >> c & 1)
        slot.members |= bit(c);
    }
    pattern.slots.push_back(std::move(slot));
  }

  /// For each dimension of the class: the dimensions of the operand that it walks, as a set.
  std::vector<uint32_t> walked(const Shareable::Reader &user, unsigned c) const {
    const Operand &operand = group.graph.operators[group.infos[user.op].op].inputs[user.operand];
    std::vector<uint32_t> result;
    for (int dim : group.classes[c].dims) {
      result.push_back(0);
      for (size_t d = 0; d < operand.dims.size(); ++d)
        result.back() |= uint32_t(operand.dims[d] == dim) << d;
    }
    return result;
  }

  const GroupInfo &group;
  SlotPattern pattern;
  std::vector<SlotPattern> result;
};

} // namespace

int SlotPattern::slotOf(unsigned i, unsigned k) const {
  for (size_t s = 0; (shared[i] >> k & 1) && s < slots.size(); ++s)
    if ((slots[s].users >> i & 1) && slots[s].operands[i] == k)
      return s;
  return -1;
}

std::vector<SlotPattern> exact::slotPatterns(const GroupInfo &group, bool &all) {
  return Enumeration(group).run(all);
}
