//===- InitAll.h - Register everything --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a tool, a plugin or an embedding compiler calls once at start.
//
//===----------------------------------------------------------------------===//
#ifndef FT_INITALL_H
#define FT_INITALL_H

#include <functional>

namespace mlir {
class DialectRegistry;

namespace ft {

/// The dialects of this project alone, with their interfaces.
void registerOwnDialects(DialectRegistry &registry);

/// registerOwnDialects and the upstream dialects that bodies and lowerings use.
void registerAllDialects(DialectRegistry &registry);

/// The passes and pipelines of this project alone. `ft-compile` asks `validates`, a tool's flag, whether
/// it proves what phases made; null: always, unless its own option says otherwise.
void registerOwnPasses(std::function<bool()> validates = nullptr);

/// registerOwnPasses and all upstream passes.
void registerAllPasses(std::function<bool()> validates = nullptr);

/// The version and the text that a crash of one of our tools prints.
const char *getVersion();
const char *getBugReportMessage();

} // namespace ft
} // namespace mlir

#endif // FT_INITALL_H
