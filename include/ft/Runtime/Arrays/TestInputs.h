//===- TestInputs.h - how a bundle's arguments are filled -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A bundle may carry a data section of target "generators": for each entry the
// `ft.gen` of its arguments and its default lengths, so that a program can be
// run, checked and timed where no compiler is.
//
//===----------------------------------------------------------------------===//
#ifndef FT_RUNTIME_ARRAYS_TESTINPUTS_H
#define FT_RUNTIME_ARRAYS_TESTINPUTS_H

#include "ft/Runtime/Bundle/Bundle.h"
#include "ft/Runtime/Arrays/Generate.h"

#include <map>

namespace ft::rt {

using Lengths = std::map<std::string, int64_t>;

struct TestInputs {
  struct Generator {
    Distribution distribution;
    std::string lo, hi; // of an index: expressions over lengths
  };
  std::vector<Generator> arguments;
  /// For each output the coarsest type on the way to it, where the bundle says so.
  std::vector<std::optional<DType>> roundings;
  Lengths lengths;

  /// Empty where the bundle carries nothing for the entry.
  static Status read(const Bundle &bundle, const std::string &entry, TestInputs &out);
  /// The distribution of an argument at given lengths; normal(1) by default.
  Status distribution(size_t argument, const Lengths &values, Distribution &out) const;
};

/// The value of a length as the ft dialect prints it: integers, names, + - *,
/// parentheses, ceildiv, floordiv, mod, min and max.
Status evaluateLength(std::string_view text, const Lengths &values, int64_t &out);

} // namespace ft::rt

#endif // FT_RUNTIME_ARRAYS_TESTINPUTS_H
