//===- Generator.h - random well-typed programs -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A seed and a number name one program over lists: random nests of all compute
// and access operators, with lengths that are names or constants. What an
// operator demands (bounds, divisibility, associative bodies, indices in range)
// holds by construction, so every program must verify and run.
//
//===----------------------------------------------------------------------===//
#ifndef FT_FUZZ_GENERATOR_H
#define FT_FUZZ_GENERATOR_H

#include "ft/Fuzz/Random.h"
#include "ft/Runtime/Arrays/HostArray.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>
#include <utility>
#include <vector>

namespace mlir::ft::fuzz {

/// Lengths of one run, by name.
using Binding = std::vector<std::pair<std::string, int64_t>>;

struct Program {
  std::string name;
  /// One function, called `name`; its `ft.lengths` are the first binding.
  OwningOpRef<ModuleOp> module;
  std::vector<Binding> bindings;
  /// Arguments for each binding; none where they are drawn.
  std::vector<std::vector<::ft::rt::HostArray>> arguments;
  /// A function that was derived of it, on which engines differ.
  OwningOpRef<ModuleOp> derivative;
};

/// What the numbers of programs are.
enum class Numbers {
  Any,        ///< integers or floats, and any operation
  Polynomial, ///< f64; operations are sums, differences and products of integers: results are polynomials of arguments
  Real        ///< f64 and any operation
};

Program generateProgram(MLIRContext *context, uint64_t seed, uint64_t number, Numbers numbers = Numbers::Any);

/// Drops what has no effect on the results.
void eraseDeadStatements(Operation *function);

/// Dialects that generated programs use must be loaded before.
void loadDialects(MLIRContext *context);

} // namespace mlir::ft::fuzz

#endif // FT_FUZZ_GENERATOR_H
