//===- Translations.h - what ft-translate can make --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_TOOLS_TRANSLATIONS_H
#define FT_LIB_TOOLS_TRANSLATIONS_H

#include "mlir/Support/LLVM.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>

namespace mlir::ft::tools {

/// `--mlir-to-ptx`, `--mlir-to-llvmir` and `--mlir-to-bundle`, with their options.
void registerCodeTranslations();

/// What `--machine` names.
ArrayRef<std::string> getMachines();

/// `--etdg-to-json`, `--etdg-to-dataflow`, `--etdg-to-dot` and `--etdg-to-html`, with `--dim`.
void registerGraphTranslations();

} // namespace mlir::ft::tools

#endif // FT_LIB_TOOLS_TRANSLATIONS_H
