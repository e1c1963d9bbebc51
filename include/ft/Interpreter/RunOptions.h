//===- RunOptions.h - How a program is interpreted ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options that the entry points of both interpreters share.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INTERPRETER_RUNOPTIONS_H
#define FT_INTERPRETER_RUNOPTIONS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include <cstdint>
#include <functional>

namespace mlir::ft::interp {

/// In which order the iterations of a graph run; lists know only one.
enum class Order {
  Dataflow, // an iteration runs when everything it reads is written
  Random,   // an order drawn among all that keep the dependences; what may be re-associated is cut
  Declared, // loops as written: sequential ones in order, parallel ones shuffled
};

struct RunOptions {
  /// f64 everywhere, nothing rounds: the truth that results are compared with.
  bool truth = false;
  /// Not 0: a float result of fewer digits than f64 that is not exact becomes one of its two neighbours, drawn by this
  /// number and the likelier the closer it is. Such runs sample the error that the program's own arithmetic has.
  uint64_t noise = 0;
  Order order = Order::Dataflow;
  /// Draws the random order and its cuts, and shuffles parallel loops.
  uint64_t seed = 0;
  /// Told of each iteration of a graph when it runs: the leaf's name, or nothing, and its point.
  std::function<void(StringRef, ArrayRef<int64_t>)> observe;
  /// Gets how often a dimension was cut in the random order.
  int64_t *cuts = nullptr;
};

/// Lengths that the caller gives by name. Names that an argument binds need
/// none; one that is given and bound must agree.
using Lengths = llvm::DenseMap<StringRef, int64_t>;

} // namespace mlir::ft::interp

#endif // FT_INTERPRETER_RUNOPTIONS_H
