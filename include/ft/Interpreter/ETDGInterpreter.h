//===- ETDGInterpreter.h - Reference interpreter of etdg ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a task dependence graph in one of three orders. Every buffer has all its
// planes, and a written bit for each element: a read before its write and a
// second write are errors, located at the block, with the buffer and indices.
//
// - dataflow: an iteration runs as soon as everything it reads is written;
// - random: the same, the next iteration being drawn at random;
// - declared: nests in textual order, each one loop over the union of its
//   domains, in the order of its schedule. Iterations of a parallel loop run
//   shuffled and may not read what another of them writes. This is the order
//   that a wrong schedule or a wrong `map` fails in.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INTERPRETER_ETDGINTERPRETER_H
#define FT_INTERPRETER_ETDGINTERPRETER_H

#include "ft/Dialect/ETDG/IR/ETDG.h"
#include "ft/Interpreter/RunOptions.h"
#include "ft/Runtime/Arrays/HostArray.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::ft::interp {

/// Runs graph `entry` of `module` on arrays: dense row-major, programmable
/// dimensions outermost.
FailureOr<std::vector<::ft::rt::HostArray>> runETDG(ModuleOp module, StringRef entry,
                                                    const Lengths &lengths,
                                                    ArrayRef<::ft::rt::HostArray> arguments,
                                                    const RunOptions &options = {});

} // namespace mlir::ft::interp

#endif // FT_INTERPRETER_ETDGINTERPRETER_H
