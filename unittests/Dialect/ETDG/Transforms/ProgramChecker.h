//===- ProgramChecker.h - random programs before and after ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_UNITTESTS_COARSEN_PROGRAMCHECKER_H
#define FT_UNITTESTS_COARSEN_PROGRAMCHECKER_H

#include "ft/Fuzz/Generator.h"
#include "ft/Interpreter/ETDGInterpreter.h"
#include "ft/Runtime/Arrays/HostArray.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>

namespace mlir {
class PassManager;
}

namespace mlir::ft {

/// One random program as a graph, and a copy of it for a test to change. Errors are collected.
class ProgramChecker {
public:
  explicit ProgramChecker(fuzz::Program &program);

  /// Not where the program has no graph (a product of lengths).
  bool hasGraph() const { return bool(before); }
  /// What `after` gives at all the program's lengths, in these orders, is what `before` gave in
  /// declared order, integers bit for bit. What differs in words, with the phase's name, or nothing.
  std::string compare(llvm::StringRef phase, llvm::ArrayRef<interp::Order> orders);

  OwningOpRef<ModuleOp> before, after;
  std::string errors;

private:
  fuzz::Program &program;
  ScopedDiagnosticHandler handler;
  std::vector<std::vector<::ft::rt::HostArray>> expected;
};

/// A pass that is tried after the phase coarsen, whatever it costs, and what tells that it changed something.
struct TriedPass {
  std::string name;
  std::function<void(PassManager &)> add;
  std::function<size_t(ModuleOp)> count; // another number where it did
  unsigned checked = 0, changed = 0;     // programs
};
/// With the pass the program's graph passes etdg-verify, the validator accepts it there and after the phases after it, and it gives what the graph gave. What is
/// wrong in words, or nothing.
std::string checkPass(fuzz::Program &program, TriedPass &pass);

/// Calls `check` on `number` programs of a seed, or on as many as the environment variable
/// FT_<name>_PROGRAMS says, from that of number FT_<name>_FIRST on; what it finds wrong fails the
/// test. Returns how many.
unsigned checkPrograms(const std::string &name, uint64_t seed, unsigned number,
                       llvm::function_ref<std::string(fuzz::Program &)> check);

} // namespace mlir::ft

#endif // FT_UNITTESTS_COARSEN_PROGRAMCHECKER_H
