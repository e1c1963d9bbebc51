//===- Instrument.h - a GPU's instructions as calls -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_ENGINE_EMULATOR_INSTRUMENT_H
#define FT_LIB_ENGINE_EMULATOR_INSTRUMENT_H

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace ft::emulate {

/// The hooks that instrumented code calls, by the names that it calls them by.
extern const std::vector<std::pair<const char *, void *>> hooks;

/// The function that calls a kernel with arguments from a list of pointers to them.
std::string callerOf(llvm::StringRef kernel);

struct Instrumented {
  std::vector<std::string> sites;
  uint64_t granule = 8;
  std::string error; // what there is no rule for
};

/// Rewrites all functions of a module, which was made for a GPU, for this process. `sites`: what calls that it has already give as
/// their places.
Instrumented instrument(llvm::Module &module, std::vector<std::string> sites = {});

} // namespace ft::emulate

#endif // FT_LIB_ENGINE_EMULATOR_INSTRUMENT_H
