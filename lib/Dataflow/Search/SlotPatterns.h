//===- SlotPatterns.h - who reads a tensor from one slot --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators of a group that read one tensor from outside may share a slot, and
// so bring each block once. Which of them do is decided before anything else: a
// *pattern* divides the readers of each such tensor into slots.
//
//===----------------------------------------------------------------------===//
#ifndef LIB_DATAFLOW_SEARCH_SLOTPATTERNS_H
#define LIB_DATAFLOW_SEARCH_SLOTPATTERNS_H

#include "GroupInfo.h"

namespace ft::dataflow::exact {

/// A slot that several operators share.
struct PatternSlot {
  int tensor = -1;
  uint64_t users = 0;            // places of operators
  std::vector<uint8_t> operands; // by operator; of those that use it
  uint64_t members = 0;          // classes that walk the same dimensions of the tensor in all users
  uint64_t mixed = 0;            // classes that walk other dimensions in one user than in another
  uint64_t block = 0;            // the tensor's classes in its first user
};

struct SlotPattern {
  std::vector<PatternSlot> slots;
  /// By operator: the inputs that use one of these slots, as bits.
  std::vector<uint32_t> shared;
  /// The slot of an operand, or -1.
  int slotOf(unsigned i, unsigned k) const;
};

/// All patterns, that without shared slots first. `all` is false where they are too many, and some are left out.
std::vector<SlotPattern> slotPatterns(const GroupInfo &group, bool &all);

} // namespace ft::dataflow::exact

#endif // LIB_DATAFLOW_SEARCH_SLOTPATTERNS_H
