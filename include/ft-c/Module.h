/*===- Module.h - compiling a module that is already there, in C ----*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* The bridge from MLIR's C interface to ft-c/Compiler.h: a module that a       */
/* front end has built, without a detour over text. Not stable, as MLIR is not. */
/*===------------------------------------------------------------------------===*/
#ifndef FT_C_MODULE_H
#define FT_C_MODULE_H

#include "ft-c/Compiler.h"

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Takes a copy of the module, with its locations, and verifies it. It may be of any dialects that FractalTensor or
   MLIR has; its context and the module stay the caller's, who leaves both alone until this returns. What is wrong
   comes to the compiler's callback, not to handlers of that context. */
FtStatus ft_source_from_module(FtCompiler *compiler, MlirModule module, FtSource **source);

#ifdef __cplusplus
}
#endif

#endif /* FT_C_MODULE_H */
