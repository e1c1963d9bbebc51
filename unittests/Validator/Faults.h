//===- Faults.h - programs that get faults planted --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef UNITTESTS_VALIDATOR_FAULTS_H
#define UNITTESTS_VALIDATOR_FAULTS_H

#include "fttest/ValidatorTest.h"

namespace mlir::etdg {

/// Examples, seven small models and random programs, compiled for a GPU that lets launches overlap.
class FaultsTest : public ValidatorTest {
protected:
  /// Where programs come from, and their names.
  static std::vector<std::string> files();
  OwningOpRef<ModuleOp> parseFile(const std::string &path);
  /// The module in a phase; null where it is refused.
  OwningOpRef<ModuleOp> compile(ModuleOp source, ft::Phase to, const std::string &partition, uint64_t seed = 0);

  /// Of each kind of fault: how many there were, and how many legal changes like it.
  struct Count {
    unsigned faults = 0, legal = 0;
  };
  std::map<std::string, Count> counts;

  /// A change that makes the program wrong, or does not: the validator says so.
  void judge(const std::string &kind, const std::string &where, bool isWrong, bool isTaken, const std::string &why);
  /// Prints the table, and returns all of it.
  Count print() const;
};

} // namespace mlir::etdg

#endif // UNITTESTS_VALIDATOR_FAULTS_H
