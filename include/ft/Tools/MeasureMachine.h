//===- MeasureMachine.h - the model of this processor -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_TOOLS_MEASUREMACHINE_H
#define FT_TOOLS_MEASUREMACHINE_H

#include "mlir/Support/LLVM.h"

namespace mlir {
class DialectRegistry;

namespace ft::tools {

/// Measures the processor that runs this program, in some seconds, and gives its machine file
/// (docs/machine.md) as text. Fails with an error on stderr where the system does not say how large
/// its caches are.
FailureOr<std::string> measureMachine(DialectRegistry &registry);

} // namespace ft::tools
} // namespace mlir

#endif // FT_TOOLS_MEASUREMACHINE_H
