//===- Minimize.h - the smallest program that still fails -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_FUZZ_MINIMIZE_H
#define FT_FUZZ_MINIMIZE_H

#include "ft/Fuzz/Check.h"

namespace mlir::ft::fuzz {

/// Takes statements, results, arguments and lengths away as long as the program
/// fails at the same stage; updates the verdict. Gives up after `seconds`.
void minimize(Program &program, Verdict &verdict, CheckOptions options, double seconds = 120);

} // namespace mlir::ft::fuzz

#endif // FT_FUZZ_MINIMIZE_H
