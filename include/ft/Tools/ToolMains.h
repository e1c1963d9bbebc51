//===- ToolMains.h - What the thin mains call -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each tool is one call into the shared library, so that a foreign compiler can
// offer the same tool with dialects of its own added.
//
//===----------------------------------------------------------------------===//
#ifndef FT_TOOLS_TOOLMAINS_H
#define FT_TOOLS_TOOLMAINS_H

namespace mlir {
class DialectRegistry;

namespace ft {

/// Crash text, version printer: called by every main below.
void setUpTool(const char *name);

/// What a tool's `--ft-validate` says (true, unless it is off): for `registerAllPasses`.
bool isToolValidating();

/// The translations of ft-translate, with their options.
void registerAllTranslations();

int optMain(int argc, char **argv, DialectRegistry &registry);
int translateMain(int argc, char **argv, DialectRegistry &registry);
int runMain(int argc, char **argv, DialectRegistry &registry);
int lspMain(int argc, char **argv, DialectRegistry &registry);
int reduceMain(int argc, char **argv, DialectRegistry &registry);

} // namespace ft
} // namespace mlir

#endif // FT_TOOLS_TOOLMAINS_H
