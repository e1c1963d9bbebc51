//===- Derivative.cpp - derivatives of programs ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//
#include "Handles.h"

#include "ft/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::capi;

/// The module with the derivative beside its functions, or what went wrong.
static FtStatus differentiate(SourceState &state, StringRef options, std::string &text) {
  OwningOpRef<ModuleOp> module = state.module->clone();
  PassManager pm(&state.context);
  std::string wrong;
  auto note = [&](const Twine &message) {
    wrong = message.str();
    return failure();
  };
  if (failed(buildDifferentiatePipeline(pm, options, note)))
    return fail(FT_INVALID_ARGUMENT, "options: " + wrong);
  if (failed(pm.run(*module))) {
    const std::string &error = state.sink.getFirstError();
    return fail(FT_INVALID_PROGRAM, error.empty() ? "differentiation failed without a message" : error);
  }
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return FT_OK;
}

FtStatus ft_source_differentiate(FtSource *source, const char *options, FtTextFn write, void *user) {
  if (!source || !options || !write)
    return fail(FT_INVALID_ARGUMENT, "source, options or write is NULL");
  SourceState &state = *source->state;
  std::string text;
  {
    std::lock_guard<std::mutex> guard(state.lock);
    state.sink.clear();
    if (FtStatus status = differentiate(state, options, text))
      return status;
  }
  write(text.data(), text.size(), user);
  return FT_OK;
}
