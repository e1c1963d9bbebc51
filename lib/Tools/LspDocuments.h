//===- LspDocuments.h - what an editor has open -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server parses what it is given with a parser that recurses, so
// its texts go through the limits of the other tools first. What is refused is an
// empty text to the server, and a diagnostic of ours to the editor.
//
//===----------------------------------------------------------------------===//
#ifndef FT_LIB_TOOLS_LSPDOCUMENTS_H
#define FT_LIB_TOOLS_LSPDOCUMENTS_H

#include "llvm/Support/JSON.h"

#include <map>
#include <mutex>
#include <string>

namespace mlir::ft::tools {

/// Whether brackets in a JSON text nest no deeper than its parser, which recurses, can take.
bool isShallowJson(llvm::StringRef text);

/// The open texts, and between editor and server the messages about them. Used by two threads.
class LspDocuments {
public:
  /// A message of the editor as the server gets it. What is answered instead of the server, or is no
  /// message at all, gives nothing; an answer is put into `answer`.
  std::optional<llvm::json::Value> toServer(llvm::json::Value message,
                                            std::optional<llvm::json::Value> &answer);
  /// A message of the server as the editor gets it.
  llvm::json::Value toEditor(llvm::json::Value message);

private:
  /// Why a text is refused, and where, from 0; no reason if it is not.
  struct Refusal {
    std::string reason;
    int64_t line = 0, column = 0;
  };
  struct Document {
    std::string text;
    Refusal refusal;
    /// Of the versions that the server has not answered yet: editors do not wait for it.
    std::map<int64_t, Refusal> refusals;
  };
  void setText(Document &document, std::string text, std::optional<int64_t> version);
  void open(llvm::json::Object &params);
  void change(llvm::json::Object &params);

  std::mutex mutex;
  std::map<std::string, Document> documents;
  /// Requests for what is under the cursor, by what their identifiers print as.
  std::map<std::string, bool> hovers;
};

/// The documentation of an operation, as its definition has it, or nothing.
llvm::StringRef findOperationDoc(llvm::StringRef operation);

} // namespace mlir::ft::tools

#endif // FT_LIB_TOOLS_LSPDOCUMENTS_H
