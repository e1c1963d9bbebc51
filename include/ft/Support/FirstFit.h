//===- FirstFit.h - places in one memory for values that live in turn -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_SUPPORT_FIRSTFIT_H
#define FT_SUPPORT_FIRSTFIT_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <algorithm>
#include <cstdint>

namespace mlir::ft {

/// Places of values in one memory; those that live at the same time do not overlap.
class FirstFit {
public:
  struct Allocation {
    int64_t offset, size;
    unsigned first, last; // steps
  };

  /// The lowest offset at which `size` bytes fit that are used from step `first` to step `last`, both included.
  int64_t place(int64_t size, unsigned first, unsigned last) {
    llvm::SmallVector<Allocation> alive;
    for (const Allocation &place : places)
      if (place.first <= last && first <= place.last)
        alive.push_back(place);
    llvm::sort(alive, [](const Allocation &a, const Allocation &b) { return a.offset < b.offset; });
    int64_t offset = 0;
    for (const Allocation &place : alive) {
      if (offset + size <= place.offset)
        break;
      offset = std::max(offset, place.offset + place.size);
    }
    places.push_back({offset, size, first, last});
    return offset;
  }
  /// Forgets the place that was found last.
  void dropLast() { places.pop_back(); }

private:
  llvm::SmallVector<Allocation> places;
};

} // namespace mlir::ft

#endif // FT_SUPPORT_FIRSTFIT_H
