//===- Translations.h - graphs as text for ft-translate ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FT_LIB_INITALL_TRANSLATIONS_H
#define FT_LIB_INITALL_TRANSLATIONS_H

namespace mlir::etdg {

/// `--etdg-to-json`, `--etdg-to-dot` and `--etdg-to-html`.
void registerETDGTranslations();

} // namespace mlir::etdg

#endif // FT_LIB_INITALL_TRANSLATIONS_H
