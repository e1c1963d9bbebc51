/*===- MlirC.h - what several tests in C need of MLIR ------------------------===*/
/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception                       */
#ifndef FT_UNITTESTS_CAPI_MLIRC_H
#define FT_UNITTESTS_CAPI_MLIRC_H

#include "ft-c/Dialects.h"

#include "mlir-c/Diagnostics.h"

/* A context with all dialects; diagnostics go to `said`, the last one as text. */
typedef struct World {
  MlirContext context;
  MlirLocation here;
  char said[1024];
} World;

void openWorld(World *world);
void closeWorld(World *world);

/* Whether an object prints as this text. */
bool printsType(MlirType type, const char *text);
bool printsAttribute(MlirAttribute attribute, const char *text);
/* The text of a module, in a buffer that the next call writes again. */
const char *moduleText(MlirModule module);

MlirStringRef string(const char *text);

#endif /* FT_UNITTESTS_CAPI_MLIRC_H */
