//===- Module.cpp - a caller's module as a source -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A source has a context of its own, so that it does not wait. A module moves
// between contexts as bytecode, which keeps all that it says, places included.
//
//===----------------------------------------------------------------------===//
#include "ft-c/Module.h"

#include "Handles.h"

#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::ft;
using namespace mlir::ft::capi;

FtStatus ft_source_from_module(FtCompiler *compiler, MlirModule given, FtSource **source) {
  if (source)
    *source = nullptr;
  if (!compiler || !source || mlirModuleIsNull(given))
    return fail(FT_INVALID_ARGUMENT, "compiler, module or source is NULL");
  ModuleOp module = unwrap(given);
  auto made = std::make_unique<FtSource>();
  made->state = std::make_shared<SourceState>(compiler->registry, compiler->receiver, compiler->remarks);
  SourceState &state = *made->state;
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  if (failed(writeBytecodeToFile(module, stream)))
    return fail(FT_INVALID_PROGRAM, "the module can't be copied");
  if (bytes.size() > compiler->limits.maxBytes)
    return fail(FT_INVALID_PROGRAM, "the module has " + std::to_string(bytes.size()) + " bytes, more than max_bytes (" +
                                        std::to_string(compiler->limits.maxBytes) + ")");
  // The bytes come from this process: the reader's trust in its input is justified here.
  state.module = parseSourceString<ModuleOp>(bytes, &state.context);
  if (FtStatus status = finishSource(state))
    return status;
  *source = made.release();
  return FT_OK;
}
