//===- OperationDocs.cpp - documentation of operations at run time --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "LspDocuments.h"

using namespace llvm;

// The references that the build makes of the ODS files.
static constexpr char references[] =
#include "OperationDocs.inc"
    ;

StringRef mlir::ft::tools::findOperationDoc(StringRef operation) {
  StringRef text(references);
  size_t begin = text.find(("### `" + operation + "` (").str());
  if (begin == StringRef::npos)
    return "";
  text = text.substr(begin).split('\n').second;
  // Traits and the tables of operands and attributes say less than the text does.
  size_t end = StringRef::npos;
  for (StringRef heading : {"\n## ", "\n### ", "\n#### ", "\n##### ", "\nTraits: "})
    end = std::min(end, text.find(heading));
  return text.substr(0, end).trim();
}
