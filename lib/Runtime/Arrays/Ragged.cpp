//===- Ragged.cpp - what compiled programs take for offsets ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lists of the pass `ft-pad-ragged`, made from a caller's offsets.
//
//===----------------------------------------------------------------------===//
#include "ft-c/Runtime.h"

#include <algorithm>
#include <string>

static FtStatus invalid(const std::string &what) {
  try {
    return ft_set_last_error(FT_INVALID_ARGUMENT, what.c_str());
  } catch (...) {
    return FT_OUT_OF_MEMORY;
  }
}

FtStatus ft_ragged_longest(const int64_t *offsets, int64_t count, int64_t elements, int64_t *longest) {
  if (!offsets || !longest || count < 1)
    return invalid("offsets or longest is NULL, or there are no offsets");
  if (offsets[0] != 0)
    return invalid("offsets must begin with 0, found " + std::to_string(offsets[0]));
  *longest = 0;
  for (int64_t i = 1; i < count; ++i) {
    if (offsets[i] < offsets[i - 1])
      return invalid("offsets must not fall, found " + std::to_string(offsets[i - 1]) + " and then " +
                     std::to_string(offsets[i]) + " at " + std::to_string(i));
    *longest = std::max(*longest, offsets[i] - offsets[i - 1]);
  }
  if (offsets[count - 1] > elements)
    return invalid("there are fewer elements (" + std::to_string(elements) + ") than the last offset says (" +
                   std::to_string(offsets[count - 1]) + ")");
  return FT_OK;
}

FtStatus ft_ragged_fill(const int64_t *offsets, int64_t count, int64_t longest, int64_t *index, int64_t *lengths,
                        int64_t *positions, int64_t *lists, int64_t *places) {
  if (!offsets || count < 1 || longest < 0 || (count > 1 && !lengths) || (longest && (!positions || !index)))
    return invalid("offsets or an array is NULL, or there are no offsets");
  if (offsets[count - 1] > 0 && (!lists || !places))
    return invalid("lists or places is NULL");
  for (int64_t j = 0; j < longest; ++j)
    positions[j] = j;
  for (int64_t list = 0; list + 1 < count; ++list) {
    int64_t begin = offsets[list], length = offsets[list + 1] - begin;
    if (length < 0 || length > longest)
      return invalid("list " + std::to_string(list) + " has " + std::to_string(length) + " elements, expected 0 to " +
                     std::to_string(longest));
    lengths[list] = length;
    for (int64_t j = 0; j < longest; ++j)
      index[list * longest + j] = j < length ? begin + j : 0;
    for (int64_t j = 0; j < length; ++j) {
      lists[begin + j] = list;
      places[begin + j] = j;
    }
  }
  return FT_OK;
}
