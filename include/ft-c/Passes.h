/*===- Passes.h - passes and pipelines, in C ------------------------*- C -*-===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                      */
/*                                                                              */
/* Each group has mlirRegister<Group>Passes(), and each pass its own            */
/* mlirCreate<Group><Pass>() and mlirRegister<Group><Pass>(), as mlir-tblgen    */
/* makes them: mlirCreateFTConversionConvertFTToETDG(). A pass that is          */
/* registered goes by its name, with options, too:                              */
/*                                                                              */
/*   mlirRegisterFTAllPasses();                                                 */
/*   mlirParsePassPipeline(manager,                                             */
/*       mlirStringRefCreateFromCString("ft-compile{to=storage target=cpu}"),   */
/*       onError, user);                                                        */
/*                                                                              */
/* Registering is for the process. mlirRegisterFTAllPasses may be called by any */
/* thread and again; the others, like MLIR's, by one thread at a time.          */
/*===------------------------------------------------------------------------===*/
#ifndef FT_C_PASSES_H
#define FT_C_PASSES_H

#include "mlir-c/Pass.h"

#include "ft/Conversion/Passes.capi.h.inc"
#include "ft/Dialect/ETDG/Transforms/Passes.capi.h.inc"
#include "ft/Dialect/FT/Transforms/Passes.capi.h.inc"
#include "ft/Dialect/TSSA/Transforms/Passes.capi.h.inc"
#include "ft/Partition/Passes.capi.h.inc"
#include "ft/Pipelines/Passes.capi.h.inc"
#include "ft/Schedule/Passes.capi.h.inc"
#include "ft/Validator/Passes.capi.h.inc"

#ifdef __cplusplus
extern "C" {
#endif

/* All passes and pipelines of FractalTensor ("ft-compile", "ft-leaf-to-llvm"), those without functions of their
   own here, too. */
MLIR_CAPI_EXPORTED void mlirRegisterFTAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif /* FT_C_PASSES_H */
